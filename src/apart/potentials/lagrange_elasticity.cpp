#include <apart/potentials/lagrange_elasticity.hpp>

#include <apart/potentials/element_elasticity_impl.hpp>

namespace apart {

template <int degree>
void LagrangeElasticity<degree>::add(const ElasticCells& cells, Index first_node) {
  using E = LagrangeElement<degree>;
  const LagrangeCells& lagrange = *cells.lagrange;
  ensure(lagrange.degree == degree, "LagrangeElasticity: cells of another degree");
  std::vector<E> elements(static_cast<std::size_t>(lagrange.nodes.cols()));
  const Index first = this->term_count();
  for (Index t = 0; t < lagrange.nodes.cols(); ++t) {
    E& e = elements[std::size_t(t)];
    for (int a = 0; a < E::node_count; ++a) e.nodes[std::size_t(a)] = lagrange.nodes(a, t) + first_node;
    e.material = cells.material_of[std::size_t(t)];
    for (Index k = 0; k < lagrange.points; ++k) {
      const Index point = t * lagrange.points + k;
      e.weights.push_back(lagrange.weights[point]);
      e.gradients.emplace_back(lagrange.gradients.middleCols(point * E::node_count, E::node_count));
    }
    if (prevents_inversion(cells.materials[std::size_t(e.material)])) guarded_.push_back(first + t);
  }
  ElementElasticity<E>::add(elements, cells.materials);
}

template <int degree>
StepBound LagrangeElasticity<degree>::feasible_step(const Path& path) const {
  constexpr int n = LagrangeElement<degree>::node_count;
  const auto of_element = [&](Index i, const Matrix3X& values) {
    Matrix3X result(3, n);
    Index a = 0;
    for (const Index node : this->term(guarded_[std::size_t(i)])) {
      ensure(path.is_straight(node), "LagrangeElasticity: nodes of cells move straight");
      result.col(a++) = values.col(node);
    }
    return result;
  };
  const Index count = Index(guarded_.size());
  double step = parallel_min(count, 1.0, [&](Index i) {
    return bound_.feasible_step(of_element(i, path.start), of_element(i, path.move));
  });
  // Positions at the end of a part are rounded when they are formed: make sure of the path to those. Those at
  // the end of the whole are formed as the bound forms them.
  const auto proven = [&](double alpha) {
    return parallel_min(count, 1.0, [&](Index i) {
             const Matrix3X x = of_element(i, path.start);
             return bound_.is_positive(x, x + alpha * of_element(i, path.move)) ? 1.0 : 0.0;
           }) > 0;
  };
  while (step > 0 && step < 1 && !proven(step)) step = step > 1e-300 ? 0.5 * step : 0;
  return {step};
}

template class ElementElasticity<LagrangeElement<2>>;
template class ElementElasticity<LagrangeElement<3>>;
template class ElementElasticity<LagrangeElement<4>>;
template class LagrangeElasticity<2>;
template class LagrangeElasticity<3>;
template class LagrangeElasticity<4>;

}  // namespace apart
