#include <apart/solver/reduced_hessian.hpp>

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace apart {

namespace {

/// What one node depends on: blocks of the system, with ∂(node)/∂(block).
struct Dependence {
  Index block;
  Matrix3 slope;
};

std::vector<std::vector<Dependence>> dependences(const Chart& chart, const Matrix3X& q,
                                                 const FreeCoordinates& free) {
  std::vector<std::vector<Dependence>> result(std::size_t(chart.node_count()));
  for (Index n = 0; n < chart.node_count(); ++n)
    if (const Index block = free.block(chart.unknown_of(n)); block >= 0)
      result[std::size_t(n)] = {{block, Matrix3::Identity()}};
  for (const Chart::Part& part : chart.parts()) {
    const Matrix3X at = part.nodes(q);
    for (Index k = 0; k < part.chart->node_count(); ++k) {
      auto& list = result[std::size_t(part.first_node + k)];
      list.clear();
      for (Index u = 0; u < part.chart->unknown_count(); ++u)
        if (const Index block = free.block(part.first_unknown + u); block >= 0)
          list.push_back({block, part.chart->slope(at, k, u)});
    }
  }
  return result;
}

/// With the absolute values of its eigenvalues. Were negative ones set to zero, nothing would bound the step
/// along them.
Eigen::MatrixXd made_positive(const Eigen::MatrixXd& m) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
  return solver.eigenvectors() * solver.eigenvalues().cwiseAbs().asDiagonal() *
         solver.eigenvectors().transpose();
}

Matrix3 block_of(const BlockSparse& m, Index row, Index column) {
  Matrix3 result;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) result(r, c) = m.at(3 * row + r, 3 * column + c);
  return result;
}

/// Zeroes rows and columns of unknowns that are held, and puts a one on the diagonal.
void mask(const FreeCoordinates& free, BlockSparse& m) {
  for (Index j = 0; j < m.block_count(); ++j)
    for (Index k = m.column_start()[std::size_t(j)]; k < m.column_start()[std::size_t(j) + 1]; ++k) {
      const Index i = m.block_rows()[std::size_t(k)];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          if (!free(r, free.node(i)) || !free(c, free.node(j))) m.at(3 * i + r, 3 * j + c) = i == j && r == c;
    }
}

}  // namespace

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

const BlockSparse& ReducedHessian::reduce(const Chart& chart, const Matrix3X& q, const Matrix3X& g,
                                          const BlockSparse& h, const FreeCoordinates& free_nodes,
                                          const FreeCoordinates& free_unknowns, Projection projection) {
  const auto depends = dependences(chart, q, free_unknowns);
  const auto for_each_block = [&](const auto& visit) {
    for (Index j = 0; j < h.block_count(); ++j)
      for (Index k = h.column_start()[std::size_t(j)]; k < h.column_start()[std::size_t(j) + 1]; ++k)
        visit(h.block_rows()[std::size_t(k)], j);
  };
  std::vector<BlockKey> keys;
  for_each_block([&](Index i, Index j) {
    for (const Dependence& a : depends[std::size_t(free_nodes.node(i))])
      for (const Dependence& b : depends[std::size_t(free_nodes.node(j))])
        if (a.block != b.block) keys.push_back(block_key(a.block, b.block));
  });
  for (const Chart::Part& part : chart.parts())
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      for (Index v = 0; v < u; ++v) {
        const Index a = free_unknowns.block(part.first_unknown + u),
                    b = free_unknowns.block(part.first_unknown + v);
        if (a >= 0 && b >= 0) keys.push_back(block_key(a, b));
      }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (keys != keys_ || matrix_.block_count() != free_unknowns.block_count()) {
    keys_ = std::move(keys);
    matrix_ = BlockSparse(free_unknowns.block_count(), keys_);
    pattern_changed_ = true;
  }
  matrix_.set_zero();
  const auto add = [&](Index row, Index column, const Matrix3& block) {
    if (row >= column)
      matrix_.add(matrix_.slot(row, column), column, block);
    else
      matrix_.add(matrix_.slot(column, row), row, block.transpose());
  };
  for_each_block([&](Index i, Index j) {
    const Matrix3 block = block_of(h, i, j);
    for (const Dependence& a : depends[std::size_t(free_nodes.node(i))])
      for (const Dependence& b : depends[std::size_t(free_nodes.node(j))]) {
        if (i == j && a.block < b.block) continue;  // the other of the two gives the lower triangle
        const Matrix3 product = a.slope.transpose() * block * b.slope;
        add(a.block, b.block, product);
        if (i != j && a.block == b.block) add(a.block, b.block, product.transpose());
      }
  });
  for (const Chart::Part& part : chart.parts()) {
    const Index m = part.chart->unknown_count();
    Eigen::MatrixXd own = part.chart->curvature(part.nodes(q), part.nodes(g));
    const auto for_each_pair = [&](const auto& visit) {
      for (Index u = 0; u < m; ++u)
        for (Index v = 0; v <= u; ++v)
          if (const Index a = free_unknowns.block(part.first_unknown + u),
              b = free_unknowns.block(part.first_unknown + v);
              a >= 0 && b >= 0)
            visit(u, v, a, b);
    };
    if (projection == Projection::psd) {
      Eigen::MatrixXd sum = own;
      for_each_pair([&](Index u, Index v, Index a, Index b) {
        const Matrix3 block = block_of(matrix_, a, b);
        sum.block<3, 3>(3 * u, 3 * v) += block;
        if (u != v) sum.block<3, 3>(3 * v, 3 * u) += block.transpose();
      });
      own += made_positive(sum) - sum;
    }
    for_each_pair([&](Index u, Index v, Index a, Index b) { add(a, b, own.block<3, 3>(3 * u, 3 * v)); });
  }
  mask(free_unknowns, matrix_);
  return matrix_;
}

}  // namespace apart
