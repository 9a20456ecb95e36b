#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/simulation/scripted_nodes.hpp>
#include <apart/simulation/step_terms.hpp>
#include <apart/solver/objective.hpp>

namespace apart {

/// How a step moves scripted coordinates. If the way to where the scene wants them at the end of the step is
/// free and leaves fair gaps, they are moved ahead of the solve and held during it. Otherwise they become
/// unknowns, which an augmented Lagrangian (ScriptTarget) pulls to their targets together with whatever they
/// push:
///
///   A(q) = Σ −√m λ·(q − q̂) + κ_A/2 m ‖q − q̂‖²,    progress η_A = 1 − ‖q − q̂‖ / ‖q_start − q̂‖.
///
/// Whenever the solve is stationary and η_A is still small, κ_A grows; nearer to the target the multipliers
/// λ are updated instead, so that the remaining error vanishes without an ever stiffer system. Once η_A is
/// 0.999 the coordinates are held where they are. [thesis A.5, algorithm A.1]
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
  /// Which node coordinates are scripted in the step, or belong to bodies that are absent.
  const Mask& held() const { return held_; }
  /// Holds besides, until the next step begins, the nodes of bodies that rest.
  void set_resting(Mask resting);
  const Matrix3X& anchors() const { return anchors_; }  ///< State::anchors at the end of the step
  /// q with all scripted coordinates where they should be at the end of the step.
  Matrix3X at_end(const Matrix3X& q) const { return nodes_.apply(q, anchors_, end_); }
  const ScriptedNodes& nodes() const { return nodes_; }

  /// Moves scripted coordinates from where they are in `state` along their scripted curve, as far as that is
  /// feasible; `passed` is called with each corner of that way. Returns false if part of it was not feasible:
  /// then the coordinates that must still move are free, and pulled. `scale`: of the energies [s²].
  bool move(const State& state, double scale, Matrix3X& q, FunctionRef<void(const Matrix3X&)> passed) {
    return move(state, scale, nodes_.curves(state, length_).most, q, passed);
  }
  /// The same from where they nearly are, in a straight line.
  bool settle(const State& state, double scale, Matrix3X& q, FunctionRef<void(const Matrix3X&)> passed) {
    return move(state, scale, 1, q, passed);
  }
  /// After each iterate: holds the coordinates if they have been pulled near enough; returns whether it did.
  bool hold(const Matrix3X& q);
  /// Where the solve is stationary: pulls harder, if anything is pulled; returns whether it did. [thesis
  /// alg. A.1]
  bool pull(const Matrix3X& q);

 private:
  bool move(const State& state, double scale, int pieces, Matrix3X& q,
            FunctionRef<void(const Matrix3X&)> passed);
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
