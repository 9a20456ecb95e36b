// Every material against automatic differentiation: the energy as the literature writes it, of the
// deformation gradient F itself and not of its singular values, differentiated by hyper-dual numbers. The
// materials' own energies, stresses and tangents agree to 1e-12 wherever these exist: at rest, at equal
// stretches, nearly flat, inverted.
//
// A material without a formula here does not compile: each alternative of Material and Membrane is visited.
#include <apart/materials/material.hpp>
#include <apart/materials/membrane.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <Eigen/LU>
#include <support/hyper_dual.hpp>

#include <cmath>
#include <random>

namespace apart::test {
namespace {

constexpr double tolerance = 1e-12;

using Dual3 = DualMatrix<3, 3>;
using Dual32 = DualMatrix<3, 2>;
using Dual2 = DualMatrix<2, 2>;
using Matrix9 = Eigen::Matrix<double, 9, 9>;
using Matrix32 = Eigen::Matrix<double, 3, 2>;
using Tangent32 = Eigen::Matrix<double, 6, 6>;

template <int n>
HyperDual trace_of_square(const DualMatrix<n, n>& m) {
  return (m * m).trace();
}

// ---------------------------------------------------------------------------------------------------------
// Volumes

/// σ₁ + σ₂ + σ₃ with the sign of det F on the last, the trace of the stretch in the polar decomposition. With
/// t this sum and q = σ₁σ₂ + σ₂σ₃ + σ₃σ₁: t² = I₁ + 2q and q² = I₂ + 2Jt, so t is a root of
/// (t² − I₁)² − 4I₂ − 8Jt, and the largest; the distances to the others are 2(σᵢ + σⱼ), so that it is simple
/// for equal stretches too.
HyperDual stretch_sum(const Dual3& f) {
  const Dual3 c = f.transpose() * f;
  const HyperDual i1 = c.trace(), i2 = (i1 * i1 - trace_of_square<3>(c)) / 2, j = f.determinant();
  HyperDual t = 2 * std::sqrt(i1.v);  // ≥ √(3 I₁) ≥ t: Newton's method comes down to the largest root
  const auto newton = [&] {
    const HyperDual e = t * t - i1;
    const HyperDual change = (e * e - 4 * i2 - 8 * j * t) / (4 * t * e - 8 * j);
    t -= change;
    return std::abs(change.v);
  };
  for (int k = 0; k < 100 && newton() > 1e-15 * t.v; ++k) {
  }
  newton();  // each pass after convergence adds an order of derivatives
  newton();
  return t;
}

/// [IPC §2, energy NH]: μ/2 (‖F‖² − 3) − μ ln J + λ/2 ln²J.
HyperDual formula(const NeoHookean& m, const Dual3& f) {
  const HyperDual log_j = log(f.determinant());
  return m.lame.mu / 2 * ((f.transpose() * f).trace() - 3) - m.lame.mu * log_j +
         m.lame.lambda / 2 * log_j * log_j;
}

/// Stomakhin et al. 2012: μ ‖F − R‖² + λ/2 (J − 1)², ‖F − R‖² = ‖F‖² − 2 tr S + 3 for F = R S.
HyperDual formula(const FixedCorotated& m, const Dual3& f) {
  return m.lame.mu * ((f.transpose() * f).trace() - 2 * stretch_sum(f) + 3) +
         m.lame.lambda / 2 * square(f.determinant() - 1);
}

/// μ E:E + λ/2 tr²E with E = ½(FᵀF − I).
HyperDual formula(const StVenantKirchhoff& m, const Dual3& f) {
  Dual3 e = f.transpose() * f;
  for (int i = 0; i < 3; ++i) e(i, i) -= 1;
  return m.lame.mu * trace_of_square<3>(e) / 4 + m.lame.lambda / 8 * square(e.trace());
}

/// Rivlin's compressible rubber: c₁ (Ī₁ − 3) + c₂ (Ī₂ − 3) + K/4 (J² − 1 − 2 ln J), Ī the invariants of
/// J^(−2/3) FᵀF.
HyperDual formula(const MooneyRivlin& m, const Dual3& f) {
  const HyperDual j = f.determinant();
  const Dual3 c = f.transpose() * f;
  const HyperDual i1 = c.trace(), i2 = (i1 * i1 - trace_of_square<3>(c)) / 2;
  return m.c1 * (pow(j, -2.0 / 3) * i1 - 3) + m.c2 * (pow(j, -4.0 / 3) * i2 - 3) +
         m.bulk / 4 * (j * j - 1 - 2 * log(j));
}

/// μ ε:ε + λ/2 tr²ε with ε = ½(F + Fᵀ) − I.
HyperDual formula(const LinearElasticity& m, const Dual3& f) {
  Dual3 e = f + f.transpose();
  for (int i = 0; i < 3; ++i) e(i, i) -= 2;
  return m.lame.mu * trace_of_square<3>(e) / 4 + m.lame.lambda / 8 * square(e.trace());
}

/// Lan et al. 2022 (affine body dynamics): κ ‖FᵀF − I‖², and below J = ½ a barrier −(J − ½)² ln 2J.
HyperDual formula(const Orthogonality& m, const Dual3& f) {
  Dual3 e = f.transpose() * f;
  for (int i = 0; i < 3; ++i) e(i, i) -= 1;
  const HyperDual j = f.determinant();
  const HyperDual barrier = j.v < 0.5 ? -square(j - 0.5) * log(2 * j) : HyperDual(0);
  return m.stiffness * (trace_of_square<3>(e) + barrier);
}

struct Response {
  double energy;
  Matrix3 stress;   ///< ∂Ψ/∂F
  Matrix9 tangent;  ///< ∂²Ψ/∂F², F flattened by columns
};

/// What the material itself says at diag(σ).
template <class M>
Response response(const M& m, const Vector3& sigma) {
  Response r{0, Matrix3::Zero(), Matrix9::Zero()};
  if constexpr (Isotropic<M>) {
    const PrincipalDerivatives d = m.derivatives(sigma);
    r.energy = m.energy(sigma);
    r.stress.diagonal() = d.first;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) r.tangent(4 * i, 4 * j) = d.stretch(i, j);
      const int a = i, b = (i + 1) % 3, up = 3 * b + a, down = 3 * a + b;
      r.tangent(up, up) = r.tangent(down, down) = (d.shear[i] + d.spin[i]) / 2;
      r.tangent(up, down) = r.tangent(down, up) = (d.shear[i] - d.spin[i]) / 2;
    }
  } else {
    const Matrix3 f = sigma.asDiagonal();
    r.energy = m.energy(f);
    r.stress = m.stress(f);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        r.tangent.block<3, 3>(3 * a, 3 * b) = m.tangent(Vector3::Unit(a), Vector3::Unit(b));
  }
  return r;
}

/// Every entry, relative to itself and to the stiffness at rest.
void expect_stress(const Eigen::MatrixXd& actual, const Eigen::MatrixXd& expected, double unit) {
  for (Eigen::Index k = 0; k < actual.size(); ++k)
    EXPECT_NEAR(actual(k), expected(k), tolerance * (std::abs(expected(k)) + unit)) << "stress " << k;
}

/// Every entry, relative to the largest of its row, or of its column if that is smaller, and to the stiffness
/// at rest.
void expect_tangent(const Eigen::MatrixXd& actual, const Eigen::MatrixXd& expected, double unit) {
  const VectorX largest = expected.cwiseAbs().rowwise().maxCoeff();
  for (Eigen::Index k = 0; k < actual.rows(); ++k)
    for (Eigen::Index l = 0; l < actual.cols(); ++l)
      EXPECT_NEAR(actual(k, l), expected(k, l), tolerance * (std::min(largest[k], largest[l]) + unit))
          << "tangent " << k << ", " << l;
}

/// Random; rest; two and three equal stretches, exactly and nearly; nearly flat, nearly a line; all small.
std::vector<Vector3> positive_states() {
  std::vector<Vector3> states = {{1, 1, 1},
                                 {1 + 1e-9, 1, 1 - 1e-9},
                                 {1.8, 1.8, 1.8},
                                 {0.4, 0.4, 0.4},
                                 {1.7, 1.7, 0.6},
                                 {2.1, 0.7, 0.7},
                                 {0.7, 2.1, 0.7},
                                 {1.3, 1.3 * (1 - 1e-9), 0.8},
                                 {1.3, 0.8, 0.8 * (1 - 1e-13)},
                                 {1.3, 0.9, 1e-2},
                                 {1.3, 0.9, 1e-3},
                                 {1.3, 0.9, 1e-6},
                                 {1e-3, 0.9, 0.9},
                                 {1.2, 1e-2, 1e-2},
                                 {1e-2, 1e-2, 1e-2}};
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> u(0.3, 2.5);
  for (int k = 0; k < 100; ++k) states.emplace_back(u(engine), u(engine), u(engine));
  return states;
}

/// One stretch negative, as the singular value decomposition gives it, also with two of the same size but the
/// sign excluded: there the fixed corotated energy has a kink.
std::vector<Vector3> inverted_states() {
  std::vector<Vector3> states = {{1, 1, -0.5}, {1, 1, -1e-3}, {2, 0.8, -0.3}, {1.4, 1.4, -0.9}};
  std::mt19937 engine(8);
  std::uniform_real_distribution<double> u(0.3, 1.5);
  for (int k = 0; k < 50; ++k) states.emplace_back(2.5 + u(engine), 1.7, -u(engine));
  return states;
}

std::vector<Material> materials() {
  return {NeoHookean{lame_parameters(1, 0.3)},
          NeoHookean{lame_parameters(1, 0.49)},
          NeoHookean{lame_parameters(1, -0.4)},
          FixedCorotated{lame_parameters(1, 0.3)},
          FixedCorotated{lame_parameters(1, -.4)},
          StVenantKirchhoff{lame_parameters(1, 0.3)},
          mooney_rivlin(lame_parameters(1, 0.3)),
          MooneyRivlin{0.3, 0, 2},
          MooneyRivlin{0.1, 0.4, 1},
          LinearElasticity{lame_parameters(1, 0.3)},
          Orthogonality{0.7}};
}

TEST(AutomaticDifferentiation, EnergyStressAndTangentOfEveryMaterialAreThoseOfItsFormula) {
  std::vector<bool> tested(std::variant_size_v<Material>);
  for (const Material& material : materials())
    std::visit(
        [&]<class M>(const M& m) {
          tested[material.index()] = true;
          std::vector<Vector3> states = positive_states();
          if (!m.prevents_inversion)
            for (const Vector3& s : inverted_states()) states.push_back(s);
          const double unit = response(m, Vector3::Ones()).tangent.cwiseAbs().maxCoeff();
          for (const Vector3& s : states) {
            // Its mixed second derivatives are differences of terms of 1/J: no evaluation has more digits.
            if (std::is_same_v<M, Orthogonality> && s[2] < 1e-5) continue;
            SCOPED_TRACE(fmt::format("{} at {:.17g} {:.17g} {:.17g}", m.name, s[0], s[1], s[2]));
            const Response actual = response(m, s);
            const auto expected =
                differentiate([&](const Dual3& f) { return formula(m, f); }, Matrix3(s.asDiagonal()));
            EXPECT_NEAR(actual.energy, expected.value, tolerance * (std::abs(expected.value) + unit));
            expect_stress(actual.stress, expected.first, unit);
            expect_tangent(actual.tangent, expected.second, unit);
          }
        },
        material);
  for (std::size_t k = 0; k < tested.size(); ++k) EXPECT_TRUE(tested[k]) << "add material " << k << " above";
}

TEST(AutomaticDifferentiation, SingularValuesCarryStressAndTangentToAnyDeformation) {
  // F in general position: P = U P′ Vᵀ, and the tangent turns with (V ⊗ U).
  std::mt19937 engine(9);
  std::uniform_real_distribution<double> u(-0.4, 0.4);
  for (const Material& material : materials())
    std::visit(
        [&]<class M>(const M& m) {
          if constexpr (Isotropic<M>) {
            const double unit = response(m, Vector3::Ones()).tangent.cwiseAbs().maxCoeff();
            for (int trial = 0; trial < 30; ++trial) {
              Matrix3 f = Matrix3::Identity();
              for (int k = 0; k < 9; ++k) f(k) += u(engine);
              const SignedSvd svd = signed_svd(f);
              if (svd.sigma[2] < 0.1) continue;
              SCOPED_TRACE(fmt::format("{} trial {}", m.name, trial));
              const Response local = response(m, svd.sigma);
              Matrix9 frame;
              for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) frame.block<3, 3>(3 * r, 3 * c) = svd.v(r, c) * svd.u;
              const auto expected = differentiate([&](const Dual3& x) { return formula(m, x); }, f);
              const double size = unit + expected.second.norm();
              expect_stress(svd.u * local.stress * svd.v.transpose(), expected.first, size);
              // Lazily: the blocked product of this size takes seconds to compile.
              const Matrix9 turned = frame.lazyProduct(local.tangent);
              expect_tangent(turned.lazyProduct(frame.transpose()), expected.second, size);
            }
          }
        },
        material);
}

// ---------------------------------------------------------------------------------------------------------
// Membranes

/// Green's strain ½(FᵀF − I), 1 along the warp, 2 along the weft.
Dual2 green_strain_of(const Dual32& f) {
  Dual2 e = f.transpose() * f;
  for (int i = 0; i < 2; ++i) e(i, i) -= 1;
  for (int k = 0; k < 4; ++k) e(k) = e(k) / 2;
  return e;
}

/// [C-IPC supplement eq. 16]: λ/2 tr²E + μ tr E².
HyperDual formula(const KoiterMembrane& m, const Dual32& f) {
  const Dual2 e = green_strain_of(f);
  return m.lame.lambda / 2 * square(e.trace()) + m.lame.mu * trace_of_square<2>(e);
}

/// μ/2 (tr FᵀF − 2) − μ ln J + λ/2 ln²J with J² = det FᵀF.
HyperDual formula(const NeoHookeanMembrane& m, const Dual32& f) {
  const Dual2 c = f.transpose() * f;
  const HyperDual log_j = log(c.determinant()) / 2;
  return m.lame.mu / 2 * (c.trace() - 2) - m.lame.mu * log_j + m.lame.lambda / 2 * log_j * log_j;
}

/// [C-IPC eq. 8].
HyperDual formula(const OrthotropicMembrane& m, const Dual32& f) {
  const Dual2 e = green_strain_of(f);
  return m.a11 / 2 * square(e(0, 0)) + m.a22 / 2 * square(e(1, 1)) + m.a12 * e(0, 0) * e(1, 1) +
         m.g12 * square(e(0, 1));
}

/// [C-IPC 4.2]: η(x) = −m ln(1 − x/m) of each square and product.
HyperDual formula(const BarrierMembrane& m, const Dual32& f) {
  const Dual2 e = green_strain_of(f);
  const auto eta = [](const HyperDual& x, double most) { return -most * log(1 - x / most); };
  const PlaneStrain& l = m.limit;
  return m.at_rest.a11 / 2 * eta(square(e(0, 0)), l[0] * l[0]) +
         m.at_rest.a22 / 2 * eta(square(e(1, 1)), l[1] * l[1]) +
         m.at_rest.a12 * eta(e(0, 0) * e(1, 1), l[0] * l[1]) +
         m.at_rest.g12 * eta(square(e(0, 1)), l[2] * l[2]);
}

/// [C-IPC eq. 5–7]: Σ b(yᵢ) with b = −y² ln(1 − y) for y > 0. A single singular value has no derivatives
/// where the two are equal, only the sum has: where both stretches are on the same side of the threshold it
/// is written as tr b(Y), Y = (√(FᵀF) − ŝ)/(s − ŝ), with the power series of b; where they are not, they
/// differ.
HyperDual formula(const StretchLimit& m, const Dual32& f) {
  const Dual2 c = f.transpose() * f;
  const HyperDual area = sqrt(c.determinant()), sum = sqrt(c.trace() + 2 * area);
  HyperDual energy;
  const auto side = [&](double sign, double reach) {
    // Y of √C = (C + √det C I)/√(tr C + 2 √det C).
    Dual2 y = c;
    for (int k = 0; k < 4; ++k) y(k) = y(k) / sum;
    for (int i = 0; i < 2; ++i) y(i, i) += area / sum - m.threshold;
    for (int k = 0; k < 4; ++k) y(k) = y(k) * (sign / reach);
    const HyperDual half = y.trace() / 2, determinant = y.determinant();
    const double radius = std::sqrt(std::max(half.v * half.v - determinant.v, 0.0));
    if (half.v + radius <= 0) return;  // both below
    if (half.v - radius >= 0) {
      Dual2 power = y * y;
      for (int k = 1; k < 2000; ++k) {
        power = power * y;
        energy += power.trace() / double(k);
      }
    } else {
      const HyperDual larger = half + sqrt(half * half - determinant);
      energy -= larger * larger * log(1 - larger);
    }
  };
  side(1, m.upper - m.threshold);
  if (m.lower > 0) side(-1, m.threshold - m.lower);
  return energy;
}

/// Stress and tangent of a membrane at u diag(σ) vᵀ, turned to the world, F flattened by columns.
struct MembraneResponse {
  double energy;
  Matrix32 stress;
  Tangent32 tangent;
};
MembraneResponse response(const Membrane& m, const StretchLimit* limit, double stiffness, const ThinSvd& s) {
  const MembraneTangent t = membrane_tangent(m, limit, stiffness, s, false);
  Tangent32 frame, local = Tangent32::Zero();
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 2; ++c) frame.block<3, 3>(3 * r, 3 * c) = s.v(r, c) * s.u;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) local(3 * a + i, 3 * b + j) = t.in_plane(2 * i + a, 2 * j + b);
      local(3 * a + 2, 3 * b + 2) = t.tilt(a, b);
    }
  return {membrane_energy(m, limit, stiffness, s),
          s.u.leftCols<2>() * membrane_stress(m, limit, stiffness, s) * s.v.transpose(),
          frame * local * frame.transpose()};
}

ThinSvd stretched(const Vector2& sigma, const Matrix3& u = Matrix3::Identity(),
                  const Matrix2& v = Matrix2::Identity()) {
  return {u, v, sigma};
}
Matrix32 deformation(const ThinSvd& s) {
  return s.u.leftCols<2>() * s.sigma.asDiagonal() * s.v.transpose();
}

/// As for volumes; σ₁ ≥ σ₂ > 0. A flat triangle has no normal, and no second derivative out of its plane.
std::vector<Vector2> membrane_states() {
  std::vector<Vector2> states = {{1, 1},
                                 {1 + 1e-9, 1 - 1e-9},
                                 {1.25, 1.25},
                                 {0.6, 0.6},
                                 {1.25, 1.25 * (1 - 1e-13)},
                                 {1.25, 1.25 * (1 - 1e-9)},
                                 {1.25, 1.25 * (1 - 1e-6)},
                                 {1.25, 1.25 * (1 - 3e-5)},
                                 {1.25, 1.25 * (1 - 1e-4)},
                                 {0.6, 0.6 * (1 - 1e-5)},
                                 {1.0, 0.8},
                                 {1.3, 1.0},
                                 {1.1, 1e-2},
                                 {1.1, 1e-5}};
  std::mt19937 engine(11);
  std::uniform_real_distribution<double> u(0.5, 1.45);
  for (int k = 0; k < 60; ++k) {
    const double a = u(engine), b = u(engine);
    states.emplace_back(std::max(a, b), std::min(a, b));
  }
  return states;
}

std::vector<Membrane> membranes() {
  const OrthotropicMembrane cotton{15.557, 7.779, 25.004, 1.076};
  return {KoiterMembrane{plane_stress_parameters(1, 0.3)},
          KoiterMembrane{plane_stress_parameters(2, -0.4)},
          NeoHookeanMembrane{plane_stress_parameters(1, 0.45)},
          orthotropic_membrane(3, 1, 0.2, 0.4),
          cotton,
          BarrierMembrane{cotton, {0.9, 0.8, 0.7}},
          BarrierMembrane{cotton, {0.14, 0.14, 0.063}}};
}

TEST(AutomaticDifferentiation, EnergyStressAndTangentOfEveryMembraneAreThoseOfItsFormula) {
  std::vector<bool> tested(std::variant_size_v<Membrane>);
  std::mt19937 engine(12);
  std::uniform_real_distribution<double> angle(0, 6);
  const StretchLimit limit{1.6, 0.35, 1, 1};
  const double stiffness = 0.7;
  int limited = 0;
  for (const Membrane& membrane : membranes()) {
    tested[membrane.index()] = true;
    const double unit = response(membrane, nullptr, 0, stretched({1, 1})).tangent.cwiseAbs().maxCoeff();
    for (const StretchLimit* l : {static_cast<const StretchLimit*>(nullptr), &limit})
      for (const Vector2& sigma : membrane_states())
        for (const bool turned : {false, true}) {
          if (turned && sigma[1] < 0.1) continue;  // F would be rounded by more than the tolerance of σ
          // Warp and weft are along v: only turned does an orthotropic membrane see shear.
          const Matrix2 v =
              turned ? Eigen::Rotation2Dd(angle(engine)).toRotationMatrix() : Matrix2(Matrix2::Identity());
          const ThinSvd s = stretched(sigma, Matrix3::Identity(), v);
          const Derivatives<3, 2> expected = differentiate(
              [&](const Dual32& f) {
                const HyperDual energy = std::visit([&](const auto& m) { return formula(m, f); }, membrane);
                return l ? energy + stiffness * formula(*l, f) : energy;
              },
              deformation(s));
          if (!std::isfinite(membrane_energy(membrane, l, stiffness, s))) continue;
          SCOPED_TRACE(fmt::format("membrane {} at {:.17g} {:.17g}{}{}", membrane.index(), sigma[0], sigma[1],
                                   l ? ", limited" : "", turned ? ", turned" : ""));
          limited += l != nullptr;
          const MembraneResponse actual = response(membrane, l, stiffness, s);
          // F of a turned state is rounded: by so much relative to its smallest stretch.
          const double size = unit + (turned ? expected.second.cwiseAbs().maxCoeff() : 0);
          EXPECT_NEAR(actual.energy, expected.value, tolerance * (std::abs(expected.value) + unit));
          expect_stress(actual.stress, expected.first, size);
          expect_tangent(actual.tangent, expected.second, size);
        }
  }
  EXPECT_GT(limited, 500);
  for (std::size_t k = 0; k < tested.size(); ++k) EXPECT_TRUE(tested[k]) << "add membrane " << k << " above";
}

}  // namespace
}  // namespace apart::test
