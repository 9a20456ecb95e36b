#include <apart/core/error.hpp>
#include <apart/solver/linear_solver.hpp>

#include <Eigen/SparseCholesky>

namespace apart {

namespace {

class EigenSolver final : public LinearSolver {
 public:
  void analyse(const BlockSparse& a) override { llt_.analyzePattern(convert(a)); }
  LinearSolution solve(const BlockSparse& a, const VectorX& b, const LinearSolveOptions&) override {
    llt_.factorize(convert(a));
    if (llt_.info() != Eigen::Success) return {LinearSolution::Status::indefinite};
    return {LinearSolution::Status::solved, llt_.solve(b)};
  }

 private:
  static Eigen::SparseMatrix<double> convert(const BlockSparse& a) {
    std::vector<Eigen::Triplet<double>> entries;
    for (Index j = 0; j < a.block_count(); ++j)
      for (Index k = a.column_start()[j]; k < a.column_start()[j + 1]; ++k) {
        const Matrix3 block = a.block(k);
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r) {
            const Index row = 3 * a.block_rows()[k] + r, column = 3 * j + c;
            if (row >= column) entries.emplace_back(row, column, block(r, c));
          }
      }
    Eigen::SparseMatrix<double> m(3 * a.block_count(), 3 * a.block_count());
    m.setFromTriplets(entries.begin(), entries.end());
    return m;
  }
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>, Eigen::Lower> llt_;
};

}  // namespace

std::unique_ptr<LinearSolver> make_eigen_solver(std::string_view) {
  return std::make_unique<EigenSolver>();
}

}  // namespace apart
