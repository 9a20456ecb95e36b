#include <support/potential_checks.hpp>

#include <gtest/gtest.h>
#include <support/finite_difference.hpp>
#include <support/nearest_psd.hpp>

namespace apart::test {

Eigen::MatrixXd dense_hessian(const Potential& potential, const Matrix3X& x, Projection projection) {
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(x.size(), x.size());
  std::vector<LocalHessian> local(potential.term_count());
  potential.hessians(x, 0, projection, local);
  for (const LocalHessian& l : local)
    for (int a = 0; a < l.points.size; ++a)
      for (int b = 0; b < l.points.size; ++b)
        h.block<3, 3>(3 * l.points.ids[a], 3 * l.points.ids[b]) += l.matrix.block<3, 3>(3 * a, 3 * b);
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

  std::vector<LocalHessian> exact(potential.term_count()), projected(potential.term_count());
  potential.hessians(x, 0, Projection::none, exact);
  potential.hessians(x, 0, Projection::psd, projected);
  for (Index t = 0; t < potential.term_count(); ++t) {
    const int n = 3 * exact[t].points.size;
    ASSERT_EQ(exact[t].points.ids, potential.term(t).ids);
    const Eigen::MatrixXd h = exact[t].matrix.topLeftCorner(n, n),
                          p = projected[t].matrix.topLeftCorner(n, n);
    const double rounding = 1e-9 * h.norm();
    EXPECT_GE(smallest_eigenvalue(p), -rounding) << "term " << t;
    EXPECT_GE(smallest_eigenvalue(p - h), -rounding) << "term " << t;
    if (check.nearest || smallest_eigenvalue(h) >= 0) {
      EXPECT_LE((nearest_psd(h) - p).norm(), rounding) << "term " << t;
    }
  }
}

}  // namespace apart::test
