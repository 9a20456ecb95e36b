#include <apart/bodies/body_rules.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/joints.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/selection.hpp>
#include <apart/scene/surface_tree.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

constexpr double degree = std::numbers::pi / 180;
// How far a soft body may be from its joint, and the points of two bodies from each other, in sizes of the
// body.
constexpr double nearest_share = 1e-2, closed_share = 1e-3;
constexpr double farthest_turn = 150;    // [degrees] of a motor in a step: beyond half a turn none is known
constexpr Index most_tried = 100000;     // steps
constexpr double farthest_pivot = 1000;  // from its body, in sizes of the scene: rounding grows with it

/// The diagonal of the box around a body [m].
double size_of(const Body& body, double scene_size) {
  const double size = extent_of(body).diagonal();
  return size > 0 ? size : 1e-3 * scene_size;
}

bool can_move(const Body& body) {
  if (!body.is_dynamic()) return false;
  return std::ranges::none_of(body.scripts, [&](const Script& p) {
    const bool always = p.when.from <= body.presence.from && p.when.until >= body.presence.until;
    return always && Index(body.sets[p.points].size()) == body.mesh.point_count() && p.axes[0] && p.axes[1] &&
           p.axes[2];
  });
}

/// A point in a tetrahedron of the mesh, as a mean of its corners.
std::optional<std::pair<std::vector<Index>, VectorX>> inside(const Mesh& mesh, const Vector3& x) {
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    const auto corners = mesh.tetrahedra.col(t);
    Eigen::Matrix4d m;
    for (int k = 0; k < 4; ++k) m.col(k) << mesh.points.col(corners[k]), 1;
    const Vector4 weights = m.inverse() * Vector4(x[0], x[1], x[2], 1);
    if (weights.minCoeff() >= 0)
      return std::pair(std::vector<Index>(corners.begin(), corners.end()), VectorX(weights));
  }
  return std::nullopt;
}

/// Fastens a side to the nearest point of a body that does not move as a whole.
void hold_point(JointSide& side, Body& body, const Place& at, const std::string& name) {
  std::vector<Index> points;
  VectorX weights;
  if (const auto found = inside(body.mesh, side.pivot)) {
    std::tie(points, weights) = *found;
  } else {
    const Foot foot = SurfaceTree(body, false).nearest(side.pivot);
    if (!(foot.distance <= nearest_share * extent_of(body).diagonal()))
      at.fail(
          "is {:.3g} m from the nearest point of '{}', which is held at a point of its own; move it there",
          foot.distance, body.name);
    std::vector<double> used;
    for (int k = 0; k < 3; ++k)
      if (foot.points[std::size_t(k)] >= 0) {
        points.push_back(foot.points[std::size_t(k)]);
        used.push_back(foot.weights[k]);
      }
    weights = Eigen::Map<const VectorX>(used.data(), Index(used.size()));
  }
  side.pivot = body.mesh.points(Eigen::all, points) * weights;
  side.points = body.sets.add_points(name, points);
  const std::vector<Index>& members = body.sets[side.points];  // ascending
  side.weights = VectorX::Zero(Index(members.size()));
  for (std::size_t k = 0; k < points.size(); ++k)
    side.weights[std::ranges::lower_bound(members, points[k]) - members.begin()] += weights[Index(k)];
}

std::function<double(double)> make_function(const Formula& function, const Place& place) {
  const Expression formula = make_expression(function, place);
  for (const char name : {'x', 'y', 'z'})
    if (formula.uses(name))
      place.fail("got \"{}\", must not use {}: a joint has one value; write it in t",
                 std::get<std::string>(function), name);
  return [formula](double t) { return formula(0, 0, 0, t); };
}

/// Makes what acts in a freedom. `when`: the joint holds.
template <bool is_angle>
JointFreedom make_freedom(const FreedomDescription<is_angle>& d, const TimeRange& when, const Clock& clock) {
  constexpr double unit = is_angle ? degree : 1;
  JointFreedom result;
  if (d.limits) {
    const auto [lower, upper] = *d.limits;
    if (!(lower < upper))
      d.place["limits"].fail(
          "got [{}, {}], the first must be less than the second; exchange them, or use a "
          "joint that leaves less free",
          lower, upper);
    if (lower > 0 || upper < 0)
      d.place["limits"].fail(
          "got [{}, {}], must contain 0, which is where the joint begins; count from there", lower, upper);
    result.lower = unit * lower;
    result.upper = unit * upper;
  }
  result.friction = d.friction;
  result.stiffness = d.stiffness;
  result.rest = unit * d.rest;
  result.damping = d.damping;
  if (!d.motor) return result;
  std::visit(
      [&]<class M>(const M& m) {
        constexpr bool drives_speed = std::same_as<M, VelocityMotor<is_angle>>;
        const Place place = m.place[drives_speed ? "velocity" : "position"];
        const auto target = make_function(m.target, place);
        double before = 0;  // of a position
        for (Index k = 1; k <= std::min<Index>(clock.steps, most_tried); ++k) {
          const double t = k * clock.dt;
          if (!when.covers(t)) continue;
          const double value = target(t);
          if (!std::isfinite(value)) place.fail("is not finite at t = {:.6g} s; rewrite the formula", t);
          const double way = drives_speed ? value * clock.dt : value - before;
          if (is_angle && std::abs(way) > farthest_turn)
            place.fail(
                "turns the joint by {:.4g} degrees in a step of {} s, at most {} can be followed; use a "
                "smaller time.dt",
                way, clock.dt, farthest_turn);
          before = value;
        }
        result.motor = JointFreedom::Motor{drives_speed, [target](double t) { return unit * target(t); },
                                           m.largest.value_or(infinity)};
      },
      *d.motor);
  return result;
}

/// Refuses bodies that a joint of this kind cannot hold.
void check_bodies(const JointBase& d, JointKind kind, const std::vector<int>& numbers,
                  const std::vector<Body>& bodies) {
  const Place place = d.place["bodies"];
  bool moves = false;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const Body& body = bodies[std::size_t(numbers[k])];
    moves |= can_move(body);
    if (body.half_space)
      place[k].fail(
          "'{}' is a half-space, which joints cannot hold; leave it out to hold the body to the world",
          body.name);
    if (kind == JointKind::ball || moves_as_whole(body)) continue;
    if (!body.is_dynamic())
      place[k].fail(
          "'{}' is an obstacle; make it a rigid body with a motion, or leave it out to hold the other "
          "body to the world",
          body.name);
    place[k].fail(
        "'{}' is soft: a point of it has no orientation that this joint could hold; use ball joints, "
        "several if need be, or make the body rigid or affine",
        body.name);
  }
  if (numbers.size() == 2 && numbers[0] == numbers[1])
    place.fail("has '{}' twice; a joint is between two bodies", bodies[std::size_t(numbers[0])].name);
  if (!moves)
    place.fail(
        "has no body that can move freely: obstacles and bodies whose motion is given follow their scripts; "
        "name another body");
}

/// Refuses what acts on the turns of a body that has no orientation.
void check_turns(const JointDescription& description, const std::vector<int>& numbers,
                 const std::vector<Body>& bodies) {
  const auto* ball = std::get_if<BallJoint>(&description);
  if (!ball || !ball->angle.acts()) return;
  for (const int b : numbers)
    if (const Body& body = bodies[std::size_t(b)]; !moves_as_whole(body))
      ball->place["angle"].fail(
          "acts on turns, but '{}' is {}; remove it, or make the body rigid or affine", body.name,
          body.is_dynamic() ? "soft and has no orientation" : "an obstacle, whose orientation is not known");
}

/// Kind by kind, what is more than a point.
void complete(Joint& joint, const BallJoint& d, const Clock&) {
  joint.about = {.friction = d.angle.friction, .stiffness = d.angle.stiffness, .damping = d.angle.damping};
  if (!d.cone) return;
  joint.cone = degree * *d.cone;
  joint.axis = make_direction(*d.axis, d.place["axis"]);
}
void complete(Joint& joint, const HingeJoint& d, const Clock& clock) {
  joint.axis = make_direction(d.axis, d.place["axis"]);
  joint.about = make_freedom(d.angle, joint.when, clock);
}
void complete(Joint& joint, const SliderJoint& d, const Clock& clock) {
  joint.axis = make_direction(d.axis, d.place["axis"]);
  joint.along = make_freedom(d.position, joint.when, clock);
}
void complete(Joint& joint, const CylinderJoint& d, const Clock& clock) {
  joint.axis = make_direction(d.axis, d.place["axis"]);
  joint.about = make_freedom(d.angle, joint.when, clock);
  joint.along = make_freedom(d.position, joint.when, clock);
}
void complete(Joint&, const FixedJoint&, const Clock&) {}

JointKind kind_of(const JointDescription& description) {
  constexpr JointKind kinds[] = {JointKind::ball, JointKind::hinge, JointKind::slider, JointKind::cylinder,
                                 JointKind::fixed};  // in the order of the variant
  return kinds[description.index()];
}

/// Puts both sides of the joint where they belong.
void place_sides(Joint& joint, const JointBase& d, const std::vector<int>& numbers, const JointScene& scene) {
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    Body& body = scene.bodies[std::size_t(numbers[k])];
    JointSide& side = joint.sides[k];
    side.body = numbers[k];
    side.pivot = k == 1 && d.at_second ? *d.at_second : k == 1 ? joint.sides[0].pivot : d.at;
    if (moves_as_whole(body)) continue;
    if (k == 1 && joint.begins_late())
      d.place["bodies"].fail(
          "'{}' is soft, and the joint begins late: it holds the point that is given for the "
          "first body; exchange the two",
          body.name);
    hold_point(side, body, d.place[k == 1 && d.at_second ? "at_second" : "at"], d.place.path());
    // Where a rigid body is held by a soft one, that one's nearest point decides.
    if (k == 1 && !d.at_second && moves_as_whole(scene.bodies[std::size_t(numbers[0])]))
      joint.sides[0].pivot = side.pivot;
  }
  if (numbers.size() == 1) joint.sides[1].pivot = joint.sides[0].pivot;
  if (const double far = (d.at - extent_of(scene.bodies[std::size_t(numbers[0])]).centre()).norm();
      !(far <= farthest_pivot * scene.scene_size))
    d.place["at"].fail(
        "is {:.3g} m from '{}', farther than {} times the size of the scene; lengths are in metres", far,
        scene.bodies[std::size_t(numbers[0])].name, farthest_pivot);
  const double gap = (joint.sides[0].pivot - joint.sides[1].pivot).norm();
  if (gap > closed_share * 2 * joint.arm)
    d.place[d.at_second ? "at_second" : "at"].fail(
        "leaves the joint open by {:.3g} m, from {} to {}; move the bodies together, or leave out at_second "
        "to "
        "hold them as they are",
        gap, text_of(joint.sides[0].pivot), text_of(joint.sides[1].pivot));
}

}  // namespace

const JointBase& base_of(const JointDescription& joint) {
  return std::visit([](const JointBase& d) -> const JointBase& { return d; }, joint);
}

std::vector<int> jointed_bodies(const JointBase& d,
                                FunctionRef<const std::vector<int>&(const std::string&)> named) {
  std::vector<int> result;
  for (std::size_t k = 0; k < d.bodies.size(); ++k) {
    if (d.bodies[k] == "*")
      d.place["bodies"][k].fail(
          "got \"*\", but a joint holds one body to one other; name them, or one alone to hold it to the "
          "world");
    const std::vector<int>& meant = named(d.bodies[k]);
    if (meant.size() != 1)
      d.place["bodies"][k].fail("got \"{}\", which stands for {} bodies; name one of them, such as \"{}.0\"",
                                d.bodies[k], meant.size(), d.bodies[k]);
    result.push_back(meant[0]);
  }
  return result;
}

Joint make_joint(const JointDescription& description, const JointScene& scene) {
  const JointBase& d = base_of(description);
  const std::vector<int> numbers = jointed_bodies(d, scene.named);
  Joint joint;
  joint.name = d.name;
  joint.kind = kind_of(description);
  check_bodies(d, joint.kind, numbers, scene.bodies);
  check_turns(description, numbers, scene.bodies);
  joint.when = make_time_range(d, scene.clock);
  double size = infinity;
  for (const int b : numbers) {
    const Body& body = scene.bodies[std::size_t(b)];
    if (body.is_dynamic()) size = std::min(size, size_of(body, scene.scene_size));
    joint.when.from = std::max(joint.when.from, body.presence.from);  // when both are there
    joint.when.until = std::min(joint.when.until, body.presence.until);
  }
  joint.arm = size / 2;
  if (d.at_second && numbers.size() == 1)
    d.place["at_second"].fail("is of a second body, but the joint holds one body to the world; remove it");
  if (d.at_second && joint.begins_late())
    d.place["at_second"].fail(
        "cannot be given for a joint that begins late, which takes the bodies as they are "
        "then; remove it");
  if (!d.contact && numbers.size() == 1)
    d.place["contact"].fail("is about two bodies, but the joint holds one body to the world; remove it");
  place_sides(joint, d, numbers, scene);
  joint.largest_force = d.breaking_force.value_or(infinity);
  joint.largest_torque = d.breaking_torque.value_or(infinity);
  std::visit([&](const auto& kind) { complete(joint, kind, scene.clock); }, description);
  return joint;
}

}  // namespace apart
