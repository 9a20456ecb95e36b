#pragma once
// Results of published scenes as tables, the published figures beside ours.
#include "published_scenes.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart::bench {

/// Scenes of one kind share a table.
enum class Kind { script, codimensional, rigid, high_order, remeshed };

/// What is run.
struct Item {
  /// Of results: the script's path; "codim/" or "remesh/" and the row's name; "rigid/" or "high-order/" and
  /// the path.
  std::string name;
  std::filesystem::path scene;
  Kind kind = Kind::script;
  const CodimensionalScene* row = nullptr;  ///< of codimensional scenes
  const RemeshedScene* remeshed = nullptr;  ///< of remeshed scenes
  /// Changes of the scene file; those that are not empty.
  std::span<const std::string_view> settings = {};
  int steps = 0;  ///< 0: as many as its size suggests
};

/// How a scene ended.
enum class Outcome {
  certified,  ///< all steps done and proven
  partly,     ///< its time was over; what was done is proven
  left_out,   ///< a mesh that it needs is not published with it
  failed      ///< anything else
};
constexpr std::string_view outcome_names[] = {"certified", "partly", "left out", "failed"};

struct Result {
  Outcome outcome = Outcome::failed;
  nlohmann::json data;  ///< what is kept: see `Campaign::examine`
};

struct TableEntry {
  Item item;
  std::optional<Result> result;  ///< none: it was not run yet
};

/// A line for the screen.
std::string in_short(const Result& result);

/// One table for each kind that has entries.
std::string scene_tables(const std::vector<TableEntry>& entries, int threads);

}  // namespace apart::bench
