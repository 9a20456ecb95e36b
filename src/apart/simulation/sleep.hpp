#pragma once
#include <apart/simulation/scripted_motion.hpp>

namespace apart {

/// Bodies that have come to rest are not solved for until something happens to them.
///
/// Bodies that touch each other, without obstacles, are an island. If for some steps no node of an island was
/// faster than solver.sleep_speed, and none was accelerated by more than a share of gravity that is less than
/// what solver.force_tolerance leaves undecided, the island sleeps: its unknowns are held. What it would have
/// moved in a step, less than sleep_speed · dt, is not carried out; everything else is as in its last step
/// awake: velocity, contact and friction forces.
///
/// It wakes, as a whole and in the middle of a solve if need be, when it touches something that is awake or
/// moved by a script. So no step ends with a force between what sleeps and what does not, and the solve of
/// that step is the one of all bodies it concerns. All wake when bodies come or go, when steps change their
/// length and when κ changes, because gaps then would, too. What a load, a pressure, wind, an attachment, a
/// joint or a script acts on does not fall asleep.
class Sleep {
 public:
  /// Keeps references.
  Sleep(const Model& model, StepTerms& terms, ScriptedMotion& scripted);

  /// What of a step decides who sleeps in it.
  struct Step {
    const State& state;       ///< that it leaves
    const Matrix3X& nodes;    ///< after scripted motion
    double end, length;       ///< [s]
    double force_scale;       ///< [s²] of contact; its κ has been chosen
    bool scripts_are_pulled;  ///< not moved ahead of the solve
  };
  /// Holds the bodies that sleep in a step.
  void begin(const Step& step);
  /// Wakes what the contacts at the vertices x, where they must be prepared, show to be touched by something
  /// awake. True if something woke.
  bool wake(const Matrix3X& x);
  bool wake_all();
  bool is_asleep(int body) const { return asleep_[std::size_t(body)] != 0; }
  bool any_asleep() const;
  /// Whether a step that ends at `end` [s] is like the last one if that one changed nothing: no load begins
  /// to act, and what is scripted stays where it is in `state`.
  bool goes_on(const State& state, double end) const;
  /// Gives what has slept the velocity it fell asleep with, and counts how long bodies have been at rest. The
  /// contacts must be prepared at the end of the step. `force_scale`: as for begin.
  void finish(const State& before, double force_scale, State& after) const;

 private:
  using Flags = std::vector<char>;
  Flags acted_on(double end) const;
  bool wake_touched(const Matrix3X& x);
  void apply();

  const Model& model_;
  StepTerms& terms_;
  ScriptedMotion& scripted_;
  double speed_;    ///< [m/s]
  Flags may_rest_;  ///< of each body: moves, and nothing acts on it in the step
  Flags calm_;      ///< asleep, or cannot move and is not moved
  Flags asleep_;
};

}  // namespace apart
