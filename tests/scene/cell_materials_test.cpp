// What each cell of a body is made of: parameters in every form, regions, and numbers from the mesh file.
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

Body volume_of(const std::string& rest,
               const std::string& mesh = R"("generator": "box", "cells": [4, 1, 1])") {
  const SceneFile file = parse_scene(
      R"({"version": 1, "time": {"steps": 1}, "bodies": [{"type": "volume", "name": "b", "mesh": {)" + mesh +
          "}" + (rest.empty() ? "" : ", " + rest) + "}]}",
      "scene.json", ".");
  // What was understood says the same again.
  const SceneFile again = parse_scene(file.text(), "again.json", ".");
  EXPECT_EQ(file.text(), again.text());
  return build_scene(file).model->bodies[0];
}

Body of_material(const std::string& material) {
  return volume_of(R"("material": {)" + material + "}");
}

std::string volume_error(const std::string& rest,
                         const std::string& mesh = R"("generator": "box", "cells": 2)") {
  return message_of([&] { volume_of(rest, mesh); });
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

/// Three tetrahedra in a row, listed with the points that only a line uses and the lowest triangle:
/// volume groups "hard" (0, 1) and 6 (2), surface "floor", E and rho per element, and a bad one.
std::string sample_gmsh() {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n3 5 \"hard\"\n2 1 \"floor\"\n1 9 "
         "\"wire\"\n"
         "$EndPhysicalNames\n$Nodes\n9\n1 9 9 9\n2 0 0 0\n3 1 0 0\n4 0 0 1\n5 0 1 0\n6 1 1 1\n7 8 8 8\n8 1 2 "
         "0\n"
         "9 7 7 7\n$EndNodes\n$Elements\n5\n"
         "11 2 2 1 1 2 3 4\n12 4 2 5 1 2 3 4 5\n13 4 2 5 1 3 4 5 6\n14 4 2 6 1 3 5 6 8\n15 1 2 9 1 1 "
         "7\n$EndElements\n"
         "$ElementData\n1\n\"E\"\n0\n3\n0\n1\n3\n12 1e5\n13 2e5\n14 1e5\n$EndElementData\n"
         "$ElementData\n1\n\"density\"\n0\n3\n0\n1\n3\n12 100\n13 200\n14 300\n$EndElementData\n"
         "$ElementData\n1\n\"bad\"\n0\n3\n0\n1\n3\n12 100\n13 -200\n14 300\n$EndElementData\n"
         "$ElementData\n1\n\"partly\"\n0\n3\n0\n1\n1\n12 100\n$EndElementData\n";
}

struct GmshFile {
  GmshFile() { write_file(directory / "m.msh", sample_gmsh()); }
  std::string mesh() const { return R"("file": ")" + (directory / "m.msh").string() + "\""; }
  TemporaryDirectory directory;
};

TEST(MaterialParameters, LameParametersSayTheSameAsYoungAndPoisson) {
  const Lame expected = lame_parameters(3e5, 0.2);
  for (const std::string type :
       {"neo_hookean", "fixed_corotated", "stvk", "linear_elasticity", "mooney_rivlin"}) {
    const Body a = of_material(R"("type": ")" + type + R"(", "E": 3e5, "nu": 0.2)");
    const Body b = of_material(
        fmt::format(R"("type": "{}", "lambda": {}, "mu": {})", type, expected.lambda, expected.mu));
    const auto lame_of = [](const Body& body) {
      EXPECT_EQ(body.elastic->materials.size(), 1u);
      return std::visit(
          []<class M>(const M& m) {
            if constexpr (requires { m.lame; }) return m.lame;
            if constexpr (std::is_same_v<M, MooneyRivlin>) {
              EXPECT_EQ(m.c1, m.c2);
              return Lame{m.bulk - 4 * (m.c1 + m.c2) / 3, 2 * (m.c1 + m.c2)};
            }
            return Lame{};
          },
          body.elastic->materials[0]);
    };
    for (const Body* body : {&a, &b}) {
      EXPECT_NEAR(lame_of(*body).lambda, expected.lambda, 1e-10 * expected.mu) << type;
      EXPECT_NEAR(lame_of(*body).mu, expected.mu, 1e-10 * expected.mu) << type;
    }
  }
}

TEST(MaterialParameters, MooneyRivlinTakesItsOwnConstants) {
  const Body body = of_material(R"("type": "mooney_rivlin", "c1": 3e4, "c2": 0, "bulk": 1e6)");
  const auto& m = std::get<MooneyRivlin>(body.elastic->materials[0]);
  EXPECT_EQ(m.c1, 3e4);
  EXPECT_EQ(m.c2, 0);
  EXPECT_EQ(m.bulk, 1e6);
}

TEST(MaterialParameters, MixedFormsAreRefused) {
  const auto refused = [](const std::string& material) {
    return volume_error(R"("material": {)" + material + "}");
  };
  expect_parts(refused(R"("type": "stvk", "E": 1, "lambda": 1, "mu": 1)"),
               {"bodies[0].material.E: is given together with 'lambda'", "remove one"});
  expect_parts(refused(R"("type": "stvk", "mu": 1)"),
               {"bodies[0].material.mu: has no effect without 'lambda'"});
  expect_parts(refused(R"("type": "stvk", "nu": 0.1, "mu": 1, "lambda": 2)"),
               {"bodies[0].material.nu: is given together with 'lambda'"});
  expect_parts(refused(R"("type": "mooney_rivlin", "c1": 1, "bulk": 2)"),
               {"bodies[0].material.c1: has no effect without 'c2'"});
  expect_parts(refused(R"("type": "mooney_rivlin", "c1": 1, "c2": 1, "bulk": 2, "lambda": 1, "mu": 2)"),
               {"bodies[0].material.lambda: is given together with 'c1'"});
  expect_parts(refused(R"("type": "linear_elasticity", "lambda": -2, "mu": 3)"),
               {"bodies[0].material.lambda: got -2, must be more than -2/3 mu = -2"});
}

TEST(Regions, LaterOnesWinAndCellsBelongWithAllTheirPoints) {
  const Body body = volume_of(R"("material": {"type": "stvk", "rho": 1}, "regions": [
      {"where": {"expression": "x > -0.1"}, "material": {"type": "neo_hookean", "E": 7e5, "rho": 10}},
      {"where": {"expression": "x > 0.2"}, "material": {"type": "fixed_corotated", "rho": 100}}])");
  const ElasticCells& cells = *body.elastic;
  ASSERT_EQ(cells.materials.size(), 3u);
  double mass = 0;
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    double low = 1;  // lowest x of the cell
    for (int k = 0; k < 4; ++k) low = std::min(low, body.nodes(0, cells.nodes(k, t)));
    const Material& m = cells.materials[std::size_t(cells.material_of[std::size_t(t)])];
    const std::string_view name = std::visit([](const auto& x) { return x.name; }, m);
    EXPECT_EQ(name, low < -0.1 ? "stvk" : low < 0.2 ? "neo_hookean" : "fixed_corotated") << low;
    mass += cells.volume[t] * (low < -0.1 ? 1 : low < 0.2 ? 10 : 100);
  }
  EXPECT_NEAR(total_mass(body), mass, 1e-12 * mass);
  EXPECT_LT(cells.invertible_cells().size(), std::size_t(cells.nodes.cols()));
}

TEST(Regions, GroupsAreTheCellsOfTheMeshFile) {
  const GmshFile file;
  const Body body = volume_of(
      R"("regions": [{"where": {"group": "volume 6"}, "material": {"type": "stvk"}}])", file.mesh());
  EXPECT_EQ(body.elastic->material_of, (std::vector<Index>{0, 0, 1}));
  EXPECT_EQ(std::get<StVenantKirchhoff>(body.elastic->materials[1]).lame.mu, lame_parameters(1e5, 0.4).mu);
}

TEST(Regions, MistakesAreNamed) {
  const GmshFile file;
  expect_parts(
      volume_error(R"("regions": [{"where": {"group": "soft"}, "material": {"type": "stvk"}}])", file.mesh()),
      {"bodies[0].regions[0].where.group: got \"soft\"", "\"floor\", \"hard\", \"volume 6\", \"wire\""});
  expect_parts(
      volume_error(R"("regions": [{"where": {"group": "wire"}, "material": {"type": "stvk"}}])", file.mesh()),
      {"regions[0].where.group: got \"wire\"", "none of whose points"});
  expect_parts(volume_error(R"("regions": [{"where": {"group": "floor"}, "material": {"type": "stvk"}}])",
                            file.mesh()),
               {"regions[0].where: got", "no tetrahedron"});
  expect_parts(
      volume_error(R"("regions": [{"where": {"indices": [0]}, "material": {"type": "stvk"}}])", file.mesh()),
      {"regions[0].where: counts points of a mesh"});
  expect_parts(volume_error(R"("regions": [{"where": {"group": "soft"}, "material": {"type": "stvk"}}])"),
               {"regions[0].where.group: got \"soft\"", "no groups"});
  expect_parts(volume_error(R"("regions": [{"where": {"all": true}}])"), {"the key 'material' is missing"});
}

TEST(Groups, ChooseThePointsThatAreHeld) {
  const GmshFile file;
  const Body body = volume_of(R"("fixed": [{"where": {"group": "floor"}}])", file.mesh());
  ASSERT_EQ(body.mesh.point_count(), 6);  // three points belong to no tetrahedron
  ASSERT_EQ(body.scripts.size(), 1u);
  const std::vector<Index> held = nodes_of(body, body.scripts[0].points);
  ASSERT_EQ(held.size(), 3u);
  for (const Index node : held) EXPECT_EQ(body.nodes(1, node), 0);
  EXPECT_EQ(body.sets.list(SetKind::points)[0].name, "group floor");
}

TEST(Groups, ChooseTheTrianglesThatAreLoaded) {
  const GmshFile file;
  const Body body = volume_of(R"("loads": [{"type": "pressure", "where": {"group": "floor"}, "pressure": 5},
      {"type": "pressure", "where": {"group": "hard"}, "pressure": 5},
      {"type": "point_force", "where": {"group": "floor"}, "force": [0, 1, 0]}])",
                              file.mesh());
  ASSERT_EQ(body.pressures.size(), 2u);
  ASSERT_EQ(body.sets[body.pressures[0].facets].size(), 1u);
  const auto floor = body.surface_faces.col(body.sets[body.pressures[0].facets][0]);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(body.nodes(1, floor[k]), 0);
  // A group of tetrahedra has no triangles of its own: those of the surface with all corners in it.
  for (const Index f : body.sets[body.pressures[1].facets])
    for (int k = 0; k < 3; ++k) EXPECT_LT(body.nodes(1, body.surface_faces(k, f)), 1.5);
  EXPECT_GT(body.sets[body.pressures[1].facets].size(), 1u);
  EXPECT_EQ(body.sets[body.loads[0].points].size(), 3u);
}

TEST(Groups, OfTrianglesLeaveOutOthersBetweenTheirPoints) {
  // The two triangles of the group touch every point of the body; the other four of its surface are not in
  // it.
  const TemporaryDirectory directory;
  write_file(
      directory / "m.msh",
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 0 1\n4 1 0 1\n5 0 1 "
      "0\n$EndNodes\n"
      "$Elements\n4\n1 4 2 1 1 1 2 3 5\n2 4 2 1 1 2 4 3 5\n3 2 2 8 1 3 1 2\n4 2 2 8 1 4 3 5\n$EndElements\n");
  const Body body =
      volume_of(R"("loads": [{"type": "pressure", "where": {"group": "surface 8"}, "pressure": 5}])",
                R"("file": ")" + (directory / "m.msh").string() + "\"");
  ASSERT_EQ(body.sets[body.pressures[0].facets].size(), 2u);
  ASSERT_EQ(body.surface_faces.cols(), 6);
}

TEST(Groups, AreLeftToTheSurfaceOfAnObstacle) {
  const GmshFile file;
  const SceneFile scene = parse_scene(
      R"({"version": 1, "time": {"steps": 1}, "bodies": [{"type": "obstacle", "mesh": {)" + file.mesh() +
          R"(}}, {"type": "volume", "mesh": {"generator": "box"}, "transform": {"translate": [30, 0, 0]}}]})",
      "scene.json", ".");
  const Mesh mesh = build_scene(scene).model->bodies[0].mesh;
  for (const int p : mesh.groups.at("floor").points) EXPECT_EQ(mesh.points(1, p), 0);
  EXPECT_EQ(mesh.groups.at("wire").points.size(), 2u);
  EXPECT_TRUE(mesh.groups.at("hard").tetrahedra.empty());
  EXPECT_TRUE(mesh.cell_data.empty());
}

TEST(Fields, GiveEachCellItsNumberAndEqualOnesShareAMaterial) {
  const GmshFile file;
  const Body body =
      volume_of(R"("material": {"type": "neo_hookean", "E": {"field": "E"}, "nu": 0.3})", file.mesh());
  EXPECT_EQ(body.elastic->material_of, (std::vector<Index>{0, 1, 0}));
  ASSERT_EQ(body.elastic->materials.size(), 2u);
  EXPECT_EQ(std::get<NeoHookean>(body.elastic->materials[1]).lame.mu, lame_parameters(2e5, 0.3).mu);
  const Body heavy = volume_of(R"("material": {"type": "stvk", "rho": {"field": "density"}})", file.mesh());
  const VectorX& volume = heavy.elastic->volume;
  EXPECT_NEAR(total_mass(heavy), 100 * volume[0] + 200 * volume[1] + 300 * volume[2], 1e-9);
}

TEST(Fields, MistakesAreNamed) {
  const GmshFile file;
  const auto error = [&](const std::string& material) {
    return volume_error(R"("material": {"type": "neo_hookean", )" + material + "}", file.mesh());
  };
  expect_parts(
      error(R"("E": {"field": "young"})"),
      {"scene.json:1: bodies[0].material.E.field: got \"young\"", "it has \"E\", \"bad\", \"density\""});
  expect_parts(error(R"("rho": {"field": "bad"})"),
               {"bodies[0].material.rho: tetrahedron 1 has \"bad\" = -200, must be positive"});
  expect_parts(error(R"("E": {"field": "partly"})"),
               {"bodies[0].material.E: tetrahedron 1 has no \"partly\""});
  expect_parts(error(R"("lambda": {"field": "bad"}, "mu": 1)"),
               {"bodies[0].material.lambda: got -200, must be more than", "(tetrahedron 1)"});
  expect_parts(error(R"("E": {"fild": "E"})"), {"bodies[0].material.E.fild: unknown key", "'field'"});
  expect_parts(volume_error(R"("material": {"type": "stvk", "E": {"field": "E"}})"),
               {"bodies[0].material.E.field: got \"E\"", "no cell data"});
  const std::string affine = message_of([&] {
    build_scene(parse_scene(
        R"({"version": 1, "time": {"steps": 1}, "bodies": [{"type": "affine", "mesh": {"generator": "box"},
            "material": {"type": "orthogonality", "rho": {"field": "E"}}}]})",
        "scene.json", "."));
  });
  expect_parts(affine, {"bodies[0].material.rho: is a number for each cell", "affine"});
}

TEST(Fields, MayComeFromATextFile) {
  const GmshFile mesh;
  const fs::path file = mesh.directory / "densities.txt";
  const auto density = [&](const std::string& text) {
    write_file(file, text);
    return R"("mass": "consistent", "material": {"type": "neo_hookean", "rho": {"file": ")" + file.string() +
           "\"}}";
  };
  const Body body = volume_of(density("100 200\n 3e2\n"), mesh.mesh());
  const Body field =
      volume_of(R"("mass": "consistent", "material": {"type": "neo_hookean", "rho": {"field": "density"}})",
                mesh.mesh());
  const VectorX& volume = body.elastic->volume;
  EXPECT_NEAR(total_mass(body), 100 * volume[0] + 200 * volume[1] + 300 * volume[2], 1e-9);
  EXPECT_EQ(total_mass(body), total_mass(field));
  expect_parts(volume_error(density("100 200"), mesh.mesh()),
               {"has 2 numbers", "3 tetrahedra", "another mesh"});
  expect_parts(volume_error(density("100 200 -3"), mesh.mesh()), {"tetrahedron 2 has rho = -3", "positive"});
  expect_parts(volume_error(density("100 x 3"), mesh.mesh()), {"densities.txt:1"});
  expect_parts(volume_error(R"("material": {"type": "neo_hookean", "rho": {}})", mesh.mesh()),
               {"rho", "is empty"});
  expect_parts(volume_error(R"("material": {"type": "neo_hookean", "rho": {"file": "nothing.txt"}})"),
               {"nothing.txt"});
}

}  // namespace
}  // namespace apart::test
