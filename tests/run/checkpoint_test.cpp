// Checkpoints hold the meshes that are not those of the scene, and a run goes on with them.
#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/run/checkpoint.hpp>
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>
#include <support/temporary_directory.hpp>

#include <functional>

namespace apart::test {
namespace {

/// A bar of two materials that hangs from its left end and is pulled on the right, sewn to a sheet.
SceneFile scene_file(int cells) {
  return parse_scene(fmt::format(R"({{"version": 1, "time": {{"dt": 0.01, "steps": 4}},
    "contact": {{"dhat": 1e-3, "epsv": 1e-3}}, "solver": {{"tolerance": 1e-3}}, "bodies": [
      {{"type": "volume", "name": "bar", "mesh": {{"generator": "box", "size": [0.4, 0.1, 0.1], "cells": [{0}, 2, 2]}},
        "regions": [{{"where": {{"expression": "x > -0.001"}}, "material": {{"type": "neo_hookean", "E": 1e6}}}}],
        "fixed": [{{"where": {{"expression": "x < -0.199"}}}},
                  {{"where": {{"expression": "x > 0.199"}}, "axes": "z", "from": 0.02}}],
        "loads": [{{"type": "traction", "traction": [100, 0, 0], "where": {{"expression": "x > 0.199"}}}},
                  {{"type": "point_force", "force": [0, 0.1, 0], "where": {{"sphere": {{"center": [0.2, 0.05, 0.05], "radius": 0.001}}}}}}]}},
      {{"type": "shell", "name": "sheet", "mesh": {{"generator": "grid", "size": [0.4, 0.4], "cells": [2, 2]}},
        "material": {{"type": "neo_hookean"}}, "transform": {{"translate": [0, -0.1, 0]}}}},
      {{"type": "affine", "name": "stone", "mesh": {{"generator": "box", "size": 0.1}}, "transform": {{"translate": [0, 1, 0]}}}}],
    "attachments": [{{"bodies": ["sheet", "bar"], "where": {{"indices": [4]}}, "max_distance": 1}}],
    "probes": [{{"name": "hold", "type": "reaction", "body": "bar", "where": {{"expression": "x < -0.199"}}}}]}})",
                                 cells),
                     "scene.json", ".");
}

struct ChangedMesh {
  SceneFile file = scene_file(4);
  Scene scene = build_scene(file), fine = build_scene(scene_file(8));
  std::uint64_t id = fingerprint(file, *scene.model);
  /// The bar of the fine scene in the other one. The spring keeps to the points it had: those stay, and are
  /// found by their place.
  std::shared_ptr<const Model> model = with_shapes(*scene.model, {{0, shape()}}, 3);

  BodyShape shape() const {
    const Body &old = scene.model->bodies[0], &now = fine.model->bodies[0];
    BodyShape result = shape_of(now);
    const PointSet feet = scene.model->attachments[0].other_points;
    std::vector<Index> members;
    for (const Index p : old.sets[feet])
      for (Index q = 0; q < now.mesh.point_count(); ++q)
        if ((now.mesh.points.col(q) - old.mesh.points.col(p)).norm() < 1e-9) members.push_back(q);
    result.sets.replace(SetKind::points, std::size_t(feet.number), members);
    return result;
  }
};

TEST(Checkpoint, OfARunThatKeepsItsMeshesHoldsNone) {
  const TemporaryDirectory directory;
  const ChangedMesh run;
  write_checkpoint(directory / "c", start_state(*run.scene.model), *run.scene.model, run.id);
  const Archive archive = read_archive(directory / "c", checkpoint_mark, checkpoint_format);
  EXPECT_FALSE(archive.integers.contains("topology"));
  for (const auto& [name, matrix] : archive.matrices) EXPECT_FALSE(name.starts_with("mesh")) << name;
  EXPECT_EQ(read_checkpoint(directory / "c", run.scene.model, run.id).model, run.scene.model);
}

TEST(Checkpoint, WithAChangedMeshGoesOnWithTheSameBits) {
  const TemporaryDirectory directory;
  const ChangedMesh run;
  EXPECT_EQ(run.model->topology, 3);
  EXPECT_GT(run.model->node_count(), run.scene.model->node_count());
  Simulation whole(run.model);
  whole.step();
  whole.step();
  write_checkpoint(directory / "c", whole.state(), whole.model(), run.id);
  const ReadCheckpoint read = read_checkpoint(directory / "c", run.scene.model, run.id);
  expect_same_bits(read.state, whole.state());
  EXPECT_EQ(read.model->topology, 3);
  for (std::size_t b = 0; b < run.model->bodies.size(); ++b) {
    EXPECT_EQ(read.model->bodies[b].sets, run.model->bodies[b].sets) << b;
    EXPECT_EQ(read.model->bodies[b].reshaped, b == 0);
    EXPECT_EQ(read.model->bodies[b].mesh.points, run.model->bodies[b].mesh.points);
  }
  EXPECT_EQ(read.model->bodies[0].elastic->material_of, run.model->bodies[0].elastic->material_of);
  Simulation resumed(read.model, read.state);
  for (int k = 0; k < 2; ++k) {
    whole.step();
    resumed.step();
  }
  expect_same_bits(resumed.state(), whole.state());
  EXPECT_EQ(resumed.measure(run.scene.probes[0]), whole.measure(run.scene.probes[0]));
  EXPECT_EQ(resumed.frame().topology, 3);
  // And from there once more.
  write_checkpoint(directory / "again", resumed.state(), resumed.model(), run.id);
  expect_same_bits(read_checkpoint(directory / "again", run.scene.model, run.id).state, whole.state());
}

TEST(Checkpoint, WithAChangedMeshIsTheSimulationOfASceneWithThatMesh) {
  const ChangedMesh run;
  // Where the sheet is sewn to is the only difference: take it out of both.
  const auto without = [](const Model& m) {
    return std::make_shared<const Model>(m.bodies, m.surface.pairs, m.options);
  };
  Simulation changed(without(*run.model)), fine(without(*run.fine.model));
  for (int k = 0; k < 4; ++k) {
    changed.step();
    fine.step();
  }
  expect_same_bits(changed.state(), fine.state());
}

TEST(Checkpoint, OfASceneWithJointsGoesOnWithTheSameBits) {
  const TemporaryDirectory directory;
  const SceneFile file = parse_scene(R"({"version": 1, "time": {"dt": 0.01, "steps": 12}, "bodies": [
      {"type": "rigid", "name": "a", "mesh": {"generator": "box", "size": [0.4, 0.1, 0.1]}},
      {"type": "rigid", "name": "b", "mesh": {"generator": "box", "size": [0.4, 0.1, 0.1]},
       "transform": {"translate": [0.5, 0, 0]}},
      {"type": "rigid", "name": "c", "mesh": {"generator": "box", "size": 0.1}, "transform": {"translate": [2, 0, 0]}}],
    "joints": [
      {"type": "hinge", "bodies": ["a"], "at": [-0.2, 0, 0], "axis": [0, 0, 1], "angle": {"motor": {"velocity": 1000}}},
      {"type": "fixed", "bodies": ["b", "a"], "at": [0.25, 0, 0], "from": 0.03},
      {"type": "ball", "bodies": ["c"], "at": [2, 0.05, 0], "breaking_force": 1}]})",
                                     "scene.json", ".");
  const Scene scene = build_scene(file);
  const std::uint64_t id = fingerprint(file, *scene.model);
  Simulation whole(scene.model);
  for (int step = 0; step < 6; ++step) whole.step();
  EXPECT_EQ(whole.state().joint_broken, VectorX(Vector3(0, 0, 1)));
  write_checkpoint(directory / "c", whole.state(), *scene.model, id);
  ReadCheckpoint read = read_checkpoint(directory / "c", scene.model, id);
  Simulation resumed(scene.model, std::move(read.state));
  for (int step = 0; step < 6; ++step) {
    whole.step();
    resumed.step();
  }
  expect_same_bits(whole.state(), resumed.state());
  State spoilt = whole.state();
  spoilt.joint_forces.conservativeResize(3);
  write_checkpoint(directory / "c", spoilt, *scene.model, id);
  try {
    read_checkpoint(directory / "c", scene.model, id);
    ADD_FAILURE() << "must be refused";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("holds joints that do not fit"), std::string::npos) << e.what();
  }
}

TEST(Checkpoint, WithABadMeshIsRefusedAndNamesTheFile) {
  const TemporaryDirectory directory;
  const ChangedMesh run;
  write_checkpoint(directory / "good", start_state(*run.model), *run.model, run.id);
  const Archive good = read_archive(directory / "good", checkpoint_mark, checkpoint_format);
  read_checkpoint(directory / "good", run.scene.model, run.id);
  const auto refused = [&](const std::string& what, const std::function<void(Archive&)>& spoil) {
    Archive bad = good;
    spoil(bad);
    write_archive(directory / "bad", checkpoint_mark, checkpoint_format, bad);
    try {
      read_checkpoint(directory / "bad", run.scene.model, run.id);
      ADD_FAILURE() << what << " was accepted";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("bad: "), std::string::npos) << e.what();
    }
  };
  for (const auto& [name, vector] : good.vectors) {
    if (!name.starts_with("mesh")) continue;
    refused("missing " + name, [&name = name](Archive& a) { a.vectors.erase(name); });
    if (vector.size() == 0 || name == "mesh 0 cell_substance") continue;
    for (const double value : {-1.0, 0.5, 1e9, 1e300, std::numeric_limits<double>::quiet_NaN()})
      refused(fmt::format("{} in {}", value, name),
              [&, &name = name](Archive& a) { a.vectors[name][0] = value; });
  }
  refused("no rest shape", [](Archive& a) { a.matrices.erase("mesh 0 rest_points"); });
  refused("no mesh", [](Archive& a) { a.matrices.erase("mesh 0 points"); });
  refused("no topology", [](Archive& a) { a.integers.erase("topology"); });
  refused("topology 0", [](Archive& a) { a.integers["topology"] = 0; });
  refused("a huge topology", [](Archive& a) { a.integers["topology"] = std::int64_t(1) << 40; });
  refused("half a cell", [](Archive& a) { a.vectors["mesh 0 tetrahedra"].conservativeResize(7); });
  refused("a substance that is none", [](Archive& a) { a.vectors["mesh 0 cell_substance"][0] = 2; });
  refused("a point far away", [](Archive& a) { a.matrices["mesh 0 points"](0, 0) = 50; });
  refused("texture", [](Archive& a) { a.vectors["mesh 0 texture"] = VectorX::Ones(6); });
  refused("a body that keeps its mesh", [&](Archive& a) {
    for (const auto& [name, matrix] : good.matrices)
      if (name.starts_with("mesh 0 ")) a.matrices["mesh 2 " + name.substr(7)] = matrix;
    for (const auto& [name, vector] : good.vectors)
      if (name.starts_with("mesh 0 ")) a.vectors["mesh 2 " + name.substr(7)] = vector;
  });
  const PointSet feet = run.scene.model->attachments[0].other_points;
  refused("an attachment without its point",
          [&](Archive& a) { a.vectors[fmt::format("mesh 0 set of points {}", feet.number)].resize(0); });
}

}  // namespace
}  // namespace apart::test
