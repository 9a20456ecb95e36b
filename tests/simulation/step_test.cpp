// What Simulation::step() promises whatever happens in the step: it follows from the state alone, a failed
// one changes nothing, what is looked at is not changed by looking, and divided steps end when whole ones do.
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/simulation/step_problem.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

constexpr Integrator integrators[] = {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark,
                                      Integrator::generalized_alpha, Integrator::quasi_static};
static_assert(std::size(integrators) == std::size_t(Integrator::quasi_static) + 1);

/// A box that slides on the ground into a lid that comes down on it late, one corner on a string of its own.
SmallScene busy_scene(Integrator scheme) {
  SmallScene scene;
  scene.options.integrator.scheme = scheme;
  scene.contact.friction = 0.3;
  Body box = make_volume("box", moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0, 0.1008, 0}), soft(1e6),
                         1000, MassKind::lumped);
  set_rigid_velocity(box, {0.5, 0, 0}, Vector3::Zero());
  if (scheme == Integrator::quasi_static) {
    const std::vector<Index> left = points_where(box, [](const Vector3& x) { return x[0] < -0.09; });
    add_script(box, &left, {true, false, true}, {});
  }
  const std::vector<Index> corner = points_where(box, [](const Vector3& x) { return x.sum() > 0.39; });
  add_script(
      box, &corner, {false, false, true},
      [](const Matrix3X& start, double t) -> Matrix3X { return start.colwise() + Vector3(0, 0, 0.1 * t); },
      {0.02});
  Body lid = make_obstacle(
      "lid", moved(generate::grid(1, 1, 1, 1), {0, 0.22, 0}),
      [](const Matrix3X& start, double t) -> Matrix3X { return start.colwise() - Vector3(0, 0.5 * t, 0); });
  lid.presence.from = 0.01;
  scene.bodies = {box, make_half_space("ground", Vector3::Zero(), Vector3::UnitY()), lid};
  return scene;
}

TEST(Step, FollowsFromTheStateAloneWithEveryIntegrator) {
  for (const Integrator scheme : integrators) {
    SCOPED_TRACE(int(scheme));
    const SmallScene scene = busy_scene(scheme);
    auto whole = scene.simulation();
    Index contacts = 0;
    for (int step = 0; step < 6; ++step) {
      // Every step once more from the state before it, by a simulation that knows nothing else.
      Simulation fresh(std::make_shared<Model>(whole->model()), whole->state());
      contacts = std::max(contacts, whole->step().contacts);
      fresh.step();
      expect_same_bits(fresh.state(), whole->state());
    }
    EXPECT_GT(contacts, 4) << "the box is on the ground";
    EXPECT_EQ(whole->state().anchors.cols(), 1);
  }
}

/// Two rigid boxes, one on the other, that come to rest.
SmallScene rigid_pile() {
  SmallScene scene;
  scene.contact.friction = 0.5;
  scene.options.solver.tolerance = 1e-4;
  for (int i = 0; i < 2; ++i) {
    const Mesh mesh = moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0.01 * i, 0.101 + 0.201 * i, 0});
    scene.bodies.push_back(make_rigid("box" + std::to_string(i), mesh, mass_distribution(mesh, 1000), {}));
  }
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return scene;
}

TEST(Step, OfRigidBodiesThatComeToRestFollowsFromTheStateAlone) {
  auto whole = rigid_pile().simulation();
  int unmoved = 0;
  for (int step = 0; step < 80; ++step) {
    Simulation again(std::make_shared<const Model>(whole->model()), whole->state());
    again.step();
    unmoved += whole->step().newton_iterations == 0;
    expect_same_bits(again.state(), whole->state());
  }
  EXPECT_GT(unmoved, 10) << "nothing to solve";
}

TEST(Step, InertiaBoundsTheNewtonStep) {
  auto simulation = rigid_pile().simulation();
  const Model& model = simulation->model();
  for (int step = 0; step < 30; ++step) {
    Timings timings;
    StepProblem p(model, present_bodies(model, model.options.dt), timings);
    const State& state = simulation->state();
    p.begin(state, state.time + model.options.dt, model.options.dt);
    p.stiffness.choose(p.objective, state.nodes);
    p.objective.prepare(state.nodes);
    const Gradient gradient(p.objective);
    const BlockSparse& h = p.objective.hessian();
    p.linear_solver->analyse(h);
    const FreeCoordinates& free = p.objective.free();
    const Matrix3X y = free.extend(p.linear_solver->solve(h, -gradient.of_free()).x);
    const double moved = step_norm(model.chart.push_forward(state.nodes, y), free, false);
    EXPECT_GT(moved, 0);
    EXPECT_LE(moved, p.longest_step(gradient)) << step;
    simulation->step();
  }
}

TEST(Step, IsNotChangedByObservers) {
  for (const Integrator scheme : {Integrator::implicit_euler, Integrator::newmark}) {
    const SmallScene scene = busy_scene(scheme);
    auto plain = scene.simulation(), watched = scene.simulation();
    int iterates = 0;
    watched->on_iterate = [&](const Matrix3X&) { ++iterates; };
    watched->on_step_bound = [](auto&&...) {};
    watched->on_iteration = [](const IterationReport&) {};
    watched->should_stop = [] { return false; };
    for (int step = 0; step < 5; ++step) {
      watched->prepare_first_iteration();
      plain->step();
      watched->step();
      const Frame once = watched->frame(), twice = watched->frame();
      EXPECT_EQ(once.contact_force, twice.contact_force);
      EXPECT_EQ(once.mesh.points, twice.mesh.points);
      watched->measure({"", Probe::Kind::energy, {0}, {}, {}});
    }
    EXPECT_GT(iterates, 5);
    expect_same_bits(watched->state(), plain->state());
  }
}

TEST(Step, IteratesBeginWithTheStateBeforeAndEndWithTheStateAfter) {
  auto s = busy_scene(Integrator::implicit_euler).simulation();
  std::vector<Matrix3X> iterates;
  s->on_iterate = [&](const Matrix3X& points) { iterates.push_back(points); };
  for (int step = 0; step < 4; ++step) {
    const Matrix3X before = s->model().point_map.positions(s->state().nodes);
    iterates.clear();
    s->step();
    ASSERT_GE(iterates.size(), 2u);
    EXPECT_EQ(iterates.front(), before);
    EXPECT_EQ(iterates.back(), s->model().point_map.positions(s->state().nodes));
  }
}

TEST(Step, ThatFailsOrIsInterruptedLeavesTheStateAndCanBeTriedAgain) {
  for (const Integrator scheme : integrators) {
    SCOPED_TRACE(int(scheme));
    SmallScene scene = busy_scene(scheme);
    auto expected = scene.simulation(), stopped = scene.simulation();
    expected->step();
    stopped->step();
    const State before = stopped->state();
    int asked = 0;
    stopped->should_stop = [&] { return ++asked > 1; };
    EXPECT_THROW(stopped->step(), Interrupted);
    expect_same_bits(stopped->state(), before);
    stopped->should_stop = {};
    stopped->step();
    expected->step();
    expect_same_bits(stopped->state(), expected->state());

    scene.options.solver.max_iterations = 1;
    auto failing = scene.simulation();
    const State start = failing->state();
    EXPECT_THROW(failing->step(), SolverError);
    expect_same_bits(failing->state(), start);
  }
}

/// Two balls of radius 5 cm, 0.1 m of air between them, that fly at each other with a speed each [m/s].
SmallScene two_balls(double speed) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-4 * speed;
  scene.contact.thickness = 0.1;
  for (const double side : {-1.0, 1.0}) {
    scene.bodies.push_back(make_particles(
        "ball", moved(generate::points({1, 1, 1}, 1), {0.1 * side, 0.01 * side, 0}), 0.05, 1000));
    set_rigid_velocity(scene.bodies.back(), {-speed * side, 0, 0}, Vector3::Zero());
  }
  return scene;
}

TEST(StepDivision, DividesWhereFastBodiesCollideAndNowhereElse) {
  EXPECT_EQ(two_balls(0.5).simulation()->step().substeps, 1) << "they do not meet in this step";
  EXPECT_EQ(two_balls(2).simulation()->step().substeps, 1);
  EXPECT_GT(two_balls(20).simulation()->step().substeps, 1);
  SmallScene undivided = two_balls(20);
  undivided.options.max_motion = 0;
  EXPECT_EQ(undivided.simulation()->step().substeps, 1);
  SmallScene apart = two_balls(20);  // they miss each other
  apart.bodies[1].nodes(2, 0) += 1;
  apart.bodies[1].mesh.points(2, 0) += 1;
  EXPECT_EQ(apart.simulation()->step().substeps, 1);
  SmallScene together = two_balls(20);  // as fast, side by side
  set_rigid_velocity(together.bodies[0], {-20, 0, 0}, Vector3::Zero());
  EXPECT_EQ(together.simulation()->step().substeps, 1);
}

TEST(StepDivision, BodiesThatTouchAtLowSpeedDoNotDivideTheStep) {
  SmallScene scene = two_balls(0.2);
  auto s = scene.simulation();
  Index contacts = 0;
  for (int step = 0; step < 40; ++step) {
    const StepReport r = s->step();
    EXPECT_EQ(r.substeps, 1) << step;
    contacts += r.contacts;
  }
  EXPECT_GT(contacts, 0);
}

TEST(StepDivision, HalfSpacesNeverDivide) {
  SmallScene scene;
  scene.bodies = {
      make_volume("ball", moved(generate::sphere(0.05, 2), {0, 0.1, 0}), soft(), 1000, MassKind::lumped),
      make_half_space("ground", Vector3::Zero(), Vector3::UnitY())};
  set_rigid_velocity(scene.bodies[0], {0, -20, 0}, Vector3::Zero());
  const StepReport r = scene.simulation()->step();
  EXPECT_EQ(r.substeps, 1);
  EXPECT_GT(r.contacts, 0);
}

TEST(StepDivision, DividedStepsAreCountedOnceAndEndOnTime) {
  for (const Integrator scheme :
       {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark, Integrator::generalized_alpha}) {
    SmallScene scene = two_balls(50);
    scene.options.integrator.scheme = scheme;
    auto s = scene.simulation();
    const Vector3 momentum = linear_momentum(*s);
    int substeps = 0;
    for (int step = 1; step <= 3; ++step) {
      const StepReport r = s->step();
      substeps = std::max(substeps, r.substeps);
      EXPECT_EQ(r.step, step);
      EXPECT_EQ(s->state().step, step);
      EXPECT_NEAR(s->state().time, 0.01 * step, 1e-15) << int(scheme);
      EXPECT_TRUE(r.converged);
    }
    EXPECT_GT(substeps, 1) << int(scheme);
    // To the tolerance of the solver for each part: 50e-4 m/s of both, at most.
    const double mass = total_mass(scene.bodies[0]);
    EXPECT_LT((linear_momentum(*s) - momentum).norm(), 2 * mass * 50e-4) << int(scheme);
    const Matrix3X &x = s->state().nodes, &v = s->state().velocity;
    EXPECT_GT((x.col(1) - x.col(0)).dot(v.col(1) - v.col(0)), 0) << int(scheme) << ": they go apart";
    EXPECT_GT(x(0, 1), x(0, 0)) << int(scheme) << ": each on its side";
    EXPECT_LT(v.col(1).norm(), 1.01 * 50) << int(scheme) << ": not faster than they came";
  }
}

TEST(StepDivision, PartsOfBodiesThatAreTurnedFarAreFollowedInParts) {
  // Half a turn in a step takes a bar by one end: straight ways would fold it.
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.dt = 0.1;
  scene.options.solver.tolerance = 1e-4;
  Body bar = make_volume("bar", moved(generate::box({0.4, 0.1, 0.1}, {4, 1, 1}), {0.2, 0, 0}), soft(1e6),
                         1000, MassKind::lumped);
  const std::vector<Index> end = points_where(bar, [](const Vector3& x) { return x[0] < 0.01; });
  add_script(
      bar, &end, {true, true, true}, rigid_motion([](double t) {
        return Pose{.rotation = Eigen::AngleAxisd(EIGEN_PI * t / 0.1, Vector3::UnitZ()).toRotationMatrix()};
      }));
  scene.bodies = {bar};
  auto s = scene.simulation();
  EXPECT_GE(s->step().substeps, 4);
  EXPECT_NEAR(s->state().time, 0.1, 1e-15);
  const Matrix3X& x = s->state().nodes;
  for (const Index n : end) {
    const Vector3 start = s->model().initial_nodes.col(n);
    EXPECT_LT((x.col(n) - Vector3(-start[0], -start[1], start[2])).norm(), 1e-12);
  }
}

}  // namespace
}  // namespace apart::test
