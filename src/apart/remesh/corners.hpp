#pragma once
#include <apart/core/types.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace apart {

/// The points of a cell, or of one of its sides or edges: at most four.
class Corners {
 public:
  Corners() = default;
  Corners(std::initializer_list<Index> points) {
    for (const Index p : points) add(p);
  }
  /// Of a column of a list of cells, sides or edges.
  template <class Column>
  static Corners of(const Column& column) {
    Corners corners;
    for (Eigen::Index k = 0; k < column.size(); ++k) corners.add(column[k]);
    return corners;
  }
  void add(Index point) { ids_[std::size_t(size_++)] = point; }

  int size() const { return size_; }
  Index operator[](int k) const { return ids_[std::size_t(k)]; }
  const Index* begin() const { return ids_.data(); }
  const Index* end() const { return ids_.data() + size_; }
  bool has(Index point) const { return std::find(begin(), end(), point) != end(); }
  bool has_all(const Corners& points) const {
    return std::ranges::all_of(points, [&](Index p) { return has(p); });
  }

  Corners sorted() const {
    Corners result = *this;
    std::sort(result.ids_.begin(), result.ids_.begin() + size_);
    return result;
  }
  /// With a point in place of another, if that is one of them.
  Corners replaced(Index from, Index to) const {
    Corners result = *this;
    std::replace(result.ids_.begin(), result.ids_.begin() + size_, from, to);
    return result;
  }
  /// All but the k-th.
  Corners without(int k) const {
    Corners result;
    for (int i = 0; i < size_; ++i)
      if (i != k) result.add((*this)[i]);
    return result;
  }
  auto operator<=>(const Corners&) const = default;

 private:
  std::array<Index, 4> ids_ = {-1, -1, -1, -1};
  int size_ = 0;
};

/// A place on an edge of a mesh, or one of its points.
struct Blend {
  Index from = -1, to = -1;  ///< the ends of the edge; equal: a point
  double share = 0;          ///< of the way from the one to the other

  static Blend of(Index point) { return {point, point, 0}; }
  static Blend middle(Index a, Index b) { return {a, b, 0.5}; }
  bool is_point() const { return from == to; }
  /// Of values at the ends; of equal ones their value, to the last bit.
  Vector3 between(const Vector3& a, const Vector3& b) const {
    if (is_point()) return a;
    return share == 0.5 ? Vector3(0.5 * (a + b)) : Vector3(a + share * (b - a));
  }
  /// Of a field given at the points, the first of which has the column `first`.
  Vector3 in(const Matrix3X& field, Index first = 0) const {
    return between(field.col(first + from), field.col(first + to));
  }
};

}  // namespace apart
