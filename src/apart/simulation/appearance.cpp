#include <apart/simulation/appearance.hpp>

#include <apart/collision/collision_detection.hpp>
#include <apart/core/error.hpp>
#include <apart/simulation/nesting.hpp>

#include <limits>
#include <utility>

namespace apart {

void ensure_can_appear(StepProblem& problem, const std::vector<char>& before, const State& state) {
  const Model& model = problem.model;
  const Matrix3X x = model.surface_map.positions(state.nodes);
  // Any intersection involves a body that appears: the others were free of each other.
  const auto refuse = [&](int a, int b, const std::string& what) {
    if (before[std::size_t(a)]) std::swap(a, b);
    const std::string other =
        a == b ? std::string("itself") : fmt::format("'{}'", model.bodies[std::size_t(b)].name);
    throw SolverError(
        fmt::format("'{}' cannot appear after t = {:.6g} s: it would {} {}; make room, or let "
                    "it appear at another time",
                    model.bodies[std::size_t(a)].name, state.time, what, other));
  };
  const CollisionSurface& surface = problem.terms.surface;
  for (const HalfSpace& plane : surface.half_spaces)
    for (Index v = 0; v < x.cols(); ++v) {
      const int body = surface.vertex_body[v];
      if (surface.pairs(body, plane.body).enabled && plane.distance(x, v) <= 0) {
        const bool new_plane = !before[std::size_t(plane.body)];
        refuse(new_plane ? plane.body : body, new_plane ? body : plane.body,
               new_plane ? "cover" : "be below");
      }
    }
  if (const auto found = first_intersection(surface, x))
    refuse(surface.vertex_body[found->first], surface.vertex_body[found->second], "intersect");
  if (const auto nested = first_nested(model, problem.present, x)) {
    const bool solid_is_new = before[std::size_t(nested->body)];
    refuse(nested->body, nested->solid, solid_is_new ? "enclose" : "lie inside");
  }
  problem.terms.contact.prepare(x);
  const ActiveSet& near = problem.terms.contact.active_set(x);
  if (near.min_gap <= 0) {
    std::pair<int, int> pair;
    double smallest = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < problem.terms.contact.term_count(); ++i) {
      const double gap =
          problem.terms.contact.normal_force(i, x).distance - problem.terms.contact.range(i).thickness;
      if (gap < smallest) {
        smallest = gap;
        pair = problem.terms.contact.bodies_of(i);
      }
    }
    refuse(pair.first, pair.second, fmt::format("come {:.3g} m below the thickness to", -smallest));
  }
}

}  // namespace apart
