#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/sealed_file.hpp>

#include <zlib.h>

#include <bit>
#include <ostream>

namespace apart {

namespace {

constexpr std::size_t mark_size = 8;

std::uint32_t checksum(std::string_view bytes) {
  return std::uint32_t(
      ::crc32_z(::crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string_view bytes_of(const std::uint32_t& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

// Little-endian: the bytes, mark (8 bytes), version (4 bytes), and the CRC-32 of all that (4 bytes). At the
// end, so that programs that read the bytes' own format can read the file.
void write_sealed(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                  std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little,
                "write_sealed writes the machine's own byte order");
  ensure(mark.size() == mark_size, "write_sealed: a mark has 8 characters");
  std::string content(bytes);
  content += mark;
  content += bytes_of(version);
  const std::uint32_t seal = checksum(content);
  content += bytes_of(seal);
  write_atomically(file, content);
}

std::string read_sealed(const std::filesystem::path& file, std::string_view mark, std::uint32_t version) {
  FileReader reader(file);
  reader.set_binary(true);
  constexpr std::size_t seal_size = mark_size + 2 * sizeof(std::uint32_t);
  const std::string_view content = reader.content();
  if (content.size() < seal_size || content.substr(content.size() - seal_size, mark_size) != mark)
    reader.fail("does not end with the seal '{}'; it was cut off, or is another kind of file", mark);
  const std::string result(reader.bytes(content.size() - seal_size, "content"));
  reader.bytes(mark_size, "mark");
  const auto written = reader.value<std::uint32_t>("version");
  if (written != version)
    reader.fail("has version {}, this program reads version {}; use the program that wrote it", written,
                version);
  const auto seal = reader.value<std::uint32_t>("checksum");
  const std::uint32_t computed = checksum(content.substr(0, content.size() - sizeof seal));
  if (seal != computed)
    reader.fail("is damaged (checksum {:08x}, must be {:08x}); restore it from a copy", computed, seal);
  return result;
}

}  // namespace apart
