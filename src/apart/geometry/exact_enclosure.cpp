#include <apart/geometry/exact_enclosure.hpp>

#include <algorithm>

namespace apart::exact {

namespace {

/// How a ray from p to q, which lies outside, hits a triangle that p is not on.
enum class Hit { no, from_behind, from_front, edge };

Hit ray_hit(const Vector3& p, const Vector3& q, const Vector3& a, const Vector3& b, const Vector3& c) {
  const int side_p = exact::orientation(a, b, c, p), side_q = exact::orientation(a, b, c, q);
  if (side_p == 0 && side_q == 0) return Hit::edge;  // along the triangle: use another ray
  if (side_p * side_q >= 0) return Hit::no;
  const int ab = exact::orientation(p, q, a, b), bc = exact::orientation(p, q, b, c),
            ca = exact::orientation(p, q, c, a);
  if (std::min({ab, bc, ca}) < 0 && std::max({ab, bc, ca}) > 0) return Hit::no;
  if (ab == 0 || bc == 0 || ca == 0) return Hit::edge;
  return side_p < 0 ? Hit::from_behind : Hit::from_front;
}

/// The end, beyond a box, of the k-th ray from p: nearly along an axis, so that few triangles are near it,
/// but not exactly, because meshes often have edges and corners along the axes.
Vector3 ray_end(const Vector3& p, const Box& all, int k) {
  const int axis = k % 3;
  const double sign = k / 3 % 2 == 0 ? 1 : -1;
  Vector3 direction;
  direction[axis] = sign;
  direction[(axis + 1) % 3] = 0.00731 * (1 + 0.37 * k);
  direction[(axis + 2) % 3] = -0.01297 * (1 + 0.59 * k);
  const double size = (all.upper - all.lower).maxCoeff();
  const double way = (sign > 0 ? all.upper[axis] - p[axis] : p[axis] - all.lower[axis]) + size + 1e-300;
  return p + (way + 1e-9 * p.cwiseAbs().maxCoeff()) * direction;
}

Box join(const Box& a, const Box& b) {
  return {a.lower.cwiseMin(b.lower), a.upper.cwiseMax(b.upper)};
}

/// What is known of a point and a solid whose box it lies in.
struct Question {
  Enclosed pair;
  int winding = 0;      ///< of the crossings so far
  bool unsure = false;  ///< the ray hit an edge, or a triangle along its plane
  bool open = true;
};

/// What is known: points, surfaces of solids, and for each vertex its solid.
struct Solids {
  const Matrix3X& points;
  std::span<const Primitive> faces;
  std::span<const int> solid_of;

  int solid(const Primitive& face) const { return solid_of[face.vertices[0]]; }
};

/// Points in the boxes of solids, in order, and a box around all of these.
struct InBoxes {
  std::vector<Question> questions;
  Box all{Vector3::Constant(infinity), Vector3::Constant(-infinity)};
};

InBoxes points_in_boxes(const Solids& given, std::span<const Index> queries,
                        FunctionRef<bool(Index point, int solid)> asked) {
  InBoxes result;
  int solids = 0;
  for (const Primitive& f : given.faces) solids = std::max(solids, given.solid(f) + 1);
  // Boxes of solids stand behind those of the points.
  const Index n = Index(given.points.cols());
  std::vector<Box> boxes(n);
  for (Index i = 0; i < n; ++i) boxes[i] = {given.points.col(i), given.points.col(i)};
  boxes.resize(n + solids, result.all);
  for (const Primitive& f : given.faces)
    for (const Index v : f.vertices) {
      Box& box = boxes[n + given.solid(f)];
      box = join(box, boxes[v]);
    }
  std::vector<Primitive> asking, solid_boxes;
  for (const Index q : queries) asking.push_back({{q, -1, -1}});
  for (int s = 0; s < solids; ++s) {
    if (boxes[n + s].lower.x() > boxes[n + s].upper.x()) continue;  // it has no faces here
    solid_boxes.push_back({{n + s, -1, -1}});
    result.all = join(result.all, boxes[n + s]);
  }
  exact::for_each_candidate(
      asking, solid_boxes, {boxes, [&](Index q, Index s) { return asked(q, int(s - n)); }},
      [&](std::span<const PrimitivePair> batch) {
        for (const auto& pair : batch)
          result.questions.push_back({{pair.a.vertices[0], int(pair.b.vertices[0] - n)}});
      });
  std::sort(result.questions.begin(), result.questions.end(),
            [](const Question& a, const Question& b) { return a.pair < b.pair; });
  return result;
}

/// Casts the k-th ray from every point with an open question, and adds up crossings.
void cast_rays(const Solids& given, std::span<const Primitive> near_faces, const Box& all, int k,
               std::vector<Question>& questions) {
  // Boxes of rays stand behind those of the points.
  const Index n = Index(given.points.cols());
  std::vector<Box> boxes(n);
  for (Index i = 0; i < n; ++i) boxes[i] = {given.points.col(i), given.points.col(i)};
  std::vector<Primitive> rays;
  std::vector<Vector3> ends;
  std::vector<Index> starts;
  for (const Question& q : questions) {
    if (!q.open || (!starts.empty() && starts.back() == q.pair.point)) continue;
    const Vector3 p = given.points.col(q.pair.point), end = ray_end(p, all, k);
    rays.push_back({{n + Index(starts.size()), -1, -1}});
    starts.push_back(q.pair.point);
    ends.push_back(end);
    boxes.push_back({p.cwiseMin(end), p.cwiseMax(end)});
  }
  const auto question = [&](Index ray, Index face_point) {
    const Enclosed pair{starts[std::size_t(ray - n)], given.solid_of[face_point]};
    const auto found = std::lower_bound(questions.begin(), questions.end(), pair,
                                        [](const Question& q, const Enclosed& e) { return q.pair < e; });
    return found != questions.end() && found->pair == pair && found->open ? &*found : nullptr;
  };
  exact::for_each_candidate(
      rays, near_faces, {boxes, [&](Index ray, Index v) { return question(ray, v) != nullptr; }},
      [&](std::span<const PrimitivePair> batch) {
        for (const auto& [ray, face] : batch) {
          Question& q = *question(ray.vertices[0], face.vertices[0]);
          const Hit hit = ray_hit(given.points.col(q.pair.point), ends[std::size_t(ray.vertices[0] - n)],
                                  given.points.col(face.vertices[0]), given.points.col(face.vertices[1]),
                                  given.points.col(face.vertices[2]));
          q.winding += (hit == Hit::from_behind) - (hit == Hit::from_front);
          q.unsure |= hit == Hit::edge;
        }
      });
}

}  // namespace

std::vector<Enclosed> find_enclosed(const Matrix3X& points, std::span<const Primitive> faces,
                                    std::span<const int> solid_of, std::span<const Index> queries,
                                    FunctionRef<bool(Index point, int solid)> asked) {
  std::vector<Enclosed> inside;
  if (faces.empty() || queries.empty()) return inside;
  const Solids given{points, faces, solid_of};
  auto [questions, all] = points_in_boxes(given, queries, asked);
  std::vector<char> concerned;
  for (const Question& q : questions) {
    concerned.resize(std::max(concerned.size(), std::size_t(q.pair.solid) + 1), false);
    concerned[std::size_t(q.pair.solid)] = true;
  }
  std::vector<Primitive> near_faces;
  for (const Primitive& f : faces)
    if (const auto solid = std::size_t(given.solid(f)); solid < concerned.size() && concerned[solid])
      near_faces.push_back(f);

  constexpr int most_rays = 24;
  const auto is_open = [](const Question& q) { return q.open; };
  for (int k = 0; k < most_rays && std::ranges::any_of(questions, is_open); ++k) {
    cast_rays(given, near_faces, all, k, questions);
    for (Question& q : questions) {
      if (!q.open) continue;
      q.open = q.unsure && k + 1 < most_rays;
      if (!q.open) continue;
      q.winding = 0;
      q.unsure = false;
    }
  }
  // What no ray could decide counts as inside: only points known to be outside are called outside.
  for (const Question& q : questions)
    if (q.winding != 0 || q.unsure) inside.push_back(q.pair);
  return inside;
}

}  // namespace apart::exact
