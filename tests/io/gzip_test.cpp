#include <gtest/gtest.h>
#include <apart/io/gzip.hpp>

#include <zlib.h>

#include <random>

namespace apart::test {
namespace {

std::string gunzipped(const std::string& bytes, std::size_t size) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string result(size + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = uInt(result.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  inflateEnd(&stream);
  return result;
}

TEST(Gzip, GivesTheBytesBack) {
  std::mt19937 random(1);
  std::string noise(100000, '\0');
  for (char& c : noise) c = char(random());
  for (const std::string& text : {std::string(), std::string("a"), std::string(100000, 'x'), noise})
    for (const int level : {1, 6, 9}) EXPECT_EQ(gunzipped(gzip(text, level), text.size()), text);
  EXPECT_LT(gzip(std::string(100000, 'x')).size(), 1000u);
  EXPECT_EQ(gzip(noise), gzip(noise));
}

}  // namespace
}  // namespace apart::test
