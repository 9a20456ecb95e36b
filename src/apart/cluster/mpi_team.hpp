#pragma once
#include <apart/core/team.hpp>

#include <cstdint>

namespace apart {

/// The processes that mpirun has started.
class MpiTeam final : public Team {
 public:
  MpiTeam();
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<Bytes> gather(Bytes own) const override;
  std::vector<Bytes> exchange(std::vector<Bytes> to) const override;
  int on_this_machine() const { return on_this_machine_; }  ///< of these processes

  /// What this process has sent so far, not counting what it sent to itself.
  struct Traffic {
    std::uint64_t gathers = 0, gathered_bytes = 0;  ///< calls of gather, and what this process gave
    std::uint64_t exchanges = 0, messages = 0, exchanged_bytes = 0;
  };
  const Traffic& traffic() const { return traffic_; }

 private:
  int rank_ = 0, size_ = 1, on_this_machine_ = 1;
  mutable Traffic traffic_;
};

}  // namespace apart
