#include <apart/bodies/body_mesh.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/exact_intersection.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <map>

namespace apart {

namespace {

template <class... Args>
[[noreturn]] void fail(const MeshPlace& place, fmt::format_string<Args...> format, Args&&... args) {
  throw InputError("{}: {}", place.mesh, fmt::format(format, std::forward<Args>(args)...));
}

/// Why a mesh without tetrahedra is no volume.
[[noreturn]] void refuse_surface(const Mesh& mesh, const MeshPlace& place) {
  if (!place.fillable || mesh.faces.cols() == 0)
    fail(place, "has no tetrahedra; a volume needs some, or make the body an obstacle{}",
         mesh.faces.cols() > 0 ? " or a shell" : "");
  if (const auto open = find_open_edge(mesh))
    fail(place,
         "has no tetrahedra; \"tetrahedralize\": true fills a closed surface, but this one is open, or "
         "changes orientation, at the edge of points {} and {}, ({:g}, {:g}, {:g}) m: close it, or make the "
         "body a shell or an obstacle",
         open->a, open->b, mesh.points(0, open->a), mesh.points(1, open->a), mesh.points(2, open->a));
  fail(place, "has no tetrahedra; fill its surface with \"tetrahedralize\": true");
}

void replace_by_boundary(Mesh& mesh) {
  if (mesh.curved.empty()) {
    mesh.faces = boundary_faces(mesh.tetrahedra);
  } else {
    std::vector<Faces> parts = {boundary_faces(mesh.tetrahedra)};
    for (const CurvedCells& cells : mesh.curved) parts.push_back(boundary_faces(cells));
    Eigen::Index count = 0;
    for (const Faces& part : parts) count += part.cols();
    mesh.faces.resize(3, count);
    count = 0;
    for (const Faces& part : parts) {
      mesh.faces.middleCols(count, part.cols()) = part;
      count += part.cols();
    }
    mesh.curved.clear();
  }
  mesh.tetrahedra.resize(4, 0);
  mesh.cell_data.clear();
  for (auto& [name, group] : mesh.groups) group.tetrahedra.clear();
}

/// Twice the signed area of a triangle seen from +z: its exact sign.
int turn_of(const Mesh& mesh, Index t) {
  const Vector3 a = mesh.points.col(mesh.faces(0, t));
  Vector3 above = a;
  above[2] += std::max(1.0, std::abs(a[2]));
  return exact::orientation(a, mesh.points.col(mesh.faces(1, t)), mesh.points.col(mesh.faces(2, t)), above);
}

/// The z of a plane that points were placed in by rotations and sums: ten digits of it, so that bodies placed
/// in one plane are in the very same.
double rounded_level(double z, double size) {
  if (std::abs(z) <= 1e-9 * size) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(z))) - 9);
  return std::round(z / unit) * unit;
}

Mesh closed_surface_mesh(Mesh mesh, const MeshPlace& place) {
  mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  mesh = remove_unreferenced_points(mesh);
  validate_surface(mesh, place.cells);
  if (!is_closed_surface(mesh))
    fail(place,
         "its triangles do not bound a volume: an edge does not belong to exactly two consistently oriented "
         "triangles; close and orient the surface");
  if (enclosed_volume(mesh) < 0) mesh.faces.row(0).swap(mesh.faces.row(1));
  return mesh;
}

}  // namespace

Mesh volume_mesh(Mesh mesh, const MeshPlace& place) {
  if (!mesh.is_volume()) refuse_surface(mesh, place);
  mesh.faces.resize(3, 0);  // files list boundary triangles too; they follow from the tetrahedra
  mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  mesh = remove_unreferenced_points(mesh);
  orient_tetrahedra(mesh);
  validate_volume(mesh, place.cells);
  return mesh;
}

Mesh affine_mesh(Mesh mesh, const MeshPlace& place) {
  if (!mesh.curved.empty()) replace_by_boundary(mesh);
  return mesh.is_volume() ? volume_mesh(std::move(mesh), place) : closed_surface_mesh(std::move(mesh), place);
}

Mesh rigid_mesh(Mesh mesh, const MeshPlace& place) {
  if (!mesh.curved.empty()) replace_by_boundary(mesh);
  if (mesh.is_volume()) return volume_mesh(std::move(mesh), place);
  mesh = obstacle_mesh(std::move(mesh), place);
  orient_closed_pieces(mesh);
  return mesh;
}

Mesh planar_mesh(Mesh mesh, const MeshPlace& place) {
  if (mesh.is_volume())
    fail(place, "has tetrahedra; a planar body needs triangles in a plane z = const: use type volume");
  if (mesh.faces.cols() == 0)
    fail(place,
         "has no triangles; a planar body needs some: a generator such as rectangle, or a file of triangles");
  mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  mesh = remove_unreferenced_points(mesh);
  validate_surface(mesh, place.cells);
  const auto z = mesh.points.row(2);
  if (z.maxCoeff() != z.minCoeff()) {
    const double size = bounding_box(mesh.points).diagonal();
    if (!(z.maxCoeff() - z.minCoeff() <= 1e-9 * size))
      fail(place,
           "its points lie between z = {:g} and {:g} m, must lie in one plane z = const; turn the mesh with "
           "transform.rotate, or use type shell",
           z.minCoeff(), z.maxCoeff());
    mesh.points.row(2).setConstant(rounded_level(0.5 * (z.minCoeff() + z.maxCoeff()), size));
  }
  for (Index t = 0; t < mesh.faces.cols(); ++t)
    if (turn_of(mesh, t) < 0) std::swap(mesh.faces(1, t), mesh.faces(2, t));
  check_planar(mesh, place.cells);
  return mesh;
}

void check_planar(const Mesh& mesh, const std::string& where) {
  validate_surface(mesh, where);
  if (mesh.points.row(2).maxCoeff() != mesh.points.row(2).minCoeff())
    throw InputError("{}: its points must lie in one plane z = const", where);
  std::map<std::pair<int, int>, Index> known;  // directed edges
  for (Index t = 0; t < mesh.faces.cols(); ++t) {
    if (turn_of(mesh, t) <= 0)
      throw InputError("{}: triangle {} is not counter-clockwise seen from +z, or has no area", where, t);
    for (int k = 0; k < 3; ++k) {
      const int a = mesh.faces(k, t), b = mesh.faces((k + 1) % 3, t);
      if (const auto [at, fresh] = known.try_emplace({a, b}, t); !fresh)
        throw InputError(
            "{}: triangles {} and {} are on the same side of the edge of points {} and {}, so they overlap; "
            "remove one",
            where, at->second, t, a, b);
    }
  }
}

Mesh shell_mesh(Mesh mesh, const MeshPlace& place) {
  if (mesh.is_volume()) {
    replace_by_boundary(mesh);
    mesh.face_texture.resize(6, 0);
  }
  if (mesh.faces.cols() == 0) fail(place, "has no triangles; a shell needs some");
  mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  mesh = remove_unreferenced_points(mesh);
  validate_surface(mesh, place.cells);
  return mesh;
}

Mesh rod_mesh(Mesh mesh, const MeshPlace& place) {
  if (mesh.edges.cols() == 0)
    fail(place,
         "has no segments; a rod needs some: a generator such as bundle, a .seg file, or lines of an OBJ "
         "file");
  mesh.tetrahedra.resize(4, 0);
  mesh.curved.clear();
  mesh.faces.resize(3, 0);
  mesh.vertices.resize(0);
  mesh.cell_data.clear();
  mesh = remove_unreferenced_points(mesh);
  validate_segments(mesh, place.cells);
  return mesh;
}

Mesh particles_mesh(Mesh mesh, const MeshPlace& place) {
  mesh.tetrahedra.resize(4, 0);
  mesh.curved.clear();
  mesh.faces.resize(3, 0);
  mesh.edges.resize(2, 0);
  mesh.cell_data.clear();
  mesh.vertices = Eigen::VectorXi::LinSpaced(mesh.point_count(), 0, mesh.point_count() - 1);
  validate_points(mesh, place.cells);
  return mesh;
}

Mesh obstacle_mesh(Mesh mesh, const MeshPlace& place) {
  if (mesh.is_volume()) replace_by_boundary(mesh);
  mesh = remove_unreferenced_points(mesh);
  if (mesh.faces.cols() > 0) validate_surface(mesh, place.cells);
  if (mesh.edges.cols() > 0) validate_segments(mesh, place.cells);
  if (mesh.vertices.size() > 0 || mesh.faces.cols() + mesh.edges.cols() == 0)
    validate_points(mesh, place.cells);
  return mesh;
}

void validate_again(const Mesh& mesh, const MeshPlace& place) {
  if (mesh.is_volume())
    validate_volume(mesh, place.cells);
  else if (mesh.faces.cols() > 0)
    validate_surface(mesh, place.cells);
  else if (mesh.edges.cols() > 0)
    validate_segments(mesh, place.cells);
  else
    validate_points(mesh, place.cells);
}

}  // namespace apart
