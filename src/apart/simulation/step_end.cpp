#include <apart/core/error.hpp>
#include <apart/simulation/step_end.hpp>

namespace apart {

namespace {

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

/// Whether pressure or attachments act on vertices.
bool is_pulled(const StepProblem& p) {
  return p.terms.pressure.term_count() > 0 || p.terms.springs.term_count() > 0;
}

double gravity_energy(const StepProblem& p, const Matrix3X& q) {
  return -(q * p.model.mass).cwiseProduct(p.terms.gravity).sum();
}

}  // namespace

StepEnd::StepEnd(StepProblem& problem, const Matrix3X& q) : problem_(problem) {
  problem_.objective.prepare(q);
  preparations_ = problem_.objective.preparations();
  if (!problem_.terms.team.is_alone()) holding_ = find_holding_forces();
}

const StepProblem& StepEnd::problem() const {
  ensure(problem_.objective.preparations() == preparations_, "StepEnd: another step has begun");
  return problem_;
}

Matrix3X StepEnd::friction_forces() const {
  Matrix3X g = Matrix3X::Zero(3, vertices().cols());
  if (problem().terms.friction.term_count() == 0) return g;
  problem().terms.friction.add_gradient(vertices(), g);
  return g / -problem().time_step.contact_scale;
}

Matrix3X StepEnd::find_holding_forces() const {
  const TimeStep& step = problem().time_step;
  return problem().objective.gradient(~Roles{Role::contact, Role::friction, Role::target}) / step.scale +
         problem().objective.gradient({Role::contact, Role::friction}) / step.contact_scale;
}

std::vector<ContactForce> StepEnd::contact_forces() const {
  const BarrierContact& contact = problem().terms.contact;
  std::vector<ContactForce> result(std::size_t(contact.term_count()));
  for (Index i = 0; i < contact.term_count(); ++i) {
    const BarrierContact::NormalForce force = contact.normal_force(i, vertices());
    ContactForce& c = result[std::size_t(i)];
    c.bodies = contact.bodies_of(i);
    for (int k = 0; k < force.points.size; ++k)
      c.points[std::size_t(k)] = problem().model.surface_point[std::size_t(force.points.ids[std::size_t(k)])];
    c.weights = force.weights;
    c.direction = force.direction;
    c.magnitude = force.magnitude / problem().time_step.contact_scale;
    c.distance = force.distance;
  }
  return result;
}

Matrix3X StepEnd::contact_acceleration() const {
  const Matrix3X g = problem().objective.gradient({Role::contact, Role::friction});
  return accelerations(problem().model, nodes(), g / -problem().time_step.contact_scale,
                       problem().scripted.held());
}

void StepEnd::report(const Matrix3X& velocity, StepReport& report) const {
  const StepTerms& terms = problem().terms;
  const TimeStep& step = problem().time_step;
  report.contacts = terms.contact.term_count();
  report.min_distance = terms.contact.active_set(vertices()).min_distance;
  report.gap_share = terms.contact.mean_gap_share(vertices());
  report.barrier_stiffness = terms.contact.stiffness();
  report.contact_energy = terms.contact.value(vertices()) / step.contact_scale;
  report.min_volume_ratio = terms.team.min(terms.elastic.smallest_volume_ratio(nodes()));
  Strains strains = terms.elastic.largest_strains(nodes());
  strains.stretch = terms.team.max(strains.stretch);
  strains.compression = terms.team.max(strains.compression);
  report.max_strain = strains.largest();
  report.max_stretch = strains.stretch;
  report.max_compression = strains.compression;
  report.kinetic_energy = kinetic_energy(problem(), velocity);
  report.elastic_energy = problem().objective.value({Role::elastic}) / step.scale;
  report.gravity_energy = gravity_energy(problem(), nodes());
  report.joint_error = problem().joints.largest_error(nodes());
}

EnergyBalance::EnergyBalance(StepProblem& p, const State& state) : start_(state.nodes), x_(p.terms.start) {
  p.terms.elastic.prepare(start_);
  energy_ = kinetic_energy(p, state.velocity) +
            p.terms.team.sum(p.terms.elastic.value(start_)) / p.time_step.scale +
            p.terms.contact.value(x_) / p.time_step.contact_scale;
  gravity_ = gravity_energy(p, start_);
  if (is_pulled(p)) pull_ = pull(p, x_);
  if (p.terms.curved_pressure.term_count() > 0) pull_of_nodes_ = pull_of_nodes(p, start_);
}

void EnergyBalance::complete(const StepEnd& end, StepReport& report) const {
  const StepProblem& p = end.problem();
  if (!p.time_step.has_inertia) return;
  // Rules that average forces do work with the mean of both ends, the others with that of the end.
  const bool mean = p.model.options.integrator.averages_forces();
  report.work = gravity_ - report.gravity_energy - p.terms.loads.value(end.nodes()) / p.time_step.scale +
                p.joints.work(end.nodes());
  if (p.terms.drag.term_count() > 0 || is_pulled(p)) {
    const Matrix3X& x = end.vertices();
    Matrix3X forces = Matrix3X::Zero(3, x.cols());
    p.terms.drag.add_gradient(x, forces);
    if (is_pulled(p)) forces += mean ? Matrix3X(0.5 * (pull_ + pull(p, x))) : pull(p, x);
    report.work -= forces.cwiseProduct(x - x_).sum() / p.time_step.scale;
  }
  if (p.terms.curved_pressure.term_count() > 0) {
    const Matrix3X at_end = pull_of_nodes(p, end.nodes());
    const Matrix3X on_nodes = mean ? Matrix3X(0.5 * (pull_of_nodes_ + at_end)) : at_end;
    report.work -= on_nodes.cwiseProduct(end.nodes() - start_).sum() / p.time_step.scale;
  }
  if (p.scripted.held().any()) {
    const Matrix3X moved = p.scripted.held().select(end.nodes() - start_, Matrix3X::Zero(3, start_.cols()));
    if (!moved.isZero(0)) report.work += end.holding_forces().cwiseProduct(moved).sum();
  }
  report.energy_gain =
      report.kinetic_energy + report.elastic_energy + report.contact_energy - energy_ - report.work;
}

Matrix3X EnergyBalance::pull(const StepProblem& p, const Matrix3X& x) const {
  Matrix3X g = Matrix3X::Zero(3, x.cols());
  p.terms.pressure.add_gradient(x, g);
  p.terms.springs.add_gradient(x, g);
  return g;
}

Matrix3X EnergyBalance::pull_of_nodes(const StepProblem& p, const Matrix3X& q) const {
  Matrix3X g = Matrix3X::Zero(3, q.cols());
  p.terms.curved_pressure.add_gradient(q, g);
  return g;
}

}  // namespace apart
