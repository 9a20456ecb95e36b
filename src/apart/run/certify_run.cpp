#include <apart/core/error.hpp>
#include <apart/run/certify_run.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/simulation/simulation.hpp>

namespace apart {

verify::SceneClaims claims_of_scene(const std::filesystem::path& run_directory) {
  verify::SceneClaims claims;
  try {
    const Scene scene = build_scene(read_scene(run_directory / "scene.json"));
    claims.start = Simulation(scene.model).frame();
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
