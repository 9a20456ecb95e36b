#include <apart/run/follow.hpp>

#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>

namespace apart {

void announce_step(const Team& team) {
  team.from_leader(Bytes(1));
}

void announce_end(const Team& team) {
  team.from_leader({});
}

void follow_run(std::shared_ptr<const Model> model, State start, const Teamwork& work) {
  Simulation simulation(std::move(model), std::move(start), work);
  while (!work.team.from_leader({}).empty()) {
    try {
      simulation.step();
    } catch (const MemoryError&) {
      throw;  // the others have enough, and wait
    } catch (const SolverError&) {
      continue;
    } catch (const Interrupted&) {
      continue;
    }
  }
}

}  // namespace apart
