#include <apart/importers/rigid_ipc/motions.hpp>
#include <apart/importers/tools.hpp>
#include <apart/math/principal_axes.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart::rigid_ipc {

namespace {

constexpr double in_degrees = 180 / std::numbers::pi;
constexpr double most_frames = 20000;

Formula way(double speed) {
  speed = tidy(speed);
  if (speed == 0) return 0.0;
  return fmt::format("{}*t", speed);
}

AxisAngleDescription turn_about(const Vector3& axis, double angle) {
  AxisAngleDescription turn;
  turn.axis = tidy(axis);
  turn.angle = tidy(angle);
  return turn;
}

/// Without coordinates that are rounding.
Vector3 centre_of(const MassDistribution& mass) {
  const double size = std::sqrt(mass.second_moment.trace() / mass.mass);
  Vector3 centre = tidy(mass.centre);
  for (double& c : centre)
    if (std::abs(c) < 1e-12 * size) c = 0;
  return centre;
}

/// Directions of the principal moments, the least first, as the columns of a rotation.
Matrix3 inertia_axes(const MassDistribution& mass) {
  auto [moments, axes] = principal_axes(mass.inertia());
  if (moments[2] - moments[0] <= 1e-9 * moments[2]) return Matrix3::Identity();
  if (axes.determinant() < 0) axes.col(0) *= -1;
  return axes;
}

Matrix3 exponential(const Vector3& vector) {
  const double angle = vector.norm();
  return angle > 0 ? Eigen::AngleAxisd(angle, vector / angle).toRotationMatrix()
                   : Matrix3(Matrix3::Identity());
}

KeyframeDescription frame_at(double t, const Vector3& translate, const Matrix3& rotation) {
  KeyframeDescription frame;
  frame.t = tidy(t);
  frame.translate = tidy(translate);
  const Eigen::AngleAxisd turn(rotation);
  if (turn.angle() > 1e-12) frame.rotate = turn_about(turn.axis(), turn.angle() * in_degrees);
  return frame;
}

MotionDescription steady(const Script& script, double until) {
  const double speed = script.spin.norm();
  if (until == infinity) {
    FormulaMotion motion;
    for (std::size_t k = 0; k < 3; ++k) motion.translate[k] = way(script.velocity[Index(k)]);
    if (speed > 0) {
      TurningDescription turning;
      turning.axis = tidy(script.spin / speed);
      turning.angle = way(speed);
      motion.rotate = turning;
      motion.center = centre_of(script.mass);
    }
    return motion;
  }
  KeyframeMotion motion;
  motion.keyframes.resize(2);
  motion.keyframes[1].t = tidy(until);
  motion.keyframes[1].translate = tidy(until * script.velocity);
  if (speed > 0) {
    motion.keyframes[1].rotate = turn_about(script.spin / speed, until * speed);
    motion.center = centre_of(script.mass);
  }
  return motion;
}

/// What follows the last pose: the velocities, from there.
void go_on(const Script& script, const Matrix3& last, double until,
           std::vector<KeyframeDescription>& frames) {
  const double begin = frames.back().t, end = std::min(until, double(script.steps) * script.dt);
  const Vector3 from = frames.back().translate;
  const double speed = script.spin.norm();
  if (!(end > begin) || (speed == 0 && script.velocity.isZero(0))) return;
  const bool straight = last.isIdentity(1e-12);
  if (straight || speed == 0) {
    KeyframeDescription frame = frame_at(end, from + (end - begin) * script.velocity, last);
    if (speed > 0) frame.rotate = turn_about(script.spin / speed, (end - begin) * speed);
    frames.push_back(frame);
    return;
  }
  const double count = std::ceil((end - begin) / script.dt * (1 - 1e-12));
  if (count > most_frames)
    script.body.at.fail(
        "needs {:g} keyframes to turn on from its last pose, at most {:g} are made; set "
        "kinematic_max_time",
        count, most_frames);
  for (double k = 1; k <= count; ++k) {
    const double time = std::min(end - begin, k * script.dt);
    frames.push_back(frame_at(begin + time, from + time * script.velocity,
                              exponential(time / in_degrees * script.spin) * last));
  }
}

MotionDescription posed(const Script& script, double until, FunctionRef<void(std::string_view)> note) {
  const FixtureBody& body = script.body;
  const Vector3 centre = centre_of(script.mass);
  const bool turns = std::ranges::any_of(body.poses, [](const Pose& p) { return p.rotation.has_value(); });
  // In the plane the reference does not turn bodies to their principal axes.
  const Matrix3 axes = script.plane ? Matrix3(Matrix3::Identity()) : inertia_axes(script.mass);
  if (!turns && !axes.isIdentity(1e-6))
    note(
        "kinematic_poses say no rotation: the body keeps its own here; the reference turns its principal "
        "axes "
        "to those of the world");
  if (turns && !script.plane)
    note("kinematic_poses turn the body's principal axes, the one of the least moment first");
  KeyframeMotion motion;
  motion.center = centre;
  motion.keyframes.emplace_back();
  Matrix3 rotation = Matrix3::Identity();
  for (std::size_t k = 0; k < body.poses.size() && Index(k) < script.steps; ++k) {
    const double time = double(k + 1) * script.dt;
    if (time > until * (1 + 1e-9)) break;
    if (turns) rotation = exponential(body.poses[k].rotation.value_or(Vector3::Zero())) * axes.transpose();
    motion.keyframes.push_back(frame_at(time, body.poses[k].position - centre, rotation));
  }
  go_on(script, rotation, until, motion.keyframes);
  return motion;
}

}  // namespace

std::optional<MotionDescription> make_motion(const Script& script, FunctionRef<void(std::string_view)> note) {
  const double until = script.body.kinematic_max_time.value_or(infinity);
  if (until == 0) return std::nullopt;
  if (!script.body.poses.empty()) return posed(script, until, note);
  if (script.velocity.isZero(0) && script.spin.isZero(0)) return std::nullopt;
  return steady(script, until);
}

}  // namespace apart::rigid_ipc
