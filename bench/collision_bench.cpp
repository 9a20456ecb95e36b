// Collision, single pairs: distances and their derivatives.
#include <benchmark/benchmark.h>
#include <apart/geometry/squared_distance.hpp>

#include <random>

namespace apart {
namespace {

struct Random {
  std::mt19937 engine{1};
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
};

std::vector<StencilPoints> random_stencils(int count) {
  Random random;
  std::vector<StencilPoints> all(count);
  for (StencilPoints& x : all)
    for (Vector3& p : x) p = Vector3::NullaryExpr([&](auto) { return random.uniform(0, 1); });
  return all;
}

void distance(benchmark::State& state, PairKind kind) {
  const auto stencils = random_stencils(1024);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(squared_distance(kind, stencils[i++ % stencils.size()]));
}
BENCHMARK_CAPTURE(distance, point_triangle, PairKind::point_triangle);
BENCHMARK_CAPTURE(distance, edge_edge, PairKind::edge_edge);

void distance_derivatives(benchmark::State& state, PairKind kind) {
  const auto stencils = random_stencils(1024);
  std::size_t i = 0;
  for (auto _ : state) {
    const StencilPoints& x = stencils[i++ % stencils.size()];
    const ClosestFeature feature = closest_feature(kind, x);
    benchmark::DoNotOptimize(squared_distance_gradient(feature, 4, x));
    benchmark::DoNotOptimize(squared_distance_hessian(feature, 4, x));
  }
}
BENCHMARK_CAPTURE(distance_derivatives, point_triangle, PairKind::point_triangle);
BENCHMARK_CAPTURE(distance_derivatives, edge_edge, PairKind::edge_edge);

}  // namespace
}  // namespace apart
