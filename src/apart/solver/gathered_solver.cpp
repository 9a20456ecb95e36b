#include <apart/solver/gathered_solver.hpp>

#include <apart/core/error.hpp>
#include <apart/solver/row_exchange.hpp>

#include <optional>

namespace apart {

namespace {

class GatheredSolver final : public LinearSolver {
 public:
  GatheredSolver(const Team& team, std::unique_ptr<LinearSolver> solver)
      : team_(team), solver_(std::move(solver)) {}

  void analyse(const BlockSparse& summand) override {
    exchange_.emplace(team_, summand, std::vector<int>(std::size_t(summand.block_count()), 0));
    if (!team_.leads()) return;
    // Nothing was numbered anew: a row of the upper triangle is a column of the lower one.
    std::vector<BlockKey> keys;
    for (Index i = 0; i < exchange_->row_count(); ++i)
      for (Index k = exchange_->start()[std::size_t(i)]; k < exchange_->start()[std::size_t(i) + 1]; ++k)
        keys.push_back(block_key(exchange_->columns()[std::size_t(k)], i));
    whole_ = BlockSparse(summand.block_count(), keys);
    ensure(whole_.block_rows().size() == keys.size(), "GatheredSolver: a block on each diagonal");
    solver_->analyse(whole_);
  }

  LinearSolution solve(const BlockSparse& summand, const VectorX& b,
                       const LinearSolveOptions& options) override {
    ensure(exchange_.has_value(), "GatheredSolver: solve before analyse");
    const std::vector<double>& blocks = exchange_->collect(summand);
    LinearSolution solution;
    if (team_.leads()) {
      whole_.set_zero();
      for (Index j = 0; j < whole_.block_count(); ++j)
        for (Index k = whole_.column_start()[std::size_t(j)]; k < whole_.column_start()[std::size_t(j) + 1];
             ++k)
          whole_.add(k, Eigen::Map<const Matrix3>(blocks.data() + 9 * std::size_t(k)).transpose());
      solution = solver_->solve(whole_, b, options);
    }
    return agreed(solution, b.size());
  }

  void begin_step() override { solver_->begin_step(); }
  double predicted_flops() const override { return solver_->predicted_flops(); }
  LinearSolverStatistics statistics() const override { return solver_->statistics(); }

 private:
  LinearSolution agreed(const LinearSolution& own, Index size) const {
    std::vector<double> message = {double(own.status)};
    message.insert(message.end(), own.x.begin(), own.x.end());
    std::vector<double> all;
    append_from_bytes(team_.from_leader(to_bytes(std::span<const double>(message))), all);
    LinearSolution solution{LinearSolution::Status(int(all[0]))};
    if (solution.is_solved()) solution.x = Eigen::Map<const VectorX>(all.data() + 1, size);
    return solution;
  }

  const Team& team_;
  std::unique_ptr<LinearSolver> solver_;
  std::optional<RowExchange> exchange_;
  BlockSparse whole_;
};

}  // namespace

std::unique_ptr<LinearSolver> make_gathered_solver(const Team& team, std::unique_ptr<LinearSolver> solver) {
  return std::make_unique<GatheredSolver>(team, std::move(solver));
}

}  // namespace apart
