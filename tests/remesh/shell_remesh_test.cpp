// Meshes of shells: splits and collapses keep the rest shape, its sets and momentum, and pay.
#include <apart/collision/collision_detection.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/remesh/field_transfer.hpp>
#include <apart/remesh/mesh_editor.hpp>
#include <apart/remesh/remeshing.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <numbers>
#include <random>

namespace apart::test {
namespace {

ShellSubstance remeshable(double bending_young = 8e5) {
  ShellSubstance substance = cotton(0.01);
  substance.bending_young = bending_young;
  substance.mass = MassKind::consistent;
  return substance;
}

Body sheet(const Mesh& mesh, const ShellSubstance& substance = remeshable()) {
  return make_shell("sheet", mesh, substance);
}

double sheet_area(const Mesh& mesh) {
  double area = 0;
  for (const auto& t : mesh.faces.colwise())
    area += 0.5 * Vector3(mesh.points.col(t[1]) - mesh.points.col(t[0]))
                      .cross(Vector3(mesh.points.col(t[2]) - mesh.points.col(t[0])))
                      .norm();
  return area;
}

std::unique_ptr<Simulation> remeshed_sheet(const SmallScene& scene, RemeshOptions options) {
  auto model = std::make_shared<Model>(scene.simulation()->model());
  options.scene_points = model->bodies[std::size_t(options.body)].mesh.point_count();
  model->remesher = make_remesher({options});
  return std::make_unique<Simulation>(std::shared_ptr<const Model>(model));
}

/// A sheet in the plane z = 0, folded by a right angle at x = 0, with a set of facets on one half.
MeshEditor::Source folded_source() {
  MeshEditor::Source source;
  source.is_shell = true;
  Mesh& mesh = source.shape.mesh;
  mesh = generate::rectangle({2, 1}, {4, 2});
  std::vector<Index> right;
  for (Index t = 0; t < mesh.faces.cols(); ++t)
    if (mesh.points(Eigen::all, mesh.faces.col(t)).row(0).mean() > 0) right.push_back(t);
  for (Index p = 0; p < mesh.point_count(); ++p)
    if (mesh.points(0, p) > 0) mesh.points.col(p) = Vector3(0, mesh.points(1, p), mesh.points(0, p));
  source.shape.sets.add_facets("right", right);
  source.states.push_back(mesh.points);
  return source;
}

TEST(ShellEditor, RandomOperationsKeepTheFoldedShapeAndItsSetsAndCanBeUndone) {
  const MeshEditor::Source source = folded_source();
  MeshEditor editor(source);
  std::mt19937 engine(1);
  int splits = 0, collapses = 0;
  for (int k = 0; k < 600; ++k) {
    const auto edges = editor.edges();
    const auto [a, b] = edges[engine() % edges.size()];
    if (engine() % 2)
      splits += editor.split(a, b, 0.1) == Refusal::none;
    else
      collapses += (engine() % 2 ? editor.collapse(a, b, 0.1) : editor.collapse(b, a, 0.1)) == Refusal::none;
  }
  EXPECT_GT(splits, 30);
  EXPECT_GT(collapses, 10);
  const MeshEditor::Result made = editor.result();
  EXPECT_NEAR(sheet_area(made.shape.mesh), 2, 1e-12);
  double in_set = 0;
  for (const Index f : made.shape.sets.list(SetKind::facets)[0].members) {
    Mesh one;
    one.points = made.shape.mesh.points;
    one.faces = made.shape.mesh.faces.col(f);
    in_set += sheet_area(one);
    EXPECT_EQ(one.points(Eigen::all, one.faces.col(0)).row(0).cwiseAbs().maxCoeff(), 0);
  }
  EXPECT_NEAR(in_set, 1, 1e-12);
  for (Index p = 0; p < made.shape.mesh.point_count(); ++p)
    EXPECT_TRUE(made.shape.mesh.points(0, p) == 0 || made.shape.mesh.points(2, p) == 0) << "off both planes";
  while (editor.operation_count() > 0) editor.undo();
  EXPECT_EQ(editor.result().shape.mesh.faces, source.shape.mesh.faces);
  EXPECT_EQ(editor.result().shape.sets, source.shape.sets);
}

TEST(ShellEditor, ARestShapeOfItsOwnFollowsTheMesh) {
  MeshEditor::Source source;
  source.is_shell = true;
  source.shape.mesh = generate::rectangle({2, 1}, {2, 1});
  source.shape.rest_points = 1.5 * source.shape.mesh.points;
  MeshEditor editor(source);
  const auto [a, b] = editor.edges()[0];
  ASSERT_EQ(editor.split(a, b), Refusal::none);
  const MeshEditor::Result made = editor.result();
  EXPECT_EQ(made.shape.rest_points, 1.5 * made.shape.mesh.points);
  EXPECT_NEAR(sheet_area(made.shape.mesh), 2, 1e-14);
}

/// What is a flip in one operation elsewhere.
TEST(ShellEditor, AMidpointThatEndsInTheCornerOppositeToItsEdgeLeavesTheOtherDiagonal) {
  MeshEditor::Source source;
  source.is_shell = true;
  source.shape.mesh = generate::rectangle({1, 1}, {1, 1});
  MeshEditor editor(source);
  for (const auto& [a, b] : editor.edges()) {
    if (editor.cells_of_edge(a, b).size() != 2) continue;
    ASSERT_EQ(editor.split(a, b), Refusal::none);
    const Index m = 4, other = 0 + 1 + 2 + 3 - a - b;  // sum of the two other corners
    Index c = 0;
    while (c == a || c == b) ++c;
    ASSERT_EQ(editor.collapse(m, c), Refusal::none);
    EXPECT_EQ(editor.cells_of_edge(c, other - c).size(), 2u);
    EXPECT_TRUE(editor.cells_of_edge(a, b).empty());
    EXPECT_NEAR(sheet_area(editor.result().shape.mesh), 1, 1e-15);
    return;
  }
  FAIL() << "no diagonal";
}

TEST(ShellTransfer, KeepsMomentumAndLosesEnergyAtMost) {
  const Body fine = sheet(turned(generate::rectangle({2, 1}, {8, 4}), {1, 2, 3}, 0.7));
  MeshEditor::Source source;
  source.is_shell = true;
  source.shape = shape_of(fine);
  MeshEditor editor(source);
  int collapses = 0;
  for (const auto& [a, b] : editor.edges())
    if (collapses < 6 && !editor.cells_of_edge(a, b).empty())
      collapses += editor.collapse(a, b, 0.2) == Refusal::none;
  ASSERT_EQ(collapses, 6);
  const MeshEditor::Result made = editor.result();
  const Body coarse = fine.remake(made.shape);
  std::vector<Blend> points;
  for (const Index p : made.points) points.push_back(Blend::of(p));
  const CollapseTransfer transfer(fine, coarse, std::move(points));
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  const Matrix3X v =
      Matrix3X::NullaryExpr(3, fine.node_count(), [&](Eigen::Index, Eigen::Index) { return normal(engine); });
  const CollapseTransfer::Mask none = CollapseTransfer::Mask::Constant(3, coarse.node_count(), false);
  const Matrix3X carried = transfer.restricted(v) + transfer.correction(v, none);
  const Vector3 before = (v * fine.mass).rowwise().sum(), after = (carried * coarse.mass).rowwise().sum();
  EXPECT_LT((before - after).norm(), 1e-12 * (v * fine.mass).norm() * v.cols());
  EXPECT_LT((carried * coarse.mass).cwiseProduct(carried).sum(), (v * fine.mass).cwiseProduct(v).sum());
  const Matrix3 slope = Matrix3::Random();
  const Matrix3X linear = slope * fine.nodes;
  EXPECT_LT((transfer.restricted(linear) + transfer.correction(linear, none) - slope * coarse.nodes).norm(),
            1e-9);
}

/// Two sheets in one mesh that lie on each other at rest, as panels of a pattern do.
TEST(ShellTransfer, PartsThatLieOnEachOtherAtRestDoNotMix) {
  Mesh both = generate::rectangle({2, 1}, {4, 2});
  const Index n = both.point_count(), cells = Index(both.faces.cols());
  both.points.conservativeResize(3, 2 * n);
  both.points.rightCols(n) = both.points.leftCols(n);
  both.faces.conservativeResize(3, 2 * cells);
  both.faces.rightCols(cells) = both.faces.leftCols(cells).array() + int(n);
  Mesh placed = both;
  placed.points.rightCols(n).row(2).array() += 1;
  ShellRest rest;
  rest.points = both.points;
  const Body fine = make_shell("panels", placed, remeshable(), rest);
  MeshEditor::Source source;
  source.is_shell = true;
  source.shape = shape_of(fine);
  MeshEditor editor(source);
  int collapses = 0;
  for (const auto& [a, b] : editor.edges())
    if (collapses < 1 && a < n) collapses += editor.collapse(a, b, 0.1) == Refusal::none;
  for (const auto& [a, b] : editor.edges())
    if (collapses < 2 && a >= n) collapses += editor.collapse(a, b, 0.1) == Refusal::none;
  ASSERT_EQ(collapses, 2);
  const MeshEditor::Result made = editor.result();
  const Body coarse = fine.remake(made.shape);
  std::vector<Blend> points;
  for (const Index p : made.points) points.push_back(Blend::of(p));
  const CollapseTransfer transfer(fine, coarse, points);
  Matrix3X field = Matrix3X::Zero(3, 2 * n);  // of the lower sheet only
  for (Index p = 0; p < n; ++p) field(0, p) = p % 3;
  const CollapseTransfer::Mask none = CollapseTransfer::Mask::Constant(3, coarse.node_count(), false);
  const Matrix3X carried = transfer.restricted(field) + transfer.correction(field, none);
  for (Index p = 0; p < coarse.node_count(); ++p)
    if (made.points[std::size_t(p)] >= n) EXPECT_EQ(carried(0, p), 0);
  EXPECT_NEAR((carried * coarse.mass).row(0).sum(), (field * fine.mass).row(0).sum(), 1e-12);
}

double step_potential(const Model& m, const State& s, const Matrix3X& nodes) {
  Timings timings;
  StepProblem problem(m, present_bodies(m, m.options.dt), timings);
  problem.begin(s, m.options.dt, m.options.dt);
  problem.objective.prepare(nodes);
  return problem.objective.value();
}

/// Stretched and sheared, but flat; velocities are arbitrary.
TEST(ShellRemeshing, ASplitOfALinearStateChangesThePotentialByRoundingOnly) {
  SmallScene scene;
  scene.contact.dhat = 1e-4;
  Body body = sheet(generate::rectangle({1, 0.5}, {4, 2}));
  scene.bodies = {body};
  auto model = std::make_shared<Model>(scene.simulation()->model());
  State state = start_state(*model);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> shift(-1, 1);
  for (double& v : state.velocity.reshaped()) v = shift(random);
  Matrix3 slope;
  slope << 1.05, 0.02, 0, -0.01, 0.98, 0, 0.3, 0.1, 1;
  const Matrix3X q = slope * state.nodes;
  const double before = step_potential(*model, state, q);
  Timings timings;
  StepProblem problem(*model, present_bodies(*model, model->options.dt), timings);
  problem.begin(state, model->options.dt, model->options.dt);
  problem.objective.prepare(q);
  const auto remesher =
      make_remesher({{.delta_split = 1e-12, .min_edge = 0.01, .scene_points = model->point_count()}});
  const auto [step, report, next_pass] = remesher->improve({problem, state, q}, 1);
  ASSERT_TRUE(step);
  EXPECT_GT(report.splits, 0);
  EXPECT_EQ(step->model->point_count(), model->point_count() + report.splits);
  EXPECT_NEAR(step_potential(*step->model, step->before, step->nodes), before, 1e-12 * std::abs(before));
  EXPECT_NEAR(sheet_area(step->model->bodies[0].mesh), 0.5, 1e-14);
}

TEST(ShellRemeshing, AFlatSheetAtRestIsNotRefined) {
  SmallScene scene;
  scene.contact.dhat = 1e-3;
  scene.options.gravity.setZero();
  scene.bodies = {sheet(generate::rectangle({1, 0.5}, {4, 2}))};
  const auto simulation = remeshed_sheet(scene, {.delta_split = 1e-12, .min_edge = 0.02});
  for (int k = 0; k < 3; ++k) EXPECT_EQ(simulation->step().splits, 0);
}

/// Bends and stretches by its spin.
TEST(ShellRemeshing, ASpinningSheetKeepsItsMomenta) {
  SmallScene scene;
  scene.contact.dhat = 1e-4;
  scene.options.gravity.setZero();
  scene.options.dt = 2e-3;
  scene.options.solver.tolerance = 1e-9;
  Body body = sheet(generate::rectangle({0.4, 0.2}, {4, 2}));
  set_rigid_velocity(body, {1, 2, 3}, {20, 0, 12});
  scene.bodies = {body};
  const auto simulation =
      remeshed_sheet(scene, {.delta_split = 2e-8, .delta_collapse = -1e-8, .min_edge = 0.02});
  const auto plain = scene.simulation();
  const Vector3 linear = linear_momentum(*simulation), angular = angular_momentum(*simulation);
  Index splits = 0, collapses = 0;
  for (int k = 0; k < 40; ++k) {
    const StepReport report = simulation->step();
    plain->step();
    splits += report.splits;
    collapses += report.collapses;
    EXPECT_LT((linear_momentum(*simulation) - linear).norm(), 1e-9 * linear.norm()) << k;
    EXPECT_LE(report.energy_gain, 1e-9);
  }
  EXPECT_GT(splits, 0);
  EXPECT_GT(collapses, 0);
  // Implicit Euler loses some of it, remeshed or not.
  const double lost = (angular_momentum(*simulation) - angular).norm(),
               lost_anyway = (angular_momentum(*plain) - angular).norm();
  EXPECT_NEAR(lost, lost_anyway, 0.01 * angular.norm());
}

/// A cloth over the edge of a table.
SmallScene draped(const Eigen::Vector2i& cells) {
  SmallScene scene;
  scene.contact.dhat = 1e-3;
  scene.options.dt = 0.02;
  scene.options.contact.formulation = ContactFormulation::convergent;
  Mesh cloth = turned(generate::rectangle({0.4, 0.4}, cells), {1, 0, 0}, -std::numbers::pi / 2);
  Body table = make_obstacle(
      "table", moved(turned(generate::rectangle({0.21, 0.21}, {1, 1}), {1, 0, 0}, -std::numbers::pi / 2),
                     {0.013, -0.003, 0.007}));
  scene.bodies = {sheet(cloth), table};
  scene.options.solver.tolerance = 1e-3;
  return scene;
}

TEST(ShellRemeshing, ADrapedClothIsRefinedWhereItFolds) {
  const auto simulation =
      remeshed_sheet(draped({6, 6}), {.delta_split = 5e-6, .delta_collapse = -5e-7, .min_edge = 0.01});
  Index cells = 0;
  for (int k = 0; k < 12; ++k) {
    cells = simulation->step().cells;
    const Model& model = simulation->model();
    EXPECT_FALSE(self_intersects(model.surface, model.surface_map.positions(simulation->state().nodes)));
  }
  EXPECT_GT(cells, 72 + 20);
  const Body& cloth = simulation->model().bodies[0];
  EXPECT_NEAR(sheet_area(cloth.mesh), 0.16, 1e-13);
  // Small triangles are near the rim of the table, or outside; those on it stay.
  double inside = 0, outside = 0;
  Index inside_count = 0, outside_count = 0;
  for (const auto& t : cloth.mesh.faces.colwise()) {
    Mesh one;
    one.points = cloth.mesh.points;
    one.faces = t;
    const Vector3 centre = one.points(Eigen::all, t).rowwise().mean();
    const bool on_table = std::abs(centre.x()) < 0.06 && std::abs(centre.z()) < 0.06;
    (on_table ? inside : outside) += sheet_area(one);
    ++(on_table ? inside_count : outside_count);
  }
  ASSERT_GT(inside_count, 0);
  EXPECT_GT(inside / double(inside_count), outside / double(outside_count));
}

TEST(ShellRemeshing, StrainLimitsHoldOnNewMeshes) {
  SmallScene scene = draped({6, 6});
  ShellSubstance substance = remeshable();
  substance.limit = StretchLimit{};
  substance.limit->upper = cotton_limit;
  scene.bodies[0] = make_shell("sheet", scene.bodies[0].mesh, substance);
  const auto simulation =
      remeshed_sheet(scene, {.delta_split = 5e-6, .delta_collapse = -5e-7, .min_edge = 0.01});
  Index splits = 0;
  for (int k = 0; k < 10; ++k) {
    splits += simulation->step().splits;
    EXPECT_TRUE(
        within_limits(*simulation->model().bodies[0].shell,
                      simulation->state().nodes.leftCols(simulation->model().bodies[0].node_count())));
  }
  EXPECT_GT(splits, 0);
}

TEST(ShellRemeshing, TheSameBitsForAnyNumberOfThreads) {
  const auto run = [](int threads) {
    set_thread_count(threads);
    const auto simulation =
        remeshed_sheet(draped({6, 6}), {.delta_split = 5e-6, .delta_collapse = -5e-7, .min_edge = 0.01});
    Index splits = 0;
    for (int k = 0; k < 6; ++k) splits += simulation->step().splits;
    EXPECT_GT(splits, 0);
    set_thread_count(1);
    return simulation->state().nodes;
  };
  const Matrix3X one = run(1), three = run(3);
  ASSERT_EQ(one.cols(), three.cols());
  EXPECT_EQ(one, three);
}

}  // namespace
}  // namespace apart::test
