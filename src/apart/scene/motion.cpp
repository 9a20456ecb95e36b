#include <apart/scene/motion.hpp>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

constexpr double radians = std::numbers::pi / 180;

Matrix3 about(const Vector3& unit_axis, double degrees) {
  if (!std::isfinite(degrees)) return Matrix3::Constant(std::numeric_limits<double>::quiet_NaN());
  // Whole quarter turns come out exact, so that a turned box keeps its corners' coordinates.
  const double quarters = degrees / 90;
  if (quarters == std::round(quarters)) {
    const int q = int(std::fmod(quarters, 4));
    const int sine[] = {0, 1, 0, -1}, cosine[] = {1, 0, -1, 0};
    const int k = (q + 4) % 4;
    Matrix3 cross;
    cross << 0, -unit_axis[2], unit_axis[1], unit_axis[2], 0, -unit_axis[0], -unit_axis[1], unit_axis[0], 0;
    return Matrix3::Identity() + sine[k] * cross + (1 - cosine[k]) * cross * cross;  // Rodrigues
  }
  return Eigen::AngleAxisd(degrees * radians, unit_axis).toRotationMatrix();
}

/// A rotation that still knows how many turns it makes.
struct Turn {
  Vector3 axis = Vector3::UnitX();  ///< unit
  double angle = 0;                 ///< [degrees]
  Matrix3 matrix() const { return about(axis, angle); }
};

Turn make_turn(const RotationDescription& rotation) {
  if (const auto* turn = std::get_if<AxisAngleDescription>(&rotation))
    return {make_direction(turn->axis, turn->place["axis"]), turn->angle};
  const Vector3& angles = std::get<Vector3>(rotation);
  for (int k = 0; k < 3; ++k)  // a single axis keeps its angle beyond half a turn
    if (angles[(k + 1) % 3] == 0 && angles[(k + 2) % 3] == 0) return {Vector3::Unit(k), angles[k]};
  const Eigen::AngleAxisd turn(make_rotation(rotation));
  return {turn.axis(), turn.angle() / radians};
}

struct Keyframe {
  double time;
  Vector3 translation;
  Turn turn;
};

Matrix3 between(const Turn& a, const Turn& b, double s) {
  if (a.angle == 0 || a.axis == b.axis) return about(b.axis, (1 - s) * a.angle + s * b.angle);
  if (b.angle == 0) return about(a.axis, (1 - s) * a.angle);
  if (a.axis == -b.axis) return about(b.axis, s * b.angle - (1 - s) * a.angle);
  return Eigen::Quaterniond(a.matrix()).slerp(s, Eigen::Quaterniond(b.matrix())).toRotationMatrix();
}

Pose pose_at(const std::vector<Keyframe>& frames, const Vector3& center, double time) {
  std::size_t next = 0;
  while (next < frames.size() && frames[next].time <= time) ++next;
  if (next == 0) return {frames[0].turn.matrix(), center, frames[0].translation};
  if (next == frames.size()) return {frames.back().turn.matrix(), center, frames.back().translation};
  const Keyframe &a = frames[next - 1], &b = frames[next];
  const double s = (time - a.time) / (b.time - a.time);
  return {between(a.turn, b.turn, s), center, (1 - s) * a.translation + s * b.translation};
}

/// The same for all points: in t alone.
Expression formula_of_time(const Formula& formula, const Place& place) {
  Expression result = make_expression(formula, place);
  for (const char name : {'x', 'y', 'z'})
    if (result.uses(name))
      place.fail("got \"{}\", must not use {}; a rotation turns all points alike, write it in t",
                 std::get<std::string>(formula), name);
  return result;
}

Motion motion_of(const KeyframeMotion& motion, const Vector3& body_center) {
  const Vector3 center = motion.center.value_or(body_center);
  std::vector<Keyframe> frames;
  for (const KeyframeDescription& item : motion.keyframes) {
    frames.push_back({item.t, item.translate, make_turn(item.rotate)});
    if (frames.size() > 1 && !(frames.back().time > frames[frames.size() - 2].time))
      item.place["t"].fail("got {}, must be later than the keyframe before ({}); sort the keyframes by time",
                           frames.back().time, frames[frames.size() - 2].time);
  }
  return rigid_motion([frames, center](double time) { return pose_at(frames, center, time); });
}

Motion motion_of(const FormulaMotion& motion, const Vector3& body_center) {
  const Vector3 center = motion.center.value_or(body_center);
  const std::array<Expression, 3> shift = make_expressions(motion.translate, motion.place["translate"]);
  Vector3 axis = Vector3::UnitX();
  Expression angle(0.0);
  if (motion.rotate) {
    axis = make_direction(motion.rotate->axis, motion.rotate->place["axis"]);
    angle = formula_of_time(motion.rotate->angle, motion.rotate->place["angle"]);
  }
  return [shift, axis, angle, center](const Matrix3X& start, double t) -> Matrix3X {
    const Matrix3 rotation = about(axis, angle(0, 0, 0, t));
    Matrix3X result = (rotation * (start.colwise() - center)).colwise() + center;
    for (Index i = 0; i < start.cols(); ++i)
      for (int k = 0; k < 3; ++k)
        result(k, i) += shift[std::size_t(k)](start(0, i), start(1, i), start(2, i), t);
    return result;
  };
}

}  // namespace

Expression make_expression(const Formula& formula, const Place& place) {
  if (const auto* curve = std::get_if<TimeCurve>(&formula))
    for (std::size_t i = 1; i < curve->size(); ++i)
      if (!((*curve)[i][0] > (*curve)[i - 1][0]))
        place[i].fail("has the time {}, must be later than the one before ({}); sort the list by time",
                      (*curve)[i][0], (*curve)[i - 1][0]);
  return std::visit([](const auto& f) { return Expression(f); }, formula);
}

std::array<Expression, 3> make_expressions(const FormulaVector& v, const Place& place) {
  return {make_expression(v[0], place[std::size_t(0)]), make_expression(v[1], place[std::size_t(1)]),
          make_expression(v[2], place[std::size_t(2)])};
}

Vector3 make_direction(const Vector3& v, const Place& place) {
  const double largest = v.cwiseAbs().maxCoeff();
  if (largest == 0) place.fail("got [0, 0, 0], must have a direction; for example [0, 1, 0]");
  return (v / largest).normalized();  // scaled first: squares of huge or tiny entries would overflow
}

Matrix3 make_rotation(const RotationDescription& rotation) {
  if (const auto* turn = std::get_if<AxisAngleDescription>(&rotation))
    return about(make_direction(turn->axis, turn->place["axis"]), turn->angle);
  const Vector3& angles = std::get<Vector3>(rotation);
  return about(Vector3::UnitZ(), angles[2]) * about(Vector3::UnitY(), angles[1]) *
         about(Vector3::UnitX(), angles[0]);
}

Motion make_motion(const MotionDescription& motion, const Vector3& center) {
  return std::visit([&](const auto& m) { return motion_of(m, center); }, motion);
}

}  // namespace apart
