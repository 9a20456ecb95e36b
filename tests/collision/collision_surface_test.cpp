#include <gtest/gtest.h>
#include <apart/collision/collision_surface.hpp>
#include <apart/core/error.hpp>

#include <random>
#include <set>

namespace apart::test {
namespace {

/// Two triangles sharing an edge, a chain of two segments hanging on one corner, a segment apart, and a
/// point.
CollisionSurface mixed(Edges segments) {
  Matrix3X x = Matrix3X::Random(3, 9);
  Faces faces(3, 2);
  faces << 0, 2, 1, 1, 2, 3;
  return {x, faces, segments, std::vector<int>(9, 0), PairTable(1), {}};
}

TEST(CollisionSurface, ListsEveryEdgeOnceAndKnowsWhatHangsOnNoFace) {
  Edges segments(2, 5);
  segments << 4, 2, 7, 6, 7,  //
      3, 1, 6, 7, 6;          // 2–1 is an edge of a triangle, 7–6 comes three times
  const CollisionSurface s = mixed(segments);
  Edges expected(2, 7);
  expected << 0, 0, 1, 1, 2, 3, 6,  //
      1, 2, 2, 3, 3, 4, 7;
  EXPECT_EQ(s.edges, expected);
  EXPECT_EQ(s.free_edges, (std::vector<Index>{5, 6}));
  EXPECT_EQ(s.isolated_vertices, (std::vector<Index>{5, 8}));
}

TEST(CollisionSurface, RejectsBadInputNamingIt) {
  const auto message = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto surface = [](Faces faces, Edges segments, std::vector<int> body = {0, 0, 0, 1},
                          Matrix3X x = Matrix3X::Zero(3, 4), std::vector<HalfSpace> planes = {}) {
    CollisionSurface(x, faces, segments, body, PairTable(2), planes);
  };
  const Faces none(3, 0);
  const Edges no_edges(2, 0);
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, message([&] { surface(Eigen::Vector3i(0, 1, 9), no_edges); }), "vertex 9");
  EXPECT_PRED2(has, message([&] { surface(Eigen::Vector3i(0, 1, -1), no_edges); }), "vertex -1");
  EXPECT_PRED2(has, message([&] { surface(Eigen::Vector3i(0, 1, 1), no_edges); }), "vertex 1 twice");
  EXPECT_PRED2(has, message([&] { surface(Eigen::Vector3i(0, 1, 3), no_edges); }), "bodies 0 and 1");
  EXPECT_PRED2(has, message([&] { surface(none, Eigen::Vector2i(2, 2)); }), "vertex 2 twice");
  EXPECT_PRED2(has, message([&] { surface(none, Eigen::Vector2i(2, 4)); }), "vertex 4");
  EXPECT_PRED2(has, message([&] { surface(none, no_edges, {0, 0, 0}); }), "4 vertices but 3");
  EXPECT_PRED2(has, message([&] { surface(none, no_edges, {0, 0, 0, 2}); }), "body 2");
  Matrix3X bad = Matrix3X::Zero(3, 4);
  bad(1, 2) = std::nan("");
  EXPECT_PRED2(has, message([&] { surface(none, no_edges, {0, 0, 0, 1}, bad); }), "vertex 2");
  const Matrix3X zero = Matrix3X::Zero(3, 4);
  EXPECT_PRED2(has, message([&] {
                 surface(none, no_edges, {0, 0, 0, 1}, zero, {{.normal = Vector3(0, 2, 0)}});
               }),
               "unit length");
  EXPECT_PRED2(has, message([&] { surface(none, no_edges, {0, 0, 0, 1}, zero, {{.body = 2}}); }), "body 2");
}

TEST(PairTable, IsSymmetricAndKnowsTheLargestReach) {
  PairTable table(3, {.dhat = 1e-3});
  EXPECT_DOUBLE_EQ(table.max_reach(), 1e-3);
  table.set(0, 2, {.friction = 0.3, .dhat = 2e-3, .thickness = 5e-3});
  EXPECT_EQ(table(2, 0).friction, 0.3);
  EXPECT_EQ(table(0, 2).thickness, 5e-3);
  EXPECT_EQ(table(0, 1).friction, 0);
  EXPECT_DOUBLE_EQ(table.max_reach(), 7e-3);
  table.set(2, 0, {.enabled = false, .dhat = 1});
  EXPECT_DOUBLE_EQ(table.max_reach(), 1e-3);
}

/// The same by brute force: every pair has its entry.
struct DenseTable {
  explicit DenseTable(int n, const PairSettings& everywhere)
      : count(n), settings(std::size_t(n * n), everywhere) {}
  PairSettings& operator()(int a, int b) {
    return settings[std::size_t(std::min(a, b) * count + std::max(a, b))];
  }
  int count;
  std::vector<PairSettings> settings;
};

bool same(const PairSettings& a, const PairSettings& b) {
  if (!a.enabled && !b.enabled) return true;
  return a.enabled == b.enabled && a.friction == b.friction && a.dhat == b.dhat &&
         a.thickness == b.thickness && a.kinetic_friction == b.kinetic_friction &&
         a.spares_neighbours == b.spares_neighbours;
}

TEST(PairTable, OfClassesIsWhatATableOfAllPairsIs) {
  std::mt19937 random(5);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 2 + below(12), classes = 1 + below(n);
    std::vector<int> of_body;
    for (int b = 0; b < n; ++b) of_body.push_back(b < classes ? b : below(classes));
    PairTable table(of_body, {.dhat = 1e-3});
    DenseTable dense(n, {.dhat = 1e-3});
    std::set<std::pair<int, int>> own;
    int left_out = -1;
    const auto some = [&] {
      return PairSettings{.enabled = below(4) > 0,
                          .friction = 0.1 * below(3),
                          .dhat = 1e-3 * (1 + below(3)),
                          .thickness = 1e-3 * below(3)};
    };
    for (int step = 0; step < 12; ++step) {
      const PairSettings s = some();
      const int a = below(n), b = below(n), kind = below(8);
      if (kind < 4) {
        table.set(a, b, s);
        dense(a, b) = s;
        if (a != b) own.insert(std::minmax(a, b));
      } else if (kind < 6 && own.empty()) {
        table.set_classes(of_body[std::size_t(a)], of_body[std::size_t(b)], s);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < i; ++j)
            if (std::minmax(of_body[std::size_t(i)], of_body[std::size_t(j)]) ==
                std::minmax(of_body[std::size_t(a)], of_body[std::size_t(b)]))
              dense(i, j) = s;
      } else if (kind == 6 && below(3) == 0) {
        table.disable(left_out = a);
        for (int i = 0; i < n; ++i) dense(a, i).enabled = false;
        break;  // settings made later would not be seen
      } else {
        const auto thicker = [](PairSettings& p) { p.thickness += 1e-3; };
        table.change_all(thicker);
        for (PairSettings& p : dense.settings) thicker(p);
      }
    }
    double reach = 0, low = std::numeric_limits<double>::infinity(), high = 0;
    std::set<std::pair<int, int>> off, listed;
    for (int a = 0; a < n; ++a)
      for (int b = a; b < n; ++b) {
        ASSERT_TRUE(same(table(a, b), dense(a, b))) << trial << ": " << a << " " << b;
        ASSERT_TRUE(same(table(b, a), dense(a, b)));
        if (!dense(a, b).enabled) {
          if (a != b && a != left_out && b != left_out) off.insert({a, b});
          continue;
        }
        reach = std::max(reach, dense(a, b).dhat + dense(a, b).thickness);
        low = std::min(low, dense(a, b).dhat);
        high = std::max(high, dense(a, b).dhat);
      }
    EXPECT_EQ(table.max_reach(), reach);
    EXPECT_EQ(table.min_dhat(), low);
    EXPECT_EQ(table.max_dhat(), high);
    const std::vector<double> half = table.half_thickness();
    for (int a = 0; a < n; ++a)
      for (int b = a; b < n; ++b) {
        const double needed = dense(a, b).enabled ? dense(a, b).thickness * (1 - 1e-15) : 0;
        EXPECT_GE(half[std::size_t(a)] + half[std::size_t(b)], needed);
      }
    table.for_each_pair([](const PairSettings& s, int, int) { return !s.enabled; },
                        [&](const PairSettings& s, int a, int b) {
                          EXPECT_LT(a, b);
                          EXPECT_TRUE(s.enabled || listed.insert({a, b}).second) << "once each";
                        });
    EXPECT_EQ(listed, off);
  }
}

TEST(PairTable, OfManyBodiesIsSmallAndFast) {
  const int n = 200'000;
  PairTable table(n, {.dhat = 1e-3});
  for (int b = 0; b + 1 < n; ++b) table.set(b, b + 1, {.enabled = false});
  EXPECT_FALSE(table(17, 18).enabled);
  EXPECT_TRUE(table(17, 19).enabled);
  EXPECT_TRUE(table(17, 17).enabled);
  EXPECT_EQ(table.max_dhat(), 1e-3);
  EXPECT_EQ(int(table.own_pairs().size()), n - 1);
}

TEST(PairTable, RejectsImpossibleSettings) {
  PairTable table(2);
  EXPECT_THROW(table.set(0, 2, {}), InputError);
  EXPECT_THROW(table.set(-1, 0, {}), InputError);
  EXPECT_THROW(table.set(0, 1, {.dhat = 0}), InputError);
  EXPECT_THROW(table.set(0, 1, {.dhat = std::nan("")}), InputError);
  EXPECT_THROW(table.set(0, 1, {.thickness = -1}), InputError);
  EXPECT_THROW(table.set(0, 1, {.friction = -0.1}), InputError);
  EXPECT_THROW(PairTable(1, {.dhat = -1}), InputError);
}

}  // namespace
}  // namespace apart::test
