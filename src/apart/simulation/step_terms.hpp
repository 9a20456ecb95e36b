#pragma once
#include <apart/core/diagnostics.hpp>
#include <apart/potentials/air_drag.hpp>
#include <apart/potentials/curved_pressure.hpp>
#include <apart/potentials/friction.hpp>
#include <apart/potentials/inertia.hpp>
#include <apart/potentials/joints.hpp>
#include <apart/potentials/nodal_forces.hpp>
#include <apart/potentials/rayleigh_damping.hpp>
#include <apart/potentials/script_target.hpp>
#include <apart/potentials/springs.hpp>
#include <apart/potentials/surface_pressure.hpp>
#include <apart/simulation/elastic_parts.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/teamwork.hpp>
#include <apart/simulation/time_integrator.hpp>
#include <apart/solver/term.hpp>

namespace apart {

/// The terms of the incremental potential of all bodies that are present, and the one list of them.
struct StepTerms {
  /// `present`: one entry per body. Time spent in searches for pairs goes to `timings`. Of a team each
  /// process has its part of the elements, those of its `own` nodes, and of the pairs, and all of everything
  /// else.
  StepTerms(const Model& model, const std::vector<char>& present, Timings& timings,
            const Team& team = Team::alone(), const OwnNodes& own = {});
  StepTerms(const StepTerms&) = delete;

  /// Each with its role. Every sum, step bound or diagnosis goes through this list.
  std::vector<Term> list();

  /// Sets inertia, elasticity, loads, damping and the start of friction for a step that leaves `state` and
  /// ends at `end` [s]. Contact keeps its stiffness; friction keeps what it has lagged.
  void begin(const State& state, const TimeStep& step, double end);
  /// The loads and attachments of such a step, with the velocities of its time integrator. `start` is known.
  void set_loads(const State& state, const TimeStep& step, double end);
  /// Which part of `elastic.membranes` a body is; −1: none, or the body is absent.
  Index membrane_part(int body) const;

  const Model& model;
  const std::vector<char>& present;
  const Team& team;
  const CollisionSurface surface;  ///< the model's, without contact of absent bodies
  CandidateCache candidates;
  Inertia inertia;
  ElasticParts elastic;
  NodalForces loads;
  RayleighDamping damping;
  ScriptTarget target;
  BarrierContact contact;
  Friction friction;
  SurfacePressure pressure;
  CurvedPressure curved_pressure;
  Springs springs;
  Joints joints;  ///< set by JointControl
  AirDrag drag;
  /// Of each body, in each of the elastic potentials; of a team, among its own.
  std::vector<ElasticParts::Counts> first_element;
  Matrix3X start;          ///< collision vertices at the start of the step [m]
  Matrix3X gravity;        ///< acceleration of every node [m/s²]
  Matrix3X gravity_force;  ///< on every node [N]
};

/// Of the pairs in contact [m]; a millimetre if there are none.
double smallest_dhat(const PairTable& pairs);

/// Loads of the scene on all nodes, which are at q, at a time [N]; without gravity.
Matrix3X load_forces(const Model& model, const Matrix3X& q, double time);

}  // namespace apart
