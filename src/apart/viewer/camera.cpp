#include <apart/core/disjoint_sets.hpp>
#include <apart/viewer/camera.hpp>
#include <apart/viewer/ray_scene.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <span>

namespace apart {

namespace {

using Box = Eigen::AlignedBox3d;

bool is_obstacle(const FrameBody& body) {
  return body.kind == "obstacle" || body.kind == "half_space";
}

/// Connected points of simulated bodies that are there: a body, a grain, a loose segment.
struct Piece {
  Vector3 sum = Vector3::Zero();
  double count = 0;
  Box extent;
  bool touches = false;  ///< something, or the frame does not say

  Vector3 centre() const { return sum / count; }
};

class Pieces {
 public:
  explicit Pieces(const Frame& frame) : name_(names_of(frame.mesh)), matters_(name_.size(), true) {
    std::vector<char> absent(frame.bodies.size(), false);
    for (const int b : frame.absent) absent[std::size_t(b)] = true;
    for (Index i = 0; i < frame.mesh.point_count(); ++i) {
      const auto body = std::size_t(frame.point_body[i]);
      if (absent[body]) matters_[std::size_t(i)] = false;
      if (absent[body] || is_obstacle(frame.bodies[body])) continue;
      Piece& own = pieces_[name_[std::size_t(i)]];
      const Vector3 x = frame.mesh.points.col(i);
      own.sum += x;
      ++own.count;
      own.extent.extend(x);
      own.touches |= frame.contact_force.size() == 0 || !frame.contact_force.col(i).isZero(0);
    }
    leave_out_strays();
  }

  const std::map<Index, Piece>& all() const { return pieces_; }
  /// Whether each point of the frame matters to the camera: not those of absent bodies, and not those of the
  /// few pieces of many that have strayed far from all others.
  const std::vector<char>& matters() const { return matters_; }
  /// Leaves out pieces as well that are on their way in free flight: touching nothing, and farther from where
  /// they will be in the end than they are large.
  void leave_out_flights(const Pieces& end) {
    leave_out([&](Index name, const Piece& piece) {
      const auto last = end.pieces_.find(name);
      return !piece.touches && last != end.pieces_.end() &&
             (piece.centre() - last->second.centre()).norm() > last->second.extent.diagonal().norm();
    });
  }

  /// Of the last frame: leaves out pieces as well that fly away, from where they have touched something, or,
  /// if no frame shows that, faster than can be followed. Returns whether any piece stays.
  bool leave_out_departures(std::span<const Pieces> earlier) {
    std::size_t gone = 0;
    leave_out([&](Index name, const Piece& piece) {
      if (piece.touches || earlier.empty()) return false;
      const Piece* from = nullptr;
      for (const Pieces& frame : earlier)
        if (const auto then = frame.pieces_.find(name);
            then != frame.pieces_.end() && (then->second.touches || &frame == &earlier.back()))
          if (!from || !from->touches || then->second.touches) from = &then->second;
      const bool departs =
          from && (piece.centre() - from->centre()).norm() > 3 * piece.extent.diagonal().norm();
      gone += departs;
      return departs;
    });
    return gone < pieces_.size();
  }

 private:
  static std::vector<Index> names_of(const Mesh& mesh) {
    DisjointSets sets(mesh.point_count());
    const auto join = [&](const auto& cells) {
      for (Eigen::Index c = 0; c < cells.cols(); ++c)
        for (Eigen::Index k = 1; k < cells.rows(); ++k) sets.join(cells(0, c), cells(k, c));
    };
    join(mesh.tetrahedra);
    join(mesh.faces);
    join(mesh.edges);
    for (const CurvedCells& cells : mesh.curved) join(cells.points);
    return std::move(sets).names();
  }

  template <class Rule>
  void leave_out(const Rule& rule) {
    std::set<Index> gone;
    for (const auto& [name, piece] : pieces_)
      if (rule(name, piece)) gone.insert(name);
    for (std::size_t i = 0; i < name_.size(); ++i)
      if (gone.contains(name_[i])) matters_[i] = false;
  }

  void leave_out_strays() {
    constexpr std::size_t many = 30;
    constexpr double usual = 0.97;  // of the pieces
    constexpr double far = 1.5;     // times the distance of the usual ones
    if (pieces_.size() < many) return;
    Vector3 middle;
    for (int k = 0; k < 3; ++k) {
      std::vector<double> coordinates;
      for (const auto& [name, piece] : pieces_) coordinates.push_back(piece.centre()[k]);
      const auto median = coordinates.begin() + std::ptrdiff_t(coordinates.size() / 2);
      std::nth_element(coordinates.begin(), median, coordinates.end());
      middle[k] = *median;
    }
    std::vector<double> distances;
    for (const auto& [name, piece] : pieces_) distances.push_back((piece.centre() - middle).norm());
    std::sort(distances.begin(), distances.end());
    const double limit = far * distances[std::size_t(usual * double(distances.size() - 1))];
    leave_out([&](Index, const Piece& piece) { return (piece.centre() - middle).norm() > limit; });
  }

  std::vector<Index> name_;  ///< of the piece of each point
  std::vector<char> matters_;
  std::map<Index, Piece> pieces_;
};

/// The points that should be in the picture, of those that matter.
std::vector<Vector3> points_of_interest(const Frame& frame, const std::vector<char>& matters) {
  const Mesh& mesh = frame.mesh;
  const std::size_t bodies = frame.bodies.size();
  std::vector<Box> extent(bodies);
  for (Index i = 0; i < mesh.point_count(); ++i)
    if (matters[std::size_t(i)]) extent[std::size_t(frame.point_body[i])].extend(Vector3(mesh.points.col(i)));
  Box simulated, all;
  for (std::size_t b = 0; b < bodies; ++b) {
    all.extend(extent[b]);
    if (!is_obstacle(frame.bodies[b])) simulated.extend(extent[b]);
  }
  const bool only_obstacles = simulated.isEmpty();
  if (only_obstacles) simulated = all;
  // Obstacles count as a whole if they are of the bodies' size, else as far as they are near.
  Box near = simulated;
  if (!near.isEmpty()) {
    const double margin = 0.4 * simulated.diagonal().norm();
    near.min().array() -= margin;
    near.max().array() += margin;
  }
  std::vector<char> whole(bodies);
  for (std::size_t b = 0; b < bodies; ++b)
    whole[b] = !extent[b].isEmpty() && (!is_obstacle(frame.bodies[b]) ||
                                        extent[b].diagonal().norm() <= 2.5 * simulated.diagonal().norm());
  std::vector<Vector3> points;
  for (Index i = 0; i < mesh.point_count(); ++i) {
    const Vector3 x = mesh.points.col(i);
    if (!matters[std::size_t(i)]) continue;
    if (whole[std::size_t(frame.point_body[i])] || near.contains(x)) points.push_back(x);
  }
  // The ground under the bodies, if they are near it: it shows where they stand.
  if (!simulated.isEmpty())
    for (const HalfSpace& plane : frame.half_spaces)
      for (int k = 0; k < 8; ++k) {
        const Vector3 corner = simulated.corner(Box::CornerType(k));
        const Vector3 wide = simulated.center() + 1.2 * (corner - simulated.center());
        const double height = plane.normal.dot(wide - plane.origin_at(frame.mesh.points));
        if (height < 0.6 * simulated.diagonal().norm()) points.push_back(wide - height * plane.normal);
      }
  if (points.empty())  // half-spaces only
    for (int k = 0; k < 8; ++k)
      points.push_back(Vector3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5) +
                       (frame.half_spaces.empty() ? Vector3::Zero().eval()
                                                  : frame.half_spaces[0].origin_at(frame.mesh.points)));
  return points;
}

/// The axis that looks like up: that of the first half-space, else y.
Vector3 up_direction(const Frame& frame) {
  if (frame.half_spaces.empty()) return Vector3::UnitY();
  const Vector3& n = frame.half_spaces[0].normal;
  int axis = 1;
  for (int k : {0, 2})
    if (std::abs(n[k]) > std::abs(n[axis]) + 1e-9) axis = k;
  return std::copysign(1.0, n[axis]) * Vector3::Unit(axis);
}

/// From the target to the eye.
Vector3 view_direction(const Vector3& up, double azimuth, double elevation) {
  constexpr double degree = std::numbers::pi / 180;
  int axis;
  up.cwiseAbs().maxCoeff(&axis);
  const Vector3 front = Vector3::Unit((axis + 1) % 3), side = up.cross(front);
  // For up = y: front is z and side is x, so that the picture has x to the right.
  return std::cos(elevation * degree) *
             (std::cos(azimuth * degree) * front + std::sin(azimuth * degree) * side) +
         std::sin(elevation * degree) * up;
}

/// A camera in direction `d` from the points, as near as possible with all of them in the picture.
Camera fitted(const std::vector<Vector3>& points, const Vector3& d, const Vector3& up, double aspect) {
  Camera camera;
  camera.up = up;
  const Vector3 right = up.cross(d).normalized(), above = d.cross(right);
  const double tan_y = std::tan(camera.field_of_view * std::numbers::pi / 360) * 0.88, tan_x = tan_y * aspect;
  Box box;
  for (const Vector3& p : points) box.extend(p);
  camera.scene_size = std::max(box.diagonal().norm(), 1e-9);
  camera.target = box.center();
  double distance = camera.scene_size;
  // The middle of the picture of a perspective view depends on the distance: repeat until both agree.
  for (int round = 0; round < 12; ++round) {
    distance = 0.05 * camera.scene_size;
    for (const Vector3& p : points) {
      const Vector3 r = p - camera.target;
      distance = std::max(
          {distance, r.dot(d) + std::abs(r.dot(right)) / tan_x, r.dot(d) + std::abs(r.dot(above)) / tan_y});
    }
    double left = 1e300, bottom = 1e300, rightmost = -1e300, top = -1e300;
    for (const Vector3& p : points) {
      const Vector3 r = p - camera.target;
      const double depth = std::max(distance - r.dot(d), 1e-6 * camera.scene_size);
      left = std::min(left, r.dot(right) / depth);
      rightmost = std::max(rightmost, r.dot(right) / depth);
      bottom = std::min(bottom, r.dot(above) / depth);
      top = std::max(top, r.dot(above) / depth);
    }
    camera.target += 0.5 * distance * ((left + rightmost) * right + (bottom + top) * above);
  }
  camera.eye = camera.target + distance * d;
  return camera;
}

/// The share of the simulated points that obstacles hide from the eye.
double hidden_share(const Frame& frame, const Camera& camera) {
  const Normalization normalization{camera.target, camera.scene_size};
  const std::vector<Shape> shapes = shapes_of(frame, normalization);
  std::vector<const Shape*> obstacles;
  for (const Shape& shape : shapes)
    if (shape.obstacle) obstacles.push_back(&shape);
  const RayScene scene(obstacles);
  if (scene.empty()) return 0;
  const Vector3f eye = normalization(camera.eye);
  Index tested = 0, hidden = 0;
  const Index stride = std::max<Index>(1, frame.mesh.point_count() / 2000);
  for (Index i = 0; i < frame.mesh.point_count(); i += stride) {
    if (is_obstacle(frame.bodies[std::size_t(frame.point_body[i])])) continue;
    ++tested;
    const Vector3f p = normalization(frame.mesh.points.col(i));
    hidden += scene.occluded({eye, p - eye, 0.0f, 0.999f});
  }
  return tested == 0 ? 0 : double(hidden) / tested;
}

Camera fitted_camera(const Frame& frame, const std::vector<char>& matters, double aspect) {
  const std::vector<Vector3> points = points_of_interest(frame, matters);
  const Vector3 up = up_direction(frame);
  const auto simulated = [](const FrameBody& body) { return !is_obstacle(body); };
  const bool flat = std::ranges::any_of(frame.bodies, simulated) &&
                    std::ranges::all_of(frame.bodies, [&](const FrameBody& body) {
                      return !simulated(body) || body.is_planar();
                    });
  if (flat)  // from the front; a ground is seen from a little above
    return fitted(points, view_direction(Vector3::UnitY(), 0, frame.half_spaces.empty() ? 0 : 10),
                  Vector3::UnitY(), aspect);
  // The first direction that sees the outer side of every half-space.
  double azimuth = 30;
  for (double candidate : {30.0, -30.0, 150.0, -150.0, 75.0, -75.0, 105.0, -105.0}) {
    const Vector3 d = view_direction(up, candidate, 24);
    const Vector3 eye = fitted(points, d, up, aspect).eye;
    if (std::all_of(frame.half_spaces.begin(), frame.half_spaces.end(), [&](const HalfSpace& plane) {
          return plane.normal.dot(d) > 0.15 && plane.normal.dot(eye - plane.origin_at(frame.mesh.points)) > 0;
        })) {
      azimuth = candidate;
      break;
    }
  }
  Camera camera;
  for (double elevation : {24.0, 34.0, 44.0}) {
    camera = fitted(points, view_direction(up, azimuth, elevation), up, aspect);
    if (hidden_share(frame, camera) < 0.3) break;
  }
  return camera;
}

}  // namespace

Camera automatic_camera(const Frame& frame, double aspect) {
  return fitted_camera(frame, Pieces(frame).matters(), aspect);
}

Camera automatic_camera(std::span<const Frame> frames, double aspect) {
  // One frame with all the points: the cells of the last, in which bodies have come to where obstacles may
  // hide them, and points without cells for the others.
  Frame all = frames.back();
  Pieces end(all);
  std::vector<Pieces> earlier;
  // Whether the points behind those of the last frame matter, and whether they would if none of them flew.
  std::vector<char> more, more_with_flights;
  for (const Frame& frame : frames.first(frames.size() - 1)) {
    Pieces pieces(frame);
    const bool same = frame.topology == all.topology;
    const std::vector<char> with_flights = pieces.matters();
    if (same) pieces.leave_out_flights(end);
    std::vector<int> kept;
    for (int p = 0; p < frame.mesh.point_count(); ++p)
      if (frame.point_body[p] < int(all.bodies.size()) && with_flights[std::size_t(p)]) {
        kept.push_back(p);
        more.push_back(pieces.matters()[std::size_t(p)]);
      }
    more_with_flights.insert(more_with_flights.end(), kept.size(), true);
    const Eigen::Index old = all.mesh.points.cols();
    all.mesh.points.conservativeResize(3, old + Eigen::Index(kept.size()));
    all.point_body.conservativeResize(old + Eigen::Index(kept.size()));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      all.mesh.points.col(old + Eigen::Index(i)) = frame.mesh.points.col(kept[i]);
      all.point_body[old + Eigen::Index(i)] = frame.point_body[kept[i]];
    }
    if (same) earlier.push_back(std::move(pieces));
  }
  const auto camera = [&](const std::vector<char>& before) {
    std::vector<char> matters = end.matters();
    matters.insert(matters.end(), before.begin(), before.end());
    return fitted_camera(all, matters, aspect);
  };
  Camera chosen = camera(more), with_flights = camera(more_with_flights);
  // What flies away after the event may leave the picture, if the event would be small otherwise.
  constexpr double small = 2.5;
  if (end.leave_out_departures(earlier))
    if (const Camera near = camera(more); chosen.scene_size > small * near.scene_size) {
      chosen = near;
      with_flights = camera(more_with_flights);
    }
  // What flies to where it comes to rest is shown from its start, if the rest is hardly smaller then.
  constexpr double hardly_smaller = 1.25;
  const auto distance = [](const Camera& c) { return (c.eye - c.target).norm(); };
  return distance(with_flights) <= hardly_smaller * distance(chosen) ? with_flights : chosen;
}

}  // namespace apart
