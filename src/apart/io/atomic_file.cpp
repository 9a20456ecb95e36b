#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <streambuf>
#include <utility>
#include <vector>

namespace apart {

namespace {

/// The temporary file beside the target. Removed unless it has taken the target's place.
class TemporaryFile : public std::streambuf {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target), buffer_(1 << 18) {
    static std::atomic<unsigned> counter{0};  // several threads may write files at once
    path_ = target;
    path_ += fmt::format(".{}-{}.tmp", ::getpid(), counter++);
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() override {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void replace_target(Flush flush) {
    if (!flush_buffer()) fail(error_);
    if (flush == Flush::now && ::fsync(descriptor_) != 0) fail(errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(errno);
    renamed_ = true;
  }

  [[noreturn]] void fail(int error) const {
    throw UnavailableError(
        "{}: cannot be written: {}; check that the folder exists, may be written to and has space",
        target_.string(), std::strerror(error));
  }
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (!flush_buffer()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    if (size < epptr() - pptr()) return std::streambuf::xsputn(data, size);
    return flush_buffer() && write_all(data, size) ? size : 0;  // large arrays are not copied
  }
  int sync() override { return flush_buffer() ? 0 : -1; }

 private:
  bool flush_buffer() {
    const bool written = write_all(pbase(), pptr() - pbase());
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return written;
  }
  bool write_all(const char* data, std::streamsize size) {
    while (size > 0 && error_ == 0) {
      const ssize_t n = ::write(descriptor_, data, std::size_t(size));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        error_ = errno;
        break;
      }
      data += n;
      size -= n;
    }
    return error_ == 0;
  }

  std::filesystem::path target_, path_;
  std::vector<char> buffer_;
  int descriptor_ = -1;
  int error_ = 0;  ///< the first errno of a failed write; nothing is written after it
  bool renamed_ = false;
};

}  // namespace

void write_atomically(const std::filesystem::path& file, FunctionRef<void(std::ostream&)> write,
                      Flush flush) {
  TemporaryFile temporary(file);
  std::ostream stream(&temporary);
  write(stream);
  if (!stream.flush()) temporary.fail(temporary.error() != 0 ? temporary.error() : EIO);
  temporary.replace_target(flush);
}

void write_atomically(const std::filesystem::path& file, std::string_view content, Flush flush) {
  write_atomically(
      file, [&](std::ostream& out) { out << content; }, flush);
}

void flush_to_disk(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = descriptor >= 0 && ::syncfs(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!done)
    throw UnavailableError("{}: cannot be brought to the disk: {}; check that the disk works and has space",
                           folder.string(), std::strerror(error));
}

}  // namespace apart
