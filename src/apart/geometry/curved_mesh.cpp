#include <apart/geometry/curved_mesh.hpp>

#include <apart/basis/lattice_numbering.hpp>
#include <apart/basis/quadrature.hpp>
#include <apart/core/error.hpp>

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <algorithm>

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

void place_points(Mesh& mesh,
                  FunctionRef<Vector3(const std::array<Vector3, 4>& corners, const Vector4& weights)> place) {
  for (const CurvedCells& cells : mesh.curved) {
    const std::vector<LatticePoint> lattice = tetrahedron_lattice(cells.degree);
    for (Index t = 0; t < cells.points.cols(); ++t) {
      std::array<Vector3, 4> corners;
      for (std::size_t k = 0; k < 4; ++k) corners[k] = mesh.points.col(cells.points(Index(k), t));
      for (std::size_t a = 4; a < lattice.size(); ++a) {
        const LatticePoint& p = lattice[a];
        mesh.points.col(cells.points(Index(a), t)) =
            place(corners, Vector4(p[0], p[1], p[2], p[3]) / cells.degree);
      }
    }
  }
}

void curve_ball(Mesh& mesh) {
  place_points(mesh, [](const std::array<Vector3, 4>& corners, const Vector4& weights) {
    Vector3 x = Vector3::Zero();
    double distance = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      x += weights[Index(k)] * corners[k];
      distance += weights[Index(k)] * corners[k].norm();
    }
    return Vector3(distance * x.normalized());
  });
}

namespace {

/// Which points of curved cells are on the boundary.
std::vector<char> points_on_boundary(const Mesh& mesh, const CurvedCells& cells) {
  std::vector<char> result(std::size_t(mesh.point_count()), false);
  const Faces faces = boundary_faces(cells);
  for (const int p : faces.reshaped()) result[std::size_t(p)] = true;
  return result;
}

/// ∫∇N_a·∇N_b over straight cells with these points.
Eigen::SparseMatrix<double> laplacian(const Matrix3X& points, const CurvedCells& cells) {
  const LagrangeTetrahedron basis(cells.degree);
  const Quadrature rule = tetrahedron_quadrature(2 * (cells.degree - 1));
  std::vector<Matrix3X> gradients;
  for (Index k = 0; k < rule.size(); ++k) gradients.push_back(basis.gradients(rule.points.col(k)));
  std::vector<Eigen::Triplet<double>> entries;
  for (Index t = 0; t < cells.points.cols(); ++t) {
    const auto corner = [&](int k) { return points.col(cells.points(k, t)); };
    Matrix3 slope;
    for (int k = 0; k < 3; ++k) slope.col(k) = corner(k + 1) - corner(0);
    const Matrix3 inverse = slope.inverse().transpose();
    Eigen::MatrixXd local = Eigen::MatrixXd::Zero(basis.node_count(), basis.node_count());
    for (Index k = 0; k < rule.size(); ++k) {
      const Matrix3X g = inverse * gradients[std::size_t(k)];
      local += rule.weights[k] * slope.determinant() * g.transpose() * g;
    }
    for (Index a = 0; a < local.rows(); ++a)
      for (Index b = 0; b < local.cols(); ++b)
        entries.emplace_back(cells.points(a, t), cells.points(b, t), local(a, b));
  }
  Eigen::SparseMatrix<double> result(points.cols(), points.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace

void blend_inside(Mesh& mesh, const Matrix3X& before) {
  for (const CurvedCells& cells : mesh.curved) {
    const std::vector<char> fixed = points_on_boundary(mesh, cells);
    std::vector<Index> number(fixed.size(), -1);  // of points inside
    Index count = 0;
    for (const int p : cells.points.reshaped())
      if (!fixed[std::size_t(p)] && number[std::size_t(p)] < 0) number[std::size_t(p)] = count++;
    if (count == 0) continue;
    const Eigen::SparseMatrix<double> whole = laplacian(before, cells);
    std::vector<Eigen::Triplet<double>> entries;
    Eigen::MatrixXd right = Eigen::MatrixXd::Zero(count, 3);
    for (Index c = 0; c < whole.outerSize(); ++c)
      for (Eigen::SparseMatrix<double>::InnerIterator it(whole, c); it; ++it) {
        const Index row = number[std::size_t(it.row())], column = number[std::size_t(c)];
        if (row >= 0 && column >= 0) entries.emplace_back(row, column, it.value());
        if (row >= 0 && column < 0)
          right.row(row) -= it.value() * (mesh.points.col(c) - before.col(c)).transpose();
      }
    Eigen::SparseMatrix<double> inside(count, count);
    inside.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(inside);
    if (solver.info() != Eigen::Success) continue;  // cells without volume, which are refused later
    const Eigen::MatrixXd moved = solver.solve(right);
    for (std::size_t p = 0; p < number.size(); ++p)
      if (number[p] >= 0) mesh.points.col(Index(p)) = before.col(Index(p)) + moved.row(number[p]).transpose();
  }
}

void curve_to(Mesh& mesh, FunctionRef<Vector3(const Vector3&)> nearest) {
  const Matrix3X before = mesh.points;
  for (const CurvedCells& cells : mesh.curved) {
    const std::vector<char> on_boundary = points_on_boundary(mesh, cells);
    for (std::size_t p = 0; p < on_boundary.size(); ++p)
      if (on_boundary[p]) mesh.points.col(Index(p)) = nearest(before.col(Index(p)));
  }
  blend_inside(mesh, before);
}

}  // namespace apart
