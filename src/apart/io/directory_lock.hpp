#pragma once
#include <filesystem>

namespace apart {

/// During its lifetime no other process has a lock of the same directory. The system releases it when the
/// process ends, however that happens.
class DirectoryLock {
 public:
  /// Throws InputError if another process has it. On a file system without locks it does nothing.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace apart
