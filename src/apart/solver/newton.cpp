#include <apart/solver/line_search.hpp>
#include <apart/solver/newton.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace apart {

namespace {

constexpr int l2_repeats = 3;  // l of C-IPC supplement §7
// Steps that shrink by less than this factor make Newton try the Hessian unprojected, and after an indefinite
// one again only so many iterations later.
constexpr double slow_shrinking = 0.25;
constexpr int exact_pause = 5;
// Where forces that potentials expect differ by more from those that are there, as a share of the largest,
// their model may be too stiff for the length of a step to tell how far the minimum is.
constexpr double misjudged = 0.1;
// Share of the tolerances that the start must keep if there is to be no iteration. What is left undone is
// done again in the next step, so it must not add up; and what is about to fall must not be held.
constexpr double unmoved = 1e-3;
// Error of a direction from an iterative solver. If forces must balance, a further iteration corrects it.
constexpr double direction_tolerance = 1e-9, rough_direction_tolerance = 1e-5;

/// Newton directions −H⁻¹ g where the objective is.
class Directions {
 public:
  Directions(Objective& objective, const NewtonTools& tools, const NewtonHooks& hooks)
      : objective_(objective),
        solver_(tools.linear_solver),
        timings_(tools.timings),
        check_(hooks.check),
        tolerance_(hooks.imbalance ? rough_direction_tolerance : direction_tolerance),
        charted_(!objective.chart().is_identity()),
        exact_from_(hooks.imbalance || charted_ ? 0 : std::numeric_limits<int>::max()) {}

  /// Where curvature is negative, projected Hessians are too stiff: steps are too short to balance forces,
  /// and shrink slowly (`slow`). Bodies with charts have many contacts for each unknown: the sum of these is
  /// nearly always positive as it is, and projecting each costs more than the rest of the assembly. Nothing
  /// if the linear system could not be solved.
  std::optional<VectorX> find(const Gradient& gradient, bool slow, NewtonResult& result) {
    if ((slow || charted_) && exact_from_ <= result.iterations) {
      ++result.linear_solves;
      if (auto direction = solve(gradient, Projection::none)) return direction;
      exact_from_ = result.iterations + exact_pause;
    }
    ++result.linear_solves;
    return solve(gradient, Projection::psd);
  }

 private:
  /// Should rounding spoil positive definiteness, the diagonal is raised until it is restored. `projection`
  /// none: nothing is returned if H is not positive definite.
  std::optional<VectorX> solve(const Gradient& gradient, Projection projection) {
    const auto assembling = timings_.measure(Phase::assembly);
    const BlockSparse& h = objective_.hessian(projection, gradient);
    const auto solving = timings_.measure(Phase::linear_solve);
    if (objective_.take_pattern_change()) solver_.analyse(h);
    const auto attempt = [&](const BlockSparse& matrix) -> std::optional<VectorX> {
      LinearSolution p = solver_.solve(
          matrix, -gradient.of_free(),
          {.tolerance = tolerance_,
           .optional = projection == Projection::none,
           .near_null_space =
               [&] {
                 return near_null_space(objective_.chart(), objective_.coordinates(), objective_.free());
               },
           .check = check_});
      return p.is_solved() ? std::optional(std::move(p.x)) : std::nullopt;
    };
    std::optional<VectorX> p = attempt(h);
    if (p || projection == Projection::none) return p;
    BlockSparse raised = h;
    const Index n = 3 * raised.block_count();
    const Team& team = objective_.team();
    double largest = 0;
    for (Index k = 0; k < n; ++k) largest = std::max(largest, std::abs(raised.at(k, k)));
    largest = team.max(largest);
    for (double shift = 1e-14 * largest; !p && shift < largest; shift *= 10) {
      for (Index k = 0; k < n && team.leads(); ++k) raised.at(k, k) += shift;
      p = attempt(raised);
    }
    return p;
  }

  Objective& objective_;
  LinearSolver& solver_;
  Timings& timings_;
  const std::function<void()>& check_;
  double tolerance_;  ///< of an iterative solver
  bool charted_;      ///< some bodies have charts
  int exact_from_;    ///< iteration from which the Hessian as it is may be tried
};

/// Whether there is nothing to solve.
bool rests(const Gradient& gradient, const NewtonHooks& hooks, const NewtonOptions& options) {
  return hooks.farthest && hooks.imbalance &&
         hooks.farthest(gradient) <= unmoved * options.tolerance * options.dt &&
         hooks.imbalance(gradient) <= unmoved;
}

/// Whether the solve ends without another iteration; if not, the gradient is known.
bool is_over(const Objective& objective, std::optional<Gradient>& gradient, const NewtonHooks& hooks,
             const NewtonOptions& options, NewtonResult& result) {
  if (objective.free().block_count() == 0) {  // everything is held: nothing to solve
    result.converged = true;
    result.at_once = result.iterations == 0;
    return true;
  }
  if (result.iterations >= options.max_iterations) {
    result.failure = fmt::format(
        "{} Newton iterations did not {}", result.iterations,
        result.residual <= options.tolerance ? "bring forces into balance" : "reach the tolerance");
    return true;
  }
  if (!gradient) gradient.emplace(objective);
  if (result.iterations > 0 || !rests(*gradient, hooks, options)) return false;
  result.converged = result.at_once = true;
  return true;
}

StepBound bounded(const Objective& objective, const Matrix3X& q, const Matrix3X& y, Timings& timings) {
  const auto time = timings.measure(Phase::ccd);
  return objective.feasible_step(q, y);
}

}  // namespace

double step_norm(const Matrix3X& p, const FreeCoordinates& free, bool l2_norm) {
  if (free.block_count() == 0) return 0;
  // Root mean square over the free nodes [C-IPC supplement eq. 13].
  return l2_norm ? p.norm() / std::sqrt(double(free.block_count())) : p.cwiseAbs().maxCoeff();
}

bool start_along(Objective& objective, const StartingStep& step, Matrix3X& q, const NewtonHooks& hooks,
                 Timings& timings) {
  const Matrix3X& y = step.y;
  if (y.isZero(0) || objective.free().block_count() == 0) return false;
  double before;
  {
    const auto time = timings.measure(Phase::line_search);
    objective.prepare(q);
    before = objective.value();
  }
  const StepBound bound = bounded(objective, q, y, timings);
  if (!(bound.alpha > 0) || (step.use == PathUse::whole && bound.alpha < 1)) return false;
  const auto time = timings.measure(Phase::line_search);
  Matrix3X end = objective.retract(q, bound.alpha * y);
  objective.prepare(end);
  if (!(objective.value() < before)) return false;
  if (hooks.passed)
    for (const double corner : bound.corners) hooks.passed(objective.retract(q, corner * y));
  q = std::move(end);
  hooks.accepted(q);
  return true;
}

NewtonResult newton(Objective& objective, const NewtonTools& tools, Matrix3X& q, const NewtonHooks& hooks,
                    const NewtonOptions& options) {
  NewtonResult result;
  const int repeats = options.l2_norm ? l2_repeats : 1;
  int small_steps = 0;
  Directions directions(objective, tools, hooks);
  bool slow = false;  // steps shrink slowly
  const auto evaluate = [&](const Matrix3X& at) {
    objective.prepare(at);
    return objective.energy();
  };
  objective.begin_solve();
  Objective::Energy energy = evaluate(q);
  std::optional<Gradient> gradient;  // at q, if it is known
  while (true) {
    if (is_over(objective, gradient, hooks, options, result)) return result;
    const FreeCoordinates& free = objective.free();
    const std::optional<VectorX> direction = directions.find(*gradient, slow, result);
    if (!direction) {
      result.failure = "the linear system could not be solved";
      return result;
    }
    ++result.iterations;
    const Matrix3X p = free.extend(*direction);
    const double last_residual = std::exchange(
        result.residual, step_norm(objective.chart().push_forward(q, p), free, options.l2_norm) / options.dt);
    const bool is_small = result.residual <= options.tolerance;
    small_steps = is_small && objective.mismatch() <= misjudged ? small_steps + 1 : 0;
    objective.follow(p);
    const bool met = small_steps >= repeats;

    StepBound bound = bounded(objective, q, p, tools.timings);
    const auto time = tools.timings.measure(Phase::line_search);
    LineSearch search(objective, q, {p, *direction, energy, gradient->of_free().dot(*direction)});
    gradient.reset();
    if (!search.descend(bound.alpha)) {
      energy = evaluate(q);
      if (met && hooks.imbalance) result.imbalance = hooks.imbalance(Gradient(objective));
      if (met && result.imbalance <= 1) {  // no further progress possible, and already converged
        result.converged = !hooks.stationary(q);
        result.at_once = result.iterations <= repeats;
        if (result.converged) return result;
        energy = evaluate(q);
        continue;
      }
      result.failure = "the line search found no step that lowers the energy";
      return result;
    }
    search.draw_back();
    if (!met || hooks.imbalance) search.lengthen(bound);
    const double alpha = search.alpha();
    if (hooks.passed)
      for (const double corner : bound.corners)
        if (corner < alpha) hooks.passed(objective.retract(q, corner * p));
    q = search.end();
    energy = search.energy();
    slow = alpha >= 1 && result.iterations > 1 && result.residual > slow_shrinking * last_residual;
    if (hooks.accepted(q)) energy = objective.energy();
    if (hooks.iterated) hooks.iterated(q, {result.iterations, result.residual, alpha});
    if (met) {
      if (hooks.imbalance) result.imbalance = hooks.imbalance(gradient.emplace(objective));
      if (!(result.imbalance <= 1)) continue;
      if (!hooks.stationary(q)) {
        result.converged = true;
        result.at_once = result.iterations == repeats;
        return result;
      }
      small_steps = 0;
      gradient.reset();
      energy = evaluate(q);
    }
  }
}

}  // namespace apart
