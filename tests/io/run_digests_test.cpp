#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/io/run_digests.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class RunDigestsTest : public ::testing::Test {
 protected:
  RunDigestsTest() {
    fs::create_directories(folder / "frames");
    write_file(folder / "scene.json", "abc");
    write_file(folder / "frames/frame_000000.vtu", "");
  }
  TemporaryDirectory folder;
};

TEST_F(RunDigestsTest, ListsFilesAsTheyAreAddedAndIsTheDigestOfTheList) {
  RunDigests digests(folder.path(), {"scene.json"});
  const std::string before = digests.digest();
  digests.add("frames/frame_000000.vtu");
  EXPECT_NE(digests.digest(), before);
  EXPECT_EQ(digests.digest(), file_digest(folder / digests_name));
  EXPECT_EQ(digests.scene(), sha256("abc"));
  const auto list = read_digests(folder.path());
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].file, "scene.json");
  EXPECT_EQ(list[1].digest, sha256(""));
  EXPECT_EQ(read_file(folder / digests_name), list[0].line() + list[1].line());
  EXPECT_THROW(digests.add("frames/frame_000001.vtu"), InputError) << "there is no such file";
}

TEST_F(RunDigestsTest, GoesOnWithTheDigestsItHasAndMakesThoseItHasNot) {
  RunDigests(folder.path(), {"scene.json", "frames/frame_000000.vtu"});
  const std::string whole = read_file(folder / digests_name);
  // The scene may have other settings of the solver; a frame that was changed stays as it was bound.
  write_file(folder / "frames/frame_000000.vtu", "changed");
  EXPECT_EQ(RunDigests(folder.path(), {"scene.json", "frames/frame_000000.vtu"}).digest(), sha256(whole));
  write_file(folder / "scene.json", "other");
  EXPECT_EQ(RunDigests(folder.path(), {"scene.json"}).scene(), sha256("other"));
  // Killed in the middle of a line.
  write_file(folder / "scene.json", "abc");
  write_file(folder / "frames/frame_000000.vtu", "");
  write_file(folder / digests_name, whole.substr(0, whole.size() - 70));
  EXPECT_EQ(RunDigests(folder.path(), {"scene.json", "frames/frame_000000.vtu"}).digest(), sha256(whole));
}

TEST_F(RunDigestsTest, DamagedListsAreRefusedWithTheLine) {
  EXPECT_NE(message_of([&] { read_digests(folder.path()); }).find("digests.txt"), std::string::npos)
      << "missing";
  const std::string good = sha256("") + "  scene.json\n";
  for (const std::string& bad : {std::string("scene.json\n"), sha256("") + " scene.json\n",
                                 sha256("") + "  \n", "X" + good.substr(1), good.substr(0, 40)}) {
    write_file(folder / digests_name, good + bad);
    EXPECT_NE(
        message_of([&] { read_digests(folder.path()); }).find("digests.txt:2: is not a digest and a file"),
        std::string::npos)
        << bad;
  }
}

}  // namespace
}  // namespace apart::test
