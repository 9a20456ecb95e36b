#include <apart/viewer/hiding_obstacles.hpp>
#include <apart/viewer/ray_scene.hpp>

#include <algorithm>

namespace apart {

std::vector<int> hiding_obstacles(const std::vector<Shape>& shapes, const Vector3f& eye) {
  std::vector<int> hiding;
  // Behind an obstacle that is looked through there may be another.
  while (true) {
    std::vector<const Shape*> obstacles;
    for (const Shape& shape : shapes)
      if (shape.obstacle && std::ranges::count(hiding, shape.body) == 0) obstacles.push_back(&shape);
    if (obstacles.empty()) return hiding;
    const RayScene scene(obstacles);
    std::vector<Index> hidden(shapes.size(), 0);
    Index tested = 0;
    for (const Shape& shape : shapes) {
      if (shape.obstacle) continue;
      const Index stride = std::max<Index>(1, Index(shape.points.cols()) / 500);
      for (Index p = 0; p < shape.points.cols(); p += stride) {
        ++tested;
        if (const auto hit = scene.closest({eye, shape.points.col(p) - eye, 0.0f, 0.999f}))
          ++hidden[std::size_t(hit->shape - shapes.data())];
      }
    }
    const std::size_t before = hiding.size();
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (hidden[i] > 0.15 * tested) hiding.push_back(shapes[i].body);
    if (hiding.size() == before) return hiding;
  }
}

}  // namespace apart
