#pragma once
#include <apart/simulation/step_terms.hpp>
#include <apart/solver/barrier_stiffness.hpp>
#include <apart/solver/objective.hpp>

#include <optional>

namespace apart {

/// Chooses the stiffness κ of contact, unless the scene gives it: before the first contact from masses and
/// the step (or from the stiffness of elements), then so that contacts rest well inside d̂ under the forces
/// they carry; by the published rule from masses and the balance of forces at the start of each step. [thesis
/// A.6]
class StiffnessPolicy {
 public:
  /// Keeps references. `node_stiffness`: of a node when all others are held, median [N/m].
  StiffnessPolicy(const Model& model, StepTerms& terms, double node_stiffness);

  /// Before a step of `length` [s] is solved: measures the forces of contacts at its start, with the κ of the
  /// step before, which is still set.
  void begin(const State& state, const TimeStep& step, double length, const Matrix3X& x);
  /// Sets κ for the step that was begun, which starts to be solved at q.
  void choose(Objective& objective, const Matrix3X& q);
  double mean_mass() const { return mean_mass_; }            ///< of the dynamic nodes [kg]
  double node_stiffness() const { return node_stiffness_; }  ///< [N/m]
  double tiny_gap() const;                                   ///< below which κ grows during a solve [m]
  double limit() const;  ///< to which it may grow in the step that was begun; 0: the scene gives κ

 private:
  /// What κ follows from in a step.
  struct Step {
    bool has_inertia;
    double force_scale;  ///< TimeStep::contact_scale [s²]
    double length;       ///< [s]
    bool divided;        ///< it, or the one before, is a part of a step
    double last;         ///< κ of the step before, for this one's length; 0 at the start
    double resting = 0;  ///< κ that would let contacts rest where they should; 0: nothing touches
  };
  const Step& step() const;  ///< throws InvariantError if none was begun
  double start_stiffness(double length) const;
  StiffnessRange adaptive_range() const;
  bool is_adaptive() const;

  const Model& model_;
  StepTerms& terms_;
  double node_stiffness_;      ///< [N/m]
  double mean_mass_ = 1;       ///< [kg]
  double mean_weight_ = 1;     ///< of contacts: mean area of a vertex of dynamic bodies [m²], or one
  double mean_thin_mass_ = 0;  ///< of nodes of shells, rods and particles; 0 if there are none [kg]
  StiffnessRange published_;   ///< by the published rule
  std::optional<Step> step_;   ///< the one begun last
};

/// Tracks the gaps of accepted iterates, and raises κ where they are tiny and shrinking. [thesis A.6]
class GapWatch {
 public:
  GapWatch(const StiffnessPolicy& policy, StepTerms& terms, const Matrix3X& q);
  /// After an iterate with these vertices, where contact must be prepared; true if κ was changed.
  bool accept(const Matrix3X& x);
  void track(const Matrix3X& x) { min_gap_ = std::min(min_gap_, terms_.contact.active_set(x).min_gap); }
  double min_gap() const { return min_gap_; }  ///< over all accepted iterates [m]

 private:
  StepTerms& terms_;
  Matrix3X x_;
  ActiveSet active_;
  double tiny_, limit_;
  double min_gap_ = std::numeric_limits<double>::infinity();
};

}  // namespace apart
