#include <apart/core/error.hpp>
#include <apart/viewer/ray_scene.hpp>

#include <embree3/rtcore.h>

#include <cstring>
#include <utility>

namespace apart {

namespace {

RTCRay embree_ray(const Ray& ray) {
  RTCRay r{};
  r.org_x = ray.origin.x();
  r.org_y = ray.origin.y();
  r.org_z = ray.origin.z();
  r.dir_x = ray.direction.x();
  r.dir_y = ray.direction.y();
  r.dir_z = ray.direction.z();
  r.tnear = ray.near;
  r.tfar = ray.far;
  r.mask = 0xffffffffu;
  return r;
}

/// A search for the closest hit. How Embree orders its tree depends on the number of threads that build it;
/// where a ray hits several primitives at one distance, the first of the scene counts, whatever the tree.
struct Query : RTCIntersectContext {
  float distance = std::numeric_limits<float>::infinity();
  std::pair<unsigned, unsigned> primitive;  ///< geometry, primitive

  Query() { rtcInitIntersectContext(this); }

  static void keep_first(const RTCFilterFunctionNArguments* arguments) {
    auto& best = *static_cast<Query*>(arguments->context);
    const float t = reinterpret_cast<const RTCRay*>(arguments->ray)->tfar;
    const auto* hit = reinterpret_cast<const RTCHit*>(arguments->hit);
    const std::pair candidate(hit->geomID, hit->primID);
    if (t < best.distance || (t == best.distance && candidate < best.primitive)) {
      best.distance = t;
      best.primitive = candidate;
    } else {
      arguments->valid[0] = 0;
    }
  }
};

/// A buffer that Embree owns, filled by the caller.
template <class T>
T* new_buffer(RTCGeometry geometry, RTCBufferType type, RTCFormat format, std::size_t stride, Index count) {
  return static_cast<T*>(rtcSetNewGeometryBuffer(geometry, type, 0, format, stride, std::size_t(count)));
}

}  // namespace

namespace {

/// Embree ends the program for rays with numbers beyond this, or none.
bool within_range(const Ray& ray) {
  constexpr float limit = 1e18f;
  return (ray.origin.array().abs() < limit).all() && (ray.direction.array().abs() < limit).all() &&
         ray.near <= ray.far;
}

}  // namespace

struct RayScene::Embree {
  /// A shape gives up to three geometries: triangles, tubes, balls.
  enum class Kind { triangles, tubes, balls };
  struct Part {
    const Shape* shape;
    Kind kind;
  };

  Embree() {
    device = rtcNewDevice(nullptr);
    if (!device)
      throw std::runtime_error("Embree, which renders pictures, cannot be started on this machine");
    scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
  }
  ~Embree() {
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
  }

  void attach(RTCGeometry geometry, const Shape* shape, Kind kind) {
    rtcSetGeometryIntersectFilterFunction(geometry, &Query::keep_first);
    rtcCommitGeometry(geometry);
    const unsigned id = rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    ensure(id == parts.size(), "Embree numbers geometries from zero");
    parts.push_back({shape, kind});
  }

  void add(const Shape& shape) {
    if (shape.faces.cols() > 0) {
      RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
      auto* x = new_buffer<float>(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, 12,
                                  Index(shape.points.cols()));
      std::memcpy(x, shape.points.data(), sizeof(float) * std::size_t(shape.points.size()));
      auto* f = new_buffer<unsigned>(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, 12,
                                     Index(shape.faces.cols()));
      for (Index i = 0; i < shape.faces.size(); ++i) f[i] = unsigned(shape.faces.data()[i]);
      attach(geometry, &shape, Kind::triangles);
    }
    auto spheres = [&](RTCGeometry geometry, Index count, auto point) {
      auto* x = new_buffer<float>(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, 16, count);
      for (Index i = 0; i < count; ++i) {
        const Vector3f p = point(i);
        for (int k = 0; k < 3; ++k) x[4 * i + k] = p[k];
        x[4 * i + 3] = shape.radius;
      }
    };
    if (shape.segments.cols() > 0) {
      RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE);
      const Index count = Index(shape.segments.cols());
      spheres(geometry, 2 * count,
              [&](Index i) -> Vector3f { return shape.points.col(shape.segments.data()[i]); });
      auto* s = new_buffer<unsigned>(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT, 4, count);
      for (Index i = 0; i < count; ++i) s[i] = unsigned(2 * i);
      attach(geometry, &shape, Kind::tubes);
    }
    if (shape.balls.size() > 0) {
      RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
      spheres(geometry, Index(shape.balls.size()),
              [&](Index i) -> Vector3f { return shape.points.col(shape.balls[i]); });
      attach(geometry, &shape, Kind::balls);
    }
  }

  RTCDevice device;
  RTCScene scene;
  std::vector<Part> parts;
};

RayScene::RayScene(const std::vector<const Shape*>& shapes) : embree_(std::make_unique<Embree>()) {
  for (const Shape* shape : shapes) embree_->add(*shape);
  rtcCommitScene(embree_->scene);
  if (rtcGetDeviceError(embree_->device) != RTC_ERROR_NONE)
    throw std::runtime_error("Embree, which renders pictures, cannot hold this frame (not enough memory?)");
}
RayScene::~RayScene() = default;
RayScene::RayScene(RayScene&&) noexcept = default;
RayScene& RayScene::operator=(RayScene&&) noexcept = default;

bool RayScene::empty() const {
  return embree_->parts.empty();
}

std::optional<Hit> RayScene::closest(const Ray& ray) const {
  if (!within_range(ray)) return std::nullopt;
  RTCRayHit found;
  found.ray = embree_ray(ray);
  found.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  found.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
  Query query;
  rtcIntersect1(embree_->scene, &query, &found);
  if (found.hit.geomID == RTC_INVALID_GEOMETRY_ID) return std::nullopt;
  const Embree::Part& part = embree_->parts[found.hit.geomID];
  Hit hit{found.ray.tfar,
          part.shape,
          Vector3f(found.hit.Ng_x, found.hit.Ng_y, found.hit.Ng_z).normalized(),
          {},
          {}};
  hit.shading_normal = hit.geometric_normal;
  const Matrix3Xf& colours = part.shape->point_colours;
  const Index primitive = Index(found.hit.primID);
  const float u = found.hit.u, v = found.hit.v;
  hit.colour = part.shape->colour;
  if (colours.size() > 0) {
    const Shape& shape = *part.shape;
    if (part.kind == Embree::Kind::triangles)
      hit.colour = (1 - u - v) * colours.col(shape.faces(0, primitive)) +
                   u * colours.col(shape.faces(1, primitive)) + v * colours.col(shape.faces(2, primitive));
    else if (part.kind == Embree::Kind::tubes)
      hit.colour =
          (1 - u) * colours.col(shape.segments(0, primitive)) + u * colours.col(shape.segments(1, primitive));
    else
      hit.colour = colours.col(shape.balls[primitive]);
  }
  if (part.kind == Embree::Kind::triangles) {
    const Matrix3Xf& normals = part.shape->corner_normals;
    const Index corner = 3 * primitive;
    const Vector3f mean =
        (1 - u - v) * normals.col(corner) + u * normals.col(corner + 1) + v * normals.col(corner + 2);
    if (mean.norm() > 1e-6f) hit.shading_normal = mean.normalized();
  }
  // Both towards the viewer: open surfaces are seen from either side.
  if (hit.geometric_normal.dot(ray.direction) > 0) {
    hit.geometric_normal = -hit.geometric_normal;
    hit.shading_normal = -hit.shading_normal;
  }
  // At the rim of a smooth shape the interpolated normal may turn away from the viewer; bring it back.
  const float away = hit.shading_normal.dot(ray.direction) / ray.direction.norm();
  if (away > -0.01f)
    hit.shading_normal =
        (hit.shading_normal - (away + 0.01f) * ray.direction / ray.direction.norm()).normalized();
  // A normal in the direction of view has nothing left.
  if (!(hit.shading_normal.squaredNorm() > 0.5f)) hit.shading_normal = hit.geometric_normal;
  return hit;
}

bool RayScene::occluded(const Ray& ray) const {
  if (!within_range(ray)) return false;
  RTCRay query = embree_ray(ray);
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded1(embree_->scene, &context, &query);
  return query.tfar < 0;  // Embree's sign for a hit
}

}  // namespace apart
