#include <apart/potentials/lagrange_elasticity.hpp>

#include <apart/basis/quadrature.hpp>
#include <apart/potentials/element_elasticity_impl.hpp>

#include <limits>
#include <numeric>

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
// Share of what is known of a determinant that may be used up before it is looked at again: a step that
// starts there needs the rest.
constexpr double used_up = 0.3;
// Stiffness of a barrier, relative to the bulk modulus times the volume of the element.
constexpr double barrier_share = 0.1;
// Cells with a barrier that one thread looks at in turn.
constexpr Index resisting_chunk = 16;

}  // namespace lagrange_elasticity

template <int degree>
void LagrangeElasticity<degree>::set_points(const Shape& shape, const Points& points, E& element) {
  element.weights.clear();
  element.gradients.clear();
  element.offset_gradients.clear();
  const auto add = [&](const Table& table, std::size_t first, std::size_t count) {
    for (std::size_t k = first; k < first + count; ++k) {
      const Matrix3X& lattice = table.shape[k];
      const Matrix3 slope = shape.rest * lattice.transpose(), inverse = slope.inverse();
      element.weights.push_back(table.weights[Index(k)] * slope.determinant());
      element.gradients.emplace_back(inverse.transpose() * table.basis[k]);
      if (shape.offset.cols() > 0)
        element.offset_gradients.push_back(shape.offset * lattice.transpose() * inverse);
    }
  };
  if (!points.refined) return add(table(shape, 0), 0, table(shape, 0).basis.size());
  const std::size_t n = table(shape, 1).basis.size() / 8;
  for (std::size_t part = 0; part < 8; ++part) {
    const bool finer = points.finer >> part & 1;
    const std::size_t count = finer ? 8 * n : n;
    add(table(shape, finer ? 2 : 1), part * count, count);
  }
}

template <int degree>
void LagrangeElasticity<degree>::add(const ElasticCells& cells, Index first_node, Guard guard,
                                     const OwnNodes& own) {
  const LagrangeCells& lagrange = *cells.lagrange;
  ensure(lagrange.degree == degree, "LagrangeElasticity: cells of another degree");
  const int shape_degree = lagrange.shape_degree;
  if (guard == Guard::inversion && !values_.contains(shape_degree)) {
    bounds_.try_emplace(shape_degree, shape_degree);
    bounds_.try_emplace(degree, degree);
    barriers_.try_emplace(shape_degree, degree, shape_degree);
    const Matrix3X places = LagrangeTetrahedron(shape_degree).nodes();
    Eigen::MatrixXd& values = values_[shape_degree];
    values.resize(E::node_count, places.cols());
    for (Index b = 0; b < places.cols(); ++b)
      values.col(b) = LagrangeTetrahedron(degree).values(places.col(b));
  }
  const Index n = tetrahedron_lattice_size(shape_degree), first = this->term_count();
  std::vector<E> elements;
  elements.reserve(static_cast<std::size_t>(lagrange.nodes.cols()));
  for (Index t = 0; t < lagrange.nodes.cols(); ++t) {
    if (!own.contains(lagrange.nodes(0, t) + first_node)) continue;
    E& e = elements.emplace_back();
    for (int a = 0; a < E::node_count; ++a) e.nodes[std::size_t(a)] = lagrange.nodes(a, t) + first_node;
    e.material = cells.material_of[std::size_t(t)];
    Shape shape{shape_degree, lagrange.exact, lagrange.rest.middleCols(t * n, n), {}};
    if (lagrange.offset.cols() > 0) shape.offset = lagrange.offset.middleCols(t * n, n);
    set_points(shape, {}, e);
    if (guard == Guard::none || !prevents_inversion(cells.materials[std::size_t(e.material)])) continue;
    Guarded& guarded = guarded_.emplace_back(Guarded{first + Index(elements.size()) - 1, std::move(shape)});
    guarded.rest_determinant = bound(guarded).coefficients(guarded.shape.rest);
  }
  ElementElasticity<E>::add(elements, cells.materials);
}

template <int degree>
typename LagrangeElasticity<degree>::Nodes LagrangeElasticity<degree>::nodes_of(const Guarded& guarded,
                                                                                const Matrix3X& q) const {
  Nodes result;
  Index a = 0;
  for (const Index node : this->term(guarded.element)) result.col(a++) = q.col(node);
  return result;
}

template <int degree>
typename LagrangeElasticity<degree>::Lattice LagrangeElasticity<degree>::placed(const Guarded& guarded,
                                                                                const Nodes& nodes) const {
  if (guarded.shape.lattice == degree) return nodes;
  Lattice x = nodes.lazyProduct(values_.at(guarded.shape.lattice));
  if (guarded.shape.offset.cols() > 0) x += guarded.shape.offset;
  return x;
}

template <int degree>
StepBound LagrangeElasticity<degree>::feasible_step(const Path& path) const {
  for (const Guarded& guarded : guarded_)
    for (const Index node : this->term(guarded.element))
      ensure(path.is_straight(node), "LagrangeElasticity: nodes of cells move straight");
  return {parallel_min(Index(guarded_.size()), 1.0, [&](Index i) {
    const Guarded& guarded = guarded_[std::size_t(i)];
    const Nodes start = nodes_of(guarded, path.start), end = start + nodes_of(guarded, path.move);
    if (JacobianBound::is_feasible(guarded.known.smallest, largest_change(guarded.known, start, end)))
      return 1.0;
    return bound(guarded).feasible_step(placed(guarded, start), placed(guarded, end));
  })};
}

template <int degree>
double LagrangeElasticity<degree>::largest_change(const Known& known, const Nodes& start,
                                                  const Nodes& end) const {
  return JacobianBound::largest_change(known.extent,
                                       bounds_.at(degree).larger(start - known.nodes, end - known.nodes));
}

template <int degree>
bool LagrangeElasticity<degree>::may_be_compressed(Guarded& guarded, const Nodes& nodes) const {
  using namespace lagrange_elasticity;
  Known& known = guarded.known;
  if (largest_change(known, nodes, nodes) < used_up * known.above_compressed) return false;
  const JacobianBound& bound = this->bound(guarded);
  const Lattice x = placed(guarded, nodes);
  const VectorX coefficients = bound.coefficients(x),
                above = coefficients - compressed[0] * guarded.rest_determinant;
  known = {nodes, bound.extent(x), coefficients.minCoeff(), above.minCoeff()};
  return !bound.is_positive(above);
}

template <int degree>
double LagrangeElasticity<degree>::volume_ratio(const Shape& shape, const Lattice& x, const Vector3& xi) {
  const Matrix3X gradients = LagrangeTetrahedron(shape.lattice).gradients(xi);
  const Matrix3 now = x * gradients.transpose(), before = shape.rest * gradients.transpose();
  return now.determinant() / before.determinant();
}

template <int degree>
typename LagrangeElasticity<degree>::Points LagrangeElasticity<degree>::wanted_points(
    const Guarded& guarded, const Nodes& nodes, const Points& kept) const {
  using namespace lagrange_elasticity;
  const JacobianBound& bound = this->bound(guarded);
  const Shape& shape = guarded.shape;
  const Lattice x = placed(guarded, nodes);
  Points points = kept;
  const Vector3 worst = bound.smallest(x, 1e-9).xi;
  const double ratio = volume_ratio(shape, x, worst);
  if (ratio > compressed[0]) return points;
  double at_points = std::numeric_limits<double>::infinity();
  for (const Matrix3X& gradients : tables_.at({shape.lattice, shape.exact, 0}).shape) {
    const Matrix3 now = x * gradients.transpose(), before = shape.rest * gradients.transpose();
    at_points = std::min(at_points, now.determinant() / before.determinant());
  }
  if (ratio > share * at_points) return points;
  points.refined = true;
  if (ratio > compressed[1]) return points;
  points.finer |= 1u << refined_part(worst);
  if (points.reach == 0) points.reach = 0.5 * std::min(compressed[1], share * at_points);
  points.parts =
      barriers_.at(shape.lattice).parts({shape.rest, shape.offset}, x, points.reach, ratio, points.parts);
  return points;
}

template <int degree>
void LagrangeElasticity<degree>::set_barrier(Guarded& guarded) {
  const E& e = this->elements()[std::size_t(guarded.element)];
  const double volume = std::accumulate(e.weights.begin(), e.weights.end(), 0.0);
  // K = ∂²Ψ/∂J² at rest, of uniform compression.
  const double bulk_modulus =
      element_elasticity::derivatives(this->material_of(e), Vector3::Ones()).stretch.sum() / 9;
  guarded.resistance =
      barriers_.at(guarded.shape.lattice)
          .resistance({guarded.shape.rest, guarded.shape.offset}, guarded.points.parts, guarded.points.reach,
                      lagrange_elasticity::barrier_share * bulk_modulus * volume);
}

template <int degree>
double LagrangeElasticity<degree>::value(const Matrix3X& q) const {
  VectorX values(Index(resisting_.size()));
  parallel_chunks(values.size(), lagrange_elasticity::resisting_chunk, [&](Index begin, Index end) {
    DeterminantBarrier::Room room;
    for (Index i = begin; i < end; ++i) {
      const Guarded& g = guarded_[resisting_[std::size_t(i)]];
      values[i] = barriers_.at(g.shape.lattice).value(g.resistance, nodes_of(g, q), room);
    }
  });
  // In their order: the same bits for any number of threads.
  return ElementElasticity<E>::value(q) + this->scale() * std::accumulate(values.begin(), values.end(), 0.0);
}

template <int degree>
void LagrangeElasticity<degree>::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  ElementElasticity<E>::add_gradient(q, gradient);
  std::vector<Nodes> slopes(resisting_.size());
  parallel_chunks(Index(slopes.size()), lagrange_elasticity::resisting_chunk, [&](Index begin, Index end) {
    DeterminantBarrier::Room room;
    for (Index i = begin; i < end; ++i) {
      const Guarded& g = guarded_[resisting_[std::size_t(i)]];
      slopes[std::size_t(i)] =
          this->scale() * barriers_.at(g.shape.lattice).gradient(g.resistance, nodes_of(g, q), room);
    }
  });
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    Index a = 0;
    for (const Index node : this->term(guarded_[resisting_[i]].element))
      gradient.col(node) += slopes[i].col(a++);
  }
}

template <int degree>
void LagrangeElasticity<degree>::hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                                          LocalHessians& out) const {
  ElementElasticity<E>::hessians(q, begin, end, projection, out);
  // In the order of their elements.
  const auto before = [&](std::size_t i, Index element) { return guarded_[i].element < element; };
  DeterminantBarrier::Room room;
  for (auto i = std::lower_bound(resisting_.begin(), resisting_.end(), begin, before);
       i != resisting_.end() && guarded_[*i].element < end; ++i) {
    const Guarded& g = guarded_[*i];
    DeterminantBarrier::Matrix h = barriers_.at(g.shape.lattice).hessian(g.resistance, nodes_of(g, q), room);
    h *= this->scale();
    if (projection != Projection::none) make_positive(h, NegativeEigenvalues::zeroed);
    out[g.element] += h;
  }
}

/// `keeps`: the points that elements have.
template <int degree>
bool LagrangeElasticity<degree>::set_quadrature(const Matrix3X& q, bool keeps) {
  std::vector<Points> wanted(guarded_.size());
  parallel_for(Index(guarded_.size()), [&](Index i) {
    Guarded& guarded = guarded_[std::size_t(i)];
    const Nodes nodes = nodes_of(guarded, q);
    Points kept = keeps ? guarded.points : Points();
    // Nearly all elements are nowhere compressed as much.
    wanted[std::size_t(i)] =
        may_be_compressed(guarded, nodes) ? wanted_points(guarded, nodes, kept) : std::move(kept);
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
    if (!guarded.points.parts.empty()) set_barrier(guarded);
  }
  resisting_.clear();
  for (std::size_t i = 0; i < guarded_.size(); ++i)
    if (!guarded_[i].points.parts.empty()) resisting_.push_back(i);
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
