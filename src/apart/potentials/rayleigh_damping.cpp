#include <apart/core/error.hpp>
#include <apart/potentials/rayleigh_damping.hpp>

namespace apart {

void RayleighDamping::add_stiffness(const ElasticPotential& elasticity, Index first, Index count,
                                    double stiffness) {
  if (!(stiffness > 0 && count > 0)) return;
  for (Index i = 0; i < count; ++i) cells_.push_back({Index(ranges_.size()), first + i});
  ranges_.push_back({&elasticity, first, count, stiffness});
}

void RayleighDamping::add_mass(const Eigen::SparseMatrix<double>& mass, Index first_node,
                               double coefficient) {
  if (!(coefficient > 0)) return;
  for (int j = 0; j < mass.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator it(mass, j); it; ++it)
      if (it.row() >= it.col())
        masses_.push_back(
            {{Index(it.row()) + first_node, Index(it.col()) + first_node}, coefficient * it.value()});
}

void RayleighDamping::set_lag(const Matrix3X& q) {
  for (Range& r : ranges_) {
    ensure(r.elasticity->is_at(q), "RayleighDamping: elasticity is prepared elsewhere");
    r.local.reset(*r.elasticity, r.first, r.first + r.count);
    parallel_chunks(r.count, 64, [&](Index from, Index to) {
      r.elasticity->hessians(q, r.first + from, r.first + to, Projection::psd, r.local);
      for (Index i = r.first + from; i < r.first + to; ++i) r.local[i] *= r.stiffness;
    });
  }
}

void RayleighDamping::set_step(double scale, double rate, Matrix3X origin) {
  mass_factor_ = scale;
  rate_ = rate;
  origin_ = std::move(origin);
}

TermPoints RayleighDamping::term(Index i) const {
  if (is_mass(i)) return TermPoints(mass_entry(i).nodes).first(mass_entry(i).is_diagonal() ? 1 : 2);
  const Cell& cell = cells_[std::size_t(i)];
  return ranges_[std::size_t(cell.range)].elasticity->term(cell.term);
}

double RayleighDamping::value(const Matrix3X& q) const {
  const auto moved = [&](Index node) { return Vector3(q.col(node) - origin_.col(node)); };
  return 0.5 * rate_ * ordered_sum(term_count(), [&](Index i) {
           if (is_mass(i)) {
             const auto [row, column] = mass_entry(i).nodes;
             return mass_factor_ * mass_entry(i).value * (row == column ? 1 : 2) *
                    moved(row).dot(moved(column));
           }
           const TermPoints points = term(i);
           const auto k = cell_matrix(i);
           double sum = 0;
           for (std::size_t a = 0; a < points.size(); ++a)
             for (std::size_t b = 0; b < points.size(); ++b)
               sum += moved(points[a]).dot(k.block<3, 3>(Index(3 * a), Index(3 * b)) * moved(points[b]));
           return sum;
         });
}

void RayleighDamping::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  const auto moved = [&](Index node) { return Vector3(q.col(node) - origin_.col(node)); };
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    if (is_mass(i)) {
      const auto [row, column] = mass_entry(i).nodes;
      const double factor = rate_ * mass_factor_ * mass_entry(i).value;
      g.template head<3>() = factor * moved(column);
      if (row != column) g.template tail<3>() = factor * moved(row);
      return;
    }
    const TermPoints points = term(i);
    const auto k = cell_matrix(i);
    for (std::size_t b = 0; b < points.size(); ++b)
      g += k.middleCols<3>(Index(3 * b)) * (rate_ * moved(points[b]));
  });
}

void RayleighDamping::hessians(const Matrix3X&, Index begin, Index end, Projection,
                               LocalHessians& out) const {
  // Positive semi-definite as they stand: K was projected, and M is as a whole.
  for (Index i = begin; i < end; ++i) {
    auto h = out[i];
    if (!is_mass(i)) {
      h = rate_ * cell_matrix(i);
      continue;
    }
    const MassEntry& e = mass_entry(i);
    const double factor = rate_ * mass_factor_ * e.value;
    h.setZero();
    if (e.is_diagonal())
      h.diagonal().setConstant(factor);
    else
      for (int a = 0; a < 3; ++a) h(a, 3 + a) = h(3 + a, a) = factor;
  }
}

}  // namespace apart
