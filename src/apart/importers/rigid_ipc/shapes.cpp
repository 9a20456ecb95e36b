#include <apart/geometry/aabb.hpp>
#include <apart/geometry/weld.hpp>
#include <apart/importers/rigid_ipc/shapes.hpp>
#include <apart/importers/tools.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/math/principal_axes.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

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

/// Points and edges of an OBJ file of the plane, whose points have two coordinates.
Mesh read_plane_obj(const fs::path& file) {
  FileReader reader(file);
  std::vector<Vector3> points;
  std::vector<Eigen::Vector2i> edges;
  for (; reader.skip_blank(); reader.line()) {
    const std::string_view word = reader.token("keyword");
    if (word == "v") {
      const double x = reader.finite_real("coordinate"), y = reader.finite_real("coordinate");
      points.emplace_back(x, y, 0);
    } else if (word == "l") {
      int last = -1;
      for (std::string_view next; !(next = reader.token_on_line()).empty();) {
        int corner = 0;
        const auto [end, error] = std::from_chars(next.data(), next.data() + next.size(), corner);
        if (error != std::errc() || end != next.data() + next.size() || corner < 1 ||
            corner > int(points.size()))
          reader.fail("got {}, must be the number of a point from 1 to {}", quoted(next), points.size());
        if (last >= 0) edges.emplace_back(last, corner - 1);
        last = corner - 1;
      }
    } else if (word == "f") {
      reader.fail("has faces; a mesh of the plane (2D) has lines, \"l\", alone");
    }
  }
  Mesh mesh;
  mesh.points.resize(3, Index(points.size()));
  for (Index p = 0; p < mesh.points.cols(); ++p) mesh.points.col(p) = points[std::size_t(p)];
  mesh.edges.resize(2, Index(edges.size()));
  for (Index e = 0; e < mesh.edges.cols(); ++e) mesh.edges.col(e) = edges[std::size_t(e)];
  return mesh;
}

/// Edges in the plane z = 0 as strips that reach from −½ m to ½ m: what edges weigh per length, strips weigh
/// per area.
Mesh extruded(const Mesh& flat) {
  const Index n = flat.point_count(), m = flat.edges.cols();
  Mesh mesh;
  mesh.points.resize(3, 2 * n);
  mesh.points << flat.points.colwise() - Vector3(0, 0, 0.5), flat.points.colwise() + Vector3(0, 0, 0.5);
  mesh.faces.resize(3, 2 * m);
  for (Index e = 0; e < m; ++e) {
    const int a = flat.edges(0, e), b = flat.edges(1, e), back = int(n);
    mesh.faces.col(2 * e) = Eigen::Vector3i(a, b, b + back);
    mesh.faces.col(2 * e + 1) = Eigen::Vector3i(a, b + back, a + back);
  }
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

double area_of(const Mesh& mesh, Index face) {
  const Vector3 a = mesh.points.col(mesh.faces(0, face)), b = mesh.points.col(mesh.faces(1, face)),
                c = mesh.points.col(mesh.faces(2, face));
  return 0.5 * (b - a).cross(c - a).norm();
}

/// The longest edge squared.
double size_of(const Mesh& mesh, Index face) {
  double result = 0;
  for (int k = 0; k < 3; ++k)
    result = std::max(result,
                      (mesh.points.col(mesh.faces(k, face)) - mesh.points.col(mesh.faces((k + 1) % 3, face)))
                          .squaredNorm());
  return result;
}

Index keep_faces(Mesh& mesh, const std::vector<bool>& kept) {
  Index count = 0;
  for (Index f = 0; f < mesh.faces.cols(); ++f)
    if (kept[std::size_t(f)]) mesh.faces.col(count++) = mesh.faces.col(f).eval();
  const Index left_out = mesh.faces.cols() - count;
  mesh.faces.conservativeResize(3, count);
  if (left_out > 0) mesh.face_texture.resize(6, 0);
  return left_out;
}

Index leave_out_flat(Mesh& mesh) {
  std::vector<bool> kept;
  for (Index f = 0; f < mesh.faces.cols(); ++f) kept.push_back(area_of(mesh, f) > 1e-12 * size_of(mesh, f));
  return keep_faces(mesh, kept);
}

/// Of triangles with the same corners those that face opposite ways cancel, others stay once.
Index leave_out_doubles(Mesh& mesh) {
  std::map<std::array<int, 3>, std::vector<Index>> same;
  const auto even = [&](Index f) {
    const auto face = mesh.faces.col(f);
    return (face[0] < face[1]) + (face[1] < face[2]) + (face[2] < face[0]) == 2;
  };
  for (Index f = 0; f < mesh.faces.cols(); ++f) {
    std::array<int, 3> corners = {mesh.faces(0, f), mesh.faces(1, f), mesh.faces(2, f)};
    std::ranges::sort(corners);
    same[corners].push_back(f);
  }
  std::vector<bool> kept(std::size_t(mesh.faces.cols()), true);
  for (const auto& [corners, faces] : same) {
    if (faces.size() < 2) continue;
    const auto evens = std::ranges::count_if(faces, even), odds = Index(faces.size()) - evens;
    for (const Index f : faces) kept[std::size_t(f)] = false;
    if (evens == odds) continue;
    kept[std::size_t(*std::ranges::find_if(faces, [&](Index f) { return even(f) == (evens > odds); }))] =
        true;
  }
  return keep_faces(mesh, kept);
}

/// Welds points as a scene does, and leaves out triangles that it would reject. Returns how many.
Index repair(Mesh& mesh) {
  const double nearness = 1e-7 * bounding_box(mesh.points).diagonal();
  weld_points(mesh, nearness);
  Mesh repaired = mesh;
  Index left_out = leave_out_flat(repaired);
  if (left_out > 0) weld_points(repaired, nearness);  // corners of one triangle were kept apart
  left_out += leave_out_doubles(repaired);
  if (left_out > 0 && repaired.faces.cols() > 0)
    mesh = std::move(repaired);
  else
    left_out = 0;
  return left_out;
}

bool is_open(const Faces& faces) {
  std::map<std::pair<int, int>, int> balance;
  for (Index f = 0; f < faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) {
      const int a = faces(k, f), b = faces((k + 1) % 3, f);
      balance[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
  return std::ranges::any_of(balance, [](const auto& edge) { return edge.second != 0; });
}

}  // namespace

std::optional<MassDistribution> mass_of_open_solid(const Mesh& placed, const Vector3& origin,
                                                   double density) {
  if (placed.faces.cols() < 4 || !is_open(placed.faces)) return std::nullopt;
  double volume = 0;
  Vector3 first = Vector3::Zero();
  Matrix3 second = Matrix3::Zero();
  for (Index f = 0; f < placed.faces.cols(); ++f) {
    Matrix3 corners;
    for (int k = 0; k < 3; ++k) corners.col(k) = placed.points.col(placed.faces(k, f)) - origin;
    const double part = corners.determinant() / 6;
    const Vector3 sum = corners.rowwise().sum();
    volume += part;
    first += part / 4 * sum;
    second += part / 20 * (corners * corners.transpose() + sum * sum.transpose());
  }
  if (!(volume > 1e-6 * std::pow(bounding_box(placed.points).diagonal(), 3))) return std::nullopt;
  const Vector3 centre = first / volume;
  MassDistribution mass{density * volume, origin + centre,
                        density * (second - volume * centre * centre.transpose())};
  if (!(principal_axes(mass.second_moment).values[0] > 0)) return std::nullopt;
  return mass;
}

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
  const std::string kind = lower_case(file->extension().string());
  if (plane_) {
    if (kind != ".obj") at.fail("mesh {} must be an .obj of the plane (2D)", file->string());
    const Mesh flat = at.locate([&] { return read_plane_obj(*file); });
    if (flat.edges.cols() == 0) at.fail("mesh {} has no lines", file->string());
    return {extruded(flat), {}};
  }
  const bool off = kind == ".off";
  Piece piece{at.locate([&] { return off ? read_off(*file) : read_mesh(*file); }), off ? "" : file->string()};
  if (piece.mesh.point_count() == 0) at.fail("mesh {} is empty", file->string());
  if (piece.mesh.is_volume()) at.fail("mesh {} has tetrahedra, must be a surface", file->string());
  piece.left_out = repair(piece.mesh);
  if (piece.left_out > 0) piece.file.clear();
  return piece;
}

const Piece& Shapes::whole(const FixtureBody& body) {
  if (body.mesh.empty()) {
    inline_ = {inline_mesh(body), {}};
    if (plane_) inline_.mesh = extruded(inline_.mesh);
    return inline_;
  }
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
