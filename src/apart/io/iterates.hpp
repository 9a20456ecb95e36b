#pragma once
#include <apart/core/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart {

/// The accepted Newton iterates of one time step: positions of all points of the frame, the state before the
/// step first. There is a path from one to the next only if both are of the same topology. Stored as
/// iterates/step_000001.bin (the step's number) in the run directory.
struct Iterates {
  Index step = 0;
  std::vector<Matrix3X> points;  ///< [m], world; each 3 × point count
  std::vector<int> absent = {};  ///< bodies that are absent in this step
  /// See Frame::topology: of each iterate. Empty: all are of number 0.
  std::vector<Index> topology = {};
  Index topology_of(std::size_t iterate) const { return topology.empty() ? 0 : topology[iterate]; }
};
/// Of a step's file, relative to the run directory.
std::string iterates_name(Index step);
/// Of the frame that has the cells of a topology, relative to the run directory: written when the mesh
/// changes, if iterates are recorded.
std::string topology_name(Index topology);
void write_iterates(const std::filesystem::path& run_directory, const Iterates& iterates);
Iterates read_iterates(const std::filesystem::path& file);
/// Paths in order of step; empty if the run recorded none.
std::vector<std::filesystem::path> list_iterates(const std::filesystem::path& run_directory);

}  // namespace apart
