#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <utility>

namespace apart {

/// What one step did: a row of steps.csv.
struct StepReport {
  Index step = 0;
  double time = 0;   ///< [s] at the end of the step
  int substeps = 0;  ///< parts that it was divided into; 1: none
  int newton_iterations = 0;
  int linear_solves = 0;
  int friction_iterations = 0;      ///< lagged solves
  bool friction_unsettled = false;  ///< the last was accepted although friction still changed
  Index cells = 0;                  ///< of volumes, at the end
  Index splits = 0, collapses = 0;  ///< of edges, in the meshes of volumes
  Index swaps = 0, moves = 0;       ///< of cells, and of points inside at rest
  Index remesh_trials = 0;          ///< operations that were tried
  Index contacts = 0;       ///< active contacts at the end; of a divided step, the most at the end of a part
  double min_distance = 0;  ///< smallest distance there [m]; infinity if nothing is near
  double min_gap = 0;       ///< the same minus thickness, over every accepted iterate
  double gap_share = 1;  ///< mean of gap/d̂ over the contacts, weighted by their force; 1 if there are none
  double min_volume_ratio = 1;  ///< smallest V/V₀ over elements
  double max_strain = 0;        ///< largest |σ − 1| over the stretches σ of elements: the larger of
  double max_stretch = 0, max_compression = 0;  ///< largest σ − 1, and 1 − σ
  double barrier_stiffness = 0;                 ///< κ
  double residual = 0;                          ///< last Newton step / dt [m/s]
  double force_residual = 0;                    ///< ForceBalance::share at the end
  double shortest_step = 1;                     ///< smallest share of a Newton step that could be taken
  double mean_step = 1;                         ///< mean of these shares; more than 1 is counted as 1
  double kinetic_energy = 0, elastic_energy = 0, gravity_energy = 0, contact_energy = 0;  ///< [J] at the end
  double work = 0;  ///< [J] done in the step by gravity, loads, wind, attachments, joints and scripted motion
  /// [J] by which kinetic, elastic and contact energy grew beyond that; negative: lost
  double energy_gain = 0;
  double joint_error = 0;               ///< largest error of a joint, as a share of what is allowed
  Index broken_joints = 0;              ///< joints that broke at the end of the step
  bool scripted_by_lagrangian = false;  ///< the augmented Lagrangian was needed [thesis A.5]
  bool converged = false;
};

/// A contact and its normal force.
struct ContactForce {
  std::pair<int, int> bodies;                      ///< of the first and the second primitive
  std::array<Index, 4> points = {-1, -1, -1, -1};  ///< output points that take part; of a half-space none
  Vector4 weights = Vector4::Zero();               ///< of these points, as in ClosestFeature
  Vector3 direction = Vector3::Zero();             ///< unit vector from the second primitive to the first
  double magnitude = 0;                            ///< [N]
  double distance = 0;                             ///< [m]
};

/// The report of a step: `sum` of the parts so far, `next` of the part after these.
StepReport joined(const StepReport& sum, StepReport next);

}  // namespace apart
