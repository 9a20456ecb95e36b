#include <apart/bodies/linear_map.hpp>
#include <apart/potentials/script_target.hpp>
#include <apart/solver/barrier_stiffness.hpp>
#include <apart/solver/newton.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>

namespace apart::test {
namespace {

/// Σ (‖q‖² − 1)² per node: a ring of minima, not convex at the origin.
class Ring final : public Potential {
 public:
  explicit Ring(Index n) : n_(n), nodes_(std::size_t(n)) { std::iota(nodes_.begin(), nodes_.end(), 0); }
  std::string_view name() const override { return "ring"; }
  double value(const Matrix3X& q) const override {
    double sum = 0;
    for (Index i = 0; i < n_; ++i) sum += std::pow(q.col(i).squaredNorm() - 1, 2);
    return sum;
  }
  void add_gradient(const Matrix3X& q, Matrix3X& g) const override {
    for (Index i = 0; i < n_; ++i) g.col(i) += 4 * (q.col(i).squaredNorm() - 1) * q.col(i);
  }
  Index term_count() const override { return n_; }
  TermPoints term(Index i) const override { return {&nodes_[std::size_t(i)], 1}; }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection, LocalHessians& out) const override {
    for (Index i = begin; i < end; ++i) {
      const Vector3 x = q.col(i);
      // projected: 8 x xᵀ + 4 max(‖x‖² − 1, 0) I, and a little to stay definite
      out.of<1>(i) =
          8 * x * x.transpose() + (4 * std::max(x.squaredNorm() - 1, 0.0) + 1e-3) * Matrix3::Identity();
    }
  }

 private:
  Index n_;
  std::vector<Index> nodes_;
};

/// At x = 0.5, which may be approached but not reached.
class Wall final : public Potential {
 public:
  std::string_view name() const override { return "wall"; }
  double value(const Matrix3X&) const override { return 0; }
  void add_gradient(const Matrix3X&, Matrix3X&) const override {}
  Index term_count() const override { return 0; }
  TermPoints term(Index) const override { return {}; }
  void hessians(const Matrix3X&, Index, Index, Projection, LocalHessians&) const override {}
  StepBound feasible_step(const Path& path) const override {
    return {path.move(0) > 0 ? std::min(1.0, 0.8 * (0.5 - path.start(0)) / path.move(0)) : 1.0};
  }
};

/// A bowl, steep in one direction and shallow in the other, with a valley across it as friction makes it: its
/// sides are straight, so that Newton's model there knows nothing of the other side.
class Valley final : public Potential {
 public:
  std::string_view name() const override { return "valley"; }
  double value(const Matrix3X& q) const override {
    const double u = std::abs(across.dot(q.col(0)));
    return 0.5 * stiffness.dot((q.col(0) - bottom).cwiseAbs2()) +
           (u < width ? u * u / width - u * u * u / (3 * width * width) + width / 3 : u);
  }
  void add_gradient(const Matrix3X& q, Matrix3X& g) const override {
    const double u = across.dot(q.col(0)), share = std::min(std::abs(u) / width, 1.0);
    g.col(0) +=
        stiffness.cwiseProduct(q.col(0) - bottom) + std::copysign(2 * share - share * share, u) * across;
  }
  Index term_count() const override { return 1; }
  TermPoints term(Index) const override { return {&node_, 1}; }
  void hessians(const Matrix3X& q, Index, Index, Projection, LocalHessians& out) const override {
    const double share = std::min(std::abs(across.dot(q.col(0))) / width, 1.0);
    out.of<1>(0) = Matrix3(stiffness.asDiagonal()) + 2 * (1 - share) / width * across * across.transpose();
  }
  static constexpr double width = 1e-5;
  const Vector3 across{0.6, 0.8, 0}, stiffness{1, 0.02, 1}, bottom{2, 5, 0};

 private:
  const Index node_ = 0;
};

/// |x|^3/2: Newton's step leads from x to −x, where the potential is the same.
class Notch final : public Potential {
 public:
  std::string_view name() const override { return "notch"; }
  double value(const Matrix3X& q) const override { return std::pow(std::abs(q(0, 0)), 1.5); }
  void add_gradient(const Matrix3X& q, Matrix3X& g) const override {
    g(0, 0) += std::copysign(1.5 * std::sqrt(std::abs(q(0, 0))), q(0, 0));
  }
  Index term_count() const override { return 1; }
  TermPoints term(Index) const override { return {&node_, 1}; }
  void hessians(const Matrix3X& q, Index, Index, Projection, LocalHessians& out) const override {
    out.of<1>(0) = 0.75 / std::sqrt(std::max(std::abs(q(0, 0)), 1e-30)) * Matrix3::Identity();
  }

 private:
  const Index node_ = 0;
};

/// A string of nodes on the x axis, each drawn to a place of its own and rubbed where it started, by friction
/// whose kink is far narrower than any step.
class RubbedString final : public Potential {
 public:
  /// Whether the Hessian is that of forces that are unknowns of their own, as in Friction, or exact.
  explicit RubbedString(bool learns) : learns_(learns) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.5, 1.5);
    for (Index i = 0; i < count; ++i) {
      drawn_to_[i] = normal(random);
      begin_[i] = normal(random);
      friction_[i] = uniform(random);
      nodes_[std::size_t(i)] = {i, i + 1};
    }
  }
  Matrix3X begin() const {
    Matrix3X q = Matrix3X::Zero(3, count);
    q.row(0) = begin_.transpose();
    return q;
  }
  std::string_view name() const override { return "string"; }
  double value(const Matrix3X& q) const override {
    double sum = 0;
    for (Index i = 0; i < count; ++i) {
      const double u = std::abs(q(0, i)), share = u / width;
      sum += 0.5 * std::pow(q(0, i) - drawn_to_[i], 2) +
             friction_[i] * (share < 1 ? width * (share * share - share * share * share / 3 + 1.0 / 3) : u);
      if (i + 1 < count) sum += 0.5 * stiffness * std::pow(q(0, i + 1) - q(0, i), 2);
    }
    return sum;
  }
  void add_gradient(const Matrix3X& q, Matrix3X& g) const override {
    for (Index i = 0; i < count; ++i) {
      g(0, i) += q(0, i) - drawn_to_[i] + std::copysign(force(i, std::abs(q(0, i))), q(0, i));
      if (i + 1 == count) continue;
      const double pull = stiffness * (q(0, i + 1) - q(0, i));
      g(0, i) -= pull;
      g(0, i + 1) += pull;
    }
  }
  Index term_count() const override { return count; }
  TermPoints term(Index i) const override { return {nodes_[std::size_t(i)].data(), i + 1 < count ? 2u : 1u}; }
  void begin_solve() override { expected_.setZero(); }
  void follow(const Matrix3X& q, const Matrix3X& move) override {
    for (Index i = 0; i < count; ++i) {
      const double y = std::abs(q(0, i)), t = std::clamp(expected_[i], -force(i, y), force(i, y));
      const double next = force(i, y) / y * (q(0, i) + move(0, i)) -
                          (1 - curvature(i, y) * y / force(i, y)) * move(0, i) / q(0, i) * t;
      expected_[i] = std::clamp(next, -friction_[i], friction_[i]);
    }
  }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection, LocalHessians& out) const override {
    for (Index i = begin; i < end; ++i) {
      const double y = std::abs(q(0, i)), f = force(i, y);
      auto h = out[i];
      h.setZero();
      h(0, 0) = 1 + curvature(i, y);
      if (learns_) {
        const double t = std::clamp(expected_[i], -f, f) / std::copysign(f, q(0, i));
        h(0, 0) = 1 + f / y * (1 - (1 - curvature(i, y) * y / f) * t);
      }
      if (i + 1 == count) continue;
      h(0, 0) += stiffness;
      h(3, 3) = stiffness;
      h(0, 3) = h(3, 0) = -stiffness;
    }
  }
  static constexpr Index count = 40;
  static constexpr double width = 1e-6, stiffness = 10;

 private:
  /// Of friction at the distance y, and its slope.
  double force(Index i, double y) const {
    const double share = std::min(y / width, 1.0);
    return friction_[i] * share * (2 - share);
  }
  double curvature(Index i, double y) const {
    return friction_[i] * 2 * (1 - std::min(y / width, 1.0)) / width;
  }
  bool learns_;
  Eigen::Array<double, count, 1> drawn_to_, begin_, friction_, expected_;
  std::array<std::array<Index, 2>, count> nodes_;
};

NewtonHooks no_hooks() {
  NewtonHooks hooks;
  hooks.accepted = [](const Matrix3X&) { return false; };
  hooks.stationary = [](const Matrix3X&) { return false; };
  return hooks;
}

TEST(Newton, FindsAMinimumAndMovesOnlyWhatIsFree) {
  const LinearMap map = LinearMap::identity(2);
  Ring ring(2);
  const Chart chart(2);
  Objective objective(map, chart, {{&ring}});
  Eigen::Array<bool, 3, Eigen::Dynamic> free(3, 2);
  free << true, false, true, false, false, true;  // node 0: x and y; node 1: z
  objective.set_free(FreeCoordinates(free));
  auto solver = make_linear_solver("cholesky");
  Matrix3X q(3, 2);
  q << 0.3, 0.2, 0.4, 0.1, 0.5, 3;
  const Matrix3X start = q;
  Timings timings;
  const NewtonResult r = newton(objective, {*solver, timings}, q, no_hooks(), {.tolerance = 1e-10, .dt = 1});
  EXPECT_TRUE(r.converged) << r.failure;
  EXPECT_NEAR(q.col(0).norm(), 1, 1e-8);
  EXPECT_NEAR(q.col(1).norm(), 1, 1e-8);
  EXPECT_EQ(q(2, 0), start(2, 0));
  EXPECT_EQ(q(0, 1), start(0, 1));
  EXPECT_EQ(q(1, 1), start(1, 1));
}

TEST(Newton, StartsFromWhatIsLowerAndFeasible) {
  const LinearMap map = LinearMap::identity(1);
  Ring ring(1);
  Wall wall;
  const Chart chart(1);
  Objective objective(map, chart, {{&ring}, {&wall}});
  objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, 1, true)));
  Timings timings;
  int accepted = 0;
  NewtonHooks hooks = no_hooks();
  hooks.accepted = [&](const Matrix3X&) {
    ++accepted;
    return false;
  };
  Matrix3X q = Vector3(0.1, 0.2, 0);
  EXPECT_FALSE(start_along(objective, {Vector3(-0.1, -0.2, 0), PathUse::free_part}, q, hooks, timings))
      << "uphill";
  EXPECT_FALSE(start_along(objective, {Vector3::Zero(), PathUse::free_part}, q, hooks, timings));
  EXPECT_EQ(q, Vector3(0.1, 0.2, 0));
  EXPECT_EQ(accepted, 0);
  EXPECT_TRUE(start_along(objective, {Vector3(0, 0.5, 0), PathUse::free_part}, q, hooks, timings));
  EXPECT_EQ(q, Vector3(0.1, 0.7, 0));
  EXPECT_FALSE(start_along(objective, {Vector3(0.8, 0, 0), PathUse::whole}, q, hooks, timings));
  EXPECT_TRUE(start_along(objective, {Vector3(0.8, 0, 0), PathUse::free_part}, q, hooks, timings))
      << "up to the wall";
  EXPECT_NEAR(q(0), 0.1 + 0.8 * 0.4, 1e-12);
  EXPECT_EQ(accepted, 2);
}

TEST(Newton, HasNothingToDoWhereForcesBalanceAndStepsAreShort) {
  const LinearMap map = LinearMap::identity(1);
  Ring ring(1);
  const Chart chart(1);
  Objective objective(map, chart, {{&ring}});
  objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, 1, true)));
  auto solver = make_linear_solver("cholesky");
  Timings timings;
  double imbalance = 1e-4, farthest = 1e-13;
  NewtonHooks hooks = no_hooks();
  hooks.imbalance = [&](const Gradient&) { return imbalance; };
  hooks.farthest = [&](const Gradient&) { return farthest; };
  const auto solve = [&] {
    Matrix3X q = Vector3(1, 0, 0);
    return newton(objective, {*solver, timings}, q, hooks, {.tolerance = 1e-9, .dt = 1});
  };
  EXPECT_EQ(solve().iterations, 0);
  EXPECT_TRUE(solve().converged && solve().at_once);
  imbalance = 0.01;
  EXPECT_EQ(solve().iterations, 1);
  imbalance = 1e-4;
  farthest = 1e-11;
  EXPECT_EQ(solve().iterations, 1);
}

TEST(Newton, GoesAlongTheBottomOfAValleyInsteadOfFromSideToSide) {
  const LinearMap map = LinearMap::identity(1);
  Valley valley;
  const Chart chart(1);
  int most = 0;
  for (const double start : {-3.0, -0.7, 0.4, 1.1, 6.0}) {
    Objective objective(map, chart, {{&valley}});
    objective.set_free(FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic>::Constant(3, 1, true)));
    auto solver = make_linear_solver("cholesky");
    Matrix3X q = Vector3(start, 1 - start, 0.2);
    Timings timings;
    const NewtonResult r = newton(objective, {*solver, timings}, q, no_hooks(), {.tolerance = 1e-9, .dt = 1});
    EXPECT_TRUE(r.converged) << r.failure;
    Matrix3X slope = Matrix3X::Zero(3, 1);
    valley.add_gradient(q, slope);
    EXPECT_LT(slope.norm(), 1e-6) << start;
    most = std::max(most, r.iterations);
  }
  EXPECT_LT(most, 20);
}

TEST(Newton, DoesNotGoThereAndBackForEver) {
  const LinearMap map = LinearMap::identity(1);
  const Chart chart(1);
  Notch notch;
  Objective objective(map, chart, {{&notch}});
  objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, 1, true)));
  auto solver = make_linear_solver("cholesky");
  Matrix3X q = Vector3(0.3, 0, 0);
  Timings timings;
  const NewtonResult r = newton(objective, {*solver, timings}, q, no_hooks(),
                                {.tolerance = 1e-9, .dt = 1, .max_iterations = 100});
  EXPECT_TRUE(r.converged) << r.failure;
  EXPECT_LT(std::abs(q(0, 0)), 1e-9);
}

TEST(Newton, NeverPassesItsStepLimit) {
  const LinearMap map = LinearMap::identity(1);
  ScriptTarget target;
  target.targets.push_back({0, {1, 0, 0}, {1, 1, 1}, 1, Vector3::Zero()});
  Wall wall;
  const Chart chart(1);
  Objective objective(map, chart, {{&target, Role::target}, {&wall, Role::contact}});
  objective.set_free(FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic>::Constant(3, 1, true)));
  auto solver = make_linear_solver("eigen");
  const NewtonHooks hooks = no_hooks();
  Matrix3X q = Matrix3X::Zero(3, 1);
  Timings timings;
  const NewtonResult r =
      newton(objective, {*solver, timings}, q, hooks, {.tolerance = 1e-10, .dt = 1, .max_iterations = 20});
  EXPECT_FALSE(r.converged);
  EXPECT_FALSE(r.failure.empty());
  EXPECT_LT(q(0), 0.5);
  EXPECT_GT(q(0), 0.499);
}

TEST(Newton, GoesOnWhenTheStationaryHookChangesTheProblem) {
  const LinearMap map = LinearMap::identity(1);
  ScriptTarget target;
  target.stiffness = 1;
  target.targets.push_back({0, {1, 0, 0}, {1, 1, 1}, 1, Vector3::Zero()});
  const Chart chart(1);
  Objective objective(map, chart, {{&target, Role::target}});
  objective.set_free(FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic>::Constant(3, 1, true)));
  auto solver = make_linear_solver("cholesky");
  NewtonHooks hooks = no_hooks();
  int calls = 0;
  hooks.stationary = [&](const Matrix3X&) {
    if (++calls > 1) return false;
    target.targets[0].position = {0, 2, 0};
    return true;
  };
  Matrix3X q = Matrix3X::Zero(3, 1);
  Timings timings;
  EXPECT_TRUE(newton(objective, {*solver, timings}, q, hooks, {.tolerance = 1e-12, .dt = 1}).converged);
  EXPECT_EQ(calls, 2);
  EXPECT_LT((q.col(0) - Vector3(0, 2, 0)).norm(), 1e-12);
}

TEST(BarrierStiffness, BalancesGradientsWithinItsRange) {
  const VectorX contact = VectorX::LinSpaced(6, 1, 2);
  const StiffnessRange range{10, 1000};
  EXPECT_NEAR(balanced_stiffness(-50 * contact, contact, range), 50, 1e-12);
  EXPECT_EQ(balanced_stiffness(-5000 * contact, contact, range), 1000);
  EXPECT_EQ(balanced_stiffness(3 * contact, contact, range), 10) << "never negative";
  EXPECT_EQ(balanced_stiffness(contact, VectorX::Zero(6), range), 10) << "no contact";
}

TEST(BarrierStiffness, LowerBoundFollowsThesisA6) {
  // 10¹¹ m̄ on the Hessian's diagonal at d = 10⁻⁸ ℓ: 4 d² κ b″(d²) = 10¹¹ m̄.
  const double mass = 0.02, size = 2, dhat = 1e-3;
  const StiffnessRange r = stiffness_range(mass, size, dhat);
  const double d = 1e-8 * size;
  EXPECT_NEAR(4 * d * d * r.low * barrier(d * d, dhat * dhat).second, 1e11 * mass, 1);
  EXPECT_DOUBLE_EQ(r.high, 100 * r.low);
}

TEST(BarrierStiffness, GrowsWhenATinyGapGoesOnShrinking) {
  // Two points above each other, and the lower one above a plane.
  Matrix3X rest(3, 2);
  rest << 0, 0, 0.5, 1, 0, 0;
  PairTable pairs(2, {true, 0, 1e-3, 0});
  const CollisionSurface surface(rest, Faces(3, 0), Edges(2, 0), {0, 0}, pairs,
                                 {HalfSpace{Vector3::Zero(), Vector3::UnitY(), 1}});
  const auto state = [&](double lower, double between) {
    Matrix3X x = rest;
    x(1, 0) = lower;
    x(1, 1) = lower + between;
    return x;
  };
  const auto squeezing = [&](const Matrix3X& before, const Matrix3X& after) {
    const Candidates pair = {{PairKind::point_point, {0, 1, -1, -1}}};
    return is_squeezing(surface, {find_active_set(surface, pair, before), before},
                        {find_active_set(surface, pair, after), after}, 1e-8);
  };
  EXPECT_TRUE(squeezing(state(0.5, 5e-9), state(0.5, 4e-9))) << "two points";
  EXPECT_FALSE(squeezing(state(0.5, 4e-9), state(0.5, 5e-9))) << "opening again";
  EXPECT_FALSE(squeezing(state(0.5, 5e-8), state(0.5, 4e-9))) << "was not tiny before";
  EXPECT_TRUE(squeezing(state(5e-9, 0.5), state(4e-9, 0.5))) << "a point and a plane";
  EXPECT_FALSE(squeezing(state(4e-9, 0.5), state(5e-9, 0.5)));
}

TEST(Newton, DoesNotStepOverKinksForEver) {
  const LinearMap map = LinearMap::identity(RubbedString::count);
  const Chart chart(RubbedString::count);
  std::array<int, 2> iterations;
  std::array<Matrix3X, 2> ends;
  for (const bool learns : {false, true}) {
    RubbedString string(learns);
    Objective objective(map, chart, {{&string}});
    Chart::Mask free = Chart::Mask::Constant(3, RubbedString::count, false);
    free.row(0) = true;
    objective.set_free(FreeCoordinates(free));
    auto solver = make_linear_solver("cholesky");
    Matrix3X q = string.begin();
    Timings timings;
    const NewtonResult r = newton(objective, {*solver, timings}, q, no_hooks(),
                                  {.tolerance = 1e-9, .dt = 1, .max_iterations = 5000});
    EXPECT_TRUE(r.converged) << r.failure;
    iterations[learns] = r.iterations;
    ends[learns] = q;
  }
  EXPECT_LT(iterations[1], 30);
  EXPECT_GT(iterations[0], 3 * iterations[1]) << "or it would be no test";
  EXPECT_LT((ends[1] - ends[0]).cwiseAbs().maxCoeff(), 1e-8) << "the minimum is the same";
}

}  // namespace
}  // namespace apart::test
