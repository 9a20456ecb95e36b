#pragma once
#include <apart/bodies/chart.hpp>
#include <apart/bodies/linear_map.hpp>
#include <apart/geometry/path.hpp>

namespace apart {

/// Vertices Φ(q(t)) while unknowns go from `begin` to `end` times y: the same bits as of the nodes that
/// Chart::retract gives.
class ChartCurve final : public Curve {
 public:
  /// Keeps references to all matrices and maps.
  struct Step {
    const Chart& chart;
    const LinearMap& map;
    const Matrix3X &q, &y;
  };
  ChartCurve(const Step& step, double begin, double end) : step_(step), begin_(begin), end_(end) {}
  std::array<Vector3, 4> at(double t, std::span<const Index> points) const override;

 private:
  Step step_;
  double begin_, end_;
};

}  // namespace apart
