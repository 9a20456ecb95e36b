#pragma once
#include <cstddef>

namespace CLI {
class App;
}

namespace apart {

/// Adds --memory SIZE to a command; it sets `bytes`.
void add_memory_option(CLI::App& command, std::size_t& bytes);

/// Sets the limit of memory, 0: most of the free memory, of which `processes` on this machine get the same
/// share. Requests far beyond it are refused by the system as well, so that the program ends in an orderly
/// way instead of being killed.
void bound_memory(std::size_t bytes, int processes = 1);

}  // namespace apart
