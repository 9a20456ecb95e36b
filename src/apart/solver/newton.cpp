#include <apart/solver/newton.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace apart {

namespace {

constexpr int l2_repeats = 3;      // l of C-IPC supplement §7
constexpr double rounding = 1e-8;  // relative error of the objective's value where gaps are tiny
constexpr double overshoot = 0.8;  // share of the initial slope a step may end with, uphill
// A halved step that ends uphill, by more than this share of the initial slope, is drawn back towards the
// minimum along p, with so many trials at most.
constexpr double uphill = 0.1;
constexpr int most_trials = 3;
constexpr double smallest_step = 1e-14;  // below this share of p the line search has failed
// Longer steps are tried where E fell by more than this share of its slope; up to this multiple of p.
constexpr double nearly_straight = 0.9, longest_step = 32;
// Steps that shrink by less than this factor make Newton try the Hessian unprojected, and after an indefinite
// one again only so many iterations later.
constexpr double slow_shrinking = 0.25;
constexpr int exact_pause = 5;
// Error of a direction from an iterative solver. If forces must balance, a further iteration corrects it.
constexpr double direction_tolerance = 1e-9, rough_direction_tolerance = 1e-5;

/// Of an objective where it was last prepared.
struct Gradient {
  explicit Gradient(const Objective& objective)
      : of_nodes(objective.gradient()),
        of_unknowns(objective.chart().pull_back(objective.coordinates(), of_nodes)),
        of_free(objective.free().restrict_to_free(of_unknowns)) {}
  Matrix3X of_nodes, of_unknowns;
  VectorX of_free;
};

struct DirectionOptions {
  Projection projection;
  double tolerance;  ///< of an iterative solver
};

/// −H⁻¹ g. Should rounding spoil positive definiteness, the diagonal is raised until it is restored.
/// `projection` none: nothing is returned if H is not positive definite.
std::optional<VectorX> newton_direction(Objective& objective, LinearSolver& solver, const Gradient& gradient,
                                        const DirectionOptions& options, Timings& timings) {
  const auto [projection, tolerance] = options;
  const VectorX& g = gradient.of_free;
  const auto assembling = timings.measure(Phase::assembly);
  const BlockSparse& h = objective.hessian(projection, gradient.of_nodes);
  const auto solving = timings.measure(Phase::linear_solve);
  if (objective.take_pattern_change()) solver.analyse(h);
  const auto attempt = [&](const BlockSparse& matrix) -> std::optional<VectorX> {
    LinearSolution p = solver.solve(
        matrix, -g, {.tolerance = tolerance, .optional = options.projection == Projection::none});
    return p.is_solved() ? std::optional(std::move(p.x)) : std::nullopt;
  };
  std::optional<VectorX> p = attempt(h);
  if (p || projection == Projection::none) return p;
  BlockSparse raised = h;
  double largest = 0;
  for (Index k = 0; k < 3 * raised.block_count(); ++k) largest = std::max(largest, std::abs(raised.at(k, k)));
  for (double shift = 1e-14 * largest; !p && shift < largest; shift *= 10) {
    for (Index k = 0; k < 3 * raised.block_count(); ++k) raised.at(k, k) += shift;
    p = attempt(raised);
  }
  return p;
}

}  // namespace

double step_norm(const Matrix3X& p, const FreeCoordinates& free, bool l2_norm) {
  if (free.block_count() == 0) return 0;
  // Root mean square over the free nodes [C-IPC supplement eq. 13].
  return l2_norm ? p.norm() / std::sqrt(double(free.block_count())) : p.cwiseAbs().maxCoeff();
}

NewtonResult newton(Objective& objective, LinearSolver& linear_solver, Matrix3X& q, const NewtonHooks& hooks,
                    const NewtonOptions& options, Timings& timings) {
  NewtonResult result;
  const int repeats = options.l2_norm ? l2_repeats : 1;
  int small_steps = 0;
  const double tolerance = hooks.imbalance ? rough_direction_tolerance : direction_tolerance;
  // The Hessian as it is may be tried from this iteration on.
  int exact_from = hooks.imbalance ? 0 : std::numeric_limits<int>::max();
  bool linear = false;  // whether the last steps shrank no faster than by a fixed factor
  const auto evaluate = [&](const Matrix3X& at) {
    objective.prepare(at);
    return objective.value();
  };
  double energy = evaluate(q);
  std::optional<Gradient> gradient;  // at q, if it is known
  while (true) {
    if (objective.free().block_count() == 0) {  // everything is prescribed: nothing to solve
      result.converged = true;
      result.at_once = result.iterations == 0;
      return result;
    }
    if (result.iterations >= options.max_iterations) {
      result.failure = fmt::format(
          "{} Newton iterations did not {}", result.iterations,
          result.residual <= options.tolerance ? "bring forces into balance" : "reach the tolerance");
      return result;
    }
    const FreeCoordinates& free = objective.free();
    if (!gradient) gradient.emplace(objective);
    std::optional<VectorX> direction;
    // Where curvature is negative, projected Hessians are too stiff: steps shrink slowly, and are too short
    // to balance forces.
    if (linear && exact_from <= result.iterations) {
      direction =
          newton_direction(objective, linear_solver, *gradient, {Projection::none, tolerance}, timings);
      ++result.linear_solves;
      if (!direction) exact_from = result.iterations + exact_pause;
    }
    if (!direction) {
      direction =
          newton_direction(objective, linear_solver, *gradient, {Projection::psd, tolerance}, timings);
      ++result.linear_solves;
    }
    if (!direction) {
      result.failure = "the linear system could not be solved";
      return result;
    }
    ++result.iterations;
    const Matrix3X p = free.extend(*direction);
    const double last_residual = std::exchange(
        result.residual, step_norm(objective.chart().push_forward(q, p), free, options.l2_norm) / options.dt);
    small_steps = result.residual <= options.tolerance ? small_steps + 1 : 0;
    const bool met = small_steps >= repeats;

    StepBound bound;
    {
      const auto time = timings.measure(Phase::ccd);
      bound = objective.feasible_step(q, p);
    }
    double alpha = bound.alpha;
    const auto time = timings.measure(Phase::line_search);
    const double slope = gradient->of_free.dot(*direction);  // < 0
    gradient.reset();
    const double noise = rounding * objective.magnitude();
    Matrix3X next = objective.retract(q, alpha * p);
    double next_energy = evaluate(next);
    // Where the change of E drowns in rounding its slope still tells: a step that does not end steeply uphill
    // is good (the approximate Wolfe condition of Hager and Zhang).
    const auto slope_is_fine = [&] {
      return next_energy <= energy + noise &&
             free.restrict_to_free(objective.reduced_gradient()).dot(*direction) <= -overshoot * slope;
    };
    while (!(next_energy <= energy) && !slope_is_fine()) {
      alpha *= 0.5;
      if (alpha < smallest_step) break;
      next = objective.retract(q, alpha * p);
      next_energy = evaluate(next);
    }
    if (alpha < smallest_step) {
      energy = evaluate(q);
      if (met && hooks.imbalance) result.imbalance = hooks.imbalance(objective.reduced_gradient());
      if (met && result.imbalance <= 1) {  // nowhere to go, and already there
        result.converged = !hooks.stationary(q);
        result.at_once = result.iterations <= repeats;
        if (result.converged) return result;
        energy = evaluate(q);
        continue;
      }
      result.failure = "the line search found no step that lowers the energy";
      return result;
    }
    // Halving stops at the first lower point, often far up the other side of a kink: where friction changes
    // its direction, or a contact begins. Steps that go from one side to the other and back, each a little
    // lower, take hundreds of iterations; from the bottom of the kink the next one goes along it.
    if (alpha < bound.alpha && -slope > noise) {
      const auto slope_here = [&] {
        return free.restrict_to_free(objective.reduced_gradient()).dot(*direction);
      };
      double low = 0, low_slope = slope, high = alpha, high_slope = slope_here();
      for (int k = 0; k < most_trials && high_slope > uphill * -slope; ++k) {
        const double secant = std::clamp(low_slope / (low_slope - high_slope), 0.1, 0.9);
        const double shorter = low + (high - low) * secant;
        Matrix3X trial = objective.retract(q, shorter * p);
        const double trial_energy = evaluate(trial);
        if (!(trial_energy <= next_energy)) break;
        next = std::move(trial);
        next_energy = trial_energy;
        alpha = shorter;
        const double trial_slope = slope_here();
        if (std::abs(trial_slope) <= uphill * -slope) break;
        (trial_slope > 0 ? high : low) = shorter;
        (trial_slope > 0 ? high_slope : low_slope) = trial_slope;
      }
      if (objective.coordinates() != next) evaluate(next);
    }
    // A full step that lowers E by half its slope ends at the minimum along p. One that lowers it by nearly
    // all of it is far from there: the projection made the Hessian stiff where E has little or negative
    // curvature (buckling).
    if ((!met || hooks.imbalance) && alpha == 1 && energy - next_energy > nearly_straight * -slope &&
        -slope > noise) {
      const StepBound farther = objective.feasible_step(q, longest_step * p);
      const double reach = longest_step * farther.alpha;
      for (double longer = 2; longer <= reach; longer *= 2) {
        Matrix3X trial = objective.retract(q, longer * p);
        const double trial_energy = evaluate(trial);
        if (!(trial_energy < next_energy)) break;
        next = std::move(trial);
        next_energy = trial_energy;
        alpha = longer;
      }
      if (alpha > 1) {
        bound = farther;
        for (double& corner : bound.corners) corner *= longest_step;
      }
      if (objective.coordinates() != next) evaluate(next);
    }
    if (hooks.passed)
      for (const double corner : bound.corners)
        if (corner < alpha) hooks.passed(objective.retract(q, corner * p));
    q = next;
    energy = next_energy;
    linear = alpha >= 1 && result.iterations > 1 && result.residual > slow_shrinking * last_residual;
    if (hooks.accepted(q)) energy = objective.value();
    if (hooks.iterated) hooks.iterated(q, {result.iterations, result.residual, alpha});
    if (met) {
      if (hooks.imbalance) result.imbalance = hooks.imbalance(gradient.emplace(objective).of_unknowns);
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
