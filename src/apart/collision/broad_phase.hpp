#pragma once
#include <apart/collision/stencil.hpp>
#include <apart/core/function_ref.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace apart {

/// How close primitives must come to count.
struct SearchRange {
  double radius = 0;                    ///< [m], between the primitives
  std::span<const double> around = {};  ///< [m], of each vertex besides; empty: zero
  SearchRange(double all, std::span<const double> each = {}) : radius(all), around(each) {}  // NOLINT
};

/// Finds candidate pairs. Conservative: a pair whose primitives come within `radius`, the extents of their
/// bodies (CollisionSurface::vertex_extent) and what a range adds, of each other (Euclidean) while every
/// vertex moves straight from x0 to x1 is always reported, in floating point too; others may be. Which kinds:
/// vertex–triangle for all vertices, edge–edge for all edges, all vertices against free edges, and isolated
/// vertices against each other (all other cases are covered by these). Vertices of edges against free edges
/// are covered too, by their distance; but the mollifier removes the force between parallel edges, so where
/// there is no triangle it is the vertices that keep two segments apart. Never reported: pairs that share a
/// vertex, edges of one plane, and pairs the surface excludes (CollisionSurface::vertex_plane, can_collide).
/// x0, x1: 3 × vertex count [m], finite (InvariantError otherwise). Not const: a tree is refitted between
/// calls. The result depends on the arguments only, not on earlier calls and not on the number of threads.
///
/// The search can be divided among a team of processes: then each of them finds a part of the pairs, all
/// together find each once, and nothing is sent.
class BroadPhase {
 public:
  virtual ~BroadPhase() = default;
  /// Which part of the pairs is found from now on: that of process `rank` of `size`.
  virtual void divide(int rank, int size) = 0;
  /// Some of the pairs: sorted, each once, no pair of another block. Returns whether to continue.
  using BlockVisitor = FunctionRef<bool(std::span<const Stencil> block)>;
  /// Passes all pairs to `visit` in blocks of at most `limit` ≥ 1, and stores no more at any time, except for
  /// a few thousand pairs of boxes per thread: for paths so long that everything may collide with everything.
  /// One block if all pairs fit, none if there are none. Returns whether all have been passed on, even if the
  /// visitor did not want to continue after the last.
  virtual bool for_each_block(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                              const SearchRange& range, BlockVisitor visit) = 0;
  /// All pairs, or nothing if there are more than `limit`.
  virtual std::optional<Candidates> find_at_most(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                                                 double radius);
  Candidates find(const Matrix3X& x0, const Matrix3X& x1, double radius) {
    return *find_at_most(std::size_t(-1), x0, x1, radius);
  }
  Candidates find(const Matrix3X& x, double radius) { return find(x, x, radius); }
};

/// One row of the list of broad phases.
struct BroadPhaseMethod {
  std::string_view name;     ///< as in the scene file, "bvh"
  std::string_view summary;  ///< one line of documentation
  std::unique_ptr<BroadPhase> (*make)(const CollisionSurface&);
};
/// The first is the default; "brute_force" is the oracle.
std::span<const BroadPhaseMethod> broad_phase_methods();
/// Throws InputError for an unknown name.
std::unique_ptr<BroadPhase> make_broad_phase(std::string_view name, const CollisionSurface& surface);

// The methods. Each keeps a copy of what it needs of the surface. All but brute force report the same pairs,
// up to the rounding of boxes.
std::unique_ptr<BroadPhase> make_bvh(const CollisionSurface& surface);
std::unique_ptr<BroadPhase> make_sweep_and_prune(const CollisionSurface& surface);
std::unique_ptr<BroadPhase> make_spatial_hash(const CollisionSurface& surface);
std::unique_ptr<BroadPhase> make_brute_force(const CollisionSurface& surface);

}  // namespace apart
