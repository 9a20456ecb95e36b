#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/candidate_cache.hpp>
#include <apart/core/error.hpp>

#include <algorithm>

namespace apart {
namespace {

using test::Random;

double distance(const Stencil& s, const Matrix3X& x) {
  return std::sqrt(squared_distance(s.kind, s.gather(x)));
}

double distance(const Stencil& s, const Matrix3X& x, const Matrix3X& p, double t) {
  StencilPoints y = s.gather(x);
  const StencilPoints q = s.gather(p);
  for (int i = 0; i < s.size(); ++i) y[i] += t * q[i];
  return std::sqrt(squared_distance(s.kind, y));
}

bool contains(const Candidates& found, const Stencil& s) {
  return std::binary_search(found.begin(), found.end(), s);
}

Matrix3X random_motion(Index vertices, double size, Random& random) {
  Matrix3X p(3, vertices);
  const Vector3 common = size * random.vector();
  for (Index v = 0; v < vertices; ++v) p.col(v) = common + 0.3 * size * random.vector();
  return p;
}

TEST(CandidateCache, NeverMissesAPairWithinReach) {
  Random random(1);
  int close = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const CollisionSurface surface = test::random_surface(40, 0.2, 0.05, random);
    const Candidates all = test::all_pairs(surface);
    const double reach = 0.05;
    CandidateCache cache(make_bvh(surface), reach);
    Matrix3X x = surface.rest;
    for (int step = 0; step < 60; ++step) {
      const Candidates& found = cache.at(x);
      for (const Stencil& s : all)
        if (distance(s, x) < reach) {
          ++close;
          EXPECT_TRUE(contains(found, s));
        }
      x += random_motion(Index(x.cols()), random.exponential(1e-4, 0.05), random);
    }
    EXPECT_LT(cache.searches(), 60u);
  }
  EXPECT_GT(close, 10000);
}

TEST(CandidateCache, NeverMissesAPairOnThePath) {
  Random random(2);
  int close = 0;
  for (int trial = 0; trial < 4; ++trial) {
    const CollisionSurface surface = test::random_surface(24, 0.2, 0.05, random);
    const Candidates all = test::all_pairs(surface);
    const double reach = 0.05;
    CandidateCache cache(make_bvh(surface), reach);
    Matrix3X x = surface.rest;
    for (int step = 0; step < 20; ++step) {
      if (random.below(2)) cache.at(x);
      const Matrix3X p = random_motion(Index(x.cols()), random.exponential(1e-4, 1), random);
      const Candidates& found = cache.along(x, p);
      for (const Stencil& s : all)
        for (int k = 0; k <= 20; ++k)
          if (distance(s, x, p, k / 20.0) < reach) {
            ++close;
            EXPECT_TRUE(contains(found, s));
            break;
          }
      const double share = cache.covered_share(x, p);
      const Candidates& around = cache.at(x);
      for (const Stencil& s : all)
        for (int k = 0; k <= 20; ++k)
          if (distance(s, x, p, share * k / 20.0) < reach) {
            EXPECT_TRUE(contains(around, s));
            break;
          }
      x += random.uniform(0, 1) * p;
    }
  }
  EXPECT_GT(close, 1000);
}

TEST(CandidateCache, SearchesOnceWhileTheMotionStaysWithinHalfTheReach) {
  Random random(3);
  const CollisionSurface surface = test::random_surface(40, 0.2, 0.05, random);
  CandidateCache cache(make_bvh(surface), 0.05);
  cache.at(surface.rest);
  for (int step = 0; step < 50; ++step) {
    Matrix3X x = surface.rest;
    for (Index v = 0; v < x.cols(); ++v) x.col(v) += 0.0249 * random.unit();
    cache.at(x);
    EXPECT_EQ(&cache.along(x, surface.rest - x), &cache.at(surface.rest)) << "one list serves both";
  }
  EXPECT_EQ(cache.searches(), 1u);
}

TEST(CandidateCache, SteadyMotionNeedsFewerSearchesThanSteps) {
  Random random(4);
  const CollisionSurface surface = test::random_surface(40, 0.02, 0.005, random);
  CandidateCache cache(make_bvh(surface), 0.005);
  Matrix3X x = surface.rest;
  const Matrix3X p = 0.01 * Vector3(1, 0.2, 0).replicate(1, x.cols());  // twice the reach in every step
  for (int step = 0; step < 100; ++step) {
    cache.at(x);
    x += p;
  }
  EXPECT_LT(cache.searches(), 60u);
}

TEST(CandidateCache, KeepsTheListShortWhenTheMotionIsWild) {
  Random random(5);
  const CollisionSurface surface = test::two_sheets(20, 0.01, 0.002, 0.3, {}, random);
  CandidateCache cache(make_bvh(surface), 1e-3);
  Matrix3X x = surface.rest;
  for (int step = 0; step < 30; ++step) {
    EXPECT_LE(cache.at(x).size(), 50u * x.cols() + 1000u);
    x += Vector3(random.uniform(-1, 1), 0, 0).replicate(1, x.cols());
  }
}

TEST(CandidateCache, LimitedSearchAlongAPathGivesUp) {
  Random random(6);
  const CollisionSurface surface = test::two_sheets(10, 0.01, 0.002, 0.3, {}, random);
  CandidateCache cache(make_bvh(surface), 1e-3);
  const Matrix3X wild = 1e3 * Matrix3X::Random(3, surface.vertex_count());
  EXPECT_EQ(cache.along_at_most(1000, surface.rest, wild), nullptr);
  EXPECT_NE(cache.along_at_most(1000, surface.rest, 1e-9 * wild), nullptr);
}

TEST(CandidateCache, WithoutReachThereAreNoPairsAndNoSearches) {
  Random random(7);
  const CollisionSurface surface = test::random_surface(3, 0.1, 0.1, random);
  CandidateCache cache(make_bvh(surface), 0);
  EXPECT_TRUE(cache.at(surface.rest).empty());
  EXPECT_TRUE(cache.along(surface.rest, surface.rest).empty());
  EXPECT_EQ(cache.covered_share(surface.rest, surface.rest), 1);
  EXPECT_EQ(cache.searches(), 0u);
  EXPECT_THROW(CandidateCache(make_bvh(surface), -1), InvariantError);
  EXPECT_THROW(CandidateCache(make_bvh(surface), std::nan("")), InvariantError);
}

}  // namespace
}  // namespace apart
