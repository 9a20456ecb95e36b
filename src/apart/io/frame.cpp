#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/frame.hpp>
#include <apart/io/vtu.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

namespace apart {

namespace {

template <class Matrix>
std::span<const typename Matrix::Scalar> values_of(const Matrix& matrix) {
  return {matrix.data(), std::size_t(matrix.size())};
}

/// "a\0b\0": how VTK stores arrays of strings.
std::string zero_terminated(const std::vector<FrameBody>& bodies, std::string FrameBody::*member) {
  std::string result;
  for (const FrameBody& body : bodies) {
    if ((body.*member).find('\0') != std::string::npos)
      throw InputError("body {}: its {} holds a zero character, which frames cannot store; rename the body",
                       apart::quoted(body.name), member == &FrameBody::name ? "name" : "kind");
    result += body.*member;
    result += '\0';
  }
  return result;
}

void check_sizes(const Frame& frame) {
  const auto per_point = [&](Eigen::Index n) { return n == 0 || n == frame.mesh.points.cols(); };
  ensure(frame.point_body.size() == frame.mesh.points.cols(), "Frame: point_body has one entry per point");
  ensure(per_point(frame.velocity.cols()), "Frame: velocity is empty or has one column per point");
  ensure(per_point(frame.contact_force.cols()), "Frame: contact_force is empty or has one column per point");
  ensure(frame.thickness.empty() || frame.thickness.size() == frame.bodies.size(),
         "Frame: thickness is empty or has one entry per body");
  ensure(frame.self_reach.size() == frame.thickness.size(), "Frame: as many self_reach as thickness");
  ensure(frame.drawn_thickness.empty() || frame.drawn_thickness.size() == frame.bodies.size(),
         "Frame: drawn_thickness is empty or has one entry per body");
  const auto cells = frame.mesh.tetrahedra.cols() + frame.mesh.faces.cols();
  ensure(frame.von_mises.size() == 0 || frame.von_mises.size() == cells,
         "Frame: von_mises is empty or has one entry per tetrahedron and triangle");
  ensure(frame.strain.size() == 0 || frame.strain.size() == cells,
         "Frame: strain is empty or has one entry per tetrahedron and triangle");
}

/// The arrays of a frame, and the memory of those that are made for them.
class FrameArrays {
 public:
  /// `whole`: whose arrays are written, be they empty here.
  FrameArrays(const Frame& frame, const Frame& whole) : frame_(frame), whole_(whole) {
    // ParaView takes the time of a file from the field array of this name.
    outputs_.field.push_back(vtu_output("TimeValue", {&frame.time, 1}));
    if (frame.topology != 0) outputs_.field.push_back(vtu_output("topology", {&frame.topology, 1}));
    add_bodies();
    add_half_spaces();
    add_pairs();
    add_strain_limits();
    add_points();
    add_cells();
  }
  FrameArrays(const FrameArrays&) = delete;
  const VtuOutputs& outputs() const { return outputs_; }

 private:
  void add_bodies() {
    names_ = zero_terminated(frame_.bodies, &FrameBody::name);
    kinds_ = zero_terminated(frame_.bodies, &FrameBody::kind);
    const auto count = std::int64_t(frame_.bodies.size());
    outputs_.field.push_back(vtu_output_strings("body_names", names_, count));
    outputs_.field.push_back(vtu_output_strings("body_kinds", kinds_, count));
  }

  void add_half_spaces() {
    for (const HalfSpace& h : frame_.half_spaces) {
      planes_.insert(planes_.end(), h.origin.data(), h.origin.data() + 3);
      planes_.insert(planes_.end(), h.normal.data(), h.normal.data() + 3);
      plane_bodies_.push_back(h.body);
      plane_carriers_.push_back(h.carrier);
    }
    if (planes_.empty()) return;
    outputs_.field.push_back(vtu_output("half_spaces", planes_, 6));
    outputs_.field.push_back(vtu_output("half_space_bodies", plane_bodies_));
    outputs_.field.push_back(vtu_output("half_space_carriers", plane_carriers_));
  }

  /// What verify must know of bodies and pairs.
  void add_pairs() {
    for (const auto& [a, b] : frame_.ignored_pairs) pairs_.insert(pairs_.end(), {a, b});
    if (!pairs_.empty()) outputs_.field.push_back(vtu_output("ignored_pairs", pairs_, 2));
    if (frame_.allow_nested) outputs_.field.push_back(vtu_output("allow_nested", {&allow_nested_, 1}));
    if (!frame_.absent.empty()) outputs_.field.push_back(vtu_output("absent_bodies", frame_.absent));
    if (!frame_.invertible_cells.empty())
      outputs_.field.push_back(vtu_output("invertible_cells", frame_.invertible_cells));
    for (const PairThickness& t : frame_.pair_thickness) {
      thick_pairs_.insert(thick_pairs_.end(), {t.a, t.b});
      pair_values_.push_back(t.thickness);
    }
    if (!frame_.thickness.empty()) {
      outputs_.field.push_back(vtu_output("body_thickness", frame_.thickness));
      outputs_.field.push_back(vtu_output("body_self_reach", frame_.self_reach));
    }
    if (!frame_.drawn_thickness.empty())
      outputs_.field.push_back(vtu_output("body_drawn_thickness", frame_.drawn_thickness));
    if (thick_pairs_.empty()) return;
    outputs_.field.push_back(vtu_output("thickness_pairs", thick_pairs_, 2));
    outputs_.field.push_back(vtu_output("pair_thickness", pair_values_));
  }

  void add_strain_limits() {
    for (const FrameStrainLimit& l : frame_.strain_limits)  // body, woven, the three limits
      limits_.insert(limits_.end(), {double(l.body), double(l.woven), l.limits[0], l.limits[1], l.limits[2]});
    if (limits_.empty()) return;
    outputs_.field.push_back(vtu_output("strain_limits", limits_, 5));
    outputs_.field.push_back(vtu_output("rest_shape", values_of(frame_.rest_shape), 4));
  }

  void add_points() {
    outputs_.point.push_back(vtu_output("body", values_of(frame_.point_body)));
    if (whole_.velocity.size() > 0)
      outputs_.point.push_back(vtu_output("velocity", values_of(frame_.velocity), 3));
    if (whole_.contact_force.size() > 0)
      outputs_.point.push_back(vtu_output("contact_force", values_of(frame_.contact_force), 3));
  }

  void add_cells() {
    const Mesh& mesh = frame_.mesh;
    const auto add = [&](const auto& cells) {
      for (Eigen::Index c = 0; c < cells.cols(); ++c) cell_body_.push_back(frame_.point_body[cells(0, c)]);
    };
    add(mesh.tetrahedra);
    add(mesh.faces);
    add(mesh.edges);
    add(mesh.vertices.transpose());
    for (const CurvedCells& cells : mesh.curved) add(cells.points);
    outputs_.cell.push_back(vtu_output("body", cell_body_));
    // A cell array needs a value for every kind of cell.
    stress_ = strain_ = VectorX::Zero(Eigen::Index(cell_body_.size()));
    stress_.head(frame_.von_mises.size()) = frame_.von_mises;
    strain_.head(frame_.strain.size()) = frame_.strain;
    if (whole_.von_mises.size() > 0) outputs_.cell.push_back(vtu_output("von_mises", values_of(stress_)));
    if (whole_.strain.size() > 0) outputs_.cell.push_back(vtu_output("strain", values_of(strain_)));
  }

  const Frame& frame_;
  const Frame& whole_;
  const int allow_nested_ = 1;
  std::string names_, kinds_;
  std::vector<double> planes_, pair_values_, limits_;  // planes: origin, normal
  std::vector<int> plane_bodies_, plane_carriers_, pairs_, thick_pairs_, cell_body_;
  VectorX stress_, strain_;
  VtuOutputs outputs_;
};

}  // namespace

void write_frame_part(const std::filesystem::path& file, const Frame& part, const Frame& whole) {
  check_sizes(part);
  const FrameArrays arrays(part, whole);
  write_atomically(
      file, [&](std::ostream& out) { write_vtu(out, part.mesh, arrays.outputs()); }, Flush::later);
}

void write_frame(const std::filesystem::path& file, const Frame& frame) {
  write_frame_part(file, frame, frame);
}

namespace {

/// Reads the arrays of one frame file; every size and index in them is checked.
class FrameReader {
 public:
  explicit FrameReader(const std::filesystem::path& file) : file_(file) {
    if (file_.pieces().size() != 1) file_.fail("has several pieces, so it is not a frame of a run");
  }

  Frame read() const {
    Frame frame;
    frame.mesh = file_.mesh();
    const VtuPiece& piece = file_.pieces().front();
    const auto points = std::size_t(frame.mesh.points.cols());

    frame.time = file_.reals(required(file_.field_data(), "TimeValue"), 1)[0];
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "topology")) {
      const std::int64_t number = file_.integers(*array, 1)[0];
      if (number < 0 || number > std::numeric_limits<Index>::max())
        file_.fail(*array, fmt::format("got {}, must be the number of a topology, 0 or more", number));
      frame.topology = Index(number);
    }
    const auto names = file_.strings(required(file_.field_data(), "body_names"));
    const auto kinds = file_.strings(required(file_.field_data(), "body_kinds"));
    if (names.size() != kinds.size())
      file_.fail("has different numbers of body names and kinds; it is damaged");
    for (std::size_t b = 0; b < names.size(); ++b) frame.bodies.push_back({names[b], kinds[b]});

    const VtuArray& point_body = required(piece.point_data, "body");
    const auto bodies = file_.integers(point_body, points);
    frame.point_body.resize(Eigen::Index(points));
    for (std::size_t p = 0; p < points; ++p)
      frame.point_body[Eigen::Index(p)] = body(point_body, bodies[p], frame);

    read_half_spaces(frame);
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "ignored_pairs")) {
      const auto pairs = file_.integers(*array, 2 * tuples(*array));
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
        frame.ignored_pairs.emplace_back(body(*array, pairs[i], frame), body(*array, pairs[i + 1], frame));
    }
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "allow_nested"))
      frame.allow_nested = file_.integers(*array, 1)[0] != 0;
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "absent_bodies"))
      for (const auto b : file_.integers(*array, tuples(*array)))
        frame.absent.push_back(body(*array, b, frame));
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "invertible_cells"))
      for (const std::int64_t cell : file_.integers(*array, tuples(*array))) {
        const int last = frame.invertible_cells.empty() ? -1 : frame.invertible_cells.back();
        if (cell <= last || cell >= frame.mesh.tetrahedra.cols())
          file_.fail(*array, fmt::format("got {}, must be tetrahedra of the frame, ascending", cell));
        frame.invertible_cells.push_back(int(cell));
      }
    read_thickness(frame);
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "strain_limits")) {
      const auto values = file_.reals(*array, 5 * tuples(*array));
      for (std::size_t i = 0; i + 4 < values.size(); i += 5) {
        if (!std::isfinite(values[i]) || std::abs(values[i]) > 1e9)
          file_.fail(*array, fmt::format("got {}, must be a body", values[i]));
        frame.strain_limits.push_back(
            {body(*array, std::int64_t(values[i]), frame), values[i + 1] != 0, Vector3::Map(&values[i + 2])});
      }
      const VtuArray& rest = required(file_.field_data(), "rest_shape");
      const auto shapes = file_.reals(rest, 4 * tuples(rest));
      frame.rest_shape = Eigen::Matrix4Xd::Map(shapes.data(), 4, Eigen::Index(shapes.size() / 4));
    }
    frame.velocity = vectors(piece, "velocity", points);
    frame.contact_force = vectors(piece, "contact_force", points);
    frame.von_mises = per_solid_cell(piece, "von_mises", frame);
    frame.strain = per_solid_cell(piece, "strain", frame);
    return frame;
  }

 private:
  const VtuArray& required(const std::vector<VtuArray>& arrays, std::string_view name) const {
    const VtuArray* array = VtuFile::find(arrays, name);
    if (!array)
      file_.fail(fmt::format(
          "has no array '{}', so it is not a frame of a run; give a frame that apart wrote", name));
    return *array;
  }

  std::size_t tuples(const VtuArray& array) const {
    if (array.tuples < 0) file_.fail(array, "has no attribute NumberOfTuples; the file is damaged");
    return std::size_t(std::min<std::int64_t>(array.tuples, 1 << 30));  // decoding checks it against the file
  }

  int body(const VtuArray& array, std::int64_t index, const Frame& frame) const {
    if (index < 0 || index >= std::int64_t(frame.bodies.size()))
      file_.fail(array, fmt::format("body index {} must lie in [0, {})", index, frame.bodies.size()));
    return int(index);
  }

  void read_half_spaces(Frame& frame) const {
    const VtuArray* planes_array = VtuFile::find(file_.field_data(), "half_spaces");
    if (!planes_array) return;
    const std::size_t n = tuples(*planes_array);
    const auto planes = file_.reals(*planes_array, 6 * n);
    const VtuArray& bodies_array = required(file_.field_data(), "half_space_bodies");
    const auto bodies = file_.integers(bodies_array, n);
    const VtuArray& carriers_array = required(file_.field_data(), "half_space_carriers");
    const auto carriers = file_.integers(carriers_array, n);
    for (std::size_t i = 0; i < n; ++i) {
      HalfSpace h;
      h.origin = Vector3::Map(&planes[6 * i]);
      h.normal = Vector3::Map(&planes[6 * i + 3]);
      h.body = body(bodies_array, bodies[i], frame);
      if (!h.origin.allFinite() || !(std::abs(h.normal.norm() - 1) < 1e-6))
        file_.fail(*planes_array,
                   fmt::format("half-space {} has no finite origin and unit normal; it is damaged", i));
      if (carriers[i] < -1 || carriers[i] >= frame.mesh.point_count())
        file_.fail(carriers_array, fmt::format("point {} must lie in [-1, {}); it is damaged", carriers[i],
                                               frame.mesh.point_count()));
      h.carrier = Index(carriers[i]);
      frame.half_spaces.push_back(h);
    }
  }

  void read_thickness(Frame& frame) const {
    const auto lengths = [&](const VtuArray& array, std::size_t count) {
      const auto values = file_.reals(array, count);
      for (const double v : values)
        if (!(v >= 0) || !std::isfinite(v))
          file_.fail(array, fmt::format("got {}, must be lengths, finite and not negative", v));
      return std::vector<double>(values.begin(), values.end());
    };
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "body_thickness")) {
      frame.thickness = lengths(*array, frame.bodies.size());
      frame.self_reach = lengths(required(file_.field_data(), "body_self_reach"), frame.bodies.size());
    }
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "body_drawn_thickness"))
      frame.drawn_thickness = lengths(*array, frame.bodies.size());
    if (const VtuArray* array = VtuFile::find(file_.field_data(), "thickness_pairs")) {
      const std::size_t n = tuples(*array);
      const auto bodies = file_.integers(*array, 2 * n);
      const auto values = lengths(required(file_.field_data(), "pair_thickness"), n);
      for (std::size_t i = 0; i < n; ++i)
        frame.pair_thickness.push_back(
            {body(*array, bodies[2 * i], frame), body(*array, bodies[2 * i + 1], frame), values[i]});
    }
  }

  Matrix3X vectors(const VtuPiece& piece, std::string_view name, std::size_t points) const {
    const VtuArray* array = VtuFile::find(piece.point_data, name);
    if (!array) return Matrix3X();
    const auto values = file_.reals(*array, 3 * points);
    return Matrix3X::Map(values.data(), 3, Eigen::Index(points));
  }

  /// One for each tetrahedron, then for each triangle.
  VectorX per_solid_cell(const VtuPiece& piece, std::string_view name, const Frame& frame) const {
    const VtuArray* array = VtuFile::find(piece.cell_data, name);
    if (!array) return VectorX();
    const auto values = file_.reals(*array, std::size_t(piece.cell_count));
    return VectorX::Map(values.data(), frame.mesh.tetrahedra.cols() + frame.mesh.faces.cols());
  }

  VtuFile file_;
};

}  // namespace

Frame read_frame(const std::filesystem::path& file) {
  return FrameReader(file).read();
}

}  // namespace apart
