#pragma once
#include <apart/core/types.hpp>

#include <Eigen/SparseCore>
#include <memory>
#include <vector>

namespace apart {

/// Of the nodes or unknowns of one body with a chart, at most eight: kept without memory of their own, since
/// they are computed for every body in every evaluation.
using BodyColumns = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, 8>;

/// Local coordinates on the set of configurations that one body may take, for bodies whose nodes cannot move
/// independently: the four nodes of a rigid body stay on its rigid motions, a six-dimensional surface in the
/// twelve-dimensional space of nodes. The chart maps unknowns y (3 × m) to nodes q(y) (3 × n) on that set,
/// with y = 0 at the current nodes. It is re-based at every iterate, so y is always small and coordinates
/// such as rotation vectors never come near a singularity.
///
/// Newton's method needs the chart to second order: the slope J = ∂q/∂y and the curvature Σ gₖ · ∂²qₖ/∂y² for
/// a gradient g. Collision detection needs a bound on how much the path q(t y) bends, and with it on how far
/// it is from its chord. tests/contracts checks for every chart that slope and curvature are the derivatives
/// of retract at y = 0, and that the bound holds.
class BodyChart {
 public:
  virtual ~BodyChart() = default;
  virtual Index node_count() const = 0;     ///< n
  virtual Index unknown_count() const = 0;  ///< m
  /// Where y leads from q.
  virtual BodyColumns retract(const BodyColumns& q, const BodyColumns& y) const = 0;
  /// ∂q_node/∂y_unknown at y = 0.
  virtual Matrix3 slope(const BodyColumns& q, Index node, Index unknown) const = 0;
  virtual BodyColumns push_forward(const BodyColumns& q, const BodyColumns& y) const;  ///< J y, 3 × n
  virtual BodyColumns pull_back(const BodyColumns& q, const BodyColumns& g) const;     ///< Jᵀ g, 3 × m
  /// Σ gₖ · ∂²qₖ/∂y² at y = 0, 3m × 3m, for a gradient g (3 × n) of some function of the nodes.
  virtual Eigen::MatrixXd curvature(const BodyColumns& q, const BodyColumns& g) const = 0;
  /// d²q/dt² at the start of the path q(t y), 3 × n [m]. No linear combination of the nodes bends more
  /// elsewhere on it: ‖Σ wₖ q̈ₖ(t)‖ ≤ ‖Σ wₖ q̈ₖ(0)‖ for any weights w.
  virtual BodyColumns bend(const BodyColumns& q, const BodyColumns& y) const = 0;
  /// How far the nodes turn on that path [rad]. A path of several radians is cut, since its chord says little
  /// about it.
  virtual double turn(const BodyColumns& y) const = 0;
  /// Where the nodes are `time` [s] later if nothing acts on the body and the unknowns now change at `rates`
  /// (3 × m). `mass`: node × node [kg].
  virtual BodyColumns free_motion(const BodyColumns& q, const BodyColumns& rates,
                                  const Eigen::SparseMatrix<double>& mass, double time) const;
  using Mask = Eigen::Array<bool, 3, Eigen::Dynamic>;
  /// Which unknowns may change at all, 3 × m.
  virtual Mask free() const { return Mask::Constant(3, unknown_count(), true); }
};

/// The map y → q of all bodies together: the solver moves unknowns y (3 × unknown_count()), everything else
/// sees nodes q (3 × node_count()). Where a body has no chart of its own its nodes are the unknowns, q + y,
/// and J is the identity.
///
/// With J = ∂q/∂y a function E of the nodes, with derivatives g and H in q, has at y = 0 the derivatives
///   ∂E/∂y = Jᵀ g,    ∂²E/∂y² = Jᵀ H J + Σ gₖ · ∂²qₖ/∂y².
class Chart {
 public:
  /// The identity.
  explicit Chart(Index node_count = 0);
  /// The nodes from `first_node` on follow `body`. Bodies come in the order of their nodes.
  void add(Index first_node, std::shared_ptr<const BodyChart> body);

  /// A body with a chart of its own.
  struct Part {
    Index first_node, first_unknown;
    std::shared_ptr<const BodyChart> chart;
    BodyColumns nodes(const Matrix3X& q) const { return q.middleCols(first_node, chart->node_count()); }
    BodyColumns unknowns(const Matrix3X& y) const {
      return y.middleCols(first_unknown, chart->unknown_count());
    }
  };
  const std::vector<Part>& parts() const { return parts_; }
  bool is_identity() const { return parts_.empty(); }
  Index node_count() const { return node_count_; }
  Index unknown_count() const { return unknown_count_; }
  const Part* part_of(Index node) const;  ///< null: the node is an unknown itself
  /// The unknown that stands for a node, or the first unknown of its body's chart.
  Index unknown_of(Index node) const;

  Matrix3X retract(const Matrix3X& q, const Matrix3X& y) const;
  Matrix3X push_forward(const Matrix3X& q, const Matrix3X& y) const;  ///< J y
  Matrix3X pull_back(const Matrix3X& q, const Matrix3X& g) const;     ///< Jᵀ g
  Matrix3X bend(const Matrix3X& q, const Matrix3X& y) const;          ///< as BodyChart::bend, for all nodes
  double turn(const Matrix3X& y) const;                               ///< the largest of all bodies [rad]
  using Mask = BodyChart::Mask;
  /// Which unknowns may move if some node coordinates may not: a body with a chart is held if all its nodes
  /// are.
  Mask free_unknowns(const Mask& free_nodes) const;

 private:
  /// Calls move(first_node, first_unknown, count) for each run of nodes that are unknowns themselves.
  template <class Move>
  void for_each_stretch(const Move& move) const;
  /// The first part whose nodes come after this one.
  std::vector<Part>::const_iterator after(Index node) const;
  Index node_count_ = 0, unknown_count_ = 0;
  std::vector<Part> parts_;
};

}  // namespace apart
