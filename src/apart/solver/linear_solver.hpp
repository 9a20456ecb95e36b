#pragma once
#include <apart/math/block_sparse.hpp>
#include <apart/solver/near_null_space.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace apart {

/// Totals over the factorisations of a solver so far; zero where not known.
struct LinearSolverStatistics {
  Index analyses = 0, factorisations = 0;
  double flops = 0;     ///< Σ over factorisations of Σ c², c the entries of each column of the factor
  double nonzeros = 0;  ///< Σ over factorisations of the entries of the factor
  double blocks = 0;    ///< Σ over factorisations of the 3×3 blocks of the matrix
};

/// Accuracy and effort of a solution.
struct LinearSolveOptions {
  /// Of iterative solvers: the norm of the residual relative to that of b.
  double tolerance = 1e-9;
  /// The caller can do without a solution: give up instead of an expensive factorisation after cheaper ways
  /// have failed.
  bool optional = false;
  /// The near-null space of the matrix, with positions of its blocks, for iterative solvers: called if it is
  /// used. Empty: not known.
  std::function<NearNullSpace()> near_null_space = {};
  /// Called now and then, by any thread; may throw to abandon the solution. May be empty.
  std::function<void()> check = {};
};

struct LinearSolution {
  enum class Status {
    solved,
    indefinite,  ///< the matrix is not positive definite to working precision
    given_up     ///< an optional solution would have cost too much
  };
  Status status = Status::solved;
  VectorX x = {};  ///< empty if not solved
  bool is_solved() const { return status == Status::solved; }
};

/// Solves A x = b for symmetric positive definite block matrices. Solvers of a team of processes are given a
/// summand of A by each, with a pattern of its own, and the whole of b, and give the whole of x to each.
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  /// Chooses an ordering for the pattern of `a`; solves with matrices of this pattern reuse it.
  virtual void analyse(const BlockSparse& a) = 0;
  virtual LinearSolution solve(const BlockSparse& a, const VectorX& b,
                               const LinearSolveOptions& options = {}) = 0;
  /// Forgets what earlier matrices have shown about which method is cheap: a time step must do the same
  /// whatever came before it.
  virtual void begin_step() {}
  /// What the last analysis predicts for one factorisation; 0 where not known.
  virtual double predicted_flops() const { return 0; }
  /// For comparing the work with what the machine could do.
  virtual LinearSolverStatistics statistics() const { return {}; }
};

/// One row of the list of linear solvers.
struct LinearSolverMethod {
  std::string_view name;     ///< as in the scene file
  std::string_view summary;  ///< one line of documentation
  bool is_exact;             ///< solutions are as good as rounding allows, whatever the tolerance
  bool has_same_bits;        ///< solutions have the same bits for any number of threads
  std::unique_ptr<LinearSolver> (*make)(std::string_view ordering);
};
std::span<const LinearSolverMethod> linear_solver_methods();  ///< the first is the default
std::span<const std::string_view> ordering_names();           ///< "auto", "amd", "metis"
/// Throws InputError for an unknown name.
std::unique_ptr<LinearSolver> make_linear_solver(std::string_view name, std::string_view ordering = "auto");

// One maker per backend file.
std::unique_ptr<LinearSolver> make_cholesky_solver(std::string_view ordering);
std::unique_ptr<LinearSolver> make_eigen_solver(std::string_view ordering);

}  // namespace apart
