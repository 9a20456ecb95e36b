#pragma once
#include <apart/simulation/simulation.hpp>
#include <apart/simulation/step_problem.hpp>

namespace apart {

/// Observes one solve: reports iterates, adapts the problem to them, and counts.
class Simulation::Watch {
 public:
  /// Keeps references. `begun`: where the solve begins.
  Watch(Simulation& simulation, StepReport& report, const Matrix3X& begun);
  /// Valid as long as this is.
  NewtonHooks hooks();
  /// Where the solve has ended, and the problem is prepared there.
  void finish();

 private:
  /// Where the solve is stationary: whether scripts or joints are not yet where they should be, or a body has
  /// just woken.
  bool go_on(const Matrix3X& q);
  void stop_if_asked() const;
  const Team& team() const { return simulation_.work_.team; }
  /// True if the problem was changed.
  bool accept(const Matrix3X& q);
  void count(const Matrix3X& q, const NewtonProgress& progress);

  Simulation& simulation_;
  StepProblem& problem_;
  StepReport& report_;
  const Matrix3X& begun_;
  GapWatch gaps_;
  std::optional<ForceBalance> forces_;  ///< where it was last computed
  bool woken_ = false;                  ///< something, by the last iterate
  int iterations_ = 0, slow_;
  double steps_taken_ = 0;
};

}  // namespace apart
