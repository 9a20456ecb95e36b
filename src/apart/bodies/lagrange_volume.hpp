#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// A volume of tetrahedra of degree p: nodes on the lattice of every cell, and a surface of triangles that
/// contact sees, whose points follow the nodes.
struct LagrangeVolume {
  Mesh mesh;  ///< points: the nodes, then the other points of the surface; cells of degree p; the surface
  Matrix3X nodes;
  LinearMap point_map;  ///< nodes → mesh.points
  LagrangeCells cells;
  std::vector<Index> cell_of_face;   ///< of each triangle of the surface
  Eigen::SparseMatrix<double> mass;  ///< ∫ρ N_a N_b [kg]
};

struct LagrangeOptions {
  int degree = 2;  ///< p, from 2 to largest_degree, not less than that of the mesh
  int quadrature_degree =
      0;  ///< of the energy: polynomials up to it are integrated exactly; 0: by p and the mesh
  int surface_resolution = 0;  ///< parts of each edge of the surface; 0: p, so that its points are nodes
};

/// `density`: of each cell [kg/m³]. Points of the mesh that are corners of cells come first among the nodes,
/// in their order; groups of points and triangles are those of the mesh, with what lies between their
/// corners.
LagrangeVolume lagrange_volume(const Mesh& mesh, const VectorX& density, const LagrangeOptions& options);

}  // namespace apart
