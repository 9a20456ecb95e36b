// The commands that show runs: what they print, and how they end.
#include <gtest/gtest.h>
#include <apart/io/frame.hpp>
#include <apart/io/run_frames.hpp>
#include <support/program_test.hpp>

#include <filesystem>
#include <regex>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class Showing : public ProgramTest {
 protected:
  Showing() {
    write_file(directory / "scene.json", R"({
      "version": 1, "time": {"dt": 0.02, "steps": 3},
      "bodies": [{"type": "half_space", "name": "floor"},
                 {"type": "volume", "name": "box", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
                  "transform": {"translate": [0, 0.06, 0]}}]})");
    EXPECT_EQ(apart({"run", "scene.json", "-o", "run"}).code, 0);
  }
};

TEST_F(Showing, ViewPrintsItsAddressAndEndsWithCtrlC) {
  const Outcome outcome = apart({"view", "run", "--no-open"},
                                {[](const std::string& printed) { return printed.ends_with('\n'); }});
  if (outcome.code == 2 && outcome.err.find("without the page") != std::string::npos)
    GTEST_SKIP() << "built without the page of apart view: cmake -D APART_VIEWER=ON build";
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(std::regex_search(outcome.out, std::regex(R"(^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/\n)")))
      << outcome.out;
}

TEST_F(Showing, ViewRefusesWhatIsNoRun) {
  const Outcome outcome = apart({"view", "nowhere", "--no-open"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find(outcome.err.find("without the page") == std::string::npos ? "nowhere" : "page"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(apart({"view"}).code, 64);
  EXPECT_EQ(apart({"view", "run", "--port", "70000"}).code, 64);
}

TEST_F(Showing, RenderMakesPicturesAndFilms) {
  EXPECT_EQ(apart({"render", "run", "-o", "a.png", "--size", "64x48", "--samples", "1"}).code, 0);
  EXPECT_GT(fs::file_size(directory / "a.png"), 200u);
  const Outcome coloured =
      apart({"render", "run", "-o", "b.png", "--size", "64x48", "--samples", "1", "--colour", "speed",
             "--range", "0,1", "--eye", "1,1,1", "--target", "0,0,0"});
  EXPECT_EQ(coloured.code, 0) << coloured.err;
  EXPECT_NE(coloured.out.find("speed from 0 (dark) to 1 (light) m/s"), std::string::npos) << coloured.out;
  const Outcome film = apart({"render", "run", "-o", "film.mp4", "--size", "64x48", "--samples", "1"});
  EXPECT_EQ(film.code, 0) << film.err;
  EXPECT_GT(fs::file_size(directory / "film.mp4"), 500u);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"render", "run", "-o", "a.txt"},
                                                {"render", "run", "-o", "a.mp4", "--frame", "1"},
                                                {"render", "run", "-o", "a.png", "--frame", "9"},
                                                {"render", "run", "-o", "a.png", "--colour", "taste"},
                                                {"render", "run", "-o", "a.png", "--eye", "1e18,0,0"},
                                                {"render", "run", "-o", "a.mp4", "--eye", "1e18,0,0"},
                                                {"render", "nowhere", "-o", "a.png"}})
    EXPECT_EQ(apart(wrong).code, 2) << wrong.back();
}

TEST_F(Showing, PicturesOfAllFramesAreNumbered) {
  EXPECT_EQ(
      apart({"render", "run", "--frame", "all", "-o", "p.png", "--size", "32x24", "--samples", "1"}).code, 0);
  EXPECT_TRUE(fs::exists(directory / "p_000000.png") && fs::exists(directory / "p_000003.png"));
  EXPECT_EQ(apart({"render", "run", "--frame", "all", "-o", "p.png", "--size", "32x24"}).code, 2)
      << "they exist";
  EXPECT_EQ(apart({"render", "run", "--frame", "all", "--fit", "frame", "-o", "q.png"}).code, 2);
  EXPECT_EQ(apart({"render", "run", "--frame", "all", "-o", "q.mp4"}).code, 2);
}

TEST_F(Showing, ExportWritesWhatWasAskedFor) {
  EXPECT_EQ(apart({"export", "run", "--format", "gltf"}).code, 0);
  EXPECT_TRUE(fs::exists(directory / "run.glb"));
  EXPECT_EQ(apart({"export", "run", "--format", "obj", "--first", "1", "--every", "2"}).code, 0);
  EXPECT_EQ(content_of(directory / "run-obj").size(), 2u);
  EXPECT_EQ(apart({"export", "run", "--format", "ply", "--first", "3", "--every", "2147483647"}).code, 0);
  EXPECT_EQ(content_of(directory / "run-ply").size(), 1u);
  const Outcome again = apart({"export", "run", "--format", "obj"});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("run-obj"), std::string::npos) << again.err;
  EXPECT_EQ(apart({"export", "run", "--format", "fbx"}).code, 2);
  EXPECT_EQ(apart({"export", "run", "--format", "usda", "--last", "99"}).code, 2);
  EXPECT_EQ(apart({"export", "run"}).code, 64);
}

TEST_F(Showing, FramesSayHowThickBodiesAreThemselves) {
  write_file(directory / "thin.json", R"({
    "version": 1, "time": {"dt": 0.02, "steps": 1}, "contact": {"thickness": 0},
    "bodies": [
      {"type": "shell", "name": "sheet", "mesh": {"generator": "grid", "size": [1, 1], "cells": [3, 2]},
       "material": {"type": "koiter", "thickness": 0.02}},
      {"type": "rod", "name": "rope",
       "mesh": {"generator": "bundle", "length": 1, "cells": 4, "counts": [1, 1], "spacing": 1},
       "transform": {"translate": [0, 1, 0]}, "material": {"radius": 0.02}, "thickness": 0.001},
      {"type": "particles", "name": "ball", "mesh": {"generator": "points", "counts": [1, 1, 1], "spacing": 1},
       "transform": {"translate": [0, 2, 0]}, "radius": 0.1, "thickness": 0.002},
      {"type": "volume", "name": "box", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
       "transform": {"translate": [0, 3, 0]}}]})");
  const Outcome outcome = apart({"run", "thin.json", "-o", "thin"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const fs::path& file : apart::list_frames(directory / "thin")) {
    const apart::Frame frame = apart::read_frame(file);
    ASSERT_EQ(frame.drawn_thickness.size(), 4u);
    EXPECT_NEAR(frame.drawn_thickness[0], 0.02, 1e-15);
    EXPECT_EQ(frame.drawn_thickness[1], 0.04);
    EXPECT_EQ(frame.drawn_thickness[2], 0.2);
    EXPECT_EQ(frame.drawn_thickness[3], 0);
  }
  for (const fs::path& file : apart::list_frames(directory / "run"))
    EXPECT_TRUE(apart::read_frame(file).drawn_thickness.empty());
}

}  // namespace
}  // namespace apart::test
