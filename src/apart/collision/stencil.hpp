#pragma once
#include <apart/collision/collision_surface.hpp>
#include <apart/geometry/squared_distance.hpp>

#include <array>
#include <vector>

namespace apart {

/// Two primitives by their vertices, first primitive first; unused entries are −1.
struct Stencil {
  PairKind kind = PairKind::point_point;
  std::array<Index, 4> vertices = {-1, -1, -1, -1};

  int size() const { return point_count(kind); }
  StencilPoints gather(const Matrix3X& x) const {
    StencilPoints p;
    for (int i = 0; i < size(); ++i) p[i] = x.col(vertices[i]);
    return p;
  }
  auto operator<=>(const Stencil&) const = default;
};

/// Primitive pairs that may come close, as stencils sorted by kind and vertices, each once. Pairs that share
/// a vertex and pairs of bodies whose contact is switched off never appear. For point–triangle and edge–edge
/// the vertices are those of the face and the edges in the order the surface stores them (edge with the
/// smaller index first).
using Candidates = std::vector<Stencil>;

}  // namespace apart
