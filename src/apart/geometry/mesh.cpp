#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/core/disjoint_sets.hpp>
#include <apart/geometry/mesh.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <map>

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

Index Mesh::curved_count() const {
  Eigen::Index count = 0;
  for (const CurvedCells& cells : curved) count += cells.points.cols();
  return Index(count);
}

Tetrahedra Mesh::corners() const {
  Tetrahedra all(4, cell_count());
  all.leftCols(tetrahedra.cols()) = tetrahedra;
  Eigen::Index n = tetrahedra.cols();
  for (const CurvedCells& cells : curved) {
    all.middleCols(n, cells.points.cols()) = cells.points.topRows<4>();
    n += cells.points.cols();
  }
  return all;
}

Faces boundary_faces(const CurvedCells& cells) {
  const std::vector<LatticePoint> lattice = tetrahedron_lattice(cells.degree);
  std::map<LatticePoint, Eigen::Index> place;
  for (std::size_t i = 0; i < lattice.size(); ++i) place[lattice[i]] = Eigen::Index(i);
  std::map<std::array<int, 3>, std::array<Index, 4>> boundary;  // sorted corners: cell, and the corners in it
  static constexpr int local[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};  // outward
  for (Index t = 0; t < cells.points.cols(); ++t)
    for (const auto& f : local) {
      std::array<int, 3> key = {cells.points(f[0], t), cells.points(f[1], t), cells.points(f[2], t)};
      std::sort(key.begin(), key.end());
      const auto [found, is_new] = boundary.try_emplace(key, std::array<Index, 4>{t, f[0], f[1], f[2]});
      if (!is_new) found->second[0] = -1;
    }
  std::vector<std::array<Index, 4>> outer;
  for (const auto& [key, face] : boundary)
    if (face[0] >= 0) outer.push_back(face);
  std::sort(outer.begin(), outer.end());
  std::vector<int> corners;
  const int n = cells.degree;
  for (const auto& [t, a, b, c] : outer) {
    const auto point = [&, t = t, a = a, b = b, c = c](int i, int j) {  // i of n along a → b, j along a → c
      LatticePoint at{};
      at[std::size_t(a)] = n - i - j;
      at[std::size_t(b)] = i;
      at[std::size_t(c)] = j;
      return cells.points(place.at(at), t);
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        corners.insert(corners.end(), {point(i, j), point(i + 1, j), point(i, j + 1)});
        if (i + j + 1 < n)
          corners.insert(corners.end(), {point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)});
      }
  }
  return Faces::Map(corners.data(), 3, Eigen::Index(corners.size() / 3));
}

CurvedCells mirrored(const CurvedCells& cells) {
  const std::vector<LatticePoint> lattice = tetrahedron_lattice(cells.degree);
  CurvedCells result = cells;
  for (std::size_t i = 0; i < lattice.size(); ++i) {
    LatticePoint image = lattice[i];
    std::swap(image[2], image[3]);
    const auto from = std::find(lattice.begin(), lattice.end(), image) - lattice.begin();
    result.points.row(Eigen::Index(i)) = cells.points.row(from);
  }
  return result;
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

Edges boundary_edges(const Faces& faces) {
  std::vector<std::pair<int, int>> all;
  for (Index f = 0; f < faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) all.emplace_back(faces(k, f), faces((k + 1) % 3, f));
  std::vector<std::pair<int, int>> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  std::erase_if(all, [&](const auto& e) {
    return std::binary_search(sorted.begin(), sorted.end(), std::pair(e.second, e.first));
  });
  Edges edges(2, Index(all.size()));
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
