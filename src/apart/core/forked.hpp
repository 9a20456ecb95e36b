#pragma once

namespace apart {

/// In a process that was forked, where no thread but the calling one exists: parallel loops use one thread
/// from now on.
void forget_threads();

}  // namespace apart
