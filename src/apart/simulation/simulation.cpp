#include <apart/simulation/simulation.hpp>

#include <apart/collision/inversion.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/core/error.hpp>

#include <apart/potentials/boundary_target.hpp>
#include <apart/potentials/continuum_elasticity.hpp>
#include <apart/potentials/friction.hpp>
#include <apart/potentials/inertia.hpp>
#include <apart/simulation/scripted_nodes.hpp>
#include <apart/solver/barrier_stiffness.hpp>
#include <apart/solver/newton.hpp>

#include <cmath>
#include <limits>

namespace apart {

namespace {

// thesis A.5
constexpr double target_reached = 0.999;
constexpr double target_near = 0.99;
constexpr double largest_target_stiffness = 1e8;
// thesis A.6: gaps below this share of the scene's size make κ grow.
constexpr double tiny_gap = 1e-9;
// Lagged friction solves tried before a step that asks for convergence is given up.
constexpr int max_friction_iterations = 200;

using Mask = Eigen::Array<bool, 3, Eigen::Dynamic>;

bool has_friction(const PairTable& pairs) {
  for (int a = 0; a < pairs.body_count(); ++a)
    for (int b = a; b < pairs.body_count(); ++b)
      if (pairs(a, b).enabled && pairs(a, b).friction > 0) return true;
  return false;
}

double smallest_dhat(const PairTable& pairs) {
  const double d = pairs.min_dhat();
  return std::isfinite(d) ? d : 1e-3;
}

}  // namespace

/// The potentials and solvers of one model. Rebuilt from the model alone; holds nothing that State would need
/// to.
struct Simulation::Workspace {
  Workspace(const Model& m, Timings& timings)
      : model(m),
        scripted(m),
        candidates(make_broad_phase(m.options.solver.broad_phase, m.surface), m.surface.pairs.max_reach(),
                   {.reuse = m.options.solver.candidate_reuse, .culling = m.options.solver.ccd_culling},
                   &timings),
        inertia(m.mass),
        contact(m.surface, candidates),
        friction(m.surface),
        objective(m.surface_map, {&inertia, &elasticity, &target}, {&contact, &friction}),
        linear_solver(make_linear_solver(m.options.solver.linear_solver, m.options.solver.ordering)) {
    const double dt = m.options.dt;
    for (std::size_t b = 0; b < m.bodies.size(); ++b) {
      first_cell.push_back(elasticity.term_count());
      if (m.bodies[b].elastic) elasticity.add(*m.bodies[b].elastic, m.first_node[b]);
    }
    elasticity.set_scale(dt * dt);
    gravity = Matrix3X::Zero(3, m.node_count());
    const VectorX diagonal = m.mass.diagonal();
    double sum = 0;
    Index dynamic_nodes = 0;
    for (Index n = 0; n < m.node_count(); ++n)
      if (diagonal[n] > 0) {
        gravity.col(n) = m.options.gravity;
        sum += diagonal[n];
        ++dynamic_nodes;
      }
    mean_mass = dynamic_nodes > 0 ? sum / double(dynamic_nodes) : 1;
    range = stiffness_range(mean_mass, m.size, smallest_dhat(m.surface.pairs));
    with_friction = has_friction(m.surface.pairs);
    objective.set_free(FreeCoordinates(!scripted.mask()));
  }

  /// Largest feasible share of the move p from q. [thesis A.4, C-IPC algorithm 1]
  double step_limit(const Matrix3X& q, const Matrix3X& p) {
    const Matrix3X x = model.surface_map.positions(q), dx = model.surface_map.push_forward(q, p);
    if (on_step_bound && *on_step_bound) (*on_step_bound)(candidates.at(x), x, dx);
    const double alpha =
        collision_free_step(model.surface, candidates, x, dx, {.method = model.options.solver.ccd});
    return std::min(alpha, inversion_free_step(elasticity.guarded_cells(), q, p));
  }

  const Model& model;
  const StepBoundObserver* on_step_bound = nullptr;
  ScriptedNodes scripted;
  CandidateCache candidates;
  Inertia inertia;
  ContinuumElasticity elasticity;
  BarrierContact contact;
  Friction friction;
  BoundaryTarget target;
  Objective objective;
  std::unique_ptr<LinearSolver> linear_solver;
  std::vector<Index> first_cell;  ///< of each body, in `elasticity`
  Matrix3X gravity;               ///< acceleration of every node [m/s²]
  double mean_mass = 1;           ///< of the dynamic nodes [kg]
  StiffnessRange range;
  bool with_friction = false;

  // --- the parts of a step ---
  bool move_scripted(Matrix3X& q, double time);
  void choose_stiffness(const Matrix3X& q);
  bool pull_to_target(const Matrix3X& q, double start_error);
  std::string diagnose(const Matrix3X& q, const NewtonResult& result) const;
  void measure(const Matrix3X& q, const Matrix3X& velocity, StepReport& report) const;
};

/// Moves prescribed coordinates to where they should be at `time`, as far as that is feasible. False if it
/// was not: then the moving ones are set free and pulled by the augmented Lagrangian. [thesis A.5]
bool Simulation::Workspace::move_scripted(Matrix3X& q, double time) {
  target.targets.clear();
  // Also forgets the pattern of the last step: the order of elimination, and with it the bits, must follow
  // from the state a step starts from, not from how it was reached.
  objective.set_free(FreeCoordinates(!scripted.mask()));
  const Matrix3X goal = scripted.apply(q, time);
  const Matrix3X move = goal - q;
  if (move.cwiseAbs().maxCoeff() == 0) return true;
  const double alpha = step_limit(q, move);
  if (alpha >= 1) {
    q = goal;
    return true;
  }
  const Matrix3X start = q;
  q += alpha * move;
  Mask free = !scripted.mask();
  const VectorX diagonal = model.mass.diagonal();
  target.stiffness = 1e6;
  for (Index n = 0; n < model.node_count(); ++n) {
    const Vector3 mask = scripted.mask().col(n).cast<double>();
    if ((goal.col(n) - start.col(n)).isZero(0) || mask.isZero(0)) continue;
    // Obstacles have no mass of their own; the mean of the scene's nodes only scales the pull.
    target.targets.push_back(
        {n, goal.col(n), mask, diagonal[n] > 0 ? diagonal[n] : mean_mass, Vector3::Zero()});
    free.col(n) = true;
  }
  objective.set_free(FreeCoordinates(free));
  return false;
}

/// κ that balances the barrier against everything else at q. [thesis A.6]
void Simulation::Workspace::choose_stiffness(const Matrix3X& q) {
  if (model.options.contact.barrier_stiffness) {
    contact.set_stiffness(*model.options.contact.barrier_stiffness);
    return;
  }
  const Matrix3X x = model.surface_map.positions(q);
  contact.prepare(x);
  elasticity.prepare(q);
  Matrix3X energy = Matrix3X::Zero(3, q.cols()), pressed = Matrix3X::Zero(3, x.cols());
  for (const Potential* p :
       {static_cast<const Potential*>(&inertia), static_cast<const Potential*>(&elasticity)})
    p->add_gradient(q, energy);
  contact.set_stiffness(1);
  contact.add_gradient(x, pressed);
  const FreeCoordinates& free = objective.free();
  const Matrix3X pressed_nodes = model.surface_map.pull_back(q, pressed);
  contact.set_stiffness(
      balanced_stiffness(free.restrict_to_free(energy), free.restrict_to_free(pressed_nodes), range));
}

/// Called when Newton is stationary; true if the problem was changed. [thesis algorithm A.1]
bool Simulation::Workspace::pull_to_target(const Matrix3X& q, double start_error) {
  if (target.targets.empty()) return false;
  const double progress = 1 - std::sqrt(target.squared_error(q) / start_error);  // η_A [thesis eq. A.5]
  if (progress >= target_reached) {
    target.targets.clear();
    objective.set_free(FreeCoordinates(!scripted.mask()));
  } else if (progress < target_near && target.stiffness < largest_target_stiffness) {
    target.stiffness *= 2;
  } else {
    target.update_multipliers(q);
  }
  return true;
}

std::string Simulation::Workspace::diagnose(const Matrix3X& q, const NewtonResult& result) const {
  std::string text = fmt::format("{} (last Newton step {:.3g} m/s, tolerance {:.3g} m/s).", result.failure,
                                 result.residual, model.options.solver.tolerance);
  const Matrix3X x = model.surface_map.positions(q);
  const auto body_of = [&](Index vertex) { return model.bodies[model.surface.vertex_body[vertex]].name; };
  double nearest = std::numeric_limits<double>::infinity();
  Index worst = -1;
  for (Index i = 0; i < contact.term_count(); ++i) {
    const double d = contact.press(i, x).distance;
    if (d < nearest) {
      nearest = d;
      worst = i;
    }
  }
  if (worst >= 0) {
    const BarrierContact::Press press = contact.press(worst, x);
    const Index pairs = Index(contact.active_set().contacts.size());
    const Index first = press.points.ids[0];
    std::string other;
    if (worst < pairs) {
      const Stencil& s = contact.active_set().contacts[worst].stencil;
      other = body_of(s.vertices[first_count(s.kind)]);
    } else {
      other = model
                  .bodies[model.surface.half_spaces[contact.active_set().plane_contacts[worst - pairs].plane]
                              .body]
                  .name;
    }
    const Vector3 at = x.col(first);
    text += fmt::format(" Closest pair: '{}' and '{}', {:.3g} m apart at ({:.4g}, {:.4g}, {:.4g}).",
                        body_of(first), other, nearest, at[0], at[1], at[2]);
  }
  double smallest = std::numeric_limits<double>::infinity();
  Index cell = -1;
  for (Index c = 0; c < elasticity.term_count(); ++c) {
    const double ratio = elasticity.stretches(c).prod();
    if (ratio < smallest) {
      smallest = ratio;
      cell = c;
    }
  }
  if (cell >= 0) {
    std::size_t body = model.bodies.size() - 1;
    while (first_cell[body] > cell) --body;
    text += fmt::format(" Most compressed element: {} of '{}', volume ratio {:.3g}.", cell - first_cell[body],
                        model.bodies[body].name, smallest);
  }
  if (!target.targets.empty()) {
    double farthest = -1;
    Index node = 0;
    for (const auto& t : target.targets) {
      const double e = t.mask.cwiseProduct(q.col(t.node) - t.position).norm();
      if (!(e <= farthest)) {
        farthest = e;
        node = t.node;
      }
    }
    std::size_t body = 0;
    while (model.first_node[body + 1] <= node) ++body;
    text += fmt::format(
        " Scripted motion of '{}' is blocked: node {} is {:.3g} m from where it should be; slow the "
        "motion down or make room.",
        model.bodies[body].name, node - model.first_node[body], farthest);
  } else {
    text += " Try a smaller dt, a larger dhat or more solver.max_iterations.";
  }
  return text;
}

void Simulation::Workspace::measure(const Matrix3X& q, const Matrix3X& velocity, StepReport& report) const {
  const Index cells = elasticity.term_count();
  report.min_volume_ratio = parallel_min(cells, 1.0, [&](Index c) { return elasticity.stretches(c).prod(); });
  report.max_strain = parallel_max(
      cells, 0.0, [&](Index c) { return (elasticity.stretches(c).array() - 1).abs().maxCoeff(); });
  report.kinetic_energy = 0.5 * (velocity * model.mass).cwiseProduct(velocity).sum();
  report.elastic_energy = elasticity.value(q) / (model.options.dt * model.options.dt);
  report.gravity_energy = -(q * model.mass).cwiseProduct(gravity).sum();
}

Simulation::Simulation(std::shared_ptr<const Model> model)
    : Simulation(model, State{0, 0, model->initial_nodes, model->initial_velocity, 0}) {}

Simulation::Simulation(std::shared_ptr<const Model> model, State start)
    : model_(std::move(model)),
      state_(std::move(start)),
      workspace_(std::make_unique<Workspace>(*model_, timings_)) {
  ensure(state_.nodes.cols() == model_->node_count() && state_.velocity.cols() == model_->node_count(),
         "Simulation: the state does not fit the model");
}

Simulation::~Simulation() = default;

StepReport Simulation::step() {
  Workspace& w = *workspace_;
  w.on_step_bound = &on_step_bound;
  const SimulationOptions& options = model_->options;
  const double dt = options.dt;
  StepReport report;
  report.step = state_.step + 1;
  report.time = double(report.step) * dt;
  report.min_gap = std::numeric_limits<double>::infinity();

  const Matrix3X start = state_.nodes;
  const Matrix3X start_x = model_->surface_map.positions(start);
  if (on_iterate) on_iterate(model_->point_map.positions(start));
  // q̃ = qᵗ + dt v + dt² g [thesis eq. 2.1]
  w.inertia.set_target(start + dt * state_.velocity + dt * dt * w.gravity);

  // Friction lags one solve behind: forces of the end of the last step, with that step's κ.
  w.contact.set_stiffness(state_.barrier_stiffness);
  w.contact.prepare(start_x);
  w.friction.set_start(start_x);
  w.friction.set_lag(w.contact, start_x, options.contact.epsv * dt);

  Matrix3X q = start;
  report.scripted_by_lagrangian = !w.move_scripted(q, report.time);
  if (on_iterate && q != start) on_iterate(model_->point_map.positions(q));
  const double start_error = report.scripted_by_lagrangian ? w.target.squared_error(start) : 1;
  w.choose_stiffness(q);
  if (state_.barrier_stiffness == 0) {
    w.contact.prepare(start_x);
    w.friction.set_lag(w.contact, start_x, options.contact.epsv * dt);
  }

  ActiveSet before;
  Matrix3X x_before = model_->surface_map.positions(q);
  w.contact.prepare(x_before);
  before = w.contact.active_set();
  const bool adaptive = !options.contact.barrier_stiffness;
  const auto track_gap = [&](const ActiveSet& active) {
    report.min_gap = std::min(report.min_gap, active.min_gap);
  };
  NewtonHooks hooks;
  hooks.step_limit = [&](const Matrix3X& at, const Matrix3X& p) { return w.step_limit(at, p); };
  hooks.accepted = [&](const Matrix3X& at) {
    if (should_stop && should_stop()) throw Interrupted("interrupted");
    if (on_iterate) on_iterate(model_->point_map.positions(at));
    track_gap(w.contact.active_set());
    const Matrix3X& x = w.objective.vertices();
    const bool stiffen =
        adaptive && w.contact.stiffness() < w.range.high &&
        is_squeezing(model_->surface, before, x_before, w.contact.active_set(), x, tiny_gap * model_->size);
    before = w.contact.active_set();
    x_before = x;
    if (stiffen) w.contact.set_stiffness(std::min(w.range.high, 2 * w.contact.stiffness()));
    return stiffen;
  };
  hooks.stationary = [&](const Matrix3X& at) { return w.pull_to_target(at, start_error); };

  NewtonOptions newton_options{options.solver.tolerance, dt,
                               options.solver.termination == Termination::l2_norm,
                               options.solver.max_iterations};
  const int wanted = w.with_friction ? options.contact.friction_iterations : 1;
  while (true) {
    const NewtonResult result = newton(w.objective, *w.linear_solver, q, hooks, newton_options, timings_);
    report.newton_iterations += result.iterations;
    report.linear_solves += result.linear_solves;
    report.residual = result.residual;
    if (!result.converged)
      throw SolverError(
          fmt::format("step {} (t = {:.6g} s): {}", report.step, report.time, w.diagnose(q, result)));
    ++report.friction_iterations;
    // Until convergence [thesis eq. 2.17]: with forces and bases renewed, Newton has nothing left to do.
    const bool settled = report.friction_iterations > 1 && result.at_once;
    if (wanted > 0 ? report.friction_iterations >= wanted : settled) break;
    if (report.friction_iterations >= max_friction_iterations) {
      NewtonResult failed = result;
      failed.failure = fmt::format(
          "lagged friction did not converge in {} solves; set contact.friction_iterations to "
          "a number to accept the last",
          max_friction_iterations);
      throw SolverError(
          fmt::format("step {} (t = {:.6g} s): {}", report.step, report.time, w.diagnose(q, failed)));
    }
    w.objective.prepare(q);
    w.friction.set_lag(w.contact, w.objective.vertices(), options.contact.epsv * dt);
  }

  w.objective.prepare(q);
  const ActiveSet& active = w.contact.active_set();
  track_gap(active);
  report.contacts = w.contact.term_count();
  report.min_distance = active.min_distance;
  report.barrier_stiffness = w.contact.stiffness();
  report.converged = true;
  report.contact_energy = w.contact.value(w.objective.vertices()) / (dt * dt);
  const Matrix3X velocity = (q - start) / dt;
  w.measure(q, velocity, report);
  state_ = {report.step, report.time, std::move(q), velocity, w.contact.stiffness()};
  return report;
}

Frame Simulation::frame() const {
  Workspace& w = *workspace_;
  const Model& m = *model_;
  Frame f;
  f.time = state_.time;
  f.mesh.points = m.point_map.positions(state_.nodes);
  f.velocity = m.point_map.push_forward(state_.nodes, state_.velocity);
  f.point_body.resize(m.point_count());
  f.half_spaces = m.surface.half_spaces;
  Index tets = 0, faces = 0, edges = 0, points = 0;
  for (const Body& b : m.bodies) {
    tets += Index(b.mesh.tetrahedra.cols());
    faces += Index(b.mesh.faces.cols());
    edges += Index(b.mesh.edges.cols());
    points += Index(b.mesh.vertices.size());
  }
  f.mesh.tetrahedra.resize(4, tets);
  f.mesh.faces.resize(3, faces);
  f.mesh.edges.resize(2, edges);
  f.mesh.vertices.resize(points);
  f.von_mises.resize(tets);
  w.elasticity.prepare(state_.nodes);
  tets = faces = edges = points = 0;
  for (std::size_t i = 0; i < m.bodies.size(); ++i) {
    const Body& b = m.bodies[i];
    const Index first = m.first_point[i];
    const bool may_invert = b.elastic && !prevents_inversion(b.elastic->material);
    f.bodies.push_back({b.name, may_invert ? "invertible_volume" : std::string(name_of(b.kind))});
    f.point_body.segment(first, b.mesh.point_count()).setConstant(int(i));
    const auto copy = [first](auto& to, Index& at, const auto& from) {
      to.middleCols(at, from.cols()) = from.array() + first;
      at += Index(from.cols());
    };
    for (Index t = 0; t < b.mesh.tetrahedra.cols(); ++t) {
      const Index cell = w.first_cell[i] + (b.kind == BodyKind::affine ? 0 : t);
      const Matrix3 s = w.elasticity.cauchy_stress(cell);
      const Matrix3 deviator = s - s.trace() / 3 * Matrix3::Identity();
      f.von_mises[tets + t] = std::sqrt(1.5) * deviator.norm();
    }
    copy(f.mesh.tetrahedra, tets, b.mesh.tetrahedra);
    copy(f.mesh.faces, faces, b.mesh.faces);
    copy(f.mesh.edges, edges, b.mesh.edges);
    f.mesh.vertices.segment(points, b.mesh.vertices.size()) = b.mesh.vertices.array() + first;
    points += Index(b.mesh.vertices.size());
  }
  const PairTable& pairs = m.surface.pairs;
  for (int a = 0; a < pairs.body_count(); ++a)
    for (int b = a; b < pairs.body_count(); ++b)
      if (!pairs(a, b).enabled) f.ignored_pairs.emplace_back(a, b);

  // Forces on the surface: minus the gradients of contact and friction, per dt² [N].
  const Matrix3X x = m.surface_map.positions(state_.nodes);
  Matrix3X g = Matrix3X::Zero(3, x.cols());
  if (state_.barrier_stiffness > 0) {
    w.contact.set_stiffness(state_.barrier_stiffness);
    w.contact.prepare(x);
    w.contact.add_gradient(x, g);
    w.friction.add_gradient(x, g);
  }
  f.contact_force = Matrix3X::Zero(3, m.point_count());
  for (Index v = 0; v < x.cols(); ++v)
    f.contact_force.col(m.surface_point[v]) = -g.col(v) / (m.options.dt * m.options.dt);
  return f;
}

}  // namespace apart
