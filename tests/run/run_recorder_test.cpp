// What is written of a run is the same, in the same order, whether it is written beside the simulation or
// not; nothing that could not be written is passed over.
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/run/run_recorder.hpp>

#include <gtest/gtest.h>
#include <support/frame_builder.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

class RunRecorderTest : public ::testing::TestWithParam<int> {
 protected:
  RunRecorderTest() {
    set_thread_count(GetParam());
    write_file(directory / "scene.json", "{}");
    frames.add({"below", "volume"}, generate::box({1, 1, 1}, {1, 1, 1}));
    frames.add({"above", "volume"}, generate::box({1, 1, 1}, {1, 1, 1}), Vector3(0, 1.5, 0));
  }
  ~RunRecorderTest() override { set_thread_count(1); }

  /// The body above has moved down by so much.
  Frame frame(double time, double down) const {
    Frame result = frames.frame;
    result.time = time;
    result.mesh.points.rightCols(result.mesh.point_count() - frames.first_point(1)).row(1).array() -= down;
    return result;
  }
  Iterates iterates(Index step) const {
    return {.step = step, .points = {frames.frame.mesh.points, frames.frame.mesh.points}};
  }
  std::unique_ptr<RunRecorder> recorder() const {
    return std::make_unique<RunRecorder>(directory.path(), frames.frame, FrameWriter(directory.path()),
                                         RunDigests(directory.path(), {"scene.json"}), Findings{});
  }

  TemporaryDirectory directory;
  FrameBuilder frames;
};

TEST_P(RunRecorderTest, ListsFilesInTheOrderOfTheSteps) {
  const auto recorder = this->recorder();
  for (Index step = 1; step <= 6; ++step)
    recorder->add({.iterates = iterates(step),
                   .frame = step % 2 == 0 ? std::optional(frame(double(step), 0)) : std::nullopt});
  recorder->finish();
  std::vector<std::string> files;
  for (const FileDigest& entry : read_digests(directory.path())) {
    files.push_back(entry.file);
    EXPECT_EQ(entry.digest, file_digest(directory / entry.file));
  }
  EXPECT_EQ(files, (std::vector<std::string>{"scene.json", iterates_name(1), iterates_name(2), frame_name(0),
                                             iterates_name(3), iterates_name(4), frame_name(1),
                                             iterates_name(5), iterates_name(6), frame_name(2)}));
  EXPECT_EQ(recorder->written().frames, 3);
  EXPECT_EQ(recorder->written().run_digest, file_digest(directory / digests_name));
  EXPECT_TRUE(recorder->is_whole());
}

TEST_P(RunRecorderTest, FindsWhatIntersectsInAFrame) {
  const auto recorder = this->recorder();
  recorder->add({.frame = frame(0, 0.4)});
  recorder->finish();
  EXPECT_TRUE(recorder->written().findings.checked);
  EXPECT_FALSE(recorder->written().findings.first());
  recorder->add({.frame = frame(1, 0.6)});
  recorder->finish();
  ASSERT_TRUE(recorder->written().findings.intersection);
  EXPECT_NE(recorder->written().findings.intersection->find("above"), std::string::npos);
}

TEST_P(RunRecorderTest, SaysOnceWhatCouldNotBeWrittenAndRemembersIt) {
  const auto recorder = this->recorder();
  recorder->add({.frame = frame(0, 0)});
  recorder->finish();
  std::filesystem::remove_all(directory / "frames");
  write_file(directory / "frames", "in the way");
  const std::string message = message_of([&] {
    recorder->add({.frame = frame(1, 0)});
    recorder->finish();
  });
  EXPECT_NE(message.find("frame_000001"), std::string::npos) << message;
  EXPECT_FALSE(recorder->is_whole());
  EXPECT_NO_THROW(recorder->finish());
  EXPECT_EQ(recorder->written().frames, 1);
}

TEST_P(RunRecorderTest, EndsWithWhatWasHandedOver) {
  recorder()->add({.frame = frame(0, 0)});
  EXPECT_EQ(read_frame(directory / frame_name(0)).mesh.points, frames.frame.mesh.points);
}

INSTANTIATE_TEST_SUITE_P(OfOneAndMoreThreads, RunRecorderTest, ::testing::Values(1, 2),
                         [](const auto& info) { return "Threads" + std::to_string(info.param); });

}  // namespace
}  // namespace apart::test
