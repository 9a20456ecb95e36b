// Generated solids with curved cells: each cell proven to be valid, and the shape met to the degree.
#include <apart/basis/jacobian_bound.hpp>
#include <apart/basis/quadrature.hpp>
#include <apart/scene/meshes.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/LU>

#include <cmath>
#include <numbers>

namespace apart::test {
namespace {

constexpr double pi = std::numbers::pi;

/// A description, its volume, and how far a point is from its boundary.
struct Curved {
  std::string name;
  std::function<MeshDescription(int degree)> description;
  double volume;
  std::function<double(const Vector3&)> distance;
  std::array<double, 3> volume_error;  ///< relative, of degrees 2 to 4, at most
};

std::vector<Curved> curved_shapes() {
  const auto on_torus = [](const Vector3& x) {
    return std::abs(std::hypot(std::hypot(x[0], x[2]) - 0.5, x[1]) - 0.2);
  };
  const auto torus = [](Index ring, Index tube) {
    return [=](int degree) { return TorusMesh{{}, 0.5, 0.2, ring, tube, degree}; };
  };
  const double of_torus = 2 * pi * 0.5 * pi * 0.04;
  return {
      {"ball",
       [](int degree) {
         return SphereMesh{{}, 0.3, 1, degree};
       },
       4.0 / 3 * pi * 0.027,
       [](const Vector3& x) { return std::abs(x.norm() - 0.3); },
       {5e-2, 1e-2, 5e-3}},
      {"finer ball",
       [](int degree) {
         return SphereMesh{{}, 0.3, 3, degree};
       },
       4.0 / 3 * pi * 0.027,
       [](const Vector3& x) { return std::abs(x.norm() - 0.3); },
       {2e-3, 2e-4, 2e-5}},
      {"torus of the fewest cells", torus(3, 3), of_torus, on_torus, {0.5, 0.2, 0.1}},
      {"torus of three cells", torus(3, 5), of_torus, on_torus, {0.3, 0.1, 0.05}},
      {"torus of three cells around the tube", torus(8, 3), of_torus, on_torus, {0.3, 0.1, 0.05}},
      {"torus of four cells", torus(4, 4), of_torus, on_torus, {0.1, 0.05, 0.02}},
      {"torus", torus(8, 8), of_torus, on_torus, {1e-2, 1e-3, 1e-4}},
      {"cylinder",
       [](int degree) { return CylinderMesh{{}, 0.2, 0.7, 1, 1, degree}; },
       pi * 0.04 * 0.7,
       [](const Vector3& x) {
         return std::min(std::abs(std::hypot(x[0], x[2]) - 0.2), std::abs(std::abs(x[1]) - 0.35));
       },
       {5e-2, 5e-3, 5e-3}},
      // The bar keeps its volume when it is bent, since the centre line keeps its length (Pappus).
      {"bent bar",
       [](int degree) { return BarMesh{{}, 1, 0.2, 4, 1, 180, degree}; },
       0.04,
       [](const Vector3& x) {
         const double radius = std::hypot(x[0], x[1] - 1 / pi);
         return std::min({std::abs(std::abs(radius - 1 / pi) - 0.1), std::abs(std::abs(x[2]) - 0.1),
                          std::abs(x[1] - 1 / pi)});
       },
       {1e-2, 1e-3, 1e-4}},
  };
}

double curved_volume(const Mesh& mesh) {
  const CurvedCells& cells = mesh.curved.front();
  const Quadrature rule = tetrahedron_quadrature(3 * (cells.degree - 1));
  double volume = 0;
  for (Index t = 0; t < cells.points.cols(); ++t)
    for (Index k = 0; k < rule.size(); ++k)
      volume += rule.weights[k] *
                Matrix3(mesh.points(Eigen::all, cells.points.col(t)) *
                        LagrangeTetrahedron(cells.degree).gradients(rule.points.col(k)).transpose())
                    .determinant();
  return volume;
}

TEST(CurvedGenerators, MakeCellsThatAreProvenToBeValidAndFollowTheShape) {
  for (const Curved& shape : curved_shapes())
    for (int degree = 2; degree <= 4; ++degree) {
      SCOPED_TRACE(fmt::format("{} of degree {}", shape.name, degree));
      const Mesh mesh = make_mesh(shape.description(degree), {.content = generate::Content::tetrahedra}).mesh;
      const CurvedCells& cells = mesh.curved.front();
      const JacobianBound bound(degree);
      Index invalid = 0;
      for (Index t = 0; t < cells.points.cols(); ++t) {
        const Matrix3X x = mesh.points(Eigen::all, cells.points.col(t));
        invalid += !bound.is_positive(x, x);
      }
      EXPECT_EQ(invalid, 0) << "of " << cells.points.cols();
      const Faces faces = boundary_faces(cells);
      for (const int p : faces.reshaped()) ASSERT_LT(shape.distance(mesh.points.col(p)), 1e-12);
      EXPECT_NEAR(curved_volume(mesh) / shape.volume, 1, shape.volume_error[std::size_t(degree - 2)]);
    }
}

TEST(CurvedGenerators, MakeTheSurfaceOfTheSameShape) {
  for (const Curved& shape : curved_shapes()) {
    SCOPED_TRACE(shape.name);
    const Mesh mesh = make_mesh(shape.description(3), {.content = generate::Content::surface}).mesh;
    EXPECT_GT(mesh.faces.cols(), 0);
    for (const auto& x : mesh.points.colwise()) ASSERT_LT(shape.distance(x), 1e-12);
  }
}

TEST(CurvedGenerators, BendLinearBarsToo) {
  const Mesh mesh =
      make_mesh(BarMesh{{}, 1, 0.1, 40, 1, 90, 1}, {.content = generate::Content::tetrahedra}).mesh;
  const double radius = 2 / pi;
  for (const auto& x : mesh.points.colwise())
    EXPECT_NEAR(std::abs(std::hypot(x[0], x[1] - radius) - radius), 0.05, 1e-12);
}

}  // namespace
}  // namespace apart::test
