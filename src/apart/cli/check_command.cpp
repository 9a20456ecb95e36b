#include <apart/cli/check_command.hpp>
#include <apart/cli/exit_codes.hpp>
#include <apart/cli/memory_option.hpp>
#include <apart/cli/messages.hpp>
#include <apart/cli/output_file.hpp>
#include <apart/cli/scene_argument.hpp>
#include <apart/core/counted.hpp>
#include <apart/core/parallel.hpp>
#include <apart/run/repair.hpp>
#include <apart/run/scene_warnings.hpp>
#include <apart/run/start_check.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

namespace apart {
namespace {

namespace fs = std::filesystem;

struct CheckArguments {
  std::string scene, output, fixed;
  std::vector<std::string> overrides;
  bool force = false;
  std::size_t memory = 0;  ///< [bytes]; 0: most of the free memory
};

void print_statistics(const Scene& scene, const std::vector<BodyReport>& bodies) {
  const Model& model = *scene.model;
  const PairTable& pairs = model.surface.pairs;
  fmt::print("{:<24} {:<10} {:>8} {:>10} {:>10} {:>9} {:>11} {:>11} {:>24} {:>24} {:>12}\n", "body", "type",
             "points", "tetrahedra", "triangles", "segments", "mass [kg]", "volume [m3]", "extent [m]",
             "edges [m]", "quality");
  constexpr std::size_t most = 40;
  const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{:.4g}", *v) : "-"; };
  for (std::size_t i = 0; i < std::min(most, bodies.size()); ++i) {
    const BodyReport& b = bodies[i];
    fmt::print(
        "{:<24} {:<10} {:>8} {:>10} {:>10} {:>9} {:>11} {:>11} {:>24} {:>24} {:>12}\n", b.name, b.kind,
        b.points, b.tetrahedra, b.triangles, b.segments, number(b.mass), number(b.volume),
        b.points > 0 ? fmt::format("{:.3g} x {:.3g} x {:.3g}", b.extent[0], b.extent[1], b.extent[2]) : "-",
        b.edges[1] > 0 ? fmt::format("{:.2g} / {:.2g} / {:.2g}", b.edges[0], b.edges[1], b.edges[2]) : "-",
        b.quality ? fmt::format("{:.2f} / {:.2f}", (*b.quality)[0], (*b.quality)[1]) : "-");
  }
  if (bodies.size() > most) fmt::print("... and {} more\n", bodies.size() - most);
  fmt::print("edges: shortest / mean / longest; quality: smallest / mean, 1 is regular\n");
  const auto span_of = [&](double PairSettings::*value) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    pairs.for_each_used([&](const PairSettings& s, int, int) {
      if (!s.enabled) return;
      low = std::min(low, s.*value);
      high = std::max(high, s.*value);
    });
    return low < high ? fmt::format("{:.4g} to {:.4g}", low, high) : fmt::format("{:.4g}", low);
  };
  fmt::print("\n{} of {:g} s, {}\n", counted(scene.steps, "step"), model.options.dt,
             counted(model.node_count(), "node"));
  fmt::print("size L {:.6g} m, dhat {} m, epsv {} m/s, tolerance {:.4g} m/s\n", model.size,
             span_of(&PairSettings::dhat), span_of(&PairSettings::epsv), model.options.solver.tolerance);
}

void print_gaps(const GapHistogram& gaps) {
  if (gaps.too_many) {
    fmt::print("Too many pairs are close to each other at the start to be counted.\n");
    return;
  }
  if (!gaps.smallest) {
    fmt::print("No two bodies are within {:.3g} m of each other at the start.\n", gaps.reach);
    return;
  }
  fmt::print("\ngaps between bodies at the start, less thickness; the smallest is {:.4g} m\n",
             *gaps.smallest);
  std::int64_t most = 1;
  for (const GapHistogram::Bin& bin : gaps.bins) most = std::max(most, bin.pairs);
  for (const GapHistogram::Bin& bin : gaps.bins)
    fmt::print("  {:>8.1e} to {:>8.1e} m {:>9} {} {}\n", bin.lower, bin.upper, bin.pairs,
               bin.pairs == 1 ? "pair " : "pairs",
               std::string(std::size_t(40.0 * double(bin.pairs) / double(most)), '#'));
}

int fix(const CheckArguments& arguments, const Scene& scene, const SceneFile& file) {
  const Repair repair = repair_start(scene, file);
  write_repaired(arguments.fixed, repair, scene, file);
  double farthest = 0;
  for (const Repair::Moved& moved : repair.moved) {
    fmt::print("moved '{}' by at most {:.3g} m\n", scene.model->bodies[std::size_t(moved.body)].name,
               moved.farthest);
    farthest = std::max(farthest, moved.farthest);
  }
  fmt::print("{}: {}\n", arguments.fixed,
             repair.moved.empty() ? "nothing had to move"
                                  : fmt::format("nothing moved farther than {:.3g} m", farthest));
  return exit_done;
}

int check(const CheckArguments& arguments) {
  set_thread_count(0);
  bound_memory(arguments.memory);
  if (!arguments.output.empty()) ensure_may_write(arguments.output, arguments.force);
  const SceneFile file = open_scene_argument(arguments.scene, arguments.overrides);
  print_notes(file.notes);
  const Scene scene = build_scene(file);
  print_notes(scene.notes);
  const std::vector<BodyReport> bodies = report_bodies(*scene.model);
  print_statistics(scene, bodies);
  for (const std::string& warning : warnings(scene, bodies)) fmt::print("warning: {}\n", warning);
  const StartCheck start = check_start(scene);
  if (!arguments.fixed.empty()) return fix(arguments, scene, file);
  if (start.ok()) {
    const StepCost cost = measure_step(scene);  // first: it says at once if there is not enough memory
    print_gaps(gap_histogram(*scene.model));
    fmt::print(
        "\n{}; a Newton iteration takes about {:.2g} s plus collision detection, and a step from one to a "
        "few dozen iterations; memory {:.0f} MB\n",
        counted(cost.unknowns, "unknown"), cost.seconds, double(cost.bytes) / 1e6);
    fmt::print("No intersections, no gaps that are too small: ready to run.\n");
    return exit_done;
  }
  std::fflush(stdout);
  const auto lines = messages(start, file);
  constexpr std::size_t most = 50;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) fmt::print(stderr, "{}\n", lines[i]);
  if (lines.size() > most) fmt::print(stderr, "... and {} more\n", lines.size() - most);
  const fs::path output =
      arguments.output.empty() ? fresh_file(file.file_name() + "-problems.vtu") : fs::path(arguments.output);
  write_findings(output, start.frame(), start.all());
  std::size_t intersections = 0, nested = 0, inversions = 0, gaps = 0;
  for (const StartCheck::Part& part : start.parts) {
    intersections += part.found.intersections.size();
    nested += part.found.nested.size();
    inversions += part.found.inversions.size();
    gaps += part.found.gaps.size();
  }
  fmt::print(stderr,
             "The scene cannot start: {}, {} inside a solid, {}, {} that {} too small.\nThe elements "
             "concerned are in {}. 'apart check --fix FILE' separates bodies that overlap slightly.\n",
             counted(Index(intersections), "intersection"), nested,
             counted(Index(inversions), "inverted element"), counted(Index(gaps), "gap"),
             gaps == 1 ? "is" : "are", output.string());
  return exit_bad_input;
}

}  // namespace

void add_check_command(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "Load a scene and report what would keep it from running");
  command->add_option("SCENE", arguments->scene, scene_argument_help)->required();
  command->add_option(
      "-o,--output", arguments->output,
      "Mesh file for the elements that intersect or are too close; default: NAME-problems.vtu, or "
      "NAME-problems-2.vtu, ... if that exists");
  add_memory_option(*command, arguments->memory);
  command->add_flag("--force", arguments->force, "Replace the mesh file if it exists");
  command->add_option("--set", arguments->overrides, "Change the scene, as for run")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--fix", arguments->fixed,
                   "Separate, by as little motion as possible, what intersects or is too close, and write "
                   "the scene to FILE, a new file ending in .json")
      ->type_name("FILE");
  command->callback([arguments, &code] { code = check(*arguments); });
}

}  // namespace apart
