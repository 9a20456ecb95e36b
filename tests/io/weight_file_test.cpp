// Weights of collision surfaces: files of the HDF5 library and of h5py, and damaged ones.
#include <apart/core/error.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>
#include <support/weight_file.hpp>

#include <fstream>
#include <random>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

WeightFile sample() {
  WeightFile w;
  w.rows = 3;
  w.columns = 5;
  w.entries = {{0, 0, 1}, {1, 1, 0.25}, {1, 2, 0.75}, {2, 4, 1}};
  w.corners = {0, 2, 1, 3};
  w.edges = {{0, 1}, {1, 2}};
  w.faces = {{0, 1, 2}};
  return w;
}

void expect_sample(const WeightFile& w) {
  const WeightFile expected = sample();
  EXPECT_EQ(w.rows, expected.rows);
  EXPECT_EQ(w.columns, expected.columns);
  ASSERT_EQ(w.entries.size(), expected.entries.size());
  for (std::size_t i = 0; i < w.entries.size(); ++i) {
    EXPECT_EQ(w.entries[i].row, expected.entries[i].row);
    EXPECT_EQ(w.entries[i].column, expected.entries[i].column);
    EXPECT_EQ(w.entries[i].value, expected.entries[i].value);
  }
  EXPECT_EQ(w.corners, expected.corners);
  EXPECT_EQ(w.edges, expected.edges);
  EXPECT_EQ(w.faces, expected.faces);
}

TEST(WeightFile, IsReadAsWritten) {
  const TemporaryDirectory directory;
  write_file(directory / "weights.hdf5", WeightFileWriter(sample()).bytes());
  expect_sample(read_weights(directory / "weights.hdf5"));
}

TEST(WeightFile, OfTheHdf5LibraryIsRead) {
  expect_sample(read_weights(fs::path(APART_SOURCE_DIR) / "tests/fuzz/corpus/weights/library"));
}

TEST(WeightFile, OfHighOrderIpcIsRead) {
  const fs::path folder = fs::path(APART_DATA) / "highorder/high-order-ipc-data/weights/higher_order";
  if (!fs::exists(folder)) GTEST_SKIP() << "needs published data: highorder";
  const WeightFile w = read_weights(folder / "P4-coarse-P2.hdf5");
  EXPECT_EQ(w.rows, 1217);
  EXPECT_EQ(w.columns, 80);
  EXPECT_EQ(w.corners.size(), 18u);
  EXPECT_EQ(w.edges.size(), 62u);
  std::vector<double> sums(std::size_t(w.rows), 0);
  for (const WeightFile::Entry& e : w.entries) sums[std::size_t(e.row)] += e.value;
  for (const double sum : sums) EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(WeightFile, ThatIsDamagedIsRefusedOrRead) {
  const TemporaryDirectory directory;
  const std::string good = WeightFileWriter(sample()).bytes();
  std::mt19937 random(4);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 1 + i % 4; ++k) bytes[random() % bytes.size()] = char(random());
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    write_file(directory / "weights.hdf5", bytes);
    try {
      read_weights(directory / "weights.hdf5");
    } catch (const InputError& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find("weights.hdf5"), std::string::npos);
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(WeightFile, SaysWhatIsWrong) {
  const TemporaryDirectory directory;
  const auto message = [&](const WeightFile& w) {
    write_file(directory / "weights.hdf5", WeightFileWriter(w).bytes());
    return message_of([&] { read_weights(directory / "weights.hdf5"); });
  };
  WeightFile w = sample();
  w.entries[2].column = 7;
  EXPECT_NE(message(w).find("\"cols\" has 7, must be a whole number from 0 to 4"), std::string::npos);
  write_file(directory / "weights.hdf5", "no such file");
  EXPECT_NE(message_of([&] { read_weights(directory / "weights.hdf5"); }).find("is no HDF5 file"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
