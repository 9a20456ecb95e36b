#pragma once
// Scene scripts of the reference implementation of IPC: the text, keyword by keyword. What the keywords mean
// is explained in docs/coming-from-ipc.md.
#include <apart/core/types.hpp>

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace apart {

/// When a boundary condition acts: in the steps that begin in [from, until).
struct IpcTimeRange {
  double from = 0;                                         ///< [s]
  double until = std::numeric_limits<double>::infinity();  ///< [s]
};

/// "DBC": points that are moved. The box is a fraction of the bounding box of the mesh as it is in its file.
struct IpcDirichlet {
  int line = 0;
  Vector3 low, high;         ///< corners, relative
  Vector3 velocity;          ///< [m/s]
  Vector3 angular_velocity;  ///< [degrees/s], see IpcShape::angular_velocity
  IpcTimeRange range;
};

/// "NBC": points that are accelerated.
struct IpcNeumann {
  int line = 0;
  Vector3 low, high;     ///< as for IpcDirichlet
  Vector3 acceleration;  ///< [m/s²]
  IpcTimeRange range;
};

struct IpcMaterial {
  double density = 1000;  ///< [kg/m³]
  double young = 1e5;     ///< [Pa]
  double poisson = 0.4;
};

/// One line of "shapes", "shape" or "shapeMatrix".
struct IpcShape {
  int line = 0;
  std::string path;  ///< as written
  Vector3 translate = Vector3::Zero();
  Vector3 rotate = Vector3::Zero();  ///< [degrees]: the matrix Rx Ry Rz, so the turn about z comes first
  Vector3 scale = Vector3::Ones();
  Eigen::Vector3i counts = Eigen::Vector3i::Ones();  ///< of a matrix of copies
  Vector3 spacing = Vector3::Zero();                 ///< from copy to copy
  std::optional<IpcMaterial> material;
  std::optional<Vector3> velocity;          ///< [m/s] of a body moved as a whole
  std::optional<Vector3> angular_velocity;  ///< [degrees/s]: each step turns by Rx Ry Rz of these times dt
  std::optional<Vector3> initial_velocity, initial_angular_velocity;  ///< [m/s], [degrees/s]; both or none
  std::vector<IpcDirichlet> dirichlet;
  std::vector<IpcNeumann> neumann;
  std::string sequence;  ///< folder of meshes, one per step; empty: none
};

/// "meshCO": a mesh that stands still, or moves as the named script says.
struct IpcMeshObstacle {
  int line = 0;
  std::string path;
  Vector3 origin;  ///< where the mean of its points goes
  double scale;    ///< longest edge of its bounding box, before it is turned
  double friction;
  Vector3 rotate = Vector3::Zero();  ///< [degrees], as for IpcShape
};

/// "halfSpace" and "ground".
struct IpcHalfSpace {
  int line = 0;
  bool ground = false;  ///< written as "ground"
  Vector3 origin, normal;
  double friction;
};

/// A keyword that changes nothing in this program, and why.
struct IpcIgnored {
  int line = 0;
  std::string message;
};

/// A script as written: nothing is looked up, scaled or moved. Values that are not given have the defaults of
/// the reference.
struct IpcScript {
  std::filesystem::path file;  ///< the script itself, after links

  enum class Energy { neo_hookean, fixed_corotated } energy = Energy::neo_hookean;
  bool newmark = false;
  double beta = 0.25, gamma = 0.5;
  double duration = 5, dt = 0.025;  ///< [s]
  IpcMaterial material;
  bool gravity = true;
  double damping_stiffness = 0, damping_ratio = 0;
  double size = -1;  ///< [m] longest edge of the scene's bounding box; not positive: as it is
  Vector3 turn_axis = Vector3::UnitX();
  double turn_degrees = 0;  ///< "rotateModel"

  std::string script = "null";
  int script_line = 0;
  std::vector<double> script_parameters;
  std::string script_folder;  ///< of "meshSeqFromFile"
  double handle_ratio = 0.01;
  IpcTimeRange dirichlet_range, neumann_range;

  std::vector<IpcShape> shapes;
  std::vector<IpcMeshObstacle> mesh_obstacles;
  std::vector<IpcHalfSpace> half_spaces;

  bool self_collision = true;
  double self_friction = 0;
  int friction_iterations = 1;       ///< not positive: until they settle
  bool absolute_parameters = false;  ///< dhat and epsv are not multiples of the size
  std::vector<double> tuning = {0, 1e-3, 1e-3, 1e-9, 1e-3, 1e-3};
  std::vector<double> tolerances;  ///< per step, the last for all others
  bool tight_inclusion = false;

  std::vector<IpcIgnored> ignored;  ///< in the order of the file
};

/// Whether a file is taken for such a script, by its extension: .txt or .ipc.
bool is_ipc_script(const std::filesystem::path& file);

/// Reads a script. A file that holds nothing but the path of another script stands for that one, as a
/// symbolic link stored as text does. Throws InputError that names file, line and keyword.
IpcScript read_ipc_script(const std::filesystem::path& file);

}  // namespace apart
