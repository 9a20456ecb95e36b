#include <apart/core/error.hpp>
#include <apart/scene/sized_examples_parts.hpp>

#include <cmath>
#include <numbers>

namespace apart {

namespace sized {

RigidDescription rigid_body(std::string name, MeshDescription mesh) {
  RigidDescription body;
  body.name = std::move(name);
  body.mesh = std::move(mesh);
  return body;
}

ObstacleDescription obstacle(std::string name, MeshDescription mesh) {
  ObstacleDescription body;
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

MeshDescription prism(Outline corners, double depth, std::vector<Outline> holes) {
  return PrismMesh{{}, std::move(corners), std::move(holes), depth, {}};
}

Outline rectangle(double width, double height) {
  const double x = 0.5 * width, y = 0.5 * height;
  return {{-x, -y}, {x, -y}, {x, y}, {-x, y}};
}

Vector2 polar(double radius, double radians) {
  return {radius * std::cos(radians), radius * std::sin(radians)};
}

Outline regular_polygon(Index corners, double radius) {
  Outline outline;
  for (Index k = 0; k < corners; ++k)
    outline.push_back(polar(radius, 2 * std::numbers::pi * double(k) / double(corners)));
  return outline;
}

void set_density(RigidDescription& body, double density) {
  OrthogonalityDescription material;
  material.rho = density;
  body.material = material;
}

void keep_in_plane(RigidDescription& body) {
  body.fixed_translation = "z";
  body.fixed_rotation = "xy";
}

Vector3 irregular(Index k) {
  const Vector3 multiples = double(k + 1) * Vector3(0.8191725134, 0.6710436067, 0.5497004779);
  return multiples.array() - multiples.array().floor();
}

void probe_reaction(SceneDescription& scene, const std::string& obstacle) {
  ReactionProbe probe;
  probe.name = probe.body = obstacle;
  probe.where = AllSelection{};
  scene.probes.push_back(probe);
}

void probe_joint(SceneDescription& scene, const std::string& joint) {
  JointProbe probe;
  probe.name = probe.joint = joint;
  scene.probes.push_back(probe);
}

SceneDescription scene_of(std::string name, std::string summary, double seconds) {
  SceneDescription scene;
  scene.name = std::move(name);
  scene.description = std::move(summary);
  scene.time.tend = seconds;
  scene.contact.dhat = Length{1e-3};
  return scene;
}

void hold_by_friction(SceneDescription& scene) {
  scene.contact.friction_coefficient = 0.5;
  scene.contact.epsv = Length{1e-4};
  scene.contact.friction_iterations = 3;
  scene.solver.tolerance = Length{1e-4};
}

}  // namespace sized

std::span<const SizedExample> sized_examples() {
  static constexpr SizedExample list[] = {
      {"rigid-anchor", "links", 3, 15, 200, sized::anchor},
      {"rigid-arch", "stones", 3, 25, 1001, sized::arch},
      {"rigid-axle", "corners of the axle", 3, 8, 1000, sized::axle},
      {"rigid-billiards", "rows", 1, 4, 100, sized::billiards},
      {"rigid-blender", "shapes", 1, 12, 1000, sized::blender},
      {"rigid-bypass", "boxes", 1, 3, 100, sized::bypass},
      {"rigid-card-house", "levels", 1, 3, 50, sized::card_house},
      {"rigid-chain", "links", 1, 10, 1000, sized::chain},
      {"rigid-chain-mail", "rings in a row", 2, 4, 50, sized::chain_mail},
      {"rigid-chain-net", "rings along each side", 3, 4, 100, sized::chain_net},
      {"rigid-chain-pulley", "links from wheel to wheel", 3, 6, 1000, sized::chain_pulley},
      {"rigid-cogs", "cogs", 1, 3, 100, sized::cogs},
      {"rigid-compactor", "boxes", 1, 10, 1000, sized::compactor},
      {"rigid-cradle", "balls", 1, 5, 1000, sized::cradle},
      {"rigid-diamonds", "cubes", 1, 4, 100, sized::diamonds},
      {"rigid-filled-box", "boxes", 1, 50, 10'000, sized::filled_box},
      {"rigid-fracture-wall", "pieces along each side", 2, 6, 100, sized::fracture_wall},
      {"rigid-hanging-chain", "links", 1, 10, 1000, sized::hanging_chain},
      {"rigid-heap", "boxes", 1, 100, 100'000, sized::heap},
      {"rigid-leaning-tower", "blocks", 1, 12, 100, sized::leaning_tower},
      {"rigid-plate-stack", "plates", 1, 10, 1000, sized::plate_stack},
      {"rigid-pyramid", "rows", 1, 6, 100, sized::pyramid},
      {"rigid-saws", "teeth", 1, 10, 1000, sized::saws},
      {"rigid-tower", "blocks", 1, 10, 100, sized::tower},
      {"rigid-tumbler", "boxes", 1, 12, 1000, sized::tumbler},
      {"rigid-wrecking-ball", "links", 2, 14, 200, sized::wrecking_ball},
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
