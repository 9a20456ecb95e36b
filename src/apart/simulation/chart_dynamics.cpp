#include <apart/simulation/chart_dynamics.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace apart {

ChartDynamics::ChartDynamics(const Body& body, const Matrix3X& q) : body_(body), q_(q) {
  const BodyChart& chart = *body.chart;
  const Index n = chart.node_count(), m = chart.unknown_count();
  const BodyColumns at = q;
  slope_.resize(3 * n, 3 * m);
  for (Index k = 0; k < n; ++k)
    for (Index u = 0; u < m; ++u) slope_.block<3, 3>(3 * k, 3 * u) = chart.slope(at, k, u);
  const BodyChart::Mask free = chart.free();
  for (Index u = 0; u < 3 * m; ++u)
    if (!free(u)) slope_.col(u).setZero();
  Eigen::MatrixXd pushed = Eigen::MatrixXd::Zero(3 * n, 3 * m);  // M J
  for (int j = 0; j < body.mass.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator it(body.mass, j); it; ++it)
      pushed.middleRows<3>(3 * it.row()) += it.value() * slope_.middleRows<3>(3 * it.col());
  mass_ = slope_.transpose() * pushed;
  for (Index u = 0; u < 3 * m; ++u)
    if (!free(u)) mass_(u, u) = 1;
}

VectorX ChartDynamics::solved(const VectorX& f) const {
  return mass_.llt().solve(f);
}

VectorX ChartDynamics::momentum(const Matrix3X& v) const {
  const Matrix3X of_nodes = v * body_.mass;
  return slope_.transpose() * of_nodes.reshaped();
}

Matrix3X ChartDynamics::rates_of_momentum(const VectorX& momentum) const {
  const VectorX rates = solved(momentum);
  return rates.reshaped(3, rates.size() / 3);
}

Matrix3X ChartDynamics::velocity(const Matrix3X& rates) const {
  const VectorX v = slope_ * rates.reshaped();
  return v.reshaped(3, v.size() / 3);
}

Matrix3X ChartDynamics::acceleration(const Matrix3X& forces) const {
  const VectorX a = slope_ * solved(slope_.transpose() * forces.reshaped());
  return a.reshaped(3, a.size() / 3);
}

double ChartDynamics::least_mass() const {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(mass_, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

Matrix3X ChartDynamics::curved_acceleration(const Matrix3X& rates) const {
  Matrix3X result(3, q_.cols());
  const VectorX y = rates.reshaped();
  for (Index k = 0; k < result.size(); ++k) {
    Matrix3X unit = Matrix3X::Zero(3, q_.cols());
    unit(k) = 1;
    result(k) = y.dot(body_.chart->curvature(q_, unit) * y);
  }
  return result;
}

}  // namespace apart
