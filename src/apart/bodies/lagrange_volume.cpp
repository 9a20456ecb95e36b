#include <apart/bodies/lagrange_volume.hpp>

#include <apart/basis/lattice_numbering.hpp>
#include <apart/basis/quadrature.hpp>
#include <apart/bodies/cell_shapes.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <map>
#include <numeric>

namespace apart {

namespace {

Vector3 reference_place(const LatticePoint& point, int degree) {
  return Vector3(point[1], point[2], point[3]) / degree;
}

/// The same point on a lattice that is so many times as fine.
LatticePoint on_finer(LatticePoint point, int times) {
  for (int& coordinate : point) coordinate *= times;
  return point;
}

/// Numbers of the nodes, corners first.
struct NodeNumbers {
  int fine;                    ///< degree of a lattice that has all points of all others
  LatticeNumbering numbering;  ///< on it: of the nodes, and after them of all other points
  std::vector<Index> corner;   ///< number of each point of the mesh that is a corner; −1 for others
  Eigen::MatrixXi cells;       ///< nodes of each cell
};

NodeNumbers number_nodes(Index point_count, const Tetrahedra& corners, const LagrangeTetrahedron& basis,
                         int fine) {
  NodeNumbers result{fine, LatticeNumbering(fine), std::vector<Index>(std::size_t(point_count), -1),
                     Eigen::MatrixXi(basis.node_count(), corners.cols())};
  for (const int c : corners.reshaped()) result.corner[std::size_t(c)] = 0;
  for (Index p = 0; p < point_count; ++p)
    if (result.corner[std::size_t(p)] == 0)
      result.corner[std::size_t(p)] = result.numbering.number(std::array{p}, std::array{fine});
  for (Index t = 0; t < corners.cols(); ++t)
    for (Index a = 0; a < basis.node_count(); ++a)
      result.cells(a, t) =
          result.numbering.number(std::span(corners.col(t).data(), 4),
                                  on_finer(basis.lattice()[std::size_t(a)], fine / basis.degree()));
  return result;
}

/// Exact for the energy of small strains of straight cells, and for the forces of a uniform stress in curved
/// ones, ∇N times the determinant of the map: what is uniform then stays so (patch test).
int default_quadrature(int degree, int shape_degree) {
  return std::max(2 * (degree - 1), degree - 1 + 2 * (shape_degree - 1));
}

/// The cells in their shape at rest, and what the nodes leave of it.
LagrangeCells make_lagrange_cells(const CellShapes& shapes, const LagrangeTetrahedron& basis,
                                  Eigen::MatrixXi cell_nodes, const Matrix3X& nodes) {
  LagrangeCells cells;
  cells.degree = basis.degree();
  cells.nodes = std::move(cell_nodes);
  cells.shape_degree = std::max(basis.degree(), shapes.degree());
  const bool by_nodes = shapes.degree() <= basis.degree();
  const Index lattice = by_nodes ? basis.node_count() : shapes.basis().node_count();
  cells.rest.resize(3, shapes.count() * lattice);
  for (Index t = 0; t < shapes.count(); ++t)
    cells.rest.middleCols(t * lattice, lattice) =
        by_nodes ? Matrix3X(nodes(Eigen::all, cells.nodes.col(t))) : shapes.points(t);
  if (by_nodes) return cells;
  Eigen::MatrixXd values(basis.node_count(), lattice);
  for (Index b = 0; b < lattice; ++b) values.col(b) = basis.values(shapes.basis().nodes().col(b));
  cells.offset.resize(3, shapes.count() * lattice);
  for (Index t = 0; t < shapes.count(); ++t)
    cells.offset.middleCols(t * lattice, lattice) =
        shapes.points(t) - nodes(Eigen::all, cells.nodes.col(t)) * values;
  return cells;
}

VectorX cell_volumes(const CellShapes& shapes) {
  const Quadrature rule = tetrahedron_quadrature(3 * (shapes.degree() - 1));
  VectorX volume = VectorX::Zero(shapes.count());
  for (Index t = 0; t < shapes.count(); ++t)
    for (Index k = 0; k < rule.size(); ++k)
      volume[t] += rule.weights[k] * shapes.slope(t, rule.points.col(k)).determinant();
  return volume;
}

Eigen::SparseMatrix<double> consistent_mass(const CellShapes& shapes, const LagrangeTetrahedron& basis,
                                            const LagrangeCells& cells, const VectorX& density) {
  // N_a N_b has degree 2p, the determinant of the map 3(k − 1).
  const Quadrature rule = tetrahedron_quadrature(2 * basis.degree() + 3 * (shapes.degree() - 1));
  const Index n = basis.node_count();
  std::vector<Eigen::MatrixXd> products;
  for (Index k = 0; k < rule.size(); ++k) {
    const VectorX values = basis.values(rule.points.col(k));
    products.emplace_back(rule.weights[k] * values * values.transpose());
  }
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(std::size_t(shapes.count() * n * n));
  for (Index t = 0; t < shapes.count(); ++t) {
    Eigen::MatrixXd local = Eigen::MatrixXd::Zero(n, n);
    for (Index k = 0; k < rule.size(); ++k)
      local += density[t] * shapes.slope(t, rule.points.col(k)).determinant() * products[std::size_t(k)];
    for (Index a = 0; a < n; ++a)
      for (Index b = 0; b < n; ++b) entries.emplace_back(cells.nodes(a, t), cells.nodes(b, t), local(a, b));
  }
  const Index count = cells.nodes.maxCoeff() + 1;
  Eigen::SparseMatrix<double> mass(count, count);
  mass.setFromTriplets(entries.begin(), entries.end());
  return mass;
}

/// ∫ρ x₀ N_a of each node.
Matrix3X offset_moments(const CellShapes& shapes, const LagrangeTetrahedron& basis,
                        const LagrangeCells& cells, const VectorX& density) {
  if (cells.offset.cols() == 0) return {};
  // x₀ has degree k, the determinant of the map 3(k − 1).
  const Quadrature rule = tetrahedron_quadrature(basis.degree() + 4 * shapes.degree() - 3);
  const Index n = shapes.basis().node_count();
  Matrix3X result = Matrix3X::Zero(3, cells.nodes.maxCoeff() + 1);
  for (Index k = 0; k < rule.size(); ++k) {
    const Vector3 xi = rule.points.col(k);
    const VectorX values = basis.values(xi), shape_values = shapes.basis().values(xi);
    for (Index t = 0; t < shapes.count(); ++t) {
      const Vector3 moment = rule.weights[k] * density[t] * shapes.slope(t, xi).determinant() *
                             (cells.offset.middleCols(t * n, n) * shape_values);
      for (Index a = 0; a < values.size(); ++a) result.col(cells.nodes(a, t)) += values[a] * moment;
    }
  }
  return result;
}

/// A face of the boundary and the cell it belongs to.
struct BoundaryFace {
  std::array<Index, 3> corners;  ///< points of the mesh, outward
  Index cell;
};
std::vector<BoundaryFace> faces_with_cells(const Tetrahedra& tetrahedra) {
  std::map<std::array<Index, 3>, Index> cell_of;
  for (Index t = 0; t < tetrahedra.cols(); ++t)
    for (int opposite = 0; opposite < 4; ++opposite) {
      std::array<Index, 3> face;
      std::size_t n = 0;
      for (int k = 0; k < 4; ++k)
        if (k != opposite) face[n++] = tetrahedra(k, t);
      std::sort(face.begin(), face.end());
      cell_of[face] = t;
    }
  std::vector<BoundaryFace> result;
  const Faces faces = boundary_faces(tetrahedra);
  for (Index f = 0; f < faces.cols(); ++f) {
    const std::array<Index, 3> corners = {faces(0, f), faces(1, f), faces(2, f)};
    std::array<Index, 3> key = corners;
    std::sort(key.begin(), key.end());
    result.push_back({corners, cell_of.at(key)});
  }
  return result;
}

/// Makes the points of a volume that are no nodes, and says how they follow these.
class PointMaker {
 public:
  /// Keeps references.
  PointMaker(const CellShapes& shapes, const LagrangeTetrahedron& basis, const Matrix3X& nodes,
             NodeNumbers& numbers)
      : shapes_(shapes),
        basis_(basis),
        nodes_(nodes),
        numbers_(numbers),
        corners_(shapes.corners()),
        map_(LinearMap::identity(Index(nodes.cols()))) {}

  /// Number of a point of a cell, which is made if it is new. `place`: on a lattice of that degree.
  Index at(Index cell, const LatticePoint& place, int degree) {
    const LatticePoint fine = on_finer(place, numbers_.fine / degree);
    const auto corners = corners_.col(cell);
    const Index number = numbers_.numbering.number(std::span(corners.data(), 4), fine);
    if (number == map_.vertex_count()) add(cell, fine);
    return number;
  }

  const LinearMap& map() const { return map_; }  ///< from the nodes to the points

 private:
  void add(Index cell, const LatticePoint& place) {
    const Vector3 xi = reference_place(place, numbers_.fine);
    const VectorX values = basis_.values(xi);
    std::vector<Influence> influences;
    Vector3 followed = Vector3::Zero();
    for (Index a = 0; a < basis_.node_count(); ++a) {
      // Nodes off the corner, edge or face that the point lies on do not move it.
      const LatticePoint& node = basis_.lattice()[std::size_t(a)];
      bool is_off = false;
      for (std::size_t k = 0; k < 4; ++k) is_off |= place[k] == 0 && node[k] > 0;
      if (is_off) continue;
      influences.push_back({numbers_.cells(a, cell), values[a]});
      followed += values[a] * nodes_.col(numbers_.cells(a, cell));
    }
    const bool has_offset = shapes_.degree() > basis_.degree();
    map_.add_vertex(influences,
                    has_offset ? Vector3(shapes_.place(cell, xi) - followed) : Vector3(Vector3::Zero()));
  }

  const CellShapes& shapes_;
  const LagrangeTetrahedron& basis_;
  const Matrix3X& nodes_;
  NodeNumbers& numbers_;
  Tetrahedra corners_;
  LinearMap map_;
};

/// The cells of the shape on the points of the volume.
Eigen::MatrixXi shape_cells(const CellShapes& shapes, PointMaker& points) {
  Eigen::MatrixXi cells(shapes.basis().node_count(), shapes.count());
  for (Index t = 0; t < shapes.count(); ++t)
    for (Index b = 0; b < cells.rows(); ++b)
      cells(b, t) = points.at(t, shapes.basis().lattice()[std::size_t(b)], shapes.degree());
  return cells;
}

/// Makes the triangles of the surface: each face of the boundary cut into m² of them.
class SurfaceMaker {
 public:
  /// Keeps a reference.
  SurfaceMaker(const CellShapes& shapes, PointMaker& points, int resolution)
      : points_(points), m_(resolution), corners_(shapes.corners()) {}

  void add(const BoundaryFace& face, LagrangeCells& cells) {
    const auto at = [&](int i, int j) { return in_cell(face, {m_ - i - j, i, j}); };
    for (int j = 0; j < m_; ++j)
      for (int i = 0; i + j < m_; ++i) {
        add(face, {at(i, j), at(i + 1, j), at(i, j + 1)}, cells);
        if (i + j + 1 < m_) add(face, {at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)}, cells);
      }
  }

  std::vector<std::array<int, 3>> triangles;

 private:
  /// `corners`: on the lattice of degree m.
  void add(const BoundaryFace& face, const std::array<LatticePoint, 3>& corners, LagrangeCells& cells) {
    std::array<int, 3>& triangle = triangles.emplace_back();
    Matrix3 xi;
    for (std::size_t k = 0; k < 3; ++k) {
      triangle[k] = points_.at(face.cell, corners[k], m_);
      xi.col(Index(k)) = reference_place(corners[k], m_);
    }
    cells.corners_of_face.push_back(xi);
  }

  LatticePoint in_cell(const BoundaryFace& face, const std::array<int, 3>& beta) const {
    LatticePoint result{};
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t c = 0; c < 3; ++c)
        if (corners_(Index(k), face.cell) == face.corners[c]) result[k] = beta[c];
    return result;
  }

  PointMaker& points_;
  int m_;
  Tetrahedra corners_;
};

/// The groups of a mesh after its cells were cut up.
class GroupCarrier {
 public:
  const Mesh& mesh;
  const Tetrahedra& corners;
  const LagrangeTetrahedron& basis;
  const Eigen::MatrixXi& cells;  ///< nodes of each
  const std::vector<BoundaryFace>& faces;
  const std::vector<std::array<int, 3>>& triangles;  ///< of the surface, as many for each face

  MeshGroup carried(const MeshGroup& group, Index point_count) const {
    MeshGroup result;
    result.tetrahedra = group.tetrahedra;
    std::vector<char> found(std::size_t(point_count), false);
    add_nodes(group, found);
    const std::size_t parts = triangles.size() / std::max<std::size_t>(faces.size(), 1);
    for (std::size_t f = 0; f < faces.size(); ++f) {
      std::array<int, 3> whole = faces[f].corners;
      std::sort(whole.begin(), whole.end());
      if (!std::ranges::binary_search(group.triangles, whole)) continue;
      for (std::size_t k = f * parts; k < (f + 1) * parts; ++k) {
        std::array<int, 3> part = triangles[k];
        for (const int p : part) found[std::size_t(p)] = true;
        std::sort(part.begin(), part.end());
        result.triangles.push_back(part);
      }
    }
    std::sort(result.triangles.begin(), result.triangles.end());
    for (std::size_t p = 0; p < found.size(); ++p)
      if (found[p]) result.points.push_back(int(p));
    return result;
  }

 private:
  /// A node belongs to the group if all corners that it lies between do.
  void add_nodes(const MeshGroup& group, std::vector<char>& found) const {
    std::vector<char> chosen(std::size_t(mesh.point_count()), false);
    for (const int p : group.points) chosen[std::size_t(p)] = true;
    for (Index t = 0; t < corners.cols(); ++t)
      for (Index a = 0; a < basis.node_count(); ++a) {
        bool between = true;
        for (int k = 0; k < 4; ++k)
          if (basis.lattice()[std::size_t(a)][std::size_t(k)] > 0)
            between = between && chosen[std::size_t(corners(k, t))];
        if (between) found[std::size_t(cells(a, t))] = true;
      }
  }
};

}  // namespace

Matrix3 LagrangeCells::offset_gradient(Index cell, const Vector3& xi) const {
  const LagrangeTetrahedron shape(shape_degree);
  const Matrix3X gradients = shape.gradients(xi);
  const Index n = shape.node_count();
  const Matrix3 slope = rest.middleCols(cell * n, n) * gradients.transpose();
  return offset.middleCols(cell * n, n) * gradients.transpose() * slope.inverse();
}

LagrangeVolume lagrange_volume(const Mesh& mesh, const VectorX& density, const LagrangeOptions& options) {
  const CellShapes shapes(mesh);
  const int p = options.degree, degree = std::max(p, shapes.degree());
  ensure(degree >= 2, "lagrange_volume: cells of degree one");
  const int resolution = options.surface_resolution > 0 ? options.surface_resolution : degree;
  const LagrangeTetrahedron basis(p);
  const Tetrahedra corners = shapes.corners();
  NodeNumbers numbers =
      number_nodes(mesh.point_count(), corners, basis, std::lcm(std::lcm(p, shapes.degree()), resolution));

  LagrangeVolume volume;
  volume.nodes.resize(3, numbers.numbering.count());
  for (Index t = 0; t < shapes.count(); ++t)
    for (Index a = 0; a < basis.node_count(); ++a)
      volume.nodes.col(numbers.cells(a, t)) =
          shapes.place(t, reference_place(basis.lattice()[std::size_t(a)], p));
  for (Index i = 0; i < mesh.point_count(); ++i)  // exactly, whatever cell came last
    if (const Index node = numbers.corner[std::size_t(i)]; node >= 0)
      volume.nodes.col(node) = mesh.points.col(i);

  volume.cells = make_lagrange_cells(shapes, basis, numbers.cells, volume.nodes);
  volume.cells.exact =
      options.quadrature_degree > 0 ? options.quadrature_degree : default_quadrature(p, shapes.degree());
  volume.volume = cell_volumes(shapes);
  volume.mass = consistent_mass(shapes, basis, volume.cells, density);
  volume.offset_moments = offset_moments(shapes, basis, volume.cells, density);

  Mesh& made = volume.mesh;
  PointMaker points(shapes, basis, volume.nodes, numbers);
  made.curved = {{degree, degree == p ? numbers.cells : shape_cells(shapes, points)}};
  const std::vector<BoundaryFace> faces = faces_with_cells(corners);
  SurfaceMaker surface(shapes, points, resolution);
  for (const BoundaryFace& face : faces) surface.add(face, volume.cells);
  volume.point_map = points.map();
  made.points = volume.point_map.positions(volume.nodes);
  made.faces.resize(3, Index(surface.triangles.size()));
  for (std::size_t f = 0; f < surface.triangles.size(); ++f)
    made.faces.col(Index(f)) = Eigen::Vector3i::Map(surface.triangles[f].data());
  const std::size_t parts = surface.triangles.size() / std::max<std::size_t>(faces.size(), 1);
  for (std::size_t f = 0; f < surface.triangles.size(); ++f)
    volume.cell_of_face.push_back(faces[f / parts].cell);
  const GroupCarrier carrier{mesh, corners, basis, numbers.cells, faces, surface.triangles};
  for (const auto& [name, group] : mesh.groups)
    made.groups[name] = carrier.carried(group, made.point_count());
  return volume;
}

}  // namespace apart
