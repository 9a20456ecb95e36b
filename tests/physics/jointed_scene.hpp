#pragma once
// Scenes of rigid boxes and joints, with default settings, and what their joints do.
#include <apart/scene/scene_builder.hpp>
#include <apart/simulation/simulation.hpp>

#include <Eigen/LU>
#include <numbers>

namespace apart::test {

inline constexpr double in_radians = std::numbers::pi / 180, earth = 9.81;

/// A scene of bodies and joints, with what else is given, as JSON.
inline Scene jointed_scene(const std::string& time, const std::string& bodies, const std::string& joints,
                           const std::string& others = "") {
  return build_scene(
      parse_scene(fmt::format(R"({{"version": 1, "time": {}, "bodies": [{}], "joints": [{}]{}}})", time,
                              bodies, joints, others),
                  "scene.json", "."));
}

/// A rigid box.
inline std::string jointed_box(const std::string& name, const Vector3& size, const Vector3& at,
                               const std::string& others = "") {
  return fmt::format(
      R"({{"type": "rigid", "name": "{}", "mesh": {{"generator": "box", "size": [{}, {}, {}]}},
           "transform": {{"translate": [{}, {}, {}]}}{}}})",
      name, size[0], size[1], size[2], at[0], at[1], at[2], others);
}

struct JointReading {
  explicit JointReading(const std::vector<double>& v)
      : force(v[0], v[1], v[2]), torque(v[3], v[4], v[5]), position(v[6]), angle(v[7]), error(v[8]) {}
  Vector3 force, torque;
  double position, angle, error;  ///< [m], [degrees]
};
inline JointReading reading(const Simulation& s, int joint) {
  return JointReading(s.measure({"", Probe::Kind::joint, {}, {}, {}, joint}));
}

/// Where a point of a rigid body is that was at `start` [m].
inline Vector3 carried(const Simulation& s, int body, const Vector3& start) {
  const Index first = s.model().first_node[std::size_t(body)];
  Eigen::Matrix4d corners, now;
  corners << s.model().initial_nodes.middleCols(first, 4), Eigen::RowVector4d::Ones();
  now << s.state().nodes.middleCols(first, 4), Eigen::RowVector4d::Ones();
  const Vector4 weights = corners.inverse() * Vector4(start[0], start[1], start[2], 1);
  return (now * weights).head<3>();
}

}  // namespace apart::test
