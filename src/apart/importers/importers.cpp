#include <apart/importers/importers.hpp>
#include <apart/importers/ipc/import.hpp>
#include <apart/importers/ipc/script.hpp>
#include <apart/importers/polyfem/import.hpp>
#include <apart/importers/rigid_ipc/import.hpp>
#include <apart/scene/examples.hpp>

#include <algorithm>

namespace apart {

namespace fs = std::filesystem;

std::span<const SceneImporter> importers() {
  static constexpr SceneImporter rows[] = {
      {"a script of the reference implementation of IPC (.txt, .ipc)", is_ipc_script, import_ipc_script},
      {"a fixture of Rigid IPC (.json)", is_rigid_ipc_fixture, import_rigid_ipc_fixture, true},
      {"a scene of PolyFEM (.json)", is_polyfem_scene, import_polyfem_scene},
  };
  return rows;
}

const SceneImporter* importer_of(const fs::path& file) {
  const auto all = importers();
  const auto found = std::ranges::find_if(all, [&](const SceneImporter& row) { return row.reads(file); });
  return found == all.end() ? nullptr : &*found;
}

SceneFile open_scene_file(const fs::path& file, std::span<const std::string> overrides) {
  const SceneImporter* importer = importer_of(file);
  if (!importer) return read_scene(file, overrides);
  ImportedScene imported = importer->import(file, {});
  SceneFile scene =
      understand_scene(brief_json(imported.scene), file.string(), file.parent_path(), overrides);
  scene.notes = std::move(imported.notes);
  return scene;
}

SceneFile open_scene(const std::string& file_or_example, std::span<const std::string> overrides) {
  std::error_code error;
  if (fs::exists(file_or_example, error)) return open_scene_file(file_or_example, overrides);
  const Example& example = find_example(file_or_example);
  return parse_scene(example.text, std::string(example.name), ".", overrides);
}

}  // namespace apart
