#pragma once
// The independent proof of a finished run, from its files alone.
#include <apart/verify/claims.hpp>
#include <apart/verify/frame_check.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace apart {

/// The result of verifying a run: what was proven, for how much of the run, and every violation found.
///
/// A certificate says of a run what a reader cannot see from pictures: that no two surfaces intersect in any
/// frame or iterate, and that none pass through each other on the way from one iterate to the next. Frames
/// are decided by exact predicates on the stored coordinates, without tolerance. A path moves every vertex
/// along a straight line; a pair of primitives is proven apart on an interval of time by a direction that
/// separates them at both ends, since projections on a constant direction are linear in time, or by a volume
/// of its four points that keeps its sign; intervals are halved until such a proof is found. Nothing of the
/// solver is used, so an error there cannot hide itself.
///
/// The verdict covers as much as was recorded (Coverage): frames alone, or paths of some or all steps.
struct Certificate {
  /// What the verdict holds for. Frames are always all of the run's.
  enum class Coverage { frames, some_paths, all_paths };

  std::string run;             ///< the run directory as given
  bool with_scene = false;     ///< compared with the scene, and bound to it
  std::string scene_digest;    ///< SHA-256 of scene.json; empty if there is none
  std::string run_digest;      ///< SHA-256 of the list of digests of scene.json, frames and iterates
  std::string written_by;      ///< version of the program that wrote the run; empty if unknown
  Index files = 0;             ///< in that list
  Index frames = 0;            ///< checked
  Index edges = 0, faces = 0;  ///< of the surface; in each frame every edge against every triangle
  Index tetrahedra = 0;        ///< checked in each frame
  Index planar = 0;            ///< triangles of planar bodies checked in each frame
  Index invertible = 0;        ///< tetrahedra, or such triangles, of materials that may invert; not checked
  Index limited = 0;           ///< triangles with strain limits, checked in each frame and iterate
  Index half_spaces = 0;
  Index neighbours = 0;                    ///< pairs of triangles or segments that share vertices
  Index solids = 0;                        ///< that nothing may lie in
  Index affine = 0;                        ///< affine bodies
  Index rigid = 0;                         ///< rigid bodies
  Index joints = 0;                        ///< that cannot break, checked in each frame
  bool thickness = false;                  ///< bodies have a thickness: gaps were checked for it
  Index run_steps = 0;                     ///< of the run, as far as frames and iterates show
  Index steps = 0;                         ///< steps whose Newton iterates were recorded and checked
  Index paths = 0;                         ///< straight paths from one iterate to the next
  std::int64_t path_pairs = 0;             ///< pairs of primitives proven apart along them
  std::optional<double> min_volume_ratio;  ///< smallest V/V₀ over all frames; V₀ in the first frame
  std::optional<double> max_strain_share;  ///< largest share of a strain limit in all frames, below 1
  std::optional<double> min_distance;      ///< [m] smallest in all frames, if anything is near
  std::int64_t violation_count = 0;
  std::vector<verify::Finding> violations;  ///< the first `max_listed` of them
  static constexpr std::size_t max_listed = 200;

  bool ok() const { return violation_count == 0; }
  Coverage coverage() const {
    return steps == 0 ? Coverage::frames : steps < run_steps ? Coverage::some_paths : Coverage::all_paths;
  }
};

/// Of Certificate::Coverage, in certificate.json.
inline constexpr std::string_view coverage_names[] = {"frames", "some_paths", "all_paths"};

/// Checks all frames of a run, and all recorded iterates: in every frame nothing intersects, also not
/// neighbours in a mesh beyond what they share; nothing lies inside a solid; no tetrahedron is inverted or
/// flat, no affine body mirrored, flat or bent, no triangle or segment collapsed; no triangle is at or beyond
/// a strain limit (also in every recorded iterate), nothing is on or below a half-space (also in every
/// recorded iterate), no gap is smaller than the thickness the scene asks for (shortened within a piece:
/// verify/thickness.hpp), every coordinate is finite, and bodies and meshes are those of the first frame,
/// topology 0 (a frame or iterate of another topology is compared with the first frame of that number, and is
/// a violation: nothing proves yet how a mesh changed); on every path from one iterate to the next of the
/// same topology nothing touches, no gap falls below its thickness and nothing inverts; every step begins
/// where the last one ended, with the same bodies there as in the frame of that state; and every frame is the
/// state at the beginning or the end of a step, in order.
///
/// With `scene`: the files are those that the run wrote (verify/binding.hpp), the first frame is the start of
/// the scene and claims what the scene says, frames follow each other as the scene asks, the right bodies
/// are present, and joints that cannot break are closed (verify/joints.hpp). Without: what the frames claim
/// is taken as true.
///
/// Throws InputError if there is no run to check or its list of frames is damaged or names a frame that is
/// missing; a damaged frame or file of iterates is a violation.
Certificate certify(const std::filesystem::path& run_directory, const verify::SceneClaims* scene = nullptr);

/// Writes run_directory/certificate.json, atomically.
void write_certificate(const std::filesystem::path& run_directory, const Certificate& certificate);

/// The certificate as a few lines for the terminal.
std::string summary(const Certificate& certificate);

}  // namespace apart
