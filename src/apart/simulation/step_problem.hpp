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
  double imbalance =
      0;          ///< the same as a multiple of what is allowed: force_tolerance, and what rounding costs
  int body = -1;  ///< whose forces balance least; −1: none is free
};

/// The minimisation that one time step is: the terms, their sum, and who decides about scripted motion and
/// contact stiffness. Made from the model alone; whatever must survive a step is in State.
struct StepProblem {
  /// `bodies_present`: one entry per body; the others rest and nothing sees them.
  StepProblem(const Model& m, std::vector<char> bodies_present, Timings& timings);

  /// Sets up the step from `state` to the time `end`, `length` [s] later.
  void begin(const State& state, double end, double length);
  /// Takes contact forces and sliding planes of friction from the contacts, which must be prepared at the
  /// vertices x.
  void lag_friction(const Matrix3X& x);
  /// Of the objective as it was last prepared, with this gradient in the unknowns. Each body is measured
  /// against its own forces: a light one need not be lost beside a press.
  ForceBalance force_balance(const Matrix3X& gradient) const;

  /// Accelerations of a state with which the step that ends at `time` [s] begins, by all forces but contact
  /// and friction [m/s²]. Zero where coordinates are given. Leaves no step begun.
  Matrix3X start_acceleration(const State& state, double time);
  /// Where all nodes would be `time` [s] after `state` if nothing but gravity and scripts moved them [m].
  Matrix3X predicted(const State& state, double time) const;
  bool has_friction() const;
  /// Of the bodies that are there, with the coordinates that are held now.
  BodyMotion body_motion() const { return {model, present, scripted.held()}; }

  const Model& model;
  const std::vector<char> present;
  StepTerms terms;
  Objective objective;
  StiffnessPolicy stiffness;
  ScriptedMotion scripted;
  Sleep sleep;
  JointControl joints;
  std::unique_ptr<LinearSolver> linear_solver;

  // Of the step begun last.
  TimeStep time_step;
  double end_time = 0;  ///< [s]
  double dt = 0;        ///< its length [s]
};

/// Which bodies are there in the step that ends at `time` [s].
std::vector<char> present_bodies(const Model& model, double time);

}  // namespace apart
