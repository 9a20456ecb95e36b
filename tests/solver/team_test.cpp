// Linear systems of which each process of a team has a summand.
#include <apart/solver/gathered_solver.hpp>
#include <apart/solver/row_exchange.hpp>

#include <gtest/gtest.h>
#include <support/random.hpp>
#include <support/thread_team.hpp>

#include <Eigen/Cholesky>
#include <algorithm>
#include <mutex>

namespace apart::test {
namespace {

constexpr Index blocks = 40;

/// What a process adds: its own pairs of neighbouring rows, and some that others have as well.
BlockSparse summand(const Team& team) {
  Random random(unsigned(team.rank()) + 7);
  const auto [first, last] = team.share(blocks);
  std::vector<BlockKey> keys;
  for (Index i = first; i < last; ++i)
    for (const Index j : {i + 1, i + 7})
      if (j < blocks) keys.push_back(block_key(i, j));
  keys.push_back(block_key(0, blocks - 1));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  BlockSparse a(blocks, keys);
  for (const BlockKey k : keys) {
    const Index j = Index(k >> 32), i = Index(k & 0xffffffffu);
    const Matrix3 block = Matrix3::NullaryExpr([&] { return random.uniform(-1, 1); });
    a.add(a.slot(i, j), block);
  }
  for (Index i = first; i < last; ++i) a.add(a.slot(i, i), 30 * Matrix3::Identity());
  return a;
}

Eigen::MatrixXd dense_summand(const BlockSparse& a) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(3 * blocks, 3 * blocks);
  for (Index j = 0; j < blocks; ++j)
    for (Index k = a.column_start()[std::size_t(j)]; k < a.column_start()[std::size_t(j) + 1]; ++k) {
      const Index i = a.block_rows()[std::size_t(k)];
      m.block<3, 3>(3 * i, 3 * j) = a.block(k);
      m.block<3, 3>(3 * j, 3 * i) = a.block(k).transpose();
    }
  return m;
}

TEST(Team, PutsRowsTogetherWhereTheyBelong) {
  for (const Triangles triangles : {Triangles::upper, Triangles::both})
    for (const int size : {1, 2, 4}) {
      Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(3 * blocks, 3 * blocks), found = sum;
      Index rows = 0;
      std::mutex mutex;
      as_team(size, [&](const Team& team) {
        BlockSparse a = summand(team);
        const std::vector<int> owner = RowExchange::owners(team, a);
        RowExchange exchange(team, a, owner, triangles);
        exchange.collect(a);
        for (double& v : a.values()) v *= 2;
        const std::vector<double>& values = exchange.collect(a);  // nothing is left of the first
        std::vector<Index> old(std::size_t(blocks), -1);
        for (Index b = 0; b < blocks; ++b) old[std::size_t(exchange.number()[std::size_t(b)])] = b;
        const std::lock_guard lock(mutex);
        sum += dense_summand(a);
        rows += exchange.row_count();
        for (Index i = 0; i < exchange.row_count(); ++i) {
          const Index row = old[std::size_t(exchange.first_row() + i)];
          EXPECT_EQ(owner[std::size_t(row)], team.rank());
          for (Index k = exchange.start()[std::size_t(i)]; k < exchange.start()[std::size_t(i) + 1]; ++k) {
            const Index to = exchange.columns()[std::size_t(k)], column = old[std::size_t(to)];
            if (triangles == Triangles::upper) {
              EXPECT_GE(to, exchange.first_row() + i);
            }
            const Eigen::Map<const Matrix3> block(values.data() + 9 * k);
            found.block<3, 3>(3 * row, 3 * column) = block;
            if (triangles == Triangles::upper) found.block<3, 3>(3 * column, 3 * row) = block.transpose();
          }
        }
      });
      EXPECT_EQ(rows, blocks);
      EXPECT_LT((found - sum).norm(), 1e-13 * sum.norm()) << size;
    }
}

TEST(Team, RowsBelongToTheProcessThatHasMostOfThem) {
  as_team(3, [](const Team& team) {
    const std::vector<int> owner = RowExchange::owners(team, summand(team));
    const auto [first, last] = team.share(blocks);
    Index own = 0;
    for (Index i = first; i < last; ++i) own += owner[std::size_t(i)] == team.rank();
    if (own < (last - first) / 2) throw std::runtime_error("most rows belong to others");
  });
}

TEST(Team, SolvesAGatheredSystemAndAgreesOnTheAnswer) {
  for (const int size : {1, 2, 4}) {
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(3 * blocks, 3 * blocks);
    std::vector<VectorX> solutions;
    int indefinite = 0;
    const VectorX b = VectorX::LinSpaced(3 * blocks, -1, 3);
    std::mutex mutex;
    as_team(size, [&](const Team& team) {
      BlockSparse a = summand(team);
      const auto solver = make_gathered_solver(team, make_linear_solver("cholesky"));
      solver->analyse(a);
      const LinearSolution x = solver->solve(a, b);
      {
        const std::lock_guard lock(mutex);
        sum += dense_summand(a);
        solutions.push_back(x.x);
      }
      for (double& v : a.values()) v *= -1;
      const LinearSolution none = solver->solve(a, b);
      const std::lock_guard lock(mutex);
      indefinite += none.status == LinearSolution::Status::indefinite;
    });
    EXPECT_EQ(indefinite, size);
    for (const VectorX& x : solutions) {
      EXPECT_LT((sum * x - b).norm(), 1e-11 * b.norm());
      EXPECT_EQ(x, solutions.front());
    }
  }
}

}  // namespace
}  // namespace apart::test
