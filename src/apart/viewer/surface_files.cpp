#include <apart/io/atomic_file.hpp>
#include <apart/viewer/drawn_surface.hpp>
#include <apart/viewer/surface_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ostream>

namespace apart {

namespace {

/// What of a body is written. Polygons, segments and balls refer to `points`, points of the frame.
struct Part {
  int body = 0;
  std::vector<int> points;
  BodyPolygons polygons;
  std::vector<std::array<int, 2>> segments;
  std::vector<int> balls;
};

/// The bodies that are there and seen, each on its own points.
std::vector<Part> parts_of(const Frame& frame, const PolygonsOfBodies& polygons) {
  const DrawnSurface drawn = drawn_surface(frame);
  std::vector<Part> parts(frame.bodies.size());
  std::vector<int> local(std::size_t(frame.mesh.point_count()), -1);
  const auto body_of = [&](int p) { return std::size_t(frame.point_body[drawn.points[p]]); };
  for (const int p : drawn.points) {
    Part& part = parts[std::size_t(frame.point_body[p])];
    local[std::size_t(p)] = int(part.points.size());
    part.points.push_back(p);
  }
  const auto at = [&](int p) { return local[std::size_t(drawn.points[p])]; };
  for (std::size_t b = 0; b < parts.size(); ++b) {
    parts[b].body = int(b);
    const auto given = polygons.find(int(b));
    if (given == polygons.end()) continue;
    parts[b].polygons = given->second;
    for (int& corner : parts[b].polygons.corners) corner = local[std::size_t(corner)];
  }
  for (const auto& t : drawn.triangles.colwise()) {
    const std::size_t b = body_of(t[0]);
    if (polygons.contains(int(b))) continue;
    parts[b].polygons.sizes.push_back(3);
    for (const int p : t) parts[b].polygons.corners.push_back(at(p));
  }
  for (const auto& s : drawn.segments.colwise())
    parts[body_of(s[0])].segments.push_back({at(s[0]), at(s[1])});
  for (const int p : drawn.balls) parts[body_of(p)].balls.push_back(at(p));
  std::erase_if(parts, [&](const Part& part) {
    return part.points.empty() ||
           std::find(frame.absent.begin(), frame.absent.end(), part.body) != frame.absent.end();
  });
  return parts;
}

/// A name on one line.
std::string line_of(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

Matrix3X positions(const Frame& frame, const Part& part) {
  Matrix3X x(3, Eigen::Index(part.points.size()));
  for (Eigen::Index i = 0; i < x.cols(); ++i) x.col(i) = frame.mesh.points.col(part.points[std::size_t(i)]);
  return x;
}

template <class T>
void put(std::string& bytes, const T& value) {
  static_assert(std::endian::native == std::endian::little, "PLY is written in the machine's own byte order");
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void write_surface_obj(const std::filesystem::path& file, const Frame& frame,
                       const PolygonsOfBodies& polygons) {
  std::string text = fmt::format("# Apart, t = {} s\n", frame.time);
  const auto out = std::back_inserter(text);
  int points = 1, textures = 1, normals = 1;  // numbers of the next ones; OBJ counts from 1
  for (const Part& part : parts_of(frame, polygons)) {
    const BodyPolygons& shape = part.polygons;
    const Matrix3X x = positions(frame, part);
    fmt::format_to(out, "o {}\n", line_of(frame.bodies[std::size_t(part.body)].name));
    for (const auto& p : x.colwise()) fmt::format_to(out, "v {} {} {}\n", p[0], p[1], p[2]);
    for (const auto& t : shape.texture.colwise()) fmt::format_to(out, "vt {} {}\n", t[0], t[1]);
    const bool has_normals = !shape.normals.empty(), has_texture = shape.texture.cols() > 0;
    if (has_normals) {
      const Matrix3X directions = corner_normals(shape, x);
      for (const auto& n : directions.colwise())
        fmt::format_to(out, "vn {:.9g} {:.9g} {:.9g}\n", n[0], n[1], n[2]);
    }
    std::size_t corner = 0;
    for (const int size : shape.sizes) {
      text += 'f';
      for (int k = 0; k < size; ++k, ++corner) {
        fmt::format_to(out, " {}", points + shape.corners[corner]);
        if (has_texture || has_normals) text += '/';
        if (has_texture) fmt::format_to(out, "{}", textures + int(corner));
        if (has_normals) fmt::format_to(out, "/{}", normals + shape.normals[corner]);
      }
      text += '\n';
    }
    for (const auto& [a, b] : part.segments) fmt::format_to(out, "l {} {}\n", points + a, points + b);
    for (const int p : part.balls) fmt::format_to(out, "p {}\n", points + p);
    points += int(part.points.size());
    textures += int(shape.texture.cols());
    normals += shape.normal_count;
  }
  write_atomically(file, text);
}

void write_surface_ply(const std::filesystem::path& file, const Frame& frame,
                       const PolygonsOfBodies& polygons) {
  const std::vector<Part> parts = parts_of(frame, polygons);
  std::string header = "ply\nformat binary_little_endian 1.0\n", vertices, faces, edges;
  std::size_t vertex_count = 0, face_count = 0, edge_count = 0;
  bool textured = false;
  for (const Part& part : parts) textured |= part.polygons.texture.cols() > 0;
  for (const Part& part : parts) {
    const BodyPolygons& shape = part.polygons;
    header +=
        fmt::format("comment body {} {}\n", part.body, line_of(frame.bodies[std::size_t(part.body)].name));
    for (const int p : part.points)
      for (int k = 0; k < 3; ++k) put(vertices, frame.mesh.points(k, p));
    Eigen::Index corner = 0;
    for (const int size : shape.sizes) {
      put(faces, size);
      for (int k = 0; k < size; ++k) put(faces, int(vertex_count) + shape.corners[std::size_t(corner + k)]);
      put(faces, part.body);
      if (textured) {
        const bool own = shape.texture.cols() > 0;
        put(faces, own ? 2 * size : 0);
        for (int k = 0; own && k < size; ++k)
          for (int axis = 0; axis < 2; ++axis) put(faces, shape.texture(axis, corner + k));
      }
      corner += size;
    }
    for (const auto& [a, b] : part.segments)
      for (const int p : {a, b}) put(edges, int(vertex_count) + p);
    vertex_count += part.points.size();
    face_count += shape.sizes.size();
    edge_count += part.segments.size();
  }
  header += fmt::format(
      "element vertex {}\nproperty double x\nproperty double y\nproperty double z\nelement face {}\n"
      "property list int int vertex_indices\nproperty int body\n",
      vertex_count, face_count);
  if (textured) header += "property list int double texcoord\n";
  if (edge_count > 0)
    header += fmt::format("element edge {}\nproperty int vertex1\nproperty int vertex2\n", edge_count);
  write_atomically(file, [&](std::ostream& out) {
    out << header << "end_header\n" << vertices << faces << edges;
  });
}

}  // namespace apart
