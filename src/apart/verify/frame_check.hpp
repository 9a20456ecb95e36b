#pragma once
// Checks of the guarantees of a run, one by one, in a frame and between two states.
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>
#include <apart/verify/affine_bodies.hpp>
#include <apart/verify/curved_cells.hpp>
#include <apart/verify/finding.hpp>
#include <apart/verify/frame_difference.hpp>
#include <apart/verify/planar_bodies.hpp>
#include <apart/verify/rigid_bodies.hpp>
#include <apart/verify/solids.hpp>
#include <apart/verify/strain_limits.hpp>
#include <apart/verify/thickness.hpp>
#include <apart/verify/topology_change.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apart::verify {

/// The checks for all states of a run that have the topology of a frame, the first one that has it. They
/// share bodies, meshes and half-spaces with it.
///
/// Two obstacles are never checked against each other, nor an obstacle against itself or a half-space: their
/// motion is given, and no promise is made about it. Pairs of bodies that the scene lets overlap are left out
/// too.
class FrameCheck {
 public:
  /// Throws InputError if the frame contradicts itself (indices out of range, arrays of wrong size).
  explicit FrameCheck(const Frame& frame);

  // Each takes the positions of all points [m]; all but `not_finite` require finite ones.
  std::vector<Finding> not_finite(const Matrix3X& points) const;
  /// At most `limit` of them. Neighbours in a mesh, which share vertices, must not intersect in more than
  /// what they share.
  std::vector<Finding> intersections(const Matrix3X& points, std::size_t limit = std::size_t(-1)) const;
  /// Pieces of bodies inside a solid: inside a body of tetrahedra, a planar one or an affine or rigid one
  /// with a closed surface, whose contact they see. Surfaces must not intersect, since only one point of each
  /// piece is tested. Bodies that enclose space without material (shells, obstacles) may contain others.
  std::vector<Finding> nested(const Matrix3X& points) const;
  /// Inverted or flat tetrahedra and triangles of planar bodies, points that have left the plane of theirs;
  /// affine bodies that are mirrored or flat, also those without tetrahedra, or
  /// not an affine image of what they were; rigid bodies that changed their shape; triangles and segments of
  /// simulated bodies that are collapsed.
  std::vector<Finding> inversions(const Matrix3X& points) const;
  /// Of these, only affine bodies.
  std::vector<Finding> affine_images(const Matrix3X& points) const;
  /// Rigid bodies that have not kept their shape.
  std::vector<Finding> rigid_shapes(const Matrix3X& points) const;
  /// Triangles at or beyond a strain limit. Upper limits need no check on paths: what holds at both ends of a
  /// straight path holds on it, the largest stretch being convex.
  /// `merging`: next to a change of the mesh. Triangles there whose points are not all apart yet have the
  /// shape of others: what they are made of is measured on either side of the change, where they are apart.
  std::vector<Finding> strains(const Matrix3X& points, bool merging = false) const;
  /// The largest share of a strain limit that is used up, 1 at the limit; empty if there is none.
  std::optional<double> largest_strain_share(const Matrix3X& points) const;
  /// Points on or below a half-space's plane, or above it by less than `gap`.
  std::vector<Finding> below_half_spaces(const Matrix3X& points, double gap = 0) const;
  /// Pairs closer than `gap`, at most `limit` of them.
  std::vector<Finding> gaps(const Matrix3X& points, double gap, std::size_t limit = std::size_t(-1)) const;

  /// Pairs closer than their thickness, and points closer than theirs to a half-space; at most `limit` pairs.
  std::vector<Finding> thin(const Matrix3X& points, std::size_t limit = std::size_t(-1)) const;
  /// Only the points too close to a half-space.
  std::vector<Finding> thin_above_half_spaces(const Matrix3X& points) const;
  bool has_thickness() const { return thickness_.exists(); }

  struct PathFindings {
    std::int64_t pairs = 0;  ///< pairs of primitives examined
    std::vector<Finding> findings;
  };
  /// Contacts, gaps below the thickness and inversions while all points move straight from one position to
  /// the other, both ends included. Half-spaces need no check of their own, carried or not: they hold on the
  /// way if they hold at both ends.
  /// `merging`: the first or last path on a mesh, at an end of which edges may be one point. Neighbours of
  /// such a point are neighbours of each other, and cells of such an edge have no volume there.
  PathFindings path(const Matrix3X& from, const Matrix3X& to, bool merging = false) const;
  /// Whether the ends of an edge are in one place.
  bool has_merged_points(const Matrix3X& points) const { return MergedPoints(first_, {&points}).any(); }
  /// The surface as it lies in space.
  PlacedSurface placed(const Matrix3X& points) const { return {first_, surface_, points}; }

  /// The smallest distance of any checked pair or point to half-space, if one lies within a range of about
  /// half the length of an edge.
  std::optional<double> smallest_distance(const Matrix3X& points) const;
  /// Smallest V/V₀ over the checked tetrahedra; empty if there are none.
  std::optional<double> smallest_volume_ratio(const Matrix3X& points, const Matrix3X& reference) const;

  /// Bodies that are absent from now on, and are not checked. Throws InputError for one that does not exist.
  void set_absent(const std::vector<int>& bodies);

  Index topology() const { return first_.topology; }
  Index point_count() const { return first_.mesh.point_count(); }
  std::optional<std::string> difference(const Frame& frame) const {
    return verify::difference(first_, frame);
  }
  std::optional<std::string> difference_of_bodies(const Frame& frame) const {
    return verify::difference_of_bodies(first_, frame);
  }

  Index edge_count() const { return Index(surface_.face_edges.size() + surface_.segments.size()); }
  Index face_count() const { return Index(surface_.faces.size()); }
  Index planar_count() const { return planar_.guarded_count(); }  ///< triangles that must not invert
  Index tetrahedron_count() const { return Index(tetrahedra_.size() + curved_.size()); }
  Index invertible_count() const {
    return invertible_;
  }  ///< tetrahedra and planar triangles of materials that may invert: not checked
  Index limited_count() const { return limits_.count(); }  ///< triangles with strain limits
  Index half_space_count() const { return Index(first_.half_spaces.size()); }
  /// Pairs of neighbours in a mesh that could be folded onto each other.
  Index neighbour_count() const { return Index(neighbours_.size()); }
  Index solid_count() const { return solids_.count(); }  ///< connected solids that nothing may lie in
  Index affine_count() const { return affine_.count(); }
  Index rigid_count() const { return rigid_.count(); }

 private:
  void add_planar(const Matrix3X& points, std::vector<Finding>& found) const;
  void add_left_plane(const Matrix3X& points, std::vector<Finding>& found) const;
  std::vector<Finding> folds(const Matrix3X& points, std::size_t limit) const;
  void add_collapsed(const Matrix3X& points, std::vector<Finding>& found) const;
  /// Curved cells that are not proven to be positive on the way; the same place twice: in a state.
  void add_curved(const Matrix3X& from, const Matrix3X& to, std::vector<Finding>& found) const;
  bool tested(Index i, Index j) const;
  bool bodies_tested(int a, int b) const;
  Finding finding(FindingKind kind, std::vector<std::vector<Index>> cells) const;
  Finding pair_finding(FindingKind kind, const exact::PrimitivePair& pair) const;
  Finding tetrahedron_finding(FindingKind kind, Index t) const;
  static std::vector<Index> cell_of(const exact::Primitive& primitive);
  static std::string coordinates(const Vector3& p);
  std::string name(const std::vector<Index>& cell) const;
  const std::string& body_name(int body) const { return first_.bodies[std::size_t(body)].name; }
  void for_each_above(FunctionRef<void(const HalfSpace&, Index point)> visit) const;

  Frame first_;
  std::vector<Index> piece_points_;  ///< one of each piece of the surface
  std::vector<exact::PrimitivePair> neighbours_;
  Solids solids_;
  AffineBodies affine_;
  RigidBodies rigid_;
  PlanarBodies planar_;
  StrainLimits limits_;
  Thickness thickness_;
  exact::Surface surface_;
  /// A curved cell that must not invert.
  struct Curved {
    int degree;
    std::vector<Index> points;
  };
  std::map<int, CurvedProof> proofs_;  ///< by degree
  std::vector<Curved> curved_;
  std::vector<char> is_obstacle_;  ///< per body: obstacle or half-space
  /// Of each point: the same number for obstacles, one for each body that is not tested against itself.
  std::vector<int> untested_groups() const;
  std::vector<std::pair<int, int>> ignored_;  ///< sorted, smaller body first
  std::vector<char> absent_;                  ///< per body
  std::vector<Index> local_;                  ///< per point: its number within its body
  /// Of simulated bodies, in the surface or a tetrahedron that must not invert.
  std::vector<Index> used_points_;
  Index invertible_ = 0;
  std::vector<Index> tetrahedra_;  ///< of simulated bodies
};

}  // namespace apart::verify
