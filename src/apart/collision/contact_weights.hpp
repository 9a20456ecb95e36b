#pragma once
#include <apart/core/types.hpp>
#include <apart/geometry/mesh.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace apart {

/// The triangles, edges and vertices of a collision surface.
struct SurfaceCells {
  const Matrix3X& rest;  ///< [m]
  const Faces& faces;
  const Edges& edges;  ///< each once, smaller vertex first, sorted
  const std::vector<int>& vertex_body;
};

/// How contact weighs a body.
struct BodyGrain {
  double width = 0;  ///< of its segments, and the diameter of its isolated points [m]
  /// Of its vertices, mean [m²]: of two bodies the finer one's vertices count more. 0: that of its surface.
  double vertex_area = 0;
};

/// What makes sums over pairs of primitives approximate an integral over the surface, so that forces do not
/// depend on the mesh [Li et al. 2023]. Two surfaces A and B have the energy
///     κ (α ∫_A + β ∫_B) b(distance from x to the other surface) dA,      α + β = 1.
/// The integrals are summed at vertices, each weighted with its share of the rest area. Their shares α and β
/// are constant for two bodies, in inverse proportion to the mean area of their vertices: the finer one has
/// the better sum, and the few vertices of a large flat obstacle do not stand for an area that nothing
/// touches.
///
/// The distance to the other surface is that of its nearest cell (triangle, edge or vertex). b of that
/// distance is the sum over all cells with signs, so that what several triangles have in common, an edge or a
/// vertex, counts once: with
///     sign(cell) = 1 − Σ sign(larger cells that contain it)
/// triangles have 1, edges of k triangles 1 − k, and vertices what is left.
///
/// Vertices do not see edges that cross. Pairs of edges have the area of a square as wide as the narrower of
/// the strips of area that belong to the two, and count in full where both edges are sharp at rest. On smooth
/// surfaces vertices suffice, and they count little.
///
/// Immutable.
class ContactWeights {
 public:
  /// Three vertices of a triangle as the surface stores it, or two of a free segment and −1.
  using TopCell = std::array<Index, 3>;

  ContactWeights() = default;
  /// `grains` of the bodies.
  ContactWeights(const SurfaceCells& cells, const std::vector<BodyGrain>& grains);
  bool empty() const { return area_.size() == 0; }

  /// The area that belongs to a vertex [m²].
  double area(Index v) const { return area_[v]; }
  double mean_area(int body) const { return mean_area_[std::size_t(body)]; }  ///< BodyGrain::vertex_area
  /// Weight of a vertex of `body` against the surface of another [m²]. All of its area if it is an isolated
  /// point, which the vertices of others do not see.
  double of_vertex(Index v, int body, int other) const {
    if (is_isolated(v)) return area_[v];
    return area_[v] * (mean_area(other) / (mean_area(body) + mean_area(other)));
  }
  /// Of two isolated points [m²].
  double of_points(Index a, Index b) const { return std::min(area_[a], area_[b]); }
  /// Of two edges, given by their ends [m²].
  double of_edges(Index a0, Index a1, Index b0, Index b1) const;

  /// An edge or vertex at which triangles or segments meet; its sign is not zero.
  struct LowerCell {
    std::array<Index, 2> vertices;  ///< the second is −1 for a vertex
    int sign = 0;
  };
  /// Calls visit(LowerCell) for those that `top` stands for: each belongs to one of the triangles and
  /// segments that contain it.
  template <class Visitor>
  void for_each_owned(const TopCell& top, Visitor visit) const {
    const int n = top[2] < 0 ? 2 : 3;
    for (int k = 0; k < n; ++k) {
      const Index v = top[std::size_t(k)];
      if (vertex_sign_[std::size_t(v)] != 0 && star(v)[0] == top)
        visit(LowerCell{{v, -1}, vertex_sign_[std::size_t(v)]});
      if (n == 2) continue;
      const EdgeData& e = edges_[std::size_t(find(v, top[std::size_t((k + 1) % 3)]))];
      if (e.sign != 0 && e.owner == top) visit(LowerCell{e.vertices, e.sign});
    }
  }
  /// The triangles and free segments at a vertex.
  std::span<const TopCell> star(Index v) const {
    return {star_.data() + star_begin_[std::size_t(v)],
            std::size_t(star_begin_[std::size_t(v) + 1] - star_begin_[std::size_t(v)])};
  }

 private:
  struct EdgeData {
    std::array<Index, 2> vertices;
    double width = 0;      ///< [m] of the strip of area that belongs to it
    double sharpness = 0;  ///< sin² of the angle between its triangles at rest; 1 beyond a right angle
    int sign = 0;
    TopCell owner = {-1, -1, -1};
  };
  bool is_isolated(Index v) const { return star(v).empty(); }
  Index find(Index a, Index b) const;
  void add_stars(const SurfaceCells& cells);
  void add_areas(const SurfaceCells& cells, const std::vector<BodyGrain>& grains);
  void add_sharpness(const SurfaceCells& cells);

  VectorX area_;
  std::vector<double> mean_area_;  ///< of each body
  std::vector<int> vertex_sign_;
  std::vector<EdgeData> edges_;    ///< sorted
  std::vector<Index> edge_begin_;  ///< of each smaller vertex, in edges_
  std::vector<TopCell> star_;      ///< of all vertices, sorted
  std::vector<Index> star_begin_;
};

}  // namespace apart
