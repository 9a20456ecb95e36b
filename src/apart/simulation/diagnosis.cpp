#include <apart/simulation/diagnosis.hpp>

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
  const ActiveSet& active = p.terms.contact.active_set();
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

std::string worst_element(const StepProblem& p) {
  double smallest = std::numeric_limits<double>::infinity();
  Index cell = -1;
  bool planar = false;
  const auto look = [&](const auto& cells, bool in_plane) {
    for (Index c = 0; c < cells.term_count(); ++c)
      if (const double ratio = cells.stretches(c).prod(); ratio < smallest) {
        smallest = ratio;
        cell = c;
        planar = in_plane;
      }
  };
  look(p.terms.elastic.cells, false);
  look(p.terms.elastic.planar, true);
  if (cell < 0) return {};
  const std::vector<Index>& first = planar ? p.terms.first_planar : p.terms.first_cell;
  std::size_t body = p.model.bodies.size() - 1;
  while (first[body] > cell) --body;
  const Vector3 s = planar ? p.terms.elastic.planar.stretches(cell) : p.terms.elastic.cells.stretches(cell);
  return fmt::format(
      " Most compressed element: {} of '{}', volume ratio {:.3g}, stretched by {:.3g}, {:.3g} and {:.3g}.",
      cell - first[body], p.model.bodies[body].name, smallest, s[0], s[1], s[2]);
}

std::string worst_triangle(const StepProblem& p) {
  double largest = -1;
  Index triangle = -1;
  for (Index t = 0; t < p.terms.elastic.membranes.term_count(); ++t) {
    const double strain = (p.terms.elastic.membranes.stretches(t).array() - 1).abs().maxCoeff();
    if (strain > largest) {
      largest = strain;
      triangle = t;
    }
  }
  if (triangle < 0) return {};
  std::size_t body = p.model.bodies.size() - 1;
  while (p.terms.first_triangle[body] > triangle) --body;
  const Body& shell = p.model.bodies[body];
  const auto& limit = shell.shell->limit;
  const auto woven = strain_limit_of(shell.shell->membrane);
  const Vector2& s = p.terms.elastic.membranes.stretches(triangle);
  return fmt::format(" Most strained triangle: {} of '{}', stretched by {:.6g} and {:.6g}{}.",
                     triangle - p.terms.first_triangle[body], shell.name, s[0], s[1],
                     limit   ? fmt::format(" (limit {:.6g})", limit->upper)
                     : woven ? fmt::format(" (limits of strain {:.4g}, {:.4g}, {:.4g})", (*woven)[0],
                                           (*woven)[1], (*woven)[2])
                             : "");
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
    if (const ForceBalance balance = p.force_balance(p.objective.reduced_gradient()); balance.body >= 0)
      text +=
          fmt::format("; unbalanced force on '{}' {:.3g} of the largest that acts on it, tolerance {:.3g}",
                      p.model.bodies[std::size_t(balance.body)].name, balance.share, solver.force_tolerance);
  }
  text += ").";
  const std::string energies = energy_changes(p, start, q);
  text += closest_pair(p, p.objective.vertices());
  text += worst_element(p);
  text += worst_triangle(p);
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
