#include <apart/core/error.hpp>
#include <apart/io/gzip.hpp>

#include <zlib.h>

#include <limits>
#include <new>

namespace apart {

std::string gzip(std::string_view bytes, int level) {
  ensure(bytes.size() < std::numeric_limits<uInt>::max() / 2, "gzip: less than 2 GB at a time");
  z_stream stream{};
  constexpr int with_gzip_header = 15 + 16;  // window of 2¹⁵ bytes
  if (::deflateInit2(&stream, level, Z_DEFLATED, with_gzip_header, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string result(::deflateBound(&stream, uLong(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not write there
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = uInt(result.size());
  const int code = ::deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  ::deflateEnd(&stream);
  ensure(code == Z_STREAM_END, "gzip: deflateBound is large enough");
  return result;
}

}  // namespace apart
