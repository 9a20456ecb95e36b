// A body made again of another mesh is the same body.
#include <apart/bodies/acting_parts.hpp>
#include <apart/bodies/body_shape.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace apart::test {
namespace {

Mesh box_mesh(int cells) {
  return generate::box({1, 1, 1}, {cells, cells, cells});
}

Material of_stiffness(double young) {
  return NeoHookean{lame_parameters(young, 0.4)};
}

std::vector<Index> points_below(const Mesh& mesh, double y) {
  std::vector<Index> result;
  for (Index p = 0; p < mesh.point_count(); ++p)
    if (mesh.points(1, p) < y) result.push_back(p);
  return result;
}

/// Two materials, and its lower side held.
Body layered_box(int cells) {
  CellSubstances substances{{{of_stiffness(1e5), 1000}, {of_stiffness(1e6), 2000}}, {}};
  const Mesh mesh = box_mesh(cells);
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    double y = 0;
    for (const int p : mesh.tetrahedra.col(t)) y += mesh.points(1, p);
    substances.of_cell.push_back(y > 0);
  }
  Body body = make_volume("box", mesh, substances, MassKind::consistent);
  const std::vector<Index> low = points_below(mesh, -0.499);
  add_script(body, &low, {true, true, true}, {});
  body.damping.mass = 3;
  return body;
}

TEST(BodyShape, ABodyOfItsOwnShapeIsTheSame) {
  const Body body = layered_box(2), again = with_shape(body, shape_of(body));
  EXPECT_EQ(again.name, body.name);
  EXPECT_EQ(again.nodes, body.nodes);
  EXPECT_EQ(again.surface_faces, body.surface_faces);
  EXPECT_EQ(again.elastic->material_of, body.elastic->material_of);
  EXPECT_EQ(again.elastic->volume, body.elastic->volume);
  EXPECT_TRUE(again.mass.isApprox(body.mass, 0));
  EXPECT_EQ(again.sets, body.sets);
  EXPECT_EQ(again.damping.mass, body.damping.mass);
  EXPECT_FALSE(body.reshaped);
  EXPECT_TRUE(again.reshaped);
}

TEST(BodyShape, AFinerMeshKeepsMassAndScriptsAndCanBeChangedAgain) {
  const Body body = layered_box(2), fine = layered_box(4);
  Body again = with_shape(body, shape_of(fine));
  EXPECT_NEAR(total_mass(again), total_mass(body), 1e-9);
  EXPECT_TRUE(again.mass.isApprox(fine.mass, 0));
  EXPECT_EQ(nodes_of(again, again.scripts[0].points), points_below(fine.mesh, -0.499));
  again = with_shape(again, shape_of(body));
  EXPECT_TRUE(again.mass.isApprox(body.mass, 0));
}

TEST(BodyShape, OfAShellHasItsRestShape) {
  const auto sheet = [](int cells) {
    ShellSubstance substance;
    substance.membrane = KoiterMembrane{plane_stress_parameters(1e5, 0.3)};
    substance.bending_young = 1e5;
    const Mesh mesh = generate::grid(1, 1, cells, cells);
    ShellRest rest;
    rest.points = 0.9 * mesh.points;
    rest.flat = true;
    return make_shell("sheet", mesh, substance, rest);
  };
  const Body body = sheet(2), fine = sheet(3), again = with_shape(body, shape_of(fine));
  EXPECT_EQ(again.shell->inverse_rest, fine.shell->inverse_rest);
  EXPECT_EQ(again.shell->hinge_stiffness, fine.shell->hinge_stiffness);
  EXPECT_TRUE(again.mass.isApprox(fine.mass, 0));
  BodyShape without = shape_of(fine);
  without.rest_points.resize(3, 0);
  EXPECT_THROW(with_shape(body, without), InputError);
}

TEST(BodyShape, OfARodIsMadeOfTheSameMaterial) {
  const RodMaterial material{.density = 500, .young = 1e7, .radius = 0.02};
  const Body body = make_rod("rod", generate::segments(1, 4), material, RestCurvature::straight);
  const Body fine = make_rod("rod", generate::segments(1, 9), material, RestCurvature::straight);
  const Body again = with_shape(body, shape_of(fine));
  EXPECT_EQ(again.radius, body.radius);
  EXPECT_EQ(again.rods->rest_length, fine.rods->rest_length);
  EXPECT_NEAR(total_mass(again), total_mass(body), 1e-12);
}

TEST(BodyShape, ThatIsNoGoodMeshOfTheBodyIsRefused) {
  const Body body = layered_box(2);
  const auto refused = [&](const std::function<void(BodyShape&)>& spoil) {
    BodyShape shape = shape_of(layered_box(3));
    spoil(shape);
    EXPECT_THROW(with_shape(body, shape), InputError);
  };
  refused([](BodyShape& s) { s.mesh.points(0, 0) = std::numeric_limits<double>::quiet_NaN(); });
  refused([](BodyShape& s) { s.mesh.points(0, 0) = 1e300; });
  refused([](BodyShape& s) { s.mesh.points *= 1.1; });
  refused([](BodyShape& s) { s.mesh.points.resize(3, 0); });
  refused([](BodyShape& s) { s.mesh.tetrahedra(2, 5) = 9999; });
  refused([](BodyShape& s) { s.mesh.tetrahedra(2, 5) = -1; });
  refused([](BodyShape& s) { s.mesh.tetrahedra.row(2).swap(s.mesh.tetrahedra.row(3)); });
  refused([](BodyShape& s) { s.mesh.tetrahedra.resize(4, 0); });
  refused([](BodyShape& s) { s.mesh.faces = Faces::Zero(3, 1); });
  refused([](BodyShape& s) { s.mesh.vertices = Eigen::VectorXi::Zero(1); });
  refused([](BodyShape& s) { s.rest_points = s.mesh.points; });
  refused([](BodyShape& s) { s.sets.cell_substance.pop_back(); });
  refused([](BodyShape& s) { s.sets.cell_substance[3] = 2; });
  refused([](BodyShape& s) { s.sets.add_points("new", {0}); });
  refused([](BodyShape& s) { s.sets.replace(SetKind::points, 0, {9999}); });
  refused([](BodyShape& s) { s.sets.replace(SetKind::points, 0, {-1, 2}); });
  refused([](BodyShape& s) {  // a point of no cell
    s.mesh.points.conservativeResize(3, s.mesh.points.cols() + 1);
    s.mesh.points.rightCols(1).setZero();
  });
  const Body stiff = make_affine("stiff", box_mesh(1), Orthogonality{1e8}, 1000);
  EXPECT_THROW(with_shape(stiff, shape_of(stiff)), InputError) << "keeps its mesh";
}

}  // namespace
}  // namespace apart::test
