#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/solver/conjugate_gradient.hpp>
#include <apart/solver/dense_blas.hpp>
#include <apart/solver/dense_cholesky.hpp>
#include <apart/solver/linear_solver.hpp>
#include <apart/solver/multifrontal.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace apart {

namespace {

class CholeskySolver final : public LinearSolver {
 public:
  explicit CholeskySolver(std::string_view ordering) : ordering_(ordering) { prepare_blas(); }

  void analyse(const BlockSparse& a) override {
    ++statistics_.analyses;
    forget_failures();
    has_fronts_ = inherited_ = outdated_ = false;
    if (is_small(a)) {
      const double n = 3 * a.block_count();
      flops_ = n * (n + 1) * (2 * n + 1) / 6;
      nonzeros_ = n * (n + 1) / 2;
      return;
    }
    graph_ = node_graph(a);
    if (Index(order_.size()) == graph_.size()) {
      elimination_ = eliminate(graph_, order_);
      inherited_ = elimination_.flops() <= tolerated_growth * ordered_flops_;
    }
    if (!inherited_) choose_order();
    flops_ = elimination_.flops();
    nonzeros_ = elimination_.nonzeros();
  }

  void begin_step() override {
    forget_failures();
    order_.clear();
    outdated_ = inherited_;
  }

  LinearSolution solve(const BlockSparse& a, const VectorX& b, const LinearSolveOptions& options) override {
    using Status = LinearSolution::Status;
    if (is_small(a)) {
      count_factorisation(a);
      VectorX x;
      if (dense_.factorise(a)) x = dense_.solve(b);
      return x.size() > 0 && x.allFinite() ? LinearSolution{Status::solved, std::move(x)}
                                           : LinearSolution{Status::indefinite};
    }
    ensure(graph_.size() == a.block_count(), "CholeskySolver: solve before analyse");
    if (outdated_) analyse(a);
    // Newton's directions need no factor where a few hundred multiplications find them, and a factor that is
    // far larger than its matrix costs more than those. If they do not suffice, at most a fifth of the
    // factorisation's time was lost.
    if (flops_ > costly_flops && pause_ == 0) {
      gradients_.set_matrix(a);
      if (options.near_null_space) gradients_.set_coarse_space(options.near_null_space());
      // Multiplications run at the speed of memory, a factorisation at that of the processor: about 1 : 8.
      const double affordable = 0.2 * flops_ / (8 * gradients_.flops_per_iteration());
      if (auto x = gradients_.solve(b, {.tolerance = options.tolerance,
                                        .max_iterations = int(std::clamp(affordable, 50.0, 5000.0))})) {
        failures_ = 0;
        return {Status::solved, std::move(*x)};
      }
      // That a matrix is indefinite says nothing about the next one.
      if (gradients_.found_indefinite()) return {Status::indefinite};
      if (options.optional) return {Status::given_up};
      pause_ = (1 << std::min(++failures_, 10)) - 1;
    } else if (pause_ > 0) {
      --pause_;
    }
    if (!factorise(a, options)) return {Status::indefinite};
    VectorX x = factor_.solve(b);
    return x.allFinite() ? LinearSolution{Status::solved, std::move(x)} : LinearSolution{Status::indefinite};
  }

  double predicted_flops() const override { return flops_; }
  LinearSolverStatistics statistics() const override { return statistics_; }

 private:
  static constexpr double costly_flops = 1e11;  ///< some seconds
  static constexpr Index small_blocks = 24;     ///< docs/performance.md has the measurement
  /// While contacts come and go the order of elimination is kept: a new one would take longer than what it
  /// saves, until the factor has grown.
  static constexpr double tolerated_growth = 1.2;
  /// Operations of a factorisation, for each node, from which on a slower search for an order pays
  /// (docs/performance.md).
  static constexpr double dissection_flops = 2e5;
  static constexpr const char* remedy = "use a coarser mesh, or a smaller contact.dhat for fewer contacts";

  static bool is_small(const BlockSparse& a) { return a.block_count() <= small_blocks; }

  void forget_failures() {
    failures_ = 0;
    pause_ = 0;
  }

  void count_factorisation(const BlockSparse& a) {
    ++statistics_.factorisations;
    statistics_.flops += flops_;
    statistics_.nonzeros += nonzeros_;
    statistics_.blocks += double(a.block_rows().size());
  }

  void choose_order() {
    order_ = ordering_ == "metis" ? nested_dissection(graph_) : approximate_minimum_degree(graph_);
    elimination_ = eliminate(graph_, order_);
    ordered_flops_ = elimination_.flops();
  }

  /// Looks for a better order before one of minimum degree is used for a large factor.
  void improve_order() {
    if (ordering_ != "auto" || inherited_ || flops_ < dissection_flops * double(graph_.size())) return;
    std::vector<Index> order = nested_dissection(graph_);
    Elimination other = eliminate(graph_, order);
    if (!(other.flops() < flops_)) return;
    order_ = std::move(order);
    elimination_ = std::move(other);
    flops_ = ordered_flops_ = elimination_.flops();
    nonzeros_ = elimination_.nonzeros();
  }

  /// False if the matrix is not positive definite to working precision.
  bool factorise(const BlockSparse& a, const LinearSolveOptions& options) {
    if (!has_fronts_) {
      improve_order();
      factor_.set_fronts(a, graph_, make_fronts(graph_, elimination_));
      ensure_memory(factor_.missing_bytes(), "the factor of the linear system", remedy);
      has_fronts_ = true;
    }
    count_factorisation(a);
    return factor_.factorise(a, [&] {
      if (options.check) options.check();
    });
  }

  std::string ordering_;
  NodeGraph graph_;
  std::vector<Index> order_;  ///< of elimination, found in this step; empty: none
  double ordered_flops_ = 0;  ///< of the matrix that it was found for
  Elimination elimination_;
  MultifrontalCholesky factor_;
  bool has_fronts_ = false;  ///< those of factor_ are of this analysis
  bool inherited_ = false;   ///< order_ was found for an earlier matrix of the same step
  bool outdated_ = false;    ///< and that step is over: what a step does must not depend on earlier ones
  double flops_ = 0, nonzeros_ = 0;  ///< of one factorisation with the present analysis
  DenseCholesky dense_;
  ConjugateGradient gradients_;
  int failures_ = 0;  ///< of gradients_ in a row
  int pause_ = 0;     ///< matrices to be factorised until gradients_ are tried again
  LinearSolverStatistics statistics_;
};

}  // namespace

std::unique_ptr<LinearSolver> make_cholesky_solver(std::string_view ordering) {
  return std::make_unique<CholeskySolver>(ordering);
}

}  // namespace apart
