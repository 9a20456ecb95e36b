#pragma once
// A frame is what a run writes for one instant; verify, render and view read nothing else.
#include <apart/geometry/half_space.hpp>
#include <apart/geometry/mesh.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace apart {

struct FrameBody {
  std::string name;
  std::string kind;  ///< "volume", "planar", "shell", "affine", "rigid", "rod", "particles", "obstacle",
                     ///< "half_space"; "invertible_volume" and "invertible_planar" if all its cells are of
                     ///< materials that may invert
  /// Its triangles are cells in a plane z = const, and its surface their boundary.
  bool is_planar() const { return kind == "planar" || kind == "invertible_planar"; }
};

/// The thickness of a pair of bodies that is not the mean of the two.
struct PairThickness {
  int a = 0, b = 0;      ///< a ≤ b
  double thickness = 0;  ///< ξ [m]
  bool operator==(const PairThickness&) const = default;
};

/// How far the triangles of a body may be strained.
struct FrameStrainLimit {
  int body = 0;  ///< index into Frame::bodies; a body may have one of either kind
  bool woven = false;  ///< `limits` are those of |E₁₁|, |E₂₂|, |E₁₂|, Green's strain along warp and weft;
                       ///< else of the larger and of the smaller stretch (0: none), and the third is not used
  Vector3 limits;
};

/// All bodies of a scene on one list of points. Positions are stored as the exact doubles of the simulation.
struct Frame {
  double time = 0;  ///< [s]
  /// Frames of one number have the same cells on the same points. 0 at the start of a run; more by one or
  /// more where a mesh has changed. A body that appears or disappears changes no mesh.
  Index topology = 0;
  Mesh mesh;                           ///< deformed positions [m, world]; cells of every body
  Eigen::VectorXi point_body;          ///< body of each point, index into `bodies`
  std::vector<FrameBody> bodies;       ///< in the order of the scene
  std::vector<HalfSpace> half_spaces;  ///< `HalfSpace::body` indexes `bodies`
  /// Body pairs the scene lets overlap (a ≤ b; a == b: self).
  std::vector<std::pair<int, int>> ignored_pairs;
  bool allow_nested = false;          ///< the scene lets bodies lie inside solids
  std::vector<int> invertible_cells;  ///< tetrahedra of materials that may invert, in bodies of kind "volume"
                                      ///< that have others too: positions in the mesh, ascending
  std::vector<FrameStrainLimit> strain_limits;
  /// Of the triangles of the bodies with strain limits, in the order of the mesh: (edges of the rest triangle
  /// along warp and weft)⁻¹, by columns [1/m].
  Eigen::Matrix4Xd rest_shape;
  std::vector<int> absent;  ///< absent bodies; they are at rest somewhere and take part in nothing
  /// ξ [m] of each body: contact keeps a pair of bodies apart by the mean of the two, and a body from itself.
  /// Empty: none has any.
  std::vector<double> thickness;
  std::vector<double> self_reach;  ///< ξ + d̂ [m] of each body with itself; as many as `thickness`
  std::vector<PairThickness> pair_thickness;  ///< pairs that have another than the mean
  /// The thickness of each body itself [m]: a shell's material thickness, twice the radius of rods and
  /// particles; 0 for others. For drawing only: it is not the distance that contact keeps, and is not
  /// verified. Empty: none has any.
  std::vector<double> drawn_thickness;
  Matrix3X velocity;       ///< [m/s] per point; may be empty
  Matrix3X contact_force;  ///< [N] per point, contact and friction; may be empty
  VectorX von_mises;  ///< [Pa] per tetrahedron, then per triangle (zero but for shells and planar bodies);
                      ///< may be empty
  VectorX strain;     ///< largest |σ − 1| over the stretches σ; cells as in von_mises; may be empty
};

/// Writes one VTU file that ParaView opens (binary, so doubles survive exactly), atomically. As frames, their
/// index and iterates are written often, flush_to_disk must be called before something relies on them after a
/// power cut.
void write_frame(const std::filesystem::path& file, const Frame& frame);
/// A part of another frame, with the arrays that this has, be they empty.
void write_frame_part(const std::filesystem::path& file, const Frame& part, const Frame& whole);

/// Reads what write_frame wrote. Throws InputError naming file and place if it is damaged.
Frame read_frame(const std::filesystem::path& file);

}  // namespace apart
