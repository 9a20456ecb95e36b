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

}  // namespace
}  // namespace apart::test
