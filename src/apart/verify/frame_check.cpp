#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/verify/frame_check.hpp>
#include <apart/verify/gaps.hpp>
#include <apart/verify/neighbours.hpp>
#include <apart/verify/path_proof.hpp>
#include <apart/verify/surface_of.hpp>

#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace apart::verify {

namespace {

/// Approximately where an edge intersects a triangle; only for messages.
Vector3 meeting_point(const Matrix3X& x, const exact::PrimitivePair& pair) {
  const auto& a = pair.a.vertices;
  const auto& b = pair.b.vertices;
  if (pair.a.size() == 1) return x.col(a[0]);
  const Vector3 p = x.col(a[0]), q = x.col(a[1]);
  if (pair.b.size() == 2) {
    const Vector3 r = x.col(b[0]), v = Vector3(x.col(b[1])) - r, u = q - p, n = u.cross(v);
    const double s = n.squaredNorm() > 0 ? (r - p).cross(v).dot(n) / n.squaredNorm() : 0.5;
    return p + std::clamp(s, 0.0, 1.0) * u;
  }
  const Vector3 o = x.col(b[0]), n = (Vector3(x.col(b[1])) - o).cross(Vector3(x.col(b[2])) - o);
  const double height_p = n.dot(p - o), height_q = n.dot(q - o);
  const double s = height_p != height_q ? std::clamp(height_p / (height_p - height_q), 0.0, 1.0) : 0.5;
  return p + s * (q - p);
}

template <class Cells>
void check_cells(const Cells& cells, const Frame& frame, std::string_view what) {
  for (Index c = 0; c < cells.cols(); ++c)
    for (Index k = 0; k < cells.rows(); ++k) {
      if (cells(k, c) < 0 || cells(k, c) >= frame.mesh.point_count())
        throw InputError("{} {}: point {} must lie in [0, {}); the frame is damaged", what, c, cells(k, c),
                         frame.mesh.point_count());
      if (frame.point_body[cells(k, c)] != frame.point_body[cells(0, c)])
        throw InputError("{} {}: its points belong to different bodies; the frame is damaged", what, c);
    }
}

}  // namespace

FrameCheck::FrameCheck(const Frame& frame) : first_(frame) {
  const Index n = frame.mesh.point_count(), bodies = Index(frame.bodies.size());
  if (frame.point_body.size() != n)
    throw InputError("{} points, but bodies of {}; the frame is damaged", n, frame.point_body.size());
  std::vector<Index> count(bodies, 0);
  local_.resize(n);
  for (Index i = 0; i < n; ++i) {
    const int body = frame.point_body[i];
    if (body < 0 || body >= bodies)
      throw InputError("point {}: body {} must lie in [0, {}); the frame is damaged", i, body, bodies);
    local_[i] = count[body]++;
  }
  check_cells(frame.mesh.tetrahedra, frame, "tetrahedron");
  check_cells(frame.mesh.faces, frame, "triangle");
  check_cells(frame.mesh.edges, frame, "segment");
  check_cells(frame.mesh.vertices.transpose(), frame, "free point");
  for (const CurvedCells& cells : frame.mesh.curved) check_cells(cells.points, frame, "curved tetrahedron");
  for (const HalfSpace& plane : frame.half_spaces)
    if (plane.body < 0 || plane.body >= bodies || !plane.origin.allFinite() || !plane.normal.allFinite() ||
        plane.normal.isZero(0) || plane.carrier >= n ||
        (plane.carrier >= 0 && frame.point_body[plane.carrier] != plane.body))
      throw InputError(
          "a half-space has no body, no finite origin, no normal or no carrier of its own; the frame is "
          "damaged");

  for (const FrameBody& body : frame.bodies)
    is_obstacle_.push_back(body.kind == "obstacle" || body.kind == "half_space");
  for (auto [a, b] : frame.ignored_pairs) ignored_.push_back(std::minmax(a, b));
  std::sort(ignored_.begin(), ignored_.end());

  surface_ = surface_of(frame);
  planar_ = PlanarBodies(frame);
  invertible_ += planar_.invertible_count();

  std::vector<char> used(n, false);
  for (const auto& v : surface_.vertices) used[v.vertices[0]] = true;
  for (Index t = 0; t < frame.mesh.tetrahedra.cols(); ++t) {
    const int body = frame.point_body[frame.mesh.tetrahedra(0, t)];
    if (is_obstacle_[body]) continue;
    // No promise is made for materials whose energy is finite for inverted elements: their inner points may
    // come out.
    if (frame.bodies[body].kind == "invertible_volume" ||
        std::binary_search(frame.invertible_cells.begin(), frame.invertible_cells.end(), t)) {
      ++invertible_;
      continue;
    }
    tetrahedra_.push_back(t);
    for (int k = 0; k < 4; ++k) used[frame.mesh.tetrahedra(k, t)] = true;
  }
  for (const CurvedCells& cells : frame.mesh.curved) {
    proofs_.try_emplace(cells.degree, cells.degree);
    for (Index t = 0; t < cells.points.cols(); ++t) {
      const int body = frame.point_body[cells.points(0, t)];
      const auto column = cells.points.col(t);
      if (frame.bodies[std::size_t(body)].kind == "invertible_volume")
        ++invertible_;
      else
        curved_.push_back({cells.degree, {column.begin(), column.end()}});
    }
  }
  for (Index i = 0; i < n; ++i)
    if (used[i] && !is_obstacle_[frame.point_body[i]]) used_points_.push_back(i);
  set_absent(frame.absent);
  limits_ = StrainLimits(first_);
  const std::vector<Index> piece = connected_pieces(n, surface_);
  for (const auto& v : surface_.vertices)
    if (piece[std::size_t(v.vertices[0])] == v.vertices[0]) piece_points_.push_back(v.vertices[0]);
  solids_ = Solids(first_, surface_, is_obstacle_);
  neighbours_ = find_neighbours(n, surface_, [&](Index i) {
    const int body = first_.point_body[i];
    return !is_obstacle_[std::size_t(body)] &&
           !std::binary_search(ignored_.begin(), ignored_.end(), std::pair<int, int>(body, body));
  });
  affine_ = AffineBodies(first_, surface_);
  rigid_ = RigidBodies(first_);
  thickness_ = Thickness(first_, piece);
}

void FrameCheck::set_absent(const std::vector<int>& bodies) {
  absent_.assign(first_.bodies.size(), false);
  for (const int body : bodies) {
    if (body < 0 || body >= int(absent_.size()))
      throw InputError("body {} is absent, but there are {}; the file is damaged", body, absent_.size());
    absent_[std::size_t(body)] = true;
  }
}

bool FrameCheck::bodies_tested(int a, int b) const {
  if (absent_[std::size_t(a)] || absent_[std::size_t(b)]) return false;
  if (is_obstacle_[a] && is_obstacle_[b]) return false;
  return ignored_.empty() ||
         !std::binary_search(ignored_.begin(), ignored_.end(), std::pair<int, int>(std::minmax(a, b)));
}

bool FrameCheck::tested(Index i, Index j) const {
  return bodies_tested(first_.point_body[i], first_.point_body[j]);
}

std::vector<Index> FrameCheck::cell_of(const exact::Primitive& primitive) {
  return {primitive.vertices.begin(), primitive.vertices.begin() + primitive.size()};
}

std::string FrameCheck::coordinates(const Vector3& p) {
  return fmt::format("({:.9g}, {:.9g}, {:.9g})", p.x(), p.y(), p.z());
}

std::string FrameCheck::name(const std::vector<Index>& cell) const {
  static constexpr std::string_view kinds[] = {"point", "edge", "triangle", "tetrahedron"};
  std::vector<Index> local;
  for (Index i : cell) local.push_back(local_[i]);
  const std::string& body = body_name(first_.point_body[cell[0]]);
  if (cell.size() == 1) return fmt::format("point {} of '{}'", local[0], body);
  return fmt::format("{} ({}) of '{}'", kinds[cell.size() - 1], fmt::join(local, ", "), body);
}

Finding FrameCheck::finding(FindingKind kind, std::vector<std::vector<Index>> cells) const {
  Finding result{.kind = kind};
  for (const auto& cell : cells) {
    const std::string& body = body_name(first_.point_body[cell[0]]);
    if (result.bodies.empty() || result.bodies.back() != body) result.bodies.push_back(body);
    std::vector<Index>& element = result.elements.emplace_back();
    for (Index i : cell) element.push_back(local_[i]);
  }
  result.cells = std::move(cells);
  return result;
}

Finding FrameCheck::pair_finding(FindingKind kind, const exact::PrimitivePair& pair) const {
  return finding(kind, {cell_of(pair.a), cell_of(pair.b)});
}

Finding FrameCheck::tetrahedron_finding(FindingKind kind, Index t) const {
  const auto cell = first_.mesh.tetrahedra.col(t);
  return finding(kind, {{cell[0], cell[1], cell[2], cell[3]}});
}

std::vector<Finding> FrameCheck::not_finite(const Matrix3X& points) const {
  std::vector<Finding> found;
  for (Index i = 0; i < points.cols(); ++i)
    if (!points.col(i).allFinite()) {
      Finding& f = found.emplace_back(finding(FindingKind::not_finite, {{i}}));
      f.text = fmt::format("{} is at {}, which is not finite", name({i}), coordinates(points.col(i)));
    }
  return found;
}

/// Points of obstacles, which are not checked against each other.
std::vector<int> FrameCheck::untested_groups() const {
  std::vector<int> of_body(first_.bodies.size());
  for (std::size_t b = 0; b < of_body.size(); ++b)
    of_body[b] = is_obstacle_[b] ? 0 : bodies_tested(int(b), int(b)) ? -1 : int(b) + 1;
  std::vector<int> group(std::size_t(first_.point_body.size()));
  for (std::size_t p = 0; p < group.size(); ++p) group[p] = of_body[std::size_t(first_.point_body[Index(p)])];
  return group;
}

std::vector<Finding> FrameCheck::intersections(const Matrix3X& points, std::size_t limit) const {
  std::vector<Finding> found;
  for (const auto& pair : exact::find_intersections(
           points, surface_, [this](Index i, Index j) { return tested(i, j); }, limit, untested_groups())) {
    Finding& f = found.emplace_back(pair_finding(FindingKind::intersection, pair));
    f.position = meeting_point(points, pair);
    f.text =
        fmt::format("{} intersects {} near {}", name(f.cells[0]), name(f.cells[1]), coordinates(*f.position));
  }
  if (found.size() < limit)
    for (Finding& f : folds(points, limit - found.size())) found.push_back(std::move(f));
  return found;
}

std::vector<Finding> FrameCheck::folds(const Matrix3X& points, std::size_t limit) const {
  const std::vector<char> folded = find_folded(points, neighbours_);
  std::vector<Finding> found;
  for (std::size_t i = 0; i < neighbours_.size() && found.size() < limit; ++i) {
    const auto& pair = neighbours_[i];
    if (!folded[i] || !tested(pair.a.vertices[0], pair.b.vertices[0])) continue;
    Finding& f = found.emplace_back(pair_finding(FindingKind::intersection, pair));
    f.position = points(Eigen::all, f.cells[0]).rowwise().mean();
    f.text = fmt::format("{} is folded onto its neighbour {} near {}", name(f.cells[0]), name(f.cells[1]),
                         coordinates(*f.position));
  }
  return found;
}

std::vector<Finding> FrameCheck::nested(const Matrix3X& points) const {
  std::vector<Finding> found;
  const auto asked = [this](Index i, Index j) { return tested(i, j); };
  for (const Solids::Inside& inside : solids_.inside(points, piece_points_, absent_, asked)) {
    Finding& f = found.emplace_back(finding(FindingKind::nested, {{inside.point}}));
    const std::string& solid = body_name(inside.body);
    if (f.bodies[0] != solid) f.bodies.push_back(solid);
    f.position = points.col(inside.point);
    f.text = fmt::format("{} is inside the solid '{}', at {}", name({inside.point}), solid,
                         coordinates(*f.position));
  }
  for (const PlanarBodies::Inside& inside : planar_.inside(points, piece_points_, absent_, asked)) {
    Finding& f = found.emplace_back(finding(FindingKind::nested, {{inside.point}}));
    const std::string& body = body_name(inside.body);
    if (f.bodies[0] != body) f.bodies.push_back(body);
    f.position = points.col(inside.point);
    f.text = fmt::format("{} is inside the planar body '{}', at {}", name({inside.point}), body,
                         coordinates(*f.position));
  }
  return found;
}

void FrameCheck::for_each_above(FunctionRef<void(const HalfSpace&, Index)> visit) const {
  for (const HalfSpace& plane : first_.half_spaces)
    for (Index i : used_points_)
      if (bodies_tested(plane.body, first_.point_body[i])) visit(plane, i);
}

std::vector<Finding> FrameCheck::below_half_spaces(const Matrix3X& points, double gap) const {
  std::vector<Finding> found;
  for_each_above([&](const HalfSpace& plane, Index i) {
    const Vector3 x = points.col(i);
    const double distance = plane.distance(points, i) / plane.normal.norm();
    const bool outside = exact::half_space_side(plane.origin_at(points), plane.normal, x) > 0;
    if (outside && distance >= gap) return;
    Finding& f = found.emplace_back(finding(outside ? FindingKind::gap : FindingKind::half_space, {{i}}));
    const std::string& ground = body_name(plane.body);
    f.bodies.push_back(ground);
    f.position = x;
    f.distance = distance;
    f.text = outside ? fmt::format("{} is only {:.3g} m above '{}', at {}", name({i}), distance, ground,
                                   coordinates(x))
                     : fmt::format("{} is on or below '{}' (by {:.3g} m) at {}", name({i}), ground, -distance,
                                   coordinates(x));
  });
  return found;
}

std::vector<Finding> FrameCheck::gaps(const Matrix3X& points, double gap, std::size_t limit) const {
  std::vector<Finding> found;
  for (const Gap& g : find_gaps_below(
           points, surface_, gap, [this](Index i, Index j) { return tested(i, j); }, limit)) {
    Finding& f = found.emplace_back(pair_finding(FindingKind::gap, g.pair));
    f.position = meeting_point(points, g.pair);
    f.distance = g.distance;
    f.text = fmt::format("{} is only {:.3g} m from {}, near {}", name(f.cells[0]), g.distance,
                         name(f.cells[1]), coordinates(*f.position));
  }
  return found;
}

std::vector<Finding> FrameCheck::thin_above_half_spaces(const Matrix3X& points) const {
  std::vector<Finding> found;
  if (!has_thickness()) return found;
  for_each_above([&](const HalfSpace& plane, Index i) {
    const Vector3 x = points.col(i);
    const double distance = plane.distance(points, i) / plane.normal.norm();
    const double wanted = thickness_.of_bodies(plane.body, first_.point_body[i]);
    if (!(distance > 0)) return;  // what is below is reported as that
    const Vector3 origin = plane.origin_at(points);
    const double rounding = 1e-14 * (x.lpNorm<1>() + origin.lpNorm<1>() + wanted);
    if (distance - wanted > rounding) return;
    if (distance - wanted > -rounding &&
        exact::separated_by(plane.normal, {x, x}, {origin, origin}, 0, wanted))
      return;
    Finding& f = found.emplace_back(finding(FindingKind::gap, {{i}}));
    const std::string& ground = body_name(plane.body);
    f.bodies.push_back(ground);
    f.position = x;
    f.distance = distance;
    f.text = fmt::format("{} is only {:.6g} m above '{}', thickness keeps {:.6g} m, at {}", name({i}),
                         distance, ground, wanted, coordinates(x));
  });
  return found;
}

std::vector<Finding> FrameCheck::thin(const Matrix3X& points, std::size_t limit) const {
  std::vector<Finding> found = thin_above_half_spaces(points);
  if (!has_thickness()) return found;
  for (const Gap& g : find_gaps_below(
           points, surface_,
           {thickness_.margins(), [this](const exact::PrimitivePair&p) { return thickness_.of_pair(p); }},
           [this](Index i, Index j) { return tested(i, j); }, limit)) {
    Finding& f = found.emplace_back(pair_finding(FindingKind::gap, g.pair));
    f.position = meeting_point(points, g.pair);
    f.distance = g.distance;
    f.text = fmt::format("{} is only {:.6g} m from {}, thickness keeps {:.6g} m, near {}", name(f.cells[0]),
                         g.distance, name(f.cells[1]), thickness_.of_pair(g.pair), coordinates(*f.position));
  }
  return found;
}

FrameCheck::PathFindings FrameCheck::path(const Matrix3X& from, const Matrix3X& to, bool merging) const {
  PathFindings result;
  const MergedPoints merged = merging ? MergedPoints(first_, {&from, &to}) : MergedPoints(first_, {});
  const auto tested_pair = [this](Index i, Index j) { return tested(i, j); };
  const auto gap_of = [this](const exact::PrimitivePair& p) { return thickness_.of_pair(p); };
  const PathProof proof = prove_apart(from, to, surface_, tested_pair, {thickness_.margins(), gap_of});
  result.pairs = proof.pairs;
  for (const UnprovenPair& u : proof.unproven) {
    if (merged.join(u.pair.a, u.pair.b)) continue;
    Finding& f = result.findings.emplace_back(
        pair_finding(u.gap > 0 ? FindingKind::path_gap : FindingKind::path_contact, u.pair));
    f.position = meeting_point((1 - u.time) * from + u.time * to, u.pair);
    f.text = fmt::format("{} and {} {} after {:.6g} of the way, near {}", name(f.cells[0]), name(f.cells[1]),
                         u.gap > 0 ? fmt::format("come closer than the {:.6g} m that thickness keeps, or "
                                                 "cannot be proven not to,",
                                                 u.gap)
                                   : "touch, or cannot be proven apart,",
                         u.time, coordinates(*f.position));
  }
  std::vector<Index> present_affine;
  for (Index i = 0; i < affine_.count(); ++i)
    if (!absent_[std::size_t(affine_.body(i))]) present_affine.push_back(i);
  for (const UnprovenVolume& u : find_unproven_volumes(from, to, affine_.corners(), present_affine)) {
    const auto c = affine_.corners().col(u.tetrahedron);
    Finding& f =
        result.findings.emplace_back(finding(FindingKind::path_inversion, {{c[0], c[1], c[2], c[3]}}));
    f.position = (1 - u.time) * from.col(c[0]) + u.time * to.col(c[0]);
    f.text = fmt::format(
        "the affine body '{}' is mirrored or flat, or cannot be proven not to be, after "
        "{:.6g} of the way, near {}",
        body_name(affine_.body(u.tetrahedron)), u.time, coordinates(*f.position));
  }
  const Tetrahedra& cells = first_.mesh.tetrahedra;
  for (const UnprovenVolume& u : find_unproven_volumes(from, to, cells, tetrahedra_)) {
    if (merged.flatten(cells.col(u.tetrahedron))) continue;
    Finding& f =
        result.findings.emplace_back(tetrahedron_finding(FindingKind::path_inversion, u.tetrahedron));
    const Index corner = f.cells[0][0];
    f.position = (1 - u.time) * from.col(corner) + u.time * to.col(corner);
    f.text = fmt::format("{} inverts, or cannot be proven not to, after {:.6g} of the way, near {}",
                         name(f.cells[0]), u.time, coordinates(*f.position));
  }
  for (const UnprovenVolume& u : planar_.unproven(from, to)) {
    const Eigen::Vector3i c = planar_.cell(u.tetrahedron);
    if (absent_[std::size_t(first_.point_body[c[0]])] || merged.join({{c[0], -1, -1}}, {{c[1], c[2], -1}}) ||
        merged.join({{c[1], -1, -1}}, {{c[2], -1, -1}}))
      continue;
    Finding& f = result.findings.emplace_back(finding(FindingKind::path_inversion, {{c[0], c[1], c[2]}}));
    f.position = (1 - u.time) * from.col(c[0]) + u.time * to.col(c[0]);
    f.text = fmt::format("{} inverts, or cannot be proven not to, after {:.6g} of the way, near {}",
                         name(f.cells[0]), u.time, coordinates(*f.position));
  }
  add_left_plane(to, result.findings);
  add_curved(from, to, result.findings);
  return result;
}

std::optional<double> FrameCheck::smallest_distance(const Matrix3X& points) const {
  double smallest = std::numeric_limits<double>::infinity();
  const auto gap = smallest_gap(points, surface_, 0.5 * typical_length(points, surface_),
                                [this](Index i, Index j) { return tested(i, j); });
  if (gap) smallest = gap->distance;
  for_each_above([&](const HalfSpace& plane, Index i) {
    smallest = std::min(smallest, plane.distance(points, i) / plane.normal.norm());
  });
  if (!std::isfinite(smallest)) return std::nullopt;
  return smallest;
}

}  // namespace apart::verify
