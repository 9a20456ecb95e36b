// Sets turn into nodes, points and facets as the mesh is now.
#include <apart/bodies/acting_parts.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace apart::test {
namespace {

Material rubber() {
  return NeoHookean{lame_parameters(1e5, 0.4)};
}

Body soft_box(int cells) {
  return make_volume("box", generate::box({1, 1, 1}, {cells, cells, cells}), rubber(), 1000,
                     MassKind::lumped);
}

std::vector<Index> numbers(Index count) {
  std::vector<Index> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST(BodySets, HoldMembersInOrderAndOnce) {
  BodySets sets;
  const PointSet set = sets.add_points("end", {5, 2, 5, 9});
  EXPECT_EQ(sets[set], (std::vector<Index>{2, 5, 9}));
  EXPECT_TRUE(sets[PointSet{}].empty());
}

TEST(BodySets, OfOneNameAreOneIfTheyAreEqualAndGetANumberOtherwise) {
  BodySets sets;
  const PointSet first = sets.add_points("end", {1, 2});
  EXPECT_EQ(sets.add_points("end", {2, 1}), first);
  const PointSet second = sets.add_points("end", {3});
  EXPECT_EQ(sets.list(SetKind::points)[std::size_t(second.number)].name, "end (2)");
  EXPECT_EQ(sets.add_points("end", {3}), second);
  sets.add_facets("end", {0});  // of another kind: nothing to do with those
  EXPECT_EQ(sets.list(SetKind::facets)[0].name, "end");
}

TEST(BodySets, AreFollowedByTheirHandlesWhenMembersChange) {
  BodySets sets;
  sets.add_points("other", {0});
  const PointSet set = sets.add_points("end", {1, 2});
  sets.replace(SetKind::points, 1, {4, 7});
  EXPECT_EQ(sets[set], (std::vector<Index>{4, 7}));
  EXPECT_THROW(sets.replace(SetKind::points, 2, {}), InvariantError);
  EXPECT_THROW(sets.replace(SetKind::points, 1, {4, 4}), InvariantError);
  EXPECT_THROW(sets[PointSet{2}], InvariantError);
}

TEST(ActingParts, NodesOfPointsAreThePointsOrAllOfABodyThatMovesAsAWhole) {
  Body box = soft_box(1);
  EXPECT_EQ(nodes_of(box, box.sets.add_points("some", {6, 1})), (std::vector<Index>{1, 6}));
  Body stiff = make_affine("stiff", generate::box({1, 1, 1}, {1, 1, 1}), Orthogonality{1e8}, 1000);
  EXPECT_EQ(nodes_of(stiff, all_points(stiff)), numbers(4));
}

TEST(ActingParts, RefuseMembersThatTheBodyDoesNotHave) {
  Body box = soft_box(1);
  box.scripts.push_back({box.sets.add_points("far", {8}), {true, true, true}, {}, {}});
  EXPECT_THROW(acting_parts(box), InvariantError);
  box.scripts.clear();
  box.pressures.push_back({box.sets.add_facets("far", {12}), [](double) { return 1.0; }, {}});
  EXPECT_THROW(acting_parts(box), InvariantError);
}

TEST(ActingParts, ACoordinateIsScriptedOnceByEqualScriptsAndByEachOther) {
  Body box = soft_box(1);
  const PointSet low = box.sets.add_points("low", {0, 1, 2}), high = box.sets.add_points("high", {2, 3});
  box.scripts.push_back({low, {true, true, false}, {}, {}, 0});
  box.scripts.push_back({high, {false, true, true}, {}, {}, 0});
  box.scripts.push_back({low, {true, false, false}, {}, {}, 0});
  box.scripts.push_back({low, {true, false, false}, {}, {}});
  const std::vector<ScriptedPart> parts = scripted_parts(box);
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].nodes, (std::vector<Index>{0, 1, 2}));
  // Point 2 has its y already.
  EXPECT_EQ(parts[1].nodes, (std::vector<Index>{2}));
  EXPECT_EQ(parts[1].axes, (std::array{false, false, true}));
  EXPECT_EQ(parts[2].nodes, (std::vector<Index>{3}));
  EXPECT_EQ(parts[2].axes, (std::array{false, true, true}));
  EXPECT_EQ(parts[2].script, 1u);
  EXPECT_EQ(parts[3].script, 3u);  // the third adds nothing; the fourth is in no group
}

TEST(ActingParts, TractionActsWithTheAreaOfItsFacetsWhateverTheMesh) {
  for (const int cells : {1, 2, 5}) {
    Body box = soft_box(cells);
    std::vector<Index> top;
    for (Index f = 0; f < box.surface_faces.cols(); ++f) {
      const auto corners = box.surface_faces.col(f);
      if (std::all_of(corners.begin(), corners.end(), [&](int p) { return box.mesh.points(1, p) > 0.499; }))
        top.push_back(f);
    }
    Load load;
    load.kind = Load::Kind::traction;
    load.facets = box.sets.add_facets("top", top);
    const LoadedPart part = loaded_part(box, load);
    EXPECT_NEAR(part.weights.sum(), 1, 1e-12) << cells;
    EXPECT_EQ(Index(part.points.size()), (cells + 1) * (cells + 1));
    for (const Index p : part.points) EXPECT_GT(box.mesh.points(1, p), 0.499);
  }
}

}  // namespace
}  // namespace apart::test
