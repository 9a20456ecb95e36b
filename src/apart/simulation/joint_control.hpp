#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/simulation/joint_rows.hpp>
#include <apart/simulation/scripted_nodes.hpp>
#include <apart/simulation/state.hpp>

namespace apart {

/// What a joint does, after a step.
struct JointMeasure {
  Vector3 force = Vector3::Zero();   ///< [N] of the second body, or the world, on the first
  Vector3 torque = Vector3::Zero();  ///< [N m], the same, about the pivot
  double along = 0;                  ///< [m] of the first body against the second since the joint began
  double about = 0;                  ///< [rad], the same, whole turns counted
  double error = 0;                  ///< of its worst coordinate [m or rad]
  bool acts = false;                 ///< it is there and not broken
};

/// A step as joints see it.
struct JointStep {
  const State& state;
  const TimeStep& time_step;
  double end = 0, length = 0;       ///< [s]
  const ScriptedNodes::Mask& held;  ///< coordinates that are given
  double node_stiffness = 0;        ///< [N/m] of a node against the elements around it, median
};

/// Solves joints together with everything else: sets the rows of the potential for a step and, each time the
/// solve is stationary, moves the multipliers on, until every coordinate is where it should be. What outlives
/// the step is in State.
class JointControl {
 public:
  /// Keeps references. `present`: one entry per body.
  JointControl(const Model& model, const std::vector<char>& present, Joints& potential);

  void begin(const JointStep& step);
  /// Where the solve is stationary: true if multipliers were changed and it must go on. Throws SolverError if
  /// they do not settle.
  bool update(const Matrix3X& q);
  /// Where the step has ended: what of the joints belongs to the next state, and the names of those that
  /// break.
  std::vector<std::string> finish(const Matrix3X& q, State& next) const;
  JointMeasure measure(int joint, const Matrix3X& q) const;
  /// Largest error of a coordinate, as a multiple of what is allowed.
  double largest_error(const Matrix3X& q) const;
  /// About the joint that is farthest from closed, for people; empty if all are closed.
  std::string complaint(const Matrix3X& q) const;
  /// [J] that motors, springs, friction and limits have done since the start of the step.
  double work(const Matrix3X& q) const;
  /// Forces on the nodes [N] that keep closed joints closed when the nodes, at q with velocity v, accelerate
  /// by `free` [m/s²] without them. `accelerated`: by given forces.
  Matrix3X closing_forces(const Matrix3X& q, const Matrix3X& v, const Matrix3X& free,
                          FunctionRef<Matrix3X(const Matrix3X&)> accelerated) const;

 private:
  /// A joint that holds in the step.
  struct Acting {
    int joint;
    std::size_t first_row, row_count;
    std::size_t first_turn, turn_count;
    std::array<NodeVector, 2> pivots;
  };
  /// A law whose multiplier is kept, and how it does.
  struct Kept {
    std::size_t row, law;  ///< row: of a coordinate, or `turn` of a ball
    bool turn;
    Index slot;  ///< in State::joint_forces, the first of three for a turn
    int joint;
    double tolerance;              ///< [m, rad]
    double stiffest;               ///< to which k may grow
    double last_error = infinity;  ///< when multipliers were last moved on
  };
  const JointLaw& law(const Kept& k) const { return potential_.rows[k.row].laws[k.law]; }
  const TurnLaw& turn_law(const Kept& k) const { return potential_.turns[k.row].laws[k.law]; }
  double value(std::size_t row, const Matrix3X& q) const { return potential_.rows[row].coordinate.value(q); }
  Vector3 turn(std::size_t turn, const Matrix3X& q) const {
    return potential_.turns[turn].coordinate.value(q);
  }
  double error(const Kept& k, const Matrix3X& q) const {
    return k.turn ? turn_law(k).error(turn(k.row, q)) : law(k).error(value(k.row, q));
  }
  bool acts(const Joint& joint, std::size_t number, const State& state, double end) const;
  Matrix3X start_of(std::size_t number) const;
  void note_anchors(const State& state, double end);
  void add_rows(std::size_t number, const JointStep& step, Index slot);
  void add_turns(std::size_t number, const JointStep& step, Index slot);
  void add_freedom_laws(const JointFreedom& freedom, const JointStep& step, double now,
                        std::vector<JointLaw>& laws) const;

  const Model& model_;
  const std::vector<char>& present_;
  Joints& potential_;
  std::vector<Index> first_slot_, first_anchor_;  ///< of each joint, and their number
  Matrix3X anchors_;
  VectorX angles_;  ///< at the start of the step, of each joint [rad]
  VectorX forces_, broken_;
  std::vector<Acting> acting_;
  std::vector<Kept> kept_;
  std::vector<JointPart> parts_;      ///< of each row
  std::vector<double> start_values_;  ///< of each row
  std::vector<Vector3> start_turns_;  ///< of each turn
  int updates_ = 0;
};

/// How many numbers of joints a state of a model holds.
struct JointStateSizes {
  explicit JointStateSizes(const Model& model);
  Index forces = 0, anchors = 0, joints = 0;
};

}  // namespace apart
