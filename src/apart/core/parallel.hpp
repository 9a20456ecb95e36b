#pragma once
// Parallel loops whose results do not depend on the number of threads: work is cut into chunks of a fixed
// size, and sums are formed chunk by chunk in order. parallel.cpp is the only file that includes TBB.
#include <apart/core/function_ref.hpp>
#include <apart/core/types.hpp>

namespace apart {

/// Number of threads the loops below use; 1 until set. n < 1 means all cores of the machine.
void set_thread_count(int n);
int thread_count();

/// While it lives, loops that its thread begins stay on that thread: for one that works beside the others.
class SerialLoops {
 public:
  SerialLoops();
  ~SerialLoops();
  SerialLoops(const SerialLoops&) = delete;
  SerialLoops& operator=(const SerialLoops&) = delete;
};

/// Calls body(begin, end) for consecutive chunks of [0, count). Chunks run in any order, on any thread.
void parallel_chunks(Index count, Index chunk_size, FunctionRef<void(Index begin, Index end)> body);

/// Calls body(i) for every i in [0, count).
void parallel_for(Index count, FunctionRef<void(Index)> body, Index chunk_size = 256);

/// Calls body(begin, end) for consecutive shares of [0, count), one for each thread. How many there are
/// depends on the number of threads: what body does for an element must not depend on the other elements of
/// its share.
void parallel_shares(Index count, FunctionRef<void(Index begin, Index end)> body);

/// Σ term(i) over [0, count), added in an order that depends on count alone.
double ordered_sum(Index count, FunctionRef<double(Index)> term, Index chunk_size = 256);

/// min(start, min_i term(i)).
double parallel_min(Index count, double start, FunctionRef<double(Index)> term, Index chunk_size = 256);

/// max(start, max_i term(i)).
double parallel_max(Index count, double start, FunctionRef<double(Index)> term, Index chunk_size = 256);

}  // namespace apart
