#pragma once
// The wrapper of Embree.
#include <apart/viewer/shapes.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace apart {

struct Ray {
  Vector3f origin, direction;  ///< direction need not be a unit vector; distances count in its lengths
  float near = 0, far = std::numeric_limits<float>::infinity();
};

struct Hit {
  float distance;
  const Shape* shape;
  Vector3f geometric_normal;  ///< unit, towards the ray's origin
  Vector3f shading_normal;    ///< unit, towards the ray's origin
  Vector3f colour;            ///< linear reflectance there
};

/// Shapes that rays can be shot at, from several threads; the shapes must outlive it. Equal shapes give equal
/// answers, for any number of threads. Rays that begin or reach beyond 1e18 see nothing.
class RayScene {
 public:
  explicit RayScene(const std::vector<const Shape*>& shapes);
  ~RayScene();
  RayScene(RayScene&&) noexcept;
  RayScene& operator=(RayScene&&) noexcept;

  bool empty() const;
  std::optional<Hit> closest(const Ray& ray) const;
  bool occluded(const Ray& ray) const;

 private:
  struct Embree;
  std::unique_ptr<Embree> embree_;
};

}  // namespace apart
