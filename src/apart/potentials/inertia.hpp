#pragma once
#include <apart/potentials/potential.hpp>

#include <Eigen/SparseCore>

namespace apart {

/// weight/2 (q − q̃)ᵀ M (q − q̃) over nodes. [thesis eq. 2.1]
class Inertia final : public Potential {
 public:
  /// `mass`: node × node [kg], symmetric.
  explicit Inertia(const Eigen::SparseMatrix<double>& mass);
  void set_target(Matrix3X predicted) { predicted_ = std::move(predicted); }  ///< q̃ [m]

  /// 1 for inertia proper. A small weight with q̃ at the last iterate is the proximal term of quasi-static
  /// steps.
  void set_weight(double weight) { weight_ = weight; }

  std::string_view name() const override { return "inertia"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(terms_.size()); }
  TermPoints term(Index i) const override { return terms_[std::size_t(i)].nodes; }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection, LocalHessians& out) const override;

 private:
  struct Entry {
    std::array<Index, 2> nodes;  ///< row ≥ column
    double mass;
    bool is_diagonal() const { return nodes[0] == nodes[1]; }
  };
  /// Entries [first, last): of up to four nodes that have mass in common with no others, as those of a rigid
  /// body do, all; else one.
  struct MassTerm {
    Index first, last;
    FewPoints nodes;
  };
  std::vector<Entry> entries_;  ///< term by term
  std::vector<MassTerm> terms_;
  Matrix3X predicted_;
  double weight_ = 1;
};

}  // namespace apart
