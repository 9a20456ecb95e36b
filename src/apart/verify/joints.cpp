#include <apart/verify/far_corners.hpp>
#include <apart/verify/joints.hpp>

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace apart::verify {

namespace {

// Of the smaller body's size: the distance that four coordinates at their tolerance of 1e-6 can add up to.
constexpr double closed_share = 4e-6;
// Corners of a body count as flat, or as lying on a line, below this share of what their size would allow.
constexpr double flat = 1e-6;
// Rigid and affine bodies keep their shape only up to this share of their size.
constexpr double shape_share = 1e-9;

}  // namespace

Vector3 JointCheck::Carried::at(const Matrix3X& x) const {
  Vector3 sum = constant;
  for (const auto& [point, weight] : points) sum += weight * x.col(point);
  if (normal == 0) return sum;
  const Vector3 o = x.col(plane[0]);
  return sum + normal * (x.col(plane[1]) - o).cross(x.col(plane[2]) - o).normalized();
}

double JointCheck::Closure::off(const Matrix3X& x) const {
  Vector3 r = Vector3::Zero();
  for (const auto& [factor, point] : sum) r += factor * point.at(x);
  if (line) {
    const Vector3 along = ((*line)[1].at(x) - (*line)[0].at(x)).normalized();
    r -= along.dot(r) * along;
  }
  return r.norm();
}

JointCheck::JointCheck(std::vector<JointClaim> claims, const Frame& start) : start_(start.mesh.points) {
  points_.resize(start.bodies.size());
  for (Index i = 0; i < start_.cols(); ++i) points_[std::size_t(start.point_body[i])].push_back(i);
  for (std::size_t b = 0; b < start.bodies.size(); ++b) {
    names_.push_back(start.bodies[b].name);
    const std::string& kind = start.bodies[b].kind;
    const bool is_whole = (kind == "rigid" || kind == "affine") && !points_[b].empty();
    corners_.push_back(is_whole ? std::optional(Corners{far_corners(start_, points_[b]), kind == "rigid"})
                                : std::nullopt);
  }
  for (JointClaim& claim : claims) {
    Joint joint{std::move(claim), {}};
    if (!joint.claim.begins_late) joint.closures = closures(joint.claim, start_);
    joints_.push_back(std::move(joint));
  }
}

/// The point of a body that is at `place` when all points are at x. Nothing if its own points do not say
/// where it is: beside a straight rod, or off the plane of a flat body that is not rigid.
std::optional<JointCheck::Carried> JointCheck::carried(const JointClaim::Side& side, const Vector3& place,
                                                       const Matrix3X& x) const {
  Carried result;
  if (side.body < 0) {
    result.constant = place;
    return result;
  }
  if (!side.points.empty()) {
    for (std::size_t k = 0; k < side.points.size(); ++k)
      result.points.emplace_back(side.points[k], side.weights[Index(k)]);
    return result;
  }
  const auto& corners = corners_[std::size_t(side.body)];
  if (!corners) return std::nullopt;
  const auto& c = corners->points;
  const Vector3 o = x.col(c[0]), u = x.col(c[1]) - o, v = x.col(c[2]) - o, w = x.col(c[3]) - o, r = place - o;
  const double length = u.norm(), area = u.cross(v).norm();
  const auto sum = [&](std::initializer_list<double> weights) {
    double first = 1;
    int k = 1;
    for (const double weight : weights) {
      result.points.emplace_back(c[std::size_t(k++)], weight);
      first -= weight;
    }
    result.points.emplace_back(c[0], first);
  };
  if (std::abs(u.cross(v).dot(w)) > flat * std::pow(length, 3)) {
    Matrix3 edges;
    edges << u, v, w;
    const Vector3 weights = edges.inverse() * r;
    sum({weights[0], weights[1], weights[2]});
    return result;
  }
  if (area > flat * length * length) {
    const Vector3 normal = u.cross(v) / area;
    const double height = normal.dot(r);
    if (!corners->is_rigid && std::abs(height) > shape_share * length) return std::nullopt;
    sum({r.cross(v).dot(normal) / area, u.cross(r).dot(normal) / area});
    result.plane = {c[0], c[1], c[2]};
    result.normal = height;
    return result;
  }
  if (!(length > 0) || r.cross(u).norm() > shape_share * length * length) return std::nullopt;
  sum({r.dot(u) / (length * length)});
  return result;
}

std::vector<JointCheck::Closure> JointCheck::closures(const JointClaim& claim, const Matrix3X& x) const {
  using enum JointClaim::Kind;
  const JointClaim::Side &first = claim.sides[0], &second = claim.sides[1];
  const auto a = [&](const Vector3& off) { return carried(first, first.pivot + claim.arm * off, x); };
  const auto b = [&](const Vector3& off) { return carried(second, second.pivot + claim.arm * off, x); };
  const Vector3 across = claim.axis.unitOrthogonal();
  std::vector<Closure> result;
  const auto same_place = [&](const Vector3& off) {
    const auto of_first = a(off), of_second = b(off);
    if (of_first && of_second) result.push_back({{{1, *of_first}, {-1, *of_second}}});
  };
  switch (claim.kind) {
    case ball:
      same_place(Vector3::Zero());
      break;
    case hinge:
      for (const double end : {-1.0, 1.0}) same_place(end * claim.axis);
      break;
    case fixed:
      same_place(Vector3::Zero());
      for (int axis = 0; axis < 3; ++axis) same_place(Vector3::Unit(axis));
      break;
    case slider: {
      const auto a0 = a(Vector3::Zero()), a1 = a(across), b0 = b(Vector3::Zero()), b1 = b(across);
      if (a0 && a1 && b0 && b1) result.push_back({{{1, *a1}, {-1, *a0}, {-1, *b1}, {1, *b0}}});
      [[fallthrough]];
    }
    case cylinder:
      for (const double end : {-1.0, 1.0}) {
        const auto of_first = a(end * claim.axis), b0 = b(Vector3::Zero()), b1 = b(claim.axis);
        if (of_first && b0 && b1) result.push_back({{{1, *of_first}, {-1, *b0}}, std::array{*b0, *b1}});
      }
      break;
  }
  return result;
}

/// Of a joint that has just begun, with all points at x.
std::vector<JointCheck::Closure> JointCheck::late_closures(JointClaim claim, const Matrix3X& x) const {
  const JointClaim::Side& first = claim.sides[0];
  const auto pivot = carried(first, first.pivot, start_),
             tip = carried(first, first.pivot + claim.axis, start_);
  if (!pivot) return {};
  const Vector3 place = pivot->at(x);
  if (tip && first.points.empty()) claim.axis = (tip->at(x) - place).normalized();
  claim.sides[0].pivot = claim.sides[1].pivot = place;
  return closures(claim, x);
}

std::optional<Matrix3X> JointCheck::first_points(const Frame& frame) const {
  if (frame.topology == 0) return frame.mesh.points;
  const auto depends = [](const Joint& joint) {
    const auto& [first, second] = joint.claim.sides;
    return joint.claim.points_may_go && !(first.points.empty() && second.points.empty());
  };
  if (std::ranges::any_of(joints_, depends)) return std::nullopt;
  Matrix3X result(3, start_.cols());
  std::vector<std::size_t> met(points_.size(), 0);
  for (Index i = 0; i < frame.mesh.points.cols(); ++i) {
    const std::size_t body = std::size_t(frame.point_body[i]), rank = met[body]++;
    if (rank < points_[body].size()) result.col(points_[body][rank]) = frame.mesh.points.col(i);
  }
  for (std::size_t b = 0; b < points_.size(); ++b)
    if (met[b] < points_[b].size()) return std::nullopt;
  return result;
}

std::vector<Finding> JointCheck::open(const Matrix3X& points, Index step, const std::vector<int>& absent) {
  std::vector<Finding> found;
  if (step < 1) return found;  // bodies may start a little apart: the first step closes joints
  for (Joint& joint : joints_) {
    const JointClaim& claim = joint.claim;
    const auto is_absent = [&](const JointClaim::Side& side) {
      return std::ranges::find(absent, side.body) != absent.end();
    };
    if (!claim.acts(step) || is_absent(claim.sides[0]) || is_absent(claim.sides[1])) continue;
    if (!joint.closures) joint.closures = late_closures(claim, points);
    double off = 0;
    for (const Closure& closure : *joint.closures) off = std::max(off, closure.off(points));
    const double allowed = closed_share * 2 * claim.arm;
    if (off <= allowed) continue;
    Finding& f = found.emplace_back(Finding{.kind = FindingKind::joint});
    for (const JointClaim::Side& side : claim.sides)
      if (side.body >= 0) f.bodies.push_back(names_[std::size_t(side.body)]);
    f.distance = off;
    f.text =
        fmt::format("the joint '{}' of '{}' and {} is open by {:.3g} m, allowed are {:.3g} m", claim.name,
                    f.bodies[0], f.bodies.size() > 1 ? "'" + f.bodies[1] + "'" : "the world", off, allowed);
  }
  return found;
}

}  // namespace apart::verify
