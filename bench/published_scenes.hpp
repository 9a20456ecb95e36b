#pragma once
// What the publications report of their scenes.
#include <optional>
#include <string_view>

namespace apart::bench {

/// A row of the thesis' tables C.2 to C.6: means over the whole simulation, with the threads of CPU C1 to C4
/// (table C.1).
struct PublishedScene {
  std::string_view script;    ///< below the folder of scripts, without extension
  std::string_view table;     ///< where the figures are from
  std::string_view name;      ///< there
  std::string_view contacts;  ///< mean (max)
  double iterations;          ///< per step
  double seconds;             ///< wall time per step
  double megabytes;
  std::string_view cpu;
};

/// Not all scripts have a row, and not all rows a script that is published.
std::optional<PublishedScene> published(std::string_view script);

}  // namespace apart::bench
