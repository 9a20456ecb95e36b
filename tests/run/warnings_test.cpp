#include <apart/run/scene_warnings.hpp>

#include <gtest/gtest.h>
#include <support/temporary_directory.hpp>

#include <algorithm>

namespace apart::test {
namespace {

std::vector<std::string> warnings_of(const std::string& bodies, const std::string& rest = "") {
  const Scene scene = build_scene(parse_scene(
      R"({"version": 1, "time": {"dt": 0.01, "steps": 10}, "solver": {"tolerance": 1e-5}, "bodies": [)" +
          bodies + "]" + (rest.empty() ? "" : ", ") + rest + "}",
      "scene.json", "."));
  return warnings(scene, report_bodies(*scene.model));
}

::testing::AssertionResult one_about(const std::vector<std::string>& warnings, const std::string& word) {
  const auto n = std::count_if(warnings.begin(), warnings.end(),
                               [&](const std::string& w) { return w.find(word) != w.npos; });
  if (n == 1) return ::testing::AssertionSuccess();
  std::string all;
  for (const std::string& w : warnings) all += "\n" + w;
  return ::testing::AssertionFailure() << n << " warnings with '" << word << "':" << all;
}

std::string box(const std::string& mesh, const std::string& more = "", const std::string& type = "volume") {
  return R"({"type": ")" + type + R"(", "name": "box", "mesh": {"generator": "box", )" + mesh + "}" +
         (more.empty() ? "" : ", " + more) + "}";
}

TEST(GapHistogram, CountsNoMoreThanAskedForWhateverTheReach) {
  const Scene scene = build_scene(parse_scene(
      R"({"version": 1, "time": {"dt": 0.01, "steps": 1}, "contact": {"dhat": 0.1}, "bodies": [
      {"type": "shell", "mesh": {"generator": "grid", "cells": [12, 12]}},
      {"type": "shell", "mesh": {"generator": "grid", "cells": [12, 12]},
       "transform": {"translate": [0, 0.005, 0]}}]})",
      "scene.json", "."));
  const auto counted = [](const GapHistogram& gaps) {
    std::int64_t sum = 0;
    for (const GapHistogram::Bin& bin : gaps.bins) sum += bin.pairs;
    return sum;
  };
  const GapHistogram all = gap_histogram(*scene.model);
  EXPECT_GT(counted(all), 200'000) << "everything reaches everything";
  EXPECT_GT(all.reach, 0.9);
  const GapHistogram near = gap_histogram(*scene.model, 50'000);
  EXPECT_LE(counted(near), 50'000);
  EXPECT_GT(counted(near), 0);
  EXPECT_LT(near.reach, 0.2);
  EXPECT_EQ(near.smallest, all.smallest);
  EXPECT_EQ(counted(gap_histogram(*scene.model, 10)), 0);
}

TEST(Warnings, SayThatASurfaceOfARigidBodyIsOpen) {
  const auto open = [](const std::string& triangles, const std::string& more = "") {
    const auto warnings = warnings_of(
        R"({"type": "rigid", "name": "b", "mesh": {"points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "triangles": [)" +
        triangles + "]}" + more + "}");
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& w) {
      return w.find("the surface of 'b' is open") != std::string::npos;
    });
  };
  EXPECT_TRUE(open("[0,2,1],[0,1,3],[0,3,2]"));
  EXPECT_FALSE(open("[0,2,1],[0,1,3],[0,3,2],[1,2,3]")) << "closed";
  EXPECT_FALSE(open("[0,2,1],[0,1,3]")) << "a bent sheet";
  EXPECT_FALSE(open("[0,2,1],[0,1,3],[0,3,2]", R"(, "motion": {"translate": ["t", 0, 0]})"))
      << "its mass has no effect";
}

TEST(Warnings, SayThatARigidBodyTurnsTooFarInAStep) {
  const auto spun = [](const std::string& degrees) {
    const auto warnings =
        warnings_of(box(R"("size": 0.2)", R"("angular_velocity": [)" + degrees + ", 0, 0]", "rigid"));
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& w) {
      return w.find("implicit_euler slows such a spin down") != std::string::npos;
    });
  };
  EXPECT_FALSE(spun("1000")) << "10 degrees in a step of 0.01 s";
  EXPECT_TRUE(spun("2000"));
}

TEST(Warnings, AreNotGivenForAnOrdinaryScene) {
  EXPECT_TRUE(warnings_of(box(R"("size": 0.2, "cells": 3)")).empty());
  EXPECT_TRUE(
      warnings_of(R"({"type": "shell", "mesh": {"generator": "grid", "size": [1, 1], "cells": [20, 20]},
      "material": {"type": "neo_hookean", "E": 1e6, "rho": 500, "thickness": 1e-3}})")
          .empty());
}

TEST(Warnings, NameWhatIsSofterThanItsWeight) {
  EXPECT_TRUE(one_about(
      warnings_of(box(R"("size": 0.2, "cells": 3)", R"("material": {"type": "neo_hookean", "E": 0.05})")),
      "sags by more than its size"));
  EXPECT_TRUE(one_about(
      warnings_of(box(R"("size": 0.2, "cells": 3)", R"("material": {"type": "neo_hookean", "E": 0.05})"),
                  R"("gravity": [0, 0, 0])"),
      "softer than any solid"));
  EXPECT_TRUE(one_about(warnings_of(R"({"type": "shell", "mesh": {"generator": "grid", "size": [1, 1]},
      "material": {"type": "neo_hookean", "E": 100, "rho": 500, "thickness": 1e-3}})"),
                        "sags by more than its size"));
  // A thin layer that lies presses with little, the same layer held at one side hangs.
  const std::string layer = R"("size": [2, 0.2, 2], "cells": [6, 3, 6])";
  const std::string soft = R"("material": {"type": "neo_hookean", "E": 5000})";
  EXPECT_TRUE(warnings_of(box(layer, soft)).empty());
  EXPECT_TRUE(
      one_about(warnings_of(box(layer, soft + R"(, "fixed": [{"where": {"expression": "x < -0.9"}}])")),
                "sags by more than its size"));
}

TEST(Warnings, GuessThatAHeavyThingIsInMillimetres) {
  EXPECT_TRUE(one_about(warnings_of(box(R"("size": [20, 10, 15], "cells": 3)",
                                        R"("material": {"type": "neo_hookean", "E": 1e7, "rho": 1200})")),
                        "weighs 3600 t; lengths are in metres"));
}

TEST(Warnings, NameFrictionAboveTwo) {
  const std::string two = box(R"("size": 0.2, "cells": 2)") +
                          R"(, {"type": "half_space", "name": "floor", "origin": [0, -1, 0]})";
  EXPECT_TRUE(warnings_of(two, R"("contact": {"friction_coefficient": 2})").empty());
  EXPECT_TRUE(one_about(
      warnings_of(two,
                  R"("contact": {"pairs": [{"bodies": ["box", "floor"], "friction_coefficient": 2.5}]})"),
      "friction coefficient of 'box' with 'floor' is 2.5"));
}

TEST(Warnings, NamePartsThatAreOneCellThick) {
  EXPECT_TRUE(one_about(warnings_of(box(R"("size": [1, 0.05, 1], "cells": [20, 1, 20])")), "one cell thick"));
  EXPECT_TRUE(one_about(warnings_of(box(R"("size": [1, 0.1, 0.1], "cells": [10, 1, 1])")), "one cell thick"));
  EXPECT_TRUE(warnings_of(box(R"("size": [1, 0.05, 1], "cells": [20, 2, 20])")).empty());
  EXPECT_TRUE(warnings_of(box(R"("size": 0.3, "cells": 1)")).empty()) << "not slender";
}

TEST(Warnings, NameIncompressibleMaterials) {
  EXPECT_TRUE(one_about(warnings_of(box(R"("size": 0.2, "cells": 3)",
                                        R"("material": {"type": "neo_hookean", "E": 1e6, "nu": 0.49})")),
                        "linear tetrahedra lock"));
  EXPECT_TRUE(warnings_of(box(R"("size": 0.2, "cells": 3)",
                              R"("material": {"type": "neo_hookean", "E": 1e6, "nu": 0.45})"))
                  .empty());
}

TEST(Warnings, NameMotionThatJumpsOverTheSmallestBody) {
  const std::string peg =
      R"(, {"type": "obstacle", "name": "peg", "mesh": {"generator": "box", "size": 0.02, "cells": 1},
      "transform": {"translate": [1, 0, 0]}})";
  const auto flying = [&](const std::string& speed) {
    return warnings_of(box(R"("size": 0.2, "cells": 2)", R"("velocity": [)" + speed + ", 0, 0]") + peg);
  };
  EXPECT_TRUE(one_about(flying("10"), "'box' moves 0.1 m in a step of 0.01 s, more than the size of 'peg'"));
  EXPECT_TRUE(flying("1").empty());
  const auto pushed = [&](const std::string& way) {
    return warnings_of(
        box(R"("size": 0.2, "cells": 2)") +
        R"(, {"type": "obstacle", "name": "arm", "mesh": {"generator": "box", "size": [1, 0.1, 0.1], "cells": 2},
        "transform": {"translate": [0, 1, 0]}, "motion": {)" +
        way + "}}");
  };
  EXPECT_TRUE(one_about(pushed(R"("translate": [0, "-200*t*t", 0])"), "'arm' moves 0.38 m in a step"));
  EXPECT_TRUE(pushed(R"("translate": [0, "-t*t", 0])").empty());
  EXPECT_TRUE(one_about(pushed(R"("rotate": {"axis": [0, 1, 0], "angle": "9000*t"})"), "'arm' moves"));
}

TEST(Warnings, SpeakOfAnArrayOnce) {
  EXPECT_TRUE(one_about(warnings_of(box(R"("size": 0.2, "cells": 2)",
                                        R"("material": {"type": "neo_hookean", "E": 0.05},
      "array": {"counts": [20, 1, 1], "spacing": [1, 0, 0]})")),
                        "sags by more than its size"));
}

}  // namespace
}  // namespace apart::test
