#pragma once
// A scene as plain data: what scene files, importers and programs make, and what a Model is built from. Every
// member has the name and the default of its key in the catalog, which says its unit, range and meaning.
#include <apart/scene/joint_description.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>

#include <array>
#include <string>
#include <vector>

namespace apart {

struct TimeDescription {
  static constexpr std::string_view group = "time", kind = "time";
  Place place = {};
  double dt = 0.01;
  std::optional<double> tend;  ///< either this or `steps`
  std::optional<Index> steps;
  double max_motion = 0.25;
  Integrator integrator = Integrator::implicit_euler;
  std::optional<double> beta, gamma, spectral_radius;
  bool conserve_spin = false;
};

struct PairDescription {
  static constexpr std::string_view group = "pair", kind = "pair";
  Place place = {};
  std::array<std::string, 2> bodies;
  bool enabled = true;
  std::optional<FrictionCoefficient> friction_coefficient;
  std::optional<Length> dhat, thickness;
};
using BarrierStiffness = std::variant<StiffnessRule, double>;
struct ContactDescription {
  static constexpr std::string_view group = "contact", kind = "contact";
  Place place = {};
  AutomaticLength dhat, thickness;
  ContactFormulation formulation = ContactFormulation::published;
  BarrierStiffness barrier_stiffness = StiffnessRule::adaptive;
  FrictionCoefficient friction_coefficient = 0.0;
  AutomaticLength epsv;
  Index friction_iterations = 1;
  bool allow_nested = false;
  std::vector<PairDescription> pairs;
};

struct SolverDescription {
  static constexpr std::string_view group = "solver", kind = "solver";
  Place place = {};
  AutomaticLength tolerance;
  double force_tolerance = 1e-3;
  Termination termination = Termination::balanced;
  Index max_iterations = 1000, slow_iterations = 100;
  std::string linear_solver = "cholesky", ordering = "auto", broad_phase = "bvh";
  bool candidate_reuse = true;
  CcdMethod ccd = CcdMethod::additive;
  CcdCulling ccd_culling = CcdCulling::near_first;
  double sleeping = 0;
};

struct OutputDescription {
  static constexpr std::string_view group = "output", kind = "output";
  Place place = {};
  Index every = 1;
  std::vector<std::string> formats = {"vtu"};
  double checkpoint_seconds = 10;
  std::optional<Index> checkpoint_steps;
};

struct AttachmentBase : TimesDescription {
  static constexpr std::string_view group = "attachment";
  std::array<std::string, 2> bodies;
};
struct StitchesDescription : AttachmentBase {
  static constexpr std::string_view kind = "stitches";
  std::variant<std::string, std::vector<std::vector<double>>> stitches;  ///< a file, or a list
  double stiffness = 1000;
  Length length = {};
  double closing = 0;
};
enum class AttachTo { surface, vertices };
struct NearestDescription : AttachmentBase {
  static constexpr std::string_view kind = "nearest";
  SelectionDescription where;
  AttachTo to = AttachTo::surface;
  Length max_distance = {1e-2, true};
  double stiffness = 1e4;
};
struct AttachmentKinds : Kinds<StitchesDescription, NearestDescription> {};
using AttachmentDescription = OneOf<AttachmentKinds>;

struct ProbeBase {
  static constexpr std::string_view group = "probe";
  Place place = {};
  std::string name;
};
/// Of one body.
struct BodyProbe : ProbeBase {
  std::string body;
};
/// Of some of its points.
struct PointProbe : BodyProbe {
  SelectionDescription where;
};
/// Of two bodies.
struct PairProbe : ProbeBase {
  std::array<std::string, 2> bodies;
};
struct PositionProbe : PointProbe {
  static constexpr std::string_view kind = "position";
  static constexpr Probe::Kind quantity = Probe::Kind::position;
};
struct DisplacementProbe : PointProbe {
  static constexpr std::string_view kind = "displacement";
  static constexpr Probe::Kind quantity = Probe::Kind::displacement;
};
struct VelocityProbe : PointProbe {
  static constexpr std::string_view kind = "velocity";
  static constexpr Probe::Kind quantity = Probe::Kind::velocity;
};
struct MomentumProbe : BodyProbe {
  static constexpr std::string_view kind = "momentum";
  static constexpr Probe::Kind quantity = Probe::Kind::momentum;
};
struct EnergyProbe : BodyProbe {
  static constexpr std::string_view kind = "energy";
  static constexpr Probe::Kind quantity = Probe::Kind::energy;
};
struct ReactionProbe : PointProbe {
  static constexpr std::string_view kind = "reaction";
  static constexpr Probe::Kind quantity = Probe::Kind::reaction;
};
struct ContactProbe : PairProbe {
  static constexpr std::string_view kind = "contact";
  static constexpr Probe::Kind quantity = Probe::Kind::contact;
};
struct PressureProbe : BodyProbe {
  static constexpr std::string_view kind = "pressure";
  static constexpr Probe::Kind quantity = Probe::Kind::pressure;
};
struct GapProbe : PairProbe {
  static constexpr std::string_view kind = "gap";
  static constexpr Probe::Kind quantity = Probe::Kind::gap;
};
struct StrainProbe : BodyProbe {
  static constexpr std::string_view kind = "strain";
  static constexpr Probe::Kind quantity = Probe::Kind::strain;
};
struct JointProbe : ProbeBase {
  static constexpr std::string_view kind = "joint";
  static constexpr Probe::Kind quantity = Probe::Kind::joint;
  std::string joint;
};
struct ProbeKinds : Kinds<PositionProbe, DisplacementProbe, VelocityProbe, MomentumProbe, EnergyProbe,
                          ReactionProbe, ContactProbe, PressureProbe, GapProbe, StrainProbe, JointProbe> {};
using ProbeDescription = OneOf<ProbeKinds>;

struct SceneDescription {
  static constexpr std::string_view group = "scene", kind = "scene";
  Place place = {};
  std::optional<std::string> schema;  ///< key "$schema"
  Index version = 1;
  std::string name;  ///< empty: "scene"
  std::string description;
  TimeDescription time;
  Vector3 gravity{0, -9.81, 0};
  std::vector<BodyDescription> bodies;
  std::vector<AttachmentDescription> attachments;
  std::vector<JointDescription> joints;
  ContactDescription contact;
  std::vector<ProbeDescription> probes;
  SolverDescription solver;
  OutputDescription output;
};

/// The description of a scene that was checked against the catalog; JSON that was not is refused or read
/// wrong. Places in it keep `scene` alive.
SceneDescription describe(std::shared_ptr<const JsonValue> scene);

/// The scene as JSON, every value written out. Read again it gives the same description.
JsonValue to_json(const SceneDescription& scene);

/// The same for people: without values that are defaults, but for those of time and gravity. Every value has
/// the place of the item it is part of.
JsonValue brief_json(const SceneDescription& scene);

}  // namespace apart
