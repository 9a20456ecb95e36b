#include <apart/remesh/planar_transfer.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <set>

namespace apart {

namespace {

/// A cell at rest.
struct PlaneCell {
  std::array<Index, 3> points;  ///< of its own mesh
  std::array<Vector2, 3> corners;
  double density;  ///< [kg/m²]: times depth
  /// Barycentric coordinates of a place.
  Vector3 at(const Vector2& x) const {
    Matrix2 d;
    d << corners[1] - corners[0], corners[2] - corners[0];
    const Vector2 l = d.inverse() * (x - corners[0]);
    return {1 - l.sum(), l[0], l[1]};
  }
};

using CornerLists = std::set<std::array<Index, 3>>;

/// The corners of a cell, in the numbers of the mesh before.
template <class Number>
std::array<Index, 3> sorted_numbers(const PlanarCells& cells, Index c, const Number& number) {
  std::array<Index, 3> list;
  for (int k = 0; k < 3; ++k) list[std::size_t(k)] = number(cells.nodes(k, c));
  std::ranges::sort(list);
  return list;
}
template <class Number>
CornerLists corners_of(const PlanarCells& cells, const Number& number) {
  CornerLists result;
  for (Index c = 0; c < cells.nodes.cols(); ++c) result.insert(sorted_numbers(cells, c, number));
  return result;
}
template <class Number>
std::vector<PlaneCell> plane_cells_not_in(const CornerLists& others, const Body& body, const Number& number) {
  const PlanarCells& cells = *body.planar;
  std::vector<PlaneCell> result;
  for (Index c = 0; c < cells.nodes.cols(); ++c) {
    if (others.contains(sorted_numbers(cells, c, number))) continue;
    PlaneCell cell;
    for (std::size_t k = 0; k < 3; ++k) {
      cell.points[k] = cells.nodes(Index(k), c);
      cell.corners[k] = body.nodes.col(cell.points[k]).head<2>();
    }
    cell.density = cells.depth * cells.density[std::size_t(cells.material_of[std::size_t(c)])];
    result.push_back(cell);
  }
  return result;
}

/// The convex polygon that two cells have in common. [Sutherland, Hodgman 1974]
std::vector<Vector2> common_part(const PlaneCell& a, const PlaneCell& b) {
  std::vector<Vector2> part(a.corners.begin(), a.corners.end()), next;
  for (int side = 0; side < 3 && !part.empty(); ++side) {
    next.clear();
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Vector2 &x = part[i], &y = part[(i + 1) % part.size()];
      const double f = b.at(x)[side], g = b.at(y)[side];
      if (f > 0) next.push_back(x);
      if ((f > 0) != (g > 0)) next.push_back(x + f / (f - g) * (y - x));
    }
    part.swap(next);
  }
  return part;
}

}  // namespace

std::vector<CollapseTransfer::Entry> plane_entries(const Body& before, const Body& after,
                                                   const std::vector<Blend>& points) {
  const auto same = [](Index p) { return p; };
  const auto number = [&](Index p) { return number_of(points[std::size_t(p)]); };
  const std::vector<PlaneCell> gone = plane_cells_not_in(corners_of(*after.planar, number), before, same),
                               made = plane_cells_not_in(corners_of(*before.planar, same), after, number);
  std::vector<CollapseTransfer::Entry> entries;
  for (const PlaneCell& here : made)
    for (const PlaneCell& old : gone) {
      // ∫ φ²_i φ¹_j and ∫ φ²_i φ²_k: of two affine functions over a triangle of area A that is
      // A/12 (Σ_c f_c g_c + Σ_c f_c Σ_c g_c), c its corners.
      Matrix3 with_old = Matrix3::Zero(), with_new = with_old;
      const std::vector<Vector2> part = common_part(here, old);
      for (std::size_t t = 2; t < part.size(); ++t) {
        const std::array<Vector2, 3> corners = {part[0], part[t - 1], part[t]};
        const Vector2 u = corners[1] - corners[0], v = corners[2] - corners[0];
        const double weight = old.density * std::abs(u[0] * v[1] - u[1] * v[0]) / 24;
        Matrix3 f, h;  // functions × corners
        for (std::size_t c = 0; c < 3; ++c) {
          f.col(Index(c)) = here.at(corners[c]);
          h.col(Index(c)) = old.at(corners[c]);
        }
        const Vector3 sum = f.rowwise().sum(), old_sum = h.rowwise().sum();
        with_old += weight * (f * h.transpose() + sum * old_sum.transpose());
        with_new += weight * (f * f.transpose() + sum * sum.transpose());
      }
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const Index p = here.points[std::size_t(i)];
          if (with_old(i, j) != 0) entries.push_back({p, old.points[std::size_t(j)], with_old(i, j)});
          if (with_new(i, j) != 0)
            subtract(points[std::size_t(here.points[std::size_t(j)])], p, with_new(i, j), entries);
        }
    }
  return entries;
}

}  // namespace apart
