#pragma once
#include <apart/core/types.hpp>
#include <apart/io/located_json.hpp>

#include <string>
#include <vector>

namespace apart {

/// "(1, 2, 3)", for messages.
std::string text_of(const Vector3& v);

/// The points (columns, [m], world) an object of the catalog's group "selection" chooses, ascending.
/// Boundaries belong to boxes, balls and planes, with a slack of 1e-9 of the points' extent so that rounding
/// does not matter. Throws InputError if nothing is chosen.
std::vector<Index> select_points(const LocatedJson& selection, const Matrix3X& points);

}  // namespace apart
