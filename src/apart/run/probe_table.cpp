#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/run/probe_table.hpp>

namespace apart {

std::string probe_header(const std::vector<Probe>& probes) {
  std::string line = "step,time";
  for (const Probe& probe : probes)
    for (const std::string_view column : columns_of(probe.kind))
      line += fmt::format(",{}.{}", probe.name, column);
  return line;
}

void for_each_unit(const std::vector<Probe>& probes,
                   FunctionRef<void(std::string_view, std::string_view)> visit) {
  for (const Probe& probe : probes) {
    const auto columns = columns_of(probe.kind), units = units_of(probe.kind);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!units[i].empty()) visit(fmt::format("{}.{}", probe.name, columns[i]), units[i]);
  }
}

std::string probe_line(const Simulation& simulation, std::vector<ProbeMeter>& probes) {
  std::string line = fmt::format("{},{}", simulation.state().step, simulation.state().time);
  for (ProbeMeter& probe : probes)
    for (const double value : simulation.measure(probe)) line += fmt::format(",{}", value);
  return line;
}

void cut_probes(const std::filesystem::path& file, const std::vector<Probe>& probes, Index last) {
  FileReader reader(file);
  std::string kept = probe_header(probes) + "\n";
  if (reader.line() != kept.substr(0, kept.size() - 1))
    reader.fail("does not have the probes of the scene; start the run again");
  for (Index step = 1; step <= last; ++step) {
    if (reader.at_end()) reader.fail("ends before step {}; start the run again", last);
    kept += std::string(reader.line()) + "\n";
  }
  write_atomically(file, kept);
}

}  // namespace apart
