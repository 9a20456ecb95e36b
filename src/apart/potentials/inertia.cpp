#include <apart/potentials/inertia.hpp>

namespace apart {

Inertia::Inertia(const Eigen::SparseMatrix<double>& mass) {
  for (int j = 0; j < mass.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator it(mass, j); it; ++it)
      if (it.row() >= it.col()) entries_.push_back({{Index(it.row()), Index(it.col())}, it.value()});
}

double Inertia::value(const Matrix3X& q) const {
  return weight_ * ordered_sum(Index(entries_.size()), [&](Index i) {
           const Entry& e = entries_[i];
           const auto [row, column] = e.nodes;
           const double dot = (q.col(row) - predicted_.col(row)).dot(q.col(column) - predicted_.col(column));
           return (e.is_diagonal() ? 0.5 : 1.0) * e.mass * dot;
         });
}

void Inertia::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  for (const Entry& e : entries_) {
    const auto [row, column] = e.nodes;
    gradient.col(row) += weight_ * e.mass * (q.col(column) - predicted_.col(column));
    if (!e.is_diagonal()) gradient.col(column) += weight_ * e.mass * (q.col(row) - predicted_.col(row));
  }
}

void Inertia::hessians(const Matrix3X&, Index begin, Index end, Projection, LocalHessians& out) const {
  // M as a whole is positive definite; its off-diagonal entries are no terms of their own to project.
  for (Index i = begin; i < end; ++i) {
    const Entry& e = entries_[i];
    auto h = out[i];
    h.setZero();
    if (e.is_diagonal())
      h.diagonal().setConstant(weight_ * e.mass);
    else
      for (int a = 0; a < 3; ++a) h(a, 3 + a) = h(3 + a, a) = weight_ * e.mass;
  }
}

}  // namespace apart
