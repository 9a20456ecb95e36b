#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/solver/compact_parts.hpp>
#include <apart/solver/conjugate_gradient.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <tuple>

namespace apart {

namespace {

constexpr double curvature_rounding = 1e-12;  // relative error of pᵀ A p
constexpr Index rows_per_chunk = 2048;        // of rows; fixed, so that sums do not depend on the threads
// Blocks of a part, at most, and how many parts there are of a larger matrix: the fewer, the smaller the
// border (docs/performance.md has the measurement).
constexpr Index part_size = 4096, most_parts = 32;

}  // namespace

void ConjugateGradient::set_matrix(const BlockSparse& a, const NearNullSpace* space) {
  matrix_ = &a;
  ensure(!space || Index(space->positions.cols()) == a.block_count(),
         "ConjugateGradient: a position for each block");
  set_places(space);
  find_columns();
  coarse_.reset();
  factorise(find_lower());
  if (!space) return;
  auto coarse = std::make_unique<CoarseSpace>(*space, *matrix_);
  if (coarse->exists()) coarse_ = std::move(coarse);
}

void ConjugateGradient::factorise(std::span<const Index> slots) {
  std::atomic<bool> positive = true;
  parallel_chunks(parts_, 1, [&](Index part, Index) {
    if (!factorise_rows(range_start_[std::size_t(part)], range_start_[std::size_t(part) + 1], slots))
      positive = false;
  });
  positive_ = factorise_rows(range_start_[std::size_t(parts_)], matrix_->block_count(), slots) && positive;
}

void ConjugateGradient::set_places(const NearNullSpace* space) {
  const Index n = matrix_->block_count();
  block_at_.resize(std::size_t(n));
  place_.resize(std::size_t(n));
  const Index size = std::max(part_size, (n + most_parts - 1) / most_parts);
  if (!space || n <= size) {  // one part, without a border
    parts_ = 1;
    range_start_ = {0, n};
    std::iota(place_.begin(), place_.end(), 0);
    std::iota(block_at_.begin(), block_at_.end(), 0);
    return;
  }
  const CompactParts parts(space->positions, size);
  parts_ = parts.count;
  std::vector<Index> range = parts.of;
  for (Index j = 0; j < n; ++j)
    for (Index k = matrix_->column_start()[std::size_t(j)]; k < matrix_->column_start()[std::size_t(j) + 1];
         ++k) {
      const Index i = matrix_->block_rows()[std::size_t(k)], of_i = parts.of[std::size_t(i)],
                  of_j = parts.of[std::size_t(j)];
      if (of_i != of_j) range[std::size_t(of_i > of_j ? i : j)] = parts_;
    }
  range_start_.assign(std::size_t(parts_) + 2, 0);
  for (const Index r : range) ++range_start_[std::size_t(r) + 1];
  std::partial_sum(range_start_.begin(), range_start_.end(), range_start_.begin());
  std::vector<Index> next(range_start_.begin(), range_start_.end() - 1);
  for (Index b = 0; b < n; ++b) {
    place_[std::size_t(b)] = next[std::size_t(range[std::size_t(b)])]++;
    block_at_[std::size_t(place_[std::size_t(b)])] = b;
  }
  range_start_.pop_back();
  while (range_start_.back() < n) range_start_.push_back(std::min(n, range_start_.back() + part_size));
}

void ConjugateGradient::find_columns() {
  const Index n = matrix_->block_count(), ranges = Index(range_start_.size()) - 1;
  const auto start = matrix_->column_start();
  const auto rows = matrix_->block_rows();
  row_place_.resize(rows.size());
  across_start_.assign(std::size_t(n) + 1, 0);
  const auto for_each_across = [&](Index range, const auto& visit) {
    const Index first = range_start_[std::size_t(range)], last = range_start_[std::size_t(range) + 1];
    for (Index p = first; p < last; ++p) {
      const auto j = std::size_t(block_at_[std::size_t(p)]);
      for (Index k = start[j]; k < start[j + 1]; ++k)
        if (const Index i = row_place_[std::size_t(k)]; i < first || i >= last) visit(i, p, k);
    }
  };
  parallel_for(
      Index(rows.size()),
      [&](Index k) { row_place_[std::size_t(k)] = place_[std::size_t(rows[std::size_t(k)])]; }, 8192);
  for (Index r = 0; r < ranges; ++r)
    for_each_across(r, [&](Index i, Index, Index) { ++across_start_[std::size_t(i) + 1]; });
  std::partial_sum(across_start_.begin(), across_start_.end(), across_start_.begin());
  across_column_.resize(std::size_t(across_start_.back()));
  across_slot_.resize(across_column_.size());
  std::vector<Index> next(across_start_.begin(), across_start_.end() - 1);
  for (Index r = 0; r < ranges; ++r)
    for_each_across(r, [&](Index i, Index p, Index k) {
      const auto at = std::size_t(next[std::size_t(i)]++);
      across_column_[at] = p;
      across_slot_[at] = k;
    });
}

/// The pattern of L, and for each of its blocks that of the matrix; its complement if it is stored
/// transposed.
std::vector<Index> ConjugateGradient::find_lower() {
  const Index n = matrix_->block_count();
  const auto start = matrix_->column_start();
  const auto for_each_entry = [&](const auto& visit) {
    for (Index p = 0; p < n; ++p) {
      const auto j = std::size_t(block_at_[std::size_t(p)]);
      for (Index k = start[j]; k < start[j + 1]; ++k) {
        const Index i = row_place_[std::size_t(k)];
        if (i != p) visit(std::max(i, p), std::min(i, p), i > p ? k : ~k);
      }
    }
  };
  lower_start_.assign(std::size_t(n) + 1, 0);
  for_each_entry([&](Index row, Index, Index) { ++lower_start_[std::size_t(row) + 1]; });
  std::partial_sum(lower_start_.begin(), lower_start_.end(), lower_start_.begin());
  lower_column_.resize(std::size_t(lower_start_.back()));
  std::vector<Index> slots(lower_column_.size()), next(lower_start_.begin(), lower_start_.end() - 1);
  for_each_entry([&](Index row, Index column, Index slot) {
    const auto at = std::size_t(next[std::size_t(row)]++);
    lower_column_[at] = column;
    slots[at] = slot;
  });
  parallel_chunks(n, rows_per_chunk, [&](Index begin, Index end) {
    std::vector<std::pair<Index, Index>> row;
    for (Index i = begin; i < end; ++i) {
      const auto first = std::size_t(lower_start_[std::size_t(i)]),
                 last = std::size_t(lower_start_[std::size_t(i) + 1]);
      row.clear();
      for (std::size_t k = first; k < last; ++k) row.emplace_back(lower_column_[k], slots[k]);
      std::sort(row.begin(), row.end());
      for (std::size_t k = first; k < last; ++k) std::tie(lower_column_[k], slots[k]) = row[k - first];
    }
  });
  lower_.resize(lower_column_.size());
  inverse_.resize(std::size_t(n));
  return slots;
}

/// The rows [first, last), which depend on earlier ones. False if a diagonal block is not definite.
bool ConjugateGradient::factorise_rows(Index first, Index last, std::span<const Index> slots) {
  bool positive = true;
  std::vector<Matrix3> scaled;  // L D of a row
  const auto start = matrix_->column_start();
  for (Index i = first; i < last; ++i) {
    const Index begin = lower_start_[std::size_t(i)], end = lower_start_[std::size_t(i) + 1];
    const Matrix3 own = matrix_->block(start[std::size_t(block_at_[std::size_t(i)])])
                            .selfadjointView<Eigen::Lower>();  // what a direct solver reads
    Matrix3 d = own;
    scaled.clear();
    for (Index k = begin; k < end; ++k) {
      const Index j = lower_column_[std::size_t(k)], slot = slots[std::size_t(k)];
      Matrix3 sum = slot >= 0 ? matrix_->block(slot) : Matrix3(matrix_->block(~slot).transpose());
      // The columns that rows i and j share, before j.
      Index p = begin, q = lower_start_[std::size_t(j)];
      const Index q_end = lower_start_[std::size_t(j) + 1];
      while (p < k && q < q_end) {
        const Index a = lower_column_[std::size_t(p)], b = lower_column_[std::size_t(q)];
        if (a == b) sum -= scaled[std::size_t(p - begin)] * lower_[std::size_t(q)].cast<double>().transpose();
        p += a <= b;
        q += b <= a;
      }
      scaled.push_back(sum);
      const Matrix3 of_l = sum * inverse_[std::size_t(j)];
      lower_[std::size_t(k)] = of_l.cast<float>();
      d -= sum * of_l.transpose();
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
    positive = positive && (usable || good(own));
    inverse_[std::size_t(i)] = (usable ? d : own).inverse();
  }
  return positive;
}

void ConjugateGradient::solve_forward(Index first, Index last, const VectorX& r, VectorX& z) const {
  for (Index i = first; i < last; ++i) {
    Vector3 y = r.segment<3>(3 * i);
    for (Index k = lower_start_[std::size_t(i)]; k < lower_start_[std::size_t(i) + 1]; ++k)
      y -= lower_[std::size_t(k)].cast<double>() * z.segment<3>(3 * lower_column_[std::size_t(k)]);
    z.segment<3>(3 * i) = y;
  }
}

void ConjugateGradient::solve_backward(Index first, Index last, VectorX& z) const {
  for (Index i = last - 1; i >= first; --i) {
    const Vector3 y = z.segment<3>(3 * i);
    for (Index k = lower_start_[std::size_t(i)]; k < lower_start_[std::size_t(i) + 1]; ++k)
      z.segment<3>(3 * lower_column_[std::size_t(k)]) -=
          lower_[std::size_t(k)].cast<double>().transpose() * y;
  }
}

void ConjugateGradient::precondition(const VectorX& r, VectorX& z) const {
  const Index n = Index(inverse_.size()), border = range_start_[std::size_t(parts_)];
  const auto for_each_part = [&](const auto& body) {
    parallel_chunks(parts_, 1, [&](Index part, Index) {
      body(range_start_[std::size_t(part)], range_start_[std::size_t(part) + 1]);
    });
  };
  for_each_part([&](Index first, Index last) { solve_forward(first, last, r, z); });
  solve_forward(border, n, r, z);
  parallel_for(
      n, [&](Index i) { z.segment<3>(3 * i) = (inverse_[std::size_t(i)] * z.segment<3>(3 * i)).eval(); },
      rows_per_chunk);
  solve_backward(border, n, z);
  for_each_part([&](Index first, Index last) { solve_backward(first, last, z); });
  if (coarse_) coarse_->add_correction(r, place_, z);
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

/// Each range reads its columns as they are stored, once, for both triangles.
void ConjugateGradient::multiply(const VectorX& p, VectorX& q) const {
  const double* values = matrix_->values().data();
  const auto start = matrix_->column_start();
  const auto add = [](const double* a, const double* x, double* y) {
    for (int r = 0; r < 3; ++r) y[r] += a[r] * x[0] + a[r + 3] * x[1] + a[r + 6] * x[2];
  };
  parallel_chunks(Index(range_start_.size()) - 1, 1, [&](Index range, Index) {
    const Index first = range_start_[std::size_t(range)], last = range_start_[std::size_t(range) + 1];
    std::fill(q.data() + 3 * std::ptrdiff_t(first), q.data() + 3 * std::ptrdiff_t(last), 0.0);
    for (Index c = first; c < last; ++c) {
      const auto j = std::size_t(block_at_[std::size_t(c)]);
      const double* x = p.data() + 3 * std::ptrdiff_t(c);
      const double* d = values + 9 * std::size_t(start[j]);
      double own[3] = {d[0] * x[0] + d[1] * x[1] + d[2] * x[2], d[1] * x[0] + d[4] * x[1] + d[5] * x[2],
                       d[2] * x[0] + d[5] * x[1] + d[8] * x[2]};  // what a direct solver reads
      for (Index k = start[j] + 1; k < start[j + 1]; ++k) {
        const double* a = values + 9 * std::size_t(k);
        const Index i = row_place_[std::size_t(k)];
        const double* y = p.data() + 3 * std::ptrdiff_t(i);
        for (int r = 0; r < 3; ++r) own[r] += a[3 * r] * y[0] + a[3 * r + 1] * y[1] + a[3 * r + 2] * y[2];
        if (first <= i && i < last) add(a, x, q.data() + 3 * std::ptrdiff_t(i));
      }
      for (Index k = across_start_[std::size_t(c)]; k < across_start_[std::size_t(c) + 1]; ++k)
        add(values + 9 * std::size_t(across_slot_[std::size_t(k)]),
            p.data() + 3 * std::ptrdiff_t(across_column_[std::size_t(k)]), own);
      for (int r = 0; r < 3; ++r) q[3 * c + r] += own[r];
    }
  });
}

std::optional<VectorX> ConjugateGradient::solve(const VectorX& b, const Options& options) const {
  const Index n = Index(inverse_.size());
  iterations_ = 0;
  indefinite_ = false;
  VectorX x = VectorX::Zero(b.size()), r(b.size()), z(b.size()), p(b.size()), q(b.size());
  for (Index i = 0; i < n; ++i) r.segment<3>(3 * i) = b.segment<3>(3 * block_at_[std::size_t(i)]);
  const auto in_order = [&] {
    VectorX result(b.size());
    for (Index i = 0; i < n; ++i) result.segment<3>(3 * block_at_[std::size_t(i)]) = x.segment<3>(3 * i);
    return result;
  };
  const double goal = options.tolerance * std::sqrt(dot(r, r));
  if (!positive_ || !std::isfinite(goal)) return std::nullopt;
  if (goal == 0) return x;
  precondition(r, z);
  p = z;
  double rz = dot(r, z);
  while (iterations_ < options.max_iterations) {
    ++iterations_;
    multiply(p, q);
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
    if (std::sqrt(dot(r, r)) <= goal) return in_order();
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
