#include <apart/cli/exit_codes.hpp>
#include <apart/cli/output_file.hpp>
#include <apart/cli/plot_command.hpp>
#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/table_file.hpp>
#include <apart/scene/validation.hpp>
#include <apart/viewer/plot.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <nlohmann/json.hpp>

namespace apart {
namespace {

namespace fs = std::filesystem;

struct PlotArguments {
  std::vector<std::string> runs, y;
  std::string x = "time", output;
  PlotSize size;
  bool logarithmic_x = false, logarithmic_y = false, force = false;
};

/// As summary.json lists them; null without a readable one, and for runs of earlier versions.
nlohmann::json units_of_columns(const fs::path& run) {
  std::error_code error;
  if (!fs::exists(run / "summary.json", error)) return {};
  const auto summary = nlohmann::json::parse(FileReader(run / "summary.json").content(), nullptr, false);
  return summary.is_object() ? summary.value("units", nlohmann::json()) : nlohmann::json();
}

/// The tables of a run.
struct RunTables {
  std::string run;
  std::vector<Table> tables;  ///< steps.csv, and probes.csv if there is one
  nlohmann::json units;       ///< of columns; null if the run does not say

  explicit RunTables(const std::string& directory) : run(directory) {
    if (!fs::is_directory(directory))
      throw InputError("{}: no such run directory; name one that 'apart run' has written", directory);
    tables.push_back(read_table(fs::path(directory) / "steps.csv"));
    std::error_code error;
    if (const fs::path probes = fs::path(directory) / "probes.csv"; fs::exists(probes, error))
      tables.push_back(read_table(probes));
    units = units_of_columns(directory);
  }

  /// What stands beside an axis or a curve.
  std::string label(const std::string& name) const {
    const auto unit = units.is_object() ? units.find(name) : units.end();
    return unit != units.end() && unit->is_string() ? fmt::format("{} [{}]", name, unit->get<std::string>())
                                                    : name;
  }

  const std::vector<double>& column(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const Table& table : tables) {
      if (const std::vector<double>* found = table.find(name)) return *found;
      names.insert(names.end(), table.names.begin(), table.names.end());
    }
    const std::string near = nearest_name(name, names);
    throw InputError("{}: has no column '{}'; {}", run, name,
                     near.empty() ? fmt::format("its columns are {}", fmt::join(names, ", "))
                                  : fmt::format("did you mean '{}'?", near));
  }

  /// What is shown if nothing is asked for: the probes, or else the contacts.
  std::vector<std::string> usual_columns() const {
    if (tables.size() == 1) return {"contacts"};
    return {tables[1].names.begin() + 2, tables[1].names.end()};  // without step and time
  }
};

/// One column of all runs.
Plot plot_of(const std::vector<RunTables>& runs, const std::string& column, const PlotArguments& arguments) {
  Plot plot{
      .title = column, .x_label = runs[0].label(arguments.x), .y_label = runs[0].label(column), .curves = {}};
  plot.logarithmic_x = arguments.logarithmic_x;
  plot.logarithmic_y = arguments.logarithmic_y;
  for (const RunTables& run : runs) {
    PlotCurve curve{run.run, run.column(arguments.x), run.column(column)};
    // A step that is being written may be in one table only.
    const std::size_t rows = std::min(curve.x.size(), curve.y.size());
    curve.x.resize(rows);
    curve.y.resize(rows);
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

/// All columns in one diagram.
Plot joined_plot(const std::vector<Plot>& plots, bool several_runs) {
  if (plots.size() == 1) return plots[0];
  Plot all = plots[0];
  all.title = all.y_label = "";
  all.curves.clear();
  for (const Plot& plot : plots)
    for (const PlotCurve& curve : plot.curves)
      all.curves.push_back(
          {several_runs ? fmt::format("{}: {}", curve.name, plot.y_label) : plot.y_label, curve.x, curve.y});
  return all;
}

int plot(const PlotArguments& arguments) {
  std::vector<RunTables> runs;
  for (const std::string& run : arguments.runs) runs.emplace_back(run);
  const std::vector<std::string> columns = arguments.y.empty() ? runs[0].usual_columns() : arguments.y;
  const fs::path output = arguments.output.empty() ? fresh_file("plot.svg") : fs::path(arguments.output);
  const std::string ending = lower_case(output.extension().string());
  if (ending != ".svg" && ending != ".png" && ending != ".html")
    throw InputError("{}: must end in .svg, .png or .html", output.string());
  ensure_may_write(output, arguments.force);
  std::vector<Plot> plots;
  for (const std::string& column : columns) plots.push_back(plot_of(runs, column, arguments));
  if (ending == ".html") {
    write_atomically(output,
                     plot_page(fmt::format("{}", fmt::join(arguments.runs, ", ")), plots, arguments.size));
  } else {
    const Plot all = joined_plot(plots, runs.size() > 1);
    if (ending == ".svg")
      write_atomically(output, plot_svg(all, arguments.size));
    else
      write_png(output, plot_image(all, arguments.size));
  }
  fmt::print("{}\n", output.string());
  return exit_done;
}

}  // namespace

void add_plot_command(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<PlotArguments>();
  CLI::App* command =
      app.add_subcommand("plot", "Draw columns of steps.csv and probes.csv of runs as curves");
  command->add_option("RUN", arguments->runs, "Run directories; several are drawn together")
      ->required()
      ->expected(1, 64);
  command->add_option("-x", arguments->x, "Column along the horizontal axis; default: time")
      ->type_name("COLUMN");
  command
      ->add_option("-y", arguments->y,
                   "Columns along the vertical axis; may be repeated; default: all probes, or contacts if "
                   "there are none")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
  command->add_option(
      "-o,--output", arguments->output,
      "File ending in .svg, .png or .html, which has a diagram for each column; default: plot.svg");
  command->add_flag("--log-x", arguments->logarithmic_x, "Logarithmic horizontal axis");
  command->add_flag("--log-y", arguments->logarithmic_y, "Logarithmic vertical axis");
  command->add_option("--width", arguments->size.width, "In pixels; default: 800")
      ->check(CLI::Range(200, 8192));
  command->add_option("--height", arguments->size.height, "In pixels; default: 500")
      ->check(CLI::Range(200, 8192));
  command->add_flag("--force", arguments->force, "Replace the file if it exists");
  command->callback([arguments, &code] { code = plot(*arguments); });
}

}  // namespace apart
