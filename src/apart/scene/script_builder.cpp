#include <apart/bodies/acting_parts.hpp>
#include <apart/bodies/body_rules.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/script_builder.hpp>
#include <apart/scene/selection.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// At most so many of the points, spread over all.
Matrix3X some_of(const Matrix3X& points, Index most) {
  const Index n = std::min<Index>(most, Index(points.cols()));
  Matrix3X some(3, n);
  for (Index i = 0; i < n; ++i) some.col(i) = points.col(i * (Index(points.cols()) / std::max<Index>(n, 1)));
  return some;
}

/// Throws InputError if a motion leads out of the plane of a planar body.
void check_plane(const Place& place, const Motion& motion, const Matrix3X& points, const Clock& clock) {
  const Matrix3X some = some_of(points, 8);
  const double slack = 1e-9 * bounding_box(points).diagonal();
  for (Index k = 1; k <= std::min<Index>(clock.steps, 1000); ++k)
    if (!((motion(some, k * clock.dt).row(2) - some.row(2)).cwiseAbs().maxCoeff() <= slack))
      place.fail(
          "moves points along z at t = {:.6g} s, but a planar body never leaves its plane; move it along x "
          "and "
          "y, and turn it about z",
          k * clock.dt);
}

}  // namespace

bool covers_a_step(const TimeRange& range, const Clock& clock) {
  // The last step that ends before the range does, with room for rounding.
  return !std::isfinite(range.until) ||
         range.covers(std::floor(range.until / clock.dt * (1 + 1e-9)) * clock.dt);
}

TimeRange make_time_range(const TimesDescription& times, const Clock& clock) {
  TimeRange range;
  range.from = times.from;
  if (times.until) {
    range.until = *times.until;
    if (!(range.until > range.from))
      times.place["until"].fail("got {}, must be later than from ({}); exchange them", range.until,
                                range.from);
    if (!covers_a_step(range, clock))
      times.place["until"].fail(
          "got {}, but no step of {} s ends after {} s and up to then; it would never act: widen the range",
          range.until, clock.dt, range.from);
  }
  return range;
}

void check_motion(const Place& place, const Motion& motion, const Matrix3X& points, const Clock& clock) {
  const Aabb bounds = bounding_box(points);
  const Matrix3X start = motion(points, 0);
  for (Index i = 0; i < points.cols(); ++i) {
    const Vector3 x = points.col(i), shift = start.col(i) - x;
    if (!(shift.norm() <= 1e-9 * std::max(bounds.diagonal(), bounds.upper.cwiseAbs().maxCoeff())))
      place.fail(
          "moves {} by {} at t = 0, must begin with no motion; place the body with its transform, and write "
          "formulas like \"cos(t) - 1\"",
          text_of(x), text_of(shift));
  }
  // What is not seen here is found, and reported, when the step comes.
  const Matrix3X some = some_of(points, 8);
  for (Index k = 1; k <= std::min<Index>(clock.steps, 100000); ++k)
    if (!motion(some, k * clock.dt).allFinite())
      place.fail("is not finite at t = {:.6g} s; rewrite the formula", k * clock.dt);
}

ScriptBuilder::ScriptBuilder(Body& body, const PlacedMesh& placed, const Clock& clock)
    : body_(body),
      placed_(placed),
      clock_(clock),
      center_(bounding_box(body.mesh.points).centre()),
      taken_(std::size_t(3 * body.nodes.cols())) {}

void ScriptBuilder::whole(const MotionDescription& motion) {
  add({place_of(motion), &motion, {}}, all_points(body_), {true, true, !body_.planar});
}

void ScriptBuilder::part(const FixedDescription& fixed) {
  const std::vector<Index> points = select_points(fixed.where, placed_);
  const bool everything = Index(points.size()) == body_.mesh.point_count();
  if (moves_as_whole(body_) && !everything)
    fixed.place["where"].fail(
        "chooses {} of {} points; the body is held as a whole: use {{\"all\": true}}, or type volume",
        points.size(), body_.mesh.point_count());
  std::array<bool, 3> axes;
  for (int k = 0; k < 3; ++k) axes[std::size_t(k)] = fixed.axes.find("xyz"[k]) != std::string::npos;
  if (body_.planar) {
    axes[2] = false;  // held anyway
    if (!axes[0] && !axes[1])
      fixed.place["axes"].fail("got \"{}\"; z of a planar body is always held: choose x, y or both",
                               fixed.axes);
  }
  add({fixed.place, fixed.motion ? &*fixed.motion : nullptr, make_time_range(fixed, clock_)},
      everything ? all_points(body_) : body_.sets.add_points(set_name(fixed.where), points), axes);
}

void ScriptBuilder::add(const Request& request, PointSet points, std::array<bool, 3> axes) {
  const TimeRange& when = request.when;
  owners_.push_back(
      {request.place.path(), request.motion ? to_text(described::write(*request.motion)) : "", when});
  const auto is_same = [&](const Owner& o) { return o.motion == owners_.back().motion && o.when == when; };
  const int me = int(owners_.size()) - 1;
  const std::vector<Index> nodes = nodes_of(body_, points);
  Motion motion;
  if (request.motion) {
    motion = make_motion(*request.motion, center_);
    Clock active = clock_;  // the time of a motion counts from when it begins
    active.steps =
        Index(std::min(double(clock_.steps), std::floor((when.until - when.from) / clock_.dt * (1 + 1e-9))));
    check_motion(place_of(*request.motion), motion, body_.nodes(Eigen::all, nodes), active);
    if (body_.planar) check_plane(place_of(*request.motion), motion, body_.nodes(Eigen::all, nodes), active);
  }
  for (const Index node : nodes)
    for (unsigned k = 0; k < 3; ++k) {
      if (!axes[k]) continue;
      std::vector<int>& owners = taken_[std::size_t(3 * node) + k];
      for (const int other : owners)
        if (const Owner& o = owners_[std::size_t(other)]; o.when.overlaps(when) && !is_same(o))
          request.place.fail(
              "moves the {} coordinate of node {} at {}, which {} moves at the same time with another "
              "motion; "
              "choose other points, axes or times",
              "xyz"[k], node, text_of(body_.nodes.col(node)), o.path);
      owners.push_back(me);
    }
  // Coordinates that are scripted twice are skipped where sets are resolved, since the mesh may change.
  const int group = int(std::ranges::find_if(owners_, is_same) - owners_.begin());
  body_.scripts.push_back({points, axes, std::move(motion), when, group});
}

}  // namespace apart
