#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/solver/conjugate_gradient.hpp>
#include <apart/solver/dense_blas.hpp>
#include <apart/solver/dense_cholesky.hpp>
#include <apart/solver/linear_solver.hpp>
#include <apart/solver/multifrontal.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
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
      first_flops_ = flops_ = n * (n + 1) * (2 * n + 1) / 6;
      nonzeros_ = n * (n + 1) / 2;
      return;
    }
    graph_ = std::make_shared<const NodeGraph>(node_graph(a));
    if (Index(order_.size()) == graph_->size()) {
      elimination_ = eliminate(*graph_, order_);
      inherited_ = elimination_.flops() <= tolerated_growth * ordered_flops_;
    }
    if (!inherited_) {
      const Analysis& own = own_analysis();
      use(own.order, own.elimination);
    }
    first_flops_ = flops_ = elimination_.flops();
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
    ensure(graph_->size() == a.block_count(), "CholeskySolver: solve before analyse");
    if (outdated_) analyse(a);
    // Newton's directions need no factor where a few hundred multiplications find them, and a factor that is
    // far larger than its matrix costs more than those. If they do not suffice, at most a fifth of the
    // factorisation's time was lost.
    if (first_flops_ > costly_flops && pause_ == 0) {
      if (options.near_null_space) {
        const NearNullSpace space = options.near_null_space();
        gradients_.set_matrix(a, &space);
      } else {
        gradients_.set_matrix(a);
      }
      // Multiplications run at the speed of memory, a factorisation at that of the processor: about 1 : 8.
      const double affordable = 0.2 * first_flops_ / (8 * gradients_.flops_per_iteration());
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

  /// An analysis whose order was found for the graph itself.
  struct Analysis {
    std::shared_ptr<const NodeGraph> graph;
    std::vector<Index> order;
    Elimination elimination;
    bool improved = false;  ///< a better order has been looked for
    std::optional<std::pair<std::vector<Index>, Elimination>> better;
    std::optional<FrontTree> fronts;
  };

  /// The last two analyses are kept: scenes whose contacts stay, and scripts that let nodes go and take hold
  /// of them again in every step, come back to the same graphs.
  Analysis& own_analysis() {
    for (Analysis& known : known_)
      if (known.graph && (known.graph == graph_ || (known.graph->start == graph_->start &&
                                                    known.graph->neighbour == graph_->neighbour))) {
        std::swap(known, known_.front());
        return known_.front();
      }
    std::swap(known_.front(), known_.back());
    Analysis& made = known_.front();
    made = {};
    made.graph = graph_;
    made.order = ordering_ == "metis" ? nested_dissection(*graph_) : approximate_minimum_degree(*graph_);
    made.elimination = eliminate(*graph_, made.order);
    return made;
  }

  void use(const std::vector<Index>& order, const Elimination& elimination) {
    order_ = order;
    elimination_ = elimination;
    flops_ = ordered_flops_ = elimination_.flops();
    nonzeros_ = elimination_.nonzeros();
  }

  /// Looks for a better order before one of minimum degree is used for a large factor.
  void improve_order(Analysis& analysis) {
    if (ordering_ != "auto" || flops_ < dissection_flops * double(graph_->size())) return;
    if (!std::exchange(analysis.improved, true)) {
      std::vector<Index> order = nested_dissection(*graph_);
      Elimination other = eliminate(*graph_, order);
      if (other.flops() < flops_) analysis.better.emplace(std::move(order), std::move(other));
    }
    if (analysis.better) use(analysis.better->first, analysis.better->second);
  }

  FrontTree fronts() {
    if (inherited_) return make_fronts(*graph_, elimination_);
    Analysis& analysis = own_analysis();
    improve_order(analysis);
    if (!analysis.fronts) analysis.fronts = make_fronts(*graph_, elimination_);
    return *analysis.fronts;
  }

  /// False if the matrix is not positive definite to working precision.
  bool factorise(const BlockSparse& a, const LinearSolveOptions& options) {
    if (!has_fronts_) {
      factor_.set_fronts(a, *graph_, fronts());
      ensure_memory(factor_.missing_bytes(), "the factor of the linear system", remedy);
      has_fronts_ = true;
    }
    count_factorisation(a);
    return factor_.factorise(a, [&] {
      if (options.check) options.check();
    });
  }

  std::string ordering_;
  std::shared_ptr<const NodeGraph> graph_ = std::make_shared<const NodeGraph>();
  std::array<Analysis, 2> known_;  ///< the last first
  std::vector<Index> order_;       ///< of elimination, found in this step; empty: none
  double ordered_flops_ = 0;       ///< of the matrix that it was found for
  Elimination elimination_;
  MultifrontalCholesky factor_;
  bool has_fronts_ = false;  ///< those of factor_ are of this analysis
  bool inherited_ = false;   ///< order_ was found for an earlier matrix of the same step
  bool outdated_ = false;    ///< and that step is over: what a step does must not depend on earlier ones
  double flops_ = 0, nonzeros_ = 0;  ///< of one factorisation with the present analysis
  /// Before a better order was looked for: what the choice of a method follows from, which must not depend on
  /// whether an earlier step had looked for one.
  double first_flops_ = 0;
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
