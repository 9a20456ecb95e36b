#include <apart/solver/chart_curvature.hpp>

#include <apart/math/symmetric_eigen.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace apart {

namespace {

/// With the absolute values of its eigenvalues. Were negative ones set to zero, nothing would bound the step
/// along them.
template <class Matrix>
Matrix made_positive(const Matrix& m) {
  if (Eigen::LLT<Matrix>(m).info() == Eigen::Success) return m;
  if constexpr (Matrix::RowsAtCompileTime != Eigen::Dynamic) {
    constexpr int n = Matrix::RowsAtCompileTime;
    const SymmetricEigen<n> eigen(m);
    Matrix result = Matrix::Zero();
    for (int e = 0; e < n; ++e) {
      const Eigen::Map<const Eigen::Matrix<double, n, 1>> v(eigen.vectors[std::size_t(e)].data());
      result += std::abs(eigen.values[std::size_t(e)]) * v * v.transpose();
    }
    return result;
  } else {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(m);
    return solver.eigenvectors() * solver.eigenvalues().cwiseAbs().asDiagonal() *
           solver.eigenvectors().transpose();
  }
}

}  // namespace

void ChartCurvature::set_free(const FreeCoordinates& free) {
  bodies_.clear();
  for (std::size_t p = 0; p < chart_.parts().size(); ++p) {
    const Chart::Part& part = chart_.parts()[p];
    OwnBlocks own{Index(p), {}};
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      for (Index v = 0; v <= u; ++v) {
        const Index row = free.block(part.first_unknown + u), column = free.block(part.first_unknown + v);
        if (row >= 0 && column >= 0) own.blocks.push_back({u, v, row, column});
      }
    if (!own.blocks.empty()) bodies_.push_back(std::move(own));
  }
}

void ChartCurvature::for_each_key(FunctionRef<void(BlockKey)> visit) const {
  for (const OwnBlocks& body : bodies_)
    for (const Own& b : body.blocks)
      if (b.row != b.column) visit(block_key(b.row, b.column));
}

void ChartCurvature::locate(const BlockSparse& matrix) {
  for (OwnBlocks& body : bodies_)
    for (Own& b : body.blocks) b.slot = matrix.slot(b.row, b.column);
}

void ChartCurvature::add(const FreeCoordinates& free, const Matrix3X& q, const Matrix3X& gradient,
                         Projection projection, BlockSparse& matrix) const {
  for (const OwnBlocks& body : bodies_) {
    const Chart::Part& part = chart_.parts()[std::size_t(body.part)];
    Eigen::MatrixXd more = part.chart->curvature(part.nodes(q), part.nodes(gradient));
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      for (int axis = 0; axis < 3; ++axis)
        if (!free(axis, part.first_unknown + u)) {
          more.row(3 * u + axis).setZero();
          more.col(3 * u + axis).setZero();
        }
    if (projection == Projection::psd) {
      Eigen::MatrixXd sum = more;
      for (Index u = 0; u < part.chart->unknown_count(); ++u)
        if (free.block(part.first_unknown + u) < 0) sum.block<3, 3>(3 * u, 3 * u).setIdentity();
      for (const Own& b : body.blocks) {
        const Matrix3 block = matrix.block(b.slot, b.column);
        sum.block<3, 3>(3 * b.u, 3 * b.v) += block;
        if (b.u != b.v) sum.block<3, 3>(3 * b.v, 3 * b.u) += block.transpose();
      }
      using Matrix6 = Eigen::Matrix<double, 6, 6>;
      more += (sum.rows() == 6 ? Eigen::MatrixXd(made_positive<Matrix6>(sum)) : made_positive(sum)) - sum;
    }
    for (const Own& b : body.blocks) matrix.add(b.slot, b.column, more.block<3, 3>(3 * b.u, 3 * b.v));
  }
}

}  // namespace apart
