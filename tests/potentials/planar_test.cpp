// Elasticity and pressure in a plane.
#include <apart/geometry/generators.hpp>
#include <apart/potentials/planar_elasticity.hpp>
#include <apart/potentials/surface_pressure.hpp>

#include <gtest/gtest.h>
#include <support/potential_checks.hpp>

#include <Eigen/Geometry>
#include <random>

namespace apart::test {
namespace {

const std::vector<Material>& planar_materials() {
  static const std::vector<Material> all = {NeoHookean{lame_parameters(1e4, 0.4)},
                                            NeoHookean{lame_parameters(1e4, 0.0)},
                                            FixedCorotated{lame_parameters(1e4, 0.4)},
                                            mooney_rivlin(lame_parameters(1e4, 0.4)),
                                            MooneyRivlin{1e3, 4e3, 1e4},
                                            LinearElasticity{lame_parameters(1e4, 0.4)},
                                            StVenantKirchhoff{lame_parameters(1e4, 0.4)},
                                            Orthogonality{1e4}};
  return all;
}

PlanarElasticity planar_square(const Material& material, PlaneState state, double scale = 0.01) {
  const Mesh mesh = generate::rectangle({1, 1}, {1, 1});
  const Body body = make_planar("square", mesh, {{{material, 1000}}, {0, 0}}, {0.5, state});
  PlanarElasticity elasticity;
  elasticity.add(*body.planar, 0);
  elasticity.set_scale(scale);
  return elasticity;
}

Matrix3X jolted(const Matrix3X& x, unsigned seed, double size) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> u(-size, size);
  return x + Matrix3X::NullaryExpr(3, x.cols(), [&](Eigen::Index, Eigen::Index) { return u(engine); });
}

TEST(PlanarElasticity, KeepsTheContractOfPotentialsForEveryMaterial) {
  const Matrix3X rest = generate::rectangle({1, 1}, {1, 1}).points;
  for (const PlaneState state : {PlaneState::strain, PlaneState::stress})
    for (std::size_t m = 0; m < planar_materials().size(); ++m) {
      const Material& material = planar_materials()[m];
      if (state == PlaneState::stress && !no_plane_stress(material).empty()) continue;
      PlanarElasticity elasticity = planar_square(material, state);
      for (unsigned seed = 0; seed < 4; ++seed)
        expect_potential_contract(elasticity, jolted(rest, seed, 0.2),
                                  fmt::format("material {}, state {}, seed {}", m, int(state), seed),
                                  {.nearest = false});
      // Both stretches alike, where quotients of differences have a limit.
      expect_potential_contract(elasticity, 1.2 * rest, fmt::format("material {}, stretched alike", m),
                                {.nearest = false});
    }
}

TEST(PlanarElasticity, PlaneStrainIsThatOfASolidWhoseDepthStays) {
  for (const Material& material : planar_materials()) {
    PlanarElasticity elasticity = planar_square(material, PlaneState::strain, 1);
    const Matrix3X rest = generate::rectangle({1, 1}, {1, 1}).points;
    Matrix3 f;
    f << 1.2, 0.3, 0, -0.1, 0.9, 0, 0, 0, 1;
    const Matrix3X x = f * rest;
    elasticity.prepare(x);
    const double density = std::visit(
        [&]<class M>(const M& m) {
          if constexpr (Isotropic<M>)
            return m.energy(signed_svd(f).sigma);
          else
            return m.energy(f);
        },
        material);
    EXPECT_NEAR(elasticity.value(x), 0.5 * density, 1e-12 * std::abs(density));
  }
}

TEST(PlanarElasticity, PlaneStressIsTheLeastEnergyOverTheStretchAcross) {
  Matrix2 f;
  f << 1.3, 0.2, -0.1, 0.8;
  const Eigen::JacobiSVD<Matrix2> svd(f);
  for (const Material& material : planar_materials()) {
    if (!no_plane_stress(material).empty()) continue;
    PlanarElasticity elasticity = planar_square(material, PlaneState::stress, 1);
    Matrix3X x = generate::rectangle({1, 1}, {1, 1}).points;
    x.topRows<2>() = f * x.topRows<2>();
    elasticity.prepare(x);
    const auto energy = [&](double across) {
      Matrix3 whole = Matrix3::Identity();
      whole.topLeftCorner<2, 2>() = f;
      whole(2, 2) = across;
      return 0.5 * std::visit(
                       [&]<class M>(const M& m) {
                         if constexpr (Isotropic<M>)
                           return m.energy(signed_svd(whole).sigma);
                         else
                           return m.energy(whole);
                       },
                       material);
    };
    double least = energy(1);
    for (int k = 1; k < 3000; ++k) least = std::min(least, energy(1e-3 * k));
    EXPECT_LE(elasticity.value(x), least * (1 + 1e-12));
    EXPECT_GT(elasticity.value(x), least * (1 - 1e-4));
    for (Index t = 0; t < 2; ++t)
      EXPECT_NEAR(elasticity.cauchy_stress(t)(2, 2), 0, 1e-9 * elasticity.cauchy_stress(t).norm());
  }
}

TEST(PlanarElasticity, RotationsInThePlaneCostNoEnergyAndExertNoForce) {
  const Matrix3X rest = generate::rectangle({1, 1}, {1, 1}).points;
  for (const PlaneState state : {PlaneState::strain, PlaneState::stress})
    for (const Material& material : planar_materials()) {
      if (std::holds_alternative<LinearElasticity>(material)) continue;
      if (state == PlaneState::stress && !no_plane_stress(material).empty()) continue;
      PlanarElasticity elasticity = planar_square(material, state, 1);
      for (const double angle : {0.3, 2.0, 3.1}) {
        const Matrix3 turn = Eigen::AngleAxisd(angle, Vector3::UnitZ()).toRotationMatrix();
        const Matrix3X x = turn * rest;
        elasticity.prepare(x);
        Matrix3X g = Matrix3X::Zero(3, x.cols());
        elasticity.add_gradient(x, g);
        EXPECT_LT(std::abs(elasticity.value(x)), 1e-11);
        EXPECT_LT(g.cwiseAbs().maxCoeff(), 1e-11 * 1e4);
      }
    }
}

TEST(PlanarElasticity, StepsEndBeforeATriangleIsTurnedOver) {
  const Matrix3X rest = generate::rectangle({1, 1}, {1, 1}).points;
  PlanarElasticity guarded = planar_square(planar_materials()[0], PlaneState::strain),
                   free = planar_square(FixedCorotated{lame_parameters(1e4, 0.4)}, PlaneState::strain);
  Matrix3X move = Matrix3X::Zero(3, 4);
  move.col(3) << -2, -2,
      0;  // the upper right corner, through the diagonal or a side at half of the way or less
  const double step = guarded.feasible_step(Path{rest, move}).alpha;
  EXPECT_GT(step, 0.1);
  EXPECT_LT(step, 0.5);
  EXPECT_EQ(free.feasible_step(Path{rest, move}).alpha, 1) << "may invert";
  move.col(3) << 2, 2, 0;
  EXPECT_EQ(guarded.feasible_step(Path{rest, move}).alpha, 1);
}

TEST(PlanarPressure, PushesOnOpenAndClosedChainsOfSegments) {
  const Mesh mesh = generate::disc(1, 2);
  const Edges rim = boundary_edges(mesh.faces);
  for (const Index count : {Index(rim.cols()), Index(4), Index(1)})
    for (unsigned seed = 0; seed < 3; ++seed) {
      SurfacePressure pressure;
      SurfacePressure::Patch patch;
      patch.pressure = 100;
      patch.segments = rim.leftCols(count);
      patch.depth = 0.5;
      pressure.set(0.01, {patch}, mesh.points);
      expect_potential_contract(pressure, jolted(mesh.points, seed, 0.1),
                                fmt::format("{} segments, seed {}", count, seed));
      // At the start of the step: p depth length / 2 at each end, against the outer side.
      Matrix3X g = Matrix3X::Zero(3, mesh.point_count()), expected = g;
      pressure.add_gradient(mesh.points, g);
      for (Index e = 0; e < count; ++e) {
        const Vector3 along = mesh.points.col(rim(1, e)) - mesh.points.col(rim(0, e));
        for (int k = 0; k < 2; ++k)
          expected.col(rim(k, e)) += 0.01 * 100 * 0.5 / 2 * Vector3(along[1], -along[0], 0);
      }
      EXPECT_LT((g - expected).norm(), 1e-14) << count;
    }
}

}  // namespace
}  // namespace apart::test
