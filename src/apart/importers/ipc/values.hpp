#pragma once
// Values and rotations as scenes write them. For the files of this folder only.
#include <apart/importers/tools.hpp>
#include <apart/scene/description_values.hpp>

#include <numbers>
#include <optional>

namespace apart::ipc {

inline constexpr double degrees = std::numbers::pi / 180;

/// The number to 15 digits. Throws InputError if it is not finite.
double number(double value);
Vector3 numbers(const Vector3& v);

/// "0.1*t": a way at constant speed.
Formula way(double speed);

/// The fewest digits that lie well between.
double between(double low, double high, double wanted);

Matrix3 about(const Vector3& axis, double angle);

/// The reference's order: about z first.
Matrix3 euler(const Vector3& angles);

struct Turn {
  Vector3 axis;
  double angle;  ///< [degrees]
};

Turn turn_of(const Matrix3& rotation);

AxisAngleDescription axis_angle(const Vector3& axis, double angle);

/// How a scene writes a rotation, which is about x first; `angles` are the ones it came from, if any.
RotationDescription rotation_value(const Matrix3& rotation, const Vector3& angles, bool turned);

/// The constant turning that steps of euler(rates · dt) make.
std::optional<Turn> rate_of(const Vector3& rates, double dt);

}  // namespace apart::ipc
