#pragma once
#include <apart/bodies/body.hpp>
#include <apart/potentials/elastic_potential.hpp>
#include <apart/potentials/own_nodes.hpp>

namespace apart {

/// scale · (Σ EA L/2 (l/L − 1)² over segments + Σ α/l̄ (k − k̄)² over bends) of nodes; scale = dt².
///
/// k = |κb| = 2 tan(θ/2) is the discrete curvature at a node that two segments turn by θ [C-IPC supplement
/// eq. 14, 15; Bergou et al. 2008, with the lengths as they are, so that bending is a function of the angle
/// alone]. k̄ is its value at rest. The energy grows without bound as a rod is folded back (θ → π); there,
/// and where a segment has lost its length, it is infinite. A rod has no twist, so the rest curvature has a
/// size but no direction.
class RodElasticity final : public ElasticPotential {
 public:
  /// Adds the cells of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const RodCells& cells, Index first_node, const OwnNodes& own = {});

  std::string_view name() const override { return "rods"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  /// Segments and bends in the order of `add`: of each body first its segments, then its bends.
  Index term_count() const override { return Index(terms_.size()); }
  TermPoints term(Index i) const override {
    return TermPoints(terms_[std::size_t(i)].nodes).first(terms_[std::size_t(i)].is_bend() ? 3 : 2);
  }
  /// Projected exactly along and across a segment; a bend in its plane (4 × 4) and across it (two numbers).
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  Strains largest_strains(const Matrix3X& q) const override;  ///< over all segments
  /// The most strained segment, and the bend that is nearest to being folded back.
  std::vector<WorstElement> worst_elements(const Matrix3X& q) const override;
  bool has_stress() const override { return false; }

 private:
  void prepare_at(const Matrix3X&) override {}  // lengths and angles are quickly found

  struct Term {
    std::array<Index, 3> nodes;  ///< of a segment: the last −1
    double stiffness;            ///< EA/L [N/m] of a segment, α/l̄ [N m] of a bend
    double rest;                 ///< L [m], or k̄
    bool is_bend() const { return nodes[2] >= 0; }
  };
  std::vector<Term> terms_;
};

}  // namespace apart
