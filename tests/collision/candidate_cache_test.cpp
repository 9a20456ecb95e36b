#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/active_set.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/core/error.hpp>

#include <algorithm>

namespace apart::test {
namespace {

double distance_along(const Stencil& s, const Matrix3X& x, const Matrix3X& p, double t) {
  StencilPoints y = s.gather(x);
  const StencilPoints q = s.gather(p);
  for (int i = 0; i < s.size(); ++i) y[i] += t * q[i];
  return std::sqrt(squared_distance(s.kind, y));
}

bool contains(const Candidates& found, const Stencil& s) {
  return std::binary_search(found.begin(), found.end(), s);
}

TEST(CandidateCache, NeverMissesAPairWithinReach) {
  Random random(1);
  int close = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
    const Candidates all = all_pairs(surface);
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
      x += random_motion(Index(x.cols()), random.exponential(1e-4, 0.05), 0.3, random);
    }
    EXPECT_LT(cache.searches(), 60u);
  }
  EXPECT_GT(close, 10000);
}

TEST(CandidateCache, BoundsTheDistancesOfItsPairsFromBelow) {
  Random random(9);
  double farther = 0, tight = 0, count = 0, in_contact = 0, noted = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
    CandidateCache cache(make_bvh(surface), 0.05);
    Matrix3X x = surface.rest;
    for (int step = 0; step < 40; ++step) {
      const NearPairs near = cache.near(x);
      for (Index i = 0; i < Index(near.pairs.size()); ++i) {
        const double true_distance = distance(near.pairs[std::size_t(i)], x);
        EXPECT_LE(near.distance_at_sight(i), true_distance + 1e-12);
        EXPECT_LE(near.least_distance(i), true_distance + 1e-12);
        ++count;
        farther += near.least_distance(i) > 0.05;
        tight += near.least_distance(i) > 0.5 * true_distance;
      }
      if (step % 3 == 0) {
        find_active_set(surface, near, x);  // notes the distances that it finds
        for (Index i = 0; i < Index(near.pairs.size()); ++i) {
          const double true_distance = distance(near.pairs[std::size_t(i)], x);
          EXPECT_LE(near.least_distance(i), true_distance + 1e-12);
          const Stencil& pair = near.pairs[std::size_t(i)];
          const PairSettings& settings =
              surface.settings(pair.vertices[0], pair.vertices[first_count(pair.kind)]);
          if (!(true_distance < 0.99 * (settings.thickness + settings.dhat))) continue;
          ++in_contact;
          noted += near.least_distance(i) > 0.99 * true_distance - 1e-9;
        }
      }
      x += random_motion(Index(x.cols()), random.exponential(1e-4, 0.02), 0.3, random);
    }
  }
  EXPECT_GT(farther, 0.1 * count) << "and leaves little to test";
  EXPECT_GT(tight, 0.3 * count);
  EXPECT_GT(noted, 0.99 * in_contact);
  EXPECT_GT(in_contact, 1000);
}

TEST(CandidateCache, NeverMissesAPairOnThePath) {
  Random random(2);
  int close = 0;
  for (int trial = 0; trial < 4; ++trial) {
    const CollisionSurface surface = random_surface(24, 0.2, 0.05, random);
    const Candidates all = all_pairs(surface);
    const double reach = 0.05;
    CandidateCache cache(make_bvh(surface), reach);
    Matrix3X x = surface.rest;
    for (int step = 0; step < 20; ++step) {
      if (random.below(2)) cache.at(x);
      const Matrix3X p = random_motion(Index(x.cols()), random.exponential(1e-4, 1), 0.3, random);
      const Candidates& found = cache.along(x, p);
      for (const Stencil& s : all)
        for (int k = 0; k <= 20; ++k)
          if (distance_along(s, x, p, k / 20.0) < reach) {
            ++close;
            EXPECT_TRUE(contains(found, s));
            break;
          }
      const double share = cache.covered_share({x, p});
      const Candidates& around = cache.at(x);
      for (const Stencil& s : all)
        for (int k = 0; k <= 20; ++k)
          if (distance_along(s, x, p, share * k / 20.0) < reach) {
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
  const CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
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
  const CollisionSurface surface = random_surface(40, 0.02, 0.005, random);
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
  const CollisionSurface surface = two_sheets(20, 0.01, 0.002, 0.3, {}, random);
  CandidateCache cache(make_bvh(surface), 1e-3);
  Matrix3X x = surface.rest;
  for (int step = 0; step < 30; ++step) {
    EXPECT_LE(cache.at(x).size(), 50u * x.cols() + 1000u);
    x += Vector3(random.uniform(-1, 1), 0, 0).replicate(1, x.cols());
  }
}

TEST(CandidateCache, BlocksAlongAPathHoldAllPairsAndNoMoreThanAsked) {
  Random random(6);
  const CollisionSurface surface = two_sheets(10, 0.01, 0.002, 0.3, {}, random);
  const Matrix3X wild = Matrix3X::Random(3, surface.vertex_count());
  for (const double way : {0.0, 1e-3, 1.0}) {
    CandidateCache whole(make_bvh(surface), 1e-3, {.reuse = false});
    CandidateCache parts(make_bvh(surface), 1e-3, {.reuse = false, .block_size = 100});
    const Candidates all = whole.along(surface.rest, way * wild);
    Candidates together;
    std::size_t largest = 0;
    EXPECT_TRUE(
        parts.for_each_block_along({surface.rest, way * wild}, 1, [&](std::span<const Stencil> block) {
          largest = std::max(largest, block.size());
          together.insert(together.end(), block.begin(), block.end());
          return true;
        }));
    std::sort(together.begin(), together.end());
    EXPECT_EQ(together, all);
    if (way == 1.0) {
      EXPECT_GT(all.size(), 10000u);
      EXPECT_LE(largest, 100u);
      EXPECT_FALSE(parts.for_each_block_along({surface.rest, wild}, 1,
                                              [&](std::span<const Stencil>) { return false; }));
    }
  }
}

TEST(CandidateCache, WithoutReuseEveryNewStateIsSearchedWithoutMargin) {
  Random random(8);
  const CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
  CandidateCache cache(make_bvh(surface), 0.05, {.reuse = false}), fresh(make_bvh(surface), 0.05);
  Matrix3X x = surface.rest;
  for (int step = 1; step <= 10; ++step) {
    const Candidates found = cache.at(x);
    cache.at(x);
    EXPECT_EQ(cache.searches(), std::size_t(step)) << "one search for each state";
    EXPECT_LT(found.size(), fresh.at(x).size());
    for (const Stencil& s : all_pairs(surface)) {
      if (distance(s, x) < 0.05) {
        EXPECT_TRUE(contains(found, s));
      }
    }
    EXPECT_EQ(cache.covered_share({x, Matrix3X::Constant(3, x.cols(), 1e-9)}), 0);
    x += 1e-6 * Matrix3X::Random(3, x.cols());
  }
}

TEST(CandidateCache, ListsThatDoNotFitIntoABlockAreTheSame) {
  Random random(9);
  const CollisionSurface surface = two_sheets(12, 0.01, 0.002, 0.3, {}, random);
  CandidateCache whole(make_bvh(surface), 0.02), parts(make_bvh(surface), 0.02, {.block_size = 70});
  EXPECT_EQ(parts.at(surface.rest), whole.at(surface.rest));
  EXPECT_GT(whole.at(surface.rest).size(), 1000u);
}

TEST(CandidateCache, WithoutReachThereAreNoPairsAndNoSearches) {
  Random random(7);
  const CollisionSurface surface = random_surface(3, 0.1, 0.1, random);
  CandidateCache cache(make_bvh(surface), 0);
  EXPECT_TRUE(cache.at(surface.rest).empty());
  EXPECT_TRUE(cache.along(surface.rest, surface.rest).empty());
  EXPECT_EQ(cache.covered_share({surface.rest, surface.rest}), 1);
  EXPECT_EQ(cache.searches(), 0u);
  EXPECT_THROW(CandidateCache(make_bvh(surface), -1), InvariantError);
  EXPECT_THROW(CandidateCache(make_bvh(surface), std::nan("")), InvariantError);
}

TEST(CandidateCache, OfASurfaceHoldsWhatIsInReachOfEveryPairAndLittleElse) {
  Random random(21);
  for (int trial = 0; trial < 10; ++trial) {
    CollisionSurface drawn = random_surface(60, 0.1, 0.02, random);
    // One body is thick; a pair with it has the mean.
    PairTable pairs(4, {.dhat = 0.01});
    for (int a = 0; a < 4; ++a)
      for (int b = a; b < 4; ++b)
        pairs.set(a, b, {.dhat = 0.01, .thickness = 0.5 * ((a == 0 ? 0.2 : 0.0) + (b == 0 ? 0.2 : 0.0))});
    Edges segments(2, Index(drawn.free_edges.size()));
    for (Index e = 0; e < segments.cols(); ++e) segments.col(e) = drawn.edges.col(drawn.free_edges[e]);
    const CollisionSurface surface(drawn.rest, drawn.faces, segments, drawn.vertex_body, pairs, {});
    CandidateCache own(make_bvh(surface), surface), wide(make_bvh(surface), pairs.max_reach());
    EXPECT_EQ(own.reach(), 0.01);
    const Candidates all = all_pairs(surface);
    Matrix3X x = surface.rest;
    for (int step = 0; step < 4; ++step) {
      for (const Stencil& s : all) {
        const PairSettings& settings = surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
        if (squared_distance(s.kind, s.gather(x)) < std::pow(settings.thickness + settings.dhat, 2)) {
          EXPECT_TRUE(std::binary_search(own.at(x).begin(), own.at(x).end(), s));
        }
      }
      EXPECT_LT(own.at(x).size(), wide.at(x).size() / 2);
      for (Index v = 0; v < x.cols(); ++v) x.col(v) += 0.004 * random.vector();
    }
  }
}

}  // namespace
}  // namespace apart::test
