#pragma once
#include <apart/scene/scene_builder.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace apart {

/// Summary of a body before a run.
struct BodyReport {
  std::string name;
  std::string_view kind;
  Index points = 0, tetrahedra = 0, triangles = 0, segments = 0;
  Vector3 extent = Vector3::Zero();         ///< of its bounding box [m]
  std::optional<double> mass, volume;       ///< [kg], [m³]; none for obstacles
  std::array<double, 3> edges = {0, 0, 0};  ///< shortest, mean and longest [m]; zero without edges
  /// Smallest and mean shape of its cells: of tetrahedra three times, of triangles twice the radius of the
  /// inner sphere over that of the outer; 1: regular, 0: flat.
  std::optional<std::array<double, 2>> quality;
};
std::vector<BodyReport> report_bodies(const Model& model);

/// Distances of pairs that could touch, at the start, minus their thickness: how many pairs of primitives lie
/// in each decade below `upper` of the last entry; farther ones are not counted. That is ten times the reach
/// of contact, or less where more than `most_pairs` are that near.
struct GapHistogram {
  struct Bin {
    double lower, upper;  ///< [m]
    std::int64_t pairs = 0;
  };
  std::vector<Bin> bins;           ///< from near to far
  std::optional<double> smallest;  ///< [m]; none if nothing is near
  double reach = 0;                ///< [m] within which pairs were sought
  bool too_many = false;           ///< more than `most_pairs` even within a ten-thousandth of contact's reach
};
GapHistogram gap_histogram(const Model& model, std::int64_t most_pairs = 20'000'000);

/// What one Newton iteration costs at the start, measured by doing the assembly and the factorisation.
struct StepCost {
  double seconds = 0;     ///< of one iteration, without collision detection
  std::size_t bytes = 0;  ///< largest memory of the program so far
  Index unknowns = 0;
};
StepCost measure_step(const Scene& scene);

}  // namespace apart
