#pragma once
// Meshes from a few numbers, so that every example runs without files. All are centred at the origin unless
// said otherwise, positively oriented, and the same for the same arguments on every machine.
#include <apart/geometry/mesh.hpp>

#include <array>
#include <vector>

namespace apart::generate {

enum class Content { tetrahedra, surface };  ///< fill with tetrahedra, or only the closed boundary triangles

// Invalid arguments, or more than 20 million cells, throw InputError naming parameter, value and rule.
/// Axis-aligned box, each axis cut into `cells`; every cell is split into 5 tetrahedra so that no diagonal
/// direction is preferred.
Mesh box(const Vector3& size, const Eigen::Vector3i& cells, Content content = Content::tetrahedra);
/// Ball: `resolution` ≥ 1 is the number of layers from centre to surface; 20 resolution³ tetrahedra, 20
/// resolution² triangles.
Mesh sphere(double radius, int resolution, Content content = Content::tetrahedra);
/// Torus about the y axis: `major` radius of the ring, `minor` of the tube; `ring_cells` along the ring,
/// `tube_cells` around the tube.
Mesh torus(double major, double minor, int ring_cells, int tube_cells, Content content = Content::tetrahedra);
/// Solid cylinder along y; `resolution` layers from axis to rim, `length_cells` along the axis.
Mesh cylinder(double radius, double length, int resolution, int length_cells,
              Content content = Content::tetrahedra);
/// Thin box in the xz plane: width × width × thickness, `cells` per side, one cell thick.
Mesh mat(double width, double thickness, int cells, Content content = Content::tetrahedra);
/// Thin square bar along x: length × thickness × thickness, `cells` along its length, `cross_cells` across.
Mesh rod(double length, double thickness, int cells, int cross_cells = 1,
         Content content = Content::tetrahedra);
/// Pyramid: a square base of side `width` in the plane y = 0, its tip at (0, height, 0). Six tetrahedra
/// around an inner point, so that the tip is sharp and can bend.
Mesh spike(double width, double height, Content content = Content::tetrahedra);
/// Prism with a sharp edge of length `length` along z at y = height, over a base of width (x) × length (z) in
/// the plane y = 0. Eight tetrahedra around an inner point.
Mesh wedge(double width, double height, double length, Content content = Content::tetrahedra);
/// Part of a ring about the z axis.
struct RingPart {
  double inner, outer;  ///< radii [m]
  double depth;         ///< [m] along z
  double from, to;      ///< degrees from +x towards +y, 0 ≤ from < to ≤ 180
};
/// Stone of an arch, cut into `cells` along radius, angle and z; with one cell along the angle inner and
/// outer side are flat.
Mesh voussoir(const RingPart& part, const Eigen::Vector3i& cells, Content content = Content::tetrahedra);
/// Solid between two copies of a polygon with holes, in any orientation, `depth` apart along z. Centred along
/// z alone. `edge`: of triangles and along z; 0: as few points as possible.
Mesh prism(const std::vector<Eigen::Vector2d>& corners,
           const std::vector<std::vector<Eigen::Vector2d>>& holes, double depth, double edge = 0,
           Content content = Content::tetrahedra);
// Triangles in the plane z = 0, counter-clockwise seen from +z.
/// Rectangle with sides along x and y, cut into `cells` of two triangles.
Mesh rectangle(const Eigen::Vector2d& size, const Eigen::Vector2i& cells);
/// Convex quadrilateral of four corners, counter-clockwise: `cells` along the first side and along the
/// second. Not centred.
Mesh quadrilateral(const std::array<Eigen::Vector2d, 4>& corners, const Eigen::Vector2i& cells);
/// `resolution` rings of triangles around the centre.
Mesh disc(double radius, int resolution);
/// Nearly equilateral triangles of edge length `edge` within a polygon with holes, in any orientation. Not
/// centred.
Mesh polygon(const std::vector<Eigen::Vector2d>& corners,
             const std::vector<std::vector<Eigen::Vector2d>>& holes, double edge);
/// Flat open triangle grid in the xz plane, `size` (x, z), normal +y.
Mesh grid(double size_x, double size_z, int cells_x, int cells_z);
/// Open bowl (a spherical cap of triangles, opening and facing upwards, lowest point at the origin): `radius`
/// of the sphere, `angle` in degrees from the lowest point to the rim (< 180), `resolution` rings of
/// triangles.
Mesh bowl(double radius, double angle, int resolution);
/// Open surface swept by a profile turning about the y axis: a tube, a cone, a funnel. `profile` holds at
/// least two points (radius > 0, y), `resolution` ≥ 3 is the number of cells around. Going up along the
/// profile, the outside is on the side away from the axis.
Mesh revolution(const std::vector<Eigen::Vector2d>& profile, int resolution);
/// Strip whose width is along y, swept along a smooth curve (Catmull-Rom) through at least two points, which
/// differ in more than y. `cells` equally long cells along the curve, `width_cells` across. The short edges
/// are the groups "start" and "end".
Mesh ribbon(const std::vector<Vector3>& path, double width, int cells, int width_cells);
/// Straight line of segments along x.
Mesh segments(double length, int cells);
// Curves of segments. Points at their ends make the groups "start" and "end" of the mesh.
/// Straight parallel lines along y, `counts` along x and z, `spacing` apart, each of `cells` segments.
/// `round`: only those within the ellipse that the block surrounds.
Mesh bundle(double length, int cells, const Eigen::Vector2i& counts, double spacing, bool round);
/// Helix about the y axis, counter-clockwise going up.
Mesh helix(double radius, double pitch, int turns, int turn_cells);
/// Closed circle in the xz plane.
Mesh ring(double radius, int cells);
/// `count` lines along x and as many along z, woven: alternately over and under each other. `size` of the
/// square, each line of `cells` segments; axes of crossing lines are `distance` apart in y.
Mesh net(double size, int count, int cells, double distance);
/// Straight lines that grow from a surface: one at every `every`-th point of its triangles, in the direction
/// of the surface's normal there, from the distance `root` to `root` + `length`. Group "start": the roots.
Mesh hair(const Mesh& surface, double length, int cells, double root, int every);
/// Regular block of free points, `counts` per axis, `spacing` apart.
Mesh points(const Eigen::Vector3i& counts, double spacing);
/// Centres of balls placed at random in a box until no more fit easily (a quarter to a third of it is full
/// then) or there are `count` (0: no limit). No two are closer than 2 radius + gap, all are inside. The same
/// for the same arguments on every machine. Throws InputError if `count` do not fit.
Mesh packing(const Vector3& size, double radius, double gap, int count, unsigned seed);

}  // namespace apart::generate
