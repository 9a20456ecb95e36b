#pragma once
// Ties the files of a run together by a list of their digests, and the digest of that list.
#include <apart/core/sha256.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

/// SHA-256 of a file's bytes. Throws InputError if it cannot be read.
std::string file_digest(const std::filesystem::path& file);

/// One line of the list.
struct FileDigest {
  std::string digest;  ///< SHA-256, 64 hexadecimal digits
  std::string file;    ///< relative to the run directory, with '/'
  std::string line() const { return digest + "  " + file + "\n"; }
};

/// The list is the file digests.txt of the run directory: scene.json, then frames and iterates in the order
/// of the steps, as `sha256sum` prints them; `sha256sum -c digests.txt` checks it.
inline constexpr std::string_view digests_name = "digests.txt";

/// Throws InputError, naming the line, if the list is missing or a line is not "digest  file".
std::vector<FileDigest> read_digests(const std::filesystem::path& run_directory);

/// Writes the list of a run as its files are written.
class RunDigests {
 public:
  /// Restarts the list with `files`, which must exist. A digest that the old list has for one of them is
  /// kept, whatever the file holds by now: a file that was changed while the run was interrupted must not be
  /// vouched for.
  RunDigests(std::filesystem::path run_directory, const std::vector<std::string>& files);
  /// Appends a file that has just been written, and will not change any more.
  void add(const std::string& file);
  /// Of the list as it stands: the digest of the run.
  std::string digest() const { return hash_.digest(); }
  const std::string& scene() const { return scene_; }  ///< digest of scene.json; empty if it is not listed

 private:
  std::filesystem::path directory_;
  Sha256 hash_;
  std::string scene_;
};

}  // namespace apart
