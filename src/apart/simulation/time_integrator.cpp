#include <apart/simulation/time_integrator.hpp>

namespace apart {

namespace {

// Of a step of BDF2 to the one before. Steps that grow follow an impact, which has left a jump in the
// velocity. A longer step would extrapolate it: two particles separated with six times their energy.
constexpr double longest_ratio = 1.9;

TimeStep step_of(const IntegratorOptions& options, double dt, const State& s) {
  switch (options.scheme) {
    case Integrator::bdf2: {
      // The first step has no predecessor, and for one that is much longer than the step before the rule is
      // unstable (from 1 + √2 times on): these are steps of implicit Euler. Single steps of lower order do
      // not change the order of the whole.
      const double ratio = s.step_length > 0 ? dt / s.step_length : longest_ratio + 1;
      if (ratio > longest_ratio) break;
      // x + x′ h with the differences over both steps; for ratio 1: (4 xᵗ − xᵗ⁻¹)/3 and h = 2/3 dt.
      const double weight = ratio * ratio / (1 + 2 * ratio), h = (1 + ratio) / (1 + 2 * ratio) * dt;
      const auto extrapolated = [&](const Matrix3X& now, const Matrix3X& before) -> Matrix3X {
        return now + weight * (now - before);
      };
      const Matrix3X origin = extrapolated(s.nodes, s.previous_nodes);
      return {h * h, origin + h * extrapolated(s.velocity, s.previous_velocity), 1 / h, origin};
    }
    case Integrator::newmark:
    case Integrator::generalized_alpha: {
      // Newmark's rule for a mean acceleration ā that follows from the true ones, M⁻¹ times the forces at the
      // ends of the step, by (1 − α_m) ā + α_m āᵗ = (1 − α_f) a + α_f aᵗ [Arnold and Brüls 2007]. With α_m,
      // α_f, β and γ by ρ∞ as in Chung and Hulbert 1993 it is of second order; with α_m = α_f = 0 Newmark's,
      // ā = a.
      double b = options.beta, g = options.gamma, m = 0, f = 0;
      if (options.scheme == Integrator::generalized_alpha) {
        const double r = options.spectral_radius;
        m = (2 * r - 1) / (r + 1);
        f = r / (r + 1);
        g = 0.5 - m + f;
        b = 0.25 * (1 - m + f) * (1 - m + f);
      }
      TimeStep step;
      step.mean_scale = b * dt * dt;
      step.mean_origin = s.nodes + dt * s.velocity + dt * dt * (0.5 - b) * s.mean_acceleration;
      step.scale = step.mean_scale * (1 - f) / (1 - m);
      step.predicted =
          step.mean_origin + step.mean_scale / (1 - m) * (f * s.acceleration - m * s.mean_acceleration);
      step.rate = g / (b * dt);
      // v = vᵗ + dt (1 − γ) āᵗ + dt γ ā with ā = (q − mean_origin)/(β dt²)
      step.rate_origin = step.mean_origin - (s.velocity + dt * (1 - g) * s.mean_acceleration) / step.rate;
      return step;
    }
    case Integrator::quasi_static:
      // Forces in balance at every instant: no inertia. Speeds are those of the change, for friction and
      // damping.
      return {dt * dt, s.nodes, 1 / dt, s.nodes, false};
    case Integrator::implicit_euler:
      break;
  }
  return {dt * dt, s.nodes + dt * s.velocity, 1 / dt, s.nodes};  // [thesis eq. 2.1]
}

}  // namespace

TimeStep begin_step(const IntegratorOptions& options, double dt, const State& state,
                    const HeldMotion& motion) {
  TimeStep step = step_of(options, dt, state);
  step.length = dt;
  step.averages_forces = options.averages_forces();
  step.contact_scale = step.scale;
  if (!step.averages_forces) return step;
  step.contact_scale = 0.5 * dt * dt;
  // For held coordinates, rules that average forces would let the velocity oscillate and the acceleration
  // grow without bound. These take velocity and acceleration of their motion instead, so that they are
  // released with the velocity they have.
  const Matrix3X velocity = (motion.end - state.nodes) / dt, acceleration = (velocity - state.velocity) / dt;
  step.predicted = motion.held.select(motion.end - step.scale * acceleration, step.predicted);
  step.rate_origin = motion.held.select(motion.end - velocity / step.rate, step.rate_origin);
  return step;
}

void finish_step(const TimeStep& step, const State& before, const Eigen::Array<bool, 3, Eigen::Dynamic>& held,
                 FunctionRef<Matrix3X()> contact, State& end) {
  end.velocity = step.velocity(end.nodes);
  end.acceleration = step.acceleration(end.nodes);
  end.mean_acceleration = step.mean_acceleration(end.nodes);
  if (!step.averages_forces) return;
  const double dt = step.length;
  // q holds contact with the weight dt²/2; so much of it is in v = rate (q − …), instead of dt, and in both
  // accelerations, instead of nothing.
  const Matrix3X by_contact = contact();
  const double in_q = step.contact_scale;
  end.velocity += (dt - step.rate * in_q) * by_contact;
  end.acceleration -= in_q / step.scale * by_contact;
  end.mean_acceleration -= in_q / step.mean_scale * by_contact;
  // Where scripted motion was blocked, as it went.
  end.velocity = held.select((end.nodes - before.nodes) / dt, end.velocity);
  end.acceleration = held.select((end.velocity - before.velocity) / dt, end.acceleration);
  end.mean_acceleration = held.select(end.acceleration, end.mean_acceleration);
}

}  // namespace apart
