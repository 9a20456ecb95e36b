// Continuous collision detection of single pairs: both methods; Tight Inclusion against itself without vector
// instructions; both methods on what simulations ask. Ratios are of CPU times in one run, the best of three.
#include <benchmark/benchmark.h>
#include <apart/collision/ccd_methods.hpp>
#include <apart/core/parallel.hpp>
#include <apart/importers/importers.hpp>
#include <apart/queries/query_generator.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/simulation/simulation.hpp>

#include <ctime>
#include <random>

namespace apart {
namespace {

/// Points in the unit cube; displacements of standard deviation 0.2, or near contact at a gap of 1e-4 to
/// 1e-3.
std::vector<CcdQuery> random_queries(PairKind kind, bool near_contact, int count) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(0, near_contact ? 0.01 : 0.2);
  std::vector<CcdQuery> queries(count);
  for (CcdQuery& q : queries) {
    q.kind = kind;
    for (Vector3& x : q.x) x = Vector3::NullaryExpr([&](auto) { return uniform(engine); });
    for (Vector3& p : q.displacement) p = Vector3::NullaryExpr([&](auto) { return normal(engine); });
    if (!near_contact) continue;
    const Vector3 r = closest_points(kind, q.x).r;
    const double gap = 1e-4 + 9e-4 * uniform(engine);
    for (int i = 0; i < first_count(kind); ++i) q.x[i] -= (1 - gap / r.norm()) * r;
  }
  return queries;
}

void ccd_query(benchmark::State& state, CcdMethod method, PairKind kind, bool near_contact) {
  const auto queries = random_queries(kind, near_contact, 100'000);
  const CcdOptions options{.method = method, .gap_fraction = method == CcdMethod::additive ? 0.2 : 0};
  std::size_t i = 0, hits = 0;
  for (auto _ : state) hits += time_of_impact(queries[i++ % queries.size()], options).has_value();
  state.counters["hit_share"] = double(hits) / double(std::max<std::size_t>(i, 1));
}
constexpr CcdMethod additive = CcdMethod::additive, tight = CcdMethod::tight_inclusion;
constexpr PairKind vf = PairKind::point_triangle, ee = PairKind::edge_edge;
BENCHMARK_CAPTURE(ccd_query, additive_vertex_face_random, additive, vf, false);
BENCHMARK_CAPTURE(ccd_query, additive_edge_edge_random, additive, ee, false);
BENCHMARK_CAPTURE(ccd_query, additive_vertex_face_near_contact, additive, vf, true);
BENCHMARK_CAPTURE(ccd_query, additive_edge_edge_near_contact, additive, ee, true);
BENCHMARK_CAPTURE(ccd_query, tight_vertex_face_random, tight, vf, false);
BENCHMARK_CAPTURE(ccd_query, tight_edge_edge_random, tight, ee, false);
BENCHMARK_CAPTURE(ccd_query, tight_vertex_face_near_contact, tight, vf, true);
BENCHMARK_CAPTURE(ccd_query, tight_edge_edge_near_contact, tight, ee, true);

using Method = std::optional<double> (*)(const CcdQuery&, const CcdOptions&);

/// CPU time of one query in microseconds.
double time_per_query(Method method, const std::vector<CcdQuery>& queries, const CcdOptions& options) {
  const std::clock_t begin = std::clock();
  for (const CcdQuery& q : queries) benchmark::DoNotOptimize(method(q, options));
  return 1e6 * double(std::clock() - begin) / CLOCKS_PER_SEC / double(queries.size());
}

struct Contender {
  Method method;
  const char* name;
};

void compare(benchmark::State& state, const std::vector<CcdQuery>& queries, const Contender& slow,
             const Contender& fast, const CcdOptions& options) {
  double slow_time = 1e9, fast_time = 1e9;
  for (auto _ : state)
    for (int repeat = 0; repeat < 3; ++repeat) {
      fast_time = std::min(fast_time, time_per_query(fast.method, queries, options));
      slow_time = std::min(slow_time, time_per_query(slow.method, queries, options));
    }
  state.counters["queries"] = double(queries.size());
  state.counters[slow.name] = slow_time;
  state.counters[fast.name] = fast_time;
  state.counters["ratio"] = slow_time / fast_time;
}

/// On the random queries with an impact.
void vector_against_scalar(benchmark::State& state, PairKind kind) {
  const CcdOptions options{.gap_fraction = 0};
  std::vector<CcdQuery> impacts;
  for (const CcdQuery& q : random_queries(kind, false, 200'000))
    if (tight_inclusion_ccd(q, options)) impacts.push_back(q);
  compare(state, impacts, {tight_inclusion_ccd_scalar, "scalar_us"}, {tight_inclusion_ccd, "vector_us"},
          options);
}
BENCHMARK_CAPTURE(vector_against_scalar, vertex_face, vf)->Iterations(1);
BENCHMARK_CAPTURE(vector_against_scalar, edge_edge, ee)->Iterations(1);

/// On pairs that keep the search busy: edges that are parallel, or nearly, or for an instant.
void vector_against_scalar_parallel_edges(benchmark::State& state) {
  std::vector<CcdQuery> queries;
  for (const GeneratedQuery& g :
       generate_queries({.family = QueryFamily::parallel_edges, .kind = ee}, 0, 2000)) {
    CcdQuery& q = queries.emplace_back();
    q.kind = ee;
    q.x = g.pair.from;
    for (int i = 0; i < 4; ++i) q.displacement[i] = g.pair.to[i] - g.pair.from[i];
  }
  compare(state, queries, {tight_inclusion_ccd_scalar, "scalar_us"}, {tight_inclusion_ccd, "vector_us"},
          {.gap_fraction = 0});
}
BENCHMARK(vector_against_scalar_parallel_edges)->Iterations(1);

/// What the step bound asks in the first steps of a built-in example, with its thickness, d̂ and gap.
std::vector<CcdQuery> recorded_queries(const char* example, int steps) {
  const auto model = build_scene(open_scene(example)).model;
  Simulation simulation(model);
  std::vector<CcdQuery> queries;
  simulation.on_step_bound = [&](const Candidates& candidates, const Path& path) {
    for (const Stencil& s : candidates) {
      const PairSettings& settings = model->surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
      if (queries.size() < 300'000)
        queries.push_back(
            {s.kind, s.gather(path.start), s.gather(path.move), settings.thickness, settings.dhat});
    }
  };
  for (int i = 0; i < steps; ++i) simulation.step();
  return queries;
}

void tight_against_additive(benchmark::State& state, const char* example, int steps) {
  set_thread_count(1);
  compare(state, recorded_queries(example, steps), {tight_inclusion_ccd, "tight_us"},
          {additive_ccd, "additive_us"}, {});
}
BENCHMARK_CAPTURE(tight_against_additive, bowl_of_shapes, "bowl-of-shapes", 25)->Iterations(1);
BENCHMARK_CAPTURE(tight_against_additive, twisted_mat, "twisted-mat", 25)->Iterations(1);
BENCHMARK_CAPTURE(tight_against_additive, affine_boxes, "affine-boxes-on-soft-block", 25)->Iterations(1);
BENCHMARK_CAPTURE(tight_against_additive, degenerate_falls, "degenerate-falls", 25)->Iterations(1);
BENCHMARK_CAPTURE(tight_against_additive, balls_on_points_segments_squares,
                  "balls-on-points-segments-squares", 12)
    ->Iterations(1);

}  // namespace
}  // namespace apart
