#pragma once
#include <apart/verify/certificate.hpp>

#include <filesystem>

namespace apart {

/// What scene.json of a run directory says about the run, or why it cannot be used.
verify::SceneClaims claims_of_scene(const std::filesystem::path& run_directory);

/// Checks a run together with its scene: see `certify`. The scene is read and built by the code that a run
/// uses; everything that is then proven shares no code with the solver.
Certificate certify_run(const std::filesystem::path& run_directory);

}  // namespace apart
