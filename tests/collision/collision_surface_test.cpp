#include <gtest/gtest.h>
#include <apart/collision/collision_surface.hpp>
#include <apart/core/error.hpp>

namespace apart {
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
}  // namespace apart
