#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/simulation/scripted_nodes.hpp>
#include <apart/simulation/step_terms.hpp>
#include <apart/solver/objective.hpp>

namespace apart {

/// What a step does with the coordinates that the scene prescribes. They are moved ahead of the solve if the
/// way is free and leaves fair gaps. If not, they are unknowns of the solve, which an augmented Lagrangian
/// pulls to where they should be together with what they push; close to there they are held. [thesis A.5]
class ScriptedMotion {
 public:
  using Mask = ScriptedNodes::Mask;
  /// What the pull is measured against.
  struct Scales {
    double mass = 1;       ///< of a node, mean [kg]
    double stiffness = 0;  ///< of a node against the elements around it, median [N/m]
  };
  /// Keeps references.
  ScriptedMotion(const Model& model, StepTerms& terms, Objective& objective, const Scales& scales);

  /// Of the step from `state` to `end` [s], `length` [s] later: nothing is moved or pulled yet.
  void begin(const State& state, double end, double length);
  /// Which node coordinates are prescribed in the step, or belong to bodies that are not there.
  const Mask& held() const { return held_; }
  /// Holds besides, until the next step begins, the nodes of bodies that rest.
  void set_resting(Mask resting);
  const Matrix3X& anchors() const { return anchors_; }  ///< State::anchors at the end of the step
  /// q with all that is prescribed where it should be at the end of the step.
  Matrix3X at_end(const Matrix3X& q) const { return nodes_.apply(q, anchors_, end_); }
  const ScriptedNodes& nodes() const { return nodes_; }

  /// Moves prescribed coordinates from where they are in `state` to where they should be, along the curve
  /// that they are given, as far as that is feasible; `passed` sees the corners of that way. False if not all
  /// of it was: then those that must move are free, and pulled. `scale`: of the energies of the step [s²].
  bool move(const State& state, double scale, Matrix3X& q, FunctionRef<void(const Matrix3X&)> passed);
  /// After each iterate: holds what has been pulled near enough, and says whether it did.
  bool hold(const Matrix3X& q);
  /// Where the solve is stationary: pulls harder, if there is something to pull; says whether it did. [thesis
  /// alg. A.1]
  bool pull(const Matrix3X& q);

 private:
  double start_stiffness(double scale) const;  ///< of the augmented Lagrangian at first
  double progress(const Matrix3X& q) const;    ///< η_A [thesis eq. A.5]
  bool keeps_gaps(const Matrix3X& from, const Matrix3X& to);
  void hold_all();
  void set_free();

  const Model& model_;
  StepTerms& terms_;
  Objective& objective_;
  Scales scales_;
  ScriptedNodes nodes_;
  double end_ = 0, length_ = 0;  ///< [s]
  Matrix3X anchors_;
  Mask held_;
  Mask resting_;            ///< held besides
  double start_error_ = 1;  ///< squared, when the augmented Lagrangian began [m²]
  double limit_ = 0;        ///< to which its stiffness may grow
};

}  // namespace apart
