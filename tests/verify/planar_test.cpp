// Planar bodies in frames and on paths: what is wrong is caught, exactly.
#include <apart/verify/frame_check.hpp>

#include <gtest/gtest.h>
#include <apart/geometry/generators.hpp>
#include <support/frame_builder.hpp>

namespace apart::test {
namespace {

using namespace verify;

/// Two squares of edge length 1, the second one's left side at x = 0.5 + gap.
FrameBuilder two_squares(double gap, const char* kind = "planar") {
  FrameBuilder run;
  run.add({"left", kind}, generate::rectangle({1, 1}, {2, 2}));
  run.add({"right", kind}, generate::rectangle({1, 1}, {3, 3}), {1 + gap, 0.1, 0});
  return run;
}

std::string planar_findings(const Frame& frame) {
  const FrameCheck check(frame);
  std::string kinds;
  for (const auto& list : {check.intersections(frame.mesh.points), check.nested(frame.mesh.points),
                           check.inversions(frame.mesh.points)})
    for (const Finding& f : list)
      if (const std::string kind(finding_names[std::size_t(f.kind)]); kinds.find(kind) == kinds.npos)
        kinds += kind + " ";
  return kinds;
}

TEST(PlanarVerify, SurfaceIsTheBoundaryAndCellsAreCounted) {
  const FrameCheck check(two_squares(0.1).frame);
  EXPECT_EQ(check.face_count(), 0);
  EXPECT_EQ(check.edge_count(), 4 * 2 + 4 * 3);
  EXPECT_EQ(check.planar_count(), 2 * 4 + 2 * 9);
  EXPECT_EQ(FrameCheck(two_squares(0.1, "invertible_planar").frame).invertible_count(), 2 * 4 + 2 * 9);
  EXPECT_EQ(planar_findings(two_squares(1e-12).frame), "");
}

TEST(PlanarVerify, CrossingAndTouchingSegmentsOfOnePlaneAreIntersections) {
  EXPECT_TRUE(planar_findings(two_squares(-1e-12).frame).starts_with("intersection "));
  EXPECT_TRUE(planar_findings(two_squares(0).frame).starts_with("intersection "));
  // In another plane they do not meet, however near.
  Frame frame = two_squares(-0.2).frame;
  frame.mesh.points.row(2).tail(16).array() += 1e-300;
  EXPECT_EQ(planar_findings(frame), "");
}

TEST(PlanarVerify, WhatLiesInsideIsFoundThoughNothingCrosses) {
  FrameBuilder run;
  run.add({"large", "planar"}, generate::rectangle({1, 1}, {1, 1}));
  run.add({"small", "planar"}, generate::rectangle({0.1, 0.1}, {1, 1}), {0.2, 0.1, 0});
  EXPECT_EQ(planar_findings(run.frame), "nested ");
  run.frame.allow_nested = true;
  EXPECT_EQ(planar_findings(run.frame), "");
  run.frame.allow_nested = false;
  run.frame.ignored_pairs = {{0, 1}};
  EXPECT_EQ(planar_findings(run.frame), "");
}

TEST(PlanarVerify, AHoleIsNotInside) {
  FrameBuilder run;
  run.add({"frame", "planar"},
          generate::polygon({{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
                            {{{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}}}, 0.4));
  run.add({"small", "planar"}, generate::rectangle({0.1, 0.1}, {1, 1}));
  EXPECT_EQ(planar_findings(run.frame), "");
}

TEST(PlanarVerify, InvertedAndFlatTrianglesAreCaughtAndSoIsLeavingThePlane) {
  Frame frame = two_squares(0.1).frame;
  const Vector3 middle = frame.mesh.points.col(4);  // of the first square: all its triangles meet there
  frame.mesh.points.col(4) << 0.5 + 1e-9, 0, 0;     // just through a side
  EXPECT_NE(planar_findings(frame).find("inversion"), std::string::npos);
  frame.mesh.points.col(4) = middle + Vector3(0.1, 0.1, 0);
  EXPECT_EQ(planar_findings(frame), "");
  const FrameCheck check(frame);
  Matrix3X x = frame.mesh.points;
  x(2, 3) = 1e-300;
  const auto found = check.inversions(x);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::plane);
}

TEST(PlanarVerify, PathsOnWhichSegmentsCrossOrTrianglesInvertAreNotProven) {
  const Frame frame = two_squares(0.1).frame;
  const FrameCheck check(frame);
  const Matrix3X& x = frame.mesh.points;
  const auto moved = [&](const Vector3& by) {
    Matrix3X to = x;
    to.rightCols(16).colwise() += by;
    return to;
  };
  EXPECT_TRUE(check.path(x, moved({-0.1 + 1e-9, 0, 0})).findings.empty());
  EXPECT_TRUE(check.path(x, moved({0, 3, 0})).findings.empty()) << "along each other";
  // Through the whole body, apart at both ends.
  const auto through = check.path(x, moved({-2.3, 0, 0}));
  ASSERT_FALSE(through.findings.empty());
  EXPECT_EQ(through.findings[0].kind, FindingKind::path_contact);
  // The middle point of the first square leaves it and comes back: inverted in between at the end.
  Matrix3X to = x;
  to.col(4) << 0.49, 0.6, 0;
  bool inverts = false;
  for (const Finding& f : check.path(x, to).findings) inverts |= f.kind == FindingKind::path_inversion;
  EXPECT_TRUE(inverts);
  to = x;
  to(2, 0) = 1e-9;
  bool leaves = false;
  for (const Finding& f : check.path(x, to).findings) leaves |= f.kind == FindingKind::plane;
  EXPECT_TRUE(leaves);
}

}  // namespace
}  // namespace apart::test
