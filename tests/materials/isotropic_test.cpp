// Every material: derivatives() are those of energy(), in the space of singular values.
#include <apart/materials/isotropic.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart {
namespace {

const std::vector<Material> materials = {NeoHookean{lame_parameters(1, 0.3)},
                                         NeoHookean{lame_parameters(1, 0.49)},
                                         FixedCorotated{lame_parameters(1, 0.3)}, Orthogonality{0.7}};

TEST(Material, derivatives_are_those_of_the_energy) {
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> u(0.3, 2.5);
  const double e = 1e-5;
  for (const Material& material : materials)
    std::visit(
        [&](const auto& m) {
          for (int trial = 0; trial < 100; ++trial) {
            const Vector3 s(u(engine), u(engine), u(engine));
            const PrincipalDerivatives d = m.derivatives(s);
            for (int i = 0; i < 3; ++i) {
              const Vector3 h = e * Vector3::Unit(i);
              EXPECT_NEAR(d.first[i], (m.energy(s + h) - m.energy(s - h)) / (2 * e), 1e-6) << m.name;
              const Vector3 column = (m.derivatives(s + h).first - m.derivatives(s - h).first) / (2 * e);
              EXPECT_LT((d.stretch.col(i) - column).norm(), 1e-6 * (1 + column.norm())) << m.name;
              const int j = (i + 1) % 3;
              EXPECT_NEAR(d.spin[i], (d.first[i] + d.first[j]) / (s[i] + s[j]),
                          1e-10 * (1 + std::abs(d.spin[i])));
              if (std::abs(s[i] - s[j]) > 1e-2) {
                EXPECT_NEAR(d.shear[i], (d.first[i] - d.first[j]) / (s[i] - s[j]),
                            1e-9 * (1 + std::abs(d.shear[i])));
              }
            }
          }
        },
        material);
}

TEST(Material, rests_at_the_identity) {
  for (const Material& material : materials)
    std::visit(
        [](const auto& m) {
          EXPECT_EQ(m.energy(Vector3::Ones()), 0);
          EXPECT_EQ(m.derivatives(Vector3::Ones()).first.norm(), 0);
          EXPECT_NEAR(m.derivatives(Vector3::Ones()).spin.norm(), 0, 1e-15) << "turning costs nothing";
        },
        material);
}

TEST(Material, has_the_stiffness_of_linear_elasticity_at_rest) {
  // ∂²Ψ/∂σ² = λ 1 1ᵀ + 2μ I at rest.
  const Lame l = lame_parameters(1e5, 0.3);
  const Matrix3 expected = l.lambda * Matrix3::Ones() + 2 * l.mu * Matrix3::Identity();
  EXPECT_LT((NeoHookean{l}.derivatives(Vector3::Ones()).stretch - expected).norm(), 1e-9 * expected.norm());
  EXPECT_LT((FixedCorotated{l}.derivatives(Vector3::Ones()).stretch - expected).norm(),
            1e-9 * expected.norm());
}

TEST(Material, neo_hookean_energy_keeps_its_digits_near_rest) {
  // Ψ ≈ (λ/2 + μ) s² for a stretch of 1 + s along one axis; plain evaluation would return noise of 1e-16
  // here.
  const NeoHookean m{lame_parameters(1, 0.25)};
  const double s = 1e-7, expected = (0.5 * m.lame.lambda + m.lame.mu) * s * s;
  EXPECT_NEAR(m.energy({1 + s, 1, 1}), expected, 1e-6 * expected);
  EXPECT_TRUE(std::isinf(m.energy({1, 1, 0})));
  EXPECT_TRUE(std::isinf(m.energy({1, 1, -0.1})));
}

}  // namespace
}  // namespace apart
