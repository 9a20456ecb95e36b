// What `apart verify` must not certify: each test spoils the files of a real run in one way. `rebind` then
// makes the digests fit again, so that it is the proof that has to find it, unless the test is about the
// digests.
#include <gtest/gtest.h>
#include <apart/io/atomic_file.hpp>
#include <apart/io/frame.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_digests.hpp>
#include <apart/io/run_frames.hpp>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <functional>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

/// A run directory whose files can be changed one by one.
class SpoiledRun {
 public:
  explicit SpoiledRun(fs::path path) : path_(std::move(path)) {}

  fs::path operator/(const std::string& file) const { return path_ / file; }
  std::vector<fs::path> frames() const { return list_frames(path_); }
  std::vector<fs::path> steps() const { return list_iterates(path_); }

  void each_frame(const std::function<void(Frame&)>& change) const {
    for (const fs::path& file : frames()) this->frame(file, change);
  }
  void frame(const fs::path& file, const std::function<void(Frame&)>& change) const {
    Frame f = read_frame(file);
    change(f);
    write_frame(file, f);
  }
  void step(const fs::path& file, const std::function<void(Iterates&)>& change) const {
    Iterates iterates = read_iterates(file);
    change(iterates);
    write_iterates(path_, iterates);
  }
  /// Digests and summary as if the run had written what is there now.
  void rebind() const {
    std::vector<std::string> files = {"scene.json"};
    for (const fs::path& file : frames()) files.push_back(fs::relative(file, path_).generic_string());
    for (const fs::path& file : steps()) files.push_back(fs::relative(file, path_).generic_string());
    fs::remove(path_ / digests_name);
    const RunDigests digests(path_, files);
    nlohmann::ordered_json summary = nlohmann::ordered_json::parse(read_file(path_ / "summary.json"));
    summary["scene_digest"] = digests.scene();
    summary["run_digest"] = digests.digest();
    write_atomically(path_ / "summary.json", summary.dump(2));
  }

 private:
  fs::path path_;
};

/// Points of a frame that belong to a body.
std::vector<Index> points_of(const Frame& frame, const std::string& body) {
  std::vector<Index> points;
  for (Index i = 0; i < frame.point_body.size(); ++i)
    if (frame.bodies[std::size_t(frame.point_body[i])].name == body) points.push_back(i);
  return points;
}

class Verifies : public ProgramTest {
 protected:
  void scene(const std::string& bodies, const std::string& more = "",
             const std::string& time = R"("steps": 4)") {
    write_file(directory / "scene.json", R"({"version": 1, "gravity": [0, 0, 0], "time": {"dt": 0.01, )" +
                                             time + R"(}, "bodies": [)" + bodies + "]" + more + "}");
  }
  /// Runs the scene; its files are for the test to spoil.
  SpoiledRun run(const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"run", "scene.json", "-o", "out", "--force"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = apart(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const Outcome good = apart({"verify", "out"});
    EXPECT_EQ(good.code, 0) << "before anything is spoiled: " << good.out << good.err;
    return SpoiledRun(directory / "out");
  }
  /// The run as it was, to be spoiled in another way, after `keep`.
  SpoiledRun again() {
    fs::remove_all(directory / "out");
    fs::copy(directory / "kept", directory / "out", fs::copy_options::recursive);
    return SpoiledRun(directory / "out");
  }
  void keep() {
    fs::remove_all(directory / "kept");
    fs::copy(directory / "out", directory / "kept", fs::copy_options::recursive);
  }
  void expect_refused(const std::string& reason) {
    const Outcome outcome = apart({"verify", "out"});
    EXPECT_EQ(outcome.code, 4) << reason << "\n" << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("NOT CERTIFIED"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find(reason), std::string::npos) << "should say: " << reason << "\n" << outcome.out;
  }
  void expect_certified(const std::string& coverage) {
    const Outcome outcome = apart({"verify", "out"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("CERTIFIED (" + coverage), std::string::npos) << outcome.out;
  }
};

const std::string box_mesh = R"("mesh": {"generator": "box", "size": 0.2, "cells": 1})";
const std::string block = R"({"type": "volume", "name": "block", )" + box_mesh + "}";

// ---- coverage -----------------------------------------------------------------------------------

TEST_F(Verifies, WhichStepsTheVerdictCovers) {
  scene(block + R"(, {"type": "volume", "name": "other", )" + box_mesh +
        R"(, "transform": {"translate": [1, 0, 0]},
                     "velocity": [1, 0, 0]})");
  run();
  expect_certified("frames only, 5 of them; paths between them are not proven)");
  const SpoiledRun out = run({"--record-iterates"});
  expect_certified("all 5 frames and the paths of all 4 steps)");
  // The first two steps lose their iterates, and in one of them a body is elsewhere: it may have gone through
  // anything.
  fs::remove(out.steps()[0]);
  fs::remove(out.steps()[0]);
  expect_refused("iterates/step_000001.bin: is missing");
  out.frame(out.frames()[1], [](Frame& f) {
    for (const Index i : points_of(f, "other")) f.mesh.points(0, i) -= 2;
  });
  out.rebind();
  expect_certified("all 5 frames and the paths of 2 of 4 steps; others are not proven)");
  const auto certificate = nlohmann::json::parse(read_file(out / "certificate.json"));
  EXPECT_EQ(certificate["coverage"], "some_paths");
  EXPECT_EQ(certificate["steps"], 4);
  EXPECT_EQ(certificate["steps_with_iterates"], 2);
}

// ---- thickness on paths -------------------------------------------------------------------------

/// One iterate of a step: `body` is `far` from where it was, and back in the next.
void detour(const SpoiledRun& out, const std::string& body, const Vector3& far) {
  const std::vector<Index> points = points_of(read_frame(out.frames()[0]), body);
  out.step(out.steps()[1], [&](Iterates& iterates) {
    Matrix3X away = iterates.points[0];
    for (const Index i : points) away.col(i) += far;
    const Matrix3X before = iterates.points[0];
    iterates.points.insert(iterates.points.begin() + 1, {away, before});
  });
  out.rebind();
}

TEST_F(Verifies, ThatBallsAndThickRodsDoNotPassThroughEachOther) {
  const std::string ball = R"({"type": "particles", "name": "ball", "radius": 0.05, "thickness": 0.1,
    "mesh": {"points": [[0, 0, 0]]}})";
  const std::string others[] = {
      R"({"type": "particles", "name": "other", "radius": 0.05, "thickness": 0.1,
          "mesh": {"points": [[0.3, 0.02, 0]]}})",
      R"({"type": "rod", "name": "other", "material": {"radius": 0.05}, "thickness": 0.1,
          "mesh": {"points": [[0.3, 0.02, -0.5], [0.3, 0.02, 0.5]], "segments": [[0, 1]]}})",
      R"({"type": "shell", "name": "other", "thickness": 0.1, "transform": {"translate": [0.3, 0, 0],
          "rotate": [0, 0, 90]}, "mesh": {"generator": "grid", "size": [0.1, 0.1], "cells": [1, 1]}})"};
  for (const std::string& other : others) {
    scene(ball + ", " + other, R"(, "contact": {"dhat": 0.001})");
    const SpoiledRun out = run({"--record-iterates"});
    // Past it at a distance where nothing touches but the thickness: 20 mm beside a point or a line, and just
    // beyond the edge of the sheet.
    const bool sheet = other.find("shell") != other.npos;
    detour(out, "ball", sheet ? Vector3(0.6, 0.15, 0) : Vector3(0.6, 0, 0));
    expect_refused("come closer than the 0.1 m that thickness keeps");
    // Around it, both ways well clear.
    const SpoiledRun clear = run({"--record-iterates"});
    detour(clear, "ball", Vector3(0, 0.6, 0));
    expect_certified("all 5 frames and the paths of all 4 steps)");
  }
}

// ---- neighbours and collapsed elements ----------------------------------------------------------

TEST_F(Verifies, ThatNeighboursAreNotFoldedOntoEachOtherAndNothingIsCollapsed) {
  // Two triangles with an edge in common, two segments in a row.
  scene(R"({"type": "shell", "name": "sheet", "thickness": 0, "mesh": {
             "points": [[0, 0, 0], [1, 0, 0], [0.3, 0, 1], [0.6, 0, -1]], "triangles": [[0, 1, 2], [1, 0, 3]]}},
           {"type": "rod", "name": "rod", "thickness": 0, "mesh": {
             "points": [[0, 1, 0], [0.5, 1, 0], [1, 1, 0.1]], "segments": [[0, 1], [1, 2]]}})");
  struct Case {
    std::string body;
    int point;
    Vector3 to;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {"sheet", 3, {0.6, 0, 0.7}, "is folded onto its neighbour"},    // partly
      {"sheet", 3, {0.3, 0, 1}, "is folded onto its neighbour"},      // coincident
      {"sheet", 3, {0.375, 0, 0.5}, "is folded onto its neighbour"},  // wholly inside
      {"sheet", 3, {0.25, 0, 0}, "has no area"},                      // on the edge
      {"sheet", 2, {0, 0, 0}, "has no area"},                         // on a corner
      {"rod", 2, {0.25, 1, 0}, "is folded onto its neighbour"},       // back along the rod
      {"rod", 2, {-0.5, 1, 0}, "is folded onto its neighbour"},       // and beyond
      {"rod", 2, {0.5, 1, 0}, "has no length"}};
  run();
  const std::string good = read_file(directory / "out/frames/frame_000002.vtu");
  for (const Case& c : cases) {
    const SpoiledRun out(directory / "out");
    write_file(out.frames()[2], good);
    out.frame(out.frames()[2],
              [&](Frame& f) { f.mesh.points.col(points_of(f, c.body)[std::size_t(c.point)]) = c.to; });
    out.rebind();
    expect_refused(c.reason);
  }
  // Nearly folded is not folded.
  const SpoiledRun out(directory / "out");
  write_file(out.frames()[2], good);
  out.frame(out.frames()[2], [](Frame& f) {
    f.mesh.points.col(points_of(f, "sheet")[3]) = Vector3(0.6, 1e-12, 0.7);
    f.mesh.points.col(points_of(f, "rod")[2]) = Vector3(0.25, 1, 1e-12);
  });
  out.rebind();
  expect_certified("frames only");
}

// ---- which bodies are present -------------------------------------------------------------------

TEST_F(Verifies, WhichBodiesArePresentInFramesAndSteps) {
  scene(block + R"(, {"type": "volume", "name": "guest", )" + box_mesh +
        R"(, "transform": {"translate": [1, 0, 0]}, "appears": 0.015, "disappears": 0.035})");
  run({"--record-iterates"});
  keep();
  const auto spoil = [&](const std::function<void(const SpoiledRun&)>& change, const std::string& reason) {
    const SpoiledRun out = again();
    change(out);
    out.rebind();
    expect_refused(reason);
  };
  const auto nobody_missing = [](Frame& f) { f.absent.clear(); };
  const auto wrong_one = [](Frame& f) { f.absent = {0}; };
  spoil([&](const SpoiledRun& out) { out.frame(out.frames()[1], nobody_missing); },
        "the scene says for step 1: 'guest'");
  spoil([&](const SpoiledRun& out) { out.frame(out.frames()[4], wrong_one); }, "absent: 'block'");
  spoil([&](const SpoiledRun& out) { out.frame(out.frames()[2], wrong_one); },
        "iterates/step_000002.bin: lists as absent: none; frames/frame_000002.vtu lists: "
        "'block'");
  spoil([&](const SpoiledRun& out) { out.step(out.steps()[1], [](Iterates& i) {
                                       i.absent = {0, 1};
                                     }); },
        "the scene says for step 2: none");
  // Both alike, so that only the scene can show it.
  spoil(
      [&](const SpoiledRun& out) {
        out.step(out.steps()[1], [](Iterates& i) { i.absent = {1}; });
        out.frame(out.frames()[2], [](Frame& f) { f.absent = {1}; });
      },
      "frames/frame_000002.vtu: lists as absent: 'guest'; the scene says for step 2: "
      "none");
}

TEST_F(Verifies, ThatBodiesMayAppearAndDisappearWhileNothingMoves) {
  // All states are the same; the bodies present are not.
  scene(block + R"(, {"type": "volume", "name": "guest", )" + box_mesh +
            R"(, "transform": {"translate": [1, 0, 0]}, "appears": 0.015, "disappears": 0.035})",
        R"(, "output": {"every": 3})");
  run({"--record-iterates"});
  expect_certified("all 3 frames and the paths of all 4 steps)");
}

// ---- inside a solid -----------------------------------------------------------------------------

TEST_F(Verifies, ThatNothingIsInsideASolid) {
  // Everything is outside in the run, and moved to the middle of a solid in one frame.
  const std::string big = R"("mesh": {"generator": "box", "size": 1, "cells": 2}})";
  const std::string guests[] = {
      R"({"type": "volume", "name": "guest", )" + box_mesh + R"(, "transform": {"translate": [2, 0, 0]}})",
      R"({"type": "affine", "name": "guest", )" + box_mesh + R"(, "transform": {"translate": [2, 0, 0]}})",
      R"({"type": "particles", "name": "guest", "radius": 0.01, "mesh": {"points": [[2, 0, 0], [2, 1, 0]]}})",
      R"({"type": "rod", "name": "guest", "mesh": {"points": [[2, 0, 0], [2.1, 0, 0.1]], "segments": [[0, 1]]}})",
      R"({"type": "shell", "name": "guest", "mesh": {"generator": "grid", "size": [0.2, 0.2], "cells": [2, 2]},
          "transform": {"translate": [2, 0, 0]}})",
      R"({"type": "obstacle", "name": "guest", )" + box_mesh + R"(, "transform": {"translate": [2, 0, 0]}})"};
  for (const std::string host : {"volume", "affine"})
    for (const std::string& guest : guests) {
      scene(R"({"type": ")" + host + R"(", "name": "host", )" + big + ", " + guest, "", R"("steps": 2)");
      const SpoiledRun out = run();
      out.frame(out.frames()[2], [](Frame& f) {
        for (const Index i : points_of(f, "guest")) f.mesh.points(0, i) -= 2;
      });
      out.rebind();
      expect_refused("of 'guest' is inside the solid 'host'");
    }
}

TEST_F(Verifies, ThatNothingStartsInsideASolidUnlessItIsAllowed) {
  const std::string big = R"("mesh": {"generator": "box", "size": 1, "cells": 2}})";
  const std::string guest = R"({"type": "volume", "name": "guest", )" + box_mesh + "}";
  const std::string ball =
      R"({"type": "particles", "name": "guest", "radius": 0.01, "mesh": {"points": [[0, 0, 0]]}})";
  const auto refused = [&](const std::string& what) {
    for (const char* command : {"check", "run"}) {
      const Outcome outcome =
          apart(std::string(command) == "run" ? std::vector<std::string>{"run", "scene.json", "-o", "no"}
                                              : std::vector<std::string>{"check", "scene.json"});
      EXPECT_EQ(outcome.code, 2) << what << outcome.out << outcome.err;
      for (const char* part :
           {"'guest' is inside the solid 'host'", "contact.allow_nested", "scene.json:1: bodies["})
        EXPECT_NE(outcome.err.find(part), std::string::npos) << what << outcome.err;
    }
  };
  for (const std::string host : {"volume", "affine"})
    for (const std::string& inner : {guest, ball}) {
      scene(R"({"type": ")" + host + R"(", "name": "host", )" + big + ", " + inner);
      refused(host);
    }
  // When it appears, with a solid that comes at the same time.
  scene(R"({"type": "volume", "name": "host", "appears": 0.015, )" + big +
        R"(, {"type": "volume", "name": "guest", "appears": 0.015, )" + box_mesh + "}, " +
        R"({"type": "volume", "name": "third", )" + box_mesh + R"(, "transform": {"translate": [3, 0, 0]}})");
  refused("appears");
  // When it appears inside one that is there and might have moved away: the run says so when it happens.
  scene(R"({"type": "volume", "name": "host", )" + big +
        R"(, {"type": "volume", "name": "guest", "appears": 0.015, )" + box_mesh + "}");
  const Outcome warned = apart({"check", "scene.json"});
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_NE(warned.out.find("warning: 'guest' appears where 'host' is at the start"), std::string::npos)
      << warned.out;
  const Outcome late = apart({"run", "scene.json", "-o", "late"});
  EXPECT_EQ(late.code, 3) << late.out << late.err;
  EXPECT_NE(late.err.find("of 'guest' is inside the solid 'host'"), std::string::npos) << late.err;
  EXPECT_EQ(apart({"verify", "late"}).code, 0) << "up to there";
  // Those who want it.
  scene(R"({"type": "volume", "name": "host", )" + big + ", " + guest,
        R"(, "contact": {"allow_nested": true})");
  const SpoiledRun allowed = run({"--record-iterates"});
  // A claim of the frames alone does not do.
  nlohmann::json text = nlohmann::json::parse(read_file(allowed / "scene.json"));
  text["contact"]["allow_nested"] = false;
  write_file(allowed / "scene.json", text.dump());
  allowed.rebind();
  expect_refused("bodies to lie inside solids");
  scene(R"({"type": "volume", "name": "host", )" + big + ", " + guest,
        R"(, "contact": {"pairs": [{"bodies": ["host", "guest"], "enabled": false}]})");
  run();
}

TEST_F(Verifies, ThatHollowBodiesMayHoldOthers) {
  // A closed obstacle, a closed shell, and a solid with a cavity are containers.
  const std::string inner = R"({"type": "volume", "name": "inner", )" + box_mesh + "}";
  const std::string big = R"("mesh": {"generator": "box", "size": 1, "cells": 3}})";
  for (const std::string kind : {"obstacle", "shell"}) {
    scene(R"({"type": ")" + kind + R"(", "name": "outer", )" + big + ", " + inner);
    run();
  }
  // All cells of a 3 × 3 × 3 block but the middle one, six tetrahedra each.
  nlohmann::json points = nlohmann::json::array(), tetrahedra = nlohmann::json::array();
  const auto point = [](int x, int y, int z) { return x + 4 * (y + 4 * z); };
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x) points.push_back({x - 1.5, y - 1.5, z - 1.5});
  const int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 3; ++x)
        for (const auto& path : paths) {
          if (x == 1 && y == 1 && z == 1) continue;
          int at[3] = {x, y, z};
          nlohmann::json cell = {point(x, y, z)};
          for (const int axis : path) {
            ++at[axis];
            cell.push_back(point(at[0], at[1], at[2]));
          }
          tetrahedra.push_back(cell);
        }
  const nlohmann::json hollow = {
      {"type", "volume"}, {"name", "hollow"}, {"mesh", {{"points", points}, {"tetrahedra", tetrahedra}}}};
  scene(hollow.dump() + ", " + inner);
  run();
  scene(hollow.dump() + R"(, {"type": "volume", "name": "inner", )" + box_mesh +
        R"(, "transform": {"translate": [1, 0, 0]}})");
  EXPECT_EQ(apart({"check", "scene.json"}).code, 2) << "in its wall";
}

// ---- what belongs together ----------------------------------------------------------------------

TEST_F(Verifies, ThatFramesClaimWhatTheSceneSays) {
  scene(
      R"({"type": "particles", "name": "ball", "radius": 0.05, "thickness": 0.1, "mesh": {"points": [[0, 0, 0]]}},
           {"type": "shell", "name": "sheet", "mesh": {"generator": "grid", "size": [0.2, 0.2], "cells": [2, 2]},
            "transform": {"translate": [1, 0, 0]}, "strain_limit": {"upper": 1.05}},
           {"type": "volume", "name": "block", )" +
      box_mesh + R"(, "transform": {"translate": [0, 1, 0]}},
           {"type": "half_space", "name": "floor", "origin": [0, -1, 0]})");
  struct Case {
    std::function<void(Frame&)> change;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {[](Frame& f) { f.thickness[0] = 0; }, "says that 'ball' has a thickness of 0 m, the scene says 0.1 m"},
      {[](Frame& f) { f.thickness.clear(), f.self_reach.clear(); }, "thickness of 0 m, the scene says 0.1 m"},
      {[](Frame& f) { f.self_reach[0] *= 2; }, "another thickness and contact distance"},
      {[](Frame& f) { f.strain_limits[0].limits[0] = 1.5; }, "says that 'sheet' has the strain limits"},
      {[](Frame& f) { f.strain_limits.clear(), f.rest_shape.resize(4, 0); },
       "has no strain limit of 'sheet'"},
      {[](Frame& f) { f.rest_shape *= 0.5; }, "another shape at rest"},
      {[](Frame& f) { f.bodies[0].kind = "obstacle"; },
       "says that 'ball' is of kind obstacle, the scene says particles"},
      {[](Frame& f) { f.bodies[2].kind = "invertible_volume"; },
       "says that 'block' is of kind invertible_volume"},
      {[](Frame& f) { f.bodies[2].name = "brick"; }, "calls body 2 'brick', the scene 'block'"},
      {[](Frame& f) { f.ignored_pairs.emplace_back(0, 2); }, "lets other pairs of bodies overlap"},
      {[](Frame& f) { f.invertible_cells = {0}; }, "lets other tetrahedra invert"},
      {[](Frame& f) { f.allow_nested = true; }, "allows bodies to lie inside solids"},
      {[](Frame& f) { f.half_spaces[0].origin.y() -= 1; }, "has other half-spaces"},
      {[](Frame& f) {
         f.mesh.faces.conservativeResize(3, f.mesh.faces.cols() - 1);
         f.rest_shape.conservativeResize(4, f.rest_shape.cols() - 1);
         f.von_mises.resize(0);
         f.strain.resize(0);
       },
       "has other cells"},
      {[](Frame& f) { f.mesh.points(2, 0) += 0.1; }, "from where the scene has it"}};
  run({"--steps", "1"});
  keep();
  for (const Case& c : cases) {
    const SpoiledRun out = again();
    out.each_frame(c.change);
    out.rebind();
    expect_refused(c.reason);
  }
}

TEST_F(Verifies, ThatFilesAreThoseOfTheRunInTheirOrder) {
  scene(block + R"(, {"type": "volume", "name": "other", )" + box_mesh +
        R"(, "transform": {"translate": [1, 0, 0]},
                     "velocity": [0.1, 0, 0]})");
  run({"--record-iterates"});
  keep();
  const auto spoil = [&](const std::function<void(const SpoiledRun&)>& change, const std::string& reason) {
    const SpoiledRun out = again();
    change(out);
    expect_refused(reason);
  };
  const auto swap_frames = [](const SpoiledRun& out) {
    fs::rename(out / "frames/frame_000001.vtu", out / "aside");
    fs::rename(out / "frames/frame_000002.vtu", out / "frames/frame_000001.vtu");
    fs::rename(out / "aside", out / "frames/frame_000002.vtu");
  };
  spoil([&](const SpoiledRun& out) { fs::remove(out / "scene.json"); }, "scene.json: is missing");
  spoil([&](const SpoiledRun& out) { write_file(out / "scene.json", read_file(out / "scene.json") + " "); },
        "scene.json: has the digest");
  spoil([&](const SpoiledRun& out) { fs::remove(out / "summary.json"); }, "summary.json: is missing");
  spoil([&](const SpoiledRun& out) { fs::remove(out / "digests.txt"); }, "digests.txt");
  spoil([&](const SpoiledRun& out) { write_file(out / "digests.txt", "nothing\n"); },
        "list of digests is damaged");
  spoil([&](const SpoiledRun& out) { out.frame(out.frames()[2], [](Frame& f) { f.velocity *= 2; }); },
        "frames/frame_000002.vtu: is not what the run wrote");
  spoil(
      [&](const SpoiledRun& out) {
        out.step(out.steps()[1], [](Iterates& i) { i.points.insert(i.points.begin(), i.points[0]); });
      },
      "iterates/step_000002.bin: is not what the run wrote");
  spoil([&](const SpoiledRun& out) { fs::remove(out / "iterates/step_000004.bin"); },
        "iterates/step_000004.bin: is missing");
  spoil(swap_frames, "frames/frame_000001.vtu: is not what the run wrote");
  spoil(
      [&](const SpoiledRun& out) {
        fs::copy_file(out / "frames/frame_000001.vtu", out / "frames/frame_000002.vtu",
                      fs::copy_options::overwrite_existing);
      },
      "frames/frame_000002.vtu: is not what the run wrote");
  // The index of frames: one less, one twice.
  const auto edit_index = [](const SpoiledRun& out, const std::string& line, const std::string& instead) {
    std::string index = read_file(out / "frames.pvd");
    const std::size_t at = index.find("    <DataSet timestep=\"" + line);
    ASSERT_NE(at, index.npos);
    index.replace(at, index.find('\n', at) + 1 - at, instead);
    write_file(out / "frames.pvd", index);
  };
  spoil([&](const SpoiledRun& out) { edit_index(out, "0.02", ""); },
        "files were exchanged, repeated or removed");
  spoil([&](const SpoiledRun& out) { edit_index(out, "0.04", ""); },
        "is listed in digests.txt, but not in frames.pvd");
  spoil(
      [&](const SpoiledRun& out) {
        edit_index(out, "0.02", "    <DataSet timestep=\"0.02\" file=\"frames/frame_000001.vtu\"/>\n");
      },
      "is listed in frames.pvd at t = 0.02");
  // With digests that fit, only the order of times and of the scene's frames can show it.
  const auto rebound = [](const std::function<void(const SpoiledRun&)>& change) {
    return [change](const SpoiledRun& out) {
      change(out);
      out.rebind();
    };
  };
  spoil(rebound(swap_frames), "frames were exchanged or repeated");
  spoil(rebound([&](const SpoiledRun& out) { edit_index(out, "0.02", ""); }), "frames are missing or added");
  spoil(rebound([&](const SpoiledRun& out) { edit_index(out, "0.04", ""); }), "summary.json has 4 steps");
  spoil(rebound([&](const SpoiledRun& out) { write_file(out / "scene.json", "{}"); }),
        "cannot be compared with the frames");
}

TEST_F(Verifies, ARunThatWasResumedWithOtherSettingsIsBoundToWhatItHas) {
  scene(block);
  for (const char* kept : {"2", "3"}) {
    ASSERT_EQ(apart({"run", "scene.json", "-o", "out", "--force", "--record-iterates", "--steps", kept,
                     "--set", "output.every=2"})
                  .code,
              0);
    ASSERT_EQ(apart({"run", "--resume", "out", "--set", "solver.max_iterations=50"}).code, 0);
    expect_certified("all 3 frames and the paths of all 4 steps)");
    // The list is one that others can check.
    const Outcome sums = run_program("/bin/sh", {"-c", "sha256sum -c digests.txt"}, directory / "out");
    EXPECT_EQ(sums.code, 0) << sums.out << sums.err;
  }
  // A frame that is changed while the run rests is not taken over.
  ASSERT_EQ(apart({"run", "scene.json", "-o", "out", "--force", "--steps", "2"}).code, 0);
  const SpoiledRun out(directory / "out");
  out.frame(out.frames()[1], [](Frame& f) { f.velocity.array() += 2; });
  ASSERT_EQ(apart({"run", "--resume", "out"}).code, 0);
  expect_refused("frames/frame_000001.vtu: is not what the run wrote");
}

TEST_F(Verifies, TheCertificateSaysWhatWasProvenHowForWhichSceneByWhichVersion) {
  scene(block);
  const SpoiledRun out = run({"--record-iterates"});
  const auto certificate = nlohmann::json::parse(read_file(out / "certificate.json"));
  const auto summary = nlohmann::json::parse(read_file(out / "summary.json"));
  EXPECT_EQ(certificate["version"], summary["version"]);
  EXPECT_EQ(certificate["written_by"], summary["version"]);
  EXPECT_EQ(certificate["scene_digest"], file_digest(out / "scene.json"));
  EXPECT_EQ(certificate["run_digest"], file_digest(out / "digests.txt"));
  EXPECT_EQ(certificate["run_digest"], summary["run_digest"]);
  EXPECT_EQ(certificate["coverage"], "all_paths");
  ASSERT_GE(certificate["proofs"].size(), 6u);
  for (const auto& proof : certificate["proofs"])
    for (const char* key : {"promise", "states", "method"})
      EXPECT_FALSE(proof[key].get<std::string>().empty());
}

// ---- affine bodies ------------------------------------------------------------------------------

TEST_F(Verifies, ThatAffineBodiesAreNeitherMirroredNorFlatNorBent) {
  // A closed surface without tetrahedra.
  scene(R"({"type": "affine", "name": "stone", "mesh": {
             "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.5]],
             "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 4], [3, 1, 4]]}})");
  struct Case {
    std::function<Vector3(const Vector3&)> map;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {[](const Vector3& x) { return Vector3(-x.x(), x.y(), x.z()); }, "is mirrored or flat"},
      {[](const Vector3& x) { return Vector3(x.x(), x.y(), 0); }, "is mirrored or flat"},
      // In a plane that no coordinates lie in exactly.
      {[](const Vector3& x) {
         const Vector3 n = Vector3(1, 2, 3).normalized();
         return Vector3(x - x.dot(n) * n + Vector3(0.1, 0.2, 0.3));
       },
       "is mirrored or flat"},
      {[](const Vector3& x) { return x.minCoeff() > 0.4 ? Vector3(0.4, 0.5, 0.5) : x; },
       "from where its affine body has it"}};
  run();
  const std::string good = read_file(directory / "out/frames/frame_000002.vtu");
  for (const Case& c : cases) {
    const SpoiledRun out(directory / "out");
    write_file(out.frames()[2], good);
    out.frame(out.frames()[2], [&](Frame& f) {
      for (Index i = 0; i < f.mesh.points.cols(); ++i) f.mesh.points.col(i) = c.map(f.mesh.points.col(i));
    });
    out.rebind();
    expect_refused(c.reason);
  }
  // Mirrored on the way from one iterate to the next, and back.
  const SpoiledRun out = run({"--record-iterates"});
  out.step(out.steps()[1], [](Iterates& iterates) {
    Matrix3X mirrored = iterates.points[0];
    mirrored.row(0) *= -1;
    const Matrix3X before = iterates.points[0];
    iterates.points.insert(iterates.points.begin() + 1, {mirrored, before});
  });
  out.rebind();
  expect_refused("the affine body 'stone' is mirrored or flat, or cannot be proven not to be");
}

TEST_F(Verifies, ThatRigidBodiesKeepTheirShapeAndDoNotTunnel) {
  scene(R"({"type": "rigid", "name": "plate", "mesh": {"generator": "grid", "size": [1, 1], "cells": [2, 2]},
            "angular_velocity": [0, 40, 0]},
           {"type": "rigid", "name": "stone", "mesh": {"generator": "box", "size": [0.2, 0.2, 0.2]},
            "transform": {"translate": [0, 0.5, 0]}, "angular_velocity": [400, 100, 300]})");
  run();
  const std::string good = read_file(directory / "out/frames/frame_000002.vtu");
  const std::vector<std::pair<std::function<Vector3(const Vector3&)>, std::string>> cases = {
      {[](const Vector3& x) { return Vector3((1 + 1e-11) * x); }, "is deformed"},
      {[](const Vector3& x) { return Vector3(-x.x(), x.y(), x.z()); }, "the rigid body 'stone' is mirrored"}};
  for (const auto& [map, reason] : cases) {
    const SpoiledRun out(directory / "out");
    write_file(out.frames()[2], good);
    out.frame(out.frames()[2], [&map = map](Frame& f) {
      for (Index i = 0; i < f.mesh.points.cols(); ++i) f.mesh.points.col(i) = map(f.mesh.points.col(i));
    });
    out.rebind();
    expect_refused(reason);
  }
  // The stone passes through the plate and comes back, between two iterates.
  const SpoiledRun out = run({"--record-iterates"});
  out.step(out.steps()[1], [](Iterates& iterates) {
    const Matrix3X before = iterates.points[0];
    Matrix3X below = before;
    for (Index i = 9; i < below.cols(); ++i) below(1, i) -= 1.2;
    iterates.points.insert(iterates.points.begin() + 1, {below, before});
  });
  out.rebind();
  expect_refused("'plate'");
}

TEST_F(Verifies, ThatJointsAreClosed) {
  const auto bar = [](const std::string& name, const std::string& at) {
    return R"({"type": "rigid", "name": ")" + name +
           R"(", "mesh": {"generator": "box", "size": [0.4, 0.1, 0.1]}, "transform": {"translate": )" + at +
           R"(}, "velocity": [0.3, 0.2, 0.5], "angular_velocity": [90, 200, -120]})";
  };
  scene(bar("crank", "[0.2, 0, 0]") + "," + bar("rod", "[0.7, 0, 0]") + "," + bar("slide", "[0, 1, 0]") +
            "," + bar("pin", "[0, 2, 0]") + "," + bar("plug", "[0, 3, 0]") + "," +
            R"({"type": "volume", "name": "jelly", "mesh": {"generator": "box", "size": 0.4, "cells": 1},
                "transform": {"translate": [0, 4.3, 0]}})" +
            "," + bar("late", "[2, 0, 0]"),
        R"(, "joints": [
          {"type": "hinge", "name": "axle", "bodies": ["crank"], "at": [0, 0, 0], "axis": [0, 0, 1],
           "angle": {"motor": {"velocity": 360}}},
          {"type": "ball", "name": "knuckle", "bodies": ["rod", "crank"], "at": [0.45, 0, 0]},
          {"type": "slider", "name": "rail", "bodies": ["slide"], "at": [0, 1, 0], "axis": [1, 0, 0]},
          {"type": "cylinder", "name": "bush", "bodies": ["pin"], "at": [0, 2, 0], "axis": [1, 0, 0]},
          {"type": "fixed", "name": "weld", "bodies": ["plug", "pin"], "at": [0, 2.5, 0]},
          {"type": "ball", "name": "eye", "bodies": ["jelly", "plug"], "at": [0, 4.1, 0]},
          {"type": "hinge", "name": "latch", "bodies": ["late"], "at": [2, 0, 0], "axis": [0, 1, 0], "from": 0.015}])");
  const SpoiledRun out = run();
  expect_certified("frames only");
  EXPECT_NE(read_file(out / "certificate.json").find("\"joints\": 7"), std::string::npos);
  // Each body in turn is moved as a whole, so that only its joints tell; along the rail only the slide may.
  const std::string good = read_file(out.frames()[4]);
  const auto moved = [&](const std::string& body, const Vector3& by) {
    write_file(out.frames()[4], good);
    out.frame(out.frames()[4], [&](Frame& f) {
      for (const Index i : points_of(f, body)) f.mesh.points.col(i) += by;
    });
    out.rebind();
  };
  for (const auto& [body, joint] : std::vector<std::pair<std::string, std::string>>{{"crank", "axle"},
                                                                                    {"rod", "knuckle"},
                                                                                    {"slide", "rail"},
                                                                                    {"pin", "bush"},
                                                                                    {"plug", "weld"},
                                                                                    {"jelly", "eye"},
                                                                                    {"late", "latch"}}) {
    moved(body, {0, 1e-5, 0});
    expect_refused("the joint '" + joint + "' of ");
  }
  moved("slide", {1e-5, 0, 0});
  expect_certified("frames only");
}

TEST_F(Verifies, ThatJointsAreClosedWhereMeshesHaveChanged) {
  // The bar hangs from a joint at points of its own, and is so soft that its mesh changes at once.
  const std::string bodies =
      R"({"type": "volume", "name": "bar", "mesh": {"generator": "box", "size": [0.8, 0.2, 0.2], "cells": [4, 1, 1]},
          "material": {"type": "neo_hookean", "E": 3e4, "nu": 0.4, "rho": 1000},
          "remesh": {"delta_split": 0.001}},
         {"type": "rigid", "name": "weight", "mesh": {"generator": "box", "size": 0.1}, "mass": 5, "velocity": [0, -3, 0],
          "transform": {"translate": [0.4, -0.3, 0]}})";
  scene(bodies, R"(, "joints": [{"type": "ball", "name": "eye", "bodies": ["bar"], "at": [-0.4, 0.1, 0.1]},
                                {"type": "ball", "name": "hook", "bodies": ["weight", "bar"], "at": [0.4, -0.1, 0.1]}])");
  const SpoiledRun out = run({"--record-iterates"});
  expect_certified("all 5 frames and the paths of all 4 steps)");
  const std::string good = read_file(out.frames()[4]);
  ASSERT_GT(read_frame(out.frames()[4]).topology, 0);
  for (const auto& [body, joint] : {std::pair{"weight", "hook"}, std::pair{"bar", "eye"}}) {
    write_file(out.frames()[4], good);
    out.frame(out.frames()[4], [&, b = std::string(body)](Frame& f) {
      for (const Index i : points_of(f, b)) f.mesh.points.col(i) += Vector3(0, 1e-5, 0);
    });
    out.rebind();
    expect_refused("the joint '" + std::string(joint) + "' of ");
  }
}

}  // namespace
}  // namespace apart::test
