#include <apart/run/start_check.hpp>

#include <gtest/gtest.h>

namespace apart::test {
namespace {

Scene built(const std::string& bodies, const std::string& contact) {
  return build_scene(parse_scene(
      R"({"version": 1, "time": {"steps": 3}, "bodies": [)" + bodies + R"(], "contact": )" + contact + "}",
      "scene.json", "."));
}

const std::string coarse_box =
    R"({"type": "volume", "name": "box", "mesh": {"generator": "box", "cells": 2}})";

TEST(StartCheck, UsesTheThicknessOfEachPair) {
  const std::string bodies =
      coarse_box + R"(, {"type": "half_space", "name": "near", "origin": [0, -0.51, 0]},
      {"type": "half_space", "name": "far", "origin": [0, 0.6, 0], "normal": [0, -1, 0]})";
  const auto found = [&](const std::string& contact) {
    return check_start(built(bodies, contact)).parts.front().found.gaps.size();
  };
  EXPECT_EQ(found("{}"), 0u);
  EXPECT_EQ(found(R"({"pairs": [{"bodies": ["box", "near"], "thickness": 0.009}]})"), 0u);
  EXPECT_EQ(found(R"({"pairs": [{"bodies": ["box", "near"], "thickness": 0.011}]})"), 9u);
  EXPECT_EQ(found(R"({"pairs": [{"bodies": ["box", "far"], "thickness": 0.09}]})"), 0u);
}

TEST(StartCheck, PairsThatMayOverlapAreLeftOut) {
  const std::string bodies =
      coarse_box +
      R"(, {"type": "volume", "name": "other", "mesh": {"generator": "box", "cells": 2}, "transform": {"translate": [0.3, 0.2, 0.1]}})";
  EXPECT_FALSE(check_start(built(bodies, "{}")).ok());
  EXPECT_TRUE(
      check_start(built(bodies, R"({"pairs": [{"bodies": ["box", "other"], "enabled": false}]})")).ok());
}

}  // namespace
}  // namespace apart::test
