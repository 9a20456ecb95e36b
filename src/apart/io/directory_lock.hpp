#pragma once
#include <filesystem>

namespace apart {

/// During its lifetime no other process has a lock of the same directory. The system releases it when the
/// process ends, however that happens.
class DirectoryLock {
 public:
  /// Throws UnavailableError if another process has it. On a file system without locks it does nothing.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /// Whether another process has it now; false if there is no such directory.
  static bool is_taken(const std::filesystem::path& directory);

 private:
  int descriptor_ = -1;
};

}  // namespace apart
