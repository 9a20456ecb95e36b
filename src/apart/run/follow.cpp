#include <apart/run/follow.hpp>

#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/run/checkpoint.hpp>

#include <cstring>
#include <string>

namespace apart {

namespace {

// The first byte of an announcement; none: the end.
constexpr std::byte next_step{'s'}, next_checkpoint{'c'};

struct Checkpoint {
  std::uint64_t scene = 0;
  std::string file;
};

Bytes announcement(const Checkpoint& checkpoint) {
  Bytes bytes(1 + sizeof checkpoint.scene + checkpoint.file.size(), next_checkpoint);
  std::memcpy(bytes.data() + 1, &checkpoint.scene, sizeof checkpoint.scene);
  std::memcpy(bytes.data() + 1 + sizeof checkpoint.scene, checkpoint.file.data(), checkpoint.file.size());
  return bytes;
}

Checkpoint checkpoint_of(const Bytes& bytes) {
  Checkpoint checkpoint;
  std::memcpy(&checkpoint.scene, bytes.data() + 1, sizeof checkpoint.scene);
  const std::size_t begin = 1 + sizeof checkpoint.scene;
  checkpoint.file.assign(reinterpret_cast<const char*>(bytes.data()) + begin, bytes.size() - begin);
  return checkpoint;
}

}  // namespace

void announce_step(const Team& team) {
  team.from_leader({next_step});
}

void announce_checkpoint(const Team& team, const std::filesystem::path& file, std::uint64_t scene) {
  team.from_leader(announcement({scene, file.string()}));
}

void announce_end(const Team& team) {
  team.from_leader({});
}

void follow_run(std::shared_ptr<const Model> model, State start, const Teamwork& work) {
  Simulation simulation(std::move(model), std::move(start), work);
  for (Bytes next = work.team.from_leader({}); !next.empty(); next = work.team.from_leader({})) {
    try {
      if (next[0] == next_step) {
        simulation.step();
      } else {
        const auto [scene, file] = checkpoint_of(next);
        write_checkpoint(file, simulation.state(), simulation.model(), scene, &work);
      }
    } catch (const MemoryError&) {
      throw;  // the others have enough, and wait
    } catch (const SolverError&) {
      continue;
    } catch (const InputError&) {
      continue;  // the leader says what is wrong
    } catch (const Interrupted&) {
      continue;
    }
  }
}

}  // namespace apart
