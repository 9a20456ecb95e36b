// The program apart: arguments, messages and exit codes.
#include <apart/cli/ccd_command.hpp>
#include <apart/cli/exit_codes.hpp>
#include <apart/cli/interruption.hpp>
#include <apart/cli/output_file.hpp>
#include <apart/cli/progress.hpp>
#include <apart/cli/render_command.hpp>
#include <apart/cli/view_command.hpp>
#include <apart/core/counted.hpp>
#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/importers/importers.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/queries/query_recorder.hpp>
#include <apart/run/certify_run.hpp>
#include <apart/run/repair.hpp>
#include <apart/run/run.hpp>
#include <apart/run/run_directory.hpp>
#include <apart/run/scene_report.hpp>
#include <apart/run/start_check.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/schema.hpp>
#include <apart/scene/validation.hpp>
#include <apart/verify/certificate.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

namespace apart {
namespace {

namespace fs = std::filesystem;

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "{}\n", note);
}

// ---- run ----------------------------------------------------------------------------------------

struct RunArguments {
  std::string scene, directory, resume, record_ccd;
  std::vector<std::string> overrides;
  Index steps = 0;
  int threads = 0;
  std::size_t memory = 0;  ///< [bytes]; 0: most of the free memory
  bool no_frames = false, record_iterates = false, force = false, profile = false;
};

/// Sets the limit of memory, 0: most of the free memory. Requests far beyond it are refused by the system as
/// well, so that the program ends in an orderly way instead of being killed.
void bound_memory(std::size_t bytes) {
  const std::size_t available = available_memory();
  const std::size_t most = bytes > 0                                              ? bytes
                           : available == std::numeric_limits<std::size_t>::max() ? available
                                                                                  : available / 10 * 9;
  if (most == std::numeric_limits<std::size_t>::max()) return;
  set_memory_limit(most);
  // Address space that is set aside and hardly used (stacks, buffers of BLAS) counts here.
  constexpr std::size_t slack = std::size_t(1) << 30;
  struct rlimit data {};
  if (::getrlimit(RLIMIT_DATA, &data) == 0 && most < data.rlim_max - std::min<rlim_t>(slack, data.rlim_max)) {
    data.rlim_cur = std::min<rlim_t>(most + slack, data.rlim_max);
    ::setrlimit(RLIMIT_DATA, &data);
  }
}

/// "8G", "500M", "2e9": bytes.
std::optional<std::size_t> parse_bytes(const std::string& text) {
  const std::size_t end = text.find_first_not_of("0123456789.eE+");
  const std::string unit = end == text.npos ? "" : lower_case(text.substr(end));
  const auto number = parse_real(text.substr(0, end));
  for (const auto& [name, factor] : {std::pair("", 1.0), std::pair("k", 1e3), std::pair("m", 1e6),
                                     std::pair("g", 1e9), std::pair("t", 1e12)})
    if (number && (unit == name || (*name && unit == std::string(name) + "b")) && *number * factor >= 1e8 &&
        *number * factor < 1e18)
      return std::size_t(*number * factor);
  return std::nullopt;
}

void add_memory_option(CLI::App& command, std::size_t& bytes) {
  command
      .add_option_function<std::string>(
          "--memory",
          [&bytes](const std::string& text) {
            const auto parsed = parse_bytes(text);
            if (!parsed)
              throw CLI::ValidationError("--memory",
                                         fmt::format("got {}, must be like 8G or 500M, at least 100M", text));
            bytes = *parsed;
          },
          "Memory limit, such as 8G or 500M; a run that needs more ends with exit code 3; default: nine "
          "tenths of the free memory")
      ->type_name("SIZE");
}

/// A word of a command line, as one would type it.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-./+,:@%", c);
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

int report(const RunResult& result, const fs::path& directory) {
  const std::string where = directory.string(), typed = shell_word(where);
  switch (result.end) {
    case RunEnd::finished:
      fmt::print("done, no intersections: {}\n", where);
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
      return exit_solver_failed;
    case RunEnd::refuted:
      break;
  }
  fmt::print(stderr, "{}\nThe result in {} is wrong; apart verify {} lists all violations\n", result.reason,
             where, typed);
  return exit_not_verified;
}

int run(const RunArguments& arguments) {
  set_thread_count(arguments.threads);
  bound_memory(arguments.memory);
  ProgressLine line;
  RunOptions options;
  if (arguments.steps > 0) options.steps = arguments.steps;
  options.frames = !arguments.no_frames;
  options.record_iterates = arguments.record_iterates;
  options.on_step = [&](const Progress& progress) { line.show(progress); };
  options.on_iteration = [&](const IterationReport& iteration) { line.show(iteration); };
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
    const SceneFile file = open_scene(arguments.scene, arguments.overrides);
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
  if (arguments.profile) fmt::print("{}timeline: {}\n", result.profile, (directory / "trace.json").string());
  if (record) recorder.write(arguments.record_ccd, recorded);
  return report(result, directory);
}

// ---- check --------------------------------------------------------------------------------------

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
  const SceneFile file = open_scene(arguments.scene, arguments.overrides);
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

// ---- the others ---------------------------------------------------------------------------------

int verify_run(const std::string& directory) {
  set_thread_count(0);
  const Certificate certificate = certify_run(directory);
  write_certificate(directory, certificate);
  fmt::print("{}", summary(certificate));
  return certificate.ok() ? exit_done : exit_not_verified;
}

/// Text for a file or, without one, for the screen.
void write_text(const std::string& output, std::string_view text, bool force) {
  if (output.empty()) {
    fmt::print("{}", text);
    return;
  }
  ensure_may_write(output, force);
  write_atomically(output, text);
}

int show_examples(const std::string& name, const std::string& output, bool force) {
  if (!name.empty()) {
    write_text(output, find_example(name).text, force);
    return exit_done;
  }
  std::size_t widest = 0;
  for (const Example& example : examples()) widest = std::max(widest, example.name.size());
  for (const Example& example : examples()) {
    const JsonValue scene = parse_json(example.text, std::string(example.name));
    fmt::print("{:<{}}  {}\n", example.name, widest, LocatedJson(scene)["description"].text());
  }
  return exit_done;
}

/// "a script of ... or a fixture of ...".
std::string importable() {
  std::string list;
  for (const SceneImporter& row : importers())
    list += fmt::format("{}{}", list.empty() ? "" : " or ", row.name);
  return list;
}

int convert(const std::string& script, const std::string& output, bool force) {
  const SceneImporter* importer = importer_of(script);
  if (!importer) throw InputError("{}: must be {}; give such a file", script, importable());
  const fs::path folder = output.empty() ? fs::current_path() : fs::absolute(output).parent_path();
  const ImportedScene imported = importer->import(script, folder);
  print_notes(imported.notes);
  write_text(output, readable_text(brief_json(imported.scene)), force);
  return exit_done;
}

int show_schema(bool reference) {
  if (reference)
    fmt::print("{}", scene_reference());
  else
    fmt::print("{}\n", scene_schema().dump(2));
  return exit_done;
}

// ---- the command line ---------------------------------------------------------------------------

/// The message if the first word is not a command; empty if it is one, or an option.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  const std::string_view word = argv[1];
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return {};
    names.push_back(command->get_name());
  }
  const std::string near = nearest_name(word, std::vector<std::string_view>(names.begin(), names.end()));
  std::error_code error;
  if (near.empty() && fs::exists(argv[1], error))
    return fmt::format("'{}' is not a command; to simulate a scene: apart run {}", word, shell_word(argv[1]));
  return near.empty()
             ? fmt::format("'{}' is not a command; the commands are {}", word, fmt::join(names, ", "))
             : fmt::format("'{}' is not a command; did you mean 'apart {}'?", word, near);
}

int dispatch(int argc, char** argv) {
  CLI::App app{"Simulates bodies in contact without intersections, and proves that there were none.",
               "apart"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done and certified, 2 bad input, 3 the solver could not go on (the last good state is "
      "kept),\n"
      "4 verification failed, 64 wrong usage, 130 interrupted.");
  int code = exit_done;

  RunArguments run_arguments;
  CLI::App* run_command = app.add_subcommand("run", "Simulate a scene");
  auto* scene_option =
      run_command->add_option("SCENE", run_arguments.scene, "Scene file, or name of a built-in example");
  run_command->add_option("-o,--output", run_arguments.directory,
                          "Run directory; default: run-NAME, or run-NAME-2, ... if that exists");
  const CLI::Range at_least_one(1, std::numeric_limits<int>::max(), "NUMBER");
  run_command->add_option("--steps", run_arguments.steps, "Stop after this many time steps in total")
      ->check(at_least_one);
  run_command->add_option("--threads", run_arguments.threads, "Number of threads; default: all cores")
      ->check(at_least_one);
  add_memory_option(*run_command, run_arguments.memory);
  run_command->add_flag("--no-frames", run_arguments.no_frames, "Write no frames, only the final state");
  run_command
      ->add_option("--set", run_arguments.overrides,
                   "Change the scene, e.g. contact.dhat=0.002; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  run_command->add_flag(
      "--record-iterates", run_arguments.record_iterates,
      "Record every accepted Newton iterate, so that verify can prove the paths between them");
  run_command
      ->add_option("--record-ccd", run_arguments.record_ccd,
                   "Write the queries of collision detection to FOLDER/vertex-face/recorded.csv and "
                   "FOLDER/edge-edge/recorded.csv, an even sample of at most 100000 each, for 'apart ccd'")
      ->type_name("FOLDER");
  auto* resume_option = run_command
                            ->add_option("--resume", run_arguments.resume,
                                         "Continue the run in DIR from its checkpoint; takes no SCENE, and "
                                         "--set for solver settings only")
                            ->type_name("DIR");
  run_command->add_flag("--profile", run_arguments.profile,
                        "Print where the time went, and write trace.json for chrome://tracing");
  run_command->add_flag("--force", run_arguments.force,
                        "Replace the results of an earlier run in the directory");
  resume_option->excludes(scene_option);
  run_command->callback([&] {
    if (run_arguments.scene.empty() && run_arguments.resume.empty())
      throw CLI::RequiredError("SCENE, or --resume DIR,");
    if (!run_arguments.resume.empty() &&
        (!run_arguments.directory.empty() || run_arguments.force || run_arguments.no_frames))
      throw CLI::ValidationError(
          "--resume", "continues a run with its original options; remove -o, --force and --no-frames");
    code = run(run_arguments);
  });

  CheckArguments check_arguments;
  CLI::App* check_command =
      app.add_subcommand("check", "Load a scene and report what would keep it from running");
  check_command->add_option("SCENE", check_arguments.scene, "Scene file, or name of a built-in example")
      ->required();
  check_command->add_option(
      "-o,--output", check_arguments.output,
      "Mesh file for the elements that intersect or are too close; default: NAME-problems.vtu, or "
      "NAME-problems-2.vtu, ... if that exists");
  add_memory_option(*check_command, check_arguments.memory);
  check_command->add_flag("--force", check_arguments.force, "Replace the mesh file if it exists");
  check_command->add_option("--set", check_arguments.overrides, "Change the scene, as for run")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  check_command
      ->add_option("--fix", check_arguments.fixed,
                   "Separate, by as little motion as possible, what intersects or is too close, and write "
                   "the scene to FILE, a new file ending in .json")
      ->type_name("FILE");
  check_command->callback([&] { code = check(check_arguments); });

  std::string verify_directory;
  CLI::App* verify_command =
      app.add_subcommand("verify", "Prove a finished run exactly, from its files alone");
  verify_command->add_option("RUN", verify_directory, "Run directory")->required();
  verify_command->callback([&] { code = verify_run(verify_directory); });

  add_render_commands(app, code);

  std::string example, example_output;
  CLI::App* examples_command =
      app.add_subcommand("examples", "List the built-in scenes, or print one to start from");
  examples_command->add_option("NAME", example, "Print this scene");
  examples_command->add_option("-o,--output", example_output, "Write it to a file instead");
  bool replace_example = false;
  examples_command->add_flag("--force", replace_example, "Replace the file if it exists");
  examples_command->callback([&] {
    if (example.empty() && !example_output.empty())
      throw CLI::ValidationError("--output", "writes one scene; give its NAME");
    code = show_examples(example, example_output, replace_example);
  });

  std::string script, converted;
  CLI::App* convert_command =
      app.add_subcommand("convert", "Convert a scene of another program: " + importable());
  convert_command->add_option("FILE", script, "File of that program; run and check also accept it directly")
      ->required();
  convert_command->add_option("SCENE", converted, "Scene file to write; default: standard output");
  bool replace_converted = false;
  convert_command->add_flag("--force", replace_converted, "Replace the scene file if it exists");
  convert_command->callback([&] { code = convert(script, converted, replace_converted); });

  bool reference = false;
  CLI::App* schema_command = app.add_subcommand("schema", "Print the scene format as JSON Schema");
  schema_command->add_flag("--reference", reference, "Print it as Markdown tables");
  schema_command->callback([&] { code = show_schema(reference); });

  add_view_command(app, code);
  add_ccd_command(app, code);

  if (const std::string unknown = unknown_command(app, argc, argv); !unknown.empty()) {
    fmt::print(stderr, "{}\n", unknown);
    return exit_wrong_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? exit_done : exit_wrong_usage;
  }
  return code;
}

}  // namespace
}  // namespace apart

int main(int argc, char** argv) {
  using namespace apart;
  try {
    const int code = dispatch(argc, argv);
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    fmt::print(stderr, "the output could not be written; check the space on the disk\n");
    return exit_bad_input;
  } catch (const InputError& e) {
    fmt::print(stderr, "{}\n", e.what());
    return exit_bad_input;
  } catch (const SolverError& e) {
    fmt::print(stderr, "{}\n", e.what());
    return exit_solver_failed;
  } catch (const std::filesystem::filesystem_error& e) {
    fmt::print(stderr, "{}: {}; check the path and its permissions\n", e.path1().string(),
               e.code().message());
    return exit_bad_input;
  } catch (const std::system_error& e) {
    fmt::print(stderr, "{}; check that the output can be written\n", e.what());
    return exit_bad_input;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "not enough memory; use coarser meshes or fewer bodies\n");
    return exit_solver_failed;
  } catch (const std::exception& e) {
    fmt::print(stderr, "internal error: {}; please report it together with the scene\n", e.what());
    return exit_internal;
  }
}
