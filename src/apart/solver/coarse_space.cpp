#include <apart/solver/coarse_space.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace apart {

namespace {

// Blocks of a part, at most: smaller parts make corrections better and their system larger.
constexpr Index part_size = 128;
// However large the system: the one for the corrections is factorised for every matrix.
constexpr Index most_parts = 256;
// Of the largest diagonal entry of a part's motions, added to all of them: a part of one node, or of nodes in
// a line, cannot turn in every direction.
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

/// Halves the blocks along the longest side of their box until parts are small.
void CoarseSpace::divide(const Matrix3X& positions) {
  const Index n = Index(positions.cols());
  const Index size = std::max(part_size, (n + most_parts - 1) / most_parts);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  part_.resize(order.size());
  std::vector<std::pair<Index, Index>> open = {{0, n}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const std::span<Index> some(order.data() + begin, std::size_t(end - begin));
    if (end - begin <= size) {
      for (const Index b : some) part_[std::size_t(b)] = parts_;
      ++parts_;
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

/// Rotations about the middle of each part, in units of its radius: all motions of a part are then of one
/// size.
void CoarseSpace::set_basis(const NearNullSpace& space) {
  Matrix3X centre = Matrix3X::Zero(3, parts_);
  VectorX count = VectorX::Zero(parts_), radius = VectorX::Zero(parts_);
  for (std::size_t b = 0; b < part_.size(); ++b) {
    centre.col(part_[b]) += space.positions.col(Index(b));
    count[part_[b]] += 1;
  }
  centre.array().rowwise() /= count.transpose().array();
  for (std::size_t b = 0; b < part_.size(); ++b)
    radius[part_[b]] =
        std::max(radius[part_[b]], (space.positions.col(Index(b)) - centre.col(part_[b])).norm());
  basis_.resize(part_.size());
  for (std::size_t b = 0; b < part_.size(); ++b) {
    const Index part = part_[b];
    const auto modes = space.modes.middleRows<3>(3 * Index(b));
    // w × (x − c) = w × x − w × c, and w × c = −[c] w.
    const Matrix3 turns = modes.rightCols<3>() + modes.leftCols<3>() * cross_matrix(centre.col(part));
    basis_[b] << modes.leftCols<3>(), turns / (radius[part] > 0 ? radius[part] : 1);
  }
}

void CoarseSpace::factorise(const Rows& a) {
  Eigen::MatrixXd coarse = Eigen::MatrixXd::Zero(6 * parts_, 6 * parts_);
  for (std::size_t i = 0; i < part_.size(); ++i)
    for (Index k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const auto j = std::size_t(a.column[std::size_t(k)]);
      if (part_[j] <= part_[i])
        coarse.block<6, 6>(6 * part_[i], 6 * part_[j]) +=
            basis_[i].transpose() * (a.block[std::size_t(k)] * basis_[j]);
    }
  for (Index p = 0; p < parts_; ++p) {
    auto diagonal = coarse.diagonal().segment<6>(6 * p);
    diagonal.array() += regularisation * diagonal.maxCoeff();
  }
  factor_.compute(coarse.sparseView());
  usable_ = factor_.info() == Eigen::Success;
}

void CoarseSpace::add_correction(const VectorX& r, VectorX& z) const {
  VectorX force = VectorX::Zero(6 * parts_);
  for (std::size_t b = 0; b < part_.size(); ++b)
    force.segment<6>(6 * part_[b]) += basis_[b].transpose() * r.segment<3>(3 * Index(b));
  const VectorX motion = factor_.solve(force);
  for (std::size_t b = 0; b < part_.size(); ++b)
    z.segment<3>(3 * Index(b)) += basis_[b] * motion.segment<6>(6 * part_[b]);
}

double CoarseSpace::flops() const {
  if (!usable_) return 0;
  return 72.0 * double(part_.size()) + 4.0 * double(factor_.matrixL().nestedExpression().nonZeros());
}

}  // namespace apart
