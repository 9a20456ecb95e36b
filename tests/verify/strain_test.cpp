// Strain limits are proven from what a frame says of the rest shape alone; planted violations are found.
#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/verify/certificate.hpp>
#include <support/frame_builder.hpp>
#include <support/temporary_directory.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

namespace apart::test {
namespace {

using namespace verify;

/// An obstacle and a sheet in the xz plane as it is at rest, with warp along x.
Frame sheet(std::vector<FrameStrainLimit> limits) {
  FrameBuilder builder;
  builder.add({"floor", "obstacle"}, generate::grid(3, 3, 2, 2), {0, -1, 0});
  const Mesh mesh = generate::grid(1, 1, 4, 4);
  builder.add({"sheet", "shell"}, mesh);
  Frame frame = builder.frame;
  frame.strain_limits = std::move(limits);
  frame.rest_shape.resize(4, mesh.faces.cols());
  for (Index f = 0; f < mesh.faces.cols(); ++f) {
    Eigen::Matrix2d edges;
    for (int k = 0; k < 2; ++k) {
      const Vector3 e = mesh.points.col(mesh.faces(k + 1, f)) - mesh.points.col(mesh.faces(0, f));
      edges.col(k) = Eigen::Vector2d(e[0], e[2]);
    }
    frame.rest_shape.col(f) = Eigen::Matrix2d(edges.inverse()).reshaped();
  }
  return frame;
}

/// The sheet's points after the linear map.
Frame deformed(const Frame& frame, const Matrix3& map, double time = 0.1) {
  Frame result = frame;
  result.time = time;
  for (Index i = 0; i < result.mesh.point_count(); ++i)
    if (result.point_body[i] == 1) result.mesh.points.col(i) = map * frame.mesh.points.col(i);
  return result;
}

Matrix3 stretch(double x, double z) {
  return Vector3(x, 1, z).asDiagonal();
}

std::vector<Finding> findings(const Frame& first, const Frame& then) {
  return FrameCheck(first).strains(then.mesh.points);
}

TEST(Strain, AStretchBeyondItsLimitByAHairIsFound) {
  const Frame rest = sheet({{1, false, Vector3(1.1, 0, 0)}});
  EXPECT_TRUE(findings(rest, rest).empty());
  const Matrix3 turn = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  EXPECT_TRUE(findings(rest, deformed(rest, turn * stretch(1.1 - 1e-12, 1))).empty());
  EXPECT_TRUE(findings(rest, deformed(rest, turn * stretch(0.1, 1.0999999))).empty());
  const auto found = findings(rest, deformed(rest, turn * stretch(1, 1.1 + 1e-12)));
  ASSERT_EQ(found.size(), 32u);
  EXPECT_EQ(found[0].kind, FindingKind::strain);
  EXPECT_NE(found[0].text.find("of 'sheet' has a stretch of 1.1"), std::string::npos) << found[0].text;
  EXPECT_EQ(found[0].bodies, std::vector<std::string>{"sheet"});
  EXPECT_NEAR(*FrameCheck(rest).largest_strain_share(deformed(rest, stretch(1.045, 1)).mesh.points), 0.95,
              1e-12);
}

TEST(Strain, OneTriangleOfManyIsNamed) {
  const Frame rest = sheet({{1, false, Vector3(1.1, 0, 0)}});
  Frame moved = rest;
  Index corner = -1;
  for (Index i = 0; i < moved.mesh.point_count(); ++i)
    if (moved.point_body[i] == 1 && moved.mesh.points(0, i) > 0.49 && moved.mesh.points(2, i) > 0.49)
      corner = i;
  moved.mesh.points.col(corner) += Vector3(0.05, 0, 0.05);
  const auto found = findings(rest, moved);
  ASSERT_FALSE(found.empty());
  EXPECT_LE(found.size(), 2u);
  for (const Finding& f : found)
    EXPECT_NE(std::find(f.cells[0].begin(), f.cells[0].end(), corner), f.cells[0].end());
}

TEST(Strain, LowerLimitsAndLimitsAlongWarpAndWeftAreChecked) {
  const Frame pressed = sheet({{1, false, Vector3(2, 0.9, 0)}});
  EXPECT_TRUE(findings(pressed, deformed(pressed, stretch(0.9 + 1e-9, 1))).empty());
  EXPECT_EQ(findings(pressed, deformed(pressed, stretch(0.9 - 1e-9, 1))).size(), 32u);
  EXPECT_EQ(findings(pressed, deformed(pressed, stretch(0, 1))).size(), 32u) << "collapsed";

  const Frame woven = sheet({{1, true, Vector3(0.2, 0.1, 0.05)}});
  const auto strained = [](double e) { return std::sqrt(1 + 2 * e); };
  for (const double side : {-1.0, 1.0}) {
    EXPECT_TRUE(findings(woven, deformed(woven, stretch(strained(side * 0.1999), 1))).empty());
    EXPECT_EQ(findings(woven, deformed(woven, stretch(strained(side * 0.2001), 1))).size(), 32u);
    EXPECT_TRUE(findings(woven, deformed(woven, stretch(1, strained(side * 0.0999)))).empty());
    EXPECT_EQ(findings(woven, deformed(woven, stretch(1, strained(side * 0.1001)))).size(), 32u);
    Matrix3 shear = Matrix3::Identity();
    shear(0, 2) = side * 0.0999;
    EXPECT_TRUE(findings(woven, deformed(woven, shear)).empty());
    shear(0, 2) = side * 0.1001;
    const auto found = findings(woven, deformed(woven, shear));
    ASSERT_EQ(found.size(), 32u);
    EXPECT_NE(found[0].text.find("shear strain"), std::string::npos);
  }
}

TEST(Strain, FramesAndIteratesOfARunAreCheckedAndAbsentBodiesAreNot) {
  const Frame rest = sheet({{1, false, Vector3(1.1, 0, 0)}});
  const auto certified = [&](const Frame& frame, const std::vector<Matrix3X>& iterates) {
    const TemporaryDirectory directory;
    FrameWriter writer(directory.path());
    writer.write(rest);
    writer.write(frame);
    if (!iterates.empty()) write_iterates(directory.path(), {1, iterates});
    return certify(directory.path());
  };
  const Frame fine = deformed(rest, stretch(1.05, 1)), broken = deformed(rest, stretch(1.2, 1));
  Certificate c = certified(fine, {rest.mesh.points, fine.mesh.points});
  EXPECT_TRUE(c.ok()) << summary(c);
  EXPECT_EQ(c.limited, 32);
  EXPECT_NEAR(*c.max_strain_share, 1.05 / 1.1, 1e-12);
  EXPECT_NE(summary(c).find("strain limits"), std::string::npos);
  c = certified(broken, {});
  EXPECT_EQ(c.violation_count, 32);
  EXPECT_EQ(c.violations[0].kind, FindingKind::strain);
  EXPECT_EQ(c.violations[0].file, "frames/frame_000001.vtu");
  // Only an iterate in between is beyond the limit.
  c = certified(fine, {rest.mesh.points, broken.mesh.points, fine.mesh.points});
  EXPECT_EQ(c.violation_count, 32);
  EXPECT_EQ(c.violations[0].kind, FindingKind::strain);
  EXPECT_NE(c.violations[0].text.find("iterate 1"), std::string::npos);
  Frame absent = broken;
  absent.absent = {1};
  FrameCheck check(rest);
  check.set_absent({1});
  EXPECT_TRUE(check.strains(absent.mesh.points).empty());
}

TEST(Strain, AnotherLimitOrRestShapeInALaterFrameIsAnotherRun) {
  const Frame rest = sheet({{1, false, Vector3(1.1, 0, 0)}});
  Frame other = rest;
  other.strain_limits[0].limits[0] = 1.2;
  EXPECT_EQ(FrameCheck(rest).difference(other), "other strain limits");
  other = rest;
  other.rest_shape(0, 0) *= 1.01;
  EXPECT_EQ(FrameCheck(rest).difference(other), "other strain limits");
  EXPECT_FALSE(FrameCheck(rest).difference(rest));
}

TEST(Strain, DamagedLimitsAreRefused) {
  const auto refused = [](auto spoil) {
    Frame frame = sheet({{1, false, Vector3(1.1, 0, 0)}});
    spoil(frame);
    EXPECT_THROW(FrameCheck{frame}, InputError);
  };
  refused([](Frame& f) { f.strain_limits[0].body = 2; });
  refused([](Frame& f) { f.strain_limits[0].limits[0] = std::nan(""); });
  refused([](Frame& f) { f.strain_limits.push_back(f.strain_limits[0]); });
  refused([](Frame& f) { f.rest_shape.conservativeResize(4, 31); });
  refused([](Frame& f) { f.rest_shape.conservativeResize(4, 33), f.rest_shape.col(32).setOnes(); });
  refused([](Frame& f) { f.rest_shape.col(3).setZero(); });
}

}  // namespace
}  // namespace apart::test
