#include <apart/core/error.hpp>
#include <apart/geometry/exact_intersection.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/tetgen.hpp>
#include <apart/io/text_writer.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <numbers>
#include <thread>
#include <vector>

namespace apart {

namespace {

constexpr const char* advice = "repair the surface, or give a mesh that has tetrahedra";

/// A new folder for the program's files, removed at the end.
class WorkFolder {
 public:
  WorkFolder() : path_((std::filesystem::temp_directory_path() / "apart-tetgen-XXXXXX").string()) {
    if (!::mkdtemp(path_.data()))
      throw InputError("{}: cannot be created: {}; make room for temporary files", path_,
                       std::strerror(errno));
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const char* name) const { return std::filesystem::path(path_) / name; }
  const char* c_str() const { return path_.c_str(); }

 private:
  std::string path_;
};

struct Outcome {
  int start_error = 0;  ///< errno if the program could not be started
  bool timed_out = false;
  int status = 0;  ///< of waitpid
};

/// Runs a program in `folder` with its output in `folder`/log. No shell is involved.
Outcome run(const WorkFolder& folder, const std::vector<std::string>& arguments, int time_limit) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int start[2];  // the child sends errno if exec fails; exec closes it if not
  if (::pipe2(start, O_CLOEXEC) != 0) return {.start_error = errno};
  const pid_t child = ::fork();
  if (child == 0) {
    // Between fork and exec only system calls: other threads may have held locks.
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);  // it aborts on input that it rejects
    const int in = ::open("/dev/null", O_RDONLY);
    if (in >= 0 && ::chdir(folder.c_str()) == 0) {
      const int log = ::open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (log >= 0 && ::dup2(in, 0) >= 0 && ::dup2(log, 1) >= 0 && ::dup2(log, 2) >= 0)
        ::execvp(argv[0], argv.data());
    }
    const int error = errno;
    if (::write(start[1], &error, sizeof error) < 0) ::_exit(126);
    ::_exit(127);
  }
  Outcome outcome;
  if (child < 0) outcome.start_error = errno;
  ::close(start[1]);
  int error = 0;
  ssize_t n = 0;
  do n = ::read(start[0], &error, sizeof error);
  while (n < 0 && errno == EINTR);
  ::close(start[0]);
  if (child < 0) return outcome;
  if (n == ssize_t(sizeof error)) outcome.start_error = error;

  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(time_limit);
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    const pid_t done = ::waitpid(child, &outcome.status, WNOHANG);
    if (done == child || (done < 0 && errno != EINTR)) return outcome;
    if (!outcome.timed_out && Clock::now() > deadline) {
      ::kill(child, SIGKILL);
      outcome.timed_out = true;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(50));
  }
}

/// TetGen's format of surfaces: points, facets, no holes, no regions; counted from 0.
void write_smesh(const std::filesystem::path& file, const Mesh& surface) {
  std::ofstream out(file);
  TextWriter text(out);
  out << fmt::format("{} 3 0 0\n", surface.points.cols());
  for (Eigen::Index p = 0; p < surface.points.cols(); ++p)
    text.columns(fmt::format("{}", p), surface.points.col(p));
  out << fmt::format("{} 0\n", surface.faces.cols());
  text.columns("3", surface.faces);
  out << "0\n0\n";
  if (!out.flush())
    throw UnavailableError("{}: cannot be written; make room for temporary files", file.string());
}

Mesh read_result(const WorkFolder& folder) {
  Mesh mesh;
  FileReader nodes(folder / "surface.1.node");
  mesh.points.resize(3, nodes.count("number of points", 8));
  nodes.line();
  for (Index p = 0; p < mesh.point_count(); ++p) {
    nodes.integer("point number");
    for (int d = 0; d < 3; ++d) mesh.points(d, p) = nodes.finite_real("coordinate");
    nodes.line();
  }
  FileReader elements(folder / "surface.1.ele");
  mesh.tetrahedra.resize(4, elements.count("number of tetrahedra", 10));
  elements.line();
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    elements.integer("tetrahedron number");
    for (int k = 0; k < 4; ++k) {
      const std::int64_t p = elements.integer("point of a tetrahedron");
      if (p < 0 || p >= mesh.point_count())
        elements.fail("point of a tetrahedron: got {}, which does not exist", p);
      mesh.tetrahedra(k, t) = int(p);
    }
    elements.line();
  }
  return mesh;
}

void check_surface(const Mesh& surface, const std::string& where) {
  validate_surface(surface, where);
  if (const auto edge = find_open_edge(surface)) {
    const bool turned = edge->forward + edge->backward == 2;
    throw InputError("{}: the surface is not closed: the edge between points {} and {} {}; close it, {}",
                     where, edge->a, edge->b,
                     turned ? std::string("has two triangles that face opposite sides")
                            : fmt::format("has {} triangle{}, must have 2", edge->forward + edge->backward,
                                          edge->forward + edge->backward == 1 ? "" : "s"),
                     "or give a mesh that has tetrahedra");
  }
  const auto pairs = exact::find_intersections(
      surface.points, exact::surface(surface.point_count(), surface.faces, Edges(2, 0), Eigen::VectorXi(0)),
      [](Index, Index) { return true; });
  if (!pairs.empty()) {
    const auto& edge = pairs.front().a.vertices;
    const auto& face = pairs.front().b.vertices;
    throw InputError(
        "{}: the surface intersects itself in {} places, first the edge with points {} {} and the triangle "
        "with points {} "
        "{} {}; {}",
        where, pairs.size(), edge[0], edge[1], face[0], face[1], face[2], advice);
  }
}

using Triangle = std::array<int, 3>;

Triangle sorted(int a, int b, int c) {
  Triangle t = {a, b, c};
  std::sort(t.begin(), t.end());
  return t;
}

/// How often the surface winds around x: 1 inside, 0 outside and in cavities, more where shells lie in each
/// other.
double winding_number(const Mesh& surface, const Vector3& x) {
  double solid_angle = 0;
  for (Index f = 0; f < surface.faces.cols(); ++f) {
    const Vector3 a = surface.points.col(surface.faces(0, f)) - x,
                  b = surface.points.col(surface.faces(1, f)) - x,
                  c = surface.points.col(surface.faces(2, f)) - x;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    // tan(Ω/2) = a·(b×c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)
    solid_angle +=
        2 * std::atan2(a.cross(b).dot(c), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
  }
  return solid_angle / (4 * std::numbers::pi);
}

/// TetGen fills cavities too. Drops every region between shells around which the surface does not wind.
void empty_cavities(Mesh& mesh, const Mesh& surface) {
  static constexpr int local[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  std::vector<Triangle> walls;
  for (Index f = 0; f < surface.faces.cols(); ++f)
    walls.push_back(sorted(surface.faces(0, f), surface.faces(1, f), surface.faces(2, f)));
  std::sort(walls.begin(), walls.end());
  std::vector<std::pair<Triangle, Index>> faces;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t)
    for (const auto& l : local)
      faces.emplace_back(sorted(mesh.tetrahedra(l[0], t), mesh.tetrahedra(l[1], t), mesh.tetrahedra(l[2], t)),
                         t);
  std::sort(faces.begin(), faces.end());

  // Union of neighbours across faces that are no walls.
  std::vector<Index> parent(std::size_t(mesh.tetrahedra.cols()));
  for (std::size_t t = 0; t < parent.size(); ++t) parent[t] = Index(t);
  const auto root = [&](Index t) {
    while (parent[std::size_t(t)] != t)
      t = parent[std::size_t(t)] = parent[std::size_t(parent[std::size_t(t)])];
    return t;
  };
  for (std::size_t i = 1; i < faces.size(); ++i)
    if (faces[i].first == faces[i - 1].first &&
        !std::binary_search(walls.begin(), walls.end(), faces[i].first))
      parent[std::size_t(root(faces[i].second))] = root(faces[i - 1].second);

  std::vector<char> solid(parent.size());  // of each root
  Index kept = 0;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    if (root(t) != t) continue;
    Vector3 centre = Vector3::Zero();
    for (int k = 0; k < 4; ++k) centre += mesh.points.col(mesh.tetrahedra(k, t)) / 4;
    solid[std::size_t(t)] = winding_number(surface, centre) > 0.5;
  }
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t)
    if (solid[std::size_t(root(t))]) mesh.tetrahedra.col(kept++) = mesh.tetrahedra.col(t);
  mesh.tetrahedra.conservativeResize(4, kept);
}

bool has_boundary(const Mesh& mesh, const Faces& expected) {
  const auto oriented = [](const Faces& faces) {
    std::vector<Triangle> list;
    for (Index f = 0; f < faces.cols(); ++f) {
      Triangle t = {faces(0, f), faces(1, f), faces(2, f)};
      std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
      list.push_back(t);
    }
    std::sort(list.begin(), list.end());
    return list;
  };
  return oriented(boundary_faces(mesh.tetrahedra)) == oriented(expected);
}

}  // namespace

Mesh tetrahedralize(const Mesh& closed_surface, const std::string& where,
                    const TetrahedralizeOptions& options) {
  check_surface(closed_surface, where);
  if (!(options.radius_edge_ratio > 1 && options.radius_edge_ratio < 1e6))
    throw InputError("{}: radius_edge_ratio: got {}, must lie between 1 and 1e6; 2 is usual", where,
                     options.radius_edge_ratio);
  if (!(options.max_volume >= 0) || std::isinf(options.max_volume))
    throw InputError("{}: max_volume: got {}, must be positive, or 0 for no limit", where,
                     options.max_volume);
  Mesh surface;
  surface.points = closed_surface.points;
  surface.faces = closed_surface.faces;
  surface = remove_unreferenced_points(surface);
  if (enclosed_volume(surface) < 0) surface.faces.row(1).swap(surface.faces.row(2));  // inside out

  const WorkFolder folder;
  write_smesh(folder / "surface.smesh", surface);
  // p: a surface, Y: keep it as it is, q: well-shaped inside, a: no larger than that, BF: neither markers nor
  // faces
  std::string switches = fmt::format("-pYBFq{}", options.radius_edge_ratio);
  if (options.max_volume > 0) switches += fmt::format("a{:.17f}", options.max_volume);
  const Outcome outcome = run(folder, {options.program, switches, "surface.smesh"}, options.time_limit);
  if (outcome.start_error == ENOENT)
    throw InputError(
        "{}: filling a surface with tetrahedra needs the program '{}', which was not found; install it "
        "(Debian: apt "
        "install tetgen), or give a mesh that has tetrahedra",
        where, options.program);
  if (outcome.start_error != 0)
    throw InputError("{}: the program '{}' could not be started: {}; give a mesh that has tetrahedra", where,
                     options.program, std::strerror(outcome.start_error));
  if (outcome.timed_out)
    throw InputError("{}: '{}' did not finish within {} seconds; {}", where, options.program,
                     options.time_limit, advice);
  std::error_code missing;
  const bool succeeded = WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 0 &&
                         std::filesystem::exists(folder / "surface.1.ele", missing);
  if (!succeeded)
    throw InputError("{}: '{}' could not fill the surface with tetrahedra ({}); {}", where, options.program,
                     WIFSIGNALED(outcome.status) ? fmt::format("ended by signal {}", WTERMSIG(outcome.status))
                                                 : fmt::format("exit code {}", WEXITSTATUS(outcome.status)),
                     advice);
  Mesh mesh = read_result(folder);
  const Eigen::Index n = surface.points.cols();
  orient_tetrahedra(mesh);
  empty_cavities(mesh, surface);
  if (mesh.points.cols() < n || mesh.points.leftCols(n) != surface.points ||
      !has_boundary(mesh, surface.faces))
    throw InputError("{}: '{}' changed the surface; {}", where, options.program, advice);
  mesh = remove_unreferenced_points(mesh);  // of cavities; the surface's points come first and stay
  validate_volume(mesh, where);
  return mesh;
}

}  // namespace apart
