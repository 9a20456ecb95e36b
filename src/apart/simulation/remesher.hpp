#pragma once
#include <apart/simulation/step_problem.hpp>

#include <optional>

namespace apart {

/// A solved step, whose meshes may be improved. All are references.
struct SolvedStep {
  const StepProblem& problem;  ///< prepared where the step ended
  const State& before;         ///< where the step began
  const Matrix3X& nodes;       ///< where it ended [m]
};

/// The same step on other meshes.
struct RemeshedStep {
  std::shared_ptr<const Model> model;
  State before;    ///< where the step begins
  Matrix3X nodes;  ///< where the solve goes on [m]: feasible
  Matrix3X ahead;  ///< nearer to the solution [m], unless bodies collide on the way there
  /// Where nodes of the old and of the new meshes have the same surface [m]: edges to be collapsed are points
  /// there, and those just split begin in one of their ends. The way to either is feasible.
  Matrix3X leaving, entering;
};

struct RemeshReport {
  Index splits = 0, collapses = 0;
  Index swaps = 0, moves = 0;  ///< of cells, and of points inside at rest
  Index trials = 0;            ///< operations that were tried
  RemeshReport& operator+=(const RemeshReport& more) {
    splits += more.splits;
    collapses += more.collapses;
    swaps += more.swaps;
    moves += more.moves;
    trials += more.trials;
    return *this;
  }
};

/// Improves meshes within a step: of two meshes the better has the smaller minimum of the step's potential
/// [thesis ch. 6]. The step is solved, improved, and solved again on the new meshes.
class Remesher {
 public:
  virtual ~Remesher() = default;
  /// How often a step is improved at most.
  virtual int pass_count() const = 0;
  struct Improvement {
    std::optional<RemeshedStep> step;  ///< none: the meshes are good
    RemeshReport report;
    int next_pass = 0;  ///< worth trying; pass_count(): none
  };
  /// What it does follows from its arguments alone.
  virtual Improvement improve(const SolvedStep& step, int pass) const = 0;
};

}  // namespace apart
