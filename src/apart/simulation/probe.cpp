#include <apart/collision/gap_meter.hpp>
#include <apart/core/error.hpp>
#include <apart/simulation/probe.hpp>
#include <apart/simulation/step_end.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <iterator>
#include <numbers>

namespace apart {

namespace {

bool among(const std::vector<int>& bodies, int body) {
  return std::find(bodies.begin(), bodies.end(), body) != bodies.end();
}

/// Over the selected points, or nodes, of bodies that are present; `first`: of each body.
struct Sum {
  Sum(const StepProblem& p, const Matrix3X& values, const std::vector<Index>& chosen,
      const std::vector<Index>& first) {
    for (const Index i : chosen) {
      const auto body = std::upper_bound(first.begin(), first.end(), i) - first.begin() - 1;
      if (!p.present[std::size_t(body)]) continue;
      total += values.col(i);
      ++count;
    }
  }
  Vector3 mean() const { return total / double(count); }  ///< not a number if none is present
  Vector3 total = Vector3::Zero();
  Index count = 0;
};

void append(std::vector<double>& values, const Vector3& v) {
  values.insert(values.end(), v.data(), v.data() + 3);
}

std::vector<double> momentum(const Probe& probe, const StepProblem& problem, const State& state) {
  const Model& m = problem.model;
  Vector3 linear = Vector3::Zero(), angular = Vector3::Zero();
  for (const int b : probe.bodies) {
    const Body& body = m.bodies[std::size_t(b)];
    if (!body.is_dynamic() || !problem.present[std::size_t(b)] || !problem.time_step.has_inertia) continue;
    const Index first = m.first_node[std::size_t(b)], n = body.node_count();
    const Matrix3X p = state.velocity.middleCols(first, n) * body.mass;  // of each node
    for (Index i = 0; i < n; ++i) {
      linear += p.col(i);
      angular += Vector3(state.nodes.col(first + i)).cross(Vector3(p.col(i)));
      if (body.offset_moments.cols() > 0)
        angular += Vector3(body.offset_moments.col(i)).cross(Vector3(state.velocity.col(first + i)));
    }
  }
  std::vector<double> values;
  append(values, linear);
  append(values, angular);
  return values;
}

/// Kinetic energy of a body's nodes, and the part of it that is not the motion of its centre of mass.
struct KineticEnergy {
  double total = 0, spin = 0;
};

KineticEnergy kinetic_energy(const Eigen::SparseMatrix<double>& mass, const Matrix3X& velocity) {
  const auto half_square = [&](const Matrix3X& v) { return 0.5 * (v * mass).cwiseProduct(v).sum(); };
  // Not as the difference of two energies: rounding would hide the spin of a body that flies fast.
  const Matrix3X ones = Matrix3X::Ones(3, velocity.cols());
  const Vector3 total = (ones * mass).rowwise().sum(), momentum = (velocity * mass).rowwise().sum();
  return {half_square(velocity), half_square(velocity.colwise() - Vector3(momentum / total[0]))};
}

std::vector<double> contact_forces(const Probe& probe, const StepEnd& end) {
  const StepProblem& p = end.problem();
  const Matrix3X& x = end.vertices();
  Vector3 normal = Vector3::Zero(), friction = Vector3::Zero();
  double pressing = 0;
  // +1: the first primitive is of `bodies` and the second of `others`; −1: the other way round.
  const auto side = [&](int first, int second) {
    return among(probe.bodies, first) && among(probe.others, second)   ? 1
           : among(probe.bodies, second) && among(probe.others, first) ? -1
                                                                       : 0;
  };
  for (Index i = 0; i < p.terms.contact.term_count(); ++i) {
    const auto [first, second] = p.terms.contact.bodies_of(i);
    const int sign = side(first, second);
    if (sign == 0) continue;
    const BarrierContact::NormalForce force = p.terms.contact.normal_force(i, x);
    normal += sign * force.magnitude * force.direction;
    pressing += force.magnitude;
  }
  for (Index i = 0; i < p.terms.friction.term_count(); ++i) {
    const auto [first, second] = p.terms.friction.bodies_of(i);
    if (const int sign = side(first, second)) friction += sign * p.terms.friction.force(i, x);
  }
  std::vector<double> values;
  append(values, normal / p.time_step.contact_scale);
  append(values, friction / p.time_step.contact_scale);
  values.push_back(pressing / p.time_step.contact_scale);
  return values;
}

/// A vertex bears the normal forces on it on a third of the triangles around it, as they are now; that of a
/// planar body on half of its segments.
std::vector<double> contact_pressure(const Probe& probe, const StepEnd& end) {
  const StepProblem& p = end.problem();
  const Matrix3X& x = end.vertices();
  Matrix3X force = Matrix3X::Zero(3, x.cols());
  for (Index i = 0; i < p.terms.contact.term_count(); ++i) {
    const BarrierContact::NormalForce f = p.terms.contact.normal_force(i, x);
    for (int k = 0; k < f.points.size; ++k)
      force.col(f.points.ids[std::size_t(k)]) += f.weights[k] * f.magnitude * f.direction;
  }
  const CollisionSurface& surface = p.model.surface;
  VectorX area = VectorX::Zero(x.cols());
  for (const auto& face : surface.faces.colwise()) {
    const Vector3 a = x.col(face[0]), b = x.col(face[1]), c = x.col(face[2]);
    for (const int v : face) area[v] += (b - a).cross(c - a).norm() / 6;
  }
  for (const Index e : surface.free_edges) {  // of planar bodies: half of its length times depth
    const Index a = surface.edges(0, e), b = surface.edges(1, e);
    if (const auto& planar = p.model.bodies[std::size_t(surface.vertex_body[std::size_t(a)])].planar)
      for (const Index v : {a, b}) area[v] += 0.5 * (x.col(b) - x.col(a)).norm() * planar->depth;
  }
  double largest = 0, total = 0, touched = 0, strongest = 0;
  const auto counts = [&](Index v) {
    const auto body = std::size_t(surface.vertex_body[std::size_t(v)]);
    return area[v] > 0 && p.present[body] && among(probe.bodies, int(body));
  };
  for (Index v = 0; v < x.cols(); ++v)
    if (counts(v)) strongest = std::max(strongest, force.col(v).norm());
  for (Index v = 0; v < x.cols(); ++v) {
    // What is left by rounding of forces that cancel, or of closest points beside a vertex, is no touch.
    if (!counts(v) || !(force.col(v).norm() > 1e-6 * strongest)) continue;
    const double normal = force.col(v).norm() / p.time_step.contact_scale;
    largest = std::max(largest, normal / area[v]);
    total += normal;
    touched += area[v];
  }
  return {largest, touched > 0 ? total / touched : 0, touched};
}

constexpr std::array<std::string_view, 3> vector_columns = {"x", "y", "z"};
constexpr std::array<std::string_view, 6> momentum_columns = {"x",         "y",         "z",
                                                              "angular_x", "angular_y", "angular_z"};
constexpr std::array<std::string_view, 4> energy_columns = {"kinetic", "elastic", "gravity", "spin"};
constexpr std::array<std::string_view, 7> contact_columns = {
    "normal_x", "normal_y", "normal_z", "friction_x", "friction_y", "friction_z", "pressing"};
constexpr std::array<std::string_view, 1> gap_columns = {"gap"};
constexpr std::array<std::string_view, 4> strain_columns = {"largest", "volume_ratio", "stretch",
                                                            "compression"};
constexpr std::array<std::string_view, 3> pressure_columns = {"largest", "mean", "area"};
constexpr std::array<std::string_view, 9> joint_columns = {
    "force_x", "force_y", "force_z", "torque_x", "torque_y", "torque_z", "position", "angle", "error"};

constexpr std::array<std::string_view, 3> metres = {"m", "m", "m"}, speeds = {"m/s", "m/s", "m/s"},
                                          newtons = {"N", "N", "N"};
constexpr std::array<std::string_view, 4> joules = {"J", "J", "J", "J"};
constexpr std::array<std::string_view, 6> momentum_units = {"kg m/s",   "kg m/s",   "kg m/s",
                                                            "kg m^2/s", "kg m^2/s", "kg m^2/s"};
constexpr std::array<std::string_view, 7> contact_units = {"N", "N", "N", "N", "N", "N", "N"};
constexpr std::array<std::string_view, 1> gap_units = {"m"};
constexpr std::array<std::string_view, 4> strain_units = {"", "", "", ""};
constexpr std::array<std::string_view, 3> pressure_units = {"Pa", "Pa", "m^2"};
constexpr std::array<std::string_view, 9> joint_units = {"N", "N", "N", "N m", "N m", "N m", "m", "deg", ""};

}  // namespace

std::span<const std::string_view> units_of(Probe::Kind kind) {
  switch (kind) {
    case Probe::Kind::momentum:
      return momentum_units;
    case Probe::Kind::energy:
      return joules;
    case Probe::Kind::contact:
      return contact_units;
    case Probe::Kind::gap:
      return gap_units;
    case Probe::Kind::strain:
      return strain_units;
    case Probe::Kind::pressure:
      return pressure_units;
    case Probe::Kind::joint:
      return joint_units;
    case Probe::Kind::velocity:
      return speeds;
    case Probe::Kind::reaction:
      return newtons;
    case Probe::Kind::position:
    case Probe::Kind::displacement:
      break;
  }
  return metres;
}

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
    case Probe::Kind::pressure:
      return pressure_columns;
    case Probe::Kind::joint:
      return joint_columns;
    case Probe::Kind::position:
    case Probe::Kind::displacement:
    case Probe::Kind::velocity:
    case Probe::Kind::reaction:
      break;
  }
  return vector_columns;
}

/// The elements of one body, whatever else is in the scene.
struct ProbeMeter::Elements {
  Elements(const Model& model, int which) : body(which), first_node(model.first_node[std::size_t(which)]) {
    const Body& b = model.bodies[std::size_t(which)];
    node_count = b.node_count();
    elastic.add(b, 0);
  }

  void prepare(const StepProblem& p, const State& state) {
    q = state.nodes.middleCols(first_node, node_count);
    // Strain limits as stiff as they were in the step. Of an absent body, as stiff as at the start of a step,
    // whatever was before.
    elastic.membranes.reset_stiffness();
    if (const Index part = p.terms.membrane_part(body); part >= 0)
      elastic.membranes.set_limit_stiffness(VectorX::Constant(1, state.limit_stiffness[part]));
    elastic.prepare(q);
  }

  int body;
  Index first_node, node_count;
  Matrix3X q;
  ElasticParts elastic;
};

ProbeMeter::ProbeMeter(Probe probe) : probe_(std::move(probe)) {}
ProbeMeter::ProbeMeter(ProbeMeter&&) noexcept = default;
ProbeMeter::~ProbeMeter() = default;

const std::vector<Index>& ProbeMeter::measured(const Model& model) {
  if (measured_) return *measured_;
  ensure(probe_.points.size() == probe_.bodies.size(), "Probe: a set of points for each body");
  measured_.emplace();
  for (std::size_t i = 0; i < probe_.bodies.size(); ++i) {
    const auto b = std::size_t(probe_.bodies[i]);
    const Body& body = model.bodies[b];
    const bool of_nodes = probe_.kind == Probe::Kind::reaction;
    const Index first = of_nodes ? model.first_node[b] : model.first_point[b];
    for (const Index p : of_nodes ? nodes_of(body, probe_.points[i]) : body.sets[probe_.points[i]])
      measured_->push_back(first + p);
  }
  return *measured_;
}

std::vector<double> ProbeMeter::measure(const StepEnd& end, const State& state) {
  const StepProblem& p = end.problem();
  const Model& m = p.model;
  if ((probe_.kind == Probe::Kind::energy || probe_.kind == Probe::Kind::strain) && elements_.empty())
    for (const int b : probe_.bodies)
      if (m.bodies[std::size_t(b)].is_dynamic()) elements_.push_back(std::make_unique<Elements>(m, b));
  for (const auto& elements : elements_) elements->prepare(p, state);
  std::vector<double> values;
  switch (probe_.kind) {
    case Probe::Kind::position:
      append(values, Sum(p, m.point_map.positions(state.nodes), measured(m), m.first_point).mean());
      break;
    case Probe::Kind::displacement:
      append(
          values,
          Sum(p, m.point_map.push_forward(state.nodes - m.initial_nodes), measured(m), m.first_point).mean());
      break;
    case Probe::Kind::velocity:
      append(values, Sum(p, m.point_map.push_forward(state.velocity), measured(m), m.first_point).mean());
      break;
    case Probe::Kind::momentum:
      return momentum(probe_, p, state);
    case Probe::Kind::energy: {
      double elastic = 0, gravity = 0;
      KineticEnergy kinetic;
      for (const auto& e : elements_) {
        if (!p.present[std::size_t(e->body)]) continue;
        const Body& body = m.bodies[std::size_t(e->body)];
        const Matrix3X v = state.velocity.middleCols(e->first_node, e->node_count);
        if (p.time_step.has_inertia) {
          const KineticEnergy own = kinetic_energy(body.mass, v);
          kinetic.total += own.total;
          kinetic.spin += own.spin;
        }
        gravity -=
            (e->q * body.mass).cwiseProduct(p.terms.gravity.middleCols(e->first_node, e->node_count)).sum();
        elastic += e->elastic.value(e->q);
      }
      return {kinetic.total, elastic, gravity, kinetic.spin};
    }
    case Probe::Kind::reaction:
      append(values, Sum(p, end.holding_forces(), measured(m), m.first_node).total);
      break;
    case Probe::Kind::contact:
      return contact_forces(probe_, end);
    case Probe::Kind::pressure:
      return contact_pressure(probe_, end);
    case Probe::Kind::gap: {
      std::vector<int> bodies, others;
      const auto is_present = [&](int b) { return p.present[std::size_t(b)] != 0; };
      std::copy_if(probe_.bodies.begin(), probe_.bodies.end(), std::back_inserter(bodies), is_present);
      std::copy_if(probe_.others.begin(), probe_.others.end(), std::back_inserter(others), is_present);
      if (!gap_ || p.present != gap_present_) {  // bodies appeared or disappeared
        gap_present_ = p.present;
        gap_ = std::make_unique<GapMeter>(m.surface, bodies, others);
      }
      return {gap_->measure(end.vertices())};
    }
    case Probe::Kind::strain: {
      Strains largest;
      double ratio = 1;
      for (const auto& e : elements_) {
        if (!p.present[std::size_t(e->body)]) continue;
        largest.include(e->elastic.largest_strains(e->q));
        ratio = std::min(ratio, e->elastic.smallest_volume_ratio(e->q));
      }
      return {largest.largest(), ratio, largest.stretch, largest.compression};
    }
    case Probe::Kind::joint: {
      const JointMeasure joint = p.joints.measure(probe_.joint, end.nodes());
      append(values, joint.force);
      append(values, joint.torque);
      values.insert(values.end(), {joint.along, joint.about * (180 / std::numbers::pi), joint.error});
      break;
    }
  }
  return values;
}

}  // namespace apart
