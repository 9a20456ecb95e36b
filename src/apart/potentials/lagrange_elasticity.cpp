#include <apart/potentials/lagrange_elasticity.hpp>

#include <apart/basis/quadrature.hpp>
#include <apart/potentials/element_elasticity_impl.hpp>

#include <limits>

namespace apart {

template <int degree>
const typename LagrangeElasticity<degree>::Table& LagrangeElasticity<degree>::table(const Shape& shape,
                                                                                    int level) {
  const auto [at, is_new] = tables_.try_emplace({shape.lattice, shape.exact, level});
  Table& table = at->second;
  if (!is_new) return table;
  Quadrature rule = tetrahedron_quadrature(shape.exact);
  for (int i = 0; i < level; ++i) rule = refined(rule);
  table.weights = rule.weights;
  for (Index k = 0; k < rule.size(); ++k) {
    table.basis.emplace_back(LagrangeTetrahedron(degree).gradients(rule.points.col(k)));
    table.shape.push_back(LagrangeTetrahedron(shape.lattice).gradients(rule.points.col(k)));
  }
  return table;
}

namespace lagrange_elasticity {

// An element is refined where its volume ratio somewhere falls below these, and below the share of that at
// its own points.
constexpr double compressed[2] = {0.3, 0.1};
constexpr double share = 0.5;
// The share of the volume that each place where an element was compressed most stands for.
constexpr double pressed_share = 0.01;
constexpr std::size_t most_pressed = 10;

}  // namespace lagrange_elasticity

template <int degree>
void LagrangeElasticity<degree>::set_points(const Shape& shape, const Points& points, E& element) {
  element.weights.clear();
  element.gradients.clear();
  element.offset_gradients.clear();
  const auto add = [&](double weight, const typename E::Gradients& basis, const Matrix3X& lattice) {
    const Matrix3 slope = shape.rest * lattice.transpose(), inverse = slope.inverse();
    element.weights.push_back(weight * slope.determinant());
    element.gradients.emplace_back(inverse.transpose() * basis);
    if (shape.offset.cols() > 0)
      element.offset_gradients.push_back(shape.offset * lattice.transpose() * inverse);
  };
  const Table& table = this->table(shape, points.level);
  const double rest = 1 - lagrange_elasticity::pressed_share * double(points.pressed.size());
  for (std::size_t k = 0; k < table.basis.size(); ++k)
    add(rest * table.weights[Index(k)], table.basis[k], table.shape[k]);
  for (const Vector3& xi : points.pressed)
    add(lagrange_elasticity::pressed_share / 6, LagrangeTetrahedron(degree).gradients(xi),
        LagrangeTetrahedron(shape.lattice).gradients(xi));
}

template <int degree>
void LagrangeElasticity<degree>::add(const ElasticCells& cells, Index first_node, Guard guard) {
  const LagrangeCells& lagrange = *cells.lagrange;
  ensure(lagrange.degree == degree, "LagrangeElasticity: cells of another degree");
  const int shape_degree = lagrange.shape_degree;
  if (guard == Guard::inversion && bounds_.try_emplace(shape_degree, shape_degree).second) {
    const Matrix3X places = LagrangeTetrahedron(shape_degree).nodes();
    Eigen::MatrixXd& values = values_[shape_degree];
    values.resize(E::node_count, places.cols());
    for (Index b = 0; b < places.cols(); ++b)
      values.col(b) = LagrangeTetrahedron(degree).values(places.col(b));
  }
  const Index n = tetrahedron_lattice_size(shape_degree), first = this->term_count();
  std::vector<E> elements(static_cast<std::size_t>(lagrange.nodes.cols()));
  for (Index t = 0; t < lagrange.nodes.cols(); ++t) {
    E& e = elements[std::size_t(t)];
    for (int a = 0; a < E::node_count; ++a) e.nodes[std::size_t(a)] = lagrange.nodes(a, t) + first_node;
    e.material = cells.material_of[std::size_t(t)];
    Shape shape{shape_degree, lagrange.exact, lagrange.rest.middleCols(t * n, n), {}};
    if (lagrange.offset.cols() > 0) shape.offset = lagrange.offset.middleCols(t * n, n);
    set_points(shape, {}, e);
    if (guard == Guard::none || !prevents_inversion(cells.materials[std::size_t(e.material)])) continue;
    Guarded& guarded = guarded_.emplace_back(Guarded{first + t, std::move(shape)});
    guarded.rest_determinant = bound(guarded).coefficients(guarded.shape.rest).maxCoeff();
  }
  ElementElasticity<E>::add(elements, cells.materials);
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
  if (guarded.shape.lattice == degree) return nodes;
  Matrix3X x = nodes * values_.at(guarded.shape.lattice);
  if (guarded.shape.offset.cols() > 0) x += guarded.shape.offset;
  return x;
}

template <int degree>
StepBound LagrangeElasticity<degree>::feasible_step(const Path& path) const {
  for (const Guarded& guarded : guarded_)
    for (const Index node : this->term(guarded.element))
      ensure(path.is_straight(node), "LagrangeElasticity: nodes of cells move straight");
  const Index count = Index(guarded_.size());
  // Where an element is after a share of the path, rounded as positions will be when they are formed.
  const auto at = [&](const Guarded& guarded, double alpha) {
    return placed(guarded, nodes_of(guarded, path.start) + alpha * nodes_of(guarded, path.move));
  };
  double step = parallel_min(count, 1.0, [&](Index i) {
    const Guarded& guarded = guarded_[std::size_t(i)];
    return bound(guarded).feasible_step(at(guarded, 0), at(guarded, 1));
  });
  const auto proven = [&](double alpha) {
    return parallel_min(count, 1.0, [&](Index i) {
             const Guarded& guarded = guarded_[std::size_t(i)];
             return bound(guarded).is_positive(at(guarded, 0), at(guarded, alpha)) ? 1.0 : 0.0;
           }) > 0;
  };
  while (step > 0 && step < 1 && !proven(step)) step = step > 1e-300 ? 0.5 * step : 0;
  return {step};
}

template <int degree>
double LagrangeElasticity<degree>::volume_ratio(const Shape& shape, const Matrix3X& x, const Vector3& xi) {
  const Matrix3X gradients = LagrangeTetrahedron(shape.lattice).gradients(xi);
  const Matrix3 now = x * gradients.transpose(), before = shape.rest * gradients.transpose();
  return now.determinant() / before.determinant();
}

template <int degree>
typename LagrangeElasticity<degree>::Points LagrangeElasticity<degree>::wanted_points(
    const Guarded& guarded, const Matrix3X& nodes, const Points& kept) const {
  using namespace lagrange_elasticity;
  const JacobianBound& bound = this->bound(guarded);
  const Shape& shape = guarded.shape;
  const Matrix3X x = placed(guarded, nodes);
  Points points = kept;
  // A bound that is cheap decides for nearly all elements.
  if (bound.coefficients(x).minCoeff() > compressed[0] * guarded.rest_determinant) return points;
  const Vector3 worst = bound.smallest(x, 1e-4).xi;
  const double ratio = volume_ratio(shape, x, worst);
  if (ratio > compressed[0]) return points;
  double at_points = std::numeric_limits<double>::infinity();
  for (const Matrix3X& gradients : tables_.at({shape.lattice, shape.exact, 0}).shape) {
    const Matrix3 now = x * gradients.transpose(), before = shape.rest * gradients.transpose();
    at_points = std::min(at_points, now.determinant() / before.determinant());
  }
  if (ratio > share * at_points) return points;
  points.level = std::max(points.level, ratio > compressed[1] ? 1 : 2);
  if (ratio > compressed[1]) return points;
  double pressed = std::numeric_limits<double>::infinity();
  for (const Vector3& xi : points.pressed) pressed = std::min(pressed, volume_ratio(shape, x, xi));
  if (ratio <= share * pressed && points.pressed.size() < most_pressed) points.pressed.push_back(worst);
  return points;
}

/// `keeps`: the points that elements have.
template <int degree>
bool LagrangeElasticity<degree>::set_quadrature(const Matrix3X& q, bool keeps) {
  std::vector<Points> wanted(guarded_.size());
  parallel_for(Index(guarded_.size()), [&](Index i) {
    const Guarded& guarded = guarded_[std::size_t(i)];
    wanted[std::size_t(i)] = wanted_points(guarded, nodes_of(guarded, q), keeps ? guarded.points : Points());
  });
  std::vector<Index> which;
  std::vector<E> by;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Guarded& guarded = guarded_[i];
    if (wanted[i] == guarded.points) continue;
    guarded.points = std::move(wanted[i]);
    which.push_back(guarded.element);
    set_points(guarded.shape, guarded.points,
               by.emplace_back(this->elements()[std::size_t(guarded.element)]));
  }
  if (!which.empty()) this->replace(which, by);
  return !which.empty();
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
