#pragma once
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart {

/// A scene whose bodies were moved apart.
struct Repair {
  struct Moved {
    int body;
    double farthest;  ///< of its points [m]
  };
  std::vector<Moved> moved;  ///< bodies of which anything moved; empty if nothing had to
  Matrix3X points;           ///< where all output points are now [m]
};

/// Separates what intersects or is closer than its thickness at the start or when it comes in, moving as
/// little as possible: the bodies concerned are shrunk, each piece about its own centre, until nothing
/// touches. If they are still too close then, as balls and parallel rods are, which do not become free by
/// shrinking, they drift apart while the thickness grows from a share that there is room for. Then they grow
/// back in one minimisation of
///
///   ½‖q − q₀‖²_M + h² Ψ(q) + B(q),     q₀: as given
///
/// along a path without intersections, as a time step does. Obstacles stay where they are. Throws InputError
/// if that is not enough: surfaces that cross themselves, bodies deep in each other, inverted cells, and
/// whatever would have to move by more than a tenth of its size and more than it is thick.
Repair repair_start(const Scene& scene, const SceneFile& file);

/// Writes the scene, with the places of points that moved as mesh files in a folder beside it, named like it.
/// Copies of an array of which any moved are written one by one. Throws InputError if anything of that name
/// is there already, or if the scene, read again, cannot start; then nothing is written.
void write_repaired(const std::filesystem::path& scene_file, const Repair& repair, const Scene& scene,
                    const SceneFile& file);

}  // namespace apart
