#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/frame.hpp>
#include <apart/io/vtu.hpp>

#include <expat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
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

}  // namespace

void write_frame(const std::filesystem::path& file, const Frame& frame) {
  check_sizes(frame);
  const Mesh& mesh = frame.mesh;
  VtuOutputs arrays;

  // ParaView takes the time of a file from the field array of this name.
  arrays.field.push_back(vtu_output("TimeValue", {&frame.time, 1}));
  if (frame.topology != 0) arrays.field.push_back(vtu_output("topology", {&frame.topology, 1}));
  const std::string names = zero_terminated(frame.bodies, &FrameBody::name);
  const std::string kinds = zero_terminated(frame.bodies, &FrameBody::kind);
  const auto body_count = std::int64_t(frame.bodies.size());
  arrays.field.push_back(vtu_output_strings("body_names", names, body_count));
  arrays.field.push_back(vtu_output_strings("body_kinds", kinds, body_count));

  std::vector<double> planes;  // origin, normal
  std::vector<int> plane_bodies, plane_carriers;
  for (const HalfSpace& h : frame.half_spaces) {
    planes.insert(planes.end(), h.origin.data(), h.origin.data() + 3);
    planes.insert(planes.end(), h.normal.data(), h.normal.data() + 3);
    plane_bodies.push_back(h.body);
    plane_carriers.push_back(h.carrier);
  }
  if (!planes.empty()) {
    arrays.field.push_back(vtu_output("half_spaces", planes, 6));
    arrays.field.push_back(vtu_output("half_space_bodies", plane_bodies));
    arrays.field.push_back(vtu_output("half_space_carriers", plane_carriers));
  }
  std::vector<int> pairs;
  for (const auto& [a, b] : frame.ignored_pairs) pairs.insert(pairs.end(), {a, b});
  if (!pairs.empty()) arrays.field.push_back(vtu_output("ignored_pairs", pairs, 2));
  const int allow_nested = 1;
  if (frame.allow_nested) arrays.field.push_back(vtu_output("allow_nested", {&allow_nested, 1}));
  if (!frame.absent.empty()) arrays.field.push_back(vtu_output("absent_bodies", frame.absent));
  if (!frame.invertible_cells.empty())
    arrays.field.push_back(vtu_output("invertible_cells", frame.invertible_cells));

  std::vector<int> thick_pairs;
  std::vector<double> pair_values;
  for (const PairThickness& t : frame.pair_thickness) {
    thick_pairs.insert(thick_pairs.end(), {t.a, t.b});
    pair_values.push_back(t.thickness);
  }
  if (!frame.thickness.empty()) {
    arrays.field.push_back(vtu_output("body_thickness", frame.thickness));
    arrays.field.push_back(vtu_output("body_self_reach", frame.self_reach));
  }
  if (!frame.drawn_thickness.empty())
    arrays.field.push_back(vtu_output("body_drawn_thickness", frame.drawn_thickness));
  if (!thick_pairs.empty()) {
    arrays.field.push_back(vtu_output("thickness_pairs", thick_pairs, 2));
    arrays.field.push_back(vtu_output("pair_thickness", pair_values));
  }

  std::vector<double> limits;  // body, woven, the three limits
  for (const FrameStrainLimit& l : frame.strain_limits)
    limits.insert(limits.end(), {double(l.body), double(l.woven), l.limits[0], l.limits[1], l.limits[2]});
  if (!limits.empty()) {
    arrays.field.push_back(vtu_output("strain_limits", limits, 5));
    arrays.field.push_back(vtu_output("rest_shape", values_of(frame.rest_shape), 4));
  }

  arrays.point.push_back(vtu_output("body", values_of(frame.point_body)));
  if (frame.velocity.size() > 0) arrays.point.push_back(vtu_output("velocity", values_of(frame.velocity), 3));
  if (frame.contact_force.size() > 0)
    arrays.point.push_back(vtu_output("contact_force", values_of(frame.contact_force), 3));

  std::vector<int> cell_body;
  const auto add_cells = [&](const auto& cells) {
    for (Eigen::Index c = 0; c < cells.cols(); ++c) cell_body.push_back(frame.point_body[cells(0, c)]);
  };
  add_cells(mesh.tetrahedra);
  add_cells(mesh.faces);
  add_cells(mesh.edges);
  add_cells(mesh.vertices.transpose());
  arrays.cell.push_back(vtu_output("body", cell_body));
  // A cell array needs a value for every kind of cell.
  VectorX stress = VectorX::Zero(Eigen::Index(cell_body.size())), strain = stress;
  stress.head(frame.von_mises.size()) = frame.von_mises;
  strain.head(frame.strain.size()) = frame.strain;
  if (frame.von_mises.size() > 0) arrays.cell.push_back(vtu_output("von_mises", values_of(stress)));
  if (frame.strain.size() > 0) arrays.cell.push_back(vtu_output("strain", values_of(strain)));

  write_atomically(
      file, [&](std::ostream& out) { write_vtu(out, mesh, arrays); }, Flush::later);
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

// ---- a run's frames
// --------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view index_name = "frames.pvd";

/// What stands in OBJ and PLY beside a frame: the boundary of volumes, and every other cell.
Mesh surface_of(const Mesh& mesh) {
  Mesh surface;
  const Faces boundary = boundary_faces(mesh.tetrahedra);
  surface.points = mesh.points;  // all of them: vertex i of the surface is point i of the frame
  surface.faces.resize(3, boundary.cols() + mesh.faces.cols());
  surface.faces << boundary, mesh.faces;
  surface.edges = mesh.edges;
  surface.vertices = mesh.vertices;
  return surface;
}

/// The <DataSet timestep="..." file="..."/> elements of a PVD file.
std::vector<FrameEntry> read_index(const std::filesystem::path& file) {
  struct Parsing {
    std::vector<FrameEntry> entries;
    bool damaged = false;
  } parsing;
  const FileReader reader(file);
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                       &XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  XML_SetUserData(parser.get(), &parsing);
  XML_SetStartElementHandler(parser.get(), [](void* data, const char* name, const char** attributes) {
    auto& p = *static_cast<Parsing*>(data);
    if (std::string_view(name) != "DataSet") return;
    std::optional<double> time;
    std::string path;
    for (; *attributes; attributes += 2) {
      if (std::string_view(attributes[0]) == "timestep") time = parse_real(attributes[1]);
      if (std::string_view(attributes[0]) == "file") path = attributes[1];
    }
    if (!time || path.empty())
      p.damaged = true;
    else
      p.entries.push_back({*time, path});
  });
  const std::string_view content = reader.content();
  const bool parsed = XML_Parse(parser.get(), content.data(),
                                int(std::min<std::size_t>(content.size(), 1u << 30)), 1) == XML_STATUS_OK;
  if (!parsed || parsing.damaged)
    throw InputError("{}:{}: damaged index of frames{}; run the simulation again", file.string(),
                     XML_GetCurrentLineNumber(parser.get()),
                     parsed ? " (a DataSet without timestep or file)"
                            : fmt::format(" ({})", XML_ErrorString(XML_GetErrorCode(parser.get()))));
  return parsing.entries;
}

}  // namespace

namespace {

/// The mesh without the cells of bodies that are not there.
Mesh present_cells(const Frame& frame) {
  Mesh mesh = frame.mesh;
  if (frame.absent.empty()) return mesh;
  const auto keep = [&](auto& cells) {
    Eigen::Index kept = 0;
    for (Eigen::Index c = 0; c < cells.cols(); ++c)
      if (std::find(frame.absent.begin(), frame.absent.end(), frame.point_body[cells(0, c)]) ==
          frame.absent.end())
        cells.col(kept++) = cells.col(c).eval();
    cells.conservativeResize(cells.rows(), kept);
  };
  keep(mesh.tetrahedra);
  keep(mesh.faces);
  keep(mesh.edges);
  Eigen::RowVectorXi free_points = mesh.vertices.transpose();
  keep(free_points);
  mesh.vertices = free_points.transpose();
  return mesh;
}

}  // namespace

FrameWriter::FrameWriter(std::filesystem::path run_directory, std::vector<std::string> extra_formats,
                         Index keep)
    : directory_(std::move(run_directory)), extra_formats_(std::move(extra_formats)) {
  for (const std::string& format : extra_formats_)
    if (format != "obj" && format != "ply")
      throw InputError("output format {}: must be 'obj' or 'ply' (VTU is always written)",
                       apart::quoted(format));
  std::error_code error;
  std::filesystem::create_directories(directory_ / "frames", error);
  if (error)
    throw InputError("{}: cannot be created: {}; choose another output folder",
                     (directory_ / "frames").string(), error.message());
  if (keep == 0) return;
  const std::vector<FrameEntry> kept = read_index(directory_ / index_name);
  if (Index(kept.size()) < keep)
    throw InputError("{}: lists {} frames, the run to be continued has {}; start it again",
                     (directory_ / index_name).string(), kept.size(), keep);
  for (Index i = 0; i < keep; ++i) add_entry(kept[std::size_t(i)].time);
}

void FrameWriter::add_entry(double time) {
  entries_ += fmt::format("    <DataSet timestep=\"{}\" file=\"{}\"/>\n", time, frame_name(count_++));
}

void FrameWriter::write(const Frame& frame) {
  const std::filesystem::path file = directory_ / frame_name(count());
  write_frame(file, frame);
  for (const std::string& format : extra_formats_) {
    Mesh surface = surface_of(present_cells(frame));
    auto beside = file;
    beside.replace_extension("." + format);
    if (format == "obj") {
      write_obj(beside, surface);
    } else {
      // In PLY every point is visible anyway; it has no cell for free points beside faces.
      if (surface.faces.cols() + surface.edges.cols() > 0) surface.vertices.resize(0);
      write_ply(beside, surface);
    }
  }
  add_entry(frame.time);
  write_atomically(
      directory_ / index_name,
      [&](std::ostream& out) {
        out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n"
            << entries_ << "  </Collection>\n</VTKFile>\n";
      },
      Flush::later);
}

std::string frame_name(Index frame) {
  return fmt::format("frames/frame_{:06}.vtu", frame);
}

std::string iterates_name(Index step) {
  return fmt::format("iterates/step_{:06}.bin", step);
}

std::vector<FrameEntry> read_frame_index(const std::filesystem::path& run_directory) {
  std::error_code error;
  if (!std::filesystem::exists(run_directory / index_name, error)) return {};
  return read_index(run_directory / index_name);
}

std::vector<std::filesystem::path> list_frames(const std::filesystem::path& run_directory) {
  const std::filesystem::path index = run_directory / index_name;
  std::error_code error;
  if (!std::filesystem::exists(index, error))
    throw InputError("{}: holds no {}; give the folder of a run that wrote frames", run_directory.string(),
                     index_name);
  std::vector<std::filesystem::path> files;
  double last = -std::numeric_limits<double>::infinity();
  for (const auto& [time, name] : read_index(index)) {
    const std::filesystem::path file = run_directory / name;
    if (!std::filesystem::is_regular_file(file, error))
      throw InputError("{}: the frame {} is missing; restore it or run the simulation again", index.string(),
                       file.string());
    if (!(time >= last))
      throw InputError("{}: time {} follows time {}, must not decrease; run the simulation again",
                       index.string(), time, last);
    last = time;
    files.push_back(file);
  }
  if (files.empty()) throw InputError("{}: lists no frame; run the simulation again", index.string());
  return files;
}

// ---- iterates
// --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view iterates_magic = "apartITR";
constexpr std::uint64_t iterates_version = 2;           // all of topology 0
constexpr std::uint64_t numbered_iterates_version = 3;  // each with its topology

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

uLong crc_of(uLong crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // zlib takes a null pointer as a request for the start value
  return ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

}  // namespace

// Little-endian: magic (8 bytes), then as 8-byte integers version, step and number of iterates; in version 2
// the number of points; the number of absent bodies and these bodies. Then the iterates: in version 3 each
// begins with its topology and its number of points, and one topology at least is not 0; the coordinates are
// doubles. At the end the CRC-32 of all that as a 4-byte integer.
void write_iterates(const std::filesystem::path& run_directory, const Iterates& iterates) {
  static_assert(std::endian::native == std::endian::little,
                "write_iterates writes the machine's own byte order");
  ensure(iterates.topology.empty() || iterates.topology.size() == iterates.points.size(),
         "Iterates: a topology for each, or for none");
  const bool numbered = std::ranges::any_of(iterates.topology, [](Index number) { return number != 0; });
  const Eigen::Index points = iterates.points.empty() ? 0 : iterates.points.front().cols();
  for (std::size_t i = 1; i < iterates.points.size(); ++i)
    ensure(iterates.topology_of(i) != iterates.topology_of(i - 1) ||
               iterates.points[i].cols() == iterates.points[i - 1].cols(),
           "Iterates: those of one topology have the same number of points");
  const std::filesystem::path directory = run_directory / "iterates";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw InputError("{}: cannot be created: {}; choose another output folder", directory.string(),
                     error.message());
  const auto write = [&](std::ostream& out) {
    uLong crc = 0;
    const auto put = [&](std::string_view bytes) {
      crc = crc_of(crc, bytes);
      out << bytes;
    };
    const auto put_number = [&](auto value) { put(bytes_of(std::uint64_t(value))); };
    put(iterates_magic);
    put_number(numbered ? numbered_iterates_version : iterates_version);
    put_number(iterates.step);
    put_number(iterates.points.size());
    if (!numbered) put_number(points);
    put_number(iterates.absent.size());
    for (const int body : iterates.absent) put_number(body);
    for (std::size_t i = 0; i < iterates.points.size(); ++i) {
      const Matrix3X& p = iterates.points[i];
      if (numbered) {
        put_number(iterates.topology[i]);
        put_number(p.cols());
      }
      put({reinterpret_cast<const char*>(p.data()), std::size_t(p.size()) * sizeof(double)});
    }
    const auto stored_crc = std::uint32_t(crc);
    out << bytes_of(stored_crc);
  };
  write_atomically(run_directory / iterates_name(iterates.step), write, Flush::later);
}

namespace {

/// Reads a file of iterates. Trusts no number: what it says it holds must fit what is left of it.
class IteratesReader {
 public:
  explicit IteratesReader(const std::filesystem::path& file) : reader_(file) { reader_.set_binary(true); }

  Iterates read() {
    if (reader_.bytes(iterates_magic.size(), "file mark") != iterates_magic)
      reader_.fail("not a file of Newton iterates; give a file from the folder iterates of a run");
    const std::uint64_t version = number("version");
    if (version != iterates_version && version != numbered_iterates_version)
      reader_.fail("version {} of the iterates, this program reads versions {} and {}; record them again",
                   version, iterates_version, numbered_iterates_version);
    const std::uint64_t step = number("step");
    count_ = number("number of iterates");
    numbered_ = version == numbered_iterates_version;
    if (!numbered_) points_ = number("number of points");
    read_absent(number("number of absent bodies"));
    if (step > std::uint64_t(std::numeric_limits<Index>::max())) fail_size(step);
    result_.step = Index(step);
    if (!numbered_) {
      const std::size_t left = reader_.remaining();
      // In this order nothing overflows: each product is known to be at most the size of the file.
      const bool fits = left >= sizeof(std::uint32_t) && points_ <= left / point_bytes &&
                        (points_ == 0 ? count_ == 0 : count_ <= left / (points_ * point_bytes)) &&
                        count_ * points_ * point_bytes + sizeof(std::uint32_t) == left;
      if (!fits) fail_size(step);
    }
    for (std::uint64_t i = 0; i < count_; ++i) read_one();
    if (numbered_) check_numbers();
    if (reader_.remaining() != sizeof(std::uint32_t)) fail_size(step);
    const uLong crc =
        crc_of(0, reader_.content().substr(0, reader_.content().size() - sizeof(std::uint32_t)));
    const auto stored_crc = reader_.value<std::uint32_t>("checksum");
    if (stored_crc != crc)
      reader_.fail("the data are damaged (checksum {}, must be {}); record the run again", crc, stored_crc);
    return std::move(result_);
  }

 private:
  static constexpr std::size_t point_bytes = 3 * sizeof(double);

  std::uint64_t number(std::string_view what) { return reader_.value<std::uint64_t>(what); }

  [[noreturn]] void fail_size(std::uint64_t step) {
    reader_.fail(
        "step {} with {} iterates of {} points does not match the file's size; the file was cut off or "
        "damaged",
        step, count_, points_);
  }

  void read_absent(std::uint64_t absent) {
    if (absent > reader_.remaining() / sizeof(std::uint64_t))
      reader_.fail("says that {} bodies are absent, which does not match the file's size; it is damaged",
                   absent);
    for (std::uint64_t i = 0; i < absent; ++i) {
      const std::uint64_t body = number("absent body");
      if (body > std::uint64_t(std::numeric_limits<int>::max()))
        reader_.fail("has no body {}; it is damaged", body);
      result_.absent.push_back(int(body));
    }
  }

  void read_one() {
    if (numbered_) {
      const std::uint64_t topology = number("number of a topology");
      points_ = number("number of points");
      if (topology > std::uint64_t(std::numeric_limits<Index>::max()) ||
          points_ > reader_.remaining() / point_bytes)
        reader_.fail("has an iterate of topology {} with {} points; it is damaged", topology, points_);
      result_.topology.push_back(Index(topology));
    }
    Matrix3X& matrix = result_.points.emplace_back(3, Eigen::Index(points_));
    const std::string_view bytes = reader_.bytes(points_ * point_bytes, "points");
    if (!bytes.empty()) std::memcpy(matrix.data(), bytes.data(), bytes.size());
  }

  void check_numbers() {
    bool any = false;
    for (std::size_t i = 0; i < result_.points.size(); ++i) {
      any |= result_.topology[i] != 0;
      if (i > 0 && result_.topology[i] == result_.topology[i - 1] &&
          result_.points[i].cols() != result_.points[i - 1].cols())
        reader_.fail("has iterates of topology {} with {} and with {} points; it is damaged",
                     result_.topology[i], result_.points[i - 1].cols(), result_.points[i].cols());
    }
    if (!any) reader_.fail("numbers topologies of which all are 0; it is damaged");
  }

  FileReader reader_;
  Iterates result_;
  bool numbered_ = false;
  std::uint64_t count_ = 0, points_ = 0;
};

}  // namespace

Iterates read_iterates(const std::filesystem::path& file) {
  return IteratesReader(file).read();
}

std::vector<std::filesystem::path> list_iterates(const std::filesystem::path& run_directory) {
  std::vector<std::pair<std::int64_t, std::filesystem::path>> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run_directory / "iterates", error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".bin" || !name.starts_with("step_")) continue;
    if (const auto step = parse_integer(std::string_view(name).substr(5)))
      found.emplace_back(*step, entry.path());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::filesystem::path> files;
  for (auto& [step, path] : found) files.push_back(std::move(path));
  return files;
}

}  // namespace apart
