#include <apart/potentials/potential.hpp>

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

}  // namespace apart
