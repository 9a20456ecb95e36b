#include <apart/simulation/probe.hpp>
#include <apart/simulation/step_problem.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace apart {

namespace {

bool among(const std::vector<int>& bodies, int body) {
  return std::find(bodies.begin(), bodies.end(), body) != bodies.end();
}

Vector3 mean(const Matrix3X& values, const std::vector<Index>& chosen) {
  Vector3 sum = Vector3::Zero();
  for (const Index p : chosen) sum += values.col(p);
  return sum / double(chosen.size());
}

void append(std::vector<double>& values, const Vector3& v) {
  values.insert(values.end(), v.data(), v.data() + 3);
}

/// The elements of one body, whatever else is in the scene.
struct ElasticState {
  double energy = 0;        ///< [J]
  double strain = 0;        ///< largest |σ − 1|
  double volume_ratio = 1;  ///< smallest V/V₀
};
ElasticState elastic_state(const Body& body, const Matrix3X& q) {
  ElasticState result;
  if (body.elastic) {
    ContinuumElasticity elasticity;
    elasticity.add(*body.elastic, 0);
    elasticity.prepare(q);
    result.energy += elasticity.value(q);
    for (Index c = 0; c < elasticity.term_count(); ++c) {
      const Vector3 stretches = elasticity.stretches(c);
      result.strain = std::max(result.strain, (stretches.array() - 1).abs().maxCoeff());
      result.volume_ratio = std::min(result.volume_ratio, stretches.prod());
    }
  }
  if (body.shell) {
    MembraneElasticity membranes;
    HingeBending bending;
    membranes.add(*body.shell, 0);
    bending.add(*body.shell, 0);
    membranes.prepare(q);
    bending.prepare(q);
    result.energy += membranes.value(q) + bending.value(q);
    for (Index c = 0; c < membranes.term_count(); ++c)
      result.strain = std::max(result.strain, (membranes.stretches(c).array() - 1).abs().maxCoeff());
  }
  if (body.rods) {
    RodElasticity rods;
    rods.add(*body.rods, 0);
    result.energy += rods.value(q);
    result.strain = std::max(result.strain, rods.largest_strain(q));
  }
  return result;
}

std::vector<double> momentum(const Probe& probe, const Model& m, const State& state) {
  Vector3 linear = Vector3::Zero(), angular = Vector3::Zero();
  for (const int b : probe.bodies) {
    const Body& body = m.bodies[std::size_t(b)];
    if (!body.is_dynamic()) continue;
    const Index first = m.first_node[std::size_t(b)], n = body.node_count();
    const Matrix3X p = state.velocity.middleCols(first, n) * body.mass;  // of each node
    for (Index i = 0; i < n; ++i) {
      linear += p.col(i);
      angular += Vector3(state.nodes.col(first + i)).cross(Vector3(p.col(i)));
    }
  }
  std::vector<double> values;
  append(values, linear);
  append(values, angular);
  return values;
}

std::vector<double> energy(const Probe& probe, const StepProblem& p, const State& state) {
  const Model& m = p.model;
  double kinetic = 0, elastic = 0, gravity = 0;
  for (const int b : probe.bodies) {
    const auto i = std::size_t(b);
    const Body& body = m.bodies[i];
    if (!body.is_dynamic()) continue;
    const Index first = m.first_node[i], n = body.node_count();
    const Matrix3X v = state.velocity.middleCols(first, n), q = state.nodes.middleCols(first, n);
    kinetic += 0.5 * (v * body.mass).cwiseProduct(v).sum();
    gravity -= (q * body.mass).cwiseProduct(p.gravity.middleCols(first, n)).sum();
    elastic += elastic_state(body, q).energy;
  }
  return {kinetic, elastic, gravity};
}

/// The force [N] that every node needs besides all forces of the step, to move as it does: zero where nothing
/// holds it.
Matrix3X holding_forces(const StepProblem& p) {
  const Matrix3X& x = p.objective.vertices();
  const Matrix3X& q = p.objective.coordinates();
  Matrix3X touching = Matrix3X::Zero(3, x.cols());
  p.contact.add_gradient(x, touching);
  p.friction.add_gradient(x, touching);
  const Matrix3X contact = p.model.surface_map.pull_back(q, touching);
  Matrix3X aim = Matrix3X::Zero(3, q.cols());
  p.target.add_gradient(q, aim);
  return (p.objective.gradient() - contact - aim) / p.time_step.scale + contact / p.time_step.contact_scale;
}

std::vector<double> contact_forces(const Probe& probe, const StepProblem& p) {
  const Matrix3X& x = p.objective.vertices();
  Vector3 normal = Vector3::Zero(), friction = Vector3::Zero();
  double pressing = 0;
  // +1: the first primitive is of `bodies` and the second of `others`; −1: the other way round.
  const auto side = [&](int first, int second) {
    return among(probe.bodies, first) && among(probe.others, second)   ? 1
           : among(probe.bodies, second) && among(probe.others, first) ? -1
                                                                       : 0;
  };
  for (Index i = 0; i < p.contact.term_count(); ++i) {
    const auto [first, second] = p.contact.bodies_of(i);
    const int sign = side(first, second);
    if (sign == 0) continue;
    const BarrierContact::Press press = p.contact.press(i, x);
    normal += sign * press.magnitude * press.direction;
    pressing += press.magnitude;
  }
  for (Index i = 0; i < p.friction.term_count(); ++i) {
    const auto [first, second] = p.friction.bodies_of(i);
    if (const int sign = side(first, second)) friction += sign * p.friction.force(i, x);
  }
  std::vector<double> values;
  append(values, normal / p.time_step.contact_scale);
  append(values, friction / p.time_step.contact_scale);
  values.push_back(pressing / p.time_step.contact_scale);
  return values;
}

/// Smallest distance of two groups of bodies; what they share is not looked at.
double gap(const Probe& probe, const StepProblem& p) {
  const Matrix3X& x = p.objective.vertices();
  CollisionSurface surface = p.model.surface;
  PairTable none(surface.pairs.body_count());
  for (int a = 0; a < none.body_count(); ++a)
    for (int b = a; b < none.body_count(); ++b) {
      PairSettings settings = surface.pairs(a, b);
      settings.enabled = p.present[std::size_t(a)] && p.present[std::size_t(b)] &&
                         ((among(probe.bodies, a) && among(probe.others, b)) ||
                          (among(probe.bodies, b) && among(probe.others, a)));
      none.set(a, b, settings);
    }
  surface.pairs = none;
  double smallest = std::numeric_limits<double>::infinity();
  for (const HalfSpace& plane : surface.half_spaces)
    for (Index v = 0; v < x.cols(); ++v)
      if (v != plane.carrier && none(surface.vertex_body[v], plane.body).enabled)
        smallest =
            std::min(smallest, plane.distance(x, v) - none(surface.vertex_body[v], plane.body).thickness);
  const std::unique_ptr<BroadPhase> search = make_broad_phase(p.model.options.solver.broad_phase, surface);
  // Wider and wider, until what was found is nearer than anything that could have been missed.
  double largest_thickness = 0;
  for (int a = 0; a < none.body_count(); ++a)
    for (int b = a; b < none.body_count(); ++b)
      if (none(a, b).enabled) largest_thickness = std::max(largest_thickness, none(a, b).thickness);
  const Vector3 extent = x.rowwise().maxCoeff() - x.rowwise().minCoeff();
  for (double radius = std::max(p.surface.pairs.max_reach(), 1e-3 * p.model.size);; radius *= 4) {
    for (const Stencil& s : search->find(x, radius)) {
      const double distance = std::sqrt(squared_distance(s.kind, s.gather(x)));
      smallest = std::min(
          smallest, distance - surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]).thickness);
    }
    if (smallest <= radius - largest_thickness || radius > extent.norm()) return smallest;
  }
}

constexpr std::array<std::string_view, 3> vector_columns = {"x", "y", "z"};
constexpr std::array<std::string_view, 6> momentum_columns = {"x",         "y",         "z",
                                                              "angular_x", "angular_y", "angular_z"};
constexpr std::array<std::string_view, 3> energy_columns = {"kinetic", "elastic", "gravity"};
constexpr std::array<std::string_view, 7> contact_columns = {
    "normal_x", "normal_y", "normal_z", "friction_x", "friction_y", "friction_z", "pressing"};
constexpr std::array<std::string_view, 1> gap_columns = {"gap"};
constexpr std::array<std::string_view, 2> strain_columns = {"largest", "volume_ratio"};

}  // namespace

std::span<const std::string_view> columns_of(Probe::Kind kind) {
  switch (kind) {
    case Probe::Kind::momentum:
      return momentum_columns;
    case Probe::Kind::energy:
      return energy_columns;
    case Probe::Kind::contact:
      return contact_columns;
    case Probe::Kind::gap:
      return gap_columns;
    case Probe::Kind::strain:
      return strain_columns;
    case Probe::Kind::position:
    case Probe::Kind::velocity:
    case Probe::Kind::reaction:
      break;
  }
  return vector_columns;
}

std::vector<double> measure(const Probe& probe, const StepProblem& p, const State& state) {
  std::vector<double> values;
  switch (probe.kind) {
    case Probe::Kind::position:
      append(values, mean(p.model.point_map.positions(state.nodes), probe.points));
      break;
    case Probe::Kind::velocity:
      append(values, mean(p.model.point_map.push_forward(state.nodes, state.velocity), probe.points));
      break;
    case Probe::Kind::momentum:
      return momentum(probe, p.model, state);
    case Probe::Kind::energy:
      return energy(probe, p, state);
    case Probe::Kind::reaction:
      append(values, mean(holding_forces(p), probe.points) * double(probe.points.size()));
      break;
    case Probe::Kind::contact:
      return contact_forces(probe, p);
    case Probe::Kind::gap:
      return {gap(probe, p)};
    case Probe::Kind::strain: {
      double largest = 0, ratio = 1;
      for (const int b : probe.bodies) {
        const auto i = std::size_t(b);
        const Body& body = p.model.bodies[i];
        const ElasticState e =
            elastic_state(body, state.nodes.middleCols(p.model.first_node[i], body.node_count()));
        largest = std::max(largest, e.strain);
        ratio = std::min(ratio, e.volume_ratio);
      }
      return {largest, ratio};
    }
  }
  return values;
}

}  // namespace apart
