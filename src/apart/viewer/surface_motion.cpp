#include <apart/core/error.hpp>
#include <apart/viewer/camera.hpp>
#include <apart/viewer/surface_motion.hpp>

#include <algorithm>

namespace apart {

bool MovingBody::always_present() const {
  return std::find(present.begin(), present.end(), char(false)) == present.end();
}

namespace {

/// Sums and differences of a few coordinates up to here stay within single precision.
constexpr double largest_coordinate = 1e37;  // [m]

void check_coordinates(const Frame& frame, const std::filesystem::path& file) {
  const auto holds = [](const auto& x) { return (x.array().abs() <= largest_coordinate).all(); };
  const auto refuse = [&](int body, const Vector3& x) {
    throw InputError(
        "{}: body '{}' has a point at ({:.3g}, {:.3g}, {:.3g}) m, which the single precision of this format "
        "cannot "
        "hold; export earlier frames with --last, or export as obj, ply or vtu",
        file.string(), frame.bodies[std::size_t(body)].name, x[0], x[1], x[2]);
  };
  for (Index i = 0; i < frame.mesh.point_count(); ++i)
    if (!holds(frame.mesh.points.col(i))) refuse(frame.point_body[i], frame.mesh.points.col(i));
  for (const HalfSpace& plane : frame.half_spaces)
    if (!holds(plane.origin)) refuse(plane.body, plane.origin);
}

/// The part of a half-space's plane that is shown: a square around the point next to the middle of the scene.
/// It moves as the plane does.
struct Square {
  HalfSpace plane;  ///< in the first frame
  Vector3 start;    ///< [m] the plane's origin in the first frame
  Matrix3X corners;

  Square(const HalfSpace& half_space, const Frame& first, const Vector3& middle, double size)
      : plane(half_space), start(plane.origin_at(first.mesh.points)), corners(3, 4) {
    const Vector3 side = plane.normal.unitOrthogonal(), other = plane.normal.cross(side);
    const Vector3 foot = middle - plane.normal * plane.normal.dot(middle - start);
    for (int k = 0; k < 4; ++k)
      corners.col(k) = foot + 4 * size * ((k == 0 || k == 3 ? -1 : 1) * side + (k < 2 ? -1 : 1) * other);
  }
  bool is_of(const HalfSpace& now) const {
    return now.body == plane.body && now.carrier == plane.carrier && now.normal == plane.normal;
  }
  Matrix3X at(const HalfSpace& now, const Frame& frame) const {
    return corners.colwise() + (now.origin_at(frame.mesh.points) - start);
  }
};

template <class Cells>
void append(Cells& cells, const Cells& more) {
  Cells both(cells.rows(), cells.cols() + more.cols());
  both << cells, more;
  cells = std::move(both);
}

/// Collects the motion frame by frame.
class MotionCollector {
 public:
  explicit MotionCollector(const PolygonsOfBodies& polygons) : polygons_(polygons) {}

  void add(const Frame& frame, const std::filesystem::path& file) {
    check_coordinates(frame, file);
    if (motion_.times.empty())
      begin(frame);
    else if (!fits(frame))
      throw InputError(
          "{}: has other bodies or cells than the first frame, which this format cannot represent; export as "
          "obj, ply or vtu",
          file.string());
    motion_.times.push_back(frame.time);
    for (std::size_t b = 0; b < motion_.bodies.size(); ++b) {
      MovingBody& body = motion_.bodies[b];
      Matrix3Xf x(3, Index(points_[b].size()));
      for (Index i = 0; i < x.cols(); ++i)
        x.col(i) = (frame.mesh.points.col(points_[b][std::size_t(i)]) - motion_.origin).cast<float>();
      for (std::size_t h = 0; h < squares_.size(); ++h)
        if (squares_[h].plane.body == int(b))
          append(x,
                 Matrix3Xf(
                     (squares_[h].at(frame.half_spaces[h], frame).colwise() - motion_.origin).cast<float>()));
      body.points.push_back(std::move(x));
      body.present.push_back(std::find(frame.absent.begin(), frame.absent.end(), int(b)) ==
                             frame.absent.end());
    }
  }

  /// Without what is not drawn; bodies that never move have one state.
  SurfaceMotion finish() {
    for (MovingBody& body : motion_.bodies)
      if (std::all_of(body.points.begin(), body.points.end(),
                      [&](const Matrix3Xf& x) { return x == body.points.front(); }))
        body.points.resize(1);
    std::erase_if(motion_.bodies, [](const MovingBody& b) {
      return b.triangles.cols() + b.segments.cols() + b.balls.size() == 0;
    });
    return std::move(motion_);
  }

 private:
  void begin(const Frame& frame) {
    key_ = topology_key(frame);
    const DrawnSurface surface = drawn_surface(frame);
    motion_.up = automatic_camera(frame, 1).up;
    motion_.origin.setZero();
    if (frame.mesh.point_count() > 0) {
      const Vector3 low = frame.mesh.points.rowwise().minCoeff(),
                    high = frame.mesh.points.rowwise().maxCoeff();
      motion_.origin = 0.5 * (low + high);
      motion_.size = std::max(1e-9, (high - low).norm());
    }
    points_.resize(frame.bodies.size());
    std::vector<int> local(std::size_t(surface.points.size()));
    const auto body_of = [&](int p) { return std::size_t(frame.point_body[surface.points[p]]); };
    for (int p = 0; p < surface.points.size(); ++p) {
      local[std::size_t(p)] = int(points_[body_of(p)].size());
      points_[body_of(p)].push_back(surface.points[p]);
    }
    const std::vector<Vector3f> colours = body_colours(frame);
    for (std::size_t b = 0; b < frame.bodies.size(); ++b) {
      MovingBody body;
      body.name = frame.bodies[b].name;
      body.kind = frame.bodies[b].kind;
      body.body = int(b);
      body.thickness = drawn_thickness(frame, int(b));
      body.colour = colours[b];
      motion_.bodies.push_back(std::move(body));
    }
    const auto distribute = [&](const auto& cells, auto member) {
      std::vector<Index> count(frame.bodies.size(), 0);
      for (Index c = 0; c < cells.cols(); ++c) ++count[body_of(cells(0, c))];
      for (std::size_t b = 0; b < count.size(); ++b) member(motion_.bodies[b]).resize(cells.rows(), count[b]);
      std::fill(count.begin(), count.end(), 0);
      for (Index c = 0; c < cells.cols(); ++c) {
        const std::size_t b = body_of(cells(0, c));
        for (Index k = 0; k < cells.rows(); ++k)
          member(motion_.bodies[b])(k, count[b]) = local[std::size_t(cells(k, c))];
        ++count[b];
      }
    };
    distribute(surface.triangles, [](MovingBody& b) -> Faces& { return b.triangles; });
    distribute(surface.segments, [](MovingBody& b) -> Edges& { return b.segments; });
    std::vector<std::vector<int>> balls(frame.bodies.size());
    for (const int p : surface.balls) balls[body_of(p)].push_back(local[std::size_t(p)]);
    for (std::size_t b = 0; b < balls.size(); ++b)
      motion_.bodies[b].balls = Eigen::VectorXi::Map(balls[b].data(), Eigen::Index(balls[b].size()));
    std::vector<int> corner_count(frame.bodies.size(), 0);
    for (const HalfSpace& plane : frame.half_spaces) {
      squares_.emplace_back(plane, frame, motion_.origin, motion_.size);
      const auto b = std::size_t(plane.body);
      const int first = int(points_[b].size()) + corner_count[b];
      Faces two(3, 2);
      two << first, first, first + 1, first + 2, first + 2, first + 3;
      append(motion_.bodies[b].triangles, two);
      corner_count[b] += 4;
    }
    for (std::size_t b = 0; b < motion_.bodies.size(); ++b) {
      MovingBody& body = motion_.bodies[b];
      const auto given = polygons_.find(int(b));
      if (given == polygons_.end() || frame.topology != 0) {
        body.polygons = polygons_of(body.triangles);
        continue;
      }
      body.polygons = given->second;
      std::map<int, int> number;
      for (std::size_t i = 0; i < points_[b].size(); ++i) number[points_[b][i]] = int(i);
      for (int& corner : body.polygons.corners) corner = number.at(corner);
    }
  }

  bool fits(const Frame& frame) const {
    return topology_key(frame) == key_ &&
           std::equal(squares_.begin(), squares_.end(), frame.half_spaces.begin(), frame.half_spaces.end(),
                      [](const Square& square, const HalfSpace& now) { return square.is_of(now); });
  }

  const PolygonsOfBodies& polygons_;
  SurfaceMotion motion_;
  std::vector<std::vector<int>> points_;  ///< of each body, in the frame
  std::vector<Square> squares_;           ///< of each half-space
  std::uint64_t key_ = 0;                 ///< topology_key of the first frame
};

}  // namespace

SurfaceMotion read_motion(const std::vector<std::filesystem::path>& frames, const FrameProgress& progress,
                          ShownSurface surface, const PolygonsOfBodies& polygons) {
  MotionCollector collector(polygons);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    collector.add(shown_frame(read_frame(frames[f]), surface), frames[f]);
    if (progress && !progress(Index(f) + 1, Index(frames.size()))) throw ExportStopped();
  }
  return collector.finish();
}

}  // namespace apart
