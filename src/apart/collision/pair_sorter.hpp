#pragma once
#include <apart/collision/box_search.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace apart {

/// Sorts pairs of numbers, and keeps the memory that it takes.
class PairSorter {
 public:
  /// Calls write(place, a, b) for all pairs, with their places in the sorted list. Pairs are distributed to
  /// buckets by their first number; a bucket is then sorted by counting, and the few partners of each number
  /// by comparison.
  template <class Write>
  void sort(std::span<const BoxPairs> parts, std::size_t total, Index first_count, Write&& write) {
    if (total == 0) return;
    const Index wish = Index(std::clamp<std::size_t>(total / 4096, 1, 1024));
    const int shift = std::bit_width(unsigned(first_count / wish));
    const Index buckets = (first_count >> shift) + 1;
    // Groups of parts, counted and distributed in parallel.
    constexpr Index group = 16;
    const Index groups = (Index(parts.size()) + group - 1) / group;
    std::vector<std::size_t> place(std::size_t(groups) * buckets, 0);
    parallel_chunks(Index(parts.size()), group, [&](Index begin, Index end) {
      std::size_t* counts = place.data() + std::size_t(begin / group) * buckets;
      for (Index p = begin; p < end; ++p)
        for (const auto& pair : parts[p]) ++counts[pair[0] >> shift];
    });
    std::vector<std::size_t> bucket_begin(buckets + 1, 0);
    std::size_t next = 0;
    for (Index b = 0; b < buckets; ++b) {
      bucket_begin[b] = next;
      for (Index g = 0; g < groups; ++g) next += std::exchange(place[std::size_t(g) * buckets + b], next);
    }
    bucket_begin[buckets] = next;
    dealt_.resize(std::max(dealt_.size(), total));
    parallel_chunks(Index(parts.size()), group, [&](Index begin, Index end) {
      std::size_t* to = place.data() + std::size_t(begin / group) * buckets;
      for (Index p = begin; p < end; ++p)
        for (const auto& pair : parts[p]) dealt_[to[pair[0] >> shift]++] = pair;
    });
    parallel_chunks(buckets, 1, [&](Index bucket, Index) {
      const std::span<const std::array<Index, 2>> pairs(dealt_.data() + bucket_begin[bucket],
                                                        dealt_.data() + bucket_begin[bucket + 1]);
      if (pairs.empty()) return;
      const Index low = bucket << shift;
      std::vector<Index> begin((std::size_t(1) << shift) + 1, 0), second(pairs.size());
      for (const auto& pair : pairs) ++begin[pair[0] - low + 1];
      for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
      for (const auto& pair : pairs) second[begin[pair[0] - low]++] = pair[1];
      // Now `begin` holds where each number's partners end.
      for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
        const Index from = i == 0 ? 0 : begin[i - 1], size = begin[i] - from;
        Index* partners = second.data() + from;
        const std::size_t place_of_first = bucket_begin[bucket] + from;
        if (size <= 32) {
          // The place of each is the number of smaller ones: no branches, and several comparisons at once.
          for (Index p = 0; p < size; ++p) {
            Index smaller = 0;
            for (Index q = 0; q < size; ++q) smaller += partners[q] < partners[p];
            write(place_of_first + smaller, low + Index(i), partners[p]);
          }
        } else {
          std::sort(partners, partners + size);
          for (Index p = 0; p < size; ++p) write(place_of_first + p, low + Index(i), partners[p]);
        }
      }
    });
  }

 private:
  BoxPairs dealt_;
};

}  // namespace apart
