#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <filesystem>
#include <vector>

namespace apart {

/// Weights that say how the points of a surface follow the nodes of a volume, as High-Order IPC publishes
/// them: an HDF5 file with a sparse matrix in the group "weight_triplets" (datasets "values", "rows" and
/// "cols", attribute "shape") and, where columns are no points of the mesh, "ordered_vertices",
/// "ordered_edges" and "ordered_faces".
struct WeightFile {
  Index rows = 0, columns = 0;
  struct Entry {
    Index row, column;
    double value;
  };
  std::vector<Entry> entries;
  /// Points of the mesh; all empty if the file has none.
  std::vector<Index> corners;
  std::vector<std::array<Index, 2>> edges;
  std::vector<std::array<Index, 3>> faces;
};

/// Throws InputError naming the file if it is something else. Reads files of the oldest layout of HDF5, which
/// h5py and the library write unless told otherwise, with contiguous data; no byte of it reaches the library,
/// which crashes on damaged files.
WeightFile read_weights(const std::filesystem::path& file);

}  // namespace apart
