#include <apart/core/error.hpp>
#include <apart/io/gzip.hpp>
#include <apart/viewer/point_field.hpp>
#include <apart/viewer/shapes.hpp>
#include <apart/web/packets.hpp>

#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>

namespace apart {

namespace {

static_assert(std::endian::native == std::endian::little, "packets are in the machine's own byte order");

using Json = nlohmann::json;

class Packet {
 public:
  explicit Packet(const Json& text) {
    // Names of bodies are as somebody typed them; what is no UTF-8 must not stop the page.
    const std::string header = text.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto length = std::uint32_t((header.size() + 3) / 4 * 4);
    append(&length, sizeof length);
    bytes_ += header;
    bytes_.append(length - header.size(), ' ');
  }
  template <class Matrix>
  void add(const Matrix& matrix) {
    static_assert(sizeof(typename Matrix::Scalar) == 4);
    append(matrix.data(), std::size_t(matrix.size()) * 4);
  }
  void add(const std::string& bytes) { bytes_ += bytes; }
  std::string compressed(int level) const { return gzip(bytes_, level); }

 private:
  void append(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  std::string bytes_;
};

Json json_vector(const Vector3& v) {
  return {v.x(), v.y(), v.z()};
}

Json finite_or_null(double x) {
  return std::isfinite(x) ? Json(x) : Json();
}

std::string hexadecimal(std::uint64_t key) {
  return fmt::format("{:016x}", key);  // JSON's numbers hold 53 bits
}

}  // namespace

std::string topology_packet(const Frame& frame, const DrawnSurface& surface, bool has_other_surfaces) {
  Json text;
  text["key"] = hexadecimal(topology_key(frame));
  text["other_surfaces"] = has_other_surfaces;
  text["points"] = surface.points.size();
  text["triangles"] = surface.triangles.cols();
  text["segments"] = surface.segments.cols();
  text["balls"] = surface.balls.size();
  text["first_face_cell"] = frame.mesh.tetrahedra.cols();
  text["first_segment_cell"] = frame.mesh.tetrahedra.cols() + frame.mesh.faces.cols();
  text["first_ball_cell"] = frame.mesh.tetrahedra.cols() + frame.mesh.faces.cols() + frame.mesh.edges.cols();
  text["bodies"] = Json::array();
  const std::vector<Vector3f> colours = body_colours(frame);
  for (std::size_t b = 0; b < frame.bodies.size(); ++b) {
    const FrameBody& body = frame.bodies[b];
    Json item = {{"name", body.name}, {"kind", body.kind}, {"colour", srgb(colours[b])}};
    if (const double thickness = drawn_thickness(frame, int(b)); thickness > 0) {
      item["thickness"] = thickness;
      item["radius"] = thickness / 2;
    }
    text["bodies"].push_back(std::move(item));
  }
  Eigen::VectorXi body(surface.points.size());
  for (Eigen::Index i = 0; i < body.size(); ++i) body[i] = frame.point_body[surface.points[i]];
  Packet packet(text);
  packet.add(surface.points);
  packet.add(body);
  packet.add(surface.triangles);
  packet.add(surface.triangle_cell);
  packet.add(surface.segments);
  packet.add(surface.balls);
  return packet.compressed(6);
}

std::string position_packet(const Frame& frame, const DrawnSurface& surface, const Matrix3X& start) {
  const std::size_t n = std::size_t(surface.points.size());
  Json text;
  text["time"] = frame.time;
  text["key"] = hexadecimal(topology_key(frame));
  text["absent"] = frame.absent;
  text["half_spaces"] = Json::array();
  for (const HalfSpace& plane : frame.half_spaces)
    text["half_spaces"].push_back({{"origin", json_vector(plane.origin_at(frame.mesh.points))},
                                   {"normal", json_vector(plane.normal)},
                                   {"body", plane.body}});
  text["fields"] = Json::array();
  for (const FieldKind& kind : field_kinds())
    if (kind.present(frame) || (kind.name == "displacement" && start.cols() == frame.mesh.points.cols()))
      text["fields"].push_back({{"name", kind.name},
                                {"label", kind.label},
                                {"unit", kind.unit},
                                {"logarithmic", kind.logarithmic}});
  constexpr double steps = (1 << 24) - 1;
  Vector3 low = Vector3::Zero(), step = Vector3::Ones();
  if (n > 0) {
    low.setConstant(std::numeric_limits<double>::infinity());
    Vector3 high = -low;
    for (const int p : surface.points) {
      low = low.cwiseMin(frame.mesh.points.col(p));
      high = high.cwiseMax(frame.mesh.points.col(p));
    }
    // Divided before they are subtracted: coordinates of 1e308 have no finite extent.
    step = (high / steps - low / steps).cwiseMax(std::numeric_limits<double>::min());
  }
  text["low"] = json_vector(low);
  text["step"] = json_vector(step);
  std::string planes(9 * n, '\0');
  for (int axis = 0; axis < 3; ++axis) {
    std::uint32_t previous = 0;
    char* plane = planes.data() + 3 * n * std::size_t(axis);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = frame.mesh.points(axis, surface.points[Eigen::Index(i)]);
      const auto q = std::uint32_t(std::clamp(std::round((x - low[axis]) / step[axis]), 0.0, steps));
      const std::uint32_t difference = q - previous;
      previous = q;
      for (std::size_t byte = 0; byte < 3; ++byte) plane[byte * n + i] = char(difference >> (8 * byte));
    }
  }
  Packet packet(text);
  packet.add(planes);
  return packet.compressed(1);
}

std::string field_packet(const Frame& frame, const DrawnSurface& surface, std::string_view field,
                         double reach, const Matrix3X& start) {
  const Eigen::Index n = surface.points.size();
  const bool vectors = field == "contact_vectors";
  if (vectors && frame.contact_force.size() == 0)
    throw InputError("the frame at {} s holds no contact forces", frame.time);
  Eigen::MatrixXf values(vectors ? 3 : 1, n);
  std::vector<double> drawn;  // numbers at points that are seen
  const VectorX whole =
      vectors ? VectorX(frame.contact_force.colwise().norm()) : point_field(frame, field, reach, start);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double x = whole[surface.points[i]];
    if (vectors)
      values.col(i) = frame.contact_force.col(surface.points[i]).cast<float>();
    else
      values(0, i) = float(x);
    if (std::isfinite(x)) drawn.push_back(x);
  }
  Json text = {{"name", field}, {"low", nullptr}, {"high", nullptr}};
  if (vectors && !drawn.empty()) {
    const auto [low, high] = std::minmax_element(drawn.begin(), drawn.end());
    text["low"] = *low;
    text["high"] = *high;
  } else if (!vectors) {
    if (const auto range = colour_range(field, std::move(drawn))) {
      text["low"] = range->first;
      text["high"] = range->second;
    }
  }
  Packet packet(text);
  packet.add(values);
  return packet.compressed(1);
}

std::string picked_values(const Frame& frame, Index cell, Index point) {
  const NumberedCell found = cell_of(frame, cell);
  const int* end = found.corners + found.size;
  if (std::find(found.corners, end, point) == end)
    throw InputError("point {}: does not belong to cell {}; choose one of its corners", point, cell);
  const int body = frame.point_body[point];
  Json text;
  text["body"] = body;
  text["name"] = frame.bodies[std::size_t(body)].name;
  text["kind"] = frame.bodies[std::size_t(body)].kind;
  text["element"] = {{"kind", found.kind}, {"number", found.number}, {"cell", cell}};
  text["corners"] = std::vector<int>(found.corners, end);
  text["point"] = point;
  text["position"] = json_vector(frame.mesh.points.col(point));
  if (frame.velocity.size() > 0) text["velocity"] = json_vector(frame.velocity.col(point));
  if (frame.contact_force.size() > 0) text["contact_force"] = json_vector(frame.contact_force.col(point));
  if (cell < frame.von_mises.size()) text["stress"] = finite_or_null(frame.von_mises[cell]);
  if (cell < frame.strain.size()) text["strain"] = finite_or_null(frame.strain[cell]);
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace apart
