// Run directories made by hand, for the certificate to judge.
#pragma once

#include <gtest/gtest.h>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/verify/certificate.hpp>
#include <verify/run_fixture.hpp>

namespace apart::test {

using namespace verify;

namespace fs = std::filesystem;

/// Writes frames, and the iterates of the steps between them if asked, to a new run directory.
class WrittenRun {
 public:
  explicit WrittenRun(const std::vector<Frame>& frames) {
    FrameWriter writer(directory_.path());
    for (const Frame& frame : frames) writer.write(frame);
  }
  void iterates(Index step, std::vector<Matrix3X> points) {
    write_iterates(directory_.path(), {step, std::move(points)});
  }
  Certificate certify() const { return apart::certify(directory_.path()); }
  fs::path path() const { return directory_.path(); }
  fs::path frame(int i) const { return path() / "frames" / fmt::format("frame_{:06}.vtu", i); }

 private:
  TemporaryDirectory directory_;
};

inline std::vector<Frame> good_frames(const RunFixture& run) {
  return {run.sunk(0, 0), run.sunk(0.1, 0.2), run.sunk(0.2, 0.4)};
}

inline std::string kinds(const Certificate& c) {
  std::set<std::string_view> names;
  for (const Finding& f : c.violations) names.insert(finding_names[std::size_t(f.kind)]);
  return fmt::format("{}", fmt::join(names, " "));
}

struct RecordedRun {
  RunFixture fixture;
  std::vector<Frame> frames = good_frames(fixture);
  /// States of each step, the one before it first; two iterates each.
  std::vector<std::vector<Matrix3X>> steps;
  RecordedRun() {
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
      const Matrix3X &from = frames[i].mesh.points, &to = frames[i + 1].mesh.points;
      steps.push_back({from, 0.5 * (from + to), to});
    }
  }
  Certificate certify(Index first_step = 1) const {
    WrittenRun written(frames);
    for (std::size_t i = 0; i < steps.size(); ++i) written.iterates(first_step + Index(i), steps[i]);
    return written.certify();
  }
};

/// Two chains of one body, of segments of a tenth, a ball and a half-space, with thickness.
struct ThickRun : FrameBuilder {
  static constexpr int rods = 0, ball = 1, ground = 2;
  ThickRun() {
    Mesh mesh;
    const Mesh line = generate::segments(1, 10);
    mesh.points.resize(3, 22);
    mesh.points << line.points, line.points.colwise() + Vector3(0, 1, 0);
    mesh.edges.resize(2, 20);
    mesh.edges << line.edges, line.edges.array() + 11;
    add({"rods", "rod"}, mesh, {0, 1, 0});
    add({"ball", "particles"}, generate::points({1, 1, 1}, 1), {0, 3, 0});
    add_half_space("ground", Vector3::Zero(), Vector3::UnitY());
    frame.thickness = {0.3, 0.5, 0};
    frame.self_reach = {0.35, 0.55, 0.05};
  }
  /// The first frame, and one with point i moved.
  Certificate with_moved(Index i, const Vector3& by) const {
    Frame next = frame;
    next.time = 1;
    next.mesh.points.col(i) += by;
    return WrittenRun({frame, next}).certify();
  }
};

}  // namespace apart::test
