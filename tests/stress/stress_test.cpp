// Two hundred scenes that nobody would set up, with either formulation of contact. Each must end certified,
// or stop with exit code 3 and say which scripted motion cannot be done; never crash, hang or pass off a bad
// state as good.
#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include "random_scene.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <thread>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

struct Verdict {
  bool certified = false;
  bool refused = false;  ///< stopped, and said what is impossible
  std::string trouble;   ///< anything else
};

Verdict abuse(std::uint32_t seed, const std::string& formulation, const fs::path& directory) {
  fs::create_directories(directory);
  nlohmann::ordered_json scene = RandomScene(seed).make();
  scene["contact"]["formulation"] = formulation;
  write_file(directory / "scene.json", scene.dump(2));
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  const Signal when_it_hangs = {[&](const std::string&) { return std::chrono::steady_clock::now() > limit; }};
  const Outcome run = run_program(
      APART_PROGRAM, {"run", "scene.json", "-o", "run", "--force", "--record-iterates", "--threads", "1"},
      directory, when_it_hangs);
  if (run.code == 3) {
    const bool explained = run.err.find("Scripted motion of '") != std::string::npos;
    return explained ? Verdict{false, true, {}} : Verdict{false, false, "stopped: " + run.err};
  }
  if (run.code != 0) return {false, false, "exit code " + std::to_string(run.code) + ": " + run.err};
  const Outcome verify = run_program(APART_PROGRAM, {"verify", "run"}, directory);
  if (verify.code != 0) return {false, false, "not verified: " + verify.out + verify.err};
  fs::remove_all(directory);
  return {true, false, {}};
}

class Stress : public ::testing::TestWithParam<std::string> {};

TEST_P(Stress, SlowEverySceneEndsCertifiedOrSaysWhatIsImpossible) {
  constexpr std::uint32_t count = 200;
  const fs::path place = fs::path(APART_BUILD_DIR) / "stress" / GetParam();  // scenes in trouble stay here
  fs::remove_all(place);
  std::atomic<std::uint32_t> next = 0;
  std::mutex mutex;
  int certified = 0, refused = 0;
  const auto work = [&] {
    for (std::uint32_t seed; (seed = next++) < count;) {
      const Verdict v = abuse(seed, GetParam(), place / std::to_string(seed));
      const std::lock_guard lock(mutex);
      certified += v.certified;
      refused += v.refused;
      if (!v.trouble.empty()) ADD_FAILURE() << "seed " << seed << ": " << v.trouble;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  std::cout << certified << " of " << count << " certified, " << refused << " refused\n";
  EXPECT_GE(certified, 198) << "at least 99 %";
}

INSTANTIATE_TEST_SUITE_P(Formulations, Stress, ::testing::Values("published", "convergent"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace apart::test
