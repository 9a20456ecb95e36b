// Elements of degree 1 to 4 on the same cells: energy, gradient, Hessian and the bound that keeps them from
// inverting.
#include <apart/bodies/body.hpp>
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/potentials/continuum_elasticity.hpp>
#include <apart/potentials/lagrange_elasticity.hpp>

#include <benchmark/benchmark.h>
#include <random>

namespace apart::bench {
namespace {

template <int degree>
struct Elasticity {
  using Type = LagrangeElasticity<degree>;
};
template <>
struct Elasticity<1> {
  using Type = ContinuumElasticity;
};

/// A box of cells, each node moved by a little; what moves it further is of the same size.
template <int degree>
struct Block {
  Block() {
    const int cells = 6;
    const Mesh mesh = generate::box({1, 1, 1}, {cells, cells, cells});
    const NeoHookean material{lame_parameters(1e5, 0.4)};
    const CellSubstances substances{{{material, 1000}},
                                    std::vector<Index>(std::size_t(mesh.cell_count()), 0)};
    body = degree == 1 ? make_volume("block", mesh, substances, MassKind::consistent)
                       : make_volume("block", mesh, substances, LagrangeOptions{.degree = degree});
    elasticity.add(*body.elastic, 0);
    std::mt19937 engine(1);
    std::uniform_real_distribution<double> noise(-0.03 / cells / degree, 0.03 / cells / degree);
    q = body.nodes;
    for (double& x : q.reshaped()) x += noise(engine);
    move = body.nodes - q;
    elasticity.prepare(q);
  }
  Body body;
  typename Elasticity<degree>::Type elasticity;
  Matrix3X q, move;
};

void count_elements(benchmark::State& state, Index elements) {
  state.SetItemsProcessed(state.iterations() * elements);
}

/// With the decomposition of the deformation gradients.
template <int degree>
void energy(benchmark::State& state) {
  Block<degree> block;
  // In turn, as nothing is prepared twice at one place.
  const std::array<Matrix3X, 2> places = {block.q, block.q + 1e-3 * block.move};
  std::size_t k = 0;
  for (auto _ : state) {
    const Matrix3X& q = places[++k % 2];
    block.elasticity.prepare(q);
    benchmark::DoNotOptimize(block.elasticity.value(q));
  }
  count_elements(state, block.elasticity.term_count());
}
template <int degree>
void gradient(benchmark::State& state) {
  Block<degree> block;
  Matrix3X g = Matrix3X::Zero(3, block.q.cols());
  for (auto _ : state) block.elasticity.add_gradient(block.q, g);
  count_elements(state, block.elasticity.term_count());
}
template <int degree>
void projected_hessian(benchmark::State& state) {
  Block<degree> block;
  const Index count = block.elasticity.term_count(), some = std::min<Index>(count, 64);
  LocalHessians out;
  out.reset(block.elasticity, 0, some);
  for (auto _ : state) block.elasticity.hessians(block.q, 0, some, Projection::psd, out);
  count_elements(state, some);
}
template <int degree>
void validity_bound(benchmark::State& state) {
  Block<degree> block;
  const Path path{block.q, block.move};
  for (auto _ : state) benchmark::DoNotOptimize(block.elasticity.feasible_step(path));
  count_elements(state, block.elasticity.term_count());
}

#define APART_DEGREES(kernel)                           \
  BENCHMARK(kernel<1>)->Name("lagrange_" #kernel "/1"); \
  BENCHMARK(kernel<2>)->Name("lagrange_" #kernel "/2"); \
  BENCHMARK(kernel<3>)->Name("lagrange_" #kernel "/3"); \
  BENCHMARK(kernel<4>)->Name("lagrange_" #kernel "/4")
APART_DEGREES(energy);
APART_DEGREES(gradient);
APART_DEGREES(projected_hessian);
APART_DEGREES(validity_bound);

}  // namespace
}  // namespace apart::bench
