#pragma once
#include <apart/geometry/squared_distance.hpp>

namespace apart {

/// e(c) = c/ε (2 − c/ε) below ε, 1 above; c = ‖(x₁−x₀)×(x₃−x₂)‖² [m⁴]. Vanishes for parallel edges, where the
/// distance of two edges is not differentiable. [thesis eq. 2.24]
struct EdgeEdgeMollifier {
  /// Without second derivatives.
  struct First {
    double value = 1;
    StencilVector gradient = StencilVector::Zero();
  };
  double value = 1;
  StencilVector gradient = StencilVector::Zero();
  StencilMatrix hessian = StencilMatrix::Zero();
};

/// c = ‖(x₁−x₀)×(x₃−x₂)‖².
double edge_edge_cross_squared(const StencilPoints& x);
/// ε = 10⁻³ ‖u‖²‖v‖² of the rest edges. [thesis eq. 2.24]
double edge_edge_mollifier_threshold(const StencilPoints& rest);

double edge_edge_mollifier_value(const StencilPoints& x, double threshold);
EdgeEdgeMollifier::First edge_edge_mollifier_gradient(const StencilPoints& x, double threshold);
/// Value, gradient and (not projected) Hessian.
EdgeEdgeMollifier edge_edge_mollifier(const StencilPoints& x, double threshold);

}  // namespace apart
