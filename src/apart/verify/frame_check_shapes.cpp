// What the cells and shapes of a frame must keep: tetrahedra that are not inverted, elements that are not
// flat, limits of strain, bodies that are affine images or rigid.
#include <apart/core/parallel.hpp>
#include <apart/verify/frame_check.hpp>

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <limits>

namespace apart::verify {

namespace {

double volume(const Matrix3X& x, const Tetrahedra& tetrahedra, Index t) {
  const Vector3 o = x.col(tetrahedra(0, t));
  return (x.col(tetrahedra(1, t)) - o).cross(x.col(tetrahedra(2, t)) - o).dot(x.col(tetrahedra(3, t)) - o) /
         6;
}

}  // namespace

std::vector<Finding> FrameCheck::strains(const Matrix3X& points, bool merging) const {
  std::vector<Finding> found;
  const MergedPoints merged = merging ? MergedPoints(first_, {&points}) : MergedPoints(first_, {});
  for (const StrainLimits::Share& s : limits_.shares(points, absent_)) {
    // Room for the rounding of this check itself, so that what passes is proven.
    if (s.share < 1 - 1e-15L) continue;
    const auto corners = first_.mesh.faces.col(s.face);
    if (std::ranges::any_of(corners, [&](int p) { return merged.contain(p); })) continue;
    Finding& f = found.emplace_back(finding(FindingKind::strain, {{corners[0], corners[1], corners[2]}}));
    f.position = points(Eigen::all, f.cells[0]).rowwise().mean();
    f.text = fmt::format("{} has a {} of {:.9g}, the limit is {:.9g}, near {}", name(f.cells[0]), s.what,
                         s.value, s.limit, coordinates(*f.position));
  }
  return found;
}

std::optional<double> FrameCheck::largest_strain_share(const Matrix3X& points) const {
  std::optional<double> largest;
  for (const StrainLimits::Share& s : limits_.shares(points, absent_))
    largest = std::max(largest.value_or(0), double(s.share));
  return largest;
}

std::vector<Finding> FrameCheck::affine_images(const Matrix3X& points) const {
  std::vector<Finding> found;
  for (const AffineBodies::Wrong& w : affine_.wrong(points, absent_)) {
    const auto& c = w.corners;
    const bool mirrored = w.point < 0;
    Finding& f = found.emplace_back(mirrored ? finding(FindingKind::inversion, {{c[0], c[1], c[2], c[3]}})
                                             : finding(FindingKind::affine, {{w.point}}));
    f.position = points.col(mirrored ? c[0] : w.point);
    if (mirrored) {
      f.text = fmt::format("the affine body '{}' is mirrored or flat (volume {:.3g} m³ of {}) near {}",
                           body_name(w.body), w.volume, name(f.cells[0]), coordinates(*f.position));
    } else {
      f.distance = w.off;
      f.text = fmt::format("{} is {:.3g} m from where its affine body has it, at {}", name(f.cells[0]), w.off,
                           coordinates(*f.position));
    }
  }
  return found;
}

std::vector<Finding> FrameCheck::rigid_shapes(const Matrix3X& points) const {
  std::vector<Finding> found;
  for (const RigidBodies::Deformed& d : rigid_.deformed(points, absent_)) {
    Finding& f = found.emplace_back(finding(FindingKind::rigid, {{d.point}}));
    f.position = points.col(d.point);
    f.distance = d.off;
    const std::string& body = body_name(d.body);
    f.text =
        d.mirrored
            ? fmt::format("the rigid body '{}' is mirrored", body)
            : fmt::format("the rigid body '{}' is deformed: a distance of {} has changed by {:.3g} m, at {}",
                          body, name({d.point}), d.off, coordinates(*f.position));
  }
  return found;
}

void FrameCheck::add_collapsed(const Matrix3X& points, std::vector<Finding>& found) const {
  const auto there = [&](const exact::Primitive& p) {
    const auto body = std::size_t(first_.point_body[p.vertices[0]]);
    return !is_obstacle_[body] && !absent_[body];
  };
  std::vector<char> collapsed(surface_.faces.size());
  parallel_for(Index(surface_.faces.size()), [&](Index i) {
    const auto& v = surface_.faces[std::size_t(i)].vertices;
    collapsed[i] = exact::triangle_is_collapsed(points.col(v[0]), points.col(v[1]), points.col(v[2]));
  });
  const auto add = [&](const exact::Primitive& p, std::string_view what) {
    Finding& f = found.emplace_back(finding(FindingKind::collapse, {cell_of(p)}));
    f.position = points.col(p.vertices[0]);
    f.text = fmt::format("{} has no {}, at {}", name(f.cells[0]), what, coordinates(*f.position));
  };
  for (std::size_t i = 0; i < surface_.faces.size(); ++i)
    if (collapsed[i] && there(surface_.faces[i])) add(surface_.faces[i], "area");
  for (const exact::Primitive& s : surface_.segments)
    if (there(s) && exact::points_coincide(points.col(s.vertices[0]), points.col(s.vertices[1])))
      add(s, "length");
}

void FrameCheck::add_curved(const Matrix3X& from, const Matrix3X& to, std::vector<Finding>& found) const {
  std::vector<double> proven(curved_.size(), 1.0);
  parallel_for(Index(curved_.size()), [&](Index i) {
    const Curved& cell = curved_[std::size_t(i)];
    if (!absent_[std::size_t(first_.point_body[cell.points[0]])])
      proven[std::size_t(i)] =
          proofs_.at(cell.degree).proven_until(from(Eigen::all, cell.points), to(Eigen::all, cell.points));
  });
  for (std::size_t i = 0; i < curved_.size(); ++i) {
    if (proven[i] == 1) continue;
    const std::vector<Index>& p = curved_[i].points;
    const bool state = &from == &to;
    Finding& f = found.emplace_back(
        finding(state ? FindingKind::inversion : FindingKind::path_inversion, {{p[0], p[1], p[2], p[3]}}));
    f.position = from(Eigen::all, p).rowwise().mean();
    const std::string when = state ? "" : fmt::format(" after {:.6g} of the way", proven[i]);
    f.text = fmt::format("the curved {} is inverted somewhere, or cannot be proven not to be,{} near {}",
                         name(f.cells[0]), when, coordinates(*f.position));
  }
}

void FrameCheck::add_planar(const Matrix3X& points, std::vector<Finding>& found) const {
  for (const Index i : planar_.inverted(points)) {
    const Eigen::Vector3i c = planar_.cell(i);
    if (absent_[std::size_t(first_.point_body[c[0]])]) continue;
    Finding& f = found.emplace_back(finding(FindingKind::inversion, {{c[0], c[1], c[2]}}));
    f.position = points(Eigen::all, f.cells[0]).rowwise().mean();
    f.text = fmt::format("{} is inverted or flat in its plane, near {}", name(f.cells[0]),
                         coordinates(*f.position));
  }
}

void FrameCheck::add_left_plane(const Matrix3X& points, std::vector<Finding>& found) const {
  for (const Index p : planar_.left_plane(points)) {
    Finding& f = found.emplace_back(finding(FindingKind::plane, {{p}}));
    f.position = points.col(p);
    f.text = fmt::format("{} has left the plane of its body, at {}", name({p}), coordinates(*f.position));
  }
}

std::vector<Finding> FrameCheck::inversions(const Matrix3X& points) const {
  std::vector<char> inverted(tetrahedra_.size());
  const Tetrahedra& cells = first_.mesh.tetrahedra;
  parallel_for(Index(tetrahedra_.size()), [&](Index i) {
    const Index t = tetrahedra_[i];
    inverted[i] = exact::orientation(points.col(cells(0, t)), points.col(cells(1, t)),
                                     points.col(cells(2, t)), points.col(cells(3, t))) <= 0;
  });
  std::vector<Finding> found;
  for (std::size_t i = 0; i < tetrahedra_.size(); ++i) {
    if (!inverted[i]) continue;
    Finding& f = found.emplace_back(tetrahedron_finding(FindingKind::inversion, tetrahedra_[i]));
    f.position = points(Eigen::all, f.cells[0]).rowwise().mean();
    f.text = fmt::format("{} is inverted or flat (volume {:.3g} m³) near {}", name(f.cells[0]),
                         volume(points, cells, tetrahedra_[i]), coordinates(*f.position));
  }
  add_planar(points, found);
  add_left_plane(points, found);
  add_curved(points, points, found);
  for (Finding& f : affine_images(points)) found.push_back(std::move(f));
  for (Finding& f : rigid_shapes(points)) found.push_back(std::move(f));
  add_collapsed(points, found);
  return found;
}

std::optional<double> FrameCheck::smallest_volume_ratio(const Matrix3X& points,
                                                        const Matrix3X& reference) const {
  if (tetrahedra_.empty() && planar_.guarded_count() == 0) return std::nullopt;
  return parallel_min(Index(tetrahedra_.size()), planar_.smallest_ratio(points, reference), [&](Index i) {
    return volume(points, first_.mesh.tetrahedra, tetrahedra_[i]) /
           volume(reference, first_.mesh.tetrahedra, tetrahedra_[i]);
  });
}

}  // namespace apart::verify
