// Sized examples of what stands, and of what falls.
#include <apart/scene/sized_examples_parts.hpp>

#include <cmath>
#include <numbers>

namespace apart::sized {

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
    box.transform.rotate = Vector3(360 * irregular(k));
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
    box.transform.rotate = Vector3(360 * irregular(k));
    const Index layer = k / (side * side), place = k % (side * side);
    box.transform.translate = {0.24 * (double(place % side) - 1.5), (1.2 + 2 * double(layer)) * size,
                               0.24 * (double(place / side) - 1.5)};
    scene.bodies.push_back(box);
  }
  scene.contact.friction_coefficient = 0.5;
  return scene;
}

/// Each block further out than the one below by a tenth of its width: the centre of all that lie on the
/// lowest is above its edge if they are nine.
SceneDescription leaning_tower(Index blocks) {
  SceneDescription scene = scene_of(
      "rigid-leaning-tower",
      fmt::format("{} rigid blocks, each shifted by a tenth of its width: up to nine stand", blocks), 3);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double width = 1, height = 0.3, gap = 0.0009;  // [m]
  for (Index k = 0; k < blocks; ++k) {
    RigidDescription block = rigid_body(fmt::format("block {}", k + 1), brick({width, height, width}));
    block.transform.translate = {0.1 * width * double(k), gap + 0.5 * height + double(k) * (height + gap), 0};
    scene.bodies.push_back(block);
  }
  hold_by_friction(scene);
  return scene;
}

/// Not quite above each other, so that they do not balance.
SceneDescription diamonds(Index cubes) {
  SceneDescription scene = scene_of(
      "rigid-diamonds", fmt::format("{} rigid cubes fall, each on an edge, onto each other", cubes), 2);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double size = 1, gap = 0.2;  // [m]
  const double height = std::sqrt(2) * size + gap;
  for (Index k = 0; k < cubes; ++k) {
    RigidDescription cube = rigid_body(fmt::format("cube {}", k + 1), brick({size, size, size}));
    cube.transform.rotate = Vector3(0, 0, 45);
    cube.transform.translate = {0.1 * (irregular(k)[0] - 0.5), (double(k) + 0.5) * height, 0};
    scene.bodies.push_back(cube);
  }
  scene.contact.friction_coefficient = 0.5;
  return scene;
}

/// A cube that would be below all plates after the first step if nothing stopped it.
SceneDescription plate_stack(Index plates) {
  SceneDescription scene = scene_of(
      "rigid-plate-stack",
      fmt::format("a rigid cube hits {} thin rigid plates above the ground at 100 m/s", plates), 1.5);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double width = 1, thickness = 0.01, spacing = 0.05, size = 0.3;  // [m]
  RigidDescription plate = rigid_body("plate", brick({width, thickness, width}));
  plate.array = ArrayDescription{{}, {1, plates, 1}, {0, spacing, 0}};
  plate.transform.translate = {0, spacing, 0};
  scene.bodies.push_back(plate);
  RigidDescription cube = rigid_body("cube", brick({size, size, size}));
  cube.transform.translate = {0.1, spacing * double(plates + 1) + size, 0};
  cube.velocity = {0, -100, 0};
  set_density(cube, 7800);
  scene.bodies.push_back(cube);
  scene.contact.friction_coefficient = 0.5;
  return scene;
}

/// Steps are so long that a box is above the plate before one and below it afterwards.
SceneDescription bypass(Index boxes) {
  SceneDescription scene = scene_of(
      "rigid-bypass",
      fmt::format("{} rigid boxes fall at 80 m/s past the edge of a thin plate, or on it", boxes), 0.2);
  scene.time.dt = 0.05;
  constexpr double size = 2, spacing = 3;  // [m]
  const double width = spacing * double(boxes);
  ObstacleDescription plate = obstacle("plate", brick({6, 0.1, width}));
  plate.transform.translate = {-3, -0.05, 0.5 * (width - spacing)};
  scene.bodies.push_back(plate);
  for (Index k = 0; k < boxes; ++k) {
    RigidDescription box = rigid_body(fmt::format("box {}", k + 1), brick({size, size, size}));
    // From the edge of the plate: those with negative numbers hit it.
    const double beside = 0.8 * (double(k) + 0.25 - 0.5 * double(boxes)) / double(boxes);
    box.transform.translate = {beside + 0.5 * size, 10, spacing * double(k)};
    box.velocity = {0, -80, 0};
    scene.bodies.push_back(box);
  }
  return scene;
}

namespace {

/// What of a convex polygon lies where normal · x ≤ offset.
Outline clipped(const Outline& polygon, const Vector2& normal, double offset) {
  Outline rest;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Vector2 &a = polygon[k], &b = polygon[(k + 1) % polygon.size()];
    const double beyond_a = normal.dot(a) - offset, beyond_b = normal.dot(b) - offset;
    if (beyond_a <= 0) rest.push_back(a);
    if (beyond_a * beyond_b < 0) rest.push_back(a + beyond_a / (beyond_a - beyond_b) * (b - a));
  }
  return rest;
}

/// Without corners that are closer than `least` to the one before. The rest of a convex polygon lies in it.
Outline without_short_sides(const Outline& polygon, double least) {
  Outline rest;
  for (const Vector2& corner : polygon)
    if (rest.empty() || (corner - rest.back()).norm() >= least) rest.push_back(corner);
  while (rest.size() > 3 && (rest.front() - rest.back()).norm() < least) rest.pop_back();
  return rest;
}

}  // namespace

/// Voronoi cells of irregular points, with a gap of less than dhat between neighbours.
SceneDescription fracture_wall(Index pieces) {
  SceneDescription scene =
      scene_of("rigid-fracture-wall",
               fmt::format("a ball breaks a wall of {0} × {0} irregular rigid pieces", pieces), 1);
  scene.bodies.push_back(half_space("ground", 0));
  constexpr double size = 0.25, depth = 0.2, gap = 0.0009;  // [m] of a piece, between pieces
  const double width = size * double(pieces);
  const auto seed = [&](Index i, Index k) -> Vector2 {
    const Vector3 shift = irregular(k * pieces + i);
    return size * Vector2(double(i) + 0.15 + 0.7 * shift[0], double(k) + 0.15 + 0.7 * shift[1]);
  };
  for (Index k = 0; k < pieces; ++k)
    for (Index i = 0; i < pieces; ++i) {
      const Vector2 own = seed(i, k);
      Outline cell = {{0, 0}, {width, 0}, {width, width}, {0, width}};
      constexpr Index reach = 3;  // cells of seeds farther away are not neighbours
      for (Index n = std::max<Index>(k - reach, 0); n <= std::min(k + reach, pieces - 1); ++n)
        for (Index m = std::max<Index>(i - reach, 0); m <= std::min(i + reach, pieces - 1); ++m) {
          if (n == k && m == i) continue;
          const Vector2 other = seed(m, n), normal = (other - own).normalized();
          cell = clipped(cell, normal, normal.dot(0.5 * (own + other)) - 0.5 * gap);
        }
      RigidDescription piece = rigid_body(fmt::format("piece {}", scene.bodies.size()),
                                          prism(without_short_sides(cell, 0.02 * size), depth));
      piece.transform.translate = {-0.5 * width, gap, 0};
      set_density(piece, 2300);
      scene.bodies.push_back(piece);
    }
  RigidDescription ball = rigid_body("ball", SphereMesh{{}, 0.25, 4});
  ball.transform.translate = {0, 0.5 * width + 0.1, 1.5};
  ball.velocity = {0, 0, -15};
  set_density(ball, 7800);
  scene.bodies.push_back(ball);
  hold_by_friction(scene);
  return scene;
}

}  // namespace apart::sized
