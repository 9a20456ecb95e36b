#include <apart/geometry/space_partition.hpp>

#include <algorithm>
#include <numeric>
#include <span>

namespace apart {

namespace {

/// Gives the parts [first, first + parts) to the points in `some`.
void divide(const Matrix3X& points, std::span<Index> some, int first, int parts, std::vector<int>& part) {
  if (parts == 1 || some.empty()) {
    for (const Index i : some) part[std::size_t(i)] = first;
    return;
  }
  Vector3 lower = Vector3::Constant(infinity), upper = -lower;
  for (const Index i : some) {
    lower = lower.cwiseMin(points.col(i));
    upper = upper.cwiseMax(points.col(i));
  }
  int axis;
  (upper - lower).maxCoeff(&axis);
  const int left = parts / 2;
  const std::size_t count = some.size() * std::size_t(left) / std::size_t(parts);
  // Numbers decide where coordinates are the same.
  std::nth_element(some.begin(), some.begin() + std::ptrdiff_t(count), some.end(), [&](Index a, Index b) {
    return std::pair(points(axis, a), a) < std::pair(points(axis, b), b);
  });
  divide(points, some.first(count), first, left, part);
  divide(points, some.subspan(count), first + left, parts - left, part);
}

}  // namespace

std::vector<int> divide_space(const Matrix3X& points, int parts) {
  std::vector<Index> all(std::size_t(points.cols()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> part(all.size(), 0);
  divide(points, all, 0, parts, part);
  return part;
}

}  // namespace apart
