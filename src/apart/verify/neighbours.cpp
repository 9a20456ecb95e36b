#include <apart/core/parallel.hpp>
#include <apart/verify/neighbours.hpp>

#include <algorithm>
#include <array>

namespace apart::verify {

std::vector<exact::PrimitivePair> find_neighbours(Index point_count, const exact::Surface& surface,
                                                  FunctionRef<bool(Index point)> counts) {
  std::vector<exact::PrimitivePair> neighbours;
  // Triangles at each edge, by sorting.
  std::vector<std::pair<exact::Primitive, exact::Primitive>> at_edge;
  for (const exact::Primitive& f : surface.faces) {
    if (!counts(f.vertices[0])) continue;
    for (int k = 0; k < 3; ++k) {
      const auto [a, b] = std::minmax(f.vertices[k], f.vertices[(k + 1) % 3]);
      at_edge.push_back({{{a, b, -1}}, f});
    }
  }
  std::sort(at_edge.begin(), at_edge.end());
  for (std::size_t i = 0; i < at_edge.size(); ++i)
    for (std::size_t j = i + 1; j < at_edge.size() && at_edge[j].first == at_edge[i].first; ++j)
      neighbours.push_back({at_edge[i].second, at_edge[j].second});
  // Segments at each point, and triangles there.
  std::vector<std::pair<Index, exact::Primitive>> at_point;
  std::vector<char> is_end(std::size_t(point_count), false);
  for (const exact::Primitive& s : surface.segments) {
    if (!counts(s.vertices[0])) continue;
    for (int k = 0; k < 2; ++k) {
      at_point.emplace_back(s.vertices[k], s);
      is_end[s.vertices[k]] = true;
    }
  }
  for (const exact::Primitive& f : surface.faces)
    for (const Index v : f.vertices)
      if (is_end[v]) at_point.emplace_back(v, f);
  std::sort(at_point.begin(), at_point.end());
  for (std::size_t i = 0; i < at_point.size(); ++i)
    for (std::size_t j = i + 1; j < at_point.size() && at_point[j].first == at_point[i].first; ++j) {
      exact::PrimitivePair pair{at_point[i].second, at_point[j].second};
      if (pair.a.size() > pair.b.size()) std::swap(pair.a, pair.b);
      if (pair.a.size() == 2) neighbours.push_back(pair);
    }
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  return neighbours;
}

std::vector<char> find_folded(const Matrix3X& points, const std::vector<exact::PrimitivePair>& neighbours) {
  const auto x = [&](Index i) -> Vector3 { return points.col(i); };
  std::vector<char> folded(neighbours.size());
  parallel_for(Index(neighbours.size()), [&](Index i) {
    const auto& [a, b] = neighbours[std::size_t(i)];
    const auto shared = [&b = b](Index v) {
      return std::find(b.vertices.begin(), b.vertices.end(), v) != b.vertices.end();
    };
    // The vertices of each that the other has, then those that it has not.
    std::array<Index, 3> of_a = a.vertices, of_b = b.vertices;
    const auto end_a = of_a.begin() + a.size(), end_b = of_b.begin() + b.size();
    const auto common = std::stable_partition(of_a.begin(), end_a, shared) - of_a.begin();
    std::stable_partition(of_b.begin(), end_b, [&](Index v) {
      return std::find(of_a.begin(), of_a.begin() + common, v) != of_a.begin() + common;
    });
    if (common == a.size())
      folded[i] = true;  // the same vertices
    else if (a.size() == 3)
      folded[i] = exact::folded_triangles_overlap(x(of_a[0]), x(of_a[1]), x(of_a[2]), x(of_b[2]));
    else if (b.size() == 3)
      folded[i] = exact::edge_enters_triangle(x(of_a[0]), x(of_a[1]), x(of_b[1]), x(of_b[2]));
    else
      folded[i] = exact::folded_edges_overlap(x(of_a[0]), x(of_a[1]), x(of_b[1]));
  });
  return folded;
}

}  // namespace apart::verify
