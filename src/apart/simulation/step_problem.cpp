#include <apart/simulation/step_problem.hpp>

#include <apart/core/error.hpp>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// thesis A.5
constexpr double target_reached = 0.999;
constexpr double target_near = 0.99;
// The thesis starts with 1e6 and stops at 1e8, against masses, which is soft against steel. The pull starts
// this much stiffer than what it may have to deform: then scripted parts keep to their straight way.
constexpr double target_start = 1e6, target_start_of_elastic = 1e4;
constexpr double largest_target_growth = 1e8;
constexpr double target_far = 0.9;
// Scripted motion that would leave a smaller share of d̂ as gap takes along what it pushes.
constexpr double smallest_gap_share = 0.1;
// Weight of the proximal term in quasi-static steps: it decides where no force does, and is too small to
// matter where one does.
constexpr double proximal_weight = 1e-8;

/// Contacts should rest at half of d̂. Bodies without a volume are seen as thick as their contacts keep them
/// apart: ξ + d̂ [C-IPC §6.6]. They should lie near the end of the reach: at 0.92 of d̂ for ξ = 0.
constexpr BarrierContact::RestingShares resting_shares{.usual = 0.25, .light = 0.85};
/// ... under the weight of up to so many nodes on a contact: forces beyond that are no piles but presses.
constexpr double resting_layers = 30;
/// Before anything touches: the force that would move a node of mean mass by so many d̂ in a step, at least
/// its weight; without inertia the force that would move a node by this share of d̂ if all others were held.
constexpr double start_moves = 2.5, start_deflection = 0.01;
/// How far κ may follow the forces, against the one at the start.
constexpr double lowest_stiffness = 1e-3, highest_stiffness = 1e10;

bool has_friction(const PairTable& pairs) {
  bool found = false;
  pairs.for_each_used([&](const PairSettings& s, int, int) { found |= s.enabled && s.friction > 0; });
  return found;
}

double smallest_dhat(const PairTable& pairs) {
  const double d = pairs.min_dhat();
  return std::isfinite(d) ? d : 1e-3;
}

std::size_t body_of_node(const Model& model, Index node) {
  return std::size_t(std::upper_bound(model.first_node.begin(), model.first_node.end(), node) -
                     model.first_node.begin() - 1);
}

/// The model's surface, without contact of bodies that are not there.
CollisionSurface surface_of(const Model& model, const std::vector<char>& present) {
  CollisionSurface surface = model.surface;
  for (int b = 0; b < int(present.size()); ++b)
    if (!present[std::size_t(b)]) surface.pairs.disable(b);
  return surface;
}

/// Median over the nodes with elastic terms of the largest stiffness a node has when all others are held, at
/// the given nodes [N/m]; 0 without any.
double usual_node_stiffness(ElasticParts& elastic, const Matrix3X& q) {
  elastic.set_scale(1);
  elastic.prepare(q);
  Matrix3X diagonal = Matrix3X::Zero(3, q.cols());
  LocalHessians local;
  for (const Potential* p : elastic.potentials())
    for (Index i = 0; i < p->term_count(); ++i) {
      local.reset(*p, i, i + 1);
      p->hessians(q, i, i + 1, Projection::psd, local);
      Index k = 0;
      for (const Index node : p->term(i)) diagonal.col(node) += local[i].diagonal().segment<3>(3 * k++);
    }
  std::vector<double> largest;
  for (Index n = 0; n < q.cols(); ++n)
    if (diagonal.col(n).maxCoeff() > 0) largest.push_back(diagonal.col(n).maxCoeff());
  if (largest.empty()) return 0;
  const auto middle = largest.begin() + std::ptrdiff_t(largest.size() / 2);
  std::nth_element(largest.begin(), middle, largest.end());
  return *middle;
}

/// M a = f in the coordinates that are not held; a = 0 in the others and where there is no mass.
Matrix3X accelerations(const Model& model, const Matrix3X& forces, const ScriptedNodes::Mask& held) {
  Matrix3X result = Matrix3X::Zero(3, model.node_count());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!body.is_dynamic()) continue;
    const Index first = model.first_node[b], n = body.node_count();
    if (forces.middleCols(first, n).isZero(0)) continue;
    for (int axis = 0; axis < 3; ++axis) {
      VectorX f = forces.row(axis).segment(first, n).transpose();
      std::vector<Eigen::Triplet<double>> entries;
      const auto is_held = [&](Index i) { return held(axis, first + i); };
      for (int j = 0; j < body.mass.outerSize(); ++j)
        for (Eigen::SparseMatrix<double>::InnerIterator it(body.mass, j); it; ++it)
          if (!is_held(Index(it.row())) && !is_held(Index(it.col())))
            entries.emplace_back(it.row(), it.col(), it.value());
      for (Index i = 0; i < n; ++i)
        if (is_held(i)) {
          entries.emplace_back(i, i, 1);
          f[i] = 0;
        }
      Eigen::SparseMatrix<double> mass(n, n);
      mass.setFromTriplets(entries.begin(), entries.end());
      const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(mass);
      result.row(axis).segment(first, n) = solver.solve(f).transpose();
    }
  }
  return result;
}

std::vector<SurfacePressure::Patch> pressure_patches(const Model& model, const std::vector<char>& present,
                                                     double time) {
  std::vector<SurfacePressure::Patch> patches;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (const Pressure& p : model.bodies[b].pressures) {
      if (!present[b] || !p.when.covers(time)) continue;
      SurfacePressure::Patch patch{Faces(3, Index(p.faces.size())), p.pressure(time)};
      if (!std::isfinite(patch.pressure))
        throw SolverError(fmt::format(
            "the pressure on '{}' is not a finite number at t = {:.6g} s; mend its formula or end "
            "the run before",
            model.bodies[b].name, time));
      for (Index f = 0; f < patch.faces.cols(); ++f)
        for (int k = 0; k < 3; ++k)
          patch.faces(k, f) =
              model.vertex_of(int(b), model.bodies[b].surface_faces(k, p.faces[std::size_t(f)]));
      patches.push_back(std::move(patch));
    }
  return patches;
}

/// What resists the air. `x`, `v`: collision vertices at the start of the step [m, m/s].
std::vector<AirDrag::Patch> drag_patches(const Model& model, const std::vector<char>& present, double time,
                                         const Matrix3X& x, const Matrix3X& v) {
  std::vector<AirDrag::Patch> patches;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (const Wind& wind : model.bodies[b].winds) {
      if (!present[b] || !wind.when.covers(time)) continue;
      const Body& body = model.bodies[b];
      const DragCoefficients coefficients{wind.density, wind.normal, wind.tangential};
      const auto add = [&](std::span<const int> corners, auto resistance) {
        AirDrag::Patch patch;
        Vector3 place = Vector3::Zero(), speed = Vector3::Zero();
        for (const int c : corners) {
          const Index vertex = model.vertex_of(int(b), c);
          patch.points.ids[std::size_t(patch.points.size++)] = vertex;
          place += body.mesh.points.col(c) / double(corners.size());
          speed += v.col(vertex) / double(corners.size());
        }
        patch.air = wind.velocity(place, time);
        if (!patch.air.allFinite())
          throw SolverError(
              fmt::format("the wind on '{}' is not a finite number at t = {:.6g} s; mend its formula or end "
                          "the run before",
                          body.name, time));
        patch.resistance = resistance(patch.points.ids, Vector3(speed - patch.air));
        patches.push_back(patch);
      };
      // Where air comes from behind a closed surface there is the body's inside.
      const bool closed = body.kind == BodyKind::volume || body.kind == BodyKind::affine;
      for (const Index f : wind.faces)
        add(std::span(body.surface_faces.col(f).data(), 3), [&](const auto& at, const Vector3& u) {
          return triangle_resistance(coefficients, x.col(at[0]), x.col(at[1]), x.col(at[2]), u, closed);
        });
      for (const Index e : wind.segments)
        add(std::span(body.free_segments.col(e).data(), 2), [&](const auto& at, const Vector3& u) {
          return segment_resistance(coefficients, x.col(at[0]), x.col(at[1]), 2 * body.radius, u);
        });
      for (const Index p : wind.points)
        add(std::array{int(p)},
            [&](const auto&, const Vector3& u) { return ball_resistance(coefficients, body.radius, u); });
    }
  return patches;
}

}  // namespace

std::vector<char> present_bodies(const Model& model, double time) {
  std::vector<char> present;
  for (const Body& body : model.bodies) present.push_back(body.presence.covers(time));
  return present;
}

Matrix3X load_forces(const Model& model, double time) {
  Matrix3X forces = Matrix3X::Zero(3, model.node_count());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.loads.empty() || !body.presence.covers(time)) continue;
    Matrix3X on_points = Matrix3X::Zero(3, body.mesh.point_count());
    Matrix3X acceleration = Matrix3X::Zero(3, body.node_count());
    for (const Load& load : body.loads) {
      if (!load.when.covers(time)) continue;
      for (std::size_t i = 0; i < load.points.size(); ++i) {
        const Index p = load.points[i];
        if (load.per_mass)
          acceleration.col(p) += load.field(body.nodes.col(p), time);
        else
          on_points.col(p) += load.weights[Index(i)] * load.field(body.mesh.points.col(p), time);
      }
    }
    if (!on_points.allFinite() || !acceleration.allFinite())
      throw SolverError(fmt::format(
          "a load on '{}' is not a finite number at t = {:.6g} s; mend its formula or end the run "
          "before",
          body.name, time));
    forces.middleCols(model.first_node[b], body.node_count()) =
        body.point_map.pull_back(on_points) + acceleration * body.mass;
  }
  return forces;
}

StepProblem::StepProblem(const Model& m, std::vector<char> bodies_present, Timings& timings)
    : model(m),
      present(std::move(bodies_present)),
      surface(surface_of(m, present)),
      scripted(m),
      candidates(make_broad_phase(m.options.solver.broad_phase, surface), surface,
                 {.reuse = m.options.solver.candidate_reuse, .culling = m.options.solver.ccd_culling},
                 &timings),
      inertia(m.mass),
      contact(surface, candidates, m.options.solver.ccd),
      friction(surface),
      objective(m.surface_map, m.chart,
                {{&inertia, Role::inertia, PointKind::nodes},
                 {&elastic.cells, Role::elastic, PointKind::nodes},
                 {&elastic.membranes, Role::elastic, PointKind::nodes},
                 {&elastic.hinges, Role::elastic, PointKind::nodes},
                 {&elastic.rods, Role::elastic, PointKind::nodes},
                 {&loads, Role::load, PointKind::nodes},
                 {&damping, Role::damping, PointKind::nodes},
                 {&target, Role::target, PointKind::nodes},
                 {&contact, Role::contact, PointKind::vertices},
                 {&friction, Role::friction, PointKind::vertices},
                 {&pressure, Role::load, PointKind::vertices},
                 {&springs, Role::attachment, PointKind::vertices},
                 {&drag, Role::load, PointKind::vertices}}),
      linear_solver(make_linear_solver(m.options.solver.linear_solver, m.options.solver.ordering)) {
  for (std::size_t b = 0; b < m.bodies.size(); ++b) {
    first_cell.push_back(elastic.cells.term_count());
    first_triangle.push_back(elastic.membranes.term_count());
    if (!present[b]) continue;
    const Index first_hinge = elastic.hinges.term_count(), first_rod_term = elastic.rods.term_count();
    elastic.add(m.bodies[b], m.first_node[b]);
    const auto damp = [&](const Potential& potential, Index first) {
      damping.add_stiffness(potential, first, potential.term_count() - first, m.bodies[b].damping.stiffness);
    };
    damp(elastic.cells, first_cell[b]);
    damp(elastic.membranes, first_triangle[b]);
    damp(elastic.hinges, first_hinge);
    damp(elastic.rods, first_rod_term);
    damping.add_mass(m.bodies[b].mass, m.first_node[b], m.bodies[b].damping.mass);
  }
  gravity = Matrix3X::Zero(3, m.node_count());
  const VectorX diagonal = m.mass.diagonal();
  double sum = 0, thin_sum = 0;
  Index dynamic_nodes = 0, thin_nodes = 0;
  for (Index n = 0; n < m.node_count(); ++n)
    if (diagonal[n] > 0 && present[body_of_node(m, n)]) {
      gravity.col(n) = m.options.gravity;
      sum += diagonal[n];
      ++dynamic_nodes;
      if (!m.bodies[body_of_node(m, n)].is_thin()) continue;
      thin_sum += diagonal[n];
      ++thin_nodes;
    }
  gravity_force = gravity * m.mass;
  mean_mass = dynamic_nodes > 0 ? sum / double(dynamic_nodes) : 1;
  mean_thin_mass = thin_nodes > 0 ? thin_sum / double(thin_nodes) : 0;
  range = stiffness_range(mean_mass, m.size, smallest_dhat(surface.pairs));
  usual_stiffness = usual_node_stiffness(elastic, m.initial_nodes);
  with_friction = has_friction(surface.pairs);
}

void StepProblem::begin(const State& state, double end, double length) {
  end_time = end;
  dt = length;
  divided = dt < model.options.dt || (state.step_length > 0 && state.step_length < model.options.dt);
  time_step = begin_step(model.options.integrator, dt, state);
  anchors = scripted.anchors(state, end);
  held = scripted.mask(end);
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    if (!present[b]) held.middleCols(model.first_node[b], model.bodies[b].node_count()) = true;
  if (model.options.integrator.averages_forces()) follow_script(state);
  target.targets.clear();
  // Also forgets the pattern of the last step: the order of elimination, and with it the bits, must follow
  // from the state a step starts from, not from how it was reached.
  objective.set_free(FreeCoordinates(model.chart.free_unknowns(!held)));
  linear_solver->begin_step();
  elastic.set_scale(time_step.scale);
  // Each step begins with the κ of the scene: what it does follows from its start alone.
  elastic.membranes.reset_stiffness();
  if (time_step.has_inertia) {
    inertia.set_target(time_step.predicted + time_step.scale * gravity);
  } else {
    inertia.set_weight(proximal_weight);
    inertia.set_target(state.nodes);
  }
  const Matrix3X x = model.surface_map.positions(state.nodes);
  set_loads(state, x);
  if (!damping.empty()) {
    elastic.prepare(state.nodes);
    damping.set_lag(state.nodes);
    damping.set_step(time_step.scale, time_step.rate, time_step.rate_origin);
  }
  // Friction lags one solve behind: forces of the end of the last step, with that step's κ.
  contact.set_stiffness(
      state.force_scale > 0 ? state.barrier_stiffness * (time_step.contact_scale / state.force_scale) : 0.0);
  contact.prepare(x);
  last_stiffness = contact.stiffness();
  const double pile =
      resting_layers * mean_thin_mass * model.options.gravity.norm() * time_step.contact_scale;
  resting_stiffness = contact.resting_stiffness(x, resting_shares, [&](Index c) {
    const auto [a, b] = contact.bodies_of(c);
    return model.bodies[std::size_t(a)].is_thin() || model.bodies[std::size_t(b)].is_thin() ? pile : 0.0;
  });
  friction.set_start(x);
  lag_friction(x);
}

/// Rules that average forces would for given positions let velocity ring and acceleration grow without bound.
/// Coordinates that are held take those of their motion instead, so that they are let go with the speed they
/// have.
void StepProblem::follow_script(const State& state) {
  const Matrix3X goal = scripted.apply(state.nodes, anchors, end_time);
  const Matrix3X velocity = (goal - state.nodes) / dt, acceleration = (velocity - state.velocity) / dt;
  time_step.predicted = held.select(goal - time_step.scale * acceleration, time_step.predicted);
  time_step.rate_origin = held.select(goal - velocity / time_step.rate, time_step.rate_origin);
}

void StepProblem::lag_friction(const Matrix3X& x) {
  friction.set_lag(contact, x, dt);
}

void StepProblem::set_loads(const State& state, const Matrix3X& x) {
  Matrix3X forces = load_forces(model, end_time);
  if (!time_step.has_inertia) forces += gravity_force;
  loads.set(time_step.scale, std::move(forces), state.nodes);

  pressure.set(time_step.scale, pressure_patches(model, present, end_time), x);

  std::vector<Springs::Spring> attached;
  for (const Attachment& a : model.attachments) {
    if (!present[std::size_t(a.body)] || !present[std::size_t(a.other)] || !a.when.covers(end_time)) continue;
    Springs::Spring s{{}, a.weights, a.stiffness, a.rest_length(end_time)};
    s.points.ids[std::size_t(s.points.size++)] = model.vertex_of(a.body, a.point);
    for (const Index p : a.others)
      if (p >= 0) s.points.ids[std::size_t(s.points.size++)] = model.vertex_of(a.other, p);
    attached.push_back(s);
  }
  springs.set(time_step.scale, std::move(attached));

  const bool moves = time_step.has_inertia;  // a quasi-static step knows wind, but no speed of its own
  const LinearMap& map = model.surface_map;
  drag.set(time_step.scale, moves ? time_step.rate : 0.0, map.positions(time_step.rate_origin),
           drag_patches(model, present, end_time, x,
                        moves ? map.push_forward(state.velocity) : Matrix3X::Zero(3, x.cols())));
}

Index StepProblem::membrane_part(int body) const {
  const auto has_part = [&](std::size_t b) { return present[b] && model.bodies[b].shell; };
  if (!has_part(std::size_t(body))) return -1;
  Index part = 0;
  for (std::size_t b = 0; b < std::size_t(body); ++b) part += has_part(b);
  return part;
}

Matrix3X StepProblem::friction_forces() const {
  const Matrix3X& x = objective.vertices();
  Matrix3X g = Matrix3X::Zero(3, x.cols());
  friction.add_gradient(x, g);
  return g / -time_step.contact_scale;
}

Matrix3X StepProblem::holding_forces() const {
  return objective.gradient(~Roles{Role::contact, Role::friction, Role::target}) / time_step.scale +
         objective.gradient({Role::contact, Role::friction}) / time_step.contact_scale;
}

Matrix3X StepProblem::contact_acceleration() const {
  return accelerations(model, objective.gradient({Role::contact, Role::friction}) / -time_step.contact_scale,
                       held);
}

Matrix3X StepProblem::start_acceleration(const State& state, double time) {
  begin(state, time, model.options.dt);
  // In place of the step's: velocities are those of the state.
  time_step.scale = time_step.rate = 1;
  time_step.rate_origin = state.nodes - state.velocity;
  elastic.set_scale(1);
  set_loads(state, model.surface_map.positions(state.nodes));
  objective.prepare(state.nodes);
  if (!damping.empty()) {
    damping.set_lag(state.nodes);
    damping.set_step(1, 1, time_step.rate_origin);
  }
  const Matrix3X gradient =
      objective.gradient(~Roles{Role::inertia, Role::contact, Role::friction, Role::target});
  return accelerations(model, gravity_force - gradient, held);
}

Matrix3X StepProblem::predicted(const State& state, double time) const {
  Matrix3X q = state.nodes;
  if (model.options.integrator.scheme != Integrator::quasi_static)
    for (std::size_t b = 0; b < model.bodies.size(); ++b) {
      if (!present[b] || !model.bodies[b].is_dynamic()) continue;
      const Index first = model.first_node[b], n = model.bodies[b].node_count();
      q.middleCols(first, n) += time * state.velocity.middleCols(first, n);
      q.middleCols(first, n).colwise() += 0.5 * time * time * model.options.gravity;
    }
  const double end = state.time + time;
  return scripted.apply(std::move(q), scripted.anchors(state, end), end);
}

bool StepProblem::move_scripted(const State& state, Matrix3X& q, FunctionRef<void(const Matrix3X&)> passed) {
  const int pieces = scripted.curves(state, dt).most;
  const Matrix3X goal = scripted.apply(q, anchors, end_time);
  Matrix3X move;
  bool free_way = true;
  for (int k = 1; k <= pieces && free_way; ++k) {
    const Matrix3X next = k == pieces ? goal : scripted.apply(q, anchors, state.time + dt * k / pieces);
    move = next - q;
    if (move.cwiseAbs().maxCoeff() == 0) continue;
    free_way = objective.feasible_step(Path{q, move}) >= 1 && keeps_gaps(q, next);
    if (!free_way) break;
    q = next;
    passed(q);
  }
  if (free_way) return true;
  ScriptedNodes::Mask free = !held;
  const VectorX diagonal = model.mass.diagonal();
  target.stiffness = target_stiffness();
  for (Index n = 0; n < model.node_count(); ++n) {
    const Vector3 mask = held.col(n).cast<double>();
    if ((move.col(n).isZero(0) && (goal.col(n) - q.col(n)).isZero(0)) || mask.isZero(0)) continue;
    // Obstacles have no mass of their own; the mean of the scene's nodes only scales the pull.
    target.targets.push_back(
        {n, goal.col(n), mask, diagonal[n] > 0 ? diagonal[n] : mean_mass, Vector3::Zero()});
    free.col(n) = true;
  }
  objective.set_free(FreeCoordinates(model.chart.free_unknowns(free)));
  target_start_error = target.squared_error(q);
  return false;
}

double StepProblem::start_stiffness(double length) const {
  const double dhat = smallest_dhat(surface.pairs), weight_of_node = mean_mass * model.options.gravity.norm();
  const double force =
      std::max(weight_of_node, time_step.has_inertia ? start_moves * dhat * mean_mass / (length * length)
                                                     : start_deflection * dhat * usual_stiffness);
  return force * time_step.contact_scale / surface.pairs.force_per_stiffness();
}

StiffnessRange StepProblem::adaptive_range() const {
  const double start = start_stiffness(model.options.dt);
  return {lowest_stiffness * start, start, highest_stiffness * start};
}

void StepProblem::choose_stiffness(const Matrix3X& q) {
  if (model.options.contact.barrier_stiffness) {
    // Forces are κ ∇b / contact_scale: the same for every integrator.
    contact.set_stiffness(*model.options.contact.barrier_stiffness *
                          (time_step.contact_scale / (model.options.dt * model.options.dt)));
    return;
  }
  const bool adaptive = model.options.contact.stiffness_rule == StiffnessRule::adaptive;
  StiffnessRange allowed = adaptive ? adaptive_range() : range;
  if (adaptive && last_stiffness > 0) {
    double next = followed_stiffness(last_stiffness, resting_stiffness, allowed, dt / model.options.dt);
    // What meets in a part of a step meets as it would in steps of that length. While something touches, κ
    // cannot be changed by much without a change of energy.
    if (divided && resting_stiffness == 0) next = std::min(allowed.limit, start_stiffness(dt));
    contact.set_stiffness(next);
    return;
  }
  // κ balances the barrier against everything else at q, but for friction, which follows from it.
  // So what touches at the start stays as the scene has placed it.
  objective.prepare(q);
  if (adaptive && contact.term_count() == 0) {
    contact.set_stiffness(allowed.high);
    return;
  }
  contact.set_stiffness(1);
  const Matrix3X pressed = objective.gradient({Role::contact});
  const Matrix3X others = objective.gradient(~Roles{Role::contact, Role::friction, Role::target});
  // In a part of a step that is shorter than the last one the same κ would push harder: what touches would
  // fly apart with energy that it did not have.
  if (!adaptive && contact.term_count() > 0 && last_stiffness > 0)
    allowed.low = std::min(range.low, last_stiffness);
  const FreeCoordinates& free = objective.free();
  const double balanced =
      balanced_stiffness(free.restrict_to_free(model.chart.pull_back(q, others)),
                         free.restrict_to_free(model.chart.pull_back(q, pressed)), allowed);
  contact.set_stiffness(balanced);
}

bool StepProblem::keeps_gaps(const Matrix3X& from, const Matrix3X& to) {
  contact.prepare(model.surface_map.positions(from));
  const double before = contact.active_set().min_gap;
  contact.prepare(model.surface_map.positions(to));
  return contact.active_set().min_gap >= smallest_gap_share * std::min(before, smallest_dhat(surface.pairs));
}

double StepProblem::target_stiffness() const {
  return std::max(target_start, target_start_of_elastic * time_step.scale * usual_stiffness / mean_mass);
}

/// η_A [thesis eq. A.5]
double StepProblem::target_progress(const Matrix3X& q) const {
  return 1 - std::sqrt(target.squared_error(q) / target_start_error);
}

ForceBalance StepProblem::force_balance(const Matrix3X& gradient) {
  // Inertia holds gravity already; a body that falls freely feels its weight all the same.
  const Matrix3X weight = model.chart.pull_back(objective.coordinates(), gravity_force);
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
        if (free(axis, n)) squared += gradient(axis, n) * gradient(axis, n);
      const double force = std::sqrt(squared),
                   allowed = model.options.solver.force_tolerance * largest + rounding[n];
      const double imbalance = force > 0 ? force / allowed : 0;
      if (worst.body >= 0 && !(imbalance > worst.imbalance)) continue;
      worst = {largest > 0 ? force / largest : 0, imbalance, b};
    }
  }
  return worst;
}

bool StepProblem::hold_at_target(const Matrix3X& q) {
  if (target.targets.empty() || target_progress(q) < target_reached) return false;
  target.targets.clear();
  objective.set_free(FreeCoordinates(model.chart.free_unknowns(!held)));
  return true;
}

bool StepProblem::pull_to_target(const Matrix3X& q) {
  if (target.targets.empty()) return false;
  const double progress = target_progress(q);
  if (progress < target_near && target.stiffness < largest_target_growth * target_stiffness())
    target.stiffness *= progress < target_far ? 10 : 2;
  else
    target.update_multipliers(q);
  return true;
}

}  // namespace apart
