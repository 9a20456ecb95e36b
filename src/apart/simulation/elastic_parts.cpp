#include <apart/simulation/elastic_parts.hpp>

#include <algorithm>

namespace apart {

void ElasticParts::add(const Body& body, Index first_node, Guard guard, const OwnNodes& own) {
  if (body.elastic) {
    const int degree = body.elastic->lagrange ? body.elastic->lagrange->degree : 0;
    if (!body.elastic->lagrange) cells.add(*body.elastic, first_node, own);
    if (degree == 1) curved.add(*body.elastic, first_node, guard, own);
    if (degree == 2) quadratic.add(*body.elastic, first_node, guard, own);
    if (degree == 3) cubic.add(*body.elastic, first_node, guard, own);
    if (degree == 4) quartic.add(*body.elastic, first_node, guard, own);
  }
  if (body.planar) planar.add(*body.planar, first_node, own);
  if (body.shell) {
    membranes.add(*body.shell, first_node, own);
    hinges.add(*body.shell, first_node, own);
  }
  if (body.rods) rods.add(*body.rods, first_node, own);
}

void ElasticParts::set_scale(double scale) {
  for (ElasticPotential* p : potentials()) p->set_scale(scale);
}

void ElasticParts::prepare(const Matrix3X& q) {
  for (Potential* p : potentials()) p->prepare(q);
}

void ElasticParts::refine(const Matrix3X& q) {
  for (ElasticPotential* p : potentials()) p->refine(q);
}

bool ElasticParts::refine_further(const Matrix3X& q) {
  bool changed = false;
  for (ElasticPotential* p : potentials())
    if (p->refine_further(q)) {
      p->prepare(q);
      changed = true;
    }
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

ElasticParts::Counts ElasticParts::term_counts() const {
  Counts counts;
  std::ranges::transform(potentials(), counts.begin(), &Potential::term_count);
  return counts;
}

double ElasticParts::usual_node_stiffness(const Matrix3X& q, const Team& team) {
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
  team.sum(diagonal);
  std::vector<double> largest;
  for (Index n = 0; n < q.cols(); ++n)
    if (diagonal.col(n).maxCoeff() > 0) largest.push_back(diagonal.col(n).maxCoeff());
  if (largest.empty()) return 0;
  const auto middle = largest.begin() + std::ptrdiff_t(largest.size() / 2);
  std::nth_element(largest.begin(), middle, largest.end());
  return *middle;
}

Strains ElasticParts::largest_strains(const Matrix3X& q) const {
  Strains largest;
  for (const ElasticPotential* p : potentials()) largest.include(p->largest_strains(q));
  return largest;
}

double ElasticParts::smallest_volume_ratio(const Matrix3X& q) const {
  double smallest = 1;
  for (const ElasticPotential* p : potentials()) smallest = std::min(smallest, p->smallest_volume_ratio(q));
  return smallest;
}

}  // namespace apart
