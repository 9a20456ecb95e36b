#include <gtest/gtest.h>
#include <apart/core/parallel.hpp>
#include <apart/verify/gaps.hpp>
#include <apart/verify/path_proof.hpp>
#include <support/any_pair.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace apart::test {
namespace {

using namespace verify;

using exact::Path;

std::vector<Path> paths(const std::vector<Vector3>& from, const std::vector<Vector3>& to) {
  std::vector<Path> result;
  for (std::size_t i = 0; i < from.size(); ++i) result.push_back({from[i], to[i]});
  return result;
}

bool proven(const std::vector<Path>& a, const std::vector<Path>& b) {
  return proven_apart_until(a, b, 0, 1) == 1;
}

/// Integer coordinates: contact at time k/8 planted exactly.
class PlantedContacts {
 public:
  explicit PlantedContacts(int seed) : random_(seed) {}
  Vector3 vector(int range) {
    std::uniform_int_distribution<int> integer(-range, range);
    return {double(integer(random_)), double(integer(random_)), double(integer(random_))};
  }
  /// The point is at `position` at time k/8 and moves with `velocity`.
  static Path through(const Vector3& position, const Vector3& velocity, int k) {
    return {position - k * velocity / 8, position + (8 - k) * velocity / 8};
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  std::mt19937 random_;
};

TEST(PathProof, NeverAcceptsAPlantedContact) {
  // At time k/8 a weighted mean of a's corners with weights of quarters coincides with one of b's, exactly;
  // before and after, everything moves at random.
  PlantedContacts plant(5);
  for (auto [m, n] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 2}})
    for (int trial = 0; trial < 300; ++trial) {
      const int k = plant.integer(0, 8);
      auto weights = [&](int count) {
        std::vector<double> w(count, 0.0);
        for (int quarter = 0; quarter < 4; ++quarter) w[plant.integer(0, count - 1)] += 0.25;
        return w;
      };
      auto hull = [&](int count, std::vector<Vector3>& x) {
        for (int i = 0; i < count; ++i) x.push_back(4 * plant.vector(4));
        const auto w = weights(count);
        Vector3 p = Vector3::Zero();
        for (int i = 0; i < count; ++i) p += w[i] * x[i];
        return p;
      };
      std::vector<Vector3> xa, xb;
      const Vector3 pa = hull(m, xa), pb = hull(n, xb);
      for (auto& p : xa) p += pb - pa;
      std::vector<Path> a, b;
      for (const auto& p : xa) a.push_back(PlantedContacts::through(p, 8 * plant.vector(3), k));
      for (const auto& p : xb) b.push_back(PlantedContacts::through(p, 8 * plant.vector(3), k));
      const double until = proven_apart_until(a, b, 0, 1);
      EXPECT_LE(until, k / 8.0) << m << "-" << n << " trial " << trial;
      EXPECT_FALSE(until == 1 && k < 8);
      EXPECT_FALSE(proven(a, b)) << m << "-" << n << " trial " << trial;
    }
}

TEST(PathProof, AcceptsPathsThatKeepAGapHoweverSmall) {
  // A point crosses above a triangle at distance g; a rotating edge passes another edge at distance g; far
  // from the world's origin too.
  for (const Vector3& place : {Vector3(0, 0, 0), Vector3(1000.1, -77.7, 12.3)})
    for (double g : {1e-4, 1e-7, 1e-10}) {
      const std::vector<Vector3> triangle{place + Vector3(0, 0, 0), place + Vector3(1, 0, 0),
                                          place + Vector3(0, 1, 0)};
      EXPECT_TRUE(
          proven(paths({place + Vector3(-1, -1, g)}, {place + Vector3(1, 1, g)}), paths(triangle, triangle)));
      // Both ends of the moving edge swing to the other side: at time 0.5 the edges are nearly parallel.
      const std::vector<Vector3> edge{place + Vector3(-1, 0, 0), place + Vector3(1, 0, 0)};
      EXPECT_TRUE(proven(paths({place + Vector3(-1, -0.5, g), place + Vector3(1, 0.6, g)},
                               {place + Vector3(-1, 0.6, g), place + Vector3(1, -0.5, g)}),
                         paths(edge, edge)));
      // A point follows a rotating edge closely.
      EXPECT_TRUE(proven(paths({place + Vector3(0, 0, g)}, {place + Vector3(0, 0, g)}),
                         paths(edge, {place + Vector3(-1, -0.1, 0), place + Vector3(1, 0.1, 0)})));
    }
}

TEST(PathProof, AcceptsAHingeThatOpensAndTurns) {
  // Crossed edges at distance 1e-10 while everything turns by ten degrees about an axis in their plane: no
  // fixed direction separates them for long, but the four points never become coplanar.
  const double g = 1e-10, angle = M_PI / 18;
  Matrix3 turn;
  turn << 1, 0, 0, 0, std::cos(angle), -std::sin(angle), 0, std::sin(angle), std::cos(angle);
  const std::vector<Vector3> a{{-1, -1, g}, {1, 1, g}}, b{{-1, 1, 0}, {1, -1, 0}};
  auto turned = [&](std::vector<Vector3> x) {
    for (auto& p : x) p = turn * p;
    return x;
  };
  EXPECT_TRUE(proven(paths(a, turned(a)), paths(b, turned(b))));
}

TEST(PathProof, RejectsTunnelling) {
  const std::vector<Vector3> triangle{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const double until =
      proven_apart_until(paths({{0.2, 0.2, 3}}, {{0.2, 0.2, -1}}), paths(triangle, triangle), 0, 1);
  EXPECT_LE(until, 0.75);
  EXPECT_NEAR(until, 0.75, 1e-9);
  // Just beside the triangle: no collision.
  EXPECT_TRUE(proven(paths({{-1e-12, 0.2, 3}}, {{-1e-12, 0.2, -1}}), paths(triangle, triangle)));
  // Grazing its border: touching counts.
  EXPECT_FALSE(proven(paths({{0, 0.2, 3}}, {{0, 0.2, -1}}), paths(triangle, triangle)));
  // Touching only at the very end.
  EXPECT_FALSE(proven(paths({{0.2, 0.2, 3}}, {{0.2, 0.2, 0}}), paths(triangle, triangle)));
  EXPECT_TRUE(proven(paths({{0.2, 0.2, 3}}, {{0.2, 0.2, 5e-324}}), paths(triangle, triangle)));
}

TEST(PathProof, NeverAcceptsAGapThatIsUndercut) {
  // At time k/8 a corner, or a point within, of one primitive is exactly `apart` from one of the other.
  PlantedContacts planted(5);
  const std::array<std::pair<int, int>, 4> kinds = {{{1, 1}, {1, 2}, {1, 3}, {2, 2}}};
  int wide = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto [na, nb] = kinds[std::size_t(i % 4)];
    const int k = planted.integer(0, 8);
    const Vector3 meeting = planted.vector(20), apart = planted.vector(4);
    const auto primitive = [&](int n, const Vector3& through) {
      std::vector<Vector3> x;
      for (int j = 0; j < n; ++j) x.push_back(planted.vector(16));
      // The mean of two corners, or the only one, goes through the place; of even sums, so that it is exact.
      if (n == 1) x[0] = through;
      if (n >= 2) x[1] = 2 * through - x[0];
      std::vector<Path> result;
      for (const Vector3& p : x) result.push_back(PlantedContacts::through(p, 8 * planted.vector(3), k));
      return result;
    };
    const std::vector<Path> a = primitive(na, meeting + apart), b = primitive(nb, meeting);
    const double distance = apart.norm();
    EXPECT_LT(proven_apart_until(a, b, 0, 1, distance * (1 + 1e-12) + 1e-300), 1) << i;
    wide += proven_apart_until(a, b, 0, 1, 0.25) == 1;
  }
  EXPECT_GT(wide, 50) << "most come closer, but not all";
}

TEST(PathProof, AcceptsGapsThatAreKeptByAHair) {
  // One passes the other at a known distance, at an odd time; lines go on along what they are passed by.
  const Vector3 way(3, 1, -2), along = way.cross(Vector3(1, 1, 1)).normalized();
  const Vector3 off = way.cross(along).normalized() * 0.37;
  const auto moving = [&](std::vector<Vector3> x) {
    std::vector<Vector3> from, to;
    for (const Vector3& p : x) {
      from.push_back(p + off - 0.3 * way);
      to.push_back(p + off + 0.7 * way);
    }
    return paths(from, to);
  };
  const auto resting = [&](const std::vector<Vector3>& x) { return paths(x, x); };
  const Vector3 o = Vector3::Zero(), side = -3 * off - along;
  const std::vector<std::pair<std::vector<Path>, std::vector<Path>>> pairs = {
      {moving({o}), resting({o})},
      {moving({o}), resting({-along, along})},
      {moving({o}), resting({-along, along, side})},
      {moving({-along, along}), resting({-way, way})}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [a, b] = pairs[i];
    for (const double hair : {1e-3, 1e-6, 1e-9, 1e-12}) {
      EXPECT_EQ(proven_apart_until(a, b, 0, 1, 0.37 * (1 - hair)), 1) << i << ", " << hair;
      EXPECT_LT(proven_apart_until(a, b, 0, 1, 0.37 * (1 + hair)), 1) << i << ", " << hair;
    }
    EXPECT_NEAR(proven_apart_until(a, b, 0, 1, 0.5),
                i == 3 ? 0 : 0.3 - std::sqrt(0.25 - 0.37 * 0.37) / way.norm(), 1e-6)
        << "up to where it is undercut";
  }
}

TEST(PathProof, SurvivesHugeAndDegenerateInput) {
  const std::vector<Vector3> flat{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}},
      huge{{1e200, 0, 0}, {0, 1e200, 0}, {0, 0, 1e200}};
  EXPECT_TRUE(proven(paths({{0, 1, 1}}, {{2, 1, 1}}), paths(flat, flat)));
  EXPECT_FALSE(proven(paths({{1, 1, 0}}, {{1, -1, 0}}), paths(flat, flat)));
  EXPECT_FALSE(proven(paths({{0, 0, 0}}, {{1e200, 1e200, 1e200}}), paths(huge, huge)));
}

/// Queries with known answers that others have published; see the file format in that folder.
class PublishedQueries : public testing::TestWithParam<const char*> {};

TEST_P(PublishedQueries, NoCollisionIsAcceptedAndEveryMissAboveRoundingIsProven) {
  const std::filesystem::path folder = std::filesystem::path(APART_DATA) / "ccd" / GetParam();
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no published collision queries in " << APART_DATA
                 << "/ccd: put github.com/Continuous-Collision-Detection/Sample-Queries there, or name the "
                    "folder above it: cmake -D APART_DATA=folder build";
  int collisions = 0, misses = 0;
  for (const char* kind : {"edge-edge", "vertex-face"})
    for (const auto& file : std::filesystem::directory_iterator(folder / kind)) {
      std::ifstream in(file.path());
      std::vector<Vector3> x;
      std::string line;
      bool truth = false;
      while (std::getline(in, line)) {
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream words(line);
        double number[7];  // numerators and denominators of doubles: both are exact, and so is the quotient
        for (double& v : number) {
          std::string word;
          words >> word;
          v = std::strtod(word.c_str(), nullptr);
        }
        ASSERT_TRUE(words) << file.path() << ": " << line;
        x.push_back({number[0] / number[1], number[2] / number[3], number[4] / number[5]});
        truth = number[6] != 0;
        if (x.size() < 8) continue;
        const int split = std::string_view(kind) == "edge-edge" ? 2 : 1;
        std::vector<Path> all;
        for (int i = 0; i < 4; ++i) all.push_back({x[i], x[i + 4]});
        const std::span<const Path> span(all);
        const double until = proven_apart_until(span.first(split), span.subspan(split), 0, 1);
        EXPECT_FALSE(until == 1 && truth) << file.path() << " accepts a collision";
        truth ? ++collisions : ++misses;
        if (until < 1 && !truth) {
          // These sets hold queries that miss by less than the last bit of their coordinates.
          std::array<Vector3, 4> y;
          for (int i = 0; i < 4; ++i) y[i] = (1 - until) * all[i].from + until * all[i].to;
          const std::span<const Vector3> then(y);
          EXPECT_LT(separating_directions(then.first(split), then.subspan(split)).shortest.norm(), 1e-11)
              << file.path();
        }
        x.clear();
      }
    }
  EXPECT_GT(collisions, 0);
  EXPECT_GT(misses, 0);
}

INSTANTIATE_TEST_SUITE_P(Sets, PublishedQueries,
                         testing::Values("unit-tests", "erleben-cube-cliff-edges", "erleben-spike-crack",
                                         "erleben-spikes", "erleben-wedges"));

/// Two square sheets of triangles, one above the other.
struct Sheets {
  Matrix3X points;
  Faces faces;
  Index per_sheet;
};
Sheets two_sheets(int cells, double height) {
  const Index row = cells + 1, n = row * row;
  Sheets s{Matrix3X(3, 2 * n), Faces(3, 4 * cells * cells), n};
  Index f = 0;
  for (int sheet = 0; sheet < 2; ++sheet)
    for (int i = 0; i <= cells; ++i)
      for (int j = 0; j <= cells; ++j) {
        const Index v = sheet * n + i * row + j;
        s.points.col(v) << double(i) / cells, sheet * height, double(j) / cells;
        if (i == cells || j == cells) continue;
        s.faces.col(f++) << v, v + 1, v + row;
        s.faces.col(f++) << v + 1, v + row + 1, v + row;
      }
  return s;
}

TEST(ProveApart, PassesParallelSlidingAndCatchesASwap) {
  const Sheets s = two_sheets(12, 1e-9);
  const auto surface = exact::surface(Index(s.points.cols()), s.faces, {}, {});
  Matrix3X slid = s.points, swapped = s.points;
  slid.block(0, s.per_sheet, 1, s.per_sheet).array() += 0.37;
  const PathProof sliding = prove_apart(s.points, slid, surface, any_pair);
  EXPECT_TRUE(sliding.unproven.empty());
  EXPECT_GT(sliding.pairs, 1000);
  // The upper sheet falls through the lower one.
  swapped.block(1, s.per_sheet, 1, s.per_sheet).array() -= 1;
  const PathProof through = prove_apart(s.points, swapped, surface, any_pair);
  EXPECT_FALSE(through.unproven.empty());
  for (const auto& u : through.unproven) EXPECT_LE(u.time, 1e-9);
  // A filter that lets them pass.
  auto same_sheet = [&](Index i, Index j) { return (i < s.per_sheet) == (j < s.per_sheet); };
  EXPECT_TRUE(prove_apart(s.points, swapped, surface, same_sheet).unproven.empty());
}

TEST(ProveApart, FindsTheOneVertexThatTunnelsInALongFastMotion) {
  // Everything travels 40 m, the upper sheet's middle vertex dips through the lower sheet on the way. Times
  // are cut into slices here.
  Sheets s = two_sheets(10, 0.01);
  const auto surface = exact::surface(Index(s.points.cols()), s.faces, {}, {});
  Matrix3X moved = s.points;
  moved.row(0).array() += 40;
  EXPECT_TRUE(prove_apart(s.points, moved, surface, any_pair).unproven.empty());
  const Index middle = s.per_sheet + 60;
  moved(1, middle) = -0.01;
  const PathProof one = prove_apart(s.points, moved, surface, any_pair);
  ASSERT_FALSE(one.unproven.empty());
  for (const auto& u : one.unproven) {
    EXPECT_TRUE(std::count(u.pair.a.vertices.begin(), u.pair.a.vertices.end(), middle) +
                std::count(u.pair.b.vertices.begin(), u.pair.b.vertices.end(), middle));
    EXPECT_NEAR(u.time, 0.5, 0.3);
  }
}

TEST(ProveApart, IsTheSameForAnyNumberOfThreads) {
  const Sheets s = two_sheets(12, 1e-3);
  const auto surface = exact::surface(Index(s.points.cols()), s.faces, {}, {});
  Matrix3X moved = s.points;
  moved.block(1, s.per_sheet, 1, s.per_sheet).array() -= 0.01;
  const PathProof one = prove_apart(s.points, moved, surface, any_pair);
  set_thread_count(2);
  const PathProof two = prove_apart(s.points, moved, surface, any_pair);
  set_thread_count(1);
  ASSERT_EQ(one.unproven.size(), two.unproven.size());
  EXPECT_EQ(one.pairs, two.pairs);
  for (std::size_t i = 0; i < one.unproven.size(); ++i) {
    EXPECT_EQ(one.unproven[i].pair, two.unproven[i].pair);
    EXPECT_EQ(one.unproven[i].time, two.unproven[i].time);
  }
}

TEST(ProveApart, CodimensionalPairsAreExamined) {
  Matrix3X from(3, 5), to(3, 5);
  from << 0, 0, 0, -1, 1,  //
      0, 1, 2, 0, 0,       //
      0, 0, 0, 3, 3;
  to = from;
  Edges segments(2, 1);
  segments << 3, 4;
  Eigen::VectorXi points(3);
  points << 0, 1, 2;
  const auto surface = exact::surface(5, {}, segments, points);
  to.col(0) << 0, 2, 0;  // runs over point 1 into point 2
  auto proof = prove_apart(from, to, surface, any_pair);
  ASSERT_EQ(proof.unproven.size(), 2u);
  EXPECT_EQ(proof.unproven[0].pair, (exact::PrimitivePair{{{0, -1, -1}}, {{1, -1, -1}}}));
  EXPECT_EQ(proof.unproven[1].pair, (exact::PrimitivePair{{{0, -1, -1}}, {{2, -1, -1}}}));
  to = from;
  to.col(0) << 0, 0, 4;  // through the segment
  proof = prove_apart(from, to, surface, any_pair);
  ASSERT_EQ(proof.unproven.size(), 1u);
  EXPECT_EQ(proof.unproven[0].pair, (exact::PrimitivePair{{{0, -1, -1}}, {{3, 4, -1}}}));
  to.col(0) << 1e-3, 0, 4;  // beside point 1, and the segment turns out of the way
  to.col(3) << -1, 5, 3;
  to.col(4) << 1, 5, 3;
  EXPECT_TRUE(prove_apart(from, to, surface, any_pair).unproven.empty());
}

TEST(UnprovenVolumes, CatchInversionBetweenTwoGoodStates) {
  // The tip goes through the base and comes back with the base turned over: both ends are positive.
  Tetrahedra tetrahedra(4, 2);
  tetrahedra << 0, 4, 1, 5, 2, 6, 3, 7;
  Matrix3X from(3, 8), to(3, 8);
  from << 0, 1, 0, 0, 0, 1, 0, 0,  //
      0, 0, 1, 0, 0, 0, 1, 0,      //
      0, 0, 0, 1, 0, 0, 0, 1;
  to = from;
  const std::vector<Index> both{0, 1};
  to.block(0, 4, 3, 4) *= 1e-3;  // shrinks, stays positive
  EXPECT_TRUE(find_unproven_volumes(from, to, tetrahedra, both).empty());
  to.col(0) << 0, 0, 0;  // half a turn about z by straight lines: flat at the middle
  to.col(1) << -1, 0, 0;
  to.col(2) << 0, -1, 0;
  auto bad = find_unproven_volumes(from, to, tetrahedra, both);
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].tetrahedron, 0);
  EXPECT_NEAR(bad[0].time, 0.5, 1e-6);
  // Inverted at the end, by one bit.
  to = from;
  to.col(3) << 0.25, 0.25, -5e-324;
  EXPECT_EQ(find_unproven_volumes(from, to, tetrahedra, both).size(), 1u);
  to.col(3) << 0.25, 0.25, 0;
  EXPECT_EQ(find_unproven_volumes(from, to, tetrahedra, both).size(), 1u);
  to.col(3) << 0.25, 0.25, 5e-324;
  EXPECT_TRUE(find_unproven_volumes(from, to, tetrahedra, both).empty());
  EXPECT_TRUE(find_unproven_volumes(from, to, tetrahedra, std::vector<Index>{1}).empty());
}

}  // namespace
}  // namespace apart::test
