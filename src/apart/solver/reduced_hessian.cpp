#include <apart/solver/reduced_hessian.hpp>

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace apart {

namespace {

/// With the absolute values of its eigenvalues. Were negative ones set to zero, nothing would bound the step
/// along them.
Eigen::MatrixXd made_positive(const Eigen::MatrixXd& m) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
  return solver.eigenvectors() * solver.eigenvalues().cwiseAbs().asDiagonal() *
         solver.eigenvectors().transpose();
}

FreeCoordinates assembled_nodes(const Chart& chart, const FreeCoordinates& free_unknowns) {
  Chart::Mask mask(3, chart.node_count());
  for (Index n = 0; n < chart.node_count(); ++n)
    for (int axis = 0; axis < 3; ++axis) mask(axis, n) = free_unknowns(axis, chart.unknown_of(n));
  for (const Chart::Part& part : chart.parts()) {
    bool moves = false;
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      moves |= free_unknowns.block(part.first_unknown + u) >= 0;
    mask.middleCols(part.first_node, part.chart->node_count()) = moves;
  }
  return FreeCoordinates(mask);
}

}  // namespace

void ReducedHessian::set_free(const FreeCoordinates& unknowns) {
  unknowns_ = unknowns;
  nodes_ = assembled_nodes(chart_, unknowns);
  pattern_valid_ = false;
  first_dependence_.assign(1, 0);
  dependences_.clear();
  std::size_t part = 0;
  const std::vector<Chart::Part>& parts = chart_.parts();
  for (Index i = 0; i < nodes_.block_count(); ++i) {
    const Index node = nodes_.node(i);
    while (part < parts.size() && node >= parts[part].first_node + parts[part].chart->node_count()) ++part;
    if (part == parts.size() || node < parts[part].first_node) {
      dependences_.push_back({unknowns_.block(chart_.unknown_of(node)), -1, 0, 0});
    } else {
      for (Index u = 0; u < parts[part].chart->unknown_count(); ++u)
        if (const Index block = unknowns_.block(parts[part].first_unknown + u); block >= 0)
          dependences_.push_back({block, Index(part), node - parts[part].first_node, u});
    }
    first_dependence_.push_back(dependences_.size());
  }
  slopes_.assign(dependences_.size(), Matrix3::Identity());
}

/// Calls visit(i, j, k, a, b) for the products of dependences a and b that block k of H, in row i and column
/// j, has a part in.
template <class Visit>
void ReducedHessian::for_each_product(const BlockSparse& h, const Visit& visit) const {
  for (Index j = 0; j < h.block_count(); ++j)
    for (Index k = h.column_start()[std::size_t(j)]; k < h.column_start()[std::size_t(j) + 1]; ++k) {
      const Index i = h.block_rows()[std::size_t(k)];
      for (std::size_t a = first_dependence_[std::size_t(i)]; a < first_dependence_[std::size_t(i) + 1]; ++a)
        for (std::size_t b = first_dependence_[std::size_t(j)]; b < first_dependence_[std::size_t(j) + 1];
             ++b) {
          // Of a node with itself the other of the two gives the lower triangle.
          if (i == j && dependences_[a].block < dependences_[b].block) continue;
          visit(i, j, k, a, b);
        }
    }
}

void ReducedHessian::find_pattern(const BlockSparse& h) {
  std::vector<BlockKey> keys;
  for_each_product(h, [&](Index, Index, Index, std::size_t a, std::size_t b) {
    const Index row = dependences_[a].block, column = dependences_[b].block;
    if (row == column) return;
    // Neighbours mostly depend on the same unknowns.
    if (const BlockKey key = block_key(row, column); keys.empty() || keys.back() != key) keys.push_back(key);
  });
  own_.clear();
  for (std::size_t p = 0; p < chart_.parts().size(); ++p) {
    const Chart::Part& part = chart_.parts()[p];
    OwnBlocks own{Index(p), {}};
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      for (Index v = 0; v <= u; ++v)
        if (const Index a = unknowns_.block(part.first_unknown + u),
            b = unknowns_.block(part.first_unknown + v);
            a >= 0 && b >= 0) {
          own.blocks.push_back({u, v, a, b});  // the slot is that of row a, found below
          if (a != b) keys.push_back(block_key(a, b));
        }
    if (!own.blocks.empty()) own_.push_back(std::move(own));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (keys != keys_ || matrix_.block_count() != unknowns_.block_count()) {
    keys_ = std::move(keys);
    matrix_ = BlockSparse(unknowns_.block_count(), keys_);
    pattern_changed_ = true;
  }
  places_.clear();
  for_each_product(h, [&](Index, Index, Index, std::size_t a, std::size_t b) {
    const Index row = dependences_[a].block, column = dependences_[b].block;
    places_.push_back(
        {matrix_.slot(std::max(row, column), std::min(row, column)), std::min(row, column), row < column});
  });
  for (OwnBlocks& own : own_)
    for (OwnBlock& block : own.blocks) block.slot = matrix_.slot(block.slot, block.column);
  pattern_valid_ = true;
}

const BlockSparse& ReducedHessian::reduce(const OfNodes& of_nodes, Projection projection) {
  const BlockSparse& h = of_nodes.hessian;
  if (!pattern_valid_ || of_nodes.new_pattern) find_pattern(h);
  matrix_.set_zero();
  Index last = -1;
  Matrix3X at;
  for (std::size_t d = 0; d < dependences_.size(); ++d) {
    const Dependence& dependence = dependences_[d];
    if (dependence.part < 0) continue;
    const Chart::Part& part = chart_.parts()[std::size_t(dependence.part)];
    if (std::exchange(last, dependence.part) != dependence.part) at = part.nodes(of_nodes.q);
    slopes_[d] = part.chart->slope(at, dependence.node, dependence.unknown);
  }
  const Place* place = places_.data();
  for_each_product(h, [&](Index i, Index j, Index k, std::size_t a, std::size_t b) {
    Matrix3 product = h.block(k, j);
    if (dependences_[a].part >= 0 || dependences_[b].part >= 0)
      product = slopes_[a].transpose() * product * slopes_[b];
    if (place->transposed)
      matrix_.add(place->slot, place->column, product.transpose());
    else
      matrix_.add(place->slot, place->column, product);
    if (i != j && dependences_[a].block == dependences_[b].block)
      matrix_.add(place->slot, place->column, product.transpose());
    ++place;
  });
  for (const OwnBlocks& own : own_) add_own(of_nodes, own, projection);
  hold();
  return matrix_;
}

/// Adds the curvature of one body's chart, and what makes its blocks positive.
void ReducedHessian::add_own(const OfNodes& of_nodes, const OwnBlocks& own, Projection projection) {
  const Chart::Part& part = chart_.parts()[std::size_t(own.part)];
  Eigen::MatrixXd more = part.chart->curvature(part.nodes(of_nodes.q), part.nodes(of_nodes.gradient));
  if (projection == Projection::psd) {
    Eigen::MatrixXd sum = more;
    for (const OwnBlock& b : own.blocks) {
      const Matrix3 block = matrix_.block(b.slot, b.column);
      sum.block<3, 3>(3 * b.u, 3 * b.v) += block;
      if (b.u != b.v) sum.block<3, 3>(3 * b.v, 3 * b.u) += block.transpose();
    }
    more += made_positive(sum) - sum;
  }
  for (const OwnBlock& b : own.blocks) matrix_.add(b.slot, b.column, more.block<3, 3>(3 * b.u, 3 * b.v));
}

/// Zeroes rows and columns of unknowns that are held, and puts a one on the diagonal.
void ReducedHessian::hold() {
  if (unknowns_.held().empty()) return;
  for (Index j = 0; j < matrix_.block_count(); ++j)
    for (Index k = matrix_.column_start()[std::size_t(j)]; k < matrix_.column_start()[std::size_t(j) + 1];
         ++k) {
      const Index i = matrix_.block_rows()[std::size_t(k)];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          if (!unknowns_(r, unknowns_.node(i)) || !unknowns_(c, unknowns_.node(j)))
            matrix_.at(3 * i + r, 3 * j + c) = i == j && r == c;
    }
}

}  // namespace apart
