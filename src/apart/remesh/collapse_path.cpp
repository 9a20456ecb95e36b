#include <apart/remesh/collapse_path.hpp>

#include <apart/collision/ccd.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>

namespace apart {

namespace {

/// Queries of what moves with one vertex against everything else near it.
class SweptVertex {
 public:
  SweptVertex(const StepProblem& problem, const Matrix3X& x, Index moved, Index onto)
      : surface_(problem.terms.surface),
        method_(problem.model.options.solver.ccd),
        x_(x),
        moved_(moved),
        onto_(onto) {
    displacement_ = x.col(onto) - x.col(moved);
    for (const auto& f : surface_.faces.colwise())
      if ((f.array() == moved).any())
        for (const int v : f) box_.include(Vector3(x.col(v)));
    for (const auto& e : surface_.edges.colwise())
      if (e[0] == moved || e[1] == moved)
        for (const int v : e) box_.include(Vector3(x.col(v)));
    const double reach = surface_.pairs.max_reach();
    box_.lower.array() -= reach;
    box_.upper.array() += reach;
  }

  bool is_free() const {
    for (Index f = 0; f < surface_.faces.cols(); ++f) {
      const std::array<Index, 3> face = {surface_.faces(0, f), surface_.faces(1, f), surface_.faces(2, f)};
      if (contains(face, moved_)) {
        for (Index v = 0; v < x_.cols(); ++v)
          if (is_other(std::array{v}) && meets(PairKind::point_triangle, {v, face[0], face[1], face[2]}))
            return false;
      } else if (is_other(face) && meets(PairKind::point_triangle, {moved_, face[0], face[1], face[2]})) {
        return false;
      }
    }
    for (Index e = 0; e < surface_.edges.cols(); ++e) {
      const std::array<Index, 2> edge = {surface_.edges(0, e), surface_.edges(1, e)};
      if (!contains(edge, moved_)) continue;
      for (const Index v : surface_.isolated_vertices)
        if (is_other(std::array{v}) && meets(PairKind::point_edge, {v, edge[0], edge[1], -1})) return false;
      for (Index o = 0; o < surface_.edges.cols(); ++o) {
        const std::array<Index, 2> other = {surface_.edges(0, o), surface_.edges(1, o)};
        if (is_other(other) && meets(PairKind::edge_edge, {edge[0], edge[1], other[0], other[1]}))
          return false;
      }
    }
    return true;
  }

 private:
  template <class List>
  static bool contains(const List& list, Index v) {
    return std::ranges::find(list, v) != list.end();
  }
  /// Near, and of neither of the two vertices.
  template <class List>
  bool is_other(const List& list) const {
    if (contains(list, moved_) || contains(list, onto_)) return false;
    Vector3 lower = x_.col(list[0]), upper = lower;
    for (const Index v : list) {
      lower = lower.cwiseMin(x_.col(v));
      upper = upper.cwiseMax(x_.col(v));
    }
    return (lower.array() <= box_.upper.array()).all() && (box_.lower.array() <= upper.array()).all();
  }
  bool meets(PairKind kind, const std::array<Index, 4>& vertices) const {
    const Stencil stencil{kind, vertices};
    const int first = first_count(kind);
    for (int i = 0; i < first; ++i)  // neighbours share a vertex
      for (int j = first; j < stencil.size(); ++j)
        if (vertices[std::size_t(i)] == vertices[std::size_t(j)]) return false;
    if (!surface_.settings(vertices[0], vertices[std::size_t(first)]).enabled) return false;
    const ContactRange range = contact_range(surface_, stencil);
    CcdQuery query;
    query.kind = kind;
    query.x = stencil.gather(x_);
    for (int i = 0; i < stencil.size(); ++i)
      query.displacement[i] = vertices[std::size_t(i)] == moved_ ? displacement_ : Vector3(Vector3::Zero());
    query.separation = range.thickness;
    query.dhat = range.dhat;
    return time_of_impact(query, {.method = method_}).has_value();
  }

  const CollisionSurface& surface_;
  CcdMethod method_;
  const Matrix3X& x_;
  Index moved_, onto_;
  Vector3 displacement_;
  Aabb box_;
};

}  // namespace

bool way_is_free(const SolvedStep& step, int body, const std::array<Index, 2>& points) {
  const Model& model = step.problem.model;
  const std::vector<Index>& surface = model.bodies[std::size_t(body)].surface_points;
  if (!std::ranges::binary_search(surface, points[0])) return true;  // inside: no surface moves
  const Matrix3X x = model.surface_map.positions(step.nodes);
  return SweptVertex(step.problem, x, model.vertex_of(body, points[0]), model.vertex_of(body, points[1]))
      .is_free();
}

}  // namespace apart
