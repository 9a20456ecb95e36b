// Candidate search in a heap of bodies with fine surfaces that have no contact with themselves, as affine and
// rigid bodies are.
#include <benchmark/benchmark.h>
#include <apart/collision/broad_phase.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>

#include <Eigen/Geometry>
#include <random>

namespace apart {
namespace {

/// Balls of radius 0.05 m that lie 1 mm apart in layers, each turned its own way; every second layer lies in
/// the hollows of the one below it.
struct BallHeap {
  BallHeap(int across, int layers, int resolution) {
    const Mesh ball = generate::sphere(0.05, resolution, generate::Content::surface);
    const int count = across * across * layers;
    const Index n = ball.point_count(), f = Index(ball.faces.cols());
    Matrix3X rest(3, n * count);
    Faces faces(3, f * count);
    std::vector<int> body(std::size_t(n * count));
    std::mt19937 engine(1);
    std::normal_distribution<double> normal;
    end.resize(3, n * count);
    for (int b = 0; b < count; ++b) {
      const int layer = b / (across * across), place = b % (across * across);
      const double shift = layer % 2 == 0 ? 0 : 0.0505;
      const Vector3 centre(0.101 * (place % across) + shift, 0.0715 * layer,
                           0.101 * double(place / across) + shift);
      const Vector3 axis = Vector3(normal(engine), normal(engine), normal(engine)).normalized();
      const Matrix3 turned = Eigen::AngleAxisd(normal(engine), axis).toRotationMatrix();
      const Matrix3 later = Eigen::AngleAxisd(0.01, axis).toRotationMatrix() * turned;
      rest.middleCols(n * b, n) = (turned * ball.points).colwise() + centre;
      end.middleCols(n * b, n) = (later * ball.points).colwise() + Vector3(centre + Vector3(0, -5e-4, 0));
      faces.middleCols(f * b, f) = ball.faces.array() + int(n * b);
      std::fill_n(body.begin() + n * b, n, b);
    }
    PairTable pairs(count, {.dhat = 1e-3});
    for (int b = 0; b < count; ++b) pairs.set(b, b, {.enabled = false});
    surface = CollisionSurface(rest, faces, Edges(2, 0), body, pairs, {});
  }
  CollisionSurface surface;
  Matrix3X end;  ///< of a step [m]
};

void body_heap_search(benchmark::State& state, int across, int layers, int resolution, bool moving) {
  set_thread_count(1);
  const BallHeap heap(across, layers, resolution);
  const auto search = make_broad_phase("bvh", heap.surface);
  std::size_t found = 0;
  for (auto _ : state)
    found = search->find(heap.surface.rest, moving ? heap.end : heap.surface.rest, 2e-3).size();
  state.counters["faces"] = double(heap.surface.faces.cols());
  state.counters["pairs"] = double(found);
}
BENCHMARK_CAPTURE(body_heap_search, 200_bodies_of_980_faces_at_rest, 5, 8, 7, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(body_heap_search, 200_bodies_of_980_faces_moving, 5, 8, 7, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(body_heap_search, 200_bodies_of_80_faces_moving, 5, 8, 2, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(body_heap_search, 2000_bodies_of_80_faces_moving, 10, 20, 2, true)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace apart
