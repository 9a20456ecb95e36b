#pragma once
// A study: one scene, run with many values of some of its parameters.
#include <apart/core/types.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

inline constexpr Index most_study_runs = 100'000;

/// A number of a run that is made of a column of its tables.
struct StudyResult {
  std::string name;
  std::string column;  ///< of steps.csv or probes.csv
  std::string take;    ///< a name of study_reductions()
};
/// min, max, mean, first, last, sum.
std::vector<std::string_view> study_reductions();
/// Not a number for an empty column. `take` is one of the names.
double reduced(const std::vector<double>& column, std::string_view take);

struct Study {
  std::string name;                            ///< of the file, without its ending
  std::string scene;                           ///< a file, absolute, or the name of an example
  std::vector<std::string> paths;              ///< of the parameters, such as "bodies[ball].material.E"
  std::vector<std::string> units;              ///< of the parameters; empty: none
  std::vector<std::vector<std::string>> runs;  ///< of each run: the value of each parameter, as JSON
  std::vector<StudyResult> results;
  bool frames = true;  ///< whether runs keep frames
  Index steps = 0;     ///< of each run; 0: as the scene says

  /// Changes of the scene for a run, as read_scene takes them.
  std::vector<std::string> changes(std::size_t run) const;
  /// All of it in a form in which two studies are the same text if they make the same runs.
  std::string identity() const;
};

/// Reads a study, a JSON file:
///   scene        a file, relative to that of the study, or the name of an example
///   parameters   path → {"values": [...]} or {"from": a, "to": b, "count": n, "scale": "linear" or
///   "logarithmic"} sampling     "grid" (default): all combinations; "list": the first values, then the
///   second, ...; "random";
///                "latin_hypercube": each range is cut into as many parts as there are runs, and each part is
///                met once
///   runs, seed   of the last two
///   results      name → {"column": "push.pressing", "take": "max"}
///   frames, steps
/// Throws InputError (file, line, path, value, remedy) for everything that is wrong, also for parameters that
/// the scene does not have and values that it does not allow, as far as they can be seen one at a time.
Study read_study(const std::filesystem::path& file);

}  // namespace apart
