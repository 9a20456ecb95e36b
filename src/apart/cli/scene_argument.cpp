#include <apart/cli/scene_argument.hpp>
#include <apart/core/error.hpp>
#include <apart/importers/importers.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace apart {

namespace {

std::string standard_input() {
  constexpr std::size_t most = std::size_t(1) << 30;  // [bytes], far beyond any scene
  std::string text;
  char part[1 << 16];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, stdin)) > 0;) {
    text.append(part, n);
    if (text.size() > most) throw InputError("standard input: has more than 1 GB; give a scene");
  }
  if (std::ferror(stdin)) throw InputError("standard input: cannot be read: {}", std::strerror(errno));
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    throw InputError("standard input: is empty; pass a scene, as in: apart run - <scene.json");
  return text;
}

}  // namespace

SceneFile open_scene_argument(const std::string& scene, std::span<const std::string> overrides) {
  if (scene != "-") return open_scene(scene, overrides);
  // Named after it, and the run directory with it, unless the scene has a name of its own.
  return parse_scene(standard_input(), "stdin", ".", overrides);
}

}  // namespace apart
