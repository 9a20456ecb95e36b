// Two sheets of 200 × 200 vertices and unit size, 1 mm apart, with vertical noise of ±0.2 mm; d̂ is 2 mm.
// Scene A: the grids exactly above each other; scene B: the upper sheet turned by 0.3 rad. For CCD it moves
// down by 5 mm. One thread unless the name says otherwise.
#include <benchmark/benchmark.h>
#include <apart/bodies/linear_map.hpp>
#include <apart/collision/active_set.hpp>
#include <apart/collision/broad_phase.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/core/parallel.hpp>
#include <apart/potentials/barrier_contact.hpp>
#include <apart/solver/objective.hpp>

#include <Eigen/Geometry>
#include <ctime>
#include <limits>
#include <random>

namespace apart {
namespace {

constexpr double dhat = 2e-3;

/// Sheets of n × n vertices at the given spacing [m].
CollisionSurface make_sheets(int n, double spacing, double turn) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> noise(-2e-4, 2e-4);
  Matrix3X x(3, 2 * n * n);
  Faces faces(3, 4 * (n - 1) * (n - 1));
  std::vector<int> body(2 * n * n);
  Index f = 0;
  for (int sheet = 0; sheet < 2; ++sheet)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int v = (sheet * n + i) * n + j;
        const double middle = 0.5 * (n - 1);
        x.col(v) = Eigen::AngleAxisd(turn * sheet, Vector3::UnitZ()) *
                   Vector3((i - middle) * spacing, (j - middle) * spacing, 1e-3 * sheet + noise(engine));
        body[v] = sheet;
        if (i + 1 == n || j + 1 == n) continue;
        faces.col(f++) << v, v + n, v + n + 1;
        faces.col(f++) << v, v + n + 1, v + 1;
      }
  return {x, faces, Edges(2, 0), body, PairTable(2, {.dhat = dhat}), {}};
}

enum Scene { A, B };
const CollisionSurface& sheets(Scene scene) {
  static const CollisionSurface surfaces[] = {make_sheets(200, 1 / 199.0, 0),
                                              make_sheets(200, 1 / 199.0, 0.3)};
  return surfaces[scene];
}

/// The upper sheet down by 5 mm.
Matrix3X downward(const CollisionSurface& surface) {
  Matrix3X p = Matrix3X::Zero(3, surface.vertex_count());
  p.row(2).tail(p.cols() / 2).setConstant(-5e-3);
  return p;
}

void count(benchmark::State& state, const Candidates& candidates) {
  std::array<double, 4> kinds = {};
  for (const Stencil& s : candidates) ++kinds[std::size_t(s.kind)];
  state.counters["edge_edge"] = kinds[std::size_t(PairKind::edge_edge)];
  state.counters["vertex_face"] = kinds[std::size_t(PairKind::point_triangle)];
}

/// All pairs within d̂; a tree is refitted.
void broad_phase(benchmark::State& state, Scene scene, const char* method, int threads) {
  const CollisionSurface& surface = sheets(scene);
  set_thread_count(threads);
  const auto search = make_broad_phase(method, surface);
  Candidates found = search->find(surface.rest, dhat);
  for (auto _ : state) found = search->find(surface.rest, dhat);
  count(state, found);
  set_thread_count(1);
}
BENCHMARK_CAPTURE(broad_phase, A_bvh, A, "bvh", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(broad_phase, B_bvh, B, "bvh", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(broad_phase, A_bvh_two_threads, A, "bvh", 2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(broad_phase, B_bvh_two_threads, B, "bvh", 2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(broad_phase, A_spatial_hash, A, "spatial_hash", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(broad_phase, B_spatial_hash, B, "spatial_hash", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(broad_phase, A_sweep_and_prune, A, "sweep_and_prune", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(broad_phase, B_sweep_and_prune, B, "sweep_and_prune", 1)->Unit(benchmark::kMillisecond);

/// All pairs that touch on the way down.
void broad_phase_swept(benchmark::State& state, Scene scene, const char* method) {
  const CollisionSurface& surface = sheets(scene);
  const Matrix3X end = surface.rest + downward(surface);
  const auto search = make_broad_phase(method, surface);
  Candidates found = search->find(surface.rest, end, 0);
  for (auto _ : state) found = search->find(surface.rest, end, 0);
  count(state, found);
}
BENCHMARK_CAPTURE(broad_phase_swept, A_bvh, A, "bvh")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(broad_phase_swept, B_bvh, B, "bvh")->Unit(benchmark::kMillisecond);

void active_set(benchmark::State& state, Scene scene) {
  const CollisionSurface& surface = sheets(scene);
  const Candidates candidates = make_bvh(surface)->find(surface.rest, dhat);
  ActiveSet active = find_active_set(surface, candidates, surface.rest);
  for (auto _ : state) active = find_active_set(surface, candidates, surface.rest);
  state.counters["stencils"] = double(active.contacts.size());
}
BENCHMARK_CAPTURE(active_set, A, A)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(active_set, B, B)->Unit(benchmark::kMillisecond);

struct Barrier {
  explicit Barrier(Scene scene)
      : surface(sheets(scene)), cache(make_bvh(surface), dhat), contact(surface, cache) {
    contact.prepare(surface.rest);
  }
  const CollisionSurface& surface;
  CandidateCache cache;
  BarrierContact contact;
};

void sheets_barrier_value(benchmark::State& state, Scene scene) {
  const Barrier b(scene);
  for (auto _ : state) benchmark::DoNotOptimize(b.contact.value(b.surface.rest));
  state.counters["stencils"] = double(b.contact.term_count());
}
BENCHMARK_CAPTURE(sheets_barrier_value, A, A)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sheets_barrier_value, B, B)->Unit(benchmark::kMillisecond);

void sheets_barrier_gradient(benchmark::State& state, Scene scene) {
  const Barrier b(scene);
  Matrix3X g = Matrix3X::Zero(3, b.surface.vertex_count());
  for (auto _ : state) b.contact.add_gradient(b.surface.rest, g);
  state.counters["stencils"] = double(b.contact.term_count());
}
BENCHMARK_CAPTURE(sheets_barrier_gradient, A, A)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sheets_barrier_gradient, B, B)->Unit(benchmark::kMillisecond);

/// Projected and assembled into a sparse matrix, the pattern of which is found anew each time.
void sheets_barrier_hessian(benchmark::State& state, Scene scene) {
  Barrier b(scene);
  const Index vertices = b.surface.vertex_count();
  const LinearMap map = LinearMap::identity(vertices);
  const Chart chart(vertices);
  Objective objective(map, chart, {{&b.contact, Role::contact, PointKind::vertices}});
  const FreeCoordinates free(Eigen::Array<bool, 3, Eigen::Dynamic>::Constant(3, vertices, true));
  objective.prepare(b.surface.rest);
  for (auto _ : state) {
    objective.set_free(free);  // forgets the pattern
    benchmark::DoNotOptimize(objective.hessian());
  }
  state.counters["stencils"] = double(b.contact.term_count());
}
BENCHMARK_CAPTURE(sheets_barrier_hessian, A, A)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sheets_barrier_hessian, B, B)->Unit(benchmark::kMillisecond);

/// From the candidates of the path.
void earliest_impact(benchmark::State& state, Scene scene, CcdMethod method, int threads) {
  const CollisionSurface& surface = sheets(scene);
  const Matrix3X p = downward(surface);
  const Candidates candidates = make_bvh(surface)->find(surface.rest, surface.rest + p, 0);
  set_thread_count(threads);
  double earliest = 0;
  for (auto _ : state)
    earliest = collision_free_step(surface, candidates, {surface.rest, p}, {.method = method}).alpha;
  count(state, candidates);
  state.counters["earliest"] = earliest;
  set_thread_count(1);
}
BENCHMARK_CAPTURE(earliest_impact, A_additive, A, CcdMethod::additive, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(earliest_impact, B_additive, B, CcdMethod::additive, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(earliest_impact, A_tight_inclusion, A, CcdMethod::tight_inclusion, 1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(earliest_impact, B_tight_inclusion, B, CcdMethod::tight_inclusion, 1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(earliest_impact, B_tight_inclusion_two_threads, B, CcdMethod::tight_inclusion, 2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Ten times the primitives at the same density: scene B of 100² and of 316² vertices, refit and search.
void near_linear(benchmark::State& state, const char* method) {
  const auto measure = [&](int n) {
    const CollisionSurface surface = make_sheets(n, 1 / 199.0, 0.3);
    const auto search = make_broad_phase(method, surface);
    search->find(surface.rest, dhat);
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 5; ++repeat) {
      const std::clock_t begin = std::clock();
      search->find(surface.rest, dhat);
      best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return best / (double(n) * n);
  };
  for (auto _ : state) {
    const double small = measure(100), large = measure(316);
    state.counters["ms_small"] = 1e3 * small * 1e4;
    state.counters["time_for_ten_times_the_primitives"] = 10 * large / small;
  }
}
BENCHMARK_CAPTURE(near_linear, bvh, "bvh")->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(near_linear, spatial_hash, "spatial_hash")->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace apart
