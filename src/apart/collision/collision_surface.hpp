#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/geometry/half_space.hpp>
#include <apart/geometry/mesh.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace apart {

/// How two bodies (or one with itself) meet.
struct PairSettings {
  bool enabled = true;   ///< false: the two may overlap, no contact is computed
  double friction = 0;   ///< μ, of sticking
  double dhat = 1e-3;    ///< d̂ [m], distance at which the barrier starts
  double thickness = 0;  ///< ξ [m], gap that is never undercut; the barrier acts on (ξ, ξ + d̂)
  std::optional<double> kinetic_friction = std::nullopt;  ///< μ of sliding; none: as of sticking
  double epsv = 1e-3;          ///< ε_v [m/s]: below this sliding speed friction is static
  double stiffness_scale = 1;  ///< of this pair's barrier, against κ of all
  /// Of a body with itself: contact spares primitives that were made within its reach (see own_range).
  bool spares_neighbours = false;
};

/// Settings for every pair of bodies; symmetric. Bodies are in classes: two bodies meet as their classes do,
/// unless the pair has settings of its own. Memory follows the number of classes and of such pairs, not the
/// square of the number of bodies.
class PairTable {
 public:
  /// Every pair alike.
  explicit PairTable(int body_count = 0, const PairSettings& everywhere = {});
  /// `body_class`: of each body, counted from 0.
  PairTable(std::vector<int> body_class, const PairSettings& everywhere);

  const PairSettings& operator()(int a, int b) const {
    if (a == b || (flags_[std::size_t(a)] | flags_[std::size_t(b)]) != 0) return special(a, b);
    return settings_[std::size_t(between_[std::size_t(class_[std::size_t(a)]) * std::size_t(class_count_) +
                                          std::size_t(class_[std::size_t(b)])])];
  }
  /// For a with b and b with a. Throws InputError unless d̂ > 0, ξ ≥ 0 and μ ≥ 0, all finite, and sliding has
  /// no more friction than sticking.
  void set(int a, int b, const PairSettings& settings);
  /// For every body of class c with every other body of class d, but for pairs with settings of their own.
  void set_classes(int c, int d, const PairSettings& settings);
  /// What set_classes has set.
  const PairSettings& of_classes(int c, int d) const { return settings_[std::size_t(between(c, d))]; }
  /// From now on the body meets nothing, not even itself.
  void disable(int body);
  /// Changes the settings of all pairs alike.
  void change_all(FunctionRef<void(PairSettings&)> change);

  int body_count() const { return int(class_.size()); }
  int class_count() const { return class_count_; }
  int class_of(int body) const { return class_[std::size_t(body)]; }
  /// Calls `visit` with all settings that some pair has, each at least once, and one pair (a ≤ b) that has
  /// them.
  void for_each_used(FunctionRef<void(const PairSettings&, int a, int b)> visit) const;
  /// Calls `visit` for pairs a < b: for those of which `wanted` is true of one pair of the same classes, and
  /// for all that have settings of their own. In no order.
  using PairVisitor = FunctionRef<void(const PairSettings&, int a, int b)>;
  void for_each_pair(FunctionRef<bool(const PairSettings&, int a, int b)> wanted, PairVisitor visit) const;
  /// The pairs a < b with settings of their own.
  std::vector<std::pair<int, int>> own_pairs() const;

  bool all_enabled() const;
  double max_reach() const;  ///< largest ξ + d̂ over enabled pairs [m]; 0 if there are none
  /// eₐ ≥ 0 [m] for every body such that eₐ + e_b ≥ ξ for every enabled pair, and no larger than needed where
  /// ξ is the mean of two bodies': half of a body's own thickness then.
  std::vector<double> half_thickness() const;
  /// Gives every pair the stiffness_scale with which all press alike at like shares of their reach; the pair
  /// of the smallest reach keeps 1.
  void equalise_stiffness();
  /// The scale of forces for κ = 1, ŝ (ξ + d̂) times stiffness_scale: smallest over enabled pairs [m³]; 1 if
  /// there are none. A contact at half of d̂ presses with about four times κ times this.
  double force_per_stiffness() const;
  double max_dhat() const;  ///< largest d̂ over enabled pairs [m]; 0 if there are none
  double min_dhat() const;  ///< smallest d̂ over enabled pairs [m]; +infinity if there are none

 private:
  enum Flag : char { has_own = 1, disabled = 2 };
  const PairSettings& special(int a, int b) const;
  int intern(const PairSettings& settings);
  std::vector<std::vector<int>> members() const;
  int& between(int c, int d) { return between_[std::size_t(c) * std::size_t(class_count_) + std::size_t(d)]; }
  int between(int c, int d) const {
    return between_[std::size_t(c) * std::size_t(class_count_) + std::size_t(d)];
  }

  int class_count_ = 0;
  std::vector<int> class_, class_size_;
  std::vector<char> flags_;                     ///< of each body: Flag
  std::vector<PairSettings> settings_;          ///< all that occur; the first stands for 'disabled'
  std::vector<int> self_;                       ///< of each body with itself, in settings_
  std::vector<int> between_;                    ///< of two bodies by their classes, in settings_
  std::unordered_map<std::uint64_t, int> own_;  ///< of single pairs, by a · 2³² + b with a < b, in settings_
  std::map<std::array<double, 8>, int> numbers_;  ///< of settings, by their values
};

/// A user's filter: whether vertices a and b may meet. Symmetric, depends on its arguments only, and may be
/// called from several threads. A pair of primitives is left out if no vertex of the one may meet a vertex of
/// the other: to keep two pieces apart in the search, answer false for all their vertices.
using MayMeet = std::function<bool(Index a, Index b)>;

/// Everything contact can touch: vertices x = Φ(q) of all bodies with the primitives on them. Knows nothing
/// of what the bodies are. Immutable. Checked in the constructor (InputError): every index in range, the
/// vertices of a primitive distinct and of one body, rest positions finite, normals of unit length.
struct CollisionSurface {
  CollisionSurface() = default;
  CollisionSurface(Matrix3X rest_positions, Faces surface_faces, Edges free_segments,
                   std::vector<int> body_of_vertex, PairTable pair_table, std::vector<HalfSpace> planes);

  Matrix3X rest;                 ///< [m], 3 × vertex count, for the mollifier's scale
  Faces faces;                   ///< all triangles, as given
  Edges edges;                   ///< of triangles and segments, each once, smaller vertex first, sorted
  std::vector<int> vertex_body;  ///< body of each vertex
  /// [m] PairTable::half_thickness of each vertex's body: searches look so much farther around it, so that
  /// thick bodies do not make them look farther around thin ones. Empty: zero for all.
  std::vector<double> vertex_extent;
  std::vector<Index> vertex_piece;       ///< connected piece of each vertex, by its smallest vertex
  std::vector<Index> isolated_vertices;  ///< vertices on no edge that carry no half-space: points
  std::vector<Index> free_edges;         ///< edges on no face: segments
  PairTable pairs;
  std::vector<HalfSpace> half_spaces;
  /// Pairs that it rejects are no contact at all, as if switched off in `pairs`. Empty: all may meet. Does
  /// not concern half-spaces. Set before the surface is handed to a broad phase, which keeps a copy.
  MayMeet may_meet;

  Index vertex_count() const { return Index(rest.cols()); }
  /// Settings of the bodies two vertices belong to.
  const PairSettings& settings(Index vertex_a, Index vertex_b) const {
    return pairs(vertex_body[vertex_a], vertex_body[vertex_b]);
  }
};

}  // namespace apart
