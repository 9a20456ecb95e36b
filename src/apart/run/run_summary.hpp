#pragma once
#include <apart/run/run_totals.hpp>
#include <apart/scene/scene_builder.hpp>

namespace apart {

/// What summary.json says of a run.
struct RunSummary {
  const Scene& scene;
  const Model& model;  ///< with the meshes as they are
  const Totals& totals;
  const Findings& findings;
  std::string_view status;
  const std::string& reason;  ///< why it has ended; may be empty
  const std::vector<std::string>& warnings;
  double simulated = 0, wall = 0, cpu = 0;  ///< [s]
  std::array<double, phase_names.size()> timings{};
  bool has_thickness = false, has_limits = false;  ///< whether there is anything to check of them
  Index dofs = 0, frames = 0;
  std::string scene_digest = {}, run_digest = {};
};

/// As JSON, with a line break at the end.
std::string text_of(const RunSummary& run);

}  // namespace apart
