// Meshes follow the potential of the step: refined where that pays, coarsened where nothing is lost.
#include <apart/collision/collision_detection.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/remesh/mesh_editor.hpp>
#include <apart/remesh/remeshing.hpp>
#include <apart/simulation/simulation.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

Body bar(double young, const Eigen::Vector3i& cells) {
  Body body = make_volume("bar", generate::box({2, 0.5, 0.5}, cells), NeoHookean{lame_parameters(young, 0.3)},
                          1000, MassKind::consistent);
  return body;
}

/// The bar, held at its left end.
Body cantilever(double young, const Eigen::Vector3i& cells) {
  Body body = bar(young, cells);
  std::vector<Index> left;
  for (Index p = 0; p < body.node_count(); ++p)
    if (body.nodes(0, p) < -0.999) left.push_back(p);
  add_script(body, &left, {true, true, true}, {});
  return body;
}

std::shared_ptr<Model> model_of(std::vector<Body> bodies, std::optional<RemeshOptions> remesh,
                                SimulationOptions options = {}) {
  const int count = int(bodies.size());
  PairSettings contact;
  contact.dhat = 0.005;
  auto model = std::make_shared<Model>(std::move(bodies), PairTable(count, contact), options);
  if (remesh) {
    remesh->scene_points = model->bodies[0].mesh.point_count();
    model->remesher = make_remesher({*remesh});
  }
  return model;
}

SimulationOptions quasi_static() {
  SimulationOptions options;
  options.dt = 1;
  options.integrator.scheme = Integrator::quasi_static;
  return options;
}

double lowest(const Simulation& s) {
  return s.state().nodes.row(1).minCoeff();
}

Vector3 momentum(const Simulation& s) {
  return (s.state().velocity * s.model().mass).rowwise().sum();
}

TEST(Remeshing, ASplitChangesThePotentialByRoundingOnly) {
  const auto model = model_of({bar(1e5, {4, 1, 1})}, {});
  State state = start_state(*model);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> shift(-0.05, 0.05);
  for (double& v : state.velocity.reshaped()) v = 20 * shift(random);
  Matrix3X q = state.nodes;
  for (double& v : q.reshaped()) v += shift(random);
  const auto potential = [](const Model& m, const State& s, const Matrix3X& nodes) {
    Timings timings;
    StepProblem problem(m, present_bodies(m, m.options.dt), timings);
    problem.begin(s, m.options.dt, m.options.dt);
    problem.objective.prepare(nodes);
    return problem.objective.value();
  };
  const double before = potential(*model, state, q);
  Timings timings;
  StepProblem problem(*model, present_bodies(*model, model->options.dt), timings);
  problem.begin(state, model->options.dt, model->options.dt);
  problem.objective.prepare(q);
  // Any gain will do, so that many edges are split.
  const auto remesher =
      make_remesher({{.delta_split = 1e-9, .min_edge = 0.01, .scene_points = model->point_count()}});
  const auto [step, report, next_pass] = remesher->improve({problem, state, q}, 1);
  ASSERT_TRUE(step);
  EXPECT_EQ(next_pass, 2);
  EXPECT_GT(report.splits, 0);
  EXPECT_EQ(step->model->point_count(), model->point_count() + report.splits);
  EXPECT_NEAR(potential(*step->model, step->before, step->nodes), before, 1e-12 * std::abs(before));
}

/// A box 0.5 d̂ above another surface, and how the force of contact changes when edges below are split, not
/// those of its rim, where a vertex counts with the larger of the two sides.
double force_after_splits(ContactFormulation formulation, const Body& under) {
  SimulationOptions options;
  options.contact.formulation = formulation;
  options.contact.barrier_stiffness = 1e4;
  Body box = bar(1e5, {8, 1, 4});
  box.nodes.row(1).array() += 0.25 + 0.0025;
  box.mesh.points = box.nodes;
  const auto model = model_of({with_shape(box, shape_of(box)), under}, {}, options);
  const auto force = [](const Model& m) {
    Timings timings;
    StepProblem problem(m, present_bodies(m, m.options.dt), timings);
    const State state = start_state(m);
    problem.begin(state, m.options.dt, m.options.dt);
    problem.terms.contact.set_stiffness(1e4);
    problem.objective.prepare(state.nodes);
    return problem.objective.gradient(Roles{Role::contact}).row(1).head(m.bodies[0].node_count()).sum();
  };
  MeshEditor editor({shape_of(model->bodies[0]), {}, {}, model->bodies[0].node_count()});
  const Index count = editor.point_count();
  const auto is_inside = [&](Index p) {
    const Vector3 x = editor.position(0, p);
    return x.y() < 0.01 && std::abs(x.x()) < 0.99 && std::abs(x.z()) < 0.24;
  };
  for (const auto& [a, b] : editor.edges())
    if (is_inside(a) && is_inside(b)) editor.split(a, b);
  EXPECT_GT(editor.point_count(), count + 10);
  return force(*with_shapes(*model, {{0, editor.result().shape}}, 1)) / force(*model);
}

TEST(Remeshing, TheForceOfConvergentContactStaysWhenFacesInContactAreSplit) {
  const Body ground = make_half_space("ground", Vector3::Zero(), Vector3::UnitY()),
             table = make_obstacle("table", generate::grid(5, 5, 4, 4));
  EXPECT_NEAR(force_after_splits(ContactFormulation::convergent, ground), 1, 1e-12);
  EXPECT_NEAR(force_after_splits(ContactFormulation::convergent, table), 1, 0.01);
  EXPECT_GT(force_after_splits(ContactFormulation::published, ground), 1.5);
  EXPECT_GT(force_after_splits(ContactFormulation::published, table), 1.5);
}

TEST(Remeshing, ACoarseBeamBendsAsAFineOneDoes) {
  const double young = 2e6;
  const auto deflection = [&](const Eigen::Vector3i& cells, std::optional<RemeshOptions> remesh) {
    Simulation simulation(model_of({cantilever(young, cells)}, remesh, quasi_static()));
    StepReport report;
    for (int i = 0; i < 4; ++i) report = simulation.step();
    return std::pair(lowest(simulation), simulation.model().bodies[0].elastic->nodes.cols());
  };
  const auto [coarse, few] = deflection({4, 1, 1}, {});
  const auto [fine, many] = deflection({16, 4, 4}, {});
  const auto [adapted, cells] =
      deflection({4, 1, 1}, RemeshOptions{.delta_split = 0.05, .min_edge = 0.02, .rounds = 3});
  EXPECT_GT(cells, few);
  EXPECT_LT(cells, many / 2);
  EXPECT_LT(std::abs(adapted - fine), 0.5 * std::abs(coarse - fine))
      << coarse << " " << adapted << " " << fine;
}

TEST(Remeshing, SoftBodiesAreRefinedAndStiffOnesAreNot) {
  const auto splits = [&](double young) {
    Simulation simulation(model_of({cantilever(young, {4, 1, 1})},
                                   RemeshOptions{.delta_split = 0.05, .min_edge = 0.02}, quasi_static()));
    return simulation.step().splits;
  };
  EXPECT_GT(splits(2e6), 0);
  EXPECT_EQ(splits(2e9), 0);
}

/// Bent by gravity, then without it: the refinement is undone.
TEST(Remeshing, WhatIsNoLongerNeededIsCollapsed) {
  Body body = cantilever(2e6, {4, 1, 1});
  Load gravity;
  gravity.field = [](const Vector3&, double) { return Vector3(0, -9.81, 0); };
  gravity.points = all_points(body);
  gravity.when.until = 2.5;
  body.loads.push_back(gravity);
  SimulationOptions options = quasi_static();
  options.gravity.setZero();
  options.solver.tolerance = 1e-6;
  const auto model = model_of(
      {body}, RemeshOptions{.delta_split = 0.05, .delta_collapse = -1e-3, .min_edge = 0.02}, options);
  Simulation simulation(model);
  simulation.step();
  const StepReport loaded = simulation.step();
  EXPECT_GT(loaded.cells, model->bodies[0].elastic->nodes.cols());
  StepReport after;
  Index collapses = 0;
  for (int i = 0; i < 12; ++i) {
    after = simulation.step();
    collapses += after.collapses;
  }
  EXPECT_GT(collapses, 0);
  EXPECT_LT(after.cells, loaded.cells);
  EXPECT_EQ(simulation.model().bodies[0].mesh.points, model->bodies[0].mesh.points);
}

/// A bar that turns and falls on the ground.
std::shared_ptr<Model> falling_bar(ContactFormulation formulation, double damping) {
  SimulationOptions options;
  options.dt = 0.005;
  options.gravity.setZero();
  options.contact.formulation = formulation;
  Body body = bar(1e5, {4, 1, 1});
  body.nodes.row(1).array() += 0.3;
  body.mesh.points = body.nodes;
  body = with_shape(body, shape_of(body));
  body.damping.stiffness = damping;
  set_rigid_velocity(body, {0, -3, 0}, {0, 0, 2});
  return model_of({body, make_half_space("ground", Vector3::Zero(), Vector3::UnitY())},
                  RemeshOptions{.delta_split = 0.3, .delta_collapse = -0.01, .min_edge = 0.05}, options);
}

TEST(Remeshing, RefinementBeginsWithContactAndIsUndoneAfterSeparation) {
  for (const ContactFormulation formulation :
       {ContactFormulation::convergent, ContactFormulation::published}) {
    const auto model = falling_bar(formulation, 0.02);
    Simulation simulation(model);
    const Index start = Index(model->bodies[0].elastic->nodes.cols());
    Index most = start, last = start;
    bool touched = false;
    for (int i = 0; i < 120; ++i) {
      const StepReport report = simulation.step();
      touched |= report.contacts > 0;
      if (!touched) {
        EXPECT_EQ(report.splits, 0);
      }
      most = std::max(most, report.cells);
      last = report.cells;
    }
    EXPECT_TRUE(touched);
    EXPECT_GT(lowest(simulation), 0.01);  // it is in the air again
    EXPECT_GT(most, 2 * start);
    EXPECT_LT(last - start, (most - start) / 4) << start << " " << most << " " << last;
  }
}

/// Trials are what remeshing costs.
TEST(Remeshing, MostOfWhatIsTriedIsAccepted) {
  for (const ContactFormulation formulation :
       {ContactFormulation::convergent, ContactFormulation::published}) {
    Simulation simulation(falling_bar(formulation, 0));
    Index trials = 0, accepted = 0;
    for (int i = 0; i < 40; ++i) {
      const StepReport report = simulation.step();
      trials += report.remesh_trials;
      accepted += report.splits + report.collapses;
    }
    EXPECT_GT(trials, 50);
    EXPECT_GT(accepted, trials / 2) << accepted << " of " << trials;
  }
}

TEST(Remeshing, ASpinningBlockKeepsItsMomentumAndGainsNoEnergy) {
  SimulationOptions options;
  options.gravity.setZero();
  options.dt = 0.01;
  Body body = bar(1e5, {3, 1, 1});
  set_rigid_velocity(body, {1, 2, 3}, {4, 0, 6});
  const auto model =
      model_of({body}, RemeshOptions{.delta_split = 0.5, .delta_collapse = -0.3, .min_edge = 0.02}, options);
  Simulation simulation(model);
  const Vector3 start = momentum(simulation);
  Index splits = 0, collapses = 0;
  for (int i = 0; i < 40; ++i) {
    const StepReport report = simulation.step();
    splits += report.splits;
    collapses += report.collapses;
    EXPECT_LT((momentum(simulation) - start).norm(), 1e-12 * start.norm());
    EXPECT_LE(report.energy_gain, 1e-6);
  }
  EXPECT_GT(splits, 0);
  EXPECT_GT(collapses, 0);
}

TEST(Remeshing, ASlidingBlockKeepsItsMomentumAlongTheGround) {
  SimulationOptions options;
  options.dt = 0.01;
  Body body = bar(2e4, {4, 1, 1});
  body.nodes.row(1).array() += 0.255;
  body.mesh.points = body.nodes;
  body = with_shape(body, shape_of(body));
  set_rigid_velocity(body, {1.5, 0, 0.5}, Vector3::Zero());
  const auto model =
      model_of({body, make_half_space("ground", Vector3::Zero(), Vector3::UnitY())},
               RemeshOptions{.delta_split = 0.3, .delta_collapse = -0.05, .min_edge = 0.05}, options);
  Simulation simulation(model);
  const Vector3 start = momentum(simulation);
  Index splits = 0, contacts = 0;
  for (int i = 0; i < 15; ++i) {
    const StepReport report = simulation.step();
    splits += report.splits;
    contacts = std::max(contacts, report.contacts);
    const Vector3 change = momentum(simulation) - start;
    EXPECT_LT(std::hypot(change.x(), change.z()), 1e-12 * start.norm());
    EXPECT_GT(simulation.state().nodes.row(1).minCoeff(), 0);
  }
  EXPECT_GT(splits, 0);
  EXPECT_GT(contacts, 0);
}

Body shifted(Body body, const Vector3& by) {
  body.nodes.colwise() += by;
  body.mesh.points = body.nodes;
  return with_shape(body, shape_of(body));
}

/// Splits whatever gains anything in even steps, and collapses all it can in odd ones.
class RestlessRemesher final : public Remesher {
 public:
  explicit RestlessRemesher(Index scene_points, double min_edge)
      : split_(make_remesher(
            {{.delta_split = 1e-9, .min_edge = min_edge, .rounds = 1, .scene_points = scene_points}})),
        collapse_(make_remesher({{.delta_split = 1e9,
                                  .delta_collapse = -1e9,
                                  .min_edge = min_edge,
                                  .rounds = 1,
                                  .scene_points = scene_points}})) {}
  int pass_count() const override { return 1; }
  Improvement improve(const SolvedStep& step, int pass) const override {
    return (step.before.step % 2 == 0 ? split_ : collapse_)->improve(step, pass);
  }

 private:
  std::shared_ptr<const Remesher> split_, collapse_;
};

/// Centre of mass of a body along x [m].
double place(const Simulation& s, std::size_t body) {
  const Body& b = s.model().bodies[body];
  const Matrix3X q = s.state().nodes.middleCols(s.model().first_node[body], b.node_count());
  return (q * b.mass).row(0).sum() / b.mass.sum();
}

/// On a slope whose tangent is 0.4, with friction of 0.5: how far a body moves in the last 30 of 70 steps
/// [m], in each of which the first body is remeshed.
double creep(std::vector<Body> bodies, std::size_t observed, ContactFormulation formulation) {
  SimulationOptions options;
  options.solver.tolerance = 1e-5;
  options.contact.formulation = formulation;
  options.contact.friction_iterations = 0;
  const double angle = std::atan(0.4);
  options.gravity = 9.81 * Vector3(std::sin(angle), -std::cos(angle), 0);
  PairSettings contact;
  contact.dhat = 0.005;
  contact.friction = 0.5;
  bodies.push_back(make_half_space("slope", Vector3::Zero(), Vector3::UnitY()));
  const int count = int(bodies.size());
  auto model = std::make_shared<Model>(std::move(bodies), PairTable(count, contact), options);
  model->remesher = std::make_shared<RestlessRemesher>(model->bodies[0].mesh.point_count(), 0.1);
  Simulation simulation(model);
  Index changed = 0;
  double start = 0;
  for (int i = 0; i < 70; ++i) {
    const StepReport report = simulation.step();
    changed += report.splits + report.collapses > 0;
    if (i == 39) start = place(simulation, observed);
  }
  EXPECT_GT(changed, 60);
  return std::abs(place(simulation, observed) - start);
}

// Without the strain that it has from before, a contact that sticks here slides with 0.55 ε_v: 1.7e-4 m.
TEST(Remeshing, WhatSticksBesideABodyThatIsRemeshedDoesNotCreep) {
  Body spinning = shifted(bar(1e5, {2, 1, 1}), {0, 50, 0}),
       box = shifted(bar(1e8, {1, 1, 1}), {0, 0.2525, 3});
  box.name = "box";
  set_rigid_velocity(spinning, {1, 2, 3}, {4, 0, 6});
  EXPECT_LT(creep({spinning, box}, 1, ContactFormulation::published), 1e-6);
}

TEST(Remeshing, ABodyThatSticksDoesNotCreepWhenItIsRemeshed) {
  for (const ContactFormulation formulation :
       {ContactFormulation::convergent, ContactFormulation::published}) {
    Body box = shifted(bar(2e6, {2, 1, 1}), {0, 0.2525, 0});
    box.damping.stiffness = 0.01;
    EXPECT_LT(creep({box}, 0, formulation), 1e-5);
  }
}

TEST(Remeshing, ACollidingPairKeepsItsMomentumAndDoesNotIntersect) {
  SimulationOptions options;
  options.dt = 0.005;
  options.gravity.setZero();
  Body left = bar(5e4, {4, 1, 1});
  Body right = make_volume("right", generate::box({0.3, 0.3, 0.3}, {1, 1, 1}),
                           NeoHookean{lame_parameters(5e5, 0.3)}, 1000, MassKind::consistent);
  right.nodes.colwise() += Vector3(0.03, 0.42, 0.02);
  right.mesh.points = right.nodes;
  right = with_shape(right, shape_of(right));
  set_rigid_velocity(right, {0, -4, 0}, Vector3::Zero());
  const auto model = model_of(
      {left, right}, RemeshOptions{.delta_split = 0.5, .delta_collapse = -0.05, .min_edge = 0.05}, options);
  Simulation simulation(model);
  const Vector3 start = momentum(simulation);
  Index splits = 0, collapses = 0;
  for (int i = 0; i < 40; ++i) {
    const StepReport report = simulation.step();
    splits += report.splits;
    collapses += report.collapses;
    EXPECT_LT((momentum(simulation) - start).norm(), 1e-12 * start.norm());
    const Model& now = simulation.model();
    for (const Matrix3X* q : {&simulation.state().nodes, &simulation.state().previous_nodes})
      EXPECT_FALSE(self_intersects(now.surface, now.surface_map.positions(*q))) << "step " << i;
  }
  EXPECT_GT(splits, 0);
  EXPECT_GT(collapses, 0);
}

/// What the sizing field does for a bar that is pulled to twice its length, and one that falls on the ground.
TEST(Remeshing, ASizingFieldSplitsWhatIsStretchedAndWhatIsNearAndUndoesIt) {
  Body pulled = bar(1e5, {4, 1, 1});
  std::vector<Index> ends;
  for (Index p = 0; p < pulled.node_count(); ++p)
    if (std::abs(pulled.nodes(0, p)) > 0.999) ends.push_back(p);
  const Motion stretch = [](const Matrix3X& start, double time) {
    Matrix3X x = start;
    x.row(0) *= time < 3.5 ? 1 + time / 3 : 1.0;  // twice as long after 3 s
    return x;
  };
  add_script(pulled, &ends, {true, true, true}, stretch);
  SimulationOptions options = quasi_static();
  options.gravity.setZero();
  RemeshOptions field{
      .criterion = RemeshCriterion::sizing_field, .longest_edge = std::sqrt(0.75), .min_edge = 0.01};
  Simulation simulation(model_of({pulled}, field, options));
  simulation.step();
  const Index start = Index(simulation.model().bodies[0].elastic->nodes.cols());
  simulation.step();
  const StepReport stretched = simulation.step();
  EXPECT_GT(stretched.cells, 2 * start);
  // No edge is longer than the longest at first, but those whose halves would be too flat.
  const Body& body = simulation.model().bodies[0];
  Index longer = 0;
  for (const auto& c : body.elastic->nodes.colwise())
    for (int k = 1; k < 4; ++k)
      longer += (simulation.state().nodes.col(c[k]) - simulation.state().nodes.col(c[0])).norm() >
                field.longest_edge;
  EXPECT_LT(longer, stretched.cells / 4);
  StepReport back;
  for (int i = 0; i < 4; ++i) back = simulation.step();
  EXPECT_LT(back.cells, stretched.cells);

  const auto model = falling_bar(ContactFormulation::convergent, 0);
  field.min_edge = 0.1;
  field.scene_points = model->bodies[0].mesh.point_count();
  model->remesher = make_remesher({field});
  Simulation falling(model);
  bool touched = false;
  Index splits = 0;
  for (int i = 0; i < 30; ++i) {
    const StepReport report = falling.step();
    touched |= report.contacts > 0;
    EXPECT_TRUE(touched || report.splits == 0);
    splits += report.splits;
  }
  EXPECT_TRUE(touched);
  EXPECT_GT(splits, 0);
}

TEST(Remeshing, TheSameBitsForAnyNumberOfThreads) {
  const auto run = [](int threads) {
    set_thread_count(threads);
    Simulation simulation(model_of({cantilever(2e6, {4, 1, 1})},
                                   RemeshOptions{.delta_split = 0.05, .min_edge = 0.02}, quasi_static()));
    simulation.step();
    simulation.step();
    set_thread_count(1);
    return simulation.state().nodes;
  };
  const Matrix3X one = run(1), three = run(3);
  ASSERT_EQ(one.cols(), three.cols());
  EXPECT_EQ(one, three);
}

/// Proposes a start from which the few iterations allowed do not suffice.
class BadRemesher final : public Remesher {
 public:
  int pass_count() const override { return 1; }
  Improvement improve(const SolvedStep& step, int) const override {
    Improvement result;
    RemeshedStep made{with_shapes(step.problem.model, {}, 1),
                      step.before,
                      1.7 * step.nodes,
                      1.7 * step.nodes,
                      step.nodes,
                      1.7 * step.nodes};
    result.step = made;
    result.next_pass = 1;
    return result;
  }
};

TEST(Remeshing, AStepThatCannotBeSolvedOnNewMeshesKeepsItsOwn) {
  SimulationOptions options;
  options.solver.max_iterations = 2;
  options.dt = 0.1;
  const auto plain = model_of({bar(1e5, {2, 1, 1})}, {}, options),
             bad = model_of({bar(1e5, {2, 1, 1})}, {}, options);
  bad->remesher = std::make_shared<BadRemesher>();
  Simulation reference(plain), simulation(bad);
  std::vector<std::string> notes;
  simulation.on_note = [&](const std::string& note) { notes.push_back(note); };
  for (int i = 0; i < 2; ++i) {
    reference.step();
    simulation.step();
  }
  EXPECT_EQ(simulation.state().nodes, reference.state().nodes);
  EXPECT_EQ(simulation.model().topology, 0);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("could not be solved on new meshes"), std::string::npos);
}

}  // namespace
}  // namespace apart::test
