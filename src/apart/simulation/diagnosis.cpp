#include <apart/simulation/diagnosis.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

std::string closest_pair(const StepProblem& p, const Matrix3X& x) {
  const Model& model = p.model;
  const auto body_of = [&](Index vertex) { return model.bodies[p.terms.surface.vertex_body[vertex]].name; };
  double nearest = std::numeric_limits<double>::infinity();
  Index worst = -1;
  for (Index i = 0; i < p.terms.contact.term_count(); ++i) {
    const double d = p.terms.contact.normal_force(i, x).distance;
    if (d < nearest) {
      nearest = d;
      worst = i;
    }
  }
  if (worst < 0) return {};
  const ActiveSet& active = p.terms.contact.active_set(x);
  const BarrierContact::NormalForce force = p.terms.contact.normal_force(worst, x);
  const Index pairs = Index(active.contacts.size());
  const Index first = force.points.ids[0];
  std::string other, kind;
  if (worst < pairs) {
    const Stencil& s = active.contacts[worst].stencil;
    other = body_of(s.vertices[first_count(s.kind)]);
    kind = name_of(s.kind);
  } else {
    other = model.bodies[p.terms.surface.half_spaces[active.plane_contacts[worst - pairs].plane].body].name;
    kind = "point and plane";
  }
  const Vector3 at = x.col(first);
  return fmt::format(" Closest pair: '{}' and '{}' ({}), {:.3g} m apart at ({:.4g}, {:.4g}, {:.4g}).",
                     body_of(first), other, kind, nearest, at[0], at[1], at[2]);
}

/// Of each kind of element the one that is deformed most, whatever potential it belongs to.
std::string worst_elements(const StepProblem& p, const Matrix3X& q) {
  struct Found {
    WorstElement worst;
    std::size_t potential;
  };
  std::vector<Found> found;
  const auto potentials = p.terms.elastic.potentials();
  for (std::size_t k = 0; k < potentials.size(); ++k)
    for (const WorstElement& worst : potentials[k]->worst_elements(q)) {
      const auto same = std::ranges::find(found, worst.what, [](const Found& f) { return f.worst.what; });
      if (same == found.end())
        found.push_back({worst, k});
      else if (worst.measure > same->worst.measure)
        *same = {worst, k};
    }
  std::string text;
  for (const auto& [worst, k] : found) {
    std::size_t body = p.model.bodies.size() - 1;
    while (p.terms.first_element[body][k] > worst.element) --body;
    const std::string which = worst.node < 0
                                  ? std::to_string(worst.element - p.terms.first_element[body][k])
                                  : fmt::format("at node {}", worst.node - p.model.first_node[body]);
    text += fmt::format(" {}: {} of '{}', {}.", worst.what, which, p.model.bodies[body].name, worst.state);
  }
  return text;
}

std::string missed_target(const StepProblem& p, const Matrix3X& q) {
  double farthest = -1;
  Index node = 0;
  for (const auto& t : p.terms.target.targets) {
    const double e = t.mask.cwiseProduct(q.col(t.node) - t.position).norm();
    if (!(e <= farthest)) {
      farthest = e;
      node = t.node;
    }
  }
  std::size_t body = 0;
  while (p.model.first_node[body + 1] <= node) ++body;
  return fmt::format(
      " Scripted motion of '{}' is blocked: node {} is {:.3g} m from where it should be; slow the motion "
      "down or "
      "make room.",
      p.model.bodies[body].name, node - p.model.first_node[body], farthest);
}

/// How each energy changed over the step so far [J].
std::string energy_changes(StepProblem& p, const Matrix3X& start, const Matrix3X& q) {
  p.objective.prepare(start);
  const auto before = p.objective.values();
  p.objective.prepare(q);
  const auto after = p.objective.values();
  std::string text;
  for (std::size_t i = 0; i < after.size(); ++i)
    // Barriers that were added during the step need not be finite at its start.
    if (std::isfinite(before[i].second) && (before[i].second != 0 || after[i].second != 0) &&
        (p.time_step.has_inertia || after[i].first != p.terms.inertia.name()))  // else only a numerical aid
      text += fmt::format("{} {} by {:.3g}", text.empty() ? "" : ",", after[i].first,
                          (after[i].second - before[i].second) / p.time_step.scale);
  return text.empty() ? text : " Energies changed in this step [J]:" + text + ".";
}

}  // namespace

std::string diagnose(StepProblem& p, const Matrix3X& start, const Matrix3X& q, const NewtonResult& result) {
  const SolverOptions& solver = p.model.options.solver;
  std::string text = fmt::format("{} (last Newton step {:.3g} m/s, tolerance {:.3g} m/s", result.failure,
                                 result.residual, solver.tolerance);
  if (solver.termination == Termination::balanced) {
    p.objective.prepare(q);
    if (const ForceBalance balance = p.force_balance(Gradient(p.objective)); balance.body >= 0)
      text +=
          fmt::format("; unbalanced force on '{}' {:.3g} of the largest that acts on it, tolerance {:.3g}",
                      p.model.bodies[std::size_t(balance.body)].name, balance.share, solver.force_tolerance);
  }
  text += ").";
  const std::string energies = energy_changes(p, start, q);
  text += closest_pair(p, p.objective.vertices());
  text += worst_elements(p, q);
  text += energies;
  if (!p.terms.target.targets.empty()) return text + missed_target(p, q);
  if (const std::string open = p.joints.complaint(q); !open.empty()) return text + " And " + open + ".";
  text +=
      p.time_step.has_inertia
          ? fmt::format(" Try a smaller dt, a larger dhat, or more solver.max_iterations than {}.",
                        solver.max_iterations)
          : " A quasi-static step needs every body held or lying on something: hold it with `fixed`, or let "
            "friction hold it.";
  return text;
}

}  // namespace apart
