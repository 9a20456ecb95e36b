#pragma once
// Shared by the makers of sized examples, which stand in one file for each theme.
#include <apart/scene/sized_examples.hpp>

namespace apart::sized {

using Vector2 = Eigen::Vector2d;
using Outline = std::vector<Vector2>;  ///< corners of a polygon [m]

RigidDescription rigid_body(std::string name, MeshDescription mesh);
ObstacleDescription obstacle(std::string name, MeshDescription mesh);
HalfSpaceDescription half_space(std::string name, double height);
MeshDescription brick(const Vector3& size);
MeshDescription prism(Outline corners, double depth, std::vector<Outline> holes = {});
Outline rectangle(double width, double height);  ///< around the origin
Outline regular_polygon(Index corners, double radius);
Vector2 polar(double radius, double radians);
void set_density(RigidDescription& body, double density);
/// The body moves in the xy plane only.
void keep_in_plane(RigidDescription& body);
/// Three numbers in [0, 1) for a number k: parts of multiples of irrational numbers, of which no two are the
/// same.
Vector3 irregular(Index k);

/// Measures the force that holds an obstacle against contact.
void probe_reaction(SceneDescription& scene, const std::string& obstacle);
/// Measures a joint by its name.
void probe_joint(SceneDescription& scene, const std::string& joint);

/// dhat of the published scenes.
SceneDescription scene_of(std::string name, std::string summary, double seconds);
/// Joints give way by a share of epsv times the step: it is small, and friction follows the forces closely.
void hold_by_friction(SceneDescription& scene);

// Chains, and mail.
SceneDescription anchor(Index links);
SceneDescription chain(Index links);
SceneDescription chain_mail(Index rings);
SceneDescription chain_net(Index rings);
SceneDescription chain_pulley(Index between);
SceneDescription hanging_chain(Index links);
SceneDescription wrecking_ball(Index links);

// What stands, and what falls.
SceneDescription arch(Index stones);
SceneDescription bypass(Index boxes);
SceneDescription card_house(Index levels);
SceneDescription diamonds(Index cubes);
SceneDescription filled_box(Index boxes);
SceneDescription fracture_wall(Index pieces);
SceneDescription heap(Index boxes);
SceneDescription leaning_tower(Index blocks);
SceneDescription plate_stack(Index plates);
SceneDescription pyramid(Index rows);
SceneDescription tower(Index blocks);

// What is driven, rolls or swings.
SceneDescription axle(Index corners);
SceneDescription billiards(Index rows);
SceneDescription blender(Index shapes);
SceneDescription cogs(Index cogs);
SceneDescription compactor(Index boxes);
SceneDescription cradle(Index balls);
SceneDescription saws(Index teeth);
SceneDescription tumbler(Index boxes);

}  // namespace apart::sized
