#include <apart/run/run.hpp>

namespace apart {

std::optional<Index> RunRescue::keep() {
  std::unique_lock lock(mutex_, std::chrono::seconds(1));
  if (!lock || !keep_) return std::nullopt;
  std::optional<Index> step;
  try {
    step = keep_();
  } catch (const std::exception&) {
    // The previous checkpoint remains; at this point nothing can be reported.
  }
  lock.release();  // never again: the process is about to end
  return step;
}

}  // namespace apart
