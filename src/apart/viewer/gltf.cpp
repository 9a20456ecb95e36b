#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/viewer/run_export.hpp>

#include <nlohmann/json.hpp>

#include <Eigen/Geometry>
#include <bit>
#include <limits>
#include <ostream>

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
    const Matrix3Xf& start = body.points.front();
    const int positions = document.floats(start, "VEC3", true, true);
    OrderedJson targets = OrderedJson::array();
    for (std::size_t f = 1; f < body.points.size(); ++f)
      targets.push_back({{"POSITION", document.floats((body.points[f] - start).eval(), "VEC3", true, true)}});
    const int colour = document.add("materials", material(body.name, body.colour));
    OrderedJson primitives = OrderedJson::array();
    const auto add = [&](const auto& cells, int mode) {
      if (cells.size() == 0) return;
      OrderedJson primitive = {{"attributes", {{"POSITION", positions}}},
                               {"indices", document.indices(cells.data(), cells.size())},
                               {"material", colour},
                               {"mode", mode}};
      if (!targets.empty()) primitive["targets"] = targets;
      primitives.push_back(std::move(primitive));
    };
    add(body.triangles, mode_triangles);
    add(body.segments, mode_lines);
    add(body.balls, mode_points);
    OrderedJson mesh = {{"name", body.name}, {"primitives", std::move(primitives)}};
    if (!targets.empty()) mesh["weights"] = std::vector<int>(targets.size(), 0);
    const int number = document.add("meshes", std::move(mesh));
    const int node = document.add("nodes", {{"name", body.name}, {"mesh", number}});
    children.push_back(node);
    if (!targets.empty()) {
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
