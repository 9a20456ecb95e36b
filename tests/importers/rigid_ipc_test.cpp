// Fixtures of Rigid IPC become scenes that do the same. Expected numbers are worked out here from what
// docs/coming-from-rigid-ipc.md says, not from the importer.
#include <apart/geometry/generators.hpp>
#include <apart/importers/rigid_ipc/import.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <Eigen/Geometry>
#include <numbers>

namespace apart::test {
namespace {

namespace fs = std::filesystem;
constexpr double in_radians = std::numbers::pi / 180;

/// A folder with "meshes" and a fixture beside it, as the reference has them. The cube has edges of 1 m and
/// its centre at the origin; "slab" is 2 × 1 × 0.5 m with a corner at the origin; "two" is two cubes.
class RigidIpcFixtures : public ::testing::Test {
 protected:
  RigidIpcFixtures() {
    fs::create_directories(directory / "meshes/parts");
    fs::create_directories(directory / "fixtures/3D");
    write_mesh(directory / "meshes/cube.obj", cube);
    write_mesh(directory / "meshes/parts/slab.obj", slab());
    write_mesh(directory / "meshes/two.obj", two());
    write_file(directory / "meshes/tet.off",
               "OFF\n# a tetrahedron\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3 255 0 0\n3 0 3 2\n"
               "3 1 2 3\n");
    write_file(directory / "meshes/flat.obj", "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 3 2\nf 1 4 3\n");
  }

  static Mesh surface(const Vector3& size) {
    Mesh mesh = generate::box(size, Eigen::Vector3i::Ones());
    mesh.faces = boundary_faces(mesh.tetrahedra);
    mesh.tetrahedra.resize(4, 0);
    return mesh;
  }
  static Mesh slab() {
    Mesh mesh = surface({2, 1, 0.5});
    mesh.points.colwise() += Vector3(1, 0.5, 0.25);
    return mesh;
  }
  static Mesh two() {
    const Mesh one = surface(Vector3::Ones());
    Mesh mesh;
    mesh.points.resize(3, 16);
    mesh.points << one.points, one.points.colwise() + Vector3(3, 0, 0);
    mesh.faces.resize(3, 24);
    mesh.faces << one.faces, one.faces.array() + 8;
    return mesh;
  }

  fs::path file() const { return directory / "fixtures/3D/scene.json"; }
  ImportedScene imported(const std::string& text, bool physical = false) {
    write_file(file(), text);
    return import_rigid_ipc_fixture(file(), {file().parent_path(), physical});
  }
  SceneFile read(const std::string& text) {
    write_file(file(), text);
    return open_scene_file(file());
  }
  SceneDescription described(const std::string& text) { return read(text).description(); }
  /// Of a fixture with these bodies and members of the top.
  static std::string fixture(const std::string& bodies, const std::string& top = {}) {
    return R"({"rigid_body_problem": {"rigid_bodies": [)" + bodies + "]}" + (top.empty() ? "" : ", " + top) +
           "}";
  }
  RigidDescription rigid(const std::string& body) {
    return std::get<RigidDescription>(described(fixture(body)).bodies.at(0));
  }
  /// The second body, beside a cube that can move.
  ObstacleDescription obstacle(const std::string& body, const std::string& top = {}) {
    return std::get<ObstacleDescription>(
        described(fixture(R"({"mesh": "cube.obj", "position": [0, 9, 0]}, )" + body, top)).bodies.at(1));
  }
  /// The motion of the second body.
  MotionDescription motion(const std::string& body, const std::string& top = {}) {
    return *std::get<RigidDescription>(
                described(fixture(R"({"mesh": "cube.obj", "position": [0, 9, 0]}, )" + body, top))
                    .bodies.at(1))
                .motion;
  }
  std::vector<std::string> notes(const std::string& text) { return imported(text).notes; }
  std::string message(const std::string& text) {
    return message_of([&] { imported(text); });
  }
  static double number_of(const Formula& formula) { return std::get<double>(formula); }
  static Vector3 vector_of(const FormulaVector& v) {
    return {number_of(v[0]), number_of(v[1]), number_of(v[2])};
  }
  static double metres(const AutomaticLength& length) { return std::get<Length>(length).metres(1e300); }

  TemporaryDirectory directory;
  Mesh cube = surface(Vector3::Ones());
};

TEST_F(RigidIpcFixtures, AreRecognisedByWhatTheyHold) {
  write_file(file(), fixture(R"({"mesh": "cube.obj"})"));
  ASSERT_NE(importer_of(file()), nullptr);
  EXPECT_EQ(importer_of(file())->import, import_rigid_ipc_fixture);
  write_file(file(), R"({"args": )" + fixture(R"({"mesh": "cube.obj"})") + "}");
  EXPECT_NE(importer_of(file()), nullptr);
  for (const char* other : {R"({"bodies": [], "description": "no \"rigid_body_problem\""})", "{", "[]",
                            R"({"note": ["rigid_body_problem"]})"}) {
    write_file(file(), other);
    EXPECT_EQ(importer_of(file()), nullptr) << other;
  }
  EXPECT_EQ(importer_of(directory / "missing.json"), nullptr);
}

TEST_F(RigidIpcFixtures, HaveTheDefaultsOfTheirFormat) {
  const SceneDescription scene = described(fixture(R"({"mesh": "cube.obj"})"));
  EXPECT_EQ(scene.name, "scene");
  EXPECT_EQ(scene.time.dt, 0.01);
  EXPECT_EQ(scene.time.steps, 1000);
  EXPECT_EQ(scene.time.max_motion, 0);
  EXPECT_FALSE(scene.time.conserve_spin);
  EXPECT_EQ(scene.time.integrator, Integrator::implicit_euler);
  EXPECT_EQ(scene.gravity, Vector3(0, 0, 0));
  EXPECT_EQ(metres(scene.contact.dhat), 1e-3);
  EXPECT_EQ(metres(scene.contact.thickness), 0);
  EXPECT_EQ(metres(scene.contact.epsv), 1e-3);
  EXPECT_EQ(std::get<double>(scene.contact.friction_coefficient), 0);
  EXPECT_EQ(scene.contact.friction_iterations, 1);
  EXPECT_EQ(std::get<StiffnessRule>(scene.contact.barrier_stiffness), StiffnessRule::published);
  EXPECT_EQ(scene.solver.termination, Termination::published);
  EXPECT_NEAR(metres(scene.solver.tolerance), 1e-2 * std::sqrt(3.0), 1e-12);
  EXPECT_EQ(scene.solver.max_iterations, 3000);
  const auto& body = std::get<RigidDescription>(scene.bodies.at(0));
  EXPECT_EQ(body.name, "cube");
  EXPECT_EQ(number(std::get<OrthogonalityDescription>(body.material).rho), 1000);
  EXPECT_FALSE(body.inertia || body.mass || body.centre);
}

TEST_F(RigidIpcFixtures, SayTimesContactAndTolerances) {
  const SceneDescription scene = described(R"({
    "scene_type": "distance_barrier_rb_problem", "solver": "ipc_solver", "viewport_bbox": {"min": [0]},
    "timestep": 1e-3, "max_time": 0.25,
    "rigid_body_problem": {"gravity": [0, -9.8, 0], "coefficient_friction": 0.3, "coefficient_restitution": -1,
      "time_stepper": "implicit_newmark", "rigid_bodies": [{"mesh": "cube.obj"}]},
    "distance_barrier_constraint": {"initial_barrier_activation_distance": 1e-4,
      "minimum_separation_distance": 2e-3, "barrier_type": "ipc", "detection_method": "hash_grid"},
    "friction_constraints": {"static_friction_speed_bound": 1e-5, "iterations": -1},
    "newton_solver": {"velocity_conv_tol": 0.5, "max_iterations": 77},
    "ipc_solver": {"velocity_conv_tol": 1e-5, "is_velocity_conv_tol_abs": true}})");
  EXPECT_EQ(scene.time.dt, 1e-3);
  EXPECT_EQ(scene.time.steps, 250);
  EXPECT_EQ(scene.time.integrator, Integrator::newmark);
  EXPECT_EQ(scene.gravity, Vector3(0, -9.8, 0));
  EXPECT_EQ(std::get<double>(scene.contact.friction_coefficient), 0.3);
  EXPECT_EQ(metres(scene.contact.dhat), 1e-4);
  EXPECT_EQ(metres(scene.contact.thickness), 2e-3);
  EXPECT_EQ(metres(scene.contact.epsv), 1e-5);
  EXPECT_EQ(scene.contact.friction_iterations, 0);
  EXPECT_EQ(metres(scene.solver.tolerance), 1e-5);
  EXPECT_EQ(scene.solver.max_iterations, 77);
  EXPECT_EQ(scene.output.every, 10);
  EXPECT_EQ(described(fixture(R"({"mesh": "cube.obj"})", R"("max_iterations": 7)")).time.steps, 7);
  const std::string no_lags = R"({"friction_constraints": {"iterations": 0},
    "rigid_body_problem": {"coefficient_friction": 0.3, "rigid_bodies": [{"mesh": "cube.obj"}]}})";
  EXPECT_EQ(std::get<double>(described(no_lags).contact.friction_coefficient), 0);
  EXPECT_EQ(notes(no_lags).size(), 1u);
  // Friction below the tolerance.
  const auto said = notes(R"({"rigid_body_problem": {"coefficient_friction": 0.3, "rigid_bodies": [
    {"mesh": "cube.obj"}]}})");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("end when forces balance"), std::string::npos) << said[0];
  EXPECT_EQ(described(R"({"rigid_body_problem": {"coefficient_friction": 0.3, "rigid_bodies": [
    {"mesh": "cube.obj"}]}})")
                .solver.termination,
            Termination::balanced);
}

TEST_F(RigidIpcFixtures, PlaceBodiesAboutTheOriginOfTheirMesh) {
  const Scene scene = build_scene(read(fixture(
      R"({"mesh": "parts/slab.obj", "scale": [2, 3, 4], "rotation": [20, 30, 40], "position": [1, 2, 3]})")));
  const Matrix3 rotation = (Eigen::AngleAxisd(40 * in_radians, Vector3::UnitZ()) *
                            Eigen::AngleAxisd(30 * in_radians, Vector3::UnitY()) *
                            Eigen::AngleAxisd(20 * in_radians, Vector3::UnitX()))
                               .toRotationMatrix();
  const Matrix3X expected =
      (rotation * (Vector3(2, 3, 4).asDiagonal() * slab().points)).colwise() + Vector3(1, 2, 3);
  EXPECT_LT((scene.model->bodies.at(0).mesh.points - expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST_F(RigidIpcFixtures, ScaleByNumberExtentAndSign) {
  EXPECT_EQ(std::get<double>(rigid(R"({"mesh": "cube.obj", "scale": 0.1})").transform.scale), 0.1);
  EXPECT_EQ(std::get<Vector3>(
                rigid(R"({"mesh": "parts/slab.obj", "scale": 9, "dimensions": [3, 2, 1]})").transform.scale),
            Vector3(1.5, 2, 2));
  // An extent of zero counts as 1.
  EXPECT_EQ(std::get<Vector3>(rigid(R"({"mesh": "flat.obj", "dimensions": [1, 7, 4]})").transform.scale),
            Vector3(0.5, 7, 2));
  const RigidDescription mirror = rigid(R"({"mesh": "parts/slab.obj", "scale": [2, 1, -1]})");
  EXPECT_EQ(std::get<Vector3>(mirror.transform.scale), Vector3(2, 1, 1));
  double lowest = 0;
  for (const Vector3& p : std::get<InlineMesh>(mirror.mesh).points) lowest = std::min(lowest, p[2]);
  EXPECT_EQ(lowest, -0.5);
  EXPECT_EQ(notes(fixture(R"({"mesh": "cube.obj", "scale": [2, 1, -1]})")).size(), 1u);
}

TEST_F(RigidIpcFixtures, NameMeshesOrHoldThem) {
  const SceneDescription scene = described(fixture(
      R"({"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0,0,3]], "edges": [[1,0],[3,4]], "faces": [[0,1,2]]},
         {"vertices": [[5,0,0],[6,0,0]]}, {"mesh": "tet.off", "position": [0, 9, 0]})"));
  const auto mesh = [&](std::size_t i) {
    return std::get<InlineMesh>(std::get<RigidDescription>(scene.bodies.at(i)).mesh);
  };
  EXPECT_EQ(mesh(0).points.size(), 5u);
  EXPECT_EQ(mesh(0).triangles.size(), 1u);
  ASSERT_EQ(mesh(0).segments.size(), 1u);  // that of the face is no segment of its own
  EXPECT_EQ(mesh(0).segments[0], Eigen::Vector2i(3, 4));
  EXPECT_EQ(mesh(1).points.size(), 2u);
  EXPECT_TRUE(mesh(1).segments.empty());
  EXPECT_EQ(mesh(2).triangles.size(), 4u);
  EXPECT_EQ(mesh(2).points[3], Vector3(0, 0, 1));
  EXPECT_EQ(base_of(scene.bodies[0]).name, "body_1");
  EXPECT_EQ(base_of(scene.bodies[2]).name, "tet");
  const ImportedScene here = imported(fixture(R"({"mesh": "cube.obj"})"));
  EXPECT_EQ(LocatedJson(brief_json(here.scene))["bodies"][0]["mesh"]["file"].text(), "../../meshes/cube.obj");
}

TEST_F(RigidIpcFixtures, SplitIntoConnectedPieces) {
  const SceneDescription scene =
      described(fixture(R"({"mesh": "two.obj", "split_components": true, "position": [0, 1, 0], "density": 5},
                 {"mesh": "cube.obj", "split_components": true, "position": [9, 0, 0]})"));
  ASSERT_EQ(scene.bodies.size(), 3u);
  for (int i : {0, 1}) {
    const auto& piece = std::get<RigidDescription>(scene.bodies[std::size_t(i)]);
    const auto& mesh = std::get<InlineMesh>(piece.mesh);
    EXPECT_EQ(mesh.points.size(), 8u);
    EXPECT_EQ(mesh.triangles.size(), 12u);
    EXPECT_EQ(mesh.points[0][0] > 2, i == 1);
    EXPECT_EQ(piece.name, i == 0 ? "two_1" : "two_2");
    EXPECT_EQ(piece.transform.translate, Vector3(0, 1, 0));
  }
  EXPECT_EQ(base_of(scene.bodies[2]).name, "cube");
}

TEST_F(RigidIpcFixtures, LeaveOutTrianglesThatBoundNothing) {
  // A cube with a triangle that is there three times, once facing inward, and one without area.
  Mesh mesh = surface(Vector3::Ones());
  std::string text;
  for (Index p = 0; p < 8; ++p)
    text += fmt::format("v {} {} {}\n", mesh.points(0, p), mesh.points(1, p), mesh.points(2, p));
  for (Index f = 0; f < 12; ++f)
    text += fmt::format("f {} {} {}\n", mesh.faces(0, f) + 1, mesh.faces(1, f) + 1, mesh.faces(2, f) + 1);
  const Eigen::Vector3i first = mesh.faces.col(0);
  const Vector3 again = mesh.points.col(first[1]);
  text += fmt::format("v {3} {4} {5}\nf {0} {1} {2}\nf {0} {2} {1}\nf {0} {1} 9\n", first[0] + 1,
                      first[1] + 1, first[2] + 1, again[0], again[1], again[2]);
  write_file(directory / "meshes/repaired.obj", text);
  const std::string body = R"({"mesh": "repaired.obj"})";
  const RigidDescription repaired = rigid(body);
  EXPECT_EQ(std::get<InlineMesh>(repaired.mesh).triangles.size(), 12u);
  EXPECT_FALSE(repaired.mass);
  EXPECT_EQ(notes(fixture(body)).size(), 1u);
}

TEST_F(RigidIpcFixtures, OpenSolidsHaveTheMassOfTheReference) {
  // A cube without its first triangle, with a corner at the origin: the triangle's share of the volume, seen
  // from the origin, is missing if it does not lie in a plane through it.
  Mesh open = surface(Vector3::Ones());
  open.points.colwise() += Vector3(0.5, 0.5, 0.5);
  Vector3 missing_centre = Vector3::Zero();
  Matrix3 corners;
  for (int k = 0; k < 3; ++k) corners.col(k) = open.points.col(open.faces(k, 0));
  const double missing = corners.determinant() / 6;
  missing_centre = corners.rowwise().sum() / 4;
  open.faces = open.faces.rightCols(11).eval();
  write_mesh(directory / "meshes/open.obj", open);
  const RigidDescription body = rigid(R"({"mesh": "open.obj", "density": 10, "position": [7, 0, 0]})");
  ASSERT_TRUE(body.mass && body.centre && body.inertia);
  EXPECT_NEAR(*body.mass, 10 * (1 - missing), 1e-12);
  const Vector3 centre =
      (Vector3(0.5, 0.5, 0.5) - missing * missing_centre) / (1 - missing) + Vector3(7, 0, 0);
  EXPECT_LT((*body.centre - centre).norm(), 1e-12);
  EXPECT_EQ(body.inertia->size(), 6u);
  EXPECT_FALSE(rigid(R"({"mesh": "flat.obj"})").mass);
}

TEST_F(RigidIpcFixtures, MoveAndPushBodies) {
  const std::string text = R"({"mesh": "cube.obj", "density": 500, "linear_velocity": [1, 2, 3],
    "angular_velocity": [0, 90, 0], "force": [1000, 0, -500], "torque": [0, 9, 0]})";
  const RigidDescription body = rigid(text);
  EXPECT_EQ(body.velocity, Vector3(1, 2, 3));
  EXPECT_EQ(body.angular_velocity, Vector3(0, 90, 0));
  ASSERT_EQ(body.loads.size(), 2u);
  EXPECT_LT(
      (vector_of(std::get<BodyForceDescription>(body.loads[0]).acceleration) - Vector3(2, 0, -1)).norm(),
      1e-12);
  EXPECT_LT((vector_of(std::get<TorqueDescription>(body.loads[1]).torque) -
             Vector3(0, 9 * std::numbers::pi / 90, 0))
                .norm(),
            1e-12);
  const auto said = notes(fixture(text));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("rigid_body_problem.rigid_bodies[0].torque"), std::string::npos) << said[0];
}

TEST_F(RigidIpcFixtures, CanBeTakenPhysically) {
  const ImportedScene scene = imported(fixture(R"({"mesh": "cube.obj", "density": 500, "torque": [0, 9, 0]},
                 {"mesh": "parts/slab.obj", "density": 50, "is_dof_fixed": [true, true, true, true, true, false]})"),
                                       true);
  const auto& pushed = std::get<RigidDescription>(scene.scene.bodies.at(0));
  EXPECT_EQ(vector_of(std::get<TorqueDescription>(pushed.loads.at(0)).torque), Vector3(0, 9, 0));
  const auto& hinge = std::get<RigidDescription>(scene.scene.bodies.at(1));
  EXPECT_EQ(hinge.fixed_rotation, "xy");
  EXPECT_FALSE(hinge.inertia) << "that of its shape and density";
  EXPECT_TRUE(scene.notes.empty()) << scene.notes.front();
}

TEST_F(RigidIpcFixtures, FixDirections) {
  const RigidDescription slide = rigid(R"({"mesh": "cube.obj", "force": [1000, 7, 0],
    "is_dof_fixed": [false, true, true, true, true, true], "linear_velocity": [1, 2, 0]})");
  EXPECT_EQ(slide.fixed_translation, "yz");
  EXPECT_EQ(slide.fixed_rotation, "xyz");
  EXPECT_EQ(slide.velocity, Vector3(1, 0, 0));
  EXPECT_EQ(vector_of(std::get<BodyForceDescription>(slide.loads.at(0)).acceleration), Vector3(1, 0, 0));
  EXPECT_FALSE(slide.inertia);
  // A hinge about z: the reference adds the moments about x and y, without density.
  const RigidDescription hinge = rigid(
      R"({"mesh": "parts/slab.obj", "density": 50, "is_dof_fixed": [true, true, true, true, true, false]})");
  EXPECT_EQ(hinge.fixed_translation, "xyz");
  EXPECT_EQ(hinge.fixed_rotation, "xy");
  const double volume = 1, xx = volume / 12 * (1 + 0.25), yy = volume / 12 * (4 + 0.25);
  ASSERT_TRUE(hinge.inertia);
  ASSERT_EQ(hinge.inertia->size(), 3u);
  EXPECT_NEAR((*hinge.inertia)[2], xx + yy, 1e-12);
  EXPECT_EQ(rigid(R"({"mesh": "cube.obj", "is_dof_fixed": false})").fixed_rotation, "");
  for (const char* still : {R"("is_dof_fixed": true)", R"("type": "static", "density": 0)",
                            R"("is_dof_fixed": [true, true, true, true, true, true], "type": "kinematic",
                               "linear_velocity": [1, 0, 0])"})
    EXPECT_FALSE(obstacle(fmt::format(R"({{"mesh": "cube.obj", {}}})", still)).motion) << still;
}

TEST_F(RigidIpcFixtures, MoveKinematicBodiesSteadily) {
  const std::string moving = R"("mesh": "parts/slab.obj", "type": "kinematic", "linear_velocity": [0, 0.5, 0],
    "angular_velocity": [0, 0, -360])";
  const Vector3 centre(1, 0.5, 0.25);
  const auto forever = std::get<FormulaMotion>(motion("{" + moving + "}"));
  EXPECT_EQ(std::get<std::string>(forever.translate[1]), "0.5*t");
  EXPECT_EQ(number_of(forever.translate[0]), 0);
  EXPECT_EQ(forever.rotate->axis, Vector3(0, 0, -1));
  EXPECT_EQ(std::get<std::string>(forever.rotate->angle), "360*t");
  EXPECT_LT((*forever.center - centre).norm(), 1e-12);
  const auto timed = std::get<KeyframeMotion>(motion("{" + moving + R"(, "kinematic_max_time": 2})"));
  ASSERT_EQ(timed.keyframes.size(), 2u);
  EXPECT_EQ(timed.keyframes[1].t, 2);
  EXPECT_EQ(timed.keyframes[1].translate, Vector3(0, 1, 0));
  EXPECT_EQ(std::get<AxisAngleDescription>(timed.keyframes[1].rotate).angle, 720);
  EXPECT_FALSE(obstacle("{" + moving + R"(, "kinematic_max_time": 0})").motion);
  EXPECT_FALSE(obstacle(R"({"mesh": "cube.obj", "type": "kinematic"})").motion);
}

TEST_F(RigidIpcFixtures, MoveKinematicBodiesFromPoseToPose) {
  const auto frames = [&](const std::string& rest, const std::string& top) {
    return std::get<KeyframeMotion>(motion(R"({"mesh": "parts/slab.obj", "type": "kinematic", )" + rest + "}",
                                           R"("timestep": 0.1, "max_iterations": 4)" + top));
  };
  const std::string two =
      R"("kinematic_poses": [{"position": [1, 1.5, 0.25]}, {"position": [1, 2.5, 0.25]}])";
  const auto plain = frames(two, "");
  ASSERT_EQ(plain.keyframes.size(), 3u);
  EXPECT_EQ(plain.keyframes[1].t, 0.1);
  EXPECT_EQ(plain.keyframes[1].translate, Vector3(0, 1, 0));
  EXPECT_EQ(plain.keyframes[2].translate, Vector3(0, 2, 0));
  const auto further = frames(two + R"(, "angular_velocity": [30, 0, 0], "linear_velocity": [10, 0, 0])", "");
  ASSERT_EQ(further.keyframes.size(), 4u);
  EXPECT_EQ(further.keyframes[3].t, 0.4);
  EXPECT_LT((further.keyframes[3].translate - Vector3(2, 2, 0)).norm(), 1e-12);
  EXPECT_NEAR(std::get<AxisAngleDescription>(further.keyframes[3].rotate).angle, 6, 1e-12);
  EXPECT_EQ(frames(two + R"(, "kinematic_max_time": 0.1)", "").keyframes.size(), 2u);
  // The least moment of the slab is about x, the largest about z: its principal axes are those of the world
  // but for signs, so that a vector along z turns it about z.
  const auto turned = frames(
      R"("kinematic_poses": [{"position": [1, 0.5, 0.25], "rotation": [0, 0, 0]},
         {"position": [1, 0.5, 0.25], "rotation": [0, 0, 0.5]}], "angular_velocity": [0, 0, 100])",
      "");
  ASSERT_EQ(turned.keyframes.size(), 5u);
  const auto rotation_at = [&](std::size_t k) { return make_rotation(turned.keyframes[k].rotate); };
  const Matrix3 relative = rotation_at(2) * rotation_at(1).transpose();
  EXPECT_LT((relative - Eigen::AngleAxisd(0.5, Vector3::UnitZ()).toRotationMatrix()).norm(), 1e-12);
  const Matrix3 step = rotation_at(4) * rotation_at(3).transpose();
  EXPECT_LT((step - Eigen::AngleAxisd(10 * in_radians, Vector3::UnitZ()).toRotationMatrix()).norm(), 1e-12);
}

TEST_F(RigidIpcFixtures, KinematicBodiesDoNotMeetWhatOnlyScriptsMove) {
  const SceneDescription scene = described(fixture(
      R"({"mesh": "cube.obj", "type": "static"},
         {"mesh": "cube.obj", "type": "kinematic", "linear_velocity": [1, 0, 0], "group_id": 2},
         {"mesh": "cube.obj", "type": "kinematic", "angular_velocity": [0, 9, 0], "group_id": 2},
         {"mesh": "cube.obj", "position": [0, 5, 0], "group_id": 2})"));
  std::set<std::array<std::string, 2>> apart;
  for (const PairDescription& pair : scene.contact.pairs) {
    EXPECT_FALSE(pair.enabled);
    EXPECT_TRUE(apart.insert(pair.bodies).second) << "stands twice";
  }
  EXPECT_EQ(apart, (std::set<std::array<std::string, 2>>{{"cube_1", "cube_2"},
                                                         {"cube_1", "cube_3"},
                                                         {"cube_2", "cube_3"},
                                                         {"cube_2", "cube_4"},
                                                         {"cube_3", "cube_4"}}));
  build_scene(scene);  // they overlap
}

TEST_F(RigidIpcFixtures, KeepGroupsApart) {
  const SceneDescription scene = described(fixture(
      R"({"mesh": "cube.obj", "group_id": 4}, {"mesh": "cube.obj", "position": [0.5, 0, 0], "group_id": 4},
                 {"mesh": "two.obj", "group_id": 4, "type": "static"},
                 {"mesh": "flat.obj", "group_id": 4, "type": "static"}, {"mesh": "tet.off", "position": [0, 8, 0]},
                 {"mesh": "tet.off", "enabled": false})"));
  ASSERT_EQ(scene.bodies.size(), 5u);
  ASSERT_EQ(scene.contact.pairs.size(), 5u);  // obstacles do not collide with each other in any case
  for (const PairDescription& pair : scene.contact.pairs) EXPECT_FALSE(pair.enabled);
  EXPECT_EQ(scene.contact.pairs[0].bodies, (std::array<std::string, 2>{"cube_1", "cube_2"}));
  build_scene(scene);
}

TEST_F(RigidIpcFixtures, SayWhatHasNoEffectOnce) {
  const auto said = notes(R"({"distance_barrier_constraints": {}, "#note": 1, "max_time": 1,
    "args": 3, "ipc_solver": {"linear_solver": {"name": "x"}},
    "rigid_body_problem": {"coefficient_restitution": 0.5, "collision_eps": 0, "rigid_bodies": [
      {"mesh": "cube.obj", "#type": "kinematic", "colour": 1, "oriented": true},
      {"mesh": "cube.obj", "position": [0, 3, 0], "colour": 2, "type": "static", "linear_velocity": [1, 0, 0]}]}})");
  const auto count = [&](std::string_view word) {
    return std::ranges::count_if(said, [&](const std::string& s) { return s.find(word) != s.npos; });
  };
  EXPECT_EQ(said.size(), 8u);
  for (const char* key :
       {"distance_barrier_constraints", "args", "ipc_solver.linear_solver",
        "rigid_body_problem.coefficient_restitution", "collision_eps", "rigid_bodies[0].colour",
        "rigid_bodies[0].oriented", "rigid_bodies[1].linear_velocity"})
    EXPECT_EQ(count(std::string(key) + ": "), 1) << key;
  for (const std::string& line : said) EXPECT_NE(line.find("scene.json:"), line.npos) << line;
}

TEST_F(RigidIpcFixtures, BeginSavedRunsAnew) {
  const std::string text = R"({"args": )" + fixture(R"({"mesh": "cube.obj"})", R"("max_time": 2)") +
                           R"(, "animation": {"state_sequence": []}})";
  EXPECT_EQ(described(text).time.steps, 200);
  EXPECT_EQ(notes(text).size(), 1u);
}

TEST_F(RigidIpcFixtures, AreWrittenWithoutDefaults) {
  const ImportedScene scene = imported(fixture(R"({"mesh": "cube.obj", "density": 7})"));
  EXPECT_EQ(flat_text(*brief_json(scene.scene).find("bodies")),
            R"([{"type": "rigid", "name": "cube", "mesh": {"file": "../../meshes/cube.obj"}, )"
            R"("material": {"type": "orthogonality", "rho": 7}}])");
  const SceneFile direct = read(fixture(R"({"mesh": "cube.obj", "density": 7})"));
  const SceneFile again =
      parse_scene(readable_text(brief_json(scene.scene)), "scene.json", file().parent_path());
  EXPECT_EQ(again.text(), direct.text());
}

TEST_F(RigidIpcFixtures, OfThePlaneBecomeStrips) {
  const std::string text = R"({"rigid_body_problem": {"gravity": [0, -9.8], "coefficient_restitution": -1,
    "rigid_bodies": [{"vertices": [[0, 0], [2, 0], [2, 1], [0, 1]], "edges": [[0, 1], [1, 2], [2, 3], [3, 0]],
      "polygons": [[[0, 0]]], "density": 3, "position": [4, 5], "rotation": [90], "linear_velocity": [1, 2],
      "angular_velocity": 30, "torque": [10]},
     {"mesh": "path.obj", "is_dof_fixed": [true, true, true], "linear_velocity": [0, 0]},
     {"mesh": "path.obj", "position": [0, 20], "scale": [2, 1], "is_dof_fixed": [true, false, false]},
     {"mesh": "path.obj", "position": [0, 40], "type": "kinematic", "angular_velocity": [90]}]}})";
  write_file(directory / "meshes/path.obj", "# of the plane\nv 0 0\nv 1 0\nv 1 1\nl 1 2 3\n");
  const SceneDescription scene = described(text);
  EXPECT_EQ(scene.gravity, Vector3(0, -9.8, 0));
  const auto& box = std::get<RigidDescription>(scene.bodies.at(0));
  EXPECT_EQ(std::get<InlineMesh>(box.mesh).triangles.size(), 8u);
  EXPECT_EQ(box.fixed_translation, "z");
  EXPECT_EQ(box.fixed_rotation, "xy");
  EXPECT_EQ(box.velocity, Vector3(1, 2, 0));
  EXPECT_EQ(box.angular_velocity, Vector3(0, 0, 30));
  EXPECT_EQ(std::get<Vector3>(box.transform.rotate), Vector3(0, 0, 90));
  EXPECT_NEAR(vector_of(std::get<TorqueDescription>(box.loads.at(0)).torque)[2], 10 * in_radians, 1e-12);
  EXPECT_FALSE(box.inertia) << "the true one";
  EXPECT_TRUE(std::holds_alternative<ObstacleDescription>(scene.bodies.at(1)));
  EXPECT_EQ(std::get<RigidDescription>(scene.bodies.at(2)).fixed_translation, "xz");
  EXPECT_TRUE(std::get<RigidDescription>(scene.bodies.at(3)).motion);
  // Masses are those of edges: 3 kg/m along 6 m, about the centre of the rectangle of 2 m by 1 m.
  const Body body = build_scene(scene).model->bodies.at(0);
  EXPECT_NEAR(body.mass.sum(), 18, 1e-9);
  const Vector3 centre = body.nodes.rowwise().mean();
  EXPECT_LT((centre - Vector3(3.5, 6, 0)).norm(), 1e-9);
  const Matrix3X r = body.nodes.colwise() - centre;
  const Matrix3 second = r * body.mass * r.transpose();
  const double long_sides = 3 * 2 * (8.0 / 12 + 2 * 0.25), short_sides = 3 * 2 * (1.0 / 12 + 1);
  EXPECT_NEAR(second(0, 0) + second(1, 1), long_sides + short_sides, 1e-9);
}

TEST_F(RigidIpcFixtures, PosesOfThePlaneTurnTheBodyAsItWasPlaced) {
  // An angle, of which the initial rotation is no part: lines are longest along their least moment.
  const SceneDescription scene = described(
      R"({"scene_type": "distance_barrier_rb_problem", "timestep": 0.1, "max_iterations": 3,
          "rigid_body_problem": {"gravity": [0, -9.81], "rigid_bodies": [
            {"vertices": [[-1, 0], [1, 0]], "edges": [[0, 1]], "rotation": 30, "position": [0, 2],
             "type": "kinematic", "kinematic_poses": [{"position": [0, 2]},
               {"position": [1, 2], "rotation": [0.5]}, {"position": [1, 3], "rotation": 0.25}]}]}})");
  const auto& body = std::get<RigidDescription>(scene.bodies.at(0));
  const auto& frames = std::get<KeyframeMotion>(*body.motion).keyframes;
  ASSERT_EQ(frames.size(), 4u);
  const auto rotation_at = [&](std::size_t k) { return make_rotation(frames[k].rotate); };
  const auto about_z = [](double angle) {
    return Eigen::AngleAxisd(angle, Vector3::UnitZ()).toRotationMatrix();
  };
  EXPECT_TRUE(rotation_at(1).isIdentity(0)) << "none is given";
  EXPECT_LT((rotation_at(2) - about_z(0.5)).norm(), 1e-12);
  EXPECT_LT((rotation_at(3) - about_z(0.25)).norm(), 1e-12);
  EXPECT_LT((frames[2].translate - Vector3(1, 0, 0)).norm(), 1e-12);
  EXPECT_LT((frames[3].translate - Vector3(1, 1, 0)).norm(), 1e-12);
}

TEST_F(RigidIpcFixtures, BadOnesOfThePlaneAreRefusedWithThePlace) {
  const auto expect = [&](const std::string& body, const std::string& key, const std::string& reason) {
    const std::string what =
        message(R"({"rigid_body_problem": {"gravity": [0, 1], "rigid_bodies": [)" + body + "]}}");
    EXPECT_NE(what.find("scene.json:1: rigid_body_problem.rigid_bodies[0]" + key), what.npos) << what;
    EXPECT_NE(what.find(reason), what.npos) << what;
  };
  const std::string edge = R"("vertices": [[0, 0], [1, 0]], "edges": [[0, 1]])";
  expect("{" + edge + R"(, "position": [0, 0, 1]})", ".position", "must be two numbers");
  expect("{" + edge + R"(, "rotation": [0, 0, 1]})", ".rotation", "must be one number");
  expect("{" + edge + R"(, "is_dof_fixed": [true]})", ".is_dof_fixed", "three of them");
  expect("{" + edge + R"(, "faces": [[0, 1, 0]]})", ".faces", "no faces");
  expect(R"({"vertices": [[0, 0], [1, 0]]})", "", "has no \"edges\"");
  expect("{" + edge +
             R"(, "type": "kinematic", "kinematic_poses": [{"position": [0, 1], "rotation": [0, 0, 1]}]})",
         ".kinematic_poses[0].rotation", "must be one number");
  expect(R"({"mesh": "tet.off"})", ".mesh", ".obj of the plane");
  for (const char* bad : {"v 0 0\nv 1 1\n", "v 0 0\nl 1 2\n", "v 0 0\nv 1 0\nf 1 2 1\n", "v 0 x\n"}) {
    write_file(directory / "meshes/bad.obj", bad);
    expect(R"({"mesh": "bad.obj"})", ".mesh", "bad.obj");
  }
}

TEST_F(RigidIpcFixtures, BadOnesAreRefusedWithThePlace) {
  const auto expect = [&](const std::string& text, const std::string& path, const std::string& reason) {
    const std::string what = message(text);
    EXPECT_NE(what.find("scene.json:1: " + path), what.npos) << what;
    EXPECT_NE(what.find(reason), what.npos) << what;
  };
  const auto bad_body = [&](const std::string& body, const std::string& key, const std::string& reason) {
    expect(fixture(body), "rigid_body_problem.rigid_bodies[0]" + key, reason);
  };
  bad_body("7", "", "object");
  bad_body("{}", "", "no shape");
  bad_body(R"({"mesh": "missing.obj"})", ".mesh", "not found");
  bad_body(R"({"mesh": 7})", ".mesh", "7");
  bad_body(R"({"mesh": "cube.obj", "density": 0})", ".density", "positive");
  bad_body(R"({"mesh": "cube.obj", "scale": 0})", ".scale", "must not be 0");
  bad_body(R"({"mesh": "cube.obj", "scale": "big"})", ".scale", "big");
  bad_body(R"({"mesh": "cube.obj", "rotation": [1]})", ".rotation", "three numbers");
  bad_body(R"({"mesh": "cube.obj", "type": "soft"})", ".type", "\"kinematic\"");
  bad_body(R"({"mesh": "cube.obj", "is_dof_fixed": [true]})", ".is_dof_fixed", "six");
  bad_body(R"({"mesh": "cube.obj", "kinematic_poses": [{}]})", ".kinematic_poses[0]", "position");
  bad_body(R"({"vertices": [[0, 0, 0]], "faces": [[0, 1, 2]]})", ".faces[0]", "names vertex 1");
  bad_body(R"({"vertices": [[0, 0, 0]], "edges": [[0]]})", ".edges[0]", "2 vertices");
  const std::string cube_body = R"({"mesh": "cube.obj"})";
  expect(fixture(cube_body, R"("timestep": 0)"), "timestep", "positive");
  expect(fixture(cube_body, R"("max_time": 1e300)"), "asks for", "steps");
  expect(fixture(cube_body, R"("ipc_solver": {"velocity_conv_tol": -1})"), "ipc_solver.velocity_conv_tol",
         "positive");
  expect(fixture(cube_body, R"("ipc_solver": [])"), "ipc_solver", "object");
  expect(R"({"rigid_body_problem": {}})", "rigid_body_problem", "rigid_bodies");
  expect(R"({"rigid_body_problem": {"gravity": 1, "rigid_bodies": []}})", "rigid_body_problem.gravity", "1");
  expect(R"({"rigid_body_problem": {"time_stepper": "verlet", "rigid_bodies": []}})",
         "rigid_body_problem.time_stepper", "implicit_euler");
  // All at once.
  const std::string both = message(fixture(R"({"mesh": "a.obj"}, {"mesh": "b.obj"})"));
  EXPECT_NE(both.find("a.obj"), both.npos);
  EXPECT_NE(both.find("b.obj"), both.npos);
  for (const char* off : {"PLY\n", "OFF\n1 1 0\n0 0 0\n3 0 1 2\n", "OFF\n2 9999999 0\n",
                          "OFF\n1 0 0\n0 0 x\n", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n"}) {
    write_file(directory / "meshes/bad.off", off);
    bad_body(R"({"mesh": "bad.off"})", ".mesh", "bad.off");
  }
}

/// Of those in `folder` with at most `bodies` bodies: how many become scenes.
int scenes_of_fixtures(const fs::path& folder, std::size_t bodies) {
  int scenes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path());
    EXPECT_TRUE(is_rigid_ipc_fixture(entry.path()));
    const std::string text = read_file(entry.path());
    std::size_t meshes = 0;
    for (std::size_t at = 0; (at = text.find("\"mesh\"", at)) != text.npos; ++at) ++meshes;
    if (meshes > bodies) continue;
    try {
      build_scene(open_scene_file(entry.path()));
      ++scenes;
    } catch (const InputError& e) {
      const std::string what = e.what();
      EXPECT_TRUE(what.starts_with(entry.path().string() + ":")) << what;
      EXPECT_NE(what.find("not found"), what.npos) << what;  // meshes that are not public
    }
  }
  return scenes;
}

class PublishedRigidIpcFixtures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(data))
      GTEST_SKIP()
          << "no published fixtures in " << APART_DATA
          << ": put the folders fixtures and meshes of github.com/ipc-sim/rigid-ipc there as rigid, or "
             "name the folder: cmake -D APART_DATA=folder build";
  }
  const fs::path data = fs::path(APART_DATA) / "rigid/fixtures";
};

TEST_F(PublishedRigidIpcFixtures, OfUpToFiftyBodiesBecomeScenesOrSayWhyNot) {
  EXPECT_GE(scenes_of_fixtures(data, 50), 90);
}
TEST_F(PublishedRigidIpcFixtures, SlowBecomeScenesOrSayWhyNot) {
  EXPECT_EQ(scenes_of_fixtures(data, 10'000), 107);
}

}  // namespace
}  // namespace apart::test
