#include <apart/remesh/collapse_path.hpp>

#include <apart/collision/ccd.hpp>

#include <algorithm>
#include <set>

namespace apart {

namespace {

/// Queries of what moves with one vertex against everything else near it.
class SweptVertex {
 public:
  SweptVertex(const PlacedSurface& placed, CcdMethod method, Index moved, Index onto)
      : placed_(placed), method_(method), moved_(moved), onto_(onto) {
    const Matrix3X& x = placed.x;
    displacement_ = x.col(onto) - x.col(moved);
    Aabb box;
    box.include(Vector3(x.col(moved)));
    const auto include_if_moved = [&](const auto& vertices) {
      if ((vertices.array() == moved).any())
        for (const int v : vertices) box.include(Vector3(x.col(v)));
    };
    const PlacedSurface::Primitives around = placed.meeting(Aabb(box));
    for (const Index f : around.faces) include_if_moved(surface_.faces.col(f));
    for (const Index e : around.free_edges) include_if_moved(surface_.edges.col(e));
    const double reach = surface_.pairs.max_reach();
    box.lower.array() -= reach;
    box.upper.array() += reach;
    auto [faces, free_edges, points] = placed.meeting(box);
    vertices_.insert(points.begin(), points.end());
    points_ = std::move(points);
    for (const Index e : free_edges) add_edge(surface_.edges(0, e), surface_.edges(1, e));
    for (const Index f : faces) {
      faces_.push_back({surface_.faces(0, f), surface_.faces(1, f), surface_.faces(2, f)});
      for (std::size_t k = 0; k < 3; ++k) add_edge(faces_.back()[k], faces_.back()[(k + 1) % 3]);
    }
  }

  bool is_free() const {
    for (const std::array<Index, 3>& face : faces_) {
      if (contains(face, moved_)) {
        for (const Index v : vertices_)
          if (is_other(std::array{v}) &&
              may_collide(PairKind::point_triangle, {v, face[0], face[1], face[2]}))
            return false;
      } else if (is_other(face) &&
                 may_collide(PairKind::point_triangle, {moved_, face[0], face[1], face[2]})) {
        return false;
      }
    }
    for (const std::array<Index, 2>& edge : edges_) {
      if (!contains(edge, moved_)) continue;
      for (const Index v : points_)
        if (may_collide(PairKind::point_edge, {v, edge[0], edge[1], -1})) return false;
      for (const std::array<Index, 2>& other : edges_)
        if (is_other(other) && may_collide(PairKind::edge_edge, {edge[0], edge[1], other[0], other[1]}))
          return false;
    }
    return true;
  }

 private:
  void add_edge(Index a, Index b) {
    edges_.insert({std::min(a, b), std::max(a, b)});
    vertices_.insert({a, b});
  }
  template <class List>
  static bool contains(const List& list, Index v) {
    return std::ranges::find(list, v) != list.end();
  }
  /// Of neither of the two vertices.
  template <class List>
  bool is_other(const List& list) const {
    return !contains(list, moved_) && !contains(list, onto_);
  }
  bool may_collide(PairKind kind, const std::array<Index, 4>& vertices) const {
    const Stencil stencil{kind, vertices};
    const int first = first_count(kind);
    for (int i = 0; i < first; ++i)  // neighbours share a vertex
      for (int j = first; j < stencil.size(); ++j)
        if (vertices[std::size_t(i)] == vertices[std::size_t(j)]) return false;
    if (!surface_.settings(vertices[0], vertices[std::size_t(first)]).enabled) return false;
    const ContactRange range = contact_range(surface_, stencil);
    CcdQuery query;
    query.kind = kind;
    query.x = stencil.gather(placed_.x);
    for (int i = 0; i < stencil.size(); ++i)
      query.displacement[i] = vertices[std::size_t(i)] == moved_ ? displacement_ : Vector3(Vector3::Zero());
    query.separation = range.thickness;
    query.dhat = range.dhat;
    return time_of_impact(query, {.method = method_}).has_value();
  }

  const PlacedSurface& placed_;
  const CollisionSurface& surface_ = placed_.surface;
  CcdMethod method_;
  Index moved_, onto_;
  Vector3 displacement_;
  // What is near.
  std::vector<std::array<Index, 3>> faces_;
  std::set<std::array<Index, 2>> edges_;
  std::set<Index> vertices_;
  std::vector<Index> points_;  ///< on no edge
};

}  // namespace

bool way_is_free(const Model& model, const PlacedSurface& placed, int body,
                 const std::array<Index, 2>& points) {
  const std::vector<Index>& surface = model.bodies[std::size_t(body)].surface_points;
  if (!std::ranges::binary_search(surface, points[0])) return true;  // inside: no surface moves
  return SweptVertex(placed, model.options.solver.ccd, model.vertex_of(body, points[0]),
                     model.vertex_of(body, points[1]))
      .is_free();
}

}  // namespace apart
