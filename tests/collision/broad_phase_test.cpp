#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/broad_phase.hpp>
#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <limits>

namespace apart::test {
namespace {

double distance_between(const Stencil& s, const Matrix3X& x0, const Matrix3X& x1, double t) {
  const StencilPoints a = s.gather(x0), b = s.gather(x1);
  StencilPoints x;
  for (int i = 0; i < s.size(); ++i) x[i] = a[i] + t * (b[i] - a[i]);
  return std::sqrt(squared_distance(s.kind, x));
}

Candidates closer_than(const Candidates& pairs, const Matrix3X& x, double radius) {
  Candidates close;
  for (const Stencil& s : pairs)
    if (distance(s, x) < radius) close.push_back(s);
  return close;
}

bool contains_all(const Candidates& found, const Candidates& wanted) {
  return std::includes(found.begin(), found.end(), wanted.begin(), wanted.end());
}

void expect_well_formed(const CollisionSurface& surface, const Candidates& found) {
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
  EXPECT_TRUE(contains_all(all_pairs(surface), found));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const BroadPhaseMethod& method : broad_phase_methods()) all.emplace_back(method.name);
  return all;
}

/// Run for every method in the list.
class EveryBroadPhase : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<BroadPhase> make(const CollisionSurface& surface) const {
    return make_broad_phase(GetParam(), surface);
  }
};
INSTANTIATE_TEST_SUITE_P(, EveryBroadPhase, ::testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

TEST_P(EveryBroadPhase, FindsExactlyThePairsWithinTheRadiusAfterFiltering) {
  Random random(1);
  for (int trial = 0; trial < 30; ++trial) {
    const CollisionSurface surface = random_surface(40, random.uniform(0.02, 0.4), 0.05, random);
    const Candidates all = all_pairs(surface);
    const auto broad_phase = make(surface);
    for (double radius : {0.0, 1e-3, 0.03, 0.2, 3.0}) {
      const Candidates found = broad_phase->find(surface.rest, radius);
      expect_well_formed(surface, found);
      EXPECT_EQ(closer_than(found, surface.rest, radius), closer_than(all, surface.rest, radius));
    }
  }
}

TEST_P(EveryBroadPhase, MissesNothingOnTheWay) {
  Random random(2);
  int met = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const CollisionSurface surface = random_surface(30, random.uniform(0.02, 0.4), 0.05, random);
    const Candidates all = all_pairs(surface);
    const auto broad_phase = make(surface);
    // A common part, as of a body in flight, and a part of its own for every vertex.
    const double common = random.exponential(0.01, 10), own = random.exponential(1e-4, 1);
    const Vector3 flight[4] = {common * random.vector(), common * random.vector(), common * random.vector(),
                               common * random.vector()};
    const Matrix3X& x0 = surface.rest;
    Matrix3X x1 = x0;
    for (Index v = 0; v < x1.cols(); ++v) x1.col(v) += flight[surface.vertex_body[v]] + own * random.vector();
    const double radius = random.exponential(1e-4, 0.1);
    const Candidates found = broad_phase->find(x0, x1, radius);
    expect_well_formed(surface, found);
    Candidates close;
    for (const Stencil& s : all)
      for (int k = 0; k <= 50; ++k)
        if (distance_between(s, x0, x1, k / 50.0) < radius) {
          close.push_back(s);
          break;
        }
    met += int(close.size());
    EXPECT_TRUE(contains_all(found, close));
  }
  EXPECT_GT(met, 1000);
}

TEST_P(EveryBroadPhase, DependsOnTheArgumentsOnly) {
  Random random(3);
  const CollisionSurface surface = random_surface(60, 0.1, 0.05, random);
  const auto kept = make(surface);
  Matrix3X x = surface.rest;
  for (int step = 0; step < 20; ++step) {
    // Now and then everything is thrown about, so that what the tree learned before is worth nothing.
    const double size = step % 5 == 4 ? 3 : 0.02;
    Matrix3X next = x;
    for (Index v = 0; v < x.cols(); ++v) next.col(v) += size * random.vector();
    EXPECT_EQ(kept->find(x, next, 0.03), make(surface)->find(x, next, 0.03));
    EXPECT_EQ(kept->find(next, 0.03), make(surface)->find(next, 0.03));
    x = next;
  }
}

TEST_P(EveryBroadPhase, LooksFartherAroundThickBodies) {
  Random random(14);
  for (int trial = 0; trial < 10; ++trial) {
    const CollisionSurface surface = random_surface(40, 0.1, 0.05, random);
    const std::vector<double> half = surface.pairs.half_thickness();
    Matrix3X end = surface.rest;
    for (Index v = 0; v < end.cols(); ++v) end.col(v) += 0.1 * random.vector();
    const Candidates found = make(surface)->find(surface.rest, end, 0.01);
    int beyond = 0;
    for (const Stencil& s : all_pairs(surface)) {
      const PairSettings& settings = surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
      const double extents = half[std::size_t(surface.vertex_body[s.vertices[0]])] +
                             half[std::size_t(surface.vertex_body[s.vertices[first_count(s.kind)]])];
      EXPECT_GE(extents * (1 + 1e-14), settings.thickness);
      for (const double t : {0.0, 0.3, 1.0}) {
        const Matrix3X x = (1 - t) * surface.rest + t * end;
        const double distance = std::sqrt(squared_distance(s.kind, s.gather(x)));
        if (!(distance < 0.01 + settings.thickness)) continue;
        beyond += distance > 0.01;
        EXPECT_TRUE(std::binary_search(found.begin(), found.end(), s));
      }
    }
    EXPECT_GT(beyond, 0);
  }
}

TEST_P(EveryBroadPhase, FindsThePairsFarFromTheOriginAndAtAnyScale) {
  Random random(4);
  CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
  surface.vertex_extent.clear();  // a thickness, which is not scaled below
  const auto broad_phase = make(surface);
  const Candidates all = all_pairs(surface);
  for (double scale : {1e-12, 1.0, 1e9, 1e30, 1e38, 1e40, 1e100})
    for (double offset : {0.0, 1e3, -1e8}) {
      const Matrix3X x = scale * (surface.rest.array() + offset);
      const Candidates found = broad_phase->find(x, 0.03 * scale);
      EXPECT_EQ(closer_than(found, x, 0.03 * scale), closer_than(all, x, 0.03 * scale))
          << scale << " " << offset;
      EXPECT_LT(found.size(), all.size() / 3) << scale << " " << offset;
    }
  EXPECT_THROW(broad_phase->find(surface.rest, -1), InvariantError);
}

TEST_P(EveryBroadPhase, FindsPathsThatCrossBeyondSinglePrecision) {
  // Two points that meet on the way, among others far away.
  for (double size : {1.0, 1e36, 1e38, 1e40, 1e100, 1e300, 1.7e307}) {
    Matrix3X x0(3, 4);
    x0 << 10, 0, -10, 10, 0.01, 0, -0.01, 0.01, 0, 0, 0, 1;
    Matrix3X x1 = x0;
    x1.col(0) = Vector3(-1, -0.001, 0);
    x0 *= size;
    x1 *= size;
    const CollisionSurface points(Matrix3X::Zero(3, 4), Faces(3, 0), Edges(2, 0), {0, 1, 2, 3}, PairTable(4),
                                  {});
    const Candidates found = make(points)->find(x0, x1, 0);
    EXPECT_TRUE(contains_all(found, {Stencil{PairKind::point_point, {0, 1, -1, -1}}})) << size;
  }
  // At rest, and as far apart as numbers go.
  Matrix3X x(3, 4);
  x << -1.7e308, 1.7e308, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0;
  const CollisionSurface points(Matrix3X::Zero(3, 4), Faces(3, 0), Edges(2, 0), {0, 1, 2, 3}, PairTable(4),
                                {});
  EXPECT_TRUE(contains_all(make(points)->find(x, 0), {Stencil{PairKind::point_point, {2, 3, -1, -1}}}));
}

TEST_P(EveryBroadPhase, TouchingAndCoincidentPrimitivesAreFound) {
  Random random(5);
  const CollisionSurface surface = random_surface(30, 0.1, 0.05, random);
  const Matrix3X x = Matrix3X::Constant(3, surface.vertex_count(), 0.3);  // all in one point
  EXPECT_EQ(make(surface)->find(x, 0.0), all_pairs(surface));
}

TEST_P(EveryBroadPhase, GivesUpBeyondTheLimitOnly) {
  Random random(6);
  const CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
  const auto broad_phase = make(surface);
  const Candidates found = broad_phase->find(surface.rest, 0.1);
  ASSERT_GT(found.size(), 100u);
  EXPECT_EQ(broad_phase->find_at_most(found.size(), surface.rest, surface.rest, 0.1), found);
  EXPECT_FALSE(broad_phase->find_at_most(found.size() - 1, surface.rest, surface.rest, 0.1));
  EXPECT_FALSE(broad_phase->find_at_most(0, surface.rest, surface.rest, 0.1));
}

TEST_P(EveryBroadPhase, WorksOnSurfacesWithoutSomeKindOfPrimitive) {
  const PairTable pairs(1);
  const CollisionSurface empty(Matrix3X(3, 0), Faces(3, 0), Edges(2, 0), {}, pairs, {});
  EXPECT_TRUE(make(empty)->find(empty.rest, 1).empty());
  const CollisionSurface points(Matrix3X::Zero(3, 3), Faces(3, 0), Edges(2, 0), {0, 0, 0}, pairs, {});
  EXPECT_EQ(make(points)->find(points.rest, 1).size(), 3u);
  const CollisionSurface segments(Matrix3X::Zero(3, 4), Faces(3, 0), Edges(Eigen::Matrix2i{{0, 2}, {1, 3}}),
                                  {0, 0, 0, 0}, pairs, {});
  EXPECT_EQ(make(segments)->find(segments.rest, 1).size(), 5u) << "each other, and each end the other";
  const CollisionSurface triangle(Matrix3X::Zero(3, 3), Faces(Eigen::Vector3i(0, 1, 2)), Edges(2, 0),
                                  {0, 0, 0}, pairs, {});
  EXPECT_TRUE(make(triangle)->find(triangle.rest, 1).empty());
}

TEST_P(EveryBroadPhase, RefusesPositionsThatAreNotFiniteOrNotAsMany) {
  Random random(7);
  const CollisionSurface surface = random_surface(6, 0.2, 0.05, random);
  const auto broad_phase = make(surface);
  Matrix3X bad = surface.rest;
  bad(1, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(broad_phase->find(bad, 0.1), InvariantError);
  EXPECT_THROW(broad_phase->find(surface.rest, bad, 0.1), InvariantError);
  bad(1, 3) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(broad_phase->find(bad, 0.1), InvariantError);
  EXPECT_THROW(broad_phase->find(surface.rest, std::nan("")), InvariantError);
  EXPECT_THROW(broad_phase->find(surface.rest.leftCols(2), 0.1), InvariantError);
}

TEST_P(EveryBroadPhase, IsTheSameForAnyNumberOfThreads) {
  Random random(8);
  const CollisionSurface surface = two_sheets(12, 0.02, 0.01, 0.3, {}, random);
  const Matrix3X p = 0.05 * Matrix3X::Random(3, surface.vertex_count());
  set_thread_count(1);
  const Candidates still = make(surface)->find(surface.rest, 0.05);
  const Candidates moving = make(surface)->find(surface.rest, surface.rest + p, 0.01);
  ASSERT_GT(still.size(), 1000u);
  for (int threads : {2, 4}) {
    set_thread_count(threads);
    EXPECT_EQ(make(surface)->find(surface.rest, 0.05), still);
    EXPECT_EQ(make(surface)->find(surface.rest, surface.rest + p, 0.01), moving);
  }
  set_thread_count(1);
}

/// All blocks, checked for what every block promises.
std::vector<Candidates> blocks_of(BroadPhase& broad_phase, std::size_t limit, const Matrix3X& x0,
                                  const Matrix3X& x1, double radius) {
  std::vector<Candidates> blocks;
  broad_phase.for_each_block(limit, x0, x1, radius, [&](std::span<const Stencil> block) {
    EXPECT_FALSE(block.empty());
    EXPECT_LE(block.size(), limit);
    EXPECT_TRUE(std::is_sorted(block.begin(), block.end()));
    blocks.emplace_back(block.begin(), block.end());
    return true;
  });
  return blocks;
}

TEST_P(EveryBroadPhase, BlocksHoldEveryPairOnceAndNoMoreThanTheLimit) {
  Random random(12);
  const CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
  const auto broad_phase = make(surface);
  for (const bool moving : {false, true}) {
    Matrix3X end = surface.rest;
    if (moving)
      for (Index v = 0; v < end.cols(); ++v) end.col(v) += 0.2 * random.vector();
    const Candidates found = broad_phase->find(surface.rest, end, 0.2);
    ASSERT_GT(found.size(), 1000u);
    for (const std::size_t limit : {std::size_t(1), std::size_t(7), std::size_t(100), std::size_t(1500),
                                    found.size() - 1, found.size()}) {
      const auto blocks = blocks_of(*broad_phase, limit, surface.rest, end, 0.2);
      Candidates all;
      for (const Candidates& block : blocks) all.insert(all.end(), block.begin(), block.end());
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, found) << limit;
      if (limit == found.size()) {
        EXPECT_EQ(blocks.size(), 1u);
      }
      // Blocks are filled: no crumbs.
      EXPECT_LE(blocks.size(), 2 * found.size() / limit + 2) << limit;
    }
  }
}

TEST_P(EveryBroadPhase, BlocksAreTheSameForAnyNumberOfThreadsAndStopOnRequest) {
  Random random(13);
  const CollisionSurface surface = two_sheets(14, 0.02, 0.01, 0.3, {}, random);
  const Matrix3X end = surface.rest + 0.1 * Matrix3X::Random(3, surface.vertex_count());
  set_thread_count(1);
  const auto one = blocks_of(*make(surface), 3000, surface.rest, end, 0.05);
  ASSERT_GT(one.size(), 5u);
  set_thread_count(3);
  EXPECT_EQ(blocks_of(*make(surface), 3000, surface.rest, end, 0.05), one);
  set_thread_count(1);
  std::size_t seen = 0;
  make(surface)->for_each_block(3000, surface.rest, end, 0.05,
                                [&](std::span<const Stencil>) { return ++seen < 3; });
  EXPECT_EQ(seen, 3u);
}

TEST_P(EveryBroadPhase, LeavesOutWhatTheUserFilters) {
  Random random(14);
  CollisionSurface surface = random_surface(40, 0.2, 0.05, random);
  const Candidates before = make(surface)->find(surface.rest, 0.1);
  // Vertices in three groups, of which the first and the second do not see each other.
  std::vector<int> group(surface.vertex_count());
  for (int& g : group) g = random.below(3);
  surface.can_collide = [group](Index a, Index b) { return group[a] + group[b] != 1; };
  const Candidates after = make(surface)->find(surface.rest, 0.1);
  Candidates expected;
  for (const Stencil& s : before) {
    bool any = false;
    for (int i = 0; i < first_count(s.kind); ++i)
      for (int j = first_count(s.kind); j < s.size(); ++j)
        any |= group[s.vertices[i]] + group[s.vertices[j]] != 1;
    if (any) expected.push_back(s);
  }
  EXPECT_EQ(after, expected);
  EXPECT_LT(after.size(), before.size());
  EXPECT_GT(after.size(), 0u);
  surface.can_collide = [](Index, Index) { return false; };
  EXPECT_TRUE(make(surface)->find(surface.rest, surface.rest, 0.1).empty());
}

/// Two wavy sheets of 40 × 40 points that collide neither with each other nor with themselves, and a few
/// triangles that collide with all: with the sheets idle, the search finds the same as one that tests
/// everything, without the pairs of sheets and some that stay far from each other.
TEST(BroadPhase, LeavesOutWhatIsIdleAndNothingElse) {
  constexpr int side = 40;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  const int sheet = side * side, loose = 30;
  Matrix3X x0(3, 2 * sheet + 3 * loose);
  std::vector<int> body(std::size_t(x0.cols()));
  std::vector<std::array<int, 3>> triangles;
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        const int v = s * sheet + i * side + j;
        x0.col(v) = Vector3(i, 0.3 * std::sin(i + 2.0 * j) + 0.2 * s, j) / side;
        body[std::size_t(v)] = s;
        if (i + 1 < side && j + 1 < side) {
          triangles.push_back({v, v + 1, v + side});
          triangles.push_back({v + side, v + 1, v + side + 1});
        }
      }
  for (int t = 0; t < loose; ++t) {
    const int v = 2 * sheet + 3 * t;
    // Most of them near a corner of the sheets: the rest is far from them.
    const Vector3 centre = 0.15 * Vector3(number(random), 0.2 * number(random), number(random)).cwiseAbs();
    for (int k = 0; k < 3; ++k) {
      x0.col(v + k) = centre + 0.03 * Vector3(number(random), number(random), number(random));
      body[std::size_t(v + k)] = 2;
    }
    triangles.push_back({v, v + 1, v + 2});
  }
  Faces faces(3, Index(triangles.size()));
  for (std::size_t f = 0; f < triangles.size(); ++f)
    for (int k = 0; k < 3; ++k) faces(k, Index(f)) = triangles[f][std::size_t(k)];
  PairTable some(3);
  for (const auto& [a, b] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 1)})
    some.set(a, b, {.enabled = false});
  const CollisionSurface idle(x0, faces, Edges(2, 0), body, some, {});
  const CollisionSurface busy(x0, faces, Edges(2, 0), body, PairTable(3), {});
  for (const bool moving : {false, true}) {
    Matrix3X x1 = x0;
    if (moving)
      for (Index v = 0; v < x1.cols(); ++v)
        x1.col(v) += (v < 2 * sheet ? 0.02 : 0.2) * Vector3(number(random), number(random), number(random));
    std::vector<Matrix3X> on_the_way;
    for (int k = 0; k <= 20; ++k) on_the_way.push_back((1 - k / 20.0) * x0 + k / 20.0 * x1);
    for (const BroadPhaseMethod& method : broad_phase_methods()) {
      if (method.name == "brute_force") continue;
      Candidates expected = method.make(busy)->find(x0, x1, 0.02);
      std::erase_if(expected, [&](const Stencil& s) {
        return body[std::size_t(s.vertices[0])] < 2 &&
               body[std::size_t(s.vertices[std::size_t(s.size()) - 1])] < 2;
      });
      EXPECT_FALSE(expected.empty());
      const Candidates found = method.make(idle)->find(x0, x1, 0.02);
      EXPECT_TRUE(contains_all(expected, found)) << method.name << moving;
      std::erase_if(expected, [&](const Stencil& s) {
        return std::ranges::none_of(on_the_way, [&](const Matrix3X& x) { return distance(s, x) <= 0.02; });
      });
      EXPECT_TRUE(contains_all(found, expected)) << method.name << moving;
      EXPECT_FALSE(expected.empty());
    }
  }
}

TEST(BroadPhase, AllMethodsButTheOracleReportTheSamePairs) {
  Random random(15);
  for (int trial = 0; trial < 40; ++trial) {
    const CollisionSurface surface = random_surface(40, random.uniform(0.02, 0.4), 0.05, random);
    Matrix3X x = surface.rest, end = x;
    // Some triangles and paths are thousands of times as large as the others.
    for (Index v = 0; v < x.cols(); ++v) {
      if (random.below(8) == 0) x.col(v) *= random.exponential(1, 1e4);
      end.col(v) = x.col(v) + (random.below(4) ? 0.05 : random.exponential(0.1, 1e3)) * random.vector();
    }
    const double radius = random.exponential(1e-4, 0.1);
    const auto bvh = make_bvh(surface);
    const Candidates still = bvh->find(x, radius), moving = bvh->find(x, end, radius);
    for (const BroadPhaseMethod& method : broad_phase_methods()) {
      const auto other = method.make(surface);
      const Candidates other_still = other->find(x, radius), other_moving = other->find(x, end, radius);
      if (method.name == "brute_force") {
        // Rounds less at rest, and looks at whole boxes of paths.
        EXPECT_TRUE(contains_all(still, other_still));
        EXPECT_TRUE(contains_all(other_moving, closer_than(moving, end, radius)));
      } else {
        EXPECT_EQ(other_still, still) << method.name;
        EXPECT_EQ(other_moving, moving) << method.name;
      }
    }
  }
}

TEST(BroadPhase, OneHugeTriangleAmongManySmallOnesCostsTheHashLittle) {
  Random random(16);
  const CollisionSurface small = two_sheets(60, 0.05, 0.001, 0.3, {}, random);
  Matrix3X x(3, small.vertex_count() + 3);
  x << small.rest, 1e4 * Matrix3X::Random(3, 3);
  Faces faces(3, small.faces.cols() + 1);
  const int n = int(small.vertex_count());
  faces << small.faces, Eigen::Vector3i(n, n + 1, n + 2);
  std::vector<int> body = small.vertex_body;
  body.insert(body.end(), 3, 1);
  const CollisionSurface surface(x, faces, Edges(2, 0), body, small.pairs, {});
  const auto hash = make_spatial_hash(surface), bvh = make_bvh(surface);
  EXPECT_EQ(hash->find(x, 1e-3), bvh->find(x, 1e-3));
  const auto seconds = [](BroadPhase& search, const Matrix3X& at) {
    double best = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const double begin = process_cpu_seconds();
      search.find(at, 1e-3);
      best = std::min(best, process_cpu_seconds() - begin);
    }
    return best;
  };
  // Cells made for the huge triangle would put all others into a few: tens of millions of pairs to test.
  EXPECT_LT(seconds(*hash, x), 20 * seconds(*make_spatial_hash(small), small.rest));
}

TEST(BroadPhase, BvhReportsHardlyMoreThanTheBoxesWithinReach) {
  Random random(9);
  const CollisionSurface surface = two_sheets(20, 0.01, 0.002, 0.3, {}, random);
  const Matrix3X x = surface.rest.array() + 100.0;
  const std::size_t boxes = make_brute_force(surface)->find(x, 0.02).size();
  const std::size_t found = make_bvh(surface)->find(x, 0.02).size();
  EXPECT_GE(found, boxes);
  EXPECT_LE(found, boxes + boxes / 1000 + 10);
}

TEST(BroadPhase, BvhSeesThatABodyInFlightDoesNotCollideWithItself) {
  Random random(10);
  const CollisionSurface surface = two_sheets(15, 10, 0.01, 0, {}, random);
  const Matrix3X& x = surface.rest;
  const Matrix3X p = Vector3(20, -7, 3).replicate(1, x.cols());  // many times the size of the sheets
  const auto bvh = make_bvh(surface);
  EXPECT_LE(bvh->find(x, x + p, 1e-3).size(), bvh->find(x, 1.1e-3).size());
}

TEST(BroadPhase, UnknownNamesAreRefusedWithTheKnownOnes) {
  Random random(11);
  const CollisionSurface surface = random_surface(3, 0.1, 0.1, random);
  EXPECT_NE(make_broad_phase("bvh", surface), nullptr);
  EXPECT_EQ(broad_phase_methods().front().name, "bvh");
  try {
    make_broad_phase("octree", surface);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("octree"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("brute_force"), std::string::npos);
  }
}

}  // namespace
}  // namespace apart::test
