#pragma once
#include <apart/geometry/mesh.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace apart {

/// One row of the list of mesh formats; scene/catalog and the tests iterate it.
struct MeshFormat {
  std::string_view name;       ///< e.g. "gmsh"
  std::string_view extension;  ///< with dot, lower case, e.g. ".msh"
  std::string_view summary;    ///< one line of documentation
  Mesh (*read)(const std::filesystem::path&);
  void (*write)(const std::filesystem::path&, const Mesh&);  ///< null if only reading is supported
};
std::span<const MeshFormat> mesh_formats();

/// Reads a mesh; the format follows from the extension (any case). Triangles, lines and points that are only
/// parts of larger cells, as Gmsh writes them for the geometry, are left out. Throws InputError (file, line
/// or byte, value, what to do) for a missing, damaged, empty or unsupported file, for indices out of range
/// and for non-finite coordinates.
Mesh read_mesh(const std::filesystem::path& file);
/// Writes atomically. Throws InputError if the format cannot hold the mesh's cells.
void write_mesh(const std::filesystem::path& file, const Mesh& mesh);

}  // namespace apart
