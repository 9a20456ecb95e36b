#include <apart/cluster/petsc_solver.hpp>

#include <apart/core/error.hpp>
#include <apart/solver/gathered_solver.hpp>
#include <apart/solver/row_exchange.hpp>

#include <petscksp.h>

#include <array>
#include <optional>
#include <utility>

namespace apart {

namespace {

/// Throws if a call of PETSc failed, which it has then explained on the screen.
void check(PetscErrorCode code) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  if (code == PETSC_ERR_MEM)
    throw SolverError("PETSc: not enough memory for the linear system; use more machines or a coarser mesh");
  throw SolverError(fmt::format(
      "PETSc: {}; its options are those of PETSC_OPTIONS, and --linear-solver gathered needs none",
      text ? text : "an error without a name"));
}

/// An object of PETSc, destroyed with this.
template <class Object, PetscErrorCode (*destroy)(Object*)>
class Handle {
 public:
  Handle() = default;
  ~Handle() { reset(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  void reset() {
    if (object_) destroy(&object_);
    object_ = nullptr;
  }
  /// For the call that makes it.
  Object* make() {
    reset();
    return &object_;
  }
  operator Object() const { return object_; }  // NOLINT: used as the object

 private:
  Object object_ = nullptr;
};
using MatHandle = Handle<Mat, MatDestroy>;
using VecHandle = Handle<Vec, VecDestroy>;
using KspHandle = Handle<KSP, KSPDestroy>;
using NullSpaceHandle = Handle<MatNullSpace, MatNullSpaceDestroy>;

enum class Way { mumps, boomeramg, gamg };

/// A linear system by PETSc, its rows divided among the processes.
class PetscSolver final : public LinearSolver {
 public:
  PetscSolver(const Team& team, Way way) : team_(team), way_(way) {}

  void analyse(const BlockSparse& summand) override {
    ++statistics_.analyses;
    exchange_.emplace(team_, summand, RowExchange::owners(team_, summand),
                      way_ == Way::mumps ? Triangles::upper : Triangles::both);
    make_matrix();
    make_solver();
  }

  LinearSolution solve(const BlockSparse& summand, const VectorX& b,
                       const LinearSolveOptions& options) override {
    ensure(exchange_.has_value(), "PetscSolver: solve before analyse");
    fill(exchange_->collect(summand));
    statistics_.blocks += double(exchange_->columns().size());
    if (way_ != Way::mumps) set_near_null_space(options);
    for (Index i = 0; i < exchange_->row_count(); ++i) {
      const Index block = old_[std::size_t(exchange_->first_row() + i)];
      right_.segment<3>(3 * i) = b.segment<3>(3 * block);
    }
    check(KSPSetTolerances(ksp_, options.tolerance, PETSC_DEFAULT, PETSC_DEFAULT, most_iterations));
    check(KSPSetOperators(ksp_, matrix_, matrix_));
    ++statistics_.factorisations;
    VecHandle right, left;
    const PetscInt rows = 3 * exchange_->row_count();
    check(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, rows, PETSC_DECIDE, right_.data(), right.make()));
    check(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, rows, PETSC_DECIDE, left_.data(), left.make()));
    check(KSPSolve(ksp_, right, left));
    return solution(b.size());
  }

  LinearSolverStatistics statistics() const override { return statistics_; }

 private:
  static constexpr int most_iterations = 1000;

  void make_matrix() {
    const auto& [start, columns] = std::pair<const std::vector<Index>&, const std::vector<Index>&>(
        exchange_->start(), exchange_->columns());
    const Index rows = exchange_->row_count(), first = exchange_->first_row();
    old_.resize(exchange_->number().size());
    for (std::size_t b = 0; b < old_.size(); ++b) old_[std::size_t(exchange_->number()[b])] = Index(b);
    std::vector<PetscInt> own(std::size_t(rows), 0), others(std::size_t(rows), 0);
    for (Index i = 0; i < rows; ++i)
      for (Index k = start[std::size_t(i)]; k < start[std::size_t(i) + 1]; ++k) {
        const Index column = columns[std::size_t(k)];
        ++(column >= first && column < first + rows ? own : others)[std::size_t(i)];
      }
    check(MatCreate(PETSC_COMM_WORLD, matrix_.make()));
    check(MatSetSizes(matrix_, 3 * rows, 3 * rows, PETSC_DETERMINE, PETSC_DETERMINE));
    // Multigrid wants rows of numbers, whole; a symmetric factor the blocks of one triangle.
    check(MatSetType(matrix_, way_ == Way::mumps ? MATSBAIJ : MATAIJ));
    check(MatSetBlockSize(matrix_, 3));
    check(MatXAIJSetPreallocation(matrix_, 3, own.data(), others.data(), own.data(), others.data()));
    check(MatSetOption(matrix_, MAT_ROW_ORIENTED, PETSC_FALSE));
    check(MatSetOption(matrix_, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    check(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
    right_.resize(3 * rows);
    left_.resize(3 * rows);
  }

  void fill(const std::vector<double>& blocks) {
    const std::vector<Index>&start = exchange_->start(), &columns = exchange_->columns();
    for (Index i = 0; i < exchange_->row_count(); ++i) {
      const PetscInt row = exchange_->first_row() + i;
      for (Index k = start[std::size_t(i)]; k < start[std::size_t(i) + 1]; ++k) {
        const PetscInt column = columns[std::size_t(k)];
        check(MatSetValuesBlocked(matrix_, 1, &row, 1, &column, blocks.data() + 9 * std::size_t(k),
                                  INSERT_VALUES));
      }
    }
    check(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  }

  /// Of an option whose value the user has not given.
  static void set_option(const char* name, const char* value) {
    PetscBool given = PETSC_FALSE;
    check(PetscOptionsHasName(nullptr, nullptr, name, &given));
    if (!given) check(PetscOptionsSetValue(nullptr, name, value));
  }

  /// For elastic solids in three dimensions: with hypre's own choices, made for scalar equations in the
  /// plane, coarse matrices are so dense that a solution takes half as long again.
  static void set_multigrid_options() {
    set_option("-pc_hypre_boomeramg_coarsen_type", "HMIS");
    set_option("-pc_hypre_boomeramg_interp_type", "ext+i");
    set_option("-pc_hypre_boomeramg_P_max", "4");
    set_option("-pc_hypre_boomeramg_strong_threshold", "0.7");
  }

  void make_solver() {
    check(KSPCreate(PETSC_COMM_WORLD, ksp_.make()));
    PC pc;
    check(KSPGetPC(ksp_, &pc));
    if (way_ == Way::mumps) {
      check(KSPSetType(ksp_, KSPPREONLY));
      check(PCSetType(pc, PCCHOLESKY));
      check(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
    } else {
      check(KSPSetType(ksp_, KSPCG));
      check(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
      check(PCSetType(pc, way_ == Way::gamg ? PCGAMG : PCHYPRE));
      if (way_ == Way::boomeramg) {
        set_multigrid_options();
        check(PCHYPRESetType(pc, "boomeramg"));
      }
    }
    check(KSPSetFromOptions(ksp_));
  }

  void set_near_null_space(const LinearSolveOptions& options) {
    if (!options.near_null_space) return;
    const NearNullSpace space = options.near_null_space();
    std::array<VecHandle, 6> vectors;
    std::array<Vec, 6> modes = {};
    for (int m = 0; m < 6; ++m) {
      check(MatCreateVecs(matrix_, vectors[std::size_t(m)].make(), nullptr));
      modes[std::size_t(m)] = vectors[std::size_t(m)];
      double* values;
      check(VecGetArray(modes[std::size_t(m)], &values));
      for (Index i = 0; i < exchange_->row_count(); ++i)
        for (int axis = 0; axis < 3; ++axis)
          values[3 * i + axis] = space.modes(3 * old_[std::size_t(exchange_->first_row() + i)] + axis, m);
      check(VecRestoreArray(modes[std::size_t(m)], &values));
    }
    NullSpaceHandle null_space;
    check(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 6, modes.data(), null_space.make()));
    check(MatSetNearNullSpace(matrix_, null_space));
  }

  /// What PETSc has found, for all processes.
  LinearSolution solution(Index size) {
    KSPConvergedReason reason;
    check(KSPGetConvergedReason(ksp_, &reason));
    using Status = LinearSolution::Status;
    bool indefinite = reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_PC_FAILED;
    if (way_ == Way::mumps && reason > 0) indefinite = has_negative_pivots();
    if (indefinite || !left_.allFinite()) reason = KSP_DIVERGED_INDEFINITE_MAT;
    // All processes have asked the same of PETSc, but what a process has of the solution only that one knows.
    const bool bad = team_.any(reason == KSP_DIVERGED_INDEFINITE_MAT);
    if (bad) return {Status::indefinite};
    if (reason < 0) return {Status::given_up};
    const std::vector<double> all =
        team_.joined(std::span<const double>(left_.data(), std::size_t(left_.size())));
    LinearSolution result{Status::solved, VectorX(size)};
    for (std::size_t i = 0; i < old_.size(); ++i)
      result.x.segment<3>(3 * old_[i]) = Eigen::Map<const Vector3>(all.data() + 3 * i);
    return result;
  }

  bool has_negative_pivots() {
    PC pc;
    Mat factor;
    MatSolverType solver;
    check(KSPGetPC(ksp_, &pc));
    check(PCFactorGetMatSolverType(pc, &solver));
    if (!solver || std::string_view(solver) != MATSOLVERMUMPS) return false;
    check(PCFactorGetMatrix(pc, &factor));
    PetscInt negative = 0;
    check(MatMumpsGetInfog(factor, 12, &negative));
    return negative > 0;
  }

  const Team& team_;
  Way way_;
  std::optional<RowExchange> exchange_;
  std::vector<Index> old_;  ///< number of each block row, before it was numbered anew
  MatHandle matrix_;
  KspHandle ksp_;
  VectorX right_, left_;  ///< own rows of b and x
  LinearSolverStatistics statistics_;
};

/// Small systems are gathered. Larger ones are solved by conjugate gradients with multigrid, and where these
/// fail by a factorisation.
class ChoosingSolver final : public LinearSolver {
 public:
  ChoosingSolver(const Team& team, std::unique_ptr<LinearSolver> alone, Index gathered_nodes)
      : gathered_nodes_(gathered_nodes),
        gathered_(make_gathered_solver(team, std::move(alone))),
        multigrid_(team, Way::boomeramg),
        factor_(team, Way::mumps) {}

  void analyse(const BlockSparse& summand) override {
    small_ = summand.block_count() <= gathered_nodes_;
    if (small_) gathered_->analyse(summand);
    grid_analysed_ = factor_analysed_ = false;
  }
  LinearSolution solve(const BlockSparse& summand, const VectorX& b,
                       const LinearSolveOptions& options) override {
    if (small_) return gathered_->solve(summand, b, options);
    if (pause_ == 0) {
      if (!std::exchange(grid_analysed_, true)) multigrid_.analyse(summand);
      LinearSolution solution = multigrid_.solve(summand, b, options);
      if (solution.is_solved()) failures_ = 0;
      if (solution.is_solved() || options.optional) return solution;
      pause_ = (1 << std::min(++failures_, 10)) - 1;
    } else {
      --pause_;
    }
    if (!std::exchange(factor_analysed_, true)) factor_.analyse(summand);
    return factor_.solve(summand, b, options);
  }
  void begin_step() override {
    gathered_->begin_step();
    failures_ = pause_ = 0;
  }
  double predicted_flops() const override { return small_ ? gathered_->predicted_flops() : 0; }
  LinearSolverStatistics statistics() const override { return gathered_->statistics(); }

 private:
  Index gathered_nodes_;
  std::unique_ptr<LinearSolver> gathered_;
  PetscSolver multigrid_, factor_;
  bool small_ = true, grid_analysed_ = false, factor_analysed_ = false;
  int failures_ = 0;  ///< of multigrid in a row
  int pause_ = 0;     ///< systems to be factorised until it is tried again
};

}  // namespace

std::span<const TeamSolverMethod> team_solver_methods() {
  static constexpr std::array methods = {
      TeamSolverMethod{"auto", "gathered if it is small, else boomeramg, and mumps where that fails"},
      TeamSolverMethod{"gathered", "one process solves the whole system as apart does"},
      TeamSolverMethod{"boomeramg", "conjugate gradients with the algebraic multigrid of hypre"},
      TeamSolverMethod{"gamg", "conjugate gradients with that of PETSc; not the same bits each time"},
      TeamSolverMethod{"mumps", "distributed factorisation; not the same bits each time"},
  };
  return methods;
}

std::unique_ptr<LinearSolver> make_team_solver(std::string_view name, const Team& team,
                                               std::unique_ptr<LinearSolver> alone, Index gathered_nodes) {
  if (name == "auto") return std::make_unique<ChoosingSolver>(team, std::move(alone), gathered_nodes);
  if (name == "gathered") return make_gathered_solver(team, std::move(alone));
  if (name == "boomeramg") return std::make_unique<PetscSolver>(team, Way::boomeramg);
  if (name == "gamg") return std::make_unique<PetscSolver>(team, Way::gamg);
  if (name == "mumps") return std::make_unique<PetscSolver>(team, Way::mumps);
  throw InputError("--linear-solver: got '{}', must be auto, gathered, boomeramg, gamg or mumps", name);
}

PetscSession::PetscSession() {
  check(PetscInitializeNoArguments());
  check(PetscPopSignalHandler());  // signals are the program's
}

PetscSession::~PetscSession() {
  PetscFinalize();
}

}  // namespace apart
