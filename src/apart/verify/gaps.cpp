#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/verify/gaps.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace apart::verify {

using exact::Box;
using exact::PrimitivePair;

namespace {

Vector3 from_edge_to_point(const Vector3& p, const Vector3& a, const Vector3& b) {
  const Vector3 edge = b - a, w = p - a;
  const double square = edge.squaredNorm();
  const double along = w.dot(edge);
  if (!(along > 0)) return w;
  if (along >= square) return p - b;
  const Vector3 r = w - edge * (along / square);
  // Once more: at a gap far below the edge's length r is mostly rounding error, but it must be normal to the
  // edge to serve as a separating direction.
  return r - edge * (r.dot(edge) / square);
}

void keep_shorter(Vector3& best, const Vector3& other) {
  if (other.squaredNorm() < best.squaredNorm()) best = other;
}

/// n or −n, whichever has a positive product with r.
Vector3 facing(const Vector3& n, const Vector3& r) {
  return n.dot(r) < 0 ? Vector3(-n) : n;
}

SeparatingDirections point_triangle(const Vector3& p, const Vector3& a, const Vector3& b, const Vector3& c) {
  Vector3 shortest = from_edge_to_point(p, a, b);
  keep_shorter(shortest, from_edge_to_point(p, b, c));
  keep_shorter(shortest, from_edge_to_point(p, c, a));
  const Vector3 n = (b - a).cross(c - a), w = p - a;
  auto inside = [&](const Vector3& u, const Vector3& v) { return (v - u).cross(p - u).dot(n) >= 0; };
  if (n.squaredNorm() > 0 && inside(a, b) && inside(b, c) && inside(c, a))
    keep_shorter(shortest, n * (n.dot(w) / n.squaredNorm()));
  return {shortest, facing(n, w)};
}

SeparatingDirections edge_edge(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d) {
  Vector3 shortest = from_edge_to_point(a, c, d);
  keep_shorter(shortest, from_edge_to_point(b, c, d));
  keep_shorter(shortest, -from_edge_to_point(c, a, b));
  keep_shorter(shortest, -from_edge_to_point(d, a, b));
  const Vector3 u = b - a, v = d - c, w = a - c, n = u.cross(v);
  // a + s·u − c − t·v is parallel to n for s and t with these multiples.
  const double square = n.squaredNorm(), s = -w.cross(v).dot(n), t = -w.cross(u).dot(n);
  if (square > 0 && 0 <= s && s <= square && 0 <= t && t <= square)
    keep_shorter(shortest, n * (n.dot(w) / square));
  return {shortest, facing(n, w)};
}

/// The corners of a primitive, without allocating.
struct Corners {
  Corners(const Matrix3X& points, const exact::Primitive& primitive) : size(primitive.size()) {
    for (int k = 0; k < size; ++k) x[k] = points.col(primitive.vertices[k]);
  }
  operator std::span<const Vector3>() const { return {x.data(), std::size_t(size)}; }

  std::array<Vector3, 3> x;
  int size;
};

}  // namespace

SeparatingDirections separating_directions(std::span<const Vector3> a, std::span<const Vector3> b) {
  switch (4 * a.size() + b.size()) {
    case 4 * 1 + 1:
      return {a[0] - b[0], Vector3::Zero()};
    case 4 * 1 + 2:
      return {from_edge_to_point(a[0], b[0], b[1]), Vector3::Zero()};
    case 4 * 1 + 3:
      return point_triangle(a[0], b[0], b[1], b[2]);
    default:
      ensure(a.size() == 2 && b.size() == 2, "separating_directions: no such pair of primitives");
      return edge_edge(a[0], a[1], b[0], b[1]);
  }
}

void for_each_contact_candidate(const exact::Surface& surface, std::span<const Box> vertex_boxes,
                                exact::PairFilter tested,
                                FunctionRef<void(std::span<const PrimitivePair>)> visit, bool ends_too) {
  std::vector<exact::Primitive> edges = surface.face_edges;
  edges.insert(edges.end(), surface.segments.begin(), surface.segments.end());
  const exact::CandidateSearch search{vertex_boxes, tested};
  exact::for_each_candidate(surface.vertices, surface.faces, search, visit);
  exact::for_each_candidate(edges, edges, search, visit);
  exact::for_each_candidate(ends_too ? surface.vertices : surface.points, surface.segments, search, visit);
  exact::for_each_candidate(surface.points, surface.points, search, visit);
}

namespace {

struct GapSearch {
  exact::PairFilter tested;
  std::size_t limit;  ///< of pairs found
  bool ends_too;      ///< as for for_each_contact_candidate
};

std::vector<Gap> find_gaps(const Matrix3X& points, const exact::Surface& surface, const Spacing& spacing,
                           const GapSearch& search) {
  std::vector<Box> boxes(points.cols());
  for (Index i = 0; i < points.cols(); ++i) {
    const Vector3 x = points.col(i);
    // Rounded outward.
    const Vector3 margin =
        Vector3::Constant(spacing.margins[i] * (1 + 8 * unit_roundoff)) + 4 * unit_roundoff * x.cwiseAbs();
    boxes[i] = {x - margin, x + margin};
  }
  // The distance along any direction bounds the distance from below; with the right direction it is the
  // distance.
  auto certainly_apart = [](const Vector3& direction, std::span<const Vector3> a, std::span<const Vector3> b,
                            double gap) {
    const double length = direction.norm();
    if (!(length > 0)) return false;
    double least = std::numeric_limits<double>::infinity(), size = 0;
    for (const Vector3& p : a)
      for (const Vector3& q : b) {
        const Vector3 r = p - q;
        least = std::min(least, direction.dot(r));
        size = std::max(size, r.lpNorm<1>());
      }
    return least / length - 8 * unit_roundoff * size >= gap;
  };
  std::vector<Gap> found;
  for_each_contact_candidate(
      surface, boxes, search.tested,
      [&](std::span<const PrimitivePair> batch) {
        if (found.size() >= search.limit) return;
        std::vector<double> distance(batch.size());
        parallel_for(Index(batch.size()), [&](Index i) {
          const Corners a(points, batch[i].a), b(points, batch[i].b);
          const SeparatingDirections s = separating_directions(a, b);
          const double gap = spacing.gap_of(batch[i]);
          const bool apart = certainly_apart(s.shortest, a, b, gap) || certainly_apart(s.normal, a, b, gap);
          distance[i] = apart ? std::numeric_limits<double>::infinity() : s.shortest.norm();
        });
        for (std::size_t i = 0; i < batch.size(); ++i)
          if (std::isfinite(distance[i]) && found.size() < search.limit)
            found.push_back({batch[i], distance[i]});
      },
      search.ends_too);
  std::sort(found.begin(), found.end(), [](const Gap& a, const Gap& b) { return a.pair < b.pair; });
  return found;
}

}  // namespace

std::vector<Gap> find_gaps_below(const Matrix3X& points, const exact::Surface& surface, double gap,
                                 exact::PairFilter tested, std::size_t limit) {
  // Half the gap on either side.
  const std::vector<double> margins(points.cols(), 0.5 * gap);
  return find_gaps(points, surface, {margins, [gap](const PrimitivePair&) { return gap; }},
                   {tested, limit, false});
}

std::vector<Gap> find_gaps_below(const Matrix3X& points, const exact::Surface& surface,
                                 const Spacing& spacing, exact::PairFilter tested, std::size_t limit) {
  return find_gaps(points, surface, spacing, {tested, limit, true});
}

double typical_length(const Matrix3X& points, const exact::Surface& surface) {
  std::vector<double> lengths;
  for (const auto* list : {&surface.face_edges, &surface.segments})
    for (const auto& edge : *list)
      lengths.push_back((points.col(edge.vertices[0]) - points.col(edge.vertices[1])).norm());
  if (!lengths.empty()) {
    const auto tenth = lengths.begin() + std::ptrdiff_t(lengths.size() / 10);
    std::nth_element(lengths.begin(), tenth, lengths.end());
    return *tenth;
  }
  Eigen::AlignedBox3d extent;
  for (const auto& v : surface.vertices) extent.extend(Vector3(points.col(v.vertices[0])));
  if (extent.isEmpty()) return 0;
  return extent.diagonal().norm() / std::cbrt(double(surface.vertices.size()));
}

std::optional<Gap> smallest_gap(const Matrix3X& points, const exact::Surface& surface, double range,
                                exact::PairFilter tested) {
  std::optional<Gap> smallest;
  for (const Gap& gap : find_gaps_below(points, surface, range, tested))
    if (gap.distance < range && (!smallest || gap.distance < smallest->distance)) smallest = gap;
  return smallest;
}

}  // namespace apart::verify
