#pragma once
#include <apart/bodies/acting_parts.hpp>
#include <apart/bodies/body_shape.hpp>
#include <apart/bodies/chart.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/ccd.hpp>
#include <apart/collision/collision_surface.hpp>
#include <apart/simulation/joint.hpp>
#include <apart/simulation/time_integrator.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace apart {

/// How κ is chosen: from the forces that contacts carry, so that gaps are a fair share of d̂; or from masses
/// and the balance of forces at the start of each step [thesis A.6].
enum class StiffnessRule { adaptive, published };

/// How pairs of primitives in contact count: each alike [thesis], or by the area that they stand for
/// (collision/contact_weights.hpp), so that forces do not depend on the mesh and κ is a pressure.
enum class ContactFormulation { published, convergent };

/// Settings of contact as a whole. Per-pair values are in the PairTable.
struct ContactOptions {
  ContactFormulation formulation = ContactFormulation::published;
  /// κ; none: by the rule. A pressure [Pa] if contact is weighted by area.
  std::optional<double> barrier_stiffness;
  StiffnessRule stiffness_rule = StiffnessRule::adaptive;
  int friction_iterations = 1;  ///< lagged iterations per step; 0: until convergence (thesis eq. 2.17)
  bool allow_nested = false;    ///< bodies may lie inside solids
};

/// When a step is solved: the Newton step is short and forces balance; or it is short, with no condition on
/// forces, measured by its largest entry [thesis alg. 2.1] or by its L2 norm, three times in a row [C-IPC
/// supplement §7].
enum class Termination { balanced, published, l2_norm };

struct SolverOptions {
  double tolerance = 1e-3;  ///< [m/s] Newton step divided by dt
  /// Largest unbalanced force on a node, as a share of the largest force that acts on a node of its body.
  double force_tolerance = 1e-3;
  Termination termination = Termination::balanced;
  int max_iterations = 1000;  ///< Newton iterations per solve before the step counts as failed
  int slow_iterations = 100;  ///< Newton iterations of a step after which a diagnosis is reported
  std::string linear_solver = "cholesky";
  std::string ordering = "auto";  ///< "auto", "amd" or "metis"
  std::string broad_phase = "bvh";
  CcdMethod ccd = CcdMethod::additive;
  CcdCulling ccd_culling = CcdCulling::near_first;
  bool candidate_reuse = true;
  double sleep_speed = 0;  ///< [m/s] bodies that are slower may fall asleep; 0: none does. See Sleep
};

struct SimulationOptions {
  double dt = 0.01;  ///< h [s]
  /// How far two colliding pieces may move relative to each other in a step, in sizes of the smaller one; 0:
  /// without limit. See StepDivision.
  double max_motion = 0.25;
  IntegratorOptions integrator;
  Vector3 gravity{0, -9.81, 0};
  ContactOptions contact;
  SolverOptions solver;
};

/// One spring of an attachment.
struct AttachedSpring {
  Index point = 0;                             ///< its one end
  std::array<Index, 3> others = {-1, -1, -1};  ///< whose mean is the other; unused entries are −1
  Vector3 weights = Vector3::Zero();           ///< of those; their sum is one
  double length = 0;                           ///< at rest [m]
  double start_length = 0;                     ///< [m] before; of attachments that close
};

/// Springs between points of a body's surface and places on another's, or on its own. Weights and lengths are
/// computed at the start and stay; so do the points they refer to, whatever else of a mesh changes.
struct Attachment {
  int body = 0, other = 0;
  double stiffness = 0;  ///< [N/m] of each spring
  TimeRange when;
  double closing = 0;     ///< [s]: rest lengths go to `length` over this time from the start of `when` on
  PointSet points;        ///< of `body`
  PointSet other_points;  ///< of `other`
  /// Their points are counted in the two sets: 0 is the first member.
  std::vector<AttachedSpring> springs;

  double rest_length(const AttachedSpring& spring, double time) const;  ///< [m] at a time [s]
};

/// Gives an attachment these springs, whose points are those of the bodies' meshes, and the bodies the sets
/// that they then refer to.
void attach(Attachment& attachment, std::vector<AttachedSpring> springs, std::vector<Body>& bodies,
            const std::string& name);
/// The springs again, with points of the meshes as they are now.
std::vector<AttachedSpring> attached_springs(const Attachment& attachment, const std::vector<Body>& bodies);

class Remesher;

/// Everything about a scene that does not change in time. Immutable.
struct Model {
  /// `pairs` is indexed by the position of the bodies. Throws InputError if nothing can move and nothing is
  /// scripted.
  Model(std::vector<Body> bodies, PairTable pairs, SimulationOptions options,
        std::vector<Attachment> attachments = {}, std::vector<Joint> joints = {});

  std::vector<Body> bodies;
  SimulationOptions options;
  std::vector<Index> first_node;  ///< of each body, in the list of all nodes; one more entry than bodies
  /// Of each body, in the list of all output points; one more entry than bodies.
  std::vector<Index> first_point;
  Index node_count() const { return first_node.back(); }
  Index point_count() const { return first_point.back(); }
  Matrix3X initial_nodes;            ///< [m]
  Matrix3X initial_velocity;         ///< [m/s]
  Eigen::SparseMatrix<double> mass;  ///< node × node [kg]; zero rows for obstacles
  Chart chart;                       ///< unknowns → nodes
  std::vector<Index> first_unknown;  ///< of each body; one more entry than bodies
  LinearMap point_map;               ///< nodes → output points
  LinearMap surface_map;             ///< Φ: nodes → vertices of `surface`
  CollisionSurface surface;
  std::vector<Index> surface_point;  ///< output point of each surface vertex
  /// The vertex of `surface` at a mesh point of a body, which must be one of its surface points.
  Index vertex_of(int body, Index point) const;
  /// The same; −1 if it is inside.
  Index find_vertex(int body, Index point) const;
  std::vector<Attachment> attachments;
  std::vector<Joint> joints;
  // The members of the sets of bodies and attachments, resolved once; all other code reads these.
  std::vector<ActingParts> acting;                    ///< of each body
  std::vector<std::vector<AttachedSpring>> attached;  ///< of each attachment, on vertices of `surface`
  Index topology = 0;                                 ///< of all meshes together; see Frame::topology
  std::shared_ptr<const Remesher> remesher;           ///< changes meshes within steps; none: they stay
  /// ℓ [m]: diagonal of the bounding box of the scene at the start, rods and balls with their radius
  double size = 1;
};

/// The same scene with other meshes of some bodies, given by their position, as topology `topology`. Throws
/// InputError if a shape does not fit its body, or an attachment would lose a point.
std::shared_ptr<const Model> with_shapes(const Model& model, std::map<int, BodyShape> shapes, Index topology);

}  // namespace apart
