#pragma once
#include <apart/collision/contact_weights.hpp>
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

/// Contact between two bodies, or of a body with itself.
struct PairSettings {
  bool enabled = true;   ///< false: the two may overlap, no contact is computed
  double friction = 0;   ///< μ, of sticking
  double dhat = 1e-3;    ///< d̂ [m], distance at which the barrier starts
  double thickness = 0;  ///< ξ [m], a distance that is always kept; the barrier acts on (ξ, ξ + d̂)
  std::optional<double> kinetic_friction = std::nullopt;  ///< μ of sliding; none: as of sticking
  double epsv = 1e-3;          ///< ε_v [m/s]: below this sliding speed friction is static
  double stiffness_scale = 1;  ///< factor on κ for this pair's barrier; with weights in 1/m³
  /// Of a body with itself: contact is shortened for primitives within its reach at the start (see
  /// own_range).
  bool spares_neighbours = false;
};

/// The scale of forces of a contact for κ = 1 [m³]: they are 2d |∂b/∂s|, with s of the order of ŝ = (2ξ + d̂)
/// d̂ and d of ξ + d̂. At half of d̂ about four times this.
inline double force_scale(double thickness, double dhat) {
  return (2 * thickness + dhat) * dhat * (thickness + dhat);
}

/// Settings for every pair of bodies; symmetric. Bodies are grouped in classes: a pair has the settings of
/// its two classes unless it has its own. Memory grows with the number of classes and of such pairs, not with
/// the square of the number of bodies.
class PairTable {
 public:
  /// The same settings for every pair.
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
  /// From now on the body has no contact, not even with itself.
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
  /// eₐ ≥ 0 [m] for every body such that eₐ + e_b ≥ ξ for every enabled pair; half of the body's own
  /// thickness if the ξ of every pair is the mean of two bodies'.
  std::vector<double> half_thickness() const;
  /// Sets every stiffness_scale such that all pairs exert the same force at the same share of their reach;
  /// the pair with the smallest reach keeps 1.
  void equalise_stiffness();
  /// The same for contacts weighted by area, κ being a pressure: divides by the scale of forces.
  void normalise_stiffness();
  /// force_scale() times stiffness_scale: smallest over enabled pairs [m³]; 1 if there are none.
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

/// A filter given by the user: whether vertices a and b can collide. Symmetric, depends on its arguments
/// only, and may be called from several threads. A pair of primitives is skipped if no vertex of one can
/// collide with a vertex of the other; to ignore contact between two pieces, return false for all their
/// vertices.
using CanCollide = std::function<bool(Index a, Index b)>;

/// All that contact sees of a scene: the vertices x = Φ(q) of all bodies in one numbering, with the
/// triangles, segments and isolated points on them, and half-spaces. Whether a vertex belongs to a volume, a
/// shell or a rigid body makes no difference here; what matters is which body it belongs to (for the settings
/// of pairs) and which connected piece (for the contact of a piece with itself). Positions are not part of
/// it: every query is given x.
///
/// Two surfaces without intersection stay so if no vertex–triangle, edge–edge, vertex–segment or point–point
/// pair comes to distance zero; these are the pairs that broad phases list.
///
/// Immutable. Checked in the constructor (InputError): every index in range, the vertices of a primitive
/// distinct and of one body, rest positions finite, normals of unit length.
struct CollisionSurface {
  CollisionSurface() = default;
  CollisionSurface(Matrix3X rest_positions, Faces surface_faces, Edges free_segments,
                   std::vector<int> body_of_vertex, PairTable pair_table, std::vector<HalfSpace> planes);

  Matrix3X rest;                 ///< [m], 3 × vertex count, for the mollifier's scale
  Faces faces;                   ///< all triangles, as given
  Edges edges;                   ///< of triangles and segments, each once, smaller vertex first, sorted
  std::vector<int> vertex_body;  ///< body of each vertex
  /// [m] PairTable::half_thickness of each vertex's body: searches extend their radius by this around the
  /// vertex, so that thick bodies do not enlarge the search around thin ones. Empty: zero for all.
  std::vector<double> vertex_extent;
  std::vector<Index> vertex_piece;       ///< connected piece of each vertex, by its smallest vertex
  std::vector<Index> isolated_vertices;  ///< vertices on no edge that carry no half-space: points
  std::vector<Index> free_edges;         ///< edges on no face: segments
  /// Of each vertex: the plane that it never leaves, counted from 0; −1: none. Empty: none of all. Two edges
  /// of one plane are no pair: the first place where they touch is an end of one of them, which the pairs of
  /// vertices and edges see (docs/collision.md). Set it before the surface is given to a broad phase, which
  /// keeps a copy.
  std::vector<int> vertex_plane;
  bool in_one_plane(Index a, Index b) const {
    return !vertex_plane.empty() && vertex_plane[std::size_t(a)] >= 0 &&
           vertex_plane[std::size_t(a)] == vertex_plane[std::size_t(b)];
  }
  PairTable pairs;
  std::vector<HalfSpace> half_spaces;
  ContactWeights weights;  ///< of primitives in contact; empty: every pair of primitives counts alike
  /// Pairs that it rejects have no contact, as if disabled in `pairs`. Empty: all pairs can collide. Does not
  /// apply to half-spaces. Set it before the surface is given to a broad phase, which keeps a copy.
  CanCollide can_collide;

  /// Weights contact by area.
  void weigh(const std::vector<BodyGrain>& grains);
  Index vertex_count() const { return Index(rest.cols()); }
  /// Settings of the bodies two vertices belong to.
  const PairSettings& settings(Index vertex_a, Index vertex_b) const {
    return pairs(vertex_body[vertex_a], vertex_body[vertex_b]);
  }
};

}  // namespace apart
