// The step bound of whole surfaces: the earliest impact of all pairs.
#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

namespace apart::test {
namespace {

void keep_pairs_apart(int trials) {
  Random random(10);
  int bounded = 0, shortened = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const CollisionSurface surface = random_surface(30, 0.1, 0.005, random);
    const Candidates all = all_pairs(surface);
    const Matrix3X& x = surface.rest;
    double start = infinity;  // in units of the thickness
    for (const Stencil& s : all) {
      const ContactRange settings = range_of(surface, s);
      start = std::min(start, std::sqrt(squared_distance(s.kind, s.gather(x))) - settings.thickness);
    }
    if (!(start > 0)) continue;
    Matrix3X p = random.exponential(1e-3, 1) * Matrix3X::Random(3, x.cols());
    CandidateCache cache(make_bvh(surface), surface.pairs.max_reach());
    const double alpha = collision_free_step(surface, cache, {x, p}).alpha;
    EXPECT_EQ(alpha, collision_free_step(surface, all, {x, p}).alpha) << "far pairs must not matter";
    EXPECT_EQ(alpha, collision_free_step(surface, cache.along(x, p), {x, p}).alpha);
    bounded += alpha < 1;
    for (const Stencil& s : all) {
      const ContactRange settings = range_of(surface, s);
      shortened += settings.shortened;
      const auto gap = [&](double t) {
        StencilPoints y = s.gather(x);
        const StencilPoints q = s.gather(p);
        for (int i = 0; i < s.size(); ++i) y[i] += t * q[i];
        return std::sqrt(squared_distance(s.kind, y)) - settings.thickness;
      };
      for (int k = 0; k <= 20; ++k)
        ASSERT_GE(gap(alpha * k / 20), 0.998 * 0.2 * std::min(gap(0), settings.dhat));
    }
  }
  EXPECT_GT(bounded, trials / 6);
  EXPECT_GT(shortened, trials / 6);
}

TEST(CollisionFreeStep, NoPairComesTooCloseOnTheWay) {
  keep_pairs_apart(12);
}
TEST(CollisionFreeStep, SlowNoPairComesTooCloseOnManyWays) {
  keep_pairs_apart(60);
}

TEST(CollisionFreeStep, IsTheSameForAnyNumberOfThreads) {
  Random random(11);
  const CollisionSurface surface = two_sheets(25, 0.02, 0.004, 0.3, {.dhat = 0.01}, random);
  const Matrix3X& x = surface.rest;
  Matrix3X p = 0.01 * Matrix3X::Random(3, x.cols());
  p.row(2).tail(625).array() -= 0.03;
  const Candidates pairs = make_bvh(surface)->find(x, x + p, 0.01);
  set_thread_count(1);
  const double one = collision_free_step(surface, pairs, {x, p}).alpha;
  EXPECT_GT(one, 0);
  EXPECT_LT(one, 1);
  for (int threads : {2, 4})
    for (int repeat = 0; repeat < 5; ++repeat) {
      set_thread_count(threads);
      EXPECT_EQ(collision_free_step(surface, pairs, {x, p}).alpha, one);
    }
  set_thread_count(1);
}

TEST(CollisionFreeStep, HalfSpacesLeaveATenthOfTheGap) {
  Matrix3X x(3, 2);
  x << 0, 5, 1, 0.5, 0, 0;
  PairTable pairs(2, {.dhat = 10});
  const HalfSpace ground{.origin = Vector3(3, 0, 0), .normal = Vector3::UnitY(), .body = 1};
  const CollisionSurface surface(x, Faces(3, 0), Edges(2, 0), {0, 0}, pairs, {ground});
  Matrix3X p = Matrix3X::Zero(3, 2);
  EXPECT_EQ(collision_free_step(surface, Candidates{}, {x, p}).alpha, 1);
  p(1, 0) = -2;
  EXPECT_NEAR(collision_free_step(surface, Candidates{}, {x, p}).alpha, 0.45, 1e-9);  // 1 down to 0.1
  p(1, 1) = -2;
  EXPECT_NEAR(collision_free_step(surface, Candidates{}, {x, p}).alpha, 0.225, 1e-9);  // 0.5 down to 0.05
  p(0, 1) = 1e3;  // sliding does not matter
  EXPECT_NEAR(collision_free_step(surface, Candidates{}, {x, p}).alpha, 0.225, 1e-9);
  p = -p;
  EXPECT_EQ(collision_free_step(surface, Candidates{}, {x, p}).alpha, 1);

  const HalfSpace lift{.origin = Vector3(3, -50, 0), .normal = Vector3::UnitY(), .body = 1, .carrier = 2};
  Matrix3X with_carrier(3, 3), rising = Matrix3X::Zero(3, 3);
  with_carrier << x, Vector3(-4, 0, 0);
  const CollisionSurface carried(with_carrier, Faces(3, 0), Edges(2, 0), {0, 0, 1}, pairs, {lift});
  EXPECT_EQ(carried.isolated_vertices, (std::vector<Index>{0, 1}));
  rising.col(2) << 8, 1, 0;  // its own slide does not matter either
  EXPECT_NEAR(collision_free_step(carried, Candidates{}, {with_carrier, rising}).alpha, 0.45,
              1e-9);  // 0.5 to 0.05
  rising(1, 1) = 1;   // that one flees
  EXPECT_NEAR(collision_free_step(carried, Candidates{}, {with_carrier, rising}).alpha, 0.9, 1e-9);
  EXPECT_THROW((CollisionSurface(with_carrier, Faces(3, 0), Edges(2, 0), {0, 0, 0}, pairs, {lift})),
               InputError);

  CollisionSurface thick = surface;
  thick.pairs.set(0, 1, {.dhat = 0.1, .thickness = 0.4});
  p = Matrix3X::Zero(3, 2);
  p(1, 1) = -1;
  EXPECT_NEAR(collision_free_step(thick, Candidates{}, {x, p}).alpha, 0.09,
              1e-9);  // a gap of 0.1 down to 0.01
  p(1, 0) = -1;
  x(1, 1) = 10;
  EXPECT_NEAR(collision_free_step(thick, Candidates{}, {x, p}).alpha, 0.59,
              1e-9);  // 0.6 down to a tenth of d̂
  x(1, 1) = 0.4;
  p(1, 1) = 1e-9;
  EXPECT_EQ(collision_free_step(thick, Candidates{}, {x, p}).alpha, 0) << "already too close";
  thick.pairs.set(0, 1, {.enabled = false});
  EXPECT_EQ(collision_free_step(thick, Candidates{}, {x, p}).alpha, 1) << "no contact between these";
  p(1, 0) = std::nan("");
  EXPECT_EQ(collision_free_step(surface, Candidates{}, {x, p}).alpha, 0);
}

TEST(CollisionFreeStep, AbsurdlyLongStepsAreCutNotListed) {
  Random random(12);
  const CollisionSurface surface = two_sheets(40, 0.2, 0.01, 0.3, {}, random);
  CandidateCache cache(make_bvh(surface), surface.pairs.max_reach());
  const Matrix3X p = 1e12 * Matrix3X::Random(3, surface.vertex_count());
  const double alpha = collision_free_step(surface, cache, {surface.rest, p}).alpha;
  EXPECT_GT(alpha, 0);
  EXPECT_LT(alpha, 1e-9);
}

}  // namespace
}  // namespace apart::test
