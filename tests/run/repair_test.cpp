// What `apart check --fix` leaves as it is.
#include <apart/run/repair.hpp>

#include <gtest/gtest.h>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

// Everything is chosen by faces, to the last digit, which a move takes away from there.
TEST(Repair, ScriptsHoldTheSamePointsAsBefore) {
  const TemporaryDirectory directory;
  write_file(directory / "scene.json", R"({"version": 1, "time": {"steps": 3}, "bodies": [
      {"type": "volume", "name": "a", "mesh": {"generator": "box", "size": 0.2, "cells": 4},
       "fixed": [{"where": {"box": {"min": [-0.1, -1, -1], "max": [-0.1, 1, 1]}}}],
       "regions": [{"where": {"plane": {"origin": [0.05, 0, 0], "normal": [1, 0, 0]}}, "material": {"type": "neo_hookean", "E": 1e6}}],
       "loads": [{"type": "traction", "traction": [0, 1, 0], "where": {"expression": "y >= 0.1 - 1e-9"}},
                 {"type": "pressure", "pressure": 1, "where": {"plane": {"origin": [0.1, 0, 0], "normal": [1, 0, 0]}}},
                 {"type": "body_force", "acceleration": [0, 1, 0], "where": {"sphere": {"center": [0.1, 0, 0], "radius": 0.05}}}]},
      {"type": "volume", "name": "b", "mesh": {"generator": "box", "size": 0.2, "cells": 4},
       "transform": {"translate": [0.198, 0.1, 0.05]}}],
    "attachments": [{"bodies": ["a", "b"], "where": {"plane": {"origin": [0.1, 0, 0], "normal": [1, 0, 0]}},
                     "max_distance": 0.02}],
    "probes": [{"name": "end", "type": "position", "body": "a",
                "where": {"plane": {"origin": [0.1, 0, 0], "normal": [1, 0, 0]}}}]})");
  const SceneFile file = read_scene(directory / "scene.json");
  const Scene before = build_scene(file);
  const Repair repair = repair_start(before, file);
  ASSERT_EQ(repair.moved.size(), 2u);
  write_repaired(directory / "fixed.json", repair, before, file);
  const Scene after = build_scene(read_scene(directory / "fixed.json"));

  const Body &given = before.model->bodies[0], &moved = after.model->bodies[0];
  EXPECT_NE(given.mesh.points, moved.mesh.points);
  ASSERT_EQ(given.scripts.size(), 1u);
  EXPECT_EQ(given.sets[given.scripts[0].points].size(), 25u);
  EXPECT_EQ(moved.sets[moved.scripts[0].points], given.sets[given.scripts[0].points]);
  EXPECT_EQ(moved.elastic->material_of, given.elastic->material_of);
  ASSERT_EQ(given.loads.size(), 2u);
  EXPECT_EQ(loaded_part(given, given.loads[0]).points.size(), 25u);
  for (std::size_t i = 0; i < given.loads.size(); ++i)
    EXPECT_EQ(loaded_part(moved, moved.loads[i]).points, loaded_part(given, given.loads[i]).points) << i;
  EXPECT_EQ(given.sets[given.pressures[0].facets].size(), 32u);
  EXPECT_EQ(moved.sets[moved.pressures[0].facets], given.sets[given.pressures[0].facets]);
  EXPECT_EQ(given.sets[before.probes[0].points[0]].size(), 25u);
  EXPECT_EQ(moved.sets[after.probes[0].points[0]], given.sets[before.probes[0].points[0]]);
  // Points that have moved beyond the reach of an attachment are let go, none is added.
  EXPECT_GT(after.model->attachments[0].springs.size(), 0u);
  EXPECT_LE(after.model->attachments[0].springs.size(), before.model->attachments[0].springs.size());
}

}  // namespace
}  // namespace apart::test
