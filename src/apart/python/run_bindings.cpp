#include <apart/core/diagnostics.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/io/table_file.hpp>
#include <apart/python/bindings.hpp>
#include <apart/run/certify_run.hpp>
#include <apart/run/run.hpp>
#include <apart/run/run_directory.hpp>
#include <apart/run/scene_warnings.hpp>
#include <apart/run/start_check.hpp>
#include <apart/run/step_table.hpp>
#include <apart/web/view_server.hpp>

#include <memory>

namespace apart::python {

namespace {

namespace fs = std::filesystem;

/// The options of a run that are the same for new and resumed ones.
RunOptions options_of(const py::dict& given, Watch& watch, const py::object& progress) {
  RunOptions options;
  if (given.contains("steps") && !given["steps"].is_none()) {
    options.steps = given["steps"].cast<Index>();
    if (*options.steps < 1) throw InputError("steps: got {}, must be at least 1", *options.steps);
  }
  if (given.contains("frames")) options.frames = given["frames"].cast<bool>();
  if (given.contains("record_iterates")) options.record_iterates = given["record_iterates"].cast<bool>();
  options.should_stop = [&watch] { return watch.should_stop(); };
  if (!progress.is_none())
    options.on_step = [&watch, &progress](const Progress& p) {
      watch.call([&] {
        py::dict report;
        for_each_column(p.report, [&](std::string_view name, double value) {
          report[py::str(std::string(name))] = value;
        });
        report["steps"] = p.steps;
        report["wall_seconds"] = p.wall_seconds;
        report["seconds_left"] = p.seconds_left;
        progress(report);
      });
    };
  return options;
}

/// (end, reason), or what ended it as an exception.
py::tuple ended(const RunResult& result, Watch& watch) {
  static constexpr const char* names[] = {"finished", "interrupted", "failed", "refuted", "no_memory"};
  watch.raise();
  return py::make_tuple(names[std::size_t(result.end)], result.reason);
}

py::tuple run(const SceneFile& file, const fs::path& directory, const py::dict& given,
              const py::object& progress) {
  Watch watch;
  RunOptions options = options_of(given, watch, progress);
  const bool force = given.contains("force") && given["force"].cast<bool>();
  const RunResult result = compute([&] {
    const Scene scene = build_scene(file);
    options.warnings = warnings(scene, report_bodies(*scene.model));
    ensure_feasible_start(scene, file);
    prepare_run_directory(directory, force);
    return run_scene(file, scene, directory, options);
  });
  return ended(result, watch);
}

py::tuple resume(const fs::path& directory, const py::dict& given, const py::object& progress) {
  Watch watch;
  RunOptions options = options_of(given, watch, progress);
  const RunResult result = compute([&] {
    const SceneFile file = read_scene(directory / "scene.json");
    const Scene scene = build_scene(file);
    options.warnings = warnings(scene, report_bodies(*scene.model));
    return resume_run(file, scene, directory, options);
  });
  return ended(result, watch);
}

}  // namespace

void bind_run(py::module_& m) {
  m.def(
      "run",
      [](const SceneFile& file, const std::string& directory, const py::dict& options,
         const py::object& progress) { return run(file, directory, options, progress); },
      py::arg("scene"), py::arg("directory"), py::arg("options"), py::arg("progress"));
  m.def(
      "resume",
      [](const std::string& directory, const py::dict& options, const py::object& progress) {
        return resume(directory, options, progress);
      },
      py::arg("directory"), py::arg("options"), py::arg("progress"));
  m.def("fresh_run_directory", [](const SceneFile& file) { return fresh_run_directory(file).string(); });
  m.def(
      "verify",
      [](const std::string& directory) {
        const Certificate certificate = compute([&] {
          Certificate result = certify_run(directory);
          write_certificate(directory, result);
          return result;
        });
        return py::make_tuple(certificate.ok(), summary(certificate));
      },
      py::arg("directory"), "(whether the run is proven, the summary); writes certificate.json");
  m.def(
      "list_frames",
      [](const std::string& directory) {
        std::vector<std::string> files;
        for (const fs::path& file : list_frames(directory)) files.push_back(file.string());
        return files;
      },
      py::arg("directory"));
  m.def(
      "read_table",
      [](const std::string& file) {
        Table table = compute([&] { return read_table(file); });
        py::dict columns;
        for (std::size_t c = 0; c < table.names.size(); ++c)
          columns[py::str(table.names[c])] =
              owned(VectorX(VectorX::Map(table.columns[c].data(), Eigen::Index(table.rows()))));
        return columns;
      },
      py::arg("file"), "The columns of a CSV file of a run, by name.");
  py::class_<ViewServer>(m, "ViewServer", "Serves the viewer of runs to this machine while it exists.")
      .def(py::init([](const std::vector<std::string>& runs, int port) {
             return std::make_unique<ViewServer>(std::vector<fs::path>(runs.begin(), runs.end()),
                                                 ViewOptions{.port = port, .token = {}});
           }),
           py::arg("runs"), py::arg("port"))
      .def_property_readonly("address", &ViewServer::address);
}

}  // namespace apart::python
