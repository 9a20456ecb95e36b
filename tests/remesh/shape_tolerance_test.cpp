// Curved surfaces are coarsened as far as the scene allows, measured against circles and balls.
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/geometry/squared_distance.hpp>
#include <apart/remesh/mesh_editor.hpp>
#include <apart/remesh/remeshing.hpp>
#include <apart/simulation/simulation.hpp>

#include <gtest/gtest.h>

#include <numbers>
#include <random>

namespace apart::test {
namespace {

MeshEditor::Source source_of(Mesh mesh, double tolerance, bool is_shell = false) {
  MeshEditor::Source source;
  source.shape.mesh = std::move(mesh);
  source.is_shell = is_shell;
  if (tolerance > 0) source.original = std::make_shared<OriginalShape>(source.shape, is_shell, tolerance);
  return source;
}

/// Tries all collapses in some order until none is possible, in several passes: errors would add up.
int coarsen(MeshEditor& editor, unsigned seed) {
  std::mt19937 random(seed);
  int done = 0;
  for (int before = -1; before != done;) {
    before = done;
    auto edges = editor.edges();
    std::ranges::shuffle(edges, random);
    for (const auto& [a, b] : edges)
      if (!editor.cells_of_edge(a, b).empty()) done += editor.collapse(a, b, 0.1) == Refusal::none;
  }
  return done;
}

/// The distance of a place from sides of a surface, one after the other.
double distance_from(const Matrix3X& points, const std::vector<Corners>& sides, const Vector3& x) {
  double least = infinity;
  for (const Corners& side : sides) {
    StencilPoints stencil{x, points.col(side[0]), points.col(side[1]), Vector3::Zero()};
    if (side.size() == 3) stencil[3] = points.col(side[2]);
    least =
        std::min(least, std::sqrt(squared_distance(
                            side.size() == 3 ? PairKind::point_triangle : PairKind::point_edge, stencil)));
  }
  return least;
}

/// Places on a side, its corners included.
std::vector<Vector3> places_on(const Matrix3X& points, const Corners& side) {
  constexpr int n = 5;
  std::vector<Vector3> places;
  for (int i = 0; i <= n; ++i)
    for (int j = 0; i + j <= n; ++j) {
      if (side.size() == 2 && i + j < n) continue;
      Vector3 x = (double(i) * points.col(side[0]) + double(j) * points.col(side[1])) / n;
      if (side.size() == 3) x += double(n - i - j) / n * points.col(side[2]);
      places.push_back(x);
    }
  return places;
}

void expect_near(const Mesh& fine, const Mesh& coarse, double tolerance) {
  const std::vector<Corners> old_sides = surface_of(fine), sides = surface_of(coarse);
  double inner =
      1;  // the nearest that the surface of the fine mesh comes to the centre of the circle or ball
  for (const Corners& side : old_sides)
    for (const Vector3& x : places_on(fine.points, side)) {
      inner = std::min(inner, x.norm());
      ASSERT_LE(distance_from(coarse.points, sides, x), tolerance * (1 + 1e-9));
    }
  double innermost = 1;
  for (const Corners& side : sides)
    for (const Vector3& x : places_on(coarse.points, side)) {
      innermost = std::min(innermost, x.norm());
      ASSERT_LE(distance_from(fine.points, old_sides, x), tolerance * (1 + 1e-9));
      ASSERT_LE(x.norm(), 1 + 1e-12);
    }
  EXPECT_GE(innermost, inner - tolerance);
  EXPECT_LT(innermost, inner - 0.2 * tolerance) << "the tolerance was hardly used";
}

TEST(ShapeTolerance, ADiscStaysNearItsCircle) {
  const Mesh fine = generate::disc(1, 16);
  for (const double tolerance : {0.005, 0.02}) {
    MeshEditor editor(source_of(fine, tolerance));
    coarsen(editor, 1);
    const Mesh coarse = editor.result().shape.mesh;
    EXPECT_LT(surface_of(coarse).size(), surface_of(fine).size() / 2);
    expect_near(fine, coarse, tolerance);
    // Segments of circles of this sagitta, and those that the boundary began with.
    double area = 0;
    for (const auto& t : coarse.faces.colwise())
      area += 0.5 * Vector3(coarse.points.col(t[1]) - coarse.points.col(t[0]))
                        .cross(Vector3(coarse.points.col(t[2]) - coarse.points.col(t[0])))
                        .z();
    EXPECT_LT(area, std::numbers::pi);
    EXPECT_GT(area, std::numbers::pi - 2 * std::numbers::pi * (tolerance + 0.001));
  }
}

TEST(ShapeTolerance, ABallStaysNearItsSphere) {
  const Mesh fine = generate::sphere(1, 6);
  MeshEditor editor(source_of(fine, 0.05));
  coarsen(editor, 1);
  const Mesh coarse = editor.result().shape.mesh;
  validate_volume(coarse, "coarse ball");
  EXPECT_LT(surface_of(coarse).size(), surface_of(fine).size() / 2);
  expect_near(fine, coarse, 0.05);
  EXPECT_GT(volume_of(coarse), volume_of(fine) - 4 * std::numbers::pi * 0.05);
}

TEST(ShapeTolerance, APieceIsCoveredByOthersThatMatchItTogether) {
  const auto segment = [](double x0, double y0, double x1, double y1) {
    SurfacePiece piece;
    piece.corners = {Vector3(x0, y0, 0), Vector3(x1, y1, 0), Vector3::Zero()};
    piece.size = 2;
    piece.normal = {0, 1, 0};
    return piece;
  };
  const SurfacePiece whole = segment(0, 0, 2, 0);
  SurfacePieces halves = {segment(0, 0.1, 1, 0.1), segment(1, 0.1, 2, 0.1)};
  EXPECT_TRUE(is_covered(whole, halves, 0.11));
  EXPECT_FALSE(is_covered(whole, halves, 0.09));
  EXPECT_FALSE(is_covered(whole, {halves[0]}, 0.11));
  const SurfacePieces gone = {segment(0, 0, 0.5, 0)};
  EXPECT_TRUE(is_covered(whole, {halves[0]}, 0.11, &gone));  // only what is near what is gone matters
  EXPECT_FALSE(is_covered(whole, {halves[1]}, 0.11, &gone));
  halves[1].sets = {3};
  EXPECT_FALSE(is_covered(whole, halves, 0.11));
  halves[1].sets = {};
  halves[1].normal = {0, -1, 0};
  EXPECT_FALSE(is_covered(whole, halves, 0.11));
  // A needle in the middle, between samples.
  EXPECT_FALSE(is_covered(whole, {segment(0, 0, 0.93, 0), segment(0.97, 0, 2, 0)}, 0.015));
}

TEST(ShapeTolerance, WithoutOneCurvedSurfacesStayExactly) {
  const Mesh fine = generate::sphere(1, 4);
  MeshEditor editor(source_of(fine, 0));
  EXPECT_GT(coarsen(editor, 1), 0);
  const MeshEditor::Result made = editor.result();
  EXPECT_EQ(surface_of(made.shape.mesh).size(), surface_of(fine).size());
  for (const Corners& side : surface_of(made.shape.mesh))
    for (const Index p : side) EXPECT_NEAR(made.shape.mesh.points.col(p).norm(), 1, 1e-12);
}

/// A sheet bent round two cylinders that meet in a straight crease at x = 0, of this angle.
Mesh two_arches(double degrees) {
  const double fold = degrees * std::numbers::pi / 180;
  Mesh mesh = generate::rectangle({2, 1}, {24, 12});
  for (Index p = 0; p < mesh.point_count(); ++p) {
    const double x = mesh.points(0, p), along = std::sin(x), up = 1 - std::cos(x);  // radius 1
    mesh.points(0, p) = x > 0 ? along : std::cos(fold) * along + std::sin(fold) * up;
    mesh.points(2, p) = x > 0 ? up : -std::sin(fold) * along + std::cos(fold) * up;
  }
  return mesh;
}

void expect_kept_crease(double degrees, double tolerance) {
  const Mesh fine = two_arches(degrees);
  MeshEditor editor(source_of(fine, tolerance, true));
  const auto crease = [](const MeshEditor& e) {
    double length = 0;
    for (const SurfacePiece& piece : e.outline(0).creases) {
      const bool between = std::hypot(piece.corners[0].x(), piece.corners[0].z()) < 1e-12 &&
                           std::hypot(piece.corners[1].x(), piece.corners[1].z()) < 1e-12;
      if (between) length += (piece.corners[1] - piece.corners[0]).norm();
    }
    return length;
  };
  ASSERT_NEAR(crease(editor), 1, 1e-12);
  coarsen(editor, 1);
  EXPECT_NEAR(crease(editor), 1, 1e-12);
  const Mesh coarse = editor.result().shape.mesh;
  EXPECT_LT(coarse.faces.cols(), fine.faces.cols() / 4);
  const std::vector<Corners> fine_cells = cells_of(fine), cells = cells_of(coarse);
  for (const Corners& cell : fine_cells)
    for (const Vector3& x : places_on(fine.points, cell))
      ASSERT_LE(distance_from(coarse.points, cells, x), tolerance * (1 + 1e-9));
  for (const Corners& cell : cells)
    for (const Vector3& x : places_on(coarse.points, cell))
      ASSERT_LE(distance_from(fine.points, fine_cells, x), tolerance * (1 + 1e-9));
}

TEST(ShapeTolerance, CreasesOfAShellAreNeverLost) {
  expect_kept_crease(90, 0.02);
  expect_kept_crease(45, 0.1);  // the distance alone would allow to move it
}

TEST(ShapeTolerance, FacetsOfASetStayApartFromOthers) {
  Mesh mesh = generate::sphere(1, 6);
  MeshEditor::Source source = source_of(mesh, 0);
  const std::vector<Corners> sides = surface_of(mesh);
  std::vector<Index> upper;
  for (std::size_t f = 0; f < sides.size(); ++f) {
    double y = 0;
    for (const Index p : sides[f]) y += mesh.points(1, p);
    if (y > 0) upper.push_back(Index(f));
  }
  source.shape.sets.add_facets("upper", upper);
  source.original = std::make_shared<OriginalShape>(source.shape, false, 0.05);
  const auto area = [](const BodyShape& shape) {
    const std::vector<Corners> all = surface_of(shape.mesh);
    double sum = 0;
    for (const Index f : shape.sets.list(SetKind::facets)[0].members) {
      const Corners& side = all[std::size_t(f)];
      sum += 0.5 * Vector3(shape.mesh.points.col(side[1]) - shape.mesh.points.col(side[0]))
                       .cross(Vector3(shape.mesh.points.col(side[2]) - shape.mesh.points.col(side[0])))
                       .norm();
    }
    return sum;
  };
  MeshEditor editor(source);
  EXPECT_GT(coarsen(editor, 1), 50);
  EXPECT_NEAR(area(editor.result().shape), area(source.shape), 0.1 * area(source.shape));
}

std::shared_ptr<Model> free_body(Body body, double tolerance) {
  RemeshOptions remesh{.delta_split = 1e3, .delta_collapse = -1e2, .coarsen = true};
  remesh.scene_points = body.mesh.point_count();
  remesh.original = std::make_shared<OriginalShape>(shape_of(body), body.shell.has_value(), tolerance);
  keep_mass(body);
  SimulationOptions options;
  options.dt = 0.002;
  options.gravity.setZero();
  PairSettings contact;
  contact.dhat = 0.001;
  auto model = std::make_shared<Model>(std::vector<Body>{std::move(body)}, PairTable(1, contact), options);
  model->remesher = make_remesher({remesh});
  return model;
}

void expect_kept_mass_and_momentum(Body body, double tolerance = 0.05) {
  set_rigid_velocity(body, {3, -1, 0}, {0, 0, 2});
  Simulation simulation(free_body(body, tolerance));
  const double mass = total_mass(body);
  const auto momentum = [&] {
    return Vector3((simulation.state().velocity * simulation.model().mass).rowwise().sum());
  };
  const Vector3 before = momentum();
  Index collapses = 0;
  for (int i = 0; i < 3; ++i) {
    collapses += simulation.step().collapses;
    EXPECT_NEAR(total_mass(simulation.model().bodies[0]), mass, 1e-12 * mass);
  }
  EXPECT_GT(collapses, 20);
  // As far as steps are solved.
  EXPECT_LT((momentum() - before).norm(), 1e-9 * before.norm());
}

TEST(ShapeTolerance, ABodyKeepsMassAndMomentum) {
  const NeoHookean soft{lame_parameters(1e5, 0.3)};
  expect_kept_mass_and_momentum(
      make_volume("ball", generate::sphere(1, 4), soft, 1000, MassKind::consistent));
  ShellSubstance sheet;
  sheet.mass = MassKind::consistent;
  sheet.thickness = 1e-3;
  expect_kept_mass_and_momentum(make_shell("arches", two_arches(90), sheet), 0.02);
  const Mesh disc = generate::disc(1, 10);
  const std::vector<Index> of_cell(std::size_t(disc.faces.cols()), 0);
  expect_kept_mass_and_momentum(
      make_planar("disc", disc, {{{soft, 1000}}, of_cell}, {0.1, PlaneState::strain, MassKind::consistent}));
}

}  // namespace
}  // namespace apart::test
