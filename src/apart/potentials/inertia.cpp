#include <apart/potentials/inertia.hpp>

namespace apart {

Inertia::Inertia(const Eigen::SparseMatrix<double>& mass) : mass_(mass) {
  for (int j = 0; j < mass.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator it(mass, j); it; ++it)
      if (it.row() >= it.col()) entries_.push_back({Index(it.row()), Index(it.col()), it.value()});
}

double Inertia::value(const Matrix3X& q) const {
  return weight_ * ordered_sum(Index(entries_.size()), [&](Index i) {
           const Entry& e = entries_[i];
           const double dot =
               (q.col(e.row) - predicted_.col(e.row)).dot(q.col(e.column) - predicted_.col(e.column));
           return (e.row == e.column ? 0.5 : 1.0) * e.mass * dot;
         });
}

void Inertia::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  for (const Entry& e : entries_) {
    gradient.col(e.row) += weight_ * e.mass * (q.col(e.column) - predicted_.col(e.column));
    if (e.row != e.column)
      gradient.col(e.column) += weight_ * e.mass * (q.col(e.row) - predicted_.col(e.row));
  }
}

TermPoints Inertia::term(Index i) const {
  const Entry& e = entries_[i];
  return e.row == e.column ? TermPoints{{e.row, -1, -1, -1}, 1} : TermPoints{{e.row, e.column, -1, -1}, 2};
}

void Inertia::hessians(const Matrix3X&, Index begin, Projection, std::span<LocalHessian> out) const {
  // M as a whole is positive definite; its off-diagonal entries are no terms of their own to project.
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Entry& e = entries_[begin + Index(k)];
    out[k].points = term(begin + Index(k));
    out[k].matrix.topLeftCorner<6, 6>().setZero();
    if (e.row == e.column)
      out[k].matrix.topLeftCorner<3, 3>().diagonal().setConstant(weight_ * e.mass);
    else
      for (int a = 0; a < 3; ++a) out[k].matrix(a, 3 + a) = out[k].matrix(3 + a, a) = weight_ * e.mass;
  }
}

}  // namespace apart
