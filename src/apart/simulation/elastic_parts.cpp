#include <apart/core/parallel.hpp>
#include <apart/simulation/elastic_parts.hpp>

#include <algorithm>

namespace apart {

void ElasticParts::add(const Body& body, Index first_node) {
  if (body.elastic) cells.add(*body.elastic, first_node);
  if (body.shell) {
    membranes.add(*body.shell, first_node);
    hinges.add(*body.shell, first_node);
  }
  if (body.rods) rods.add(*body.rods, first_node);
}

void ElasticParts::set_scale(double scale) {
  cells.set_scale(scale);
  membranes.set_scale(scale);
  hinges.set_scale(scale);
  rods.set_scale(scale);
}

void ElasticParts::prepare(const Matrix3X& q) {
  cells.prepare(q);
  membranes.prepare(q);
  hinges.prepare(q);
  rods.prepare(q);
}

double ElasticParts::value(const Matrix3X& q) const {
  return cells.value(q) + membranes.value(q) + hinges.value(q) + rods.value(q);
}

void ElasticParts::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  cells.add_gradient(q, gradient);
  membranes.add_gradient(q, gradient);
  hinges.add_gradient(q, gradient);
  rods.add_gradient(q, gradient);
}

std::array<Index, 4> ElasticParts::term_counts() const {
  return {cells.term_count(), membranes.term_count(), hinges.term_count(), rods.term_count()};
}

double ElasticParts::usual_node_stiffness(const Matrix3X& q) {
  set_scale(1);
  prepare(q);
  Matrix3X diagonal = Matrix3X::Zero(3, q.cols());
  LocalHessians local;
  for (const Potential* p : potentials())
    for (Index i = 0; i < p->term_count(); ++i) {
      local.reset(*p, i, i + 1);
      p->hessians(q, i, i + 1, Projection::psd, local);
      Index k = 0;
      for (const Index node : p->term(i)) diagonal.col(node) += local[i].diagonal().segment<3>(3 * k++);
    }
  std::vector<double> largest;
  for (Index n = 0; n < q.cols(); ++n)
    if (diagonal.col(n).maxCoeff() > 0) largest.push_back(diagonal.col(n).maxCoeff());
  if (largest.empty()) return 0;
  const auto middle = largest.begin() + std::ptrdiff_t(largest.size() / 2);
  std::nth_element(largest.begin(), middle, largest.end());
  return *middle;
}

double ElasticParts::largest_strain(const Matrix3X& q) const {
  const auto strain = [](const auto& stretches) { return (stretches.array() - 1).abs().maxCoeff(); };
  double largest = rods.largest_strain(q);
  largest = parallel_max(cells.term_count(), largest, [&](Index c) { return strain(cells.stretches(c)); });
  return parallel_max(membranes.term_count(), largest,
                      [&](Index t) { return strain(membranes.stretches(t)); });
}

double ElasticParts::smallest_volume_ratio() const {
  return parallel_min(cells.term_count(), 1.0, [&](Index c) { return cells.stretches(c).prod(); });
}

}  // namespace apart
