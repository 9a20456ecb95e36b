#include "fuzz_target.hpp"

#include <apart/importers/ipc/import.hpp>
#include <apart/importers/polyfem/import.hpp>
#include <apart/importers/rigid_ipc/import.hpp>
#include <apart/io/located_json.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/scene_file.hpp>

namespace apart::test {

void read_json_text(std::string_view input) {
  std::string text;
  if (!accepted([&] { text = to_text(parse_json(input, "input.json")); })) return;
  require(to_text(parse_json(text, "input.json")) == text, "JSON as written is read as the same");
}

void read_expression_text(std::string_view input) {
  accepted([&] {
    const Expression expression(input);
    const double numbers[] = {0, -1, 0.3, 1e300};
    for (const double a : numbers)
      for (const double b : numbers) expression(a, b, -a, b);  // whatever the value is
    if (!expression.uses('t')) {
      const double at_once = expression(0.1, 0.2, 0.3, 0), later = expression(0.1, 0.2, 0.3, 7);
      require(at_once == later || (at_once != at_once && later != later),
              "a formula without t does not change with time");
    }
  });
}

void read_scene_text(std::string_view input) {
  SceneFile scene;
  if (!accepted([&] { scene = parse_scene(input, "scene.json", "."); })) return;
  const std::string text = scene.text();
  require(parse_scene(text, "scene.json", ".").text() == text, "a scene as understood is read as the same");
  const std::string written = to_text(to_json(scene.description()));
  require(to_text(to_json(parse_scene(written, "scene.json", ".").description())) == written,
          "a description is written as a scene that gives the same description");
}

namespace {
constexpr std::string_view tetrahedron =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 "
    "1\n"
    "$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n";
}  // namespace

void read_ipc_script_file(std::string_view input) {
  input_file("a.msh", tetrahedron);  // the mesh that scripts may name
  const auto file = input_file("input.txt", input);
  ImportedScene imported;
  if (!accepted([&] { imported = import_ipc_script(file, {file.parent_path()}); })) return;
  accepted([&] { parse_scene(readable_text(brief_json(imported.scene)), "scene.json", file.parent_path()); });
}

void read_rigid_ipc_file(std::string_view input) {
  // Meshes that fixtures may name.
  input_file("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  input_file("a.off", "OFF\n6 2 0\n0 0 0\n1 0 0\n0 1 0\n5 0 0\n6 0 0\n5 1 0\n3 0 1 2\n3 3 4 5\n");
  const auto file = input_file("input.json", input);
  ImportedScene imported;
  if (!accepted([&] { imported = import_rigid_ipc_fixture(file, {file.parent_path()}); })) return;
  accepted([&] { parse_scene(readable_text(brief_json(imported.scene)), "scene.json", file.parent_path()); });
}

void read_polyfem_file(std::string_view input) {
  // Files that scenes may name.
  input_file("a.msh", tetrahedron);
  input_file("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  input_file("a.json", R"({"materials": {"E": 1e5, "nu": 0.3, "rho": 1}, "time": {"dt": 0.1, "tend": 1}})");
  const auto file = input_file("input.json", input);
  ImportedScene imported;
  if (!accepted([&] { imported = import_polyfem_scene(file, {file.parent_path()}); })) return;
  accepted([&] { parse_scene(readable_text(brief_json(imported.scene)), "scene.json", file.parent_path()); });
}

}  // namespace apart::test
