#pragma once
#include <apart/cluster/mpi_team.hpp>
#include <apart/io/hdf5_archive.hpp>

namespace apart {

/// Writes an archive that write_archive could have written, by parallel HDF5: each process writes its share
/// of every vector and matrix. Called by all processes with the same archive; not atomic. If it fails for one
/// process, it throws InputError for all, which says whose file system refused.
void write_archive_together(const MpiTeam& team, const std::filesystem::path& file, std::string_view mark,
                            std::uint32_t version, const Archive& archive);

}  // namespace apart
