#pragma once
#include <apart/collision/broad_phase.hpp>
#include <apart/core/diagnostics.hpp>
#include <apart/core/team.hpp>
#include <apart/geometry/path.hpp>

#include <memory>

namespace apart {

/// Which pairs a step bound tests first, and when it tests all others. See step_bound.hpp.
enum class CcdCulling {
  none,        ///< all pairs on the whole path, always
  near_first,  ///< pairs near x first, others only on the part of the path these leave free; same bits as
               ///< none
  cfl,         ///< pairs in reach first, others by the largest displacement [thesis A.3]; shorter or equal
};

struct CandidateOptions {
  /// Whether candidates are found with a margin and reused while the motion stays within it. If not, every
  /// new x is searched. Changes no result.
  bool reuse = true;
  CcdCulling culling = CcdCulling::near_first;
  /// Candidates along a path that are in memory at a time: 20 bytes each, and 16 more while they are sorted.
  std::size_t block_size = 10'000'000;
  /// The processes that divide the pairs among them; must outlive the cache.
  const Team* team = &Team::alone();
};

/// Candidate pairs that are searched for once and used by the active set, step bounds and assembly of many
/// iterates.
///
/// A search at a centre x_c lists all pairs closer than reach + 2δ. While no vertex is farther than the
/// margin δ from x_c, the distance of a pair has changed by at most 2δ; so every pair closer than `reach` is
/// in the list, and so is every pair that comes that close on a straight path between two such states. Only
/// when a vertex leaves its margin is the broad phase run again.
///
/// The margin is a trade-off: a large one saves searches but lists more pairs, which all have to be tested.
/// It follows the motion: a little more than the motion last seen, but no less than half the reach, and no
/// more than lists 50 pairs per vertex. Without reuse it is 0. Results never depend on it, since consumers
/// filter candidates by distance; only the time they take does.
///
/// In a team each process has a part of the pairs. All search at the same places for the same distances, so
/// that no pair is left out: every function that may search must be called by all, with the same arguments.
class CandidateCache {
 public:
  /// Pairs of the surface within reach plus the extents of their vertices. The broad phase must be of that
  /// surface, which must outlive the cache. The reach is the largest d̂, since extents account for ξ.
  CandidateCache(std::unique_ptr<BroadPhase> broad_phase, const CollisionSurface& surface,
                 const CandidateOptions& options = {}, Timings* timings = nullptr);
  /// Time spent in searches is counted as Phase::broad_phase of `timings`, if given; it must outlive the
  /// cache. reach [m]: the largest ξ + d̂; 0 if no pair of bodies has contact, and then no pair is ever
  /// listed.
  CandidateCache(std::unique_ptr<BroadPhase> broad_phase, double reach, const CandidateOptions& options = {},
                 Timings* timings = nullptr);
  /// All pairs that can be closer than `reach` (and their extents) at x. Searches again if x has left the
  /// margin. Throws MemoryError if there are more than fit into memory.
  /// The reference is valid until the next call, as are those below.
  const Candidates& at(const Matrix3X& x);
  /// The same, with bounds of their distances. What is noted in NearPairs::here is kept, less the motion from
  /// one call to the next.
  NearPairs near(const Matrix3X& x);
  /// All pairs that can come closer than `reach` on the straight path x → x + p.
  const Candidates& along(const Matrix3X& x, const Matrix3X& p);
  /// All pairs whose chords can come closer than `reach` and the deviations of their points on a share of a
  /// path, in blocks as BroadPhase::for_each_block, of at most block_size pairs unless the list around its
  /// start covers the path.
  bool for_each_block_along(const Path& path, double share, BroadPhase::BlockVisitor visit);
  /// A share of a path, in [0, 1], on which the pairs last returned by `at` are complete.
  double covered_share(const Path& path) const;

  const Team& team() const { return *options_.team; }
  const CandidateOptions& options() const { return options_; }
  double reach() const { return reach_; }
  /// [m]: how close the pair must be to count, `reach` and the extents of both.
  double reach(const Stencil& s) const {
    return extent_.empty() ? reach_
                           : reach_ + extent_[s.vertices[0]] + extent_[s.vertices[first_count(s.kind)]];
  }
  Index pair_count() const { return Index(around_.size()); }  ///< in the list around a centre
  std::size_t searches() const { return searches_; }          ///< how often the broad phase ran

 private:
  bool covers(const Matrix3X& x) const;
  /// `around`: of each vertex besides [m]; empty: zero.
  bool covers(const Matrix3X& x, std::span<const double> around) const;
  bool covers_path(const Matrix3X& x, const Matrix3X& end, std::span<const double> around = {});
  void search(const Matrix3X& x);
  void carry_distances(const Matrix3X& x);
  std::optional<Candidates> find(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1, double radius);
  bool for_each_block(const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
                      BroadPhase::BlockVisitor visit);

  std::unique_ptr<BroadPhase> broad_phase_;
  std::vector<float> drop_farther(Candidates& candidates, const Matrix3X& x, double more) const;
  void ensure_room(double pairs) const;
  double estimated_pairs(const Matrix3X& x, double radius) const;
  const CollisionSurface* surface_ = nullptr;  ///< to estimate the number of pairs; may be null
  double reach_;
  double most_thickness_, most_reach_;  ///< ξ and ξ + d̂ of no pair are larger [m]
  std::vector<double> extent_;          ///< of each vertex [m]; empty: zero
  CandidateOptions options_;
  Timings* timings_;
  double motion_ = 0;  ///< largest motion of a vertex that the next search should cover [m]
  double most_;        ///< largest margin that did not list too many pairs [m]
  double margin_ = 0;  ///< δ
  Matrix3X centre_;    ///< x_c
  Candidates around_;  ///< valid while covers(x)
  /// [m] of each of these at the centre, at most; empty: not known
  std::vector<float> distance_;
  Matrix3X moved_;  ///< [m] from the centre, by the last `near`
  Matrix3X place_;  ///< [m] x of the last `near`
  /// [m] of each pair around the centre at that x, at most; 0: not known. As long as distance_.
  std::vector<float> here_;
  Candidates swept_;       ///< of the last long path
  std::size_t calls_ = 0;  ///< of `at` since the last search around a centre
  std::size_t searches_ = 0;
};

}  // namespace apart
