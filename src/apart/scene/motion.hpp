#pragma once
#include <apart/bodies/body.hpp>
#include <apart/io/located_json.hpp>
#include <apart/scene/expression.hpp>

namespace apart {

/// Rotation matrix of "rotate": [x, y, z] (degrees; about the world's x axis first, then y, then z) or of
/// {"axis": ..., "angle": ...}. Throws InputError for a zero axis.
Matrix3 read_rotation(const LocatedJson& value);

/// A number, or a formula.
Expression read_formula(const LocatedJson& value);

/// A unit vector. Throws InputError, naming the value, if it has no direction.
Vector3 read_direction(const LocatedJson& value);

/// The motion an object of the catalog's group "motion" describes. Turns about `center` unless the object
/// names another. Displacements may be formulas in the place x, y, z of a point when the motion begins.
/// Throws InputError if times do not increase, or if an angle uses x, y or z.
Motion read_motion(const LocatedJson& value, const Vector3& center);

}  // namespace apart
