// Pairs that are divided among the processes of a team: all together they find what one would.
#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/active_set.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/step_bound.hpp>
#include <support/thread_team.hpp>

#include <algorithm>
#include <mutex>
#include <numeric>

namespace apart::test {
namespace {

TEST(Team, FindsEveryPairOnce) {
  Random random(3);
  for (const BroadPhaseMethod& method : broad_phase_methods()) {
    const CollisionSurface surface = random_surface(90, 0.2, 0.1, random);
    const Candidates whole = method.make(surface)->find(surface.rest, 0.05);
    ASSERT_GT(whole.size(), 100u);
    for (const int size : {2, 5}) {
      Candidates joined;
      std::size_t most = 0;
      for (int rank = 0; rank < size; ++rank) {
        const auto search = method.make(surface);
        search->divide(rank, size);
        const Candidates part = search->find(surface.rest, 0.05);
        most = std::max(most, part.size());
        // The same in blocks.
        Candidates blocks;
        search->for_each_block(7, surface.rest, surface.rest, 0.05, [&](std::span<const Stencil> block) {
          blocks.insert(blocks.end(), block.begin(), block.end());
          return true;
        });
        std::sort(blocks.begin(), blocks.end());
        EXPECT_EQ(blocks, part) << method.name;
        joined.insert(joined.end(), part.begin(), part.end());
      }
      std::sort(joined.begin(), joined.end());
      EXPECT_EQ(joined, whole) << method.name;
      EXPECT_LT(most, whole.size()) << method.name;
    }
  }
}

// Some thousand triangles, of which a tenth touches something: all processes have about as many pairs.
TEST(Team, FindsPairsInEqualPartsWhereLittleTouches) {
  Random random(5);
  CollisionSurface surface = two_sheets(32, 0.008, 0.001, 0.0, {.dhat = 0.01}, random);
  for (const int sheet : {0, 1}) surface.pairs.set(sheet, sheet, {.enabled = false, .dhat = 0.01});
  for (Index v = surface.vertex_count() / 2; v < surface.vertex_count(); ++v)  // the upper one is turned up
    surface.rest(2, v) += std::max(0.0, surface.rest(0, v) + 0.4);
  for (const BroadPhaseMethod& method : broad_phase_methods()) {
    if (method.name == "brute_force") continue;
    for (const int size : {2, 4, 8}) {
      std::vector<double> parts;
      for (int rank = 0; rank < size; ++rank) {
        const auto search = method.make(surface);
        search->divide(rank, size);
        parts.push_back(double(search->find(surface.rest, 0.01).size()));
      }
      const double whole = std::reduce(parts.begin(), parts.end());
      ASSERT_GT(whole, 1000) << method.name;
      EXPECT_LT(std::ranges::max(parts), 1.2 * whole / size) << method.name << " of " << size;
    }
  }
}

TEST(Team, HasTheContactsAndStepBoundsOfOneProcess) {
  for (const CcdCulling culling : {CcdCulling::none, CcdCulling::near_first, CcdCulling::cfl}) {
    Random random(4);
    const CollisionSurface surface = two_sheets(8, 0.05, 0.01, 0.3, {.dhat = 0.02}, random);
    std::vector<Matrix3X> moves;
    for (int step = 0; step < 20; ++step)
      moves.push_back(random_motion(surface.vertex_count(), random.exponential(1e-4, 3), 0.5, random));
    struct Seen {
      std::vector<Contact> contacts;
      double gap, alpha;
      std::size_t searches;
    };
    const auto walk = [&](const Team& team) {
      CandidateCache cache(make_bvh(surface), surface,
                           {.culling = culling, .block_size = 400, .team = &team});
      Matrix3X x = surface.rest;
      std::vector<Seen> seen;
      for (const Matrix3X& p : moves) {
        ActiveSet active = find_active_set(surface, cache.near(x), x, team);
        const double alpha = collision_free_step(surface, cache, {x, p}).alpha;
        seen.push_back({std::move(active.contacts), active.min_gap, alpha, cache.searches()});
        x += 0.9 * alpha * p;
      }
      return seen;
    };
    const std::vector<Seen> alone = walk(Team::alone());
    std::size_t contacts = 0, bounded = 0;
    for (const Seen& s : alone) {
      contacts += s.contacts.size();
      bounded += s.alpha < 1;
    }
    EXPECT_GT(contacts, 100u);
    EXPECT_GT(bounded, 5u);
    std::mutex mutex;
    for (const int size : {2, 3})
      as_team(size, [&](const Team& team) {
        const std::vector<Seen> seen = walk(team);
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < seen.size(); ++i) {
          EXPECT_EQ(seen[i].alpha, alone[i].alpha) << size << " processes, step " << i;
          EXPECT_EQ(seen[i].gap, alone[i].gap);
          ASSERT_EQ(seen[i].contacts.size(), alone[i].contacts.size());
          for (std::size_t c = 0; c < seen[i].contacts.size(); ++c) {
            EXPECT_EQ(seen[i].contacts[c].stencil, alone[i].contacts[c].stencil);
            EXPECT_EQ(seen[i].contacts[c].weight, alone[i].contacts[c].weight);
          }
        }
      });
  }
}

}  // namespace
}  // namespace apart::test
