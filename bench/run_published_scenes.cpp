// Runs the scripts that the reference implementation of IPC publishes, the scenes of Codimensional IPC on the
// published meshes, the fixtures of Rigid IPC, the scenes of high-order IPC and those of in-timestep
// remeshing, some steps of each, proves each run with `apart verify`, and sets the figures beside the
// published ones. Every scene is a process of its own. What is done stays in a folder, so that a second call
// goes on where the first one stopped.
#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>

#include "child_process.hpp"
#include "scene_tables.hpp"

#include <sys/file.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>

namespace apart::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop = 0;

struct Arguments {
  std::string program = "build/apart", scripts = "../shared/data/ipc", output = "build/scenes", only;
  std::string meshes;                   ///< of the codimensional scenes; empty: those are not run
  std::string codim = "bench/codim";    ///< the scene files that want these meshes
  std::string fixtures;                 ///< of Rigid IPC; empty: those are not run
  std::string polyfem;                  ///< scenes of high-order IPC; empty: those are not run
  std::string remesh = "bench/remesh";  ///< scene files of in-timestep remeshing; empty: those are not run
  int steps = 0, threads = 1;
  double budget = 0, scene_budget = 150;  ///< [s]; 0: no limit
  bool again = false, record_iterates = false, table_only = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

json read_json(const fs::path& file) {
  return json::parse(FileReader(file).content());
}

/// The last line of a log that says something, without the folder of the scripts.
std::string last_line(const fs::path& log, const fs::path& scripts) {
  std::error_code error;
  if (!fs::exists(log, error)) return "no output";
  const std::string text(FileReader(log).content());
  std::string last;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool advice =
        line.starts_with("The last good state is in ") || line.starts_with("apart run --resume");
    if (line.find_first_not_of(" \t\r") != line.npos && !advice && !line.starts_with("... and ")) last = line;
    begin = end + 1;
  }
  const std::string folder = scripts.string() + "/";
  if (!scripts.empty())
    for (std::size_t at; (at = last.find(folder)) != last.npos;) last.erase(at, folder.size());
  return last;
}

/// What `apart check` says of a scene.
struct Checked {
  Index steps = 0, nodes = 0;
};

/// How many steps of a scene show what it is about: the small ones need some to come to contact, and cost
/// little. Rigid ones have few nodes; they and those of PolyFEM are never longer than their file says.
int default_steps(Kind kind, const Checked& checked) {
  const Index n = checked.nodes;
  if (kind == Kind::rigid) return int(std::min<Index>(checked.steps, n <= 2000 ? 500 : 100));
  if (kind == Kind::high_order)
    return int(std::min<Index>(checked.steps, n <= 2000 ? 1000 : n <= 10000 ? 50 : 10));
  return n <= 300 ? 200 : n <= 4000 ? 40 : 10;
}

/// Held until destroyed, so that several calls can share the work.
class FileLock {
 public:
  explicit FileLock(const fs::path& file) : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    held_ = file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0;
  }
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return held_; }

 private:
  int file_;
  bool held_;
};

class Campaign {
 public:
  explicit Campaign(Arguments a) : a_(std::move(a)) {
    fs::create_directories(a_.output);
    if (!a_.scripts.empty()) add_scripts();
    if (!a_.meshes.empty()) add_codimensional();
    if (!a_.fixtures.empty()) add_fixtures();
    if (!a_.polyfem.empty()) add_json_scenes(a_.polyfem, "high-order/", Kind::high_order);
    if (!a_.remesh.empty()) add_remeshed();
  }

  int run() {
    const Clock::time_point start = Clock::now();
    std::size_t number = 0, waiting = 0;
    for (const Item& item : items_) {
      const std::string& name = item.name;
      ++number;
      std::optional<Result> result = kept(name);
      const bool done = result && result->outcome != Outcome::partly;
      double limit = a_.scene_budget > 0 ? a_.scene_budget : 1e9;
      if (a_.budget > 0) limit = std::min(limit, a_.budget - seconds_since(start));
      if (!a_.table_only && !stop && !(done && !a_.again) && limit > 1) {
        fs::create_directories(folder(name).parent_path());
        const FileLock lock(folder(name).string() + ".lock");
        if (!lock.held()) {
          fmt::print("[{}/{}] {}: another call is at it\n", number, items_.size(), name);
          ++waiting;
          continue;
        }
        fmt::print("[{}/{}, {:.0f} s] {} ...\n", number, items_.size(), seconds_since(start), name);
        std::fflush(stdout);
        result = run_scene(item, limit);
        if (result) {
          write_atomically(result_file(name), result->data.dump() + "\n");
          fmt::print("    {}\n", in_short(*result));
          std::fflush(stdout);
          write_atomically(fs::path(a_.output) / "table.md", table());
        }
      }
      if (result) results_[name] = *result;
      if (!result || result->outcome == Outcome::partly) ++waiting;
    }
    const std::string text = table();
    write_atomically(fs::path(a_.output) / "table.md", text);
    fmt::print("\n{}\nThis table is in {}/table.md\n", text, a_.output);
    if (waiting > 0) {
      fmt::print("{} scenes are not done; go on with the same command\n", waiting);
      return stop ? 128 + int(stop) : 1;
    }
    std::size_t failed = 0;
    for (const auto& [name, result] : results_) failed += result.outcome == Outcome::failed;
    if (failed > 0) fmt::print("{} scenes failed\n", failed);
    return failed > 0 ? 1 : 0;
  }

 private:
  void add_scripts() {
    for (const auto& entry : fs::recursive_directory_iterator(a_.scripts))
      if (entry.is_regular_file() && entry.path().extension() == ".txt") {
        const std::string name = fs::relative(entry.path(), a_.scripts).replace_extension().string();
        if (name.find(a_.only) != name.npos)
          items_.push_back({name, fs::path(a_.scripts) / (name + ".txt"), Kind::script});
      }
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.name < b.name; });
  }

  /// Files `…common.json` are no scenes: others include them.
  void add_json_scenes(const fs::path& folder, const std::string& prefix, Kind kind) {
    const std::size_t first = items_.size();
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() == ".json" &&
          !entry.path().stem().string().ends_with("common")) {
        const std::string name =
            prefix + (fs::relative(entry.path().parent_path(), folder) / entry.path().stem())
                         .lexically_normal()
                         .string();
        if (name.find(a_.only) != name.npos) items_.push_back({name, entry.path(), kind});
      }
    std::sort(items_.begin() + std::ptrdiff_t(first), items_.end(),
              [](const Item& a, const Item& b) { return a.name < b.name; });
  }

  void add_fixtures() {
    const std::size_t first = items_.size();
    add_json_scenes(a_.fixtures, "rigid/", Kind::rigid);
    for (const RigidVariant& v : rigid_variants()) {
      const std::string name = "rigid/" + std::string(v.name);
      const fs::path fixture = fs::path(a_.fixtures) / (std::string(v.fixture) + ".json");
      if (name.find(a_.only) != name.npos && fs::exists(fixture))
        items_.push_back({name, fixture, Kind::rigid, nullptr, nullptr, v.settings});
    }
    std::sort(items_.begin() + std::ptrdiff_t(first), items_.end(),
              [](const Item& a, const Item& b) { return a.name < b.name; });
  }

  /// Scene files name their meshes as "meshes/...", so copies of them lie beside a link to the folder.
  void add_codimensional() {
    const fs::path here = fs::path(a_.output) / "codim", link = here / "meshes";
    fs::create_directories(here);
    fs::remove(link);
    fs::create_directory_symlink(fs::canonical(a_.meshes), link);
    for (const CodimensionalScene& row : codimensional_scenes()) {
      const std::string name = "codim/" + std::string(row.name);
      if (name.find(a_.only) == name.npos) continue;
      const std::string file = std::string(row.file) + ".json";
      fs::copy_file(fs::path(a_.codim) / file, here / file, fs::copy_options::overwrite_existing);
      items_.push_back({name, here / file, Kind::codimensional, &row, nullptr, row.settings, row.steps});
    }
  }

  void add_remeshed() {
    for (const RemeshedScene& row : remeshed_scenes())
      if (const std::string name = "remesh/" + std::string(row.name); name.find(a_.only) != name.npos)
        items_.push_back({name, fs::path(a_.remesh) / (std::string(row.file) + ".json"), Kind::remeshed,
                          nullptr, &row, row.settings, row.steps});
  }

  fs::path folder(const std::string& name) const { return fs::path(a_.output) / "runs" / name; }
  fs::path log(const std::string& name) const { return fs::path(a_.output) / "runs" / (name + ".log"); }
  fs::path result_file(const std::string& name) const {
    return fs::path(a_.output) / "runs" / (name + ".json");
  }

  std::optional<Result> kept(const std::string& name) const {
    std::error_code error;
    if (!fs::exists(result_file(name), error)) return std::nullopt;
    Result result;
    result.data = read_json(result_file(name));
    const std::string outcome = result.data.at("outcome").get<std::string>();
    for (std::size_t i = 0; i < std::size(outcome_names); ++i)
      if (outcome_names[i] == outcome) result.outcome = Outcome(i);
    return result;
  }

  /// Nothing if it was stopped from outside.
  std::optional<Result> run_scene(const Item& item, double limit) const {
    const std::string& name = item.name;
    const fs::path run = folder(name);
    std::vector<std::string> scene = {item.scene.string()};
    for (const std::string_view setting : item.settings)
      if (!setting.empty()) scene.insert(scene.end(), {"--set", std::string(setting)});
    std::error_code error;
    if (item.row)
      if (const std::string missing = missing_mesh(item.scene); !missing.empty())
        return left_out(item, missing);
    std::vector<std::string> command = {a_.program, "run"};
    // A run that was stopped goes on, unless it is to be done again.
    const bool resume = !a_.again && fs::exists(run / "checkpoint", error) && steps_wanted(run) > 0;
    int steps = resume ? steps_wanted(run) : a_.steps;
    if (steps == 0) steps = item.steps;
    fs::remove(log(name), error);
    if (!resume && steps == 0) {
      // The number of steps follows from the size, which `check` prints. Its findings are those of `run`.
      const ChildEnd check =
          run_child({a_.program, "check", item.scene.string(), "-o", run.string() + "-problems.vtu"},
                    log(name), limit, stop);
      if (stop) return std::nullopt;
      if (check.code != 0) return examine(name, check, std::nullopt);
      steps = default_steps(item.kind, checked(name));
    }
    if (resume) {
      command.insert(command.end(), {"--resume", run.string()});
    } else {
      command.insert(command.end(), scene.begin(), scene.end());
      command.insert(command.end(), {"-o", run.string(), "--force"});
      // Between the frames of rigid bodies there are arcs, and meshes change: only the iterates are proof.
      if (a_.record_iterates || item.kind == Kind::rigid || item.kind == Kind::remeshed)
        command.push_back("--record-iterates");
    }
    command.insert(command.end(), {"--steps", std::to_string(steps)});
    command.insert(command.end(), {"--threads", std::to_string(a_.threads)});
    const ChildEnd ran = run_child(command, log(name), limit, stop);
    if (fs::is_directory(run, error)) write_atomically(run / "steps-wanted", std::to_string(steps) + "\n");
    if (stop) return std::nullopt;
    std::optional<ChildEnd> verified;
    fs::remove(run.string() + ".verify.log", error);
    if (fs::exists(run / "frames.pvd", error))
      verified = run_child({a_.program, "verify", run.string()}, run.string() + ".verify.log", 1e9, stop);
    if (stop) return std::nullopt;
    return examine(name, ran, verified);
  }

  /// The first mesh file of a scene that is not there, or nothing.
  static std::string missing_mesh(const fs::path& scene) {
    const std::string text(FileReader(scene).content());
    std::error_code error;
    const json parsed = json::parse(text, nullptr, true, true);
    for (const json& body : parsed.at("bodies"))
      for (const char* key : {"mesh", "rest_mesh"})
        if (body.contains(key) && body[key].contains("file")) {
          const std::string file = body[key]["file"].get<std::string>();
          if (!fs::exists(scene.parent_path() / file, error)) return file;
        }
    return {};
  }

  static Result left_out(const Item& item, const std::string& mesh) {
    Result result;
    result.outcome = Outcome::left_out;
    result.data = {{"scene", item.name},
                   {"outcome", outcome_names[std::size_t(result.outcome)]},
                   {"exit_code", 2},
                   {"message", mesh + " not found"}};
    return result;
  }

  int steps_wanted(const fs::path& run) const {
    std::error_code error;
    if (!fs::exists(run / "steps-wanted", error)) return 0;
    return std::atoi(std::string(FileReader(run / "steps-wanted").content()).c_str());
  }

  /// From the line "N steps of H s, M nodes" of `apart check`.
  Checked checked(const std::string& name) const {
    const std::string text(FileReader(log(name)).content());
    const std::size_t at = text.rfind(" nodes\n");
    if (at == text.npos) return {};
    const std::size_t line = text.rfind('\n', at - 1) + 1, begin = text.rfind(' ', at - 1);
    return {std::atoi(text.c_str() + line), std::atoi(text.c_str() + begin)};
  }

  /// Collects what the run has left.
  Result examine(const std::string& name, const ChildEnd& ran,
                 const std::optional<ChildEnd>& verified) const {
    Result result;
    json& d = result.data;
    const fs::path run = folder(name);
    d["scene"] = name;
    d["exit_code"] = ran.code;
    const bool stopped = ran.timed_out && ran.code == 128 + SIGINT;
    if (ran.code != 0) d["message"] = last_line(log(name), a_.scripts);
    if (ran.timed_out && !stopped && ran.code != 0)
      d["message"] = "did not end when its time was over: " + d["message"].get<std::string>();
    std::error_code error;
    if (verified && fs::exists(run / "summary.json", error)) {
      const json summary = read_json(run / "summary.json");
      for (const char* key : {"steps", "converged_steps", "wall_seconds", "cpu_seconds", "threads",
                              "newton_iterations", "max_contacts", "mean_contacts", "min_distance", "min_gap",
                              "min_volume_ratio", "peak_rss_bytes", "nodes", "dofs", "timings", "version"})
        d[key] = summary.at(key);
      for (const char* key : {"cells", "splits", "collapses", "remesh_trials"})
        if (summary.contains(key)) d[key] = summary[key];
      d["steps_wanted"] = steps_wanted(run);
      const json scene = read_json(run / "scene.json");
      d["dt"] = scene.at("time").at("dt");
      d["bodies"] = scene.at("bodies").size();
      d["verify_exit_code"] = verified->code;
      d["verify_seconds"] = verified->seconds;
      if (verified->code == 0 || verified->code == 4) {
        const json certificate = read_json(run / "certificate.json");
        d["max_strain_share"] = certificate.value("max_strain_share", json());
        d["tetrahedra"] =
            certificate.at("tetrahedra").get<Index>() + certificate.at("unchecked_tetrahedra").get<Index>();
      } else {
        d["message"] = last_line(run.string() + ".verify.log", a_.scripts);
      }
      if (verified->code != 0 && !d.contains("message"))
        d["message"] = last_line(run.string() + ".verify.log", a_.scripts);
    }
    const bool proven = verified && verified->code == 0;
    const std::string message = d.value("message", "");
    if (ran.code == 0 && proven)
      result.outcome = Outcome::certified;
    else if (stopped && proven)
      result.outcome = Outcome::partly;
    else if (ran.code == 2 &&
             ((message.find(": mesh ") != message.npos && message.find(" not found") != message.npos) ||
              message.find("but there is no such file") != message.npos))
      result.outcome = Outcome::left_out;
    d["outcome"] = outcome_names[std::size_t(result.outcome)];
    return result;
  }

  std::string table() const {
    std::vector<TableEntry> entries;
    for (const Item& item : items_) {
      const auto found = results_.find(item.name);
      entries.push_back({item, found == results_.end() ? kept(item.name) : std::optional(found->second)});
    }
    return scene_tables(entries, a_.threads);
  }

  Arguments a_;
  std::vector<Item> items_;
  std::map<std::string, Result> results_;
};

int dispatch(int argc, char** argv) {
  CLI::App app{
      "Runs the published scenes of IPC, Codimensional, Rigid and High-Order IPC and of in-timestep "
      "remeshing, "
      "and proves each run.",
      "apart_scenes"};
  Arguments a;
  app.add_option("--program", a.program, "The program apart")->capture_default_str();
  app.add_option("--scripts", a.scripts, "Folder of the scripts and meshes")->capture_default_str();
  app.add_option("--meshes", a.meshes,
                 "Folder of the meshes of Codimensional IPC; default: its scenes are not run");
  app.add_option("--codim", a.codim, "Folder of the scene files that want these meshes")
      ->capture_default_str();
  app.add_option("--fixtures", a.fixtures, "Folder of fixtures of Rigid IPC; default: they are not run");
  app.add_option("--polyfem", a.polyfem,
                 "Folder of scenes of High-Order IPC in PolyFEM's format; default: they are not run");
  app.add_option("--remesh", a.remesh, "Folder of the scene files of in-timestep remeshing")
      ->capture_default_str();
  app.add_option("--output", a.output, "Folder for runs and table")->capture_default_str();
  app.add_option("--only", a.only, "Only scenes whose path contains this");
  app.add_option(
      "--steps", a.steps,
      "Steps of each scene; default: 200 up to 300 nodes, 40 up to 4000, 10 beyond; of rigid fixtures "
      "500 up to 2000 nodes and 100 beyond, of PolyFEM's scenes 1000, 50 beyond 2000 and 10 beyond 10000, "
      "but "
      "not more than they have");
  app.add_option("--threads", a.threads, "Threads of each run")->capture_default_str();
  app.add_option("--budget", a.budget, "Seconds in all; 0: no limit")->capture_default_str();
  app.add_option("--scene-budget", a.scene_budget,
                 "Seconds for one scene in one call; the next call goes on with it; 0: no limit")
      ->capture_default_str();
  app.add_flag("--again", a.again, "Run everything again");
  app.add_flag("--record-iterates", a.record_iterates, "Prove the paths between Newton iterates as well");
  app.add_flag("--table", a.table_only, "Run nothing, print the table of what is there");
  CLI11_PARSE(app, argc, argv);
  std::error_code error;
  bool missing = false;
  const auto require_folder = [&](std::string& folder, const char* what, const char* remedy) {
    if (fs::is_directory(folder, error)) return;
    fmt::print(stderr, "{}: no such folder. {} WERE NOT RUN.\n{}\n", folder, what, remedy);
    folder.clear();
    missing = true;
  };
  require_folder(a.scripts, "THE PUBLISHED SCENES",
                 "Name the folder 'input' of a copy of the reference implementation of IPC: make scenes "
                 "SCENES=folder");
  if (!a.meshes.empty())
    require_folder(
        a.meshes, "THE CODIMENSIONAL SCENES",
        "Name a folder that holds the meshes of Codimensional IPC (square8K.obj, ...): make scenes "
        "CODIM=folder");
  if (!a.fixtures.empty())
    require_folder(a.fixtures, "THE FIXTURES OF RIGID IPC",
                   "Name the folder 'fixtures/3D' of a copy of Rigid IPC, its meshes beside 'fixtures': make "
                   "scenes RIGID=folder");
  if (!a.polyfem.empty())
    require_folder(
        a.polyfem, "THE SCENES OF HIGH-ORDER IPC",
        "Name a folder of scenes in PolyFEM's format with their meshes: make scenes POLYFEM=folder");
  if (!a.remesh.empty())
    require_folder(a.remesh, "THE REMESHED SCENES",
                   "Call it where bench/remesh is, or name it: --remesh folder");
  if (a.scripts.empty() && a.remesh.empty() && a.meshes.empty() && a.fixtures.empty() && a.polyfem.empty())
    return 2;
  if (!fs::exists(a.program, error)) {
    fmt::print(stderr, "{}: no such program; build it with 'make build'\n", a.program);
    return 2;
  }
  struct sigaction action {};
  action.sa_handler = [](int signal) { stop = signal; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  const int code = Campaign(a).run();
  return missing && code == 0 ? 2 : code;
}

}  // namespace
}  // namespace apart::bench

int main(int argc, char** argv) {
  try {
    return apart::bench::dispatch(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
