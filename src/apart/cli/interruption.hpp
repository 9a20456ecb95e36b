#pragma once
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace apart {

/// During its lifetime Ctrl-C and SIGTERM ask the program to stop, which received() reports. If the program
/// has not ended `grace` later, because it is busy with something that cannot be interrupted, `last_act` is
/// called from another thread and the process ends with 128 plus the number of the signal. A second signal
/// ends it at once. One at a time.
class Interruption {
 public:
  explicit Interruption(std::function<void()> last_act = {},
                        std::chrono::milliseconds grace = std::chrono::milliseconds(1000));
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static int received();  ///< number of the signal; 0: none

 private:
  void watch();

  std::function<void()> last_act_;
  std::chrono::milliseconds grace_;
  std::atomic<bool> done_ = false;
  std::thread watcher_;
};

}  // namespace apart
