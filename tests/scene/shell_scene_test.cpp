// Shells in scene files.
#include <apart/core/error.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <Eigen/LU>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

Scene shell_scene(const std::string& body, const std::filesystem::path& folder = ".") {
  return build_scene(parse_scene(
      R"({"version": 1, "time": {"steps": 3}, "bodies": [{"type": "shell", "name": "s", )" + body + "}]}",
      "scene.json", folder));
}

std::string shell_error(const std::string& body, const std::filesystem::path& folder = ".") {
  try {
    shell_scene(body, folder);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const std::string grid = R"("mesh": {"generator": "grid", "cells": [3, 3]})";

TEST(ShellScene, DefaultsAreCottonAndNoLimit) {
  const Body body = shell_scene(grid).model->bodies[0];
  ASSERT_TRUE(body.shell);
  EXPECT_NEAR(total_mass(body), 472.64 * 3.18e-4, 1e-12);
  EXPECT_FALSE(body.shell->limit);
  EXPECT_EQ(body.shell->hinges.cols(), 3 * 3 * 3 - 6);
  ASSERT_TRUE(std::holds_alternative<NeoHookeanMembrane>(body.shell->membrane));
  const Lame lame = plane_stress_parameters(8.21e5, 0.243);
  EXPECT_NEAR(std::get<NeoHookeanMembrane>(body.shell->membrane).lame.lambda, lame.lambda, 1e-9);
}

TEST(ShellScene, MembraneAndBendingAreScaledApart) {
  const auto shell = [](const std::string& scales) {
    return *shell_scene(grid + R"(, "material": {"type": "neo_hookean")" + scales + "}")
                .model->bodies[0]
                .shell;
  };
  const ShellCells plain = shell(""), scaled = shell(R"(, "membrane_scale": 0.01, "bending_scale": 5)"),
                   published = shell(R"(, "bending_model": "published")");
  const auto mu = [](const ShellCells& s) { return std::get<NeoHookeanMembrane>(s.membrane).lame.mu; };
  EXPECT_NEAR(mu(scaled), 0.01 * mu(plain), 1e-9);
  EXPECT_NEAR(scaled.hinge_stiffness[0], 5 * plain.hinge_stiffness[0], 1e-12 * scaled.hinge_stiffness[0]);
  EXPECT_NEAR(published.hinge_stiffness[0], 3 * plain.hinge_stiffness[0],
              1e-12 * published.hinge_stiffness[0]);
}

TEST(ShellScene, LimitsAndRestAnglesAreRead) {
  const std::string bowl = R"("mesh": {"generator": "bowl", "resolution": 3})";
  const ShellCells bent = *shell_scene(bowl).model->bodies[0].shell,
                   flat =
                       *shell_scene(
                            bowl + R"(, "rest_angles": "flat", "strain_limit": {"upper": 1.05, "lower": 0.8,)"
                                   R"( "threshold": 1.01, "stiffness": 500})")
                            .model->bodies[0]
                            .shell;
  EXPECT_GT(bent.rest_angle.cwiseAbs().maxCoeff(), 0.1);
  EXPECT_EQ(flat.rest_angle.cwiseAbs().maxCoeff(), 0);
  ASSERT_TRUE(flat.limit);
  EXPECT_EQ(flat.limit->upper, 1.05);
  EXPECT_EQ(flat.limit->lower, 0.8);
  EXPECT_EQ(flat.limit->threshold, 1.01);
  EXPECT_EQ(flat.limit->stiffness, 500);
}

/// Two triangles; texture coordinates are the points turned by a quarter and a tenth smaller.
const std::string with_texture =
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    "vt 0 0\nvt 0 0.9\nvt -0.9 0.9\nvt -0.9 0\n"
    "f 1/1 2/2 3/3 4/4\n";

TEST(ShellScene, WarpAndPatternComeFromTextureCoordinates) {
  const TemporaryDirectory folder;
  write_file(folder / "t.obj", with_texture);
  const std::string mesh =
      R"("mesh": {"file": "t.obj"}, "material": {"type": "orthotropic", "warp": "texture"})";
  // u grows along −y: the warp.
  const ShellCells woven = *shell_scene(mesh, folder.path()).model->bodies[0].shell;
  const Matrix2 first = woven.inverse_rest[0].inverse();  // edges along warp and weft
  EXPECT_NEAR(first(0, 0), 0, 1e-14);
  EXPECT_NEAR(first(0, 1), -1, 1e-14);
  // As a pattern they are the rest shape: everything starts stretched by 1/0.9.
  const ShellCells pattern =
      *shell_scene(R"("mesh": {"file": "t.obj"}, "rest_mesh": "texture")", folder.path())
           .model->bodies[0]
           .shell;
  Eigen::Matrix<double, 3, 2> edges;
  edges << 1, 1, 0, 1, 0, 0;
  const Vector2 sigma = thin_svd(edges * pattern.inverse_rest[0]).sigma;
  EXPECT_NEAR(sigma[0], 1 / 0.9, 1e-14);
  EXPECT_NEAR(sigma[1], 1 / 0.9, 1e-14);
  EXPECT_NE(
      shell_error(R"("mesh": {"file": "t.obj"}, "rest_mesh": "texture", "strain_limit": {"upper": 1.1})",
                  folder.path())
          .find("triangle 0 is stretched by 1.11111"),
      std::string::npos);
  EXPECT_NE(shell_error(grid + R"(, "rest_mesh": "texture")").find("no texture coordinates"),
            std::string::npos);
  EXPECT_NE(
      shell_error(grid + R"(, "material": {"type": "orthotropic", "warp": "texture"})").find("no texture"),
      std::string::npos);
}

TEST(ShellScene, RestMeshIsAnotherShapeOfTheSameTriangles) {
  const std::string large = R"("mesh": {"generator": "grid", "cells": [3, 3], "size": [2, 1]})";
  const ShellCells cells =
      *shell_scene(large + R"(, "rest_mesh": {"generator": "grid", "cells": [3, 3]})").model->bodies[0].shell;
  EXPECT_NEAR(cells.volume.sum(), 3.18e-4, 1e-15) << "mass and volume are those of the rest shape";
  const TemporaryDirectory folder;  // a file is looked for beside the scene
  write_file(folder / "drape.obj", "v 0 0 0\nv 2 0 0\nv 0 0 2\nf 1 2 3\n");
  write_file(folder / "stage.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
  const std::string files = R"("mesh": {"file": "drape.obj"}, "rest_mesh": {"file": "stage.obj"})";
  EXPECT_NEAR(shell_scene(files, folder.path()).model->bodies[0].shell->volume.sum(), 0.5 * 3.18e-4, 1e-15);
  EXPECT_NE(shell_error(large + R"(, "rest_mesh": {"generator": "grid", "cells": [3, 4]})")
                .find("must have the same triangles"),
            std::string::npos);
}

TEST(ShellScene, NonsenseIsRefusedWithAReason) {
  EXPECT_NE(shell_error(grid + R"(, "strain_limit": {"upper": 1.01, "threshold": 1.02})")
                .find("bodies[0].strain_limit.upper: got 1.01, must be more than threshold"),
            std::string::npos);
  EXPECT_NE(shell_error(grid + R"(, "strain_limit": {"upper": 1.5, "lower": 0.99, "threshold": 0.98})")
                .find("must be less than threshold"),
            std::string::npos);
  EXPECT_NE(shell_error(grid + R"(, "material": {"type": "barrier_orthotropic", "a12": 2.5e7, "a22": 7.8e6})")
                .find("its square must be less than a11 a22"),
            std::string::npos);
  EXPECT_NE(
      shell_error(grid +
                  R"(, "material": {"type": "orthotropic", "nu_warp": 0.9, "E_warp": 1e6, "E_weft": 2e6})")
          .find("nu_warp: got 0.9"),
      std::string::npos);
  EXPECT_NE(shell_error(grid + R"(, "material": {"type": "orthotropic", "warp": [0, 1, 0]})")
                .find("perpendicular to the warp direction"),
            std::string::npos);
  EXPECT_NE(shell_error(R"("mesh": {"generator": "segments"})").find("has no triangles"), std::string::npos);
}

TEST(ShellScene, AReflectedMeshKeepsItsTextureWithItsCorners) {
  const TemporaryDirectory folder;
  write_file(folder / "t.obj", with_texture);
  const Body body =
      shell_scene(R"("mesh": {"file": "t.obj"}, "rest_mesh": "texture")", folder.path()).model->bodies[0];
  EXPECT_EQ(body.mesh.face_texture.cols(), 2);
  EXPECT_EQ(body.mesh.face_texture.col(1),
            (Eigen::Matrix<double, 6, 1>() << 0, 0, -0.9, 0.9, -0.9, 0).finished());
  const Mesh turned = transformed(body.mesh, Vector3(1, 1, -1).asDiagonal(), Vector3::Zero());
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j)
      if (turned.faces(k, 1) == body.mesh.faces(j, 1)) {
        EXPECT_EQ(turned.face_texture.col(1).segment<2>(2 * k),
                  body.mesh.face_texture.col(1).segment<2>(2 * j));
      }
}

}  // namespace
}  // namespace apart::test
