#pragma once
// Meshes of a fixture. For the files of this folder only.
#include <apart/bodies/mass_distribution.hpp>
#include <apart/geometry/mesh.hpp>
#include <apart/importers/rigid_ipc/fixture.hpp>
#include <apart/scene/mesh_description.hpp>

#include <map>

namespace apart::rigid_ipc {

/// The shape of one body, before it is placed.
struct Piece {
  Mesh mesh;           ///< not scaled; points that the scene will join are joined
  std::string file;    ///< absolute; empty: the scene holds the mesh itself
  Index left_out = 0;  ///< triangles without area, or there twice

  /// Of the scene in `directory`; empty: paths stay absolute.
  MeshDescription description(const std::filesystem::path& directory) const;
};

/// Meshes by their path in the fixture, each read once.
class Shapes {
 public:
  /// `plane`: shapes are edges in the plane z = 0, extruded along z.
  Shapes(const std::filesystem::path& fixture, bool plane) : fixture_(fixture), plane_(plane) {}
  const Piece& whole(const FixtureBody& body);

 private:
  Piece read(const FixtureBody& body) const;
  std::filesystem::path fixture_;
  bool plane_;
  std::map<std::string, Piece> read_;
  Piece inline_;
};

/// The connected pieces, in the order of their first points.
std::vector<Piece> split(const Piece& piece);

/// The mass that the reference takes for an open surface, which it treats as a solid: by the signed volume
/// under each triangle, seen from `origin`. Empty if the surface is closed, or bounds no volume to speak of.
std::optional<MassDistribution> mass_of_open_solid(const Mesh& placed, const Vector3& origin, double density);

/// The piece with coordinates negated where `signs` is negative.
Piece mirrored(const Piece& piece, const Vector3& signs);

}  // namespace apart::rigid_ipc
