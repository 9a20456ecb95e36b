#include <apart/cluster/mpi_team.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>

namespace apart {

namespace {

// MPI counts in int: longer messages are cut.
constexpr std::size_t longest_message = std::size_t(1) << 30;

/// part(offset, length) for the parts of a message.
template <class Visit>
void for_each_part(std::size_t length, const Visit& visit) {
  for (std::size_t offset = 0; offset < length; offset += longest_message)
    visit(offset, int(std::min(longest_message, length - offset)));
}

/// Until it is done. MPI itself waits by asking without a pause: after a short while what others do on this
/// machine comes first, such as the threads of a leader that solves a system by itself.
void wait_for(MPI_Request& request) {
  constexpr auto impatient = std::chrono::microseconds(200), short_nap = std::chrono::microseconds(50),
                 long_nap = std::chrono::microseconds(500);
  const auto begin = std::chrono::steady_clock::now();
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > impatient) std::this_thread::sleep_for(waited < 20 * long_nap ? short_nap : long_nap);
  }
}

/// Until all processes have called this.
void wait_for_all() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  wait_for(request);
}

}  // namespace

MpiTeam::MpiTeam() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &on_this_machine_);
  MPI_Comm_free(&machine);
}

std::vector<Bytes> MpiTeam::gather(Bytes own) const {
  ++traffic_.gathers;
  traffic_.gathered_bytes += own.size();
  const std::size_t n = std::size_t(size_);
  // What is short, as a few numbers are, goes with its length.
  struct Head {
    std::uint64_t length;
    std::array<std::byte, 120> first;
  };
  std::vector<Head> heads(n);
  Head head{own.size(), {}};
  std::copy_n(own.begin(), std::min(own.size(), head.first.size()), head.first.begin());
  wait_for_all();
  MPI_Allgather(&head, sizeof head, MPI_BYTE, heads.data(), sizeof head, MPI_BYTE, MPI_COMM_WORLD);
  std::vector<std::uint64_t> lengths;
  std::uint64_t sum = 0;
  for (const Head& h : heads) sum += lengths.emplace_back(h.length);
  std::vector<Bytes> all(n);
  if (std::ranges::max(lengths) <= head.first.size()) {
    for (std::size_t r = 0; r < n; ++r)
      all[r].assign(heads[r].first.begin(), heads[r].first.begin() + std::ptrdiff_t(lengths[r]));
    return all;
  }
  if (sum <= longest_message) {
    Bytes joined(sum);
    std::vector<int> counts(lengths.begin(), lengths.end()), starts(n, 0);
    for (std::size_t r = 1; r < n; ++r) starts[r] = starts[r - 1] + counts[r - 1];
    MPI_Allgatherv(own.data(), int(own.size()), MPI_BYTE, joined.data(), counts.data(), starts.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
    for (std::size_t r = 0; r < n; ++r)
      all[r].assign(joined.begin() + starts[r], joined.begin() + starts[r] + counts[r]);
    return all;
  }
  all[std::size_t(rank_)] = std::move(own);
  for (std::size_t r = 0; r < n; ++r) {
    all[r].resize(lengths[r]);
    for_each_part(lengths[r], [&](std::size_t offset, int bytes) {
      MPI_Bcast(all[r].data() + offset, bytes, MPI_BYTE, int(r), MPI_COMM_WORLD);
    });
  }
  return all;
}

std::vector<Bytes> MpiTeam::exchange(std::vector<Bytes> to) const {
  ++traffic_.exchanges;
  const std::size_t n = std::size_t(size_);
  std::vector<std::uint64_t> sent(n), received(n);
  for (std::size_t r = 0; r < n; ++r) sent[r] = to[r].size();
  wait_for_all();
  MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  std::vector<Bytes> from(n);
  std::vector<MPI_Request> requests;
  constexpr int tag = 0;  // messages between two processes keep their order
  for (std::size_t r = 0; r < n; ++r) {
    if (int(r) == rank_) continue;
    from[r].resize(received[r]);
    for_each_part(received[r], [&](std::size_t offset, int bytes) {
      MPI_Irecv(from[r].data() + offset, bytes, MPI_BYTE, int(r), tag, MPI_COMM_WORLD,
                &requests.emplace_back());
    });
  }
  for (std::size_t r = 0; r < n; ++r) {
    if (int(r) == rank_) continue;
    traffic_.exchanged_bytes += to[r].size();
    for_each_part(to[r].size(), [&](std::size_t offset, int bytes) {
      ++traffic_.messages;
      MPI_Isend(to[r].data() + offset, bytes, MPI_BYTE, int(r), tag, MPI_COMM_WORLD,
                &requests.emplace_back());
    });
  }
  MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  from[std::size_t(rank_)] = std::move(to[std::size_t(rank_)]);
  return from;
}

}  // namespace apart
