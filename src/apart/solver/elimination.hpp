#pragma once
#include <apart/solver/ordering.hpp>

#include <cstdint>
#include <vector>

namespace apart {

/// What eliminating the nodes of a graph in some order fills in: the elimination tree and the sizes of the
/// columns of the Cholesky factor. Nodes are numbered by their places in the order, in which the
/// descendants of a place are directly before it.
struct Elimination {
  std::vector<Index> node;    ///< at each place
  std::vector<Index> place;   ///< of each node
  std::vector<Index> parent;  ///< of each place in the elimination tree; −1: none
  std::vector<Index> count;   ///< blocks of each column of the factor, the diagonal one included
  double flops() const;       ///< Σ c², c the numbers in each scalar column of the factor
  double nonzeros() const;    ///< of the factor
};
/// `order`: the node to be eliminated first, second, ... The result has an equivalent one.
Elimination eliminate(const NodeGraph& graph, const std::vector<Index>& order);

/// Columns of the factor with nearly the same rows, which are eliminated together as one dense matrix: its
/// columns, and below them the rows that they touch later. Their products are an update of those rows, which
/// is passed on to the parent.
struct Front {
  Index first = 0, columns = 0;  ///< places that are eliminated: [first, first + columns)
  Index rows = 0;                ///< that are updated
  std::size_t first_row = 0;     ///< of them in FrontTree::rows
  Index parent = -1;
  Index size() const { return columns + rows; }
};

struct FrontTree {
  std::vector<Index> node, place;  ///< at each place; of each node
  std::vector<Front> fronts;       ///< the descendants of each directly before it
  std::vector<Index> rows;         ///< places, ascending in each front
  /// Of each entry of `rows`: where it is in the front's parent, whose columns are counted first.
  std::vector<Index> in_parent;
  std::vector<Index> run_end;  ///< the end of the entries that follow each other there, counted in the front
  std::vector<std::size_t> first_child;  ///< of each front, in `children`
  std::vector<Index> children;           ///< ascending
};
/// Columns are joined where that costs less than the separate products and additions would.
FrontTree make_fronts(const NodeGraph& graph, const Elimination& elimination);

/// Operations of the elimination of a front: `columns` places with `rows` below them.
double front_flops(Index columns, Index rows);

}  // namespace apart
