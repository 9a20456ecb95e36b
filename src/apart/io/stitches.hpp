#pragma once
#include <filesystem>
#include <vector>

namespace apart {

/// A point sewn to another, or to a place on an edge: x_a − (1 − t) x_b − t x_c.
struct Stitch {
  int a = 0, b = 0;
  int c = -1;    ///< −1: sewn to b alone
  double t = 0;  ///< in [0, 1]
};

/// The stitches of a file: lines "stitch a b c t" of an OBJ file of a garment, whose other lines are skipped,
/// or of a text file with "a b" or "a b c t" alone. Points are counted from 0, as those files do. Throws
/// InputError naming the place if there is none or one is invalid.
std::vector<Stitch> read_stitches(const std::filesystem::path& file);

}  // namespace apart
