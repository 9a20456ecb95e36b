#include <apart/potentials/rayleigh_damping.hpp>

namespace apart {

void RayleighDamping::add_stiffness(const Potential& elasticity, Index first, Index count, double stiffness) {
  if (stiffness > 0 && count > 0) ranges_.push_back({&elasticity, first, count, stiffness});
}

void RayleighDamping::add_mass(const Eigen::SparseMatrix<double>& mass, Index first_node,
                               double coefficient) {
  if (!(coefficient > 0)) return;
  for (int j = 0; j < mass.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator it(mass, j); it; ++it)
      if (it.row() >= it.col())
        masses_.push_back(
            {Index(it.row()) + first_node, Index(it.col()) + first_node, coefficient * it.value()});
}

void RayleighDamping::set_lag(const Matrix3X& q) {
  Index count = 0;
  for (const Range& r : ranges_) count += r.count;
  local_.resize(count);
  Index at = 0;
  for (const Range& r : ranges_) {
    parallel_chunks(r.count, 64, [&](Index from, Index to) {
      const auto out = std::span(local_).subspan(at + from, to - from);
      r.elasticity->hessians(q, r.first + from, Projection::psd, out);
      for (LocalHessian& h : out) h.matrix *= r.stiffness;
    });
    at += r.count;
  }
}

void RayleighDamping::set_step(double scale, double rate, Matrix3X origin) {
  mass_factor_ = scale;
  rate_ = rate;
  origin_ = std::move(origin);
}

TermPoints RayleighDamping::term(Index i) const {
  if (!is_mass(i)) return local_[i].points;
  const MassEntry& e = mass_entry(i);
  return e.row == e.column ? TermPoints{{e.row, -1, -1, -1}, 1} : TermPoints{{e.row, e.column, -1, -1}, 2};
}

StencilVector RayleighDamping::displacement(const TermPoints& points, const Matrix3X& q) const {
  StencilVector d = StencilVector::Zero();
  for (int k = 0; k < points.size; ++k)
    d.segment<3>(3 * k) = q.col(points.ids[k]) - origin_.col(points.ids[k]);
  return d;
}

double RayleighDamping::value(const Matrix3X& q) const {
  return 0.5 * rate_ * ordered_sum(term_count(), [&](Index i) {
           const StencilVector d = displacement(term(i), q);
           if (!is_mass(i)) return d.dot(local_[i].matrix * d);
           const MassEntry& e = mass_entry(i);
           return mass_factor_ * e.value *
                  (e.row == e.column ? d.head<3>().squaredNorm() : 2 * d.head<3>().dot(d.segment<3>(3)));
         });
}

void RayleighDamping::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  add_local_gradients(term_count(), gradient, [&](Index i) {
    const TermPoints points = term(i);
    const StencilVector d = displacement(points, q);
    StencilVector g = StencilVector::Zero();
    if (!is_mass(i)) {
      g = rate_ * (local_[i].matrix * d);
    } else {
      const MassEntry& e = mass_entry(i);
      const double factor = rate_ * mass_factor_ * e.value;
      g.head<3>() = factor * (e.row == e.column ? d.head<3>() : d.segment<3>(3));
      if (e.row != e.column) g.segment<3>(3) = factor * d.head<3>();
    }
    return std::pair{points, g};
  });
}

void RayleighDamping::hessians(const Matrix3X&, Index begin, Projection, std::span<LocalHessian> out) const {
  // Positive semi-definite as they stand: K was projected, and M is as a whole.
  for (std::size_t j = 0; j < out.size(); ++j) {
    const Index i = begin + Index(j);
    out[j].points = term(i);
    if (!is_mass(i)) {
      out[j].matrix = rate_ * local_[i].matrix;
      continue;
    }
    const MassEntry& e = mass_entry(i);
    const double factor = rate_ * mass_factor_ * e.value;
    out[j].matrix.topLeftCorner<6, 6>().setZero();
    for (int a = 0; a < 3; ++a)
      if (e.row == e.column)
        out[j].matrix(a, a) = factor;
      else
        out[j].matrix(a, 3 + a) = out[j].matrix(3 + a, a) = factor;
  }
}

}  // namespace apart
