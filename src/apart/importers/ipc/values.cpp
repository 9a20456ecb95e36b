#include <apart/importers/ipc/values.hpp>
#include <apart/io/file_reader.hpp>

#include <Eigen/Geometry>
#include <cmath>

namespace apart::ipc {

double number(double value) {
  if (!std::isfinite(value)) throw InputError("some number becomes too large; check scales, sizes and times");
  return tidy(value);
}

Vector3 numbers(const Vector3& v) {
  return {number(v[0]), number(v[1]), number(v[2])};
}

Formula way(double speed) {
  speed = number(speed);
  if (speed == 0) return 0.0;
  if (std::abs(speed) == 1) return std::string(speed > 0 ? "t" : "-t");
  return fmt::format("{}*t", speed);
}

double between(double low, double high, double wanted) {
  const double margin = 1e-3 * (high - low);
  if (!(wanted > low + margin && wanted < high - margin)) wanted = low + 0.5 * (high - low);
  for (int digits = 2; digits < 17; ++digits) {
    const double rounded = *parse_real(fmt::format("{:.{}g}", wanted, digits));
    if (rounded > low + margin && rounded < high - margin) return rounded;
  }
  return wanted;
}

Matrix3 about(const Vector3& axis, double angle) {
  const double quarters = angle / 90;
  if (quarters == std::round(quarters)) {  // exact, as the builder of scenes has them
    const int k = (int(std::fmod(quarters, 4)) + 4) % 4;
    const int sine[] = {0, 1, 0, -1}, cosine[] = {1, 0, -1, 0};
    Matrix3 cross;
    cross << 0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0;
    return Matrix3::Identity() + sine[k] * cross + (1 - cosine[k]) * cross * cross;
  }
  return Eigen::AngleAxisd(angle * degrees, axis).toRotationMatrix();
}

Matrix3 euler(const Vector3& angles) {
  return about(Vector3::UnitX(), angles[0]) * about(Vector3::UnitY(), angles[1]) *
         about(Vector3::UnitZ(), angles[2]);
}

Turn turn_of(const Matrix3& rotation) {
  const Eigen::AngleAxisd turn(rotation);
  Vector3 axis = turn.axis();
  double angle = turn.angle() / degrees;
  if (axis.minCoeff() < -axis.maxCoeff()) {  // an axis that points forward reads better
    axis = -axis;
    angle = -angle;
  }
  for (int k = 0; k < 3; ++k)
    if (std::abs(axis[k]) < 1e-14) axis[k] = 0;
  return {axis, angle};
}

AxisAngleDescription axis_angle(const Vector3& axis, double angle) {
  AxisAngleDescription result;
  result.axis = numbers(axis);
  result.angle = number(angle);
  return result;
}

RotationDescription rotation_value(const Matrix3& rotation, const Vector3& angles, bool turned) {
  const int used = int((angles.array() != 0).count());
  if (!turned && used <= 1) return numbers(angles);
  if (rotation == Matrix3::Identity()) return Vector3(0, 0, 0);
  const Turn turn = turn_of(rotation);
  return axis_angle(turn.axis, turn.angle);
}

std::optional<Turn> rate_of(const Vector3& rates, double dt) {
  const int used = int((rates.array() != 0).count());
  if (used == 0) return std::nullopt;
  if (used == 1)
    for (int k = 0; k < 3; ++k)
      if (rates[k] != 0) return Turn{Vector3::Unit(k), rates[k]};
  Turn turn = turn_of(euler(rates * dt));
  turn.angle /= dt;
  return turn;
}

}  // namespace apart::ipc
