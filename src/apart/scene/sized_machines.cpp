// Sized examples of what is driven, rolls or swings.
#include <apart/scene/sized_examples_parts.hpp>

#include <cmath>
#include <numbers>

namespace apart::sized {

/// Balls that touch nearly, on a frictionless table, and one that comes.
SceneDescription billiards(Index rows) {
  SceneDescription scene =
      scene_of("rigid-billiards", fmt::format("a ball hits {} rows of rigid balls", rows), 2);
  scene.bodies.push_back(half_space("table", 0));
  constexpr double radius = 0.03, gap = 0.0012;  // [m]
  constexpr double pitch_of_balls = 2 * radius + gap;
  const MeshDescription sphere = SphereMesh{{}, radius, 4};
  for (Index row = 0; row < rows; ++row) {
    RigidDescription ball = rigid_body(fmt::format("row {}", row + 1), sphere);
    ball.array = ArrayDescription{{}, {1, 1, row + 1}, {0, 0, pitch_of_balls}};
    ball.transform.translate = {std::sqrt(0.75) * pitch_of_balls * double(row), radius + gap,
                                -0.5 * pitch_of_balls * double(row)};
    scene.bodies.push_back(ball);
  }
  RigidDescription cue = rigid_body("cue ball", sphere);
  cue.transform.translate = {-0.3, radius + gap, 0.004};
  cue.velocity = {3, 0, 0};
  scene.bodies.push_back(cue);
  return scene;
}

/// Balls that hang side by side, of which the first swings in.
SceneDescription cradle(Index balls) {
  SceneDescription scene =
      scene_of("rigid-cradle", fmt::format("of {} rigid balls in a row the first swings in", balls), 2);
  constexpr double radius = 0.1, gap = 0.0012, length = 1, raised = 40;  // [m], of a pendulum; [degrees]
  for (Index k = 0; k < balls; ++k) {
    const double x = (2 * radius + gap) * double(k), angle = k == 0 ? raised * std::numbers::pi / 180 : 0;
    RigidDescription ball = rigid_body(fmt::format("ball {}", k + 1), SphereMesh{{}, radius, 4});
    ball.transform.translate = {x - length * std::sin(angle), -length * std::cos(angle), 0};
    set_density(ball, 7800);
    scene.bodies.push_back(ball);
    HingeJoint joint;
    joint.bodies = {ball.name};
    joint.at = {x, 0, 0};
    scene.joints.push_back(joint);
  }
  return scene;
}

namespace {

/// Cog with involute teeth. Pitch radius: half of teeth × module; the first tooth is at angle 0.
Outline cog_outline(Index teeth, double module, double backlash) {
  const double pressure = 25 * std::numbers::pi / 180;
  const double pitch_radius = 0.5 * module * double(teeth), base = pitch_radius * std::cos(pressure);
  const double tip = pitch_radius + 0.8 * module, root = pitch_radius - module;
  const auto involute = [](double angle) { return std::tan(angle) - angle; };
  // Half of the tooth's angle at a radius.
  const auto half = [&](double radius) {
    const double at_pitch = (0.25 * std::numbers::pi * module - 0.5 * backlash) / pitch_radius;
    return at_pitch + involute(pressure) - involute(std::acos(std::min(1.0, base / radius)));
  };
  std::vector<Vector2> flank;  // radius, angle
  if (root < base) flank.push_back({root, half(base)});
  constexpr Index parts = 5;
  const double foot = std::max(root, base);
  for (Index k = 0; k <= parts; ++k) {
    const double radius = foot + (tip - foot) * double(k) / parts;
    flank.push_back({radius, half(radius)});
  }
  Outline outline;
  for (Index tooth = 0; tooth < teeth; ++tooth) {
    const double middle = 2 * std::numbers::pi * double(tooth) / double(teeth);
    for (std::size_t k = 0; k < flank.size(); ++k)
      outline.push_back(polar(flank[k][0], middle - flank[k][1]));
    for (std::size_t k = flank.size(); k-- > 0;) outline.push_back(polar(flank[k][0], middle + flank[k][1]));
  }
  return outline;
}

}  // namespace

/// Cogs of 12 and of 18 teeth in turn.
SceneDescription cogs(Index count) {
  SceneDescription scene =
      scene_of("rigid-cogs",
               fmt::format("a motor turns the first of {} rigid cogs of 12 and 18 teeth in mesh", count), 3);
  constexpr double module = 0.1, backlash = 0.005, depth = 0.2;  // [m]
  double x = 0;
  for (Index k = 0; k < count; ++k) {
    const Index teeth = k % 2 == 0 ? 12 : 18;
    RigidDescription cog =
        rigid_body(fmt::format("cog {}", k + 1), prism(cog_outline(teeth, module, backlash), depth));
    // A tooth of those with 12, and a gap of the others, faces each neighbour.
    if (k % 2 == 1) cog.transform.rotate = Vector3(0, 0, 180.0 / double(teeth));
    cog.transform.translate = {x, 0, 0};
    scene.bodies.push_back(cog);
    HingeJoint joint;
    joint.name = fmt::format("axis {}", k + 1);
    joint.bodies = {cog.name};
    joint.at = cog.transform.translate;
    joint.angle.friction = 5;  // [N m]
    if (k == 0) joint.angle.motor = VelocityMotor<true>{{{}, TimeCurve{{0, 0}, {0.5, 90}}, {}}};
    scene.joints.push_back(joint);
    probe_joint(scene, joint.name);
    x += 0.5 * module * (12 + 18);
  }
  return scene;
}

/// In the plane.
SceneDescription axle(Index corners) {
  SceneDescription scene =
      scene_of("rigid-axle",
               fmt::format("a rigid wheel turns on a fixed axle of {} corners, with friction", corners), 2);
  constexpr double radius = 0.5, depth = 0.4;  // [m] of the axle
  scene.bodies.push_back(obstacle("axle", prism(regular_polygon(corners, radius), 2 * depth)));
  constexpr Index sides = 25;
  RigidDescription wheel = rigid_body(
      "wheel", prism(regular_polygon(sides, 4 * radius), depth, {regular_polygon(sides, 2 * radius)}));
  wheel.angular_velocity = {0, 0, -360};
  keep_in_plane(wheel);
  scene.bodies.push_back(wheel);
  probe_reaction(scene, "axle");
  scene.contact.friction_coefficient = 0.2;
  return scene;
}

/// The lower row moves, the upper one is led up and down.
SceneDescription saws(Index teeth) {
  SceneDescription scene = scene_of(
      "rigid-saws", fmt::format("a saw of {} rigid teeth rides on another that moves below it", teeth), 2);
  constexpr double tooth = 0.1, height = 0.05, back = 0.05, depth = 0.1, speed = 0.25;  // [m], [m/s]
  constexpr double gap = 0.002;                                                         // [m]
  // With teeth up, from x = 0.
  const auto saw = [&](Index count) {
    Outline outline = {{0, -back}, {tooth * double(count), -back}};
    for (Index k = count; k > 0; --k) {
      outline.push_back({tooth * double(k), 0});
      outline.push_back({tooth * (double(k) - 0.5), height});
    }
    outline.push_back({0, 0});
    return prism(outline, depth);
  };
  const Index passing = Index(std::ceil(speed * *scene.time.tend / tooth)) + 1;
  ObstacleDescription lower = obstacle("lower saw", saw(teeth + passing + 1));
  FormulaMotion motion;
  motion.translate = {fmt::format("{} * t", -speed), 0.0, 0.0};
  lower.motion = motion;
  scene.bodies.push_back(lower);
  RigidDescription upper = rigid_body("upper saw", saw(teeth));
  upper.transform.rotate = Vector3(0, 0, 180);
  upper.transform.translate = {tooth * (double(teeth) + 0.5), height + gap, 0};
  upper.fixed_translation = "xz";
  upper.fixed_rotation = "xyz";
  scene.bodies.push_back(upper);
  PositionProbe probe;
  probe.name = "upper saw";
  probe.body = upper.name;
  probe.where = AllSelection{};
  scene.probes.push_back(probe);
  return scene;
}

/// In the plane, without gravity.
SceneDescription compactor(Index boxes) {
  SceneDescription scene =
      scene_of("rigid-compactor", fmt::format("a ram presses {} rigid boxes together in a frame", boxes), 2);
  scene.gravity = Vector3::Zero();
  constexpr double size = 0.1, spacing = 0.16, wall = 0.05, force = 50;  // [m], [N]
  constexpr Index rows = 3;
  const Index columns = (boxes + rows - 1) / rows;
  const double height = rows * spacing, length = spacing * double(columns) + 0.2;
  Outline room = rectangle(length, height);
  scene.bodies.push_back(
      obstacle("frame", prism(rectangle(length + 2 * wall, height + 2 * wall), 2 * size, {room})));
  RigidDescription ram = rigid_body("ram", brick({0.05, height - 0.01, size}));
  ram.transform.translate = {0.05 - 0.5 * length, 0, 0};
  ram.fixed_translation = "yz";
  ram.fixed_rotation = "xyz";
  BodyForceDescription push;
  push.where = AllSelection{};
  push.acceleration = {force / (1000 * 0.05 * (height - 0.01) * size), 0.0, 0.0};
  ram.loads.push_back(push);
  scene.bodies.push_back(ram);
  for (Index k = 0; k < boxes; ++k) {
    RigidDescription box = rigid_body(fmt::format("box {}", k + 1), brick({size, size, size}));
    box.transform.rotate = Vector3(0, 0, 90 * irregular(k)[0]);
    box.transform.translate = {0.5 * length - spacing * (double(k / rows) + 0.5),
                               spacing * (double(k % rows) - 0.5 * (rows - 1)), 0};
    keep_in_plane(box);
    scene.bodies.push_back(box);
  }
  probe_reaction(scene, "frame");
  return scene;
}

/// In the plane.
SceneDescription tumbler(Index boxes) {
  SceneDescription scene =
      scene_of("rigid-tumbler", fmt::format("{} rigid boxes tumble in a square drum that turns", boxes), 4);
  constexpr double size = 0.1, spacing = 0.15, wall = 0.05;  // [m]
  const Index side = Index(std::ceil(std::sqrt(double(boxes))));
  const double room = std::max(6 * spacing, 1.5 * spacing * double(side));
  ObstacleDescription drum =
      obstacle("drum", prism(rectangle(room + 2 * wall, room + 2 * wall), 2 * size, {rectangle(room, room)}));
  FormulaMotion motion;
  motion.rotate = TurningDescription{{}, Vector3::UnitZ(), "90 * t"};
  drum.motion = motion;
  scene.bodies.push_back(drum);
  for (Index k = 0; k < boxes; ++k) {
    RigidDescription box = rigid_body(fmt::format("box {}", k + 1), brick({size, size, size}));
    box.transform.rotate = Vector3(0, 0, 90 * irregular(k)[0]);
    box.transform.translate = {spacing * (double(k % side) - 0.5 * double(side - 1)),
                               spacing * (double(k / side) - 0.5 * double(side - 1)), 0};
    keep_in_plane(box);
    scene.bodies.push_back(box);
  }
  scene.contact.friction_coefficient = 0.3;
  return scene;
}

SceneDescription blender(Index shapes) {
  SceneDescription scene =
      scene_of("rigid-blender", fmt::format("{} rigid shapes fall on spinning blades in a pot", shapes), 3);
  constexpr double foot = 0.35, rim = 0.6, cone = 0.3;  // [m] radii of the pot, height of its slope
  constexpr double blade = 0.3, height = 0.12;          // [m]
  constexpr Index side = 3;
  const Index layers = (shapes + side * side - 1) / (side * side);
  constexpr double spacing = 0.22;  // [m] of shapes
  const double top = std::max(0.8, cone + 0.5 * spacing * double(layers));
  scene.bodies.push_back(half_space("bottom", 0));
  scene.bodies.push_back(obstacle("pot", RevolutionMesh{{}, {{foot, 0.002}, {rim, cone}, {rim, top}}, 32}));
  Outline star;
  for (Index k = 0; k < 3; ++k) {
    const double angle = 2 * std::numbers::pi / 3 * double(k);
    const Vector2 out = polar(1, angle), aside(-out[1], out[0]);
    star.push_back(blade * out - 0.02 * aside);
    star.push_back(blade * out + 0.02 * aside);
    star.push_back(polar(0.04, angle + std::numbers::pi / 3));
  }
  RigidDescription blades = rigid_body("blades", prism(star, height));
  blades.transform.rotate = Vector3(-90, 0, 0);
  blades.transform.translate = {0, 0.5 * height + 0.01, 0};
  set_density(blades, 7800);
  scene.bodies.push_back(blades);
  HingeJoint joint;
  joint.name = "motor";
  joint.bodies = {blades.name};
  joint.at = blades.transform.translate;
  joint.axis = Vector3::UnitY();
  joint.angle.motor = VelocityMotor<true>{{{}, TimeCurve{{0, 0}, {1, 200}}, 200.0}};  // [N m]
  scene.joints.push_back(joint);
  probe_joint(scene, joint.name);
  for (Index k = 0; k < shapes; ++k) {
    const MeshDescription mesh[] = {brick({0.12, 0.12, 0.12}), SphereMesh{{}, 0.07, 3},
                                    TorusMesh{{}, 0.07, 0.025, 12, 6}, WedgeMesh{{}, 0.12, 0.12, 0.12}};
    RigidDescription shape = rigid_body(fmt::format("shape {}", k + 1), mesh[k % 4]);
    shape.transform.rotate = Vector3(360 * irregular(k));
    const Index place = k % (side * side);
    shape.transform.translate = {spacing * (double(place % side) - 1),
                                 cone + spacing * double(k / (side * side)),
                                 spacing * (double(place / side) - 1)};
    scene.bodies.push_back(shape);
  }
  return scene;
}

}  // namespace apart::sized
