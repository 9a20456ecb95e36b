#pragma once
#include <filesystem>

namespace apart {

/// While it lives, no other process has a lock of the same directory. The system takes it back when the
/// process ends, however that happens.
class DirectoryLock {
 public:
  /// Throws InputError if another process has it. A file system without locks is used without.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace apart
