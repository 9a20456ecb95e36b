// Collision detection of single pairs of bodies that turn, against the same pairs on straight lines. Ratios
// are of CPU times in one run, the best of five.
#include <benchmark/benchmark.h>
#include <apart/collision/curved_ccd.hpp>

#include <Eigen/Geometry>
#include <ctime>
#include <random>

namespace apart {
namespace {

/// Two bodies with arms of up to 0.1 m that move by up to 1 cm and turn by up to `turn` [rad].
struct TurningPair {
  CcdQuery chord;
  std::array<Vector3, 2> centre, move, turn;
  StencilPoints local;
  std::array<double, 4> bend = {};
  StencilPoints at(double t) const {
    StencilPoints x;
    for (int i = 0; i < point_count(chord.kind); ++i) {
      const int b = i < first_count(chord.kind) ? 0 : 1;
      const double angle = turn[b].norm();
      const Vector3 turned =
          angle == 0 ? local[i] : Vector3(Eigen::AngleAxisd(t * angle, turn[b] / angle) * local[i]);
      x[i] = centre[b] + t * move[b] + turned;
    }
    return x;
  }
};

std::vector<TurningPair> turning_pairs(PairKind kind, double turn, int count) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vector = [&](double size) {
    return Vector3(Vector3::NullaryExpr([&](auto) { return size * uniform(engine); }));
  };
  std::vector<TurningPair> pairs{std::size_t(count)};
  for (TurningPair& p : pairs) {
    p.chord.kind = kind;
    p.chord.dhat = 1e-3;
    for (int i = 0; i < point_count(kind); ++i) p.local[i] = vector(0.06);
    for (int b = 0; b < 2; ++b) {
      p.centre[b] = vector(0.05);
      p.move[b] = vector(0.01);
      p.turn[b] = vector(turn);
    }
    // At gaps of a tenth to ten times d̂, as pairs are that a simulation asks about.
    const Vector3 r = closest_points(kind, p.at(0)).r;
    const double gap = 1e-3 * std::exp(2.3 * uniform(engine));
    p.centre[0] -= (1 - gap / r.norm()) * r;
    p.chord.x = p.at(0);
    const StencilPoints end = p.at(1);
    for (int i = 0; i < point_count(kind); ++i) {
      p.chord.displacement[i] = end[i] - p.chord.x[i];
      p.bend[i] = p.turn[i < first_count(kind) ? 0 : 1].squaredNorm() * p.local[i].norm();
    }
  }
  return pairs;
}

CurvedAnswer curved(const TurningPair& p) {
  const auto at = [&](double t) { return p.at(t); };
  return curved_time_of_impact({p.chord, p.bend, 1e-15, at});
}

/// CPU time of one call in microseconds.
template <class Call>
double time_of_calls(const std::vector<TurningPair>& pairs, const Call& call) {
  double best = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::clock_t begin = std::clock();
    for (const TurningPair& p : pairs) benchmark::DoNotOptimize(call(p));
    best = std::min(best, 1e6 * double(std::clock() - begin) / CLOCKS_PER_SEC / double(pairs.size()));
  }
  return best;
}

/// `uncut`: only pairs whose paths need no cut.
void curved_against_straight(benchmark::State& state, PairKind kind, double turn, bool uncut) {
  std::vector<TurningPair> pairs = turning_pairs(kind, turn, 40'000);
  if (uncut) std::erase_if(pairs, [](const TurningPair& p) { return curved(p).pieces > 1; });
  double pieces = 0, straight_us = 0, curved_us = 0;
  for (const TurningPair& p : pairs) pieces += curved(p).pieces;
  for (auto _ : state) {
    straight_us = time_of_calls(pairs, [](const TurningPair& p) { return time_of_impact(p.chord); });
    curved_us = time_of_calls(pairs, curved);
  }
  state.counters["queries"] = double(pairs.size());
  state.counters["pieces"] = pieces / double(pairs.size());
  state.counters["straight_us"] = straight_us;
  state.counters["curved_us"] = curved_us;
  state.counters["ratio"] = curved_us / straight_us;
}
constexpr PairKind vertex_face = PairKind::point_triangle, edge_edge = PairKind::edge_edge;
BENCHMARK_CAPTURE(curved_against_straight, uncut_vertex_face_1_degree, vertex_face, 0.017, true)
    ->Iterations(1);
BENCHMARK_CAPTURE(curved_against_straight, uncut_edge_edge_1_degree, edge_edge, 0.017, true)->Iterations(1);
BENCHMARK_CAPTURE(curved_against_straight, vertex_face_1_degree, vertex_face, 0.017, false)->Iterations(1);
BENCHMARK_CAPTURE(curved_against_straight, edge_edge_1_degree, edge_edge, 0.017, false)->Iterations(1);
BENCHMARK_CAPTURE(curved_against_straight, vertex_face_10_degrees, vertex_face, 0.17, false)->Iterations(1);
BENCHMARK_CAPTURE(curved_against_straight, edge_edge_10_degrees, edge_edge, 0.17, false)->Iterations(1);
BENCHMARK_CAPTURE(curved_against_straight, edge_edge_90_degrees, edge_edge, 1.57, false)->Iterations(1);

}  // namespace
}  // namespace apart
