#include <support/potential_checks.hpp>

#include <gtest/gtest.h>
#include <support/finite_difference.hpp>
#include <support/nearest_psd.hpp>

#include <random>

namespace apart::test {

Eigen::MatrixXd dense_hessian(const Potential& potential, const Matrix3X& x, Projection projection) {
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(x.size(), x.size());
  LocalHessians local;
  local.reset(potential, 0, potential.term_count());
  potential.hessians(x, 0, potential.term_count(), projection, local);
  for (Index t = 0; t < potential.term_count(); ++t) {
    const TermPoints points = potential.term(t);
    for (std::size_t a = 0; a < points.size(); ++a)
      for (std::size_t b = 0; b < points.size(); ++b)
        h.block<3, 3>(3 * points[a], 3 * points[b]) += local[t].block<3, 3>(Index(3 * a), Index(3 * b));
  }
  return h;
}

void expect_potential_contract(Potential& potential, const Matrix3X& x, const std::string& where,
                               const PotentialCheck& check) {
  SCOPED_TRACE(where);
  const auto value = [&](const Matrix3X& at) {
    potential.prepare(at);
    return potential.value(at);
  };
  const auto gradient = [&](const Matrix3X& at) {
    potential.prepare(at);
    Matrix3X g = Matrix3X::Zero(3, at.cols());
    potential.add_gradient(at, g);
    return g;
  };
  const Matrix3X g = gradient(x);
  EXPECT_LT(relative_error(g, difference_gradient(value, x, check.epsilon)), check.gradient_error);
  const Eigen::MatrixXd by_difference = difference_hessian(gradient, x, check.epsilon);
  potential.prepare(x);
  EXPECT_LT(relative_error(dense_hessian(potential, x, Projection::none), by_difference),
            check.hessian_error);

  LocalHessians exact, projected;
  exact.reset(potential, 0, potential.term_count());
  projected.reset(potential, 0, potential.term_count());
  potential.hessians(x, 0, potential.term_count(), Projection::none, exact);
  potential.hessians(x, 0, potential.term_count(), Projection::psd, projected);
  for (Index t = 0; t < potential.term_count(); ++t) {
    const Eigen::MatrixXd h = exact[t], p = projected[t];
    const double rounding = 1e-9 * h.norm();
    EXPECT_GE(eigenvalues(p)[0], -rounding) << "term " << t;
    EXPECT_GE(eigenvalues(p - h)[0], -rounding) << "term " << t;
    if (check.nearest || eigenvalues(h)[0] >= 0) {
      EXPECT_LE((nearest_psd(h) - p).norm(), rounding) << "term " << t;
    }
  }
}

}  // namespace apart::test
