#include <apart/solver/near_null_space.hpp>

#include <Eigen/Geometry>
#include <Eigen/QR>

namespace apart {

namespace {

/// Three rows per node.
NearNullSpace::Modes rigid_modes(const Matrix3X& q) {
  NearNullSpace::Modes modes(3 * q.cols(), 6);
  for (Index k = 0; k < q.cols(); ++k)
    for (int axis = 0; axis < 3; ++axis) {
      modes.block<3, 1>(3 * k, axis) = Vector3::Unit(axis);
      modes.block<3, 1>(3 * k, 3 + axis) = Vector3::Unit(axis).cross(Vector3(q.col(k)));
    }
  return modes;
}

}  // namespace

NearNullSpace near_null_space(const Chart& chart, const Matrix3X& q, const FreeCoordinates& free) {
  // In all unknowns first.
  const Index n = chart.unknown_count();
  Matrix3X positions(3, n);
  NearNullSpace::Modes modes(3 * n, 6);
  const NearNullSpace::Modes of_nodes = rigid_modes(q);
  for (Index node = 0; node < q.cols(); ++node)
    if (!chart.part_of(node)) {
      const Index unknown = chart.unknown_of(node);
      positions.col(unknown) = q.col(node);
      modes.middleRows<3>(3 * unknown) = of_nodes.middleRows<3>(3 * node);
    }
  for (const Chart::Part& part : chart.parts()) {
    const BodyColumns own = part.nodes(q);
    const Index nodes = part.chart->node_count(), unknowns = part.chart->unknown_count();
    Eigen::MatrixXd slope(3 * nodes, 3 * unknowns);
    for (Index k = 0; k < nodes; ++k)
      for (Index u = 0; u < unknowns; ++u) slope.block<3, 3>(3 * k, 3 * u) = part.chart->slope(own, k, u);
    modes.middleRows(3 * part.first_unknown, 3 * unknowns) =
        slope.colPivHouseholderQr().solve(of_nodes.middleRows(3 * part.first_node, 3 * nodes));
    positions.middleCols(part.first_unknown, unknowns).colwise() = own.rowwise().mean();
  }

  NearNullSpace result;
  result.positions.resize(3, free.block_count());
  for (Index b = 0; b < free.block_count(); ++b) result.positions.col(b) = positions.col(free.node(b));
  result.modes.resize(3 * free.block_count(), 6);
  for (int k = 0; k < 6; ++k) result.modes.col(k) = free.restrict_to_free(modes.col(k).reshaped(3, n));
  return result;
}

}  // namespace apart
