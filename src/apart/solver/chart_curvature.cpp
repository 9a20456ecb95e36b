#include <apart/solver/chart_curvature.hpp>

#include <apart/math/psd_projection.hpp>

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

void ChartCurvature::for_each_pair(FunctionRef<void(Index, Index)> visit) const {
  for (const OwnBlocks& body : bodies_)
    for (const Own& b : body.blocks)
      if (b.row != b.column) visit(std::min(b.row, b.column), std::max(b.row, b.column));
}

void ChartCurvature::locate(const BlockSparse& matrix) {
  for (OwnBlocks& body : bodies_)
    for (Own& b : body.blocks) b.slot = matrix.slot(b.row, b.column);
}

void ChartCurvature::add(const FreeCoordinates& free, const Matrix3X& q, const Matrix3X& gradient,
                         Projection projection, BlockSparse& matrix) const {
  if (!team_.leads()) return;
  for (const OwnBlocks& body : bodies_) {
    const Chart::Part& part = chart_.parts()[std::size_t(body.part)];
    Eigen::MatrixXd more = part.chart->curvature(part.nodes(q), part.nodes(gradient));
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      for (int axis = 0; axis < 3; ++axis)
        if (!free(axis, part.first_unknown + u)) {
          more.row(3 * u + axis).setZero();
          more.col(3 * u + axis).setZero();
        }
    // By itself, not together with what contact adds to the body's blocks: bodies that move together feel
    // none of their contacts, and nothing may be added to the displacement, or bodies that push each other
    // would lose momentum. Were negative eigenvalues set to zero, steps of a body that spins fast would be
    // far too long: its inertia has a large curvature, of either sign.
    if (projection != Projection::none) make_positive(more, NegativeEigenvalues::mirrored);
    for (const Own& b : body.blocks) matrix.add(b.slot, more.block<3, 3>(3 * b.u, 3 * b.v));
  }
}

}  // namespace apart
