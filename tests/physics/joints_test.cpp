// Joints and motors against mechanics: periods, linkages, torques, springs, limits.
#include <gtest/gtest.h>
#include <physics/jointed_scene.hpp>

#include <cmath>
#include <optional>
#include <vector>

namespace apart::test {
namespace {

/// Moment of inertia of a box about the z axis through its centre [kg m²].
double inertia_z(double mass, const Vector3& size) {
  return mass * (size[0] * size[0] + size[1] * size[1]) / 12;
}

// ---- Periods ----------------------------------------------------------------------------------------------

/// Mean period of a rod of 1 m that is let go at an angle from hanging [rad].
double pendulum_period(double amplitude, const std::string& time) {
  const Vector3 size(0.05, 1, 0.05);
  const Vector3 centre = 0.5 * Vector3(std::sin(amplitude), -std::cos(amplitude), 0);
  const Scene scene = jointed_scene(
      time,
      fmt::format(R"({{"type": "rigid", "name": "rod", "mesh": {{"generator": "box", "size": [{}, {}, {}]}},
                       "transform": {{"rotate": [0, 0, {}], "translate": [{}, {}, 0]}}}})",
                  size[0], size[1], size[2], amplitude / in_radians, centre[0], centre[1]),
      R"({"type": "hinge", "name": "pivot", "bodies": ["rod"], "at": [0, 0, 0], "axis": [0, 0, 1]})");
  Simulation s(scene.model);
  double before = amplitude, first = 0, last = 0;
  int crossings = 0;
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    const double now = amplitude + reading(s, 0).angle * in_radians;
    if (before * now < 0) {
      const double at = s.state().time - scene.model->options.dt * now / (now - before);
      (crossings++ == 0 ? first : last) = at;
    }
    before = now;
  }
  EXPECT_GE(crossings, 3);
  return 2 * (last - first) / (crossings - 1);
}

double exact_period(double amplitude) {
  const double inertia = inertia_z(1, {0.05, 1, 0.05}) + 0.25;
  return 4 * std::comp_ellint_1(std::sin(amplitude / 2)) / std::sqrt(earth * 0.5 / inertia);
}

TEST(Joints, APendulumHasThePeriodOfTheEllipticIntegral) {
  // Rules of second order stretch periods by a small multiple of (ω h)², here (3.8 · 0.01)² = 1.5e-3. Near
  // the top the period depends on the amplitude so much that what bdf2 loses of it shows.
  const auto expect_period = [](double amplitude, const char* rule) {
    const double period =
        pendulum_period(amplitude, fmt::format(R"({{"dt": 0.01, "tend": 6, "integrator": "{}"}})", rule));
    EXPECT_NEAR(period, exact_period(amplitude), 2e-3 * exact_period(amplitude)) << rule << amplitude;
  };
  for (const double amplitude : {5 * in_radians, 90 * in_radians, 150 * in_radians})
    expect_period(amplitude, "generalized_alpha");
  for (const double amplitude : {5 * in_radians, 90 * in_radians}) expect_period(amplitude, "bdf2");
}

TEST(Joints, APendulumOfImplicitEulerComesToThePeriodWithItsStep) {
  // It loses amplitude by about ω² h/2 in a second; for small ones the period does not depend on it.
  const double exact = exact_period(5 * in_radians);
  const double coarse = pendulum_period(5 * in_radians, R"({"dt": 0.01, "tend": 3})") - exact,
               fine = pendulum_period(5 * in_radians, R"({"dt": 0.0025, "tend": 3})") - exact;
  EXPECT_LT(std::abs(coarse), 1e-2 * exact);
  EXPECT_LT(std::abs(fine), 0.3 * std::abs(coarse) + 1e-4 * exact);
}

// ---- Linkages ---------------------------------------------------------------------------------------------

TEST(Joints, AFourBarLinkageGoesThroughItsClosedForm) {
  // Ground 0.5, crank 0.15, coupler 0.45, rocker 0.35 (Grashof): the crank turns, the rocker swings.
  const double ground = 0.5, crank = 0.15, coupler = 0.45, rocker = 0.35;
  const auto rocker_end = [&](double angle) {
    const Vector3 a(crank * std::cos(angle), crank * std::sin(angle), 0), to = Vector3(ground, 0, 0) - a;
    const double d = to.norm(), x = (coupler * coupler - rocker * rocker + d * d) / (2 * d),
                 y = std::sqrt(coupler * coupler - x * x);
    return Vector3(a + (x / d) * to + (y / d) * Vector3(-to[1], to[0], 0));
  };
  const double start = 90 * in_radians;
  const Vector3 a(0, crank, 0), b = rocker_end(start);
  const auto bar = [](const std::string& name, const Vector3& p, const Vector3& q, double z) {
    return fmt::format(
        R"({{"type": "rigid", "name": "{}", "mesh": {{"generator": "box", "size": [{}, 0.03, 0.02]}},
                            "transform": {{"rotate": [0, 0, {}], "translate": [{}, {}, {}]}}}})",
        name, (q - p).norm(), std::atan2(q[1] - p[1], q[0] - p[0]) / in_radians, (p[0] + q[0]) / 2,
        (p[1] + q[1]) / 2, z);
  };
  const auto hinge = [](const std::string& bodies, const Vector3& at, const std::string& others = "") {
    return fmt::format(R"({{"type": "hinge", "bodies": [{}], "at": [{}, {}, 0], "axis": [0, 0, 1]{}}})",
                       bodies, at[0], at[1], others);
  };
  const Scene scene =
      jointed_scene(R"({"dt": 0.01, "tend": 1})",
                    bar("crank", Vector3::Zero(), a, 0) + "," + bar("coupler", a, b, 0.03) + "," +
                        bar("rocker", {ground, 0, 0}, b, 0),
                    hinge(R"("crank")", Vector3::Zero(), R"(, "angle": {"motor": {"velocity": 360}})") + "," +
                        hinge(R"("coupler", "crank")", a) + "," + hinge(R"("rocker", "coupler")", b) + "," +
                        hinge(R"("rocker")", {ground, 0, 0}));
  Simulation s(scene.model);
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    const double angle = start + reading(s, 0).angle * in_radians;
    EXPECT_NEAR(angle, start + 2 * std::numbers::pi * s.state().time, 1e-6 * (step + 1));
    // Four joints, each closed to 1e-6 of a bar; near its turning points the rocker magnifies that threefold.
    EXPECT_LT((carried(s, 2, b) - rocker_end(angle)).norm(), 5e-6) << step;
  }
  EXPECT_NEAR(reading(s, 0).angle, 360, 0.01) << "whole turns are counted";
}

TEST(Joints, ASliderCrankMovesItsPistonByTheClosedForm) {
  const double crank = 0.2, rod = 0.5;
  const Scene scene =
      jointed_scene(R"({"dt": 0.005, "tend": 0.5})",
                    jointed_box("crank", {0.2, 0.02, 0.02}, {0.1, 0, 0}) + "," +
                        jointed_box("rod", {0.5, 0.02, 0.02}, {0.45, 0, 0.03}) + "," +
                        jointed_box("piston", {0.1, 0.1, 0.1}, {0.7, 0, 0.1}),
                    R"({"type": "hinge", "bodies": ["crank"], "at": [0, 0, 0], "axis": [0, 0, 1],
          "angle": {"motor": {"velocity": 720}}},
         {"type": "hinge", "bodies": ["rod", "crank"], "at": [0.2, 0, 0], "axis": [0, 0, 1]},
         {"type": "hinge", "bodies": ["piston", "rod"], "at": [0.7, 0, 0], "axis": [0, 0, 1]},
         {"type": "slider", "bodies": ["piston"], "at": [0.7, 0, 0.1], "axis": [1, 0, 0]})");
  Simulation s(scene.model);
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    const double angle = reading(s, 0).angle * in_radians, high = crank * std::sin(angle);
    const double expected = crank * std::cos(angle) + std::sqrt(rod * rod - high * high) - (crank + rod);
    EXPECT_NEAR(reading(s, 3).position, expected, 3e-6) << step;
  }
  EXPECT_NEAR(reading(s, 0).angle, 360, 0.01);
}

// ---- Motors, friction, springs, limits --------------------------------------------------------------------

/// A box that turns about a hinge through its centre, without gravity.
Scene flywheel(const std::string& time, const std::string& angle, const std::string& body = "") {
  return jointed_scene(
      time, jointed_box("wheel", {0.2, 0.2, 0.05}, {0, 0, 0}, R"(, "mass": 3)" + body),
      R"({"type": "hinge", "bodies": ["wheel"], "at": [0, 0, 0], "axis": [0, 0, 1], "angle": )" + angle + "}",
      R"(, "gravity": [0, 0, 0])");
}
const double flywheel_inertia = inertia_z(3, {0.2, 0.2, 0});

/// Speed of the flywheel over the last step [rad/s].
double speed_after(Simulation& s) {
  const double before = s.state().step > 0 ? reading(s, 0).angle : 0;
  s.step();
  return (reading(s, 0).angle - before) * in_radians / s.model().options.dt;
}

TEST(Joints, AMotorSpeedsUpByItsLargestTorqueAndThenHoldsItsSpeed) {
  const double acceleration = 0.2 / flywheel_inertia, wanted = 360 * in_radians;
  for (const bool conserve_spin : {true, false}) {
    const Scene scene =
        flywheel(fmt::format(R"({{"dt": 0.01, "tend": 1, "conserve_spin": {}}})", conserve_spin),
                 R"({"motor": {"velocity": 360, "max_torque": 0.2}})");
    Simulation s(scene.model);
    // What implicit Euler takes from a spin in a step, α − atan(sin α/(2 − cos α)), the motor has to give.
    const double turn = wanted * 0.01, lost = turn - std::atan2(std::sin(turn), 2 - std::cos(turn));
    const double holding = conserve_spin ? 0 : flywheel_inertia * lost / (0.01 * 0.01);
    for (Index step = 1; step <= scene.steps; ++step) {
      const double speed = speed_after(s), t = s.state().time;
      if (acceleration * t < 0.95 * wanted) {
        EXPECT_NEAR(speed, acceleration * t, (conserve_spin ? 1e-4 : 0.05) * acceleration * t) << step;
        EXPECT_NEAR(reading(s, 0).torque[2], 0.2, 1e-9);
      } else if (acceleration * t > 1.1 * wanted) {
        EXPECT_NEAR(speed, wanted, 3e-4) << step;  // 2e-6 rad in a step
        EXPECT_NEAR(reading(s, 0).torque[2], holding, 1e-3) << step;
      }
    }
  }
}

TEST(Joints, AMotorThatIsTooWeakStalls) {
  // 3 kg at 0.5 m need 14.7 N m.
  for (const double torque : {14.0, 15.5}) {
    const Scene scene = jointed_scene(
        R"({"dt": 0.01, "tend": 0.5})", jointed_box("weight", {0.1, 0.1, 0.1}, {0.5, 0, 0}, R"(, "mass": 3)"),
        fmt::format(R"({{"type": "hinge", "bodies": ["weight"], "at": [0, 0, 0], "axis": [0, 0, 1],
          "angle": {{"limits": [-1, 90], "motor": {{"velocity": 45, "max_torque": {}}}}}}})",
                    torque));
    Simulation s(scene.model);
    for (Index step = 0; step < scene.steps; ++step) s.step();
    if (torque > 3 * earth * 0.5) {
      EXPECT_GT(reading(s, 0).angle, 5);
    } else {
      EXPECT_NEAR(reading(s, 0).angle, -1, 1e-3) << "it lies on its lower limit";
    }
  }
}

TEST(Joints, APositionMotorFollowsKeyframesAndFormulas) {
  for (const char* target : {"[[0, 0], [0.5, 90], [1, 90]]", "\"min(180*t, 90)\""}) {
    const Scene scene =
        flywheel(R"({"dt": 0.01, "tend": 0.7})", fmt::format(R"({{"motor": {{"position": {}}}}})", target));
    Simulation s(scene.model);
    for (Index step = 0; step < scene.steps; ++step) {
      s.step();
      EXPECT_NEAR(reading(s, 0).angle, std::min(180 * s.state().time, 90.0), 1e-4);
    }
  }
}

TEST(Joints, FrictionTorqueStopsASpinAsComputedAndHolds) {
  const Scene scene = flywheel(R"({"dt": 0.002, "tend": 0.6})", R"({"friction": 0.1})",
                               R"(, "angular_velocity": [0, 0, 120])");
  Simulation s(scene.model);
  const double start = 120 * in_radians, deceleration = 0.1 / flywheel_inertia, rest = start / deceleration;
  for (Index step = 1; step <= scene.steps; ++step) {
    const double speed = speed_after(s), t = s.state().time;
    if (t < 0.98 * rest) {
      EXPECT_NEAR(speed, start - deceleration * t, 5e-3 * start) << t;
    } else if (t > 1.02 * rest) {
      EXPECT_NEAR(speed, 0, 1e-3) << t;
    }
  }
  // ω²/2α, less what implicit Euler takes away.
  EXPECT_NEAR(reading(s, 0).angle * in_radians, start * start / (2 * deceleration), 5e-3);
}

TEST(Joints, ASpringSwingsAtItsFrequencyAndADamperStopsIt) {
  const double stiffness = 2, period = 2 * std::numbers::pi * std::sqrt(flywheel_inertia / stiffness);
  const Scene scene = flywheel(R"({"dt": 0.002, "tend": 1, "integrator": "generalized_alpha"})",
                               R"({"stiffness": 2, "rest": 10})");
  Simulation s(scene.model);
  double largest = 0, last = 0, first = 0, before = -10;
  int crossings = 0;
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    const double now = reading(s, 0).angle - 10;
    largest = std::max(largest, now);
    if (before * now < 0) (crossings++ == 0 ? first : last) = s.state().time - 0.002 * now / (now - before);
    before = now;
  }
  EXPECT_NEAR(2 * (last - first) / (crossings - 1), period, 2e-3 * period);
  EXPECT_NEAR(largest, 10, 0.1);
  // Critical damping: 2 √(k I).
  const Scene damped =
      flywheel(R"({"dt": 0.002, "tend": 1})", fmt::format(R"({{"stiffness": 2, "rest": 10, "damping": {}}})",
                                                          2 * std::sqrt(stiffness * flywheel_inertia)));
  Simulation d(damped.model);
  const double rate = std::sqrt(stiffness / flywheel_inertia);
  for (Index step = 0; step < damped.steps; ++step) {
    d.step();
    const double t = d.state().time;
    EXPECT_NEAR(reading(d, 0).angle, 10 * (1 - (1 + rate * t) * std::exp(-rate * t)), 0.1) << t;
  }
}

TEST(Joints, LimitsHoldWhatFallsOnThem) {
  const Scene scene = jointed_scene(
      R"({"dt": 0.01, "tend": 1})", jointed_box("flap", {0.4, 0.02, 0.2}, {0.2, 0, 0}, R"(, "mass": 2)"),
      R"({"type": "hinge", "bodies": ["flap"], "at": [0, 0, 0], "axis": [0, 0, 1], "angle": {"limits": [-60, 90]}})");
  Simulation s(scene.model);
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    EXPECT_GT(reading(s, 0).angle, -60 - 1e-4);
  }
  EXPECT_NEAR(reading(s, 0).angle, -60, 1e-4);
  EXPECT_NEAR(reading(s, 0).torque[2], 2 * earth * 0.2 * std::cos(60 * in_radians), 1e-3 * 2 * earth * 0.2);
  EXPECT_NEAR(reading(s, 0).force[1], 2 * earth, 1e-3 * 2 * earth);
}

TEST(Joints, ABallTurnsFreelyWithinItsCone) {
  const Scene scene = jointed_scene(
      R"({"dt": 0.005, "tend": 1})",
      jointed_box("lamp", {0.05, 0.4, 0.05}, {0, -0.2, 0},
                  R"(, "angular_velocity": [300, 0, 400], "velocity": [1.396, 0, -1.047])"),
      R"({"type": "ball", "bodies": ["lamp"], "at": [0, 0, 0], "axis": [0, 1, 0], "cone": 30})");
  Simulation s(scene.model);
  double widest = 0;
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    const Vector3 end = carried(s, 0, {0, -0.4, 0});
    widest = std::max(widest, std::acos(-end[1] / end.norm()) / in_radians);
    EXPECT_LT(carried(s, 0, Vector3::Zero()).norm(), 2e-6 * 0.41);
  }
  EXPECT_NEAR(widest, 30, 1e-3);
}

/// A cube of 0.1 m, held at its centre by a ball joint and turning about an axis, with the angle by which it
/// has turned [rad].
class SpinningCube {
 public:
  /// `speed` [rad/s]; `key`: of what acts in the joint, which is `factor` times the moment of inertia.
  SpinningCube(const Vector3& axis, double speed, const std::string& key, double factor,
               const std::string& rule = "implicit_euler")
      : axis_(axis.normalized()) {
    const Vector3 spin = speed / in_radians * axis_;
    const Scene scene = jointed_scene(
        fmt::format(R"({{"dt": 0.01, "tend": 2, "integrator": "{}"}})", rule),
        jointed_box(
            "cube", Vector3::Constant(0.1), Vector3::Zero(),
            fmt::format(R"(, "mass": 6, "angular_velocity": [{}, {}, {}])", spin[0], spin[1], spin[2])),
        fmt::format(R"({{"type": "ball", "bodies": ["cube"], "at": [0, 0, 0], "angle": {{"{}": {}}}}})", key,
                    factor * inertia));
    simulation.emplace(scene.model);
  }
  static constexpr double inertia = 6 * 0.1 * 0.1 / 6;  ///< [kg m²]
  double angle_after_step() {
    simulation->step();
    const Vector3 start = axis_.unitOrthogonal(), now = carried(*simulation, 0, start);
    return std::atan2(axis_.dot(start.cross(now)), start.dot(now));
  }
  std::optional<Simulation> simulation;

 private:
  Vector3 axis_;
};

const std::vector<Vector3> axes_of_spin = {{0, 1, 0}, {1, 1, 1}, {0.2, -0.9, 0.5}};

/// Implicit Euler for a turn of the angle θ: after a step that turned by `last`, the next one turns freely to
/// the argument of 2 − exp(−i last), at which the inertia −I |2 − exp(−i last)| cos θ is least; a torque of
/// `rate` times I changes that [rad, rad/s²].
double turned_in_a_step(double last, double rate, double h) {
  const double x = 2 - std::cos(last), y = std::sin(last);
  return std::atan2(y, x) + std::asin(h * h * rate / std::hypot(x, y));
}

TEST(Joints, FrictionOfABallIsTheSameAboutEveryAxisAndHolds) {
  const double speed = 2, rate = 4, h = 0.01;  // [rad/s], [rad/s²]
  for (const Vector3& axis : axes_of_spin) {
    SpinningCube cube(axis, speed, "friction", rate);
    double angle = 0, expected = 0, last = std::atan(h * speed);  // velocities of nodes are along tangents
    for (int k = 1; k <= 80; ++k) {
      angle = cube.angle_after_step();
      if (k == 1) last = std::atan(h * speed) - std::asin(h * h * rate / std::hypot(1, h * speed));
      if (k > 1) last = std::max(0.0, turned_in_a_step(last, -rate, h));
      expected += last;
      EXPECT_NEAR(angle, expected, 2e-5) << axis.transpose() << " after step " << k;
      if (k == 25)
        EXPECT_NEAR(reading(*cube.simulation, 0).torque.norm(), rate * SpinningCube::inertia, 1e-9);
    }
    EXPECT_NEAR(angle, speed * speed / (2 * rate), 0.03 * angle) << "½ ω²/α without steps";
  }
}

TEST(Joints, ADamperOfABallSlowsSpinsAboutEveryAxisByItsLaw) {
  const double speed = 1, rate = 2, h = 0.01;  // [rad/s], [1/s]
  for (const Vector3& axis : axes_of_spin) {
    SpinningCube cube(axis, speed, "damping", rate);
    double angle = 0, expected = 0, last = 0;
    for (int k = 1; k <= 100; ++k) {
      angle = cube.angle_after_step();
      double now = last;  // torque −rate θ/h: a fixed point
      for (int i = 0; i < 60; ++i)
        now = k > 1 ? turned_in_a_step(last, -rate * now / h, h)
                    : std::atan(h * speed) - std::asin(h * rate * now / std::hypot(1, h * speed));
      expected += last = now;
    }
    EXPECT_NEAR(angle, expected, 1e-4 * expected) << axis.transpose();
    EXPECT_NEAR(angle, speed / rate * (1 - std::exp(-rate)), 0.01 * angle) << "without steps";
  }
}

TEST(Joints, ASpringOfABallSwingsAtItsFrequencyAboutEveryAxis) {
  for (const Vector3& axis : axes_of_spin) {
    const double rate = 2 * std::numbers::pi;  // a period of a second
    SpinningCube cube(axis, 0.5, "stiffness", rate * rate, "generalized_alpha");
    double before = 0, largest = 0;
    std::vector<double> crossings;
    for (int k = 1; k <= 130; ++k) {
      const double now = cube.angle_after_step();
      if (before * now < 0) crossings.push_back(0.01 * (k - now / (now - before)));
      largest = std::max(largest, now);
      before = now;
    }
    ASSERT_EQ(crossings.size(), 2u) << axis.transpose();
    EXPECT_NEAR(crossings[1] - crossings[0], 0.5, 2e-3) << axis.transpose();
    EXPECT_NEAR(largest, 0.5 / rate, 1e-2 * 0.5 / rate) << axis.transpose();
  }
}

}  // namespace
}  // namespace apart::test
