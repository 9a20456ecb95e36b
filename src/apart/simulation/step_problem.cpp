#include <apart/simulation/step_problem.hpp>

#include <apart/simulation/chart_dynamics.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

std::vector<char> present_bodies(const Model& model, double time) {
  std::vector<char> present;
  for (const Body& body : model.bodies) present.push_back(body.presence.covers(time));
  return present;
}

namespace {

/// Smallest eigenvalues of the mass matrices of bodies with charts; for others a lower bound of theirs
/// (Gershgorin).
VectorX least_masses(const Model& model) {
  VectorX result(Index(model.bodies.size()));
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    double& least = result[Index(b)] = body.is_dynamic() ? infinity : 0;
    if (!body.is_dynamic()) continue;
    if (body.chart) {
      least = ChartDynamics(body, model.initial_nodes.middleCols(model.first_node[b], body.node_count()))
                  .least_mass();
      continue;
    }
    for (int j = 0; j < body.mass.outerSize(); ++j) {
      double bound = 0;
      for (Eigen::SparseMatrix<double>::InnerIterator it(body.mass, j); it; ++it)
        bound += it.row() == it.col() ? it.value() : -std::abs(it.value());
      least = std::min(least, bound);
    }
  }
  return result;
}

}  // namespace

StepProblem::StepProblem(const Model& m, std::vector<char> bodies_present, Timings& time_spent,
                         const Teamwork& work)
    : model(m),
      timings(time_spent),
      present(std::move(bodies_present)),
      terms(m, present, timings, work.team, own_nodes(m, present, work)),
      objective(m.surface_map, m.chart, terms.list(), work.team),
      stiffness(m, terms, terms.elastic.usual_node_stiffness(m.initial_nodes, work.team)),
      scripted(m, terms, objective, {stiffness.mean_mass(), stiffness.node_stiffness()}),
      sleep(m, terms, scripted),
      joints(m, present, terms.joints),
      linear_solver(make_linear_solver(m, work)),
      least_mass(least_masses(m)) {}

void StepProblem::begin(const State& state, double end, double length) {
  end_time = end;
  dt = length;
  // Also forgets the pattern of the last step: the order of elimination, and with it the bits, must follow
  // from the state a step starts from, not from how it was reached.
  scripted.begin(state, end, length);
  linear_solver->begin_step();
  const Matrix3X goal = scripted.at_end(state.nodes);
  time_step = begin_step(model.options.integrator, length, state, {scripted.held(), goal});
  if (model.options.integrator.conserves_spin) body_motion().predict_spin(state, length, time_step.predicted);
  terms.begin(state, time_step, end);
  joints.begin({state, time_step, end, length, scripted.held(), stiffness.node_stiffness()});
  // Friction lags one solve behind: forces of the end of the last step, with that step's κ.
  stiffness.begin(state, time_step, length, terms.start);
  terms.friction.set_grips(Grips(state.grips));
  lag_friction(terms.start);
}

OwnWork StepProblem::own_work() {
  OwnWork work{.pairs = terms.candidates.pair_count(), .blocks = objective.own_blocks()};
  for (const ElasticPotential* p : terms.elastic.potentials()) work.elements += p->term_count();
  return work;
}

void StepProblem::lag_friction(const Matrix3X& x) {
  terms.friction.set_lag(terms.contact, x, dt);
}

bool StepProblem::has_friction() const {
  bool found = false;
  terms.surface.pairs.for_each_used(
      [&](const PairSettings& s, int, int) { found |= s.enabled && s.friction > 0; });
  return found;
}

Matrix3X StepProblem::start_acceleration(const State& state, double time) {
  begin(state, time, model.options.dt);
  // In place of the step's: velocities are those of the state.
  time_step.scale = time_step.rate = 1;
  time_step.rate_origin = state.nodes - state.velocity;
  terms.begin(state, time_step, time);
  terms.joints.scale = 1;
  objective.prepare(state.nodes);
  const Matrix3X gradient =
      objective.gradient(~Roles{Role::inertia, Role::contact, Role::friction, Role::target});
  const Matrix3X curved = body_motion().curved_accelerations(state);
  const Matrix3X forces = terms.gravity_force - gradient - curved * model.mass;
  const auto accelerated = [&](const Matrix3X& by) {
    return accelerations(model, state.nodes, by, scripted.held());
  };
  Matrix3X result = accelerated(forces) + curved;
  const Matrix3X closing = joints.closing_forces(state.nodes, state.velocity, result, accelerated);
  if (!closing.isZero(0)) result += accelerated(closing);
  return result;
}

Matrix3X StepProblem::predicted(const State& state, double time) const {
  Matrix3X q = body_motion().flight(state, time);
  const double end = state.time + time;
  return scripted.nodes().apply(std::move(q), scripted.nodes().anchors(state, end), end);
}

void StepProblem::keep_absent(const State& before, State& after) const {
  for (std::size_t b = 0; b < present.size(); ++b) {
    if (present[b]) continue;
    const Index first = model.first_node[b], n = model.bodies[b].node_count();
    after.velocity.middleCols(first, n) = before.velocity.middleCols(first, n);
    after.acceleration.middleCols(first, n) = before.acceleration.middleCols(first, n);
    after.mean_acceleration.middleCols(first, n) = before.mean_acceleration.middleCols(first, n);
    after.previous_velocity.middleCols(first, n) = before.velocity.middleCols(first, n);
    after.previous_nodes.middleCols(first, n) =
        before.nodes.middleCols(first, n) - dt * before.velocity.middleCols(first, n);
  }
}

double StepProblem::longest_step(const Gradient& gradient) const {
  objective.expect(gradient);
  const Matrix3X& g = gradient.of_unknowns();
  double sum = 0, lightest = infinity;
  const FreeCoordinates& free = objective.free();
  for (std::size_t b = 0; b < present.size(); ++b) {
    double squared = 0;
    bool moves = false;
    for (Index n = model.first_unknown[b]; n < model.first_unknown[b + 1]; ++n) {
      moves |= free.block(n) >= 0;
      for (int axis = 0; axis < 3; ++axis)
        if (free(axis, n)) squared += g(axis, n) * g(axis, n);
    }
    if (!moves) continue;
    const double mass = least_mass[Index(b)];
    if (!(mass > 0)) return infinity;
    sum += squared / mass;
    lightest = std::min(lightest, mass);
  }
  // A node of a rigid body moves by its displacement and its turn, both at most ‖p‖: √2 times as far.
  return std::sqrt(2 * sum / lightest);
}

ForceBalance StepProblem::force_balance(const Gradient& gradient) const {
  objective.expect(gradient);
  const Matrix3X& g = gradient.of_unknowns();
  if (objective.free().block_count() == 0) return {};
  // Inertia holds gravity already; a body that falls freely feels its weight all the same.
  const Matrix3X weight = model.chart.pull_back(objective.coordinates(), terms.gravity_force);
  const VectorX acting = objective.acting() + time_step.scale * weight.colwise().norm().transpose(),
                rounding = objective.gradient_rounding();
  const FreeCoordinates& free = objective.free();
  ForceBalance worst;
  for (int b = 0; b < int(present.size()); ++b) {
    const Index first = model.first_unknown[std::size_t(b)], end = model.first_unknown[std::size_t(b) + 1];
    const double largest = first < end ? acting.segment(first, end - first).maxCoeff() : 0;
    for (Index n = first; n < end; ++n) {
      if (free.block(n) < 0) continue;
      double squared = 0;
      for (int axis = 0; axis < 3; ++axis)
        if (free(axis, n)) squared += g(axis, n) * g(axis, n);
      const double force = std::sqrt(squared),
                   allowed = model.options.solver.force_tolerance * largest + rounding[n];
      const double imbalance = force > 0 ? force / allowed : 0;
      if (worst.body >= 0 && !(imbalance > worst.imbalance)) continue;
      worst = {largest > 0 ? force / largest : 0, imbalance, b};
    }
  }
  return worst;
}

}  // namespace apart
