// Scripts of the reference implementation of IPC become scenes that do the same. Expected numbers are worked
// out here from what docs/coming-from-ipc.md says, not from the importer.
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/importers/ipc/import.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/selection.hpp>

#include <gtest/gtest.h>
#include <support/described_part.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <Eigen/Geometry>
#include <numbers>
#include <random>

namespace apart::test {
namespace {

constexpr double radians = std::numbers::pi / 180;

/// A folder "input" with meshes and one script, as the reference has it. The bar is 2 × 1 × 1 m, centred, of
/// cells of 1/4 m; the wedge is half of a cube, which has its centre of mass elsewhere than its box.
class IpcScripts : public ::testing::Test {
 protected:
  IpcScripts() {
    namespace fs = std::filesystem;
    for (const char* folder : {"tetMeshes", "triMeshes", "segMeshes", "scenes"})
      fs::create_directories(input() / folder);
    write_mesh(input() / "tetMeshes/bar.msh", bar);
    write_mesh(input() / "tetMeshes/wedge.msh", wedge);
    write_mesh(input() / "triMeshes/plane.obj", plane);
    write_mesh(input() / "triMeshes/triangle.obj", triangle);
    write_mesh(input() / "segMeshes/edge.seg", generate::segments(1, 1));
    write_file(input() / "triMeshes/two.pt", "v 0 0 0\nv 1 2 3\n");
  }

  std::filesystem::path input() const { return directory / "input"; }
  std::filesystem::path script() const { return input() / "scenes/scene.txt"; }

  ImportedScene imported(const std::string& text) {
    write_file(script(), text);
    return import_ipc_script(script(), {input() / "scenes"});
  }
  JsonValue scene(const std::string& text) { return brief_json(imported(text).scene); }
  /// The same with every default.
  JsonValue whole(const std::string& text) { return *read(text).json; }
  /// Checked and with every default.
  SceneFile read(const std::string& text) {
    write_file(script(), text);
    return open_scene_file(script());
  }
  Scene built(const std::string& text) { return build_scene(read(text)); }
  std::string message(const std::string& text) {
    return message_of([&] { imported(text); });
  }

  static Mesh make_wedge() {
    Mesh cube = generate::box(Vector3::Ones(), Eigen::Vector3i::Constant(2));
    Mesh half = cube;
    Index kept = 0;
    for (Index t = 0; t < cube.tetrahedra.cols(); ++t) {
      Vector3 center = Vector3::Zero();
      for (int k = 0; k < 4; ++k) center += 0.25 * cube.points.col(cube.tetrahedra(k, t));
      if (center[0] < 0 || center[1] < 0) half.tetrahedra.col(kept++) = cube.tetrahedra.col(t);
    }
    half.tetrahedra.conservativeResize(4, kept);
    return remove_unreferenced_points(half);
  }
  static Mesh make_triangle() {
    Mesh mesh;
    mesh.points.resize(3, 3);
    mesh.points << 0, 1, 0, 0, 0, 0, 0, 0, 1;
    mesh.faces.resize(3, 1);
    mesh.faces << 0, 1, 2;
    return mesh;
  }

  TemporaryDirectory directory;
  const Mesh bar = generate::box({2, 1, 1}, {8, 4, 4});
  const Mesh wedge = make_wedge();
  const Mesh plane = generate::grid(10, 10, 2, 2);
  const Mesh triangle = make_triangle();
  const std::string one_bar = "shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n";
};

/// One line of a scene: "contact.dhat", "bodies[0].material.E".
JsonValue at(const JsonValue& root, std::string_view path) {
  const JsonValue* value = &root;
  while (!path.empty() && value) {
    if (path.front() == '[') {
      const std::size_t end = path.find(']');
      const auto* items = value->get_if<JsonValue::Array>();
      const std::size_t i = std::stoul(std::string(path.substr(1, end)));
      value = items && i < items->size() ? &(*items)[i] : nullptr;
      path.remove_prefix(end + 1);
    } else {
      const std::string_view key = path.substr(0, path.find_first_of(".["));
      value = value->find(key);
      path.remove_prefix(key.size());
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return value ? *value : JsonValue();
}

std::string text_at(const JsonValue& root, std::string_view path) {
  const std::string text = readable_text(at(root, path));
  std::string flat;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      flat += text[i];
      continue;
    }
    while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    if (flat.ends_with(',')) flat += ' ';
  }
  return flat;
}

double number_at(const JsonValue& root, std::string_view path) {
  const JsonValue value = at(root, path);
  const double* number = value.get_if<double>();
  EXPECT_TRUE(number) << path << " is " << text_at(root, path);
  return number ? *number : 0;
}

const double bar_size = std::sqrt(6.0);

TEST_F(IpcScripts, WhatIsNotGivenHasTheDefaultsOfTheReference) {
  const JsonValue s = whole(
      "shapes input 2\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/plane.obj 0 -3 0  0 0 0  1 1 1\n");
  EXPECT_EQ(text_at(s, "time.dt"), "0.025");
  EXPECT_EQ(text_at(s, "time.tend"), "5");
  EXPECT_EQ(text_at(s, "time.integrator"), "\"implicit_euler\"");
  EXPECT_EQ(text_at(s, "time.max_motion"), "0");  // a step is one solve
  EXPECT_EQ(text_at(s, "gravity"), "[0, -9.80665, 0]");
  EXPECT_EQ(text_at(s, "bodies[0].material"),
            R"({"type": "neo_hookean", "E": 100000, "nu": 0.4, "rho": 1000})");
  EXPECT_EQ(text_at(s, "bodies[1].type"), "\"obstacle\"");
  EXPECT_EQ(text_at(s, "contact.friction_coefficient"), "0");
  EXPECT_EQ(text_at(s, "contact.friction_iterations"), "1");
  // Multiples of the diagonal of the box around what has tetrahedra: the plane does not count.
  EXPECT_NEAR(number_at(s, "contact.dhat"), 1e-3 * bar_size, 1e-15);
  EXPECT_NEAR(number_at(s, "contact.epsv"), 1e-3 * bar_size, 1e-15);
  EXPECT_NEAR(number_at(s, "solver.tolerance"), 1e-2 * bar_size, 1e-15);
}

TEST_F(IpcScripts, WrittenScenesLeaveOutDefaultsAndAreReadAsTheSame) {
  const std::string text = one_bar + "script stamp\nselfFric 0.5\n";
  const JsonValue brief = scene(text);
  EXPECT_EQ(text_at(brief, "bodies[0]"),
            R"({"type": "volume", "name": "bar", "mesh": {"file": "../tetMeshes/bar.msh"}, )"
            R"("fixed": [{"where": {"expression": "x < -0.98"}}]})");
  EXPECT_EQ(text_at(brief, "attachments"), "null");
  EXPECT_EQ(parse_scene(readable_text(brief), "scene.json", script().parent_path()).text(),
            read(text).text());
}

TEST_F(IpcScripts, SettingsAreCarriedOver) {
  struct Case {
    const char *lines, *path, *expected;
  };
  const Case cases[] = {
      {"energy FCR", "bodies[0].material.type", "\"fixed_corotated\""},
      {"energy NH", "bodies[0].material.type", "\"neo_hookean\""},
      {"timeIntegration NM", "time.integrator", "\"newmark\""},
      {"timeIntegration NM", "time.beta", "0.25"},
      {"timeIntegration NM", "time.gamma", "0.5"},
      {"timeIntegration NM 0.3 0.6", "time.beta", "0.3"},
      {"timeIntegration NM 0.3 0.6", "time.gamma", "0.6"},
      {"time 2 0.001", "time.dt", "0.001"},
      {"time 2 0.001", "time.tend", "2"},
      {"time 2 0.001", "output.every", "10"},
      {"density 250", "bodies[0].material.rho", "250"},
      {"stiffness 3e6 0.3", "bodies[0].material.E", "3000000"},
      {"stiffness 3e6 0.3", "bodies[0].material.nu", "0.3"},
      {"turnOffGravity", "gravity", "[0, 0, 0]"},
      {"selfFric 0.7", "contact.friction_coefficient", "0.7"},
      {"selfFric -1", "contact.friction_coefficient", "0"},
      {"fricIterAmt 4", "contact.friction_iterations", "4"},
      {"fricIterAmt -1", "contact.friction_iterations", "0"},
      {"CCDMethod TightInclusion", "solver.ccd", "\"tight_inclusion\""},
      {"ccdMethod TightInclusion", "solver.ccd", "\"tight_inclusion\""},
      {"useAbsParameters\ndHat 0.25\nepsv 0.5", "contact.dhat", "0.25"},
      {"useAbsParameters\ndHat 0.25\nepsv 0.5", "contact.epsv", "0.5"},
      {"useAbsParameters\ntuning 3\n0 0.5\n 0.125", "contact.dhat", "0.125"},
      {"useAbsParameters\ntuning 6\n0\n0.5\n0.125\n1e-9\n0.25\n0.75", "contact.epsv", "0.25"},
      {"useAbsParameters\ntuning 2\n0\n0.0005", "contact.dhat", "0.0005"},
      {"useAbsParameters\ntuning 2\n0\n0.5\ndHat 0.125\nepsv 2", "contact.epsv", "2"},
      {"constraintSolver IP\nsection SQP QP\ntime 9 9\nnonsense\nsection end\ndensity 7",
       "bodies[0].material.rho", "7"},
      {"section SQP QP\ntime 9 9\nsection end", "time.dt", "0.025"},
      {"section SQP IP\ndensity 9\nsection end", "bodies[0].material.rho", "9"},
      {"section QP\ndensity 9\nsection", "bodies[0].material.rho", "1000"},
      {"density 5 # 6 7", "bodies[0].material.rho", "5"},
      {"#density 5", "bodies[0].material.rho", "1000"},
      {"  density\t5\r", "bodies[0].material.rho", "5"},
      {"density \\\n  5", "bodies[0].material.rho", "5"},
      {"dampingStiff 0.0025", "bodies[0].damping.stiffness", "4"},
      {"dampingRatio 0.4", "bodies[0].damping.stiffness", "0.0075"},
      {"dampingRatio 0.4\ntimeIntegration NM", "bodies[0].damping.stiffness", "0.03"},
      {"dampingRatio 0", "bodies[0].damping.stiffness", "0"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(text_at(whole(one_bar + c.lines + "\n"), c.path), c.expected) << c.lines;
  EXPECT_NEAR(number_at(scene(one_bar + "tol 2\n1e-3\n  1e-4\ndensity 3\n"), "solver.tolerance"),
              1e-4 * bar_size, 1e-15);
  EXPECT_NEAR(number_at(scene(one_bar + "dHat 1e-2\n"), "contact.dhat"), 1e-2 * bar_size, 1e-15);
}

TEST_F(IpcScripts, WhatHasNoEffectIsReportedWithItsLine) {
  const char* ignored[] = {"warmStart 0",
                           "view orthographic",
                           "zoom 0.3",
                           "cameraTracking",
                           "playBackSpeed 0.5",
                           "appendStr abc",
                           "disableCout",
                           "constraintType graphics",
                           "constraintOffset 1",
                           "QPSolver OSQP",
                           "linearSolver X",
                           "linSysSolver X",
                           "CCDTolerance 1e-6",
                           "ccdTolerance 1e-6",
                           "exactCCD none",
                           "kappaMinMultiplier 1e9",
                           "useActiveSetConvergence",
                           "noActiveSetConvergence",
                           "minBarrierStiffnessScale 3",
                           "constraintSolver SQP",
                           "CCDMethod BSC"};
  for (const std::string line : ignored) {
    const auto notes = imported(one_bar + "\n" + line + "\n").notes;
    ASSERT_EQ(notes.size(), 1u) << line;
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_TRUE(notes[0].starts_with(script().string() + ":4: '" + name + "' has no effect here"))
        << notes[0];
  }
  EXPECT_TRUE(
      imported(one_bar + "selfCollisionOn\nconstraintSolver interiorPoint\ndampingRatio 0\n").notes.empty());
}

TEST_F(IpcScripts, MistakesAreNamedWithFileLineAndKeyword) {
  struct Case {
    std::string text;
    int line;
    const char* says;
  };
  const std::string shape = "input/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1";
  const Case cases[] = {
      {one_bar + "densitty 3\n", 3, "did you mean 'density'?"},
      {one_bar + "flubber 3\n", 3, "unknown keyword"},
      {one_bar + "density\n", 3, "'density' needs density"},
      {one_bar + "density many\n", 3, "must be a number"},
      {one_bar + "density -1\n", 3, "must be positive"},
      {one_bar + "density 3 heavy\n", 3, "after the last value"},
      {one_bar + "time 5\n", 3, "'time' needs time step"},
      {one_bar + "energy XX\n", 3, "must be one of NH, FCR"},
      {one_bar + "script twirl\n", 3, "unknown script"},
      {one_bar + "script twst\n", 3, "did you mean 'twist'?"},
      {one_bar + "handleRatio 0.7\n", 3, "must lie in (0, 0.5)"},
      {one_bar + "restart status3\n", 3, "'restart'"},
      {one_bar + "halfSpace 0 0 0  0 0 0  1 0\n", 3, "must have a direction"},
      {one_bar + "ground -1 0\n", 3, "must not be negative"},
      {one_bar + "rotateModel 0 0 0 90\n", 3, "must have a direction"},
      {one_bar + "tol 2\n1e-3\n", 3, "promises 2 numbers, the file ends after 1"},
      {one_bar + "tol 1\nzoom 1\n", 4, "must be a number"},
      {one_bar + "section Gurobi\n", 3, "must be one of"},
      {one_bar + "meshCO input/triMeshes/none.obj 0 0 0 1 50 0\n", 3,
       "mesh input/triMeshes/none.obj not found"},
      {one_bar + "script DCOSquash6\n", 3, "needs at least 7 shapes, there are 1"},
      {one_bar + "script MCOSquash\n", 3, "needs 2 meshCO, there are 0"},
      {one_bar + "script ACOSquash\n", 3, "needs 2 half-spaces, there are 0"},
      {"shapes input 2\n" + shape + "\n", 1, "promises 2 shapes, the file has 1"},
      {"shapes input 1\n\n# here\n" + shape + " colour 3\n", 4, "unknown option"},
      {"shapes input 1\n" + shape + " \\\n  materiel 1 2 3\n", 3, "did you mean 'material'?"},
      {"shapes input 1\n" + shape + " DBC 1 2 3\n", 2, "'DBC' needs upper corner"},
      {"shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 -1 1\n", 2,
       "scale: got 1 -1 1, must be positive"},
      {"shapes output 1\n" + shape + "\n", 1, "must be one of input"},
      {"shapes input 1\ninput/tetMeshes/none.msh 0 0 0  0 0 0  1 1 1\n", 2,
       "mesh input/tetMeshes/none.msh not found"},
      {"shapes input 1\ninput/tetMeshes/bar.ele 0 0 0  0 0 0  1 1 1\n", 2, "must be .msh"},
      {"shapes input 1\ninput/triMeshes/plane.obj 0 0 0  0 0 0  1 1 1\n", 2, "nothing can move"},
      {"density 3\n", 1, "has no shapes"},
  };
  for (const Case& c : cases) {
    const std::string what = message(c.text);
    EXPECT_TRUE(what.starts_with(script().string() + ":" + std::to_string(c.line) + ": ")) << c.text << what;
    EXPECT_NE(what.find(c.says), std::string::npos) << c.text << what;
  }
  // All missing meshes at once.
  const std::string both = message("shapes input 2\na.msh 0 0 0 0 0 0 1 1 1\nb.msh 0 0 0 0 0 0 1 1 1\n");
  EXPECT_NE(both.find("a.msh"), std::string::npos);
  EXPECT_NE(both.find("b.msh"), std::string::npos);
}

TEST_F(IpcScripts, AFileThatHoldsAPathStandsForThatScript) {
  write_file(input() / "scenes/real.txt", one_bar + "density 77\n");
  std::filesystem::create_directories(input() / "links/deep");
  write_file(input() / "links/deep/link.txt", "../../scenes/real.txt");
  write_file(input() / "links/again.txt", "deep/link.txt\n");
  for (const char* name : {"links/deep/link.txt", "links/again.txt"})
    EXPECT_EQ(text_at(brief_json(import_ipc_script(input() / name, {}).scene), "bodies[0].material.rho"),
              "77")
        << name;
  EXPECT_EQ(text_at(brief_json(import_ipc_script(input() / "links/again.txt", {}).scene), "name"),
            "\"again\"");

  write_file(input() / "links/gone.txt", "../scenes/gone.txt");
  EXPECT_NE(message_of([&] { import_ipc_script(input() / "links/gone.txt", {}); }).find("does not exist"),
            std::string::npos);
  write_file(input() / "links/circle.txt", "circle.txt");
  EXPECT_NE(message_of([&] { import_ipc_script(input() / "links/circle.txt", {}); }).find("break the circle"),
            std::string::npos);
}

// ---- placing ------------------------------------------------------------------------------------

Matrix3 turn(int axis, double degrees) {
  return Eigen::AngleAxisd(degrees * radians, Vector3::Unit(axis)).toRotationMatrix();
}
Matrix3 zyx(double x, double y, double z) {  // z is applied first
  return turn(0, x) * turn(1, y) * turn(2, z);
}

TEST_F(IpcScripts, ShapesAreScaledTurnedAboutZThenYThenXAndMoved) {
  for (const Vector3& angles : {Vector3(0, 0, 0), Vector3(30, 0, 0), Vector3(0, -90, 0), Vector3(0, 180, 90),
                                Vector3(10, 20, 30), Vector3(90, 90, 90), Vector3(-200, 75, 400)}) {
    const Scene s = built(fmt::format("shapes input 1\ninput/tetMeshes/bar.msh 1 2 3  {} {} {}  1 2 0.5\n",
                                      angles[0], angles[1], angles[2]));
    const Matrix3X expected =
        ((zyx(angles[0], angles[1], angles[2]) * Vector3(1, 2, 0.5).asDiagonal()) * bar.points).colwise() +
        Vector3(1, 2, 3);
    EXPECT_LT((s.model->bodies[0].mesh.points - expected).norm(), 1e-11) << angles.transpose();
  }
}

TEST_F(IpcScripts, RotateModelTurnsAboutHalfTheExtentAndSizeFitsEverythingIntoACorner) {
  const std::string shapes =
      "shapes input 2\ninput/tetMeshes/bar.msh 1 2 3  0 30 0  1 1 1\n"
      "input/tetMeshes/wedge.msh -2 0 0  0 0 0  1 1 1\n";
  Matrix3X a = (turn(1, 30) * bar.points).colwise() + Vector3(1, 2, 3),
           b = wedge.points.colwise() + Vector3(-2, 0, 0);
  const auto box = [&] {
    Aabb all = bounding_box(a);
    all.include(bounding_box(b));
    return all;
  };
  const Vector3 center = 0.5 * (box().upper - box().lower);
  const Matrix3 rotation = Eigen::AngleAxisd(40 * radians, Vector3(1, 2, 2) / 3).toRotationMatrix();
  a = (rotation * (a.colwise() - center)).colwise() + center;
  b = (rotation * (b.colwise() - center)).colwise() + center;
  const Scene turned = built(shapes + "rotateModel 1 2 2 40\n");
  EXPECT_LT((turned.model->bodies[0].mesh.points - a).norm(), 1e-11);
  EXPECT_LT((turned.model->bodies[1].mesh.points - b).norm(), 1e-11);

  const double factor = 7 / (box().upper - box().lower).maxCoeff();
  const Vector3 corner = factor * box().lower;
  const Scene fitted = built(shapes + "rotateModel 1 2 2 40\nsize 7\n");
  EXPECT_LT((fitted.model->bodies[0].mesh.points - ((factor * a).colwise() - corner)).norm(), 1e-11);
  EXPECT_LT((fitted.model->bodies[1].mesh.points - ((factor * b).colwise() - corner)).norm(), 1e-11);
}

TEST_F(IpcScripts, MeshObstaclesAreCentredAtTheMeanOfTheirPointsAndNotFitted) {
  const std::string line = "meshCO input/triMeshes/triangle.obj 1 2 3  6  50  0.3 rotate 20 30 40\n";
  const Scene s = built(one_bar + "size 1\n" + line);
  const Vector3 mean = triangle.points.rowwise().mean();
  const Matrix3X expected = (6 * zyx(20, 30, 40) * (triangle.points.colwise() - mean)).colwise() +
                            Vector3(1, 2, 3);  // longest edge of box: 1
  EXPECT_LT((s.model->bodies[1].mesh.points - expected).norm(), 1e-11);
  const auto notes = imported(one_bar + line).notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(":3: the friction of this meshCO, 0.3, acts here"), std::string::npos) << notes[0];
}

TEST_F(IpcScripts, AMatrixOfShapesIsAnArray) {
  const std::string text = one_bar +
                           "size 4\nscript DCOFix\nshapeMatrix input 2 1 3\n"
                           "input/triMeshes/point.pt 5 1 6  0 0 0  1 1 1\n";
  write_file(input() / "triMeshes/point.obj", "v 0 0 0\n");
  const JsonValue s = scene(text);
  EXPECT_EQ(text_at(s, "bodies[1].mesh"), R"({"points": [[0, 0, 0]]})");
  EXPECT_EQ(text_at(s, "bodies[1].array.counts"), "[2, 1, 3]");
  const Scene model = built(text);
  ASSERT_EQ(model.model->bodies.size(), 7u);
  const double factor = 4 / 12.5;  // from -0.5 to 12 along z
  std::vector<double> x;
  for (std::size_t i = 1; i < 7; ++i) x.push_back(model.model->bodies[i].mesh.points(0, 0) / factor - 1);
  for (const double value : x) EXPECT_LT(std::min(std::abs(value), std::abs(value - 5)), 1e-12) << value;
  EXPECT_NEAR(model.model->bodies[6].mesh.points(2, 0), 12.5 * factor, 1e-12);
  // A corner that is given, and copies that are not alike.
  const JsonValue moved = scene(
      "shapeMatrix input 2 1 1 7 8 9\ninput/tetMeshes/bar.msh 5 1 6  0 0 0  1 1 1\n"
      "script twist\n");
  EXPECT_EQ(text_at(moved, "bodies[0].transform.translate"), "[7, 8, 9]");
  EXPECT_EQ(text_at(moved, "bodies[1].transform.translate"), "[12, 8, 9]");
  EXPECT_EQ(text_at(moved, "bodies[1].name"), "\"bar_2\"");
}

TEST_F(IpcScripts, SegmentsAndPointsMayComeFromATriangleMesh) {
  const JsonValue s = scene(
      "shapes input 5\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/triangle.seg 0 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/triangle.pt 0 0 0  0 0 0  1 1 1\n"
      "input/segMeshes/edge.seg 0 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/two.pt 0 0 0  0 0 0  1 1 1\n");
  EXPECT_EQ(text_at(s, "bodies[1].mesh"),
            R"({"points": [[0, 0, 0], [1, 0, 0], [0, 0, 1]], "segments": [[0, 1], [0, 2], [1, 2]]})");
  EXPECT_EQ(text_at(s, "bodies[2].mesh"), R"({"points": [[0, 0, 0], [1, 0, 0], [0, 0, 1]]})");
  EXPECT_EQ(text_at(s, "bodies[3].mesh"), R"({"file": "../segMeshes/edge.seg"})");
  EXPECT_EQ(text_at(s, "bodies[4].mesh"), R"({"points": [[0, 0, 0], [1, 2, 3]]})");
  EXPECT_EQ(text_at(s, "bodies[1].name"), "\"triangle_1\"");
  EXPECT_EQ(text_at(s, "bodies[2].name"), "\"triangle_2\"");
  EXPECT_EQ(text_at(s, "bodies[3].name"), "\"edge\"");
}

TEST_F(IpcScripts, EachHalfSpaceHasItsOwnFrictionWithEverything) {
  const Scene s = built(one_bar + "ground 0.1 -3\nhalfSpace 0 -4 0  1 2 0  50 0.9\nselfFric 0.5\n");
  const PairTable& pairs = s.model->surface.pairs;
  EXPECT_EQ(pairs(0, 0).friction, 0.5);
  EXPECT_EQ(pairs(0, 1).friction, 0.1);
  EXPECT_EQ(pairs(0, 2).friction, 0.9);
  EXPECT_TRUE(pairs(0, 0).enabled && pairs(0, 1).enabled && pairs(0, 2).enabled);
  const Scene off = built(
      "shapes input 2\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n"
      "input/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\nground 0.1 -3\nselfCollisionOff\n");
  const PairTable& none = off.model->surface.pairs;
  EXPECT_FALSE(none(0, 0).enabled || none(0, 1).enabled || none(1, 1).enabled);
  EXPECT_TRUE(none(0, 2).enabled && none(1, 2).enabled);
}

// ---- options of shapes --------------------------------------------------------------------------

TEST_F(IpcScripts, ShapesHaveMaterialsOfTheirOwn) {
  const JsonValue s = whole(
      "shapes input 2\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1 material 3000 1e8 0.3\n"
      "input/tetMeshes/bar.msh 0 5 0  0 0 0  1 1 1 material -1 -1 -1\n");
  EXPECT_EQ(text_at(s, "bodies[0].material"),
            R"({"type": "neo_hookean", "E": 100000000, "nu": 0.3, "rho": 3000})");
  EXPECT_EQ(text_at(s, "bodies[1].material.E"), "100000");
}

TEST_F(IpcScripts, InitialVelocitiesTurnAboutTheCentreOfTheBox) {
  const Scene s =
      built("shapes input 1\ninput/tetMeshes/wedge.msh 1 2 3  0 0 50  1 2 1  initVel 1 2 3  40 50 60\n");
  const Matrix3X x = s.model->bodies[0].mesh.points;
  const Vector3 center = bounding_box(x).centre(), omega = radians * Vector3(40, 50, 60);
  for (Index i = 0; i < x.cols(); ++i) {
    const Vector3 expected = Vector3(1, 2, 3) + omega.cross(x.col(i) - center);
    EXPECT_LT((s.model->initial_velocity.col(i) - expected).norm(), 1e-12);
  }
}

/// Where a motion takes points.
Matrix3X moved(const LocatedJson& motion, const Matrix3X& points, double time) {
  return make_motion(described_part<MotionDescription>(motion), bounding_box(points).centre())(points, time);
}

TEST_F(IpcScripts, ScriptedBodiesTurnEachStepAboutTheCentreOfTheBoxOfThatStep) {
  // The triangle's box changes as it turns, so that its centre wanders.
  const SceneFile s = read(
      "shapes input 2\ninput/tetMeshes/bar.msh 0 9 0  0 0 0  1 1 1\n"
      "input/triMeshes/triangle.obj 0 1 0  0 0 0  2 2 2 "
      "angularVelocity 10 90 -30 linearVelocity 0.5 0 1\ntime 3 0.05\n");
  const Matrix3X start = (2 * triangle.points).colwise() + Vector3(0, 1, 0);
  Matrix3X x = start;
  for (int k = 1; k <= 60; ++k) {
    const Vector3 center = bounding_box(x).centre();
    x = ((zyx(0.5, 4.5, -1.5) * (x.colwise() - center)).colwise() + center).colwise() +
        0.05 * Vector3(0.5, 0, 1);
    EXPECT_LT((moved(s.top()["bodies"][1]["motion"], start, 0.05 * k) - x).norm(), 1e-9) << k;
  }
  // A bar is symmetric: a formula is enough.
  const JsonValue bar_scene = scene(
      "shapes input 1\ninput/tetMeshes/bar.msh 0 9 0  0 0 0  1 1 1 angularVelocity 0 0 30 linearVelocity 1 0 "
      "-2\n");
  EXPECT_EQ(
      text_at(bar_scene, "bodies[0].motion"),
      R"({"translate": ["t", 0, "-2*t"], "rotate": {"axis": [0, 0, 1], "angle": "30*t"}, "center": [0, 9, 0]})");
  const JsonValue still =
      scene("shapes input 1\ninput/tetMeshes/bar.msh 0 9 0  0 0 0  1 1 1 linearVelocity 0 0 0\n");
  EXPECT_EQ(text_at(still, "bodies[0].fixed"), R"([{"where": {"all": true}}])");
}

TEST_F(IpcScripts, DirichletBoxesStayBoxesWhileTheyChooseTheSame) {
  const auto where = [&](const std::string& angles) {
    return text_at(scene("shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  " + angles +
                         "  1 1 1 DBC 0.9 0.9 -0.1  1.1 1.2 1.1  0 0 0  0 0 0\n"),
                   "bodies[0].fixed[0].where");
  };
  EXPECT_EQ(where("0 0 0"),
            R"({"box": {"min": [0.9, 0.9, -0.1], "max": [1.1, 1.2, 1.1], "relative": true}})");
  // A quarter turn takes x to y and y to -x.
  EXPECT_EQ(where("0 0 90"),
            R"({"box": {"min": [-0.2, 0.9, -0.1], "max": [0.1, 1.1, 1.1], "relative": true}})");
  EXPECT_TRUE(where("0 0 20").starts_with("{\"indices\": [")) << where("0 0 20");
}

TEST_F(IpcScripts, DirichletConditionsChooseTheSamePointsHoweverTheShapeIsTurned) {
  for (const Vector3& angles :
       {Vector3(0, 0, 0), Vector3(0, 0, 90), Vector3(180, 90, 0), Vector3(0, 20, 0)}) {
    const SceneFile s =
        read(fmt::format("shapes input 1\ninput/tetMeshes/bar.msh 1 0 0  {} {} {}  1 1 1 "
                         "DBC 0.9 -0.1 0.4  1.1 0.6 1.1  0 0 0  0 0 0\n",
                         angles[0], angles[1], angles[2]));
    const Scene model = build_scene(s);
    const LocatedJson where = s.top()["bodies"][0]["fixed"][0]["where"];
    std::vector<Index> expected;
    for (Index i = 0; i < bar.points.cols(); ++i)
      if (bar.points(0, i) >= 0.8 && bar.points(1, i) <= 0.1 && bar.points(2, i) >= -0.1)
        expected.push_back(i);
    EXPECT_EQ(select_points(described_part<SelectionDescription>(where), {model.model->bodies[0].mesh}),
              expected)
        << angles.transpose();
  }
}

TEST_F(IpcScripts, InteriorPointsAreNotHeld) {
  const SceneFile s = read(
      "shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1 "
      "DBC 0 0 0  0.2 1 1  0 0 0  0 0 0\n");  // two layers of cells
  const auto chosen =
      select_points(described_part<SelectionDescription>(s.top()["bodies"][0]["fixed"][0]["where"]), {bar});
  EXPECT_EQ(chosen.size(), 25u + 16u);  // the end, and the rim of the next layer
  for (const Index i : chosen) {
    const Vector3 p = bar.points.col(i).cwiseAbs();
    EXPECT_TRUE(p[0] == 1 || p[1] == 0.5 || p[2] == 0.5) << p.transpose();
  }
}

TEST_F(IpcScripts, DirichletConditionsMoveInTheirTimes) {
  const JsonValue s = scene(
      "shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1 \\\n"
      " DBC 0 0 0  0 1 1  -0.2 0 1  0 0 0  0 2.5 \\\n"
      " DBC 0 0 0  0 1 1  0 0 0  0 0 0  2.5 \\\n"
      " DBC 1 0 0  1 1 1  0 0 0  270 0 0\nDBCTimeRange 1 4\n");
  const std::string left = R"("where": {"box": {"min": [0, 0, 0], "max": [0, 1, 1], "relative": true}})";
  EXPECT_EQ(text_at(s, "bodies[0].fixed[0].motion"), R"({"translate": ["-0.2*t", 0, "t"]})");
  EXPECT_EQ(text_at(s, "bodies[0].fixed[0].from"), "1");
  EXPECT_EQ(text_at(s, "bodies[0].fixed[0].until"), "2.5");
  EXPECT_EQ(text_at(s, "bodies[0].fixed[1]"), "{" + left + R"(, "from": 2.5, "until": 4})");
  EXPECT_EQ(text_at(s, "bodies[0].fixed[2].motion"),
            R"({"rotate": {"axis": [1, 0, 0], "angle": "270*t"}, "center": [1, 0, 0]})");
  EXPECT_EQ(at(s, "bodies[0].fixed[2]").line, 5);
  const std::string clash = message(
      "shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1 \\\n"
      " DBC 0 0 0  0 1 1  -0.2 0 1  0 0 0 \\\n DBC 0 0 0  1 1 1  0 0 0  0 0 0\n");
  EXPECT_NE(clash.find("scene.txt:4: this DBC and the one in line 3 choose 25 points both"),
            std::string::npos)
      << clash;
}

TEST_F(IpcScripts, NeumannConditionsAreBodyForces) {
  const JsonValue s = scene(
      "shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1 \\\n"
      " NBC 0 0 0  0 1 1  -5 0 6  0 1 NBC 1 0 0  1 1 1  7 0 0\n");
  EXPECT_EQ(text_at(s, "bodies[0].loads[0].type"), "\"body_force\"");
  EXPECT_EQ(text_at(s, "bodies[0].loads[0].acceleration"), "[-5, 0, 6]");
  EXPECT_EQ(text_at(s, "bodies[0].loads[0].where.box.min"), "[0, 0, 0]");
  EXPECT_EQ(text_at(s, "bodies[0].loads[0].until"), "1");
  EXPECT_EQ(text_at(s, "bodies[0].loads[1].acceleration"), "[7, 0, 0]");
  EXPECT_EQ(text_at(s, "bodies[0].loads[1].until"), "null");
}

TEST_F(IpcScripts, SequencesOfMeshesAreFollowed) {
  std::filesystem::create_directories(input() / "triMeshes/sequence");
  for (int i = 0; i < 5; ++i) {
    Mesh mesh = triangle;
    mesh.points.row(1).array() += 3 + i;
    write_mesh(input() / fmt::format("triMeshes/sequence/{}.obj", i), mesh);
  }
  const std::string rest = "meshSeq input/triMeshes/sequence\n";
  const JsonValue s = scene(
      "shapes input 2\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/triangle.obj 0 3 0  0 0 0  1 1 1 " +
      rest + "time 0.3 0.1\n");
  EXPECT_EQ(text_at(s, "bodies[1].mesh"), R"({"file": "../triMeshes/sequence/0.obj"})");
  EXPECT_EQ(text_at(s, "bodies[1].transform"), "null");
  EXPECT_EQ(text_at(s, "bodies[1].sequence"),
            R"({"files": "../triMeshes/sequence/{}.obj", "count": 4, "dt": 0.1})");
  EXPECT_NE(message("shapes input 2\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n"
                    "input/triMeshes/triangle.obj 0 9 0  0 0 0  1 1 1 " +
                    rest)
                .find("is not where the shape starts"),
            std::string::npos);
  const JsonValue named = scene(
      "shapes input 2\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n"
      "input/triMeshes/triangle.obj 0 3 0  0 0 0  1 1 1\n"
      "script meshSeqFromFile input/triMeshes/sequence\n");
  EXPECT_EQ(text_at(named, "bodies[1].sequence.count"), "5");
}

// ---- named scripts ------------------------------------------------------------------------------

TEST_F(IpcScripts, NamedScriptsHoldAndMoveParts) {
  struct Case {
    const char *script, *path, *expected;
  };
  // The bar lies between (-1, -0.5, -0.5) and (1, 0.5, 0.5). Steps of 1/64 s: no rounding at the turning
  // points.
  const Case cases[] = {
      {"null", "bodies[0].fixed", "null"},
      {"hang", "bodies[0].fixed[0].motion", "null"},
      {"hang2", "bodies[0].fixed", R"([{"where": {"expression": "y > 0.49"}}])"},
      {"hangTopLeft", "bodies[0].fixed[0].where.expression",
       "\"(x < -0.98 && y > 0.49 && z > 0.49) || (x < -0.98 && y > 0.49 && z < -0.49)\""},
      {"hangLeft", "bodies[0].fixed", R"([{"where": {"expression": "x < -0.98"}}])"},
      {"stamp", "bodies[0].fixed", R"([{"where": {"expression": "x < -0.98"}}])"},
      {"stampTopLeft", "bodies[0].fixed[0].where.expression", R"("x < -0.98 && y > 0.49")"},
      {"stampBoth", "bodies[0].fixed[1].where.expression", R"("x > 0.98")"},
      {"stand", "bodies[0].fixed", R"([{"where": {"expression": "y < -0.49"}}])"},
      {"topbottomfix", "bodies[0].fixed[0].where.expression", R"("y < -0.48")"},
      {"topbottomfix", "bodies[0].fixed[1].where.expression", R"("y > 0.48")"},
      {"corner", "bodies[0].fixed[0].where.expression", R"("x < -0.98 || y < -0.49 || z < -0.49")"},
      {"stretch", "bodies[0].fixed[0].motion", R"({"translate": ["-0.1*t", 0, 0]})"},
      {"stretch", "bodies[0].fixed[1].motion", R"({"translate": ["0.1*t", 0, 0]})"},
      {"squash", "bodies[0].fixed[0].motion", R"({"translate": ["0.03*t", 0, 0]})"},
      {"twist", "bodies[0].fixed[0].where.expression", R"("x < -0.98")"},
      {"twist", "bodies[0].fixed[0].motion",
       R"({"rotate": {"axis": [1, 0, 0], "angle": "-72*t"}, "center": [0, 0, 0]})"},
      {"twist", "bodies[0].fixed[1].motion",
       R"({"rotate": {"axis": [1, 0, 0], "angle": "72*t"}, "center": [0, 0, 0]})"},
      {"twistnstretch", "bodies[0].fixed[1].motion.translate", R"(["0.1*t", 0, 0])"},
      {"twistnstretch", "bodies[0].fixed[1].motion.rotate.angle", R"("18*t")"},
      {"bend", "bodies[0].fixed[0].motion.rotate", R"({"axis": [0, 0, 1], "angle": "-9*t"})"},
      {"bend", "bodies[0].fixed[1].motion.rotate.angle", R"("9*t")"},
      {"push", "bodies[0].fixed[1].motion.keyframes", R"([{"t": 0}, {"t": 0.5, "translate": [0, -0.5, 0]}])"},
      {"tear", "bodies[0].fixed[1].motion.keyframes[1]", R"({"t": 0.8125, "translate": [-4.0625, 0, 0]})"},
      {"tear", "bodies[0].fixed[1].motion.keyframes[2]", R"({"t": 3, "translate": [6.875, 0, 0]})"},
      {"stretchAndPause", "bodies[0].fixed[0].motion", "null"},  // it is beyond the pause from the start
      {"rubberBandPull", "bodies[0].fixed[2].until", "2"},
      {"rubberBandPull", "bodies[0].fixed[2].where.expression", R"("y < 0.02 && y > -0.02")"},
      {"rubberBandPull", "bodies[0].fixed[0].motion.keyframes[1]", R"({"t": 2, "translate": [0, -0.4, 0]})"},
      {"fourLegPull", "bodies[0].fixed[3].motion.translate", R"([0, "-3.5*t", 0])"},
      {"fourLegPull", "bodies[0].fixed[0].until", "null"},
      {"fourLegPull", "bodies[0].fixed[1].until", "1.4375"},  // the first step that begins 5 m down
      {"headTailPull", "bodies[0].fixed[0].until", "1.296875"},
      {"headTailPull", "bodies[0].fixed[2].where.expression", R"("z > -0.04 && z < 0.04")"},
      {"toggleTop", "bodies[0].fixed[0].until", "0.203125"},
      {"fixRightMost1", "bodies[0].fixed[0].motion", "null"},
      {"pushRightMost1", "bodies[0].fixed[0].motion", R"({"translate": ["-0.15*t", 0, 0]})"},
      {"curtain", "bodies[0].fixed[0].motion", R"({"translate": ["0.04*t", 0, 0]})"},
      {"NMFixBottomDragLeft", "bodies[0].loads[0].acceleration", "[-600, 0, 0]"},
      {"NMFixBottomDragLeft", "bodies[0].loads[0].where.expression", R"("y > 0.45")"},
      {"NMFixBottomDragForward", "bodies[0].loads[0].acceleration", "[0, 0, 600]"},
      {"utopiaComparison", "bodies[0].loads[0].acceleration", "[0, -1.5, 0]"},
      {"drop", "bodies[0].velocity", "[0, -1, 0]"},
      {"DCOBallHitWall", "bodies[0].velocity", "[1000, 0, 0]"},
      {"DCOBallHitWall 1 50", "bodies[0].velocity", "[50, 0, 0]"},
      {"fallNoShift", "bodies[0].transform", "null"},
      {"DCOFix", "bodies[0].fixed", "null"},
      {"dragright", "bodies[0].fixed", "null"},  // nothing to pass
  };
  for (const Case& c : cases)
    EXPECT_EQ(text_at(scene(one_bar + "time 3 0.015625\nscript " + c.script + "\n"), c.path), c.expected)
        << c.script;
}

TEST_F(IpcScripts, SomeScriptsLiftTheScene) {
  const auto height = [&](const std::string& name) {
    return number_at(scene(one_bar + "script " + name + "\n"), "bodies[0].transform.translate[1]");
  };
  for (const char* name : {"fall", "dragdown", "dragright"})
    EXPECT_NEAR(height(name), 0.5 * bar_size, 1e-12) << name;
  EXPECT_NEAR(height("swing"), 1.3, 1e-12);
  // Parts are chosen after that.
  EXPECT_EQ(text_at(scene(one_bar + "script dragdown\n"), "bodies[0].fixed[0].motion"),
            R"({"translate": [0, "-1.5*t", 0]})");
}

TEST_F(IpcScripts, ScriptsThatCannotBeCarriedOverSayWhy) {
  for (const char* name : {"scaleF", "stampInv", "standInv", "onepoint", "random", "XYRotate", "slip"}) {
    const std::string what = message(one_bar + "script " + name + "\n");
    EXPECT_NE(what.find(fmt::format("scene.txt:3: script '{}' ", name)), std::string::npos) << what;
  }
}

TEST_F(IpcScripts, ChosenPartsAreThoseOfTheReferenceEvenAtTheEdge) {
  // With ratio 1/8 the limit falls on a layer of points, where rounding decides in the reference; here all or
  // none of the layer are chosen, and the end always is.
  for (const char* size : {"size 0.3", "size 1", "size 7.7"}) {
    const SceneFile s = read(one_bar + "script twist\nhandleRatio 0.125\n" + size + "\n");
    const Scene model = build_scene(s);
    const auto chosen =
        select_points(described_part<SelectionDescription>(s.top()["bodies"][0]["fixed"][0]["where"]),
                      {model.model->bodies[0].mesh});
    EXPECT_TRUE(chosen.size() == 25 || chosen.size() == 50) << size << ": " << chosen.size();
  }
  // Ends are ends of the scene before rotateModel.
  const SceneFile turned = read(one_bar + "script stamp\nrotateModel 0 0 1 30\nsize 1\n");
  const Scene model = build_scene(turned);
  std::vector<Index> expected;
  for (Index i = 0; i < bar.points.cols(); ++i)
    if (bar.points(0, i) == -1) expected.push_back(i);
  EXPECT_EQ(
      select_points(described_part<SelectionDescription>(turned.top()["bodies"][0]["fixed"][0]["where"]),
                    {model.model->bodies[0].mesh}),
      expected);
}

TEST_F(IpcScripts, EndsThatBounceTurnWhereTheReferenceTurns) {
  const struct {
    const char* name;
    double speed, out, in;
    int axis;
    double sign;  // of the left end's first motion
  } scripts[] = {{"twistnsns", 1.2, 1.2, 0.4, 0, -1},
                 {"twistnsns_old", 0.9, 0.8, 0.4, 0, -1},
                 {"stretchnsquash", 0.9, 0.8, 0.4, 0, -1},
                 {"upndown", 1.8, 0.6, 0.6, 1, 1},
                 {"undstamp", 1.8, 0.6, 0.6, 1, 1}};
  for (const auto& c : scripts) {
    const SceneFile s = read(one_bar + "time 7 0.03\nscript " + c.name + "\n");
    const auto ends = s.top()["bodies"][0]["fixed"].items();
    EXPECT_EQ(ends.size(), c.name == std::string("undstamp") ? 1u : 2u);
    double x = c.axis == 0 ? -1 : -0.5, v = c.sign * c.speed;
    const double start = x;
    Index turns = 0;
    for (int k = 0; k < 234; ++k) {
      if (x <= start - c.out || x >= start + c.in) {
        v = -v;
        ++turns;
      }
      x += v * 0.03;
      for (std::size_t e = 0; e < ends.size(); ++e) {
        const Matrix3X end = moved(ends[e]["motion"], bar.points, 0.03 * (k + 1));
        Vector3 shift = Vector3::Zero();
        shift[c.axis] = (e == 0 ? 1 : -1) * (x - start);
        const bool turns_too = std::string_view(c.name).starts_with("twist");
        const Matrix3 rotation = turn(0, turns_too ? (e == 0 ? -72 : 72) * 0.03 * (k + 1) : 0);
        EXPECT_LT((end - ((rotation * bar.points).colwise() + shift)).norm(), 1e-8) << c.name << " " << k;
      }
    }
    EXPECT_GT(turns, 2) << c.name;
  }
}

TEST_F(IpcScripts, ObstaclesMoveAsTheScriptSays) {
  const std::string solid = "input/tetMeshes/bar.msh 0 0 0  0 0 0  0.1 0.1 0.1\n";
  const auto planes = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += fmt::format("input/triMeshes/plane.obj {} {} {}  0 0 {}  1 1 1\n",
                          i == 0   ? -1
                          : i == 1 ? 1
                                   : 0,
                          i == 2   ? -1
                          : i == 3 ? 1
                                   : 0,
                          i == 4   ? -1
                          : i == 5 ? 1
                                   : 0,
                          i < 2 ? 90 : 0);
    return text;
  };
  const std::string time = "time 2 0.015625\n";
  // The first two are 2 m apart, approach with 2 m/s and turn when less than 0.1 m is left.
  const JsonValue squash = scene("shapes input 3\n" + planes(2) + solid + time + "script DCOSquash\n");
  EXPECT_EQ(text_at(squash, "bodies[0].motion.keyframes[1]"),
            R"({"t": 0.953125, "translate": [0.953125, 0, 0]})");
  EXPECT_EQ(text_at(squash, "bodies[1].motion.keyframes[2]"), R"({"t": 2, "translate": [0.09375, 0, 0]})");
  const JsonValue squash6 = scene("shapes input 7\n" + planes(6) + solid + time + "script DCOSquash6\n");
  EXPECT_EQ(text_at(squash6, "bodies[3].motion.keyframes[1]"),
            R"({"t": 0.953125, "translate": [0, -0.953125, 0]})");
  EXPECT_EQ(text_at(squash6, "bodies[4].motion.keyframes[1]"),
            R"({"t": 0.953125, "translate": [0, 0, 0.953125]})");
  EXPECT_EQ(text_at(squash6, "bodies[6].motion"), "null");

  const JsonValue cylinders = scene("shapes input 5\n" + planes(4) + solid + "script DCORotCylinders\n");
  const char* rates[] = {
      R"({"axis": [1, 0, 0], "angle": "90*t"})", R"({"axis": [1, 0, 0], "angle": "-90*t"})",
      R"({"axis": [0, 0, 1], "angle": "-90*t"})", R"({"axis": [0, 0, 1], "angle": "90*t"})"};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(text_at(cylinders, fmt::format("bodies[{}].motion.rotate", i)), rates[i]);
  EXPECT_EQ(text_at(cylinders, "bodies[1].motion.center"), "[1, 0, 0]");
  const JsonValue rollers = scene("shapes input 7\n" + planes(6) + solid + "script DCOVerschoorRoller\n");
  EXPECT_EQ(text_at(rollers, "bodies[0].motion.rotate.axis"), "[0, 0, 1]");
  EXPECT_EQ(text_at(rollers, "bodies[5].motion.rotate.axis"), "[1, 0, 0]");
  const SceneFile rolling = read("shapes input 7\n" + planes(6) + solid + "script DCOVerschoorRoller\n");
  const Matrix3X square = ((turn(2, 90) * plane.points).colwise() + Vector3(-1, 0, 0));
  const Matrix3X turned = (turn(2, -0.4 / radians) * (square.colwise() - Vector3(-1, 0, 0))).colwise() +
                          Vector3(-1, 0, 0);  // -4 rad/s
  EXPECT_LT((moved(rolling.top()["bodies"][0]["motion"], square, 0.1) - turned).norm(), 1e-11);

  // The upper half of all shapes that have no tetrahedra comes down to 0.1 m above the lower.
  const JsonValue bed =
      scene("shapes input 1\n" + solid +
            "shapeMatrix input 3 1 1\ninput/segMeshes/edge.seg 2 1 1  0 0 0  1 1 1\n"
            "shapeMatrix input 3 1 1 0 1 0\ninput/segMeshes/edge.seg 2 1 1  0 0 0  1 1 1\n" +
            time + "script DCOSegBedSquash\n");
  EXPECT_EQ(text_at(bed, "bodies[1].motion"), "null");
  EXPECT_EQ(text_at(bed, "bodies[2].array.counts"), "[3, 1, 1]");
  EXPECT_EQ(text_at(bed, "bodies[2].motion.keyframes[1]"),
            R"({"t": 0.90625, "translate": [0, -0.90625, 0]})");

  const std::string meshes =
      "meshCO input/triMeshes/plane.obj -2 0 0  1 50 0\n"
      "meshCO input/triMeshes/plane.obj 2 0 0  1 50 0\n";
  const JsonValue turning = scene("shapes input 1\n" + solid + meshes + "script MCORotSquash\n");
  EXPECT_EQ(text_at(turning, "bodies[1].motion"),
            R"({"rotate": {"axis": [0, 0, 1], "angle": "180*t"}, "center": [-2, 0.5, 0]})");
  EXPECT_EQ(text_at(turning, "bodies[2].motion.center"), "[2, -0.5, 0]");
  const JsonValue squeezed = scene("shapes input 1\n" + solid + meshes + time + "script MCOSquash\n");
  EXPECT_EQ(text_at(squeezed, "bodies[1].motion.keyframes[1]"),
            R"({"t": 1.265625, "translate": [1.265625, 0, 0]})");

  const JsonValue sheared = scene("shapes input 1\n" + solid +
                                  "halfSpace -1 0 0  1 0 0  50 0.2\nhalfSpace 1 0 0  -1 0 0  50 0.2\n" +
                                  time + "script ACOSquashShear\n");
  EXPECT_EQ(text_at(sheared, "bodies[1].type"), "\"half_space\"");
  EXPECT_EQ(text_at(sheared, "bodies[1].motion.keyframes"),
            R"([{"t": 0}, {"t": 0.609375, "translate": [0.609375, 0, 0]}])");
  EXPECT_EQ(text_at(sheared, "bodies[2].motion.keyframes[2]"),
            R"({"t": 2, "translate": [-0.609375, 1.390625, 0]})");
  EXPECT_EQ(text_at(sheared, "contact.pairs[0].friction_coefficient"), "0.2");
}

TEST_F(IpcScripts, DragRightLetsGoBehindTheObstacle) {
  // The left end starts at -1 and moves with 0.5 m/s; the obstacle ends at x = 0.5.
  const ImportedScene s =
      imported(one_bar + "time 9 0.01\nscript dragright\nmeshCO input/triMeshes/plane.obj 0 -9 0  1 50 0\n");
  EXPECT_EQ(text_at(brief_json(s.scene), "bodies[0].fixed[0].where.expression"), R"("x > 0.92")");
  EXPECT_NEAR(number_at(brief_json(s.scene), "bodies[0].fixed[0].until"), 3.01, 0.011);
  ASSERT_EQ(s.notes.size(), 1u);
  EXPECT_NE(s.notes[0].find("scene.txt:4: script 'dragright' lets go"), std::string::npos) << s.notes[0];
}

TEST_F(IpcScripts, OptionsThatANamedScriptDoesNotReadAreReported) {
  const auto notes = imported(
                         "shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1 initVel 1 0 0 0 0 0\n"
                         "script twist\n")
                         .notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("scene.txt:2: 'initVel' has no effect with script 'twist'"), std::string::npos);
}

TEST_F(IpcScripts, WhatTheKeywordsBecomeCanBeSimulated) {
  std::filesystem::create_directories(input() / "triMeshes/sequence");
  for (int i = 0; i < 3; ++i) {
    Mesh mesh = triangle;
    mesh.points.row(1).array() += 3 + 0.1 * i;
    write_mesh(input() / fmt::format("triMeshes/sequence/{}.obj", i), mesh);
  }
  const std::string shape =
      "shapes input 2\ninput/triMeshes/triangle.obj 0 3 0  0 0 0  1 1 1 meshSeq "
      "input/triMeshes/sequence\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1 ";
  for (const char* options :
       {"NBC 0 0 0  0 1 1  -5 0 6  0.1 0.2", "DBC 0 0 0  0 1 1  -5 0 6  0 90 0  0.1 0.2",
        "DBC 0 0 0  0.2 1 1  0 0 0  10 90 0"})
    EXPECT_NO_THROW(built(shape + options + "\ntime 0.5 0.02\ntimeIntegration NM\ndampingRatio 0.1\n"))
        << options;
  for (const char* name : {"null",
                           "hang",
                           "hang2",
                           "hangTopLeft",
                           "hangLeft",
                           "swing",
                           "stamp",
                           "stampTopLeft",
                           "stampBoth",
                           "undstamp",
                           "stand",
                           "topbottomfix",
                           "fixLowerHalf",
                           "corner",
                           "push",
                           "tear",
                           "upndown",
                           "stretch",
                           "stretchAndPause",
                           "squash",
                           "stretchnsquash",
                           "bend",
                           "twist",
                           "twistnstretch",
                           "twistnsns",
                           "twistnsns_old",
                           "rubberBandPull",
                           "fourLegPull",
                           "headTailPull",
                           "fall",
                           "fallNoShift",
                           "dragdown",
                           "dragright",
                           "toggleTop",
                           "drop",
                           "curtain",
                           "fixRightMost1",
                           "pushRightMost1",
                           "NMFixBottomDragLeft",
                           "NMFixBottomDragForward",
                           "DCOFix",
                           "DCOBallHitWall",
                           "utopiaComparison",
                           "ACOSquash6",
                           "ACOSquashShear",
                           "MCOSquash",
                           "MCORotSquash",
                           "MCORotCylinders"}) {
    std::string text = one_bar + "time 3 0.02\n";
    for (int i = 0; i < 6; ++i) text += fmt::format("halfSpace {} -20 0  0 1 0  1 0\n", 5 * i);
    for (int i = 0; i < 4; ++i)
      text += fmt::format("meshCO input/triMeshes/plane.obj {} -9 0  1 50 0\n", 5 * i);
    EXPECT_NO_THROW(built(text + "script " + name + "\n")) << name;
  }
  const std::string planes =
      "input/triMeshes/plane.obj -5 0 0  0 0 90  1 1 1\n"
      "input/triMeshes/plane.obj 5 0 0  0 0 90  1 1 1\n";
  for (const char* name : {"DCORotCylinders", "DCOSquash", "DCOSquash6", "DCOSegBedSquash", "DCOSqueezeOut",
                           "DCOVerschoorRoller", "DCOHammerWalnut", "DCOCut"})
    EXPECT_NO_THROW(built("shapes input 7\n" + planes + planes + planes +
                          "input/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\nscript " + name + "\n"))
        << name;
}

TEST_F(IpcScripts, DamagedScriptsAreReadOrRefused) {
  const std::string text =
      "shapes input 3\ninput/tetMeshes/bar.msh 0 0 0  10 20 30  1 1 1 DBC 0 0 0  0.1 1 1  1 0 0  0 9 0 1 2 "
      "material "
      "1000 1e5 0.4\ninput/tetMeshes/wedge.msh 0 5 0  0 0 0  1 1 1 initVel 0 1 0  0 90 0 NBC 0 0 0 1 1 1 5 5 "
      "5\n"
      "input/triMeshes/triangle.seg 0 8 0 0 0 0 1 1 1 angularVelocity 3 4 5\nshapeMatrix input 2 1 2\n"
      "input/triMeshes/triangle.pt 5 6 7 0 0 0 1 1 1\ntime 1 0.1\nground 0.3 -4\nhalfSpace 0 1 2 3 4 5 6 7\n"
      "meshCO input/triMeshes/plane.obj 0 0 0  1 50 0.1 rotate 1 2 3\nrotateModel 0 1 0 10\nsize 2\nzoom 1\n"
      "tuning 3\n0 1e-3 1e-4\ntol 1\n1e-3\nscript null\nsection SQP\nx\nsection end\ntimeIntegration NM 0.25 "
      "0.5\n";
  ASSERT_NO_THROW(imported(text));
  std::mt19937 random(20);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const std::string_view words[] = {"-1",     "0",     "1e300", "nan",   "twist",      "stretchnsquash",
                                    "#",      "\\",    "\n",    "input", "DCOSquash6", "99999999999",
                                    "1e-300", "shapes"};
  int refused = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    std::string damaged = text;
    for (std::size_t k = 0; k < 1 + below(3); ++k) {
      const std::size_t from = below(damaged.size());
      if (below(2) == 0) {
        damaged.erase(from, 1 + below(30));
      } else {  // one word for another
        const std::size_t start = damaged.find_first_of(" \n", from);
        if (start == damaged.npos) continue;
        const std::size_t end = std::min(damaged.find_first_of(" \n", start + 1), damaged.size());
        damaged.replace(start + 1, end - start - 1, words[below(std::size(words))]);
      }
    }
    try {
      imported(damaged);
    } catch (const InputError& e) {
      ++refused;
      EXPECT_GT(std::string(e.what()).size(), 10u) << damaged;
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what() << "\n" << damaged;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 1500);
}

TEST_F(IpcScripts, TheScriptItselfAndTheConvertedSceneAreTheSameSimulation) {
  const std::string text =
      "shapes input 2\ninput/tetMeshes/bar.msh 0 0 0  10 20 30  1 1 1\n"
      "input/tetMeshes/wedge.msh 0 5 0  0 0 0  1 1 1 initVel 0 1 0  0 90 0\n"
      "ground 0.3 -4\nrotateModel 0 1 0 10\nsize 2\nzoom 1\n";
  const SceneFile direct = read(text);
  EXPECT_EQ(direct.notes.size(), 1u);
  write_file(input() / "scenes/scene.json", readable_text(scene(text)));
  const SceneFile converted = read_scene(input() / "scenes/scene.json");
  EXPECT_EQ(direct.text(), converted.text());
}

}  // namespace
}  // namespace apart::test
