#include <apart/cluster/petsc_solver.hpp>

#include <apart/cluster/petsc_handles.hpp>
#include <apart/solver/gathered_solver.hpp>
#include <apart/solver/row_exchange.hpp>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace apart {

namespace {

enum class Way { mumps, boomeramg, gamg, schwarz };

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
    if (way_ == Way::boomeramg || way_ == Way::gamg) set_near_null_space(options);
    for (Index i = 0; i < exchange_->row_count(); ++i) {
      const Index block = old_[std::size_t(exchange_->first_row() + i)];
      right_.segment<3>(3 * i) = b.segment<3>(3 * block);
    }
    ++statistics_.factorisations;
    VecHandle right, left;
    const PetscInt rows = 3 * exchange_->row_count();
    petsc(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, rows, PETSC_DECIDE, right_.data(), right.make()));
    petsc(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, rows, PETSC_DECIDE, left_.data(), left.make()));
    const auto solve = [&] {
      petsc(KSPSetTolerances(ksp_, options.tolerance, PETSC_DEFAULT, PETSC_DEFAULT, most_iterations));
      petsc(KSPSetOperators(ksp_, matrix_, matrix_));
      petsc(KSPSolve(ksp_, right, left));
    };
    solve();
    while (way_ == Way::mumps && needs_more_room() && room_ < most_room) {
      room_ *= 2;
      make_solver();
      solve();
    }
    if (way_ == Way::mumps) expect_factor();
    return solution(b.size());
  }

  LinearSolverStatistics statistics() const override { return statistics_; }

 private:
  static constexpr int most_iterations = 1000;
  static constexpr int first_room = 25, most_room = 1600;  ///< see room_

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
    petsc(MatCreate(PETSC_COMM_WORLD, matrix_.make()));
    petsc(MatSetSizes(matrix_, 3 * rows, 3 * rows, PETSC_DETERMINE, PETSC_DETERMINE));
    // A symmetric factor wants the blocks of one triangle; the multigrid of PETSc and the factors of parts
    // work with rows of numbers only.
    petsc(MatSetType(matrix_, way_ == Way::mumps ? MATSBAIJ : way_ == Way::boomeramg ? MATBAIJ : MATAIJ));
    petsc(MatSetBlockSize(matrix_, 3));
    petsc(MatSetFromOptions(matrix_));
    petsc(MatXAIJSetPreallocation(matrix_, 3, own.data(), others.data(), own.data(), others.data()));
    petsc(MatSetOption(matrix_, MAT_ROW_ORIENTED, PETSC_FALSE));
    petsc(MatSetOption(matrix_, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    petsc(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
    right_.resize(3 * rows);
    left_.resize(3 * rows);
  }

  void fill(const std::vector<double>& blocks) {
    const std::vector<Index>&start = exchange_->start(), &columns = exchange_->columns();
    for (Index i = 0; i < exchange_->row_count(); ++i) {
      const PetscInt row = exchange_->first_row() + i;
      for (Index k = start[std::size_t(i)]; k < start[std::size_t(i) + 1]; ++k) {
        const PetscInt column = columns[std::size_t(k)];
        petsc(MatSetValuesBlocked(matrix_, 1, &row, 1, &column, blocks.data() + 9 * std::size_t(k),
                                  INSERT_VALUES));
      }
    }
    petsc(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
    petsc(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  }

  /// Of an option whose value the user has not given.
  static void set_option(const char* name, const char* value) {
    PetscBool given = PETSC_FALSE;
    petsc(PetscOptionsHasName(nullptr, nullptr, name, &given));
    if (!given) petsc(PetscOptionsSetValue(nullptr, name, value));
  }

  /// For elastic solids in three dimensions: with hypre's own choices, made for scalar equations in the
  /// plane, coarse matrices are so dense that a solution takes half as long again.
  static void set_multigrid_options() {
    set_option("-pc_hypre_boomeramg_coarsen_type", "HMIS");
    set_option("-pc_hypre_boomeramg_interp_type", "ext+i");
    set_option("-pc_hypre_boomeramg_P_max", "4");
    set_option("-pc_hypre_boomeramg_strong_threshold", "0.7");
  }

  /// The part of each process is factorised by it alone.
  static void set_schwarz_options() {
    set_option("-sub_ksp_type", "preonly");
    set_option("-sub_pc_type", "cholesky");
    set_option("-sub_pc_factor_mat_solver_type", "mumps");
  }

  void make_solver() {
    petsc(KSPCreate(PETSC_COMM_WORLD, ksp_.make()));
    PC pc;
    petsc(KSPGetPC(ksp_, &pc));
    if (way_ == Way::mumps) {
      // Which process does what MUMPS decides while it factorises, so that what one will need is a guess.
      // What is too little is tried again; what is too much is memory that all of them lack.
      const std::string room = std::to_string(room_);
      if (room_ == first_room)
        set_option("-mat_mumps_icntl_14", room.c_str());
      else
        petsc(PetscOptionsSetValue(nullptr, "-mat_mumps_icntl_14", room.c_str()));
      petsc(KSPSetType(ksp_, KSPPREONLY));
      petsc(PCSetType(pc, PCCHOLESKY));
      petsc(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
    } else {
      petsc(KSPSetType(ksp_, KSPCG));
      petsc(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
      petsc(PCSetType(pc, way_ == Way::gamg ? PCGAMG : way_ == Way::schwarz ? PCASM : PCHYPRE));
      if (way_ == Way::boomeramg) {
        set_multigrid_options();
        petsc(PCHYPRESetType(pc, "boomeramg"));
      }
      if (way_ == Way::schwarz) {
        petsc(PCASMSetType(pc, PC_ASM_BASIC));  // symmetric, as conjugate gradients need it
        petsc(PCASMSetOverlap(pc, 1));
        set_schwarz_options();
      }
    }
    petsc(KSPSetFromOptions(ksp_));
  }

  void set_near_null_space(const LinearSolveOptions& options) {
    if (!options.near_null_space) return;
    const NearNullSpace space = options.near_null_space();
    std::array<VecHandle, 6> vectors;
    std::array<Vec, 6> modes = {};
    for (int m = 0; m < 6; ++m) {
      petsc(MatCreateVecs(matrix_, vectors[std::size_t(m)].make(), nullptr));
      modes[std::size_t(m)] = vectors[std::size_t(m)];
      double* values;
      petsc(VecGetArray(modes[std::size_t(m)], &values));
      for (Index i = 0; i < exchange_->row_count(); ++i)
        for (int axis = 0; axis < 3; ++axis)
          values[3 * i + axis] = space.modes(3 * old_[std::size_t(exchange_->first_row() + i)] + axis, m);
      petsc(VecRestoreArray(modes[std::size_t(m)], &values));
    }
    NullSpaceHandle null_space;
    petsc(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 6, modes.data(), null_space.make()));
    petsc(MatSetNearNullSpace(matrix_, null_space));
  }

  /// What PETSc has found, for all processes.
  LinearSolution solution(Index size) {
    KSPConvergedReason reason;
    petsc(KSPGetConvergedReason(ksp_, &reason));
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

  bool has_negative_pivots() { return infog(12) > 0; }

  /// Whether the work space of a process did not suffice for the factor, or for a message.
  bool needs_more_room() {
    const PetscInt error = infog(1);
    return error == -8 || error == -9 || error == -17 || error == -20;
  }

  /// Throws if there is no factor, for another reason than that the matrix is singular.
  void expect_factor() {
    const PetscInt error = infog(1);
    if (error >= 0 || error == -6 || error == -10) return;
    const bool memory = needs_more_room() || error == -7 || error == -13 || error == -19;
    throw SolverError(
        fmt::format("{} (error {} of MUMPS): use more machines, a coarser mesh, or --linear-solver boomeramg",
                    memory ? "not enough memory for the factor of the linear system"
                           : "the linear system could not be factorised",
                    error));
  }

  /// What MUMPS says of its last factorisation, the same to all; 0 if the user has chosen another program.
  PetscInt infog(int number) {
    PC pc;
    Mat factor;
    MatSolverType solver;
    petsc(KSPGetPC(ksp_, &pc));
    petsc(PCFactorGetMatSolverType(pc, &solver));
    PetscInt value = 0;
    if (!solver || std::string_view(solver) != MATSOLVERMUMPS) return value;
    petsc(PCFactorGetMatrix(pc, &factor));
    petsc(MatMumpsGetInfog(factor, number, &value));
    return value;
  }

  const Team& team_;
  Way way_;
  std::optional<RowExchange> exchange_;
  std::vector<Index> old_;  ///< number of each block row, before it was numbered anew
  MatHandle matrix_;
  KspHandle ksp_;
  VectorX right_, left_;   ///< own rows of b and x
  int room_ = first_room;  ///< [%] that MUMPS may need more than it expects
  LinearSolverStatistics statistics_;
};

/// Small systems are gathered. Larger ones are solved by conjugate gradients with multigrid, and where these
/// fail with the factors of each process's part; where these fail, too, by a factorisation of the whole.
class ChoosingSolver final : public LinearSolver {
 public:
  ChoosingSolver(const Team& team, std::unique_ptr<LinearSolver> alone, Index gathered_nodes)
      : gathered_nodes_(gathered_nodes),
        gathered_(make_gathered_solver(team, std::move(alone))),
        multigrid_(team, Way::boomeramg),
        schwarz_(team, Way::schwarz),
        factor_(team, Way::mumps),
        team_(team) {}

  void analyse(const BlockSparse& summand) override {
    small_ = summand.block_count() <= gathered_nodes_;
    if (small_) gathered_->analyse(summand);
    grid_analysed_ = parts_analysed_ = factor_analysed_ = false;
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
    if (!parts_fail_) {
      if (!std::exchange(parts_analysed_, true)) schwarz_.analyse(summand);
      LinearSolution solution = schwarz_.solve(summand, b, options);
      if (solution.status != LinearSolution::Status::given_up) return solution;
      parts_fail_ = true;
    }
    if (!std::exchange(warned_, true) && team_.leads())
      fmt::print(
          stderr,
          "Linear systems of this scene are factorised as a whole now, by MUMPS: its results differ in "
          "the last places from run to run\n");
    if (!std::exchange(factor_analysed_, true)) factor_.analyse(summand);
    return factor_.solve(summand, b, options);
  }
  void begin_step() override {
    gathered_->begin_step();
    failures_ = pause_ = 0;
    parts_fail_ = false;
  }
  double predicted_flops() const override { return small_ ? gathered_->predicted_flops() : 0; }
  LinearSolverStatistics statistics() const override { return gathered_->statistics(); }

 private:
  Index gathered_nodes_;
  std::unique_ptr<LinearSolver> gathered_;
  PetscSolver multigrid_, schwarz_, factor_;
  const Team& team_;
  bool small_ = true, grid_analysed_ = false, parts_analysed_ = false, factor_analysed_ = false;
  bool parts_fail_ = false;  ///< in this step
  bool warned_ = false;
  int failures_ = 0;  ///< of multigrid in a row
  int pause_ = 0;     ///< systems to be factorised until it is tried again
};

}  // namespace

std::span<const TeamSolverMethod> team_solver_methods() {
  static constexpr std::array methods = {
      TeamSolverMethod{"auto",
                       "gathered if it is small, else boomeramg, schwarz where that fails, then mumps"},
      TeamSolverMethod{"gathered", "one process solves the whole system as apart does"},
      TeamSolverMethod{"boomeramg", "conjugate gradients with the algebraic multigrid of hypre"},
      TeamSolverMethod{"schwarz", "conjugate gradients with a factor of each process's part, overlapping"},
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
  if (name == "schwarz") return std::make_unique<PetscSolver>(team, Way::schwarz);
  if (name == "gamg") return std::make_unique<PetscSolver>(team, Way::gamg);
  if (name == "mumps") return std::make_unique<PetscSolver>(team, Way::mumps);
  throw InputError("--linear-solver: got '{}', must be auto, gathered, boomeramg, schwarz, gamg or mumps",
                   name);
}

PetscSession::PetscSession() {
  petsc(PetscInitializeNoArguments());
  petsc(PetscPopSignalHandler());  // signals are the program's
}

PetscSession::~PetscSession() {
  PetscFinalize();
}

}  // namespace apart
