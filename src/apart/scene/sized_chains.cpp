// Sized examples of chains, nets and mail.
#include <apart/scene/sized_examples_parts.hpp>

#include <cmath>
#include <numbers>

namespace apart::sized {

namespace {

constexpr double ring_radius = 0.3, ring_thickness = 0.05;  // [m] of the ring, of its wire
constexpr double pitch = 0.45;                              // [m] from one ring to the next that it holds

MeshDescription ring() {
  return TorusMesh{{}, ring_radius, ring_thickness, 16, 6};
}

/// `Body`: rigid, or an obstacle.
template <class Body>
Body ring_body(std::string name, const Vector3& degrees, const Vector3& place) {
  Body body;
  body.name = std::move(name);
  body.mesh = ring();
  body.transform.rotate = degrees;
  body.transform.translate = place;
  return body;
}

Vector3 direction(double degrees) {
  const Vector2 along = polar(1, degrees * std::numbers::pi / 180);
  return {along[0], along[1], 0};
}

/// Ring k of a chain along a direction in the xy plane, `angle` from +x [degrees]: in turn in that plane and
/// across it.
template <class Body>
Body chain_ring(std::string name, Index k, double angle, const Vector3& place) {
  return ring_body<Body>(std::move(name), k % 2 == 0 ? Vector3(90, 0, 0) : Vector3(0, 0, angle), place);
}

/// Links from the origin, the first fixed.
void add_chain(SceneDescription& scene, Index links, double angle) {
  scene.bodies.push_back(chain_ring<ObstacleDescription>("hook", 0, angle, Vector3::Zero()));
  for (Index k = 1; k < links; ++k)
    scene.bodies.push_back(
        chain_ring<RigidDescription>(fmt::format("link {}", k), k, angle, pitch * k * direction(angle)));
}

}  // namespace

SceneDescription chain_net(Index rings) {
  SceneDescription scene = scene_of(
      "rigid-chain-net",
      fmt::format("a net of {0} × {0} rigid rings, its border fixed, catches a rigid ball", rings), 1);
  const double step = 2 * pitch, edge = -0.5 * step * (rings - 1);
  const auto rows = [&](auto body, const Vector3& first, Index along_x, Index along_z) {
    body.transform.translate = first;
    body.array = ArrayDescription{{}, {along_x, 1, along_z}, {step, 0, step}};
    scene.bodies.push_back(body);
  };
  const auto fixed = [](const char* name) {
    return ring_body<ObstacleDescription>(name, {0, 0, 0}, {0, 0, 0});
  };
  const auto free = [](const char* name, const Vector3& degrees) {
    return ring_body<RigidDescription>(name, degrees, {0, 0, 0});
  };
  rows(fixed("border left"), {edge, 0, edge}, 1, rings);
  rows(fixed("border right"), {-edge, 0, edge}, 1, rings);
  rows(fixed("border front"), {edge + step, 0, edge}, rings - 2, 1);
  rows(fixed("border back"), {edge + step, 0, -edge}, rings - 2, 1);
  rows(free("ring", {0, 0, 0}), {edge + step, 0, edge + step}, rings - 2, rings - 2);
  rows(free("link along x", {90, 0, 0}), {edge + pitch, 0, edge}, rings - 1, rings);
  rows(free("link along z", {0, 0, 90}), {edge, 0, edge + pitch}, rings, rings - 1);
  RigidDescription ball = rigid_body("ball", SphereMesh{{}, 0.6, 4});
  ball.transform.translate = {0, 1.2, 0};
  scene.bodies.push_back(ball);
  return scene;
}

SceneDescription chain(Index links) {
  SceneDescription scene = scene_of(
      "rigid-chain", fmt::format("a chain of {} rigid links hangs from a hook and swings", links), 2);
  add_chain(scene, links + 1, -60);
  return scene;
}

SceneDescription wrecking_ball(Index links) {
  SceneDescription scene = scene_of(
      "rigid-wrecking-ball", fmt::format("a ball on a chain of {} rigid links swings into a wall", links), 4);
  constexpr double angle = 210, radius = 0.8;  // [degrees]: 30 below the horizontal; [m]
  add_chain(scene, links + 1, angle);
  const Vector3 along = direction(angle);
  const double end =
      pitch * links + ring_radius + ring_thickness + 0.02;  // [m] from the hook: end of the chain
  RigidDescription ball = rigid_body("ball", SphereMesh{{}, radius, 4});
  ball.transform.translate = (end + radius) * along;
  set_density(ball, 7800);
  scene.bodies.push_back(ball);
  BallJoint joint;
  joint.name = "eye";
  joint.bodies = {"ball", fmt::format("link {}", links)};
  joint.at = (end - 0.02 - ring_thickness) * along;  // in the wire of the last link
  scene.joints.push_back(joint);
  // The ball's lowest place is in front of the middle of the wall, which is as high as three balls.
  const double ground = -(end + radius) - 2 * radius;
  scene.bodies.push_back(half_space("ground", ground));
  constexpr Index side = 8;     // bricks along and up
  constexpr double size = 0.5;  // [m] of a brick
  RigidDescription wall = rigid_body("brick", brick({size, size, size}));
  wall.array = ArrayDescription{{}, {1, side, side}, {0, size + 0.001, size + 0.001}};
  wall.transform.translate = {radius + size, ground + 0.5 * size + 0.001, -0.5 * (side - 1) * (size + 0.001)};
  scene.bodies.push_back(wall);
  scene.contact.friction_coefficient = 0.5;
  return scene;
}

/// A chain that is level at the start, so that every link moves and pushes two others.
SceneDescription hanging_chain(Index links) {
  SceneDescription scene =
      scene_of("rigid-hanging-chain",
               fmt::format("a chain of {} rigid links between two hooks sinks and hangs", links), 2);
  add_chain(scene, links + 1, 0);
  scene.bodies.push_back(chain_ring<ObstacleDescription>("other hook", links + 1, 0,
                                                         pitch * double(links + 1) * Vector3::UnitX()));
  probe_reaction(scene, "hook");
  probe_reaction(scene, "other hook");
  return scene;
}

/// Mail of the kind in which each ring holds four others, two of the row before and two of the row after.
SceneDescription chain_mail(Index rings) {
  SceneDescription scene = scene_of("rigid-chain-mail",
                                    fmt::format("mail of {} rows of {} rigid rings, each of which holds four "
                                                "others, falls on a rigid ball",
                                                3 * rings, rings),
                                    1.5);
  // Rows lean to and fro. With these numbers wires are 0.12 m apart, from axis to axis, or more.
  constexpr double across = 0.74, along = 0.24, lean = 30;  // [m] between rings of a row, of rows; [degrees]
  const double width = across * (double(rings) - 0.5), length = along * double(3 * rings - 1);
  const double radius = 0.25 * across * double(rings);  // of the ball
  for (Index row = 0; row < 3 * rings; ++row) {
    const bool odd = row % 2 == 1;
    RigidDescription body =
        ring_body<RigidDescription>(fmt::format("row {}", row + 1), {odd ? -lean : lean, 0, 0},
                                    {-0.5 * width + (odd ? 0.5 * across : 0), 2 * radius + ring_radius,
                                     along * double(row) - 0.5 * length});
    body.array = ArrayDescription{{}, {rings, 1, 1}, {across, 0, 0}};
    scene.bodies.push_back(body);
  }
  ObstacleDescription ball = obstacle("ball", SphereMesh{{}, radius, 6});
  ball.transform.translate = {0, radius, 0};
  scene.bodies.push_back(ball);
  scene.bodies.push_back(half_space("ground", 0));
  scene.contact.friction_coefficient = 0.3;
  return scene;
}

/// Links with a lug each, which goes into the notches of two wheels. Links on a wheel are the sides of a
/// regular polygon, with their hinges at its corners.
SceneDescription chain_pulley(Index between) {
  constexpr Index notches = 8;
  SceneDescription scene = scene_of("rigid-chain-pulley",
                                    fmt::format("a motor turns a wheel, and a chain of {} hinged rigid links "
                                                "with lugs turns another",
                                                notches + 2 * between),
                                    4);
  constexpr double spacing = 0.4, depth = 0.3;  // [m] from hinge to hinge
  constexpr double half = 0.05 * spacing;       // [m] half of a link's thickness
  constexpr double gap = 0.005 * spacing;       // [m] from a link to the wheel
  constexpr double angle = std::numbers::pi / notches;
  const double radius = 0.5 * spacing / std::sin(angle);  // [m] of hinges on a wheel
  const double distance = spacing * double(between);
  const double side = radius * std::cos(angle) - half - gap;  // [m] from the wheel's axis
  Outline wheel;
  for (Index k = 0; k < notches; ++k) {
    const Vector2 out = polar(1, angle * double(2 * k + 1)), aside(-out[1], out[0]);
    const double mouth = 0.22 * spacing, bottom = 0.1 * spacing, low = side - 0.23 * spacing;
    for (const Vector2& corner : {Vector2(side, -mouth), Vector2(low, -bottom), Vector2(low, bottom),
                                  Vector2(side, mouth), Vector2(side, side * std::tan(angle))})
      wheel.push_back(corner[0] * out + corner[1] * aside);
  }
  for (const bool driven : {false, true}) {
    RigidDescription body = rigid_body(driven ? "driven wheel" : "driving wheel", prism(wheel, depth));
    body.transform.translate = {driven ? distance : 0, 0, 0};
    scene.bodies.push_back(body);
    HingeJoint joint;
    joint.name = driven ? "load" : "motor";
    joint.bodies = {body.name};
    joint.at = body.transform.translate;
    if (driven)
      joint.angle.friction = 10;  // [N m]
    else
      joint.angle.motor = VelocityMotor<true>{{{}, TimeCurve{{0, 0}, {1, 90}}, {}}};
    scene.joints.push_back(joint);
    probe_joint(scene, joint.name);
  }
  // Around the driven wheel, back above, around the other wheel, back below.
  std::vector<Vector3> hinges;
  for (const bool driven : {true, false}) {
    const Vector3 centre(driven ? distance : 0, 0, 0), back(driven ? -spacing : spacing, 0, 0);
    const double first = driven ? -90 : 90;
    for (Index k = 0; k <= notches / 2; ++k)
      hinges.push_back(centre + radius * direction(first + 360.0 * double(k) / notches));
    for (Index k = 1; k < between; ++k)
      hinges.push_back(centre + radius * direction(first + 180) + double(k) * back);
  }
  const double length = 0.42 * spacing, foot = 0.13 * spacing, tip = 0.07 * spacing;  // half of each [m]
  const double low = -half - 0.2 * spacing;
  const Outline link = {{-length, -half}, {-foot, -half},  {-tip, low},    {tip, low},
                        {foot, -half},    {length, -half}, {length, half}, {-length, half}};
  const auto name = [](std::size_t k) { return fmt::format("link {}", k + 1); };
  for (std::size_t k = 0; k < hinges.size(); ++k) {
    const Vector3 &from = hinges[k], &to = hinges[(k + 1) % hinges.size()];
    RigidDescription body = rigid_body(name(k), prism(link, depth));
    const Vector3 backwards = from - to;  // so that the lug points inwards
    body.transform.rotate = Vector3(0, 0, std::atan2(backwards[1], backwards[0]) * 180 / std::numbers::pi);
    body.transform.translate = 0.5 * (from + to);
    scene.bodies.push_back(body);
    HingeJoint joint;
    joint.bodies = {name(k), name((k + hinges.size() - 1) % hinges.size())};
    joint.at = from;
    joint.contact = false;
    scene.joints.push_back(joint);
  }
  return scene;
}

/// The ship is pulled by a force, so that the anchor can stop it.
SceneDescription anchor(Index links) {
  SceneDescription scene = scene_of(
      "rigid-anchor",
      fmt::format("a ship drags an anchor on a chain of {} rigid links until it hooks a sill", links), 4);
  constexpr double angle = 20, shank = 2.2, height = 0.75;  // [degrees] of the chain; [m]
  scene.bodies.push_back(half_space("ground", 0));
  ObstacleDescription sill = obstacle("sill", brick({0.15, 0.3, 2}));
  sill.transform.translate = {1.8, 0.15, 0};
  scene.bodies.push_back(sill);
  // Half of it: shank, inner side of an arm, its tip, its outer side.
  const Outline half = {{shank, 0.06}, {0.15, 0.06}, {0.5, 0.55}, {0.44, 0.6}, {-0.15, 0.06}};
  Outline outline = half;
  for (std::size_t k = half.size(); k-- > 0;) outline.push_back({half[k][0], -half[k][1]});
  RigidDescription anchor = rigid_body("anchor", prism(outline, 0.5));
  anchor.transform.translate = {0, height, 0};
  set_density(anchor, 7800);
  scene.bodies.push_back(anchor);
  const Vector3 eye(shank, height, 0), along = direction(angle);
  const double reach = ring_radius + 2 * ring_thickness;  // [m] from the first link's centre to the eye
  const auto place = [&](Index k) -> Vector3 { return eye + (reach + pitch * double(k)) * along; };
  for (Index k = 0; k < links; ++k)
    scene.bodies.push_back(chain_ring<RigidDescription>(fmt::format("link {}", k + 1), k, angle, place(k)));
  constexpr double size = 1, force = 2e4;  // [m], [N]
  RigidDescription ship = rigid_body("ship", brick({2 * size, size, size}));
  const Vector3 stern = place(links - 1) + reach * along;
  ship.transform.translate = stern + Vector3(size, 0, 0);
  ship.fixed_translation = "yz";
  ship.fixed_rotation = "xyz";
  BodyForceDescription pull;
  pull.where = AllSelection{};
  pull.acceleration = {force / (1000 * 2 * size * size * size), 0.0, 0.0};
  ship.loads.push_back(pull);
  scene.bodies.push_back(ship);
  const auto tie = [&](std::string name, std::string body, Index link, const Vector3& at) {
    BallJoint joint;
    joint.name = std::move(name);
    joint.bodies = {std::move(body), fmt::format("link {}", link + 1)};
    joint.at = at;
    scene.joints.push_back(joint);
  };
  tie("eye", "anchor", 0, eye);
  tie("cleat", "ship", links - 1, stern);
  probe_reaction(scene, "sill");
  scene.contact.friction_coefficient = 0.3;
  return scene;
}

}  // namespace apart::sized
