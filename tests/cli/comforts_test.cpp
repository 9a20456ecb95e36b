// What makes the program easy to start with: new scenes, standard input, completion, the manual page.
#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class Comforts : public ProgramTest {
 protected:
  /// A line of a shell, in which $APART is the program.
  Outcome shell(const std::string& line, const std::string& which = "sh") {
    return run_program("/bin/" + which, {"-c", std::string("APART='") + APART_PROGRAM + "'\n" + line},
                       directory.path());
  }
};

TEST_F(Comforts, AScenePassedOnStandardInputRunsQuietly) {
  ASSERT_EQ(apart({"new", "scene.json", "--body", "brick"}).code, 0);
  const Outcome piped = shell("$APART run - --quiet --steps 3 -o piped <scene.json");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, "");
  EXPECT_EQ(piped.err, "");
  const Outcome named = apart({"run", "scene.json", "-q", "--steps", "3", "-o", "named"});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out, "");
  EXPECT_EQ(read_file(directory / "piped/frames/frame_000003.vtu"),
            read_file(directory / "named/frames/frame_000003.vtu"));
  EXPECT_NE(shell("$APART check - <scene.json").out.find("ready to run"), std::string::npos);
}

TEST_F(Comforts, NoSceneOnStandardInputIsReported) {
  const Outcome empty = shell("$APART run - </dev/null");
  EXPECT_EQ(empty.code, 2);
  EXPECT_NE(empty.err.find("standard input: is empty"), std::string::npos) << empty.err;
  const Outcome wrong = shell("echo '{\"version\": 1,' | $APART run -");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("stdin:1"), std::string::npos) << wrong.err;
}

TEST_F(Comforts, EveryNewSceneRuns) {
  for (const std::string body : {"ball", "cloth", "brick", "rope"})
    for (const std::string on : {"ground", "sphere", "nothing"}) {
      const Outcome written = apart({"new", "scene.json", "--body", body, "--on", on, "--force"});
      ASSERT_EQ(written.code, 0) << body << written.err;
      EXPECT_NE(read_file(directory / "scene.json").find("// dt:"), std::string::npos) << "is commented";
      const Outcome run = apart({"run", "scene.json", "--steps", "2", "-q", "--force", "-o", "run"});
      EXPECT_EQ(run.code, 0) << body << run.err;
      EXPECT_EQ(run.err, "") << "no warnings";
      const auto scene = nlohmann::json::parse(read_file(directory / "run/scene.json"));
      EXPECT_EQ(scene["bodies"].size(), on == "ground" ? 2u : on == "sphere" ? 3u : 1u);
    }
}

TEST_F(Comforts, ANewSceneTakesAMeshFromAnyFolder) {
  fs::create_directories(directory / "meshes");
  write_file(directory / "meshes/tent.obj", "v 0 5 0\nv 1 5 0\nv 0 5 1\nv 1 6 1\nf 1 3 2\nf 2 3 4\n");
  const Outcome written = apart({"new", "scenes/tent.json", "--body", "cloth", "--mesh", "meshes/tent.obj",
                                 "--material", "wool", "--time", "0.1", "--friction", "0"});
  EXPECT_EQ(written.code, 2) << "the folder is not made";
  fs::create_directories(directory / "scenes");
  const Outcome again = apart({"new", "scenes/tent.json", "--body", "cloth", "--mesh", "meshes/tent.obj",
                               "--material", "wool", "--time", "0.1", "--friction", "0"});
  ASSERT_EQ(again.code, 0) << again.err;
  const std::string text = read_file(directory / "scenes/tent.json");
  EXPECT_NE(text.find("\"../meshes/tent.obj\""), std::string::npos) << text;
  EXPECT_NE(text.find("1 x 1 x 1 m"), std::string::npos) << text;
  EXPECT_EQ(apart({"run", "scenes/tent.json", "-q", "-o", "run"}).code, 0);
}

TEST_F(Comforts, WhatANewSceneCannotHoldIsReported) {
  const auto expect = [&](const std::vector<std::string>& arguments, int code, const std::string& part) {
    const Outcome outcome = apart(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(directory / "scene.json"));
  };
  expect({"new", "scene.json", "--body", "ball", "--material", "cotton"}, 2, "for a ball it must be one of");
  expect({"new", "scene.json", "--body", "cat"}, 64, "--body");
  expect({"new", "scene.json", "--mesh", "none.obj"}, 2, "none.obj");
  expect({"new", "scene.json", "--time", "-1"}, 64, "--time: got -1, must be a positive number");
  expect({"new", "scene.json", "--friction", "nan"}, 64,
         "--friction: got nan, must be a number, not negative");
  expect({"new", "scene.json", "--dt", "5"}, 2, "--dt 5: is longer than --time 2");
  write_file(directory / "kept.json", "mine");
  EXPECT_EQ(apart({"new", "kept.json", "--body", "brick"}).code, 2);
  EXPECT_EQ(read_file(directory / "kept.json"), "mine");
}

TEST_F(Comforts, OnATerminalANewSceneIsAskedFor) {
  if (!fs::exists("/usr/bin/script")) GTEST_SKIP() << "script(1) was not found: install bsdutils";
  // Wrong answers are asked again; empty ones take what is offered.
  const Outcome asked = shell(
      R"(printf 'asked.json\ncat\ncloth\n\nwolle\nwool\n\n\n0.5\n' | script -qec "$APART new" /dev/null)");
  EXPECT_EQ(asked.code, 0) << asked.out;
  const std::string text = read_file(directory / "asked.json");
  EXPECT_NE(text.find("\"material\": \"wool\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"tend\": 0.5"), std::string::npos) << text;
  EXPECT_NE(asked.out.find("must be one of ball, cloth, brick, rope"), std::string::npos) << asked.out;
}

TEST_F(Comforts, MaterialsAreListedWithValuesAndSources) {
  const Outcome list = apart({"new", "--materials"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("\nsteel: "), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("\n  solids  type neo_hookean, E 2.1e+11, nu 0.3, rho 7850\n"), std::string::npos)
      << list.out;
  EXPECT_NE(list.out.find("\n  source  E and nu: EN 1993-1-1"), std::string::npos) << list.out;
}

TEST_F(Comforts, BashCompletesCommandsOptionsAndExamples) {
  const auto completed = [&](const std::string& words) {
    return shell("source <($APART completion bash)\nCOMP_WORDS=(apart " + words +
                     ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_apart\necho \" ${COMPREPLY[*]} \"",
                 "bash")
        .out;
  };
  EXPECT_EQ(completed("ver"), " verify \n");
  EXPECT_EQ(completed("run --qu"), " --quiet \n");
  EXPECT_EQ(completed("check rigid-tun"), " rigid-tunnel \n");
  EXPECT_EQ(completed("completion z"), " zsh \n");
  write_file(directory / "my-scene.json", "{}");
  EXPECT_EQ(completed("run my-"), " my-scene.json \n");
}

TEST_F(Comforts, TheCompletionForZshIsValid) {
  if (!fs::exists("/bin/zsh")) GTEST_SKIP() << "zsh was not found: install zsh";
  const Outcome checked = shell("$APART completion zsh >_apart && zsh -n _apart");
  EXPECT_EQ(checked.code, 0) << checked.err;
}

TEST_F(Comforts, FishCompletesCommandsOptionsAndExamples) {
  if (!fs::exists("/usr/bin/fish")) GTEST_SKIP() << "fish was not found: install fish";
  const auto completed = [&](const std::string& words) {
    return shell(
               "$APART completion fish >apart.fish && HOME=. /usr/bin/fish -c 'source apart.fish; complete "
               "-C \"apart " +
               words + "\"'")
        .out;
  };
  EXPECT_TRUE(completed("veri").starts_with("verify\tProve")) << completed("veri");
  EXPECT_NE(completed("run --qui").find("--quiet\t"), std::string::npos) << completed("run --qui");
  EXPECT_NE(completed("check rigid-tun").find("rigid-tunnel"), std::string::npos);
  EXPECT_NE(completed("completion f").find("fish"), std::string::npos);
}

TEST_F(Comforts, OtherShellsAreRefused) {
  const Outcome other = apart({"completion", "tcsh"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("must be bash, zsh or fish"), std::string::npos);
}

TEST_F(Comforts, TheManualNamesEveryCommandAndOption) {
  const std::string manual = apart({"manual"}).out;
  const std::string help = apart({"--help"}).out;
  for (const std::string command :
       {"new", "run", "check", "verify", "render", "export", "examples", "convert", "schema", "view", "plot",
        "sweep", "ccd", "completion", "manual"}) {
    EXPECT_NE(help.find("\n  " + command + " "), std::string::npos) << command;
    EXPECT_NE(manual.find(".SS " + command + "\n"), std::string::npos) << command;
  }
  for (const std::string option : {"\\-\\-quiet", "\\-\\-record\\-iterates", "\\-\\-tetrahedralize"})
    EXPECT_EQ(manual.find("\\fB" + option + "\\fR") != std::string::npos, option != "\\-\\-tetrahedralize");
  if (fs::exists("/usr/bin/groff")) {
    const Outcome warned = shell("$APART manual | groff -man -Tutf8 -ww -z");
    EXPECT_EQ(warned.err, "") << "roff has nothing to say";
  }
}

}  // namespace
}  // namespace apart::test
