#include <apart/scene/examples.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/selection.hpp>

#include <gtest/gtest.h>
#include <apart/collision/broad_phase.hpp>
#include <apart/core/diagnostics.hpp>
#include <support/described_part.hpp>
#include <support/temporary_directory.hpp>

#include <numbers>
#include <numeric>
#include <random>

namespace apart::test {
namespace {

SceneFile scene_file(const std::string& bodies, const std::string& rest = "",
                     const std::string& time = R"("steps": 3)") {
  return parse_scene(R"({"version": 1, "time": {)" + time + R"(}, "bodies": [)" + bodies + "]" +
                         (rest.empty() ? "" : ", ") + rest + "}",
                     "scene.json", ".");
}

Scene built(const std::string& bodies, const std::string& rest = "",
            const std::string& time = R"("steps": 3)") {
  return build_scene(scene_file(bodies, rest, time));
}

const std::string box = R"({"type": "volume", "name": "box", "mesh": {"generator": "box", "cells": 2}})";

TEST(SceneFile, TheSceneAsUnderstoodReadAgainIsTheSame) {
  for (const Example& example : examples()) {
    const SceneFile once = parse_scene(example.text, std::string(example.name), ".");
    const SceneFile twice = parse_scene(once.text(), "scene.json", "/somewhere/else");
    EXPECT_EQ(once.text(), twice.text()) << example.name;
    const Scene a = build_scene(once), b = build_scene(twice);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.model->initial_nodes, b.model->initial_nodes) << example.name;
    EXPECT_EQ(a.model->initial_velocity, b.model->initial_velocity) << example.name;
  }
}

TEST(SceneFile, FillsInEveryDefault) {
  const SceneFile file = scene_file(box);
  const LocatedJson top = file.top();
  EXPECT_EQ(top["gravity"].vector(), Vector3(0, -9.81, 0));
  EXPECT_EQ(top["contact"]["dhat"].text(), "auto");
  EXPECT_EQ(top["bodies"][0]["material"]["nu"].number(), 0.4);
  EXPECT_EQ(top["bodies"][0]["transform"]["scale"].number(), 1);
  EXPECT_EQ(top["solver"]["broad_phase"].text(), "bvh");
  EXPECT_EQ(top["name"].text(), "scene");
}

TEST(SceneFile, OverridesChangeWhatTheyName) {
  const std::string text = R"({"version": 1, "time": {"steps": 3}, "bodies": [)" + box + "]}";
  const std::vector<std::string> overrides = {
      "contact.dhat=0.002",         "bodies[0].material.type=fixed_corotated",
      "bodies[box].material.E=3e6", "gravity=[0, 0, -1]",
      "contact.epsv=1e-4 L",        "time.steps=7"};
  const SceneFile file = parse_scene(text, "scene.json", ".", overrides);
  const LocatedJson top = file.top();
  EXPECT_EQ(top["contact"]["dhat"].number(), 0.002);
  EXPECT_EQ(top["bodies"][0]["material"]["type"].text(), "fixed_corotated");
  EXPECT_EQ(top["bodies"][0]["material"]["E"].number(), 3e6);
  EXPECT_EQ(top["gravity"].vector(), Vector3(0, 0, -1));
  EXPECT_EQ(top["contact"]["epsv"].text(), "1e-4 L");
  EXPECT_EQ(top["time"]["steps"].integer(), 7);
}

TEST(SceneFile, ANumberInAPathIsNeverTakenForAName) {
  const std::vector<std::string> change = {"bodies[1].thickness=0.002"};
  const SceneFile file = parse_scene(R"({"version": 1, "time": {"steps": 1}, "bodies": [
      {"type": "volume", "name": "1", "mesh": {"generator": "box"}},
      {"type": "shell", "name": "0", "mesh": {"generator": "grid"}, "transform": {"translate": [0, 3, 0]}}]})",
                                     "scene.json", ".", change);
  EXPECT_EQ(file.top()["bodies"][1]["thickness"].number(), 0.002);
  EXPECT_EQ(unit_of_override(file, change[0]), "m");
  EXPECT_EQ(unit_of_override(file, "bodies[2].thickness=1"), "");
  EXPECT_EQ(unit_of_override(file, "bodies[1x].thickness=1"), "");
}

TEST(SceneFile, RelativePathsStartAtTheSceneFile) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "meshes");
  write_file(directory / "meshes/t.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
  write_file(
      directory / "scene.json",
      R"({"version": 1, "time": {"steps": 1}, "bodies": [{"type": "obstacle", "mesh": {"file": "meshes/t.obj"}}, )" +
          box.substr(0, box.size() - 1) + R"(, "transform": {"translate": [0, 5, 0]}}],
          "probes": [{"type": "position", "name": "p", "body": "box", "where": {"index_file": "meshes/i.txt"}}]})");
  write_file(directory / "meshes/i.txt", "0 1\n");
  const SceneFile file = read_scene(directory / "scene.json");
  EXPECT_EQ(file.top()["bodies"][0]["mesh"]["file"].text(), (directory / "meshes/t.obj").string());
  EXPECT_EQ(file.top()["probes"][0]["where"]["index_file"].text(), (directory / "meshes/i.txt").string());
  const Scene scene = build_scene(file);
  EXPECT_EQ(scene.model->bodies[0].mesh.faces.cols(), 1);
  ASSERT_EQ(scene.probes[0].points.size(), 1u);
  EXPECT_EQ(scene.model->bodies[1].sets[scene.probes[0].points[0]].size(), 2u);
}

TEST(SceneBuilder, LengthsMayBeRelativeToTheScene) {
  const Scene scene = built(
      R"({"type": "volume", "mesh": {"generator": "box", "size": [2, 3, 6]}})",
      R"("contact": {"dhat": "1e-2 L", "epsv": 0.5, "thickness": "1e-9L"}, "solver": {"tolerance": "2 L"})");
  EXPECT_DOUBLE_EQ(scene.model->size, 7);
  EXPECT_DOUBLE_EQ(scene.model->surface.pairs(0, 0).dhat, 0.07);
  EXPECT_DOUBLE_EQ(scene.model->surface.pairs(0, 0).thickness, 7e-9);
  EXPECT_DOUBLE_EQ(scene.model->surface.pairs(0, 0).epsv, 0.5);
  EXPECT_DOUBLE_EQ(scene.model->options.solver.tolerance, 14);
}

TEST(SceneBuilder, HowPairsAreSearchedFollowsTheScene) {
  const auto solver = [](const std::vector<std::string>& overrides) {
    const std::string text = R"({"version": 1, "time": {"steps": 3}, "bodies": [)" + box + "]}";
    return build_scene(parse_scene(text, "scene.json", ".", overrides)).model->options.solver;
  };
  EXPECT_EQ(solver({}).ccd_culling, CcdCulling::near_first);
  EXPECT_TRUE(solver({}).candidate_reuse);
  EXPECT_EQ(solver({"solver.ccd_culling=cfl"}).ccd_culling, CcdCulling::cfl);
  EXPECT_EQ(solver({"solver.ccd_culling=none"}).ccd_culling, CcdCulling::none);
  EXPECT_FALSE(solver({"solver.candidate_reuse=false"}).candidate_reuse);
  for (const BroadPhaseMethod& method : broad_phase_methods())
    EXPECT_EQ(solver({"solver.broad_phase=" + std::string(method.name)}).broad_phase, method.name);
}

TEST(SceneBuilder, ScalesThenTurnsThenMoves) {
  const Scene scene = built(
      R"({"type": "volume", "mesh": {"points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "tetrahedra": [[0,1,2,3]]},
                                "transform": {"scale": [2, 1, 1], "rotate": [0, 0, 90], "translate": [10, 0, 0]}})");
  const Matrix3X& x = scene.model->bodies[0].mesh.points;
  EXPECT_EQ(x.col(0), Vector3(10, 0, 0));
  EXPECT_EQ(x.col(1), Vector3(10, 2, 0));
  EXPECT_EQ(x.col(2), Vector3(9, 0, 0));
}

TEST(SceneBuilder, TetrahedraMayComeInsideOut) {
  const Scene scene = built(
      R"({"type": "volume", "mesh": {"points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[9,9,9]], "tetrahedra": [[1,0,2,3]]}})");
  EXPECT_EQ(scene.model->bodies[0].mesh.point_count(), 4);  // a point of no cell is left out
  EXPECT_GT(scene.model->bodies[0].elastic->volume[0], 0);
}

TEST(SceneBuilder, StepsFollowFromTimeWithoutRoundingErrors) {
  EXPECT_EQ(built(box, "", R"("dt": 0.01, "tend": 2)").steps, 200);
  EXPECT_EQ(built(box, "", R"("dt": 0.01, "tend": 0.07)").steps, 7);
  EXPECT_EQ(built(box, "", R"("dt": 0.1, "tend": 0.25)").steps, 3);
  EXPECT_EQ(built(box, "", R"("dt": 0.1, "tend": 0.01)").steps, 1);
}

TEST(SceneBuilder, AngularVelocityIsInDegrees) {
  const Scene scene = built(
      R"({"type": "volume", "mesh": {"generator": "box", "cells": 2}, "velocity": [1, 0, 0], "angular_velocity": [0, 180, 0]})");
  const Body& body = scene.model->bodies[0];
  for (Index i = 0; i < body.node_count(); ++i) {
    const Vector3 expected = Vector3(1, 0, 0) + Vector3(0, std::numbers::pi, 0).cross(body.nodes.col(i));
    EXPECT_LT((body.velocity.col(i) - expected).norm(), 1e-12);
  }
}

TEST(SceneBuilder, FrictionOfAPairIsItsOwnOrTheMeanOfItsBodies) {
  const std::string bodies =
      R"({"type": "volume", "name": "a", "mesh": {"generator": "box"}, "friction_coefficient": 0.8},
      {"type": "volume", "name": "b", "mesh": {"generator": "box"}, "transform": {"translate": [3, 0, 0]}},
      {"type": "half_space", "name": "c", "origin": [0, -5, 0]})";
  const Scene scene = built(
      bodies,
      R"("contact": {"friction_coefficient": 0.2, "pairs": [{"bodies": ["c", "b"], "friction_coefficient": 0.9}]})");
  const PairTable& pairs = scene.model->surface.pairs;
  EXPECT_DOUBLE_EQ(pairs(0, 0).friction, 0.8);
  EXPECT_DOUBLE_EQ(pairs(0, 1).friction, 0.5);
  EXPECT_DOUBLE_EQ(pairs(1, 1).friction, 0.2);
  EXPECT_DOUBLE_EQ(pairs(1, 2).friction, 0.9);
  EXPECT_DOUBLE_EQ(pairs(2, 1).friction, 0.9);
}

TEST(SceneBuilder, ProbesOfTwoBodiesTakeAllOthersForAStar) {
  const std::string bodies =
      R"({"type": "volume", "name": "a", "mesh": {"generator": "box"}, "array": {"counts": [2, 1, 1], "spacing": [3, 0, 0]}},
      {"type": "volume", "name": "b", "mesh": {"generator": "box"}, "transform": {"translate": [0, 0, 3]}},
      {"type": "half_space", "name": "c", "origin": [0, -5, 0]})";
  const auto probed = [&](const std::string& names) {
    return built(bodies, R"("probes": [{"name": "p", "type": "contact", "bodies": )" + names + "}]")
        .probes[0];
  };
  EXPECT_EQ(probed(R"(["c", "*"])").bodies, (std::vector{3}));
  EXPECT_EQ(probed(R"(["c", "*"])").others, (std::vector{0, 1, 2}));
  EXPECT_EQ(probed(R"(["*", "a"])").bodies, (std::vector{2, 3}));
  EXPECT_EQ(probed(R"(["*", "a"])").others, (std::vector{0, 1}));
  EXPECT_THROW(probed(R"(["*", "*"])"), InputError);
  EXPECT_THROW(probed(R"(["a", "a.0"])"), InputError);
}

TEST(SceneBuilder, PairsNameBodiesCopiesOrAll) {
  const std::string bodies =
      R"({"type": "volume", "name": "a", "mesh": {"generator": "box", "cells": 1}, "array": {"counts": [2, 1, 1], "spacing": [3, 0, 0]}},
      {"type": "affine", "name": "b", "mesh": {"generator": "box", "cells": 1}, "transform": {"translate": [0, 0, 3]}},
      {"type": "obstacle", "name": "o", "mesh": {"generator": "box", "cells": 1}, "transform": {"translate": [0, 0, 6]}},
      {"type": "half_space", "name": "h", "origin": [0, -5, 0]})";
  const Scene scene = built(
      bodies,
      R"("contact": {"pairs": [{"bodies": ["a", "a"], "dhat": 0.01}, {"bodies": ["a.1", "*"], "thickness": 0.002}, {"bodies": ["b", "a"], "enabled": false}]})");
  const PairTable& pairs = scene.model->surface.pairs;
  ASSERT_EQ(pairs.body_count(), 5);
  EXPECT_EQ(scene.model->bodies[1].name, "a.1");
  EXPECT_EQ(scene.model->bodies[1].nodes(0, 0) - scene.model->bodies[0].nodes(0, 0), 3);
  for (const auto& [i, j] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 1)})
    EXPECT_EQ(pairs(i, j).dhat, 0.01);
  EXPECT_NE(pairs(0, 4).dhat, 0.01);
  EXPECT_EQ(pairs(1, 4).thickness, 0.002);
  EXPECT_EQ(pairs(0, 4).thickness, 0);
  EXPECT_FALSE(pairs(2, 0).enabled);
  EXPECT_FALSE(pairs(2, 1).enabled);
  EXPECT_TRUE(pairs(0, 3).enabled);
  // What cannot be pushed apart is switched off: a stiff body with itself, obstacles among each other.
  EXPECT_FALSE(pairs(2, 2).enabled);
  EXPECT_FALSE(pairs(3, 3).enabled);
  EXPECT_FALSE(pairs(3, 4).enabled);
}

TEST(SceneBuilder, RulesOfPairsApplyInTheirOrder) {
  const std::vector<std::string> names = {"a", "a.0", "a.1", "a.2", "b", "b.0", "b.1", "c", "o", "*"};
  const std::vector<std::vector<int>> meant = {{0, 1, 2}, {0}, {1}, {2}, {3, 4},
                                               {3},       {4}, {5}, {6}, {0, 1, 2, 3, 4, 5, 6}};
  const std::string bodies =
      R"({"type": "volume", "name": "a", "mesh": {"generator": "box", "cells": 1}, "array": {"counts": [3, 1, 1], "spacing": [3, 0, 0]}},
      {"type": "affine", "name": "b", "mesh": {"generator": "box", "cells": 1}, "thickness": 0.004, "transform": {"translate": [0, 0, 3]}, "array": {"counts": [2, 1, 1], "spacing": [3, 0, 0]}},
      {"type": "volume", "name": "c", "mesh": {"generator": "box", "cells": 1}, "friction_coefficient": 0.8, "transform": {"translate": [0, 0, 9]}},
      {"type": "obstacle", "name": "o", "mesh": {"generator": "box", "cells": 1}, "transform": {"translate": [0, 0, 6]}})";
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (int trial = 0; trial < 20; ++trial) {
    PairSettings dense[7][7];
    const double thickness[7] = {0, 0, 0, 0.004, 0.004, 0, 0},
                 friction[7] = {0.2, 0.2, 0.2, 0.2, 0.2, 0.8, 0.2};
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 7; ++j)
        dense[i][j] = {.friction = 0.5 * (friction[i] + friction[j]),
                       .dhat = 0.01,
                       .thickness = 0.5 * (thickness[i] + thickness[j])};
    std::string rules;
    for (std::size_t r = 0, n = below(6); r < n; ++r) {
      const std::size_t p = below(names.size()), q = below(names.size()), what = below(4);
      const double value = 0.001 * double(1 + below(9));
      const char* keys[] = {"\"enabled\": false", "\"dhat\": {}", "\"thickness\": {}",
                            "\"friction_coefficient\": {}"};
      rules +=
          fmt::format("{}{{\"bodies\": [\"{}\", \"{}\"], ", rules.empty() ? "" : ", ", names[p], names[q]) +
          fmt::format(fmt::runtime(keys[what]), value) + "}";
      for (const int i : meant[p])
        for (const int j : meant[q])
          for (PairSettings* s : {&dense[i][j], &dense[j][i]}) {
            s->enabled = what != 0;
            if (what == 1) s->dhat = value;
            if (what == 2) s->thickness = value;
            if (what == 3) s->friction = value;
          }
    }
    dense[3][3].enabled = dense[4][4].enabled = dense[6][6].enabled = false;
    const Scene scene =
        built(bodies, R"("contact": {"friction_coefficient": 0.2, "dhat": 0.01, "pairs": [)" + rules + "]}");
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 7; ++j) {
        const PairSettings& s = scene.model->surface.pairs(i, j);
        ASSERT_EQ(s.enabled, dense[i][j].enabled) << i << " " << j << "\n" << rules;
        EXPECT_EQ(s.dhat, dense[i][j].dhat) << i << " " << j << "\n" << rules;
        EXPECT_EQ(s.thickness, dense[i][j].thickness) << i << " " << j << "\n" << rules;
        EXPECT_EQ(s.friction, dense[i][j].friction) << i << " " << j << "\n" << rules;
      }
  }
}

TEST(SceneBuilder, ThousandsOfBodiesWithRulesOfTheirOwnAreNoTrouble) {
  constexpr int n = 3000;
  std::string rules;
  for (int i = 0; i + 1 < n; ++i)
    rules +=
        fmt::format("{}{{\"bodies\": [\"a.{}\", \"a.{}\"], \"enabled\": false}}", i > 0 ? "," : "", i, i + 1);
  rules += R"(,{"bodies": ["*", "a"], "dhat": 0.02}, {"bodies": ["*", "a.7"], "friction_coefficient": 0.5})";
  const double begin = process_cpu_seconds();
  const Scene scene = built(
      fmt::format(
          R"({{"type": "affine", "name": "a", "mesh": {{"generator": "box", "cells": 1}}, "array": {{"counts": [{}, 1, 1], "spacing": [3, 0, 0]}}}})",
          n),
      R"("contact": {"dhat": 0.01, "pairs": [)" + rules + "]}");
  EXPECT_LT(process_cpu_seconds() - begin, 5.0);
  const PairTable& pairs = scene.model->surface.pairs;
  EXPECT_LT(pairs.class_count(), 10);
  EXPECT_TRUE(pairs(100, 101).enabled)
      << "enabled is true unless a rule says otherwise; the last one does not";
  EXPECT_EQ(pairs(100, 101).dhat, 0.02);
  EXPECT_EQ(pairs(100, 200).dhat, 0.02);
  EXPECT_EQ(pairs(7, 8).friction, 0.5);
  EXPECT_EQ(pairs(6, 7).friction, 0.5);
  EXPECT_EQ(pairs(8, 9).friction, pairs(100, 200).friction);
  EXPECT_FALSE(pairs(7, 7).enabled);
}

TEST(SceneBuilder, FixedPartsAreScriptedPerAxisAndOnce) {
  const Scene scene = built(R"({"type": "volume", "mesh": {"generator": "box", "cells": 2}, "fixed": [
      {"where": {"expression": "x < -0.4"}, "axes": "xy"},
      {"where": {"expression": "y < -0.4"}, "axes": "yz"}]})");
  const Body& body = scene.model->bodies[0];
  Eigen::Array3Xi count = Eigen::Array3Xi::Zero(3, body.node_count());
  for (const ScriptedPart& part : scripted_parts(body))
    for (const Index node : part.nodes)
      for (int k = 0; k < 3; ++k) count(k, node) += part.axes[std::size_t(k)];
  for (Index i = 0; i < body.node_count(); ++i) {
    const bool left = body.nodes(0, i) < -0.4, low = body.nodes(1, i) < -0.4;
    EXPECT_EQ(count(0, i), left);
    EXPECT_EQ(count(1, i), left || low);  // given twice by the same motion counts once
    EXPECT_EQ(count(2, i), low);
  }
}

TEST(SceneBuilder, AClosedSurfaceBecomesAVolumeOnRequest) {
  const TemporaryDirectory directory;
  write_file(directory / "t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string file = (directory / "t.obj").string();
  for (const char* how : {"true", R"({"max_volume": 0.01})"}) {
    const Scene scene =
        built(R"({"type": "volume", "mesh": {"file": ")" + file + R"(", "tetrahedralize": )" + how + "}}");
    EXPECT_NEAR(scene.model->bodies[0].elastic->volume.sum(), 1.0 / 6, 1e-12);
  }
  const Scene affine = built(R"({"type": "affine", "mesh": {"file": ")" + file + R"("}})");
  EXPECT_NEAR(total_mass(affine.model->bodies[0]), 1000.0 / 6, 1e-9);
}

TEST(Selection, ChoosesWhatItSays) {
  Mesh mesh;
  mesh.points.resize(3, 27);
  for (int i = 0; i < 27; ++i) mesh.points.col(i) << i % 3, i / 3 % 3, i / 9;
  mesh.points.row(0).array() += 10;  // x from 10 to 12
  mesh.groups["skin"] = {{3, 5, 8, 26}, {}, {}};
  const auto count = [&](const std::string& text) {
    return select_points(described_part<SelectionDescription>(text), {mesh}).size();
  };
  EXPECT_EQ(count(R"({"all": true})"), 27u);
  EXPECT_EQ(count(R"({"box": {"min": [10, 0, 0], "max": [10, 2, 2]}})"), 9u);
  EXPECT_EQ(count(R"({"box": {"min": [0, 0, 0], "max": [0.5, 0.5, 1], "relative": true}})"), 12u);
  EXPECT_EQ(count(R"({"sphere": {"center": [11, 1, 1], "radius": 1}})"), 7u);
  EXPECT_EQ(count(R"({"plane": {"origin": [0, 1, 0], "normal": [0, 5, 0]}})"), 18u);
  EXPECT_EQ(count(R"({"indices": [3, 1, 3]})"), 2u);
  EXPECT_EQ(count(R"({"indices": [3, 1, 3], "of": 27})"), 2u);
  EXPECT_EQ(count(R"({"group": "skin"})"), 4u);
  EXPECT_EQ(count(R"({"expression": "x > 10.5 && y + z == 0"})"), 2u);
  const TemporaryDirectory directory;
  write_file(directory / "i.txt", "0 5\n7\n");
  EXPECT_EQ(count(R"({"index_file": ")" + (directory / "i.txt").string() + "\"}"), 3u);
}

}  // namespace
}  // namespace apart::test
