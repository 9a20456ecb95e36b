#include <apart/core/error.hpp>
#include <apart/io/sealed_file.hpp>

#include <gtest/gtest.h>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

TEST(SealedFile, GivesBackTheBytesAndNoticesEveryChange) {
  const TemporaryDirectory directory;
  const std::string bytes("a\0b\xff\n", 5);
  write_sealed(directory / "f", "apartTST", 3, bytes);
  EXPECT_EQ(read_sealed(directory / "f", "apartTST", 3), bytes);

  const std::string content = read_file(directory / "f");
  for (std::size_t i = 0; i < content.size(); ++i) {
    std::string damaged = content;
    damaged[i] = char(damaged[i] ^ 0x10);
    write_file(directory / "f", damaged);
    EXPECT_THROW(read_sealed(directory / "f", "apartTST", 3), InputError) << "byte " << i;
    write_file(directory / "f", content.substr(0, i));
    EXPECT_THROW(read_sealed(directory / "f", "apartTST", 3), InputError) << "cut at " << i;
  }
}

TEST(SealedFile, RefusesOtherKindsAndVersions) {
  const TemporaryDirectory directory;
  write_sealed(directory / "f", "apartTST", 3, "");
  EXPECT_EQ(read_sealed(directory / "f", "apartTST", 3), "");
  EXPECT_THROW(read_sealed(directory / "f", "apartXYZ", 3), InputError);
  EXPECT_THROW(read_sealed(directory / "f", "apartTST", 4), InputError);
  EXPECT_THROW(read_sealed(directory / "nothing", "apartTST", 3), InputError);
}

}  // namespace
}  // namespace apart::test
