#pragma once
#include <apart/simulation/model.hpp>

#include <optional>

namespace apart {

struct Nested {
  int body = 0;   ///< of which a piece lies inside
  int solid = 0;  ///< a body that encloses a volume; may be the same
  Vector3 place;  ///< [m], of a point of the piece
};

/// The first piece of a body that lies inside a solid at the vertices x [m] of the model's surface, exactly,
/// whatever the coordinates. Only bodies that are present, and pairs that may not overlap. None if the model
/// allows it.
std::optional<Nested> first_nested(const Model& model, const std::vector<char>& present, const Matrix3X& x);

}  // namespace apart
