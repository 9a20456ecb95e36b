#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/solver/conjugate_gradient.hpp>
#include <apart/solver/dense_cholesky.hpp>
#include <apart/solver/linear_solver.hpp>

#include <cholmod.h>
#include <dlfcn.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace apart {

namespace {

/// Threads of BLAS and OpenMP inside a factorisation change the order of sums, and with it the bits, and on
/// supernodes of this size cost more than they bring: keep both at one. CHOLMOD asks OpenMP for a fixed
/// number of threads, so only a limit on the nesting of parallel regions stops it; that limit belongs to the
/// calling thread.
void use_one_thread() {
  using Setter = void (*)(int);
  static const auto set_blas_threads =
      reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  static const auto set_openmp_levels =
      reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "omp_set_max_active_levels"));
  if (set_blas_threads) set_blas_threads(1);
  if (set_openmp_levels) set_openmp_levels(0);
}

}  // namespace

void stop_blas_threads() {
  if (const auto stop = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "blas_thread_shutdown_"))) stop();
}

namespace {

/// METIS catches SIGTERM while it works, and restores the previous handler with other flags. Restores it with
/// its own.
class KeepSignals {
 public:
  KeepSignals() { ::sigaction(SIGTERM, nullptr, &before_); }
  ~KeepSignals() { ::sigaction(SIGTERM, &before_, nullptr); }
  KeepSignals(const KeepSignals&) = delete;
  KeepSignals& operator=(const KeepSignals&) = delete;

 private:
  struct sigaction before_ {};
};

class CholmodSolver final : public LinearSolver {
 public:
  explicit CholmodSolver(std::string_view ordering) : ordering_(ordering) {
    cholmod_start(&common_);
    common_.supernodal = CHOLMOD_SUPERNODAL;
    common_.print = 0;
    common_.error_handler = nullptr;
  }
  ~CholmodSolver() override {
    cholmod_free_factor(&factor_, &common_);
    cholmod_finish(&common_);
  }
  CholmodSolver(const CholmodSolver&) = delete;
  CholmodSolver& operator=(const CholmodSolver&) = delete;

  void analyse(const BlockSparse& a) override {
    cholmod_free_factor(&factor_, &common_);
    ++statistics_.analyses;
    begin_step();
    if (is_small(a)) {
      const double n = 3 * a.block_count();
      flops_ = n * (n + 1) * (2 * n + 1) / 6;
      nonzeros_ = n * (n + 1) / 2;
      return;
    }
    use_one_thread();
    build_scalar_pattern(a);
    const std::vector<int> nodes = order_nodes(a);
    std::vector<int> scalars;
    scalars.reserve(3 * nodes.size());
    for (const int node : nodes)
      for (int c = 0; c < 3; ++c) scalars.push_back(3 * node + c);
    common_.nmethods = 1;
    common_.method[0].ordering = CHOLMOD_GIVEN;
    common_.postorder = true;
    cholmod_sparse m = view(a);
    factor_ = cholmod_analyze_p(&m, scalars.data(), nullptr, 0, &common_);
    check("analysis");
    flops_ = common_.fl;
    nonzeros_ = common_.lnz;
  }

  void begin_step() override {
    failures_ = 0;
    pause_ = 0;
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
    ensure(factor_ != nullptr, "CholmodSolver: solve before analyse");
    use_one_thread();
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
    if (!factorise(a)) return {Status::indefinite};
    VectorX x = solve_with_factor(b);
    return x.allFinite() ? LinearSolution{Status::solved, std::move(x)} : LinearSolution{Status::indefinite};
  }

  double predicted_flops() const override { return flops_; }
  LinearSolverStatistics statistics() const override { return statistics_; }

 private:
  static constexpr double costly_flops = 1e11;  ///< some seconds
  static constexpr Index small_blocks = 24;     ///< docs/performance.md has the measurement
  static constexpr const char* remedy = "use a coarser mesh, or a smaller contact.dhat for fewer contacts";

  static bool is_small(const BlockSparse& a) { return a.block_count() <= small_blocks; }

  void count_factorisation(const BlockSparse& a) {
    ++statistics_.factorisations;
    statistics_.flops += flops_;
    statistics_.nonzeros += nonzeros_;
    statistics_.blocks += double(a.block_rows().size());
  }

  VectorX solve_with_factor(const VectorX& b) {
    cholmod_dense rhs{};
    rhs.nrow = rhs.nzmax = rhs.d = std::size_t(b.size());
    rhs.ncol = 1;
    rhs.x = const_cast<double*>(b.data());
    rhs.xtype = CHOLMOD_REAL;
    rhs.dtype = CHOLMOD_DOUBLE;
    cholmod_dense* x = cholmod_solve(CHOLMOD_A, factor_, &rhs, &common_);
    check("solve");
    VectorX result = Eigen::Map<const VectorX>(static_cast<const double*>(x->x), b.size());
    cholmod_free_dense(&x, &common_);
    return result;
  }

  /// False if the matrix is not positive definite to working precision.
  bool factorise(const BlockSparse& a) {
    cholmod_sparse m = view(a);
    count_factorisation(a);
    // The factor itself, and what CHOLMOD needs to work on it.
    const double entries = factor_->is_super ? double(factor_->xsize) : nonzeros_;
    if (factor_->x == nullptr)
      ensure_memory(8 * (1.1 * entries + double(factor_->maxcsize) + double(m.nrow)),
                    "the factor of the linear system", remedy);
    cholmod_factorize(&m, factor_, &common_);
    if (common_.status == CHOLMOD_NOT_POSDEF) return false;
    check("factorisation");
    return true;
  }

  void check(const char* what) {
    if (common_.status == CHOLMOD_OUT_OF_MEMORY || common_.status == CHOLMOD_TOO_LARGE)
      throw MemoryError(
          fmt::format("linear solver: the {} needs more memory than is available; {}", what, remedy));
    if (common_.status < CHOLMOD_OK)
      throw InvariantError("CHOLMOD failed in the " + std::string(what) + ", status " +
                           std::to_string(common_.status));
    common_.status = CHOLMOD_OK;
  }

  /// Scalar row indices and column starts; the values are those of the block matrix, shared.
  void build_scalar_pattern(const BlockSparse& a) {
    const auto start = a.column_start();
    const auto rows = a.block_rows();
    if (9 * rows.size() > std::size_t(std::numeric_limits<int>::max()))
      throw MemoryError(
          fmt::format("linear solver: {:.2g} pairs of nodes interact, more than it can hold; {}",
                      double(rows.size()), remedy));
    column_.assign(1, 0);
    row_.clear();
    row_.reserve(9 * rows.size());
    for (Index j = 0; j < a.block_count(); ++j)
      for (int c = 0; c < 3; ++c) {
        for (Index k = start[j]; k < start[j + 1]; ++k)
          for (int r = 0; r < 3; ++r) row_.push_back(3 * rows[k] + r);
        column_.push_back(int(row_.size()));
      }
  }

  cholmod_sparse view(const BlockSparse& a) {
    cholmod_sparse m{};
    m.nrow = m.ncol = std::size_t(3) * a.block_count();
    m.nzmax = row_.size();
    m.p = column_.data();
    m.i = row_.data();
    m.x = const_cast<double*>(a.values().data());
    m.stype = -1;  // lower triangle; what diagonal blocks hold above the diagonal is ignored
    m.itype = CHOLMOD_INT;
    m.xtype = CHOLMOD_REAL;
    m.dtype = CHOLMOD_DOUBLE;
    m.sorted = m.packed = 1;
    return m;
  }

  /// Orders the graph of nodes, a third of the size of the matrix's.
  std::vector<int> order_nodes(const BlockSparse& a) {
    std::vector<int> start(a.column_start().begin(), a.column_start().end());
    std::vector<int> rows(a.block_rows().begin(), a.block_rows().end());
    cholmod_sparse graph{};
    graph.nrow = graph.ncol = std::size_t(a.block_count());
    graph.nzmax = rows.size();
    graph.p = start.data();
    graph.i = rows.data();
    graph.stype = -1;
    graph.itype = CHOLMOD_INT;
    graph.xtype = CHOLMOD_PATTERN;
    graph.dtype = CHOLMOD_DOUBLE;
    graph.sorted = graph.packed = 1;
    std::vector<int> order(a.block_count());
    // Nested dissection pays on larger graphs only (docs/performance.md has the measurement).
    const bool dissect = ordering_ == "metis" || (ordering_ == "auto" && a.block_count() > 3000);
    if (dissect) {
      {
        const KeepSignals signals;
        cholmod_metis(&graph, nullptr, 0, true, order.data(), &common_);
      }
      if (common_.status != CHOLMOD_INVALID) {
        check("ordering");
        return order;
      }
      // The graph is valid: this is how METIS reports a SIGTERM that it has caught. It is passed on to its
      // proper handler; if that one returns, the other ordering is used.
      common_.status = CHOLMOD_OK;
      std::raise(SIGTERM);
    }
    cholmod_amd(&graph, nullptr, 0, order.data(), &common_);
    check("ordering");
    return order;
  }

  std::string ordering_;
  cholmod_common common_{};
  cholmod_factor* factor_ = nullptr;
  std::vector<int> column_, row_;
  double flops_ = 0, nonzeros_ = 0;  // of one factorisation with the present analysis
  DenseCholesky dense_;
  ConjugateGradient gradients_;
  int failures_ = 0;  ///< of gradients_ in a row
  int pause_ = 0;     ///< matrices to be factorised until gradients_ are tried again
  LinearSolverStatistics statistics_;
};

}  // namespace

std::unique_ptr<LinearSolver> make_cholmod_solver(std::string_view ordering) {
  return std::make_unique<CholmodSolver>(ordering);
}

}  // namespace apart
