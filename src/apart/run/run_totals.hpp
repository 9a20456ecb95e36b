#pragma once
// What summary.json says about a run as a whole, also across interruptions.
#include <apart/simulation/simulation.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace apart {

/// All steps together.
struct Totals {
  Index steps = 0, converged_steps = 0, friction_unsettled_steps = 0;
  std::int64_t newton_iterations = 0, linear_solves = 0, contacts = 0;
  Index max_contacts = 0;
  double min_distance = std::numeric_limits<double>::infinity();
  double min_gap = std::numeric_limits<double>::infinity();
  double min_volume_ratio = 1, max_strain = 0, max_stretch = 0, max_compression = 0, max_force_residual = 0;
  std::int64_t substeps = 0;
  Index divided_steps = 0, broken_joints = 0;
  Index cells = 0;  ///< of volumes, at the end
  Index splits = 0, collapses = 0, swaps = 0, moves = 0, remesh_trials = 0;
  double gained = 0,
         most_gained = 0;  ///< [J] gained without work since energy was last lost; largest share of the total
  double energy = 0, work = 0, least_work = 0, most_work = 0;  ///< [J] after the first step; done since then

  void add(const StepReport& report);
};

/// Share of the total energy that may be gained without work before the run warns.
inline constexpr double much_energy = 0.2;

/// What the exact check has found so far.
struct Findings {
  bool checked = false;
  std::optional<std::string> intersection, inversion, strain, thickness;  ///< the first of each
  const std::optional<std::string>& first() const {
    return intersection ? intersection : inversion ? inversion : strain ? strain : thickness;
  }
};

/// What a resumed run has done before.
struct Spent {
  bool refuted = false;
  Findings findings;
  double wall = 0, cpu = 0;  ///< [s]
  std::array<double, phase_names.size()> timings{};
};

/// From a summary.json; nothing if there is none.
Spent read_spent(const std::filesystem::path& summary);

}  // namespace apart
