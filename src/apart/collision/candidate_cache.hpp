#pragma once
#include <apart/collision/broad_phase.hpp>
#include <apart/core/diagnostics.hpp>

#include <memory>

namespace apart {

/// One candidate set with a margin, for activation, step bounds and assembly alike.
/// The set is found at a centre x_c with radius reach + 2δ: as long as no vertex is farther than δ from x_c,
/// every pair closer than `reach` is in it, and a straight path between two such states touches no other
/// pair.
///
/// The margin δ follows the motion: a search is made for a little more than the motion last seen, but for no
/// less than half the reach, and for no more than what lists 50 pairs per vertex.
class CandidateCache {
 public:
  /// Time spent in searches is counted as Phase::broad_phase of `timings`, if given; it must outlive the
  /// cache. reach [m]: the largest ξ + d̂; 0 if no pair of bodies has contact, and then no pair is ever
  /// listed.
  CandidateCache(std::unique_ptr<BroadPhase> broad_phase, double reach, Timings* timings = nullptr);
  /// All pairs that can be closer than `reach` at x. Refinds when x has left the margin. The reference is
  /// good until the next call, as are those below.
  const Candidates& at(const Matrix3X& x);
  /// All pairs that can come closer than `reach` on the straight path x → x + p.
  const Candidates& along(const Matrix3X& x, const Matrix3X& p);
  /// The same, or null if there are more than `limit`.
  const Candidates* along_at_most(std::size_t limit, const Matrix3X& x, const Matrix3X& p);
  /// A share of the path x → x + p, in [0, 1], on which the pairs last returned by `at` are all there are.
  double covered_share(const Matrix3X& x, const Matrix3X& p) const;

  std::size_t searches() const { return searches_; }  ///< how often the broad phase ran

 private:
  bool covers(const Matrix3X& x) const;
  void search(const Matrix3X& x);
  std::optional<Candidates> find(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1, double radius);

  std::unique_ptr<BroadPhase> broad_phase_;
  double reach_;
  Timings* timings_;
  double motion_ = 0;      ///< largest motion of a vertex that the next search should cover [m]
  double most_;            ///< largest margin that has not listed too many pairs [m]
  double margin_ = 0;      ///< δ
  Matrix3X centre_;        ///< x_c
  Candidates around_;      ///< valid while covers(x)
  Candidates swept_;       ///< of the last long path
  std::size_t calls_ = 0;  ///< of `at` since the last search around a centre
  std::size_t searches_ = 0;
};

}  // namespace apart
