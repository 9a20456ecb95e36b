#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_builder.hpp>
#include <apart/io/obj_polygons.hpp>
#include <apart/io/text_writer.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>

namespace apart {

namespace {

/// Keywords that say nothing about the shape: names, materials, display, and the seams and stitches of
/// garment files.
constexpr std::string_view ignored_keywords[] = {"vp",       "g",        "o",      "s",      "mg",
                                                 "usemtl",   "mtllib",   "usemap", "maplib", "bevel",
                                                 "c_interp", "d_interp", "lod",    "stitch", "seam"};

class ObjReader {
 public:
  explicit ObjReader(const std::filesystem::path& file) : reader_(file) {}

  Mesh read() {
    while (!reader_.at_end()) {
      read_line();
      reader_.line();  // the rest: a comment, a weight, a colour
    }
    if (builder_.point_count() == 0) reader_.fail("no vertex ('v x y z') in the file; it holds no mesh");
    if (largest_index_ >= std::int64_t(builder_.point_count()))
      reader_.fail_at(largest_index_mark_, fmt::format("vertex {} does not exist, the file has {}",
                                                       largest_index_ + 1, builder_.point_count()));
    if (builder_.has_no_cells()) builder_.add_all_vertices();
    Mesh mesh = builder_.build();
    set_texture(mesh);
    return mesh;
  }

  ObjPolygons read_polygons() {
    polygons_.points = read().points;
    const auto known = [](std::vector<int>& indices, std::size_t count) {
      for (int& index : indices)
        if (index < 0 || std::size_t(index) >= count) index = -1;
    };
    known(polygons_.texture, texture_points_.size());
    known(polygons_.normals, std::size_t(normal_count_));
    polygons_.texture_points.resize(2, Eigen::Index(texture_points_.size()));
    for (std::size_t i = 0; i < texture_points_.size(); ++i)
      polygons_.texture_points.col(Eigen::Index(i)) << texture_points_[i][0], texture_points_[i][1];
    return std::move(polygons_);
  }

 private:
  void read_line() {
    const std::string_view keyword = reader_.token_on_line();
    if (keyword.empty() || keyword.front() == '#') return;
    if (keyword == "v") {
      std::array<double, 3> x;
      for (double& c : x) c = coordinate(&c == &x[2]);
      builder_.add_point(x[0], x[1], x[2]);
      if (builder_.point_count() > std::size_t(std::numeric_limits<Index>::max()))
        reader_.fail("too many vertices");
    } else if (keyword == "f" || keyword == "fo") {
      const std::vector<int>& corners = indices(3, "a face");
      builder_.add_polygon(corners);
      for (std::size_t i = 2; i < corners.size(); ++i)  // the same fan
        face_texture_.insert(face_texture_.end(), {texture_[0], texture_[i - 1], texture_[i]});
      polygons_.sizes.push_back(int(corners.size()));
      polygons_.corners.insert(polygons_.corners.end(), corners.begin(), corners.end());
      for (std::size_t i = 0; i < corners.size(); ++i) {
        polygons_.texture.push_back(int(std::clamp<std::int64_t>(texture_[i], -1, largest_int)));
        polygons_.normals.push_back(int(std::clamp<std::int64_t>(normals_[i], -1, largest_int)));
      }
    } else if (keyword == "vn") {
      ++normal_count_;  // directions follow from the shape; that corners share one matters
    } else if (keyword == "vt") {
      const double u = texture_coordinate(0), v = texture_coordinate(0);
      texture_points_.push_back({u, v});
    } else if (keyword == "l") {
      builder_.add_polyline(indices(2, "a line"));
    } else if (keyword == "p") {
      const auto& points = indices(1, "a point");
      builder_.vertices.insert(builder_.vertices.end(), points.begin(), points.end());
    } else if (std::find(std::begin(ignored_keywords), std::end(ignored_keywords), keyword) ==
               std::end(ignored_keywords)) {
      reader_.fail(
          "unknown keyword {}; known are v, vt, vn, f, l, p, and others that are skipped (g, o, s, usemtl "
          "...); "
          "export the mesh as polygons",
          apart::quoted(keyword));
    }
  }

  /// `optional`: zero if it is not given, as in meshes of the plane.
  double coordinate(bool optional) {
    const std::string_view text = reader_.token_on_line();
    if (optional && (text.empty() || text.front() == '#')) return 0;
    if (text.empty()) reader_.fail("a vertex needs three coordinates, or two in the plane z = 0");
    const auto value = parse_real(text);
    if (!value) reader_.fail("coordinate of a vertex: got {}, expected a number", apart::quoted(text));
    return reader_.finite(*value, "coordinate of a vertex");
  }

  double texture_coordinate(double fallback) {
    const std::string_view text = reader_.token_on_line();
    if (text.empty() || text.front() == '#') return fallback;
    const auto value = parse_real(text);
    if (!value) reader_.fail("texture coordinate: got {}, expected a number", apart::quoted(text));
    return reader_.finite(*value, "texture coordinate");
  }

  /// Texture coordinates of all faces, if every corner has some.
  void set_texture(Mesh& mesh) const {
    const auto count = std::int64_t(texture_points_.size());
    if (face_texture_.empty() || std::any_of(face_texture_.begin(), face_texture_.end(),
                                             [&](std::int64_t i) { return i < 0 || i >= count; }))
      return;
    mesh.face_texture.resize(6, mesh.faces.cols());
    for (Eigen::Index f = 0; f < mesh.faces.cols(); ++f)
      for (int k = 0; k < 3; ++k)
        for (int axis = 0; axis < 2; ++axis)
          mesh.face_texture(2 * k + axis, f) =
              texture_points_[std::size_t(face_texture_[std::size_t(3 * f + k)])][std::size_t(axis)];
  }

  /// The vertex indices of the words left on this line: "7", "7/1", "7//3", "7/1/3", each also negative (from
  /// the end).
  const std::vector<int>& indices(std::size_t at_least, std::string_view what) {
    indices_.clear();
    texture_.clear();
    normals_.clear();
    while (true) {
      const std::string_view word = reader_.token_on_line();
      if (word.empty() || word.front() == '#') break;
      const auto given = parse_integer(word.substr(0, word.find('/')));
      const auto points = std::int64_t(builder_.point_count());
      const std::int64_t index = !given ? -1 : *given > 0 ? *given - 1 : *given < 0 ? points + *given : -1;
      if (!given || index < 0)
        reader_.fail(
            "vertex of {}: got {}, must be a number from 1, or from -1 down to -{} counting from the end",
            what, apart::quoted(word), points);
      if (index > largest_index_) {  // vertices may follow later: checked at the end
        largest_index_ = index;
        largest_index_mark_ = reader_.mark();
      }
      indices_.push_back(int(std::min<std::int64_t>(index, largest_int)));
      const std::size_t slash = word.find('/');
      const std::size_t second = slash == word.npos ? slash : word.find('/', slash + 1);
      texture_.push_back(index_behind(word, slash, std::int64_t(texture_points_.size())));
      normals_.push_back(index_behind(word, second, normal_count_));
    }
    if (indices_.size() < at_least)
      reader_.fail("{} needs at least {} vertices, got {}", what, at_least, indices_.size());
    return indices_;
  }

  /// The index behind a slash, of a list that has `count` entries so far; −1 if there is none.
  static std::int64_t index_behind(std::string_view word, std::size_t slash, std::int64_t count) {
    if (slash == word.npos) return -1;
    word.remove_prefix(slash + 1);
    const auto given = parse_integer(word.substr(0, word.find('/')));
    if (!given || *given == 0) return -1;
    return *given > 0 ? *given - 1 : count + *given;
  }

  static constexpr std::int64_t largest_int = std::numeric_limits<int>::max();
  FileReader reader_;
  MeshBuilder builder_;
  std::vector<std::array<double, 2>> texture_points_;
  std::vector<std::int64_t> texture_, normals_;  ///< of the words last read; −1: none
  std::vector<std::int64_t> face_texture_;       ///< three for each triangle
  std::vector<int> indices_;
  ObjPolygons polygons_;
  std::int64_t normal_count_ = 0;
  std::int64_t largest_index_ = -1;
  std::size_t largest_index_mark_ = 0;
};

}  // namespace

Mesh read_obj(const std::filesystem::path& file) {
  return ObjReader(file).read();
}

ObjPolygons read_obj_polygons(const std::filesystem::path& file) {
  return ObjReader(file).read_polygons();
}

void write_obj(const std::filesystem::path& file, const Mesh& mesh) {
  require_no_cells(file, "OBJ", mesh.cell_count(), "tetrahedra", "write .vtu, .vtk or .msh");
  write_atomically(file, [&](std::ostream& out) {
    TextWriter text(out);
    text.columns("v", mesh.points);
    text.columns("f", mesh.faces, 1);
    text.columns("l", mesh.edges, 1);
    text.columns("p", mesh.vertices.transpose(), 1);
  });
}

}  // namespace apart
