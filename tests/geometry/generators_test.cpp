#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>
#include <functional>
#include <numbers>
#include <set>

namespace apart::test {
namespace {

using generate::Content;
constexpr double pi = std::numbers::pi;

/// A generator at some size, with what is known about its exact shape.
struct Solid {
  const char* name;
  std::function<Mesh(Content)> make;
  int euler;              ///< of the surface: 2 for a ball, 0 for a torus
  double least_dihedral;  ///< [degrees]
};

/// An L, and a square in its corner.
const std::vector<Eigen::Vector2d> bracket = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
const std::vector<Eigen::Vector2d> hole = {{0.3, 0.3}, {0.6, 0.3}, {0.6, 0.6}, {0.3, 0.6}};

std::vector<Solid> solids() {
  using namespace generate;
  std::vector<Solid> list = {
      {"box 1",
       [](Content c) {
         return box({1, 2, 3}, {1, 1, 1}, c);
       },
       2, 15},
      {"box 2",
       [](Content c) {
         return box({1, 1, 1}, {3, 4, 5}, c);
       },
       2, 35},
      {"mat", [](Content c) { return mat(1, 0.1, 10, c); }, 2, 50},
      {"rod", [](Content c) { return rod(1, 0.1, 20, 2, c); }, 2, 50},
      {"cylinder 1", [](Content c) { return cylinder(1, 1, 1, 1, c); }, 2, 30},
      {"cylinder 2", [](Content c) { return cylinder(0.5, 2, 4, 12, c); }, 2, 25},
      {"spike", [](Content c) { return spike(1, 1, c); }, 2, 12},
      {"wedge", [](Content c) { return wedge(1, 1, 1, c); }, 2, 12},
      {"voussoir",
       [](Content c) {
         return voussoir({1, 1.3, 0.4, 20, 35}, {1, 1, 1}, c);
       },
       2, 25},
      {"voussoir fine",
       [](Content c) {
         return voussoir({1, 1.5, 0.5, 0, 180}, {2, 12, 2}, c);
       },
       2, 35},
      {"prism", [](Content c) { return prism(bracket, {}, 0.4, 0, c); }, 2, 8},
      {"prism with a hole", [](Content c) { return prism(bracket, {hole}, 0.4, 0, c); }, 0, 5},
      {"prism with a hole, fine", [](Content c) { return prism(bracket, {hole}, 0.4, 0.1, c); }, 0, 12},
      {"torus coarse", [](Content c) { return torus(2, 1, 3, 3, c); }, 0, 4},
      {"torus", [](Content c) { return torus(1, 0.4, 24, 12, c); }, 0, 20},
  };
  for (int n : {1, 2, 3, 4, 5, 8, 12})
    list.push_back({"sphere", [n](Content c) { return sphere(2, n, c); }, 2, 25});
  for (int tube = 3; tube < 32; ++tube)
    list.push_back({"torus", [tube](Content c) { return torus(1, 0.3, 3 * tube + 1, tube, c); }, 0, 12});
  return list;
}

double smallest_dihedral_degrees(const Mesh& mesh) {
  double largest_cosine = -1;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b) {
        const Vector3 p = mesh.points.col(mesh.tetrahedra(a, t)),
                      axis = mesh.points.col(mesh.tetrahedra(b, t)) - p;
        Vector3 side[2];
        for (int k = 0, n = 0; k < 4; ++k)
          if (k != a && k != b) {
            const Vector3 v = mesh.points.col(mesh.tetrahedra(k, t)) - p;
            side[n++] = (v - v.dot(axis) / axis.squaredNorm() * axis).normalized();
          }
        largest_cosine = std::max(largest_cosine, side[0].dot(side[1]));
      }
  return std::acos(largest_cosine) * 180 / pi;
}

/// Triangles as sets of corner coordinates with their orientation, independent of numbering.
std::set<std::array<std::array<double, 3>, 3>> triangles_by_coordinates(const Matrix3X& points,
                                                                        const Faces& faces) {
  std::set<std::array<std::array<double, 3>, 3>> result;
  for (Index f = 0; f < faces.cols(); ++f) {
    std::array<std::array<double, 3>, 3> t;
    for (int k = 0; k < 3; ++k) Vector3::Map(t[std::size_t(k)].data()) = points.col(faces(k, f));
    std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
    result.insert(t);
  }
  return result;
}

TEST(Generators, SolidsAreValidAndOfGoodQuality) {
  for (const Solid& solid : solids()) {
    SCOPED_TRACE(solid.name);
    const Mesh mesh = solid.make(Content::tetrahedra);
    SCOPED_TRACE(mesh.tetrahedra.cols());
    EXPECT_NO_THROW(validate_volume(mesh, solid.name));
    EXPECT_EQ(remove_unreferenced_points(mesh).point_count(), mesh.point_count());
    EXPECT_GE(smallest_dihedral_degrees(mesh), solid.least_dihedral);
    EXPECT_EQ(mesh.faces.cols() + mesh.edges.cols() + mesh.vertices.size(), 0);
  }
}

TEST(Generators, SurfacesAreClosedManifoldsOfTheRightTopology) {
  for (const Solid& solid : solids()) {
    SCOPED_TRACE(solid.name);
    const Mesh mesh = solid.make(Content::surface);
    EXPECT_NO_THROW(validate_surface(mesh, solid.name));
    EXPECT_TRUE(is_closed_surface(mesh));
    EXPECT_EQ(mesh.point_count() - edges_of(mesh.faces).cols() + mesh.faces.cols(), solid.euler);
    EXPECT_EQ(mesh.tetrahedra.cols(), 0);
  }
}

TEST(Generators, SurfaceIsTheBoundaryOfTheSolid) {
  for (const Solid& solid : solids()) {
    SCOPED_TRACE(solid.name);
    const Mesh volume = solid.make(Content::tetrahedra);
    const Mesh surface = solid.make(Content::surface);
    EXPECT_EQ(triangles_by_coordinates(volume.points, boundary_faces(volume.tetrahedra)),
              triangles_by_coordinates(surface.points, surface.faces));
    EXPECT_NEAR(enclosed_volume(surface), volume_of(volume), 1e-12 * volume_of(volume));
  }
}

TEST(Generators, BoxesHaveTheirExactVolumeAndPlace) {
  const Mesh box = generate::box({1, 2, 3}, {2, 3, 4});
  EXPECT_NEAR(volume_of(box), 6, 1e-14 * 6);
  EXPECT_EQ(box.points.rowwise().minCoeff(), Vector3(-0.5, -1, -1.5));
  EXPECT_EQ(box.points.rowwise().maxCoeff(), Vector3(0.5, 1, 1.5));
  EXPECT_EQ(box.tetrahedra.cols(), 5 * 24);
  EXPECT_NEAR(volume_of(generate::mat(2, 0.1, 7)), 0.4, 1e-14);
  EXPECT_EQ(generate::mat(2, 0.1, 7).points.row(1).maxCoeff(), 0.05);
  EXPECT_NEAR(volume_of(generate::rod(2, 0.1, 30, 3)), 0.02, 1e-15);
  EXPECT_EQ(generate::rod(2, 0.1, 30, 3).points.row(0).maxCoeff(), 1);
}

/// The volume of an inscribed polyhedron of mesh size h is short by a multiple of h².
void expect_second_order(const std::function<double(int)>& volume, double exact) {
  const double coarse = exact - volume(8), fine = exact - volume(16);
  EXPECT_GT(fine, 0);
  EXPECT_LT(fine, 0.02 * exact);
  EXPECT_NEAR(coarse / fine, 4, 0.15);
}

TEST(Generators, RoundShapesConvergeToTheirVolume) {
  expect_second_order([](int n) { return volume_of(generate::sphere(1.5, n)); },
                      4.0 / 3 * pi * std::pow(1.5, 3));
  expect_second_order([](int n) { return volume_of(generate::cylinder(1.5, 2, n, 2)); }, pi * 1.5 * 1.5 * 2);
  expect_second_order([](int n) { return volume_of(generate::torus(2, 0.5, 6 * n, 2 * n)); },
                      2 * pi * pi * 2 * 0.25);
}

TEST(Generators, SpikesAndWedgesHaveTheirVolumeAndTheirSharpSideUp) {
  const Mesh spike = generate::spike(0.6, 2), wedge = generate::wedge(0.6, 2, 3);
  EXPECT_NEAR(volume_of(spike), 0.36 * 2 / 3, 1e-15);
  EXPECT_NEAR(volume_of(wedge), 0.5 * 0.6 * 2 * 3, 1e-14);
  EXPECT_EQ((spike.points.row(1).array() == 2).count(), 1);
  EXPECT_EQ((wedge.points.row(1).array() == 2).count(), 2);
  for (const Mesh& mesh : {spike, wedge}) EXPECT_EQ(mesh.points.row(1).minCoeff(), 0);
}

TEST(Generators, PrismsHaveTheirPolygonsVolumeInEitherOrientation) {
  const std::vector<Eigen::Vector2d> backwards(bracket.rbegin(), bracket.rend());
  for (const double edge : {0.0, 0.15}) {
    EXPECT_NEAR(volume_of(generate::prism(bracket, {}, 0.4, edge)), 3 * 0.4, 1e-13);
    EXPECT_NEAR(volume_of(generate::prism(backwards, {hole}, 0.4, edge)), (3 - 0.09) * 0.4, 1e-13);
  }
  const Mesh mesh = generate::prism(bracket, {}, 0.4, 0, Content::surface);
  EXPECT_EQ(mesh.points.row(2).minCoeff(), -0.2);
  EXPECT_EQ(mesh.points.row(2).maxCoeff(), 0.2);
  EXPECT_EQ(mesh.points.row(0).minCoeff(), 0) << "not centred";
}

TEST(Generators, VoussoirsFillARingAndNeighboursShareAPlane) {
  // One cell along the angle: a trapezium of area (R² − r²) sin θ / 2 between chords.
  double volume = 0;
  for (int i = 0; i < 9; ++i)
    volume += volume_of(generate::voussoir({2, 3, 0.5, 20.0 * i, 20.0 * (i + 1)}, {1, 1, 1}));
  EXPECT_NEAR(volume, 9 * 0.5 * 0.5 * (9 - 4) * std::sin(pi / 9), 1e-13);
  expect_second_order(
      [](int n) {
        return volume_of(generate::voussoir({2, 3, 0.5, 30, 150}, {1, n, 1}));
      },
      0.5 * (9 - 4) * 0.5 * 2 * pi / 3);
  const Mesh left = generate::voussoir({2, 3, 0.5, 60, 75}, {1, 1, 1}),
             right = generate::voussoir({2, 3, 0.5, 75, 91}, {1, 1, 1});
  const Vector3 normal(-std::sin(75 * pi / 180), std::cos(75 * pi / 180), 0);
  EXPECT_NEAR((normal.transpose() * left.points).maxCoeff(), 0, 1e-15 * 4);
  EXPECT_NEAR((normal.transpose() * right.points).minCoeff(), 0, 1e-15 * 4);
}

TEST(Generators, RevolutionsAreOpenBandsThatFaceAwayFromTheAxis) {
  const Mesh tube = generate::revolution({{0.5, -1}, {0.5, 0}, {0.7, 1}}, 16);
  EXPECT_NO_THROW(validate_surface(tube, "tube"));
  EXPECT_FALSE(is_closed_surface(tube));
  EXPECT_EQ(tube.point_count() - edges_of(tube.faces).cols() + tube.faces.cols(), 0) << "a band";
  EXPECT_EQ(tube.faces.cols(), 2 * 2 * 16);
  for (Index f = 0; f < tube.faces.cols(); ++f) {
    const Vector3 a = tube.points.col(tube.faces(0, f)), b = tube.points.col(tube.faces(1, f)),
                  c = tube.points.col(tube.faces(2, f));
    const Vector3 middle = (a + b + c) / 3, normal = (b - a).cross(c - a);
    EXPECT_GT(normal[0] * middle[0] + normal[2] * middle[2], 0);
  }
}

TEST(Generators, RibbonsFollowTheirPathInEqualSteps) {
  const std::vector<Vector3> path{{-1, 0, 0}, {0, 0.2, 1}, {1, 0, 0}};
  const Mesh ribbon = generate::ribbon(path, 0.1, 40, 2);
  EXPECT_NO_THROW(validate_surface(ribbon, "ribbon"));
  EXPECT_FALSE(is_closed_surface(ribbon));
  EXPECT_EQ(ribbon.point_count(), 41 * 3);
  EXPECT_EQ(ribbon.faces.cols(), 2 * 40 * 2);
  EXPECT_EQ(ribbon.groups.at("start").points, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(ribbon.groups.at("end").points, (std::vector<int>{120, 121, 122}));
  const auto middle = [&](Index i) -> Vector3 { return ribbon.points.col(3 * i + 1); };
  EXPECT_EQ(middle(0), path[0]);
  EXPECT_NEAR((middle(20) - path[1]).norm(), 0, 1e-12) << "the path is symmetric";
  EXPECT_NEAR((middle(40) - path[2]).norm(), 0, 1e-12);
  const double step = (middle(1) - middle(0)).norm();
  for (Index i = 0; i < 40; ++i) {
    // Arcs are equal; the chord of one that turns by an angle a is shorter by a²/24.
    const Vector3 before = i > 0 ? Vector3(middle(i) - middle(i - 1)) : Vector3(middle(1) - middle(0)),
                  here = middle(i + 1) - middle(i);
    const double turn = std::acos(std::min(1.0, before.normalized().dot(here.normalized())));
    EXPECT_NEAR(here.norm(), step, (1e-3 + turn * turn / 12) * step);
    EXPECT_NEAR(ribbon.points(1, 3 * i + 2) - ribbon.points(1, 3 * i), 0.1, 1e-15);
  }
}

TEST(Generators, CylinderVolumeIsThatOfItsRegularPolygon) {
  const int n = 3;  // 18 corners on the rim
  EXPECT_NEAR(volume_of(generate::cylinder(2, 5, n, 4)), 5 * 0.5 * 18 * 4 * std::sin(2 * pi / 18), 1e-12);
}

TEST(Generators, SurfacePointsLieOnTheirSurface) {
  for (int n : {1, 3, 7}) {
    const Mesh sphere = generate::sphere(2, n, Content::surface);
    EXPECT_EQ(sphere.point_count(), 10 * n * n + 2);
    EXPECT_LT((sphere.points.colwise().norm().array() - 2).abs().maxCoeff(), 1e-15 * 4);
  }
  const Mesh torus = generate::torus(2, 0.5, 10, 8, Content::surface);
  for (Index p = 0; p < torus.point_count(); ++p) {
    const Vector3 x = torus.points.col(p);
    EXPECT_NEAR(std::hypot(std::hypot(x[0], x[2]) - 2, x[1]), 0.5, 1e-15 * 4);
  }
  const Mesh bowl = generate::bowl(2, 120, 9);
  EXPECT_EQ(bowl.points.row(1).minCoeff(), 0);
  EXPECT_NEAR(bowl.points.row(1).maxCoeff(), 2 * (1 + 0.5), 1e-15 * 8) << "the rim is at 1 − cos 120° radii";
  for (Index p = 0; p < bowl.point_count(); ++p)
    EXPECT_NEAR((bowl.points.col(p) - Vector3(0, 2, 0)).norm(), 2, 1e-15 * 4);
}

TEST(Generators, OpenSurfacesFaceUpward) {
  for (const Mesh& mesh : {generate::grid(2, 3, 4, 5), generate::bowl(1, 60, 6)}) {
    EXPECT_NO_THROW(validate_surface(mesh, "open"));
    EXPECT_FALSE(is_closed_surface(mesh));
    EXPECT_EQ(mesh.point_count() - edges_of(mesh.faces).cols() + mesh.faces.cols(), 1) << "a disc";
    for (Index f = 0; f < mesh.faces.cols(); ++f) {
      const Vector3 a = mesh.points.col(mesh.faces(0, f)), b = mesh.points.col(mesh.faces(1, f)),
                    c = mesh.points.col(mesh.faces(2, f));
      EXPECT_GT((b - a).cross(c - a)[1], 0);
    }
  }
  const Mesh grid = generate::grid(2, 3, 4, 5);
  EXPECT_EQ(grid.faces.cols(), 40);
  EXPECT_EQ(grid.points.rowwise().maxCoeff(), Vector3(1, 0, 1.5));
}

TEST(Generators, SegmentsAndPoints) {
  const Mesh line = generate::segments(2, 5);
  EXPECT_NO_THROW(validate_segments(line, "line"));
  EXPECT_EQ(line.edges.cols(), 5);
  EXPECT_EQ(line.points.col(0), Vector3(-1, 0, 0));
  EXPECT_EQ(line.points.col(5), Vector3(1, 0, 0));
  const Mesh block = generate::points({2, 3, 4}, 0.5);
  EXPECT_NO_THROW(validate_points(block, "block"));
  EXPECT_EQ(block.vertices.size(), 24);
  EXPECT_EQ(block.points.rowwise().minCoeff(), Vector3(-0.25, -0.5, -0.75));
  EXPECT_EQ(block.points.rowwise().maxCoeff(), Vector3(0.25, 0.5, 0.75));
  EXPECT_EQ(generate::points({1, 1, 1}, 1).points.col(0), Vector3(0, 0, 0));
}

TEST(Generators, CurvesAreChainsWithTheirEnds) {
  const Mesh bundle = generate::bundle(2, 10, {4, 3}, 0.1, false);
  EXPECT_NO_THROW(validate_segments(bundle, "bundle"));
  EXPECT_EQ(bundle.edges.cols(), 120);
  EXPECT_EQ(bundle.groups.at("start").points.size(), 12u);
  for (const int p : bundle.groups.at("end").points) EXPECT_EQ(bundle.points(1, p), 1);
  EXPECT_LT((bundle.points.rowwise().maxCoeff() - Vector3(0.15, 1, 0.1)).norm(), 1e-12);
  const Mesh round = generate::bundle(1, 1, {30, 30}, 1, true);
  EXPECT_NEAR(double(round.edges.cols()), std::numbers::pi / 4 * 900, 20);

  const Mesh helix = generate::helix(0.5, 0.2, 3, 20);
  EXPECT_NO_THROW(validate_segments(helix, "helix"));
  EXPECT_EQ(helix.edges.cols(), 60);
  for (Index p = 0; p < helix.point_count(); ++p)
    EXPECT_NEAR(std::hypot(helix.points(0, p), helix.points(2, p)), 0.5, 1e-15);
  EXPECT_NEAR(helix.points(1, 60) - helix.points(1, 0), 0.6, 1e-15);
  const Mesh ring = generate::ring(2, 7);
  EXPECT_NO_THROW(validate_segments(ring, "ring"));
  EXPECT_EQ(ring.edges.cols(), 7);
  EXPECT_EQ(ring.point_count(), 7);
  EXPECT_TRUE(ring.groups.empty());
}

TEST(Generators, NetsPassOverAndUnder) {
  const int n = 4, cells = 48;
  const Mesh net = generate::net(1, n, cells, 0.04);
  EXPECT_EQ(net.edges.cols(), 2 * n * cells);
  // Line i along x and line k along z cross at cell (k + 1/2)/n and (i + 1/2)/n, 0.04 apart, by turns.
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const Vector3 a = net.points.col(i * (cells + 1) + cells * (2 * k + 1) / (2 * n));
      const Vector3 b = net.points.col((n + k) * (cells + 1) + cells * (2 * i + 1) / (2 * n));
      EXPECT_LT((Vector3(a - b) - Vector3(0, (i + k) % 2 == 0 ? 0.04 : -0.04, 0)).norm(), 1e-12) << i << k;
    }
}

TEST(Generators, HairStandsOnItsSurface) {
  const Mesh ball = generate::sphere(0.5, 3, generate::Content::surface);
  const Mesh hair = generate::hair(ball, 0.2, 4, 0.01, 2);
  EXPECT_NO_THROW(validate_segments(hair, "hair"));
  const auto& roots = hair.groups.at("start").points;
  EXPECT_EQ(roots.size(), std::size_t(ball.point_count() + 1) / 2);
  // Normals of a coarse ball differ a little from its radii.
  for (const int p : roots) EXPECT_NEAR(hair.points.col(p).norm(), 0.51, 1e-5);
  for (const int p : hair.groups.at("end").points) EXPECT_NEAR(hair.points.col(p).norm(), 0.71, 1e-3);
}

TEST(Generators, PackedBallsDoNotOverlapAndLieInTheirBox) {
  const Vector3 size(1, 0.7, 0.5);
  const double r = 0.03, gap = 0.002;
  const Mesh balls = generate::packing(size, r, gap, 0, 7);
  EXPECT_NO_THROW(validate_points(balls, "balls"));
  const Index n = balls.point_count();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j)
      EXPECT_GE((balls.points.col(i) - balls.points.col(j)).norm(), (2 * r + gap) * (1 - 1e-12));
  EXPECT_LE((balls.points.rowwise().maxCoeff() - (size / 2 - Vector3::Constant(r))).maxCoeff(), 1e-15);
  EXPECT_LE((-balls.points.rowwise().minCoeff() - (size / 2 - Vector3::Constant(r))).maxCoeff(), 1e-15);
  EXPECT_GT(n * 4.0 / 3 * std::numbers::pi * r * r * r / size.prod(), 0.2) << "fairly full";
  EXPECT_EQ(generate::packing(size, r, gap, 0, 7).points, balls.points);
  EXPECT_NE(generate::packing(size, r, gap, 10, 8).points, balls.points.leftCols(10));
  EXPECT_EQ(generate::packing(size, r, gap, 10, 7).points, balls.points.leftCols(10).eval());
  EXPECT_THROW(generate::packing(size, r, gap, 100000, 7), InputError);
  EXPECT_THROW(generate::packing(size, 0.3, gap, 0, 7), InputError);
}

TEST(Generators, ShapesAreExactlySymmetric) {
  const auto mirrored = [](const Mesh& mesh, int axis) {
    const auto key = [&](Index p, bool flip) {
      std::array<double, 3> x = {mesh.points(0, p), mesh.points(1, p), mesh.points(2, p)};
      if (flip) x[std::size_t(axis)] = 0 - x[std::size_t(axis)];
      return x;
    };
    std::set<std::array<double, 3>> direct, flipped;
    for (Index p = 0; p < mesh.point_count(); ++p) {
      direct.insert(key(p, false));
      flipped.insert(key(p, true));
    }
    return direct == flipped;
  };
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_TRUE(mirrored(generate::box({1, 0.3, 0.7}, {3, 7, 11}), axis));
    EXPECT_TRUE(mirrored(generate::cylinder(1, 0.7, 4, 7), axis));
    EXPECT_TRUE(mirrored(generate::torus(1, 0.3, 28, 12), axis));
  }
}

TEST(Generators, WrongArgumentsAreNamed) {
  using namespace generate;
  const double nan = std::nan("");
  const std::vector<std::tuple<const char*, const char*, std::function<void()>>> cases = {
      {"size", "-1",
       [] {
         box({1, -1, 1}, {1, 1, 1});
       }},
      {"size", "nan",
       [=] {
         box({nan, 1, 1}, {1, 1, 1});
       }},
      {"size", "inf",
       [=] {
         box({1 / 0.0, 1, 1}, {1, 1, 1});
       }},
      {"cells", "0",
       [] {
         box({1, 1, 1}, {1, 0, 1});
       }},
      {"cells", "coarser",
       [] {
         box({1, 1, 1}, {1000, 1000, 1000});
       }},
      {"cells", "coarser",
       [] {
         box({1, 1, 1}, {2000000000, 2000000000, 2000000000});
       }},
      {"radius", "0", [] { sphere(0, 3); }},
      {"resolution", "-4", [] { sphere(1, -4); }},
      {"resolution", "coarser", [] { sphere(1, 101); }},
      {"resolution", "coarser", [] { sphere(1, 2000000000, Content::surface); }},
      {"major", "-1", [] { torus(-1, 0.5, 8, 8); }},
      {"minor", "0", [] { torus(1, 0, 8, 8); }},
      {"minor", "less than major", [] { torus(1, 1, 8, 8); }},
      {"ring_cells", "2", [] { torus(2, 1, 2, 8); }},
      {"tube_cells", "2", [] { torus(2, 1, 8, 2); }},
      {"tube_cells", "coarser", [] { torus(2, 1, 2000000000, 2000000000); }},
      {"radius", "-1", [] { cylinder(-1, 1, 3, 3); }},
      {"length", "0", [] { cylinder(1, 0, 3, 3); }},
      {"resolution", "0", [] { cylinder(1, 1, 0, 3); }},
      {"length_cells", "0", [] { cylinder(1, 1, 3, 0); }},
      {"length_cells", "coarser", [] { cylinder(1, 1, 30000, 30000); }},
      {"width", "0", [] { mat(0, 1, 3); }},
      {"thickness", "-1", [] { mat(1, -1, 3); }},
      {"cells", "0", [] { mat(1, 1, 0); }},
      {"length", "0", [] { rod(0, 1, 3); }},
      {"thickness", "nan", [=] { rod(1, nan, 3); }},
      {"cross_cells", "0", [] { rod(1, 1, 3, 0); }},
      {"width", "0", [] { spike(0, 1); }},
      {"height", "nan", [=] { spike(1, nan); }},
      {"height", "-2", [] { wedge(1, -2, 1); }},
      {"length", "0", [] { wedge(1, 1, 0); }},
      {"inner", "0",
       [] {
         voussoir({0, 1, 1, 0, 90}, {1, 1, 1});
       }},
      {"outer", "greater than inner",
       [] {
         voussoir({2, 2, 1, 0, 90}, {1, 1, 1});
       }},
      {"depth", "-1",
       [] {
         voussoir({1, 2, -1, 0, 90}, {1, 1, 1});
       }},
      {"from and to", "190",
       [] {
         voussoir({1, 2, 1, 90, 190}, {1, 1, 1});
       }},
      {"from and to", "nan",
       [=] {
         voussoir({1, 2, 1, nan, 90}, {1, 1, 1});
       }},
      {"depth", "0", [] { prism(bracket, {}, 0); }},
      {"edge", "-1", [] { prism(bracket, {}, 1, -1); }},
      {"edge", "coarser", [] { prism(bracket, {}, 1e9, 0.1); }},
      {"hole 0", "at least 3",
       [] {
         prism(bracket, {{{0.1, 0.1}, {0.2, 0.2}}}, 1);
       }},
      {"profile", "at least 2",
       [] {
         revolution({{1, 0}}, 8);
       }},
      {"profile", "0",
       [] {
         revolution({{1, 0}, {0, 1}}, 8);
       }},
      {"profile", "equal",
       [] {
         revolution({{1, 0}, {1, 0}}, 8);
       }},
      {"resolution", "2",
       [] {
         revolution({{1, 0}, {1, 1}}, 2);
       }},
      {"path", "at least 2",
       [] {
         ribbon({{1, 0, 0}}, 1, 1, 1);
       }},
      {"path", "one above the other",
       [] {
         ribbon({{1, 0, 0}, {1, 2, 0}}, 1, 1, 1);
       }},
      {"width", "0",
       [] {
         ribbon({{1, 0, 0}, {2, 0, 0}}, 0, 1, 1);
       }},
      {"size_x", "0", [] { grid(0, 1, 1, 1); }},
      {"size_z", "-1", [] { grid(1, -1, 1, 1); }},
      {"cells_x", "0", [] { grid(1, 1, 0, 1); }},
      {"cells_z", "-1", [] { grid(1, 1, 1, -1); }},
      {"radius", "-1", [] { bowl(-1, 90, 3); }},
      {"angle", "180", [] { bowl(1, 180, 3); }},
      {"angle", "nan", [=] { bowl(1, nan, 3); }},
      {"resolution", "0", [] { bowl(1, 90, 0); }},
      {"length", "-1", [] { segments(-1, 3); }},
      {"cells", "0", [] { segments(1, 0); }},
      {"counts", "0",
       [] {
         points({1, 0, 1}, 1);
       }},
      {"counts", "coarser",
       [] {
         points({3000, 3000, 3000}, 1);
       }},
      {"spacing", "0",
       [] {
         points({1, 1, 1}, 0);
       }},
  };
  for (const auto& [parameter, value, call] : cases) {
    try {
      call();
      ADD_FAILURE() << parameter << " " << value << " must be refused";
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(parameter), std::string::npos) << message;
      EXPECT_NE(message.find(value), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace apart::test
