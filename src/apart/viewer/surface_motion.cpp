#include <apart/core/error.hpp>
#include <apart/viewer/camera.hpp>
#include <apart/viewer/surface_motion.hpp>

#include <algorithm>

namespace apart {

bool MovingBody::always_present() const {
  return std::find(present.begin(), present.end(), char(false)) == present.end();
}

SurfaceMotion read_motion(const std::vector<std::filesystem::path>& frames, const FrameProgress& progress) {
  SurfaceMotion motion;
  std::vector<std::vector<int>> points;  // of each body, in the frame
  std::uint64_t key = 0;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const Frame frame = read_frame(frames[f]);
    if (f == 0) {
      key = topology_key(frame);
      const DrawnSurface surface = drawn_surface(frame);
      motion.up = automatic_camera(frame, 1).up;
      motion.half_spaces = frame.half_spaces;
      motion.origin.setZero();
      if (frame.mesh.point_count() > 0) {
        const Vector3 low = frame.mesh.points.rowwise().minCoeff(),
                      high = frame.mesh.points.rowwise().maxCoeff();
        motion.origin = 0.5 * (low + high);
        motion.size = std::max(1e-9, (high - low).norm());
      }
      points.resize(frame.bodies.size());
      std::vector<int> local(std::size_t(surface.points.size()));
      const auto body_of = [&](int p) { return std::size_t(frame.point_body[surface.points[p]]); };
      for (int p = 0; p < surface.points.size(); ++p) {
        local[std::size_t(p)] = int(points[body_of(p)].size());
        points[body_of(p)].push_back(surface.points[p]);
      }
      int simulated = 0;
      for (std::size_t b = 0; b < frame.bodies.size(); ++b) {
        MovingBody body;
        body.name = frame.bodies[b].name;
        body.kind = frame.bodies[b].kind;
        body.body = int(b);
        if (!frame.thickness.empty()) body.thickness = frame.thickness[b];
        const bool fixed = body.kind == "obstacle" || body.kind == "half_space";
        body.colour = fixed ? obstacle_colour() : body_colour(simulated++);
        motion.bodies.push_back(std::move(body));
      }
      const auto distribute = [&](const auto& cells, auto member) {
        std::vector<Index> count(frame.bodies.size(), 0);
        for (Index c = 0; c < cells.cols(); ++c) ++count[body_of(cells(0, c))];
        for (std::size_t b = 0; b < count.size(); ++b)
          member(motion.bodies[b]).resize(cells.rows(), count[b]);
        std::fill(count.begin(), count.end(), 0);
        for (Index c = 0; c < cells.cols(); ++c) {
          const std::size_t b = body_of(cells(0, c));
          for (Index k = 0; k < cells.rows(); ++k)
            member(motion.bodies[b])(k, count[b]) = local[std::size_t(cells(k, c))];
          ++count[b];
        }
      };
      distribute(surface.triangles, [](MovingBody& b) -> Faces& { return b.triangles; });
      distribute(surface.segments, [](MovingBody& b) -> Edges& { return b.segments; });
      std::vector<std::vector<int>> balls(frame.bodies.size());
      for (const int p : surface.balls) balls[body_of(p)].push_back(local[std::size_t(p)]);
      for (std::size_t b = 0; b < balls.size(); ++b)
        motion.bodies[b].balls = Eigen::VectorXi::Map(balls[b].data(), Eigen::Index(balls[b].size()));
    } else if (topology_key(frame) != key) {
      throw InputError(
          "{}: has other bodies or cells than the first frame, which this format cannot tell; export as obj, "
          "ply "
          "or vtu",
          frames[f].string());
    }
    motion.times.push_back(frame.time);
    for (std::size_t b = 0; b < motion.bodies.size(); ++b) {
      MovingBody& body = motion.bodies[b];
      Matrix3Xf x(3, Index(points[b].size()));
      for (Index i = 0; i < x.cols(); ++i)
        x.col(i) = (frame.mesh.points.col(points[b][std::size_t(i)]) - motion.origin).cast<float>();
      body.points.push_back(std::move(x));
      body.present.push_back(std::find(frame.absent.begin(), frame.absent.end(), int(b)) ==
                             frame.absent.end());
    }
    if (progress && !progress(Index(f) + 1, Index(frames.size()))) throw ExportStopped();
  }
  for (MovingBody& body : motion.bodies)
    if (std::all_of(body.points.begin(), body.points.end(),
                    [&](const Matrix3Xf& x) { return x == body.points.front(); }))
      body.points.resize(1);
  std::erase_if(motion.bodies, [](const MovingBody& b) {
    return b.triangles.cols() + b.segments.cols() + b.balls.size() == 0;
  });
  return motion;
}

}  // namespace apart
