#include <apart/core/error.hpp>
#include <apart/run/certify_run.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/simulation/simulation.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

verify::JointClaim::Kind kind_of(JointKind kind) {
  using enum verify::JointClaim::Kind;
  switch (kind) {
    case JointKind::ball:
      return ball;
    case JointKind::hinge:
      return hinge;
    case JointKind::slider:
      return slider;
    case JointKind::cylinder:
      return cylinder;
    case JointKind::fixed:
      break;
  }
  return fixed;
}

/// Of the joints that cannot break; `start`: a frame of the model.
std::vector<verify::JointClaim> joint_claims(const std::shared_ptr<const Model>& model, const Frame& start,
                                             bool points_may_go) {
  std::vector<Index> first_point(model->bodies.size(), -1);
  for (Index i = start.point_body.size(); i-- > 0;) first_point[std::size_t(start.point_body[i])] = i;
  std::vector<verify::JointClaim> claims;
  for (const Joint& joint : model->joints) {
    if (std::isfinite(joint.largest_force) || std::isfinite(joint.largest_torque)) continue;
    verify::JointClaim claim{joint.name, kind_of(joint.kind), {}, joint.axis,
                             joint.arm,  joint.begins_late(), {}};
    for (std::size_t s = 0; s < 2; ++s) {
      const JointSide& side = joint.sides[s];
      claim.sides[s] = {side.body, side.pivot, {}, side.weights};
      if (side.weights.size() == 0) continue;
      for (const Index p : model->bodies[std::size_t(side.body)].sets[side.points])
        claim.sides[s].points.push_back(first_point[std::size_t(side.body)] + p);
    }
    claim.acts = [when = joint.when, dt = model->options.dt](Index step) {
      return when.covers(double(step) * dt);
    };
    claim.points_may_go = points_may_go;
    claims.push_back(std::move(claim));
  }
  return claims;
}

/// Whether the mesh of a body may lose points that it has at the start.
bool may_lose_points(const SceneDescription& scene) {
  return std::ranges::any_of(scene.bodies, [](const auto& body) {
    return std::visit(
        [](const auto& b) {
          if constexpr (requires { b.remesh; }) return b.remesh && b.remesh->coarsen;
          return false;
        },
        body);
  });
}

}  // namespace

verify::SceneClaims claims_of_scene(const std::filesystem::path& run_directory) {
  verify::SceneClaims claims;
  try {
    const SceneFile file = read_scene(run_directory / "scene.json");
    const Scene scene = build_scene(file);
    claims.start = Simulation(scene.model).frame();
    claims.joints = joint_claims(scene.model, claims.start, may_lose_points(file.description()));
    claims.dt = scene.model->options.dt;
    claims.frame_every = scene.frame_every;
    claims.absent = [model = scene.model](Index step) {
      std::vector<int> absent;
      for (std::size_t b = 0; b < model->bodies.size(); ++b)
        if (!model->bodies[b].presence.covers(double(step) * model->options.dt)) absent.push_back(int(b));
      return absent;
    };
  } catch (const InputError& error) {
    claims.trouble = error.what();
  }
  return claims;
}

Certificate certify_run(const std::filesystem::path& run_directory) {
  const verify::SceneClaims claims = claims_of_scene(run_directory);
  return certify(run_directory, &claims);
}

}  // namespace apart
