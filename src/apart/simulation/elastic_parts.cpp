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
