// The sparse Cholesky factorisation: its tree against a factorisation that keeps every entry, and its
// solutions against dense ones.
#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/solver/dense_blas.hpp>
#include <apart/solver/linear_solver.hpp>
#include <apart/solver/multifrontal.hpp>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include <algorithm>
#include <random>
#include <set>

namespace apart::test {
namespace {

using Keys = std::vector<BlockKey>;

Keys tidy(Keys keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Keys random_pairs(Index n, Index count, std::mt19937& random) {
  Keys keys;
  for (Index k = 0; k < count; ++k) {
    const Index i = Index(random() % unsigned(n)), j = Index(random() % unsigned(n));
    if (i != j) keys.push_back(block_key(i, j));
  }
  return tidy(keys);
}

/// Neighbours in a box of cells, diagonals included: its large fronts are shared among threads.
Keys box_pairs(Index size) {
  Keys keys;
  const auto node = [&](Index x, Index y, Index z) { return x + size * (y + size * z); };
  for (Index z = 0; z < size; ++z)
    for (Index y = 0; y < size; ++y)
      for (Index x = 0; x < size; ++x)
        for (Index d = 1; d < 8; ++d) {
          const Index u = x + d % 2, v = y + d / 2 % 2, w = z + d / 4;
          if (u < size && v < size && w < size) keys.push_back(block_key(node(x, y, z), node(u, v, w)));
        }
  return tidy(keys);
}

/// Positive definite: every coupling is that of a spring in a random direction; its ends are held by
/// `ground` · I.
BlockSparse springs(Index n, const Keys& keys, double ground) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  BlockSparse a(n, keys);
  for (const BlockKey k : keys) {
    const Index j = Index(k >> 32), i = Index(k & 0xffffffffu);
    const Matrix3 m = Matrix3::NullaryExpr([&] { return normal(random); }), s = m * m.transpose();
    const Matrix3 turn = Matrix3::Identity() + 0.1 * m;  // couplings are not symmetric themselves
    a.add(a.slot(i, j), -turn.transpose() * s);
    a.add(a.slot(i, i), turn.transpose() * s * turn);
    a.add(a.slot(j, j), s);
  }
  for (Index i = 0; i < n; ++i) a.add(a.slot(i, i), ground * Matrix3::Identity());
  return a;
}

Eigen::MatrixXd dense(const BlockSparse& a) {
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(3 * a.block_count(), 3 * a.block_count());
  for (Index j = 0; j < a.block_count(); ++j)
    for (Index k = a.column_start()[std::size_t(j)]; k < a.column_start()[std::size_t(j) + 1]; ++k)
      full.block<3, 3>(3 * a.block_rows()[std::size_t(k)], 3 * j) = a.block(k);
  return full.selfadjointView<Eigen::Lower>();
}

/// Rows of each column of the factor, by elimination as in a textbook.
std::vector<std::set<Index>> filled_columns(const NodeGraph& graph, const std::vector<Index>& node) {
  std::vector<Index> place(node.size());
  for (std::size_t p = 0; p < node.size(); ++p) place[std::size_t(node[p])] = Index(p);
  std::vector<std::set<Index>> columns(node.size());
  for (Index j = 0; j < Index(node.size()); ++j) {
    std::set<Index>& rows = columns[std::size_t(j)];
    const auto v = std::size_t(node[std::size_t(j)]);
    for (Index k = graph.start[v]; k < graph.start[v + 1]; ++k)
      if (const Index i = place[std::size_t(graph.neighbour[std::size_t(k)])]; i > j) rows.insert(i);
    for (Index c = 0; c < j; ++c)
      if (!columns[std::size_t(c)].empty() && *columns[std::size_t(c)].begin() == j)
        rows.insert(std::next(columns[std::size_t(c)].begin()), columns[std::size_t(c)].end());
  }
  return columns;
}

TEST(Elimination, HasTheTreeAndColumnsOfTheFactor) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 40; ++trial) {
    const Index n = 1 + Index(random() % 60);
    const NodeGraph graph = node_graph(BlockSparse(n, random_pairs(n, n + Index(random() % 60), random)));
    std::vector<Index> order(std::size_t(n), 0);
    for (Index i = 0; i < n; ++i) order[std::size_t(i)] = i;
    std::shuffle(order.begin(), order.end(), random);
    const Elimination e = eliminate(graph, order);
    const auto columns = filled_columns(graph, e.node);
    double nonzeros = 0, before = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      EXPECT_EQ(e.count[j], Index(columns[j].size()) + 1);
      EXPECT_EQ(e.parent[j], columns[j].empty() ? -1 : *columns[j].begin());
      nonzeros += 9 * double(columns[j].size()) + 6;
    }
    EXPECT_EQ(e.nonzeros(), nonzeros);
    for (const auto& column : filled_columns(graph, order)) before += 9 * double(column.size()) + 6;
    EXPECT_EQ(nonzeros, before);  // the order is equivalent
  }
}

TEST(Fronts, CoverTheFactorAndPassEveryRowToTheirParents) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 40; ++trial) {
    const Index n = 1 + Index(random() % 200);
    const NodeGraph graph = node_graph(BlockSparse(n, random_pairs(n, 2 * n, random)));
    const FrontTree tree = make_fronts(graph, eliminate(graph, approximate_minimum_degree(graph)));
    const auto columns = filled_columns(graph, tree.node);
    Index eliminated = 0;
    for (Index f = 0; f < Index(tree.fronts.size()); ++f) {
      const Front& front = tree.fronts[std::size_t(f)];
      EXPECT_EQ(front.first, eliminated);
      eliminated += front.columns;
      const Index* rows = tree.rows.data() + front.first_row;
      std::set<Index> own(rows, rows + front.rows);
      EXPECT_EQ(Index(own.size()), front.rows);
      for (Index c = front.first; c < eliminated; ++c)
        for (const Index row : columns[std::size_t(c)]) EXPECT_TRUE(row < eliminated || own.contains(row));
      if (front.rows == 0) continue;
      ASSERT_GT(front.parent, f);
      const Front& parent = tree.fronts[std::size_t(front.parent)];
      for (Index r = 0; r < front.rows; ++r) {
        const Index at = tree.in_parent[front.first_row + std::size_t(r)];
        EXPECT_EQ(rows[r], at < parent.columns
                               ? parent.first + at
                               : tree.rows[parent.first_row + std::size_t(at - parent.columns)]);
      }
    }
    EXPECT_EQ(eliminated, n);
  }
}

VectorX solution(const BlockSparse& a, const VectorX& b, const std::vector<Index>& order) {
  const NodeGraph graph = node_graph(a);
  MultifrontalCholesky factor;
  factor.set_fronts(a, graph, make_fronts(graph, eliminate(graph, order)));
  return factor.factorise(a, [] {}) ? factor.solve(b) : VectorX();
}

TEST(Multifrontal, SolvesAsADenseFactorisationDoes) {
  prepare_blas();
  std::mt19937 random(3);
  for (const Index n : {1, 2, 3, 7, 30, 31, 90, 200})
    for (const Index pairs : {0, n / 3, n, 4 * n, n * n}) {  // from unconnected nodes to a full matrix
      const BlockSparse a = springs(n, random_pairs(n, pairs, random), 0.3);
      const VectorX b = VectorX::LinSpaced(3 * n, -1, 2);
      const VectorX expected = dense(a).llt().solve(b);
      const NodeGraph graph = node_graph(a);
      for (const auto& order : {approximate_minimum_degree(graph), nested_dissection(graph)})
        EXPECT_LT((solution(a, b, order) - expected).norm(), 1e-11 * expected.norm()) << n << " " << pairs;
    }
}

TEST(Multifrontal, HasTheSameBitsForAnyNumberOfThreads) {
  prepare_blas();
  // Thousands of small trees, and one with large fronts.
  std::mt19937 random(4);
  for (const auto& [n, keys] :
       {std::pair{Index(3000), random_pairs(3000, 1200, random)}, std::pair{Index(1728), box_pairs(12)}}) {
    const BlockSparse a = springs(n, keys, 0.1);
    const VectorX b = VectorX::LinSpaced(3 * n, -1, 2);
    const std::vector<Index> order = approximate_minimum_degree(node_graph(a));
    const VectorX one = solution(a, b, order);
    EXPECT_LT((a.multiply(one) - b).norm(), 1e-11 * b.norm());
    for (const int threads : {2, 5}) {
      set_thread_count(threads);
      EXPECT_EQ(solution(a, b, order), one) << threads;
    }
    set_thread_count(1);
  }
}

TEST(Multifrontal, SaysWhichMatricesAreNotPositiveDefinite) {
  prepare_blas();
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    std::mt19937 random(6);
    const Keys keys = random_pairs(300, 500, random);
    BlockSparse a = springs(300, keys, 0.1);
    const std::vector<Index> order = approximate_minimum_degree(node_graph(a));
    const VectorX b = VectorX::Ones(900);
    for (const Index node : {0, 150, 299}) {
      BlockSparse indefinite = a;
      indefinite.at(3 * node + 1, 3 * node + 1) = -1;
      EXPECT_EQ(solution(indefinite, b, order).size(), 0);
    }
    a.set_zero();
    EXPECT_EQ(solution(a, b, order).size(), 0);
    set_thread_count(1);
  }
}

TEST(Multifrontal, CanBeAbandonedAndUsedAgain) {
  const BlockSparse a = springs(1000, box_pairs(10), 0.1);
  const VectorX b = VectorX::Ones(3000);
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    auto solver = make_linear_solver("cholesky");
    solver->analyse(a);
    std::atomic<int> checks = 0;
    const LinearSolveOptions stopping{.check = [&] {
      if (++checks == 20) throw SolverError("stop");
    }};
    EXPECT_THROW(solver->solve(a, b, stopping), SolverError);
    EXPECT_LT((a.multiply(solver->solve(a, b).x) - b).norm(), 1e-11 * b.norm());
    set_thread_count(1);
  }
}

TEST(Multifrontal, RefusesAFactorThatDoesNotFitTheMemory) {
  const BlockSparse a = springs(1728, box_pairs(12), 0.1);
  auto solver = make_linear_solver("cholesky");
  solver->analyse(a);
  set_memory_limit(resident_bytes() + 1'000'000);
  EXPECT_THROW(solver->solve(a, VectorX::Ones(3 * 1728)), MemoryError);
  set_memory_limit(std::numeric_limits<std::size_t>::max());
  EXPECT_TRUE(solver->solve(a, VectorX::Ones(3 * 1728)).is_solved());
}

// A step must do the same whatever came before it, also if its first matrix has the pattern of the last one.
TEST(Multifrontal, KeepsAnOrderWithinAStepWhileItIsCheap) {
  const Keys apart = box_pairs(8);
  const VectorX b = VectorX::LinSpaced(3 * 512, -1, 2);
  for (const auto& [distance, kept] : {std::pair{2, true}, std::pair{256, false}}) {
    Keys touching = apart;
    for (const Index node : {0, 50, 100}) touching.push_back(block_key(node, node + distance));
    const BlockSparse before = springs(512, apart, 0.1), after = springs(512, tidy(touching), 0.1);
    auto continued = make_linear_solver("cholesky"), fresh = make_linear_solver("cholesky");
    continued->analyse(before);
    const double flops = continued->predicted_flops();
    continued->analyse(after);
    fresh->analyse(after);
    EXPECT_LE(continued->predicted_flops(), 1.2 * flops);
    const VectorX expected = fresh->solve(after, b).x;
    EXPECT_EQ(continued->solve(after, b).x != expected, kept);  // another order has other bits
    continued->begin_step();
    EXPECT_EQ(continued->solve(after, b).x, expected);
  }
}

}  // namespace
}  // namespace apart::test
