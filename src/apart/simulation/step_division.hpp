#pragma once
#include <apart/simulation/step_problem.hpp>
#include <apart/simulation/surface_pieces.hpp>

#include <optional>

namespace apart {

/// Divides steps that are too long for the collisions in them. A body that would move farther than its own
/// size in a step need not be stopped by another one in its way: there are paths around the other that
/// intersect nothing, and beyond it the energy of the step is lower. So a step is divided where the predicted
/// motion brings two pieces (connected parts of the surface) together that would move relative to each other
/// by more than SimulationOptions::max_motion of the smaller one in a whole step: up to the impact, through
/// it in a short part, and on.
///
/// What counts is the relative motion of the two where they collide:
/// * along the line that joins them, against the width of either piece across that line. A wide piece cannot
///   be passed, however thin it is; so half-spaces never divide a step. If one is slender it is the mean of
///   both widths in the same direction, if both are it is that of their lengths: rods cannot leave what they
///   lie across, and those side by side may change places;
/// * across that line, against the longer of the two: pieces may slide along each other, not past.
///
/// Where many pairs collide that fast in a step, as in heaps, parts need not end exactly at impacts, and are
/// as long as max_motion allows: as many as the motion needs, however many impacts there are.
///
/// Volumes and affine bodies that move by their own size in a step are squeezed and bounce. Implicit Euler
/// would dissipate most of their elastic energy, so while they touch parts are as short as a share of the
/// time that a compression wave takes through the smaller one: the velocities of the two are then within a
/// few per cent of those with the shortest steps. The number of such parts in a step is limited.
///
/// Two pieces that touch already count as well, a piece with itself does not. Where nothing moves far the
/// test costs no search.
class StepDivision {
 public:
  explicit StepDivision(const Model& model);
  /// Length [s] of the next part of a step of which `left` [s] remain and `parts` are done: `left`, or less.
  /// It follows from these and the state alone.
  double next(const StepProblem& problem, const State& state, double left, int parts) const;

 private:
  struct Moving;
  struct Pair;
  struct Meeting;
  std::vector<Vector3> mean_accelerations(const State& state) const;
  void shorten(const Moving& motion, double& end) const;
  std::optional<Pair> pair_of(const Moving& motion, std::size_t a, std::size_t b) const;
  void shorten(const Moving& motion, const Pair& pair, bool crowded, double& end) const;
  double allowed_end(const Meeting& at, const Stencil& stencil, double end) const;

  const Model& model_;
  std::vector<SurfacePiece> pieces_;
};

}  // namespace apart
