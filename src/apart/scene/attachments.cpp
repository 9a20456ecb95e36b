#include <apart/geometry/aabb.hpp>
#include <apart/geometry/squared_distance.hpp>
#include <apart/io/stitches.hpp>
#include <apart/scene/attachments.hpp>
#include <apart/scene/prescriber.hpp>
#include <apart/scene/selection.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

/// A point of a body's surface, as a mean of at most three of its mesh points.
struct Foot {
  std::array<Index, 3> points = {-1, -1, -1};
  Vector3 weights = Vector3::Zero();
  double distance = std::numeric_limits<double>::infinity();  ///< [m]
};

/// Takes the nearer of `best` and the point of a primitive nearest to x.
void consider(Foot& best, const Vector3& x, const Matrix3X& points, std::span<const int> corners) {
  constexpr PairKind kinds[] = {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle};
  StencilPoints stencil;
  stencil[0] = x;
  for (std::size_t k = 0; k < corners.size(); ++k) stencil[k + 1] = points.col(corners[k]);
  const ClosestPoints closest = closest_points(kinds[corners.size() - 1], stencil);
  if (!(closest.r.norm() < best.distance)) return;
  best = {};
  best.distance = closest.r.norm();
  for (std::size_t k = 0; k < corners.size(); ++k) {
    best.points[k] = corners[k];
    best.weights[Index(k)] = -closest.weights[Index(k) + 1];
  }
}

/// The primitives of a body's surface, in a tree of boxes.
class SurfaceTree {
 public:
  SurfaceTree(const Body& body, bool on_vertices) : points_(body.mesh.points) {
    const auto add = [&](std::span<const int> corners) {
      Primitive p;
      p.size = int(corners.size());
      std::copy(corners.begin(), corners.end(), p.corners.begin());
      p.number = int(primitives_.size());
      primitives_.push_back(p);
    };
    if (on_vertices) {
      for (const Index p : body.surface_points) add(std::array{int(p)});
    } else {
      for (Index f = 0; f < body.surface_faces.cols(); ++f)
        add(std::span(body.surface_faces.col(f).data(), 3));
      for (Index e = 0; e < body.free_segments.cols(); ++e)
        add(std::span(body.free_segments.col(e).data(), 2));
      for (Index i = 0; i < body.mesh.vertices.size(); ++i) add(std::array{body.mesh.vertices[i]});
    }
    if (!primitives_.empty()) build(0, primitives_.size());
  }

  /// Of several that are equally near, the first of the surface.
  Foot nearest(const Vector3& x) const {
    Foot best;
    int number = -1;
    if (!nodes_.empty()) search(0, x, best, number);
    return best;
  }

 private:
  struct Primitive {
    std::array<int, 3> corners = {-1, -1, -1};
    int size = 0, number = 0;
  };
  struct Node {
    Aabb box;
    std::size_t begin = 0, end = 0;
    std::size_t right = 0;  ///< the left child follows its parent; 0: a leaf
  };

  std::size_t build(std::size_t begin, std::size_t end) {
    const std::size_t here = nodes_.size();
    nodes_.push_back({{}, begin, end, 0});
    Aabb box, centres;
    for (std::size_t i = begin; i < end; ++i)
      for (int k = 0; k < primitives_[i].size; ++k)
        box.include(Vector3(points_.col(primitives_[i].corners[std::size_t(k)])));
    const auto corner = [&](const Primitive& p) -> Vector3 { return points_.col(p.corners[0]); };
    for (std::size_t i = begin; i < end; ++i) centres.include(corner(primitives_[i]));
    nodes_[here].box = box;
    if (end - begin <= 8) return here;
    int axis;
    (centres.upper - centres.lower).maxCoeff(&axis);
    const std::size_t middle = (begin + end) / 2;
    std::nth_element(primitives_.begin() + std::ptrdiff_t(begin),
                     primitives_.begin() + std::ptrdiff_t(middle), primitives_.begin() + std::ptrdiff_t(end),
                     [&](const Primitive& a, const Primitive& b) {
                       return std::pair(corner(a)[axis], a.number) < std::pair(corner(b)[axis], b.number);
                     });
    build(begin, middle);
    const std::size_t right = build(middle, end);
    nodes_[here].right = right;
    return here;
  }

  double distance(std::size_t node, const Vector3& x) const {
    const Aabb& box = nodes_[node].box;
    return (box.lower - x).cwiseMax(x - box.upper).cwiseMax(0).norm();
  }

  void search(std::size_t at, const Vector3& x, Foot& best, int& number) const {
    const Node& node = nodes_[at];
    if (node.right == 0) {
      for (std::size_t i = node.begin; i < node.end; ++i) {
        const Primitive& p = primitives_[i];
        Foot foot;
        consider(foot, x, points_, std::span(p.corners.data(), std::size_t(p.size)));
        if (foot.distance < best.distance || (foot.distance == best.distance && p.number < number)) {
          best = foot;
          number = p.number;
        }
      }
      return;
    }
    const double left = distance(at + 1, x), right = distance(node.right, x);
    // Rounding must not hide one that is equally near.
    const auto look = [&](std::size_t child, double d) {
      if (d <= best.distance * (1 + 1e-12)) search(child, x, best, number);
    };
    if (left <= right) {
      look(at + 1, left);
      look(node.right, right);
    } else {
      look(node.right, right);
      look(at + 1, left);
    }
  }

  const Matrix3X& points_;
  std::vector<Primitive> primitives_;
  std::vector<Node> nodes_;
};

std::vector<AttachedSpring> springs(const NearestDescription& d, const AttachedPair& pair) {
  const Body &first = pair.bodies[std::size_t(pair.a)], &second = pair.bodies[std::size_t(pair.b)];
  if (pair.a == pair.b || (!first.is_dynamic() && !second.is_dynamic()) || second.mesh.point_count() == 0 ||
      first.mesh.point_count() == 0)
    d.place["bodies"].fail("got '{}' and '{}', must be two bodies with points of which one can move",
                           first.name, second.name);
  const double reach = d.max_distance.metres(pair.scene_size);
  std::vector<AttachedSpring> result;
  double closest = std::numeric_limits<double>::infinity();
  const SurfaceTree tree(second, d.to == AttachTo::vertices);
  for (const Index p : select_points(d.where, pair.placed)) {
    if (!std::binary_search(first.surface_points.begin(), first.surface_points.end(), p)) continue;
    const Foot foot = tree.nearest(first.mesh.points.col(p));
    closest = std::min(closest, foot.distance);
    if (!(foot.distance <= reach)) continue;
    result.push_back({p, foot.points, foot.weights, foot.distance, 0});
  }
  if (!std::isfinite(closest))
    place_of(d.where).fail("chooses no point on the surface of '{}'; attachments hold surfaces", first.name);
  if (result.empty())
    d.place.fail(
        "attaches nothing: the nearest points of '{}' and '{}' are {:.3g} m apart, max_distance is {:.3g} m; "
        "choose "
        "other points, or raise it",
        first.name, second.name, closest, reach);
  return result;
}

int whole_number(double value, const Place& place) {
  if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max())
    place.fail("got {}, must be a whole number", to_short_text(JsonValue(value)));
  return int(value);
}

std::vector<Stitch> stitches_of(const StitchesDescription& d) {
  const Place source = d.place["stitches"];
  if (const auto* file = std::get_if<std::string>(&d.stitches))
    return source.locate([&] { return read_stitches(std::filesystem::path(*file)); });
  std::vector<Stitch> stitches;
  const auto& list = std::get<1>(d.stitches);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<double>& s = list[i];
    const Place at = source[i];
    if (s.size() != 2 && s.size() != 4) at.fail("has {} numbers, must be [a, b] or [a, b, c, t]", s.size());
    const bool on_edge = s.size() == 4;
    stitches.push_back({whole_number(s[0], at[0]), whole_number(s[1], at[1]),
                        on_edge ? whole_number(s[2], at[2]) : -1, on_edge ? s[3] : 0});
    if (stitches.back().t > 1) at[3].fail("got {}, must lie in [0, 1]", stitches.back().t);
  }
  return stitches;
}

std::vector<AttachedSpring> springs(const StitchesDescription& d, const AttachedPair& pair) {
  const int a = pair.a, b = pair.b;
  const Body &first = pair.bodies[std::size_t(a)], &second = pair.bodies[std::size_t(b)];
  if (!first.is_dynamic() && !second.is_dynamic())
    d.place["bodies"].fail("got '{}' and '{}', of which none can move", first.name, second.name);
  const Place source = d.place["stitches"];
  if (pair.renumbered)
    source.fail(
        "counts points, but the mesh has some that belong to no cell, or coincide with others, and were left "
        "out; remove them");
  const std::vector<Stitch> stitches = stitches_of(d);
  std::vector<AttachedSpring> result;
  for (std::size_t i = 0; i < stitches.size(); ++i) {
    const Stitch& s = stitches[i];
    const auto check = [&](const Body& body, int p) {
      if (!std::binary_search(body.surface_points.begin(), body.surface_points.end(), Index(p)))
        source.fail("stitch {}: point {} is not on the surface of '{}', which has the points 0 to {}", i, p,
                    body.name, body.mesh.point_count() - 1);
    };
    check(first, s.a);
    check(second, s.b);
    if (s.c >= 0) check(second, s.c);
    if (a == b && (s.a == s.b || s.a == s.c || s.b == s.c))
      source.fail("stitch {}: point {} is sewn to itself", i, s.a == s.b || s.a == s.c ? s.a : s.b);
    AttachedSpring spring{s.a, {s.b, -1, -1}, {1, 0, 0}, d.length.metres(pair.scene_size), 0};
    if (s.c >= 0) {
      spring.others[1] = s.c;
      spring.weights << 1 - s.t, s.t, 0;
    }
    Vector3 difference = first.mesh.points.col(s.a);
    for (int k = 0; k < 2; ++k)
      if (spring.others[std::size_t(k)] >= 0)
        difference -= spring.weights[k] * second.mesh.points.col(spring.others[std::size_t(k)]);
    spring.start_length = difference.norm();
    result.push_back(spring);
  }
  return result;
}

}  // namespace

Attachment make_attachment(const AttachmentDescription& attachment, const AttachedPair& pair,
                           const Clock& clock) {
  return std::visit(
      [&]<class D>(const D& d) {
        std::vector<AttachedSpring> list = springs(d, pair);
        Attachment result{pair.a, pair.b, d.stiffness, make_time_range(d, clock), 0, {}, {}, {}};
        if constexpr (std::same_as<D, StitchesDescription>) result.closing = d.closing;
        attach(result, std::move(list), pair.bodies, d.place.path());
        return result;
      },
      attachment);
}

}  // namespace apart
