#pragma once
// What may not happen in a frame, and between two states: the promises of a run, checked one by one.
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>
#include <apart/verify/rigid_bodies.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apart::verify {

/// The kinds of findings; their names in certificate.json are `finding_names`, in this order.
enum class FindingKind {
  intersection,
  gap,
  half_space,
  inversion,
  strain,
  not_finite,
  path_contact,
  path_inversion,
  unreadable,
  topology,
  history,
  nested,    ///< something lies inside a solid
  collapse,  ///< a triangle without area, a segment without length
  affine,    ///< an affine body that is no affine image of what it was
  path_gap,  ///< closer than the thickness on the way from one state to the next
  presence,  ///< a body that is there, or is not, against what else is said of it
  scene,     ///< what frames claim is not what the scene says
  binding,   ///< a file that is not the one the run wrote
  rigid      ///< a rigid body that has not kept its shape
};
inline constexpr std::string_view finding_names[] = {
    "intersection",   "gap",        "half_space", "inversion", "strain", "not_finite", "path_contact",
    "path_inversion", "unreadable", "topology",   "history",   "nested", "collapse",   "affine",
    "path_gap",       "presence",   "scene",      "binding",   "rigid"};

/// One broken promise, or one reason why a promise cannot be checked.
struct Finding {
  FindingKind kind;
  std::string text = {};                          ///< a sentence with bodies, elements and coordinates
  std::vector<std::string> bodies = {};           ///< names of the bodies concerned
  std::vector<std::vector<Index>> cells = {};     ///< the elements: indices of points of the frame
  std::vector<std::vector<Index>> elements = {};  ///< the same, indices of points within their body
  std::optional<Vector3> position = {};           ///< [m] where
  std::optional<double> distance = {};            ///< [m] of gaps
  std::string file = {};                          ///< in the run directory; set by `certify`
};

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
  /// At most `limit` of them. Neighbours in a mesh, which share vertices, must not meet in more than what
  /// they share.
  std::vector<Finding> intersections(const Matrix3X& points, std::size_t limit = std::size_t(-1)) const;
  /// Pieces of bodies inside a solid: inside a body of tetrahedra, or an affine or rigid one with a closed
  /// surface, whose contact they see. Surfaces must not intersect, or what is found is of the points that
  /// were looked at: one of each piece. What encloses but has no material inside (shells, obstacles) may hold
  /// others.
  std::vector<Finding> nested(const Matrix3X& points) const;
  /// Inverted or flat tetrahedra; affine bodies that are mirrored or flat, also those without tetrahedra, or
  /// not an affine image of what they were; rigid bodies that changed their shape; triangles and segments of
  /// simulated bodies that are collapsed.
  std::vector<Finding> inversions(const Matrix3X& points) const;
  /// Of these, only affine bodies.
  std::vector<Finding> affine_images(const Matrix3X& points) const;
  /// Rigid bodies that have not kept their shape.
  std::vector<Finding> rigid_shapes(const Matrix3X& points) const;
  /// Triangles at or beyond a strain limit. Upper limits need no check on paths: what holds at both ends of a
  /// straight path holds on it, the largest stretch being convex.
  std::vector<Finding> strains(const Matrix3X& points) const;
  /// The largest share of a strain limit that is used up, 1 at the limit; empty if there is none.
  std::optional<double> largest_strain_share(const Matrix3X& points) const;
  /// Points on or below a half-space's plane, or above it by less than `gap`.
  std::vector<Finding> below_half_spaces(const Matrix3X& points, double gap = 0) const;
  /// Pairs closer than `gap`, at most `limit` of them.
  std::vector<Finding> gaps(const Matrix3X& points, double gap, std::size_t limit = std::size_t(-1)) const;

  /// Pairs closer than their thickness, and points closer than theirs to a half-space; at most `limit` pairs.
  ///
  /// Within one connected piece of a body the thickness is relaxed: a pair that was closer than the body's
  /// thickness and contact distance together, ξ + d̂, in the first frame, at d₀, has ξ d₀ / 2(ξ + d̂) to keep.
  std::vector<Finding> thin(const Matrix3X& points, std::size_t limit = std::size_t(-1)) const;
  /// Only the points too close to a half-space.
  std::vector<Finding> thin_above_half_spaces(const Matrix3X& points) const;
  bool has_thickness() const { return !first_.thickness.empty(); }

  struct PathFindings {
    std::int64_t pairs = 0;  ///< pairs of primitives examined
    std::vector<Finding> findings;
  };
  /// Contacts, gaps below the thickness and inversions while all points move straight from one position to
  /// the other, both ends included. Half-spaces need no check of their own, carried or not: they hold on the
  /// way if they hold at both ends.
  PathFindings path(const Matrix3X& from, const Matrix3X& to) const;

  /// The smallest distance of any checked pair or point to half-space, if one lies within a range of about
  /// half the length of an edge.
  std::optional<double> smallest_distance(const Matrix3X& points) const;
  /// Smallest V/V₀ over the checked tetrahedra; empty if there are none.
  std::optional<double> smallest_volume_ratio(const Matrix3X& points, const Matrix3X& reference) const;

  /// Bodies that are not there from now on, and so are not looked at. Throws InputError for one that does not
  /// exist.
  void set_absent(const std::vector<int>& bodies);

  Index topology() const { return first_.topology; }
  Index point_count() const { return first_.mesh.point_count(); }
  /// What the first difference of another frame's meshes, bodies, half-spaces or ignored pairs to this one's
  /// is.
  std::optional<std::string> difference(const Frame& frame) const;
  /// The same, but for meshes: what frames of all topologies of a run have in common.
  std::optional<std::string> difference_of_bodies(const Frame& frame) const;

  Index edge_count() const { return Index(surface_.face_edges.size() + surface_.segments.size()); }
  Index face_count() const { return Index(surface_.faces.size()); }
  Index tetrahedron_count() const { return Index(tetrahedra_.size()); }
  Index invertible_count() const {
    return invertible_;
  }  ///< tetrahedra of materials that may invert: not checked
  Index limited_count() const { return Index(limited_.size()); }  ///< triangles with strain limits
  Index half_space_count() const { return Index(first_.half_spaces.size()); }
  /// Pairs of neighbours in a mesh that could be folded onto each other.
  Index neighbour_count() const { return Index(neighbours_.size()); }
  Index solid_count() const { return solid_count_; }  ///< connected solids that nothing may lie in
  Index affine_count() const { return Index(affine_.size()); }
  Index rigid_count() const { return rigid_.count(); }

 private:
  double thickness(int a, int b) const;  ///< ξ [m] of two bodies
  double thickness(const exact::PrimitivePair& pair) const;
  void find_pieces();
  void find_solids();
  void find_neighbours();
  void find_affine();
  void find_margins();
  std::vector<Finding> folds(const Matrix3X& points, std::size_t limit) const;
  void add_collapsed(const Matrix3X& points, std::vector<Finding>& found) const;
  bool tested(Index i, Index j) const;
  bool bodies_tested(int a, int b) const;
  Finding finding(FindingKind kind, std::vector<std::vector<Index>> cells) const;
  Finding pair_finding(FindingKind kind, const exact::PrimitivePair& pair) const;
  Finding tetrahedron_finding(FindingKind kind, Index t) const;
  std::string name(const std::vector<Index>& cell) const;
  void for_each_above(FunctionRef<void(const HalfSpace&, Index point)> visit) const;

  Frame first_;               ///< its positions say which pairs of a thick piece are neighbours
  std::vector<Index> piece_;  ///< per point: the first point it is connected with by the surface
  /// Per point: the connected solid whose surface it is part of; −1: none.
  std::vector<int> solid_;
  int solid_count_ = 0;
  std::vector<exact::Primitive> solid_faces_;
  std::vector<Index> piece_points_;  ///< one of each piece of the surface
  /// Primitives that share one vertex or more, and could meet in more than that: triangles with an edge in
  /// common, segments with an end in common, segments that end at a triangle.
  std::vector<exact::PrimitivePair> neighbours_;
  /// An affine body: the corners of a large tetrahedron of its points, and each point as their combination.
  struct AffineBody {
    int body;
    std::array<Index, 4> corners;
    std::vector<Index> points;
    Matrix3X weights;  ///< of corners 1, 2 and 3, less corner 0, for each point
    double size;       ///< [m] largest distance of two corners
  };
  std::vector<AffineBody> affine_;
  RigidBodies rigid_;
  Tetrahedra affine_tetrahedra_;                      ///< their corners
  std::map<std::pair<int, int>, double> exceptions_;  ///< first_.pair_thickness, smaller body first
  std::vector<double> margins_;  ///< [m] per point: half the largest thickness of its body with any other
  exact::Surface surface_;
  std::vector<char> prescribed_;  ///< per body: obstacle or half-space
  std::vector<char> idle_points() const;
  std::vector<std::pair<int, int>> ignored_;  ///< sorted, smaller body first
  std::vector<char> absent_;                  ///< per body
  std::vector<Index> local_;                  ///< per point: its number within its body
  std::vector<Index>
      used_points_;  ///< of simulated bodies, in the surface or a tetrahedron that must not invert
  Index invertible_ = 0;
  std::vector<Index> tetrahedra_;  ///< of simulated bodies
  struct LimitedTriangle {
    Index face;
    std::array<long double, 4> rest;  ///< of Frame::rest_shape
    const FrameStrainLimit* stretch = nullptr;
    const FrameStrainLimit* woven = nullptr;
  };
  std::vector<LimitedTriangle> limited_;
  /// How much of each limit a triangle uses up, 1 at the limit, and a word for the message.
  struct StrainShare {
    long double share = 0;
    std::string_view what;
    double value = 0, limit = 0;
  };
  StrainShare strain_share(const LimitedTriangle& triangle, const Matrix3X& points) const;
  void collect_limits();
};

}  // namespace apart::verify
