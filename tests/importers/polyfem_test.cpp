// Scenes of PolyFEM: files that build on others, the old form, formulas, and what becomes of each part.
#include <apart/geometry/generators.hpp>
#include <apart/importers/importers.hpp>
#include <apart/importers/polyfem/document.hpp>
#include <apart/importers/polyfem/formulas.hpp>
#include <apart/importers/polyfem/import.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <support/curved_mesh.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class PolyFem : public testing::Test {
 protected:
  void SetUp() override {
    write_mesh(directory / "bar.msh", generate::box({2, 0.5, 0.5}, {4, 1, 1}));
    write_mesh(directory / "plane.obj", generate::grid(4, 4, 1, 1));
    write_file(directory / "common.json",
               R"({"contact": {"dhat": 0.002}, "solver": {"nonlinear": {"x_delta": 1e-5}},)"
               R"( "materials": [{"id": 1, "type": "NeoHookean", "E": 1e6, "nu": 0.4, "rho": 900}]})");
  }
  ImportedScene import(const std::string& text) {
    write_file(directory / "scene.json", text);
    EXPECT_TRUE(is_polyfem_scene(directory / "scene.json"));
    return import_polyfem_scene(directory / "scene.json", {});
  }
  std::string refusal(const std::string& text) {
    return message_of([&] { import(text); });
  }
  const TemporaryDirectory directory;
};

const std::string beam = R"json({"common": "common.json",
  "geometry": [{"mesh": "bar.msh", "volume_selection": 1, "transformation": {"scale": 2, "translation": [0, 3, 0]},
                "surface_selection": [{"id": 5, "axis": -1, "position": -2},
                                      {"id": 6, "axis": "x", "position": 1, "relative": true}]},
               {"mesh": "plane.obj", "is_obstacle": true, "surface_selection": 1001,
                "transformation": {"dimensions": [8, 0, 8], "rotation": [0, 90, 0]}}],
  "space": {"discr_order": 3},
  "time": {"tend": 2, "time_steps": 40},
  "contact": {"friction_coefficient": 0.5, "use_convergent_formulation": true},
  "solver": {"contact": {"friction_iterations": 10}},
  "boundary_conditions": {"rhs": [0, 9.81, 0],
    "dirichlet_boundary": [{"id": 5, "value": [0, 0, 0]},
                           {"id": 6, "value": [0, "rotate_2D_x(y, z, t) - y", 0], "dimension": [false, true, false]}],
    "obstacle_displacements": [{"id": 1001, "value": [0, "max(t-10, -t)", 0]}]}})json";

TEST_F(PolyFem, SceneBecomesTheSameScene) {
  const ImportedScene imported = import(beam);
  const SceneDescription& scene = imported.scene;
  EXPECT_EQ(scene.contact.formulation, ContactFormulation::convergent);
  EXPECT_EQ(scene.gravity, Vector3(0, -9.81, 0));
  EXPECT_EQ(scene.time.dt, 0.05);
  EXPECT_EQ(scene.time.steps, 40);
  EXPECT_EQ(std::get<Length>(scene.contact.dhat).value, 0.002);
  EXPECT_EQ(scene.contact.friction_iterations, 10);
  EXPECT_NEAR(std::get<Length>(scene.solver.tolerance).value, 1e-5 / 0.05, 1e-15);
  ASSERT_EQ(scene.bodies.size(), 2u);
  const auto& bar = std::get<VolumeDescription>(scene.bodies[0]);
  EXPECT_EQ(bar.basis_order, 3);
  EXPECT_EQ(std::get<double>(std::get<NeoHookeanDescription>(bar.material).rho), 900);
  ASSERT_EQ(bar.fixed.size(), 2u);
  EXPECT_FALSE(bar.fixed[0].motion);
  EXPECT_EQ(bar.fixed[1].axes, "y");
  const auto& plane = std::get<ObstacleDescription>(scene.bodies[1]);
  EXPECT_EQ(std::get<Vector3>(plane.transform.scale), Vector3(2, 1, 2));
  EXPECT_TRUE(plane.motion);

  // And it can be built: both ends are held, and nothing else.
  const Scene built = build_scene(scene);
  const Body& body = built.model->bodies[0];
  EXPECT_EQ(body.elastic->lagrange->degree, 3);
  for (const Script& script : body.scripts) {
    const std::vector<Index>& members = body.sets[script.points];
    EXPECT_GE(members.size(), 16u);
    for (const Index p : members) EXPECT_NEAR(std::abs(body.mesh.points(0, p)), 2, 1e-9);
  }
}

TEST_F(PolyFem, ObstaclesBeginWhereTheirDisplacementDoes) {
  std::string text = beam;
  const std::string from = "\"max(t-10, -t)\"";
  text.replace(text.find(from), from.size(), "\"4.5 * smooth_abs(t - 1, 5) - 4.5\"");
  const SceneDescription scene = import(text).scene;
  const auto& plane = std::get<ObstacleDescription>(scene.bodies[1]);
  const double start = 4.5 * std::tanh(5.0) - 4.5;
  EXPECT_NEAR(plane.transform.translate[1], start, 1e-15);
  const auto& motion = std::get<FormulaMotion>(*plane.motion);
  const Expression moved(std::get<std::string>(motion.translate[1]));
  EXPECT_EQ(moved(0, 0, 0, 0), 0);
  EXPECT_NEAR(moved(0, 0, 0, 1) + start, -4.5, 1e-12);
  EXPECT_NO_THROW(build_scene(scene));
}

TEST_F(PolyFem, SidesJumpInTheFirstStepWhereTheirDisplacementDoesNotBeginAtZero) {
  std::string text = beam;
  const std::string from = "{\"id\": 5, \"value\": [0, 0, 0]}";
  text.replace(text.find(from), from.size(), "{\"id\": 5, \"value\": [0.01, \"t\", \"0.02 * x + t\"]}");
  const SceneDescription scene = import(text).scene;
  const auto& bar = std::get<VolumeDescription>(scene.bodies[0]);
  const auto& moved = std::get<FormulaMotion>(*bar.fixed[0].motion).translate;
  const Expression first(std::get<std::string>(moved[0])), third(std::get<std::string>(moved[2]));
  EXPECT_EQ(first(1, 2, 3, 0), 0);
  EXPECT_EQ(first(1, 2, 3, 0.05), 0.01);
  EXPECT_EQ(std::get<std::string>(moved[1]), "t");
  EXPECT_EQ(third(1, 2, 3, 0), 0);
  EXPECT_EQ(third(1, 2, 3, 0.05), 0.07);
  EXPECT_NO_THROW(build_scene(scene));
}

TEST_F(PolyFem, FilesBuildOnOthersAndArePatched) {
  write_file(directory / "base.json", beam);
  const ImportedScene imported = import(R"({"common": "base.json", "time": {"dt": 0.1, "time_steps": null},
    "patch": [{"op": "replace", "path": "/space/discr_order", "value": 2},
              {"op": "remove", "path": "/geometry/1"},
              {"op": "remove", "path": "/boundary_conditions/obstacle_displacements"},
              {"op": "add", "path": "/materials/0/nu", "value": 0.3}],})");
  EXPECT_EQ(imported.scene.time.steps, 20);
  ASSERT_EQ(imported.scene.bodies.size(), 1u);
  const auto& bar = std::get<VolumeDescription>(imported.scene.bodies[0]);
  EXPECT_EQ(bar.basis_order, 2);
  EXPECT_EQ(std::get<double>(std::get<NeoHookeanDescription>(bar.material).nu), 0.3);
}

TEST_F(PolyFem, TheOldFormMeansTheSame) {
  const ImportedScene imported = import(R"({"default_params": "common.json", "discr_order": 2,
    "problem_params": {"rhs": [0, 9.81, 0]}, "tend": 5, "time_steps": 50, "mu": 0.5, "friction_iterations": 10,
    "meshes": [{"mesh": "bar.msh", "position": [0, 1, 0], "body_id": 1}],
    "body_params": [{"id": 1, "E": 2e6, "nu": 0.2, "rho": 1200}],
    "obstacles": [{"mesh": "plane.obj", "position": [0, -1, 0], "#displacement": [0, "t", 0]},
                  {"mesh": "plane.obj", "position": [0, 8, 0], "displacement": [0, "-t", 0]}]})");
  const SceneDescription& scene = imported.scene;
  EXPECT_EQ(scene.gravity, Vector3(0, -9.81, 0));
  EXPECT_EQ(scene.time.dt, 0.1);
  EXPECT_EQ(std::get<double>(scene.contact.friction_coefficient), 0.5);
  EXPECT_EQ(scene.contact.friction_iterations, 10);
  ASSERT_EQ(scene.bodies.size(), 3u);
  const auto& bar = std::get<VolumeDescription>(scene.bodies[0]);
  EXPECT_EQ(bar.transform.translate, Vector3(0, 1, 0));
  EXPECT_EQ(bar.basis_order, 2);
  EXPECT_EQ(std::get<double>(std::get<NeoHookeanDescription>(bar.material).E), 2e6);
  EXPECT_FALSE(std::get<ObstacleDescription>(scene.bodies[1]).motion);
  EXPECT_TRUE(std::get<ObstacleDescription>(scene.bodies[2]).motion);
}

TEST_F(PolyFem, TheOldFormSelectsSidesOfAllMeshes) {
  const auto fixed = [&](const std::string& mesh) {
    const ImportedScene imported = import(R"({"default_params": "common.json", "tend": 1, "dt": 0.1,
      "problem_params": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 3, "value": [0, "t", 0]}]},
      "meshes": [{"mesh": "bar.msh", "body_id": 1)" +
                                          mesh + R"(}],
      "boundary_sidesets": [{"id": 1, "axis": 1, "position": 1}, {"id": 3, "axis": -1, "position": -1}],
      "boundary_id_threshold": 1e-5})");
    return std::get<VolumeDescription>(imported.scene.bodies[0]).fixed;
  };
  const auto all = fixed("");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].motion);
  EXPECT_TRUE(all[1].motion);
  // A mesh that selects its own has these.
  EXPECT_EQ(fixed(R"(, "boundary_sidesets": [{"id": 3, "axis": 2, "position": 0}, {"id": 1, "axis": 3,)"
                  R"( "position": 0}])")
                .size(),
            2u);
}

TEST_F(PolyFem, CurvedMeshesAndCollisionMeshes) {
  write_mesh(directory / "curved.msh", curved(generate::box({1, 1, 1}, {1, 1, 1}), 4));
  write_mesh(directory / "skin.obj", generate::sphere(0.4, 3, generate::Content::surface));
  write_file(directory / "w.hdf5", "weights");
  const ImportedScene imported = import(R"({"common": "common.json", "time": {"tend": 1, "dt": 0.1},
    "geometry": [{"mesh": "curved.msh", "volume_selection": 1}],
    "space": {"discr_order": 2, "advanced": {"quadrature_order": 4, "bc_method": "sample"}},
    "contact": {"collision_mesh": {"mesh": "skin.obj", "linear_map": "w.hdf5"}}})");
  const auto& body = std::get<VolumeDescription>(imported.scene.bodies[0]);
  EXPECT_EQ(body.basis_order, 2);
  EXPECT_EQ(body.quadrature_order, 4);
  ASSERT_TRUE(body.collision && body.collision->mesh);
  ASSERT_TRUE(body.collision->weights);
  EXPECT_EQ(fs::path(*body.collision->weights).filename(), "w.hdf5");
}

TEST_F(PolyFem, ScenesOfThePlaneBecomePlanarBodies) {
  write_mesh(directory / "plate.msh", generate::rectangle({4, 0.5}, {8, 1}));
  write_file(directory / "square.obj", "v -0.5 0.5\nv 0.5 0.5\nv -0.5 -0.5\nv 0.5 -0.5\nf 2 3 1\nf 2 4 3\n");
  const ImportedScene imported = import(R"({"common": "common.json", "time": {"tend": 1, "dt": 0.1},
    "geometry": [{"mesh": "plate.msh", "volume_selection": 1,
                  "surface_selection": [{"id": 5, "axis": "-x", "position": -2}, {"id": 6, "box": [[1.9, -1], [2, 1]]}]},
                 {"mesh": "square.obj", "is_obstacle": true, "surface_selection": 1,
                  "transformation": {"translation": [0, 0.51], "dimensions": [0.25, 0.25], "rotation": 90}},
                 {"mesh": "square.obj", "is_obstacle": true, "transformation": {"translation": [0, -1]}}],
    "initial_conditions": {"velocity": [{"id": 1, "value": [0, 0.5]}]},
    "boundary_conditions": {"rhs": [0, 9.81],
      "dirichlet_boundary": [{"id": 5, "value": [0, 0], "dimension": [true, false]}, {"id": 6, "value": [0, "t"]}],
      "obstacle_displacements": [{"id": 1, "value": [0, "-0.1 * t", 0]}]}})");
  ASSERT_EQ(imported.scene.bodies.size(), 3u);
  EXPECT_EQ(imported.scene.gravity, Vector3(0, -9.81, 0));
  const auto& plate = std::get<PlanarDescription>(imported.scene.bodies[0]);
  EXPECT_EQ(plate.velocity, Vector3(0, 0.5, 0));
  EXPECT_EQ(plate.fixed.at(0).axes, "x");
  EXPECT_EQ(plate.mass, MassKind::consistent);
  // λ = Eν/(1 − ν²) and μ = E/2(1 + ν) of the plane, whatever E and ν are written.
  const auto scene = build_scene(imported.scene);
  const auto& material = std::get<NeoHookean>(scene.model->bodies[0].planar->materials[0]);
  EXPECT_NEAR(material.lame.lambda, 1e6 * 0.4 / (1 - 0.16), 1e-3);
  EXPECT_NEAR(material.lame.mu, 1e6 / 2.8, 1e-3);
  const auto& moved = std::get<PlanarDescription>(imported.scene.bodies[1]);
  EXPECT_TRUE(moved.motion);
  EXPECT_EQ(moved.transform.translate, Vector3(0, 0.51, 0));
  EXPECT_NEAR(scene.model->bodies[1].planar->volume.sum(), 0.0625, 1e-12);
  EXPECT_FALSE(std::get<PlanarDescription>(imported.scene.bodies[2]).motion);
  EXPECT_EQ(scene.model->bodies[2].scripts.size(), 1u) << "held";
}

TEST_F(PolyFem, DensitiesOfTetrahedraComeFromATextFile) {
  std::string numbers;
  for (int t = 0; t < 19; ++t) numbers += fmt::format("{}\n", 100 + t);
  write_file(directory / "rhos.txt", numbers);
  const auto imported = [&](const std::string& density) {
    return import(
        R"({"time": {"tend": 1, "dt": 0.1}, "geometry": [{"mesh": "bar.msh", "volume_selection": 1}],
      "materials": [{"id": 1, "type": "NeoHookean", "E": 1e6, "nu": 0.4, "rho": )" +
        density + "}]}");
  };
  const Index cells = Index(read_mesh(directory / "bar.msh").tetrahedra.cols());
  const std::string message = message_of([&] { build_scene(imported(R"("rhos.txt")").scene); });
  EXPECT_NE(message.find(fmt::format("has 19 numbers, but the mesh has {} tetrahedra", cells)),
            std::string::npos)
      << message;
  numbers.clear();
  for (int t = 0; t < cells; ++t) numbers += "250\n";
  write_file(directory / "rhos.txt", numbers);
  const Scene scene = build_scene(imported(R"("rhos.txt")").scene);
  EXPECT_NEAR(total_mass(scene.model->bodies[0]), 250 * 0.5, 1e-9);
  EXPECT_NE(message_of([&] { imported(R"("nothing.txt")"); }).find("there is no such file"),
            std::string::npos);
}

TEST_F(PolyFem, WhatCannotBeReadIsRefusedWithItsPlace) {
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = beam;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& words) {
    const std::string message = refusal(changed(from, to));
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_NE(message.find("json:"), std::string::npos) << message;
  };
  expect("\"discr_order\": 3", "\"discr_order\": 5", "must be 1 to 4");
  expect("\"discr_order\": 3", "\"discr_order\": 3, \"advanced\": {\"quadrature_order\": 16}",
         "must be at most 15");
  expect("bar.msh", "nothing.msh", "there is no such file");
  expect("\"tend\": 2, \"time_steps\": 40", "\"tend\": 2", "needs two of");
  expect("{\"id\": 5, \"value\"", "{\"id\": 55, \"value\"", "holds side 55, which no body has");
  expect("\"volume_selection\": 1", "\"volume_selection\": 2", "there is no material");
  expect("[0, 9.81, 0],", "[0, \"t\", 0],", "must be a number");
  expect("rotate_2D_x(y, z, t)", "rotate_2D_x(y, z)", "rotate_2D_x has 2 values, must be 3");
}

TEST(PolyFemFormulas, AreWrittenOutInWhatScenesUnderstand) {
  const auto value = [](const std::string& text, double x, double y, double t) {
    const JsonValue json(text);
    return Expression(std::get<std::string>(polyfem::formula(LocatedJson(json))))(x, y, 0.5, t);
  };
  EXPECT_NEAR(value("rotate_2D_x(x + 2.0/3.0, y - 1, -4 * t) - 2.0/3.0 - x", 0.2, 0.3, 0.7),
              (0.2 + 2.0 / 3) * std::cos(-2.8) - (0.3 - 1) * std::sin(-2.8) - 2.0 / 3 - 0.2, 1e-14);
  EXPECT_NEAR(value("rotate_2D_y(x, max(y, 0.1), deg2rad(90*t))", 0.2, 0.3, 1), 0.2, 1e-14);
  EXPECT_NEAR(value("smooth_abs(x, 3)", -0.4, 0, 0), -0.4 * std::tanh(-1.2), 1e-14);
  EXPECT_EQ(value("if(t - 1, x, y)", 2, 3, 1), 2);
  EXPECT_EQ(value("if(t - 1, x, y)", 2, 3, 0.5), 3);
  EXPECT_EQ(value("smoothstep(t)", 0, 0, 0.5), 0.5);
}

TEST(PolyFemScenes, OfOtherPeopleAreRead) {
  const fs::path data = fs::path(APART_DATA) / "highorder";
  if (!fs::exists(data))
    GTEST_SKIP() << "no published scenes in " << data
                 << ": put github.com/zfergus/high-order-ipc-data and github.com/polyfem/polyfem-data there, "
                    "or name the folder: cmake -D APART_DATA=folder build";
  int read = 0, missing = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    const fs::path file = entry.path();
    if (file.extension() != ".json" || file.filename().string().find("common") != std::string::npos) continue;
    SCOPED_TRACE(file);
    ASSERT_TRUE(is_polyfem_scene(file));
    try {
      const ImportedScene imported = import_polyfem_scene(file, {});
      EXPECT_FALSE(imported.scene.bodies.empty());
      ++read;
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("there is no such file"), std::string::npos) << message;
      ++missing;
    }
  }
  EXPECT_GE(read, 25);
  EXPECT_LE(missing, 10);
}

}  // namespace
}  // namespace apart::test
