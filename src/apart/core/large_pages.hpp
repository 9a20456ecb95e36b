#pragma once
#include <cstddef>

namespace apart {

/// Asks the system to back memory that has been allocated but not yet touched by large pages, which makes the
/// first touch of hundreds of megabytes several times as fast. A hint: does nothing where it is not
/// supported.
void prefer_large_pages(void* begin, std::size_t bytes);

}  // namespace apart
