#include <apart/materials/isotropic.hpp>
#include <apart/materials/log_strain.hpp>

#include <cmath>
#include <limits>

namespace apart {

namespace {
constexpr int pair_i[3] = {0, 1, 2}, pair_j[3] = {1, 2, 0}, pair_k[3] = {2, 0, 1};

/// b(J) = −(J − Ĵ)² ln(J/Ĵ) below Ĵ = ½ and its derivatives: keeps a volume from collapsing, and has no
/// effect above Ĵ.
struct Collapse {
  double value = 0, first = 0, second = 0;
};
Collapse collapse(double j) {
  constexpr double limit = 0.5;
  if (j >= limit) return {};
  if (!(j > 0)) return {std::numeric_limits<double>::infinity(), 0, 0};
  const double e = j - limit, log = std::log(j / limit);
  return {-e * e * log, -e * (2 * log + e / j), -2 * log - 4 * e / j + e * e / (j * j)};
}

/// J − 1 in the strains σ − 1, so that its error is a rounding of them and not of 1.
double volume_change(const Vector3& sigma) {
  const Vector3 s = sigma.array() - 1;
  return s.sum() + (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]) + s.prod();
}

Vector3 log_strains(const Vector3& sigma) {
  return {log_strain(sigma[0]), log_strain(sigma[1]), log_strain(sigma[2])};
}
}  // namespace

Lame lame_parameters(double young, double poisson) {
  return {young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))};
}

double NeoHookean::energy(const Vector3& sigma) const {
  if (!(sigma.minCoeff() > 0)) return std::numeric_limits<double>::infinity();
  // In strains s = σ − 1: Σ ½(σ² − 1) − ln σ = Σ s − ln(1 + s) + s²/2. Near rest the error is then a rounding
  // of s, not of 1, so that rounding of stiff materials does not disturb the line search.
  double volumetric = 0, isochoric = 0;
  for (int i = 0; i < 3; ++i) {
    const double s = sigma[i] - 1, log_sigma = log_strain(sigma[i]);
    isochoric += (s - log_sigma) + 0.5 * s * s;
    volumetric += log_sigma;
  }
  return lame.mu * isochoric + 0.5 * lame.lambda * volumetric * volumetric;
}

PrincipalDerivatives NeoHookean::derivatives(const Vector3& s) const {
  const double mu = lame.mu, lambda = lame.lambda;
  const double log_j = log_strain(s[0]) + log_strain(s[1]) + log_strain(s[2]);
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

double StVenantKirchhoff::energy(const Vector3& s) const {
  // (σ − 1)(σ + 1) and not σ² − 1: near rest the error is a rounding of the strain, not of 1.
  const Eigen::Array3d strain = 0.5 * (s.array() - 1) * (s.array() + 1);
  return lame.mu * strain.square().sum() + 0.5 * lame.lambda * strain.sum() * strain.sum();
}

PrincipalDerivatives StVenantKirchhoff::derivatives(const Vector3& s) const {
  const double mu = lame.mu, lambda = lame.lambda;
  const Eigen::Array3d strain = 0.5 * (s.array() - 1) * (s.array() + 1);
  const double pressure = lambda * strain.sum();
  PrincipalDerivatives d;
  for (int p = 0; p < 3; ++p) {
    const int i = pair_i[p], j = pair_j[p];
    const double second = 2 * mu * strain[p] + pressure;  // second Piola–Kirchhoff
    d.first[p] = s[p] * second;
    d.stretch(p, p) = second + (2 * mu + lambda) * s[p] * s[p];
    d.stretch(i, j) = d.stretch(j, i) = lambda * s[i] * s[j];
    // μ(a² ± ab + b² − 1) + pressure, with a² + b² − 1 = (a − 1)(a + 1) + b².
    const double squares = 2 * strain[i] + s[j] * s[j], product = s[i] * s[j];
    d.shear[p] = mu * (squares + product) + pressure;
    d.spin[p] = mu * (squares - product) + pressure;
  }
  return d;
}

MooneyRivlin mooney_rivlin(const Lame& lame) {
  return {lame.mu / 4, lame.mu / 4, lame.lambda + 2 * lame.mu / 3};
}

double MooneyRivlin::energy(const Vector3& sigma) const {
  if (!(sigma.minCoeff() > 0)) return std::numeric_limits<double>::infinity();
  // dᵢ = ln σᵢ − ln J / 3: then J^(−2/3) σᵢ² = e^(2dᵢ), and J^(−4/3) I₂ = Σ e^(−2dᵢ).
  const Vector3 h = log_strains(sigma), d = h.array() - h.sum() / 3;
  double first = 0, second = 0;  // Σ e^(±2d) − 1; Σd = 0 makes room for the linear term
  for (int i = 0; i < 3; ++i) {
    first += std::expm1(2 * d[i]) - 2 * d[i];
    second += std::expm1(-2 * d[i]) + 2 * d[i];
  }
  const double e = volume_change(sigma);
  return c1 * first + c2 * second + bulk / 4 * (2 * (e - h.sum()) + e * e);
}

PrincipalDerivatives MooneyRivlin::derivatives(const Vector3& s) const {
  // In h = ln σ: τᵢ = ∂Ψ/∂hᵢ = w′(dᵢ) − mean w′ + K/2 (J² − 1) with w(d) = c₁e^(2d) + c₂e^(−2d).
  const Vector3 h = log_strains(s), d = h.array() - h.sum() / 3;
  const double e = volume_change(s), pressure = bulk / 2 * e * (e + 2);
  Vector3 slope, curvature;  // w′ without its value at rest, and w″
  for (int i = 0; i < 3; ++i) {
    const double up = std::expm1(2 * d[i]), down = std::expm1(-2 * d[i]);
    slope[i] = 2 * c1 * up - 2 * c2 * down;
    curvature[i] = 4 * c1 * (up + 1) + 4 * c2 * (down + 1);
  }
  const double mean = slope.sum() / 3, mean_curvature = curvature.sum() / 3;
  const double volumetric = bulk * (1 + e) * (1 + e) + mean_curvature / 3;
  PrincipalDerivatives r;
  for (int i = 0; i < 3; ++i) {
    const double tau = slope[i] - mean + pressure;
    r.first[i] = tau / s[i];
    for (int j = 0; j < 3; ++j) {
      const double mixed = volumetric - (curvature[i] + curvature[j]) / 3;
      r.stretch(i, j) = (mixed + (i == j ? curvature[i] - tau : 0)) / (s[i] * s[j]);
    }
  }
  // Ψᵢ = 2c₁k σᵢ − 2c₂/k σᵢ⁻³ + q/σᵢ with k = J^(−2/3): its divided differences, without a division by σᵢ ∓
  // σⱼ.
  const double k = std::exp(-2 * h.sum() / 3);
  const double q = pressure - mean - 2 * c1 + 2 * c2;
  for (int p = 0; p < 3; ++p) {
    const double a = s[pair_i[p]], b = s[pair_j[p]], ab = a * b;
    const double squares = a * a + b * b, cube = 2 * c2 / (k * ab * ab * ab);
    r.shear[p] = 2 * c1 * k + cube * (squares + ab) - q / ab;
    r.spin[p] = 2 * c1 * k - cube * (squares - ab) + q / ab;
  }
  return r;
}

double Orthogonality::energy(const Vector3& s) const {
  return stiffness * ((s.array().square() - 1).square().sum() + collapse(s.prod()).value);
}

PrincipalDerivatives Orthogonality::derivatives(const Vector3& s) const {
  PrincipalDerivatives d;
  const Collapse b = collapse(s.prod());
  for (int p = 0; p < 3; ++p) {
    const double cofactor = s[pair_j[p]] * s[pair_k[p]];  // ∂J/∂σ
    d.first[p] = stiffness * (4 * s[p] * (s[p] * s[p] - 1) + b.first * cofactor);
    d.stretch(p, p) = stiffness * (4 * (3 * s[p] * s[p] - 1) + b.second * cofactor * cofactor);
  }
  for (int p = 0; p < 3; ++p) {
    const double x = s[pair_i[p]], y = s[pair_j[p]], z = s[pair_k[p]];
    d.stretch(pair_i[p], pair_j[p]) = d.stretch(pair_j[p], pair_i[p]) =
        stiffness * (b.second * y * z * z * x + b.first * z);
    d.shear[p] = stiffness * (4 * (x * x + x * y + y * y - 1) - b.first * z);
    d.spin[p] = stiffness * (4 * (x * x - x * y + y * y - 1) + b.first * z);
  }
  return d;
}

}  // namespace apart
