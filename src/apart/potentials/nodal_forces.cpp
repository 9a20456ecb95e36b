#include <apart/potentials/nodal_forces.hpp>

namespace apart {

void NodalForces::set(double scale, Matrix3X forces, Matrix3X origins) {
  scale_ = scale;
  nodes_.clear();
  for (Index n = 0; n < forces.cols(); ++n)
    if (!forces.col(n).isZero(0)) nodes_.push_back(n);
  forces_ = std::move(forces);
  origins_ = std::move(origins);
}

double NodalForces::value(const Matrix3X& q) const {
  return -scale_ * ordered_sum(Index(nodes_.size()), [&](Index i) {
    const Index n = nodes_[i];
    return forces_.col(n).dot(q.col(n) - origins_.col(n));
  });
}

void NodalForces::add_gradient(const Matrix3X&, Matrix3X& gradient) const {
  for (const Index n : nodes_) gradient.col(n) -= scale_ * forces_.col(n);
}

}  // namespace apart
