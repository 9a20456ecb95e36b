// Collision detection on a mesh of one's own: two triangles, of which the upper one falls through the lower.
#include <apart/collision/collision_detection.hpp>

#include <cstdio>

int main() {
  apart::Matrix3X x0(3, 6);  // positions at time 0, one column a vertex [m]
  x0.leftCols(3) << 0, 1, 0, 0, 0, 1, 0, 0, 0;
  x0.rightCols(3) << 0.1, 0.9, 0.2, 0.1, 0.2, 0.7, 0.5, 0.5, 0.5;
  apart::Faces faces(3, 2);
  faces << 0, 3, 1, 4, 2, 5;
  apart::Matrix3X x1 = x0;  // positions at time 1
  x1.rightCols(3).row(2).array() -= 1;

  const apart::CollisionSurface surface = apart::collision_surface(x0, faces);
  std::printf("%zu pairs of primitives come near each other\n",
              apart::find_candidates(surface, x0, x1).size());
  std::printf("the step is %s\n", apart::is_step_free(surface, x0, x1) ? "free" : "not free");
  if (const auto impact = apart::earliest_impact(surface, x0, x1)) {
    const auto& v = impact->pair.vertices;
    std::printf("impact at time %.4f of vertices %d %d %d %d\n", impact->time, v[0], v[1], v[2], v[3]);
    const apart::Matrix3X safe = x0 + 0.99 * impact->time * (x1 - x0);
    std::printf("shortened, the step is %s\n", apart::is_step_free(surface, x0, safe) ? "free" : "not free");
  }
  std::printf("the mesh %s at time 0\n",
              apart::self_intersects(surface, x0) ? "intersects itself" : "is clean");
}
