#include <apart/potentials/lagrange_elasticity.hpp>

#include <apart/basis/quadrature.hpp>
#include <apart/potentials/element_elasticity_impl.hpp>

#include <limits>

namespace apart {

template <int degree>
void LagrangeElasticity<degree>::add(const ElasticCells& cells, Index first_node) {
  using E = LagrangeElement<degree>;
  const LagrangeCells& lagrange = *cells.lagrange;
  ensure(lagrange.degree == degree, "LagrangeElasticity: cells of another degree");
  const int shape_degree = lagrange.shape_degree;
  if (bounds_.try_emplace(shape_degree, shape_degree).second) {
    const Matrix3X places = LagrangeTetrahedron(shape_degree).nodes();
    Eigen::MatrixXd& values = values_[shape_degree];
    values.resize(E::node_count, places.cols());
    for (Index b = 0; b < places.cols(); ++b)
      values.col(b) = LagrangeTetrahedron(degree).values(places.col(b));
  }
  const Index shape_nodes = tetrahedron_lattice_size(shape_degree);
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
      if (!lagrange.left_gradients.empty())
        e.left_gradients.push_back(lagrange.left_gradients[std::size_t(point)]);
    }
    if (!prevents_inversion(cells.materials[std::size_t(e.material)])) continue;
    Guarded& guarded = guarded_.emplace_back();
    guarded.element = first + t;
    guarded.shape_degree = shape_degree;
    guarded.exact = lagrange.exact;
    guarded.rest = lagrange.rest.middleCols(t * shape_nodes, shape_nodes);
    guarded.rest_determinant = bound(guarded).coefficients(guarded.rest).maxCoeff();
    if (lagrange.left.cols() > 0) guarded.left = lagrange.left.middleCols(t * shape_nodes, shape_nodes);
  }
  ElementElasticity<E>::add(elements, cells.materials);
  for (Guarded& guarded : guarded_)
    if (guarded.element >= first) guarded.coarse = this->elements()[std::size_t(guarded.element)];
}

template <int degree>
Matrix3X LagrangeElasticity<degree>::on_shape(const Guarded& guarded, const Matrix3X& nodes) const {
  if (guarded.shape_degree == degree) return nodes;
  return nodes * values_.at(guarded.shape_degree);
}

template <int degree>
Matrix3X LagrangeElasticity<degree>::nodes_of(const Guarded& guarded, const Matrix3X& q) const {
  Matrix3X result(3, LagrangeElement<degree>::node_count);
  Index a = 0;
  for (const Index node : this->term(guarded.element)) result.col(a++) = q.col(node);
  return result;
}

template <int degree>
Matrix3X LagrangeElasticity<degree>::placed(const Guarded& guarded, const Matrix3X& nodes) const {
  Matrix3X x = on_shape(guarded, nodes);
  if (guarded.left.cols() > 0) x += guarded.left;
  return x;
}

template <int degree>
StepBound LagrangeElasticity<degree>::feasible_step(const Path& path) const {
  for (const Guarded& guarded : guarded_)
    for (const Index node : this->term(guarded.element))
      ensure(path.is_straight(node), "LagrangeElasticity: nodes of cells move straight");
  const Index count = Index(guarded_.size());
  double step = parallel_min(count, 1.0, [&](Index i) {
    const Guarded& guarded = guarded_[std::size_t(i)];
    return bound(guarded).feasible_step(placed(guarded, nodes_of(guarded, path.start)),
                                        on_shape(guarded, nodes_of(guarded, path.move)));
  });
  // Positions at the end of a part are rounded when they are formed: make sure of the path to those. Those at
  // the end of the whole are formed as the bound forms them, unless the shape has points that are no nodes.
  const bool formed_alike =
      std::ranges::all_of(guarded_, [](const Guarded& guarded) { return guarded.shape_degree == degree; });
  const auto proven = [&](double alpha) {
    return parallel_min(count, 1.0, [&](Index i) {
             const Guarded& guarded = guarded_[std::size_t(i)];
             const Matrix3X q = nodes_of(guarded, path.start);
             const Matrix3X end = q + alpha * nodes_of(guarded, path.move);
             return bound(guarded).is_positive(placed(guarded, q), placed(guarded, end)) ? 1.0 : 0.0;
           }) > 0;
  };
  while (step > 0 && (step < 1 || !formed_alike) && !proven(step)) step = step > 1e-300 ? 0.5 * step : 0;
  return {step};
}

namespace lagrange_elasticity {

// An element is refined where its volume ratio somewhere falls below these, and below the share of that at
// its own points.
constexpr double compressed[2] = {0.3, 0.1};
constexpr double share = 0.5;

}  // namespace lagrange_elasticity

template <int degree>
int LagrangeElasticity<degree>::wanted_level(const Guarded& guarded, const Matrix3X& nodes) const {
  using namespace lagrange_elasticity;
  const JacobianBound& bound = this->bound(guarded);
  const Matrix3X x = placed(guarded, nodes);
  // A bound that is cheap decides for nearly all elements.
  if (bound.coefficients(x).minCoeff() > compressed[0] * guarded.rest_determinant) return 0;
  const JacobianBound::Smallest smallest = bound.smallest(x, 0.01);
  const Matrix3 rest =
      guarded.rest * LagrangeTetrahedron(guarded.shape_degree).gradients(smallest.xi).transpose();
  const double ratio = smallest.value / rest.determinant();
  if (ratio > compressed[0]) return 0;
  double at_points = std::numeric_limits<double>::infinity();
  for (int k = 0; k < guarded.coarse.quadrature_count(); ++k) {
    Matrix3 f = nodes * guarded.coarse.shape_gradients(k).transpose();
    if (!guarded.coarse.left_gradients.empty()) f += guarded.coarse.left_gradients[std::size_t(k)];
    at_points = std::min(at_points, f.determinant());
  }
  if (ratio > share * at_points) return 0;
  return ratio > compressed[1] ? 1 : 2;
}

template <int degree>
LagrangeElement<degree> LagrangeElasticity<degree>::refined_element(const Guarded& guarded, int level) const {
  LagrangeElement<degree> e = guarded.coarse;
  Quadrature rule = tetrahedron_quadrature(guarded.exact);
  for (int i = 0; i < level; ++i) rule = refined(rule);
  const LagrangeTetrahedron basis(degree), shape(guarded.shape_degree);
  e.weights.clear();
  e.gradients.clear();
  e.left_gradients.clear();
  for (Index k = 0; k < rule.size(); ++k) {
    const Vector3 xi = rule.points.col(k);
    const Matrix3X shape_gradients = shape.gradients(xi);
    const Matrix3 slope = guarded.rest * shape_gradients.transpose(), inverse = slope.inverse();
    e.weights.push_back(rule.weights[k] * slope.determinant());
    e.gradients.emplace_back(inverse.transpose() * basis.gradients(xi));
    if (guarded.left.cols() > 0)
      e.left_gradients.push_back(guarded.left * shape_gradients.transpose() * inverse);
  }
  return e;
}

template <int degree>
void LagrangeElasticity<degree>::refine(const Matrix3X& q) {
  std::vector<int> levels(guarded_.size());
  parallel_for(Index(guarded_.size()), [&](Index i) {
    const Guarded& guarded = guarded_[std::size_t(i)];
    levels[std::size_t(i)] = wanted_level(guarded, nodes_of(guarded, q));
  });
  std::vector<Index> which;
  std::vector<LagrangeElement<degree>> by;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Guarded& guarded = guarded_[i];
    if (levels[i] == guarded.level) continue;
    guarded.level = levels[i];
    which.push_back(guarded.element);
    by.push_back(levels[i] == 0 ? guarded.coarse : refined_element(guarded, levels[i]));
  }
  if (!which.empty()) this->replace(which, by);
}

template class ElementElasticity<LagrangeElement<1>>;
template class ElementElasticity<LagrangeElement<2>>;
template class ElementElasticity<LagrangeElement<3>>;
template class ElementElasticity<LagrangeElement<4>>;
template class LagrangeElasticity<1>;
template class LagrangeElasticity<2>;
template class LagrangeElasticity<3>;
template class LagrangeElasticity<4>;

}  // namespace apart
