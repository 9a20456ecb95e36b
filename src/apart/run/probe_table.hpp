#pragma once
// probes.csv: what the probes of a scene measured after each step.
#include <apart/core/function_ref.hpp>
#include <apart/simulation/probe.hpp>
#include <apart/simulation/simulation.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart {

std::string probe_header(const std::vector<Probe>& probes);

/// Calls `visit` with name and unit of each column that has one.
void for_each_unit(const std::vector<Probe>& probes,
                   FunctionRef<void(std::string_view, std::string_view)> visit);

/// Measures after the last step.
std::string probe_line(const Simulation& simulation, std::vector<ProbeMeter>& probes);

/// Drops the lines of steps after `last`, which will be done again. Throws InputError if one before is
/// missing.
void cut_probes(const std::filesystem::path& file, const std::vector<Probe>& probes, Index last);

}  // namespace apart
