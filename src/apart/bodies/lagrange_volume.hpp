#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// A volume of tetrahedra with displacements of degree p, on a shape of degree k: nodes on the lattice of
/// every cell, and a surface of triangles that contact sees, whose points follow the nodes.
struct LagrangeVolume {
  /// Points: the nodes, the other points of the cells, if k > p, and those of the surface. Cells of degree
  /// max(p, k). The surface.
  Mesh mesh;
  Matrix3X nodes;
  LinearMap point_map;  ///< nodes → mesh.points
  LagrangeCells cells;
  VectorX volume;                    ///< of each cell at rest [m³]
  std::vector<Index> cell_of_face;   ///< of each triangle of the surface
  Eigen::SparseMatrix<double> mass;  ///< ∫ρ N_a N_b [kg]
  Matrix3X offset_moments;           ///< see Body
};

struct LagrangeOptions {
  int degree = 2;  ///< p, from 1 to largest_degree; 1 only on a curved mesh
  /// Of the energy: polynomials up to it are integrated exactly; 0: by p and k.
  int quadrature_degree = 0;
  /// Parts of each edge of the surface; 0: max(p, k), so that its points are those of the cells.
  int surface_resolution = 0;
};

/// `density`: of each cell [kg/m³]. Points of the mesh that are corners of cells come first among the nodes,
/// in their order; groups of points and triangles are those of the mesh, with what lies between their
/// corners.
LagrangeVolume lagrange_volume(const Mesh& mesh, const VectorX& density, const LagrangeOptions& options);

}  // namespace apart
