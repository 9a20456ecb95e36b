// Terms on two bodies with charts of two unknowns are summed by themselves: their sum is that of JᵀHJ, term
// by term.
#include <apart/bodies/control_tetrahedron.hpp>
#include <apart/bodies/rigid_chart.hpp>
#include <apart/core/parallel.hpp>
#include <apart/solver/objective.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

Matrix3X normal_numbers(Index n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  return Matrix3X::NullaryExpr(3, n, [&](Eigen::Index, Eigen::Index) { return normal(engine); });
}

/// Terms of one to four points with any linear gradient and any symmetric Hessian: ½ x·Hx.
class Quadratics final : public Potential {
 public:
  explicit Quadratics(std::vector<std::vector<Index>> points) : points_(std::move(points)) {
    for (std::size_t t = 0; t < points_.size(); ++t) {
      const Index n = Index(points_[t].size());
      const Eigen::MatrixXd m = normal_numbers(3 * n * n, unsigned(t)).reshaped(3 * n, 3 * n);
      h_.push_back(m + m.transpose());
    }
  }
  std::string_view name() const override { return "quadratics"; }
  double value(const Matrix3X& x) const override {
    double sum = 0;
    for (Index t = 0; t < term_count(); ++t) sum += 0.5 * at(t, x).dot(h_[std::size_t(t)] * at(t, x));
    return sum;
  }
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override {
    add_local_gradients(*this, gradient, [&](Index t, auto g) { g = h_[std::size_t(t)] * at(t, x); });
  }
  Index term_count() const override { return Index(points_.size()); }
  TermPoints term(Index t) const override { return points_[std::size_t(t)]; }
  bool terms_vary() const override { return true; }
  void hessians(const Matrix3X&, Index begin, Index end, Projection, LocalHessians& out) const override {
    for (Index t = begin; t < end; ++t) out[t] = h_[std::size_t(t)];
  }

 private:
  VectorX at(Index t, const Matrix3X& x) const {
    const auto& p = points_[std::size_t(t)];
    VectorX result(3 * Index(p.size()));
    for (std::size_t k = 0; k < p.size(); ++k) result.segment<3>(3 * Index(k)) = x.col(p[k]);
    return result;
  }
  std::vector<std::vector<Index>> points_;
  std::vector<Eigen::MatrixXd> h_;
};

constexpr Index points_of_body = 3;

/// Two rigid bodies, an obstacle of three nodes, and a third rigid body; three vertices on each.
struct Bodies {
  Chart chart{15};
  LinearMap map{15};
  Matrix3X q = Matrix3X::Zero(3, 15);

  Bodies() {
    std::mt19937 engine(9);
    std::normal_distribution<double> normal;
    for (const Index first : {0, 4, 11}) {
      const double arm = 0.3;
      chart.add(first, std::make_shared<RigidChart>(arm, std::array{true, true, true},
                                                    std::array{true, true, true}));
      q.middleCols(first, 4) =
          (arm * ControlTetrahedron::directions()).colwise() + Vector3(normal_numbers(1, unsigned(first)));
    }
    q.middleCols(8, 3) = normal_numbers(3, 77);
    const auto mixed = [&](Index first) {
      for (Index v = 0; v < points_of_body; ++v) {
        std::vector<Influence> influences;
        for (Index k = 0; k < 4; ++k) influences.push_back({first + k, normal(engine)});
        map.add_vertex(influences);
      }
    };
    mixed(0), mixed(4);
    for (Index v = 0; v < 3; ++v) {
      const Influence self{8 + v, 1};
      map.add_vertex({&self, 1});
    }
    mixed(11);
  }

  /// Of unknowns: the obstacle is held, and of the second body one axis of its turn.
  FreeCoordinates free() const {
    Chart::Mask mask = Chart::Mask::Constant(3, chart.unknown_count(), true);
    mask.middleCols(4, 3) = false;
    mask(1, 3) = false;
    return FreeCoordinates(mask);
  }
};

/// Contacts of body and body, in both orders, of a body with itself and with the obstacle, of held points
/// only.
const std::vector<std::vector<Index>> points = {
    {0, 3},    {1, 4, 5}, {0, 3, 4, 5}, {0, 1, 3, 4}, {9, 0, 1, 2}, {0, 10, 11}, {2, 6},   {6, 7, 9, 10},
    {6, 7, 8}, {5},       {9, 10, 11},  {3, 0, 4, 1}, {4, 4, 9},    {9, 0},      {8, 3, 4}};

TEST(BodyPairTerms, HaveTheSecondDerivativesOfTheirSum) {
  const Bodies bodies;
  Quadratics terms(points);
  Objective objective(bodies.map, bodies.chart, {{&terms, Role::contact, PointKind::vertices}});
  objective.set_free(bodies.free());
  objective.prepare(bodies.q);
  const BlockSparse h = objective.hessian(Projection::none);
  const FreeCoordinates& free = objective.free();
  const VectorX g = free.restrict_to_free(objective.reduced_gradient());
  const double e = 1e-4;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const VectorX v = free.restrict_to_free(normal_numbers(bodies.chart.unknown_count(), seed + 10));
    const auto value = [&](double t) {
      objective.prepare(objective.retract(bodies.q, free.extend(t * v)));
      return objective.value();
    };
    const double first = (value(e) - value(-e)) / (2 * e);
    EXPECT_NEAR(g.dot(v), first, 1e-5 * (1 + std::abs(first)));
    const double second = (value(e) - 2 * value(0) + value(-e)) / (e * e);
    EXPECT_NEAR(v.dot(h.multiply(v)), second, 1e-4 * (1 + std::abs(second)));
  }
}

TEST(BodyPairTerms, HaveTheSameBitsForAnyNumberOfThreads) {
  const Bodies bodies;
  std::vector<std::vector<Index>> many;
  for (int k = 0; k < 200; ++k) many.insert(many.end(), points.begin(), points.end());
  // More of the same bodies than are summed, or computed, at once: where they are cut must not depend on
  // threads.
  for (const auto& p : points) many.insert(many.end(), 700, p);
  Quadratics terms(many);
  std::vector<double> first;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Objective objective(bodies.map, bodies.chart, {{&terms, Role::contact, PointKind::vertices}});
    objective.set_free(bodies.free());
    objective.prepare(bodies.q);
    const BlockSparse& h = objective.hessian(Projection::none);
    const std::vector<double> values(h.values().begin(), h.values().end());
    if (first.empty()) first = values;
    EXPECT_EQ(values, first) << threads;
  }
  set_thread_count(1);
}

}  // namespace
}  // namespace apart::test
