// Touching boxes of deforming meshes: our tree, refitted, against other libraries on the same boxes, in one
// run and on one thread. The counter `ratio` says how many times as long the other takes.
#include "peers.hpp"

#include <benchmark/benchmark.h>
#include <apart/collision/box_tree.hpp>

#include <cmath>
#include <ctime>
#include <random>
#include <stdexcept>

namespace apart {
namespace {

using Frame = std::vector<FloatBox>;
constexpr int frame_count = 6;

FloatBox grown(const Vector3& low, const Vector3& high, double by) {
  FloatBox box = {};
  for (int k = 0; k < 3; ++k) {
    box.lower[k] = float(low[k] - by);
    box.upper[k] = float(high[k] + by);
  }
  return box;
}

/// The edges of two sheets of 200 × 200 vertices, 1 mm apart and turned against each other, through which a
/// wave of 5 cm runs; boxes reach 1 mm beyond them.
std::vector<Frame> waving_sheets() {
  constexpr int n = 200;
  std::vector<Frame> frames(frame_count);
  for (int f = 0; f < frame_count; ++f) {
    const auto at = [&](int sheet, int i, int j) {
      const double u = i / (n - 1.0) - 0.5, v = j / (n - 1.0) - 0.5, turn = 0.3 * sheet;
      const double x = std::cos(turn) * u - std::sin(turn) * v, y = std::sin(turn) * u + std::cos(turn) * v;
      return Vector3(x, y, 1e-3 * sheet + 0.05 * std::sin(12 * x + 7 * y + 0.05 * f));
    };
    const auto add = [&](const Vector3& a, const Vector3& b) {
      frames[f].push_back(grown(a.cwiseMin(b), a.cwiseMax(b), 1e-3));
    };
    for (int sheet = 0; sheet < 2; ++sheet)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          if (i + 1 < n) add(at(sheet, i, j), at(sheet, i + 1, j));
          if (j + 1 < n) add(at(sheet, i, j), at(sheet, i, j + 1));
          if (i + 1 < n && j + 1 < n) add(at(sheet, i, j), at(sheet, i + 1, j + 1));
        }
  }
  return frames;
}

/// A hundred thousand small triangles in the unit cube, stirred.
std::vector<Frame> stirred_triangles() {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  const auto random = [&] { return Vector3(uniform(engine), uniform(engine), uniform(engine)); };
  std::vector<std::array<Vector3, 3>> triangles(100'000);
  for (auto& triangle : triangles) {
    const Vector3 centre = random();
    for (Vector3& p : triangle) p = centre + 0.03 * random();
  }
  std::vector<Frame> frames(frame_count);
  for (int f = 0; f < frame_count; ++f)
    for (const auto& triangle : triangles) {
      Vector3 low = Vector3::Constant(1e9), high = -low;
      for (const Vector3& p : triangle) {
        const double turn = 0.05 * f * std::cos(5 * p.z());
        const Vector3 moved(std::cos(turn) * p.x() - std::sin(turn) * p.y(),
                            std::sin(turn) * p.x() + std::cos(turn) * p.y(),
                            p.z() + 0.01 * f * std::sin(8 * p.x()));
        low = low.cwiseMin(moved);
        high = high.cwiseMax(moved);
      }
      frames[f].push_back(grown(low, high, 0));
    }
  return frames;
}

struct Ours final : bench::BoxPeer {
  BoxTree tree;
  BoxPairs pairs;
  std::size_t find(std::span<const FloatBox> boxes) override {
    tree.update({boxes, {}});
    pairs.clear();
    for (Index t = 0; t < tree.task_count(tree); ++t) {
      SearchCursor cursor;
      tree.find(tree, t, cursor, std::size_t(-1) / 2, pairs);
    }
    return pairs.size();
  }
};

/// CPU seconds of a frame; the first only sets up.
double seconds_per_frame(bench::BoxPeer& peer, const std::vector<Frame>& frames,
                         std::vector<std::size_t>& pairs) {
  pairs.assign(1, peer.find(frames[0]));
  const std::clock_t begin = std::clock();
  for (std::size_t f = 1; f < frames.size(); ++f) pairs.push_back(peer.find(frames[f]));
  return double(std::clock() - begin) / CLOCKS_PER_SEC / double(frames.size() - 1);
}

void deforming_boxes(benchmark::State& state, std::vector<Frame> (*make)(),
                     std::unique_ptr<bench::BoxPeer> (*make_peer)()) {
  const auto peer = make_peer();
  if (!peer) return state.SkipWithError("not built: the library was not found (Debian: libfcl-dev)");
  const std::vector<Frame> frames = make();
  std::vector<std::size_t> our_pairs, peer_pairs;
  double ours = 1e9, other = 1e9;
  for (auto _ : state)
    for (int repeat = 0; repeat < 3; ++repeat) {
      Ours tree;
      ours = std::min(ours, seconds_per_frame(tree, frames, our_pairs));
      other = std::min(other, seconds_per_frame(*peer, frames, peer_pairs));
    }
  if (our_pairs != peer_pairs) return state.SkipWithError("the two do not find the same pairs");
  state.counters["boxes"] = double(frames[0].size());
  state.counters["pairs"] = double(our_pairs.back());
  state.counters["ours_ms"] = 1e3 * ours;
  state.counters["other_ms"] = 1e3 * other;
  state.counters["ratio"] = other / ours;
}
BENCHMARK_CAPTURE(deforming_boxes, sheets_against_cgal, waving_sheets, bench::make_cgal_peer)->Iterations(1);
BENCHMARK_CAPTURE(deforming_boxes, sheets_against_fcl, waving_sheets, bench::make_fcl_peer)->Iterations(1);
BENCHMARK_CAPTURE(deforming_boxes, triangles_against_cgal, stirred_triangles, bench::make_cgal_peer)
    ->Iterations(1);
BENCHMARK_CAPTURE(deforming_boxes, triangles_against_fcl, stirred_triangles, bench::make_fcl_peer)
    ->Iterations(1);

}  // namespace
}  // namespace apart
