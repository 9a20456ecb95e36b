#pragma once
#include <apart/bodies/body.hpp>
#include <apart/scene/body_description.hpp>
#include <apart/scene/expression.hpp>

namespace apart {

/// The rotation matrix. Throws InputError for a zero axis.
Matrix3 make_rotation(const RotationDescription& rotation);

/// `place`: of the formula. Throws InputError if the times of a curve do not increase.
Expression make_expression(const Formula& formula, const Place& place);
std::array<Expression, 3> make_expressions(const FormulaVector& formulas, const Place& place);

/// A unit vector. Throws InputError that names the place if `v` has no direction.
Vector3 make_direction(const Vector3& v, const Place& place);

/// Turns about `center` unless the description names another. Displacements may be formulas in the place x,
/// y, z of a point when the motion begins. Throws InputError if times do not increase, or if an angle uses x,
/// y or z.
Motion make_motion(const MotionDescription& motion, const Vector3& center);

}  // namespace apart
