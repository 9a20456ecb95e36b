// Rigid motions as the linear solver gets them, and what its coarse space makes of them.
#include <apart/bodies/mass_distribution.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/simulation/step_problem.hpp>
#include <apart/solver/conjugate_gradient.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

/// The problem of the first step, prepared at its start.
struct Prepared {
  explicit Prepared(const SmallScene& scene)
      : simulation(scene.simulation()), model(simulation->model()), problem(model, present(), timings) {
    problem.begin(simulation->state(), model.options.dt, model.options.dt);
    problem.objective.prepare(model.initial_nodes);
  }
  std::vector<char> present() const { return std::vector<char>(model.bodies.size(), 1); }
  NearNullSpace space() const {
    return near_null_space(model.chart, model.initial_nodes, problem.objective.free());
  }
  std::unique_ptr<Simulation> simulation;
  const Model& model;
  Timings timings;
  StepProblem problem;
};

Body block(double young, int cells) {
  return make_volume("block", generate::box({0.4, 0.2, 0.2}, {2 * cells, cells, cells}), soft(young), 1000,
                     MassKind::lumped);
}

/// A volume, a shell, an affine and a rigid body; all can move freely.
SmallScene several() {
  const Mesh stone = generate::box({0.3, 0.2, 0.1}, {1, 1, 1}), brick = moved(stone, {1, 0.5, 0});
  SmallScene scene;
  scene.bodies = {block(1e6, 2),
                  make_shell("sheet", moved(generate::grid(0.5, 0.5, 3, 3), {0, 1, 0}), cotton()),
                  make_affine("stone", moved(stone, {0, 2, 0}), soft(1e8), 1000),
                  make_rigid("brick", brick, mass_distribution(brick, 1000))};
  return scene;
}

TEST(NearNullSpace, HoldsTheRigidMotionsOfAllNodesAlsoThroughCharts) {
  const Prepared p(several());
  const NearNullSpace space = p.space();
  const FreeCoordinates& free = p.problem.objective.free();
  const Matrix3X& q = p.model.initial_nodes;
  ASSERT_EQ(space.positions.cols(), free.block_count());
  for (int k = 0; k < 6; ++k) {
    const Matrix3X moved = p.model.chart.push_forward(q, free.extend(space.modes.col(k)));
    for (Index node = 0; node < q.cols(); ++node) {
      const Vector3 expected =
          k < 3 ? Vector3(Vector3::Unit(k)) : Vector3(Vector3::Unit(k - 3).cross(Vector3(q.col(node))));
      EXPECT_LT((moved.col(node) - expected).norm(), 1e-12) << "mode " << k << ", node " << node;
    }
  }
  EXPECT_EQ(space.positions.col(0), q.col(0));
  EXPECT_LT((space.positions.rightCols(1) - Vector3(1, 0.5, 0)).norm(), 1e-12) << "the middle of the brick";
}

TEST(NearNullSpace, IsNotResistedByElasticity) {
  Prepared p(several());
  const NearNullSpace space = p.space();
  const Matrix3X& q = p.model.initial_nodes;
  // To first order: a turn by ε strains by ε².
  constexpr double small = 1e-6;
  const auto force_after = [&](const VectorX& y) {
    p.problem.objective.prepare(p.model.chart.retract(q, small * p.problem.objective.free().extend(y)));
    return p.problem.objective.gradient({Role::elastic}).norm();
  };
  srand(1);
  const double usual = force_after(VectorX::Random(space.modes.rows()));
  ASSERT_GT(usual, 0);
  for (int k = 0; k < 6; ++k) EXPECT_LT(force_after(space.modes.col(k)), 1e-4 * usual) << "mode " << k;
}

TEST(NearNullSpace, IsZeroWhereCoordinatesAreHeld) {
  SmallScene scene;
  scene.bodies = {block(1e6, 1)};
  const std::vector<Index> left = points_where(scene.bodies[0], [](const Vector3& x) { return x[0] < -0.1; });
  add_script(scene.bodies[0], &left, {true, false, false}, {});
  const Prepared p(scene);
  const NearNullSpace space = p.space();
  ASSERT_EQ(space.positions.cols(), p.model.node_count()) << "every node can move along y";
  for (Index b = 0; b < space.positions.cols(); ++b)
    EXPECT_EQ(space.modes(3 * b, 0), space.positions(0, b) < -0.1 ? 0 : 1) << b;
}

TEST(CoarseSpace, SparesStiffBodiesMostIterations) {
  // Without it, iterations grow with the stiffness until the mesh alone decides.
  for (const double young : {1e8, 1e11}) {
    SmallScene scene;
    scene.bodies = {block(young, 8)};
    Prepared p(scene);
    const BlockSparse& a = p.problem.objective.hessian();
    srand(2);
    const VectorX b = VectorX::Random(3 * a.block_count());
    ConjugateGradient gradients;
    gradients.set_matrix(a);
    const auto plain = gradients.solve(b, {.tolerance = 1e-8});
    const int iterations = gradients.iterations();
    const NearNullSpace space = p.space();
    gradients.set_matrix(a, &space);
    const auto x = gradients.solve(b, {.tolerance = 1e-8});
    ASSERT_TRUE(plain && x);
    EXPECT_LT((a.multiply(*x) - b).norm(), 2e-8 * b.norm());
    EXPECT_LT(3 * gradients.iterations(), iterations) << young;
    std::vector<VectorX> found;
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      found.push_back(*gradients.solve(b, {.tolerance = 1e-8}));
    }
    set_thread_count(0);
    EXPECT_EQ(found[0], found[1]) << "the same bits";
  }
}

TEST(CoarseSpace, ToleratesPartsThatCannotTurn) {
  // One block, two, and many in a line: rotations about the line, or all of them, move nothing.
  for (const Index n : {1, 2, 300}) {
    BlockSparse a(n, {});
    NearNullSpace space;
    space.positions = Matrix3X::Zero(3, n);
    space.modes.setZero(3 * n, 6);
    for (Index b = 0; b < n; ++b) {
      a.add(a.slot(b, b), Vector3(1, 2, 3 + b).asDiagonal());
      space.positions(0, b) = 0.1 * b;
      for (int k = 0; k < 3; ++k) {
        space.modes(3 * b + k, k) = 1;
        space.modes.block<3, 1>(3 * b, 3 + k) = Vector3::Unit(k).cross(Vector3(space.positions.col(b)));
      }
    }
    ConjugateGradient gradients;
    gradients.set_matrix(a, &space);
    const VectorX b = VectorX::Ones(3 * n);
    const auto x = gradients.solve(b, {});
    ASSERT_TRUE(x) << n;
    EXPECT_LT((a.multiply(*x) - b).norm(), 1e-8 * b.norm()) << n;
  }
}

/// Solves as another solver does, and keeps what it was given.
class Recording final : public LinearSolver {
 public:
  void analyse(const BlockSparse& a) override { solver_->analyse(a); }
  LinearSolution solve(const BlockSparse& a, const VectorX& b, const LinearSolveOptions& options) override {
    tolerance = options.tolerance;
    if (options.near_null_space) given = options.near_null_space();
    return solver_->solve(a, b, options);
  }
  double tolerance = 0;
  std::optional<NearNullSpace> given;

 private:
  std::unique_ptr<LinearSolver> solver_ = make_linear_solver("eigen");
};

TEST(NearNullSpace, IsHandedToTheLinearSolverByNewtonsMethod) {
  Prepared p(several());
  Recording solver;
  Matrix3X q = p.model.initial_nodes;
  NewtonHooks hooks;
  hooks.accepted = [](const Matrix3X&) { return false; };
  hooks.stationary = [](const Matrix3X&) { return false; };
  newton(p.problem.objective, {solver, p.timings}, q, hooks,
         {.tolerance = 1e-6, .dt = 0.01, .max_iterations = 1});
  EXPECT_EQ(solver.tolerance, 1e-9);
  ASSERT_TRUE(solver.given);
  const NearNullSpace expected = p.space();
  EXPECT_EQ(solver.given->positions, expected.positions);
  EXPECT_EQ(solver.given->modes, expected.modes);
}

}  // namespace
}  // namespace apart::test
