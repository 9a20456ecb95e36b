#pragma once
// The independent proof of a finished run, from what it wrote alone.
#include <apart/verify/frame_check.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace apart {

/// What was checked, with exact arithmetic, and what was found.
struct Certificate {
  std::string run;             ///< the run directory as given
  Index frames = 0;            ///< checked
  Index edges = 0, faces = 0;  ///< of the surface; in each frame every edge against every triangle
  Index tetrahedra = 0;        ///< checked in each frame
  Index invertible = 0;        ///< tetrahedra of materials that may invert; not checked
  Index limited = 0;           ///< triangles with strain limits, checked in each frame and iterate
  Index half_spaces = 0;
  bool thickness = false;                       ///< bodies have a thickness: gaps were checked for it
  Index steps = 0;                              ///< steps whose Newton iterates were recorded and checked
  Index paths = 0;                              ///< straight paths from one iterate to the next
  std::int64_t path_pairs = 0;                  ///< pairs of primitives proven apart along them
  std::int64_t path_pairs_tight_inclusion = 0;  ///< of them, those that Tight Inclusion finds free as well
  std::optional<double> min_volume_ratio;       ///< smallest V/V₀ over all frames; V₀ in the first frame
  std::optional<double> max_strain_share;       ///< largest share of a strain limit in all frames, below 1
  std::optional<double> min_distance;           ///< [m] smallest in all frames, if anything is near
  std::int64_t violation_count = 0;
  std::vector<verify::Finding> violations;  ///< the first `max_listed` of them
  static constexpr std::size_t max_listed = 200;

  bool ok() const { return violation_count == 0; }
};

/// Checks all frames of a run, and all recorded iterates:
/// in every frame nothing intersects, no tetrahedron is inverted or flat, no triangle is at or beyond a
/// strain limit (also in every recorded iterate), nothing is on or below a half-space, no gap is smaller than
/// the thickness the scene asks for (verify/frame_check.hpp says how it is relaxed within a piece; also in
/// every recorded iterate), every coordinate is finite, and bodies and topology are those of the first frame;
/// on every path from one iterate to the next nothing touches and nothing inverts; every step begins where
/// the last one ended; and every frame is the state at the beginning or the end of a step, in order. Throws
/// InputError if there is no run to check or its list of frames is damaged or names a frame that is missing;
/// a damaged frame or file of iterates is a violation.
Certificate certify(const std::filesystem::path& run_directory);

/// Writes run_directory/certificate.json, atomically.
void write_certificate(const std::filesystem::path& run_directory, const Certificate& certificate);

/// The certificate as a few lines for the terminal.
std::string summary(const Certificate& certificate);

}  // namespace apart
