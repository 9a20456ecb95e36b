#include <apart/potentials/barrier.hpp>
#include <apart/potentials/determinant_barrier.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <limits>

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
  std::uint32_t path;
};

/// Whether `path` leads to a part of the part that `begin` leads to, but not to that itself.
bool leads_into(std::uint32_t path, std::uint32_t begin) {
  while (path > begin) {
    path /= 2;
    if (path == begin) return true;
  }
  return false;
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
    const std::uint32_t path = open.back().path;
    open.pop_back();
    const auto now = part.coefficients.row(0), before = part.coefficients.row(1);
    const bool valid = before.minCoeff() > 0;
    const double ratio = valid ? now.cwiseQuotient(before).minCoeff() : -1;
    const bool had = std::ranges::find(kept, path) != kept.end();
    const bool parted = std::ranges::any_of(kept, [&](std::uint32_t k) { return leads_into(k, path); });
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
  const Index n = basis.size();
  Resistance result{reach, stiffness, Eigen::MatrixXd(n * Index(parts.size()), n), {}};
  // Row l: the coefficients if the determinant is 1 at point l of the lattice and 0 at others. The last one:
  // those at rest.
  Eigen::MatrixXd rows(n + 1, n);
  rows << fit_.transpose(), bound_.coefficients(shape.rest).transpose();
  std::vector<Open> open = {{whole_tetrahedron(rows), 1}};
  while (!open.empty()) {
    BernsteinPart part = std::move(open.back().part);
    const std::uint32_t path = open.back().path;
    open.pop_back();
    if (const auto at = std::ranges::find(parts, path); at != parts.end()) {
      result.ratios.middleRows(Index(at - parts.begin()) * n, n) =
          part.coefficients.row(n).cwiseInverse().asDiagonal() * part.coefficients.topRows(n).transpose();
    } else if (std::ranges::any_of(parts, [&](std::uint32_t p) { return leads_into(p, path); })) {
      BernsteinPart other = bisect_longest(basis, part);
      open.push_back({std::move(other), 2 * path + 1});
      open.push_back({std::move(part), 2 * path});
    }
  }
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

VectorX DeterminantBarrier::determinants(const Resistance& resistance, const Matrix3X& nodes) const {
  VectorX result(basis_.size());
  for (std::size_t l = 0; l < basis_.size(); ++l)
    result[Index(l)] = slope(resistance, nodes, l).determinant();
  return result;
}

double DeterminantBarrier::value(const Resistance& resistance, const Matrix3X& nodes) const {
  const VectorX ratios = resistance.ratios * determinants(resistance, nodes);
  double sum = 0;
  for (const double r : ratios) sum += barrier(r / resistance.reach, 1).value;
  return resistance.stiffness * sum;
}

VectorX DeterminantBarrier::gradient(const Resistance& resistance, const Matrix3X& nodes) const {
  VectorX slopes = resistance.ratios * determinants(resistance, nodes);
  for (double& r : slopes)
    r = resistance.stiffness / resistance.reach * barrier(r / resistance.reach, 1).first;
  const VectorX by_determinant = resistance.ratios.transpose() * slopes;
  Matrix3X result = Matrix3X::Zero(3, nodes.cols());
  for (std::size_t l = 0; l < basis_.size(); ++l) {
    const Matrix3 j = slope(resistance, nodes, l);
    Matrix3 cofactors;  // ∂det/∂J
    for (int k = 0; k < 3; ++k) cofactors.col(k) = j.col((k + 1) % 3).cross(j.col((k + 2) % 3));
    result += by_determinant[Index(l)] * cofactors * basis_[l];
  }
  return result.reshaped();
}

Eigen::MatrixXd DeterminantBarrier::hessian(const Resistance& resistance, const Matrix3X& nodes) const {
  const Index n = nodes.cols(), count = Index(basis_.size());
  Eigen::MatrixXd slopes(count, 3 * n);  // of each determinant
  std::vector<Matrix3> j(basis_.size());
  VectorX determinants(count);
  for (Index l = 0; l < count; ++l) {
    const Matrix3& a = j[std::size_t(l)] = slope(resistance, nodes, std::size_t(l));
    Matrix3 cofactors;
    for (int k = 0; k < 3; ++k) cofactors.col(k) = a.col((k + 1) % 3).cross(a.col((k + 2) % 3));
    determinants[l] = cofactors.col(0).dot(a.col(0));
    slopes.row(l) = Matrix3X(cofactors * basis_[std::size_t(l)]).reshaped().transpose();
  }
  const VectorX ratios = resistance.ratios * determinants;
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(3 * n, 3 * n);
  VectorX by_determinant = VectorX::Zero(count);
  for (Index i = 0; i < ratios.size(); ++i) {
    const Barrier b = barrier(ratios[i] / resistance.reach, 1);
    if (b.second == 0) continue;
    const double scale = resistance.stiffness / resistance.reach;
    const VectorX of_ratio = slopes.transpose() * resistance.ratios.row(i).transpose();
    result.selfadjointView<Eigen::Lower>().rankUpdate(of_ratio, scale / resistance.reach * b.second);
    by_determinant += scale * b.first * resistance.ratios.row(i).transpose();
  }
  // ∂²det/∂x_a∂x_b applied to v is v × w with w = J (∇N_a × ∇N_b).
  for (Index a = 0; a < n; ++a)
    for (Index b = 0; b < a; ++b) {
      Vector3 w = Vector3::Zero();
      for (std::size_t l = 0; l < basis_.size(); ++l) {
        const Vector3 na = basis_[l].col(a), nb = basis_[l].col(b);
        w += by_determinant[Index(l)] * (j[l] * na.cross(nb));
      }
      Matrix3 block;
      block << 0, w[2], -w[1], -w[2], 0, w[0], w[1], -w[0], 0;
      result.block<3, 3>(3 * a, 3 * b) += block;
    }
  result.triangularView<Eigen::StrictlyUpper>() = result.transpose();
  return result;
}

}  // namespace apart
