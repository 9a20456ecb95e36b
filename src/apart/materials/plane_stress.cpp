#include <apart/materials/plane_stress.hpp>

#include <apart/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// Where Ψ has its minimum over σ₃ > 0. With t = ln σ₃ it is convex for these materials, Ψ → ∞ on both sides:
/// Newton's method with bounded steps.
template <class M>
double stretch_without_stress(const M& material, const Vector2& sigma) {
  if (!(sigma[0] * sigma[1] > 0)) return 1;  // infinite energy, whatever the stretch
  double t = 0;
  for (int k = 0; k < 200; ++k) {
    const double s = std::exp(t);
    const PrincipalDerivatives d = material.derivatives(Vector3(sigma[0], sigma[1], s));
    const double slope = s * d.first[2], curvature = s * (s * d.stretch(2, 2) + d.first[2]);
    const double step = std::clamp(-slope / curvature, -1.0, 1.0);
    if (!std::isfinite(step)) break;
    t += step;
    if (std::abs(step) < 1e-15) break;
  }
  return std::exp(t);
}

}  // namespace

std::string no_plane_stress(const Material& material) {
  constexpr std::string_view remedy = "use neo_hookean, mooney_rivlin, fixed_corotated or linear_elasticity";
  return std::visit(
      [&]<class M>(const M& m) -> std::string {
        if constexpr (std::same_as<M, StVenantKirchhoff>)
          return fmt::format("a plate of stvk has no thickness where it is stretched to about twice; {}",
                             remedy);
        else if constexpr (std::same_as<M, Orthogonality>)
          return fmt::format("orthogonality is the stiffness of bodies that hardly deform; {}", remedy);
        else if constexpr (std::same_as<M, NeoHookean>) {
          if (m.lame.lambda < 0)
            return "the thickness of a plate is not determined if Poisson's ratio is negative; use one of 0 "
                   "or more";
        } else {
          static_assert(std::same_as<M, FixedCorotated> || std::same_as<M, MooneyRivlin> ||
                            std::same_as<M, LinearElasticity>,
                        "say whether the new material has a state of plane stress");
        }
        return "";
      },
      material);
}

double stretch_across(const Material& material, PlaneState state, const Matrix2& f, const Vector2& sigma) {
  if (state == PlaneState::strain) return 1;
  return std::visit(
      [&]<class M>(const M& m) -> double {
        if constexpr (std::same_as<M, NeoHookean> || std::same_as<M, MooneyRivlin>) {
          return stretch_without_stress(m, sigma);
        } else if constexpr (std::same_as<M, FixedCorotated>) {
          const double j = sigma[0] * sigma[1];  // 2μ(σ₃ − 1) + λ(jσ₃ − 1) j = 0
          return (2 * m.lame.mu + m.lame.lambda * j) / (2 * m.lame.mu + m.lame.lambda * j * j);
        } else if constexpr (std::same_as<M, LinearElasticity>) {
          return 1 - m.lame.lambda / (m.lame.lambda + 2 * m.lame.mu) * (f.trace() - 2);
        } else {
          static_assert(std::same_as<M, StVenantKirchhoff> || std::same_as<M, Orthogonality>,
                        "say which stretch leaves no stress across a plate of the new material");
          throw InvariantError("stretch_across: the material has no plane stress");
        }
      },
      material);
}

PrincipalDerivatives in_plane(PrincipalDerivatives d, PlaneState state) {
  if (state == PlaneState::stress) {
    const Vector2 coupling = d.stretch.col(2).head<2>();
    d.stretch.topLeftCorner<2, 2>() -= coupling * coupling.transpose() / d.stretch(2, 2);
  }
  d.stretch.row(2).setZero();
  d.stretch.col(2).setZero();
  d.first[2] = 0;
  // Of the pairs (0,1), (1,2) and (2,0) only the first is in the plane.
  for (Vector3* list : {&d.shear, &d.spin}) list->tail<2>().setZero();
  return d;
}

LinearElasticity in_plane(const LinearElasticity& material, PlaneState state) {
  LinearElasticity result = material;
  const auto [lambda, mu] = material.lame;
  if (state == PlaneState::stress) result.lame.lambda = 2 * lambda * mu / (lambda + 2 * mu);
  return result;
}

}  // namespace apart
