#include <apart/io/hdf5_reader.hpp>
#include <apart/io/weight_file.hpp>

#include <limits>

namespace apart {

namespace {

/// A number of the file as an index below a limit.
Index weight_index(const Hdf5Reader& file, double value, double limit, std::string_view what) {
  if (!(value >= 0 && value < limit && value == std::floor(value)))
    file.fail("\"{}\" has {}, must be a whole number from 0 to {}; write it again", what, value, limit - 1);
  return Index(value);
}

template <std::size_t n>
std::vector<std::array<Index, n>> read_tuples(Hdf5Reader& file, std::string_view name) {
  std::vector<std::array<Index, n>> result;
  const std::uint64_t at = file.find(file.root(), name);
  if (at == 0) return result;
  const Hdf5Reader::Numbers numbers = file.dataset(at, name);
  if (numbers.values.empty()) return result;
  if (numbers.values.size() % n != 0 || (numbers.shape.size() == 2 && numbers.shape[1] != n))
    file.fail("\"{}\" has rows of another length than {}; write it again", name, n);
  for (std::size_t i = 0; i < numbers.values.size(); ++i) {
    if (i % n == 0) result.emplace_back();
    result.back()[i % n] = weight_index(file, numbers.values[i], std::numeric_limits<int>::max(), name);
  }
  return result;
}

}  // namespace

WeightFile read_weights(const std::filesystem::path& path) {
  Hdf5Reader file(path);
  const std::uint64_t group = file.find(file.root(), "weight_triplets");
  if (group == 0)
    file.fail(
        "has no group \"weight_triplets\"; weights are triplets \"rows\", \"cols\" and \"values\" there");
  const auto numbers = [&](std::string_view name) {
    const std::uint64_t at = file.find(group, name);
    if (at == 0)
      file.fail(
          "has no \"{}\" in its group \"weight_triplets\"; give \"rows\", \"cols\" and \"values\" there",
          name);
    return file.dataset(at, name).values;
  };
  const std::vector<double> values = numbers("values"), rows = numbers("rows"), columns = numbers("cols");
  if (rows.size() != values.size() || columns.size() != values.size())
    file.fail("has {} values, {} rows and {} columns, must have as many of each; write it again",
              values.size(), rows.size(), columns.size());
  const std::vector<double> shape = file.attribute(group, "shape").values;
  if (shape.size() != 2)
    file.fail(
        "has no attribute \"shape\" of two numbers at \"weight_triplets\"; give it the numbers of rows and "
        "columns");
  WeightFile result;
  constexpr double most = 1e8;
  result.rows = weight_index(file, shape[0], most, "shape");
  result.columns = weight_index(file, shape[1], most, "shape");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) file.fail("value {} is {}, must be finite; write it again", i, values[i]);
    result.entries.push_back({weight_index(file, rows[i], double(result.rows), "rows"),
                              weight_index(file, columns[i], double(result.columns), "cols"), values[i]});
  }
  for (const auto& corner : read_tuples<1>(file, "ordered_vertices")) result.corners.push_back(corner[0]);
  result.edges = read_tuples<2>(file, "ordered_edges");
  result.faces = read_tuples<3>(file, "ordered_faces");
  return result;
}

}  // namespace apart
