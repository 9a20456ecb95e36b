#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/io/sealed_file.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <cstring>
#include <limits>

namespace apart::test {
namespace {

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

// Anyone can make a seal, so what lies behind it is not trusted either.
TEST(Hdf5Archive, ATableOfContentsThatLiesIsRefused) {
  const TemporaryDirectory directory;
  Archive archive;
  archive.integers["step"] = 7;
  archive.matrices["points"] = Matrix3X::Random(3, 10);
  write_archive(directory / "a", "apartTST", 1, archive);
  const std::string bytes = read_sealed(directory / "a", "apartTST", 1);
  ASSERT_EQ(read_archive(directory / "a", "apartTST", 1).integers.at("step"), 7);
  const auto is_refused = [&](const std::string& content) {
    write_sealed(directory / "a", "apartTST", 1, content);
    const std::string message = message_of([&] { read_archive(directory / "a", "apartTST", 1); });
    return message.find("table of contents") != std::string::npos;
  };
  // The table: (8 + 4 + 24) bytes for "step", (8 + 6 + 24) for "points", 16 at its end.
  const std::size_t table = bytes.size() - 16 - 38 - 36;
  const auto with = [&](std::size_t at, std::uint64_t value) {
    std::string changed = bytes;
    std::memcpy(changed.data() + at, &value, sizeof value);
    return changed;
  };
  const std::uint64_t huge = std::uint64_t(1) << 63;
  for (const std::uint64_t value : {huge, huge - 1, ~std::uint64_t(0), std::uint64_t(10'000'000'000)}) {
    EXPECT_TRUE(is_refused(with(bytes.size() - 8, value))) << "size of the table";
    EXPECT_TRUE(is_refused(with(bytes.size() - 16, value))) << "number of datasets";
    EXPECT_TRUE(is_refused(with(table, value))) << "length of a name";
    EXPECT_TRUE(is_refused(with(table + 12, value))) << "kind";
    EXPECT_TRUE(is_refused(with(table + 28, value))) << "place of a number";
    EXPECT_TRUE(is_refused(with(bytes.size() - 16 - 16, value))) << "columns of a matrix";
    EXPECT_TRUE(is_refused(with(bytes.size() - 16 - 8, value))) << "place of a matrix";
  }
  for (const std::size_t size : {0, 1, 15, 16, 100}) EXPECT_TRUE(is_refused(bytes.substr(0, size)));
}

}  // namespace
}  // namespace apart::test
