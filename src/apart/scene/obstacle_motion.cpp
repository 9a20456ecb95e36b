#include <apart/geometry/aabb.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/obstacle_motion.hpp>

#include <cmath>

namespace apart {

namespace {

constexpr double most_sequence_bytes = 4e9;

/// "frames/{}.obj" with a number put in.
std::string numbered(const LocatedJson& pattern, int number) {
  const std::string& text = pattern.text();
  const std::size_t at = text.find("{}");
  if (at == std::string::npos || text.find("{}", at + 1) != std::string::npos)
    pattern.fail(
        "got \"{}\", must have {{}} once, where the number of the file stands; such as \"frames/{{}}.obj\"",
        text);
  return text.substr(0, at) + std::to_string(number) + text.substr(at + 2);
}

bool same_cells(const Mesh& a, const Mesh& b) {
  const auto same = [](const auto& m, const auto& n) {
    return m.cols() == n.cols() && (m.array() == n.array()).all();
  };
  return a.point_count() == b.point_count() && same(a.faces, b.faces) && same(a.edges, b.edges);
}

Motion read_sequence(const LocatedJson& v, const Mesh& mesh, FunctionRef<Mesh(const std::string&)> load) {
  const int first = v["first"].integer(), count = v["count"].integer();
  if (double(count) * double(mesh.points.size()) * sizeof(double) > most_sequence_bytes)
    v["count"].fail("got {}, which makes {:.2g} numbers to keep; use fewer files or a coarser mesh", count,
                    double(count) * double(mesh.points.size()));
  // The files follow the mesh, which is the first of the sequence, or repeat it.
  std::vector<Matrix3X> frames = {mesh.points};
  for (int k = 0; k < count; ++k) {
    const std::string file = numbered(v["files"], first + k);
    const Mesh frame = v["files"].locate([&] { return load(file); });
    if (!same_cells(frame, mesh))
      v["files"].fail(
          "{}: has {} points, or cells, other than the body's mesh with {} points; all must be alike", file,
          frame.point_count(), mesh.point_count());
    frames.push_back(frame.points);
  }
  if ((frames[1] - frames[0]).cwiseAbs().maxCoeff() <= 1e-9 * bounding_box(mesh.points).diagonal())
    frames.erase(frames.begin());
  const double dt = v["dt"].number();
  return [frames, dt](const Matrix3X&, double time) -> Matrix3X {
    const double at = time / dt, last = double(frames.size() - 1);
    if (at >= last) return frames.back();
    const auto k = std::size_t(at);
    const double s = at - double(k);
    return (1 - s) * frames[k] + s * frames[k + 1];
  };
}

}  // namespace

Motion read_obstacle_motion(const LocatedJson& body, const Mesh& mesh, const Clock& clock,
                            FunctionRef<Mesh(const std::string& file)> load) {
  if (body.has("sequence")) {
    if (body.has("motion")) body["sequence"].fail("cannot be combined with a motion; keep one of the two");
    return read_sequence(body["sequence"], mesh, load);
  }
  if (!body.has("motion")) return {};
  const Motion motion = read_motion(body["motion"], bounding_box(mesh.points).centre());
  check_motion(body["motion"], motion, mesh.points, clock);
  return motion;
}

Motion read_half_space_motion(const LocatedJson& body, const Vector3& origin, const Clock& clock) {
  if (!body.has("motion")) return {};
  const LocatedJson v = body["motion"];
  const auto refuse_turn = [](const LocatedJson& rotate) {
    rotate.fail("turns a half-space, which reaches to infinity; move it only, or use a turning obstacle");
  };
  if (v.has("rotate")) refuse_turn(v["rotate"]);
  for (const LocatedJson& key : v.has("keyframes") ? v["keyframes"].items() : std::vector<LocatedJson>())
    if (key["rotate"].has("axis") || !key["rotate"].vector().isZero(0)) refuse_turn(key["rotate"]);
  const Motion motion = read_motion(v, origin);
  check_motion(v, motion, origin, clock);
  return motion;
}

}  // namespace apart
