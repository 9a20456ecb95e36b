#include <apart/cli/exit_codes.hpp>
#include <apart/cli/interruption.hpp>
#include <apart/cli/messages.hpp>
#include <apart/cli/output_file.hpp>
#include <apart/cli/progress.hpp>
#include <apart/cli/scene_argument.hpp>
#include <apart/cli/sweep_command.hpp>
#include <apart/core/counted.hpp>
#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/run/step_table.hpp>
#include <apart/scene/validation.hpp>
#include <apart/studies/study_folder.hpp>

#include <sys/wait.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>

namespace apart {
namespace {

namespace fs = std::filesystem;

struct SweepArguments {
  std::string study, folder, slurm;
  int jobs = 0;
  std::optional<std::size_t> only;
  bool collect = false, force = false;
};

/// The arguments of the program for one run: a new one, or one that was interrupted.
std::vector<std::string> run_arguments(const Study& study, const StudyFolder& folder, std::size_t run) {
  const fs::path directory = folder.run_directory(run);
  std::vector<std::string> arguments = {"apart", "run"};
  std::error_code error;
  if (fs::exists(directory / "checkpoint", error)) {
    arguments.insert(arguments.end(), {"--resume", directory.string()});
  } else {
    arguments.insert(arguments.end(), {study.scene, "-o", directory.string(), "--force"});
    for (const std::string& change : study.changes(run)) arguments.insert(arguments.end(), {"--set", change});
    if (!study.frames) arguments.emplace_back("--no-frames");
  }
  if (study.steps > 0) arguments.insert(arguments.end(), {"--steps", std::to_string(study.steps)});
  arguments.insert(arguments.end(), {"--of-study", "--threads", "1"});
  return arguments;
}

/// The end of what a run has printed, from the beginning of a line; nothing if it did not come to that.
std::string last_words(const fs::path& log) {
  constexpr std::streamoff most = 4000;
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff begin = std::max<std::streamoff>(file.tellg() - most, 0);
  file.seekg(begin);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (begin > 0) text.erase(0, text.find('\n') + 1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Signals that end a run from outside; others end what is wrong itself.
bool is_from_outside(int signal) {
  constexpr int outside[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL, SIGPIPE, SIGXCPU, SIGXFSZ};
  return std::ranges::find(outside, signal) != std::end(outside);
}

StudyRecord record_of(int status, const fs::path& log) {
  const bool exited = WIFEXITED(status);
  const int code = exited ? WEXITSTATUS(status) : 0;
  const int signal = exited ? std::max(code - exit_signal, 0) : WTERMSIG(status);
  if (signal > 0)
    return {is_from_outside(signal) ? "stopped" : "failed",
            fmt::format("ended by signal {} ({}). {}", signal, ::strsignal(signal), last_words(log))};
  const auto words = [&](std::string_view otherwise) {
    const std::string text = last_words(log);
    return text.empty() ? std::string(otherwise) : text;
  };
  switch (code) {
    case exit_done:
      return {"finished", ""};
    case exit_not_now:
      return {"stopped", words("could not begin, or not write its log; check that the disk has space")};
    case exit_bad_input:
      return {"refused", words("exit code 2")};
    case exit_not_verified:
      return {"refuted", words("exit code 4")};
    default:
      return {"failed", words(fmt::format("exit code {}", code))};
  }
}

/// Does the runs that are not done, some at a time.
class Sweep {
 public:
  Sweep(const Study& study, const StudyFolder& folder, RunCrew& crew)
      : study_(study), folder_(folder), crew_(crew) {}

  void run(const std::vector<std::size_t>& runs) {
    CountLine line("run");
    waiting_.assign(runs.begin(), runs.end());
    Index done = 0;
    while (!waiting_.empty() || busy_ > 0) {
      if (Interruption::received() != 0 && !interrupted_) {
        interrupted_ = true;
        waiting_.clear();
        crew_.interrupt();
      }
      if (start_next()) continue;
      const std::optional<RunCrew::Ended> ended = crew_.ended();
      if (!ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      --busy_;
      const bool is_over =
          keep(ended->run, ended->lost.empty() ? record_of(ended->status, folder_.log(ended->run))
                                               : StudyRecord{"stopped", ended->lost});
      if (is_over) line.show(++done, Index(runs.size()));
    }
  }

  bool interrupted() const { return interrupted_; }
  /// What stopped runs from outside; they are not done.
  const std::vector<std::string>& stops() const { return stops_; }

 private:
  /// Of the runs that wait, the first that no other process is writing: those of a study that was killed need
  /// a moment to keep their state.
  bool start_next() {
    if (crew_.room() <= 0) return false;
    const auto free = std::ranges::find_if(waiting_, [&](std::size_t run) {
      if (!DirectoryLock::is_taken(folder_.run_directory(run))) return true;
      if (told_.insert(run).second)
        fmt::print(stderr, "run {}: waiting for the process that is writing it\n", run);
      return false;
    });
    if (free == waiting_.end()) return false;
    const std::size_t run = *free;
    waiting_.erase(free);
    // The other process may have been a sweep that did this run.
    if (const auto record = folder_.record(run); record && record->is_final()) return true;
    crew_.start({run, run_arguments(study_, folder_, run), folder_.log(run)});
    ++busy_;
    return true;
  }

  /// Whether the run is over, or at least not begun again.
  bool keep(std::size_t run, const StudyRecord& record) {
    if (record.is_final()) {
      folder_.keep(run, record);
      stopped_in_a_row_ = 0;
      return true;
    }
    if (interrupted_) return true;
    try {
      folder_.keep(run, record);
    } catch (const UnavailableError&) {
      // What has no room is no record, and without one the run is run again as well.
    }
    // What stops all of them, like a full disk, need not be met by each.
    const bool stops_all = ++stopped_in_a_row_ >= std::max(3, crew_.size());
    if (stops_all) waiting_.clear();
    if (crew_.has_other_places() && !stops_all && given_again_.insert(run).second) {
      fmt::print(stderr, "run {}: {}; it is begun again\n", run, record.reason);
      waiting_.push_back(run);
      return false;
    }
    stops_.push_back(fmt::format("run {}: {}", run, record.reason));
    return true;
  }

  const Study& study_;
  const StudyFolder& folder_;
  RunCrew& crew_;
  std::deque<std::size_t> waiting_;
  int busy_ = 0;
  std::set<std::size_t> told_;         ///< runs whose other process was reported
  std::set<std::size_t> given_again_;  ///< after they were stopped
  std::vector<std::string> stops_;
  int stopped_in_a_row_ = 0;
  bool interrupted_ = false;
};

/// A script that runs the study as an array of Slurm, and without Slurm one run after the other.
std::string slurm_script(const SweepArguments& arguments, const Study& study, const fs::path& folder) {
  const std::string program = shell_word(fs::read_symlink("/proc/self/exe").string());
  const std::string sweep =
      fmt::format("{} sweep {} -o {}", program, shell_word(fs::absolute(arguments.study).string()),
                  shell_word(fs::absolute(folder).string()));
  return fmt::format(
      "#!/bin/sh\n"
      "# sbatch this file; then, when all tasks have ended:  {0} --collect\n"
      "# Without Slurm it does one run after the other, and collects them.\n"
      "#SBATCH --job-name={1}\n"
      "#SBATCH --array=0-{2}\n"
      "#SBATCH --cpus-per-task=1\n"
      "if [ -n \"$SLURM_ARRAY_TASK_ID\" ]; then\n"
      "  exec {0} --only \"$SLURM_ARRAY_TASK_ID\"\n"
      "fi\n"
      "run=0\n"
      "while [ $run -le {2} ]; do\n"
      "  {0} --only $run || exit\n"
      "  run=$((run + 1))\n"
      "done\n"
      "exec {0} --collect\n",
      sweep, shell_word(study.name), study.runs.size() - 1);
}

void report(const Study& study, const StudyFolder& folder) {
  std::map<std::string, Index> count;
  for (std::size_t run = 0; run < study.runs.size(); ++run)
    if (const auto record = folder.record(run)) ++count[record->status];
  const Index finished = count["finished"];
  Index others = 0;
  for (const auto& [status, n] : count)
    if (status != "finished") others += n;
  fmt::print("{} of {} finished{}: {}\n", finished, counted(Index(study.runs.size()), "run"),
             others > 0 ? fmt::format(", {} not (see status and reason)", others) : "",
             (folder.path() / "results.csv").string());
}

/// Refuses results of columns that the runs will not have, before the first of them.
void check_columns(const Study& study) {
  std::vector<std::string> names;
  for_each_column({}, [&](std::string_view name, double) { names.emplace_back(name); });
  const SceneDescription scene = open_scene_argument(study.scene, study.changes(0)).description();
  for (const ProbeDescription& probe : scene.probes)
    std::visit(
        [&]<class D>(const D& d) {
          for (const std::string_view column : columns_of(D::quantity))
            names.push_back(fmt::format("{}.{}", d.name, column));
        },
        probe);
  for (const StudyResult& result : study.results)
    if (std::ranges::find(names, result.column) == names.end()) {
      const std::string near =
          nearest_name(result.column, std::vector<std::string_view>(names.begin(), names.end()));
      throw InputError("results.{}.column: runs have no column '{}'; {}", result.name, result.column,
                       near.empty() ? fmt::format("their columns are {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean '{}'?", near));
    }
}

std::unique_ptr<RunCrew> local_crew(int jobs) {
  return std::make_unique<LocalCrew>(jobs > 0 ? jobs
                                              : int(std::max(1u, std::thread::hardware_concurrency())));
}

int sweep(const SweepArguments& arguments, const SweepTeam& team) {
  const Study study = read_study(arguments.study);
  check_columns(study);
  const fs::path path =
      arguments.folder.empty() ? fs::path("study-" + study.name) : fs::path(arguments.folder);
  if (!arguments.slurm.empty()) {
    ensure_may_write(arguments.slurm, arguments.force);
    write_atomically(arguments.slurm, slurm_script(arguments, study, path));
    fmt::print("{}\n", arguments.slurm);
    return exit_done;
  }
  if (arguments.only && *arguments.only >= study.runs.size())
    throw InputError("--only {}: the study has the runs 0 to {}", *arguments.only, study.runs.size() - 1);
  const StudyFolder folder(path, study, arguments.only.has_value());
  std::vector<std::size_t> left;
  for (std::size_t run = 0; run < study.runs.size(); ++run) {
    if (arguments.collect || (arguments.only && *arguments.only != run)) continue;
    if (const auto record = folder.record(run); !record || !record->is_final()) left.push_back(run);
  }
  const std::unique_ptr<RunCrew> crew = team(arguments.jobs);
  Sweep work(study, folder, *crew);
  if (!left.empty()) {
    const Interruption interruption({}, std::chrono::minutes(10));
    work.run(left);
  }
  if (!work.stops().empty())
    fmt::print(stderr, "{} stopped from outside, first {}\nThe same command runs what is not done\n",
               counted(Index(work.stops().size()), "run"), work.stops().front());
  if (!arguments.only) folder.write_results();
  if (work.interrupted()) {
    fmt::print(stderr, "interrupted; the same command goes on where it stopped\n");
    return exit_signal + Interruption::received();
  }
  if (!arguments.only) report(study, folder);
  return work.stops().empty() ? exit_done : exit_solver_failed;
}

}  // namespace

void add_sweep_command(CLI::App& app, int& code, const SweepTeam& team) {
  const auto arguments = std::make_shared<SweepArguments>();
  CLI::App* command = app.add_subcommand("sweep", "Run a scene with many values of its parameters");
  command->add_option("STUDY", arguments->study, "Study file: scene, parameters, results (docs/studies.md)")
      ->required();
  command->add_option("-o,--output", arguments->folder,
                      "Folder of the study; a study that was stopped goes on there; default: study-NAME");
  command
      ->add_option("--jobs", arguments->jobs,
                   "Runs at a time, with one thread each; default: one for each core")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--only", arguments->only,
                   "Do this run only, counted from 0, and write no tables; for job arrays")
      ->type_name("RUN");
  command->add_flag("--collect", arguments->collect,
                    "Do no runs, only write the tables of those that are done");
  command
      ->add_option("--slurm", arguments->slurm, "Write a script that does the study as a job array of Slurm")
      ->type_name("FILE");
  command->add_flag("--force", arguments->force, "Replace the script if it exists");
  command->callback([arguments, &code, team] { code = sweep(*arguments, team ? team : local_crew); });
}

}  // namespace apart
