#include <apart/scene/motion.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/described_part.hpp>

#include <numbers>

namespace apart::test {
namespace {

constexpr double radians = std::numbers::pi / 180;

Motion motion(std::string_view text, const Vector3& center = Vector3::Zero()) {
  return make_motion(described_part<MotionDescription>(text, "motion"), center);
}

/// Where one point is at a time.
Vector3 at(const Motion& m, double time, const Vector3& start) {
  return m(start, time).col(0);
}

Matrix3 rotation(std::string_view text) {
  return make_rotation(described_part<RotationDescription>(text, "rotate"));
}

std::string motion_error(std::string_view text) {
  try {
    motion(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

void expect_near(const Vector3& a, const Vector3& b) {
  EXPECT_LT((a - b).norm(), 1e-14) << a.transpose() << " / " << b.transpose();
}

TEST(Motion, EulerAnglesTurnAboutWorldXThenYThenZ) {
  const Matrix3 expected =
      (Eigen::AngleAxisd(30 * radians, Vector3::UnitZ()) * Eigen::AngleAxisd(20 * radians, Vector3::UnitY()) *
       Eigen::AngleAxisd(10 * radians, Vector3::UnitX()))
          .toRotationMatrix();
  EXPECT_LT((rotation("[10, 20, 30]") - expected).norm(), 1e-15);
  expect_near(rotation(R"({"axis": [0, 0, 5], "angle": 90})") * Vector3::UnitX(), Vector3::UnitY());
}

TEST(Motion, QuarterTurnsAreExact) {
  for (const int turns : {-5, -1, 0, 1, 2, 3, 4, 7}) {
    const Matrix3 r = rotation(fmt::format("[0, {}, 0]", 90 * turns));
    EXPECT_EQ((r.array() * r.array() - r.array().abs()).abs().sum(), 0) << r;  // entries are -1, 0 or 1
    EXPECT_LT((r - Eigen::AngleAxisd(90 * turns * radians, Vector3::UnitY()).toRotationMatrix()).norm(),
              1e-14);
  }
}

TEST(Motion, KeyframesInterpolateAndThenRest) {
  const Motion m = motion(R"({"keyframes": [{"t": 0, "translate": [0, 0, 0], "rotate": [0, 0, 0]},
                              {"t": 2, "translate": [4, 0, 0], "rotate": {"axis": [0, 0, 1], "angle": 720}},
                              {"t": 3, "translate": [4, 1, 0], "rotate": {"axis": [0, 0, 1], "angle": 720}}]})",
                          Vector3(1, 0, 0));
  expect_near(at(m, 0, {3, 0, 0}), {3, 0, 0});
  expect_near(at(m, 0.25, {3, 0, 0}), Vector3(1, 2, 0) + Vector3(0.5, 0, 0));  // two full turns are not lost
  expect_near(at(m, 2.5, {3, 0, 0}), Vector3(7, 0.5, 0));
  expect_near(at(m, 99, {3, 0, 0}), Vector3(7, 1, 0));
}

TEST(Motion, RotationsAboutDifferentAxesTakeTheShortestWay) {
  const Motion m = motion(R"({"keyframes": [{"t": 0, "translate": [0,0,0], "rotate": [90, 0, 0]},
                              {"t": 1, "translate": [0,0,0], "rotate": [0, 90, 0]}]})");
  const Eigen::Quaterniond a(rotation("[90, 0, 0]")), b(rotation("[0, 90, 0]"));
  EXPECT_LT((m(Matrix3::Identity(), 0.3) - a.slerp(0.3, b).toRotationMatrix()).norm(), 1e-14);
  for (const double t : {0.1, 0.5, 0.9}) {
    const Matrix3 r = m(Matrix3::Identity(), t);
    EXPECT_LT((r * r.transpose() - Matrix3::Identity()).norm(), 1e-14);
  }
}

TEST(Motion, FormulasMoveAndTurnAboutTheCenter) {
  const Motion m = motion(
      R"json({"translate": ["0.1*sin(t)", 0, "t^2"], "rotate": {"axis": [0, 2, 0], "angle": "90*t"}, "center": [1, 0, 0]})json");
  const Vector3 turned =
      Vector3(1, 0, 0) + Eigen::AngleAxisd(45 * radians, Vector3::UnitY()) * Vector3(1, 2, 3);
  expect_near(at(m, 0.5, {2, 2, 3}), turned + Vector3(0.1 * std::sin(0.5), 0, 0.25));
}

TEST(Motion, DisplacementsMayDependOnThePlaceOfAPoint) {
  const Motion m = motion(R"({"translate": ["x*t", "-y*t", 0]})");
  expect_near(at(m, 0.5, {2, 3, 4}), {3, 1.5, 4});
}

TEST(Motion, RefusesWhatMakesNoSense) {
  EXPECT_NE(
      motion_error(
          R"({"keyframes": [{"t": 1, "translate": [0,0,0], "rotate": [0,0,0]}, {"t": 1, "translate": [0,0,0], "rotate": [0,0,0]}]})")
          .find("scene.json:1: motion.keyframes[1].t: got 1, must be later"),
      std::string::npos);
  EXPECT_NE(motion_error(R"({"translate": [0, 0, 0], "rotate": {"axis": [0, 0, 1], "angle": "x"}})")
                .find("motion.rotate.angle: got \"x\", must not use x"),
            std::string::npos);
  EXPECT_NE(motion_error(R"({"translate": [0, 0, 0], "rotate": {"axis": [0, 0, 0], "angle": 1}})")
                .find("must have a direction"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
