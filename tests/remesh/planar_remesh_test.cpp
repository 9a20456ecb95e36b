// Meshes of planar bodies: splits and collapses keep the shape, its sets and momentum, and pay.
#include <apart/collision/collision_detection.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/remesh/field_transfer.hpp>
#include <apart/remesh/planar_editor.hpp>
#include <apart/remesh/planar_remesher.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <random>

namespace apart::test {
namespace {

Body planar_bar(const Mesh& mesh, double young = 1e5) {
  const std::vector<Index> of_cell(std::size_t(mesh.faces.cols()), 0);
  return make_planar("bar", mesh, {{{NeoHookean{lame_parameters(young, 0.3)}, 1000}}, of_cell},
                     {0.1, PlaneState::strain, MassKind::consistent});
}

double area_of(const Mesh& mesh) {
  double area = 0;
  for (const auto& t : mesh.faces.colwise()) {
    const Vector3 a = mesh.points.col(t[1]) - mesh.points.col(t[0]),
                  b = mesh.points.col(t[2]) - mesh.points.col(t[0]);
    EXPECT_GT(a[0] * b[1] - a[1] * b[0], 0);
    area += 0.5 * (a[0] * b[1] - a[1] * b[0]);
  }
  return area;
}

/// A rectangle of two materials with a set of points and one of segments on its upper side.
PlanarEditor::Source labelled_source() {
  PlanarEditor::Source source;
  source.shape.mesh = generate::rectangle({2, 1}, {4, 2});
  BodySets& sets = source.shape.sets;
  const Mesh& mesh = source.shape.mesh;
  for (const auto& t : mesh.faces.colwise())
    sets.cell_substance.push_back(
        (mesh.points(0, t[0]) + mesh.points(0, t[1]) + mesh.points(0, t[2])) / 3 > 0 ? 1 : 0);
  std::vector<Index> upper, segments;
  for (Index p = 0; p < mesh.point_count(); ++p)
    if (mesh.points(1, p) > 0.499) upper.push_back(p);
  const Edges boundary = boundary_edges(mesh.faces);
  for (Index e = 0; e < boundary.cols(); ++e)
    if (mesh.points(1, boundary(0, e)) > 0.499 && mesh.points(1, boundary(1, e)) > 0.499)
      segments.push_back(e);
  sets.add_points("upper", upper);
  sets.add_segments("upper", segments);
  source.states.push_back(mesh.points);
  return source;
}

double length_of_set(const BodyShape& shape) {
  const Edges boundary = boundary_edges(shape.mesh.faces);
  double length = 0;
  for (const Index e : shape.sets.list(SetKind::segments)[0].members)
    length += (shape.mesh.points.col(boundary(0, e)) - shape.mesh.points.col(boundary(1, e))).norm();
  return length;
}

TEST(PlanarEditor, RandomOperationsKeepShapeMaterialsAndSetsAndCanBeUndone) {
  const PlanarEditor::Source source = labelled_source();
  PlanarEditor editor(source);
  std::mt19937 engine(1);
  int splits = 0, collapses = 0;
  for (int k = 0; k < 400; ++k) {
    const auto edges = editor.edges();
    const auto [a, b] = edges[engine() % edges.size()];
    if (engine() % 2)
      splits += editor.split(a, b, 0.1);
    else
      collapses += engine() % 2 ? editor.collapse(a, b, 0.1) : editor.collapse(b, a, 0.1);
  }
  EXPECT_GT(splits, 30);
  EXPECT_GT(collapses, 10);
  const PlanarEditor::Result made = editor.result();
  EXPECT_NEAR(area_of(made.shape.mesh), 2, 1e-12);
  EXPECT_NEAR(length_of_set(made.shape), 2, 1e-12);
  for (const Index p : made.shape.sets.list(SetKind::points)[0].members)
    EXPECT_EQ(made.shape.mesh.points(1, p), 0.5);
  double first = 0;  // area of the first material
  for (Index t = 0; t < made.shape.mesh.faces.cols(); ++t) {
    const auto c = made.shape.mesh.faces.col(t);
    const auto x = [&](int k) -> Vector3 { return made.shape.mesh.points.col(c[k]); };
    const Vector3 u = x(1) - x(0), v = x(2) - x(0);
    if (made.shape.sets.cell_substance[std::size_t(t)] == 0) first += 0.5 * (u[0] * v[1] - u[1] * v[0]);
  }
  EXPECT_NEAR(first, 1, 1e-12);
  while (editor.operation_count() > 0) editor.undo();
  const PlanarEditor::Result back = editor.result();
  EXPECT_EQ(back.shape.mesh.points, source.shape.mesh.points);
  EXPECT_EQ(back.shape.mesh.faces, source.shape.mesh.faces);
  EXPECT_EQ(back.shape.sets, source.shape.sets);
}

TEST(PlanarEditor, CornersAndBordersStay) {
  PlanarEditor editor(labelled_source());
  const Mesh mesh = generate::rectangle({2, 1}, {4, 2});
  const auto at = [&](double x, double y) {
    for (Index p = 0; p < mesh.point_count(); ++p)
      if ((mesh.points.col(p) - Vector3(x, y, 0)).norm() < 1e-9) return p;
    return Index(-1);
  };
  EXPECT_FALSE(editor.collapse(at(-1, -0.5), at(-0.5, -0.5))) << "a corner";
  EXPECT_FALSE(editor.collapse(at(0, 0), at(0.5, 0))) << "off the border of two materials";
  EXPECT_FALSE(editor.collapse(at(-0.5, -0.5), at(-0.5, 0))) << "off the boundary";
  EXPECT_FALSE(editor.collapse(at(-0.5, 0.5), at(-0.5, 0))) << "out of a set";
}

TEST(PlanarTransfer, KeepsMomentumAndLosesEnergyAtMost) {
  const Body fine = planar_bar(generate::rectangle({2, 1}, {8, 4}));
  PlanarEditor::Source source;
  source.shape = shape_of(fine);
  PlanarEditor editor(source);
  int collapses = 0;
  for (const auto& [a, b] : editor.edges())
    if (collapses < 6 && !editor.cells_of_edge(a, b).empty()) collapses += editor.collapse(a, b, 0.2);
  ASSERT_EQ(collapses, 6);
  const PlanarEditor::Result made = editor.result();
  const Body coarse = fine.remake(made.shape);
  const CollapseTransfer transfer(fine, coarse, made.points);
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  const Matrix3X v =
      Matrix3X::NullaryExpr(3, fine.node_count(), [&](Eigen::Index, Eigen::Index) { return normal(engine); });
  const CollapseTransfer::Mask none = CollapseTransfer::Mask::Constant(3, coarse.node_count(), false);
  const Matrix3X carried = transfer.restricted(v) + transfer.correction(v, none);
  const Vector3 before = (v * fine.mass).rowwise().sum(), after = (carried * coarse.mass).rowwise().sum();
  EXPECT_LT((before - after).norm(), 1e-9 * (v.norm() * 10));
  EXPECT_LT((carried * coarse.mass).cwiseProduct(carried).sum(), (v * fine.mass).cwiseProduct(v).sum());
  // A linear field is the same function on both.
  Matrix3 slope;
  slope << 1, 2, 0, -3, 0.5, 0, 0, 0, 0;
  const Matrix3X linear = slope * fine.nodes;
  EXPECT_LT((transfer.restricted(linear) + transfer.correction(linear, none) - slope * coarse.nodes).norm(),
            1e-9);
}

/// A soft bar falls on a corner.
SmallScene remeshed_drop() {
  SmallScene scene;
  scene.contact.dhat = 4e-3;
  scene.options.contact.formulation = ContactFormulation::convergent;
  scene.options.contact.barrier_stiffness = 1e4;
  Body bar = planar_bar(moved(generate::rectangle({1, 0.25}, {6, 2}), {0, 0.14, 0}), 2e4);
  set_rigid_velocity(bar, {0, -2, 0}, Vector3::Zero());
  Body wedge =
      planar_bar(moved(generate::polygon({{-0.2, -0.4}, {0.2, -0.4}, {0, 0}}, {}, 0.2), {0.02, 0, 0}));
  add_script(wedge, nullptr, {true, true, false}, {});
  scene.bodies = {bar, wedge};
  return scene;
}

std::unique_ptr<Simulation> remeshed_simulation(double delta) {
  const auto plain = remeshed_drop().simulation();
  auto model = std::make_shared<Model>(plain->model());
  RemeshOptions options;
  options.body = 0;
  options.delta_split = delta;
  options.delta_collapse = -1e-3 * delta;
  options.min_edge = 0.01;
  options.scene_points = model->bodies[0].mesh.point_count();
  model->remesher = make_planar_remesher({options});
  return std::make_unique<Simulation>(std::shared_ptr<const Model>(model));
}

TEST(PlanarRemesher, RefinesAtContactWithoutIntersectionsAndOnlyIfItPays) {
  for (const double delta : {2e-2, 1e6}) {
    const auto simulation = remeshed_simulation(delta);
    Index most = 0;
    for (int k = 0; k < 12; ++k) {
      const StepReport report = simulation->step();
      most = std::max(most, report.cells);
      const Model& model = simulation->model();
      EXPECT_FALSE(self_intersects(model.surface, model.surface_map.positions(simulation->state().nodes)));
    }
    const Index at_start = 6 * 2 * 2 + Index(simulation->model().bodies[1].mesh.faces.cols());
    if (delta < 1)
      EXPECT_GT(most, at_start + 4);
    else
      EXPECT_EQ(most, at_start);
    EXPECT_NEAR(area_of(simulation->model().bodies[0].mesh), 0.25, 1e-12);
    EXPECT_TRUE((simulation->state().nodes.row(2).array() == 0).all());
  }
}

}  // namespace
}  // namespace apart::test
