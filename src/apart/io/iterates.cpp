#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/iterates.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ostream>

namespace apart {

namespace {

constexpr std::string_view iterates_magic = "apartITR";
constexpr std::uint64_t iterates_version = 2;           // all of topology 0
constexpr std::uint64_t numbered_iterates_version = 3;  // each with its topology

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

uLong crc_of(uLong crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // zlib takes a null pointer as a request for the start value
  return ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

}  // namespace

std::string iterates_name(Index step) {
  return fmt::format("iterates/step_{:06}.bin", step);
}

std::string topology_name(Index topology) {
  return fmt::format("topologies/topology_{:06}.vtu", topology);
}

// Little-endian: magic (8 bytes), then as 8-byte integers version, step and number of iterates; in version 2
// the number of points; the number of absent bodies and these bodies. Then the iterates: in version 3 each
// begins with its topology and its number of points, and one topology at least is not 0; the coordinates are
// doubles. At the end the CRC-32 of all that as a 4-byte integer.
void write_iterates(const std::filesystem::path& run_directory, const Iterates& iterates) {
  static_assert(std::endian::native == std::endian::little,
                "write_iterates writes the machine's own byte order");
  ensure(iterates.topology.empty() || iterates.topology.size() == iterates.points.size(),
         "Iterates: a topology for each, or for none");
  const bool numbered = std::ranges::any_of(iterates.topology, [](Index number) { return number != 0; });
  const Eigen::Index points = iterates.points.empty() ? 0 : iterates.points.front().cols();
  for (std::size_t i = 1; i < iterates.points.size(); ++i)
    ensure(iterates.topology_of(i) != iterates.topology_of(i - 1) ||
               iterates.points[i].cols() == iterates.points[i - 1].cols(),
           "Iterates: those of one topology have the same number of points");
  const std::filesystem::path directory = run_directory / "iterates";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw InputError("{}: cannot be created: {}; choose another output folder", directory.string(),
                     error.message());
  const auto write = [&](std::ostream& out) {
    uLong crc = 0;
    const auto put = [&](std::string_view bytes) {
      crc = crc_of(crc, bytes);
      out << bytes;
    };
    const auto put_number = [&](auto value) { put(bytes_of(std::uint64_t(value))); };
    put(iterates_magic);
    put_number(numbered ? numbered_iterates_version : iterates_version);
    put_number(iterates.step);
    put_number(iterates.points.size());
    if (!numbered) put_number(points);
    put_number(iterates.absent.size());
    for (const int body : iterates.absent) put_number(body);
    for (std::size_t i = 0; i < iterates.points.size(); ++i) {
      const Matrix3X& p = iterates.points[i];
      if (numbered) {
        put_number(iterates.topology[i]);
        put_number(p.cols());
      }
      put({reinterpret_cast<const char*>(p.data()), std::size_t(p.size()) * sizeof(double)});
    }
    const auto stored_crc = std::uint32_t(crc);
    out << bytes_of(stored_crc);
  };
  write_atomically(run_directory / iterates_name(iterates.step), write, Flush::later);
}

namespace {

/// Reads a file of iterates. Trusts no number: what it says it holds must fit what is left of it.
class IteratesReader {
 public:
  explicit IteratesReader(const std::filesystem::path& file) : reader_(file) { reader_.set_binary(true); }

  Iterates read() {
    if (reader_.bytes(iterates_magic.size(), "file mark") != iterates_magic)
      reader_.fail("not a file of Newton iterates; give a file from the folder iterates of a run");
    const std::uint64_t version = number("version");
    if (version != iterates_version && version != numbered_iterates_version)
      reader_.fail("version {} of the iterates, this program reads versions {} and {}; record them again",
                   version, iterates_version, numbered_iterates_version);
    const std::uint64_t step = number("step");
    count_ = number("number of iterates");
    numbered_ = version == numbered_iterates_version;
    if (!numbered_) points_ = number("number of points");
    read_absent(number("number of absent bodies"));
    if (step > std::uint64_t(std::numeric_limits<Index>::max())) fail_size(step);
    result_.step = Index(step);
    if (!numbered_) {
      const std::size_t left = reader_.remaining();
      // In this order nothing overflows: each product is known to be at most the size of the file.
      const bool fits = left >= sizeof(std::uint32_t) && points_ <= left / point_bytes &&
                        (points_ == 0 ? count_ == 0 : count_ <= left / (points_ * point_bytes)) &&
                        count_ * points_ * point_bytes + sizeof(std::uint32_t) == left;
      if (!fits) fail_size(step);
    }
    for (std::uint64_t i = 0; i < count_; ++i) read_one();
    if (numbered_) check_numbers();
    if (reader_.remaining() != sizeof(std::uint32_t)) fail_size(step);
    const uLong crc =
        crc_of(0, reader_.content().substr(0, reader_.content().size() - sizeof(std::uint32_t)));
    const auto stored_crc = reader_.value<std::uint32_t>("checksum");
    if (stored_crc != crc)
      reader_.fail("the data are damaged (checksum {}, must be {}); record the run again", crc, stored_crc);
    return std::move(result_);
  }

 private:
  static constexpr std::size_t point_bytes = 3 * sizeof(double);

  std::uint64_t number(std::string_view what) { return reader_.value<std::uint64_t>(what); }

  [[noreturn]] void fail_size(std::uint64_t step) {
    reader_.fail(
        "step {} with {} iterates of {} points does not match the file's size; the file was cut off or "
        "damaged",
        step, count_, points_);
  }

  void read_absent(std::uint64_t absent) {
    if (absent > reader_.remaining() / sizeof(std::uint64_t))
      reader_.fail("says that {} bodies are absent, which does not match the file's size; it is damaged",
                   absent);
    for (std::uint64_t i = 0; i < absent; ++i) {
      const std::uint64_t body = number("absent body");
      if (body > std::uint64_t(std::numeric_limits<int>::max()))
        reader_.fail("has no body {}; it is damaged", body);
      result_.absent.push_back(int(body));
    }
  }

  void read_one() {
    if (numbered_) {
      const std::uint64_t topology = number("number of a topology");
      points_ = number("number of points");
      if (topology > std::uint64_t(std::numeric_limits<Index>::max()) ||
          points_ > reader_.remaining() / point_bytes)
        reader_.fail("has an iterate of topology {} with {} points; it is damaged", topology, points_);
      result_.topology.push_back(Index(topology));
    }
    Matrix3X& matrix = result_.points.emplace_back(3, Eigen::Index(points_));
    const std::string_view bytes = reader_.bytes(points_ * point_bytes, "points");
    if (!bytes.empty()) std::memcpy(matrix.data(), bytes.data(), bytes.size());
  }

  void check_numbers() {
    bool any = false;
    for (std::size_t i = 0; i < result_.points.size(); ++i) {
      any |= result_.topology[i] != 0;
      if (i > 0 && result_.topology[i] == result_.topology[i - 1] &&
          result_.points[i].cols() != result_.points[i - 1].cols())
        reader_.fail("has iterates of topology {} with {} and with {} points; it is damaged",
                     result_.topology[i], result_.points[i - 1].cols(), result_.points[i].cols());
    }
    if (!any) reader_.fail("numbers topologies of which all are 0; it is damaged");
  }

  FileReader reader_;
  Iterates result_;
  bool numbered_ = false;
  std::uint64_t count_ = 0, points_ = 0;
};

}  // namespace

Iterates read_iterates(const std::filesystem::path& file) {
  return IteratesReader(file).read();
}

std::vector<std::filesystem::path> list_iterates(const std::filesystem::path& run_directory) {
  std::vector<std::pair<std::int64_t, std::filesystem::path>> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run_directory / "iterates", error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".bin" || !name.starts_with("step_")) continue;
    if (const auto step = parse_integer(std::string_view(name).substr(5)))
      found.emplace_back(*step, entry.path());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::filesystem::path> files;
  for (auto& [step, path] : found) files.push_back(std::move(path));
  return files;
}

}  // namespace apart
