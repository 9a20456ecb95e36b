#include <apart/potentials/potential.hpp>

#include <apart/core/error.hpp>

namespace apart {

void LocalHessians::reset(const Potential& potential, Index begin, Index end) {
  begin_ = begin;
  points_.resize(std::size_t(end - begin));
  start_.resize(points_.size() + 1);
  for (Index i = begin; i < end; ++i) {
    const std::size_t k = std::size_t(i - begin), n = potential.term(i).size();
    points_[k] = Index(n);
    start_[k + 1] = next_aligned(start_[k] + 9 * n * n);
  }
  if (values_.size() < start_.back()) values_.resize(start_.back());
}

double Potential::value_of(const Matrix3X&, Index, Index) const {
  throw InvariantError("Potential: its value has no parts");
}

void Potential::add_gradient_of(const Matrix3X&, Index, Index, Matrix3X&) const {
  throw InvariantError("Potential: its gradient has no parts");
}

}  // namespace apart
