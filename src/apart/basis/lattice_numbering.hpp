#pragma once
#include <apart/basis/lagrange_tetrahedron.hpp>

#include <map>
#include <span>

namespace apart {

/// Numbers the lattice points of many cells that share corners. A point that lies on a corner, an edge or a
/// face belongs to all cells there and has one number: it is known by the corners it lies between and its
/// integer barycentric coordinates, so that nothing depends on rounding.
class LatticeNumbering {
 public:
  /// `degree`: of the lattice.
  explicit LatticeNumbering(int degree) : degree_(degree) {}
  /// `corners` of a tetrahedron, triangle or edge; `point`: as many integers that add up to the degree. A
  /// point seen for the first time gets the next number.
  Index number(std::span<const Index> corners, std::span<const int> point);
  Index count() const { return Index(numbers_.size()); }

 private:
  int degree_;
  /// (corner, coordinate) of the coordinates that are not zero, corners ascending; −1 where there are fewer.
  using Key = std::array<Index, 8>;
  std::map<Key, Index> numbers_;
};

}  // namespace apart
