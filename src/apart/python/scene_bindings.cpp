#include <apart/importers/importers.hpp>
#include <apart/python/bindings.hpp>
#include <apart/python/catalog_json.hpp>
#include <apart/run/scene_warnings.hpp>
#include <apart/run/start_check.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/validation.hpp>

namespace apart::python {

namespace {

/// Everything that `apart check` says of a scene, as a dictionary.
py::dict check(const SceneFile& file) {
  struct Found {
    std::vector<std::string> problems, warnings, notes;
    std::vector<BodyReport> bodies;
  };
  const Found found = compute([&] {
    const Scene scene = build_scene(file);
    Found result;
    result.notes = scene.notes;
    result.bodies = report_bodies(*scene.model);
    result.warnings = warnings(scene, result.bodies);
    const StartCheck start = check_start(scene);
    if (!start.ok()) result.problems = messages(start, file);
    return result;
  });
  py::list bodies;
  for (const BodyReport& b : found.bodies) {
    py::dict row;
    row["name"] = b.name;
    row["kind"] = b.kind;
    row["points"] = b.points;
    row["tetrahedra"] = b.tetrahedra;
    row["triangles"] = b.triangles;
    row["segments"] = b.segments;
    row["extent"] = py::make_tuple(b.extent[0], b.extent[1], b.extent[2]);
    row["mass"] = b.mass;
    row["volume"] = b.volume;
    bodies.append(row);
  }
  py::dict result;
  result["problems"] = found.problems;
  result["warnings"] = found.warnings;
  result["notes"] = found.notes;
  result["bodies"] = bodies;
  return result;
}

}  // namespace

void bind_scene(py::module_& m) {
  m.def("catalog_text", &catalog_json, "Everything that has a name in a scene, as JSON.");
  m.def(
      "check_part",
      [](const std::string& group, const py::object& part) { validate_part(json_of(part, group), group); },
      py::arg("group"), py::arg("part"), "Raises InputError unless a part of a scene is valid by itself.");
  m.def("examples", [] {
    std::vector<std::string> names;
    for (const Example& example : examples()) names.emplace_back(example.name);
    return names;
  });
  py::class_<SceneFile>(m, "SceneFile", "A scene as understood: checked, every default filled in.")
      .def_static(
          "open",
          [](const std::string& name, const std::vector<std::string>& changes) {
            return compute([&] { return open_scene(name, changes); });
          },
          py::arg("file_or_example"), py::arg("changes") = std::vector<std::string>())
      .def_static(
          "understand",
          [](const py::object& scene, const std::string& directory, const std::vector<std::string>& changes) {
            JsonValue json = json_of(scene, "");
            return compute([&] { return understand_scene(std::move(json), "scene", directory, changes); });
          },
          py::arg("scene"), py::arg("directory") = "", py::arg("changes") = std::vector<std::string>())
      .def_readonly("name", &SceneFile::name)
      .def_readonly("notes", &SceneFile::notes)
      .def_property_readonly("file_name", &SceneFile::file_name)
      .def("text", &SceneFile::text, "JSON with every value written out.")
      .def("brief_text", [](const SceneFile& file) { return to_text(brief_json(file.description())); })
      .def("check", &check);
}

}  // namespace apart::python
