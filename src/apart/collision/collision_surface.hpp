#pragma once
#include <apart/geometry/half_space.hpp>
#include <apart/geometry/mesh.hpp>

#include <functional>
#include <optional>
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

/// Settings for every pair of bodies; symmetric.
class PairTable {
 public:
  explicit PairTable(int body_count = 0, const PairSettings& everywhere = {});
  const PairSettings& operator()(int a, int b) const { return settings_[std::size_t(a) * count_ + b]; }
  /// For a with b and b with a. Throws InputError unless d̂ > 0, ξ ≥ 0 and μ ≥ 0, all finite, and sliding has
  /// no more friction than sticking.
  void set(int a, int b, const PairSettings& settings);
  int body_count() const { return count_; }
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
  int count_;
  std::vector<PairSettings> settings_;
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
