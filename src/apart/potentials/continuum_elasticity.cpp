#include <apart/potentials/continuum_elasticity.hpp>

#include <apart/collision/inversion.hpp>
#include <apart/potentials/element_elasticity_impl.hpp>

namespace apart {

template class ElementElasticity<LinearTetrahedron>;

void ContinuumElasticity::add(const ElasticCells& cells, Index first_node, const OwnNodes& own) {
  std::vector<LinearTetrahedron> elements;
  std::vector<Index> guarded;
  elements.reserve(std::size_t(cells.nodes.cols()));
  guarded.reserve(elements.capacity());
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    if (!own.contains(cells.nodes(0, t) + first_node)) continue;
    LinearTetrahedron e;
    for (int a = 0; a < 4; ++a) e.nodes[std::size_t(a)] = cells.nodes(a, t) + first_node;
    e.material = cells.material_of[std::size_t(t)];
    e.volume = cells.volume[t];
    // F = D · inverse_rest with D = [q₁−q₀, q₂−q₀, q₃−q₀]: ∇N_{k+1} is row k of inverse_rest.
    e.gradients.rightCols<3>() = cells.inverse_rest[std::size_t(t)].transpose();
    e.gradients.col(0) = -e.gradients.rightCols<3>().rowwise().sum();
    elements.push_back(e);
    if (prevents_inversion(cells.materials[std::size_t(e.material)])) guarded.push_back(t);
  }
  ElementElasticity::add(elements, cells.materials);
  Index n = Index(guarded_.cols());
  guarded_.conservativeResize(4, n + Index(guarded.size()));
  for (const Index t : guarded) guarded_.col(n++) = cells.nodes.col(t).array() + first_node;
}

StepBound ContinuumElasticity::feasible_step(const Path& path) const {
  for (Index k = 0; k < guarded_.size(); ++k)
    ensure(path.is_straight(guarded_(k)), "ContinuumElasticity: nodes of cells move straight");
  return {inversion_free_step(guarded_, path.start, path.move)};
}

}  // namespace apart
