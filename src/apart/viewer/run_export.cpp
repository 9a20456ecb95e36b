#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/run_export.hpp>

#include <unistd.h>

#include <algorithm>

namespace apart {

namespace {

namespace fs = std::filesystem;

constexpr ExportFormat formats[] = {
    {"gltf", ".glb", "animated glTF 2.0, for Blender, browsers and most programs: one file"},
    {"usda", ".usda", "USD as text with samples in time: one file"},
    {"obj", "", "Wavefront OBJ, surfaces: a folder with a file per frame"},
    {"ply", "", "PLY, surfaces in double precision: a folder with a file per frame"},
    {"vtu", "", "the frames themselves, for ParaView, with an index: a folder"},
};

/// Whether a folder holds nothing but what an export to the format writes.
bool holds_export(const fs::path& folder, std::string_view format) {
  std::error_code error;
  const auto only_frames = [&](const fs::path& part) {
    for (const auto& entry : fs::directory_iterator(part, error)) {
      const fs::path name = entry.path().filename();
      if (!name.string().starts_with("frame_") || name.extension() != fmt::format(".{}", format))
        return false;
    }
    return !error;
  };
  if (format != "vtu") return only_frames(folder);
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (const fs::path name = entry.path().filename();
        name != "frames.pvd" && !(name == "frames" && only_frames(entry.path())))
      return false;
  return !error;
}

/// A folder that appears under its name when everything is in it: what is written goes to a hidden one beside
/// it, which goes away if it is not finished. A folder that is there, and empty, is filled; one with an
/// earlier export is replaced if that is asked for.
class WholeFolder {
 public:
  WholeFolder(const fs::path& output, std::string_view format, bool replace) {
    std::error_code error;
    exists_ = fs::exists(output, error);
    if (exists_ && (!fs::is_directory(output, error) || !fs::is_empty(output, error))) {
      const bool earlier = fs::is_directory(output, error) && holds_export(output, format);
      if (!(earlier && replace))
        throw InputError("{}: exists and is not an empty folder; choose another with -o{}", output.string(),
                         earlier ? ", or replace the earlier export with --force" : "");
      for (const auto& entry : fs::directory_iterator(output, error))
        replaced_.push_back(entry.path().filename());
    }
    output_ = fs::weakly_canonical(fs::absolute(output), error);
    if (error) output_ = fs::absolute(output);
    if (!output_.has_filename()) output_ = output_.parent_path();  // a slash at the end
    const fs::path beside = exists_ ? output_ : output_.parent_path();
    error.clear();
    fs::create_directories(beside, error);
    for (int n = 0; !error; ++n) {
      written_ = beside / fmt::format(".apart-export-{}-{}", ::getpid(), n);
      if (fs::create_directory(written_, error)) return;
    }
    throw InputError("{}: cannot be created: {}; choose another folder", output.string(), error.message());
  }
  ~WholeFolder() {
    std::error_code error;
    fs::remove_all(written_, error);
  }
  WholeFolder(const WholeFolder&) = delete;
  WholeFolder& operator=(const WholeFolder&) = delete;

  const fs::path& path() const { return written_; }

  void finish() {
    std::error_code error;
    if (exists_) {
      for (const fs::path& name : replaced_)
        if (!error) fs::remove_all(output_ / name, error);
      std::vector<fs::path> names;
      for (const auto& entry : fs::directory_iterator(written_, error))
        names.push_back(entry.path().filename());
      for (const fs::path& name : names)
        if (!error) fs::rename(written_ / name, output_ / name, error);
    } else {
      fs::rename(written_, output_, error);
    }
    if (error)
      throw InputError("{}: cannot be written: {}; choose another folder", output_.string(), error.message());
  }

 private:
  fs::path output_, written_;
  std::vector<fs::path> replaced_;  ///< names of an earlier export
  bool exists_ = false;
};

}  // namespace

std::span<const ExportFormat> export_formats() {
  return formats;
}

const ExportFormat& find_export_format(std::string_view name) {
  std::string names;
  for (const ExportFormat& format : formats) {
    if (format.name == name) return format;
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  throw InputError("format '{}': must be one of {}", name, names);
}

void export_frames(const std::vector<fs::path>& frames, std::string_view format, const fs::path& output,
                   const ExportOptions& options) {
  const ExportFormat& chosen = find_export_format(format);
  if (!chosen.ending.empty()) {
    const SurfaceMotion motion = read_motion(frames, options.progress, options.surface, options.polygons);
    return chosen.name == "gltf" ? write_gltf(output, motion) : write_usda(output, motion);
  }
  WholeFolder folder(output, format, options.replace);
  std::optional<FrameWriter> writer;
  if (format == "vtu") writer.emplace(folder.path());
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const Frame frame = read_frame(frames[f]);
    if (writer) {
      writer->write(frame);
    } else {
      const Frame shown = shown_frame(frame, options.surface);
      // Polygons are those of the first mesh of the run.
      const PolygonsOfBodies& polygons = shown.topology == 0 ? options.polygons : PolygonsOfBodies();
      const fs::path file = folder.path() / fmt::format("frame_{:06}.{}", f, format);
      format == "obj" ? write_surface_obj(file, shown, polygons) : write_surface_ply(file, shown, polygons);
    }
    if (options.progress && !options.progress(Index(f) + 1, Index(frames.size()))) throw ExportStopped();
  }
  folder.finish();
}

}  // namespace apart
