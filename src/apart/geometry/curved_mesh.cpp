#include <apart/geometry/curved_mesh.hpp>

#include <apart/basis/lattice_numbering.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <set>

namespace apart {

Mesh lifted(const Mesh& mesh, int degree) {
  ensure(mesh.curved.empty() && degree >= 2 && degree <= largest_degree,
         "lifted: linear tetrahedra, and a degree above one");
  const std::vector<LatticePoint> lattice = tetrahedron_lattice(degree);
  LatticeNumbering numbering(degree);
  for (Index p = 0; p < mesh.point_count(); ++p) numbering.number(std::array{p}, std::array{degree});
  CurvedCells cells{degree, Eigen::MatrixXi(Index(lattice.size()), mesh.tetrahedra.cols())};
  std::vector<Vector3> more;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t)
    for (std::size_t a = 0; a < lattice.size(); ++a) {
      const auto corners = mesh.tetrahedra.col(t);
      const Index number = numbering.number(std::span(corners.data(), 4), lattice[a]);
      cells.points(Index(a), t) = number;
      if (number < mesh.point_count() + Index(more.size())) continue;
      Vector3 x = Vector3::Zero();
      for (int k = 0; k < 4; ++k) x += lattice[a][std::size_t(k)] * mesh.points.col(corners[k]) / degree;
      more.push_back(x);
    }
  Mesh result = mesh;
  result.points.conservativeResize(Eigen::NoChange, mesh.point_count() + Index(more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) result.points.col(mesh.point_count() + Index(i)) = more[i];
  result.tetrahedra.resize(4, 0);
  result.curved = {std::move(cells)};
  return result;
}

void curve_boundary(Mesh& mesh, FunctionRef<bool(const std::array<Vector3, 3>&)> is_on,
                    FunctionRef<Vector3(const Vector3&)> nearest) {
  std::set<std::array<int, 3>> chosen;  // by sorted corners
  const Faces faces = boundary_faces(mesh.corners());
  for (Index f = 0; f < faces.cols(); ++f) {
    const auto c = faces.col(f);
    if (!is_on({mesh.points.col(c[0]), mesh.points.col(c[1]), mesh.points.col(c[2])})) continue;
    std::array<int, 3> key = {c[0], c[1], c[2]};
    std::sort(key.begin(), key.end());
    chosen.insert(key);
  }
  for (const CurvedCells& cells : mesh.curved) {
    const std::vector<LatticePoint> lattice = tetrahedron_lattice(cells.degree);
    std::set<int> moved;
    for (Index t = 0; t < cells.points.cols(); ++t)
      for (std::size_t opposite = 0; opposite < 4; ++opposite) {
        std::array<int, 3> key;
        for (std::size_t k = 0, n = 0; k < 4; ++k)
          if (k != opposite) key[n++] = cells.points(Index(k), t);
        std::sort(key.begin(), key.end());
        if (!chosen.contains(key)) continue;
        for (std::size_t a = 4; a < lattice.size(); ++a)
          if (lattice[a][opposite] == 0) moved.insert(cells.points(Index(a), t));
      }
    for (const int p : moved) mesh.points.col(p) = nearest(mesh.points.col(p));
  }
}

}  // namespace apart
