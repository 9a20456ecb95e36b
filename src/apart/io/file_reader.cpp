#include <apart/io/file_reader.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

namespace apart {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

constexpr std::uintmax_t largest_file = std::uintmax_t(1) << 31;  // [bytes]; it is held in memory

std::string read_all(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw InputError("{}: no such file; check the path (relative paths start at the file that names them)",
                     file.string());
  if (!std::filesystem::is_regular_file(file, error))
    throw InputError("{}: is not a regular file; give the path of a file", file.string());
  // Never wait: some files of /proc look regular and have nothing to read.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(
      descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"), &std::fclose);
  if (!stream)
    throw InputError("{}: cannot be read: {}; check its permissions", file.string(), std::strerror(errno));
  // Read until the end instead of trusting the size: the file may still be growing.
  std::string content;
  const auto expected = std::filesystem::file_size(file, error);
  const auto check_size = [&](std::uintmax_t size) {
    if (size > largest_file)
      throw InputError("{}: has {} bytes or more, at most {} are read; split it or use a coarser mesh",
                       file.string(), size, largest_file);
  };
  check_size(error ? 0 : expected);
  content.resize(error ? 0 : std::size_t(expected) + 1);
  std::size_t size = 0;
  while (true) {
    check_size(size);
    if (size == content.size()) content.resize(std::max<std::size_t>(1 << 16, 2 * size));
    const std::size_t n = std::fread(content.data() + size, 1, content.size() - size, stream.get());
    size += n;
    if (n == 0) break;
  }
  if (std::ferror(stream.get()))
    throw InputError("{}: cannot be read: {}", file.string(), std::strerror(errno));
  content.resize(size);
  return content;
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);  // from_chars takes no plus sign
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  // Out of range: from_chars does not say on which side; strtod gives infinity or a value near zero.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return result;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (char c : text.substr(0, longest)) result += c >= 32 && c < 127 ? c : '?';
  return result + (text.size() > longest ? "...'" : "'");
}

FileReader::FileReader(std::filesystem::path file) : file_(std::move(file)), content_(read_all(file_)) {
  if (content_.empty()) throw InputError("{}: is empty; write the file again", file_.string());
}

bool FileReader::skip_blank() {
  while (position_ < content_.size() && is_blank(content_[position_])) ++position_;
  return !at_end();
}

std::string_view FileReader::token(std::string_view what) {
  const bool found = skip_blank();
  mark_ = position_;
  if (!found) fail("the file ends where {} should follow; it may have been cut off, write it again", what);
  while (position_ < content_.size() && !is_blank(content_[position_])) ++position_;
  return content().substr(mark_, position_ - mark_);
}

std::string_view FileReader::token_on_line() {
  while (position_ < content_.size()) {
    const char c = content_[position_];
    if (c == '\n') break;
    if (is_blank(c)) {
      ++position_;
    } else if (c == '\\' && content_.compare(position_ + 1, 1, "\n") == 0) {
      position_ += 2;
    } else if (c == '\\' && content_.compare(position_ + 1, 2, "\r\n") == 0) {
      position_ += 3;
    } else {
      break;
    }
  }
  mark_ = position_;
  while (position_ < content_.size() && !is_blank(content_[position_])) ++position_;
  return content().substr(mark_, position_ - mark_);
}

std::string_view FileReader::line() {
  mark_ = position_;
  const std::size_t end = std::min(content_.find('\n', position_), content_.size());
  std::string_view result = content().substr(position_, end - position_);
  if (!result.empty() && result.back() == '\r') result.remove_suffix(1);
  position_ = std::min(end + 1, content_.size());
  return result;
}

double FileReader::real(std::string_view what) {
  const std::string_view text = token(what);
  const std::optional<double> parsed = parse_real(text);
  if (!parsed) fail("{}: got {}, expected a number", what, apart::quoted(text));
  return *parsed;
}

double FileReader::finite_real(std::string_view what) {
  return finite(real(what), what);
}

std::int64_t FileReader::integer(std::string_view what) {
  const std::string_view text = token(what);
  const std::optional<std::int64_t> parsed = parse_integer(text);
  if (!parsed) fail("{}: got {}, expected an integer", what, apart::quoted(text));
  return *parsed;
}

Index FileReader::count(std::string_view what, std::size_t bytes_each) {
  return checked_count(integer(what), what, bytes_each);
}

std::string_view FileReader::bytes(std::size_t size, std::string_view what) {
  mark_ = position_;
  if (size > remaining())
    fail("{}: {} bytes should follow but {} are left; the file was cut off, write it again", what, size,
         remaining());
  position_ += size;
  return content().substr(mark_, size);
}

double FileReader::finite(double value, std::string_view what) const {
  if (!std::isfinite(value)) fail("{}: got {}, must be finite; repair or export the mesh again", what, value);
  return value;
}

Index FileReader::checked_count(std::int64_t n, std::string_view what, std::size_t bytes_each) const {
  if (n < 0) fail("{}: got {}, must not be negative", what, n);
  if (n > std::numeric_limits<Index>::max())
    fail("{}: got {}, at most {} are supported", what, n, std::numeric_limits<Index>::max());
  if (std::size_t(n) > remaining() / bytes_each)
    fail("{}: got {}, more than the rest of the file ({} bytes) can hold; the file was cut off or damaged",
         what, n, remaining());
  return Index(n);
}

std::string FileReader::place(std::size_t at) const {
  if (binary_) return fmt::format("{}: byte {}", file_.string(), at);
  const auto begin = content_.begin();
  return fmt::format("{}:{}", file_.string(), 1 + std::count(begin, begin + std::ptrdiff_t(at), '\n'));
}

void FileReader::fail_at(std::size_t at, const std::string& message) const {
  throw InputError("{}: {}", place(at), message);
}

}  // namespace apart
