// Collision, single pairs: distances and their derivatives, CCD.
#include <benchmark/benchmark.h>
#include <apart/collision/ccd.hpp>

#include <random>

namespace apart {
namespace {

struct Random {
  std::mt19937 engine{1};
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(engine); }
};

// ---- Single pairs

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

/// Points in the unit cube; displacements of standard deviation 0.2, or near contact at a gap of 1e-4 to
/// 1e-3.
void ccd_query(benchmark::State& state, PairKind kind, bool near_contact) {
  Random random;
  std::vector<CcdQuery> queries(1024);
  for (CcdQuery& q : queries) {
    q.kind = kind;
    for (Vector3& x : q.x) x = Vector3::NullaryExpr([&](auto) { return random.uniform(0, 1); });
    for (Vector3& p : q.displacement) p = Vector3::NullaryExpr([&](auto) { return random.normal(0.2); });
    if (!near_contact) continue;
    const Vector3 r = closest_points(kind, q.x).r;
    const double gap = random.uniform(1e-4, 1e-3);
    for (int i = 0; i < first_count(kind); ++i) q.x[i] -= (1 - gap / r.norm()) * r;
    for (Vector3& p : q.displacement) p *= 0.05;
  }
  std::size_t i = 0, hits = 0;
  for (auto _ : state) hits += time_of_impact(queries[i++ % queries.size()]).has_value();
  state.counters["hit share"] = double(hits) / double(std::max<std::size_t>(i, 1));
}
BENCHMARK_CAPTURE(ccd_query, point_triangle_random, PairKind::point_triangle, false);
BENCHMARK_CAPTURE(ccd_query, edge_edge_random, PairKind::edge_edge, false);
BENCHMARK_CAPTURE(ccd_query, point_triangle_near_contact, PairKind::point_triangle, true);
BENCHMARK_CAPTURE(ccd_query, edge_edge_near_contact, PairKind::edge_edge, true);

}  // namespace
}  // namespace apart
