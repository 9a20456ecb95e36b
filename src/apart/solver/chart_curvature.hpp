#pragma once
#include <apart/bodies/chart.hpp>
#include <apart/core/team.hpp>
#include <apart/math/block_sparse.hpp>
#include <apart/potentials/potential.hpp>
#include <apart/solver/free_coordinates.hpp>

#include <vector>

namespace apart {

/// The part of a Hessian in the unknowns that is due to charts: Σ gₖ · ∂²qₖ/∂y² for the gradient g in the
/// nodes. It can make the sum indefinite even if every term is projected, so with Projection::psd that of
/// each body is made positive semi-definite, once.
class ChartCurvature {
 public:
  /// Keeps references.
  explicit ChartCurvature(const Chart& chart, const Team& team = Team::alone())
      : chart_(chart), team_(team) {}
  /// Which unknowns may move.
  void set_free(const FreeCoordinates& free);
  /// visit(column, row) for the pairs of different blocks of one body.
  void for_each_pair(FunctionRef<void(Index column, Index row)> visit) const;
  /// Looks up where they are in a matrix.
  void locate(const BlockSparse& matrix);
  /// `matrix`: all terms, with ones on the diagonal where unknowns are held. Of a team it is this process's
  /// summand, and the curvature is added to that of the leader.
  void add(const FreeCoordinates& free, const Matrix3X& q, const Matrix3X& gradient, Projection projection,
           BlockSparse& matrix) const;

 private:
  /// Unknowns u and v ≤ u of a body, and their block.
  struct Own {
    Index u, v, row, column;
    Index slot = -1;
  };
  struct OwnBlocks {
    Index part;
    std::vector<Own> blocks;
  };
  std::vector<Matrix3> sums(const BlockSparse& matrix) const;
  const Chart& chart_;
  const Team& team_;
  std::vector<OwnBlocks> bodies_;  ///< that can move
};

}  // namespace apart
