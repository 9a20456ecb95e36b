#include <apart/core/error.hpp>
#include <apart/io/directory_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace apart {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : descriptor_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  throw UnavailableError("{}: another process is writing this run; wait until it ends, or stop it",
                         directory.string());
}

bool DirectoryLock::is_taken(const std::filesystem::path& directory) {
  try {
    const DirectoryLock lock(directory);
    return false;
  } catch (const UnavailableError&) {
    return true;
  }
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace apart
