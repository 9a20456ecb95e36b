#pragma once
// The folder of a study: which runs are done, and what they gave.
#include <apart/io/directory_lock.hpp>
#include <apart/studies/study.hpp>

#include <optional>
#include <set>

namespace apart {

/// How a run of a study ended.
struct StudyRecord {
  /// "finished", "failed", "refused" (bad input), "refuted", or "stopped" from outside: by a full disk, want
  /// of memory, a signal.
  std::string status;
  std::string reason;  ///< unless finished

  bool is_final() const { return status != "stopped"; }  ///< the run is not run again
};

/// A table of results: the first columns are run, status and reason, then the parameters, numbers of
/// summary.json, and the results of the study.
struct StudyTable {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;  ///< as JSON; empty: no value
  std::vector<std::string> result_units;       ///< of the study's results; empty: none, or not known yet
};

/// The files of a study:
///   study.txt        Study::identity, so that no other study is run here
///   runs/000000/     the run directories; runs/000000.log: what each run printed
///   runs/000000.json how it ended; a run that has this file, and was not stopped, is not run again
///   runs/000000.png  its last frame, small
///   results.csv, results.sqlite, report.html
class StudyFolder {
 public:
  /// Creates the folder or opens it to go on. Throws InputError if it holds something else, or another
  /// process works there, unless `shared`: then several may, each on other runs.
  StudyFolder(std::filesystem::path folder, const Study& study, bool shared = false);

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path run_directory(std::size_t run) const;
  std::filesystem::path log(std::size_t run) const;
  std::optional<StudyRecord> record(std::size_t run) const;  ///< none: not done
  void keep(std::size_t run, const StudyRecord& record) const;
  /// Writes results.csv, results.sqlite and report.html for the runs that are done, and draws those that have
  /// frames and no picture yet, all with the camera of the first of them.
  void write_results() const;
  StudyTable table() const;

 private:
  void draw_thumbnails() const;
  std::filesystem::path folder_;
  const Study& study_;
  std::optional<DirectoryLock> lock_;
};

/// One table `runs` in a new database, which takes the place of an earlier one when it is complete.
void write_database(const std::filesystem::path& file, const StudyTable& table);

/// A page with the table, and a diagram of each result over each parameter. `pictures`: the runs that have
/// one.
std::string study_page(const Study& study, const StudyTable& table, const std::set<std::string>& pictures);

}  // namespace apart
