#include <apart/potentials/barrier.hpp>
#include <apart/potentials/determinant_barrier.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace apart {

DeterminantBarrier::DeterminantBarrier(int degree, int lattice_degree) : bound_(lattice_degree) {
  const BernsteinTetrahedron& basis = bound_.determinant_basis();
  fit_ = basis.from_lattice_values();
  for (const LatticePoint& p : basis.lattice()) {
    const Vector3 xi = Vector3(p[1], p[2], p[3]) / std::max(1, basis.degree());
    basis_.push_back(LagrangeTetrahedron(degree).gradients(xi));
    lattice_.push_back(LagrangeTetrahedron(lattice_degree).gradients(xi));
  }
}

namespace {

/// A part that may have to be bisected, and the bisections that led to it.
struct Open {
  BernsteinPart part;
  BernsteinPath path;
};

/// ∂det/∂J.
Matrix3 cofactors(const Matrix3& j) {
  Matrix3 result;
  for (int k = 0; k < 3; ++k) result.col(k) = j.col((k + 1) % 3).cross(j.col((k + 2) % 3));
  return result;
}

}  // namespace

DeterminantBarrier::Parts DeterminantBarrier::parts(const Shape& shape, const Matrix3X& x, double reach,
                                                    double smallest, const Parts& kept) const {
  constexpr double share = 0.5;  // of the smallest ratio, above which coefficients are close enough
  const BernsteinTetrahedron& basis = bound_.determinant_basis();
  Eigen::MatrixXd both(2, basis.size());
  both << bound_.coefficients(x).transpose(), bound_.coefficients(shape.rest).transpose();
  std::vector<Open> open = {{whole_tetrahedron(both), 1}};
  Parts result;
  while (!open.empty()) {
    BernsteinPart part = std::move(open.back().part);
    const BernsteinPath path = open.back().path;
    open.pop_back();
    const auto now = part.coefficients.row(0), before = part.coefficients.row(1);
    const bool valid = before.minCoeff() > 0;
    const double ratio = valid ? now.cwiseQuotient(before).minCoeff() : -1;
    const bool had = std::ranges::find(kept, path) != kept.end();
    const bool parted = std::ranges::any_of(kept, [&](BernsteinPath k) { return leads_into(k, path); });
    const bool close = ratio >= share * smallest;
    if (!parted && close) {
      if (had || ratio < 4 * reach) result.push_back(path);
      continue;
    }
    if (part.depth >= most_bisections || basis.degree() == 0) continue;  // left to the step bound
    BernsteinPart other = bisect_longest(basis, part);
    open.push_back({std::move(other), 2 * path + 1});
    open.push_back({std::move(part), 2 * path});
  }
  return result;
}

DeterminantBarrier::Resistance DeterminantBarrier::resistance(const Shape& shape, const Parts& parts,
                                                              double reach, double stiffness) const {
  const BernsteinTetrahedron& basis = bound_.determinant_basis();
  Resistance result{reach, stiffness, BernsteinParts(parts), {}, {}};
  result.inverse_rest = result.parts.restricted(basis, bound_.coefficients(shape.rest).transpose())
                            .transpose()
                            .array()
                            .inverse();
  const Index n = basis.size();
  if (shape.offset.cols() > 0) {
    result.offset.resize(3 * n, 3);
    for (Index l = 0; l < n; ++l)
      result.offset.middleRows<3>(3 * l) = shape.offset * lattice_[std::size_t(l)].transpose();
  }
  return result;
}

Matrix3 DeterminantBarrier::slope(const Resistance& resistance, const Matrix3X& nodes, std::size_t l) const {
  // Differences first: far from the origin digits are lost.
  Matrix3 j = (nodes.colwise() - nodes.col(0).eval()) * basis_[l].transpose();
  if (resistance.offset.rows() > 0) j += resistance.offset.middleRows<3>(3 * Index(l));
  return j;
}

VectorX DeterminantBarrier::ratios_of(const Resistance& resistance, const VectorX& determinants) const {
  const Eigen::MatrixXd coefficients = (fit_ * determinants).transpose();
  return resistance.parts.restricted(bound_.determinant_basis(), coefficients).transpose().array() *
         resistance.inverse_rest;
}

VectorX DeterminantBarrier::by_determinant(const Resistance& resistance, const VectorX& by_ratio) const {
  const Eigen::MatrixXd by_coefficient = (by_ratio.array() * resistance.inverse_rest).matrix().transpose();
  return fit_.transpose() * resistance.parts.gathered(bound_.determinant_basis(), by_coefficient).transpose();
}

VectorX DeterminantBarrier::ratios(const Resistance& resistance, const Matrix3X& nodes) const {
  VectorX determinants(basis_.size());
  for (std::size_t l = 0; l < basis_.size(); ++l)
    determinants[Index(l)] = slope(resistance, nodes, l).determinant();
  return ratios_of(resistance, determinants);
}

double DeterminantBarrier::value(const Resistance& resistance, const Matrix3X& nodes) const {
  double sum = 0;
  for (const double r : ratios(resistance, nodes)) sum += barrier(r / resistance.reach, 1).value;
  return resistance.stiffness * sum;
}

VectorX DeterminantBarrier::gradient(const Resistance& resistance, const Matrix3X& nodes) const {
  VectorX slopes = ratios(resistance, nodes);
  for (double& r : slopes)
    r = resistance.stiffness / resistance.reach * barrier(r / resistance.reach, 1).first;
  const VectorX weights = by_determinant(resistance, slopes);
  Matrix3X result = Matrix3X::Zero(3, nodes.cols());
  for (std::size_t l = 0; l < basis_.size(); ++l)
    result += weights[Index(l)] * cofactors(slope(resistance, nodes, l)) * basis_[l];
  return result.reshaped();
}

Eigen::MatrixXd DeterminantBarrier::hessian(const Resistance& resistance, const Matrix3X& nodes) const {
  const BernsteinTetrahedron& basis = bound_.determinant_basis();
  const Index n = nodes.cols(), count = Index(basis_.size());
  Eigen::MatrixXd slopes(3 * n, count);  // of each determinant
  std::vector<Matrix3> j(basis_.size());
  VectorX determinants(count);
  for (Index l = 0; l < count; ++l) {
    const Matrix3& a = j[std::size_t(l)] = slope(resistance, nodes, std::size_t(l));
    const Matrix3 c = cofactors(a);
    determinants[l] = c.col(0).dot(a.col(0));
    slopes.col(l) = Matrix3X(c * basis_[std::size_t(l)]).reshaped();
  }
  const VectorX ratios = ratios_of(resistance, determinants);
  const double scale = resistance.stiffness / resistance.reach;
  VectorX first(ratios.size()), second(ratios.size());
  std::vector<bool> resists(std::size_t(resistance.parts.count()));
  for (Index i = 0; i < ratios.size(); ++i) {
    const Barrier b = barrier(ratios[i] / resistance.reach, 1);
    first[i] = scale * b.first, second[i] = scale / resistance.reach * b.second;
    if (b.second != 0) resists[std::size_t(i / count)] = true;
  }
  const Eigen::MatrixXd of_coefficients =
      resistance.parts.restricted(basis, slopes * fit_.transpose(), resists);
  Eigen::MatrixXd columns(3 * n, (second.array() != 0).count());  // √b″ ∂r/∂x, of coefficients that resist
  for (Index i = 0, k = 0; i < ratios.size(); ++i)
    if (second[i] != 0)
      columns.col(k++) = std::sqrt(second[i]) * resistance.inverse_rest[i] * of_coefficients.col(i);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(3 * n, 3 * n);
  if (columns.cols() > 0) result.selfadjointView<Eigen::Lower>().rankUpdate(columns);
  // ∂²det/∂x_a∂x_b applied to v is v × w with w = J (∇N_a × ∇N_b).
  const VectorX weights = by_determinant(resistance, first);
  for (Index a = 0; a < n; ++a)
    for (Index b = 0; b < a; ++b) {
      Vector3 w = Vector3::Zero();
      for (std::size_t l = 0; l < basis_.size(); ++l) {
        const Vector3 na = basis_[l].col(a), nb = basis_[l].col(b);
        w += weights[Index(l)] * (j[l] * na.cross(nb));
      }
      Matrix3 block;
      block << 0, w[2], -w[1], -w[2], 0, w[0], w[1], -w[0], 0;
      result.block<3, 3>(3 * a, 3 * b) += block;
    }
  result.triangularView<Eigen::StrictlyUpper>() = result.transpose();
  return result;
}

}  // namespace apart
