#include <apart/simulation/simulation.hpp>

#include <apart/collision/collision_detection.hpp>
#include <apart/core/error.hpp>
#include <apart/simulation/diagnosis.hpp>
#include <apart/simulation/nesting.hpp>
#include <apart/simulation/output_frame.hpp>
#include <apart/simulation/step_division.hpp>
#include <apart/simulation/step_problem.hpp>

#include <cmath>
#include <limits>

namespace apart {

namespace {

// Gaps below this share of d̂ make κ grow during a solve; by the published rule, below this share of the
// scene's size [thesis A.6].
constexpr double tiny_share = 1e-4, published_tiny_share = 1e-9;
// Lagged friction solves tried before a step that asks for convergence is given up.
constexpr int max_friction_iterations = 200;

/// How much of the renewed forces the next lagged solve takes; the rest is as in the last solve. Lagged
/// iterations need not converge [thesis 2.5.5]: often they swing between states, which half the change calms.
double renewed_share(int friction_iterations) {
  return friction_iterations < 10 ? 1 : friction_iterations < 80 ? 0.5 : 0.25;
}

/// Watches the gaps of accepted iterates and doubles κ where they are tiny and shrink. [thesis A.6]
class GapWatch {
 public:
  GapWatch(StepProblem& problem, const Matrix3X& q) : p_(problem), x_(p_.model.surface_map.positions(q)) {
    const ContactOptions& contact = p_.model.options.contact;
    const bool adaptive = contact.stiffness_rule == StiffnessRule::adaptive;
    tiny_ = adaptive ? tiny_share * p_.surface.pairs.min_dhat() : published_tiny_share * p_.model.size;
    limit_ = contact.barrier_stiffness ? 0 : adaptive ? p_.adaptive_range().limit : p_.range.limit;
    p_.contact.prepare(x_);
    active_ = p_.contact.active_set();
  }

  /// After the problem was prepared at an iterate; true if κ was changed.
  bool accept() {
    track();
    const Matrix3X& x = p_.objective.vertices();
    const bool stiffen = p_.contact.stiffness() < limit_ &&
                         is_squeezing(p_.surface, active_, x_, p_.contact.active_set(), x, tiny_);
    active_ = p_.contact.active_set();
    x_ = x;
    // For a given force tiny gaps are proportional to κ: this brings them back to the threshold, if they are
    // far below.
    if (stiffen)
      p_.contact.set_stiffness(p_.contact.stiffness() * std::clamp(tiny_ / active_.min_gap, 2.0, 100.0));
    return stiffen;
  }
  void track() { min_gap_ = std::min(min_gap_, p_.contact.active_set().min_gap); }
  double min_gap() const { return min_gap_; }  ///< over all accepted iterates [m]

 private:
  StepProblem& p_;
  Matrix3X x_;
  ActiveSet active_;
  double tiny_;   ///< [m]
  double limit_;  ///< to which κ may grow; 0: it is given
  double min_gap_ = std::numeric_limits<double>::infinity();
};

/// Bodies that are not there keep place and speed, so that they can appear with them.
void keep_absent(const StepProblem& p, const State& before, State& after) {
  for (std::size_t b = 0; b < p.present.size(); ++b) {
    if (p.present[b]) continue;
    const Index first = p.model.first_node[b], n = p.model.bodies[b].node_count();
    after.velocity.middleCols(first, n) = before.velocity.middleCols(first, n);
    after.acceleration.middleCols(first, n) = before.acceleration.middleCols(first, n);
    after.mean_acceleration.middleCols(first, n) = before.mean_acceleration.middleCols(first, n);
    after.previous_velocity.middleCols(first, n) = before.velocity.middleCols(first, n);
    after.previous_nodes.middleCols(first, n) =
        before.nodes.middleCols(first, n) - p.dt * before.velocity.middleCols(first, n);
  }
}

/// The report of a step of which `sum` tells the parts so far and `next` the one after these.
StepReport joined(const StepReport& sum, StepReport next) {
  if (sum.substeps == 0) return next;
  const int a = sum.newton_iterations, b = next.newton_iterations;
  if (a + b > 0) next.mean_step = (sum.mean_step * a + next.mean_step * b) / (a + b);
  next.newton_iterations += sum.newton_iterations;
  next.linear_solves += sum.linear_solves;
  next.friction_iterations += sum.friction_iterations;
  next.contacts = std::max(sum.contacts, next.contacts);  // a touch in the middle of a step is one
  next.min_distance = std::min(sum.min_distance, next.min_distance);
  next.min_gap = std::min(sum.min_gap, next.min_gap);
  next.force_residual = std::max(sum.force_residual, next.force_residual);
  next.shortest_step = std::min(sum.shortest_step, next.shortest_step);
  next.scripted_by_lagrangian |= sum.scripted_by_lagrangian;
  next.substeps += sum.substeps;
  next.work += sum.work;
  next.energy_gain += sum.energy_gain;
  return next;
}

double kinetic_energy(const StepProblem& p, const Matrix3X& velocity) {
  double sum = 0;
  if (p.time_step.has_inertia)
    for (std::size_t b = 0; b < p.present.size(); ++b)
      if (p.present[b] && p.model.bodies[b].is_dynamic()) {
        const Matrix3X v = velocity.middleCols(p.model.first_node[b], p.model.bodies[b].node_count());
        sum += 0.5 * (v * p.model.bodies[b].mass).cwiseProduct(v).sum();
      }
  return sum;
}

double gravity_energy(const StepProblem& p, const Matrix3X& q) {
  return -(q * p.model.mass).cwiseProduct(p.gravity).sum();
}

/// Compares the energy that a step leaves with the one that it found, and with the work done meanwhile. From
/// the state alone, as everything that is written.
class EnergyBalance {
 public:
  /// After the problem was begun, with contact as it was left by the step before.
  EnergyBalance(StepProblem& problem, const State& state)
      : p_(problem), start_(state.nodes), x_(p_.model.surface_map.positions(state.nodes)) {
    p_.elastic.prepare(start_);
    energy_ = kinetic_energy(p_, state.velocity) + p_.elastic.value(start_) / p_.time_step.scale +
              p_.contact.value(x_) / p_.time_step.contact_scale;
    gravity_ = gravity_energy(p_, start_);
    pull_ = pull(x_);
  }

  /// At the end, where the problem was prepared.
  void complete(const Matrix3X& q, StepReport& report) const {
    if (!p_.time_step.has_inertia) return;
    const Matrix3X& x = p_.objective.vertices();
    Matrix3X drag = Matrix3X::Zero(3, x.cols());
    p_.drag.add_gradient(x, drag);
    // Rules that average forces do work with the mean of both ends, the others with that of the end.
    const bool mean = p_.model.options.integrator.averages_forces();
    const Matrix3X forces = drag + (mean ? Matrix3X(0.5 * (pull_ + pull(x))) : pull(x));
    report.work = gravity_ - report.gravity_energy - p_.loads.value(q) / p_.time_step.scale -
                  forces.cwiseProduct(x - x_).sum() / p_.time_step.scale;
    if (p_.held.any()) {
      const Matrix3X moved = p_.held.select(q - start_, Matrix3X::Zero(3, q.cols()));
      if (!moved.isZero(0)) report.work += p_.holding_forces().cwiseProduct(moved).sum();
    }
    report.energy_gain =
        report.kinetic_energy + report.elastic_energy + report.contact_energy - energy_ - report.work;
  }

 private:
  /// Gradient of pressure and attachments.
  Matrix3X pull(const Matrix3X& x) const {
    Matrix3X g = Matrix3X::Zero(3, x.cols());
    p_.pressure.add_gradient(x, g);
    p_.springs.add_gradient(x, g);
    return g;
  }
  StepProblem& p_;
  Matrix3X start_, x_, pull_;
  double energy_ = 0, gravity_ = 0;
};

/// Fills in what is measured at the end of a step, where the problem was prepared.
void fill_in(const StepProblem& p, const Matrix3X& q, const Matrix3X& velocity, StepReport& report) {
  report.contacts = p.contact.term_count();
  report.min_distance = p.contact.active_set().min_distance;
  report.gap_share = p.contact.mean_gap_share(p.objective.vertices());
  report.barrier_stiffness = p.contact.stiffness();
  report.contact_energy = p.contact.value(p.objective.vertices()) / p.time_step.contact_scale;
  report.min_volume_ratio = p.elastic.smallest_volume_ratio();
  report.max_strain = p.elastic.largest_strain(q);
  report.kinetic_energy = kinetic_energy(p, velocity);
  report.elastic_energy = p.elastic.value(q) / p.time_step.scale;
  report.gravity_energy = gravity_energy(p, q);
}

}  // namespace

State start_state(const Model& model) {
  State state;
  state.nodes = state.previous_nodes = model.initial_nodes;
  state.velocity = state.previous_velocity = model.initial_velocity;
  state.acceleration = state.mean_acceleration = Matrix3X::Zero(3, model.node_count());
  if (model.options.integrator.averages_forces()) {
    Timings timings;
    StepProblem problem(model, present_bodies(model, model.options.dt), timings);
    state.acceleration = state.mean_acceleration = problem.start_acceleration(state, model.options.dt);
  }
  return state;
}

Simulation::Simulation(std::shared_ptr<const Model> model) : Simulation(model, start_state(*model)) {}

Simulation::Simulation(std::shared_ptr<const Model> model, State start)
    : model_(std::move(model)),
      state_(std::move(start)),
      division_(std::make_unique<StepDivision>(*model_)),
      problem_(std::make_unique<StepProblem>(
          *model_, present_bodies(*model_, std::max(state_.time, model_->options.dt)), timings_)) {
  fresh_ = state_.step == 0;
  ensure(state_.nodes.cols() == model_->node_count() && state_.velocity.cols() == model_->node_count(),
         "Simulation: the state does not fit the model");
}

Simulation::~Simulation() = default;

/// Makes the problem of the step to `time` in which other bodies are there than before. Throws SolverError if
/// one that appears is not free of the others.
void Simulation::meet(const std::vector<char>& present, double time) {
  auto problem = std::make_unique<StepProblem>(*model_, present, timings_);
  const Matrix3X x = model_->surface_map.positions(state_.nodes);
  // Whatever intersects now has to do with a body that appears: the others were apart.
  const auto refuse = [&](int a, int b, const std::string& what) {
    if (problem_->present[std::size_t(a)]) std::swap(a, b);
    const std::string other =
        a == b ? std::string("itself") : fmt::format("'{}'", model_->bodies[std::size_t(b)].name);
    throw SolverError(
        fmt::format("'{}' cannot appear after t = {:.6g} s: it would {} {}; make room, or let "
                    "it appear at another time",
                    model_->bodies[std::size_t(a)].name, state_.time, what, other));
  };
  const CollisionSurface& surface = problem->surface;
  for (const HalfSpace& plane : surface.half_spaces)
    for (Index v = 0; v < x.cols(); ++v) {
      const int body = surface.vertex_body[v];
      if (surface.pairs(body, plane.body).enabled && plane.distance(x, v) <= 0) {
        const bool new_plane = !problem_->present[std::size_t(plane.body)];
        refuse(new_plane ? plane.body : body, new_plane ? body : plane.body,
               new_plane ? "cover" : "be below");
      }
    }
  if (const auto found = first_intersection(surface, x))
    refuse(surface.vertex_body[found->first], surface.vertex_body[found->second], "intersect");
  if (const auto nested = first_nested(*model_, present, x)) {
    const bool solid_is_new = problem_->present[std::size_t(nested->body)];
    refuse(nested->body, nested->solid, solid_is_new ? "enclose" : "lie inside");
  }
  problem->contact.prepare(x);
  const ActiveSet& near = problem->contact.active_set();
  if (near.min_gap <= 0) {
    std::pair<int, int> pair;
    double smallest = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < problem->contact.term_count(); ++i) {
      const double gap = problem->contact.press(i, x).distance - problem->contact.range(i).thickness;
      if (gap < smallest) {
        smallest = gap;
        pair = problem->contact.bodies_of(i);
      }
    }
    refuse(pair.first, pair.second, fmt::format("come {:.3g} m below the thickness to", -smallest));
  }
  for (std::size_t b = 0; b < present.size(); ++b) fresh_ |= present[b] && !problem_->present[b];
  if (model_->options.integrator.averages_forces() && fresh_) {
    const Matrix3X begun = problem->start_acceleration(state_, time);
    for (std::size_t b = 0; b < present.size(); ++b)
      if (present[b] && !problem_->present[b]) {
        const Index first = model_->first_node[b], n = model_->bodies[b].node_count();
        state_.acceleration.middleCols(first, n) = begun.middleCols(first, n);
        state_.mean_acceleration.middleCols(first, n) = begun.middleCols(first, n);
      }
  }
  problem_ = std::move(problem);
}

LinearSolverStatistics Simulation::linear_solver_statistics() const {
  return problem_->linear_solver->statistics();
}

Index Simulation::prepare_first_iteration() {
  StepProblem& p = *problem_;
  p.begin(state_, state_.time + model_->options.dt, model_->options.dt);
  p.choose_stiffness(state_.nodes);
  p.objective.prepare(state_.nodes);
  const BlockSparse& h = p.objective.hessian();
  if (p.objective.take_pattern_change()) p.linear_solver->analyse(h);
  p.linear_solver->factorise(h);
  return 3 * p.objective.free().block_count();
}

/// Bodies that start inside a solid could never get out of it.
void Simulation::ensure_not_nested() const {
  const auto nested = first_nested(*model_, problem_->present, model_->surface_map.positions(state_.nodes));
  if (!nested) return;
  const Vector3& p = nested->place;
  throw InputError(
      "'{}' is inside the solid '{}', at ({:.6g}, {:.6g}, {:.6g}); move it out, make what encloses it an "
      "obstacle or a shell if it is hollow, disable their pair, or set contact.allow_nested",
      model_->bodies[std::size_t(nested->body)].name, model_->bodies[std::size_t(nested->solid)].name, p.x(),
      p.y(), p.z());
}

StepReport Simulation::step() {
  if (state_.step == 0) ensure_not_nested();
  const State before = state_;
  try {
    const double dt = model_->options.dt, end = double(state_.step + 1) * dt;
    if (const auto present = present_bodies(*model_, end); present != problem_->present) meet(present, end);
    problem_->contact.on_step_bound = on_step_bound;
    if (on_iterate) on_iterate(model_->point_map.positions(state_.nodes));
    StepReport report;
    for (double left = dt; left > 0;) {
      const double length = division_->next(*problem_, state_, left, report.substeps);
      const bool last = length >= left;
      report = joined(report, advance(last ? end : state_.time + length, length));
      left = last ? 0 : end - state_.time;
    }
    ++state_.step;
    return report;
  } catch (...) {
    // A step that does not end leaves everything as it was, also who is there.
    state_ = before;
    fresh_ = state_.step == 0;
    if (const auto present = present_bodies(*model_, std::max(state_.time, model_->options.dt));
        present != problem_->present)
      problem_ = std::make_unique<StepProblem>(*model_, present, timings_);
    throw;
  }
}

StepReport Simulation::advance(double end, double dt) {
  const SimulationOptions& options = model_->options;
  StepReport report;
  report.step = state_.step + 1;
  report.time = end;
  report.substeps = 1;
  StepProblem& p = *problem_;
  p.begin(state_, end, dt);
  const EnergyBalance balance(p, state_);
  Matrix3X q = state_.nodes;
  report.scripted_by_lagrangian = !p.move_scripted(state_, q, [&](const Matrix3X& at) {
    if (on_iterate) on_iterate(model_->point_map.positions(at));
  });
  p.choose_stiffness(q);
  if (state_.barrier_stiffness == 0) {  // no step before: forces of the start, with the κ just found
    const Matrix3X x = model_->surface_map.positions(state_.nodes);
    p.contact.prepare(x);
    p.lag_friction(x);
  }
  if (!p.time_step.has_inertia) p.inertia.set_target(q);

  const Matrix3X begun = q;
  GapWatch gaps(p, q);
  NewtonHooks hooks;
  if (on_iterate) hooks.passed = [&](const Matrix3X& at) { on_iterate(model_->point_map.positions(at)); };
  hooks.accepted = [&](const Matrix3X& at) {
    if (should_stop && should_stop()) throw Interrupted("interrupted");
    if (on_iterate) on_iterate(model_->point_map.positions(at));
    const bool stiffened = gaps.accept(), limited = p.elastic.membranes.adapt_stiffness(),
               held = p.hold_at_target(at);
    if (!p.time_step.has_inertia) p.inertia.set_target(at);  // the proximal term follows
    return stiffened || limited || held || !p.time_step.has_inertia;
  };
  const bool balanced = options.solver.termination == Termination::balanced;
  ForceBalance forces;  // where it was last asked for
  if (balanced)
    hooks.imbalance = [&](const Matrix3X& gradient) {
      forces = p.force_balance(gradient);
      return forces.imbalance;
    };
  hooks.stationary = [&](const Matrix3X& at) { return p.pull_to_target(at); };
  int iterations = 0, slow = options.solver.slow_iterations;
  double steps_taken = 0;
  hooks.iterated = [&](const Matrix3X& at, const NewtonProgress& progress) {
    ++iterations;
    steps_taken += std::min(progress.alpha, 1.0);
    report.shortest_step = std::min(report.shortest_step, progress.alpha);
    if (on_iteration) on_iteration({report.step, iterations, progress.residual, progress.alpha});
    if (iterations < slow) return;
    slow *= 2;
    NewtonResult now;
    now.residual = progress.residual;
    now.failure =
        fmt::format("{} Newton iterations, the last one took {:.3g} of its step", iterations, progress.alpha);
    if (on_slow)
      on_slow(fmt::format("step {} (t = {:.6g} s) is slow: {}", report.step, report.time,
                          diagnose(p, begun, at, now)));
  };
  const auto give_up = [&](const NewtonResult& result) {
    throw SolverError(
        fmt::format("step {} (t = {:.6g} s): {}", report.step, report.time, diagnose(p, begun, q, result)));
  };

  const NewtonOptions newton_options{options.solver.tolerance, dt,
                                     options.solver.termination == Termination::l2_norm,
                                     options.solver.max_iterations};
  NewtonOptions once = newton_options;
  once.max_iterations = 1;
  int wanted = p.with_friction ? options.contact.friction_iterations : 1;
  // What has just begun has no step before it from which friction could take how hard contacts press, only
  // the gaps it was placed with: once more, with those of the end.
  if (p.with_friction && wanted > 0 && fresh_) ++wanted;
  double share = 1;
  while (true) {
    NewtonResult result = newton(p.objective, *p.linear_solver, q, hooks, newton_options, timings_);
    report.newton_iterations += result.iterations;
    report.linear_solves += result.linear_solves;
    report.residual = result.residual;
    if (!result.converged) give_up(result);
    ++report.friction_iterations;
    // Until convergence [thesis eq. 2.17]: with forces and bases renewed, Newton has nothing left to do.
    const bool settled = report.friction_iterations > 1 && result.at_once && share == 1;
    if (wanted > 0 ? report.friction_iterations >= wanted : settled) break;
    if (report.friction_iterations >= max_friction_iterations) {
      result.failure = fmt::format(
          "lagged friction did not converge in {} solves; set contact.friction_iterations to a number to "
          "accept "
          "the last",
          max_friction_iterations);
      give_up(result);
    }
    p.objective.prepare(q);
    share = wanted > 0 ? 1 : renewed_share(report.friction_iterations);
    const Friction before = p.friction;
    p.lag_friction(p.objective.vertices());
    if (share == 1) continue;
    const NewtonResult probe = newton(p.objective, *p.linear_solver, q, hooks, once, timings_);
    report.newton_iterations += probe.iterations;
    report.linear_solves += probe.linear_solves;
    report.residual = probe.residual;
    if (probe.at_once) break;
    p.friction.mix(before, share);
  }

  p.objective.prepare(q);
  gaps.track();
  // A solve that ends when forces balance has just asked, at q.
  if (!balanced) forces = p.force_balance(p.objective.reduced_gradient());
  report.force_residual = forces.share;
  report.min_gap = gaps.min_gap();
  report.converged = true;
  report.mean_step = iterations > 0 ? steps_taken / iterations : 1;
  State next;
  next.step = state_.step;
  next.time = end;
  next.step_length = dt;
  next.velocity = p.time_step.velocity(q);
  next.acceleration = p.time_step.acceleration(q);
  next.mean_acceleration = p.time_step.mean_acceleration(q);
  if (options.integrator.averages_forces()) {
    separate_contact(p.time_step, dt, p.contact_acceleration(), next);
    // Where scripted motion was blocked, as it went.
    next.velocity = p.held.select((q - state_.nodes) / dt, next.velocity);
    next.acceleration = p.held.select((next.velocity - state_.velocity) / dt, next.acceleration);
    next.mean_acceleration = p.held.select(next.acceleration, next.mean_acceleration);
  }
  next.previous_nodes = state_.nodes;
  next.previous_velocity = state_.velocity;
  next.nodes = q;
  keep_absent(p, state_, next);
  fill_in(p, q, next.velocity, report);
  balance.complete(q, report);
  next.anchors = p.anchors;
  next.barrier_stiffness = p.contact.stiffness();
  next.force_scale = p.time_step.contact_scale;
  next.friction = p.friction_forces();
  next.limit_stiffness = p.elastic.membranes.limit_stiffness();
  state_ = std::move(next);
  fresh_ = false;
  return report;
}

std::vector<int> Simulation::absent() const {
  std::vector<int> result;
  for (std::size_t b = 0; b < problem_->present.size(); ++b)
    if (!problem_->present[b]) result.push_back(int(b));
  return result;
}

std::vector<double> Simulation::measure(const Probe& probe) const {
  ProbeMeter meter(probe);
  return measure(meter);
}

std::vector<double> Simulation::measure(ProbeMeter& meter) const {
  ensure(state_.step > 0 && problem_->end_time == state_.time, "Simulation::measure: after a step");
  // A step leaves its problem prepared where it ended, and so does a frame.
  return meter.measure(*problem_, state_);
}

Frame Simulation::frame() const {
  return make_frame(*problem_, state_);
}

}  // namespace apart
