// Every isotropic material: derivatives() are those of energy(), in the space of singular values.
#include <apart/materials/material.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace apart::test {
namespace {

const std::vector<Material> isotropic_materials = {NeoHookean{lame_parameters(1, 0.3)},
                                                   NeoHookean{lame_parameters(1, 0.49)},
                                                   FixedCorotated{lame_parameters(1, 0.3)},
                                                   StVenantKirchhoff{lame_parameters(1, 0.3)},
                                                   StVenantKirchhoff{lame_parameters(1, -0.4)},
                                                   mooney_rivlin(lame_parameters(1, 0.3)),
                                                   MooneyRivlin{0.3, 0, 2},
                                                   MooneyRivlin{0.1, 0.4, 1},
                                                   Orthogonality{0.7}};

/// Calls f with every isotropic material.
void for_each(const auto& f) {
  for (const Material& material : isotropic_materials)
    std::visit(
        [&]<class M>(const M& m) {
          if constexpr (Isotropic<M>) f(m);
        },
        material);
}

TEST(Material, EveryIsotropicOneIsTestedHere) {
  std::set<std::size_t> kinds;
  for (const Material& m : isotropic_materials) kinds.insert(m.index());
  EXPECT_EQ(kinds.size() + 1, std::variant_size_v<Material>);  // all but linear elasticity
}

TEST(Material, DerivativesAreThoseOfTheEnergy) {
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> u(0.3, 2.5);
  const double e = 1e-5;
  for_each([&](const auto& m) {
    for (int trial = 0; trial < 100; ++trial) {
      const Vector3 s(u(engine), u(engine), u(engine));
      const PrincipalDerivatives d = m.derivatives(s);
      for (int i = 0; i < 3; ++i) {
        const Vector3 h = e * Vector3::Unit(i);
        EXPECT_NEAR(d.first[i], (m.energy(s + h) - m.energy(s - h)) / (2 * e), 1e-6) << m.name;
        const Vector3 column = (m.derivatives(s + h).first - m.derivatives(s - h).first) / (2 * e);
        EXPECT_LT((d.stretch.col(i) - column).norm(), 1e-6 * (1 + column.norm())) << m.name;
        const int j = (i + 1) % 3;
        EXPECT_NEAR(d.spin[i], (d.first[i] + d.first[j]) / (s[i] + s[j]), 1e-10 * (1 + std::abs(d.spin[i])));
        if (std::abs(s[i] - s[j]) > 1e-2) {
          EXPECT_NEAR(d.shear[i], (d.first[i] - d.first[j]) / (s[i] - s[j]),
                      1e-9 * (1 + std::abs(d.shear[i])));
        }
      }
    }
  });
}

TEST(Material, DerivativesHoldForInvertedElementsWhereTheEnergyIsFinite) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> u(0.3, 1.5);
  const double e = 1e-5;
  for_each([&](const auto& m) {
    for (int trial = 0; trial < 20; ++trial) {
      const Vector3 s(2.5 + u(engine), 1.6, -u(engine));
      if (std::isinf(m.energy(s))) {
        EXPECT_TRUE(m.prevents_inversion) << m.name;
        continue;
      }
      const PrincipalDerivatives d = m.derivatives(s);
      for (int i = 0; i < 3; ++i) {
        const Vector3 h = e * Vector3::Unit(i);
        const int j = (i + 1) % 3;
        EXPECT_NEAR(d.first[i], (m.energy(s + h) - m.energy(s - h)) / (2 * e), 1e-6 * (1 + d.first.norm()))
            << m.name;
        const Vector3 column = (m.derivatives(s + h).first - m.derivatives(s - h).first) / (2 * e);
        EXPECT_LT((d.stretch.col(i) - column).norm(), 1e-6 * (1 + column.norm())) << m.name;
        EXPECT_NEAR(d.shear[i], (d.first[i] - d.first[j]) / (s[i] - s[j]), 1e-9 * (1 + std::abs(d.shear[i])))
            << m.name;
        if (std::abs(s[i] + s[j]) > 1e-2) {
          EXPECT_NEAR(d.spin[i], (d.first[i] + d.first[j]) / (s[i] + s[j]), 1e-9 * (1 + std::abs(d.spin[i])))
              << m.name;
        }
      }
    }
  });
}

TEST(Material, ShearOfEqualStretchesIsTheLimit) {
  // (Ψᵢ − Ψⱼ)/(σᵢ − σⱼ) → ∂²Ψ/∂σᵢ² − ∂²Ψ/∂σᵢ∂σⱼ for σⱼ → σᵢ.
  for_each([&](const auto& m) {
    for (const double a : {0.05, 0.7, 1.0, 1.8})
      for (const double b : {0.02, 1.0, 3.0}) {
        const PrincipalDerivatives d = m.derivatives({a, a, b});
        const double limit = d.stretch(0, 0) - d.stretch(0, 1);
        EXPECT_NEAR(d.shear[0], limit, 1e-10 * (1 + d.stretch.norm())) << m.name << " " << a << " " << b;
        const PrincipalDerivatives near = m.derivatives({a * (1 + 1e-9), a, b});
        EXPECT_NEAR(near.shear[0], limit, 1e-6 * (1 + d.stretch.norm())) << m.name << " " << a << " " << b;
      }
  });
}

TEST(Material, NearlyFlatElementsHaveFiniteDerivatives) {
  for_each([&](const auto& m) {
    for (const double thin : {1e-3, 1e-8, 1e-20, 1e-40}) {
      const Vector3 s(1.3, 0.9, thin);
      const PrincipalDerivatives d = m.derivatives(s);
      EXPECT_TRUE(std::isfinite(m.energy(s)) || thin < 1e-16) << m.name << " " << thin;
      EXPECT_FALSE(std::isnan(m.energy(s))) << m.name << " " << thin;
      if (thin > 1e-16) {
        EXPECT_TRUE(d.first.allFinite() && d.stretch.allFinite() && d.shear.allFinite() && d.spin.allFinite())
            << m.name << " " << thin;
      }
    }
    if (m.name == "neo_hookean" || m.name == "mooney_rivlin") {
      EXPECT_LT(m.derivatives({1.3, 0.9, 1e-8}).first[2], -1e6) << "must push back";
      EXPECT_TRUE(std::isinf(m.energy({1, 1, 0})));
      EXPECT_TRUE(std::isinf(m.energy({1, 1, -0.1})));
    }
  });
}

TEST(Material, RestsAtTheIdentity) {
  for_each([](const auto& m) {
    EXPECT_EQ(m.energy(Vector3::Ones()), 0);
    EXPECT_EQ(m.derivatives(Vector3::Ones()).first.norm(), 0);
    EXPECT_NEAR(m.derivatives(Vector3::Ones()).spin.norm(), 0, 1e-15) << "turning costs nothing";
  });
}

TEST(Material, HasTheStiffnessOfLinearElasticityAtRest) {
  // ∂²Ψ/∂σ² = λ 1 1ᵀ + 2μ I at rest, and shears cost 2μ.
  for (const double poisson : {-0.5, 0.0, 0.3, 0.49}) {
    const Lame l = lame_parameters(1e5, poisson);
    const Matrix3 expected = l.lambda * Matrix3::Ones() + 2 * l.mu * Matrix3::Identity();
    for (const Material& material : {Material(NeoHookean{l}), Material(FixedCorotated{l}),
                                     Material(StVenantKirchhoff{l}), Material(mooney_rivlin(l))})
      std::visit(
          [&]<class M>(const M& m) {
            if constexpr (Isotropic<M>) {
              const PrincipalDerivatives d = m.derivatives(Vector3::Ones());
              EXPECT_LT((d.stretch - expected).norm(), 1e-9 * expected.norm()) << m.name;
              EXPECT_LT((d.shear.array() - 2 * l.mu).matrix().norm(), 1e-9 * l.mu) << m.name;
            }
          },
          material);
  }
}

TEST(Material, EnergyKeepsItsDigitsNearRest) {
  // Ψ ≈ (λ/2 + μ) s² for a stretch of 1 + s along one axis; plain evaluation would return noise of 1e-16
  // here.
  const Lame l = lame_parameters(1, 0.25);
  const double s = 1e-7, expected = (0.5 * l.lambda + l.mu) * s * s;
  EXPECT_NEAR(NeoHookean{l}.energy({1 + s, 1, 1}), expected, 1e-6 * expected);
  EXPECT_NEAR(StVenantKirchhoff{l}.energy({1 + s, 1, 1}), expected, 1e-6 * expected);
  EXPECT_NEAR(mooney_rivlin(l).energy({1 + s, 1, 1}), expected, 1e-6 * expected);
  EXPECT_TRUE(std::isinf(NeoHookean{l}.energy({1, 1, 0})));
  EXPECT_TRUE(std::isinf(NeoHookean{l}.energy({1, 1, -0.1})));
}

TEST(Material, MooneyRivlinIsTheDocumentedEnergy) {
  const MooneyRivlin m{0.3, 0.2, 5};
  const Vector3 s(1.4, 0.9, 0.6);
  const double j = s.prod(), i1 = s.squaredNorm(),
               i2 = std::pow(s[0] * s[1], 2) + std::pow(s[1] * s[2], 2) + std::pow(s[2] * s[0], 2);
  const double expected = 0.3 * (std::pow(j, -2.0 / 3) * i1 - 3) + 0.2 * (std::pow(j, -4.0 / 3) * i2 - 3) +
                          5.0 / 4 * (j * j - 1 - 2 * std::log(j));
  EXPECT_NEAR(m.energy(s), expected, 1e-13);
}

TEST(LinearElasticity, StressAndTangentAreDerivativesOfTheEnergy) {
  std::mt19937 engine(4);
  std::uniform_real_distribution<double> u(-1, 1);
  const auto random = [&] { return Matrix3(Matrix3::NullaryExpr([&] { return u(engine); })); };
  for (const double poisson : {-0.5, 0.0, 0.45}) {
    const LinearElasticity m{lame_parameters(1, poisson)};
    for (int trial = 0; trial < 20; ++trial) {
      const Matrix3 f = random(), direction = random();
      const double slope = (m.energy(f + direction) - m.energy(f - direction)) / 2;  // exact: quadratic
      EXPECT_NEAR(m.stress(f).cwiseProduct(direction).sum(), slope, 1e-12);
      const Vector3 a = random().col(0), b = random().col(0), x = random().col(0);
      const Vector3 change = (m.stress(f + x * b.transpose()) - m.stress(f)) * a;
      EXPECT_LT((m.tangent(a, b) * x - change).norm(), 1e-12);
    }
    EXPECT_EQ(m.energy(Matrix3::Identity()), 0);
    EXPECT_EQ(m.stress(Matrix3::Identity()).norm(), 0);
  }
}

}  // namespace
}  // namespace apart::test
