#include <apart/simulation/step_report.hpp>

#include <algorithm>

namespace apart {

StepReport joined(const StepReport& sum, StepReport next) {
  if (sum.substeps == 0) return next;
  const int a = sum.newton_iterations, b = next.newton_iterations;
  if (a + b > 0) next.mean_step = (sum.mean_step * a + next.mean_step * b) / (a + b);
  next.newton_iterations += sum.newton_iterations;
  next.linear_solves += sum.linear_solves;
  next.friction_iterations += sum.friction_iterations;
  next.friction_unsettled |= sum.friction_unsettled;
  next.splits += sum.splits;
  next.collapses += sum.collapses;
  next.swaps += sum.swaps;
  next.moves += sum.moves;
  next.remesh_trials += sum.remesh_trials;
  next.contacts = std::max(sum.contacts, next.contacts);  // a touch in the middle of a step is one
  next.min_distance = std::min(sum.min_distance, next.min_distance);
  next.min_gap = std::min(sum.min_gap, next.min_gap);
  next.force_residual = std::max(sum.force_residual, next.force_residual);
  next.shortest_step = std::min(sum.shortest_step, next.shortest_step);
  next.scripted_by_lagrangian |= sum.scripted_by_lagrangian;
  next.joint_error = std::max(sum.joint_error, next.joint_error);
  next.broken_joints += sum.broken_joints;
  next.substeps += sum.substeps;
  next.work += sum.work;
  next.energy_gain += sum.energy_gain;
  return next;
}

}  // namespace apart
