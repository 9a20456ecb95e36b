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

/// Eigen copies what it multiplies to the stack if it is not larger than 128 KiB: with so many rows and
/// columns at once, of numbers that are added up as well, it never allocates.
constexpr Index block_size = 64;

/// product = a · b in blocks.
template <class B>
void multiply(const DeterminantBarrier::Matrix& a, const B& b, DeterminantBarrier::Matrix& product) {
  for (Index i = 0; i < a.rows(); i += block_size)
    for (Index j = 0; j < b.cols(); j += block_size) {
      const Index rows = std::min(block_size, Index(a.rows()) - i),
                  cols = std::min(block_size, Index(b.cols()) - j);
      product.block(i, j, rows, cols).noalias() = a.middleRows(i, rows) * b.middleCols(j, cols);
    }
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
    const bool is_smallest = part.depth >= JacobianBound::most_bisections || basis.degree() == 0;
    const bool close = ratio >= share * smallest || (is_smallest && ratio > 0);
    if (!parted && close) {
      if (had || ratio < 4 * reach) result.push_back(path);
      continue;
    }
    if (is_smallest) continue;  // not proven to be positive: left to the step bound
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
  BernsteinParts::Room room;
  result.inverse_rest = result.parts.restricted(basis, bound_.coefficients(shape.rest).transpose(), room)
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

Matrix3 DeterminantBarrier::slope(const Resistance& resistance, const Nodes& nodes, std::size_t l) const {
  // Differences first: far from the origin digits are lost.
  const Nodes relative = nodes.colwise() - Vector3(nodes.col(0));
  Matrix3 j = relative.lazyProduct(basis_[l].transpose());
  if (resistance.offset.rows() > 0) j += resistance.offset.middleRows<3>(3 * Index(l));
  return j;
}

DeterminantBarrier::Matrix DeterminantBarrier::ratios_of(const Resistance& resistance,
                                                         const Coefficients& determinants, Room& room) const {
  Eigen::Matrix<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, most_coefficients> coefficients(
      determinants.size());
  coefficients.transpose().noalias() = fit_ * determinants;
  const Matrix on_parts = resistance.parts.restricted(bound_.determinant_basis(), coefficients, room.parts);
  Matrix result = room.ratios.shaped(on_parts.cols(), 1);
  result = on_parts.transpose().array() * resistance.inverse_rest;
  return result;
}

DeterminantBarrier::Coefficients DeterminantBarrier::by_determinant(const Resistance& resistance,
                                                                    const Matrix& by_ratio,
                                                                    Room& room) const {
  Matrix by_coefficient = room.by_coefficient.shaped(1, by_ratio.rows());
  by_coefficient = (by_ratio.array() * resistance.inverse_rest).matrix().transpose();
  const Matrix on_whole = resistance.parts.gathered(bound_.determinant_basis(), by_coefficient, room.parts);
  Coefficients result(on_whole.cols());
  result.noalias() = fit_.transpose() * on_whole.reshaped();
  return result;
}

DeterminantBarrier::Matrix DeterminantBarrier::ratios(const Resistance& resistance, const Nodes& nodes,
                                                      Room& room) const {
  Coefficients determinants(Index(basis_.size()));
  for (std::size_t l = 0; l < basis_.size(); ++l)
    determinants[Index(l)] = slope(resistance, nodes, l).determinant();
  return ratios_of(resistance, determinants, room);
}

double DeterminantBarrier::value(const Resistance& resistance, const Nodes& nodes, Room& room) const {
  double sum = 0;
  const Matrix all = ratios(resistance, nodes, room);
  for (const double r : all.reshaped()) sum += barrier(r / resistance.reach, 1).value;
  return resistance.stiffness * sum;
}

DeterminantBarrier::Nodes DeterminantBarrier::gradient(const Resistance& resistance, const Nodes& nodes,
                                                       Room& room) const {
  Matrix slopes = ratios(resistance, nodes, room);
  for (double& r : slopes.reshaped())
    r = resistance.stiffness / resistance.reach * barrier(r / resistance.reach, 1).first;
  const Coefficients weights = by_determinant(resistance, slopes, room);
  Nodes result = Nodes::Zero(3, nodes.cols());
  for (std::size_t l = 0; l < basis_.size(); ++l) {
    const Matrix3 c = weights[Index(l)] * cofactors(slope(resistance, nodes, l));
    result += c.lazyProduct(basis_[l]);
  }
  return result;
}

DeterminantBarrier::Matrix DeterminantBarrier::hessian(const Resistance& resistance, const Nodes& nodes,
                                                       Room& room) const {
  const BernsteinTetrahedron& basis = bound_.determinant_basis();
  const Index n = nodes.cols(), count = Index(basis_.size());
  Matrix slopes = room.slopes.shaped(3 * n, count);  // of each determinant
  std::array<Matrix3, most_coefficients> j;
  Coefficients determinants(count);
  for (Index l = 0; l < count; ++l) {
    const Matrix3& a = j[std::size_t(l)] = slope(resistance, nodes, std::size_t(l));
    const Matrix3 c = cofactors(a);
    determinants[l] = c.col(0).dot(a.col(0));
    slopes.col(l).reshaped(3, n) = c.lazyProduct(basis_[std::size_t(l)]);
  }
  const Matrix ratios = ratios_of(resistance, determinants, room);
  const double scale = resistance.stiffness / resistance.reach;
  Matrix derivatives = room.by_ratio.shaped(ratios.rows(), 2);
  room.resists.assign(std::size_t(resistance.parts.count()), false);
  for (Index i = 0; i < ratios.rows(); ++i) {
    const Barrier b = barrier(ratios(i, 0) / resistance.reach, 1);
    derivatives(i, 0) = scale * b.first, derivatives(i, 1) = scale / resistance.reach * b.second;
    if (b.second != 0) room.resists[std::size_t(i / count)] = true;
  }
  const auto second = derivatives.col(1);
  Matrix result = room.hessian.shaped(3 * n, 3 * n);
  result.setZero();
  // √b″ ∂r/∂x, of coefficients that resist.
  Matrix columns = room.columns.shaped(3 * n, (second.array() != 0).count());
  if (columns.cols() > 0) {
    Matrix of_coefficients = room.of_coefficients.shaped(3 * n, count);
    multiply(slopes, fit_.transpose(), of_coefficients);
    const Matrix on_parts = resistance.parts.restricted(basis, of_coefficients, room.parts, room.resists);
    for (Index i = 0, k = 0; i < ratios.rows(); ++i)
      if (second[i] != 0)
        columns.col(k++) = std::sqrt(second[i]) * resistance.inverse_rest[i] * on_parts.col(i);
    for (Index k = 0; k < columns.cols(); k += block_size)
      result.selfadjointView<Eigen::Lower>().rankUpdate(
          columns.middleCols(k, std::min(block_size, Index(columns.cols()) - k)));
  }
  // ∂²det/∂x_a∂x_b applied to v is v × w with w = J (∇N_a × ∇N_b).
  const Matrix first(derivatives.data(), derivatives.rows(), 1);
  const Coefficients weights = by_determinant(resistance, first, room);
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
  for (Index b = 1; b < 3 * n; ++b)
    for (Index a = 0; a < b; ++a) result(a, b) = result(b, a);
  return result;
}

}  // namespace apart
