#include <apart/geometry/weld.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace apart {

namespace {

/// Points by the cell of a grid they lie in. Cells are much larger than the tolerance, so that nearly every
/// search looks into one cell only.
class PointGrid {
 public:
  PointGrid(const Matrix3X& points, double tolerance)
      : points_(points), tolerance_(tolerance), low_(points.rowwise().minCoeff()) {
    const double extent = (points.rowwise().maxCoeff() - low_).maxCoeff();
    // At most a million cells along an axis: their numbers fit 21 bits. A zero size would divide by zero.
    width_ = std::max({64 * tolerance, extent / 1e6, std::numeric_limits<double>::min()});
    first_.reserve(std::size_t(points.cols()));
    next_.assign(std::size_t(points.cols()), -1);
  }

  /// The point entered first that lies within the tolerance of x; −1: none.
  int find(const Vector3& x) const {
    std::array<std::int64_t, 3> from, to;
    for (int k = 0; k < 3; ++k) {
      from[std::size_t(k)] = cell(x[k] - tolerance_, k);
      to[std::size_t(k)] = cell(x[k] + tolerance_, k);
    }
    int found = -1;
    for (std::int64_t i = from[0]; i <= to[0]; ++i)
      for (std::int64_t j = from[1]; j <= to[1]; ++j)
        for (std::int64_t k = from[2]; k <= to[2]; ++k) {
          const auto at = first_.find(key(i, j, k));
          if (at == first_.end()) continue;
          for (int p = at->second; p >= 0; p = next_[std::size_t(p)])
            if ((found < 0 || p < found) && (points_.col(p) - x).norm() <= tolerance_) found = p;
        }
    return found;
  }

  void enter(int p) {
    const Vector3 x = points_.col(p);
    int& first = first_.try_emplace(key(cell(x[0], 0), cell(x[1], 1), cell(x[2], 2)), -1).first->second;
    next_[std::size_t(p)] = first;
    first = p;
  }

 private:
  std::int64_t cell(double x, int axis) const { return std::int64_t(std::floor((x - low_[axis]) / width_)); }
  static std::uint64_t key(std::int64_t i, std::int64_t j, std::int64_t k) {
    // Scrambled, because tables use the lowest bits.
    const std::uint64_t packed =
        std::uint64_t(i + 1) << 42 ^ std::uint64_t(j + 1) << 21 ^ std::uint64_t(k + 1);
    return packed * 0x9e3779b97f4a7c15u ^ packed >> 31;
  }

  const Matrix3X& points_;
  double tolerance_, width_;
  Vector3 low_;
  std::unordered_map<std::uint64_t, int> first_;  ///< of each cell; by a number that may belong to several
  std::vector<int> next_;                         ///< of the same cell
};

}  // namespace

Index weld_points(Mesh& mesh, double tolerance) {
  const Index count = mesh.point_count();
  if (count == 0 || mesh.cell_count() + mesh.faces.cols() + mesh.edges.cols() == 0 ||
      !mesh.points.allFinite())
    return 0;
  std::vector<int> onto(static_cast<std::size_t>(count));
  PointGrid grid(mesh.points, tolerance);
  for (int p = 0; p < count; ++p) {
    const int found = grid.find(mesh.points.col(p));
    onto[std::size_t(p)] = found >= 0 ? found : p;
    if (found < 0) grid.enter(p);
  }
  // A cell smaller than the tolerance must not collapse: its corners are kept.
  const auto spare = [&](const auto& cells) {
    for (Index c = 0; c < cells.cols(); ++c) {
      bool collapses = false;
      for (int i = 0; i < cells.rows(); ++i)
        for (int j = 0; j < i; ++j)
          collapses |=
              cells(i, c) != cells(j, c) && onto[std::size_t(cells(i, c))] == onto[std::size_t(cells(j, c))];
      if (collapses)
        for (const int p : cells.col(c)) onto[std::size_t(p)] = p;
    }
  };
  spare(mesh.tetrahedra);
  spare(mesh.faces);
  spare(mesh.edges);
  for (const CurvedCells& cells : mesh.curved) spare(cells.points);

  std::vector<int> number(static_cast<std::size_t>(count), -1);
  int kept = 0;
  for (int p = 0; p < count; ++p)
    if (onto[std::size_t(p)] == p) number[std::size_t(p)] = kept++;
  if (kept == count) return 0;
  const auto renumbered = [&](int p) { return number[std::size_t(onto[std::size_t(p)])]; };
  Matrix3X points(3, kept);
  for (int p = 0; p < count; ++p)
    if (onto[std::size_t(p)] == p) points.col(renumbered(p)) = mesh.points.col(p);
  mesh.points = std::move(points);
  const auto renumber = [&](auto& cells) {
    for (Eigen::Index i = 0; i < cells.size(); ++i) cells.data()[i] = renumbered(cells.data()[i]);
  };
  renumber(mesh.tetrahedra);
  renumber(mesh.faces);
  renumber(mesh.edges);
  renumber(mesh.vertices);
  for (CurvedCells& cells : mesh.curved) renumber(cells.points);
  // Free points that lay on others, or on each other, are there once.
  std::vector<int> free(mesh.vertices.begin(), mesh.vertices.end());
  std::vector<char> seen(std::size_t(kept), 0);
  std::erase_if(free, [&](int p) { return std::exchange(seen[std::size_t(p)], char(1)) != 0; });
  mesh.vertices = Eigen::VectorXi::Map(free.data(), Eigen::Index(free.size()));
  for (auto& [name, group] : mesh.groups) {
    for (int& p : group.points) p = renumbered(p);
    std::sort(group.points.begin(), group.points.end());
    group.points.erase(std::unique(group.points.begin(), group.points.end()), group.points.end());
    for (auto& triangle : group.triangles) {
      for (int& p : triangle) p = renumbered(p);
      std::sort(triangle.begin(), triangle.end());
    }
    std::sort(group.triangles.begin(), group.triangles.end());
    group.triangles.erase(std::unique(group.triangles.begin(), group.triangles.end()), group.triangles.end());
  }
  return count - kept;
}

}  // namespace apart
