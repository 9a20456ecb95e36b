// Scripts of the reference implementation of IPC become scenes that do the same: settings, files and
// messages. Expected numbers are worked out here from what docs/coming-from-ipc.md says, not from the
// importer.
#include <gtest/gtest.h>
#include <importers/ipc_scripts.hpp>

namespace apart::test {
namespace {

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

}  // namespace
}  // namespace apart::test
