// Where a mesh changes its surface must stay the same to the last bit, and the ways there are proven.
#include <apart/geometry/generators.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/verify/certificate.hpp>
#include <support/frame_builder.hpp>
#include <support/temporary_directory.hpp>

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
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

/// A particle at a square sheet of four triangles, whose middle is the midpoint of the diagonal of two.
struct ChangedSheet {
  static Mesh sheet(bool fine) {
    Mesh mesh;
    mesh.points.resize(3, fine ? 5 : 4);
    mesh.points.leftCols(4) << 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1;
    mesh.faces.resize(3, fine ? 4 : 2);
    if (fine) {
      mesh.points.col(4) = Vector3(0.5, 0, 0.5);
      mesh.faces << 0, 1, 2, 3, 1, 2, 3, 0, 4, 4, 4, 4;
    } else {
      mesh.faces << 0, 0, 1, 2, 2, 3;
    }
    return mesh;
  }
  Frame frame(bool fine, Index topology, const Matrix3X& points) const {
    Mesh ball;
    ball.points = particle;
    ball.vertices.resize(1);
    ball.vertices << 0;
    FrameBuilder builder;
    builder.add({"ball", "particles"}, ball);
    builder.add({"sheet", "shell"}, sheet(fine));
    builder.frame.topology = topology;
    builder.frame.time = double(topology);
    builder.frame.mesh.points = points;
    // No edge may get longer than it was by more than this.
    builder.frame.strain_limits.push_back({1, false, Vector3(1.1, 0, 0)});
    const Mesh mesh = sheet(fine);
    builder.frame.rest_shape.resize(4, mesh.faces.cols());
    for (Index t = 0; t < mesh.faces.cols(); ++t) {
      Eigen::Matrix2d edges;
      for (int k = 0; k < 2; ++k) {
        const Vector3 e = mesh.points.col(mesh.faces(k + 1, t)) - mesh.points.col(mesh.faces(0, t));
        edges.col(k) = Eigen::Vector2d(e.x(), e.z());
      }
      builder.frame.rest_shape.col(t) = Eigen::Matrix2d(edges.inverse()).reshaped();
    }
    return builder.frame;
  }
  /// All points, the middle of the sheet at a place of its own.
  Matrix3X places(bool fine, const Vector3& middle) const {
    const Mesh mesh = sheet(fine);
    Matrix3X x(3, 1 + mesh.point_count());
    x << particle, mesh.points;
    if (fine) x.col(5) = middle;
    return x;
  }
  /// Of a run that begins with the fine sheet, dented, and collapses its middle onto a corner; or backwards.
  Certificate certify(bool split) const {
    const Vector3 middle(0.5, -0.1, 0.5);
    std::vector<Matrix3X> states = {places(true, middle), places(true, Vector3::Zero()), places(false, {})};
    std::vector<Index> topologies = {0, 0, 1};
    if (split) {
      std::ranges::reverse(states);
      topologies = {0, 1, 1};
    }
    const TemporaryDirectory directory;
    FrameWriter writer(directory.path());
    writer.write(frame(!split, 0, states.front()));
    writer.write(frame(split, 1, states.back()));
    write_iterates(directory.path(), {1, states, {}, topologies});
    return apart::certify(directory.path());
  }
  Vector3 particle;
};

/// In between triangles are stretched twofold, since the point that joins two of them is not yet where it
/// belongs.
TEST(TopologyChange, ASheetIsSplitAndCollapsedWithinItsStrainLimits) {
  for (const bool split : {false, true}) {
    const Certificate certificate = ChangedSheet{{0.5, 1, 0.5}}.certify(split);
    EXPECT_TRUE(certificate.ok()) << summary(certificate);
  }
}

TEST(TopologyChange, ASheetThatSwallowsAParticleIsCaught) {
  for (const bool split : {false, true}) {
    const Certificate certificate = ChangedSheet{{0.52, -0.03, 0.51}}.certify(split);
    EXPECT_EQ(kinds_of(certificate), std::set{FindingKind::path_contact}) << summary(certificate);
  }
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
