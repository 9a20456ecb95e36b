// Conjugate gradients on stiff volumes: an incomplete factorisation alone, and with a coarse space.
#include <apart/geometry/generators.hpp>
#include <apart/solver/conjugate_gradient.hpp>

#include <benchmark/benchmark.h>
#include <Eigen/LU>
#include <algorithm>

namespace apart::bench {
namespace {

/// M + h²K of linear elasticity on a free box, h = 0.01 s, ρ = 1000 kg/m³, ν = 0.4.
BlockSparse elastic_system(const Mesh& mesh, double young) {
  std::vector<BlockKey> keys;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b <= a; ++b) keys.push_back(block_key(mesh.tetrahedra(a, t), mesh.tetrahedra(b, t)));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  BlockSparse system(mesh.point_count(), keys);
  const double h = 0.01, rho = 1000, nu = 0.4;
  const double lambda = young * nu / ((1 + nu) * (1 - 2 * nu)), mu = young / (2 * (1 + nu));
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    Matrix3 edges;
    for (int k = 0; k < 3; ++k)
      edges.col(k) = mesh.points.col(mesh.tetrahedra(k + 1, t)) - mesh.points.col(mesh.tetrahedra(0, t));
    const double volume = edges.determinant() / 6;
    Eigen::Matrix<double, 3, 4> g;  // gradients of the barycentric coordinates
    g.rightCols<3>() = edges.inverse().transpose();
    g.col(0) = -g.rightCols<3>().rowwise().sum();
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) {
        const Index i = mesh.tetrahedra(a, t), j = mesh.tetrahedra(b, t);
        if (i < j) continue;
        Matrix3 block = h * h * volume *
                        (lambda * g.col(a) * g.col(b).transpose() + mu * g.col(b) * g.col(a).transpose() +
                         mu * g.col(a).dot(g.col(b)) * Matrix3::Identity());
        if (i == j) block += rho * volume / 4 * Matrix3::Identity();
        system.add(system.slot(i, j), block);
      }
  }
  return system;
}

/// Cells across the box; its length in widths; the stiffness in MPa; whether there is a coarse space.
void stiff_volume(benchmark::State& state) {
  const int cells = int(state.range(0)), length = int(state.range(1));
  const Mesh mesh = generate::box({double(length), 1, 1}, {cells * length, cells, cells});
  const BlockSparse system = elastic_system(mesh, 1e6 * double(state.range(2)));
  VectorX force = VectorX::Zero(3 * system.block_count());  // gravity, and a push from below
  for (Index p = 0; p < mesh.point_count(); ++p)
    force[3 * p + 1] = mesh.points(1, p) < -0.49 ? 4.019e-3 : -0.981e-3;
  const FreeCoordinates free(Chart::Mask::Constant(3, mesh.point_count(), true));
  ConjugateGradient gradients;
  const NearNullSpace space = near_null_space(Chart(mesh.point_count()), mesh.points, free);
  for (auto _ : state) {
    gradients.set_matrix(system, state.range(3) ? &space : nullptr);
    benchmark::DoNotOptimize(gradients.solve(force, {.tolerance = 1e-5, .max_iterations = 5000}));
  }
  state.counters["nodes"] = double(mesh.point_count());
  state.counters["iterations"] = gradients.iterations();
}
BENCHMARK(stiff_volume)
    ->ArgNames({"cells", "length", "MPa", "coarse"})
    ->ArgsProduct({{16, 34}, {1}, {1, 1000}, {0, 1}})
    ->Args({10, 40, 1000, 0})
    ->Args({10, 40, 1000, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace apart::bench
