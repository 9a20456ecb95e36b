// Every membrane: stress and tangent are the derivatives of the energy of a 3×2 deformation gradient.
#include <apart/materials/membrane.hpp>

#include <gtest/gtest.h>
#include <support/nearest_psd.hpp>

#include <cmath>
#include <random>
#include <set>

namespace apart::test {
namespace {

using Matrix32 = Eigen::Matrix<double, 3, 2>;
using Tangent = Eigen::Matrix<double, 6, 6>;  // F flattened by columns

const OrthotropicMembrane cotton{15.557, 7.779, 25.004, 1.076};
const BarrierMembrane limited_cotton{cotton, {0.14, 0.14, 0.063}};

const std::vector<Membrane> moderate_membranes = {
    KoiterMembrane{plane_stress_parameters(1, 0.3)}, KoiterMembrane{plane_stress_parameters(2, -0.4)},
    NeoHookeanMembrane{plane_stress_parameters(1, 0.45)}, orthotropic_membrane(3, 1, 0.2, 0.4),
    BarrierMembrane{cotton, {0.9, 0.8, 0.7}}};

const StretchLimit wide{1.6, 0.35, 1, 1};

double energy(const Membrane& m, const StretchLimit* limit, const Matrix32& f) {
  return membrane_energy(m, limit, 0.7, thin_svd(f));
}

Matrix32 stress(const Membrane& m, const StretchLimit* limit, const Matrix32& f) {
  const ThinSvd s = thin_svd(f);
  return s.u.leftCols<2>() * membrane_stress(m, limit, 0.7, s) * s.v.transpose();
}

Tangent tangent(const Membrane& m, const StretchLimit* limit, const Matrix32& f, bool project) {
  const ThinSvd s = thin_svd(f);
  const MembraneTangent t = membrane_tangent(m, limit, 0.7, s, project);
  // δF' = uᵀ δF v, flattened by columns: (v ⊗ u)ᵀ.
  Tangent frame, local = Tangent::Zero();
  for (int c = 0; c < 2; ++c)
    for (int r = 0; r < 2; ++r) frame.block<3, 3>(3 * r, 3 * c) = s.v(r, c) * s.u;
  for (int i = 0; i < 3; ++i)
    for (int a = 0; a < 2; ++a)
      for (int j = 0; j < 3; ++j)
        for (int b = 0; b < 2; ++b) {
          if ((i == 2) != (j == 2)) continue;
          local(3 * a + i, 3 * b + j) = i == 2 ? t.tilt(a, b) : t.in_plane(2 * i + a, 2 * j + b);
        }
  return frame * local * frame.transpose();
}

/// Random, rest, both stretches the same, and one direction collapsed.
Matrix32 sample(int trial, std::mt19937& engine) {
  std::uniform_real_distribution<double> u(-1, 1);
  Matrix32 f;
  for (Eigen::Index k = 0; k < 6; ++k) f(k) = u(engine);
  ThinSvd s = thin_svd(f);
  s.sigma = {1.2 + 0.3 * u(engine), 0.7 + 0.2 * u(engine)};
  if (trial % 5 == 1) s.sigma = {1, 1};
  if (trial % 5 == 2) s.sigma = {1.25, 1.25};
  if (trial % 5 == 3) s.sigma = {1.25 + 1e-7, 1.25};
  return s.u.leftCols<2>() * s.sigma.asDiagonal() * s.v.transpose();
}

TEST(Membrane, EveryOneIsTestedHere) {
  std::set<std::size_t> kinds;
  for (const Membrane& m : moderate_membranes) kinds.insert(m.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<Membrane>);
}

TEST(Membrane, StressAndTangentAreDerivativesOfTheEnergy) {
  std::mt19937 engine(3);
  for (const Membrane& m : moderate_membranes)
    for (const StretchLimit* limit : {static_cast<const StretchLimit*>(nullptr), &wide})
      for (int trial = 0; trial < 60; ++trial) {
        const Matrix32 f = sample(trial, engine);
        if (!std::isfinite(energy(m, limit, f))) continue;
        const Matrix32 p = stress(m, limit, f);
        const Tangent t = tangent(m, limit, f, false);
        const double e = 1e-6;
        // At the threshold of a limit the third derivative jumps, by 0.7 · 6/(s − ŝ)³.
        const double kink = limit && trial % 5 == 1 ? 0.5 * e * 0.7 * 6 / std::pow(0.6, 3) : 0;
        for (Eigen::Index k = 0; k < 6; ++k) {
          Matrix32 up = f, down = f;
          up(k) += e;
          down(k) -= e;
          EXPECT_NEAR(p(k), (energy(m, limit, up) - energy(m, limit, down)) / (2 * e), 1e-7 * (1 + p.norm()))
              << m.index() << " trial " << trial;
          const Matrix32 column = (stress(m, limit, up) - stress(m, limit, down)) / (2 * e);
          for (Eigen::Index j = 0; j < 6; ++j)
            EXPECT_NEAR(t(j, k), column(j), 2e-7 * (1 + t.norm()) + kink) << m.index() << " trial " << trial;
        }
      }
}

TEST(Membrane, ProjectionIsTheNearestPositiveSemidefiniteTangent) {
  std::mt19937 engine(4);
  int indefinite = 0;
  for (const Membrane& m : moderate_membranes)
    for (const StretchLimit* limit : {static_cast<const StretchLimit*>(nullptr), &wide})
      for (int trial = 0; trial < 60; ++trial) {
        const Matrix32 f = sample(trial, engine);
        if (!std::isfinite(energy(m, limit, f))) continue;
        const Tangent exact = tangent(m, limit, f, false), projected = tangent(m, limit, f, true);
        const Eigen::MatrixXd nearest = nearest_psd(exact);
        EXPECT_LT((nearest - projected).norm(), 1e-12 * (1 + exact.norm())) << m.index();
        indefinite += (exact - projected).norm() > 1e-6;
      }
  EXPECT_GT(indefinite, 50);
}

TEST(Membrane, EnergyIsThatOfTheDeformationAlone) {
  // Rotations of the world change nothing, and of the isotropic ones rotations of the rest shape neither.
  std::mt19937 engine(5);
  for (const Membrane& m : moderate_membranes)
    for (int trial = 0; trial < 20; ++trial) {
      const Matrix32 f = sample(trial, engine);
      if (!std::isfinite(energy(m, nullptr, f))) continue;
      const Matrix3 turn = thin_svd(sample(0, engine)).u;
      EXPECT_NEAR(energy(m, nullptr, turn * f), energy(m, nullptr, f), 1e-13 * (1 + energy(m, nullptr, f)));
    }
}

TEST(Membrane, AtRestThereIsNoStressAndLimitsChangeNeitherStressNorStiffness) {
  Matrix32 rest;
  rest << 1, 0, 0, 1, 0, 0;
  const StretchLimit tight{1.001, 0.999, 1, 1};
  for (const Membrane& m : moderate_membranes) {
    EXPECT_EQ(energy(m, &tight, rest), 0);
    EXPECT_EQ(stress(m, &tight, rest).norm(), 0);
    EXPECT_EQ(tangent(m, &tight, rest, false), tangent(m, nullptr, rest, false));
  }
}

TEST(Membrane, BarrierHasTheStiffnessOfTheDataAtRest) {
  const PlaneStrain none = PlaneStrain::Zero();
  const StrainDerivatives d = limited_cotton.derivatives(none), data = cotton.derivatives(none);
  EXPECT_EQ(d.first, data.first);
  EXPECT_EQ(d.second, data.second);
  Matrix3 expected;  // C-IPC supplement eq. 8
  expected << 15.557, 7.779, 0, 7.779, 25.004, 0, 0, 0, 2 * 1.076;
  EXPECT_EQ(d.second, expected);
  // The published table lists a11, a12, a22, G12: the other order of the middle two would not be elastic.
  EXPECT_GT(eigenvalues(expected)[0], 0);
  EXPECT_LT(15.557 * 7.779, 25.004 * 25.004);
}

TEST(Membrane, BarriersAreInfiniteAtTheirLimitsAndNotBefore) {
  for (int k = 0; k < 3; ++k)
    for (const double side : {-1.0, 1.0}) {
      PlaneStrain e = PlaneStrain::Zero();
      e[k] = side * limited_cotton.limit[k];
      EXPECT_EQ(limited_cotton.energy(e), std::numeric_limits<double>::infinity());
      e[k] *= 1 - 1e-12;
      EXPECT_TRUE(std::isfinite(limited_cotton.energy(e)));
    }
  const StretchLimit s{1.01, 0.9, 1, 1};
  EXPECT_TRUE(std::isfinite(s.energy({1.01 - 1e-14, 0.9 + 1e-14})));
  for (const Vector2& beyond : {Vector2(1.01, 1), Vector2(2, 1), Vector2(1, 0.9), Vector2(1, 0)}) {
    EXPECT_EQ(s.energy(beyond), std::numeric_limits<double>::infinity());
    EXPECT_FALSE(s.allows(beyond));
  }
  EXPECT_EQ(s.energy({1, 1}), 0);
  EXPECT_GT(s.energy({1 + 1e-6, 1}), 0);
}

TEST(Membrane, APulledStripHasYoungsModulusAndPoissonsRatio) {
  // Small strain: σ = E ε along, −ν ε across, with no stress across.
  const double young = 2.5, nu = 0.3, strain = 1e-6;
  for (const Membrane& m : {Membrane(KoiterMembrane{plane_stress_parameters(young, nu)}),
                            Membrane(NeoHookeanMembrane{plane_stress_parameters(young, nu)}),
                            Membrane(orthotropic_membrane(young, 1, nu, 0.4))}) {
    Matrix32 f;
    f << 1 + strain, 0, 0, 1 - nu * strain, 0, 0;
    const Matrix32 p = stress(m, nullptr, f);
    EXPECT_NEAR(p(0, 0), young * strain, 1e-5 * young * strain);
    EXPECT_NEAR(p(1, 1), 0, 1e-5 * young * strain);
    f << 1, strain, 0, 1, 0, 0;  // shear by the angle `strain`
    const double shear = m.index() == 2 ? 0.4 : young / (2 * (1 + nu));
    EXPECT_NEAR(stress(m, nullptr, f)(0, 1), shear * strain, 1e-5 * shear * strain);
  }
}

}  // namespace
}  // namespace apart::test
