#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>

#include <map>

namespace apart::test {
namespace {

double plane_area(const Mesh& mesh, double* smallest_angle = nullptr) {
  double area = 0;
  for (const auto& t : mesh.faces.colwise()) {
    std::array<Eigen::Vector2d, 3> x;
    for (std::size_t k = 0; k < 3; ++k) x[k] = mesh.points.col(t[Index(k)]).head<2>();
    for (std::size_t k = 0; k < 3; ++k) {
      const Eigen::Vector2d a = x[(k + 1) % 3] - x[k], b = x[(k + 2) % 3] - x[k];
      const double cross = a[0] * b[1] - a[1] * b[0];
      EXPECT_GT(cross, 0) << "counter-clockwise";
      if (k == 0) area += 0.5 * cross;
      if (smallest_angle) *smallest_angle = std::min(*smallest_angle, std::atan2(cross, a.dot(b)));
    }
  }
  return area;
}

/// No edge is passed twice in the same direction.
void expect_manifold(const Mesh& mesh) {
  std::map<std::pair<int, int>, int> passes;
  for (const auto& t : mesh.faces.colwise())
    for (int k = 0; k < 3; ++k) EXPECT_EQ(++passes[std::pair(t[k], t[(k + 1) % 3])], 1);
}

TEST(PlaneMeshes, RectanglesQuadrilateralsAndDiscsHaveTheirArea) {
  EXPECT_NEAR(plane_area(generate::rectangle({2, 0.5}, {8, 3})), 1, 1e-14);
  const Mesh cook = generate::quadrilateral(
      {Eigen::Vector2d(0, 0), Eigen::Vector2d(48, 44), Eigen::Vector2d(48, 60), Eigen::Vector2d(0, 44)},
      {4, 4});
  EXPECT_NEAR(plane_area(cook), 0.5 * (44 + 16) * 48, 1e-10);
  EXPECT_EQ(cook.faces.cols(), 32);
  EXPECT_NEAR(plane_area(generate::disc(1, 20)), EIGEN_PI, 2e-3);
  EXPECT_THROW(generate::quadrilateral({Eigen::Vector2d(0, 0), Eigen::Vector2d(0, 1), Eigen::Vector2d(1, 1),
                                        Eigen::Vector2d(1, 0)},
                                       {1, 1}),
               InputError)
      << "clockwise";
}

TEST(PlaneMeshes, PolygonsAreCoveredByGoodTriangles) {
  // A C, a star with deep notches, and a ring of two loops; areas by the shoelace formula.
  const std::vector<Eigen::Vector2d> c = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {3, 2}, {3, 3}, {0, 3}};
  std::vector<Eigen::Vector2d> star;
  for (int k = 0; k < 10; ++k)
    star.push_back((k % 2 ? 0.4 : 1.0) *
                   Eigen::Vector2d(std::cos(k * EIGEN_PI / 5), std::sin(k * EIGEN_PI / 5)));
  for (const double edge : {0.5, 0.23, 0.1}) {
    double angle = 2;
    const Mesh mesh = generate::polygon(c, {}, edge);
    expect_manifold(mesh);
    EXPECT_NEAR(plane_area(mesh, &angle), 7, 1e-12);
    EXPECT_GT(angle, 20 * EIGEN_PI / 180) << edge;
    expect_manifold(generate::polygon(star, {}, edge));
    EXPECT_NEAR(plane_area(generate::polygon(star, {}, edge)), 10 * 0.5 * 0.4 * std::sin(EIGEN_PI / 5),
                1e-12);
    const Mesh ring =
        generate::polygon({{0, 0}, {4, 0}, {4, 4}, {0, 4}}, {{{1, 1}, {1, 3}, {3, 3}, {3, 1}}}, edge);
    expect_manifold(ring);
    EXPECT_NEAR(plane_area(ring), 12, 1e-11);
    EXPECT_EQ(boundary_edges(ring.faces).cols() % 2, 0);
  }
  // Either orientation, the same mesh for the same arguments.
  const Mesh again = generate::polygon({c.rbegin(), c.rend()}, {}, 0.23);
  EXPECT_NEAR(plane_area(again), 7, 1e-12);
  EXPECT_EQ(generate::polygon(c, {}, 0.23).points, generate::polygon(c, {}, 0.23).points);
}

TEST(PlaneMeshes, PolygonsThatCrossOrTouchThemselvesAreRefused) {
  EXPECT_THROW(generate::polygon({{0, 0}, {1, 1}, {1, 0}, {0, 1}}, {}, 0.1), InputError);
  EXPECT_THROW(generate::polygon({{0, 0}, {1, 0}, {1, 1}}, {{{0.5, 0}, {0.6, 0.2}, {0.7, 0.1}}}, 0.1),
               InputError);
  EXPECT_THROW(generate::polygon({{0, 0}, {1, 0}, {2, 0}}, {}, 0.1), InputError);
  EXPECT_THROW(generate::polygon({{0, 0}, {1, 0}}, {}, 0.1), InputError);
  EXPECT_THROW(generate::polygon({{0, 0}, {1, 0}, {0, 1}}, {}, 1e-9), InputError) << "too many cells";
}

}  // namespace
}  // namespace apart::test
