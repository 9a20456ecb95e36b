#include "ccd_method_list.hpp"
#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/collision_detection.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <limits>

namespace apart::test {
namespace {

/// Two triangles, the second `height` above the first.
struct TwoTriangles {
  explicit TwoTriangles(double height) : x(3, 6), faces(3, 2) {
    x << 0, 1, 0, 0.1, 0.9, 0.2, 0, 0, 1, 0.1, 0.2, 0.7, 0, 0, 0, height, height, height;
    faces << 0, 3, 1, 4, 2, 5;
  }
  Matrix3X x;
  Faces faces;
};

Matrix3X moved_down(Matrix3X x, double way) {
  x.rightCols(3).row(2).array() -= way;
  return x;
}

TEST(CollisionDetection, FindsTheEarliestImpactAndItsPair) {
  const TwoTriangles t(0.5);
  const CollisionSurface surface = collision_surface(t.x, t.faces);
  EXPECT_TRUE(is_step_free(surface, t.x, t.x));
  EXPECT_TRUE(is_step_free(surface, t.x, moved_down(t.x, 0.499)));
  EXPECT_FALSE(is_step_free(surface, t.x, moved_down(t.x, 0.5)));
  const auto impact = earliest_impact(surface, t.x, moved_down(t.x, 1));
  ASSERT_TRUE(impact);
  EXPECT_LE(impact->time, 0.5);
  EXPECT_GT(impact->time, 0.4999);
  EXPECT_TRUE(is_step_free(surface, t.x, moved_down(t.x, 0.9999 * impact->time)));
  EXPECT_FALSE(find_candidates(surface, t.x, moved_down(t.x, 1)).empty());
  EXPECT_TRUE(find_candidates(surface, t.x, t.x).empty());
  EXPECT_FALSE(find_candidates(surface, t.x, t.x, 0.6).empty());
}

TEST(CollisionDetection, KeepsTheSeparation) {
  const TwoTriangles t(0.5);
  const CollisionSurface surface = collision_surface(t.x, t.faces, Edges(2, 0), 0.1);
  EXPECT_TRUE(is_step_free(surface, t.x, moved_down(t.x, 0.39)));
  const auto impact = earliest_impact(surface, t.x, moved_down(t.x, 1));
  ASSERT_TRUE(impact);
  EXPECT_LE(impact->time, 0.4);
  EXPECT_GT(impact->time, 0.399);
}

TEST(CollisionDetection, TouchingAtTheStartIsAnImpactAtOnce) {
  const TwoTriangles t(0);
  const CollisionSurface surface = collision_surface(t.x, t.faces);
  const auto impact = earliest_impact(surface, t.x, moved_down(t.x, -1));
  ASSERT_TRUE(impact);
  EXPECT_EQ(impact->time, 0);
  EXPECT_TRUE(self_intersects(surface, t.x));
  EXPECT_FALSE(self_intersects(surface, moved_down(t.x, 1e-300)));
}

TEST(CollisionDetection, HalfSpacesEndAStepToo) {
  const TwoTriangles t(0.5);
  CollisionSurface surface = collision_surface(t.x, t.faces, Edges(2, 0), 0.1);
  surface.half_spaces.push_back({.origin = Vector3(0, 0, 0.3), .normal = Vector3::UnitZ(), .body = 0});
  Matrix3X lifted = t.x;
  lifted.leftCols(3).row(2).array() += 0.41;  // off the lower triangle's way, and out of the half-space
  lifted.rightCols(3).row(2).array() += 0.5;
  EXPECT_TRUE(is_step_free(surface, lifted, lifted));
  Matrix3X end = lifted;
  end(2, 4) -= 1;  // from 1.0 to 0: would meet the half-space and its thickness, at 0.4, after 0.6
  surface.can_collide = [](Index, Index) { return false; };
  const auto impact = earliest_impact(surface, lifted, end);
  ASSERT_TRUE(impact);
  EXPECT_LE(impact->time, 0.6);
  EXPECT_NEAR(impact->time, 0.6, 1e-9);
  EXPECT_EQ(impact->half_space, 0);
  EXPECT_EQ(impact->pair.vertices[0], 4);
  EXPECT_TRUE(is_step_free(surface, lifted, lifted + 0.999 * impact->time * (end - lifted)));
  surface.can_collide = nullptr;  // the triangle below is hit before
  const auto before = earliest_impact(surface, lifted, end);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->half_space, -1);
  EXPECT_LT(before->time, 0.59);
  const auto inside = earliest_impact(surface, t.x, t.x);  // the lower triangle starts below the plane
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->time, 0);
}

TEST(CollisionDetection, LeavesOutWhatTheUserExcludes) {
  const TwoTriangles t(0.5);
  CollisionSurface surface = collision_surface(t.x, t.faces);
  surface.can_collide = [](Index a, Index b) { return (a < 3) == (b < 3); };
  EXPECT_TRUE(is_step_free(surface, t.x, moved_down(t.x, 1)));
  EXPECT_TRUE(find_candidates(surface, t.x, moved_down(t.x, 1)).empty());
  EXPECT_FALSE(self_intersects(surface, moved_down(t.x, 0.5)));
}

TEST(CollisionDetection, IsTheSameForAnyNumberOfThreadsAndNoLaterThanAnySinglePair) {
  Random random(31);
  for (int trial = 0; trial < 20; ++trial) {
    const CollisionSurface soup = random_surface(20, 0.1, 0.005, random);
    const CollisionSurface surface = collision_surface(soup.rest, soup.faces);
    const Matrix3X& x0 = soup.rest;
    const Matrix3X x1 = x0 + 0.2 * Matrix3X::Random(3, x0.cols());
    for (const CcdMethod method : all_ccd_methods) {
      CcdOptions options = until_contact;
      options.method = method;
      set_thread_count(1);
      const auto one = earliest_impact(surface, x0, x1, options);
      set_thread_count(2);
      const auto two = earliest_impact(surface, x0, x1, options);
      set_thread_count(1);
      ASSERT_EQ(one.has_value(), two.has_value());
      if (one) {
        EXPECT_EQ(one->time, two->time);
        EXPECT_EQ(one->pair, two->pair);
      }
      double earliest = 1;
      for (const Stencil& s : all_pairs(surface)) {
        const Matrix3X p = x1 - x0;
        const auto t =
            time_of_impact({.kind = s.kind, .x = s.gather(x0), .displacement = s.gather(p)}, options);
        earliest = std::min(earliest, t.value_or(1));
      }
      EXPECT_EQ(one ? one->time : 1, earliest);
    }
  }
}

TEST(CollisionDetection, RefusesWhatIsNoNumber) {
  const TwoTriangles t(0.5);
  const CollisionSurface surface = collision_surface(t.x, t.faces);
  Matrix3X bad = t.x;
  bad(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(earliest_impact(surface, t.x, bad), InputError);
  EXPECT_THROW(self_intersects(surface, bad), InputError);
  Faces out_of_range = t.faces;
  out_of_range(0, 0) = 9;
  EXPECT_THROW(collision_surface(t.x, out_of_range), InputError);
}

}  // namespace
}  // namespace apart::test
