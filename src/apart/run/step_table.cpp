#include <apart/core/error.hpp>
#include <apart/io/table_file.hpp>
#include <apart/run/step_table.hpp>

#include <algorithm>

namespace apart {

namespace {

/// The columns of steps.csv: how each is got from a report, and put back.
struct Column {
  std::string_view name, unit;  ///< unit: empty for numbers and shares
  double (*get)(const StepReport&);
  void (*set)(StepReport&, double);
};
template <auto Member>
constexpr Column column(std::string_view name, std::string_view unit = {}) {
  return {name, unit, [](const StepReport& r) { return double(r.*Member); },
          [](StepReport& r, double v) { r.*Member = std::remove_cvref_t<decltype(r.*Member)>(v); }};
}
constexpr Column columns[] = {
    column<&StepReport::step>("step"),
    column<&StepReport::time>("time", "s"),
    column<&StepReport::substeps>("substeps"),
    column<&StepReport::newton_iterations>("newton_iterations"),
    column<&StepReport::linear_solves>("linear_solves"),
    column<&StepReport::friction_iterations>("friction_iterations"),
    column<&StepReport::friction_unsettled>("friction_unsettled"),
    column<&StepReport::cells>("cells"),
    column<&StepReport::splits>("splits"),
    column<&StepReport::collapses>("collapses"),
    column<&StepReport::swaps>("swaps"),
    column<&StepReport::moves>("moves"),
    column<&StepReport::remesh_trials>("remesh_trials"),
    column<&StepReport::contacts>("contacts"),
    column<&StepReport::min_distance>("min_distance", "m"),
    column<&StepReport::min_gap>("min_gap", "m"),
    column<&StepReport::gap_share>("gap_share"),
    column<&StepReport::min_volume_ratio>("min_volume_ratio"),
    column<&StepReport::max_strain>("max_strain"),
    column<&StepReport::max_stretch>("max_stretch"),
    column<&StepReport::max_compression>("max_compression"),
    column<&StepReport::barrier_stiffness>("barrier_stiffness"),
    column<&StepReport::residual>("residual", "m/s"),
    column<&StepReport::force_residual>("force_residual"),
    column<&StepReport::shortest_step>("shortest_step"),
    column<&StepReport::mean_step>("mean_step"),
    column<&StepReport::kinetic_energy>("kinetic_energy", "J"),
    column<&StepReport::elastic_energy>("elastic_energy", "J"),
    column<&StepReport::gravity_energy>("gravity_energy", "J"),
    column<&StepReport::contact_energy>("contact_energy", "J"),
    column<&StepReport::work>("work", "J"),
    column<&StepReport::energy_gain>("energy_gain", "J"),
    column<&StepReport::joint_error>("joint_error"),
    column<&StepReport::broken_joints>("broken_joints"),
    column<&StepReport::scripted_by_lagrangian>("scripted_by_lagrangian"),
    column<&StepReport::converged>("converged"),
};

}  // namespace

void for_each_column(const StepReport& report, FunctionRef<void(std::string_view, double)> visit) {
  for (const Column& c : columns) visit(c.name, c.get(report));
}

void for_each_unit(FunctionRef<void(std::string_view, std::string_view)> visit) {
  for (const Column& c : columns)
    if (!c.unit.empty()) visit(c.name, c.unit);
}

std::string step_header() {
  std::string line;
  for (const Column& c : columns) line += (line.empty() ? "" : ",") + std::string(c.name);
  return line;
}

std::string step_line(const StepReport& report) {
  std::string line;
  for (const Column& c : columns) line += fmt::format("{}{}", line.empty() ? "" : ",", c.get(report));
  return line;
}

std::vector<StepReport> read_steps(const std::filesystem::path& file, Index last) {
  std::vector<StepReport> steps;
  if (last == 0) return steps;
  const Table table = read_table(file, std::size_t(last));
  if (!std::ranges::equal(table.names, columns, {}, {}, &Column::name))
    throw InputError("{}: is not the list of steps of this version; start the run again", file.string());
  if (table.rows() < std::size_t(last))
    throw InputError("{}: ends before step {}; start the run again", file.string(), last);
  for (std::size_t row = 0; row < std::size_t(last); ++row) {
    StepReport report;
    for (std::size_t c = 0; c < std::size(columns); ++c) columns[c].set(report, table.columns[c][row]);
    steps.push_back(report);
  }
  return steps;
}

}  // namespace apart
