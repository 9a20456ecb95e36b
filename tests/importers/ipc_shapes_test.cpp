// Shapes of IPC scripts: where they are placed, and their options.
#include <gtest/gtest.h>
#include <importers/ipc_scripts.hpp>

namespace apart::test {
namespace {

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

}  // namespace
}  // namespace apart::test
