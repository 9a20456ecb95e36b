// Kernels of assembly: elasticity with projection, barrier with projection, SVD, linear solve.
#include <apart/collision/broad_phase.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/math/psd_projection.hpp>
#include <apart/math/svd.hpp>
#include <apart/potentials/barrier_contact.hpp>
#include <apart/potentials/continuum_elasticity.hpp>
#include <apart/potentials/inertia.hpp>
#include <apart/solver/linear_solver.hpp>
#include <apart/solver/objective.hpp>

#include <benchmark/benchmark.h>

#include <random>

namespace apart {
namespace {

Matrix3X shaken(Matrix3X x, double amount) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> u(-amount, amount);
  for (Eigen::Index k = 0; k < x.size(); ++k) x(k) += u(engine);
  return x;
}

void svd(benchmark::State& state) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal(0, 0.2);
  std::vector<Matrix3> f(1024);
  for (Matrix3& m : f) m = Matrix3::Identity() + Matrix3::NullaryExpr([&] { return normal(engine); });
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(signed_svd(f[i++ % f.size()]));
}
BENCHMARK(svd);

/// Projections of indefinite matrices, as stiff as one another.
template <int N>
void psd(benchmark::State& state) {
  using Square = Eigen::Matrix<double, N, N>;
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  std::vector<Square> a(1024);
  for (Square& m : a)
    for (int i = 0; i < N; ++i)
      for (int j = 0; j <= i; ++j) m(i, j) = m(j, i) = normal(engine);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(psd_projection(a[i++ % a.size()]));
}
BENCHMARK_TEMPLATE(psd, 3);
BENCHMARK_TEMPLATE(psd, 4);
BENCHMARK_TEMPLATE(psd, 5);
BENCHMARK_TEMPLATE(psd, 9);

/// A solid box of n³ cells, its nodes shaken.
struct Solid {
  explicit Solid(int n)
      : body(make_volume("solid", generate::box({1, 1, 1}, {n, n, n}), NeoHookean{lame_parameters(1e5, 0.4)},
                         1000, MassKind::lumped)),
        chart(body.node_count()),
        inertia(body.mass),
        objective(body.point_map, chart, {{&inertia, Role::inertia}, {&elasticity, Role::elastic}}) {
    elasticity.add(*body.elastic, 0);
    q = shaken(body.nodes, 0.1 / n);
    inertia.set_target(body.nodes);
    objective.set_free(
        FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic>::Constant(3, body.node_count(), true)));
    objective.prepare(q);
  }
  Body body;
  Chart chart;
  Inertia inertia;
  ContinuumElasticity elasticity;
  Objective objective;
  Matrix3X q;
};

void elasticity_local_hessians(benchmark::State& state) {
  Solid solid(int(state.range(0)));
  const Index count = solid.elasticity.term_count();
  LocalHessians out;
  out.reset(solid.elasticity, 0, count);
  for (auto _ : state) solid.elasticity.hessians(solid.q, 0, count, Projection::psd, out);
  state.SetItemsProcessed(state.iterations() * solid.elasticity.term_count());
}
BENCHMARK(elasticity_local_hessians)->Arg(5)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);

void elasticity_assembly(benchmark::State& state) {
  Solid solid(int(state.range(0)));
  // In turn, as nothing is prepared twice at one place.
  const std::array<Matrix3X, 2> places = {solid.q, solid.q + 1e-3 * (solid.body.nodes - solid.q)};
  std::size_t k = 0;
  for (auto _ : state) {
    solid.objective.prepare(places[++k % 2]);
    benchmark::DoNotOptimize(solid.objective.hessian());
  }
  state.SetItemsProcessed(state.iterations() * solid.elasticity.term_count());
}
BENCHMARK(elasticity_assembly)->Arg(5)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);

void cholesky(benchmark::State& state, const char* ordering) {
  Solid solid(int(state.range(0)));
  const BlockSparse& h = solid.objective.hessian();
  auto solver = make_linear_solver("cholesky", ordering);
  const VectorX b = VectorX::Ones(3 * h.block_count());
  solver->analyse(h);
  for (auto _ : state) benchmark::DoNotOptimize(solver->solve(h, b).x);
  state.counters["gigaflop"] = solver->predicted_flops() * 1e-9;
}
BENCHMARK_CAPTURE(cholesky, amd, "amd")->Arg(5)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cholesky, metis, "metis")->Arg(5)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);

void cholesky_analysis(benchmark::State& state, const char* ordering) {
  Solid solid(int(state.range(0)));
  const BlockSparse& h = solid.objective.hessian();
  auto solver = make_linear_solver("cholesky", ordering);
  for (auto _ : state) solver->analyse(h);
}
BENCHMARK_CAPTURE(cholesky_analysis, amd, "amd")->Arg(5)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cholesky_analysis, metis, "metis")->Arg(5)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);

/// Two sheets of n × n cells, a millimetre apart, turned against each other, with noise.
struct Sheets {
  explicit Sheets(int n) {
    const Mesh lower = generate::grid(1, 1, n, n);
    Matrix3X x(3, 2 * lower.point_count());
    std::mt19937 engine(1);
    std::uniform_real_distribution<double> noise(-2e-4, 2e-4);
    const Matrix3 turn = Eigen::AngleAxisd(0.3, Vector3::UnitY()).toRotationMatrix();
    for (Index i = 0; i < lower.point_count(); ++i) {
      x.col(i) = lower.points.col(i) + Vector3(0, noise(engine), 0);
      x.col(lower.point_count() + i) = turn * lower.points.col(i) + Vector3(0, 1e-3 + noise(engine), 0);
    }
    Faces faces(3, 2 * lower.faces.cols());
    faces << lower.faces, (lower.faces.array() + lower.point_count()).matrix();
    std::vector<int> bodies(x.cols(), 0);
    std::fill(bodies.begin() + lower.point_count(), bodies.end(), 1);
    surface = CollisionSurface(x, faces, Edges(2, 0), bodies, PairTable(2, {true, 0, 2e-3, 0}), {});
    cache = std::make_unique<CandidateCache>(make_broad_phase("bvh", surface), surface.pairs.max_reach());
    contact = std::make_unique<BarrierContact>(surface, *cache);
    contact->prepare(x);
    points = x;
  }
  CollisionSurface surface;
  std::unique_ptr<CandidateCache> cache;
  std::unique_ptr<BarrierContact> contact;
  Matrix3X points;
};

void barrier_value(benchmark::State& state) {
  Sheets s(int(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(s.contact->value(s.points));
  state.SetItemsProcessed(state.iterations() * s.contact->term_count());
}
BENCHMARK(barrier_value)->Arg(20)->Arg(50)->Arg(100)->Unit(benchmark::kMillisecond);

void barrier_gradient(benchmark::State& state) {
  Sheets s(int(state.range(0)));
  Matrix3X g = Matrix3X::Zero(3, s.points.cols());
  for (auto _ : state) s.contact->add_gradient(s.points, g);
  state.SetItemsProcessed(state.iterations() * s.contact->term_count());
}
BENCHMARK(barrier_gradient)->Arg(20)->Arg(50)->Arg(100)->Unit(benchmark::kMillisecond);

void barrier_assembly(benchmark::State& state) {
  Sheets s(int(state.range(0)));
  const LinearMap map = LinearMap::identity(Index(s.points.cols()));
  const Chart chart(map.node_count());
  Objective objective(map, chart, {{s.contact.get(), Role::contact, PointKind::vertices}});
  objective.set_free(
      FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic>::Constant(3, s.points.cols(), true)));
  objective.prepare(s.points);
  for (auto _ : state) benchmark::DoNotOptimize(objective.hessian());
  state.SetItemsProcessed(state.iterations() * s.contact->term_count());
}
BENCHMARK(barrier_assembly)->Arg(20)->Arg(50)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace apart
