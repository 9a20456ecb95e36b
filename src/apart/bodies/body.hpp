#pragma once
// A body is data: nodes, a map to its mesh points, its elastic elements and its mass. There is one maker per
// kind.
#include <apart/bodies/body_sets.hpp>
#include <apart/bodies/chart.hpp>
#include <apart/bodies/linear_map.hpp>
#include <apart/bodies/mass_distribution.hpp>
#include <apart/geometry/half_space.hpp>
#include <apart/geometry/mesh.hpp>
#include <apart/materials/material.hpp>
#include <apart/materials/membrane.hpp>
#include <apart/materials/plane_stress.hpp>

#include <Eigen/SparseCore>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace apart {

/// Elastic tetrahedra whose displacements are of degree p, straight or curved at rest. One of p and the
/// degree k of their shape is above one.
///
/// A cell is where x(ξ) = Σ q_a N_a(ξ) + x₀(ξ). If p ≥ k the nodes reproduce the shape, and the offset x₀ is
/// zero; if not, it is what they leave of the shape, and stays as it is at rest: F = Σ q_a ∇N_aᵀ + ∇x₀.
struct LagrangeCells {
  int degree = 2;         ///< p
  Eigen::MatrixXi nodes;  ///< of each cell, in the order of tetrahedron_lattice; body's own node numbers
  int exact = 0;          ///< degree of the polynomials that the quadrature of the energy integrates exactly
  int shape_degree = 2;   ///< of the cells as they are in space, max(p, k)
  Matrix3X rest;          ///< [m] on the lattice of that degree of each cell, cell after cell
  Matrix3X offset;        ///< x₀ [m] on the lattice of degree k of each cell, cell after cell; empty: zero
  /// ∇x₀ in a cell at ξ, where x₀ is not zero.
  Matrix3 offset_gradient(Index cell, const Vector3& xi) const;
  /// Where the corners of each triangle of the body's surface are in its cell, ξ. Empty: the triangles are
  /// not on the boundary.
  std::vector<Matrix3> corners_of_face;
};

/// Elastic cells on nodes: tetrahedra, linear unless `lagrange` says otherwise.
struct ElasticCells {
  Tetrahedra nodes;  ///< 4 × n: corners, body's own node numbers
  /// Of linear cells: (rest edge matrix)⁻¹ [1/m], F = [q₁−q₀, q₂−q₀, q₃−q₀] · inverse_rest
  std::vector<Matrix3> inverse_rest;
  VectorX volume;  ///< [m³] at rest; the weight of the energy density
  std::vector<Material> materials;
  std::vector<Index> material_of;  ///< per cell, index into materials
  std::optional<LagrangeCells> lagrange;
  /// Of each triangle of the body's surface, if that is not the boundary of linear cells; else empty.
  std::vector<Index> cell_of_face;
  std::vector<double> density;  ///< [kg/m³] at rest, as `materials`; of affine bodies empty
  /// The cells of materials that may invert, ascending.
  std::vector<Index> invertible_cells() const;
};

/// The triangles of a shell and the hinges between them.
struct ShellCells {
  Faces nodes;                        ///< 3 × n, body's own node numbers
  std::vector<Matrix2> inverse_rest;  ///< (edges of the rest triangle along warp and weft)⁻¹ [1/m]:
                                      ///< F = [q₁−q₀, q₂−q₀] · inverse_rest
  VectorX volume;        ///< [m³] area times thickness at rest; the weight of the energy density
  double thickness = 0;  ///< [m] of the material
  Membrane membrane;
  std::optional<StretchLimit> limit;
  Tetrahedra hinges;        ///< 4 × m: the two ends of an edge, then the third corner of either triangle
  VectorX rest_angle;       ///< of each hinge; zero if flat
  VectorX hinge_stiffness;  ///< [J]: energy = stiffness · (angle − rest angle)²
  double density = 0;       ///< [kg/m³] at rest
};
/// Whether strain limits, if there are any, allow places of the nodes of a shell [m].
bool within_limits(const ShellCells& cells, const Matrix3X& x);

/// Elastic triangles in a plane z = const, which their nodes never leave: their z is held.
struct PlanarCells {
  Faces nodes;                        ///< 3 × n, counter-clockwise seen from +z; body's own node numbers
  std::vector<Matrix2> inverse_rest;  ///< (edges of the rest triangle)⁻¹ [1/m], of x and y:
                                      ///< F₂ = [q₁−q₀, q₂−q₀] · inverse_rest
  VectorX volume;                     ///< [m³] area times depth at rest; the weight of the energy density
  double depth = 1;                   ///< [m] along z
  PlaneState state = PlaneState::strain;
  std::vector<Material> materials;
  std::vector<Index> material_of;  ///< per cell, index into materials
  std::vector<double> density;     ///< [kg/m³] at rest, as `materials`
  /// Whether cells may invert: all of them may, or none.
  bool may_invert() const { return !prevents_inversion(materials[0]); }
};

/// The materials of the cells of a body; cells of the same material share an entry.
struct Substance {
  Material material;
  double density = 1000;  ///< [kg/m³]
};
struct CellSubstances {
  std::vector<Substance> substances;
  std::vector<Index> of_cell;  ///< per tetrahedron, or triangle of a planar body, index into substances
};

/// Material of a rod of circular cross-section.
struct RodMaterial {
  double density = 1000;     ///< [kg/m³]
  double young = 1e6;        ///< E [Pa]
  double radius = 1e-3;      ///< r [m] of the cross-section
  double stretch_scale = 1;  ///< times E, against stretch
  double bending_scale = 1;  ///< times E, against bending
};
enum class RestCurvature { mesh, straight };  ///< as a rod is made, or none

/// Segments that resist stretch, and the nodes between two of them, which resist bending. Chains may be open
/// or closed; a node where three or more segments meet is a free joint.
struct RodCells {
  Edges segments;                               ///< 2 × n, body's own node numbers
  VectorX rest_length;                          ///< of each segment [m]
  Eigen::Matrix<int, 3, Eigen::Dynamic> bends;  ///< nodes: before, bent, after
  VectorX bend_length;                          ///< l̄ [m]: rest lengths of the two segments together
  VectorX rest_curvature;        ///< |κb| of each bend at rest: 2 tan(θ/2), θ the turning angle
  double stretch_stiffness = 0;  ///< E π r² [N]
  double bending_stiffness = 0;  ///< α = E π r⁴/4 [N m²] [C-IPC supplement §8]
};

/// A rigid placement: x = centre + rotation (x₀ − centre) + translation.
struct Pose {
  Matrix3 rotation = Matrix3::Identity();
  Vector3 centre = Vector3::Zero();       ///< [m], world
  Vector3 translation = Vector3::Zero();  ///< [m]
  Vector3 apply(const Vector3& x0) const { return centre + rotation * (x0 - centre) + translation; }
};
/// Where points are `time` [s] after the start of a motion, if they are at `start` (3 × n [m]) then.
using Motion = std::function<Matrix3X(const Matrix3X& start, double time)>;
Motion rigid_motion(std::function<Pose(double time)> pose);

/// When something holds: for steps that end in (from, until], with room for rounding.
struct TimeRange {
  double from = 0;                                         ///< [s]
  double until = std::numeric_limits<double>::infinity();  ///< [s]
  bool covers(double time) const;
  bool operator==(const TimeRange&) const = default;
  bool overlaps(const TimeRange& other) const { return from < other.until && other.from < until; }
};

/// The motion of some points of a body, given by the scene as a function of time. A script that begins at the
/// start of the run is relative to the body's mesh. One that begins later is relative to that time and to
/// where the nodes are then, their anchors.
struct Script {
  PointSet points;
  std::array<bool, 3> axes = {true, true, true};  ///< which of x, y, z are scripted
  Motion motion;                                  ///< empty: held where they are
  TimeRange when;
  /// Scripts of one group, if it is not negative, have the same motion and times: coordinates that one of
  /// them covers are skipped by later ones.
  int group = -1;
};

/// Given forces that do not depend on how the body deforms. Areas are those of the body's mesh.
struct Load {
  enum class Kind {
    acceleration,  ///< of the nodes of `points` [m/s²]
    traction,      ///< on `facets` [Pa]: at each corner a third of the area; of curved cells integrated;
                   ///< on `segments` of a planar body: at either end half of the length times depth
    force          ///< on each of `points` [N]
  };
  Kind kind = Kind::acceleration;
  /// At a place of the body at the start [m] and a time [s].
  std::function<Vector3(const Vector3& rest, double time)> field;
  PointSet points;
  FacetSet facets;
  TimeRange when;
  SegmentSet segments = {};
};

/// A torque on the whole body, as the forces of the accelerations α × r with α = I⁻¹ τ, which deform it as
/// little as possible.
struct Torque {
  std::function<Vector3(double time)> torque;  ///< τ [N m], world, at a time [s]
  TimeRange when;
};

/// Pressure on triangles of the body's surface, or on segments of a planar body: pushes against their outer
/// side and turns with them.
struct Pressure {
  FacetSet facets;
  std::function<double(double time)> pressure;  ///< [Pa]; negative: pulls
  TimeRange when;
  SegmentSet segments = {};
};

/// Drag of moving air, with the square of the relative speed.
struct Wind {
  FacetSet facets;
  SegmentSet segments;  ///< of radius Body::radius
  PointSet points;      ///< balls of that radius
  /// Of the air [m/s], at a place of the body at the start [m] and a time [s].
  std::function<Vector3(const Vector3& rest, double time)> velocity;
  double density = 1.225;                  ///< [kg/m³]
  double normal = 1.2, tangential = 0.02;  ///< drag coefficients across a surface and along it
  TimeRange when;
};

/// Rayleigh damping: the force −(mass · M + stiffness · K) v, K the stiffness matrix at the start of the
/// step.
struct Damping {
  double mass = 0;       ///< [1/s]
  double stiffness = 0;  ///< [s]
};

struct BodyShape;

enum class BodyKind { volume, planar, shell, affine, rigid, rod, particles, obstacle, half_space };
std::string_view name_of(BodyKind kind);

struct Body {
  /// Has no volume: its visible thickness is the distance that contact keeps, ξ + d̂.
  bool is_thin() const { return is_dynamic() && !encloses_volume; }

  std::string name;
  BodyKind kind = BodyKind::volume;
  Mesh mesh;             ///< initial placement [m, world]; points and cells as they are output
  Matrix3X rest_points;  ///< of a shell whose rest shape is not its mesh, of each point [m]; else empty
  Matrix3X nodes;        ///< initial coordinates, 3 × node count [m, world]
  std::shared_ptr<const BodyChart> chart;  ///< how nodes may move; none: independently
  Matrix3X velocity;                       ///< initial velocity of the nodes [m/s]
  LinearMap point_map;                     ///< nodes → mesh.points
  std::vector<Index> surface_points;       ///< the mesh points contact sees, ascending
  Faces surface_faces;                     ///< triangles contact sees, in mesh point numbers
  /// Segments contact sees that belong to no triangle, in mesh point numbers. Of a planar body its boundary,
  /// with the inside on the left seen from +z.
  Edges free_segments;
  std::optional<ElasticCells> elastic;  ///< of volumes and affine bodies
  std::optional<PlanarCells> planar;
  std::optional<ShellCells> shell;
  std::optional<RodCells> rods;
  double radius = 0;  ///< of rods and particles [m]
  /// [m²] of the surface's vertices, mean, for the weights of contact; of the scene's mesh, and stays if that
  /// changes. 0: not computed yet.
  double vertex_area = 0;
  bool encloses_volume = false;      ///< a solid: its surface has an inside, where nothing may be
  Eigen::SparseMatrix<double> mass;  ///< node × node [kg]; empty for obstacles and half-spaces
  Matrix3X offset_moments;           ///< ∫ρ x₀ N_a of each node [kg m], see LagrangeCells; empty: zero
  BodySets sets;                     ///< what the following, attachments and probes refer to
  std::vector<Script> scripts;
  std::vector<Load> loads;
  std::vector<Torque> torques;
  std::vector<Pressure> pressures;
  std::vector<Wind> winds;
  Damping damping;
  std::optional<HalfSpace> half_space;
  TimeRange presence;  ///< when the body is present; in other steps it is at rest and takes part in nothing
  /// Makes the body again from another mesh, without scripts and loads; see with_shape. Throws InputError if
  /// the mesh is not suitable. Empty: the body keeps its mesh.
  std::function<Body(const BodyShape& shape)> remake;
  bool reshaped = false;  ///< the mesh is not that of the scene; see with_shape

  bool is_dynamic() const { return mass.rows() > 0; }
  Index node_count() const { return Index(nodes.cols()); }
};

enum class MassKind { lumped, consistent };

/// Soft tetrahedral body. The mesh must have passed validate_volume.
Body make_volume(std::string name, Mesh mesh, const CellSubstances& cells, MassKind mass);
/// The same with cells of a degree above one, or curved; see lagrange_volume.
struct LagrangeOptions;
Body make_volume(std::string name, const Mesh& mesh, const CellSubstances& cells,
                 const LagrangeOptions& options);
/// The same of one material.
Body make_volume(std::string name, Mesh mesh, const Material& material, double density, MassKind mass);

struct PlanarOptions {
  double depth = 1;  ///< [m] along z
  PlaneState state = PlaneState::strain;
  MassKind mass = MassKind::lumped;
};
/// Soft body of triangles in a plane z = const. The mesh must have passed planar_mesh. Throws InputError if a
/// material has no plane stress that is asked for.
Body make_planar(std::string name, Mesh mesh, const CellSubstances& cells, const PlanarOptions& options);

/// Bending energy of the angles between triangles.
enum class BendingModel {
  plate,  ///< flexural rigidity E thickness³/(12 (1 − ν²)) for bending along a line, as in plate theory
  published  ///< C-IPC supplement eq. 17–18 to the letter: three times that
};
struct ShellSubstance {
  Membrane membrane;
  double density = 1000;    ///< [kg/m³]
  double thickness = 1e-3;  ///< of the material [m]: mass, volume, bending; not ξ of contact
  double bending_young = 0, bending_poisson = 0;  ///< E [Pa] and ν of bending; E = 0: none
  BendingModel bending_model = BendingModel::plate;
  std::optional<StretchLimit> limit;
  MassKind mass = MassKind::lumped;
};
struct ShellRest {
  std::optional<Matrix3X> points;   ///< [m] the shape without strain; none: the mesh as it is placed
  bool flat = false;                ///< angles are zero at rest, whatever the mesh
  Vector3 warp = Vector3::UnitX();  ///< direction in the rest shape, of orthotropic materials
  bool warp_from_texture = false;   ///< instead: the direction in which the first texture coordinate grows
};
/// Thin sheet of triangles. The mesh must have passed validate_surface. Throws InputError if the start breaks
/// a strain limit.
Body make_shell(std::string name, Mesh mesh, const ShellSubstance& substance, const ShellRest& rest = {});
/// Stiff body with 12 coordinates: the corners of a control tetrahedron, x = Σ w_k q_k, W constant. Its
/// energy is the material's on that one tetrahedron, weighted with the body's volume; its mass is consistent.
/// [docs/architecture.md]
Body make_affine(std::string name, Mesh mesh, const Material& material, double density);
/// Which components of its motion, in world axes, a rigid body may have.
struct RigidFreedom {
  std::array<bool, 3> translation = {true, true, true};
  std::array<bool, 3> rotation = {true, true, true};
};
/// Exactly rigid body: the nodes and the map of an affine one, kept on rigid motions by its chart. Of a mesh
/// of any cells, in any number of pieces. A straight rod or a point, which has no inertia about some axis,
/// gets that of a thin body.
Body make_rigid(std::string name, Mesh mesh, MassDistribution mass, const RigidFreedom& freedom = {});
/// Elastic rods: the segments of a mesh that has no other cells, in chains of any number. Mass is lumped:
/// half of each segment's to either end.
Body make_rod(std::string name, Mesh mesh, const RodMaterial& material, RestCurvature rest);
/// Balls that do not rotate: one at each point of the mesh, of mass 4/3 π r³ times the density [kg/m³].
Body make_particles(std::string name, Mesh mesh, double radius, double density);
/// Triangles, segments or points that are never pushed; `motion` scripts every node (empty: held in place).
Body make_obstacle(std::string name, Mesh mesh, Motion motion = {});
/// Solid behind a plane. With a motion it has one node, its origin, which that motion moves; the plane never
/// turns.
Body make_half_space(std::string name, const Vector3& origin, const Vector3& normal, Motion motion = {});

/// Sets the initial velocity to v + ω × (x − centre of mass) [m/s, rad/s].
void set_rigid_velocity(Body& body, const Vector3& linear, const Vector3& angular);
/// The set of all points of the mesh.
PointSet all_points(Body& body);
/// Scripts all nodes of a body or, with `points`, the nodes of those mesh points, which become a set. Throws
/// InputError for part of an affine or rigid body, which moves as a whole.
void add_script(Body& body, const std::vector<Index>* points, std::array<bool, 3> axes, Motion motion,
                TimeRange when = {});

double total_mass(const Body& body);       ///< [kg]
Vector3 centre_of_mass(const Body& body);  ///< [m], initial

}  // namespace apart
