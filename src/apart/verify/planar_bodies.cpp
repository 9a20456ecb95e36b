#include <apart/verify/planar_bodies.hpp>

#include <apart/core/disjoint_sets.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <limits>

namespace apart::verify {

namespace {

/// The corners of a triangle in z = 0 and a fourth point, one above the first: a tetrahedron whose volume is
/// a third of the triangle's area, exactly.
Matrix3X raised(const Matrix3X& points, const Faces& cells, const std::vector<Index>& which) {
  Matrix3X x = Matrix3X::Zero(3, 4 * Index(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i)
    for (int k = 0; k < 4; ++k)
      x.col(4 * Index(i) + k).head<2>() = points.col(cells(k % 3, which[i])).head<2>();
  for (std::size_t i = 0; i < which.size(); ++i) x(2, 4 * Index(i) + 3) = 1;
  return x;
}

double twice_area(const Matrix3X& x, const Eigen::Vector3i& t) {
  const Eigen::Vector2d a = (x.col(t[1]) - x.col(t[0])).head<2>(), b = (x.col(t[2]) - x.col(t[0])).head<2>();
  return a[0] * b[1] - a[1] * b[0];
}

}  // namespace

PlanarBodies::PlanarBodies(const Frame& first)
    : point_body_(first.point_body), allow_nested_(first.allow_nested) {
  const auto body_of = [&](Index p) -> const FrameBody& {
    return first.bodies[std::size_t(first.point_body[p])];
  };
  const Mesh& mesh = first.mesh;
  for (Index p = 0; p < mesh.point_count(); ++p)
    if (body_of(p).is_planar()) points_.push_back(p);
  level_.resize(Index(points_.size()));
  for (std::size_t i = 0; i < points_.size(); ++i) level_[Index(i)] = mesh.points(2, points_[i]);
  DisjointSets parts(mesh.point_count());
  std::vector<Index> chosen;
  for (Index f = 0; f < mesh.faces.cols(); ++f) {
    const auto t = mesh.faces.col(f);
    if (!body_of(t[0]).is_planar()) continue;
    if (body_of(t[0]).kind == "planar") guarded_.push_back(Index(chosen.size()));
    chosen.push_back(f);
    for (int k = 1; k < 3; ++k) parts.join(t[0], t[k]);
  }
  cells_ = mesh.faces(Eigen::all, chosen);
  part_ = std::move(parts).names();
}

std::vector<Index> PlanarBodies::left_plane(const Matrix3X& points) const {
  std::vector<Index> result;
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (points(2, points_[i]) != level_[Index(i)]) result.push_back(points_[i]);
  return result;
}

std::vector<Index> PlanarBodies::inverted(const Matrix3X& points) const {
  const Matrix3X x = raised(points, cells_, guarded_);
  std::vector<char> wrong(guarded_.size());
  parallel_for(Index(guarded_.size()), [&](Index i) {
    wrong[std::size_t(i)] =
        exact::orientation(x.col(4 * i), x.col(4 * i + 1), x.col(4 * i + 2), x.col(4 * i + 3)) <= 0;
  });
  std::vector<Index> result;
  for (std::size_t i = 0; i < guarded_.size(); ++i)
    if (wrong[i]) result.push_back(guarded_[i]);
  return result;
}

std::vector<UnprovenVolume> PlanarBodies::unproven(const Matrix3X& from, const Matrix3X& to) const {
  const Index n = Index(guarded_.size());
  Tetrahedra above(4, n);
  std::vector<Index> all;
  for (Index t = 0; t < n; ++t) {
    above.col(t) << 4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3;
    all.push_back(t);
  }
  std::vector<UnprovenVolume> result =
      find_unproven_volumes(raised(from, cells_, guarded_), raised(to, cells_, guarded_), above, all);
  for (UnprovenVolume& u : result) u.tetrahedron = guarded_[std::size_t(u.tetrahedron)];
  return result;
}

double PlanarBodies::smallest_ratio(const Matrix3X& points, const Matrix3X& reference) const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Index c : guarded_)
    smallest = std::min(smallest, twice_area(points, cells_.col(c)) / twice_area(reference, cells_.col(c)));
  return smallest;
}

std::vector<PlanarBodies::Inside> PlanarBodies::inside(const Matrix3X& points,
                                                       const std::vector<Index>& queries,
                                                       const std::vector<char>& absent,
                                                       exact::PairFilter tested) const {
  std::vector<Inside> found;
  if (allow_nested_ || !exist()) return found;
  const auto there = [&](Index p) { return !absent[std::size_t(point_body_[p])]; };
  std::vector<std::optional<Inside>> result(queries.size());
  parallel_for(Index(queries.size()), [&](Index i) {
    const Index p = queries[std::size_t(i)];
    if (!there(p)) return;
    const Vector3 x = points.col(p);
    for (Index c = 0; c < cells_.cols(); ++c) {
      const Eigen::Vector3i t = cells_.col(c);
      if (part_[std::size_t(t[0])] == part_[std::size_t(p)] || !there(t[0])) continue;
      const Vector3 a = points.col(t[0]), b = points.col(t[1]), d = points.col(t[2]);
      if ((x.array() < a.cwiseMin(b).cwiseMin(d).array()).any() ||
          (x.array() > a.cwiseMax(b).cwiseMax(d).array()).any() || !tested(p, t[0]))
        continue;
      if (exact::point_on_triangle(x, a, b, d)) {
        result[std::size_t(i)] = Inside{p, point_body_[t[0]]};
        return;
      }
    }
  });
  for (const auto& r : result)
    if (r) found.push_back(*r);
  return found;
}

}  // namespace apart::verify
