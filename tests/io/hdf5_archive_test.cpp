#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>

#include <gtest/gtest.h>
#include <support/temporary_directory.hpp>

#include <limits>

namespace apart {
namespace {

using apart::testing::read_file;
using apart::testing::TemporaryDirectory;
using apart::testing::write_file;

TEST(Hdf5Archive, GivesBackTheSameBitsAndIsTheSameBytes) {
  const TemporaryDirectory directory;
  Archive archive;
  archive.integers = {{"step", 7}, {"huge", std::numeric_limits<std::int64_t>::min()}};
  archive.reals = {{"tenth", 0.1}, {"tiny", 5e-324}, {"minus_zero", -0.0}};
  archive.vectors = {{"three", Vector3(0.1, -0.0, 5e-324)}, {"empty", VectorX(0)}};
  archive.matrices["points"] = Matrix3X::Random(3, 1000);
  archive.matrices["none"] = Matrix3X(3, 0);
  write_archive(directory / "a", "apartTST", 1, archive);
  write_archive(directory / "b", "apartTST", 1, archive);
  EXPECT_EQ(read_file(directory / "a"), read_file(directory / "b"));
  EXPECT_EQ(read_file(directory / "a").substr(1, 3), "HDF") << "other programs can read it";
  const Archive again = read_archive(directory / "a", "apartTST", 1);
  EXPECT_EQ(again.integers, archive.integers);
  EXPECT_EQ(again.reals, archive.reals);
  EXPECT_TRUE(std::signbit(again.reals.at("minus_zero")));
  ASSERT_EQ(again.vectors.size(), 2u);
  EXPECT_EQ(again.vectors.at("three"), archive.vectors.at("three"));
  EXPECT_EQ(again.vectors.at("empty").size(), 0);
  ASSERT_EQ(again.matrices.size(), 2u);
  EXPECT_EQ(again.matrices.at("points"), archive.matrices.at("points"));
  EXPECT_EQ(again.matrices.at("none").cols(), 0);
}

TEST(Hdf5Archive, DamageIsNoticed) {
  const TemporaryDirectory directory;
  Archive archive;
  archive.matrices["points"] = Matrix3X::Random(3, 10);
  write_archive(directory / "a", "apartTST", 1, archive);
  const std::string bytes = read_file(directory / "a");
  for (std::size_t i = 0; i < bytes.size(); i += 37) {
    std::string damaged = bytes;
    damaged[i] = char(damaged[i] ^ 1);
    write_file(directory / "a", damaged);
    EXPECT_THROW(read_archive(directory / "a", "apartTST", 1), InputError) << i;
    write_file(directory / "a", bytes.substr(0, i));
    EXPECT_THROW(read_archive(directory / "a", "apartTST", 1), InputError) << i;
  }
}

}  // namespace
}  // namespace apart
