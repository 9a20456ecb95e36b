// The program apart-mpi: simulates one scene, or the many of a study, with the processes that mpirun starts.
#include <apart/cli/exit_codes.hpp>
#include <apart/cli/run_command.hpp>
#include <apart/cli/sweep_command.hpp>
#include <apart/cluster/mpi_crew.hpp>
#include <apart/cluster/mpi_team.hpp>
#include <apart/cluster/node_division.hpp>
#include <apart/cluster/parallel_archive.hpp>
#include <apart/cluster/petsc_solver.hpp>
#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/teamwork.hpp>
#include <apart/solver/dense_blas.hpp>

#include <mpi.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <new>
#include <thread>

namespace apart {
namespace {

std::string methods() {
  std::string text;
  for (const TeamSolverMethod& m : team_solver_methods()) text += fmt::format("\n{}: {}", m.name, m.summary);
  return text;
}

/// What each process has had at the end of the last step, needed and sent, as a table on the screen of the
/// leader.
void print_team(const MpiTeam& team, const OwnWork& work) {
  struct Row {
    OwnWork work;
    double peak, cpu;
    MpiTeam::Traffic traffic;
  };
  const Row own{work, double(process_peak_bytes()), process_cpu_seconds(), team.traffic()};
  const std::vector<Row> rows = team.joined(std::span<const Row>(&own, 1));
  if (!team.leads()) return;
  fmt::print(
      "process  elements    pairs   blocks  peak [MB]  cpu [s]  gathers  given [MB]  exchanges  messages  "
      "sent [MB]\n");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto& [has, peak, cpu, t] = rows[r];
    fmt::print("{:7}  {:8} {:8} {:8}  {:9.1f}  {:7.2f}  {:7}  {:10.2f}  {:9}  {:8}  {:9.2f}\n", r,
               has.elements, has.pairs, has.blocks, peak / 1e6, cpu, t.gathers,
               double(t.gathered_bytes) / 1e6, t.exchanges, t.messages, double(t.exchanged_bytes) / 1e6);
  }
}

/// Parses the arguments, which runs the command.
int parse(CLI::App& app, const Team& team, int argc, char** argv, const int& code) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (team.leads()) app.exit(e);
    return e.get_exit_code() == 0 ? exit_done : exit_wrong_usage;
  }
  return code;
}

/// Of a study: when a process counts as lost, and whether any does.
struct SweepMembers {
  double silence = 30;  ///< [s]
  bool any_lost = false;
};

/// `apart-mpi sweep`: rank 0 hands out the runs of a study, and the others do what it says.
void add_team_sweep(CLI::App& app, int& code, const MpiTeam& team, SweepMembers& members) {
  if (team.leads()) {
    add_sweep_command(app, code, [&](int jobs) {
      return make_mpi_crew(team, std::max(1, jobs), members.silence, members.any_lost);
    });
    app.get_subcommand("sweep")
        ->add_option(
            "--silence", members.silence,
            "A process that has not been heard of for so long is given up, and its runs are given to "
            "others; needs mpirun --enable-recovery, which lets the others live [s]")
        ->check(CLI::Range(2.0, 1e6))
        ->capture_default_str();
  } else {
    app.add_subcommand("sweep")->fallthrough(false)->allow_extras()->callback([&] { serve(team); });
  }
}

int dispatch(const MpiTeam& team, int argc, char** argv) {
  CLI::App app{"Simulates a scene with the processes that mpirun starts, as apart does with one.",
               "apart-mpi"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(
      "As in: mpirun -n 4 apart-mpi run SCENE. Everything else is done with apart, from the same files.");
  std::string solver{team_solver_methods().front().name};
  bool report = false;
  app.fallthrough();
  std::vector<std::string> names;
  for (const TeamSolverMethod& m : team_solver_methods()) names.emplace_back(m.name);
  app.add_option("--linear-solver", solver, "How linear systems are solved:" + methods())
      ->check(CLI::IsMember(names))
      ->type_name("NAME");
  Index gathered = default_gathered_nodes;
  app.add_option("--gather-up-to", gathered,
                 "Free nodes up to which 'auto' lets one process solve the whole system")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()))
      ->capture_default_str()
      ->type_name("NUMBER");
  app.add_flag("--team-report", report, "Print at the end what each process has had, needed and sent");
  int code = exit_done;
  OwnWork last_work;
  const Teamwork work{
      .team = team,
      .make_linear_solver =
          [&](const Model& model) {
            const SolverOptions& options = model.options.solver;
            return make_team_solver(solver, team, make_linear_solver(options.linear_solver, options.ordering),
                                    gathered);
          },
      .divide_nodes = [&](const Model& model,
                          const std::vector<char>& present) { return divide_graph(model, present, team); },
      .write_archive =
          [&](const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
              const Archive& archive) { write_archive_together(team, file, mark, version, archive); },
      .on_step = [&](const OwnWork& own) { last_work = own; }};
  const RunTeam run_team{work, team.on_this_machine()};
  add_run_command(app, code, &run_team);
  SweepMembers members;
  add_team_sweep(app, code, team, members);
  code = parse(app, team, argc, argv, code);
  if (app.got_subcommand("sweep")) {
    if (team.leads()) dismiss(team, members.any_lost, code);
    return code;
  }
  if (report && code == exit_done) print_team(team, last_work);
  return code;
}

/// The exit code of an error, after it has been reported.
template <class Say>
int code_of(const std::exception_ptr& error, const Say& say) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& e) {
    say(e.what());
    return exit_bad_input;
  } catch (const SolverError& e) {
    say(e.what());
    return exit_solver_failed;
  } catch (const std::filesystem::filesystem_error& e) {
    say(fmt::format("{}: {}; check the path and its permissions", e.path1().string(), e.code().message()));
    return exit_bad_input;
  } catch (const std::system_error& e) {
    say(fmt::format("{}; check that the output can be written", e.what()));
    return exit_bad_input;
  } catch (const std::bad_alloc&) {
    say("not enough memory; use more machines, or coarser meshes or fewer bodies");
    return exit_solver_failed;
  } catch (const std::exception& e) {
    say(fmt::format("internal error: {}; please report it together with the scene", e.what()));
    return exit_internal;
  }
}

/// One run of a study: by itself, whatever team has started it.
int run_of_study(int argc, char** argv) {
  CLI::App app{"Simulates a scene.", "apart-mpi"};
  int code = exit_done;
  add_run_command(app, code);
  try {
    return parse(app, Team::alone(), argc, argv, code);
  } catch (...) {
    return code_of(std::current_exception(), [](std::string_view what) { fmt::print(stderr, "{}\n", what); });
  }
}

int run_team(int argc, char** argv) {
  const MpiTeam team;
  try {
    const PetscSession petsc;
    return dispatch(team, argc, argv);
  } catch (...) {
    // What is wrong with the input all processes find, and the leader says it: the others wait to be ended.
    if (!team.leads()) std::this_thread::sleep_for(std::chrono::seconds(2));
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    return code_of(std::current_exception(), [&](std::string_view what) {
      if (team.size() == 1)
        fmt::print(stderr, "{}\n", what);
      else
        fmt::print(stderr, "process {} of {}, on {}: {}\n", team.rank(), team.size(), name, what);
    });
  }
}

}  // namespace
}  // namespace apart

int main(int argc, char** argv) {
  apart::stop_blas_threads();
  if (std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--of-study"; }))
    return apart::run_of_study(argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int code = apart::run_team(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "the output could not be written; check the space on the disk\n");
    code = apart::exit_bad_input;
  }
  // Other processes may wait for this one in the middle of something.
  if (code != apart::exit_done) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
