#pragma once
// Quantities of a frame as numbers at its points, for colours.
#include <apart/io/frame.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace apart {

struct FieldKind {
  std::string_view name;   ///< "speed"
  std::string_view label;  ///< for people
  std::string_view unit;   ///< "m/s"; empty if it has none
  bool logarithmic;        ///< spans decades
  bool (*present)(const Frame&);
};

/// speed, stress, strain, contact_force, contact_pressure, gap, displacement.
std::span<const FieldKind> field_kinds();
/// Throws InputError that lists the names if there is none of that name.
const FieldKind& find_field(std::string_view name);

/// The field at every point of the frame; not a number where it has no meaning: stress and strain of
/// obstacles and of points of no cell, a gap beyond `reach` [m], pressure of points of no surface. Quantities
/// of cells become the mean over the cells around a point. Pressure is the force of contact along the normal,
/// on a third of the triangles around a point. `start`: positions of the points at the start of the run, for
/// displacements.
/// Throws InputError if the frame does not hold the field.
VectorX point_field(const Frame& frame, std::string_view name, double reach, const Matrix3X& start = {});

/// The default range of colours, from the numbers at visible points: from 0 (for fields that span decades:
/// from the smallest) to the largest except for half a percent of them, so that one point does not darken all
/// others. None without numbers.
std::optional<std::pair<double, double>> colour_range(std::string_view field, std::vector<double> values);

/// Distance [m] from each point of the surface to the nearest other thing it could touch: points, edges and
/// faces that do not share a point, and half-spaces. The distance of two edges, or of a point and a face,
/// counts for all points that the closest places lie between. Not a number beyond `reach` > 0, for points
/// inside, and for absent bodies. Thickness is subtracted; points of one body closer than its thickness are
/// neighbours in a fine mesh and do not count.
VectorX gaps(const Frame& frame, double reach);

/// The colours of numbers from 0 to 1, dark to light, as sRGB 0xRRGGBB at equal distances (viridis).
std::span<const int> colour_stops();

}  // namespace apart
