#pragma once
#include <apart/simulation/step_problem.hpp>
#include <apart/simulation/step_report.hpp>

#include <optional>

namespace apart {

/// A step's problem where its solve has ended, and the forces that act there: friction with the normal forces
/// and tangent planes that it was solved with. Valid until the problem is prepared again, which the next step
/// does first: everything throws InvariantError from then on.
class StepEnd {
 public:
  /// Prepares the problem at q.
  StepEnd(StepProblem& problem, const Matrix3X& q);

  const StepProblem& problem() const;
  const Matrix3X& nodes() const { return problem().objective.coordinates(); }
  const Matrix3X& vertices() const { return problem().objective.vertices(); }
  /// Friction on every collision vertex [N].
  Matrix3X friction_forces() const;
  /// The force [N] on every node that holds or moves it, in addition to all forces of the step: zero, to the
  /// solver's tolerance, where nothing holds it.
  Matrix3X holding_forces() const { return holding_ ? *holding_ : find_holding_forces(); }
  std::vector<ContactForce> contact_forces() const;  ///< of all contacts, without friction
  /// Acceleration of each node by contact and friction [m/s²]. Zero where coordinates are held.
  Matrix3X contact_acceleration() const;
  /// Fills in contacts, strains and energies.
  void report(const Matrix3X& velocity, StepReport& report) const;

 private:
  Matrix3X find_holding_forces() const;
  StepProblem& problem_;
  std::size_t preparations_;  ///< of the objective
  /// Of a team, which finds them together, although not every process may be asked for them.
  std::optional<Matrix3X> holding_;
};

/// Compares the energy at the end of a step with that at its start and the work done in between. From the
/// state alone, like everything that is written.
class EnergyBalance {
 public:
  /// After the problem was begun, with contact as it was left by the step before.
  EnergyBalance(StepProblem& problem, const State& state);
  /// At the end: fills in `work` and `energy_gain` of a report that has the energies.
  void complete(const StepEnd& end, StepReport& report) const;

 private:
  /// Gradient of pressure and attachments.
  Matrix3X pull(const StepProblem& problem, const Matrix3X& x) const;
  /// The same on the nodes of curved faces.
  Matrix3X pull_of_nodes(const StepProblem& problem, const Matrix3X& q) const;
  Matrix3X start_, x_;
  Matrix3X pull_, pull_of_nodes_;  ///< at the start; empty if nothing pulls
  double energy_ = 0, gravity_ = 0;
};

}  // namespace apart
