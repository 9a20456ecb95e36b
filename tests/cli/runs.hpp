// The program run in a folder of its own, with a small scene: for tests of runs and of their continuation.
#pragma once

#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart::test {

namespace fs = std::filesystem;

inline Outcome apart_program(const std::vector<std::string>& arguments, const fs::path& directory,
                             const Signal& signal = {}) {
  return run_program(APART_PROGRAM, arguments, directory, signal);
}

inline nlohmann::json summary_of(const fs::path& run) {
  return nlohmann::json::parse(read_file(run / "summary.json"));
}

// Two balls, one on a soft box, with friction: enough for contacts, too small to take time.
inline const std::string small_scene = R"({
  "version": 1,
  "time": {"dt": 0.02, "steps": 12},
  "bodies": [
    {"type": "half_space", "name": "floor"},
    {"type": "volume", "name": "box", "mesh": {"generator": "box", "size": [0.4, 0.1, 0.4], "cells": [3, 1, 3]},
     "transform": {"translate": [0, 0.052, 0]}},
    {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2},
     "transform": {"translate": [0, 0.21, 0]}, "velocity": [0.3, -1, 0]}],
  "contact": {"friction_coefficient": 0.3},
  "output": {"every": 5, "formats": ["obj"]}
})";

class Runs : public ProgramTest {
 protected:
  Runs() { write_file(directory / "scene.json", small_scene); }
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return apart(arguments);
  }
};

}  // namespace apart::test
