// What is carried from one mesh to the next keeps its momentum and gains no energy.
#include <apart/geometry/generators.hpp>
#include <apart/potentials/grip.hpp>
#include <apart/remesh/field_transfer.hpp>
#include <apart/remesh/mesh_editor.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

Body two_materials(int cells) {
  CellSubstances substances{
      {{NeoHookean{lame_parameters(1e5, 0.4)}, 1000}, {NeoHookean{lame_parameters(1e6, 0.4)}, 3000}}, {}};
  const Mesh mesh = generate::box({1, 1, 1}, {cells, cells, cells});
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    double y = 0;
    for (const int p : mesh.tetrahedra.col(t)) y += mesh.points(1, p);
    substances.of_cell.push_back(y > 0);
  }
  return make_volume("box", mesh, substances, MassKind::consistent);
}

Matrix3X random_field(Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Matrix3X field(3, n);
  for (double& v : field.reshaped()) v = value(random);
  return field;
}

double energy(const Body& body, const Matrix3X& v) {
  return 0.5 * (v * body.mass).cwiseProduct(v).sum();
}
Vector3 momentum(const Body& body, const Matrix3X& v) {
  return (v * body.mass).rowwise().sum();
}

/// The body with some edges split, and those that were.
struct SplitBody {
  Body body;
  std::vector<std::array<Index, 2>> edges;
};
SplitBody split(const Body& body, int count) {
  MeshEditor editor({shape_of(body), {}, {}, body.node_count()});
  std::mt19937 random(2);
  SplitBody result;
  while (int(result.edges.size()) < count) {
    const auto edges = editor.edges();
    const auto edge = edges[random() % edges.size()];
    if (editor.split(edge[0], edge[1]) == Refusal::none) result.edges.push_back(edge);
  }
  result.body = with_shape(body, editor.result().shape);
  return result;
}

struct Collapsed {
  Body body;
  std::vector<Blend> points;
};
Collapsed collapse(const Body& body, Index lasting, int count) {
  MeshEditor editor({shape_of(body), {}, {}, lasting});
  for (const auto& [a, b] : editor.edges())
    if (count > 0 && !editor.cells_of_edge(a, b).empty() && editor.collapse(b, a, 0.1) == Refusal::none)
      --count;
  MeshEditor::Result result = editor.result();
  std::vector<Blend> points;
  for (const Index p : result.points) points.push_back(Blend::of(p));
  return {with_shape(body, std::move(result.shape)), std::move(points)};
}

CollapseTransfer::Mask none_held(const Body& body) {
  return CollapseTransfer::Mask::Constant(3, body.node_count(), false);
}

TEST(FieldTransfer, ASplitChangesNoIntegral) {
  const Body body = two_materials(2);
  const auto [fine, edges] = split(body, 40);
  const Matrix3X u = random_field(body.node_count(), 1), v = with_midpoints(u, edges);
  EXPECT_NEAR(energy(fine, v), energy(body, u), 1e-13 * energy(body, u));
  EXPECT_LT((momentum(fine, v) - momentum(body, u)).norm(), 1e-12 * energy(body, u));
}

TEST(FieldTransfer, ACollapseKeepsMomentumAndGainsNoEnergy) {
  const Body body = two_materials(2);
  const auto [fine, edges] = split(body, 40);
  const auto [coarse, points] = collapse(fine, body.node_count(), 15);
  ASSERT_LT(coarse.node_count(), fine.node_count() - 10);
  const CollapseTransfer transfer(fine, coarse, points);
  for (unsigned seed = 1; seed < 6; ++seed) {
    const Matrix3X u = random_field(fine.node_count(), seed);
    const Matrix3X v = transfer.restricted(u) + transfer.correction(u, none_held(coarse));
    EXPECT_LT((momentum(coarse, v) - momentum(fine, u)).norm(), 1e-12 * momentum(fine, u.cwiseAbs()).norm());
    EXPECT_LT(energy(coarse, v), energy(fine, u));
    // The difference is orthogonal to all fields of the new mesh, linear ones among them.
    EXPECT_LT((v * coarse.mass * coarse.nodes.transpose() - u * fine.mass * fine.nodes.transpose()).norm(),
              1e-12 * momentum(fine, u.cwiseAbs()).norm());
    EXPECT_GT((v - transfer.restricted(u)).norm(), 1e-3);
  }
}

TEST(FieldTransfer, SwapsAndMovedPointsKeepMomentumAndLinearFieldsAndGainNoEnergy) {
  const Body body = two_materials(4);
  MeshEditor editor({shape_of(body), {}, {}, body.node_count()});
  std::map<Index, Blend> moved;
  for (const auto& [a, b] : editor.edges())
    if (!moved.contains(a) && !moved.contains(b) && editor.move({a, b, 0.2}, 0.1) == Refusal::none)
      moved.emplace(a, Blend{a, b, 0.2});
  int swaps = 0;
  for (Index c = 0; c < editor.cell_count() && swaps < 20; ++c)
    for (int k = 0; k < editor.cell(c).points.size(); ++k)
      swaps += editor.swap(editor.cell(c).points.without(k), 0.1) == Refusal::none;
  ASSERT_GT(swaps, 10);
  ASSERT_GT(moved.size(), 4u);
  MeshEditor::Result made = editor.result();
  const Body after = with_shape(body, std::move(made.shape));
  std::vector<Blend> points;
  for (const Index p : made.points) points.push_back(moved.contains(p) ? moved.at(p) : Blend::of(p));
  const CollapseTransfer transfer(body, after, std::move(points));
  const auto carried = [&](const Matrix3X& u) {
    return Matrix3X(transfer.restricted(u) + transfer.correction(u, none_held(after)));
  };
  const Matrix3X u = random_field(body.node_count(), 1), v = carried(u);
  EXPECT_LT((momentum(after, v) - momentum(body, u)).norm(), 1e-12 * momentum(body, u.cwiseAbs()).norm());
  EXPECT_LT(energy(after, v), energy(body, u));
  Matrix3 slope;
  slope << 1, 2, 3, 0.5, -1, 2, 0, 1, -2;
  EXPECT_LT((carried(slope * body.nodes) - slope * after.nodes).norm(), 1e-11 * body.nodes.norm());
}

TEST(FieldTransfer, WhatTheCoarseMeshCanRepresentIsKept) {
  const Body body = two_materials(2);
  const auto [fine, edges] = split(body, 30);
  const auto [coarse, points] = collapse(fine, body.node_count(), 12);
  const CollapseTransfer transfer(fine, coarse, points);
  Matrix3 slope;
  slope << 1, 2, 3, 0.5, -1, 2, 0, 1, -2;
  const Matrix3X u = (slope * fine.nodes).colwise() + Vector3(1, -2, 3);
  EXPECT_LT(transfer.correction(u, none_held(coarse)).norm(), 1e-13 * u.norm());
}

TEST(FieldTransfer, HeldCoordinatesKeepTheirValues) {
  const Body body = two_materials(2);
  const auto [fine, edges] = split(body, 30);
  const auto [coarse, points] = collapse(fine, body.node_count(), 12);
  const CollapseTransfer transfer(fine, coarse, points);
  CollapseTransfer::Mask held = none_held(coarse);
  for (Index n = 0; n < coarse.node_count(); n += 2) held(1, n) = true;
  const Matrix3X delta = transfer.correction(random_field(fine.node_count(), 4), held);
  for (Index n = 0; n < coarse.node_count(); n += 2) EXPECT_EQ(delta(1, n), 0);
  EXPECT_GT(delta.norm(), 1e-3);
}

TEST(FieldTransfer, TheDistanceFromAFieldOfTheMeshBeforeIsKnown) {
  const Body body = two_materials(2);
  const auto [fine, edges] = split(body, 30);
  // Every edge that was split is collapsed again, so that a field of the coarse mesh is one of the fine mesh.
  MeshEditor editor({shape_of(fine), {}, {}, body.node_count()});
  for (Index k = Index(edges.size()) - 1; k >= 0; --k)
    if (editor.collapse(body.node_count() + k, edges[std::size_t(k)][0]) != Refusal::none) break;
  MeshEditor::Result made = editor.result();
  std::vector<Blend> points;
  for (const Index p : made.points) points.push_back(Blend::of(p));
  const Index left = Index(made.points.size()) - body.node_count();
  ASSERT_LT(left, Index(edges.size()));
  const Body coarse = with_shape(fine, std::move(made.shape));
  const CollapseTransfer transfer(fine, coarse, points);
  CollapseTransfer::Mask held = none_held(coarse);
  held.leftCols(3) = true;
  // Far away, where squares of places would lose the difference.
  const Matrix3X u = random_field(fine.node_count(), 3).colwise() + Vector3(1e4, 2e4, 0),
                 q = random_field(coarse.node_count(), 4).colwise() + Vector3(1e4, 2e4, 0);
  const std::vector<std::array<Index, 2>> again(edges.begin() + left, edges.end());
  const Matrix3X v = transfer.restricted(u) + transfer.correction(u, held);
  const double expected = energy(fine, with_midpoints(q, again) - u);
  EXPECT_NEAR(energy(coarse, q - v) + transfer.lost_distance(u, v, q), expected, 1e-10 * expected);
  EXPECT_GT(std::abs(transfer.lost_distance(u, v, q)), 1e-3 * expected);
}

// Vertices 0, 1, 2 of body 0 rest on the triangle 3, 4, 5 of body 1, two edges lie across each other. Then 1
// is moved onto 0, 2 becomes 1, 6 is the new middle of 0 and 2 (1 now), and body 1 stays.
TEST(Grips, GoWithVerticesThatMoveOntoOthersAndAreGivenToMiddles) {
  const Vector3 s0(0.1, 0, 0), s1(0, 0.4, 0), s2(0.3, 0, 0), edges(0, 0, 0.5);
  const std::vector<Grip> before = {{{{0, 3, 4, 5}, false}, {0, 1}, s0, 1},
                                    {{{1, 3, 4, 5}, false}, {0, 1}, s1, 2},
                                    {{{2, 3, 4, 5}, false}, {0, 1}, s2, 3},
                                    {{{0, 1, 3, 4}, true}, {0, 1}, edges, 4}};
  VertexRenumbering to;
  to.body = {{0, 0}, {1, 1}};
  to.vertex = {{0, 0}, {2, 1}, {3, 3}, {4, 4}, {5, 5}};
  to.merged = {{1, 0}};
  to.middles = {{6, 0, {0, 1}}};
  const Grips after(Grips::carried(Grips::pack(before), to));
  EXPECT_EQ(after.strain({{0, 3, 4, 5}, false}, {0, 1}), s0) << "not that of what was moved there";
  EXPECT_EQ(after.strain({{1, 3, 4, 5}, false}, {0, 1}), s2);
  EXPECT_EQ(after.strain({{0, 3, 4, -1}, false}, {0, 1}), edges) << "an edge that has become a point";
  const Vector3 middle = (1 * s0 + 2 * s1 + 4 * edges + 3 * s2) / 10;
  EXPECT_LT((after.strain({{6, -1, -1, -1}, false}, {0, 1}) - middle).norm(), 1e-15);
  VertexRenumbering gone = to;
  gone.vertex.erase(3);
  EXPECT_TRUE(Grips(Grips::carried(Grips::pack(before), gone)).empty());
}

}  // namespace
}  // namespace apart::test
