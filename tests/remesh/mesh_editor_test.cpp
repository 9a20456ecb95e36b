// Splits and collapses keep volume, topology, sets and orientation; each can be taken back.
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/remesh/mesh_editor.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace apart::test {
namespace {

/// A box of two materials, with a held lower side, a loaded upper side and one individual point.
MeshEditor::Source layered_box(int cells) {
  MeshEditor::Source source;
  BodyShape& shape = source.shape;
  shape.mesh = generate::box({1, 1, 1}, {cells, cells, cells});
  std::vector<Index> low, top;
  for (Index p = 0; p < shape.mesh.point_count(); ++p)
    if (shape.mesh.points(1, p) < -0.49) low.push_back(p);
  const Faces faces = boundary_faces(shape.mesh.tetrahedra);
  for (Index f = 0; f < faces.cols(); ++f)
    if ((shape.mesh.points(1, faces(0, f)) > 0.49) && (shape.mesh.points(1, faces(1, f)) > 0.49) &&
        (shape.mesh.points(1, faces(2, f)) > 0.49))
      top.push_back(f);
  for (Index t = 0; t < shape.mesh.tetrahedra.cols(); ++t) {
    double y = 0;
    for (const int p : shape.mesh.tetrahedra.col(t)) y += shape.mesh.points(1, p);
    shape.sets.cell_substance.push_back(y > 0);
  }
  shape.sets.add_points("low", low);
  shape.sets.add_points("nail", {low.front()});
  shape.sets.add_facets("top", top);
  source.individual = {1};
  source.lasting_points = shape.mesh.point_count();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> shift(-0.05, 0.05);
  Matrix3X moved = shape.mesh.points;
  for (double& v : moved.reshaped()) v += shift(random) / cells;
  source.states = {moved};
  return source;
}

/// Points − edges + facets − cells: 1 for a ball.
int euler_characteristic(const Mesh& mesh) {
  std::set<std::array<int, 2>> edges;
  std::set<std::array<int, 3>> facets;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    std::array<int, 4> p;
    for (int k = 0; k < 4; ++k) p[std::size_t(k)] = mesh.tetrahedra(k, t);
    std::ranges::sort(p);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = i + 1; j < 4; ++j) {
        edges.insert({p[i], p[j]});
        for (std::size_t k = j + 1; k < 4; ++k) facets.insert({p[i], p[j], p[k]});
      }
  }
  return int(mesh.point_count()) - int(edges.size()) + int(facets.size()) - int(mesh.tetrahedra.cols());
}

double area_of_set(const BodyShape& shape, std::size_t set) {
  const Faces faces = boundary_faces(shape.mesh.tetrahedra);
  double area = 0;
  for (const Index f : shape.sets.list(SetKind::facets)[set].members) {
    const auto corner = [&](int k) { return Vector3(shape.mesh.points.col(faces(k, f))); };
    area += (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm() / 2;
  }
  return area;
}

void expect_same_body(const BodyShape& shape) {
  validate_volume(shape.mesh, "edited mesh");
  Mesh surface;
  surface.points = shape.mesh.points;
  surface.faces = boundary_faces(shape.mesh.tetrahedra);
  EXPECT_TRUE(is_closed_surface(surface));
  EXPECT_EQ(euler_characteristic(shape.mesh), 1);
  EXPECT_NEAR(volume_of(shape.mesh), 1, 1e-13);
  double stiff = 0;
  for (Index t = 0; t < shape.mesh.tetrahedra.cols(); ++t) {
    if (shape.sets.cell_substance[std::size_t(t)] == 0) continue;
    const auto corner = [&](int k) { return Vector3(shape.mesh.points.col(shape.mesh.tetrahedra(k, t))); };
    stiff += signed_volume6(corner(0), corner(1), corner(2), corner(3)) / 6;
  }
  EXPECT_NEAR(stiff, 0.5, 1e-13);
  EXPECT_NEAR(area_of_set(shape, 0), 1, 1e-13);
  const auto& points = shape.sets.list(SetKind::points);
  EXPECT_EQ(points[1].members.size(), 1u);
  std::vector<Index> low;
  for (Index p = 0; p < shape.mesh.point_count(); ++p)
    if (shape.mesh.points(1, p) < -0.49) low.push_back(p);
  EXPECT_EQ(points[0].members, low);
}

void expect_same_shape(const BodyShape& a, const BodyShape& b) {
  EXPECT_EQ(a.mesh.points, b.mesh.points);
  EXPECT_EQ(a.mesh.tetrahedra, b.mesh.tetrahedra);
  EXPECT_EQ(a.sets, b.sets);
}

/// Splits random edges, some of them new.
int split_at_random(MeshEditor& editor, std::mt19937& random, int count, double least_quality = 0) {
  int done = 0;
  for (int i = 0; i < count; ++i) {
    const auto edges = editor.edges();
    const auto [a, b] = edges[random() % edges.size()];
    done += editor.split(a, b, least_quality) == Refusal::none;
  }
  return done;
}

TEST(MeshEditor, SplitsKeepVolumeTopologyMaterialsAndSets) {
  MeshEditor editor(layered_box(2));
  std::mt19937 random(1);
  EXPECT_EQ(split_at_random(editor, random, 100), 100);
  const MeshEditor::Result result = editor.result();
  EXPECT_EQ(result.shape.mesh.point_count(), 27 + 100);
  expect_same_body(result.shape);
}

TEST(MeshEditor, ASplitPutsEveryPositionAtTheMiddle) {
  MeshEditor editor(layered_box(2));
  const auto [a, b] = editor.edges()[7];
  ASSERT_EQ(editor.split(a, b), Refusal::none);
  for (std::size_t k = 0; k < editor.position_count(); ++k)
    EXPECT_EQ(editor.position(k, 27), Vector3(0.5 * (editor.position(k, a) + editor.position(k, b))));
}

TEST(MeshEditor, CollapsesOfAllSplitPointsLeadBackToABodyOfItsShape) {
  MeshEditor editor(layered_box(2));
  std::mt19937 random(5);
  split_at_random(editor, random, 60);
  int done = 0;
  for (bool again = true; again;) {
    again = false;
    for (const auto& [a, b] : editor.edges())
      if (b >= 27 && editor.collapse(b, a) == Refusal::none) {
        ++done;
        again = true;
        break;
      }
  }
  EXPECT_GE(done, 50);
  const MeshEditor::Result result = editor.result();
  EXPECT_EQ(result.shape.mesh.point_count(), 27 + 60 - done);
  expect_same_body(result.shape);
}

TEST(MeshEditor, ASplitAndItsCollapseGiveTheSameMesh) {
  MeshEditor editor(layered_box(2));
  const BodyShape before = editor.result().shape;
  for (const auto& [a, b] : editor.edges()) {
    ASSERT_EQ(editor.split(a, b), Refusal::none);
    const Index m = editor.point_count() - 1;
    const Refusal refusal = editor.collapse(m, a);
    ASSERT_EQ(refusal, Refusal::none) << a << " " << b << " " << int(refusal);
    const BodyShape after = editor.result().shape;
    EXPECT_EQ(after.mesh.points, before.mesh.points);
    EXPECT_EQ(after.sets.list(SetKind::points), before.sets.list(SetKind::points));
    std::set<std::set<int>> cells, cells_before;
    for (const auto& c : after.mesh.tetrahedra.colwise()) cells.emplace(c.begin(), c.end());
    for (const auto& c : before.mesh.tetrahedra.colwise()) cells_before.emplace(c.begin(), c.end());
    EXPECT_EQ(cells, cells_before);
    editor.undo();
    editor.undo();
  }
  expect_same_shape(editor.result().shape, before);
}

TEST(MeshEditor, UndoRestoresEverything) {
  MeshEditor editor(layered_box(2));
  std::mt19937 random(9);
  split_at_random(editor, random, 30);
  std::vector<BodyShape> history;
  const std::size_t start = editor.operation_count();
  for (int i = 0; i < 40; ++i) {
    const BodyShape now = editor.result().shape;
    const auto edges = editor.edges();
    const auto [a, b] = edges[random() % edges.size()];
    const std::size_t count = editor.operation_count();
    if (i % 2 == 0)
      editor.split(a, b);
    else
      editor.collapse(b, a);
    if (editor.operation_count() > count)
      history.push_back(now);
    else
      expect_same_shape(editor.result().shape, now);  // refused: nothing has changed
  }
  ASSERT_GT(history.size(), 20u);
  while (editor.operation_count() > start) {
    editor.undo();
    expect_same_shape(editor.result().shape, history.back());
    history.pop_back();
  }
}

/// Everything that could be swapped in a mesh with some edges split.
std::vector<Corners> swappable(const MeshEditor& editor) {
  std::vector<Corners> result;
  for (const auto& [a, b] : editor.edges()) result.push_back({a, b});
  for (Index c = 0; c < editor.cell_count(); ++c)
    for (int k = 0; k < editor.cell(c).points.size(); ++k) result.push_back(editor.cell(c).points.without(k));
  return result;
}

TEST(MeshEditor, SwapsAndMovesKeepShapeTopologyMaterialsAndSetsAndCanBeUndone) {
  MeshEditor editor(layered_box(4));
  std::mt19937 random(7);
  split_at_random(editor, random, 40);
  const BodyShape before = editor.result().shape;
  const std::size_t start = editor.operation_count();
  std::map<int, int> swaps;  // by how many points what is swapped has
  int moves = 0;
  for (int i = 0; i < 1500; ++i) {
    if (i % 2 == 0) {
      const std::vector<Corners> all = swappable(editor);
      const Corners gone = all[random() % all.size()];
      if (!editor.cells_with(gone).empty() && editor.swap(gone, 0.1) == Refusal::none) ++swaps[gone.size()];
    } else {
      const auto edges = editor.edges();
      const auto [a, b] = edges[random() % edges.size()];
      moves += editor.move({a, b, 0.2}, 0.1) == Refusal::none;
    }
  }
  EXPECT_GT(swaps[2], 5) << "edges of three cells";
  EXPECT_GT(swaps[3], 20) << "facets";
  EXPECT_GT(moves, 50);
  expect_same_body(editor.result().shape);
  while (editor.operation_count() > start) editor.undo();
  expect_same_shape(editor.result().shape, before);
}

TEST(MeshEditor, ASwapAndTheOneBackGiveTheSameCells) {
  MeshEditor editor(layered_box(4));
  int done = 0;
  for (const Corners& gone : swappable(editor)) {
    if (gone.size() != 3 || editor.swap(gone) != Refusal::none) continue;
    const std::vector<Index> around = editor.cells_with({gone[0], gone[1]});
    // The edge that was made: what all cells with two of the facet's points have besides these.
    std::vector<Index> ends;
    for (Index p = 0; p < editor.point_count(); ++p)
      if (!gone.has(p) && editor.cells_with({gone[0], gone[1], p}).size() > 0 &&
          editor.cells_with({gone[1], gone[2], p}).size() > 0 &&
          editor.cells_with({gone[2], gone[0], p}).size() > 0)
        ends.push_back(p);
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_EQ(editor.cells_with({ends[0], ends[1]}).size(), 3u);
    EXPECT_EQ(editor.swap({ends[0], ends[1]}), Refusal::none);
    EXPECT_EQ(editor.cells_with(gone).size(), 2u);
    ++done;
  }
  EXPECT_GT(done, 5);
}

TEST(MeshEditor, PointsOfTheSurfaceBordersAndSetsDoNotMove) {
  const MeshEditor::Source source = layered_box(4);
  MeshEditor editor(source);
  int moved = 0;
  for (const auto& [a, b] : editor.edges())
    for (const Blend& to : {Blend{a, b, 0.1}, Blend{b, a, 0.1}}) {
      if (editor.move(to) != Refusal::none) continue;
      editor.undo();
      const Vector3& x = editor.position(0, to.from);
      EXPECT_LT(x.cwiseAbs().maxCoeff(), 0.49);
      EXPECT_GT(std::abs(x[1]), 0.01) << "on the border of two materials";
      ++moved;
    }
  EXPECT_GT(moved, 20);
}

TEST(MeshEditor, PointsOfTheSceneAndOfPointForcesStay) {
  MeshEditor::Source source = layered_box(2);
  MeshEditor editor(source);
  for (const auto& [a, b] : editor.edges()) EXPECT_EQ(editor.collapse(b, a), Refusal::individual);
  source.lasting_points = 0;
  const Index nail = source.shape.sets.list(SetKind::points)[1].members[0];
  MeshEditor coarsened(source);
  for (const auto& [a, b] : coarsened.edges())
    if (b == nail || a == nail) {
      EXPECT_EQ(coarsened.collapse(nail, a == nail ? b : a), Refusal::individual);
    }
}

TEST(MeshEditor, CornersStayAndEdgesOfTheBoxCollapseAlongThemselves) {
  MeshEditor::Source source = layered_box(4);
  source.lasting_points = 0;
  source.shape.sets.cell_substance.assign(source.shape.sets.cell_substance.size(), 0);
  MeshEditor editor(source);
  int along = 0;
  for (const auto& [p, q] : editor.edges())
    for (const auto& [removed, kept] : {std::array{p, q}, std::array{q, p}}) {
      const auto rim = [&](Index i) {
        return int((editor.position(0, i).cwiseAbs().array() > 0.499).count());
      };
      const Refusal refusal = editor.collapse(removed, kept);
      if (refusal != Refusal::none) continue;
      editor.undo();
      EXPECT_LT(rim(removed), 3);
      if (rim(removed) == 2) {  // on an edge of the box: only along it
        ++along;
        const Vector3 way = editor.position(0, removed) - editor.position(0, kept);
        EXPECT_EQ((way.array().abs() > 1e-12).count(), 1);
        EXPECT_GE(rim(kept), 2);
      }
      if (rim(removed) == 1) EXPECT_GE(rim(kept), 1);
    }
  EXPECT_GT(along, 0);
}

TEST(MeshEditor, ACollapseThatInvertsACellInAnyStateIsRefused) {
  MeshEditor::Source source = layered_box(2);
  MeshEditor probe(source);
  const auto [a, b] = probe.edges()[3];
  ASSERT_EQ(probe.split(a, b), Refusal::none);
  ASSERT_EQ(probe.collapse(27, a), Refusal::none);
  probe.undo();
  source.shape = probe.result().shape;
  source.lasting_points = 27;
  Matrix3X state = source.shape.mesh.points;
  const Vector3 way = state.col(b) - state.col(a);
  state.col(a) += 2 * way;  // beyond b: what a and b have in common is turned inside out
  source.states = {state};
  MeshEditor editor(source);
  EXPECT_EQ(editor.collapse(27, a), Refusal::inverted);
}

TEST(MeshEditor, CellsDoNotBecomeWorseThanAllowed) {
  MeshEditor editor(layered_box(2));
  double worst = 1;
  for (Index c = 0; c < editor.cell_count(); ++c)
    worst = std::min(worst, editor.rest_quality(editor.cell(c).points));
  std::mt19937 random(11);
  split_at_random(editor, random, 300, 0.3);
  ASSERT_GT(editor.operation_count(), 20u);
  for (Index c = 0; c < editor.cell_count(); ++c)
    EXPECT_GE(editor.rest_quality(editor.cell(c).points), std::min(worst, 0.3) - 1e-12);
}

}  // namespace
}  // namespace apart::test
