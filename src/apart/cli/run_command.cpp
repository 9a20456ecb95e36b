#include <apart/cli/exit_codes.hpp>
#include <apart/cli/interruption.hpp>
#include <apart/cli/memory_option.hpp>
#include <apart/cli/messages.hpp>
#include <apart/cli/progress.hpp>
#include <apart/cli/run_command.hpp>
#include <apart/cli/scene_argument.hpp>
#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/queries/query_recorder.hpp>
#include <apart/run/run.hpp>
#include <apart/run/run_directory.hpp>
#include <apart/run/scene_warnings.hpp>
#include <apart/run/start_check.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <memory>

namespace apart {
namespace {

namespace fs = std::filesystem;

struct RunArguments {
  std::string scene, directory, resume, record_ccd;
  std::vector<std::string> overrides;
  Index steps = 0;
  int threads = 0;
  std::size_t memory = 0;  ///< [bytes]; 0: most of the free memory
  bool no_frames = false, record_iterates = false, force = false, profile = false;
  bool quiet = false;
  bool of_study = false;
};

int report(const RunResult& result, const fs::path& directory, const RunArguments& arguments) {
  const std::string where = directory.string(), typed = shell_word(where);
  switch (result.end) {
    case RunEnd::finished:
      if (!arguments.quiet) fmt::print("done, no intersections: {}\n", where);
      return exit_done;
    case RunEnd::interrupted:
      fmt::print(stderr, "{}; continue with: apart run --resume {}\n", result.reason, typed);
      return Interruption::received() ? exit_signal + Interruption::received() : exit_solver_failed;
    case RunEnd::failed:
      fmt::print(stderr,
                 "{}\nThe last good state is in {}; continue from it with other solver settings:\napart run "
                 "--resume {} --set solver.KEY=VALUE\n",
                 result.reason, where, typed);
      return exit_solver_failed;
    case RunEnd::no_memory:
      fmt::print(stderr,
                 "{}\nThe last good state is in {}; continue from it with more memory:\napart run --resume "
                 "{} --memory SIZE\n",
                 result.reason, where, typed);
      return arguments.of_study ? exit_not_now : exit_solver_failed;
    case RunEnd::refuted:
      break;
  }
  fmt::print(stderr, "{}\nThe result in {} is wrong; apart verify {} lists all violations\n", result.reason,
             where, typed);
  return exit_not_verified;
}

/// What a process of a team does that is not its leader: no words, no files.
int follow(const RunArguments& arguments, const Teamwork& work) {
  std::signal(SIGINT, SIG_IGN);  // the leader decides
  std::signal(SIGTERM, SIG_IGN);
  const RunOptions options{.work = work};
  const bool resumes = !arguments.resume.empty();
  const SceneFile file = resumes ? read_scene(fs::path(arguments.resume) / "scene.json", arguments.overrides)
                                 : open_scene_argument(arguments.scene, arguments.overrides);
  const Scene scene = build_scene(file);
  if (resumes)
    resume_run(file, scene, arguments.resume, options);
  else
    run_scene(file, scene, {}, options);
  return exit_done;
}

int run(const RunArguments& arguments, const RunTeam* team) {
  const bool alone = !team || team->work.team.is_alone();
  // Processes are what divides the cores of a machine, unless it is said how many threads each should have.
  set_thread_count(alone ? arguments.threads : std::max(1, arguments.threads));
  bound_memory(arguments.memory, team ? team->on_this_machine : 1);
  if (!alone && !arguments.record_ccd.empty())
    throw InputError("--record-ccd: no process of several has all queries; record them with apart run");
  if (team && !team->work.team.leads()) return follow(arguments, team->work);
  ProgressLine line;
  RunOptions options{.work = team ? team->work : Teamwork()};
  if (arguments.steps > 0) options.steps = arguments.steps;
  options.frames = !arguments.no_frames;
  options.record_iterates = arguments.record_iterates;
  if (!arguments.quiet) {
    options.on_step = [&](const Progress& progress) { line.show(progress); };
    options.on_iteration = [&](const IterationReport& iteration) { line.show(iteration); };
  }
  options.on_note = [&](const std::string& note) { line.note(note); };
  options.profile = arguments.profile;
  options.should_stop = [] { return Interruption::received() != 0; };
  RunRescue rescue;
  options.rescue = &rescue;
  fs::path directory = arguments.resume;
  const auto keep_state = [&] {
    const std::optional<Index> step = rescue.keep();
    fmt::print(stderr, "\ninterrupted{}; continue with: apart run --resume {}\n",
               step ? fmt::format(" after step {}", *step) : "", shell_word(directory.string()));
  };
  std::optional<Interruption> interruption;
  constexpr std::string_view recorded = "recorded";  // name of the files
  QueryRecorder recorder;
  const bool record = !arguments.record_ccd.empty();
  if (record)
    options.on_step_bound = [&](const Candidates& candidates, const Path& path) {
      recorder.add(candidates, path.start, path.move);
    };

  RunResult result;
  if (!arguments.resume.empty()) {
    if (!fs::is_directory(directory))
      throw InputError("{}: no such directory; name one that 'apart run' has written", directory.string());
    for (const std::string& change : arguments.overrides)
      if (!change.starts_with("solver."))
        throw InputError(
            "--set {}: a resumed run keeps its scene, only solver settings can change; start a new run with "
            "apart run {} --set {}",
            change, shell_word((directory / "scene.json").string()), shell_word(change));
    const SceneFile file = read_scene(directory / "scene.json", arguments.overrides);
    const Scene scene = build_scene(file);
    options.warnings = warnings(scene, report_bodies(*scene.model));
    if (record) prepare_query_folder(arguments.record_ccd, recorded, arguments.force);
    interruption.emplace(keep_state);
    result = resume_run(file, scene, directory, options);
  } else {
    const SceneFile file = open_scene_argument(arguments.scene, arguments.overrides);
    print_notes(file.notes);
    const Scene scene = build_scene(file);
    print_notes(scene.notes);
    options.warnings = warnings(scene, report_bodies(*scene.model));
    for (const std::string& warning : options.warnings) fmt::print(stderr, "warning: {}\n", warning);
    ensure_feasible_start(scene, file);
    directory = arguments.directory.empty() ? fresh_run_directory(file) : fs::path(arguments.directory);
    if (record) prepare_query_folder(arguments.record_ccd, recorded, arguments.force);
    prepare_run_directory(directory, arguments.force);
    interruption.emplace(keep_state);
    result = run_scene(file, scene, directory, options);
  }
  line.close();
  if (!alone && result.end == RunEnd::no_memory)
    result.reason = fmt::format("process 0 of {}: {}", team->work.team.size(), result.reason);
  if (arguments.profile) fmt::print("{}timeline: {}\n", result.profile, (directory / "trace.json").string());
  if (record) recorder.write(arguments.record_ccd, recorded);
  return report(result, directory, arguments);
}

/// Runs, and tells what may succeed later from what never will.
int run_of_study(const RunArguments& arguments, const RunTeam* team) {
  const auto not_now = [](std::string_view what) {
    fmt::print(stderr, "{}\n", what);
    return exit_not_now;
  };
  try {
    return run(arguments, team);
  } catch (const UnavailableError& e) {
    return not_now(e.what());
  } catch (const MemoryError& e) {
    return not_now(e.what());
  } catch (const std::bad_alloc&) {
    return not_now("not enough memory; use fewer --jobs, coarser meshes or fewer bodies");
  } catch (const std::system_error& e) {  // of files, folders and threads
    return not_now(e.what());
  }
}

}  // namespace

void add_run_command(CLI::App& app, int& code, const RunTeam* team) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scene");
  auto* scene_option = command->add_option("SCENE", arguments->scene, scene_argument_help);
  command->add_option("-o,--output", arguments->directory,
                      "Run directory; default: run-NAME, or run-NAME-2, ... if that exists");
  const CLI::Range at_least_one(1, std::numeric_limits<int>::max(), "NUMBER");
  command->add_option("--steps", arguments->steps, "Stop after this many time steps in total")
      ->check(at_least_one);
  command
      ->add_option(
          "--threads", arguments->threads,
          team ? "Number of threads of each process; default: 1, or all cores if there is no other process"
               : "Number of threads; default: all cores")
      ->check(at_least_one);
  add_memory_option(*command, arguments->memory);
  command->add_flag("--no-frames", arguments->no_frames, "Write no frames, only the final state");
  command
      ->add_option("--set", arguments->overrides,
                   "Change the scene, e.g. contact.dhat=0.002; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--record-iterates", arguments->record_iterates,
                    "Record every accepted Newton iterate, so that verify can prove the paths between them");
  command
      ->add_option("--record-ccd", arguments->record_ccd,
                   "Write the queries of collision detection to FOLDER/vertex-face/recorded.csv and "
                   "FOLDER/edge-edge/recorded.csv, an even sample of at most 100000 each, for 'apart ccd'")
      ->type_name("FOLDER");
  auto* resume_option = command
                            ->add_option("--resume", arguments->resume,
                                         "Continue the run in DIR from its checkpoint; takes no SCENE, and "
                                         "--set for solver settings only")
                            ->type_name("DIR");
  command->add_flag("--profile", arguments->profile,
                    "Print where the time went, and write trace.json for chrome://tracing");
  command->add_flag("-q,--quiet", arguments->quiet, "Show no progress: print warnings and errors only");
  command->add_flag("--force", arguments->force, "Replace the results of an earlier run in the directory");
  command->add_flag("--of-study", arguments->of_study)->group("");  // of 'apart sweep': not shown
  resume_option->excludes(scene_option);
  command->callback([arguments, &code, team] {
    if (arguments->scene.empty() && arguments->resume.empty())
      throw CLI::RequiredError("SCENE, or --resume DIR,");
    if (!arguments->resume.empty() &&
        (!arguments->directory.empty() || arguments->force || arguments->no_frames))
      throw CLI::ValidationError(
          "--resume", "continues a run with its original options; remove -o, --force and --no-frames");
    code = arguments->of_study ? run_of_study(*arguments, team) : run(*arguments, team);
  });
}

}  // namespace apart
