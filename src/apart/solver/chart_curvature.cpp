#include <apart/solver/chart_curvature.hpp>

#include <apart/math/psd_projection.hpp>

#include <Eigen/Cholesky>
#include <algorithm>

namespace apart {

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

void ChartCurvature::for_each_pair(FunctionRef<void(Index column, Index row)> visit) const {
  for (const OwnBlocks& body : bodies_)
    for (const Own& b : body.blocks)
      if (b.row != b.column) visit(std::min(b.row, b.column), std::max(b.row, b.column));
}

void ChartCurvature::locate(const BlockSparse& matrix) {
  for (OwnBlocks& body : bodies_)
    for (Own& b : body.blocks) b.slot = matrix.slot(b.row, b.column);
}

/// The blocks of all bodies in turn, of the whole matrix.
std::vector<Matrix3> ChartCurvature::sums(const BlockSparse& matrix) const {
  std::vector<Matrix3> blocks;
  for (const OwnBlocks& body : bodies_)
    for (const Own& b : body.blocks) blocks.push_back(matrix.block(b.slot));
  if (!blocks.empty()) team_.sum(std::span(blocks.front().data(), 9 * blocks.size()));
  return blocks;
}

void ChartCurvature::add(const FreeCoordinates& free, const Matrix3X& q, const Matrix3X& gradient,
                         Projection projection, BlockSparse& matrix) const {
  const std::vector<Matrix3> whole = projection == Projection::none ? std::vector<Matrix3>() : sums(matrix);
  auto next = whole.begin();
  for (const OwnBlocks& body : bodies_) {
    const Chart::Part& part = chart_.parts()[std::size_t(body.part)];
    Eigen::MatrixXd more = part.chart->curvature(part.nodes(q), part.nodes(gradient));
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      for (int axis = 0; axis < 3; ++axis)
        if (!free(axis, part.first_unknown + u)) {
          more.row(3 * u + axis).setZero();
          more.col(3 * u + axis).setZero();
        }
    if (projection != Projection::none) {
      Eigen::MatrixXd sum = more;
      for (Index u = 0; u < part.chart->unknown_count(); ++u)
        if (free.block(part.first_unknown + u) < 0) sum.block<3, 3>(3 * u, 3 * u).setIdentity();
      for (const Own& b : body.blocks) {
        const Matrix3& block = *next++;
        sum.block<3, 3>(3 * b.u, 3 * b.v) += block;
        if (b.u != b.v) sum.block<3, 3>(3 * b.v, 3 * b.u) += block.transpose();
      }
      // By itself, not together with what contact adds to the body's blocks: bodies that move together feel
      // none of their contacts, and nothing may be added to the displacement, or bodies that push each other
      // would lose momentum. Where it is larger than all else, as of a body that spins fast, steps would be
      // far too long if it were set to zero.
      const bool is_small = sum.llt().info() == Eigen::Success;
      make_positive(more, is_small ? NegativeEigenvalues::zeroed : NegativeEigenvalues::mirrored);
    }
    if (!team_.leads()) continue;
    for (const Own& b : body.blocks) matrix.add(b.slot, more.block<3, 3>(3 * b.u, 3 * b.v));
  }
}

}  // namespace apart
