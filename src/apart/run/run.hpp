#pragma once
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/simulation/simulation.hpp>

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace apart {

/// Progress of a run after a step.
struct Progress {
  const StepReport& report;
  Index steps = 0;          ///< to be done in all
  double wall_seconds = 0;  ///< since this program began to simulate
  double seconds_left = 0;  ///< estimated from the last steps
  double remesh_share = 0;  ///< of the time so far, spent on choosing and doing changes of meshes
};

/// Lets another thread write the state of a run while the simulating thread is busy.
class RunRescue {
 public:
  /// Writes the state after the last step as a checkpoint, and the summary of an interrupted run. Returns
  /// that step; after it the run writes nothing more, so that the process must be ended. None if there is no
  /// run, or if it is writing files itself and goes on with that for more than a second.
  std::optional<Index> keep();

  // For the run.
  std::timed_mutex& writing() { return mutex_; }  ///< held while its files are written
  /// How its state is kept, and which step that is; nothing when it ends.
  void offer(std::function<Index()> keep) { keep_ = std::move(keep); }

 private:
  std::timed_mutex mutex_;
  std::function<Index()> keep_ = nullptr;
};

struct RunOptions {
  std::optional<Index> steps = {};         ///< instead of the scene's number
  bool frames = true;                      ///< false: only the final state is kept, as checkpoint
  bool profile = false;                    ///< note where the time goes, and write trace.json
  bool record_iterates = false;            ///< keep every accepted Newton iterate, for `apart verify`
  std::vector<std::string> warnings = {};  ///< kept in log.txt and summary.json
  RunRescue* rescue = nullptr;             ///< must outlive the run
  std::function<void(const Progress&)> on_step = {};
  std::function<void(const IterationReport&)> on_iteration = {};
  std::function<void(const std::string&)> on_note = {};  ///< a message to the user; the run continues
  StepBoundObserver on_step_bound = {};                  ///< see Simulation
  std::function<bool()> should_stop = {};  ///< called often; true ends the run after writing its state
  /// The processes that run the scene together. All of them call run_scene or resume_run, with the same
  /// scene; the leader alone writes, and its result counts.
  Teamwork work = {};
};

enum class RunEnd {
  finished,     ///< all steps done, and certified
  interrupted,  ///< should_stop said so; can be resumed
  failed,       ///< the solver could not continue; the last good state is kept and can be resumed
  refuted,      ///< all is written, but the exact check found an intersection or inversion
  no_memory,    ///< more memory would be needed than allowed; the last good state is kept and can be resumed
};

struct RunResult {
  RunEnd end = RunEnd::finished;
  std::string reason;        ///< unless finished: what happened
  std::string profile = {};  ///< if asked for: where the time went
};

// clang-format off
/// Simulates a scene into a prepared directory, which then holds
///   scene.json               the scene as understood
///   frames.pvd, frames/      unless switched off: the first state, one after every scene.frame_every steps, and the
///                            last
///   steps.csv                one line per step, as it is done
///   probes.csv               the same for probes, if the scene has any
///   checkpoint,              the last two states that were kept: every scene.checkpoint_seconds, and at the end
///   checkpoint.older
///   summary.json             renewed with each checkpoint and, at most once a second, frame
///   log.txt                  what was said
///   iterates/                if asked for
// clang-format on
/// After every file operation the directory is valid; no other process may write it meanwhile. Each frame is
/// checked with exact predicates when it is written, which may be during the next step, and the last is read
/// back from the disk for it; without frames the final state is checked. Throws InputError if a file cannot
/// be written.
RunResult run_scene(const SceneFile& file, const Scene& scene, const std::filesystem::path& directory,
                    const RunOptions& options = {});

/// Continues the run of a directory from its checkpoint; the results are the same bits as without
/// interruption. `file` is the directory's scene.json, perhaps with other solver settings, which are then
/// written to it. Throws InputError before anything is changed if the run cannot be continued.
RunResult resume_run(const SceneFile& file, const Scene& scene, const std::filesystem::path& directory,
                     const RunOptions& options = {});

}  // namespace apart
