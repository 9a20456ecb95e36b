// Collision: distances and their derivatives, CCD, broad phase, active set.
// Two sheets one above the other, 1 mm apart with noise, one of them turned by 0.3 rad; d̂ is 2 mm.
#include <benchmark/benchmark.h>
#include <apart/collision/active_set.hpp>
#include <apart/collision/box_tree.hpp>
#include <apart/collision/broad_phase.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/step_bound.hpp>

#include <Eigen/Geometry>
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

// ---- Two sheets of n × n vertices

constexpr double dhat = 2e-3;

CollisionSurface sheets(int n) {
  Random random;
  Matrix3X x(3, 2 * n * n);
  Faces faces(3, 4 * (n - 1) * (n - 1));
  std::vector<int> body(2 * n * n);
  Index f = 0;
  for (int sheet = 0; sheet < 2; ++sheet)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int v = (sheet * n + i) * n + j;
        x.col(v) =
            Eigen::AngleAxisd(0.3 * sheet, Vector3::UnitZ()) *
            Vector3(i / (n - 1.0) - 0.5, j / (n - 1.0) - 0.5, 1e-3 * sheet + random.uniform(-2e-4, 2e-4));
        body[v] = sheet;
        if (i + 1 == n || j + 1 == n) continue;
        faces.col(f++) << v, v + n, v + n + 1;
        faces.col(f++) << v, v + n + 1, v + 1;
      }
  return {x, faces, Edges(2, 0), body, PairTable(2, {.dhat = dhat}), {}};
}

/// The upper sheet down by 5 mm.
Matrix3X downward(const CollisionSurface& surface) {
  Matrix3X p = Matrix3X::Zero(3, surface.vertex_count());
  p.row(2).tail(p.cols() / 2).setConstant(-5e-3);
  return p;
}

std::vector<FloatBox> edge_boxes(const CollisionSurface& surface, const Matrix3X& x) {
  std::vector<FloatBox> boxes(surface.edges.cols());
  for (Index e = 0; e < surface.edges.cols(); ++e)
    for (int k = 0; k < 3; ++k) {
      const double a = x(k, surface.edges(0, e)), b = x(k, surface.edges(1, e));
      boxes[e].lower[k] = float(std::min(a, b) - dhat / 2);
      boxes[e].upper[k] = float(std::max(a, b) + dhat / 2);
    }
  return boxes;
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(50)->Arg(100)->Arg(200)->Unit(benchmark::kMillisecond);
}

void tree_build(benchmark::State& state) {
  const CollisionSurface surface = sheets(int(state.range(0)));
  const auto boxes = edge_boxes(surface, surface.rest);
  for (auto _ : state) {
    BoxTree tree;
    tree.update(boxes, {});
    benchmark::DoNotOptimize(tree.packet_count());
  }
  state.counters["boxes"] = double(boxes.size());
}
BENCHMARK(tree_build)->Apply(sizes);

void tree_refit(benchmark::State& state) {
  const CollisionSurface surface = sheets(int(state.range(0)));
  const auto boxes = edge_boxes(surface, surface.rest);
  BoxTree tree;
  tree.update(boxes, {});
  for (auto _ : state) tree.update(boxes, {});
  state.counters["boxes"] = double(boxes.size());
}
BENCHMARK(tree_refit)->Apply(sizes);

void tree_join(benchmark::State& state) {
  const CollisionSurface surface = sheets(int(state.range(0)));
  BoxTree tree;
  tree.update(edge_boxes(surface, surface.rest), {});
  std::vector<std::array<Index, 2>> pairs;
  for (auto _ : state) {
    pairs.clear();
    for (Index p = 0; p < tree.packet_count(); ++p) tree.join(p, tree, pairs);
    benchmark::DoNotOptimize(pairs.data());
  }
  state.counters["pairs"] = double(pairs.size());
}
BENCHMARK(tree_join)->Apply(sizes);

/// Refit and search at rest, within d̂.
void broad_phase(benchmark::State& state) {
  const CollisionSurface surface = sheets(int(state.range(0)));
  const auto bvh = make_bvh(surface);
  std::size_t found = 0;
  for (auto _ : state) found = bvh->find(surface.rest, dhat).size();
  state.counters["candidates"] = double(found);
}
BENCHMARK(broad_phase)->Apply(sizes);

/// Refit and search along a path.
void broad_phase_swept(benchmark::State& state) {
  const CollisionSurface surface = sheets(int(state.range(0)));
  const Matrix3X end = surface.rest + downward(surface);
  const auto bvh = make_bvh(surface);
  std::size_t found = 0;
  for (auto _ : state) found = bvh->find(surface.rest, end, dhat).size();
  state.counters["candidates"] = double(found);
}
BENCHMARK(broad_phase_swept)->Apply(sizes);

void active_set(benchmark::State& state) {
  const CollisionSurface surface = sheets(int(state.range(0)));
  const Candidates candidates = make_bvh(surface)->find(surface.rest, dhat);
  std::size_t contacts = 0;
  for (auto _ : state) contacts = find_active_set(surface, candidates, surface.rest).contacts.size();
  state.counters["candidates"] = double(candidates.size());
  state.counters["contacts"] = double(contacts);
}
BENCHMARK(active_set)->Apply(sizes);

void earliest_impact(benchmark::State& state) {
  const CollisionSurface surface = sheets(int(state.range(0)));
  const Matrix3X p = downward(surface);
  const Candidates candidates = make_bvh(surface)->find(surface.rest, surface.rest + p, dhat);
  for (auto _ : state) benchmark::DoNotOptimize(collision_free_step(surface, candidates, surface.rest, p));
  state.counters["candidates"] = double(candidates.size());
}
BENCHMARK(earliest_impact)->Apply(sizes);

}  // namespace
}  // namespace apart
