#include <apart/remesh/placed_surface.hpp>

#include <set>

namespace apart {

PlacedSurface::PlacedSurface(const SolvedStep& step)
    : surface(step.problem.terms.surface),
      x(step.problem.model.surface_map.positions(step.nodes)),
      x_before(step.problem.model.surface_map.positions(step.before.nodes)),
      v_before(step.problem.model.surface_map.push_forward(step.before.velocity)),
      index_(boxes()),
      grips_(step.before.grips) {
  for (Index at = 0; at < grips_.size(); at += Grips::numbers_each)
    for (Index k = 0; k < 4 && grips_[at + k] >= 0; ++k) grips_of_[Index(grips_[at + k])].push_back(at);
}

VectorX PlacedSurface::grips(const VertexRenumbering& to) const {
  std::set<Index> places;
  for (const auto* list : {&to.vertex, &to.merged})
    for (const auto& entry : *list)
      if (const auto found = grips_of_.find(entry.first); found != grips_of_.end())
        places.insert(found->second.begin(), found->second.end());
  VectorX some(Grips::numbers_each * Index(places.size()));
  Index next = 0;
  for (const Index at : places) {
    some.segment<Grips::numbers_each>(next) = grips_.segment<Grips::numbers_each>(at);
    next += Grips::numbers_each;
  }
  return Grips::carried(some, to);
}

std::vector<Aabb> PlacedSurface::boxes() const {
  std::vector<Aabb> boxes;
  const auto add = [&](const auto& vertices) {
    Aabb& box = boxes.emplace_back();
    for (const Index v : vertices) box.include(Vector3(x.col(v)));
  };
  for (const auto& face : surface.faces.colwise()) add(face);
  for (const Index e : surface.free_edges) add(surface.edges.col(e));
  for (const Index v : surface.isolated_vertices) add(std::array{v});
  return boxes;
}

PlacedSurface::Primitives PlacedSurface::meeting(const Aabb& box) const {
  Primitives result;
  const Index faces = Index(surface.faces.cols()), edges = Index(surface.free_edges.size());
  for (const Index i : index_.meeting(box))
    if (i < faces)
      result.faces.push_back(i);
    else if (i < faces + edges)
      result.free_edges.push_back(surface.free_edges[std::size_t(i - faces)]);
    else
      result.points.push_back(surface.isolated_vertices[std::size_t(i - faces - edges)]);
  return result;
}

}  // namespace apart
