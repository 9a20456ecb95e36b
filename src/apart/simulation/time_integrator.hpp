#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/simulation/state.hpp>

namespace apart {

enum class Integrator { implicit_euler, bdf2, newmark, generalized_alpha, quasi_static };

struct IntegratorOptions {
  Integrator scheme = Integrator::implicit_euler;
  double beta = 0.25,
         gamma = 0.5;  ///< of Newmark; 1/4 and 1/2: second order, no loss of energy in linear problems
  /// ρ∞ ∈ [0, 1] of generalised-α: the share of a vibration much too fast for the step that remains after it.
  double spectral_radius = 0.5;
  /// Rigid bodies turn exactly in free flight, and keep their angular momentum; otherwise their nodes follow
  /// the scheme, and implicit Euler slows spins down. For implicit Euler only.
  bool conserves_spin = false;

  /// Whether the rule averages the forces of both ends of a step: Newmark and generalised-α.
  bool averages_forces() const {
    return scheme == Integrator::newmark || scheme == Integrator::generalized_alpha;
  }
};

/// One step of a time integrator, as data: with the new coordinates q the new acceleration and velocity are
///   a = (q − predicted) / scale,    v = rate (q − rate_origin),
/// so that M a = forces(q) is the minimum of ½‖q − predicted‖²_M + scale · (energies). [thesis 2.3]
struct TimeStep {
  double scale = 0;      ///< [s²]: multiplies every energy
  Matrix3X predicted;    ///< q̃ without external forces [m]
  double rate = 0;       ///< [1/s]
  Matrix3X rate_origin;  ///< [m]
  bool has_inertia = true;
  double contact_scale = 0;  ///< [s²]: multiplies contact and friction; `scale`, unless forces are averaged
  double mean_scale = 0;     ///< [s²]
  /// [m]: of State::mean_acceleration, (q − mean_origin) / mean_scale, if averaged
  Matrix3X mean_origin = {};
  double length = 0;             ///< h [s]
  bool averages_forces = false;  ///< of both ends of the step

  Matrix3X velocity(const Matrix3X& q) const { return rate * (q - rate_origin); }     ///< [m/s]
  Matrix3X acceleration(const Matrix3X& q) const { return (q - predicted) / scale; }  ///< [m/s²]
  Matrix3X mean_acceleration(const Matrix3X& q) const {
    return mean_scale > 0 ? Matrix3X((q - mean_origin) / mean_scale) : acceleration(q);
  }
};

/// Which coordinates are held, and where they are at the end of a step.
struct HeldMotion {
  const Eigen::Array<bool, 3, Eigen::Dynamic>& held;
  const Matrix3X& end;  ///< nodes at the end of the step [m]; read where held
};

/// The step of length dt [s] that leaves `state`.
TimeStep begin_step(const IntegratorOptions& options, double dt, const State& state,
                    const HeldMotion& motion);

/// Sets velocity and accelerations of the state `end` at the end of a step from `before`; its nodes are set.
///
/// Newmark's rule and generalised-α average the forces of both ends of a step. Averaged contact forces would
/// create energy: a node that touches at one end would be pushed again in the next step. So contact acts with
/// its force at the end alone, as a constant force over the step (h²/2 in position, h in velocity), and
/// `State::acceleration` is that of all other forces. [Kane et al. 1999, in the references of the thesis]
///
/// `contact`: called, if needed, for the acceleration by contact and friction at the end [m/s²], zero where
/// held.
void finish_step(const TimeStep& step, const State& before, const Eigen::Array<bool, 3, Eigen::Dynamic>& held,
                 FunctionRef<Matrix3X()> contact, State& end);

}  // namespace apart
