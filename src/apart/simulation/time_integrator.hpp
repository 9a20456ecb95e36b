#pragma once
#include <apart/simulation/state.hpp>

namespace apart {

enum class Integrator { implicit_euler, bdf2, newmark, quasi_static };

struct IntegratorOptions {
  Integrator scheme = Integrator::implicit_euler;
  double beta = 0.25,
         gamma = 0.5;  ///< of Newmark; 1/4 and 1/2: second order, no loss of energy in linear problems
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

  Matrix3X velocity(const Matrix3X& q) const { return rate * (q - rate_origin); }     ///< [m/s]
  Matrix3X acceleration(const Matrix3X& q) const { return (q - predicted) / scale; }  ///< [m/s²]
};

/// The step of length dt [s] that leaves `state`.
TimeStep begin_step(const IntegratorOptions& options, double dt, const State& state);

}  // namespace apart
