#include <apart/scene/sized_examples.hpp>

#include <apart/core/error.hpp>

#include <cmath>
#include <numbers>

namespace apart {

namespace {

RigidDescription rigid_body(std::string name, MeshDescription mesh) {
  RigidDescription body;
  body.name = std::move(name);
  body.mesh = std::move(mesh);
  return body;
}

HalfSpaceDescription half_space(std::string name, double height) {
  HalfSpaceDescription body;
  body.name = std::move(name);
  body.origin = {0, height, 0};
  return body;
}

MeshDescription brick(const Vector3& size) {
  return BoxMesh{{}, size, 1};
}

void set_density(RigidDescription& body, double density) {
  OrthogonalityDescription material;
  material.rho = density;
  body.material = material;
}

/// dhat of the published scenes.
SceneDescription scene_of(std::string name, std::string summary, double seconds) {
  SceneDescription scene;
  scene.name = std::move(name);
  scene.description = std::move(summary);
  scene.time.tend = seconds;
  scene.contact.dhat = Length{1e-3};
  return scene;
}

/// Joints give way by a share of epsv times the step: it is small, and friction follows the forces closely.
void hold_by_friction(SceneDescription& scene) {
  scene.contact.friction_coefficient = 0.5;
  scene.contact.epsv = Length{1e-4};
  scene.contact.friction_iterations = 3;
  scene.solver.tolerance = Length{1e-4};
}

// ---- Rings, which make up chains and nets

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

// ---- The scenes

SceneDescription arch(Index stones) {
  SceneDescription scene = scene_of(
      "rigid-arch",
      fmt::format(
          "a semicircular arch of {} rigid stones stands by a friction of 0.5 until a ball hits its side",
          stones),
      4);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double gap = 0.002;  // [degrees] on either side of a stone
  for (Index i = 0; i < stones; ++i) {
    VoussoirMesh stone{{}, 10, 12.5, 4};
    stone.from = 180.0 * i / stones + gap;
    stone.to = 180.0 * (i + 1) / stones - gap;
    RigidDescription body = rigid_body(fmt::format("stone {}", i + 1), stone);
    set_density(body, 2300);
    scene.bodies.push_back(body);
  }
  RigidDescription ball = rigid_body("ball", SphereMesh{{}, 1.5, 4});
  ball.transform.translate = {16, 9, 0};
  ball.appears = 1;  // [s] until then it stands
  ball.velocity = {-25, 0, 0};
  set_density(ball, 7800);
  scene.bodies.push_back(ball);
  hold_by_friction(scene);
  return scene;
}

SceneDescription card_house(Index levels) {
  SceneDescription scene = scene_of(
      "rigid-card-house",
      fmt::format("a rigid house of cards of {} levels stands by friction until a cube falls on it", levels),
      1.5);
  scene.bodies.push_back(half_space("table", 0));
  constexpr double tilt = 75;                           // [degrees]
  constexpr double width = 0.3, height = 0.488998;      // [m] of a tent, of a level
  constexpr double lean = 0.066887, middle = 0.242499;  // [m] of a card's centre
  constexpr double deck = 0.486998;                     // [m] above the level's foot
  Index cards = 0, floors = 0;
  const auto add = [&](std::string name, double length, double degrees, const Vector3& place) {
    RigidDescription card = rigid_body(std::move(name), brick({length, 0.004, 0.3}));
    card.transform.rotate = Vector3(0, 0, degrees);
    card.transform.translate = place;
    set_density(card, 800);
    scene.bodies.push_back(card);
  };
  for (Index level = 0; level < levels; ++level) {
    const Index tents = levels - level;
    const double foot = height * level, left = -0.5 * width * (tents - 1);
    for (Index k = 0; k < tents; ++k)
      for (const double side : {-1.0, 1.0})
        add(fmt::format("card {}", ++cards), 0.5, -side * tilt,
            {left + width * k + side * lean, foot + middle, 0});
    for (Index k = 0; k + 1 < tents; ++k)
      add(fmt::format("floor {}", ++floors), 0.297, 0, {left + width * (k + 0.5), foot + deck, 0});
  }
  RigidDescription cube = rigid_body("cube", brick({0.15, 0.15, 0.15}));
  cube.transform.rotate = Vector3(0, 0, 30);
  cube.transform.translate = {0.1, height * (levels - 1) + middle + 0.592505, 0};
  cube.velocity = {-0.5, -3, 0};
  cube.appears = 0.5;
  scene.bodies.push_back(cube);
  hold_by_friction(scene);
  // What cards at rest need: found by the program it would begin far too low, and grow for ten steps.
  scene.contact.barrier_stiffness = 7e4;
  return scene;
}

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

/// Links from the origin along a direction in the xy plane, the first fixed; `angle` of it [degrees from +x].
void add_chain(SceneDescription& scene, Index links, double angle) {
  const double radians = angle * std::numbers::pi / 180;
  const Vector3 along(std::cos(radians), std::sin(radians), 0);
  for (Index k = 0; k < links; ++k) {
    // In turn in the xy plane and across it.
    const Vector3 degrees = k % 2 == 0 ? Vector3(90, 0, 0) : Vector3(0, 0, angle);
    if (k == 0)
      scene.bodies.push_back(ring_body<ObstacleDescription>("hook", degrees, Vector3::Zero()));
    else
      scene.bodies.push_back(
          ring_body<RigidDescription>(fmt::format("link {}", k), degrees, pitch * k * along));
  }
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
  const Vector3 along(std::cos(angle * std::numbers::pi / 180), std::sin(angle * std::numbers::pi / 180), 0);
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

/// Boxes in four layers, a box apart and each turned its own way.
SceneDescription heap(Index boxes) {
  SceneDescription scene =
      scene_of("rigid-heap", fmt::format("{} rigid boxes fall in a heap, with friction 0.5", boxes), 2);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double size = 0.1;  // [m]
  constexpr Index layers = 4;
  const Index side = Index(std::ceil(std::sqrt(double(boxes) / layers)));
  for (Index k = 0; k < boxes; ++k) {
    RigidDescription box = rigid_body(fmt::format("box {}", k + 1), brick({size, size, size}));
    // Multiples of irrational numbers, of which no two boxes have the same parts.
    const Vector3 turns = double(k + 1) * Vector3(0.8191725134, 0.6710436067, 0.5497004779);
    box.transform.rotate = Vector3(360 * (turns.array() - turns.array().floor()));
    const Index layer = k / (side * side), place = k % (side * side);
    box.transform.translate = {2 * size * double(place % side), (1.2 + 2 * double(layer)) * size,
                               2 * size * double(place / side)};
    scene.bodies.push_back(box);
  }
  scene.contact.friction_coefficient = 0.5;
  return scene;
}

/// Cubes with gaps of less than dhat between them, which close when they come to rest.
SceneDescription pyramid(Index rows) {
  SceneDescription scene =
      scene_of("rigid-pyramid", fmt::format("a pyramid of {} rows of rigid cubes, hit by a ball", rows), 2);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double size = 1, gap = 0.0009;  // [m]
  for (Index row = 0; row < rows; ++row) {
    const Index cubes = rows - row;
    RigidDescription body = rigid_body(fmt::format("row {}", row + 1), brick({size, size, size}));
    body.array = ArrayDescription{{}, {cubes, 1, 1}, {1.2 * size, 0, 0}};
    body.transform.translate = {-0.6 * size * double(cubes - 1),
                                gap + 0.5 * size + double(row) * (size + gap), 0};
    scene.bodies.push_back(body);
  }
  RigidDescription ball = rigid_body("ball", SphereMesh{{}, 0.6, 4});
  ball.transform.translate = {-0.6 * size * double(rows) - 6, 0.6 + double(rows) * size / 2, 0};
  ball.velocity = {15, 3, 0};
  ball.appears = 1;  // [s] until then it stands
  set_density(ball, 7800);
  scene.bodies.push_back(ball);
  hold_by_friction(scene);
  return scene;
}

/// Blocks on each other, each turned a little further than the one below it.
SceneDescription tower(Index blocks) {
  SceneDescription scene = scene_of(
      "rigid-tower", fmt::format("a winding tower of {} rigid blocks stands by friction", blocks), 1);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double height = 0.3, gap = 0.0009;  // [m] of a block, below it
  for (Index k = 0; k < blocks; ++k) {
    RigidDescription block = rigid_body(fmt::format("block {}", k + 1), brick({1, height, 1}));
    block.transform.rotate = Vector3(0, 10 * double(k), 0);
    block.transform.translate = {0, gap + 0.5 * height + double(k) * (height + gap), 0};
    scene.bodies.push_back(block);
  }
  hold_by_friction(scene);
  return scene;
}

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

/// Boxes that fall into an open one, as wide as eight of them.
SceneDescription filled_box(Index boxes) {
  SceneDescription scene =
      scene_of("rigid-filled-box", fmt::format("{} rigid boxes fall into an open one", boxes), 2);
  constexpr double size = 0.1, room = 1, wall = 0.02;  // [m]
  const double height = std::max(room, 0.02 * double(boxes) * size);
  scene.bodies.push_back(half_space("floor", 0));
  for (const double side : {-1.0, 1.0}) {
    for (const bool along_x : {true, false}) {
      ObstacleDescription plate;
      plate.name = fmt::format("wall {}", scene.bodies.size());
      plate.mesh = along_x ? brick({room + 2 * wall, height, wall}) : brick({wall, height, room});
      const double away = 0.5 * side * (room + (along_x ? 1.01 : 1) * wall);
      plate.transform.translate = {along_x ? 0 : away, 0.5 * height, along_x ? away : 0};
      scene.bodies.push_back(plate);
    }
  }
  constexpr Index side = 4;
  for (Index k = 0; k < boxes; ++k) {
    RigidDescription box = rigid_body(fmt::format("box {}", k + 1), brick({size, size, size}));
    const Vector3 turns = double(k + 1) * Vector3(0.8191725134, 0.6710436067, 0.5497004779);
    box.transform.rotate = Vector3(360 * (turns.array() - turns.array().floor()));
    const Index layer = k / (side * side), place = k % (side * side);
    box.transform.translate = {0.24 * (double(place % side) - 1.5), (1.2 + 2 * double(layer)) * size,
                               0.24 * (double(place / side) - 1.5)};
    scene.bodies.push_back(box);
  }
  scene.contact.friction_coefficient = 0.5;
  return scene;
}

}  // namespace

std::span<const SizedExample> sized_examples() {
  static constexpr SizedExample list[] = {
      {"rigid-arch", "stones", 3, 25, 1001, arch},
      {"rigid-billiards", "rows", 1, 4, 100, billiards},
      {"rigid-card-house", "levels", 1, 3, 50, card_house},
      {"rigid-chain-net", "rings along each side", 3, 4, 100, chain_net},
      {"rigid-chain", "links", 1, 10, 1000, chain},
      {"rigid-cradle", "balls", 1, 5, 1000, cradle},
      {"rigid-filled-box", "boxes", 1, 50, 10'000, filled_box},
      {"rigid-heap", "boxes", 1, 100, 100'000, heap},
      {"rigid-pyramid", "rows", 1, 6, 100, pyramid},
      {"rigid-tower", "blocks", 1, 10, 100, tower},
      {"rigid-wrecking-ball", "links", 2, 14, 200, wrecking_ball},
  };
  return list;
}

SceneDescription make_sized_example(std::string_view name, Index size) {
  std::vector<std::string_view> names;
  for (const SizedExample& example : sized_examples()) {
    names.push_back(example.name);
    if (example.name != name) continue;
    if (size < example.least || size > example.most)
      throw InputError("--size: got {}, {} has {} to {} {}; try {}", size, name, example.least, example.most,
                       example.count, example.usual);
    return example.make(size);
  }
  throw InputError("--size: '{}' has one size; those of any size are {}", name, fmt::join(names, ", "));
}

}  // namespace apart
