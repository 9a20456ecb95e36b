#include <apart/io/file_reader.hpp>
#include <apart/run/run_totals.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace apart {

void Totals::add(const StepReport& r) {
  ++steps;
  substeps += r.substeps;
  divided_steps += r.substeps > 1;
  broken_joints += r.broken_joints;
  cells = r.cells;
  splits += r.splits;
  collapses += r.collapses;
  swaps += r.swaps;
  moves += r.moves;
  remesh_trials += r.remesh_trials;
  if (steps == 1) {
    energy = r.kinetic_energy + r.elastic_energy + r.contact_energy;
  } else {
    work += r.work;
    least_work = std::min(least_work, work);
    most_work = std::max(most_work, work);
    gained = std::max(0.0, gained + r.energy_gain);
    if (const double supply = energy + most_work - least_work; supply > 0)
      most_gained = std::max(most_gained, gained / supply);
  }
  converged_steps += r.converged;
  friction_unsettled_steps += r.friction_unsettled;
  newton_iterations += r.newton_iterations;
  linear_solves += r.linear_solves;
  contacts += r.contacts;
  max_contacts = std::max(max_contacts, r.contacts);
  min_distance = std::min(min_distance, r.min_distance);
  min_gap = std::min(min_gap, r.min_gap);
  min_volume_ratio = std::min(min_volume_ratio, r.min_volume_ratio);
  max_strain = std::max(max_strain, r.max_strain);
  max_stretch = std::max(max_stretch, r.max_stretch);
  max_compression = std::max(max_compression, r.max_compression);
  max_force_residual = std::max(max_force_residual, r.force_residual);
}

Spent read_spent(const std::filesystem::path& summary) {
  Spent spent;
  std::error_code error;
  if (!std::filesystem::exists(summary, error)) return spent;
  try {
    const auto json = nlohmann::json::parse(FileReader(summary).content());
    spent.refuted = json.at("status") == "refuted";
    for (const auto& [key, finding] : {std::pair("intersection_free", &spent.findings.intersection),
                                       std::pair("inversion_free", &spent.findings.inversion),
                                       std::pair("strain_within_limits", &spent.findings.strain),
                                       std::pair("thickness_kept", &spent.findings.thickness)})
      if (json.value(key, nlohmann::json()) == false)
        *finding = fmt::format("{} was false before the run was resumed", key);
    spent.wall = json.at("wall_seconds").get<double>();
    spent.cpu = json.at("cpu_seconds").get<double>();
    for (std::size_t i = 0; i < phase_names.size(); ++i)
      spent.timings[i] = json.at("timings").value(std::string(phase_names[i]), 0.0);
  } catch (const nlohmann::json::exception&) {
    return {};  // without a readable summary only the times spent before are lost
  }
  return spent;
}

}  // namespace apart
