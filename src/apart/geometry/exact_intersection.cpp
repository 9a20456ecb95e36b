#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/exact_intersection.hpp>

// Only the kernel of CGAL is used (LGPL).
#define CGAL_USE_GMP 1
#define CGAL_USE_MPFR 1
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Gmpq.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace apart::exact {

namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Rational = CGAL::Gmpq;

Kernel::Point_3 point3(const Vector3& p) {
  return {p.x(), p.y(), p.z()};
}

/// The points seen along a coordinate axis: a permutation of the coordinates, so nothing is rounded.
struct Shadow {
  int axis;
  Kernel::Point_2 operator()(const Vector3& p) const { return {p[(axis + 1) % 3], p[(axis + 2) % 3]}; }
  int orientation(const Vector3& a, const Vector3& b, const Vector3& c) const {
    return CGAL::orientation((*this)(a), (*this)(b), (*this)(c));
  }
};

/// An axis along which a, b, c do not look collinear; −1 if they are.
int viewing_axis(const Vector3& a, const Vector3& b, const Vector3& c) {
  for (int axis = 0; axis < 3; ++axis)
    if (Shadow{axis}.orientation(a, b, c) != 0) return axis;
  return -1;
}

bool in_box_of(const Vector3& p, const Vector3& a, const Vector3& b) {
  return (a.cwiseMin(b).array() <= p.array()).all() && (p.array() <= a.cwiseMax(b).array()).all();
}

/// Whether edges ab and cd, all four points in one plane seen without loss along the axis, intersect.
bool coplanar_edges_intersect(Shadow shadow, const Vector3& a, const Vector3& b, const Vector3& c,
                              const Vector3& d) {
  const int abc = shadow.orientation(a, b, c), abd = shadow.orientation(a, b, d);
  const int cda = shadow.orientation(c, d, a), cdb = shadow.orientation(c, d, b);
  if (abc * abd < 0 && cda * cdb < 0) return true;
  // Otherwise they meet only if an end of one lies on the other. In the plane, collinear and in the box is on
  // the edge; the third coordinate follows from the other two.
  return (abc == 0 && in_box_of(c, a, b)) || (abd == 0 && in_box_of(d, a, b)) ||
         (cda == 0 && in_box_of(a, c, d)) || (cdb == 0 && in_box_of(b, c, d));
}

/// Whether p, in the plane of the triangle, lies in it.
bool coplanar_point_in_triangle(Shadow shadow, const Vector3& p, const Vector3& a, const Vector3& b,
                                const Vector3& c) {
  const int ab = shadow.orientation(a, b, p), bc = shadow.orientation(b, c, p),
            ca = shadow.orientation(c, a, p);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

using RationalVector = std::array<Rational, 3>;

RationalVector rational(const Vector3& v) {
  return {Rational(v[0]), Rational(v[1]), Rational(v[2])};
}

RationalVector operator-(const RationalVector& a, const RationalVector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

Rational dot(const RationalVector& a, const RationalVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

RationalVector cross(const RationalVector& a, const RationalVector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

RationalVector position(const Path& path, double t) {
  const Rational s = Rational(1) - Rational(t), r(t);
  RationalVector x;
  for (int k = 0; k < 3; ++k) x[k] = s * Rational(path.from[k]) + r * Rational(path.to[k]);
  return x;
}

int sign_of(const Rational& value) {
  return CGAL::sign(value);
}

}  // namespace

int orientation(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d) {
  return CGAL::orientation(point3(a), point3(b), point3(c), point3(d));
}

int in_circle(const Eigen::Vector2d& a, const Eigen::Vector2d& b, const Eigen::Vector2d& c,
              const Eigen::Vector2d& p) {
  const auto point = [](const Eigen::Vector2d& x) { return Kernel::Point_2(x[0], x[1]); };
  return CGAL::side_of_oriented_circle(point(a), point(b), point(c), point(p));
}

int half_space_side(const Vector3& origin, const Vector3& normal, const Vector3& x) {
  const Vector3 r = x - origin;
  const double value = normal.dot(r);
  // The difference, three products and two sums: five roundings at most on each term; 4 ulp each is generous.
  const double error = 4e-15 * (normal.cwiseAbs().dot(r.cwiseAbs())) + 1e-300;
  if (value > error) return 1;
  if (value < -error) return -1;
  return sign_of(dot(rational(normal), rational(x) - rational(origin)));
}

bool points_coincide(const Vector3& p, const Vector3& q) {
  return p == q;
}

bool point_on_edge(const Vector3& p, const Vector3& a, const Vector3& b) {
  return in_box_of(p, a, b) && viewing_axis(p, a, b) < 0;
}

bool point_on_triangle(const Vector3& p, const Vector3& a, const Vector3& b, const Vector3& c) {
  if (orientation(a, b, c, p) != 0) return false;
  const int axis = viewing_axis(a, b, c);
  if (axis < 0) return point_on_edge(p, a, b) || point_on_edge(p, b, c) || point_on_edge(p, c, a);
  return coplanar_point_in_triangle({axis}, p, a, b, c);
}

bool edges_intersect(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d) {
  if (orientation(a, b, c, d) != 0) return false;
  int axis = viewing_axis(a, b, c);
  if (axis < 0) axis = viewing_axis(a, b, d);
  if (axis >= 0) return coplanar_edges_intersect({axis}, a, b, c, d);
  // a = b, or all on one line: they meet only if an end of one lies on the other.
  return point_on_edge(a, c, d) || point_on_edge(b, c, d) || point_on_edge(c, a, b) || point_on_edge(d, a, b);
}

bool edge_intersects_triangle(const Vector3& p, const Vector3& q, const Vector3& a, const Vector3& b,
                              const Vector3& c) {
  const int side_p = orientation(a, b, c, p), side_q = orientation(a, b, c, q);
  if (side_p * side_q > 0) return false;
  if (side_p != 0 || side_q != 0) {
    // Line pq pierces the plane in one point; its side of each edge is the orientation with pq.
    const int ab = orientation(p, q, a, b);
    const int bc = orientation(p, q, b, c);
    if (ab * bc < 0) return false;
    const int ca = orientation(p, q, c, a);
    return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
  }
  const int axis = viewing_axis(a, b, c);
  if (axis < 0)  // no triangle: its edges cover it
    return edges_intersect(p, q, a, b) || edges_intersect(p, q, b, c) || edges_intersect(p, q, c, a);
  const Shadow shadow{axis};
  return coplanar_point_in_triangle(shadow, p, a, b, c) || coplanar_edges_intersect(shadow, p, q, a, b) ||
         coplanar_edges_intersect(shadow, p, q, b, c) || coplanar_edges_intersect(shadow, p, q, c, a);
}

bool triangle_is_collapsed(const Vector3& a, const Vector3& b, const Vector3& c) {
  return viewing_axis(a, b, c) < 0;
}

bool folded_triangles_overlap(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d) {
  if (orientation(a, b, c, d) != 0) return false;  // they meet in the line of their planes, where ab lies
  const int axis = viewing_axis(a, b, c);
  return axis >= 0 && Shadow{axis}.orientation(a, b, c) * Shadow{axis}.orientation(a, b, d) > 0;
}

bool folded_edges_overlap(const Vector3& v, const Vector3& a, const Vector3& b) {
  if (viewing_axis(v, a, b) >= 0) return false;
  for (int k = 0; k < 3; ++k)
    if (a[k] != v[k]) return b[k] != v[k] && (a[k] > v[k]) == (b[k] > v[k]);
  return false;  // a = v: no edge
}

bool edge_enters_triangle(const Vector3& v, const Vector3& p, const Vector3& a, const Vector3& b) {
  return point_on_triangle(p, v, a, b) || edges_intersect(v, p, a, b);
}

int separation_sign(const Vector3& direction, const Path& a, const Path& b, double t) {
  return sign_of(dot(rational(direction), position(a, t) - position(b, t)));
}

bool separated_by(const Vector3& direction, const Path& a, const Path& b, double t, double gap) {
  const RationalVector n = rational(direction);
  const Rational along = dot(n, position(a, t) - position(b, t)), g(gap);
  return sign_of(along) >= 0 && sign_of(along * along - g * g * dot(n, n)) >= 0;
}

std::array<int, 4> volume_signs(std::span<const Path, 4> vertices, double begin, double end) {
  // Edge vectors from vertex 0 are linear in time: e(s) = (1−s)·e⁰ + s·e¹. Then det(e₁, e₂, e₃)(s) has the
  // Bernstein coefficients det(e₁⁰,e₂⁰,e₃⁰), ⅓·Σ det with one of the three at the end, ⅓·Σ with two,
  // det(e₁¹,e₂¹,e₃¹).
  std::array<std::array<RationalVector, 2>, 3> edge;
  const double time[2] = {begin, end};
  for (int s = 0; s < 2; ++s) {
    const RationalVector origin = position(vertices[0], time[s]);
    for (int k = 0; k < 3; ++k) edge[k][s] = position(vertices[k + 1], time[s]) - origin;
  }
  std::array<Rational, 4> coefficient;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const RationalVector normal = cross(edge[0][i], edge[1][j]);
      for (int k = 0; k < 2; ++k) coefficient[i + j + k] = coefficient[i + j + k] + dot(normal, edge[2][k]);
    }
  std::array<int, 4> signs;
  for (int i = 0; i < 4; ++i) signs[i] = sign_of(coefficient[i]);
  return signs;
}

bool PrimitivePair::share_vertex() const {
  for (Index i : a.vertices)
    if (i >= 0)
      for (Index j : b.vertices)
        if (i == j) return true;
  return false;
}

namespace {

void sort_unique(std::vector<Primitive>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Elements of the sorted list `all` that are not in the sorted list `taken`.
std::vector<Primitive> without(const std::vector<Primitive>& all, const std::vector<Primitive>& taken) {
  std::vector<Primitive> rest;
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

Primitive edge_between(Index a, Index b) {
  return {{std::min(a, b), std::max(a, b), -1}};
}

template <class Cells>
void check_indices(const Cells& cells, Index point_count, const char* what) {
  for (Index c = 0; c < cells.cols(); ++c)
    for (Index k = 0; k < cells.rows(); ++k)
      if (cells(k, c) < 0 || cells(k, c) >= point_count)
        throw InputError("{} {}: vertex index {} must lie in [0, {})", what, c, cells(k, c), point_count);
}

}  // namespace

Surface surface(Index point_count, const Faces& faces, const Edges& segments, const Eigen::VectorXi& points) {
  check_indices(faces, point_count, "triangle");
  check_indices(segments, point_count, "segment");
  check_indices(points.transpose(), point_count, "point");
  Surface result;
  for (Index f = 0; f < faces.cols(); ++f) {
    result.faces.push_back({{faces(0, f), faces(1, f), faces(2, f)}});
    for (int k = 0; k < 3; ++k) result.face_edges.push_back(edge_between(faces(k, f), faces((k + 1) % 3, f)));
  }
  sort_unique(result.face_edges);
  for (Index s = 0; s < segments.cols(); ++s)
    result.segments.push_back(edge_between(segments(0, s), segments(1, s)));
  sort_unique(result.segments);
  result.segments = without(result.segments, result.face_edges);
  for (const auto* edges : {&result.face_edges, &result.segments})
    for (const Primitive& edge : *edges)
      for (int k = 0; k < 2; ++k) result.vertices.push_back({{edge.vertices[k], -1, -1}});
  sort_unique(result.vertices);
  for (Index p : points) result.points.push_back({{p, -1, -1}});
  sort_unique(result.points);
  result.points = without(result.points, result.vertices);
  result.vertices.insert(result.vertices.end(), result.points.begin(), result.points.end());
  std::sort(result.vertices.begin(), result.vertices.end());
  return result;
}

namespace {

/// A primitive's box, and its place in the list it came from.
struct Item {
  Box box;
  Index place;
};

Box hull(const Box& a, const Box& b) {
  return {a.lower.cwiseMin(b.lower), a.upper.cwiseMax(b.upper)};
}

/// Halves of halves of a list of items, cut along the longest side of what they cover, each when it is first
/// asked for: where nothing else is near, a list is never cut.
class ItemTree {
 public:
  struct Part {
    Box box;
    std::size_t begin, end;                              ///< of its items
    std::size_t halves = 0;                              ///< the first of its two; 0: not cut yet
    bool is_small() const { return end - begin <= 12; }  // not cut further; measured best between 8 and 16
  };

  explicit ItemTree(std::vector<Item> items) : items_(std::move(items)) {
    if (!items_.empty()) parts_.push_back({bounds(0, items_.size()), 0, items_.size()});
  }
  bool empty() const { return items_.empty(); }
  const Part& part(std::size_t i) const { return parts_[i]; }  ///< 0: all
  std::span<const Item> items(std::size_t part) const {
    return std::span(items_).subspan(parts_[part].begin, parts_[part].end - parts_[part].begin);
  }
  /// The first of the two halves of a part that is not small; the second follows it.
  std::size_t halves(std::size_t i) {
    if (parts_[i].halves > 0) return parts_[i].halves;
    const std::size_t begin = parts_[i].begin, end = parts_[i].end, middle = begin + (end - begin) / 2;
    const auto at = [&](std::size_t k) { return items_.begin() + std::ptrdiff_t(k); };
    Vector3 lower = items_[begin].box.lower, upper = lower;  // of the lower corners: the longest side to cut
    for (std::size_t k = begin; k < end; ++k) {
      lower = lower.cwiseMin(items_[k].box.lower);
      upper = upper.cwiseMax(items_[k].box.lower);
    }
    int axis;
    (upper - lower).maxCoeff(&axis);
    std::nth_element(at(begin), at(middle), at(end),
                     [axis](const Item& a, const Item& b) { return a.box.lower[axis] < b.box.lower[axis]; });
    const std::size_t first = parts_[i].halves = parts_.size();
    parts_.push_back({bounds(begin, middle), begin, middle});
    parts_.push_back({bounds(middle, end), middle, end});
    return first;
  }

 private:
  Box bounds(std::size_t begin, std::size_t end) const {
    Box all = items_[begin].box;
    for (std::size_t k = begin + 1; k < end; ++k) all = hull(all, items_[k].box);
    return all;
  }

  std::vector<Item> items_;
  std::vector<Part> parts_;
};

/// Reports every pair of overlapping boxes once.
class BoxJoin {
 public:
  explicit BoxJoin(FunctionRef<void(Index, Index)> report) : report_(report) {}

  /// Of one tree and another, or of two parts of one tree that have no item in common.
  void between(ItemTree& a, ItemTree& b) {
    if (!a.empty() && !b.empty()) between(a, 0, b, 0);
  }

  void within(ItemTree& a) {
    if (!a.empty()) within(a, 0);
  }

 private:
  void between(ItemTree& a, std::size_t i, ItemTree& b, std::size_t j) {
    const ItemTree::Part p = a.part(i), q = b.part(j);
    if (!p.box.overlaps(q.box)) return;
    if (p.is_small() && q.is_small()) {
      for (const Item& m : a.items(i)) {
        if (!m.box.overlaps(q.box)) continue;
        for (const Item& n : b.items(j))
          if (m.box.overlaps(n.box)) report_(m.place, n.place);
      }
    } else if (q.is_small() || (!p.is_small() && p.end - p.begin >= q.end - q.begin)) {
      const std::size_t half = a.halves(i);
      between(a, half, b, j);
      between(a, half + 1, b, j);
    } else {
      const std::size_t half = b.halves(j);
      between(a, i, b, half);
      between(a, i, b, half + 1);
    }
  }

  void within(ItemTree& a, std::size_t i) {
    if (a.part(i).is_small()) {
      const std::span<const Item> items = a.items(i);
      for (std::size_t m = 0; m < items.size(); ++m)
        for (std::size_t n = m + 1; n < items.size(); ++n)
          if (items[m].box.overlaps(items[n].box)) report_(items[m].place, items[n].place);
      return;
    }
    const std::size_t half = a.halves(i);
    within(a, half);
    within(a, half + 1);
    between(a, half, a, half + 1);
  }

  FunctionRef<void(Index, Index)> report_;
};

/// Primitives in a tree for each group, and one for those in none, and these trees in a tree.
class Forest {
 public:
  Forest(std::span<const Primitive> primitives, const CandidateSearch& search) : top_({}) {
    std::map<int, std::vector<Item>> items;
    for (std::size_t i = 0; i < primitives.size(); ++i) {
      const Primitive& primitive = primitives[i];
      Box box = search.vertex_boxes[primitive.vertices[0]];
      for (int k = 1; k < primitive.size(); ++k) box = hull(box, search.vertex_boxes[primitive.vertices[k]]);
      const int group = search.group.empty() ? -1 : search.group[std::size_t(primitive.vertices[0])];
      items[std::max(group, -1)].push_back({box, Index(i)});
    }
    std::vector<Item> tops;
    for (auto& [group, list] : items) {
      groups_.push_back(group);
      trees_.emplace_back(std::move(list));
      tops.push_back({trees_.back().part(0).box, Index(trees_.size() - 1)});
    }
    top_ = ItemTree(std::move(tops));
  }

  /// Calls report(i, j) for all primitives of different groups, or of none, with overlapping boxes, once.
  void within(FunctionRef<void(Index, Index)> report) {
    BoxJoin join(report);
    for (std::size_t t = 0; t < trees_.size(); ++t)
      if (groups_[t] < 0) join.within(trees_[t]);
    auto meet = [&](Index s, Index t) { join.between(trees_[std::size_t(s)], trees_[std::size_t(t)]); };
    BoxJoin(meet).within(top_);
  }
  void between(Forest& other, FunctionRef<void(Index, Index)> report) {
    BoxJoin join(report);
    auto meet = [&](Index s, Index t) {
      const int group = groups_[std::size_t(s)];
      if (group < 0 || group != other.groups_[std::size_t(t)])
        join.between(trees_[std::size_t(s)], other.trees_[std::size_t(t)]);
    };
    BoxJoin(meet).between(top_, other.top_);
  }

 private:
  std::vector<int> groups_;  ///< of each tree
  std::vector<ItemTree> trees_;
  ItemTree top_;
};

}  // namespace

void for_each_candidate(std::span<const Primitive> a, std::span<const Primitive> b,
                        const CandidateSearch& search,
                        FunctionRef<void(std::span<const PrimitivePair>)> visit) {
  if (a.empty() || b.empty()) return;
  constexpr std::size_t batch_size = 1 << 18;  // 8 MB of pairs
  std::vector<PrimitivePair> batch;
  batch.reserve(batch_size);
  const bool within_one = a.data() == b.data();
  auto report = [&](Index i, Index j) {
    PrimitivePair pair{a[i], b[j]};
    if (within_one && b[j] < a[i]) std::swap(pair.a, pair.b);
    if (pair.share_vertex() || !search.tested(pair.a.vertices[0], pair.b.vertices[0])) return;
    batch.push_back(pair);
    if (batch.size() == batch_size) {
      visit(batch);
      batch.clear();
    }
  };
  Forest forest(a, search);
  if (within_one) {
    forest.within(report);
  } else {
    Forest other(b, search);
    forest.between(other, report);
  }
  if (!batch.empty()) visit(batch);
}

std::vector<PrimitivePair> find_intersections(const Matrix3X& points, const Surface& surface,
                                              PairFilter tested, std::size_t limit,
                                              std::span<const int> group) {
  std::vector<Box> boxes(points.cols());
  for (Index i = 0; i < points.cols(); ++i) boxes[i] = {points.col(i), points.col(i)};
  for (const Primitive& v : surface.vertices) {
    const Index i = v.vertices[0];
    ensure(i < points.cols(),
           "find_intersections: the surface has a vertex that is not in the list of points");
    if (!points.col(i).allFinite())
      throw InputError("point {}: coordinates ({}, {}, {}) must be finite", i, points(0, i), points(1, i),
                       points(2, i));
  }
  auto intersect = [&](const PrimitivePair& pair) {
    auto a = [&](int k) -> Vector3 { return points.col(pair.a.vertices[k]); };
    auto b = [&](int k) -> Vector3 { return points.col(pair.b.vertices[k]); };
    switch (4 * pair.a.size() + pair.b.size()) {
      case 4 * 2 + 3:
        return edge_intersects_triangle(a(0), a(1), b(0), b(1), b(2));
      case 4 * 2 + 2:
        return edges_intersect(a(0), a(1), b(0), b(1));
      case 4 * 1 + 3:
        return point_on_triangle(a(0), b(0), b(1), b(2));
      case 4 * 1 + 2:
        return point_on_edge(a(0), b(0), b(1));
      default:
        return points_coincide(a(0), b(0));
    }
  };
  std::vector<PrimitivePair> found;
  auto test = [&](std::span<const PrimitivePair> batch) {
    if (found.size() >= limit) return;
    std::vector<char> hit(batch.size());
    parallel_for(Index(batch.size()), [&](Index i) { hit[i] = intersect(batch[i]); });
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (hit[i] && found.size() < limit) found.push_back(batch[i]);
  };
  const CandidateSearch search{boxes, tested, group};
  for_each_candidate(surface.face_edges, surface.faces, search, test);
  for_each_candidate(surface.segments, surface.faces, search, test);
  for_each_candidate(surface.segments, surface.segments, search, test);
  for_each_candidate(surface.points, surface.faces, search, test);
  for_each_candidate(surface.points, surface.segments, search, test);
  for_each_candidate(surface.points, surface.points, search, test);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace apart::exact
