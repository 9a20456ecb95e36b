// Scenes made of IPC scripts can be simulated, and damaged scripts are rejected.
#include <gtest/gtest.h>
#include <importers/ipc_scripts.hpp>

namespace apart::test {
namespace {

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
