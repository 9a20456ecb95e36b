#pragma once
#include <apart/geometry/aabb.hpp>
#include <apart/importers/polyfem/import.hpp>
#include <apart/importers/polyfem/sides.hpp>
#include <apart/importers/section.hpp>
#include <apart/importers/tools.hpp>

#include <filesystem>
#include <map>
#include <set>

namespace apart::polyfem {

namespace fs = std::filesystem;

/// Reads a scene of PolyFEM: settings in import.cpp, bodies in bodies.cpp.
class PolyfemImporter {
 public:
  PolyfemImporter(const fs::path& file, const fs::path& directory);

  ImportedScene import();

 private:
  Place place_of(const LocatedJson& at) const;

  /// A file that the scene names. Paths are relative to the scene that is run.
  fs::path named_file(const LocatedJson& at) const;

  // ---- Scenes in the plane
  /// Triangles in a plane z = const and nothing else.
  static bool is_flat(const Mesh& mesh);
  /// Whether the first body that is no obstacle is flat.
  bool is_planar(const LocatedJson& geometry) const;
  /// Three numbers, or two in the plane.
  static Vector3 vector_of(const LocatedJson& at);
  /// In the plane λ is Eν/(1 − ν²) there; a slab that is held across it has the same with these.
  void convert_to_plane(ElasticMaterial& material, const LocatedJson& at);

  // ---- What concerns the whole scene
  void read_settings(Section& top);

  void read_time(Section& top);

  void set_integrator(const LocatedJson& at);

  void read_contact(Section& top);

  void read_solver(Section& top);

  void read_conditions(const LocatedJson& at);

  // ---- Bodies
  void add(const LocatedJson& at);

  FileMesh file_mesh(const fs::path& path, const LocatedJson& at) const;

  std::string fresh_name(std::string stem);

  /// Scaled, then turned about x, y and z, then moved.
  TransformDescription transform_of(const std::optional<LocatedJson>& at, const Aabb& box);

  int order_of(Index id) const;

  void set_volume(VolumeDescription& body, const LocatedJson& at, Index id, const Mesh& mesh);

  void set_planar(PlanarDescription& body, const LocatedJson& at, Index id);

  /// An obstacle in the plane: a body that a script moves or holds as a whole.
  void set_motion(PlanarDescription& body, const std::optional<LocatedJson>& surface);

  MaterialDescription material_of(Index id, const LocatedJson& body);

  /// The surface that the first body collides with, placed as it is.
  void set_collision(VolumeDescription& body, const LocatedJson& at);

  // ---- Conditions on parts of bodies
  /// What boundary conditions hold. A point in several sides is of the first.
  void set_fixed(DynamicBody& body, const std::vector<Side>& sides);

  void set_motion(ObstacleDescription& obstacle, Index id);

  /// None if nothing moves.
  std::optional<MotionDescription> motion_of(const LocatedJson& value);

  void check_ids();

  std::shared_ptr<const JsonValue> root_;
  LocatedJson top_;
  fs::path file_, directory_;
  SceneDescription scene_;
  std::vector<std::string> lines_;
  Notes notes_;
  std::set<std::string> names_;
  std::optional<LocatedJson> order_, collision_;
  std::optional<int> quadrature_;  ///< degree; empty: by that of the cells
  std::vector<LocatedJson> materials_;
  std::map<Index, LocatedJson> dirichlet_, displacements_;  ///< by id
  std::set<Index> used_, used_obstacles_;                   ///< ids of these
  std::map<Index, Vector3> velocities_;                     ///< by id of bodies
  bool planar_ = false;                                     ///< bodies are flat: a scene in the plane
  int volumes_ = 0;                                         ///< bodies that are no obstacles
};

}  // namespace apart::polyfem
