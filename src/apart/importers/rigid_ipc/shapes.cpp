#include <apart/geometry/aabb.hpp>
#include <apart/geometry/weld.hpp>
#include <apart/importers/rigid_ipc/shapes.hpp>
#include <apart/importers/tools.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_format.hpp>

#include <algorithm>
#include <array>

namespace apart::rigid_ipc {

namespace fs = std::filesystem;

namespace {

/// Points and polygons of an OFF file; polygons become fans of triangles. Numbers after the corners of a
/// polygon are colours.
Mesh read_off(const fs::path& file) {
  FileReader reader(file);
  const auto skip_comments = [&] {
    while (reader.skip_blank() && reader.content()[reader.position()] == '#') reader.line();
  };
  skip_comments();
  if (const auto magic = reader.token("OFF"); magic != "OFF")
    reader.fail("got {}, must begin with OFF", quoted(magic));
  skip_comments();
  const Index points = reader.count("number of points", 6), faces = reader.count("number of faces", 2);
  reader.line();  // the number of edges, which says nothing
  Mesh mesh;
  mesh.points.resize(3, points);
  for (Index p = 0; p < points; ++p) {
    skip_comments();
    for (int k = 0; k < 3; ++k) mesh.points(k, p) = reader.finite_real("coordinate");
    reader.line();
  }
  std::vector<Eigen::Vector3i> triangles;
  for (Index f = 0; f < faces; ++f) {
    skip_comments();
    const Index corners = reader.count("number of corners", 2);
    if (corners < 3) reader.fail("got a face with {} corners, must have at least 3", corners);
    Eigen::Vector3i triangle;
    for (Index k = 0; k < corners; ++k) {
      const std::int64_t corner = reader.integer("corner");
      if (corner < 0 || corner >= points)
        reader.fail("names point {}, but there are {}, counted from 0", corner, points);
      triangle[k == 0 ? 0 : 2] = int(corner);
      if (k >= 2) triangles.push_back(triangle);
      if (k >= 1) triangle[1] = int(corner);
    }
    reader.line();
  }
  mesh.faces.resize(3, Index(triangles.size()));
  for (Index f = 0; f < mesh.faces.cols(); ++f) mesh.faces.col(f) = triangles[std::size_t(f)];
  return mesh;
}

Mesh inline_mesh(const FixtureBody& body) {
  Mesh mesh;
  mesh.points.resize(3, Index(body.vertices.size()));
  for (Index p = 0; p < mesh.points.cols(); ++p) mesh.points.col(p) = body.vertices[std::size_t(p)];
  mesh.faces.resize(3, Index(body.faces.size()));
  for (Index f = 0; f < mesh.faces.cols(); ++f) mesh.faces.col(f) = body.faces[std::size_t(f)];
  const Edges sides = edges_of(mesh.faces);
  const auto sorted = [](int a, int b) { return std::pair(std::min(a, b), std::max(a, b)); };
  std::vector<std::pair<int, int>> of_faces;
  for (Index e = 0; e < sides.cols(); ++e) of_faces.push_back(sorted(sides(0, e), sides(1, e)));
  std::vector<Eigen::Vector2i> free;
  for (const Eigen::Vector2i& e : body.edges)
    if (!std::ranges::binary_search(of_faces, sorted(e[0], e[1]))) free.push_back(e);
  mesh.edges.resize(2, Index(free.size()));
  for (Index e = 0; e < mesh.edges.cols(); ++e) mesh.edges.col(e) = free[std::size_t(e)];
  if (mesh.faces.cols() + mesh.edges.cols() == 0)
    mesh.vertices = Eigen::VectorXi::LinSpaced(mesh.point_count(), 0, int(mesh.point_count()) - 1);
  return mesh;
}

}  // namespace

MeshDescription Piece::description(const fs::path& directory) const {
  if (!file.empty()) {
    FileMesh result;
    result.file = directory.empty() ? file : written_path(file, directory);
    return result;
  }
  InlineMesh result;
  for (Index p = 0; p < mesh.points.cols(); ++p) result.points.push_back(mesh.points.col(p));
  for (Index f = 0; f < mesh.faces.cols(); ++f) result.triangles.push_back(mesh.faces.col(f));
  for (Index e = 0; e < mesh.edges.cols(); ++e) result.segments.push_back(mesh.edges.col(e));
  return result;
}

Piece Shapes::read(const FixtureBody& body) const {
  const LocatedJson at = body.at["mesh"];
  const auto file = find_upward(fixture_, std::array{fs::path(body.mesh), fs::path("meshes") / body.mesh});
  if (!file)
    at.fail(
        "mesh {} not found; it is looked for in the fixture's folder and those above it, and in folders "
        "\"meshes\" there",
        body.mesh);
  const bool off = lower_case(file->extension().string()) == ".off";
  Piece piece{at.locate([&] { return off ? read_off(*file) : read_mesh(*file); }), off ? "" : file->string()};
  if (piece.mesh.point_count() == 0) at.fail("mesh {} is empty", file->string());
  if (piece.mesh.is_volume()) at.fail("mesh {} has tetrahedra, must be a surface", file->string());
  weld_points(piece.mesh, 1e-7 * bounding_box(piece.mesh.points).diagonal());  // as the scene does
  return piece;
}

const Piece& Shapes::whole(const FixtureBody& body) {
  if (body.mesh.empty()) return inline_ = {inline_mesh(body), {}};
  const auto found = read_.find(body.mesh);
  return found != read_.end() ? found->second : read_.emplace(body.mesh, read(body)).first->second;
}

std::vector<Piece> split(const Piece& piece) {
  const Mesh& mesh = piece.mesh;
  const std::vector<Index> root = connected_pieces(mesh.point_count(), {mesh.faces, mesh.edges});
  std::vector<int> part(root.size()), number(root.size());
  std::vector<Piece> result;
  std::vector<std::vector<int>> points, faces, edges;
  std::vector<bool> used(root.size(), false);
  for (const int p : mesh.faces.reshaped()) used[std::size_t(p)] = true;
  for (const int p : mesh.edges.reshaped()) used[std::size_t(p)] = true;
  for (std::size_t p = 0; p < root.size(); ++p) {
    if (!used[p]) continue;
    if (root[p] == Index(p)) {
      part[p] = int(points.size());
      points.emplace_back(), faces.emplace_back(), edges.emplace_back();
    }
    part[p] = part[std::size_t(root[p])];
    number[p] = int(points[std::size_t(part[p])].size());
    points[std::size_t(part[p])].push_back(int(p));
  }
  if (points.size() <= 1) return {piece};
  for (Index f = 0; f < mesh.faces.cols(); ++f)
    faces[std::size_t(part[std::size_t(mesh.faces(0, f))])].push_back(int(f));
  for (Index e = 0; e < mesh.edges.cols(); ++e)
    edges[std::size_t(part[std::size_t(mesh.edges(0, e))])].push_back(int(e));
  for (std::size_t i = 0; i < points.size(); ++i) {
    Mesh one;
    one.points = mesh.points(Eigen::all, points[i]);
    one.faces = mesh.faces(Eigen::all, faces[i]).unaryExpr([&](int p) { return number[std::size_t(p)]; });
    one.edges = mesh.edges(Eigen::all, edges[i]).unaryExpr([&](int p) { return number[std::size_t(p)]; });
    result.push_back({std::move(one), {}});
  }
  return result;
}

Piece mirrored(const Piece& piece, const Vector3& signs) {
  Piece result{piece.mesh, {}};
  for (int k = 0; k < 3; ++k)
    if (signs[k] < 0) result.mesh.points.row(k) *= -1;
  return result;
}

}  // namespace apart::rigid_ipc
