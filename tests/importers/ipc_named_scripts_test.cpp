// Scripts that IPC knows by name hold and move what they do there.
#include <gtest/gtest.h>
#include <importers/ipc_scripts.hpp>

namespace apart::test {
namespace {

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

}  // namespace
}  // namespace apart::test
