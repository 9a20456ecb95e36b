#include <apart/core/parallel.hpp>
#include <apart/core/radix_sort.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace apart {

std::vector<Index> sorted_order(std::span<const std::uint64_t> keys) {
  constexpr Index chunk = 1 << 14;
  constexpr int bits = 11, digits = 1 << bits;
  struct Entry {
    std::uint64_t key;
    Index number;
  };
  const Index count = Index(keys.size());
  const Index chunks = (count + chunk - 1) / chunk;
  if (count < 2000) {  // counting digits would take longer
    std::vector<Index> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return keys[a] < keys[b]; });
    return order;
  }
  std::vector<Entry> entries(count), other(count);
  std::vector<std::uint64_t> differing(chunks, 0);  // bits in which keys differ from the first
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      entries[i] = {keys[i], i};
      differing[begin / chunk] |= keys[i] ^ keys[0];
    }
  });
  const std::uint64_t all =
      std::accumulate(differing.begin(), differing.end(), std::uint64_t(0), std::bit_or<>());

  // From the lowest digit up; each pass is stable: chunk after chunk, and in order within a chunk.
  std::vector<Index> place(std::size_t(chunks) * digits);
  for (int shift = 0; shift < 64; shift += bits) {
    if (((all >> shift) & (digits - 1)) == 0) continue;
    const auto digit = [&](const Entry& e) { return std::size_t(e.key >> shift) & (digits - 1); };
    parallel_chunks(count, chunk, [&](Index begin, Index end) {
      Index* counts = place.data() + std::size_t(begin / chunk) * digits;
      std::fill(counts, counts + digits, 0);
      for (Index i = begin; i < end; ++i) ++counts[digit(entries[i])];
    });
    Index next = 0;
    for (std::size_t d = 0; d < digits; ++d)
      for (std::size_t c = 0; c < std::size_t(chunks); ++c)
        next += std::exchange(place[c * digits + d], next);
    parallel_chunks(count, chunk, [&](Index begin, Index end) {
      Index* to = place.data() + std::size_t(begin / chunk) * digits;
      for (Index i = begin; i < end; ++i) other[to[digit(entries[i])]++] = entries[i];
    });
    entries.swap(other);
  }
  std::vector<Index> order(count);
  parallel_for(
      count, [&](Index i) { order[i] = entries[i].number; }, chunk);
  return order;
}

}  // namespace apart
