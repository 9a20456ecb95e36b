#include <apart/solver/coarse_space.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace apart {

namespace {

// Blocks of an aggregate, at most: smaller aggregates make corrections better and their system larger.
constexpr Index aggregate_size = 128;
// However large the system: the one for the corrections is factorised for every matrix.
constexpr Index most_aggregates = 256;
// Of the largest diagonal entry of an aggregate's motions, added to all of them: an aggregate of one node, or
// of nodes in a line, cannot turn in every direction.
constexpr double regularisation = 1e-10;

Matrix3 cross_matrix(const Vector3& a) {
  return Matrix3{{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
}

}  // namespace

CoarseSpace::CoarseSpace(const NearNullSpace& space, const Rows& a) {
  if (space.positions.cols() == 0) return;
  divide(space.positions);
  set_basis(space);
  factorise(a);
}

/// Halves the blocks along the longest side of their box until aggregates are small.
void CoarseSpace::divide(const Matrix3X& positions) {
  const Index n = Index(positions.cols());
  const Index size = std::max(aggregate_size, (n + most_aggregates - 1) / most_aggregates);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  aggregate_.resize(order.size());
  std::vector<std::pair<Index, Index>> open = {{0, n}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const std::span<Index> some(order.data() + begin, std::size_t(end - begin));
    if (end - begin <= size) {
      for (const Index b : some) aggregate_[std::size_t(b)] = aggregates_;
      ++aggregates_;
      continue;
    }
    Vector3 lower = Vector3::Constant(std::numeric_limits<double>::infinity()), upper = -lower;
    for (const Index b : some) {
      lower = lower.cwiseMin(positions.col(b));
      upper = upper.cwiseMax(positions.col(b));
    }
    int axis = 0;
    (upper - lower).maxCoeff(&axis);
    const Index middle = begin + (end - begin) / 2;
    std::ranges::nth_element(some, some.begin() + (middle - begin), {},
                             [&](Index b) { return std::pair(positions(axis, b), b); });
    open.emplace_back(middle, end);
    open.emplace_back(begin, middle);
  }
}

/// Rotations about the middle of each aggregate, in units of its radius: all motions of an aggregate are then
/// of one size.
void CoarseSpace::set_basis(const NearNullSpace& space) {
  Matrix3X centre = Matrix3X::Zero(3, aggregates_);
  VectorX count = VectorX::Zero(aggregates_), radius = VectorX::Zero(aggregates_);
  for (std::size_t b = 0; b < aggregate_.size(); ++b) {
    centre.col(aggregate_[b]) += space.positions.col(Index(b));
    count[aggregate_[b]] += 1;
  }
  centre.array().rowwise() /= count.transpose().array();
  for (std::size_t b = 0; b < aggregate_.size(); ++b)
    radius[aggregate_[b]] =
        std::max(radius[aggregate_[b]], (space.positions.col(Index(b)) - centre.col(aggregate_[b])).norm());
  basis_.resize(aggregate_.size());
  for (std::size_t b = 0; b < aggregate_.size(); ++b) {
    const Index own = aggregate_[b];
    const auto modes = space.modes.middleRows<3>(3 * Index(b));
    // w × (x − c) = w × x − w × c, and w × c = −[c] w.
    const Matrix3 turns = modes.rightCols<3>() + modes.leftCols<3>() * cross_matrix(centre.col(own));
    basis_[b] << modes.leftCols<3>(), turns / (radius[own] > 0 ? radius[own] : 1);
  }
}

void CoarseSpace::factorise(const Rows& a) {
  Eigen::MatrixXd coarse = Eigen::MatrixXd::Zero(6 * aggregates_, 6 * aggregates_);
  for (std::size_t i = 0; i < aggregate_.size(); ++i)
    for (Index k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const auto j = std::size_t(a.column[std::size_t(k)]);
      if (aggregate_[j] <= aggregate_[i])
        coarse.block<6, 6>(6 * aggregate_[i], 6 * aggregate_[j]) +=
            basis_[i].transpose() * (a.block[std::size_t(k)] * basis_[j]);
    }
  for (Index p = 0; p < aggregates_; ++p) {
    auto diagonal = coarse.diagonal().segment<6>(6 * p);
    diagonal.array() += regularisation * diagonal.maxCoeff();
  }
  factor_.compute(coarse.sparseView());
  usable_ = factor_.info() == Eigen::Success;
}

void CoarseSpace::add_correction(const VectorX& r, VectorX& z) const {
  VectorX force = VectorX::Zero(6 * aggregates_);
  for (std::size_t b = 0; b < aggregate_.size(); ++b)
    force.segment<6>(6 * aggregate_[b]) += basis_[b].transpose() * r.segment<3>(3 * Index(b));
  const VectorX motion = factor_.solve(force);
  for (std::size_t b = 0; b < aggregate_.size(); ++b)
    z.segment<3>(3 * Index(b)) += basis_[b] * motion.segment<6>(6 * aggregate_[b]);
}

double CoarseSpace::flops() const {
  if (!usable_) return 0;
  return 72.0 * double(aggregate_.size()) + 4.0 * double(factor_.matrixL().nestedExpression().nonZeros());
}

}  // namespace apart
