#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/solver/conjugate_gradient.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

namespace apart {

namespace {

constexpr double curvature_rounding = 1e-12;  // relative error of pᵀ A p
constexpr Index rows_per_chunk = 2048;        // of rows; fixed, so that sums do not depend on the threads

}  // namespace

void ConjugateGradient::set_matrix(const BlockSparse& a) {
  coarse_.reset();
  const Index n = a.block_count();
  const auto start = a.column_start();
  const auto rows = a.block_rows();
  const auto values = a.values();
  row_start_.assign(std::size_t(n) + 1, 0);
  for (Index j = 0; j < n; ++j)
    for (Index k = start[j]; k < start[j + 1]; ++k) {
      ++row_start_[std::size_t(rows[k]) + 1];
      if (rows[k] != j) ++row_start_[std::size_t(j) + 1];
    }
  for (std::size_t i = 1; i < row_start_.size(); ++i) row_start_[i] += row_start_[i - 1];
  column_.resize(std::size_t(row_start_.back()));
  block_.resize(column_.size());
  diagonal_.resize(std::size_t(n));
  std::vector<Index> next(row_start_.begin(), row_start_.end() - 1);
  for (Index j = 0; j < n; ++j) {
    const Index length = start[j + 1] - start[j];
    for (Index k = start[j]; k < start[j + 1]; ++k) {
      Matrix3 block;
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
          block(r, c) = values[std::size_t(9 * std::int64_t(start[j]) +
                                           3 * (std::int64_t(c) * length + (k - start[j])) + r)];
      const Index i = rows[k];
      if (i == j) block = block.selfadjointView<Eigen::Lower>();  // what a direct solver reads
      const auto put = [&](Index row, Index column, const Matrix3& b) {
        const auto at = std::size_t(next[std::size_t(row)]++);
        column_[at] = column;
        block_[at] = b;
      };
      if (i == j) diagonal_[std::size_t(i)] = next[std::size_t(i)];
      put(i, j, block);  // in the order of columns: those before the diagonal came with their own
      if (i != j) put(j, i, block.transpose());
    }
  }
  factorise_incompletely();
}

void ConjugateGradient::set_coarse_space(const NearNullSpace& space) {
  ensure(space.positions.cols() == Index(diagonal_.size()), "ConjugateGradient: a position for each block");
  auto coarse = std::make_unique<const CoarseSpace>(space, CoarseSpace::Rows{row_start_, column_, block_});
  coarse_ = coarse->exists() ? std::move(coarse) : nullptr;
}

void ConjugateGradient::factorise_incompletely() {
  const Index n = Index(diagonal_.size());
  lower_.resize(block_.size());
  inverse_.resize(std::size_t(n));
  std::vector<Matrix3> scaled(block_.size());  // L D
  positive_ = true;
  for (Index i = 0; i < n; ++i) {
    const Index begin = row_start_[std::size_t(i)], end = diagonal_[std::size_t(i)];
    const Matrix3& own = block_[std::size_t(end)];
    Matrix3 d = own;
    for (Index k = begin; k < end; ++k) {
      const Index j = column_[std::size_t(k)];
      Matrix3 sum = block_[std::size_t(k)];
      // The columns that rows i and j share, before j.
      Index p = begin, q = row_start_[std::size_t(j)];
      while (p < k && q < diagonal_[std::size_t(j)]) {
        const Index a = column_[std::size_t(p)], b = column_[std::size_t(q)];
        if (a == b) sum -= scaled[std::size_t(p)] * lower_[std::size_t(q)].transpose();
        p += a <= b;
        q += b <= a;
      }
      scaled[std::size_t(k)] = sum;
      lower_[std::size_t(k)] = sum * inverse_[std::size_t(j)];
      d -= sum * lower_[std::size_t(k)].transpose();
    }
    d = (0.5 * (d + d.transpose())).eval();
    // Dropped entries may make a pivot indefinite; the block itself is definite if the matrix is, and will
    // do.
    const auto good = [&](const Matrix3& m) {
      const Eigen::LLT<Matrix3> factor(m);
      return factor.info() == Eigen::Success &&
             factor.matrixLLT().diagonal().minCoeff() > 1e-7 * std::sqrt(own.diagonal().maxCoeff());
    };
    const bool usable = good(d);
    positive_ = positive_ && (usable || good(own));
    inverse_[std::size_t(i)] = (usable ? d : own).inverse();
  }
}

void ConjugateGradient::precondition(const VectorX& r, VectorX& z) const {
  const Index n = Index(diagonal_.size());
  for (Index i = 0; i < n; ++i) {
    Vector3 y = r.segment<3>(3 * i);
    for (Index k = row_start_[std::size_t(i)]; k < diagonal_[std::size_t(i)]; ++k)
      y -= lower_[std::size_t(k)] * z.segment<3>(3 * column_[std::size_t(k)]);
    z.segment<3>(3 * i) = y;
  }
  for (Index i = 0; i < n; ++i) z.segment<3>(3 * i) = (inverse_[std::size_t(i)] * z.segment<3>(3 * i)).eval();
  for (Index i = n - 1; i >= 0; --i) {
    const Vector3 y = z.segment<3>(3 * i);
    for (Index k = row_start_[std::size_t(i)]; k < diagonal_[std::size_t(i)]; ++k)
      z.segment<3>(3 * column_[std::size_t(k)]) -= lower_[std::size_t(k)].transpose() * y;
  }
  if (coarse_) coarse_->add_correction(r, z);
}

double ConjugateGradient::dot(const VectorX& x, const VectorX& y) const {
  const Index n = Index(inverse_.size());
  std::vector<double> parts(std::size_t((n + rows_per_chunk - 1) / rows_per_chunk), 0);
  parallel_chunks(n, rows_per_chunk, [&](Index begin, Index end) {
    parts[std::size_t(begin / rows_per_chunk)] =
        x.segment(3 * begin, 3 * (end - begin)).dot(y.segment(3 * begin, 3 * (end - begin)));
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

std::optional<VectorX> ConjugateGradient::solve(const VectorX& b, const Options& options) const {
  const Index n = Index(inverse_.size());
  iterations_ = 0;
  indefinite_ = false;
  VectorX x = VectorX::Zero(b.size()), r = b, z(b.size()), p(b.size()), q(b.size());
  const double goal = options.tolerance * std::sqrt(dot(b, b));
  if (!positive_ || !std::isfinite(goal)) return std::nullopt;
  if (goal == 0) return x;
  precondition(r, z);
  p = z;
  double rz = dot(r, z);
  while (iterations_ < options.max_iterations) {
    ++iterations_;
    parallel_chunks(n, rows_per_chunk, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Vector3 sum = Vector3::Zero();
        for (Index k = row_start_[std::size_t(i)]; k < row_start_[std::size_t(i) + 1]; ++k)
          sum += block_[std::size_t(k)] * p.segment<3>(3 * column_[std::size_t(k)]);
        q.segment<3>(3 * i) = sum;
      }
    });
    const double curvature = dot(p, q);
    if (!(curvature > 0) || !(rz > 0)) {
      indefinite_ = curvature < -curvature_rounding * std::sqrt(dot(p, p) * dot(q, q));
      return std::nullopt;
    }
    const double alpha = rz / curvature;
    parallel_chunks(n, rows_per_chunk, [&](Index begin, Index end) {
      const Index first = 3 * begin, size = 3 * (end - begin);
      x.segment(first, size) += alpha * p.segment(first, size);
      r.segment(first, size) -= alpha * q.segment(first, size);
    });
    if (std::sqrt(dot(r, r)) <= goal) return x;
    precondition(r, z);
    const double next = dot(r, z), beta = next / rz;
    rz = next;
    parallel_chunks(n, rows_per_chunk, [&](Index begin, Index end) {
      const Index first = 3 * begin, size = 3 * (end - begin);
      p.segment(first, size) = z.segment(first, size) + beta * p.segment(first, size);
    });
  }
  return std::nullopt;
}

}  // namespace apart
