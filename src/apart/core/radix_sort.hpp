#pragma once
#include <apart/core/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace apart {

/// The order that sorts the keys: keys[order[0]] ≤ keys[order[1]] ≤ …; equal keys stay in the order of their
/// numbers. In parallel, and the same for any number of threads. Cost is linear in the number of keys.
std::vector<Index> sorted_order(std::span<const std::uint64_t> keys);

}  // namespace apart
