#pragma once
// The converter of scripts. For the files of this folder only.
#include <apart/geometry/mesh.hpp>
#include <apart/importers/ipc/import.hpp>
#include <apart/importers/ipc/staging.hpp>
#include <apart/importers/ipc/values.hpp>

#include <limits>
#include <set>

namespace apart::ipc {

namespace fs = std::filesystem;
inline constexpr int most_components = 20000;  // a scene holds fewer still, but says so itself
inline constexpr Index most_keyframes = 20000;

struct Source {
  fs::path file;  ///< that was read
  Mesh mesh;      ///< as read, cells of other kinds left out
  int dimension;
  bool written_out = false;  ///< no file says what the body is: points or edges of another mesh
};

/// Of a component: x = rotation · (scale ∘ p) + translation.
struct Placing {
  Vector3 scale, translate;
  Matrix3 rotate;
};

struct Side {
  Vector3 direction;
  bool below;
  double threshold;
  bool holds(const Vector3& p) const {
    const double value = direction.dot(p);
    return below ? value < threshold : value > threshold;
  }
  std::string text() const {
    std::string sum;
    for (int k = 0; k < 3; ++k) {
      const double c = direction[k];
      if (c == 0) continue;
      if (!sum.empty())
        sum += c < 0 ? " - " : " + ";
      else if (c < 0)
        sum += "-";
      if (std::abs(c) != 1) sum += fmt::format("{}*", tidy(std::abs(c)));
      sum += "xyz"[k];
    }
    return fmt::format("{} {} {}", sum, below ? "<" : ">", threshold);
  }
};

struct Chosen {
  std::vector<Index> points;
  SelectionDescription where;  ///< if there are points
};

/// An IpcChoice where the scene is placed.
struct PlacedChoice {
  std::vector<std::vector<Side>> any_of;
  std::optional<std::pair<std::size_t, Index>> point;  ///< instead: component and index
};

struct Friction {
  std::string body;
  double coefficient;
};

class Importer {
 public:
  Importer(const fs::path& file, const fs::path& directory)
      : script_(read_ipc_script(file)),
        directory_(directory.empty() ? directory : fs::absolute(directory).lexically_normal()),
        place_(std::make_shared<const std::string>(script_.file.string())),
        name_(file.stem().string()) {}
  ImportedScene import();

 private:
  // ---- import.cpp: order of conversion, files, placement, settings
  ImportedScene convert();
  template <class... Args>
  [[noreturn]] void fail(int line, fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}:{}: {}", *place_, line, fmt::format(format, std::forward<Args>(args)...));
  }
  void note(int line, std::string_view what);
  Place at_line(int line) const { return Place(place_, line); }
  /// A path of the script: beside it or, since the reference is started one folder above "input", from any
  /// folder above it, with or without that first part.
  std::optional<fs::path> find(const std::string& path) const;
  std::string path_value(const fs::path& file) const;
  static Mesh only(Mesh mesh, int dimension);
  /// The mesh of a shape, by the extension: .msh tetrahedra, .obj triangles, .seg segments, .pt points. The
  /// last two may be missing, and are then taken from the .obj of the same name.
  Source read_source(const std::string& path, int line) const;
  void read_meshes();
  void place_shapes();
  void place_mesh_obstacles();
  /// What lengths are multiples of: the diagonal of the box around all shapes of tetrahedra.
  void find_scale();
  TransformDescription placing_value(const Placing& p, const Vector3& angles, bool turned) const;

  // ---- choices.cpp: which points are meant, and how they move
  /// The same cut where the scene is placed, at a number that no rounding of coordinates can carry points
  /// across.
  Side side_of(const IpcCut& cut) const;
  PlacedChoice place_choice(const IpcChoice& choice) const;
  Chosen choose(const PlacedChoice& choice, std::size_t component) const;
  static IndexSelection indices(const std::vector<Index>& points);
  /// The points of the surface in a box that is relative to the mesh as it is in its file.
  Chosen choose_box(std::size_t component, const Vector3& low, const Vector3& high) const;
  /// The box in the world, if the shape is not turned but by quarters and the box chooses the same points.
  std::optional<BoxSelection> world_box(std::size_t component, const Vector3& low, const Vector3& high,
                                        const std::vector<Index>& wanted) const;
  /// Nothing if nothing moves.
  std::optional<MotionDescription> motion(const IpcMovement& movement) const;
  MotionDescription keyframes(const IpcMovement& movement) const;
  /// Constant speed. Each step of the reference turns about the centre of the bounding box as it is then;
  /// unless the points lie symmetrically, that centre wanders.
  IpcMovement steady(const Vector3& velocity, const Vector3& angular_velocity, const Matrix3X& points,
                     const IpcTimeRange& range = {}) const;
  static void set_times(TimesDescription& times, const IpcTimeRange& a, const IpcTimeRange& b);

  // ---- bodies.cpp: bodies, sequences of meshes, obstacles
  std::string fresh_name(const std::string& path, bool alone);
  /// How many bodies come from meshes of that name.
  std::size_t namesakes(const std::string& path) const;
  MeshDescription mesh_of(const Source& source) const;
  MaterialDescription material(const IpcShape& shape) const;
  void add_shapes();
  /// Whether the components from `first` on differ by their place alone.
  bool can_be_array(std::size_t first, std::size_t count) const;
  int shape_dimension(std::size_t shape) const;
  Vector3 center_of(std::size_t component) const;
  /// The centre of mass of a body of tetrahedra.
  Vector3 mass_center(std::size_t component) const;
  BodyDescription body(std::size_t component, const std::string& name, bool array);
  VolumeDescription volume(std::size_t component);
  /// How its shape's options or the named script move a component as a whole; nothing if they do not.
  std::optional<IpcMovement> whole_movement(std::size_t component) const;
  std::optional<MotionDescription> whole_motion(std::size_t component) const;
  /// Obstacles move as a whole or not at all.
  void merge_dirichlet(std::size_t component, std::optional<MotionDescription>& whole) const;
  void set_initial_velocity(DynamicBody& body, std::size_t component) const;
  void add_handles(std::vector<FixedDescription>& fixed, std::size_t component) const;
  void add_dirichlet(std::vector<FixedDescription>& fixed, std::size_t component);
  void add_loads(std::vector<LoadDescription>& loads, std::size_t component);
  /// The time that multiplies the stiffness matrix. The reference adds k/(2 dt) Δx·K·Δx to an incremental
  /// potential in which the elastic energy counts dt² (Euler) or beta dt² (Newmark); a force -τ K v, with v =
  /// Δx/dt, has the potential τ/(2 dt) Δx·K·Δx before it is multiplied alike.
  double damping_time() const;
  bool leads_folder(std::size_t component) const;
  /// Files hold positions in the world, so that the body is its first file, where that puts it.
  ObstacleDescription sequence(std::size_t component);
  void add_mesh_obstacles();
  void add_half_spaces();

  // ---- import.cpp: settings
  TimeDescription time() const;
  /// dhat and epsv begin at one value and are lowered to another: what counts is the smaller.
  double tuned(std::size_t first) const;
  ContactDescription contact() const;
  SolverDescription solver() const;
  void report_unused();

  IpcScript script_;
  fs::path directory_;
  std::shared_ptr<const std::string> place_;
  std::string name_;
  std::vector<std::string> notes_;
  std::vector<Source> sources_;
  std::vector<std::size_t> shape_source_, obstacle_source_;  ///< indices into sources_
  std::vector<IpcComponent> components_;
  std::vector<Placing> placings_;  ///< of components
  std::vector<Vector3> unlifted_;  ///< first point of each component before the script
  IpcPoints obstacle_points_;
  std::vector<Placing> obstacle_placings_;
  bool turned_ = false;  ///< by rotateModel
  Matrix3 turn_ = Matrix3::Identity();
  double size_factor_ = 1;
  double length_ = 0;  ///< [m]
  IpcStaging staging_;
  std::vector<PlacedChoice> handle_places_, push_places_;
  SceneDescription scene_;
  std::set<std::string> names_;
  std::vector<Friction> frictions_;
};

}  // namespace apart::ipc
