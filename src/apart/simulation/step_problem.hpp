#pragma once
#include <apart/simulation/body_motion.hpp>
#include <apart/simulation/joint_control.hpp>
#include <apart/simulation/scripted_motion.hpp>
#include <apart/simulation/sleep.hpp>
#include <apart/simulation/step_terms.hpp>
#include <apart/simulation/stiffness_policy.hpp>
#include <apart/solver/newton.hpp>

namespace apart {

/// How well forces balance.
struct ForceBalance {
  double share = 0;  ///< largest unbalanced force on a node / largest force on a node of its body
  /// The same as a multiple of what is allowed: force_tolerance plus the rounding error of the forces.
  double imbalance = 0;
  int body = -1;  ///< whose forces balance least; −1: none is free
};

/// The minimisation problem of one time step: the terms, the objective that sums them, and the two policies
/// that change it during a solve, scripted motion and contact stiffness.
///
/// begin() turns a state into the problem of the next step: the time integrator gives the prediction q̃ and
/// the scale s of the energies, loads and damping are evaluated for the step, scripted coordinates are held
/// or given targets, and friction is lagged. The problem keeps no history: it is made from the model alone,
/// and whatever must survive a step is in State, so that a resumed run has the same bits. Candidate pairs are
/// kept from step to step, which saves time and changes no result.
struct StepProblem {
  /// `bodies_present`: one entry per body. Absent bodies are at rest and take part in nothing.
  StepProblem(const Model& m, std::vector<char> bodies_present, Timings& time_spent,
              const Teamwork& work = {});

  /// Sets up the step from `state` to the time `end`, `length` [s] later.
  void begin(const State& state, double end, double length);
  OwnWork own_work();
  /// Lags friction: takes its normal forces and tangent planes from the contacts at the vertices x, where
  /// these must be prepared.
  void lag_friction(const Matrix3X& x);
  /// Where the objective is, with its gradient there. Each body is measured against its own forces, so that a
  /// light body is solved accurately beside heavily loaded ones.
  ForceBalance force_balance(const Gradient& gradient) const;

  /// A bound on the Newton step with this gradient [m]: E is at least as stiff as inertia alone, H ⪰ M, hence
  /// ‖p‖_M ≤ ‖g‖ in the norm of M⁻¹.
  double longest_step(const Gradient& gradient) const;

  /// Accelerations by all forces but contact and friction at `state`, from which the step that ends at `time`
  /// [s] begins [m/s²]. Zero where coordinates are held. Leaves no step begun.
  Matrix3X start_acceleration(const State& state, double time);
  /// Where all nodes would be `time` [s] after `state` if nothing but gravity and scripts moved them [m].
  Matrix3X predicted(const State& state, double time) const;
  bool has_friction() const;
  /// Absent bodies keep their position and velocity in the state after the step, so that they can appear with
  /// them.
  void keep_absent(const State& before, State& after) const;
  /// Of the bodies that are there, with the coordinates that are held now.
  BodyMotion body_motion() const { return {model, present, scripted.held()}; }

  const Model& model;
  Timings& timings;
  const std::vector<char> present;
  StepTerms terms;
  Objective objective;
  StiffnessPolicy stiffness;
  ScriptedMotion scripted;
  Sleep sleep;
  JointControl joints;
  std::unique_ptr<LinearSolver> linear_solver;
  const VectorX least_mass;  ///< of each body: a lower bound of M in its unknowns [kg]

  // Of the step begun last.
  TimeStep time_step;
  double end_time = 0;  ///< [s]
  double dt = 0;        ///< its length [s]
};

/// Which bodies are present in the step that ends at `time` [s].
std::vector<char> present_bodies(const Model& model, double time);

}  // namespace apart
