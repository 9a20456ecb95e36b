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
  NearNullSpace result;
  result.positions.resize(3, free.block_count());
  result.modes.resize(3 * free.block_count(), 6);
  const auto set = [&](Index unknown, const Vector3& position, const Eigen::Matrix<double, 3, 6>& modes) {
    const Index b = free.block(unknown);
    if (b < 0) return;
    result.positions.col(b) = position;
    for (int axis = 0; axis < 3; ++axis) {
      if (free(axis, unknown))
        result.modes.row(3 * b + axis) = modes.row(axis);
      else
        result.modes.row(3 * b + axis).setZero();
    }
  };
  for (Index node = 0; node < q.cols(); ++node)
    if (!chart.part_of(node)) set(chart.unknown_of(node), q.col(node), rigid_modes(q.col(node)));
  for (const Chart::Part& part : chart.parts()) {
    const BodyColumns own = part.nodes(q);
    const Index nodes = part.chart->node_count(), unknowns = part.chart->unknown_count();
    Eigen::MatrixXd slope(3 * nodes, 3 * unknowns);
    for (Index k = 0; k < nodes; ++k)
      for (Index u = 0; u < unknowns; ++u) slope.block<3, 3>(3 * k, 3 * u) = part.chart->slope(own, k, u);
    const NearNullSpace::Modes of_unknowns = slope.colPivHouseholderQr().solve(rigid_modes(own));
    for (Index u = 0; u < unknowns; ++u)
      set(part.first_unknown + u, own.rowwise().mean(), of_unknowns.middleRows<3>(3 * u));
  }
  return result;
}

}  // namespace apart
