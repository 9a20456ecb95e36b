// The program apart: arguments, messages and exit codes.
#include <apart/cli/ccd_command.hpp>
#include <apart/cli/check_command.hpp>
#include <apart/cli/exit_codes.hpp>
#include <apart/cli/manual_command.hpp>
#include <apart/cli/messages.hpp>
#include <apart/cli/new_command.hpp>
#include <apart/cli/output_file.hpp>
#include <apart/cli/plot_command.hpp>
#include <apart/cli/render_command.hpp>
#include <apart/cli/run_command.hpp>
#include <apart/cli/sweep_command.hpp>
#include <apart/cli/view_command.hpp>
#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/importers/importers.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/run/certify_run.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/schema.hpp>
#include <apart/scene/sized_examples.hpp>
#include <apart/scene/validation.hpp>
#include <apart/solver/dense_blas.hpp>
#include <apart/verify/certificate.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <new>

namespace apart {
namespace {

namespace fs = std::filesystem;

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

struct ExamplesArguments {
  std::string name, output;
  std::optional<Index> size;
  bool force = false;
};

int show_examples(const ExamplesArguments& arguments) {
  if (arguments.size) {
    const SceneDescription scene = make_sized_example(arguments.name, *arguments.size);
    write_text(arguments.output, readable_text(brief_json(scene)), arguments.force);
    return exit_done;
  }
  if (!arguments.name.empty()) {
    write_text(arguments.output, find_example(arguments.name).text, arguments.force);
    return exit_done;
  }
  std::size_t widest = 0;
  for (const Example& example : examples()) widest = std::max(widest, example.name.size());
  for (const Example& example : examples()) {
    const JsonValue scene = parse_json(example.text, std::string(example.name));
    fmt::print("{:<{}}  {}\n", example.name, widest, LocatedJson(scene)["description"].text());
  }
  fmt::print("\nIn any size, with --size:\n");
  for (const SizedExample& example : sized_examples())
    fmt::print("{:<{}}  {}\n", example.name, widest, example.count);
  return exit_done;
}

/// "a script of ... or a fixture of ...".
std::string importable() {
  std::string list;
  for (const SceneImporter& row : importers())
    list += fmt::format("{}{}", list.empty() ? "" : " or ", row.name);
  return list;
}

struct ConvertArguments {
  std::string file, output;
  bool force = false, physical = false;
};

int convert(const ConvertArguments& arguments) {
  const auto& [file, output, force, physical] = arguments;
  const SceneImporter* importer = importer_of(file);
  if (!importer) throw InputError("{}: must be {}; give such a file", file, importable());
  if (physical && !importer->has_conventions)
    throw InputError(
        "--physical has no effect on {}, which is {}: its values are taken as they are; remove it", file,
        importer->name);
  const fs::path folder = output.empty() ? fs::current_path() : fs::absolute(output).parent_path();
  const ImportedScene imported = importer->import(file, {folder, physical});
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

  add_new_command(app, code);
  add_run_command(app, code);
  add_check_command(app, code);

  std::string verify_directory;
  CLI::App* verify_command =
      app.add_subcommand("verify", "Prove a finished run exactly, from its files alone");
  verify_command->add_option("RUN", verify_directory, "Run directory")->required();
  verify_command->callback([&] { code = verify_run(verify_directory); });

  add_render_commands(app, code);

  ExamplesArguments example;
  CLI::App* examples_command =
      app.add_subcommand("examples", "List the built-in scenes, or print one to start from");
  examples_command->add_option("NAME", example.name, "Print this scene");
  examples_command->add_option("-o,--output", example.output, "Write it to a file instead");
  examples_command->add_option("--size", example.size,
                               "Make it in this size; the list says what that counts, and for which scenes");
  examples_command->add_flag("--force", example.force, "Replace the file if it exists");
  examples_command->callback([&] {
    if (example.name.empty() && (!example.output.empty() || example.size))
      throw CLI::ValidationError(example.size ? "--size" : "--output", "is of one scene; give its NAME");
    code = show_examples(example);
  });

  ConvertArguments conversion;
  CLI::App* convert_command =
      app.add_subcommand("convert", "Convert a scene of another program: " + importable());
  convert_command
      ->add_option("FILE", conversion.file, "File of that program; run and check also accept it directly")
      ->required();
  convert_command->add_option("SCENE", conversion.output, "Scene file to write; default: standard output");
  convert_command->add_flag("--physical", conversion.physical,
                            "Of fixtures of Rigid IPC: take torques in N m and the true inertia of hinges, "
                            "where that program departs from them");
  convert_command->add_flag("--force", conversion.force, "Replace the scene file if it exists");
  convert_command->callback([&] { code = convert(conversion); });

  bool reference = false;
  CLI::App* schema_command = app.add_subcommand("schema", "Print the scene format as JSON Schema");
  schema_command->add_flag("--reference", reference, "Print it as Markdown tables");
  schema_command->callback([&] { code = show_schema(reference); });

  add_view_command(app, code);
  add_plot_command(app, code);
  add_sweep_command(app, code);
  add_ccd_command(app, code);
  add_manual_commands(app, code);

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
  stop_blas_threads();
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
