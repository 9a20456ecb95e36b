#pragma once
#include <apart/simulation/simulation.hpp>

#include <filesystem>

namespace apart {

/// Keeps a state, bit for bit, so that a run can go on from it. Atomic.
void write_checkpoint(const std::filesystem::path& file, const State& state);

/// Throws InputError naming the file if it is missing or damaged, or if its state does not fit the model.
State read_checkpoint(const std::filesystem::path& file, const Model& model);

}  // namespace apart
