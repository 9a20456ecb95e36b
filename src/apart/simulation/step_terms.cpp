#include <apart/simulation/step_terms.hpp>

#include <apart/bodies/mass_distribution.hpp>
#include <apart/core/error.hpp>
#include <apart/math/principal_axes.hpp>
#include <apart/simulation/body_motion.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// Weight of the proximal term in quasi-static steps: it determines the motion where no force does, and is too
// small to matter where one does.
constexpr double proximal_weight = 1e-8;

/// The model's surface, without contact of absent bodies.
CollisionSurface surface_of(const Model& model, const std::vector<char>& present) {
  CollisionSurface surface = model.surface;
  for (int b = 0; b < int(present.size()); ++b)
    if (!present[std::size_t(b)]) surface.pairs.disable(b);
  return surface;
}

struct PressurePatches {
  std::vector<SurfacePressure::Patch> flat;
  std::vector<CurvedPressure::Patch> curved;
};

PressurePatches pressure_patches(const Model& model, const std::vector<char>& present, double time) {
  PressurePatches patches;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (std::size_t i = 0; i < model.bodies[b].pressures.size(); ++i) {
      const Pressure& p = model.bodies[b].pressures[i];
      if (!present[b] || !p.when.covers(time)) continue;
      SurfacePressure::Patch patch{model.acting[b].pressures[i], p.pressure(time)};
      if (!std::isfinite(patch.pressure))
        throw SolverError(
            fmt::format("the pressure on '{}' is not a finite number at t = {:.6g} s; correct its formula or "
                        "end the run before that time",
                        model.bodies[b].name, time));
      for (int& corner : patch.faces.reshaped()) corner = model.vertex_of(int(b), corner);
      patch.segments = model.acting[b].segment_pressures[i];
      for (int& end : patch.segments.reshaped()) end = model.vertex_of(int(b), end);
      if (model.bodies[b].planar) patch.depth = model.bodies[b].planar->depth;
      patches.curved.push_back({&model.acting[b].curved_pressures[i], model.first_node[b], patch.pressure});
      patches.flat.push_back(std::move(patch));
    }
  return patches;
}

/// What resists the air. `x`, `v`: collision vertices at the start of the step [m, m/s].
std::vector<AirDrag::Patch> drag_patches(const Model& model, const std::vector<char>& present, double time,
                                         const Matrix3X& x, const Matrix3X& v) {
  std::vector<AirDrag::Patch> patches;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (std::size_t i = 0; i < model.bodies[b].winds.size(); ++i) {
      const Wind& wind = model.bodies[b].winds[i];
      const WindwardPart& windward = model.acting[b].windwards[i];
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
              fmt::format("the wind on '{}' is not a finite number at t = {:.6g} s; correct its formula or "
                          "end the run before that time",
                          body.name, time));
        patch.resistance = resistance(patch.points.ids, Vector3(speed - patch.air));
        patches.push_back(patch);
      };
      // Behind a closed surface is the inside of the body, where there is no air.
      const bool closed = body.encloses_volume;
      for (Index f = 0; f < windward.facets.cols(); ++f)
        add(std::span(windward.facets.col(f).data(), 3), [&](const auto& at, const Vector3& u) {
          return triangle_resistance(coefficients, {x.col(at[0]), x.col(at[1]), x.col(at[2])}, u, closed);
        });
      for (Index e = 0; e < windward.segments.cols(); ++e)
        add(std::span(windward.segments.col(e).data(), 2), [&](const auto& at, const Vector3& u) {
          return segment_resistance(coefficients, x.col(at[0]), x.col(at[1]), 2 * body.radius, u);
        });
      for (const Index p : windward.points)
        add(std::array{int(p)},
            [&](const auto&, const Vector3& u) { return ball_resistance(coefficients, body.radius, u); });
    }
  return patches;
}

/// Accelerations α × r of the nodes of a body by a torque [N m].
Matrix3X turning(const Body& body, const Matrix3X& q, const Vector3& torque) {
  const VectorX mass = body.mass * VectorX::Ones(body.node_count());
  const Vector3 centre = q * mass / mass.sum();
  const Matrix3X r = q.colwise() - centre;
  const Matrix3 inertia = inertia_of(r * body.mass * r.transpose());
  // A straight rod has no inertia about itself, and cannot be turned about it.
  auto [moments, axes] = principal_axes(inertia);
  const double least = 1e-12 * moments[2];
  for (double& m : moments) m = m > least ? 1 / m : 0;
  const Vector3 alpha = axes * moments.asDiagonal() * axes.transpose() * torque;
  Matrix3X result(3, q.cols());
  for (Index i = 0; i < q.cols(); ++i) result.col(i) = alpha.cross(Vector3(r.col(i)));
  return result;
}

}  // namespace

Matrix3X load_forces(const Model& model, const Matrix3X& q, double time) {
  Matrix3X forces = Matrix3X::Zero(3, model.node_count());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if ((body.loads.empty() && body.torques.empty()) || !body.presence.covers(time)) continue;
    Matrix3X on_points = Matrix3X::Zero(3, body.mesh.point_count());
    Matrix3X acceleration = Matrix3X::Zero(3, body.node_count());
    for (std::size_t k = 0; k < body.loads.size(); ++k) {
      const Load& load = body.loads[k];
      const LoadedPart& part = model.acting[b].loads[k];
      if (!load.when.covers(time)) continue;
      for (std::size_t i = 0; i < part.points.size(); ++i) {
        const Index p = part.points[i];
        if (load.kind == Load::Kind::acceleration)
          acceleration.col(p) += load.field(body.nodes.col(p), time);
        else
          on_points.col(p) += part.weights[Index(i)] * load.field(body.mesh.points.col(p), time);
      }
      for (const LoadedPart::Sample& sample : part.samples) {
        const Vector3 traction = load.field(sample.place, time);
        for (const Influence& i : sample.area) on_points.col(i.node) += i.weight * traction;  // nodes first
      }
    }
    for (const Torque& t : body.torques)
      if (t.when.covers(time))
        acceleration += turning(body, q.middleCols(model.first_node[b], body.node_count()), t.torque(time));
    if (!on_points.allFinite() || !acceleration.allFinite())
      throw SolverError(
          fmt::format("a load on '{}' is not a finite number at t = {:.6g} s; correct its formula or end the "
                      "run before that time",
                      body.name, time));
    forces.middleCols(model.first_node[b], body.node_count()) =
        body.point_map.pull_back(on_points) + acceleration * body.mass;
  }
  return forces;
}

double smallest_dhat(const PairTable& pairs) {
  const double d = pairs.min_dhat();
  return std::isfinite(d) ? d : 1e-3;
}

StepTerms::StepTerms(const Model& m, const std::vector<char>& bodies_present, Timings& timings, const Team& t,
                     const OwnNodes& own)
    : model(m),
      present(bodies_present),
      team(t),
      surface(surface_of(m, present)),
      candidates(
          make_broad_phase(m.options.solver.broad_phase, surface), surface,
          {.reuse = m.options.solver.candidate_reuse, .culling = m.options.solver.ccd_culling, .team = &team},
          &timings),
      inertia(m.mass),
      contact(surface, candidates, m.options.solver.ccd),
      friction(surface) {
  gravity = gravity_of_nodes(m, present);
  for (std::size_t b = 0; b < m.bodies.size(); ++b) {
    const ElasticParts::Counts& first = first_element.emplace_back(elastic.term_counts());
    if (!present[b]) continue;
    elastic.add(m.bodies[b], m.first_node[b], Guard::inversion, own);
    for (std::size_t k = 0; k < first.size(); ++k) {
      const ElasticPotential& potential = *elastic.potentials()[k];
      damping.add_stiffness(potential, first[k], potential.term_count() - first[k],
                            m.bodies[b].damping.stiffness);
    }
    if (team.leads()) damping.add_mass(m.bodies[b].mass, m.first_node[b], m.bodies[b].damping.mass);
  }
  gravity_force = gravity * m.mass;
}

std::vector<Term> StepTerms::list() {
  using enum PointKind;
  const bool divided = !team.is_alone();
  std::vector<Term> result = {{&inertia, Role::inertia, nodes}};
  for (ElasticPotential* p : elastic.potentials()) result.push_back({p, Role::elastic, nodes, divided});
  result.insert(result.end(), {{&loads, Role::load, nodes},
                               {&damping, Role::damping, nodes, divided},
                               {&target, Role::target, nodes},
                               {&contact, Role::contact, vertices},
                               {&friction, Role::friction, vertices},
                               {&pressure, Role::load, vertices},
                               {&curved_pressure, Role::load, nodes},
                               {&springs, Role::attachment, vertices},
                               {&joints, Role::joint, nodes},
                               {&drag, Role::load, vertices}});
  return result;
}

void StepTerms::begin(const State& state, const TimeStep& step, double end) {
  elastic.set_scale(step.scale);
  // Each step begins with the κ of the scene: what it does follows from its start alone.
  elastic.membranes.reset_stiffness();
  elastic.refine(state.nodes);
  if (step.has_inertia) {
    inertia.set_target(step.predicted + step.scale * gravity);
  } else {
    inertia.set_weight(proximal_weight);
    inertia.set_target(state.nodes);
  }
  start = model.surface_map.positions(state.nodes);
  set_loads(state, step, end);
  if (!damping.empty()) {
    elastic.prepare(state.nodes);
    damping.set_lag(state.nodes);
    damping.set_step(step.scale, step.rate, step.rate_origin);
  }
  friction.set_start(start);
}

void StepTerms::set_loads(const State& state, const TimeStep& step, double end) {
  Matrix3X forces = load_forces(model, state.nodes, end);
  if (!step.has_inertia) forces += gravity_force;
  loads.set(step.scale, std::move(forces), state.nodes);

  PressurePatches patches = pressure_patches(model, present, end);
  pressure.set(step.scale, std::move(patches.flat), start);
  curved_pressure.set(step.scale, patches.curved, state.nodes);

  std::vector<Springs::Spring> attached;
  for (std::size_t i = 0; i < model.attachments.size(); ++i) {
    const Attachment& a = model.attachments[i];
    if (!present[std::size_t(a.body)] || !present[std::size_t(a.other)] || !a.when.covers(end)) continue;
    for (const AttachedSpring& spring : model.attached[i]) {
      Springs::Spring s{{}, spring.weights, a.stiffness, a.rest_length(spring, end)};
      s.points.ids[std::size_t(s.points.size++)] = spring.point;
      for (const Index v : spring.others)
        if (v >= 0) s.points.ids[std::size_t(s.points.size++)] = v;
      attached.push_back(s);
    }
  }
  springs.set(step.scale, std::move(attached));

  if (std::ranges::all_of(model.bodies, [](const Body& body) { return body.winds.empty(); })) return;
  const LinearMap& map = model.surface_map;
  const bool moves = step.has_inertia;  // a quasi-static step knows wind, but no speed of its own
  drag.set(step.scale, moves ? step.rate : 0.0, map.positions(step.rate_origin),
           drag_patches(model, present, end, start,
                        moves ? map.push_forward(state.velocity) : Matrix3X::Zero(3, start.cols())));
}

Index StepTerms::membrane_part(int body) const {
  const auto has_part = [&](std::size_t b) { return present[b] && model.bodies[b].shell; };
  if (!has_part(std::size_t(body))) return -1;
  Index part = 0;
  for (std::size_t b = 0; b < std::size_t(body); ++b) part += has_part(b);
  return part;
}

}  // namespace apart
