#pragma once
// Values of a scene's description that are more than a number.
#include <apart/scene/one_of.hpp>
#include <apart/scene/place.hpp>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace apart {

/// A length: metres, or a multiple of the scene's size L (Model::size).
struct Length {
  double value = 0;
  bool relative = false;
  double metres(double scene_size) const { return relative ? value * scene_size : value; }
};
/// Empty if the value is neither a number nor a text like "1e-3 L".
std::optional<Length> read_length(const JsonValue& value);

/// "auto": derived from the bodies.
struct Automatic {
  static constexpr std::string_view word = "auto";
};
using AutomaticLength = std::variant<Automatic, Length>;

/// A number over time: t [s] and value of points, with straight lines between them; constant before the first
/// and after the last.
using TimeCurve = std::vector<std::array<double, 2>>;
/// A number, a formula as Expression reads it, or a curve over time.
struct FormulaKinds : Kinds<double, std::string, TimeCurve> {};
using Formula = OneOf<FormulaKinds>;
using FormulaVector = std::array<Formula, 3>;

/// One number for all axes, or one for each.
using PerAxis = std::variant<double, Vector3>;
using CellsPerAxis = std::variant<Index, Eigen::Vector3i>;
Vector3 per_axis(const PerAxis& value);
Eigen::Vector3i per_axis(const CellsPerAxis& value);

/// "texture": as the texture coordinates of the mesh say.
struct FromTexture {
  static constexpr std::string_view word = "texture";
};

struct AxisAngleDescription {
  static constexpr std::string_view group = "axis_angle", kind = "axis_angle";
  Place place = {};
  Vector3 axis = Vector3::UnitY();  ///< any length except zero
  double angle = 0;                 ///< [degrees]
};
/// Angles about the world's x axis, then y, then z [degrees]; or axis and angle.
using RotationDescription = std::variant<Vector3, AxisAngleDescription>;

struct FrictionDescription {
  static constexpr std::string_view group = "friction", kind = "friction";
  Place place = {};
  double sticking = 0;  ///< key "static"
  double sliding = 0;   ///< key "kinetic"
};
/// One coefficient for both, or one for each.
using FrictionCoefficient = std::variant<double, FrictionDescription>;

}  // namespace apart
