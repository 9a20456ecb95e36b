// Every time integrator by itself, on the harmonic oscillator q'' = −ω² q: its order, what becomes of energy,
// what it does with given positions and with contact.
#include <apart/simulation/time_integrator.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace apart::test {
namespace {

using Mask = Eigen::Array<bool, 3, Eigen::Dynamic>;

struct Scheme {
  IntegratorOptions options;
  int order;  ///< 0: it has no inertia
  std::string name;
};

/// Every integrator, with several settings where it has some. A new one does not compile until it is here.
std::vector<Scheme> settings_of(Integrator scheme) {
  switch (scheme) {
    case Integrator::implicit_euler:
      return {{{scheme}, 1, "implicit Euler"}};
    case Integrator::bdf2:
      return {{{scheme}, 2, "BDF2"}};
    case Integrator::newmark:
      return {{{scheme}, 2, "Newmark"}, {{scheme, 0.3025, 0.6}, 1, "Newmark with damping"}};
    case Integrator::generalized_alpha: {
      std::vector<Scheme> all;
      for (const double radius : {0.0, 0.5, 0.9, 1.0})
        all.push_back({{.scheme = scheme, .spectral_radius = radius}, 2, fmt::format("α({})", radius)});
      return all;
    }
    case Integrator::quasi_static:
      return {{{scheme}, 0, "quasi-static"}};
  }
  return {};
}
std::vector<Scheme> schemes() {
  std::vector<Scheme> all;
  for (int k = 0; k <= int(Integrator::quasi_static); ++k)
    for (Scheme& s : settings_of(Integrator(k))) all.push_back(std::move(s));
  return all;
}
std::vector<Scheme> dynamic_schemes() {
  std::vector<Scheme> all = schemes();
  std::erase_if(all, [](const Scheme& s) { return s.order == 0; });
  return all;
}

/// One node, with the acceleration that its force gives it.
State at(double position, double velocity, double acceleration) {
  State s;
  s.nodes = s.previous_nodes = Matrix3X::Constant(3, 1, position);
  s.velocity = s.previous_velocity = Matrix3X::Constant(3, 1, velocity);
  s.acceleration = s.mean_acceleration = Matrix3X::Constant(3, 1, acceleration);
  return s;
}

/// The state dt after s, whose nodes `solve` finds by a minimisation like that of the simulation.
State next(const IntegratorOptions& options, double dt, const State& s, const Mask& held,
           const Matrix3X& goal, const std::function<Matrix3X(const TimeStep&)>& solve,
           const Matrix3X& contact) {
  const TimeStep step = begin_step(options, dt, s, {held, goal});
  State end = s;
  end.nodes = solve(step);
  finish_step(
      step, s, held, [&] { return contact; }, end);
  end.previous_nodes = s.nodes;
  end.previous_velocity = s.velocity;
  end.step_length = dt;
  end.time += dt;
  ++end.step;
  return end;
}

const Mask nothing_held = Mask::Constant(3, 1, false);
const Matrix3X no_contact = Matrix3X::Zero(3, 1);

/// The minimum of ½(q − q̃)² + scale ½ω²q².
State oscillate(const IntegratorOptions& options, double dt, double omega, const State& s) {
  return next(
      options, dt, s, nothing_held, no_contact,
      [&](const TimeStep& step) -> Matrix3X { return step.predicted / (1 + omega * omega * step.scale); },
      no_contact);
}

/// The minimum of ½(q − q̃)² − scale a q.
State accelerate(const IntegratorOptions& options, double dt, double acceleration, const State& s) {
  return next(
      options, dt, s, nothing_held, no_contact,
      [&](const TimeStep& step) -> Matrix3X { return step.predicted.array() + step.scale * acceleration; },
      no_contact);
}

double energy(const State& s, double omega) {
  return 0.5 * std::pow(s.velocity(0), 2) + 0.5 * std::pow(omega * s.nodes(0), 2);
}

/// At t = 1 of the oscillation cos 3t, in the norm of its energy.
double error(const IntegratorOptions& options, int steps, const std::function<double(int)>& length) {
  const double omega = 3;
  State s = at(1, 0, -omega * omega);
  for (int k = 0; k < steps; ++k) s = oscillate(options, length(k) / steps, omega, s);
  EXPECT_NEAR(s.time, 1, 1e-12);
  return std::hypot(omega * (s.nodes(0) - std::cos(omega)), s.velocity(0) + omega * std::sin(omega));
}

double observed_order(const IntegratorOptions& options, const std::function<double(int)>& length) {
  return std::log2(error(options, 1200, length) / error(options, 2400, length));
}

TEST(TimeIntegrator, HasTheOrderOfItsScheme) {
  for (const Scheme& s : dynamic_schemes())
    EXPECT_NEAR(observed_order(s.options, [](int) { return 1.0; }), s.order, 0.02) << s.name;
}

TEST(TimeIntegrator, KeepsItsOrderInStepsOfChangingLength) {
  for (const Scheme& s : dynamic_schemes()) {
    const double order = observed_order(s.options, [](int k) {
      return k % 3 == 0 ? 1.5 : k % 3 == 1 ? 0.6 : 0.9;
    });
    // The mean acceleration of generalised-α is that of a time before the end of the step, by a share of its
    // length: where lengths change at every step one order is lost, unless ρ∞ = 1, where that share is zero.
    if (s.options.scheme == Integrator::generalized_alpha && s.options.spectral_radius < 1)
      EXPECT_GT(order, 0.95) << s.name;
    else
      EXPECT_NEAR(order, s.order, 0.02) << s.name;
  }
}

TEST(TimeIntegrator, ImplicitEulerLosesTheShareOfEnergyThatTheoryGives) {
  // Both eigenvalues of a step are 1/(1 ± iωh): each step divides the energy by 1 + ω²h².
  const double omega = 3, dt = 0.05;
  State s = at(1, 0, -9);
  for (int k = 0; k < 100; ++k) {
    const double before = energy(s, omega);
    s = oscillate({Integrator::implicit_euler}, dt, omega, s);
    EXPECT_NEAR(energy(s, omega) * (1 + omega * omega * dt * dt), before, 1e-12 * before);
  }
}

TEST(TimeIntegrator, NewmarkKeepsTheEnergyOfAnOscillation) {
  for (const double omega_dt : {0.1, 1.0, 10.0}) {
    const double omega = 3, dt = omega_dt / omega;
    State s = at(1, 0, -9);
    const double start = energy(s, omega);
    for (int k = 0; k < 1000; ++k) s = oscillate({Integrator::newmark}, dt, omega, s);
    EXPECT_NEAR(energy(s, omega), start, 1e-11 * start) << omega_dt;
  }
}

/// Share of the energy that is gone after ten periods of `steps` each. One more goes before: BDF2 begins with
/// a step of implicit Euler.
double lost(const IntegratorOptions& options, int steps) {
  const double omega = 2 * EIGEN_PI, dt = 1.0 / steps;
  State s = at(1, 0, -omega * omega);
  for (int k = 0; k < steps; ++k) s = oscillate(options, dt, omega, s);
  const double start = energy(s, omega);
  for (int k = 0; k < 10 * steps; ++k) s = oscillate(options, dt, omega, s);
  return 1 - energy(s, omega) / start;
}

TEST(TimeIntegrator, EnergyIsLostWithTheThirdPowerOfTheStepByRulesOfSecondOrder) {
  for (const IntegratorOptions& o :
       {IntegratorOptions{Integrator::bdf2},
        IntegratorOptions{.scheme = Integrator::generalized_alpha, .spectral_radius = 0.5}}) {
    const double coarse = lost(o, 400), fine = lost(o, 800);
    EXPECT_GT(fine, 0) << "none is made";
    EXPECT_NEAR(std::log2(coarse / fine), 3, 0.15) << int(o.scheme);
  }
  EXPECT_NEAR(std::log2(lost({Integrator::implicit_euler}, 4000) / lost({Integrator::implicit_euler}, 8000)),
              1, 0.1);
}

TEST(TimeIntegrator, NoStepIsTooLong) {
  // Vibrations that are much too fast for the step do not grow, whatever the start.
  for (const Scheme& s : dynamic_schemes())
    for (const double omega_dt : {2.0, 1e2, 1e6}) {
      const double omega = 1, dt = omega_dt;
      State state = at(1, 0.3, -1);
      double largest = 0;
      for (int k = 0; k < 300; ++k) {
        state = oscillate(s.options, dt, omega, state);
        largest = std::max(largest, std::abs(state.nodes(0)));
      }
      EXPECT_LT(largest, 3 * (1 + 0.3 / omega)) << s.name << " " << omega_dt;
    }
}

TEST(TimeIntegrator, GeneralizedAlphaDampsWhatIsTooFastByItsSpectralRadius) {
  for (const double radius : {0.0, 0.3, 0.5, 0.9}) {
    const IntegratorOptions o{.scheme = Integrator::generalized_alpha, .spectral_radius = radius};
    const double omega = 1e5, dt = 1;
    State s = at(1, 0, -omega * omega);
    // All eigenvalues are −ρ∞ then: size × polynomial of the number of steps, so that the ratio comes slowly.
    std::vector<double> size;
    for (int k = 0; k < 400; ++k) {
      s = oscillate(o, dt, omega, s);
      size.push_back(std::abs(s.acceleration(0)) + std::abs(s.mean_acceleration(0)));
    }
    if (radius == 0) {
      EXPECT_LT(size[10], 1e-6 * omega * omega) << "nothing is left after a few steps";
      continue;
    }
    EXPECT_NEAR(std::pow(size[199] / size[99], 0.01), radius, 0.02 * radius);
  }
}

TEST(TimeIntegrator, MotionWithoutForceIsExact) {
  for (const Scheme& s : dynamic_schemes()) {
    State state = at(1, -2, 0);
    for (const double dt : {0.1, 0.1, 0.05, 0.3, 0.01}) state = accelerate(s.options, dt, 0, state);
    EXPECT_NEAR(state.nodes(0), 1 - 2 * state.time, 1e-14) << s.name;
    EXPECT_NEAR(state.velocity(0), -2, 1e-13) << s.name;
    EXPECT_NEAR(state.acceleration(0), 0, 1e-11) << s.name;
  }
}

TEST(TimeIntegrator, ConstantForcesAreExactForRulesThatAverage) {
  for (const Scheme& s : dynamic_schemes()) {
    State state = at(1, -2, 5);
    for (const double dt : {0.1, 0.1, 0.05, 0.3, 0.01}) state = accelerate(s.options, dt, 5, state);
    const double t = state.time;
    EXPECT_NEAR(state.acceleration(0), 5, 1e-11) << s.name;
    EXPECT_NEAR(state.velocity(0), -2 + 5 * t, 1e-12) << s.name << ": momentum is that of the force";
    if (s.options.averages_forces() && s.options.gamma == 0.5) {
      EXPECT_NEAR(state.nodes(0), 1 - 2 * t + 2.5 * t * t, 1e-12) << s.name;
    }
  }
}

TEST(TimeIntegrator, Bdf2BeginsAndGoesOnAfterMuchShorterStepsAsImplicitEuler) {
  const State start = at(1, -2, -9);
  const IntegratorOptions bdf2{Integrator::bdf2}, euler{Integrator::implicit_euler};
  EXPECT_EQ(oscillate(bdf2, 0.01, 3, start).nodes, oscillate(euler, 0.01, 3, start).nodes);
  const State second = oscillate(bdf2, 0.01, 3, start);
  EXPECT_NE(oscillate(bdf2, 0.01, 3, second).nodes, oscillate(euler, 0.01, 3, second).nodes);
  EXPECT_NE(oscillate(bdf2, 0.018, 3, second).nodes, oscillate(euler, 0.018, 3, second).nodes);
  EXPECT_EQ(oscillate(bdf2, 0.03, 3, second).nodes, oscillate(euler, 0.03, 3, second).nodes);
}

TEST(TimeIntegrator, QuasiStaticStepsHaveNoInertiaAndTheSpeedOfTheChange) {
  const State start = at(1, 100, 100);
  const TimeStep step = begin_step({Integrator::quasi_static}, 0.5, start, {nothing_held, no_contact});
  EXPECT_FALSE(step.has_inertia);
  EXPECT_GT(step.scale, 0);
  EXPECT_NEAR(step.velocity(Matrix3X::Constant(3, 1, 4))(0), (4 - 1) / 0.5, 1e-12);
}

TEST(TimeIntegrator, HeldPositionsHaveTheSpeedOfTheirMotionAndAreReleasedWithIt) {
  // y is led along a parabola for 40 steps, then no force acts. x and z are free from the start.
  Mask held = nothing_held;
  held(1, 0) = true;
  const double dt = 0.01;
  for (const Scheme& s : dynamic_schemes()) {
    State state = at(0, 0, 0);
    for (int k = 1; k <= 40; ++k) {
      const double t = k * dt;
      Matrix3X goal = Matrix3X::Constant(3, 1, 1e9);  // read where held only
      goal(1, 0) = 3 * t * t;
      state = next(
          s.options, dt, state, held, goal,
          [&](const TimeStep& step) -> Matrix3X { return held.select(goal, step.predicted); }, no_contact);
      EXPECT_EQ(state.nodes(1, 0), goal(1, 0));
      // The mean of the step; BDF2 looks back to the one before as well.
      EXPECT_NEAR(state.velocity(1, 0), 6 * t, 3.1 * dt) << s.name;
      EXPECT_EQ(state.nodes(0, 0), 0) << s.name;
    }
    const double speed = state.velocity(1, 0), left = state.nodes(1, 0);
    for (int k = 0; k < 100; ++k) state = accelerate(s.options, dt, 0, state);
    // What the rule remembers of the acceleration passes within a step or two.
    EXPECT_NEAR(state.nodes(1, 0), left + speed * 100 * dt, 0.02 * speed) << s.name;
    EXPECT_NEAR(state.velocity(1, 0), speed, 0.02 * speed) << s.name;
  }
}

TEST(TimeIntegrator, ContactActsOnceThroughItsForceAtTheEndOfTheStep) {
  // A node at rest is pushed with the acceleration c in one step, and flies on.
  const double dt = 0.01, c = 30;
  for (const Scheme& s : dynamic_schemes()) {
    State state = next(
        s.options, dt, at(0, 0, 0), nothing_held, no_contact,
        [&](const TimeStep& step) -> Matrix3X { return step.predicted.array() + step.contact_scale * c; },
        Matrix3X::Constant(3, 1, c));
    EXPECT_NEAR(state.velocity(0), dt * c, 1e-12) << s.name << ": momentum is that of the force";
    EXPECT_NEAR(state.nodes(0), (s.options.averages_forces() ? 0.5 : 1) * dt * dt * c, 1e-15) << s.name;
    if (s.options.averages_forces()) {
      EXPECT_NEAR(state.acceleration(0), 0, 1e-10) << s.name << ": of all other forces";
      EXPECT_NEAR(state.mean_acceleration(0), 0, 1e-10) << s.name;
      const double left = state.nodes(0);
      for (int k = 0; k < 10; ++k) state = accelerate(s.options, dt, 0, state);
      EXPECT_NEAR(state.velocity(0), dt * c, 1e-10) << s.name << ": not pushed again";
      EXPECT_NEAR(state.nodes(0), left + 10 * dt * dt * c, 1e-12) << s.name;
    }
  }
}

}  // namespace
}  // namespace apart::test
