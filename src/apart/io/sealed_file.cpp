#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/sealed_file.hpp>

#include <zlib.h>

#include <bit>
#include <ostream>

namespace apart {

namespace {

constexpr std::size_t mark_size = 8;

std::string_view bytes_of(const std::uint32_t& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

ByteSum byte_sum(std::string_view bytes) {
  return {bytes.size(), std::uint32_t(::crc32_z(::crc32_z(0, nullptr, 0),
                                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()))};
}

ByteSum joined(const ByteSum& first, const ByteSum& then) {
  return {first.count + then.count, std::uint32_t(::crc32_combine(first.crc, then.crc, z_off_t(then.count)))};
}

// Little-endian: the bytes, mark (8 bytes), version (4 bytes), and the CRC-32 of all that (4 bytes). At the
// end, so that programs that read the bytes' own format can read the file.
std::string seal(const ByteSum& bytes, std::string_view mark, std::uint32_t version) {
  static_assert(std::endian::native == std::endian::little, "a seal is in the machine's own byte order");
  ensure(mark.size() == mark_size, "seal: a mark has 8 characters");
  std::string result(mark);
  result += bytes_of(version);
  const std::uint32_t checksum = joined(bytes, byte_sum(result)).crc;
  result += bytes_of(checksum);
  return result;
}

void write_sealed(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                  std::string_view bytes) {
  write_atomically(file, std::string(bytes) + seal(byte_sum(bytes), mark, version));
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
  const auto checksum = reader.value<std::uint32_t>("checksum");
  const std::uint32_t computed = byte_sum(content.substr(0, content.size() - sizeof checksum)).crc;
  if (checksum != computed)
    reader.fail("is damaged (checksum {:08x}, must be {:08x}); restore it from a copy", computed, checksum);
  return result;
}

}  // namespace apart
