#include <apart/collision/broad_phase.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// The reference for tests: no tree, boxes swept over the whole path in double precision.
class BruteForce final : public BroadPhase {
 public:
  explicit BruteForce(const CollisionSurface& surface) : surface_(surface) {
    for (Index f = 0; f < surface_.faces.cols(); ++f) distinct_faces_.push_back(f);
    const auto vertices = [&](Index f) {
      return std::array{surface_.faces(0, f), surface_.faces(1, f), surface_.faces(2, f)};
    };
    std::sort(distinct_faces_.begin(), distinct_faces_.end(),
              [&](Index a, Index b) { return vertices(a) < vertices(b); });
    const auto repeated = std::unique(distinct_faces_.begin(), distinct_faces_.end(),
                                      [&](Index a, Index b) { return vertices(a) == vertices(b); });
    distinct_faces_.erase(repeated, distinct_faces_.end());
  }

  void divide(int rank, int size) override {
    rank_ = std::size_t(rank);
    team_size_ = std::size_t(size);
  }

  bool for_each_block(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
                      BlockVisitor visit) override {
    const double radius = range.radius;
    ensure(limit >= 1, "broad phase: blocks hold at least one pair");
    ensure(x0.cols() == surface_.vertex_count() && x1.cols() == surface_.vertex_count(),
           "broad phase: as many positions as vertices");
    ensure(x0.allFinite() && x1.allFinite() && std::isfinite(radius) && radius >= 0,
           "broad phase: positions and radius are finite");
    const auto box = [&](const auto& cell) {
      Aabb b;
      for (int v : cell) {
        const double around = range.around.empty() ? 0 : range.around[std::size_t(v)];
        for (const Vector3& x : {Vector3(x0.col(v)), Vector3(x1.col(v))}) {
          b.include(Vector3(x.array() - around));
          b.include(Vector3(x.array() + around));
        }
      }
      return b;
    };
    std::vector<Aabb> vertex_boxes, edge_boxes, face_boxes;
    for (Index v = 0; v < surface_.vertex_count(); ++v) vertex_boxes.push_back(box(std::array{v}));
    for (auto edge : surface_.edges.colwise()) edge_boxes.push_back(box(edge));
    for (auto face : surface_.faces.colwise()) face_boxes.push_back(box(face));

    // Box differences are rounded once, relative to themselves.
    const double margin = radius * (1 + 1e-15);
    Candidates found;
    bool go_on = true;
    std::size_t number = 0;
    const auto hand_over = [&] {
      std::sort(found.begin(), found.end());
      if (!found.empty()) go_on = visit(found);
      found.clear();
    };
    const auto consider = [&](const Stencil& s, const Aabb& a, const Aabb& b) {
      if (!go_on || number++ % team_size_ != rank_) return;
      for (int i = 0; i < first_count(s.kind); ++i)
        for (int j = first_count(s.kind); j < s.size(); ++j)
          if (s.vertices[i] == s.vertices[j]) return;
      const Index first = s.vertices[0], second = s.vertices[first_count(s.kind)];
      if (s.kind == PairKind::edge_edge && surface_.in_one_plane(first, second)) return;
      double reach = margin;
      if (!surface_.vertex_extent.empty())
        reach += (surface_.vertex_extent[first] + surface_.vertex_extent[second]) * (1 + 1e-15);
      if (!surface_.settings(first, second).enabled || !a.near(b, reach)) return;
      for (const HalfSpace& plane : surface_.half_spaces)
        if (s.vertices[0] == plane.carrier) return;  // touches nothing itself
      if (surface_.can_collide && !any_can_collide(surface_.can_collide, s)) return;
      if (found.size() == limit) hand_over();
      if (go_on) found.push_back(s);
    };
    const auto& isolated = surface_.isolated_vertices;
    for (std::size_t i = 0; i < isolated.size(); ++i) {
      const Index v = isolated[i];
      for (std::size_t j = i + 1; j < isolated.size(); ++j)
        consider({PairKind::point_point, {v, isolated[j], -1, -1}}, vertex_boxes[v],
                 vertex_boxes[isolated[j]]);
    }
    for (Index v = 0; v < surface_.vertex_count(); ++v)
      for (Index e : surface_.free_edges)
        consider({PairKind::point_edge, {v, surface_.edges(0, e), surface_.edges(1, e), -1}}, vertex_boxes[v],
                 edge_boxes[e]);
    const Faces& faces = surface_.faces;
    for (Index v = 0; v < surface_.vertex_count(); ++v)
      for (Index f : distinct_faces_)
        consider({PairKind::point_triangle, {v, faces(0, f), faces(1, f), faces(2, f)}}, vertex_boxes[v],
                 face_boxes[f]);
    const Edges& edges = surface_.edges;
    for (Index a = 0; a < edges.cols(); ++a)
      for (Index b = a + 1; b < edges.cols(); ++b)
        consider({PairKind::edge_edge, {edges(0, a), edges(1, a), edges(0, b), edges(1, b)}}, edge_boxes[a],
                 edge_boxes[b]);
    if (!go_on) return false;
    hand_over();
    return true;
  }

 private:
  CollisionSurface surface_;
  std::size_t rank_ = 0, team_size_ = 1;
  std::vector<Index> distinct_faces_;  ///< without triangles listed twice
};

}  // namespace

std::unique_ptr<BroadPhase> make_brute_force(const CollisionSurface& surface) {
  return std::make_unique<BruteForce>(surface);
}

}  // namespace apart
