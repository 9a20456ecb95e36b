#pragma once
#include <apart/collision/broad_phase.hpp>

#include <memory>

namespace apart {

/// One candidate set with a margin, for activation, step bounds and assembly alike.
/// The set is found at a centre x_c with radius reach + 2δ: as long as no vertex is farther than δ from x_c, every pair
/// closer than `reach` is in it, and a straight path between two such states touches no other pair.
class CandidateCache {
 public:
  CandidateCache(std::unique_ptr<BroadPhase> broad_phase, double reach);
  /// All pairs that can be closer than `reach` at x. Refinds when x has left the margin.
  const Candidates& at(const Matrix3X& x);
  /// All pairs that can come closer than `reach` on the straight path x → x + p.
  const Candidates& along(const Matrix3X& x, const Matrix3X& p);

  std::size_t searches() const { return searches_; }  ///< how often the broad phase ran

 private:
  bool covers(const Matrix3X& x) const;
  std::unique_ptr<BroadPhase> broad_phase_;
  double reach_;
  double margin_;
  Matrix3X centre_;
  Candidates around_;  ///< valid while covers(x)
  Candidates swept_;   ///< of the last long path
  std::size_t searches_ = 0;
};

}  // namespace apart
