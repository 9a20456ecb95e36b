#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/core/types.hpp>

#include <span>

namespace apart {

/// Calls body(i) for every node i of a forest, after the calls for its children have returned, on the threads
/// of parallel.hpp. `parent`: of each node, a greater one, or −1.
void parallel_upward(std::span<const Index> parent, FunctionRef<void(Index)> body);
/// The same after the call for its parent has returned.
void parallel_downward(std::span<const Index> parent, FunctionRef<void(Index)> body);

}  // namespace apart
