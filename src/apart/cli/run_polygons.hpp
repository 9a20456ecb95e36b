#pragma once
#include <apart/viewer/surface_files.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart {

/// The polygons, texture coordinates and normals of the OBJ files that the bodies of a run were made of.
/// `notes` gets a line for each body whose file cannot be read any more or has other faces than the body.
PolygonsOfBodies run_polygons(const std::filesystem::path& run, const Frame& first,
                              std::vector<std::string>& notes);

}  // namespace apart
