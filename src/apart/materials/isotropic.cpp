#include <apart/materials/isotropic.hpp>

#include <cmath>
#include <limits>

namespace apart {

namespace {
constexpr int pair_i[3] = {0, 1, 2}, pair_j[3] = {1, 2, 0}, pair_k[3] = {2, 0, 1};
}

Lame lame_parameters(double young, double poisson) {
  return {young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))};
}

double NeoHookean::energy(const Vector3& sigma) const {
  if (!(sigma.minCoeff() > 0)) return std::numeric_limits<double>::infinity();
  // In strains s = σ − 1: Σ ½(σ² − 1) − ln σ = Σ s − ln(1 + s) + s²/2. Near rest the error is then a rounding
  // of s, not of 1, so that stiff materials do not drown the line search in noise.
  double volumetric = 0, isochoric = 0;
  for (int i = 0; i < 3; ++i) {
    const double s = sigma[i] - 1, log_sigma = std::log1p(s);
    isochoric += (s - log_sigma) + 0.5 * s * s;
    volumetric += log_sigma;
  }
  return lame.mu * isochoric + 0.5 * lame.lambda * volumetric * volumetric;
}

PrincipalDerivatives NeoHookean::derivatives(const Vector3& s) const {
  const double mu = lame.mu, lambda = lame.lambda;
  const double log_j = std::log1p(s[0] - 1) + std::log1p(s[1] - 1) + std::log1p(s[2] - 1);
  const double m = mu - lambda * log_j;
  PrincipalDerivatives d;
  for (int i = 0; i < 3; ++i) {
    d.first[i] = (mu * (s[i] - 1) * (s[i] + 1) + lambda * log_j) / s[i];  // μ(σ − 1/σ) + λ ln J / σ
    for (int j = 0; j < 3; ++j)
      d.stretch(i, j) = i == j ? mu + (m + lambda) / (s[i] * s[i]) : lambda / (s[i] * s[j]);
    const double product = s[pair_i[i]] * s[pair_j[i]];
    d.shear[i] = mu + m / product;
    d.spin[i] = mu - m / product;
  }
  return d;
}

double FixedCorotated::energy(const Vector3& s) const {
  const double j = s.prod();
  return lame.mu * (s.array() - 1).square().sum() + 0.5 * lame.lambda * (j - 1) * (j - 1);
}

PrincipalDerivatives FixedCorotated::derivatives(const Vector3& s) const {
  const double mu = lame.mu, lambda = lame.lambda, j = s.prod();
  PrincipalDerivatives d;
  for (int i = 0; i < 3; ++i) {
    const double cofactor = s[(i + 1) % 3] * s[(i + 2) % 3];  // ∂J/∂σᵢ
    d.first[i] = 2 * mu * (s[i] - 1) + lambda * (j - 1) * cofactor;
    d.stretch(i, i) = 2 * mu + lambda * cofactor * cofactor;
  }
  for (int p = 0; p < 3; ++p) {
    const int a = pair_i[p], b = pair_j[p], c = pair_k[p];
    d.stretch(a, b) = d.stretch(b, a) = lambda * s[c] * (s[c] * s[a] * s[b] + (j - 1));
    const double volume = lambda * (j - 1) * s[c];
    d.shear[p] = 2 * mu - volume;
    // Unbounded where σₐ + σ_b → 0 (an inverted element at its kink); the guard keeps the value finite.
    const double sum = s[a] + s[b];
    const double guarded = std::copysign(std::max(std::abs(sum), 1e-12), sum);
    d.spin[p] = 2 * mu - 4 * mu / guarded + volume;
  }
  return d;
}

double Orthogonality::energy(const Vector3& s) const {
  return stiffness * (s.array().square() - 1).square().sum();
}

PrincipalDerivatives Orthogonality::derivatives(const Vector3& s) const {
  PrincipalDerivatives d;
  d.stretch.setZero();
  for (int p = 0; p < 3; ++p) {
    const double a = s[pair_i[p]], b = s[pair_j[p]];
    d.first[p] = 4 * stiffness * s[p] * (s[p] * s[p] - 1);
    d.stretch(p, p) = 4 * stiffness * (3 * s[p] * s[p] - 1);
    d.shear[p] = 4 * stiffness * (a * a + a * b + b * b - 1);
    d.spin[p] = 4 * stiffness * (a * a - a * b + b * b - 1);
  }
  return d;
}

}  // namespace apart
