#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/run_digests.hpp>
#include <apart/verify/binding.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace apart::verify {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view scene_name = "scene.json", summary_name = "summary.json";

bool is_file(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

class BindingCheck {
 public:
  explicit BindingCheck(const fs::path& run_directory) : directory_(run_directory) {}

  Binding check(const std::vector<std::string>& frames, const std::vector<std::string>& iterates) {
    read_summary();
    if (is_file(directory_ / scene_name))
      result_.scene_digest = file_digest(directory_ / scene_name);
    else
      add(scene_name, "is missing, so the scene of the run is unknown; restore it");
    if (read_list()) {
      check_list();
      check_files();
      check_order("frames/", frames, "frames.pvd");
      check_order("iterates/", iterates, "the folder iterates");
    }
    return std::move(result_);
  }

 private:
  void add(std::string_view file, std::string text) {
    Finding& finding = result_.findings.emplace_back(Finding{.kind = FindingKind::binding});
    finding.file = file;
    finding.text = std::move(text);
  }

  void read_summary() {
    try {
      const auto json = nlohmann::json::parse(FileReader(directory_ / summary_name).content());
      result_.written_by = json.at("version").get<std::string>();
      result_.steps = json.at("steps").get<Index>();
      said_scene_ = json.at("scene_digest").get<std::string>();
      said_run_ = json.at("run_digest").get<std::string>();
    } catch (const InputError&) {
      add(summary_name,
          "is missing, so the files of the run cannot be checked against each other; restore it");
    } catch (const nlohmann::json::exception&) {
      add(summary_name,
          "does not hold the digests of the run; restore the one that the run wrote, or run the scene again");
    }
  }

  bool read_list() {
    try {
      list_ = read_digests(directory_);
    } catch (const InputError& error) {
      add(digests_name, error.what());
      return false;
    }
    result_.files = Index(list_.size());
    return true;
  }

  void check_list() {
    Sha256 hash;
    std::size_t covered = 0;  // lines after which the list is what the summary says
    for (std::size_t i = 0; i < list_.size(); ++i) {
      hash.add(list_[i].line());
      if (hash.digest() == said_run_) covered = i + 1;
    }
    result_.run_digest = hash.digest();
    if (!said_run_.empty() && covered < list_.size())
      add(digests_name,
          covered > 0
              ? fmt::format("lists {} files, summary.json vouches for the first {}: the run is still "
                            "running, or was killed; in that case continue it with apart run --resume",
                            list_.size(), covered)
              : fmt::format("has the digest {}, summary.json says {}; one of them was changed", hash.digest(),
                            said_run_));
    if (!said_scene_.empty() && !result_.scene_digest.empty() && said_scene_ != result_.scene_digest)
      add(scene_name, fmt::format("has the digest {}, summary.json says {}; it was changed after the run",
                                  result_.scene_digest, said_scene_));
    if (list_.empty() || list_[0].file != scene_name)
      add(digests_name, "does not begin with scene.json; it was changed");
  }

  void check_files() {
    std::vector<std::string> trouble(list_.size());
    parallel_for(
        Index(list_.size()),
        [&](Index i) {
          const auto& [digest, file] = list_[std::size_t(i)];
          // Only names that a run writes are opened.
          const bool known = file == scene_name || file.starts_with("frames/frame_") ||
                             file.starts_with("iterates/step_") || file.starts_with("topologies/topology_");
          if (!known || file.find("..") != file.npos)
            trouble[std::size_t(i)] = "is listed in digests.txt, but is no file that a run writes";
          else if (!is_file(directory_ / file))
            trouble[std::size_t(i)] = "is missing; the run wrote it";
          else if (file_digest(directory_ / file) != digest)
            trouble[std::size_t(i)] = "is not what the run wrote: digests.txt has another digest of it";
        },
        1);
    for (std::size_t i = 0; i < list_.size(); ++i)
      // A scene.json that is missing or changed is reported once.
      if (!trouble[i].empty() && !(list_[i].file == scene_name && has_finding(scene_name)))
        add(list_[i].file, std::move(trouble[i]));
  }

  bool has_finding(std::string_view file) const {
    return std::any_of(result_.findings.begin(), result_.findings.end(),
                       [&](const Finding& f) { return f.file == file; });
  }

  /// The files of one folder must be listed in their order, once each.
  void check_order(std::string_view folder, const std::vector<std::string>& files, std::string_view where) {
    std::vector<std::string> listed;
    for (const FileDigest& line : list_)
      if (line.file.starts_with(folder)) listed.push_back(line.file);
    const auto [a, b] = std::mismatch(files.begin(), files.end(), listed.begin(), listed.end());
    if (a == files.end() && b == listed.end()) return;
    if (b == listed.end())
      add(*a, "is not listed in digests.txt; the run did not write it, or it is listed twice");
    else if (a == files.end()) {
      if (!has_finding(*b)) add(*b, fmt::format("is listed in digests.txt, but not in {}", where));
    } else {
      add(*a,
          fmt::format("is in the place of {} in digests.txt; files were exchanged, repeated or removed", *b));
    }
  }

  fs::path directory_;
  Binding result_;
  std::vector<FileDigest> list_;
  std::string said_scene_, said_run_;
};

}  // namespace

Binding check_binding(const fs::path& run_directory, const std::vector<std::string>& frames,
                      const std::vector<std::string>& iterates) {
  return BindingCheck(run_directory).check(frames, iterates);
}

}  // namespace apart::verify
