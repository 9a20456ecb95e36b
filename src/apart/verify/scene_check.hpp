#pragma once
// What is wrong with the initial state of a scene: for `apart check`, and before a run starts.
#include <apart/verify/frame_check.hpp>

#include <filesystem>
#include <vector>

namespace apart {

struct SceneCheck {
  std::vector<verify::Finding> intersections;  ///< of surfaces, or with half-spaces: the scene cannot run
  std::vector<verify::Finding> nested;         ///< what lies inside a solid: the scene cannot run
  std::vector<verify::Finding> inversions;     ///< inverted, flat or collapsed elements: the scene cannot run
  std::vector<verify::Finding> gaps;           ///< pairs closer than asked

  bool ok() const { return intersections.empty() && nested.empty() && inversions.empty() && gaps.empty(); }
  /// All lists, the most serious first.
  std::array<const std::vector<verify::Finding>*, 4> lists() const {
    return {&intersections, &nested, &inversions, &gaps};
  }
  std::array<std::vector<verify::Finding>*, 4> lists() {
    return {&intersections, &nested, &inversions, &gaps};
  }
};

/// Finds, exactly, all intersections and inverted tetrahedra of a state, what lies inside a solid, and all
/// pairs of primitives closer than `gap` [m] (0: none) or than the thickness in the frame, sorted by
/// elements; at most `limit` intersections and `limit` gaps. Between bodies that intersect, gaps and what is
/// inside are not listed. Two obstacles are not checked against each other. Throws InputError if a coordinate
/// is not finite or gap is negative.
SceneCheck check_scene(const Frame& frame, double gap, std::size_t limit = 10000);

/// Writes the elements of the findings as a mesh, to be looked at beside the scene; the format follows from
/// the extension, and VTU holds every kind of element.
void write_findings(const std::filesystem::path& file, const Frame& frame,
                    const std::vector<verify::Finding>& findings);

}  // namespace apart
