#pragma once
// Exports of runs for other programs.
#include <apart/viewer/surface_motion.hpp>

#include <filesystem>
#include <span>
#include <string_view>

namespace apart {

struct ExportFormat {
  std::string_view name;     ///< "gltf"
  std::string_view ending;   ///< of the file; empty: a folder with one file per frame
  std::string_view summary;  ///< one line of documentation
};
std::span<const ExportFormat> export_formats();
/// Throws InputError that lists the names if there is none of that name.
const ExportFormat& find_export_format(std::string_view name);

struct ExportOptions {
  FrameProgress progress = nullptr;  ///< called after each frame; false: stop
  /// Whether a folder may hold an earlier export of the same format, and nothing else, which is then
  /// replaced.
  bool replace = false;
  ShownSurface surface = ShownSurface::shape;  ///< of bodies of curved cells; not of VTU, which has the cells
  PolygonsOfBodies polygons = {};              ///< as the first frame of the run has them; not of VTU
};

/// Writes frames as the format says: a file, replaced if it is there, or a folder (made if it is not there,
/// else empty unless `replace`). Either appears when it is complete. Throws InputError if a frame cannot be
/// read, the format cannot hold it, or the output cannot be written; ExportStopped if `progress` says so.
void export_frames(const std::vector<std::filesystem::path>& frames, std::string_view format,
                   const std::filesystem::path& output, const ExportOptions& options = {});

/// glTF 2.0: a node with a mesh for each body, which moves by one morph target for each frame but the first.
/// Between two frames points go straight. Binary (.glb) if the name ends so, else JSON with the data inside.
void write_gltf(const std::filesystem::path& file, const SurfaceMotion& motion);

/// USD as text: a mesh, curves or points for each body, with samples in time.
void write_usda(const std::filesystem::path& file, const SurfaceMotion& motion);

}  // namespace apart
