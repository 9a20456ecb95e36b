#include <apart/solver/line_search.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace apart {

namespace {

constexpr double rounding = 1e-8;  // relative error of the objective's value where gaps are tiny
constexpr double overshoot = 0.8;  // share of the initial slope a step may end with, uphill
// A halved step that ends uphill, by more than this share of the initial slope, is drawn back towards the
// minimum along p, with so many trials at most.
constexpr double uphill = 0.1;
constexpr int most_trials = 3;
constexpr double smallest_step = 1e-14;  // below this share of p the line search has failed
// Longer steps are tried where E fell by more than this share of its slope; up to this multiple of p.
constexpr double nearly_straight = 0.9, longest_step = 32;

}  // namespace

LineSearch::LineSearch(Objective& objective, const Matrix3X& q, const Line& line)
    : objective_(objective), start_(q), line_(line), noise_(rounding * line.energy.magnitude) {}

LineSearch::Trial LineSearch::tried(double alpha) {
  Trial trial{alpha, {}, objective_.retract(start_, alpha * line_.p)};
  objective_.prepare(trial.q);
  trial.energy = objective_.energy();
  return trial;
}

double LineSearch::slope_here() const {
  return objective_.free().restrict_to_free(objective_.reduced_gradient()).dot(line_.free_p);
}

bool LineSearch::descend(double alpha) {
  longest_ = alpha;
  best_ = tried(alpha);
  // A change of E that may be rounding decides nothing, fall or rise; the slope still tells: a step that does
  // not end steeply uphill is good (the approximate Wolfe condition of Hager and Zhang). If small falls were
  // good by themselves, steps over a kink of friction could lead there and back for ever.
  const auto is_good = [&] {
    const double rise = best_.energy.value - line_.energy.value;
    return rise < -noise_ || (rise <= noise_ && slope_here() <= -overshoot * line_.slope);
  };
  while (!is_good()) {
    alpha *= 0.5;
    if (alpha < smallest_step) return false;
    best_ = tried(alpha);
  }
  return alpha >= smallest_step;
}

void LineSearch::draw_back() {
  const double steepness = -line_.slope;
  if (!(best_.alpha < longest_ && steepness > noise_)) return;
  double low = 0, low_slope = line_.slope, high = best_.alpha, high_slope = slope_here();
  for (int k = 0; k < most_trials && high_slope > uphill * steepness; ++k) {
    const double secant = std::clamp(low_slope / (low_slope - high_slope), 0.1, 0.9);
    Trial shorter = tried(low + (high - low) * secant);
    if (!(shorter.energy.value <= best_.energy.value)) break;
    best_ = std::move(shorter);
    const double slope = slope_here();
    if (std::abs(slope) <= uphill * steepness) break;
    (slope > 0 ? high : low) = best_.alpha;
    (slope > 0 ? high_slope : low_slope) = slope;
  }
  if (objective_.coordinates() != best_.q) objective_.prepare(best_.q);
}

void LineSearch::lengthen(StepBound& bound) {
  const double steepness = -line_.slope;
  if (!(best_.alpha == 1 && line_.energy.value - best_.energy.value > nearly_straight * steepness &&
        steepness > noise_))
    return;
  const StepBound farther = objective_.feasible_step(start_, longest_step * line_.p);
  const double reach = longest_step * farther.alpha;
  for (double longer = 2; longer <= reach; longer *= 2) {
    Trial trial = tried(longer);
    if (!(trial.energy.value < best_.energy.value)) break;
    best_ = std::move(trial);
  }
  if (best_.alpha > 1) {
    bound = farther;
    for (double& corner : bound.corners) corner *= longest_step;
  }
  if (objective_.coordinates() != best_.q) objective_.prepare(best_.q);
}

}  // namespace apart
