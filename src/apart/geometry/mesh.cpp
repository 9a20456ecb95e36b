#include <apart/core/disjoint_sets.hpp>
#include <apart/geometry/mesh.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>

namespace apart {

Faces boundary_faces(const Tetrahedra& tetrahedra) {
  // Faces of a positively oriented tetrahedron (a,b,c,d), seen from outside.
  static constexpr int local[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  struct Key {
    std::array<int, 3> sorted;
    Index position;  // 4 · tetrahedron + face
    bool operator<(const Key& o) const {
      return sorted != o.sorted ? sorted < o.sorted : position < o.position;
    }
  };
  std::vector<Key> keys;
  keys.reserve(4 * tetrahedra.cols());
  for (Index t = 0; t < tetrahedra.cols(); ++t)
    for (int f = 0; f < 4; ++f) {
      std::array<int, 3> s;
      for (int k = 0; k < 3; ++k) s[k] = tetrahedra(local[f][k], t);
      std::sort(s.begin(), s.end());
      keys.push_back({s, 4 * t + f});
    }
  std::sort(keys.begin(), keys.end());
  std::vector<Index> boundary;
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t j = i + 1;
    while (j < keys.size() && keys[j].sorted == keys[i].sorted) ++j;
    if (j == i + 1) boundary.push_back(keys[i].position);
    i = j;
  }
  std::sort(boundary.begin(), boundary.end());
  Faces faces(3, boundary.size());
  for (std::size_t i = 0; i < boundary.size(); ++i)
    for (int k = 0; k < 3; ++k) faces(k, Index(i)) = tetrahedra(local[boundary[i] % 4][k], boundary[i] / 4);
  return faces;
}

Edges edges_of(const Faces& faces) {
  std::vector<std::pair<int, int>> all;
  all.reserve(3 * faces.cols());
  for (Index f = 0; f < faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) {
      const int a = faces(k, f), b = faces((k + 1) % 3, f);
      all.emplace_back(std::min(a, b), std::max(a, b));
    }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Edges edges(2, all.size());
  for (std::size_t i = 0; i < all.size(); ++i) edges.col(Index(i)) << all[i].first, all[i].second;
  return edges;
}

std::vector<Index> connected_pieces(Index point_count,
                                    std::initializer_list<Eigen::Ref<const Eigen::MatrixXi>> cells) {
  DisjointSets pieces(point_count);
  for (const auto& kind : cells)
    for (Eigen::Index c = 0; c < kind.cols(); ++c)
      for (Eigen::Index k = 1; k < kind.rows(); ++k) pieces.join(kind(0, c), kind(k, c));
  return std::move(pieces).names();
}

double signed_volume6(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d) {
  return (b - a).cross(c - a).dot(d - a);
}

}  // namespace apart
