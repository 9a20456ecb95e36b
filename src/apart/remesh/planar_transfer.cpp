#include <apart/remesh/planar_transfer.hpp>

#include <apart/core/disjoint_sets.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <set>

namespace apart {

namespace {

/// A cell at rest.
struct RestTriangle {
  std::array<Index, 3> points;  ///< of its own mesh
  Matrix3 corners;
  double density;   ///< [kg/m²]: times depth
  Index piece = 0;  ///< of the changed cells that hang together
  Vector3 normal() const {
    return (corners.col(1) - corners.col(0)).cross(corners.col(2) - corners.col(0)).normalized();
  }
};

/// The triangles of a planar body or a shell.
struct RestTriangles {
  explicit RestTriangles(const Body& of)
      : nodes(of.planar ? of.planar->nodes : of.shell->nodes),
        rest(of.rest_points.cols() > 0 ? of.rest_points : of.nodes),
        body(of) {}
  double density(Index c) const {
    if (body.shell) return body.shell->density * body.shell->thickness;
    return body.planar->depth * body.planar->density[std::size_t(body.planar->material_of[std::size_t(c)])];
  }
  const Faces& nodes;
  const Matrix3X& rest;  ///< [m]
  const Body& body;
};

using CornerLists = std::set<std::array<Index, 3>>;

/// The corners of a cell, in the numbers of the mesh before.
template <class Number>
std::array<Index, 3> sorted_numbers(const RestTriangles& cells, Index c, const Number& number) {
  std::array<Index, 3> list;
  for (int k = 0; k < 3; ++k) list[std::size_t(k)] = number(cells.nodes(k, c));
  std::ranges::sort(list);
  return list;
}
template <class Number>
CornerLists corners_of(const RestTriangles& cells, const Number& number) {
  CornerLists result;
  for (Index c = 0; c < cells.nodes.cols(); ++c) result.insert(sorted_numbers(cells, c, number));
  return result;
}
template <class Number>
std::vector<RestTriangle> triangles_not_in(const CornerLists& others, const RestTriangles& cells,
                                           const Number& number) {
  std::vector<RestTriangle> result;
  for (Index c = 0; c < cells.nodes.cols(); ++c) {
    if (others.contains(sorted_numbers(cells, c, number))) continue;
    RestTriangle cell;
    for (int k = 0; k < 3; ++k) {
      cell.points[std::size_t(k)] = cells.nodes(k, c);
      cell.corners.col(k) = cells.rest.col(cells.nodes(k, c));
    }
    cell.density = cells.density(c);
    result.push_back(cell);
  }
  return result;
}

/// Cells with a point in common are of one piece: only there can one lie on another. Parts of a shell that
/// are not connected may be in the same place at rest.
void name_pieces(std::vector<RestTriangle>& gone, std::vector<RestTriangle>& made, Index old_points,
                 const std::vector<Blend>& points) {
  DisjointSets sets(old_points);
  for (const RestTriangle& cell : gone)
    for (const Index p : cell.points) sets.join(cell.points[0], p);
  const auto old = [&](Index p) { return points[std::size_t(p)].from; };
  for (const RestTriangle& cell : made)
    for (const Index p : cell.points) sets.join(old(cell.points[0]), old(p));
  const std::vector<Index> names = std::move(sets).names();
  for (RestTriangle& cell : gone) cell.piece = names[std::size_t(cell.points[0])];
  for (RestTriangle& cell : made) cell.piece = names[std::size_t(old(cell.points[0]))];
}

/// Coordinates in a plane.
struct PlaneAxes {
  Vector3 origin = Vector3::Zero();
  Eigen::Matrix<double, 2, 3> axes = Eigen::Matrix<double, 2, 3>::Identity();
};

/// In the plane of a triangle.
PlaneAxes axes_in(const RestTriangle& cell) {
  PlaneAxes plane;
  plane.origin = cell.corners.col(0);
  const Vector3 along = (cell.corners.col(1) - cell.corners.col(0)).normalized();
  plane.axes.row(0) = along;
  plane.axes.row(1) = cell.normal().cross(along);
  return plane;
}

/// Whether a cell of a shell lies in the plane of another and faces the same way.
bool in_plane_of(const RestTriangle& a, const RestTriangle& b) {
  constexpr double in_one_plane = 1e-8;  // midpoints are rounded
  const Vector3 n = a.normal(), apart = b.corners.col(0) - a.corners.col(0);
  const double size = (a.corners.col(1) - a.corners.col(0)).norm() + apart.norm();
  return n.dot(b.normal()) > 0 && n.cross(b.normal()).norm() <= in_one_plane &&
         std::abs(n.dot(apart)) <= in_one_plane * size;
}

struct PlaneCell {
  PlaneCell(const RestTriangle& cell, const PlaneAxes& plane) {
    for (int k = 0; k < 3; ++k) corners[std::size_t(k)] = plane.axes * (cell.corners.col(k) - plane.origin);
    Matrix2 d;
    d << corners[1] - corners[0], corners[2] - corners[0];
    inverse = d.inverse();
  }
  std::array<Vector2, 3> corners;
  Matrix2 inverse;
  /// Barycentric coordinates of a place.
  Vector3 at(const Vector2& x) const {
    const Vector2 l = inverse * (x - corners[0]);
    return {1 - l.sum(), l[0], l[1]};
  }
};

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
                                                   const std::vector<Blend>& points,
                                                   std::vector<CollapseTransfer::Entry>* squares) {
  const auto same = [](Index p) { return p; };
  const auto number = [&](Index p) { return number_of(points[std::size_t(p)]); };
  const RestTriangles from(before), to(after);
  std::vector<RestTriangle> gone = triangles_not_in(corners_of(to, number), from, same),
                            made = triangles_not_in(corners_of(from, same), to, number);
  name_pieces(gone, made, Index(from.rest.cols()), points);
  std::vector<CollapseTransfer::Entry> entries;
  for (const RestTriangle& new_cell : made) {
    const PlaneAxes plane = before.shell ? axes_in(new_cell) : PlaneAxes();
    const PlaneCell here(new_cell, plane);
    std::array<Blend, 3> places;
    for (std::size_t k = 0; k < 3; ++k) places[k] = points[std::size_t(new_cell.points[k])];
    for (const RestTriangle& old_cell : gone) {
      if (old_cell.piece != new_cell.piece || (before.shell && !in_plane_of(new_cell, old_cell))) continue;
      const PlaneCell old(old_cell, plane);
      // ∫ φ²_i φ¹_j and ∫ φ²_i φ²_k: of two affine functions over a triangle of area A that is
      // A/12 (Σ_c f_c g_c + Σ_c f_c Σ_c g_c), c its corners.
      Matrix3 with_old = Matrix3::Zero(), with_new = with_old;
      const std::vector<Vector2> part = common_part(here, old);
      for (std::size_t t = 2; t < part.size(); ++t) {
        const std::array<Vector2, 3> corners = {part[0], part[t - 1], part[t]};
        const Vector2 u = corners[1] - corners[0], v = corners[2] - corners[0];
        const double weight = new_cell.density * std::abs(u[0] * v[1] - u[1] * v[0]) / 24;
        Matrix3 f, h;  // functions × corners
        for (std::size_t c = 0; c < 3; ++c) {
          f.col(Index(c)) = here.at(corners[c]);
          h.col(Index(c)) = old.at(corners[c]);
        }
        const Vector3 sum = f.rowwise().sum(), old_sum = h.rowwise().sum();
        with_old += weight * (f * h.transpose() + sum * old_sum.transpose());
        with_new += weight * (f * f.transpose() + sum * sum.transpose());
        if (squares) add_squares(old_cell.points, h, places, f, weight, *squares);
      }
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const Index p = new_cell.points[std::size_t(i)];
          if (with_old(i, j) != 0) entries.push_back({p, old_cell.points[std::size_t(j)], with_old(i, j)});
          if (with_new(i, j) != 0)
            subtract(points[std::size_t(new_cell.points[std::size_t(j)])], p, with_new(i, j), entries);
        }
    }
  }
  return entries;
}

}  // namespace apart
