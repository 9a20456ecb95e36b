#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/io/vtu.hpp>
#include <apart/verify/scene_check.hpp>
#include <verify/run_fixture.hpp>

#include <limits>
#include <set>

namespace apart::test {
namespace {

using namespace verify;

TEST(SceneCheck, AcceptsAGoodScene) {
  const RunFixture scene;
  EXPECT_TRUE(check_scene(scene.sunk(0, 0), 0).ok());
  EXPECT_TRUE(check_scene(scene.sunk(0, 0), 0.3).ok()) << "the block is 0.5 above the table";
}

TEST(SceneCheck, NamesIntersectionsByBodyElementAndPlace) {
  const RunFixture scene;
  const SceneCheck check = check_scene(scene.sunk(0, 0.6), 1e-3);
  ASSERT_FALSE(check.intersections.empty());
  EXPECT_TRUE(check.gaps.empty()) << "gaps between bodies that intersect say nothing new";
  EXPECT_TRUE(check.inversions.empty());
  for (const Finding& f : check.intersections) {
    EXPECT_EQ(f.kind, FindingKind::intersection);
    EXPECT_EQ(std::set<std::string>(f.bodies.begin(), f.bodies.end()),
              (std::set<std::string>{"soft", "table"}));
    ASSERT_TRUE(f.position);
    EXPECT_NEAR(f.position->y(), 1, 1e-9);
    EXPECT_NE(f.text.find("triangle ("), std::string::npos) << f.text;
  }
}

TEST(SceneCheck, ListsGapsBelowTheThreshold) {
  const RunFixture scene;
  const Frame frame = scene.sunk(0, 0.5 - 1e-3);
  EXPECT_TRUE(check_scene(frame, 0.9e-3).ok());
  const SceneCheck check = check_scene(frame, 1.1e-3);
  EXPECT_TRUE(check.intersections.empty());
  ASSERT_FALSE(check.gaps.empty());
  for (const Finding& f : check.gaps) {
    ASSERT_TRUE(f.distance);
    EXPECT_NEAR(*f.distance, 1e-3, 1e-9);
    EXPECT_NE(f.text.find("0.001 m"), std::string::npos) << f.text;
  }
}

TEST(SceneCheck, ChecksHalfSpacesToo) {
  const RunFixture scene;
  Frame frame = scene.sunk(0, 0);
  frame.half_spaces[0].origin.y() = 1.49;
  SceneCheck check = check_scene(frame, 0.02);
  EXPECT_TRUE(check.intersections.empty());
  EXPECT_EQ(check.gaps.size(), 9u + 4u) << "points of the lower sides of both blocks";
  frame.half_spaces[0].origin.y() = 1.6;
  check = check_scene(frame, 0.02);
  EXPECT_EQ(check.intersections.size(), 9u + 4u);
  EXPECT_TRUE(check.gaps.empty());
}

TEST(SceneCheck, FindsInvertedTetrahedraAndRejectsBadInput) {
  const RunFixture scene;
  Frame frame = scene.sunk(0, 0);
  frame.mesh.tetrahedra.col(0).head(2).reverseInPlace();
  EXPECT_EQ(check_scene(frame, 0).inversions.size(), 1u);
  EXPECT_THROW(check_scene(frame, -1), InputError);
  EXPECT_THROW(check_scene(frame, std::numeric_limits<double>::quiet_NaN()), InputError);
  frame.mesh.points(0, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(check_scene(frame, 0), InputError);
  frame = scene.sunk(0, 0);
  frame.mesh.faces(0, 0) = 10000;
  EXPECT_THROW(check_scene(frame, 0), InputError);
  frame = scene.sunk(0, 0);
  frame.mesh.faces(0, 0) = 0;  // a point of another body
  EXPECT_THROW(check_scene(frame, 0), InputError);
  frame = scene.sunk(0, 0);
  frame.point_body[3] = 17;
  EXPECT_THROW(check_scene(frame, 0), InputError);
}

TEST(SceneCheck, WritesTheElementsAsAMesh) {
  RunFixture scene;
  Mesh needle;
  needle.points.resize(3, 2);
  needle.points << 3, 3, 1.7, 2.4, 0, 0;
  needle.edges.resize(2, 1);
  needle.edges << 0, 1;
  scene.add({"needle", "obstacle"}, needle, {0, 0, 0.1});
  Frame frame = scene.sunk(0, 0.6);
  frame.half_spaces[0].origin.y() = 0.95;
  frame.mesh.tetrahedra.col(0).head(2).reverseInPlace();
  const SceneCheck check = check_scene(frame, 0);
  std::vector<Finding> all = check.intersections;
  all.insert(all.end(), check.inversions.begin(), check.inversions.end());
  const TemporaryDirectory directory;
  write_findings(directory / "found.vtu", frame, all);
  const Mesh mesh = VtuFile(directory / "found.vtu").mesh();  // every cell, even parts of others
  EXPECT_EQ(mesh.tetrahedra.cols(), 1);
  EXPECT_EQ(mesh.vertices.size(), 9) << "points below the half-space";
  EXPECT_GT(mesh.edges.cols(), 0);
  EXPECT_GT(mesh.faces.cols(), 0);
  EXPECT_LT(mesh.point_count(), frame.mesh.point_count());
  // Every element is at its place.
  std::set<std::vector<double>> places;
  for (Index i = 0; i < frame.mesh.point_count(); ++i)
    places.insert({frame.mesh.points(0, i), frame.mesh.points(1, i), frame.mesh.points(2, i)});
  for (Index i = 0; i < mesh.point_count(); ++i)
    EXPECT_TRUE(places.contains({mesh.points(0, i), mesh.points(1, i), mesh.points(2, i)}));
}

}  // namespace
}  // namespace apart::test
