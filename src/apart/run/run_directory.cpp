#include <apart/core/error.hpp>
#include <apart/io/directory_lock.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/frame.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/run/run_directory.hpp>

#include <algorithm>

namespace apart {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view run_files[] = {
    "scene.json",       "frames.pvd",     "steps.csv",    "checkpoint",       "probes.csv", "log.txt",
    "checkpoint.older", "checkpoint.new", "summary.json", "certificate.json", "trace.json", "digests.txt"};

/// Whether a file is what write_atomically was about to write when its process was killed.
bool is_half_written(const std::string& name) {
  const auto begins = [&](std::string_view file) { return name.starts_with(file); };
  return name.ends_with(".tmp") && (begins("frame_") || std::ranges::any_of(run_files, begins));
}

/// Whether a run may have written this file.
bool is_run_file(const std::string& name) {
  return std::ranges::find(run_files, name) != std::end(run_files) || is_half_written(name);
}

void remove_run(const fs::path& directory) {
  for (const auto& [folder, prefix] : {std::pair("frames", "frame_"), std::pair("iterates", "step_"),
                                       std::pair("topologies", "topology_")}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory / folder, error))
      if (entry.path().filename().string().starts_with(prefix)) fs::remove(entry.path());
    fs::remove(directory / folder, error);  // stays if something else is in it
  }
  for (const auto& entry : fs::directory_iterator(directory))
    if (is_run_file(entry.path().filename().string())) fs::remove(entry.path());
}

}  // namespace

fs::path fresh_run_directory(const SceneFile& file) {
  const std::string name = "run-" + file.file_name();
  fs::path directory = name;
  for (int i = 2; fs::exists(directory); ++i) directory = fmt::format("{}-{}", name, i);
  return directory;
}

bool is_file_of_run(const fs::path& file) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(fs::absolute(file), error);
  if (error) whole = fs::absolute(file).lexically_normal();
  const auto is_run = [&](const fs::path& folder) {
    return fs::exists(folder / "scene.json", error) &&
           (fs::exists(folder / "steps.csv", error) || fs::exists(folder / "summary.json", error));
  };
  const fs::path folder = whole.parent_path();
  const std::string name = whole.filename().string();
  if (is_run(folder)) return is_run_file(name);
  if (folder.filename() == "frames") return name.starts_with("frame_") && is_run(folder.parent_path());
  if (folder.filename() == "topologies") return name.starts_with("topology_") && is_run(folder.parent_path());
  return folder.filename() == "iterates" && name.starts_with("step_") && is_run(folder.parent_path());
}

void prepare_run_directory(const fs::path& directory, bool force) {
  try {
    if (fs::exists(directory) && !fs::is_directory(directory))
      throw InputError("{}: is a file; name a directory for the results", directory.string());
    if (fs::exists(directory) && !fs::is_empty(directory)) {
      if (!force)
        throw InputError(
            "{}: is not empty; choose another directory, or replace the results in it with --force",
            directory.string());
      const DirectoryLock lock(directory);
      remove_run(directory);
    }
    fs::create_directories(directory);
  } catch (const fs::filesystem_error& e) {
    throw InputError("{}: cannot be prepared: {}; choose another directory", directory.string(),
                     e.code().message());
  }
}

void remove_half_written(const fs::path& directory) {
  std::error_code error;
  for (const fs::path& folder : {directory, directory / "frames"})
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (is_half_written(entry.path().filename().string())) fs::remove(entry.path(), error);
}

void remove_later_iterates(const fs::path& directory, Index last, Index topology) {
  std::error_code error;
  for (const fs::path& file : list_iterates(directory))
    if (parse_integer(std::string_view(file.stem().string()).substr(5)).value_or(0) > last)
      fs::remove(file, error);
  const std::string kept = fs::path(topology_name(topology)).filename().string();
  for (const auto& entry : fs::directory_iterator(directory / "topologies", error))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("topology_") && name > kept)
      fs::remove(entry.path(), error);
}

void ensure_frames(const fs::path& directory, Index count) {
  const std::vector<FrameEntry> frames = read_frame_index(directory);
  if (Index(frames.size()) < count)
    throw InputError("{}: lists {} frames, the run to be continued has {}; start it again",
                     (directory / "frames.pvd").string(), frames.size(), count);
  for (Index i = 0; i < count; ++i)
    if (const fs::path frame = directory / frames[std::size_t(i)].file; !fs::is_regular_file(frame))
      throw InputError("{}: is missing; restore it or start the run again", frame.string());
}

}  // namespace apart
