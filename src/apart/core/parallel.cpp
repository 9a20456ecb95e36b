#include <apart/core/error.hpp>
#include <apart/core/forked.hpp>
#include <apart/core/parallel.hpp>
#include <apart/core/parallel_tree.hpp>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

// TBB's library is not compiled with the thread sanitizer, which therefore does not see that a loop begins
// before its chunks and ends after them; these annotations say so. It still sees every race between chunks.
// This file itself is not instrumented: its part of TBB without the other would look like races.
#ifdef APART_THREAD_SANITIZER
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace apart {

namespace {

/// What is done before `release` is seen behind a later `acquire` of the same place.
void acquire([[maybe_unused]] char& place) {
#ifdef APART_THREAD_SANITIZER
  __tsan_acquire(&place);
#endif
}
void release([[maybe_unused]] char& place) {
#ifdef APART_THREAD_SANITIZER
  __tsan_release(&place);
#endif
}

/// The same at the end of a scope, whether an exception ends it or not.
struct AcquireAtEnd {
  char& place;
  ~AcquireAtEnd() { acquire(place); }
};
struct ReleaseAtEnd {
  char& place;
  ~ReleaseAtEnd() { release(place); }
};

struct Pool {
  int threads = 1;
  // TBB caps its workers at the number of cores; asking for more threads than that is unusual but allowed.
  std::unique_ptr<tbb::global_control> limit;
  std::unique_ptr<tbb::task_arena> arena;
};

// The one global of the library: how many threads the process gives it. It never changes a result.
Pool& pool() {
  static Pool instance;
  return instance;
}

// How many SerialLoops this thread has.
thread_local int serial_loops = 0;

/// Null: this thread's loops are its own.
tbb::task_arena* arena() {
  return serial_loops > 0 ? nullptr : pool().arena.get();
}

template <class Fold>
double fold(Index count, Index chunk_size, FunctionRef<double(Index)> term, double start, Fold combine) {
  if (count <= 0) return start;
  const auto of_chunk = [&](Index begin, Index end) {
    double value = term(begin);
    for (Index i = begin + 1; i < end; ++i) value = combine(value, term(i));
    return value;
  };
  if (count <= chunk_size) return combine(start, of_chunk(0, count));
  const Index chunks = (count + chunk_size - 1) / chunk_size;
  std::vector<double> partial(chunks);
  parallel_chunks(count, chunk_size,
                  [&](Index begin, Index end) { partial[begin / chunk_size] = of_chunk(begin, end); });
  double result = start;
  for (double p : partial) result = combine(result, p);
  return result;
}

}  // namespace

void set_thread_count(int n) {
  // Arenas allocate for as many as are asked for.
  constexpr int most = 1024;
  if (n > most)
    throw InputError("threads: got {}, must be at most {}; more than there are cores are slower", n, most);
  if (n < 1) n = std::max(1u, std::thread::hardware_concurrency());
  pool().arena.reset();  // before the limit it was made under
  pool().limit.reset();
  pool().threads = n;
  if (n == 1) return;
  pool().limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, n);
  pool().arena = std::make_unique<tbb::task_arena>(n);
}

SerialLoops::SerialLoops() {
  ++serial_loops;
}
SerialLoops::~SerialLoops() {
  --serial_loops;
}

int thread_count() {
  return pool().threads;
}

void forget_threads() {
  // Not destroyed: that would wait for threads that do not exist.
  (void)pool().arena.release();
  (void)pool().limit.release();
  pool().threads = 1;
}

void parallel_chunks(Index count, Index chunk_size, FunctionRef<void(Index, Index)> body) {
  if (count <= 0) return;
  const Index chunks = (count + chunk_size - 1) / chunk_size;
  auto run = [&](Index c) { body(c * chunk_size, std::min<Index>(count, (c + 1) * chunk_size)); };
  if (!arena() || chunks == 1) {
    for (Index c = 0; c < chunks; ++c) run(c);
    return;
  }
  char started = 0, ended = 0;  // places only
  release(started);
  const AcquireAtEnd after{ended};
  arena()->execute([&] {
    tbb::parallel_for(Index{0}, chunks, [&](Index c) {
      acquire(started);
      const ReleaseAtEnd chunk{ended};
      run(c);
    });
  });
}

void parallel_for(Index count, FunctionRef<void(Index)> body, Index chunk_size) {
  parallel_chunks(count, chunk_size, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(i);
  });
}

void parallel_shares(Index count, FunctionRef<void(Index, Index)> body) {
  const Index shares = Index(thread_count());
  parallel_chunks(count, std::max<Index>(1, (count + shares - 1) / shares), body);
}

void parallel_upward(std::span<const Index> parent, FunctionRef<void(Index)> body) {
  const auto count = Index(parent.size());
  if (!arena() || count <= 1) {
    for (Index i = 0; i < count; ++i) body(i);
    return;
  }
  std::vector<std::atomic<Index>> waiting(parent.size());  // for so many children
  for (const Index p : parent)
    if (p >= 0) waiting[std::size_t(p)].fetch_add(1, std::memory_order_relaxed);
  std::vector<Index> leaves;
  for (Index i = 0; i < count; ++i)
    if (waiting[std::size_t(i)] == 0) leaves.push_back(i);
  char ordered = 0;  // a place only
  release(ordered);
  const AcquireAtEnd after{ordered};
  arena()->execute([&] {
    tbb::task_group tasks;
    for (const Index leaf : leaves)
      tasks.run([&, leaf] {
        // Whoever finishes the last child goes on with the parent.
        for (Index i = leaf; i >= 0;) {
          acquire(ordered);
          const ReleaseAtEnd node{ordered};
          body(i);
          const Index p = parent[std::size_t(i)];
          i = p >= 0 && waiting[std::size_t(p)].fetch_sub(1, std::memory_order_acq_rel) == 1 ? p : -1;
        }
      });
    tasks.wait();
  });
}

void parallel_downward(std::span<const Index> parent, FunctionRef<void(Index)> body) {
  const auto count = Index(parent.size());
  if (!arena() || count <= 1) {
    for (Index i = count - 1; i >= 0; --i) body(i);
    return;
  }
  std::vector<std::vector<Index>> children(parent.size());
  for (Index i = 0; i < count; ++i)
    if (parent[std::size_t(i)] >= 0) children[std::size_t(parent[std::size_t(i)])].push_back(i);
  char ordered = 0;  // a place only
  release(ordered);
  const AcquireAtEnd after{ordered};
  arena()->execute([&] {
    tbb::task_group tasks;
    const auto run = [&](const auto& self, Index i) -> void {
      {
        acquire(ordered);
        const ReleaseAtEnd node{ordered};
        body(i);
      }
      for (const Index c : children[std::size_t(i)]) tasks.run([&self, c] { self(self, c); });
    };
    for (Index i = count - 1; i >= 0; --i)
      if (parent[std::size_t(i)] < 0) tasks.run([&run, i] { run(run, i); });
    tasks.wait();
  });
}

double ordered_sum(Index count, FunctionRef<double(Index)> term, Index chunk_size) {
  return fold(count, chunk_size, term, 0.0, [](double a, double b) { return a + b; });
}

double parallel_min(Index count, double start, FunctionRef<double(Index)> term, Index chunk_size) {
  return fold(count, chunk_size, term, start, [](double a, double b) { return b < a ? b : a; });
}

double parallel_max(Index count, double start, FunctionRef<double(Index)> term, Index chunk_size) {
  return fold(count, chunk_size, term, start, [](double a, double b) { return b > a ? b : a; });
}

}  // namespace apart
