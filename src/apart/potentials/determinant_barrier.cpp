#include <apart/potentials/barrier.hpp>
#include <apart/potentials/determinant_barrier.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

namespace apart {

DeterminantBarrier::DeterminantBarrier(int degree, int lattice_degree) : bound_(lattice_degree) {
  const BernsteinTetrahedron& basis = bound_.determinant_basis();
  fit_ = basis.from_lattice_values();
  for (const LatticePoint& p : basis.lattice()) {
    const Vector3 xi = Vector3(p[1], p[2], p[3]) / std::max(1, basis.degree());
    basis_.push_back(LagrangeTetrahedron(degree).gradients(xi));
    lattice_.push_back(LagrangeTetrahedron(lattice_degree).gradients(xi));
  }
  const Index nodes = Index(basis_[0].cols());
  crossed_.resize(3 * basis.size(), nodes * (nodes - 1) / 2);
  for (Index l = 0; l < basis.size(); ++l)
    for (Index a = 0, pair = 0; a < nodes; ++a)
      for (Index b = 0; b < a; ++b, ++pair) {
        const Vector3 na = basis_[std::size_t(l)].col(a), nb = basis_[std::size_t(l)].col(b);
        crossed_.block<3, 1>(3 * l, pair) = na.cross(nb);
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
    const auto kept_here = within(kept, path);
    const bool had = !kept_here.empty() && kept_here.front() == path, parted = !kept_here.empty() && !had;
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
  Resistance result{reach, stiffness, BernsteinParts(parts), bound_.coefficients(shape.rest), {}};
  const Index n = Index(basis_.size());
  if (shape.offset.cols() > 0) {
    result.offset.resize(3, 3 * n);
    for (Index l = 0; l < n; ++l)
      result.offset.middleCols<3>(3 * l) = shape.offset * lattice_[std::size_t(l)].transpose();
  }
  return result;
}

DeterminantBarrier::Slopes DeterminantBarrier::slopes(const Resistance& resistance,
                                                      const Nodes& nodes) const {
  // Differences first: far from the origin digits are lost.
  const Nodes relative = nodes.colwise() - Vector3(nodes.col(0));
  const Index n = Index(basis_.size());
  Slopes result(3, 3 * n);
  for (Index l = 0; l < n; ++l)
    result.middleCols<3>(3 * l) = relative.lazyProduct(basis_[std::size_t(l)].transpose());
  if (resistance.offset.cols() > 0) result += resistance.offset;
  return result;
}

DeterminantBarrier::Coefficients DeterminantBarrier::determinants(const Slopes& slopes) {
  Coefficients result(slopes.cols() / 3);
  for (Index l = 0; l < result.size(); ++l) result[l] = slopes.middleCols<3>(3 * l).determinant();
  return result;
}

BernsteinParts::Low DeterminantBarrier::low_parts(const Resistance& resistance,
                                                  const Coefficients& determinants, double ratio,
                                                  Room& room) const {
  Eigen::Matrix<double, 2, Eigen::Dynamic, Eigen::ColMajor, 2, most_coefficients> both(2,
                                                                                       determinants.size());
  const Coefficients now = fit_ * determinants;
  both << now.transpose(), resistance.rest.transpose();
  return resistance.parts.low(bound_.determinant_basis(), both, ratio, room.parts);
}

DeterminantBarrier::Matrix DeterminantBarrier::by_coefficient(const Resistance& resistance,
                                                              const BernsteinParts::Low& low,
                                                              Room& room) const {
  Matrix result = room.by_coefficient.shaped(low.coefficients.cols(), 2);
  for (Index i = 0; i < result.rows(); ++i) {
    const double scale = 1 / (resistance.reach * low.coefficients(1, i));
    const Barrier b = barrier(scale * low.coefficients(0, i), 1);
    result.row(i) << resistance.stiffness * scale * b.first, resistance.stiffness * scale * scale * b.second;
  }
  return result;
}

DeterminantBarrier::Coefficients DeterminantBarrier::by_determinant(const Resistance& resistance,
                                                                    const BernsteinParts::Low& low,
                                                                    Matrix by_coefficient, Room& room) const {
  const Matrix first(by_coefficient.data(), 1, by_coefficient.rows());
  const Matrix on_whole = resistance.parts.gathered(bound_.determinant_basis(), first, low.parts, room.parts);
  Coefficients result(on_whole.cols());
  result.noalias() = fit_.transpose() * on_whole.reshaped();
  return result;
}

double DeterminantBarrier::smallest_ratio(const Resistance& resistance, const Nodes& nodes,
                                          Room& room) const {
  const BernsteinParts::Low all =
      low_parts(resistance, determinants(slopes(resistance, nodes)), infinity, room);
  return all.coefficients.row(0).cwiseQuotient(all.coefficients.row(1)).minCoeff();
}

double DeterminantBarrier::value(const Resistance& resistance, const Nodes& nodes, Room& room) const {
  const BernsteinParts::Low low =
      low_parts(resistance, determinants(slopes(resistance, nodes)), resistance.reach, room);
  double sum = 0;
  for (Index i = 0; i < low.coefficients.cols(); ++i)
    sum += barrier(low.coefficients(0, i) / (resistance.reach * low.coefficients(1, i)), 1).value;
  return resistance.stiffness * sum;
}

DeterminantBarrier::Nodes DeterminantBarrier::gradient(const Resistance& resistance, const Nodes& nodes,
                                                       Room& room) const {
  const Slopes slopes = this->slopes(resistance, nodes);
  const BernsteinParts::Low low = low_parts(resistance, determinants(slopes), resistance.reach, room);
  Nodes result = Nodes::Zero(3, nodes.cols());
  if (low.parts.empty()) return result;
  Matrix derivatives = by_coefficient(resistance, low, room);
  const Coefficients weights = by_determinant(resistance, low, derivatives, room);
  for (std::size_t l = 0; l < basis_.size(); ++l) {
    const Matrix3 c = weights[Index(l)] * cofactors(slopes.middleCols<3>(3 * Index(l)));
    result += c.lazyProduct(basis_[l]);
  }
  return result;
}

DeterminantBarrier::Matrix DeterminantBarrier::hessian(const Resistance& resistance, const Nodes& nodes,
                                                       Room& room) const {
  const BernsteinTetrahedron& basis = bound_.determinant_basis();
  const Index n = nodes.cols(), count = Index(basis_.size());
  Matrix result = room.hessian.shaped(3 * n, 3 * n);
  result.setZero();
  Slopes slopes = this->slopes(resistance, nodes);
  const BernsteinParts::Low low = low_parts(resistance, determinants(slopes), resistance.reach, room);
  if (low.parts.empty()) return result;
  Matrix derivatives = by_coefficient(resistance, low, room);
  // First that of det: applied to v, ∂²det/∂x_a∂x_b is v × w with w = J (∇N_a × ∇N_b).
  const Coefficients weights = by_determinant(resistance, low, derivatives, room);
  Matrix of_determinants = room.slopes.shaped(3 * n, count);
  for (Index l = 0; l < count; ++l) {
    auto j = slopes.middleCols<3>(3 * l);
    of_determinants.col(l).reshaped(3, n) = cofactors(j).lazyProduct(basis_[std::size_t(l)]);
    j *= weights[l];
  }
  Matrix crossed = room.crossed.shaped(3, crossed_.cols());
  crossed.noalias() = slopes * crossed_;
  for (Index a = 0, pair = 0; a < n; ++a)
    for (Index b = 0; b < a; ++b, ++pair) {
      const auto w = crossed.col(pair);
      result.block<3, 3>(3 * a, 3 * b) << 0, w[2], -w[1], -w[2], 0, w[0], w[1], -w[0], 0;
    }
  // Then Σ ∂²B/∂c² ∂c/∂x (∂c/∂x)ᵀ, of the coefficients that resist.
  Matrix of_coefficients = room.of_coefficients.shaped(3 * n, count);
  multiply(of_determinants, fit_.transpose(), of_coefficients);
  Matrix columns = room.columns.shaped(3 * n, block_size);
  Index waiting = 0;
  const auto add = [&] {
    result.selfadjointView<Eigen::Lower>().rankUpdate(columns.leftCols(std::exchange(waiting, 0)));
  };
  resistance.parts.restrict(basis, of_coefficients, low.parts, room.parts,
                            [&](std::size_t k, const Matrix& there) {
                              for (Index i = 0; i < count; ++i) {
                                const double second = derivatives(Index(k) * count + i, 1);
                                if (second == 0) continue;
                                columns.col(waiting) = std::sqrt(second) * there.col(i);
                                if (++waiting == block_size) add();
                              }
                            });
  if (waiting > 0) add();
  for (Index b = 1; b < 3 * n; ++b)
    for (Index a = 0; a < b; ++a) result(a, b) = result(b, a);
  return result;
}

}  // namespace apart
