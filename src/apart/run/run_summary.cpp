#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/run/probe_table.hpp>
#include <apart/run/run_summary.hpp>
#include <apart/run/step_table.hpp>

#include <nlohmann/json.hpp>

#include <cmath>

namespace apart {

namespace {

nlohmann::json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace

std::string text_of(const RunSummary& run) {
  const Totals& totals = run.totals;
  const Findings& findings = run.findings;
  nlohmann::ordered_json json;
  json["scene"] = run.scene.name;
  json["version"] = version();
  json["status"] = run.status;
  json["interrupted"] = run.status == "interrupted";
  if (!run.reason.empty()) json["reason"] = run.reason;
  json["warnings"] = run.warnings;
  json["steps"] = totals.steps;
  json["converged_steps"] = totals.converged_steps;
  json["friction_unsettled_steps"] = totals.friction_unsettled_steps;
  json["termination"] =
      run.model.options.solver.termination == Termination::balanced ? "balanced" : "newton_step";
  json["max_force_residual"] = totals.max_force_residual;
  json["simulated_seconds"] = run.simulated;
  json["wall_seconds"] = run.wall;
  json["cpu_seconds"] = run.cpu;
  json["threads"] = thread_count();
  json["newton_iterations"] = totals.newton_iterations;
  json["linear_solves"] = totals.linear_solves;
  json["max_contacts"] = totals.max_contacts;
  json["mean_contacts"] = totals.steps > 0 ? double(totals.contacts) / totals.steps : 0.0;
  json["min_distance"] = finite_or_null(totals.min_distance);
  json["min_gap"] = finite_or_null(totals.min_gap);
  json["min_volume_ratio"] = totals.min_volume_ratio;
  json["max_strain"] = totals.max_strain;
  json["max_stretch"] = totals.max_stretch;
  json["max_compression"] = totals.max_compression;
  json["substeps"] = totals.substeps;
  json["divided_steps"] = totals.divided_steps;
  json["energy_gain"] = totals.most_gained;
  if (!run.model.joints.empty()) json["broken_joints"] = totals.broken_joints;
  if (run.model.remesher) {
    json["cells"] = totals.cells;
    json["splits"] = totals.splits;
    json["collapses"] = totals.collapses;
    json["swaps"] = totals.swaps;
    json["moves"] = totals.moves;
    json["remesh_trials"] = totals.remesh_trials;
  }
  json["peak_rss_bytes"] = process_peak_bytes();
  json["intersection_free"] = findings.checked ? nlohmann::json(!findings.intersection) : nlohmann::json();
  json["inversion_free"] = findings.checked
                               ? nlohmann::json(!findings.inversion && totals.min_volume_ratio > 0)
                               : nlohmann::json();
  json["thickness_kept"] =
      findings.checked && run.has_thickness ? nlohmann::json(!findings.thickness) : nlohmann::json();
  json["strain_within_limits"] =
      findings.checked && run.has_limits ? nlohmann::json(!findings.strain) : nlohmann::json();
  for (std::size_t i = 0; i < phase_names.size(); ++i)
    json["timings"][std::string(phase_names[i])] = run.timings[i];
  json["dofs"] = run.dofs;
  json["bodies"] = run.model.bodies.size();
  json["nodes"] = run.model.node_count();
  json["size"] = run.model.size;
  json["frames"] = run.frames;
  const auto add_unit = [&](std::string_view column, std::string_view unit) {
    json["units"][std::string(column)] = unit;
  };
  for_each_unit(add_unit);
  for_each_unit(run.scene.probes, add_unit);
  json["scene_digest"] = run.scene_digest;
  json["run_digest"] = run.run_digest;
  return json.dump(2) + "\n";
}

}  // namespace apart
