#pragma once
// One reader and one writer for each mesh format; mesh_format.cpp lists them. Readers give every cell of the
// file.
#include <apart/geometry/mesh.hpp>

#include <filesystem>

namespace apart {

Mesh read_gmsh(const std::filesystem::path& file);  ///< versions 2.2 and 4.1, ASCII and binary
/// ASCII and BINARY; UNSTRUCTURED_GRID and POLYDATA
Mesh read_legacy_vtk(const std::filesystem::path& file);
Mesh read_vtu(const std::filesystem::path& file);
Mesh read_obj(const std::filesystem::path& file);
Mesh read_ply(const std::filesystem::path& file);  ///< ASCII, binary of either byte order
Mesh read_stl(const std::filesystem::path& file);  ///< ASCII and binary; equal coordinates become one point
Mesh read_seg(const std::filesystem::path& file);

void write_gmsh(const std::filesystem::path& file, const Mesh& mesh);        ///< 4.1, ASCII
void write_legacy_vtk(const std::filesystem::path& file, const Mesh& mesh);  ///< ASCII
void write_vtu_file(const std::filesystem::path& file, const Mesh& mesh);    ///< raw appended data
void write_obj(const std::filesystem::path& file, const Mesh& mesh);
void write_ply(const std::filesystem::path& file, const Mesh& mesh);  ///< binary, little-endian, doubles
void write_stl(const std::filesystem::path& file,
               const Mesh& mesh);  ///< ASCII, because binary holds floats only
void write_seg(const std::filesystem::path& file, const Mesh& mesh);

}  // namespace apart
