#include <apart/simulation/time_integrator.hpp>

namespace apart {

void separate_contact(const IntegratorOptions& options, double dt, const Matrix3X& contact, State& end) {
  // (q − predicted)/scale holds contact with weight (dt²/2)/(β dt²), and v that times γ dt instead of dt.
  const double share = 1 / (2 * options.beta);
  end.velocity += dt * (1 - options.gamma * share) * contact;
  end.acceleration -= share * contact;
}

namespace {

constexpr double longest_ratio = 2;  // of a step of BDF2 to the one before

TimeStep step_of(const IntegratorOptions& options, double dt, const State& s) {
  switch (options.scheme) {
    case Integrator::bdf2: {
      // The first step has nothing before it, and one that is much longer than the step before nothing that
      // is far enough away (from 1 + √2 times on the rule is unstable): these are steps of implicit Euler.
      // Single steps of lower order do not change the order of the whole.
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
    case Integrator::newmark: {
      const double b = options.beta, g = options.gamma;
      TimeStep step;
      step.scale = b * dt * dt;
      step.predicted = s.nodes + dt * s.velocity + dt * dt * (0.5 - b) * s.acceleration;
      step.rate = g / (b * dt);
      // v = vᵗ + dt (1 − γ) aᵗ + dt γ a with a = (q − predicted)/(β dt²)
      step.rate_origin = step.predicted - (s.velocity + dt * (1 - g) * s.acceleration) / step.rate;
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

TimeStep begin_step(const IntegratorOptions& options, double dt, const State& state) {
  TimeStep step = step_of(options, dt, state);
  step.contact_scale = options.scheme == Integrator::newmark ? 0.5 * dt * dt : step.scale;
  return step;
}

}  // namespace apart
