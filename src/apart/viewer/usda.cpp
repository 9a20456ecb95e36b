#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/viewer/run_export.hpp>

#include <fmt/ostream.h>

#include <cmath>
#include <ostream>
#include <set>

namespace apart {

namespace {

/// A name that USD allows (letters, digits and '_', no digit first), different from all before.
std::string identifier(const std::string& name, std::set<std::string>& taken) {
  std::string result;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (digit && result.empty()) result += '_';
    result += letter || digit ? c : '_';
  }
  if (result.empty()) result = "body";
  std::string unique = result;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}_{}", result, i);
  return unique;
}

std::string quoted_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c >= 0 && c < ' ' ? ' ' : c;
  }
  return result + "\"";
}

class Writer {
 public:
  Writer(std::ostream& out, const SurfaceMotion& motion) : out_(out), motion_(motion) {
    const auto& times = motion.times;
    const double duration = times.back() - times.front();
    rate_ = times.size() > 1 && duration > 0 ? double(times.size() - 1) / duration : 24;
  }

  void write() {
    // USD knows two axes; with x up, y is as good as the other.
    const bool z_up = std::abs(motion_.up.z()) > 0.5;
    fmt::print(out_,
               "#usda 1.0\n(\n    defaultPrim = \"run\"\n    doc = \"Made by Apart\"\n    metersPerUnit = 1\n"
               "    startTimeCode = {}\n    endTimeCode = {}\n    timeCodesPerSecond = {}\n    upAxis = "
               "\"{}\"\n)\n\n",
               code(0), code(motion_.times.size() - 1), rate_, z_up ? 'Z' : 'Y');
    fmt::print(out_,
               "def Xform \"run\"\n{{\n    double3 xformOp:translate = ({}, {}, {})\n"
               "    uniform token[] xformOpOrder = [\"xformOp:translate\"]\n",
               motion_.origin.x(), motion_.origin.y(), motion_.origin.z());
    for (const MovingBody& body : motion_.bodies) {
      if (body.triangles.cols() > 0) write_mesh(body);
      if (body.segments.cols() > 0) write_curves(body);
      if (body.balls.size() > 0) write_points(body);
    }
    out_ << "}\n";
  }

 private:
  /// When a frame is, in units of the file; whole numbers if frames are equally far apart.
  double code(std::size_t frame) const {
    const double x = (motion_.times[frame] - motion_.times[0]) * rate_;
    return std::abs(x - std::round(x)) < 1e-6 ? std::round(x) : x;
  }

  void begin(const char* kind, const MovingBody& body) {
    fmt::print(out_, "\n    def {} \"{}\" (\n        displayName = {}\n    )\n    {{\n", kind,
               identifier(body.name, taken_), quoted_text(body.name));
    fmt::print(out_, "        color3f[] primvars:displayColor = [({}, {}, {})]\n", body.colour[0],
               body.colour[1], body.colour[2]);
    if (!body.always_present()) {
      out_ << "        token visibility.timeSamples = {\n";
      for (std::size_t f = 0; f < body.present.size(); ++f)
        if (f == 0 || body.present[f] != body.present[f - 1])
          fmt::print(out_, "            {}: \"{}\",\n", code(f), body.present[f] ? "inherited" : "invisible");
      out_ << "        }\n";
    }
  }

  void list(const char* declaration, const int* values, Eigen::Index count) {
    fmt::print(out_, "        {} = [", declaration);
    for (Eigen::Index i = 0; i < count; ++i) fmt::print(out_, "{}{}", i == 0 ? "" : ", ", values[i]);
    out_ << "]\n";
  }

  void same(const char* declaration, int value, Eigen::Index count) {
    const std::vector<int> values(std::size_t(count), value);
    list(declaration, values.data(), count);
  }

  /// `of`: the points of the body that are written, in order.
  void samples(const MovingBody& body, const Eigen::VectorXi& of) {
    const auto array = [&](const Matrix3Xf& x) {
      std::string text = "[";
      for (Eigen::Index i = 0; i < of.size(); ++i)
        fmt::format_to(std::back_inserter(text), "{}({}, {}, {})", i == 0 ? "" : ", ", x(0, of[i]),
                       x(1, of[i]), x(2, of[i]));
      return text + "]";
    };
    const auto extent = [&](const Matrix3Xf& x) {
      const Vector3f low = x.rowwise().minCoeff(), high = x.rowwise().maxCoeff();
      return fmt::format("[({}, {}, {}), ({}, {}, {})]", low[0], low[1], low[2], high[0], high[1], high[2]);
    };
    if (body.points.size() == 1) {
      fmt::print(out_, "        point3f[] points = {}\n        float3[] extent = {}\n", array(body.points[0]),
                 extent(body.points[0]));
      return;
    }
    out_ << "        point3f[] points.timeSamples = {\n";
    for (std::size_t f = 0; f < body.points.size(); ++f)
      fmt::print(out_, "            {}: {},\n", code(f), array(body.points[f]));
    out_ << "        }\n        float3[] extent.timeSamples = {\n";
    for (std::size_t f = 0; f < body.points.size(); ++f)
      fmt::print(out_, "            {}: {},\n", code(f), extent(body.points[f]));
    out_ << "        }\n";
  }

  static Eigen::VectorXi all(const MovingBody& body) {
    return Eigen::VectorXi::LinSpaced(body.points[0].cols(), 0, int(body.points[0].cols()) - 1);
  }

  void write_mesh(const MovingBody& body) {
    begin("Mesh", body);
    const BodyPolygons& shape = body.polygons;
    list("int[] faceVertexCounts", shape.sizes.data(), Eigen::Index(shape.sizes.size()));
    list("int[] faceVertexIndices", shape.corners.data(), Eigen::Index(shape.corners.size()));
    if (shape.texture.cols() > 0) {
      out_ << "        texCoord2f[] primvars:st = [";
      for (Eigen::Index c = 0; c < shape.texture.cols(); ++c)
        fmt::print(out_, "{}({}, {})", c == 0 ? "" : ", ", float(shape.texture(0, c)),
                   float(shape.texture(1, c)));
      out_ << "] (\n            interpolation = \"faceVarying\"\n        )\n";
    }
    if (!shape.normals.empty()) write_normals(body);
    out_ << "        uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = 1\n";
    samples(body, all(body));
    out_ << "    }\n";
  }

  /// Of each corner, in each frame.
  void write_normals(const MovingBody& body) {
    const auto array = [&](const Matrix3Xf& points) {
      const Matrix3X normals = corner_normals(body.polygons, points.cast<double>());
      std::string text = "[";
      for (std::size_t c = 0; c < body.polygons.normals.size(); ++c) {
        const Vector3f n = normals.col(body.polygons.normals[c]).cast<float>();
        fmt::format_to(std::back_inserter(text), "{}({}, {}, {})", c == 0 ? "" : ", ", n[0], n[1], n[2]);
      }
      return text + "]";
    };
    constexpr const char* varying = " (\n            interpolation = \"faceVarying\"\n        )\n";
    if (body.points.size() == 1) {
      fmt::print(out_, "        normal3f[] normals = {}{}", array(body.points[0]), varying);
      return;
    }
    fmt::print(out_, "        normal3f[] normals{}        normal3f[] normals.timeSamples = {{\n", varying);
    for (std::size_t f = 0; f < body.points.size(); ++f)
      fmt::print(out_, "            {}: {},\n", code(f), array(body.points[f]));
    out_ << "        }\n";
  }

  void write_curves(const MovingBody& body) {
    begin("BasisCurves", body);
    out_ << "        uniform token type = \"linear\"\n";
    same("int[] curveVertexCounts", 2, body.segments.cols());
    fmt::print(out_, "        float[] widths = [{}] (\n            interpolation = \"constant\"\n        )\n",
               body.thickness > 0 ? body.thickness : 0.008 * motion_.size);
    samples(body, body.segments.reshaped().eval());
    out_ << "    }\n";
  }

  void write_points(const MovingBody& body) {
    begin("Points", body);
    fmt::print(out_, "        float[] widths = [{}] (\n            interpolation = \"constant\"\n        )\n",
               body.thickness > 0 ? body.thickness : 0.012 * motion_.size);
    samples(body, body.balls);
    out_ << "    }\n";
  }

  std::ostream& out_;
  const SurfaceMotion& motion_;
  double rate_ = 24;
  std::set<std::string> taken_;
};

}  // namespace

void write_usda(const std::filesystem::path& file, const SurfaceMotion& motion) {
  write_atomically(file, [&](std::ostream& out) { Writer(out, motion).write(); });
}

}  // namespace apart
