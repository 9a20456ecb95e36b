#pragma once
// Whether the files of a run are exactly those it wrote, in their order.
#include <apart/verify/frame_check.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace apart::verify {

struct Binding {
  std::string scene_digest;    ///< SHA-256 of scene.json as it is; empty if it is missing
  std::string run_digest;      ///< SHA-256 of digests.txt as it is; empty if it is missing
  std::string written_by;      ///< version of the program that wrote the run; empty if unknown
  Index files = 0;             ///< of the list
  std::optional<Index> steps;  ///< that the run says it has done
  std::vector<Finding> findings;
};

/// Compares scene.json, frames and iterates with digests.txt, and that list with the digest in summary.json.
/// `frames` and `iterates` are the files of the run, relative to its directory, in order.
Binding check_binding(const std::filesystem::path& run_directory, const std::vector<std::string>& frames,
                      const std::vector<std::string>& iterates);

}  // namespace apart::verify
