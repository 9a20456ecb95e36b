#include <apart/core/parallel.hpp>
#include <apart/simulation/elastic_parts.hpp>

#include <algorithm>

namespace apart {

void ElasticParts::add(const Body& body, Index first_node, Guard guard) {
  if (body.elastic) {
    const int degree = body.elastic->lagrange ? body.elastic->lagrange->degree : 0;
    if (!body.elastic->lagrange) cells.add(*body.elastic, first_node);
    if (degree == 1) curved.add(*body.elastic, first_node, guard);
    if (degree == 2) quadratic.add(*body.elastic, first_node, guard);
    if (degree == 3) cubic.add(*body.elastic, first_node, guard);
    if (degree == 4) quartic.add(*body.elastic, first_node, guard);
  }
  if (body.planar) planar.add(*body.planar, first_node);
  if (body.shell) {
    membranes.add(*body.shell, first_node);
    hinges.add(*body.shell, first_node);
  }
  if (body.rods) rods.add(*body.rods, first_node);
}

void ElasticParts::set_scale(double scale) {
  for_each_solid([&](auto& solid) { solid.set_scale(scale); });
  membranes.set_scale(scale);
  hinges.set_scale(scale);
  rods.set_scale(scale);
}

void ElasticParts::prepare(const Matrix3X& q) {
  for (Potential* p : potentials()) p->prepare(q);
}

void ElasticParts::refine(const Matrix3X& q) {
  curved.refine(q);
  quadratic.refine(q);
  cubic.refine(q);
  quartic.refine(q);
}

bool ElasticParts::refine_further(const Matrix3X& q) {
  bool changed = false;
  const auto refine = [&](auto& solid) {
    if (!solid.refine_further(q)) return;
    solid.prepare(q);
    changed = true;
  };
  refine(curved), refine(quadratic), refine(cubic), refine(quartic);
  return changed;
}

double ElasticParts::value(const Matrix3X& q) const {
  double sum = 0;
  for (const Potential* p : potentials()) sum += p->value(q);
  return sum;
}

void ElasticParts::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  for (const Potential* p : potentials()) p->add_gradient(q, gradient);
}

std::array<Index, 9> ElasticParts::term_counts() const {
  std::array<Index, 9> counts;
  std::ranges::transform(potentials(), counts.begin(), &Potential::term_count);
  return counts;
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

Strains ElasticParts::largest_strains(const Matrix3X& q) const {
  Strains largest = rods.largest_strains(q);
  for_each_solid([&](const auto& solid) {
    const auto stretch = [&](Index c) {
      double of_cell = 1;
      for (int k = 0; k < solid.point_count(c); ++k)
        of_cell = std::max(of_cell, solid.stretches(c, k).maxCoeff());
      return of_cell - 1;
    };
    const auto compression = [&](Index c) {
      double of_cell = 1;
      for (int k = 0; k < solid.point_count(c); ++k)
        of_cell = std::min(of_cell, solid.stretches(c, k).minCoeff());
      return 1 - of_cell;
    };
    largest.stretch = parallel_max(solid.term_count(), largest.stretch, stretch);
    largest.compression = parallel_max(solid.term_count(), largest.compression, compression);
  });
  const Index triangles = membranes.term_count();
  largest.stretch = parallel_max(triangles, largest.stretch,
                                 [&](Index t) { return membranes.stretches(t).maxCoeff() - 1; });
  largest.compression = parallel_max(triangles, largest.compression,
                                     [&](Index t) { return 1 - membranes.stretches(t).minCoeff(); });
  return largest;
}

double ElasticParts::smallest_volume_ratio() const {
  double smallest = 1;
  for_each_solid([&](const auto& solid) {
    smallest = parallel_min(solid.term_count(), smallest, [&](Index c) {
      double of_cell = 1;
      for (int k = 0; k < solid.point_count(c); ++k)
        of_cell = std::min(of_cell, solid.stretches(c, k).prod());
      return of_cell;
    });
  });
  return smallest;
}

}  // namespace apart
