#pragma once
// A fixture of Rigid IPC as plain data, with the defaults of that format. For the files of this folder only.
#include <apart/io/located_json.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace apart::rigid_ipc {

enum class Type { still, kinematic, dynamic };

struct Pose {
  Vector3 position;
  std::optional<Vector3>
      rotation;  ///< vector [rad], of the principal axes; in the plane of the body as placed
};

struct FixtureBody {
  LocatedJson at;
  std::string mesh = {};               ///< as given; empty: inline
  std::vector<Vector3> vertices = {};  ///< inline
  std::vector<Eigen::Vector2i> edges = {};
  std::vector<Eigen::Vector3i> faces = {};
  Type type = Type::dynamic;
  double density = 1000;
  Vector3 scale = Vector3::Ones();
  std::optional<Vector3> dimensions = {};
  Vector3 rotation = Vector3::Zero(), position = Vector3::Zero();
  Vector3 linear_velocity = Vector3::Zero(), angular_velocity = Vector3::Zero();  ///< [m/s], [degrees/s]
  Vector3 force = Vector3::Zero(), torque = Vector3::Zero();                      ///< as given
  std::array<bool, 6> fixed{};
  std::optional<double> kinematic_max_time = {};
  std::vector<Pose> poses = {};
  Index group = -1;
  bool split = false;
};

struct Fixture {
  std::shared_ptr<const JsonValue> root;  ///< that the places of bodies refer to
  LocatedJson scene;
  bool plane = false;  ///< of the plane (2D): z is 0, and bodies neither leave it nor turn out of it
  double dt = 0.01;
  Index steps = 1000;
  Vector3 gravity = Vector3::Zero();
  double friction = 0;
  bool newmark = false;
  double dhat = 1e-3, separation = 0;
  double epsv = 1e-3;
  Index friction_iterations = 1;
  double tolerance = 1e-2;
  bool absolute_tolerance = false;
  Index max_iterations = 3000;
  std::vector<FixtureBody> bodies = {};  ///< that are enabled
  std::vector<std::string> notes = {};
};

/// Throws InputError that names every place where something is wrong.
Fixture read_fixture(const std::filesystem::path& file);

}  // namespace apart::rigid_ipc
