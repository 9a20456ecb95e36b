#include <apart/basis/jacobian_bound.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/curved_mesh.hpp>

namespace apart::test {
namespace {

TEST(CurvedCells, HaveAClosedBoundaryOfTheirPointsThatFacesOutward) {
  for (int degree = 2; degree <= 4; ++degree) {
    Mesh mesh = curved(generate::box({2, 1, 1}, {2, 1, 1}), degree);
    const Index flat = Index(boundary_faces(mesh.corners()).cols());
    mesh.faces = boundary_faces(mesh.curved[0]);
    EXPECT_EQ(mesh.faces.cols(), flat * degree * degree);
    EXPECT_TRUE(is_closed_surface(mesh));
    EXPECT_NEAR(enclosed_volume(mesh), 2, 1e-12);
  }
}

TEST(CurvedCells, StayPositiveInAMirror) {
  for (int degree = 2; degree <= 4; ++degree) {
    const Mesh mesh = curved(generate::box({1, 1, 1}, {1, 1, 1}), degree, [](const Vector3& x) {
      return Vector3(x[0] + 0.1 * x[1] * x[1], x[1], x[2] + 0.1 * x[0]);
    });
    const Mesh image = transformed(mesh, Vector3(-1, 1, 1).asDiagonal(), {3, 0, 0});
    EXPECT_NO_THROW(validate_volume(image, "image"));
    Mesh turned = image;
    turned.curved[0] = mirrored(turned.curved[0]);
    EXPECT_ANY_THROW(validate_volume(turned, "turned"));
    EXPECT_EQ(orient_tetrahedra(turned), turned.curved_count());
    EXPECT_EQ(turned.curved, image.curved);
  }
}

/// Cells that are not proven to be positive.
Index inverted_count(const Mesh& mesh) {
  const CurvedCells& cells = mesh.curved.front();
  const JacobianBound bound(cells.degree);
  Index count = 0;
  for (Index t = 0; t < cells.points.cols(); ++t) {
    const Matrix3X x = mesh.points(Eigen::all, cells.points.col(t));
    count += !bound.is_positive(x, x);
  }
  return count;
}

TEST(CurvedCells, FollowASurfaceWithPointsInsideThatMoveAlong) {
  // A ball of few cells, of which the boundary moves to a sphere twice as large and back.
  for (int degree = 2; degree <= 4; ++degree) {
    Mesh mesh = lifted(generate::sphere(1, 2), degree);
    const Matrix3X before = mesh.points;
    curve_to(mesh, [](const Vector3& x) -> Vector3 { return 2 * x.normalized() + Vector3(1, 0, 0); });
    EXPECT_EQ(inverted_count(mesh), 0) << degree;
    const Faces faces = boundary_faces(mesh.curved[0]);
    for (const int p : faces.reshaped())
      EXPECT_NEAR((mesh.points.col(p) - Vector3(1, 0, 0)).norm(), 2, 1e-12);
    // A uniform motion of the boundary is one of everything.
    Mesh uniform = lifted(generate::sphere(1, 2), degree);
    Matrix3 f;
    f << 1.2, 0.1, 0, -0.05, 0.9, 0.1, 0.02, 0, 1.1;
    curve_to(uniform, [&](const Vector3& x) -> Vector3 { return f * x; });
    EXPECT_LT((uniform.points - f * before).cwiseAbs().maxCoeff(), 1e-12);
  }
}

}  // namespace
}  // namespace apart::test
