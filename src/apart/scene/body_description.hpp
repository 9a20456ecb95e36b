#pragma once
// Bodies, how they are placed, held and moved, and what acts on them: plain data, one struct for each row of
// the catalog's groups. Units, ranges and documentation of each member stand in the catalog under its name.
#include <apart/remesh/criterion.hpp>
#include <apart/scene/material_description.hpp>
#include <apart/scene/mesh_description.hpp>

#include <optional>
#include <vector>

namespace apart {

// ---- Which points ---------------------------------------------------------------------------------------
struct BoxDescription {
  static constexpr std::string_view group = "box", kind = "box";
  Place place = {};
  Vector3 min = Vector3::Zero(), max = Vector3::Zero();
  bool relative = false;
};
struct BallDescription {
  static constexpr std::string_view group = "ball", kind = "ball";
  Place place = {};
  Vector3 center = Vector3::Zero();
  double radius = 1;
};
struct PlaneDescription {
  static constexpr std::string_view group = "plane", kind = "plane";
  Place place = {};
  Vector3 origin = Vector3::Zero(), normal = Vector3::UnitY();
};

struct Selection {
  static constexpr std::string_view group = "selection";
  Place place = {};
};
struct AllSelection : Selection {
  static constexpr std::string_view kind = "all";
  bool all = true;
};
struct BoxSelection : Selection {
  static constexpr std::string_view kind = "box";
  BoxDescription box;
};
struct SphereSelection : Selection {
  static constexpr std::string_view kind = "sphere";
  BallDescription sphere;
};
struct PlaneSelection : Selection {
  static constexpr std::string_view kind = "plane";
  PlaneDescription plane;
};
struct IndexSelection : Selection {
  static constexpr std::string_view kind = "indices";
  std::vector<Index> indices;
  std::optional<Index> of;
};
struct IndexFileSelection : Selection {
  static constexpr std::string_view kind = "index_file";
  std::string index_file;
};
struct ExpressionSelection : Selection {
  static constexpr std::string_view kind = "expression";
  std::string expression;
};
struct GroupSelection : Selection {
  static constexpr std::string_view kind = "group";
  std::string name;  ///< key "group"
};
struct SelectionKinds : Kinds<AllSelection, BoxSelection, SphereSelection, PlaneSelection, IndexSelection,
                              IndexFileSelection, ExpressionSelection, GroupSelection> {};
using SelectionDescription = OneOf<SelectionKinds>;
const Place& place_of(const SelectionDescription& selection);

// ---- Motion ---------------------------------------------------------------------------------------------
struct KeyframeDescription {
  static constexpr std::string_view group = "keyframe", kind = "keyframe";
  Place place = {};
  double t = 0;
  Vector3 translate = Vector3::Zero();
  RotationDescription rotate = Vector3(0, 0, 0);
};
struct TurningDescription {
  static constexpr std::string_view group = "turning", kind = "turning";
  Place place = {};
  Vector3 axis = Vector3::UnitY();
  Formula angle = 0.0;
};
struct KeyframeMotion {
  static constexpr std::string_view group = "motion", kind = "keyframes";
  Place place = {};
  std::vector<KeyframeDescription> keyframes;
  std::optional<Vector3> center;
};
struct FormulaMotion {
  static constexpr std::string_view group = "motion", kind = "formulas";
  Place place = {};
  FormulaVector translate = {0.0, 0.0, 0.0};
  std::optional<TurningDescription> rotate;
  std::optional<Vector3> center;
};
struct MotionKinds : Kinds<KeyframeMotion, FormulaMotion> {};
using MotionDescription = OneOf<MotionKinds>;
const Place& place_of(const MotionDescription& motion);

/// A range of time.
struct TimesDescription {
  Place place = {};
  double from = 0;
  std::optional<double> until;
};

struct FixedDescription : TimesDescription {
  static constexpr std::string_view group = "fixed", kind = "fixed";
  SelectionDescription where;
  std::string axes = "xyz";
  std::optional<MotionDescription> motion;
};

// ---- Loads ----------------------------------------------------------------------------------------------
struct LoadBase : TimesDescription {
  static constexpr std::string_view group = "load";
  SelectionDescription where;
};
struct BodyForceDescription : LoadBase {
  static constexpr std::string_view kind = "body_force";
  FormulaVector acceleration = {0.0, 0.0, 0.0};
};
struct TractionDescription : LoadBase {
  static constexpr std::string_view kind = "traction";
  FormulaVector traction = {0.0, 0.0, 0.0};
};
struct PressureDescription : LoadBase {
  static constexpr std::string_view kind = "pressure";
  Formula pressure = 0.0;
};
struct WindDescription : LoadBase {
  static constexpr std::string_view kind = "wind";
  FormulaVector velocity = {0.0, 0.0, 0.0};
  double density = 1.225, drag = 1.2, friction = 0.02;
};
struct PointForceDescription : LoadBase {
  static constexpr std::string_view kind = "point_force";
  FormulaVector force = {0.0, 0.0, 0.0};
};
struct TorqueDescription : TimesDescription {
  static constexpr std::string_view group = "load", kind = "torque";
  FormulaVector torque = {0.0, 0.0, 0.0};
};
struct LoadKinds : Kinds<BodyForceDescription, TractionDescription, PressureDescription, WindDescription,
                         PointForceDescription, TorqueDescription> {};
using LoadDescription = OneOf<LoadKinds>;

// ---- Bodies ---------------------------------------------------------------------------------------------
struct TransformDescription {
  static constexpr std::string_view group = "transform", kind = "transform";
  Place place = {};
  PerAxis scale = 1.0;
  RotationDescription rotate = Vector3(0, 0, 0);
  Vector3 translate = Vector3::Zero();
};
struct ArrayDescription {
  static constexpr std::string_view group = "array", kind = "array";
  Place place = {};
  Eigen::Vector3i counts = Eigen::Vector3i::Ones();
  Vector3 spacing = Vector3::Zero();
  double copies() const { return counts.cast<double>().prod(); }
};
struct DampingDescription {
  static constexpr std::string_view group = "damping", kind = "damping";
  Place place = {};
  double mass = 0, stiffness = 0;
};
struct SequenceDescription {
  static constexpr std::string_view group = "sequence", kind = "sequence";
  Place place = {};
  std::string files;
  Index first = 0, count = 1;
  double dt = 0.01;
};
struct RegionDescription {
  static constexpr std::string_view group = "region", kind = "region";
  Place place = {};
  SelectionDescription where;
  MaterialDescription material;
};

struct BodyBase {
  static constexpr std::string_view group = "body";
  Place place = {};
  std::string name;  ///< empty: type and position
  std::optional<FrictionCoefficient> friction_coefficient;
  std::optional<Length> thickness;
  double appears = 0;
  std::optional<double> disappears;
};
struct MeshBody : BodyBase {
  MeshDescription mesh;
  TransformDescription transform;
  std::optional<MotionDescription> motion;
  std::optional<ArrayDescription> array;
};
/// A body that can be pushed.
struct DynamicBody : MeshBody {
  std::optional<std::string> moved_points;
  Vector3 velocity = Vector3::Zero(), angular_velocity = Vector3::Zero();
  std::vector<FixedDescription> fixed;
  std::vector<LoadDescription> loads;
  DampingDescription damping;
};
/// The surface that a body collides with.
struct CollisionDescription {
  static constexpr std::string_view group = "collision", kind = "collision";
  Place place = {};
  std::optional<int> resolution;
  std::optional<MeshDescription> mesh;
  std::optional<std::string> weights;
};
/// How the mesh of a volume, a planar body or a shell changes during a run.
struct RemeshDescription {
  static constexpr std::string_view group = "remesh", kind = "remesh";
  Place place = {};
  RemeshCriterion criterion = RemeshCriterion::potential;
  double delta_split = 0, delta_collapse = 0;
  std::optional<Length> min_edge, shape_tolerance;
  int rounds = 2;
  bool coarsen = false;
  bool swaps = false, smoothing = false;
};
struct VolumeDescription : DynamicBody {
  static constexpr std::string_view kind = "volume";
  MaterialDescription material;
  std::vector<RegionDescription> regions;
  std::optional<MassKind> mass;
  std::optional<int> basis_order, quadrature_order;
  std::optional<CollisionDescription> collision;
  std::optional<RemeshDescription> remesh;
};
struct PlanarDescription : DynamicBody {
  static constexpr std::string_view kind = "planar";
  MaterialDescription material;
  std::vector<RegionDescription> regions;
  PlaneState plane = PlaneState::strain;
  double depth = 1;
  std::optional<MassKind> mass;
  std::optional<RemeshDescription> remesh;
};
enum class RestAngles { mesh, flat };
struct ShellDescription : DynamicBody {
  static constexpr std::string_view kind = "shell";
  ShellMaterialDescription material = NeoHookeanShell{};
  std::optional<StrainLimitDescription> strain_limit;
  RestAngles rest_angles = RestAngles::mesh;
  std::optional<std::variant<FromTexture, MeshDescription>> rest_mesh;
  std::optional<RemeshDescription> remesh;
};
struct AffineDescription : DynamicBody {
  static constexpr std::string_view kind = "affine";
  MaterialDescription material = OrthogonalityDescription{};
  std::optional<CollisionDescription> collision;
};
struct RigidDescription : DynamicBody {
  static constexpr std::string_view kind = "rigid";
  MaterialDescription material = OrthogonalityDescription{};  ///< of which only the density is used
  std::optional<double> mass;
  std::optional<Vector3> centre;
  std::optional<std::vector<double>> inertia;
  std::string fixed_translation, fixed_rotation;  ///< axes, such as "xz"
  std::optional<CollisionDescription> collision;
};
struct RodDescription : DynamicBody {
  static constexpr std::string_view kind = "rod";
  RodMaterialDescription material;
  RestCurvature rest_curvature = RestCurvature::mesh;
};
struct ParticlesDescription : DynamicBody {
  static constexpr std::string_view kind = "particles";
  double radius = 0.05, rho = 1000;
};
struct ObstacleDescription : MeshBody {
  static constexpr std::string_view kind = "obstacle";
  std::optional<SequenceDescription> sequence;
};
struct HalfSpaceDescription : BodyBase {
  static constexpr std::string_view kind = "half_space";
  Vector3 origin = Vector3::Zero(), normal = Vector3::UnitY();
  std::optional<MotionDescription> motion;
};
struct BodyKinds
    : Kinds<VolumeDescription, PlanarDescription, ShellDescription, AffineDescription, RigidDescription,
            RodDescription, ParticlesDescription, ObstacleDescription, HalfSpaceDescription> {};
using BodyDescription = OneOf<BodyKinds>;
const BodyBase& base_of(const BodyDescription& body);
/// Null if it is one body.
const ArrayDescription* array_of(const BodyDescription& body);

}  // namespace apart
