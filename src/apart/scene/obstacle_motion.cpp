#include <apart/geometry/aabb.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/obstacle_motion.hpp>

#include <cmath>

namespace apart {

namespace {

constexpr double most_sequence_bytes = 4e9;

/// "frames/{}.obj" with a number put in.
std::string numbered(const SequenceDescription& sequence, int number) {
  const std::string& text = sequence.files;
  const std::size_t at = text.find("{}");
  if (at == std::string::npos || text.find("{}", at + 1) != std::string::npos)
    sequence.place["files"].fail(
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

Motion sequence_motion(const SequenceDescription& sequence, const Mesh& mesh,
                       FunctionRef<Mesh(const std::string&)> load) {
  const double numbers = double(sequence.count) * double(mesh.points.size());
  if (numbers * sizeof(double) > most_sequence_bytes)
    sequence.place["count"].fail(
        "got {}, which makes {:.2g} numbers to keep; use fewer files or a coarser mesh", sequence.count,
        numbers);
  // The files follow the mesh, which is the first of the sequence, or repeat it.
  std::vector<Matrix3X> frames = {mesh.points};
  const Place place = sequence.place["files"];
  for (int k = 0; k < sequence.count; ++k) {
    const std::string file = numbered(sequence, sequence.first + k);
    const Mesh frame = place.locate([&] { return load(file); });
    if (!same_cells(frame, mesh))
      place.fail("{}: has {} points, or cells, other than the body's mesh with {} points; all must be alike",
                 file, frame.point_count(), mesh.point_count());
    frames.push_back(frame.points);
  }
  if ((frames[1] - frames[0]).cwiseAbs().maxCoeff() <= 1e-9 * bounding_box(mesh.points).diagonal())
    frames.erase(frames.begin());
  const double dt = sequence.dt;
  return [frames, dt](const Matrix3X&, double time) -> Matrix3X {
    const double at = time / dt, last = double(frames.size() - 1);
    if (at >= last) return frames.back();
    const auto k = std::size_t(at);
    const double s = at - double(k);
    return (1 - s) * frames[k] + s * frames[k + 1];
  };
}

}  // namespace

Motion obstacle_motion(const ObstacleDescription& body, const Mesh& mesh, const Clock& clock,
                       FunctionRef<Mesh(const std::string& file)> load) {
  if (body.sequence) {
    if (body.motion) body.place["sequence"].fail("cannot be combined with a motion; keep one of the two");
    return sequence_motion(*body.sequence, mesh, load);
  }
  if (!body.motion) return {};
  const Motion motion = make_motion(*body.motion, bounding_box(mesh.points).centre());
  check_motion(place_of(*body.motion), motion, mesh.points, clock);
  return motion;
}

Motion half_space_motion(const HalfSpaceDescription& body, const Clock& clock) {
  if (!body.motion) return {};
  const auto refuse_turn = [](const Place& place) {
    place["rotate"].fail(
        "turns a half-space, which reaches to infinity; move it only, or use a turning obstacle");
  };
  if (const auto* formulas = std::get_if<FormulaMotion>(&*body.motion); formulas && formulas->rotate)
    refuse_turn(formulas->place);
  if (const auto* poses = std::get_if<KeyframeMotion>(&*body.motion))
    for (const KeyframeDescription& key : poses->keyframes)
      if (const auto* angles = std::get_if<Vector3>(&key.rotate); !angles || !angles->isZero(0))
        refuse_turn(key.place);
  const Motion motion = make_motion(*body.motion, body.origin);
  check_motion(place_of(*body.motion), motion, body.origin, clock);
  return motion;
}

}  // namespace apart
