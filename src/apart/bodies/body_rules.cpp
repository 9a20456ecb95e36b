#include <apart/bodies/body_rules.hpp>

namespace apart {

bool moves_as_whole(const Body& body) {
  return body.kind == BodyKind::affine || body.kind == BodyKind::rigid;
}

bool can_touch(const Body& a, const Body& b) {
  if (!a.is_dynamic() && !b.is_dynamic()) return false;
  return &a != &b || !moves_as_whole(a);
}

Aabb extent_of(const Body& body) {
  if (body.mesh.point_count() == 0 || body.half_space) return {};
  Aabb box = bounding_box(body.mesh.points);
  box.lower.array() -= body.radius;
  box.upper.array() += body.radius;
  return box;
}

}  // namespace apart
