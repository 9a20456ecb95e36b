// Where a mesh changes its surface must stay the same to the last bit, and the ways there are proven.
#include <apart/geometry/generators.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/verify/certificate.hpp>
#include <support/frame_builder.hpp>
#include <support/temporary_directory.hpp>

#include <gtest/gtest.h>

#include <set>

namespace apart::test {
namespace {

using verify::FindingKind;

/// The mesh with the midpoint of an edge as its last point.
Mesh split_edge(const Mesh& mesh, int a, int b) {
  Mesh result = mesh;
  const int m = mesh.point_count();
  result.points.conservativeResize(3, m + 1);
  result.points.col(m) = 0.5 * (mesh.points.col(a) + mesh.points.col(b));
  std::vector<Eigen::Vector4i> cells;
  for (Eigen::Vector4i cell : mesh.tetrahedra.colwise()) {
    if (!(cell.array() == a).any() || !(cell.array() == b).any()) {
      cells.push_back(cell);
      continue;
    }
    for (const int end : {a, b}) {
      cells.push_back(cell);
      for (int& p : cells.back()) p = p == end ? m : p;
    }
  }
  result.tetrahedra.resize(4, Index(cells.size()));
  for (std::size_t c = 0; c < cells.size(); ++c) result.tetrahedra.col(Index(c)) = cells[c];
  return result;
}

/// A particle above a box, the diagonal of whose upper side can be split.
struct ChangedRun {
  explicit ChangedRun(const Vector3& particle) : coarse(generate::box({1, 1, 1}, {1, 1, 1})) {
    for (int i = 0; i < coarse.point_count(); ++i)
      for (int j = i + 1; j < coarse.point_count(); ++j)
        for (const auto& cell : coarse.tetrahedra.colwise())
          if (coarse.points(1, i) > 0 && coarse.points(1, j) > 0 && (cell.array() == i).any() &&
              (cell.array() == j).any() && (coarse.points.col(i) - coarse.points.col(j)).norm() > 1.4)
            a = i, b = j;
    fine = split_edge(coarse, a, b);
    m = coarse.point_count();
    ball.points = particle;
    ball.vertices.resize(1);
    ball.vertices << 0;
  }
  Frame frame(const Mesh& box, Index topology, double time) const {
    FrameBuilder builder;
    builder.add({"ball", "particles"}, ball);
    builder.add({"box", "volume"}, box);
    builder.frame.topology = topology;
    builder.frame.time = time;
    return builder.frame;
  }
  /// All points, of a box whose last point, if it is the fine one, is at `middle`.
  Matrix3X places(const Mesh& box, const Vector3& middle) const {
    Matrix3X x = frame(box, 0, 0).mesh.points;
    if (box.point_count() > m) x.col(1 + m) = middle;
    return x;
  }
  Vector3 corner() const { return coarse.points.col(a); }
  Vector3 centre() const { return fine.points.col(m); }

  /// The run from one mesh to the other within its only step.
  Certificate certify(const Mesh& before, const Mesh& after, const std::vector<Matrix3X>& states,
                      const std::vector<Index>& topologies) const {
    const TemporaryDirectory directory;
    FrameWriter writer(directory.path());
    Frame first = frame(before, 0, 0), last = frame(after, 1, 1);
    first.mesh.points = states.front();
    last.mesh.points = states.back();
    writer.write(first);
    writer.write(last);
    write_iterates(directory.path(), {1, states, {}, topologies});
    return apart::certify(directory.path());
  }

  Mesh coarse, fine, ball;
  int a = -1, b = -1, m = -1;
};

std::set<FindingKind> kinds_of(const Certificate& certificate) {
  std::set<FindingKind> kinds;
  for (const verify::Finding& f : certificate.violations) kinds.insert(f.kind);
  return kinds;
}

TEST(TopologyChange, ASplitThatBeginsInAnEndOfItsEdgeIsProven) {
  const ChangedRun run({0, 1, 0});
  const Vector3 lifted = run.centre() + Vector3(0, 0.2, 0);
  const Certificate certificate =
      run.certify(run.coarse, run.fine,
                  {run.places(run.coarse, {}), run.places(run.fine, run.corner()),
                   run.places(run.fine, run.centre()), run.places(run.fine, lifted)},
                  {0, 1, 1, 1});
  EXPECT_TRUE(certificate.ok()) << summary(certificate);
  EXPECT_EQ(certificate.paths, 2);
}

TEST(TopologyChange, ACollapseThatEndsInAnEndOfItsEdgeIsProven) {
  const ChangedRun run({0, 1, 0});
  const Vector3 dented = run.centre() - Vector3(0, 0.1, 0);
  const Certificate certificate = run.certify(
      run.fine, run.coarse,
      {run.places(run.fine, dented), run.places(run.fine, run.corner()), run.places(run.coarse, {})},
      {0, 0, 1});
  EXPECT_TRUE(certificate.ok()) << summary(certificate);
}

TEST(TopologyChange, ASurfaceThatJumpsIsReported) {
  const ChangedRun run({0, 1, 0});
  const Vector3 dented = run.centre() - Vector3(0, 0.1, 0);
  EXPECT_EQ(kinds_of(run.certify(run.fine, run.coarse,
                                 {run.places(run.fine, dented), run.places(run.coarse, {})}, {0, 1})),
            std::set{FindingKind::topology});
  // By one bit.
  Vector3 beside = run.corner();
  beside.x() = std::nextafter(beside.x(), 0.0);
  EXPECT_TRUE(kinds_of(run.certify(run.fine, run.coarse,
                                   {run.places(run.fine, dented), run.places(run.fine, beside),
                                    run.places(run.coarse, {})},
                                   {0, 0, 1}))
                  .contains(FindingKind::topology));
}

TEST(TopologyChange, ACollapseThatSwallowsAParticleIsCaught) {
  // In the dent, below the upper side that the collapse leaves.
  const ChangedRun run({0.04, 0.47, 0.01});
  const Vector3 dented = run.centre() - Vector3(0, 0.1, 0);
  const Certificate certificate = run.certify(
      run.fine, run.coarse,
      {run.places(run.fine, dented), run.places(run.fine, run.corner()), run.places(run.coarse, {})},
      {0, 0, 1});
  EXPECT_TRUE(kinds_of(certificate).contains(FindingKind::path_contact)) << summary(certificate);
}

TEST(TopologyChange, APointThatStaysInAnotherIsReported) {
  const ChangedRun run({0, 1, 0});
  EXPECT_TRUE(kinds_of(run.certify(run.coarse, run.fine,
                                   {run.places(run.coarse, {}), run.places(run.fine, run.corner())}, {0, 1}))
                  .contains(FindingKind::topology));
}

TEST(TopologyChange, MergedPointsAwayFromAChangeAreNotExcused) {
  const ChangedRun run({0, 1, 0});
  const Vector3 dented = run.centre() - Vector3(0, 0.1, 0);
  const TemporaryDirectory directory;
  FrameWriter writer(directory.path());
  Frame first = run.frame(run.fine, 0, 0), last = first;
  first.mesh.points = run.places(run.fine, dented);
  last.mesh.points = run.places(run.fine, run.centre());
  last.time = 1;
  writer.write(first);
  writer.write(last);
  write_iterates(directory.path(),
                 {1, {first.mesh.points, run.places(run.fine, run.corner()), last.mesh.points}});
  EXPECT_FALSE(certify(directory.path()).ok());
}

}  // namespace
}  // namespace apart::test
