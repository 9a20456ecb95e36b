#include <apart/solver/coarse_space.hpp>
#include <apart/solver/compact_parts.hpp>

#include <apart/core/parallel.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

CoarseSpace::CoarseSpace(const NearNullSpace& space, const BlockSparse& a) {
  const Index n = Index(space.positions.cols());
  if (n == 0) return;
  CompactParts parts(space.positions, std::max(aggregate_size, (n + most_aggregates - 1) / most_aggregates));
  aggregates_ = parts.count;
  aggregate_ = std::move(parts.of);
  start_.assign(std::size_t(aggregates_) + 1, 0);
  for (const Index own : aggregate_) ++start_[std::size_t(own) + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  std::vector<Index> next(start_.begin(), start_.end() - 1);
  block_.resize(aggregate_.size());
  for (Index b = 0; b < n; ++b) block_[std::size_t(next[std::size_t(aggregate_[std::size_t(b)])]++)] = b;
  set_basis(space);
  const BlockSparse coarse = product(a);
  const NodeGraph graph = node_graph(coarse);
  const Elimination elimination = eliminate(graph, approximate_minimum_degree(graph));
  factor_nonzeros_ = elimination.nonzeros();
  factor_.set_fronts(coarse, graph, make_fronts(graph, elimination));
  usable_ = factor_.factorise(coarse, [] {});
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
    basis_[b].leftCols<3>() = modes.leftCols<3>().cast<float>();
    basis_[b].rightCols<3>() = (turns / (radius[own] > 0 ? radius[own] : 1)).cast<float>();
  }
}

/// Zᵀ A Z. Each aggregate adds up its own columns.
BlockSparse CoarseSpace::product(const BlockSparse& a) const {
  using Square = Eigen::Matrix<double, 6, 6>;
  // Of the matrix's columns in an aggregate: sums with others, by the number of the other.
  using Product = Eigen::Matrix<double, 3, 6>;
  std::vector<std::vector<std::pair<Index, Square>>> sums(static_cast<std::size_t>(aggregates_));
  parallel_chunks(aggregates_, 1, [&](Index own, Index) {
    std::vector<std::pair<Index, Square>>& found = sums[std::size_t(own)];
    const auto with = [&](Index other) -> Square& {
      for (auto& [number, sum] : found)
        if (number == other) return sum;
      return found.emplace_back(other, Square::Zero()).second;
    };
    std::vector<std::pair<Index, Product>> products;  // of a column: Σ Aᵀ Z, by aggregate
    for (Index c = start_[std::size_t(own)]; c < start_[std::size_t(own) + 1]; ++c) {
      const Index j = block_[std::size_t(c)];
      products.clear();
      for (Index k = a.column_start()[std::size_t(j)]; k < a.column_start()[std::size_t(j) + 1]; ++k) {
        const auto i = std::size_t(a.block_rows()[std::size_t(k)]);
        Matrix3 block = a.block(k);
        // Half of the diagonal block: the sum is added to its transpose.
        if (Index(i) == j) block = 0.5 * Matrix3(block.selfadjointView<Eigen::Lower>());
        const Index other = aggregate_[i];
        auto at = std::ranges::find(products, other, [](const auto& p) { return p.first; });
        if (at == products.end()) at = products.insert(at, {other, Product::Zero()});
        at->second += block.transpose() * basis_[i].cast<double>();
      }
      for (const auto& [other, product] : products)
        with(other) += basis_[std::size_t(j)].cast<double>().transpose() * product;
    }
  });
  // Sums with p, q and with q, p are those of two sets of blocks of A: both count.
  std::vector<BlockKey> keys;
  const auto add_keys = [&](Index p, Index q) {
    for (int u = 0; u < 2; ++u)
      for (int v = 0; v < 2; ++v) keys.push_back(block_key(2 * p + u, 2 * q + v));
  };
  for (Index p = 0; p < aggregates_; ++p)
    for (const auto& [q, sum] : sums[std::size_t(p)]) add_keys(p, q);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  BlockSparse coarse(2 * aggregates_, keys);
  for (Index p = 0; p < aggregates_; ++p)
    for (const auto& [q, sum] : sums[std::size_t(p)]) {
      // `sum` has rows of p and columns of q.
      const Square whole = p == q ? Square(sum + sum.transpose()) : sum;
      for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v) {
          const Index row = 2 * p + u, column = 2 * q + v;
          const Matrix3 part = whole.block<3, 3>(3 * u, 3 * v);
          if (row >= column)
            coarse.add(coarse.slot(row, column), part);
          else if (p != q)
            coarse.add(coarse.slot(column, row), part.transpose());
        }
    }
  for (Index p = 0; p < aggregates_; ++p) {
    double largest = 0;
    for (Index k = 6 * p; k < 6 * p + 6; ++k) largest = std::max(largest, coarse.at(k, k));
    for (Index k = 6 * p; k < 6 * p + 6; ++k) coarse.at(k, k) += regularisation * largest;
  }
  return coarse;
}

void CoarseSpace::add_correction(const VectorX& r, std::span<const Index> places, VectorX& z) const {
  VectorX force(6 * aggregates_);
  parallel_chunks(aggregates_, 1, [&](Index own, Index) {
    Eigen::Matrix<double, 6, 1> sum = Eigen::Matrix<double, 6, 1>::Zero();
    for (Index k = start_[std::size_t(own)]; k < start_[std::size_t(own) + 1]; ++k) {
      const auto b = std::size_t(block_[std::size_t(k)]);
      sum += basis_[b].cast<double>().transpose() * r.segment<3>(3 * places[b]);
    }
    force.segment<6>(6 * own) = sum;
  });
  const VectorX motion = factor_.solve(force);
  parallel_chunks(aggregates_, 1, [&](Index own, Index) {
    const Eigen::Matrix<double, 6, 1> of_own = motion.segment<6>(6 * own);
    for (Index k = start_[std::size_t(own)]; k < start_[std::size_t(own) + 1]; ++k) {
      const auto b = std::size_t(block_[std::size_t(k)]);
      z.segment<3>(3 * places[b]) += basis_[b].cast<double>() * of_own;
    }
  });
}

double CoarseSpace::flops() const {
  if (!usable_) return 0;
  return 72.0 * double(aggregate_.size()) + 4.0 * factor_nonzeros_;
}

}  // namespace apart
