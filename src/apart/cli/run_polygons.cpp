#include <apart/cli/run_polygons.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/scene/meshes.hpp>
#include <apart/scene/scene_file.hpp>

namespace apart {

namespace {

namespace fs = std::filesystem;

/// The OBJ file of a body, null if it has none.
const FileMesh* obj_of(const MeshBody& body) {
  const auto* file = std::get_if<FileMesh>(&body.mesh);
  return file && lower_case(fs::path(file->file).extension().string()) == ".obj" ? file : nullptr;
}

class Matcher {
 public:
  Matcher(const Frame& first, std::vector<std::string>& notes) : first_(first), notes_(notes) {}

  void add(const MeshBody& body) {
    const int begin = next_;
    next_ += body.array ? int(body.array->copies()) : 1;
    const FileMesh* file = obj_of(body);
    if (!file || next_ > int(first_.bodies.size())) return;
    try {
      ObjPolygons source = read_obj_polygons(file->file);
      Mesh points;
      points.points = std::move(source.points);
      const Matrix3X placed = transformed(points, body.transform).points;
      const double size = bounding_box(placed).diagonal();
      for (int b = begin; b < next_; ++b) {
        source.points = placed.colwise() + shift(body, b - begin);
        if (auto found = matched_polygons(first_, b, source, (1e-9 + file->weld) * size))
          result.emplace(b, std::move(*found));
        else
          notes_.push_back(fmt::format("body '{}' is exported as triangles: its surface is not that of {}",
                                       first_.bodies[std::size_t(b)].name, file->file));
      }
    } catch (const InputError& e) {
      notes_.push_back(fmt::format("body '{}' is exported as triangles: {}", body.name, e.what()));
    }
  }
  void add(const HalfSpaceDescription&) { ++next_; }

  PolygonsOfBodies result;

 private:
  /// Of a copy of an array.
  static Vector3 shift(const MeshBody& body, int copy) {
    if (!body.array) return Vector3::Zero();
    const Eigen::Vector3i n = body.array->counts;
    return body.array->spacing.cwiseProduct(Vector3(copy % n[0], copy / n[0] % n[1], copy / (n[0] * n[1])));
  }

  const Frame& first_;
  std::vector<std::string>& notes_;
  int next_ = 0;  ///< in the frame
};

}  // namespace

PolygonsOfBodies run_polygons(const fs::path& run, const Frame& first, std::vector<std::string>& notes) {
  Matcher matcher(first, notes);
  try {
    for (const BodyDescription& body : read_scene(run / "scene.json").description().bodies)
      std::visit([&](const auto& b) { matcher.add(b); }, body);
  } catch (const InputError& e) {
    notes.push_back(fmt::format("all bodies are exported as triangles: {}", e.what()));
  }
  return std::move(matcher.result);
}

}  // namespace apart
