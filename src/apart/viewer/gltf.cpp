#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/viewer/run_export.hpp>

#include <nlohmann/json.hpp>

#include <Eigen/Geometry>
#include <bit>
#include <limits>
#include <map>
#include <ostream>
#include <tuple>

namespace apart {

namespace {

using OrderedJson = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "glTF is little-endian");

// Numbers that the format fixes.
constexpr int type_float = 5126, type_unsigned = 5125, vertices_target = 34962, indices_target = 34963;
constexpr int mode_points = 0, mode_lines = 1, mode_triangles = 4;

class Document {
 public:
  explicit Document(const std::filesystem::path& file) : file_(file) {
    json["asset"] = {{"version", "2.0"}, {"generator", "Apart"}};
    json["scene"] = 0;
  }

  /// Puts floats into the buffer; returns the accessor.
  template <class Matrix>
  int floats(const Matrix& values, const char* type, bool vertices, bool bounds) {
    const int view = bytes(values.data(), std::size_t(values.size()) * 4, vertices ? vertices_target : 0);
    const Eigen::Index count = std::string_view(type) == "SCALAR" ? values.size() : values.cols();
    OrderedJson accessor = {
        {"bufferView", view}, {"componentType", type_float}, {"count", count}, {"type", type}};
    if (bounds) {
      OrderedJson low = OrderedJson::array(), high = OrderedJson::array();
      if (std::string_view(type) == "SCALAR") {
        low.push_back(values.minCoeff());
        high.push_back(values.maxCoeff());
      } else {
        for (Eigen::Index r = 0; r < values.rows(); ++r) {
          low.push_back(values.row(r).minCoeff());
          high.push_back(values.row(r).maxCoeff());
        }
      }
      accessor["min"] = std::move(low);
      accessor["max"] = std::move(high);
    }
    return add("accessors", std::move(accessor));
  }

  int indices(const int* values, Eigen::Index count) {
    const int view = bytes(values, std::size_t(count) * 4, indices_target);
    return add(
        "accessors",
        {{"bufferView", view}, {"componentType", type_unsigned}, {"count", count}, {"type", "SCALAR"}});
  }

  int add(const char* list, OrderedJson item) {
    if (!json.contains(list)) json[list] = OrderedJson::array();
    json[list].push_back(std::move(item));
    return int(json[list].size()) - 1;
  }

  void write() {
    const bool binary = lower_case(file_.extension().string()) == ".glb";
    if (!binary)
      json["buffers"] = {
          {{"byteLength", buffer_.size()}, {"uri", "data:application/octet-stream;base64," + base64()}}};
    else
      json["buffers"] = {{{"byteLength", buffer_.size()}}};
    std::string text = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    if (!binary) return write_atomically(file_, text);
    text.append((4 - text.size() % 4) % 4, ' ');
    const std::uint64_t total = 12 + 8 + text.size() + 8 + buffer_.size();
    check_size(total);
    write_atomically(file_, [&](std::ostream& out) {
      const auto number = [&](std::uint64_t n) {
        const auto x = std::uint32_t(n);
        out.write(reinterpret_cast<const char*>(&x), 4);
      };
      out << "glTF";
      number(2);
      number(total);
      number(text.size());
      out << "JSON" << text;
      number(buffer_.size());
      out.write("BIN\0", 4);
      out << buffer_;
    });
  }

  OrderedJson json;

 private:
  int bytes(const void* data, std::size_t size, int target) {
    check_size(buffer_.size() + size);
    OrderedJson view = {{"buffer", 0}, {"byteOffset", buffer_.size()}, {"byteLength", size}};
    if (target != 0) view["target"] = target;
    buffer_.append(static_cast<const char*>(data), size);  // all sizes are multiples of four
    return add("bufferViews", std::move(view));
  }
  void check_size(std::uint64_t size) const {
    if (size > std::numeric_limits<std::uint32_t>::max())
      throw InputError(
          "{}: would be larger than 4 GB, which glTF cannot be; export fewer frames with --every",
          file_.string());
  }
  std::string base64() const {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve(buffer_.size() / 3 * 4 + 4);
    for (std::size_t i = 0; i < buffer_.size(); i += 3) {
      const auto byte = [&](std::size_t k) {
        return k < buffer_.size() ? unsigned(static_cast<unsigned char>(buffer_[k])) : 0u;
      };
      const unsigned word = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
      for (int k = 0; k < 4; ++k)
        text += i + std::size_t(k) > buffer_.size() ? '=' : digits[word >> (18 - 6 * k) & 63];
    }
    return text;
  }

  std::filesystem::path file_;
  std::string buffer_;
};

OrderedJson material(const std::string& name, const Vector3f& colour) {
  return {{"name", name},
          {"doubleSided", true},
          {"pbrMetallicRoughness",
           {{"baseColorFactor", {colour[0], colour[1], colour[2], 1}},
            {"metallicFactor", 0},
            {"roughnessFactor", 0.6}}}};
}

/// Turns the run's up to y, which is up in glTF. (Eigen's FromTwoVectors would compile a singular value
/// decomposition for the one direction that needs an axis.)
Eigen::Quaterniond to_y_up(const Vector3& up) {
  const Vector3 u = up.normalized(), axis = u.cross(Vector3::UnitY());
  if (u.y() < -1 + 1e-12) return {0, 1, 0, 0};  // upside down: half a turn about x
  return Eigen::Quaterniond(1 + u.y(), axis.x(), axis.y(), axis.z()).normalized();
}

/// The corners of a body's polygons as vertices, which have one texture coordinate and one normal each: a
/// point with several becomes several vertices.
struct CornerVertices {
  std::vector<int> points;   ///< of the body
  Eigen::Matrix2Xf texture;  ///< empty: none
  std::vector<int> normals;  ///< see BodyPolygons; empty: none
  Faces triangles;           ///< fans of the polygons

  explicit CornerVertices(const BodyPolygons& shape) {
    std::map<std::tuple<int, double, double, int>, int> number;
    std::vector<int> vertex, first;  // vertex: of each corner; first: a corner of each vertex
    const bool textured = shape.texture.cols() > 0, smooth = !shape.normals.empty();
    for (std::size_t c = 0; c < shape.corners.size(); ++c) {
      const Eigen::Vector2d uv =
          textured ? Eigen::Vector2d(shape.texture.col(Eigen::Index(c))) : Eigen::Vector2d(0, 0);
      const int normal = smooth ? shape.normals[c] : 0;
      const auto [at, fresh] =
          number.try_emplace({shape.corners[c], uv[0], uv[1], normal}, int(number.size()));
      vertex.push_back(at->second);
      if (fresh) first.push_back(int(c));
    }
    if (textured) texture.resize(2, Eigen::Index(first.size()));
    for (std::size_t v = 0; v < first.size(); ++v) {
      points.push_back(shape.corners[std::size_t(first[v])]);
      if (smooth) normals.push_back(shape.normals[std::size_t(first[v])]);
      if (textured)  // glTF counts v from above
        texture.col(Eigen::Index(v)) << float(shape.texture(0, first[v])),
            float(1 - shape.texture(1, first[v]));
    }
    std::vector<int> fans;
    std::size_t begin = 0;
    for (const int size : shape.sizes) {
      for (std::size_t k = begin + 2; k < begin + std::size_t(size); ++k)
        fans.insert(fans.end(), {vertex[begin], vertex[k - 1], vertex[k]});
      begin += std::size_t(size);
    }
    triangles = Faces::Map(fans.data(), 3, Eigen::Index(fans.size() / 3));
  }

  Matrix3Xf positions(const Matrix3Xf& x) const {
    Matrix3Xf result(3, Eigen::Index(points.size()));
    for (std::size_t v = 0; v < points.size(); ++v) result.col(Eigen::Index(v)) = x.col(points[v]);
    return result;
  }
  Matrix3Xf directions(const BodyPolygons& shape, const Matrix3Xf& x) const {
    const Matrix3X of_corners = corner_normals(shape, x.cast<double>());
    Matrix3Xf result(3, Eigen::Index(points.size()));
    for (std::size_t v = 0; v < points.size(); ++v)
      result.col(Eigen::Index(v)) = of_corners.col(normals[v]).cast<float>();
    return result;
  }
};

/// Where vertices are, and how far from there in each later frame.
struct VertexData {
  OrderedJson attributes = OrderedJson::object(), targets = OrderedJson::array();
};

VertexData add_points(Document& document, const MovingBody& body) {
  VertexData data;
  const Matrix3Xf& start = body.points.front();
  data.attributes["POSITION"] = document.floats(start, "VEC3", true, true);
  for (std::size_t f = 1; f < body.points.size(); ++f)
    data.targets.push_back(
        {{"POSITION", document.floats((body.points[f] - start).eval(), "VEC3", true, true)}});
  return data;
}

VertexData add_corners(Document& document, const MovingBody& body, const CornerVertices& corners) {
  VertexData data;
  const Matrix3Xf start = corners.positions(body.points.front());
  data.attributes["POSITION"] = document.floats(start, "VEC3", true, true);
  const bool smooth = !corners.normals.empty();
  Matrix3Xf directions;
  if (smooth) {
    directions = corners.directions(body.polygons, body.points.front());
    data.attributes["NORMAL"] = document.floats(directions, "VEC3", true, false);
  }
  if (corners.texture.cols() > 0)
    data.attributes["TEXCOORD_0"] = document.floats(corners.texture, "VEC2", true, false);
  for (std::size_t f = 1; f < body.points.size(); ++f) {
    const Matrix3Xf x = corners.positions(body.points[f]);
    OrderedJson target = {{"POSITION", document.floats((x - start).eval(), "VEC3", true, true)}};
    if (smooth)
      target["NORMAL"] = document.floats(
          (corners.directions(body.polygons, body.points[f]) - directions).eval(), "VEC3", true, false);
    data.targets.push_back(std::move(target));
  }
  return data;
}

}  // namespace

void write_gltf(const std::filesystem::path& file, const SurfaceMotion& motion) {
  Document document(file);
  OrderedJson children = OrderedJson::array(), channels = OrderedJson::array(),
              samplers = OrderedJson::array();
  const Index frames = Index(motion.times.size());
  int times = -1;
  const auto time_accessor = [&] {
    if (times < 0) {
      Eigen::RowVectorXf seconds(frames);
      for (Index f = 0; f < frames; ++f) seconds[f] = float(motion.times[std::size_t(f)] - motion.times[0]);
      // Keys must increase, even where single precision cannot distinguish them.
      for (Index f = 1; f < frames; ++f)
        if (!(seconds[f] > seconds[f - 1]))
          seconds[f] = std::nextafter(seconds[f - 1], std::numeric_limits<float>::infinity());
      times = document.floats(seconds, "SCALAR", false, true);
    }
    return times;
  };
  const auto animate = [&](int node, const char* path, int output, const char* interpolation) {
    samplers.push_back({{"input", time_accessor()}, {"output", output}, {"interpolation", interpolation}});
    channels.push_back({{"sampler", samplers.size() - 1}, {"target", {{"node", node}, {"path", path}}}});
  };

  int weights = -1;  // the same for every body
  for (const MovingBody& body : motion.bodies) {
    const std::size_t targets = body.points.size() - 1;
    const int colour = document.add("materials", material(body.name, body.colour));
    OrderedJson primitives = OrderedJson::array();
    const auto add = [&](const VertexData& vertices, const auto& cells, int mode) {
      if (cells.size() == 0) return;
      OrderedJson primitive = {{"attributes", vertices.attributes},
                               {"indices", document.indices(cells.data(), cells.size())},
                               {"material", colour},
                               {"mode", mode}};
      if (!vertices.targets.empty()) primitive["targets"] = vertices.targets;
      primitives.push_back(std::move(primitive));
    };
    const bool split = body.polygons.texture.cols() > 0 || !body.polygons.normals.empty();
    if (split) {
      const CornerVertices corners(body.polygons);
      add(add_corners(document, body, corners), corners.triangles, mode_triangles);
    }
    if (!split || body.segments.size() + body.balls.size() > 0) {
      const VertexData vertices = add_points(document, body);
      if (!split) add(vertices, body.triangles, mode_triangles);
      add(vertices, body.segments, mode_lines);
      add(vertices, body.balls, mode_points);
    }
    OrderedJson mesh = {{"name", body.name}, {"primitives", std::move(primitives)}};
    if (targets > 0) mesh["weights"] = std::vector<int>(targets, 0);
    const int number = document.add("meshes", std::move(mesh));
    const int node = document.add("nodes", {{"name", body.name}, {"mesh", number}});
    children.push_back(node);
    if (targets > 0) {
      if (weights < 0) {
        // Frame f has all of target f − 1 and nothing of the others; frame 0 has none.
        Eigen::MatrixXf values = Eigen::MatrixXf::Zero(frames - 1, frames);
        for (Index f = 1; f < frames; ++f) values(f - 1, f) = 1;
        weights = document.floats(values.reshaped().eval(), "SCALAR", false, false);
      }
      animate(node, "weights", weights, "LINEAR");
    }
    if (!body.always_present() && frames > 1) {
      Matrix3Xf scale(3, frames);
      for (Index f = 0; f < frames; ++f) scale.col(f).setConstant(body.present[std::size_t(f)] ? 1.0f : 0.0f);
      animate(node, "scale", document.floats(scale, "VEC3", false, false), "STEP");
    }
  }
  const Eigen::Quaterniond turn = to_y_up(motion.up);
  const Vector3 place = turn * motion.origin;
  OrderedJson root = {{"name", "run"},
                      {"translation", {place.x(), place.y(), place.z()}},
                      {"rotation", {turn.x(), turn.y(), turn.z(), turn.w()}}};
  if (!children.empty()) root["children"] = std::move(children);
  document.json["scenes"] = {{{"nodes", {document.add("nodes", std::move(root))}}}};
  if (!channels.empty())
    document.json["animations"] = {
        {{"name", "run"}, {"channels", std::move(channels)}, {"samplers", std::move(samplers)}}};
  document.write();
}

}  // namespace apart
