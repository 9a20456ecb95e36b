#include <apart/core/large_pages.hpp>

#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace apart {

void prefer_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Only whole large pages within the range: memory beside it is not ours.
  constexpr std::uintptr_t page = std::uintptr_t(1) << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + page - 1) / page * page, last = (address + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace apart
