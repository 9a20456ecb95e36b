#include "ccd_method_list.hpp"
#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/active_set.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <limits>

namespace apart::test {
namespace {

/// Passes everything on, and notes how many stencils have been held at once.
class Watched final : public BroadPhase {
 public:
  Watched(std::unique_ptr<BroadPhase> watched, std::size_t& most, std::size_t& blocks)
      : watched_(std::move(watched)), most_(most), blocks_(blocks) {}
  void divide(int rank, int size) override { watched_->divide(rank, size); }
  bool for_each_block(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
                      BlockVisitor visit) override {
    return watched_->for_each_block(limit, x0, x1, range, [&](std::span<const Stencil> block) {
      most_ = std::max(most_, block.size());
      ++blocks_;
      return visit(block);
    });
  }
  std::optional<Candidates> find_at_most(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                                         double radius) override {
    auto found = watched_->find_at_most(limit, x0, x1, radius);
    if (found) most_ = std::max(most_, found->size());
    return found;
  }

 private:
  std::unique_ptr<BroadPhase> watched_;
  std::size_t& most_;
  std::size_t& blocks_;
};

/// Over all pairs there are, however far apart.
double by_definition(const CollisionSurface& surface, const Matrix3X& x, const Matrix3X& p,
                     const CcdOptions& options) {
  return collision_free_step(surface, all_pairs(surface), {x, p}, options).alpha;
}

/// A surface that does not touch itself, and steps of all sizes on it.
struct Walk {
  explicit Walk(unsigned seed)
      : random(seed), surface(two_sheets(6, 0.05, 0.01, 0.3, {.dhat = 0.02}, random)) {
    x = surface.rest;
  }
  Matrix3X next_step() {
    return random_motion(surface.vertex_count(), random.exponential(1e-4, 3), 0.5, random);
  }
  Random random;
  CollisionSurface surface;
  Matrix3X x;
};

TEST(StepBound, IsTheSameWhateverTheCacheHasSeenAndWhicheverWayItIsUsed) {
  for (const CcdMethod method : all_ccd_methods) {
    Walk walk(1);
    const CcdOptions options{.method = method};
    const double reach = walk.surface.pairs.max_reach();
    CandidateCache kept(make_bvh(walk.surface), reach), knowing(make_bvh(walk.surface), walk.surface);
    int bounded = 0;
    for (int step = 0; step < 40; ++step) {
      find_active_set(walk.surface, knowing.near(walk.x), walk.x);  // notes the distances that it finds
      const Matrix3X p = walk.next_step();
      const double alpha = by_definition(walk.surface, walk.x, p, options);
      EXPECT_EQ(collision_free_step(walk.surface, kept, {walk.x, p}, options).alpha, alpha);
      EXPECT_EQ(collision_free_step(walk.surface, knowing, {walk.x, p}, options).alpha, alpha);
      for (const BroadPhaseMethod& search : broad_phase_methods())
        for (const bool reuse : {true, false})
          for (const CcdCulling culling : {CcdCulling::none, CcdCulling::near_first}) {
            CandidateCache fresh(search.make(walk.surface), reach, {.reuse = reuse, .culling = culling});
            EXPECT_EQ(collision_free_step(walk.surface, fresh, {walk.x, p}, options).alpha, alpha)
                << search.name;
          }
      bounded += alpha < 1;
      walk.x += 0.9 * std::min(1.0, alpha) * p;
    }
    EXPECT_GT(bounded, 10);
    EXPECT_LT(bounded, 40);
  }
}

TEST(StepBound, IsTheSameHoweverFewPairsAreHeld) {
  Walk walk(2);
  const double reach = walk.surface.pairs.max_reach();
  for (const std::size_t limit : {std::size_t(1), std::size_t(50), std::size_t(1000)}) {
    std::size_t most = 0, blocks = 0;
    CandidateCache small(std::make_unique<Watched>(make_bvh(walk.surface), most, blocks), reach,
                         {.reuse = false, .culling = CcdCulling::none, .block_size = limit});
    CandidateCache large(make_bvh(walk.surface), reach);
    for (int step = 0; step < (limit == 1 ? 3 : 30); ++step) {
      const Matrix3X p = walk.next_step();
      EXPECT_EQ(collision_free_step(walk.surface, small, {walk.x, p}).alpha,
                collision_free_step(walk.surface, large, {walk.x, p}).alpha);
    }
    EXPECT_LE(most, limit);
    EXPECT_GT(blocks, 20u);
  }
}

TEST(StepBound, AnAbsurdlyLongPathIsCutAndNotSearchedToItsEnd) {
  Random random(3);
  const CollisionSurface surface = two_sheets(40, 0.05, 0.01, 0.3, {.dhat = 0.02}, random);
  const Matrix3X p = 1e6 * Matrix3X::Random(3, surface.vertex_count());
  std::size_t most = 0, blocks = 0;
  CandidateCache cache(std::make_unique<Watched>(make_bvh(surface), most, blocks), 0.02,
                       {.culling = CcdCulling::none, .block_size = 20000});
  const double alpha = collision_free_step(surface, cache, {surface.rest, p}).alpha;
  EXPECT_GT(alpha, 0);
  EXPECT_LT(alpha, 1e-6);
  EXPECT_LE(most, 20000u);
  // Every pair of edges meets on the whole path: some forty million.
  EXPECT_LT(blocks, 100u);
  CandidateCache usual(make_bvh(surface), 0.02);
  EXPECT_EQ(collision_free_step(surface, usual, {surface.rest, p}).alpha, alpha);
}

TEST(StepBound, CflCullingIsSaferAndAtLeastHalfAsLongAndSearchesLess) {
  for (const CcdMethod method : all_ccd_methods) {
    Walk walk(4);
    const CcdOptions options{.method = method};
    const double reach = walk.surface.pairs.max_reach();
    CandidateCache kept(make_bvh(walk.surface), reach, {.culling = CcdCulling::cfl});
    int shorter = 0, same = 0;
    for (int step = 0; step < 60; ++step) {
      const Matrix3X p = walk.next_step();
      const double full = by_definition(walk.surface, walk.x, p, options);
      const double cfl = collision_free_step(walk.surface, kept, {walk.x, p}, options).alpha;
      EXPECT_LE(cfl, full);
      EXPECT_GE(cfl, 0.5 * full);
      CandidateCache fresh(make_spatial_hash(walk.surface), reach,
                           {.reuse = false, .culling = CcdCulling::cfl});
      EXPECT_EQ(collision_free_step(walk.surface, fresh, {walk.x, p}, options).alpha, cfl);
      (cfl < full ? shorter : same) += 1;
      walk.x += 0.9 * cfl * p;
    }
    EXPECT_GT(shorter, 0);
    EXPECT_GT(same, 10);
    // Nothing moves by more than a quarter of d̂: the pairs in reach and the bound on the others suffice.
    CandidateCache once(make_bvh(walk.surface), reach, {.reuse = false, .culling = CcdCulling::cfl});
    collision_free_step(walk.surface, once, {walk.x, 0.1 * reach * Matrix3X::Random(3, walk.x.cols())},
                        options);
    EXPECT_EQ(once.searches(), 1u);
  }
}

TEST(StepBound, IsTheSameForAnyNumberOfThreads) {
  for (const CcdCulling culling : {CcdCulling::none, CcdCulling::near_first, CcdCulling::cfl}) {
    Walk walk(5);
    const Matrix3X p = 0.1 * Matrix3X::Random(3, walk.x.cols());
    std::vector<double> alphas;
    for (const int threads : {1, 2, 4}) {
      set_thread_count(threads);
      CandidateCache cache(make_bvh(walk.surface), 0.02, {.culling = culling, .block_size = 500});
      alphas.push_back(collision_free_step(walk.surface, cache, {walk.x, p}).alpha);
    }
    set_thread_count(1);
    EXPECT_EQ(alphas[0], alphas[1]);
    EXPECT_EQ(alphas[0], alphas[2]);
    EXPECT_LT(alphas[0], 1);
  }
}

TEST(StepBound, PairsFilteredByTheUserDoNotBoundAStep) {
  Walk walk(6);
  const Index half = walk.surface.vertex_count() / 2;
  Matrix3X p = Matrix3X::Zero(3, 2 * half);
  p.row(2).tail(half).setConstant(-0.2);
  const double reach = walk.surface.pairs.max_reach();
  CandidateCache cache(make_bvh(walk.surface), reach);
  EXPECT_LT(collision_free_step(walk.surface, cache, {walk.x, p}).alpha, 1);
  walk.surface.can_collide = [half](Index a, Index b) { return (a < half) == (b < half); };
  CandidateCache filtered(make_bvh(walk.surface), reach);
  EXPECT_EQ(collision_free_step(walk.surface, filtered, {walk.x, p}).alpha, 1);
}

TEST(StepBound, NumbersThatAreNotFiniteAreRefusedWithAStepOfZero) {
  Walk walk(7);
  CandidateCache cache(make_bvh(walk.surface), 0.02);
  Matrix3X p = Matrix3X::Zero(3, walk.x.cols());
  p(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(collision_free_step(walk.surface, cache, {walk.x, p}).alpha, 0);
  EXPECT_EQ(collision_free_step(walk.surface, cache, {p, walk.x}).alpha, 0);
  EXPECT_EQ(collision_free_step(walk.surface, all_pairs(walk.surface), {p, walk.x}).alpha, 0);
}

TEST(StepBound, EndsWithTheMoveAndTakesDistancesForSeparations) {
  Matrix3X x(3, 2), p(3, 2);
  x << 0, 3, 0, 0, 0, 0;
  p << 2, 0, 0, 0, 0, 0;
  const CollisionSurface surface(x, Faces(3, 0), Edges(2, 0), {0, 1}, PairTable(2), {});
  CandidateCache cache(make_bvh(surface), surface.pairs.max_reach());
  for (const CcdMethod method : all_ccd_methods) {
    EXPECT_EQ(collision_free_step(surface, cache, {x, p}, {.method = method, .upper_time = 2}).alpha, 1);
    EXPECT_EQ(
        collision_free_step(surface, cache.along(x, p), {x, p}, {.method = method, .upper_time = 2}).alpha,
        1);
  }
  EXPECT_THROW(collision_free_step(surface, cache, {x, p}, {.norm = SeparationNorm::maximum}),
               InvariantError);
}

}  // namespace
}  // namespace apart::test
