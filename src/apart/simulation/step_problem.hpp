#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/potentials/air_drag.hpp>
#include <apart/potentials/boundary_target.hpp>
#include <apart/potentials/friction.hpp>
#include <apart/potentials/inertia.hpp>
#include <apart/potentials/nodal_forces.hpp>
#include <apart/potentials/rayleigh_damping.hpp>
#include <apart/potentials/springs.hpp>
#include <apart/potentials/surface_pressure.hpp>
#include <apart/simulation/elastic_parts.hpp>
#include <apart/simulation/scripted_nodes.hpp>
#include <apart/simulation/time_integrator.hpp>
#include <apart/solver/barrier_stiffness.hpp>
#include <apart/solver/newton.hpp>

namespace apart {

/// How well forces balance.
struct ForceBalance {
  double share = 0;  ///< largest unbalanced force on a node / largest force on a node of its body
  double imbalance =
      0;          ///< the same as a multiple of what is allowed: force_tolerance, and what rounding costs
  int body = -1;  ///< whose forces balance least; −1: none is free
};

/// The minimisation that one time step is: potentials, solvers, and the parts of a step between the solves.
/// Made from the model alone; whatever must survive a step is in State.
struct StepProblem {
  /// `bodies_present`: one entry per body; the others rest and nothing sees them.
  StepProblem(const Model& m, std::vector<char> bodies_present, Timings& timings);

  /// Sets up the step from `state` to the time `end`, `length` [s] later: inertia, loads, damping and
  /// friction.
  void begin(const State& state, double end, double length);
  /// Accelerations of a state with which the step that ends at `time` [s] begins, by all forces but contact
  /// and friction [m/s²]. Zero where coordinates are given. Leaves no step begun.
  Matrix3X start_acceleration(const State& state, double time);
  /// Where all nodes would be `time` [s] after `state` if nothing but gravity and scripts moved them [m].
  Matrix3X predicted(const State& state, double time) const;
  /// Moves prescribed coordinates from where they are in `state` to where they should be at the end, along
  /// the curve that they are given, as far as that is feasible; `passed` sees the corners of that way. False
  /// if it was not: then the moving ones are set free and pulled by the augmented Lagrangian. [thesis A.5]
  bool move_scripted(const State& state, Matrix3X& q, FunctionRef<void(const Matrix3X&)> passed);
  /// κ for the step.
  void choose_stiffness(const Matrix3X& q);
  /// Takes contact forces and sliding bases of friction from where the contact was last prepared, `x`.
  void lag_friction(const Matrix3X& x);
  /// Where the objective was last prepared and has this gradient in the unknowns. Each body is measured
  /// against its own forces: a light one need not be lost beside a press.
  ForceBalance force_balance(const Matrix3X& gradient);
  /// Called with each iterate: once the pulled coordinates are nearly where they should be they are held
  /// where they are, and true is returned. [thesis A.5]
  bool hold_at_target(const Matrix3X& q);
  /// Called when Newton is stationary; true if the problem was changed. [thesis algorithm A.1]
  bool pull_to_target(const Matrix3X& q);

  /// Which part of `elastic.membranes` a body is; −1: none, or it is not there.
  Index membrane_part(int body) const;
  /// Friction on every collision vertex as it acted in the solve that ended where the objective was last
  /// prepared: with the lagged contact forces and sliding planes [N].
  Matrix3X friction_forces() const;
  /// The force [N] that every node needs besides all forces of the step, to move as it does, where the
  /// objective was last prepared: zero, to the solver's tolerance, where nothing holds it.
  Matrix3X holding_forces() const;
  /// What contact and friction accelerate each node by [m/s²], where the objective was last prepared. Zero
  /// where coordinates are held.
  Matrix3X contact_acceleration() const;

  const Model& model;
  const std::vector<char> present;
  const CollisionSurface surface;  ///< the model's, without contact of absent bodies
  ScriptedNodes scripted;
  CandidateCache candidates;
  Inertia inertia;
  ElasticParts elastic;
  NodalForces loads;
  RayleighDamping damping;
  BoundaryTarget target;
  BarrierContact contact;
  Friction friction;
  SurfacePressure pressure;
  Springs springs;
  AirDrag drag;
  Objective objective;
  std::unique_ptr<LinearSolver> linear_solver;
  std::vector<Index> first_cell;      ///< of each body, in `elastic.cells`
  std::vector<Index> first_triangle;  ///< of each body, in `elastic.membranes`
  Matrix3X gravity;                   ///< acceleration of every node [m/s²]
  Matrix3X gravity_force;             ///< on every node [N]
  double mean_mass = 1;               ///< of the dynamic nodes [kg]
  double mean_thin_mass = 0;          ///< of those of shells, rods and particles; 0 if there are none [kg]
  StiffnessRange range;               ///< of κ by the published rule
  double usual_stiffness = 0;         ///< of a node when all others are held: median at the start [N/m]
  bool with_friction = false;

  // Of the step begun last.
  TimeStep time_step;
  double end_time = 0;   ///< [s]
  double dt = 0;         ///< its length [s]
  bool divided = false;  ///< it, or the one before, is a part of a step
  Matrix3X anchors;      ///< State::anchors at its end
  ScriptedNodes::Mask held;
  double last_stiffness = 0;      ///< κ of the step before, for this one's length; 0 at the start
  double resting_stiffness = 0;   ///< κ that would let contacts rest where they should; 0: nothing touches
  double target_start_error = 1;  ///< squared, when the augmented Lagrangian began [m²]

  /// κ by the adaptive rule when nothing has touched yet, and how far it may go from there, in the step begun
  /// last.
  StiffnessRange adaptive_range() const;

 private:
  /// κ in the step begun last for the forces that contacts are first made for in steps of `length` [s], until
  /// there are some.
  double start_stiffness(double length) const;
  double target_progress(const Matrix3X& q) const;
  double target_stiffness() const;  ///< of the augmented Lagrangian at first
  /// Whether gaps are still a fair share of d̂ after a move, or nearly what they were.
  bool keeps_gaps(const Matrix3X& from, const Matrix3X& to);
  void follow_script(const State& state);
  void set_loads(const State& state, const Matrix3X& x);
};

/// Which bodies are there in the step that ends at `time` [s].
std::vector<char> present_bodies(const Model& model, double time);

/// Given forces on all nodes at a time [N], gravity not among them.
Matrix3X load_forces(const Model& model, double time);

}  // namespace apart
