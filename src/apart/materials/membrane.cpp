#include <apart/materials/log_strain.hpp>
#include <apart/materials/membrane.hpp>

#include <apart/math/psd_projection.hpp>

#include <cmath>
#include <limits>

namespace apart {

namespace {

template <class M>
concept OfStretches = requires(const M& m, const Vector2& sigma) {
  m.derivatives(sigma).stretch;
};

/// b(y) = −y² ln(1 − y) for 0 < y < 1 and its derivatives; zero below.
struct Barrier {
  double value = 0, first = 0, second = 0;
};
Barrier barrier(double y) {
  if (!(y > 0)) return {};
  if (!(y < 1)) return {infinity, infinity, infinity};
  const double log = std::log1p(-y), r = y / (1 - y);
  return {-y * y * log, y * (r - 2 * log), -2 * log + 4 * r + r * r};
}

/// (b′(y₀) − b′(y₁))/(y₀ − y₁) for y₀ ≥ y₁, b″ where they are equal: all terms are positive, none cancels.
double slope_between(double y0, double y1) {
  if (!(y1 > 0)) return y0 > 0 ? barrier(y0).first / (y0 - y1) : 0;
  if (!(y0 < 1)) return infinity;
  const double x = (y1 - y0) / (1 - y1), ratio = x == 0 ? 1 : std::log1p(x) / x;
  return (y0 + y1 - y0 * y1) / ((1 - y0) * (1 - y1)) - 2 * std::log1p(-y0) + 2 * y1 / (1 - y1) * ratio;
}

/// η(x) = −m ln(1 − x/m) and its derivatives, x < m. [C-IPC 4.2]
struct Eta {
  double value, first, second;
};
Eta eta(double x, double m) {
  const double share = x / m, inverse = 1 / (1 - share);
  return {-m * std::log1p(-share), inverse, inverse * inverse / m};
}

MembraneTangent assembled(const StretchDerivatives& d) {
  MembraneTangent t;
  t.in_plane.setZero();
  const double same = 0.5 * (d.shear + d.spin), cross = 0.5 * (d.shear - d.spin);
  t.in_plane(0, 0) = d.stretch(0, 0);
  t.in_plane(3, 3) = d.stretch(1, 1);
  t.in_plane(0, 3) = t.in_plane(3, 0) = d.stretch(0, 1);
  t.in_plane(1, 1) = t.in_plane(2, 2) = same;
  t.in_plane(1, 2) = t.in_plane(2, 1) = cross;
  t.tilt = d.tilt.asDiagonal();
  return t;
}

/// Second Piola–Kirchhoff stress of an energy of E₁₁, E₂₂, E₁₂, turned into the frame of v.
Matrix2 second_stress(const PlaneStrain& first, const Matrix2& v) {
  Matrix2 s;
  s << first[0], 0.5 * first[2], 0.5 * first[2], first[1];
  return v.transpose() * s * v;
}

MembraneTangent strain_tangent(const StrainDerivatives& d, const ThinSvd& f) {
  const Matrix2 s = second_stress(d.first, f.v);
  // ∂E_ab/∂F' = ½(f_a ⊗ v_b + f_b ⊗ v_a) with v_a row a of v and f_a = σ ∘ v_a column a of F in the frame of
  // u.
  Eigen::Matrix<double, 4, 3> gradient;
  const Vector2 v0 = f.v.row(0), v1 = f.v.row(1);
  const Vector2 f0 = f.sigma.cwiseProduct(v0), f1 = f.sigma.cwiseProduct(v1);
  for (int i = 0; i < 2; ++i)
    for (int a = 0; a < 2; ++a) {
      gradient(2 * i + a, 0) = f0[i] * v0[a];
      gradient(2 * i + a, 1) = f1[i] * v1[a];
      gradient(2 * i + a, 2) = 0.5 * (f0[i] * v1[a] + f1[i] * v0[a]);
    }
  MembraneTangent t;
  t.in_plane = gradient * d.second * gradient.transpose();
  t.in_plane.topLeftCorner<2, 2>() += s;
  t.in_plane.bottomRightCorner<2, 2>() += s;
  t.tilt = s;
  return t;
}

StretchDerivatives sum(StretchDerivatives a, const StretchDerivatives& b, double factor) {
  a.first += factor * b.first;
  a.stretch += factor * b.stretch;
  a.shear += factor * b.shear;
  a.spin += factor * b.spin;
  a.tilt += factor * b.tilt;
  return a;
}

bool is_felt(const StretchLimit* limit, const Vector2& sigma) {
  return limit && (sigma[0] > limit->threshold || (limit->lower > 0 && sigma[1] < limit->threshold));
}

}  // namespace

Lame plane_stress_parameters(double young, double poisson) {
  return {young * poisson / (1 - poisson * poisson), young / (2 * (1 + poisson))};
}

double KoiterMembrane::energy(const Vector2& s) const {
  // (σ − 1)(σ + 1) and not σ² − 1: near rest the error is a rounding of the strain, not of 1.
  const Eigen::Array2d strain = 0.5 * (s.array() - 1) * (s.array() + 1);
  return lame.mu * strain.square().sum() + 0.5 * lame.lambda * strain.sum() * strain.sum();
}

StretchDerivatives KoiterMembrane::derivatives(const Vector2& s) const {
  const double mu = lame.mu, lambda = lame.lambda;
  const Eigen::Array2d strain = 0.5 * (s.array() - 1) * (s.array() + 1);
  const double pressure = lambda * strain.sum();
  StretchDerivatives d;
  d.tilt = 2 * mu * strain + pressure;  // second Piola–Kirchhoff
  d.first = s.cwiseProduct(d.tilt);
  d.stretch.diagonal() = d.tilt + (2 * mu + lambda) * s.cwiseAbs2();
  d.stretch(0, 1) = d.stretch(1, 0) = lambda * s[0] * s[1];
  const double squares = 2 * strain[0] + s[1] * s[1], product = s[0] * s[1];
  d.shear = mu * (squares + product) + pressure;
  d.spin = mu * (squares - product) + pressure;
  return d;
}

double NeoHookeanMembrane::energy(const Vector2& sigma) const {
  if (!(sigma[1] > 0)) return infinity;
  double isochoric = 0, log_j = 0;  // in strains, as NeoHookean (materials/isotropic)
  for (int i = 0; i < 2; ++i) {
    const double s = sigma[i] - 1, log_sigma = log_strain(sigma[i]);
    isochoric += (s - log_sigma) + 0.5 * s * s;
    log_j += log_sigma;
  }
  return lame.mu * isochoric + 0.5 * lame.lambda * log_j * log_j;
}

StretchDerivatives NeoHookeanMembrane::derivatives(const Vector2& s) const {
  const double mu = lame.mu, lambda = lame.lambda;
  const double log_j = log_strain(s[0]) + log_strain(s[1]), m = mu - lambda * log_j;
  StretchDerivatives d;
  for (int i = 0; i < 2; ++i) {
    d.first[i] = (mu * (s[i] - 1) * (s[i] + 1) + lambda * log_j) / s[i];
    d.tilt[i] = d.first[i] / s[i];
    d.stretch(i, i) = mu + (m + lambda) / (s[i] * s[i]);
  }
  const double product = s[0] * s[1];
  d.stretch(0, 1) = d.stretch(1, 0) = lambda / product;
  d.shear = mu + m / product;
  d.spin = mu - m / product;
  return d;
}

OrthotropicMembrane orthotropic_membrane(double young_warp, double young_weft, double poisson_warp,
                                         double shear) {
  // ν₂₁/E₂ = ν₁₂/E₁; 2 G E₁₂² is the energy of a shear γ = 2E₁₂.
  const double poisson_weft = poisson_warp * young_weft / young_warp;
  const double d = 1 - poisson_warp * poisson_weft;
  return {young_warp / d, poisson_warp * young_weft / d, young_weft / d, 2 * shear};
}

double OrthotropicMembrane::energy(const PlaneStrain& e) const {
  return 0.5 * (a11 * e[0] * e[0] + a22 * e[1] * e[1]) + a12 * e[0] * e[1] + g12 * e[2] * e[2];
}

StrainDerivatives OrthotropicMembrane::derivatives(const PlaneStrain& e) const {
  StrainDerivatives d;
  d.first = {a11 * e[0] + a12 * e[1], a22 * e[1] + a12 * e[0], 2 * g12 * e[2]};
  d.second << a11, a12, 0, a12, a22, 0, 0, 0, 2 * g12;
  return d;
}

double BarrierMembrane::energy(const PlaneStrain& e) const {
  if (!(e.cwiseAbs().array() < limit.array()).all()) return infinity;
  const PlaneStrain m = limit.cwiseAbs2();
  const OrthotropicMembrane& c = at_rest;
  return 0.5 * c.a11 * eta(e[0] * e[0], m[0]).value + 0.5 * c.a22 * eta(e[1] * e[1], m[1]).value +
         c.a12 * eta(e[0] * e[1], limit[0] * limit[1]).value + c.g12 * eta(e[2] * e[2], m[2]).value;
}

StrainDerivatives BarrierMembrane::derivatives(const PlaneStrain& e) const {
  const OrthotropicMembrane& c = at_rest;
  const Eta n1 = eta(e[0] * e[0], limit[0] * limit[0]), n3 = eta(e[1] * e[1], limit[1] * limit[1]),
            n2 = eta(e[0] * e[1], limit[0] * limit[1]), n4 = eta(e[2] * e[2], limit[2] * limit[2]);
  StrainDerivatives d;  // C-IPC supplement eq. 6 and 7
  d.first = {c.a11 * n1.first * e[0] + c.a12 * n2.first * e[1],
             c.a22 * n3.first * e[1] + c.a12 * n2.first * e[0], 2 * c.g12 * n4.first * e[2]};
  d.second.setZero();
  d.second(0, 0) = c.a11 * (2 * n1.second * e[0] * e[0] + n1.first) + c.a12 * n2.second * e[1] * e[1];
  d.second(1, 1) = c.a22 * (2 * n3.second * e[1] * e[1] + n3.first) + c.a12 * n2.second * e[0] * e[0];
  d.second(0, 1) = d.second(1, 0) = c.a12 * (n2.second * e[0] * e[1] + n2.first);
  d.second(2, 2) = c.g12 * (4 * n4.second * e[2] * e[2] + 2 * n4.first);
  return d;
}

double StretchLimit::energy(const Vector2& sigma) const {
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    sum += barrier((sigma[i] - threshold) / (upper - threshold)).value;
    if (lower > 0) sum += barrier((threshold - sigma[i]) / (threshold - lower)).value;
  }
  return sum;
}

double StretchLimit::gap(const Vector2& sigma) const {
  const double above = (upper - sigma[0]) / (upper - threshold);
  return std::min({above, lower > 0 ? (sigma[1] - lower) / (threshold - lower) : 1.0, 1.0});
}

StretchDerivatives StretchLimit::derivatives(const Vector2& sigma) const {
  const double up = 1 / (upper - threshold), down = lower > 0 ? 1 / (threshold - lower) : 0;
  const auto at = [&](double s) {
    const Barrier above = barrier((s - threshold) * up), below = barrier((threshold - s) * down);
    return Barrier{0, above.first * up - below.first * down,
                   above.second * up * up + below.second * down * down};
  };
  const Barrier b0 = at(sigma[0]), b1 = at(sigma[1]);
  StretchDerivatives d;
  d.first = {b0.first, b1.first};
  d.stretch = Vector2(b0.second, b1.second).asDiagonal();
  d.shear = up * up * slope_between((sigma[0] - threshold) * up, (sigma[1] - threshold) * up) +
            down * down * slope_between((threshold - sigma[1]) * down, (threshold - sigma[0]) * down);
  d.spin = (b0.first + b1.first) / (sigma[0] + sigma[1]);
  d.tilt = {b0.first / sigma[0], b1.first == 0 ? 0 : b1.first / sigma[1]};
  return d;
}

PlaneStrain green_strain(const ThinSvd& f) {
  // E = v ½(σ² − 1) vᵀ
  const Vector2 e = 0.5 * (f.sigma.array() - 1) * (f.sigma.array() + 1);
  const Matrix2 m = f.v * e.asDiagonal() * f.v.transpose();
  return {m(0, 0), m(1, 1), m(0, 1)};
}

std::optional<PlaneStrain> strain_limit_of(const Membrane& m) {
  const auto* barrier = std::get_if<BarrierMembrane>(&m);
  return barrier ? std::optional(barrier->limit) : std::nullopt;
}

double membrane_energy(const Membrane& membrane, const StretchLimit* limit, double stiffness,
                       const ThinSvd& f) {
  const double energy = std::visit(
      [&]<class M>(const M& m) {
        if constexpr (OfStretches<M>)
          return m.energy(f.sigma);
        else
          return m.energy(green_strain(f));
      },
      membrane);
  return is_felt(limit, f.sigma) ? energy + stiffness * limit->energy(f.sigma) : energy;
}

Matrix2 membrane_stress(const Membrane& membrane, const StretchLimit* limit, double stiffness,
                        const ThinSvd& f) {
  Matrix2 stress = std::visit(
      [&]<class M>(const M& m) -> Matrix2 {
        if constexpr (OfStretches<M>)
          return m.derivatives(f.sigma).first.asDiagonal();
        else  // P' = F' S'
          return f.sigma.asDiagonal() * second_stress(m.derivatives(green_strain(f)).first, f.v);
      },
      membrane);
  if (is_felt(limit, f.sigma)) stress.diagonal() += stiffness * limit->derivatives(f.sigma).first;
  return stress;
}

MembraneTangent membrane_tangent(const Membrane& membrane, const StretchLimit* limit, double stiffness,
                                 const ThinSvd& f, bool project) {
  const bool limited = is_felt(limit, f.sigma);
  return std::visit(
      [&]<class M>(const M& m) -> MembraneTangent {
        if constexpr (OfStretches<M>) {
          StretchDerivatives d = m.derivatives(f.sigma);
          if (limited) d = sum(d, limit->derivatives(f.sigma), stiffness);
          if (project) {
            d.stretch = psd_projection(d.stretch);
            d.shear = std::max(d.shear, 0.0);
            d.spin = std::max(d.spin, 0.0);
            d.tilt = d.tilt.cwiseMax(0);
          }
          return assembled(d);
        } else {
          MembraneTangent t = strain_tangent(m.derivatives(green_strain(f)), f);
          if (limited) {
            const MembraneTangent barrier = assembled(limit->derivatives(f.sigma));
            t.in_plane += stiffness * barrier.in_plane;
            t.tilt += stiffness * barrier.tilt;
          }
          if (project) {
            t.in_plane = psd_projection(t.in_plane);
            t.tilt = psd_projection(t.tilt);
          }
          return t;
        }
      },
      membrane);
}

}  // namespace apart
