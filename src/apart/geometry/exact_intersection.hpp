#pragma once
// Exact answers about points with double coordinates: no rounding, no tolerance. Everything here is closed:
// two things that merely touch intersect. It serves verification and shares no code with the solver's
// distances, broad phases and CCD, so that an error there cannot hide here. The solver uses it, too, in two
// places: before bodies appear (collision_detection), and where rounding leaves the sign of a volume open
// (inversion). All coordinates must be finite.
#include <apart/core/function_ref.hpp>
#include <apart/core/types.hpp>

#include <array>
#include <compare>
#include <span>
#include <vector>

namespace apart::exact {

// ---- Predicates
// ------------------------------------------------------------------------------------------------

/// Sign (−1, 0, 1) of (b−a)×(c−a)·(d−a): positive if tetrahedron (a, b, c, d) is not inverted.
int orientation(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d);
/// Positive if p lies inside the circle through a, b and c, which are counter-clockwise.
int in_circle(const Eigen::Vector2d& a, const Eigen::Vector2d& b, const Eigen::Vector2d& c,
              const Eigen::Vector2d& p);
/// Sign of normal·(x − origin): positive outside the solid half.
int half_space_side(const Vector3& origin, const Vector3& normal, const Vector3& x);
bool points_coincide(const Vector3& p, const Vector3& q);
bool point_on_edge(const Vector3& p, const Vector3& a, const Vector3& b);
// Edges and triangles may be degenerate; they then are the points they cover.
bool point_on_triangle(const Vector3& p, const Vector3& a, const Vector3& b, const Vector3& c);
bool edges_intersect(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d);
bool edge_intersects_triangle(const Vector3& p, const Vector3& q, const Vector3& a, const Vector3& b,
                              const Vector3& c);

// Neighbours in a mesh, which share vertices and so always touch: whether they intersect in more than what
// they share.
/// A triangle whose corners lie on one line.
bool triangle_is_collapsed(const Vector3& a, const Vector3& b, const Vector3& c);
/// Triangles (a, b, c) and (a, b, d), neither collapsed: whether one is folded flat onto the other.
bool folded_triangles_overlap(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d);
/// Edges (v, a) and (v, b): whether one is folded back onto the other.
bool folded_edges_overlap(const Vector3& v, const Vector3& a, const Vector3& b);
/// Edge (v, p) and triangle (v, a, b): whether the edge intersects it in more than v.
bool edge_enters_triangle(const Vector3& v, const Vector3& p, const Vector3& a, const Vector3& b);

/// A point moving on a straight line: (1−t)·from + t·to, t ∈ [0, 1].
struct Path {
  Vector3 from, to;
};
/// Sign of direction·(a(t) − b(t)).
int separation_sign(const Vector3& direction, const Path& a, const Path& b, double t);
/// Whether direction·(a(t) − b(t)) ≥ gap·|direction|, gap ≥ 0: the two are at least so far apart, seen along
/// it.
bool separated_by(const Vector3& direction, const Path& a, const Path& b, double t, double gap);
/// The signed volume of four moving points is a cubic in t. Signs of its Bernstein coefficients on [begin,
/// end]: if all four are positive (negative), so is the volume throughout.
std::array<int, 4> volume_signs(std::span<const Path, 4> vertices, double begin, double end);

// ---- Search
// ----------------------------------------------------------------------------------------------------

/// A point, an edge or a triangle: indices into a list of points, unused places −1.
struct Primitive {
  std::array<Index, 3> vertices{-1, -1, -1};

  int size() const { return vertices[1] < 0 ? 1 : vertices[2] < 0 ? 2 : 3; }
  std::strong_ordering operator<=>(const Primitive&) const = default;
};

/// Two primitives, the smaller kind first; of one kind, the smaller indices first.
struct PrimitivePair {
  Primitive a, b;

  bool share_vertex() const;
  std::strong_ordering operator<=>(const PrimitivePair&) const = default;
};

/// Everything that can touch, as lists of primitives. Made by `surface`, which keeps the lists disjoint.
struct Surface {
  std::vector<Primitive> faces;
  std::vector<Primitive> face_edges;  ///< distinct edges of the faces
  std::vector<Primitive> segments;    ///< edges of no face
  std::vector<Primitive> points;      ///< vertices of no face and no segment
  std::vector<Primitive> vertices;    ///< of faces and segments, and the points
};
/// Throws InputError unless every index lies in [0, point_count).
Surface surface(Index point_count, const Faces& faces, const Edges& segments, const Eigen::VectorXi& points);

/// Whether a primitive with vertex i and one with vertex j are to be tested against each other; symmetric.
/// May be called from several threads.
using PairFilter = FunctionRef<bool(Index i, Index j)>;

/// All pairs that intersect, sorted: edge–face, segment–segment, point–face, point–segment and point–point,
/// which together see every intersection of the surface. Pairs that share a vertex are left out. Stops early
/// once `limit` pairs are found. Throws InputError if a coordinate is not finite.
/// `group`: a number for each point, or none: primitives of points with the same number, unless it is
/// negative, are not tested against each other, whatever the filter says. Neither a large obstacle then costs
/// much beside what moves, nor a rigid body with many triangles. All points of a primitive have the same.
std::vector<PrimitivePair> find_intersections(const Matrix3X& points, const Surface& surface,
                                              PairFilter tested, std::size_t limit = std::size_t(-1),
                                              std::span<const int> group = {});

/// Closed axis-aligned box.
struct Box {
  Vector3 lower, upper;

  bool overlaps(const Box& o) const {
    return (lower.array() <= o.upper.array()).all() && (o.lower.array() <= upper.array()).all();
  }
};

/// Which pairs for_each_candidate finds.
struct CandidateSearch {
  std::span<const Box> vertex_boxes;
  PairFilter tested;
  std::span<const int> group = {};  ///< as for find_intersections
};
/// Passes on all pairs of a primitive of `a` and one of `b` that pass the filter, share no vertex and have
/// overlapping boxes, each pair once, in batches, so that memory stays bounded. A primitive's box is the
/// union of its vertices' boxes. `a` and `b` may be the same span.
void for_each_candidate(std::span<const Primitive> a, std::span<const Primitive> b,
                        const CandidateSearch& search,
                        FunctionRef<void(std::span<const PrimitivePair>)> visit);

}  // namespace apart::exact
