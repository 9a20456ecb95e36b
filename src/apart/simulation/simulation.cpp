#include <apart/simulation/simulation.hpp>

#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/simulation/appearance.hpp>
#include <apart/simulation/diagnosis.hpp>
#include <apart/simulation/friction_loop.hpp>
#include <apart/simulation/nesting.hpp>
#include <apart/simulation/output_frame.hpp>
#include <apart/simulation/remesher.hpp>
#include <apart/simulation/solve_watch.hpp>
#include <apart/simulation/step_division.hpp>
#include <apart/simulation/step_end.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace apart {

namespace {

// Where friction has not settled in so many solves, which rarely take more than 14 if they end, a part of
// the step is tried that is half as long; one of up to this share of the step is accepted as it is.
constexpr int solves_to_settle = 20;
constexpr double shortest_to_settle = 1.0 / 16;

/// Moves q to where bodies would be if they went on as before, if that is nearer to the solution. Not worth
/// it for motion that counts as none.
void start_ahead(StepProblem& p, const State& state, const NewtonHooks& hooks, Matrix3X& q) {
  if (!p.time_step.has_inertia) return;
  const SolverOptions& solver = p.model.options.solver;
  const auto start = [&](const Matrix3X& step, PathUse use) {
    const FreeCoordinates& free = p.objective.free();
    const Matrix3X y = free.extend(free.restrict_to_free(step));
    const double way =
        step_norm(p.model.chart.push_forward(q, y), free, solver.termination == Termination::l2_norm);
    if (solver.termination == Termination::balanced || way > solver.tolerance * p.dt)
      start_along(p.objective, {y, use}, q, hooks, p.timings);
  };
  const BodyMotion motion = p.body_motion();
  if (!p.model.chart.is_identity()) start(motion.extrapolated_charts(state, p.dt), PathUse::free_part);
  // Of what is deformable nothing is moved if contact stops it on the way: its shape there would take longer
  // to undo than it saved. Nor where friction acts, as it is far better to start from sticking.
  if (p.terms.friction.term_count() == 0) start(motion.continued_nodes(state, p.dt), PathUse::whole);
}

/// Moves deformable bodies from q towards other places, as far as that is feasible, if E is lower there.
void start_at(StepProblem& p, const Matrix3X& place, const NewtonHooks& hooks, Matrix3X& q) {
  Matrix3X y = Matrix3X::Zero(3, p.model.chart.unknown_count());
  for (std::size_t b = 0; b < p.model.bodies.size(); ++b) {
    const Index first = p.model.first_node[b], n = p.model.bodies[b].node_count();
    if (p.model.bodies[b].chart || n == 0) continue;
    y.middleCols(p.model.chart.unknown_of(first), n) = place.middleCols(first, n) - q.middleCols(first, n);
  }
  const FreeCoordinates& free = p.objective.free();
  y = free.extend(free.restrict_to_free(y));
  start_along(p.objective, {y, PathUse::free_part}, q, hooks, p.timings);
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

Simulation::Simulation(std::shared_ptr<const Model> model, State start, const Teamwork& work)
    : model_(std::move(model)),
      state_(std::move(start)),
      work_(work),
      division_(std::make_unique<StepDivision>(*model_)),
      problem_(std::make_unique<StepProblem>(
          *model_, present_bodies(*model_, std::max(state_.time, model_->options.dt)), timings_, work_)) {
  fresh_ = state_.step == 0;
  ensure(state_.nodes.cols() == model_->node_count() && state_.velocity.cols() == model_->node_count(),
         "Simulation: the state does not fit the model");
}

Simulation::~Simulation() = default;

/// Makes the problem of the step to `time`, in which other bodies are present than before. Throws SolverError
/// if one that appears intersects others.
void Simulation::change_presence(const std::vector<char>& present, double time) {
  auto problem = std::make_unique<StepProblem>(*model_, present, timings_, work_);
  ensure_can_appear(*problem, problem_->present, state_);
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
  end_.reset();
  steady_.reset();
  state_.rest.resize(0);  // what rested may have lost what it rested on
  state_.rest_stiffness = 0;
  problem_ = std::move(problem);
}

LinearSolverStatistics Simulation::linear_solver_statistics() const {
  return problem_->linear_solver->statistics();
}

Index Simulation::prepare_first_iteration() {
  StepProblem& p = *problem_;
  end_.reset();
  steady_.reset();
  p.begin(state_, state_.time + model_->options.dt, model_->options.dt);
  p.stiffness.choose(p.objective, state_.nodes);
  p.objective.prepare(state_.nodes);
  const BlockSparse& h = p.objective.hessian();
  if (p.objective.take_pattern_change()) p.linear_solver->analyse(h);
  p.linear_solver->solve(h, -p.objective.free().restrict_to_free(p.objective.reduced_gradient()));
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
  const std::shared_ptr<const Model> model_before = model_;
  try {
    const double dt = model_->options.dt, end = double(state_.step + 1) * dt;
    if (const auto present = present_bodies(*model_, end); present != problem_->present)
      change_presence(present, end);
    problem_->terms.contact.on_step_bound = on_step_bound;
    pass_on(state_.nodes);
    StepReport report, given_up;
    double longest = dt;  // of the next part
    for (double left = dt; left > 0;) {
      const double length = std::min(longest, division_->next(*problem_, state_, left, report.substeps));
      const bool last = length >= left, must_settle = length > shortest_to_settle * dt;
      const StepReport part = advance(last ? end : state_.time + length, length, must_settle);
      const bool settled = !must_settle || !part.friction_unsettled;
      StepReport& sum = settled ? report : given_up;
      sum = joined(sum, part);
      longest = settled ? dt : length / 2;
      if (settled) left = last ? 0 : end - state_.time;
    }
    report.newton_iterations += given_up.newton_iterations;
    report.linear_solves += given_up.linear_solves;
    report.friction_iterations += given_up.friction_iterations;
    ++state_.step;
    if (work_.on_step) work_.on_step(problem_->own_work());
    return report;
  } catch (...) {
    // A failed step leaves everything as it was, including meshes and which bodies are present.
    if (model_ != model_before)
      use(model_before, before);
    else
      state_ = before;
    steady_.reset();
    fresh_ = state_.step == 0;
    if (const auto present = present_bodies(*model_, std::max(state_.time, model_->options.dt));
        present != problem_->present) {
      end_.reset();
      problem_ = std::make_unique<StepProblem>(*model_, present, timings_, work_);
    }
    throw;
  }
}

void Simulation::pass_on(const Matrix3X& q) {
  ++passed_;
  if (on_iterate) on_iterate(model_->point_map.positions(q));
}

/// A step that has been solved. Where it ended is in `end_`.
struct Simulation::Solved {
  StepReport report;
  State next;
  std::vector<std::string> notes;
};

StepReport Simulation::advance(double end, double dt, bool must_settle) {
  if (steady_ && state_.step_length == dt && problem_->sleep.goes_on(state_, end)) {
    state_.time = problem_->end_time = end;
    steady_->step = state_.step + 1;
    steady_->time = end;
    return *steady_;
  }
  const std::size_t passed = passed_;
  Solved solved = solve(end, dt, {}, must_settle);
  if (must_settle && solved.report.friction_unsettled) {
    end_.reset();
    if (on_discard) on_discard(passed_ - passed);
    return solved.report;
  }
  if (model_->remesher) solved = improve(std::move(solved), end, dt);
  StepReport& report = solved.report;
  for (const Body& body : model_->bodies)
    if (body.kind == BodyKind::volume || body.planar || body.shell)
      report.cells += Index(body.planar  ? body.planar->nodes.cols()
                            : body.shell ? body.shell->nodes.cols()
                                         : body.elastic->nodes.cols());
  if (on_note)
    for (const std::string& what : solved.notes)
      on_note(fmt::format("step {} (t = {:.6g} s): {}", report.step, report.time, what));
  // A step that solves nothing and changes nothing will be repeated until something happens.
  const StepProblem& p = *problem_;
  if (p.objective.free().block_count() == 0 && p.sleep.any_asleep() && is_unchanged(state_, solved.next))
    steady_ = report;
  state_ = std::move(solved.next);
  fresh_ = false;
  return report;
}

Simulation::Solved Simulation::solve(double end, double dt, const Start& start, bool must_settle) {
  StepProblem& p = *problem_;
  Solved solved;
  StepReport& report = solved.report;
  report.step = state_.step + 1;
  report.time = end;
  report.substeps = 1;

  steady_.reset();
  end_.reset();
  p.begin(state_, end, dt);
  const EnergyBalance balance(p, state_);
  Matrix3X q = start.nodes ? *start.nodes : state_.nodes;
  const auto passed = [&](const Matrix3X& at) { pass_on(at); };
  if (start.nodes) pass_on(q);
  report.scripted_by_lagrangian = !(start.nodes ? p.scripted.settle(state_, p.time_step.scale, q, passed)
                                                : p.scripted.move(state_, p.time_step.scale, q, passed));
  p.stiffness.choose(p.objective, q);
  if (state_.barrier_stiffness == 0) {  // no step before: forces of the start, with the κ just found
    const Matrix3X x = model_->surface_map.positions(state_.nodes);
    p.terms.contact.prepare(x);
    p.lag_friction(x);
  }
  if (!p.time_step.has_inertia) p.terms.inertia.set_target(q);
  p.sleep.begin({state_, q, end, dt, p.time_step.contact_scale, report.scripted_by_lagrangian});

  const Matrix3X begun = q;
  Watch watch(*this, report, begun);
  const NewtonHooks hooks = watch.hooks();
  if (start.nodes)
    start_at(p, *start.ahead, hooks, q);
  else
    start_ahead(p, state_, hooks, q);
  const FrictionResult result =
      solve_with_friction(p, q, hooks, {fresh_, must_settle ? solves_to_settle : 60}, report);
  if (!result.converged)
    throw SolverError(
        fmt::format("step {} (t = {:.6g} s): {}", report.step, report.time, diagnose(p, begun, q, result)));

  report.friction_unsettled = !result.unsettled.empty();
  if (report.friction_unsettled && !must_settle && on_slow)
    on_slow(fmt::format("step {} (t = {:.6g} s): {}", report.step, report.time, result.unsettled));

  end_ = std::make_unique<StepEnd>(p, q);
  watch.finish();
  solved.next = end_state(end, dt);
  end_->report(solved.next.velocity, report);
  solved.notes = p.joints.finish(end_->nodes(), solved.next);
  report.broken_joints = Index(solved.notes.size());
  balance.complete(*end_, report);
  return solved;
}

Simulation::Solved Simulation::improve(Solved solved, double end, double dt) {
  RemeshReport done;
  for (int pass = 0; pass < model_->remesher->pass_count();) {
    // Better meshes are looked for by each process of a team with all elements: the same by all.
    if (work_.team.any(should_stop && should_stop())) throw Interrupted("interrupted");
    auto [better, report, next_pass] =
        model_->remesher->improve({*problem_, state_, solved.next.nodes}, pass);
    pass = next_pass;
    done.trials += std::exchange(report.trials, 0);
    if (!better) continue;
    // What there is stays until the new meshes have proved their worth.
    const std::shared_ptr<const Model> model = model_;
    State state = state_;
    std::unique_ptr<StepProblem> problem = std::move(problem_);
    std::unique_ptr<const StepEnd> last = std::move(end_);
    const std::size_t passed = passed_;
    pass_on(better->leaving);
    problem_ = std::make_unique<StepProblem>(*better->model, problem->present, timings_, work_);
    model_ = better->model;
    state_ = std::move(better->before);
    pass_on(better->entering);
    try {
      Solved again = solve(end, dt, {&better->nodes, &better->ahead});
      again.report.newton_iterations += solved.report.newton_iterations;
      again.report.linear_solves += solved.report.linear_solves;
      again.report.min_gap = std::min(again.report.min_gap, solved.report.min_gap);
      solved = std::move(again);
      done += report;
    } catch (const SolverError& error) {
      // Where one process of several has no memory, the others do not know.
      if (!work_.team.is_alone() && dynamic_cast<const MemoryError*>(&error)) throw;
      end_.reset();
      problem_ = std::move(problem);
      end_ = std::move(last);
      model_ = model;
      state_ = std::move(state);
      if (on_discard) on_discard(passed_ - passed);
      solved.notes.push_back(
          fmt::format("the step could not be solved on new meshes, and keeps its own: {}", error.what()));
      break;
    }
  }
  if (done.splits + done.collapses + done.swaps + done.moves > 0)
    division_ = std::make_unique<StepDivision>(*model_);
  solved.report.splits = done.splits;
  solved.report.collapses = done.collapses;
  solved.report.swaps = done.swaps;
  solved.report.moves = done.moves;
  solved.report.remesh_trials = done.trials;
  return solved;
}

/// Goes on with a state of another model of the same bodies.
void Simulation::use(std::shared_ptr<const Model> model, State state) {
  end_.reset();
  steady_.reset();
  problem_ = std::make_unique<StepProblem>(*model, problem_->present, timings_, work_);
  division_ = std::make_unique<StepDivision>(*model);
  model_ = std::move(model);
  state_ = std::move(state);
}

/// The state where a step that took dt [s] has ended, at the time `end` [s].
State Simulation::end_state(double end, double dt) const {
  const StepProblem& p = *problem_;
  State next;
  next.step = state_.step;
  next.time = end;
  next.step_length = dt;
  next.nodes = end_->nodes();
  next.previous_nodes = state_.nodes;
  next.previous_velocity = state_.velocity;
  finish_step(
      p.time_step, state_, p.scripted.held(), [&] { return end_->contact_acceleration(); }, next);
  if (model_->options.integrator.conserves_spin)
    p.body_motion().keep_momentum(state_, p.time_step.predicted, p.dt, next);
  p.keep_absent(state_, next);
  p.sleep.finish(state_, p.time_step.contact_scale, next);
  next.anchors = p.scripted.anchors();
  next.barrier_stiffness = p.terms.contact.stiffness();
  next.force_scale = p.time_step.contact_scale;
  next.friction = end_->friction_forces();
  next.grips = Grips::pack(p.terms.friction.grips(end_->vertices()));
  next.limit_stiffness = p.terms.elastic.membranes.limit_stiffness();
  return next;
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
  ensure(end_ != nullptr, "Simulation::measure: after a step");
  return meter.measure(*end_, state_);
}

std::vector<ContactForce> Simulation::contacts() const {
  ensure(end_ != nullptr, "Simulation::contacts: after a step");
  return end_->contact_forces();
}

Frame Simulation::frame() const {
  return make_frame(*problem_, state_);
}

}  // namespace apart
