// Terms with as many points as the elements and contacts of high degree have.
#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/core/parallel.hpp>
#include <apart/potentials/lagrange_elasticity.hpp>
#include <apart/solver/objective.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <random>

namespace {
std::atomic<long> allocations = 0;
}
// The linker calls this in the place of malloc wherever this program does, as Eigen does for its matrices;
// what shared libraries allocate for themselves does not count.
extern "C" {
void* __real_malloc(std::size_t size);
void* __wrap_malloc(std::size_t size) {
  ++allocations;
  return __real_malloc(size);
}
}
// The standard library's is in a shared library. The compiler inlines one of the pair and wonders about the
// other.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace apart::test {
namespace {

/// Σ ½ (Σₐ wₐ·xₐ)² with given vectors w: as many points in each term as wanted.
class Squares final : public Potential {
 public:
  Squares(Index terms, Index points_per_term, Index points, unsigned seed) : size_(points_per_term) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<Index> all(static_cast<std::size_t>(points));
    for (Index p = 0; p < points; ++p) all[std::size_t(p)] = p;
    for (Index t = 0; t < terms; ++t) {
      std::shuffle(all.begin(), all.end(), engine);
      points_.insert(points_.end(), all.begin(), all.begin() + points_per_term);
    }
    w_ = Matrix3X::NullaryExpr(3, Index(points_.size()),
                               [&](Eigen::Index, Eigen::Index) { return normal(engine); });
  }
  std::string_view name() const override { return "squares"; }
  double value(const Matrix3X& x) const override {
    return ordered_sum(term_count(), [&](Index t) { return 0.5 * sum(t, x) * sum(t, x); });
  }
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override {
    add_local_gradients(*this, gradient, [&](Index t, auto g) { g = sum(t, x) * weights(t); });
  }
  Index term_count() const override { return Index(points_.size()) / size_; }
  TermPoints term(Index t) const override { return {points_.data() + t * size_, std::size_t(size_)}; }
  bool terms_vary() const override { return true; }  // looked up in every assembly
  void hessians(const Matrix3X&, Index begin, Index end, Projection, LocalHessians& out) const override {
    for (Index t = begin; t < end; ++t) out[t].noalias() = weights(t) * weights(t).transpose();
  }

 private:
  Eigen::Map<const Eigen::VectorXd> weights(Index t) const { return {w_.data() + 3 * t * size_, 3 * size_}; }
  double sum(Index t, const Matrix3X& x) const {
    double s = 0;
    for (Index a = 0; a < size_; ++a)
      s += w_.col(t * size_ + a).dot(x.col(points_[std::size_t(t * size_ + a)]));
    return s;
  }
  Index size_;
  std::vector<Index> points_;
  Matrix3X w_;
};

/// Each vertex mixes 35 nodes.
LinearMap mixing_map(Index nodes, Index vertices) {
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  LinearMap map(nodes);
  for (Index v = 0; v < vertices; ++v) {
    std::vector<Influence> influences;
    for (Index k = 0; k < 35; ++k) influences.push_back({(7 * v + k) % nodes, uniform(engine)});
    map.add_vertex(influences, Vector3(0, 0, 0.1 * v));
  }
  return map;
}

Matrix3X random(Index n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  return Matrix3X::NullaryExpr(3, n, [&](Eigen::Index, Eigen::Index) { return normal(engine); });
}

TEST(Assembly, TermsOfAnySizeHaveTheDerivativesOfTheirSum) {
  const Index nodes = 60, vertices = 40;
  const LinearMap map = mixing_map(nodes, vertices);
  const Chart chart(nodes);
  Squares elements(700, 35, nodes, 1), contacts(200, 4, vertices, 2);
  Objective objective(map, chart,
                      {{&elements, Role::elastic}, {&contacts, Role::contact, PointKind::vertices}});
  Chart::Mask free = Chart::Mask::Constant(3, nodes, true);
  free.col(3) = false;
  free(1, 8) = false;
  objective.set_free(FreeCoordinates(free));
  const Matrix3X q = random(nodes, 3);
  objective.prepare(q);
  const VectorX g = objective.free().restrict_to_free(objective.reduced_gradient());
  const BlockSparse h = objective.hessian();
  const auto value = [&](const Matrix3X& at) {
    objective.prepare(at);
    return objective.value();
  };
  const double e = 1e-3;
  for (unsigned seed = 0; seed < 5; ++seed) {
    const VectorX v = objective.free().restrict_to_free(random(nodes, seed + 10));
    const Matrix3X p = objective.free().extend(v);
    // Quadratic: differences are exact but for rounding.
    const double first = (value(q + e * p) - value(q - e * p)) / (2 * e);
    EXPECT_NEAR(g.dot(v), first, 1e-6 * std::abs(first));
    const double second = (value(q + p) - 2 * value(q) + value(q - p));
    EXPECT_NEAR(v.dot(h.multiply(v)), second, 1e-9 * std::abs(second));
  }
}

TEST(Assembly, TheSumsHaveTheSameBitsForAnyNumberOfThreads) {
  const Index nodes = 60, vertices = 40;
  const LinearMap map = mixing_map(nodes, vertices);
  const Chart chart(nodes);
  Squares elements(700, 35, nodes, 1), contacts(600, 4, vertices, 2);
  const Matrix3X q = random(nodes, 3);
  std::vector<double> first;
  Matrix3X gradient;
  for (const int threads : {1, 2, 3, 5}) {
    set_thread_count(threads);
    Objective objective(map, chart,
                        {{&elements, Role::elastic}, {&contacts, Role::contact, PointKind::vertices}});
    objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, nodes, true)));
    objective.prepare(q);
    const BlockSparse& h = objective.hessian();
    const std::vector<double> values(h.values().begin(), h.values().end());
    if (first.empty()) {
      first = values;
      gradient = objective.gradient();
    }
    EXPECT_EQ(values, first) << threads;
    EXPECT_EQ(objective.gradient(), gradient) << threads;
  }
  set_thread_count(1);
}

TEST(Assembly, PatternsThatComeBackGiveTheSameMatrix) {
  const Index nodes = 60, vertices = 40;
  const LinearMap map = mixing_map(nodes, vertices);
  const Chart chart(nodes);
  const Matrix3X q = random(nodes, 3);
  Squares elements(30, 4, nodes, 1), contacts(20, 4, vertices, 2);
  const std::vector<Term> terms = {{&elements, Role::elastic},
                                   {&contacts, Role::contact, PointKind::vertices}};
  Chart::Mask all = Chart::Mask::Constant(3, nodes, true), some = all;
  some.leftCols(7) = false;
  some(1, 20) = false;
  Objective objective(map, chart, terms);
  for (const Chart::Mask& free : {all, some, some, all}) {
    objective.set_free(FreeCoordinates(free));
    objective.prepare(q);
    const BlockSparse& h = objective.hessian();
    Objective fresh(map, chart, terms);
    fresh.set_free(FreeCoordinates(free));
    fresh.prepare(q);
    const BlockSparse& expected = fresh.hessian();
    ASSERT_TRUE(std::ranges::equal(h.block_rows(), expected.block_rows()));
    EXPECT_TRUE(std::ranges::equal(h.values(), expected.values()));
  }
}

TEST(Assembly, NoTermAllocates) {
  const Index nodes = 60, vertices = 40;
  const LinearMap map = mixing_map(nodes, vertices);
  const Chart chart(nodes);
  const auto count = [&](Index elements, Index contacts) {
    Squares cells(elements, 35, nodes, 1), touching(contacts, 4, vertices, 2);
    Objective objective(map, chart,
                        {{&cells, Role::elastic}, {&touching, Role::contact, PointKind::vertices}});
    objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, nodes, true)));
    objective.prepare(random(nodes, 3));
    objective.hessian();
    const long before = allocations;
    objective.hessian();
    return allocations - before;
  };
  // More chunks of terms allocate a little; a term does not.
  EXPECT_LT(count(1000, 1000) - count(600, 600), 120);
}

/// Cells of degree p, each nearly inverted at one corner, so that all have a barrier on their determinant.
template <int degree>
long allocations_of_pressed_cells(Index count) {
  Mesh mesh;
  mesh.points.resize(3, 4 * count);
  mesh.tetrahedra.resize(4, count);
  for (Index c = 0; c < count; ++c) {
    mesh.points.middleCols<4>(4 * c) << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
    mesh.tetrahedra.col(c) = Eigen::Vector4i::LinSpaced(4 * c, 4 * c + 3);
  }
  const CellSubstances substances = {{{NeoHookean{lame_parameters(1e3, 0.3)}, 1}},
                                     std::vector<Index>(std::size_t(count), 0)};
  const Body body = make_volume("cells", mesh, substances, LagrangeOptions{.degree = degree});
  LagrangeElasticity<degree> elasticity;
  elasticity.add(*body.elastic, 0);
  // ξ₀ → ξ₀ (1 − (1 − s) (1 − Σ ξ)): the determinant is s at the corner ξ = 0, and larger elsewhere.
  const auto pressed = [&](double s) {
    Matrix3X q = body.nodes;
    for (Index i = 0; i < q.cols(); ++i) q(0, i) *= 1 - (1 - s) * (1 - body.nodes.col(i).sum());
    elasticity.prepare(q);
    return q;
  };
  const auto finite = [&](const Matrix3X& q) {
    return elasticity.value(q) < std::numeric_limits<double>::infinity();
  };
  EXPECT_TRUE(finite(pressed(-1e-3))) << "nothing resists at the corner";
  elasticity.refine(pressed(0.04));
  EXPECT_FALSE(finite(pressed(-1e-3))) << "the barrier does";
  const Matrix3X q = pressed(0.02);
  LinearMap map(body.node_count());
  const Chart chart(body.node_count());
  Objective objective(map, chart, {{&elasticity, Role::elastic}});
  objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, body.node_count(), true)));
  const auto assemble = [&] {
    objective.prepare(q);
    EXPECT_TRUE(finite(q));
    const Gradient gradient(objective);
    objective.hessian(Projection::psd, gradient);
  };
  assemble();
  const long before = allocations;
  assemble();
  return allocations - before;
}

template <int degree>
void expect_no_cell_to_allocate() {
  // Chunks of 16 cells have buffers of their own, which do not depend on how many bisections lead to a part.
  const Index few = 32, many = 96;
  const long more = allocations_of_pressed_cells<degree>(many) - allocations_of_pressed_cells<degree>(few);
  EXPECT_LT(more, many - few) << "degree " << degree;
}

TEST(Assembly, NoCellUnderTheBarrierOfItsDeterminantAllocates) {
  expect_no_cell_to_allocate<2>();
  expect_no_cell_to_allocate<3>();
  expect_no_cell_to_allocate<4>();
}

}  // namespace
}  // namespace apart::test
