// Weights that make contact independent of the mesh: every place of a surface counts once.
#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/active_set.hpp>
#include <apart/collision/broad_phase.hpp>
#include <apart/geometry/generators.hpp>

#include <numeric>

namespace apart::test {
namespace {

/// A surface and isolated points of two bodies; the points have the area of unit balls.
CollisionSurface surface_and_points(const Matrix3X& x, const Faces& faces, const Edges& segments,
                                    const Matrix3X& points, double dhat) {
  Matrix3X all(3, x.cols() + points.cols());
  all << x, points;
  std::vector<int> body(std::size_t(all.cols()), 1);
  std::fill_n(body.begin(), x.cols(), 0);
  CollisionSurface surface(all, faces, segments, body, PairTable(2, {.dhat = dhat}), {});
  surface.weigh({{2}, {2}});
  return surface;
}

/// Σ weight · f(distance) over the contacts of each isolated point, divided by its weight, and f of its
/// distance from all that is not isolated.
void expect_nearest_counts_once(const CollisionSurface& surface, const std::string& what) {
  const double dhat = surface.pairs.max_dhat();
  const auto f = [&](double d) { return d < dhat ? (dhat - d) * (dhat - d) : 0; };
  const Candidates all = all_pairs(surface);
  const ActiveSet active = find_active_set(surface, all, surface.rest);
  int near = 0;
  for (const Index p : surface.isolated_vertices) {
    double sum = 0, nearest = infinity;
    for (const Contact& c : active.contacts)
      if (std::ranges::find(c.stencil.vertices, p) != c.stencil.vertices.end())
        sum += c.weight * f(distance(c.stencil, surface.rest));
    for (const Stencil& s : all)
      if (s.kind != PairKind::point_point && s.vertices[0] == p)
        nearest = std::min(nearest, distance(s, surface.rest));
    near += nearest < dhat;
    const double weight = surface.weights.of_vertex(p, 1, 0);
    EXPECT_NEAR(sum, weight * f(nearest), 1e-12 * weight * f(0)) << what << ", point " << p;
  }
  EXPECT_GT(near, 10) << what;
}

Matrix3X random_points(int n, const Vector3& low, const Vector3& high, Random& random) {
  Matrix3X points(3, n);
  for (int i = 0; i < n; ++i)
    points.col(i) = 0.5 * (low + high) + 0.5 * (high - low).cwiseProduct(random.vector());
  return points;
}

TEST(ContactWeights, TheNearestPlaceOfAConvexSurfaceCountsOnce) {
  Random random(1);
  for (const double dhat : {0.02, 0.1, 0.5}) {  // edges are about 0.2 long
    for (const Mesh& mesh : {generate::sphere(0.5, 3, generate::Content::surface),
                             generate::box({1, 1, 1}, {4, 4, 4}, generate::Content::surface)}) {
      const Faces& faces = mesh.faces;
      const Matrix3X points =
          random_points(400, Vector3::Constant(-0.5 - dhat), Vector3::Constant(0.5 + dhat), random);
      const bool round = mesh.points.colwise().norm().maxCoeff() < 0.51;
      std::vector<Index> outside;
      for (Index i = 0; i < points.cols(); ++i)
        if ((round ? points.col(i).norm() : points.col(i).cwiseAbs().maxCoeff()) > 0.5001)
          outside.push_back(i);
      CollisionSurface surface =
          surface_and_points(mesh.points, faces, Edges(2, 0), points(Eigen::all, outside), dhat);
      surface.pairs.set(1, 1, {.enabled = false});
      expect_nearest_counts_once(surface, fmt::format("{} faces, d̂ {}", faces.cols(), dhat));
    }
  }
}

TEST(ContactWeights, TheNearestPlaceOfBordersFinsAndChainsCountsOnce) {
  Random random(2);
  for (const double dhat : {0.05, 0.4}) {
    // A flat fan with a border, and a fin of one triangle on one of its edges, seen from the other side.
    Matrix3X fan(3, 8);
    Faces faces(3, 7);
    for (int k = 0; k < 6; ++k) {
      fan.col(k + 1) << std::cos(k * M_PI / 3), std::sin(k * M_PI / 3), 0;
      faces.col(k) << 0, k + 1, (k + 1) % 6 + 1;
    }
    fan.col(0).setZero();
    fan.col(7) << 0.5, 0, 1;
    faces.col(6) << 0, 1, 7;
    CollisionSurface surface = surface_and_points(
        fan, faces, Edges(2, 0), random_points(300, {-1.3, -1.3, -0.3}, {1.3, 1.3, -0.01}, random), dhat);
    surface.pairs.set(1, 1, {.enabled = false});
    expect_nearest_counts_once(surface, fmt::format("fan, d̂ {}", dhat));
    Matrix3X chain = Matrix3X::Zero(3, 4);
    chain.row(0) << 0, 0.3, 1, 1.2;
    surface = surface_and_points(chain, Faces(3, 0), Edges{Eigen::Matrix<int, 2, 3>{{0, 1, 2}, {1, 2, 3}}},
                                 random_points(300, {-0.1, -0.1, -0.1}, {1.3, 0.1, 0.1}, random), dhat);
    surface.pairs.set(1, 1, {.enabled = false});
    expect_nearest_counts_once(surface, fmt::format("chain, d̂ {}", dhat));
  }
}

TEST(ContactWeights, VerticesOfAFlatFaceCarryItsAreaWithoutItsFlanks) {
  const Mesh mesh = generate::box({1, 2, 3}, {2, 3, 4}, generate::Content::surface);
  const CollisionSurface surface =
      surface_and_points(mesh.points, mesh.faces, Edges(2, 0), Matrix3X(3, 0), 0.01);
  double top = 0;
  for (Index v = 0; v < surface.vertex_count(); ++v)
    if (mesh.points(1, v) > 0.999) top += surface.weights.area(v);
  // Where a flank shows more of itself at a vertex than the top does, that counts.
  EXPECT_GE(top, 3 * (1 - 1e-12));
  EXPECT_LT(top, 1.35 * 3);
  const Mesh flat = generate::grid(2, 3, 5, 4);
  const CollisionSurface sheet =
      surface_and_points(flat.points, flat.faces, Edges(2, 0), Matrix3X(3, 0), 0.01);
  double sum = 0;
  for (Index v = 0; v < sheet.vertex_count(); ++v) sum += sheet.weights.area(v);
  EXPECT_NEAR(sum, 6, 1e-12);
}

/// A square sheet of n × n cells in the plane y = `height`, turned about the y axis.
Mesh sheet(int n, double size, double height, double turn) {
  Mesh m = generate::grid(size, size, n, n);
  m.points = (Eigen::AngleAxisd(turn, Vector3::UnitY()).toRotationMatrix() * m.points).eval();
  m.points.row(1).array() += height;
  return m;
}

/// Cuts the triangle below a place into three.
void split_triangle(Mesh& m, const Vector3& below) {
  for (Index f = 0; f < m.faces.cols(); ++f) {
    const Eigen::Vector3i c = m.faces.col(f);
    const StencilPoints p = {below, m.points.col(c[0]), m.points.col(c[1]), m.points.col(c[2])};
    if (closest_points(PairKind::point_triangle, p).vertices != 0b1111) continue;
    const int added = int(m.points.cols());
    m.points.conservativeResize(3, added + 1);
    m.points.col(added) = (p[1] + p[2] + p[3]) / 3;
    m.faces.conservativeResize(3, m.faces.cols() + 2);
    m.faces.col(f) << c[0], c[1], added;
    m.faces.rightCols(2) << c[1], c[2], c[2], c[0], added, added;
    return;
  }
  FAIL() << "no triangle there";
}

/// The force between two sheets whose gap is half of d̂, if κ is the pressure there: Σ weight · share of
/// pressure [m²].
double force_of_sheets(const Mesh& a, const Mesh& b, double dhat) {
  Matrix3X x(3, a.points.cols() + b.points.cols());
  x << a.points, b.points;
  Faces faces(3, a.faces.cols() + b.faces.cols());
  faces << a.faces, (b.faces.array() + int(a.points.cols())).matrix();
  std::vector<int> body(std::size_t(x.cols()), 1);
  std::fill_n(body.begin(), a.points.cols(), 0);
  CollisionSurface surface(x, faces, Edges(2, 0), body,
                           PairTable(2, {.dhat = dhat, .spares_neighbours = true}), {});
  surface.weigh({{}, {}});
  const Candidates near = make_bvh(surface)->find(surface.rest, dhat);
  double force = 0;
  for (const Contact& c : find_active_set(surface, near, surface.rest).contacts)
    if (c.mollifier_threshold == 0) force += c.weight * (1 - distance(c.stencil, surface.rest) / dhat) / 0.5;
  return force;
}

TEST(ContactWeights, TheForceBetweenFlatSheetsIsPressureTimesAreaForAnyMeshes) {
  for (const int below : {16, 40})
    for (const int above : {4, 10, 30})
      for (const double turn : {0.1, 0.5})
        for (const double dhat :
             {0.01, 0.1})  // a tenth of an edge to four edges; at the border all in reach counts
          EXPECT_NEAR(force_of_sheets(sheet(below, 2, 0, 0), sheet(above, 1, dhat / 2, turn), dhat), 1,
                      0.1 + 2 * dhat)
              << below << " " << above << " " << turn << " " << dhat;
}

TEST(ContactWeights, TheForceStaysWhenATriangleInContactIsSplit) {
  const double dhat = 0.01;
  const Mesh below = sheet(12, 2, 0, 0), above = sheet(5, 1, dhat / 2, 0.3);
  const double force = force_of_sheets(below, above, dhat);
  const Vector3 place(0.037, 0, 0.021);
  Mesh below_split = below, above_split = above;
  split_triangle(below_split, place);
  split_triangle(above_split, place);
  EXPECT_NEAR(force_of_sheets(below_split, above, dhat), force, 5e-3 * force);
  EXPECT_NEAR(force_of_sheets(below, above_split, dhat), force, 5e-3 * force);
}

TEST(ContactWeights, NoShapeAtRestExertsForcesOnItselfHoweverLargeDhatIs) {
  for (const Mesh& mesh : {generate::torus(0.2, 0.05, 12, 6, generate::Content::surface),
                           generate::box({1, 0.02, 1}, {6, 1, 6}, generate::Content::surface)}) {
    for (const double dhat : {0.01, 0.1, 1.0}) {
      CollisionSurface surface(mesh.points, mesh.faces, Edges(2, 0),
                               std::vector<int>(std::size_t(mesh.points.cols()), 0),
                               PairTable(1, {.dhat = dhat, .spares_neighbours = true}), {});
      surface.weigh({{}});
      const Candidates near = make_bvh(surface)->find(surface.rest, dhat);
      EXPECT_GT(near.size(), 100u);
      EXPECT_TRUE(find_active_set(surface, near, surface.rest).contacts.empty()) << dhat;
    }
  }
}

}  // namespace
}  // namespace apart::test
