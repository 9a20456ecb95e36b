#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/partitioned_frame.hpp>
#include <apart/io/run_frames.hpp>

#include <expat.h>

#include <algorithm>
#include <memory>
#include <ostream>

namespace apart {

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

/// The mesh without the cells of absent bodies.
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
  for (CurvedCells& cells : mesh.curved) keep(cells.points);
  mesh.vertices = free_points.transpose();
  return mesh;
}

}  // namespace

FrameWriter::FrameWriter(std::filesystem::path run_directory, std::vector<std::string> extra_formats,
                         Index keep, int pieces)
    : directory_(std::move(run_directory)), extra_formats_(std::move(extra_formats)), pieces_(pieces) {
  for (const std::string& format : extra_formats_)
    if (format != "obj" && format != "ply" && format != "pvtu")
      throw InputError("output format {}: must be 'obj', 'ply' or 'pvtu' (VTU is always written)",
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
    if (format == "pvtu") {
      write_partitioned_frame(file, frame, pieces_);
      continue;
    }
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

}  // namespace apart
