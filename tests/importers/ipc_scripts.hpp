#pragma once
// Scripts of the reference implementation of IPC and the meshes they name, written to a folder.
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/importers/ipc/import.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/selection.hpp>

#include <gtest/gtest.h>
#include <support/described_part.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <Eigen/Geometry>
#include <numbers>
#include <random>

namespace apart::test {

inline constexpr double radians = std::numbers::pi / 180;

/// A folder "input" with meshes and one script, as the reference has it. The bar is 2 × 1 × 1 m, centred, of
/// cells of 1/4 m; the wedge is half of a cube, which has its centre of mass elsewhere than its box.
class IpcScripts : public ::testing::Test {
 protected:
  IpcScripts() {
    namespace fs = std::filesystem;
    for (const char* folder : {"tetMeshes", "triMeshes", "segMeshes", "scenes"})
      fs::create_directories(input() / folder);
    write_mesh(input() / "tetMeshes/bar.msh", bar);
    write_mesh(input() / "tetMeshes/wedge.msh", wedge);
    write_mesh(input() / "triMeshes/plane.obj", plane);
    write_mesh(input() / "triMeshes/triangle.obj", triangle);
    write_mesh(input() / "segMeshes/edge.seg", generate::segments(1, 1));
    write_file(input() / "triMeshes/two.pt", "v 0 0 0\nv 1 2 3\n");
  }

  std::filesystem::path input() const { return directory / "input"; }
  std::filesystem::path script() const { return input() / "scenes/scene.txt"; }

  ImportedScene imported(const std::string& text) {
    write_file(script(), text);
    return import_ipc_script(script(), {input() / "scenes"});
  }
  JsonValue scene(const std::string& text) { return brief_json(imported(text).scene); }
  /// The same with every default.
  JsonValue whole(const std::string& text) { return *read(text).json; }
  /// Checked and with every default.
  SceneFile read(const std::string& text) {
    write_file(script(), text);
    return open_scene_file(script());
  }
  Scene built(const std::string& text) { return build_scene(read(text)); }
  std::string message(const std::string& text) {
    return message_of([&] { imported(text); });
  }

  static Mesh make_wedge() {
    Mesh cube = generate::box(Vector3::Ones(), Eigen::Vector3i::Constant(2));
    Mesh half = cube;
    Index kept = 0;
    for (Index t = 0; t < cube.tetrahedra.cols(); ++t) {
      Vector3 center = Vector3::Zero();
      for (int k = 0; k < 4; ++k) center += 0.25 * cube.points.col(cube.tetrahedra(k, t));
      if (center[0] < 0 || center[1] < 0) half.tetrahedra.col(kept++) = cube.tetrahedra.col(t);
    }
    half.tetrahedra.conservativeResize(4, kept);
    return remove_unreferenced_points(half);
  }
  static Mesh make_triangle() {
    Mesh mesh;
    mesh.points.resize(3, 3);
    mesh.points << 0, 1, 0, 0, 0, 0, 0, 0, 1;
    mesh.faces.resize(3, 1);
    mesh.faces << 0, 1, 2;
    return mesh;
  }

  TemporaryDirectory directory;
  const Mesh bar = generate::box({2, 1, 1}, {8, 4, 4});
  const Mesh wedge = make_wedge();
  const Mesh plane = generate::grid(10, 10, 2, 2);
  const Mesh triangle = make_triangle();
  const std::string one_bar = "shapes input 1\ninput/tetMeshes/bar.msh 0 0 0  0 0 0  1 1 1\n";
};

/// One line of a scene: "contact.dhat", "bodies[0].material.E".
inline JsonValue at(const JsonValue& root, std::string_view path) {
  const JsonValue* value = &root;
  while (!path.empty() && value) {
    if (path.front() == '[') {
      const std::size_t end = path.find(']');
      const auto* items = value->get_if<JsonValue::Array>();
      const std::size_t i = std::stoul(std::string(path.substr(1, end)));
      value = items && i < items->size() ? &(*items)[i] : nullptr;
      path.remove_prefix(end + 1);
    } else {
      const std::string_view key = path.substr(0, path.find_first_of(".["));
      value = value->find(key);
      path.remove_prefix(key.size());
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return value ? *value : JsonValue();
}

inline std::string text_at(const JsonValue& root, std::string_view path) {
  const std::string text = readable_text(at(root, path));
  std::string flat;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      flat += text[i];
      continue;
    }
    while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    if (flat.ends_with(',')) flat += ' ';
  }
  return flat;
}

inline double number_at(const JsonValue& root, std::string_view path) {
  const JsonValue value = at(root, path);
  const double* number = value.get_if<double>();
  EXPECT_TRUE(number) << path << " is " << text_at(root, path);
  return number ? *number : 0;
}

inline const double bar_size = std::sqrt(6.0);

inline Matrix3 turn(int axis, double degrees) {
  return Eigen::AngleAxisd(degrees * radians, Vector3::Unit(axis)).toRotationMatrix();
}
inline Matrix3 zyx(double x, double y, double z) {  // z is applied first
  return turn(0, x) * turn(1, y) * turn(2, z);
}

/// Where a motion takes points.
inline Matrix3X moved(const LocatedJson& motion, const Matrix3X& points, double time) {
  return make_motion(described_part<MotionDescription>(motion), bounding_box(points).centre())(points, time);
}

}  // namespace apart::test
