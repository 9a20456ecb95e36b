#pragma once
#include <apart/geometry/mesh.hpp>

#include <string>

namespace apart {

struct TetrahedralizeOptions {
  double radius_edge_ratio = 2;    ///< aimed at inside; less is better shaped and finer; > 1
  double max_volume = 0;           ///< [m³] of one tetrahedron, aimed at inside; 0: no limit
  std::string program = "tetgen";  ///< looked for in the PATH
  int time_limit = 600;            ///< [s]
};

/// Fills a closed surface with tetrahedra by running TetGen. The surface stays as it is: its triangles are
/// the boundary faces of the result, its points the first of the result, in order (those it uses; others are
/// dropped). Inner shells that face inward become cavities. Throws InputError beginning with `where` for a
/// surface that is open, crosses or touches itself, and if the program is missing or fails.
Mesh tetrahedralize(const Mesh& closed_surface, const std::string& where,
                    const TetrahedralizeOptions& options = {});

}  // namespace apart
