#include <apart/cli/exit_codes.hpp>
#include <apart/cli/messages.hpp>
#include <apart/cli/new_command.hpp>
#include <apart/cli/number_checks.hpp>
#include <apart/cli/output_file.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/run/start_check.hpp>
#include <apart/scene/named_materials.hpp>
#include <apart/scene/validation.hpp>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace apart {
namespace {

namespace fs = std::filesystem;

struct NewArguments {
  std::string file, body = "ball", mesh, material, on;
  double friction = 0.3, duration = 2, dt = 0.02;
  bool force = false, asks = false;
};

/// What the body of a new scene may be.
struct StartingBody {
  std::string_view name, summary;
  std::string_view group;     ///< of its material in the catalog
  std::string_view material;  ///< unless another is chosen
  std::string_view on;        ///< what it falls on unless chosen
  std::string_view scene;     ///< its entry in the scene: {mesh}, {material} and {height} are filled in
  std::string_view mesh;      ///< unless a file is given
  double below;               ///< [m] from its origin to its lowest point, with that mesh
};
constexpr StartingBody bodies[] = {
    {"ball", "a soft ball; with --mesh any soft solid", "material", "rubber", "ground",
     R"(    // A soft solid made of tetrahedra. "tetrahedralize": true in "mesh" fills a closed surface (with tetgen).
    {{"type": "volume", "name": "ball",
     "mesh": {0},
     "transform": {{"translate": [0, {2:.4g}, 0]}},
     // A name of the library (apart new --materials lists them); {{"like": {1}, "E": 2e6}} changes some values.
     "material": {1}}})",
     R"({"generator": "sphere", "radius": 0.1, "resolution": 5})", 0.1},
    {"cloth", "a square of cloth; with --mesh any sheet of triangles", "shell_material", "cotton", "sphere",
     R"(    // A thin sheet of triangles.
    {{"type": "shell", "name": "cloth",
     "mesh": {0},
     "transform": {{"translate": [0, {2:.4g}, 0]}},
     // A name of the library (apart new --materials lists them); {{"like": {1}, "bending_scale": 10}} changes it.
     "material": {1}}})",
     R"({"generator": "grid", "size": [0.5, 0.5], "cells": [30, 30]})", 0},
    {"brick", "a rigid brick; with --mesh any rigid body", "material", "steel", "ground",
     R"(    // A rigid body of any mesh; of the material only the density counts.
    {{"type": "rigid", "name": "brick",
     "mesh": {0},
     "transform": {{"translate": [0, {2:.4g}, 0], "rotate": [20, 0, 30]}},
     "angular_velocity": [0, 0, 0],
     "material": {1}}})",
     R"({"generator": "box", "size": [0.2, 0.1, 0.1]})", 0.12},
    {"rope", "an elastic rope; with --mesh any segments", "rod_material", "nylon", "sphere",
     R"(    // An elastic rod without twist; contact keeps its radius.
    {{"type": "rod", "name": "rope",
     "mesh": {0},
     "transform": {{"translate": [0, {2:.4g}, 0]}},
     // bending_scale: a rope of many strands bends far more easily than a full rod of its thickness.
     "material": {{"like": {1}, "radius": 0.004, "bending_scale": 1e-3, "stretch_scale": 0.01}}}})",
     R"({"generator": "segments", "length": 0.6, "cells": 60})", 0.004},
};
constexpr std::string_view supports[] = {"ground", "sphere", "nothing"};

template <class Items>
std::string names_of(const Items& items) {
  std::string names;
  for (const auto& item : items) names += fmt::format("{}{}", names.empty() ? "" : ", ", item);
  return names;
}

std::vector<std::string_view> body_names() {
  std::vector<std::string_view> names;
  for (const StartingBody& body : bodies) names.push_back(body.name);
  return names;
}

const StartingBody& find_body(const std::string& name) {
  for (const StartingBody& body : bodies)
    if (body.name == name) return body;
  throw InputError("--body {}: must be one of {}", name, names_of(body_names()));
}

/// A line from the terminal; the default if it is empty or the input has ended.
std::string ask(std::string_view question, const std::string& usual) {
  fmt::print(stderr, "{} [{}]: ", question, usual);
  std::string answer;
  std::getline(std::cin, answer);
  answer.erase(0, answer.find_first_not_of(" \t"));
  answer.erase(answer.find_last_not_of(" \t\r") + 1);
  return answer.empty() ? usual : answer;
}

/// The same until the answer is accepted; `accept` says what is wrong with one, or nothing.
template <class Accept>
std::string ask_until(std::string_view question, const std::string& usual, const Accept& accept) {
  while (true) {
    const std::string answer = ask(question, usual);
    const std::string wrong = accept(answer);
    if (wrong.empty() || !std::cin) return answer;
    fmt::print(stderr, "  {}\n", wrong);
  }
}

std::string not_among(const std::string& answer, std::span<const std::string_view> names) {
  if (std::find(names.begin(), names.end(), answer) != names.end()) return {};
  const std::string near = nearest_name(answer, names);
  return near.empty() ? fmt::format("must be one of {}", names_of(names))
                      : fmt::format("'{}' is unknown; did you mean '{}'?", answer, near);
}

std::string not_positive(const std::string& answer) {
  const auto number = parse_real(answer);
  return number && *number > 0 && std::isfinite(*number) ? "" : "must be a positive number";
}

void ask_all(NewArguments& a) {
  if (a.file.empty()) a.file = ask("Scene file to write", "scene.json");
  const auto kinds = body_names();
  for (const StartingBody& body : bodies) fmt::print(stderr, "  {:<6} {}\n", body.name, body.summary);
  a.body = ask_until("Body", a.body, [&](const std::string& s) { return not_among(s, kinds); });
  const StartingBody& body = find_body(a.body);
  a.mesh = ask_until("Mesh file, or none for a generated one", "none", [](const std::string& s) {
    std::error_code error;
    return s == "none" || fs::exists(s, error) ? std::string() : fmt::format("{}: no such file", s);
  });
  if (a.mesh == "none") a.mesh.clear();
  const auto known = material_names(body.group);
  a.material = ask_until(fmt::format("Material, one of {}", names_of(known)), std::string(body.material),
                         [&](const std::string& s) { return not_among(s, known); });
  a.on = ask_until("Falls on: ground, sphere or nothing", std::string(body.on),
                   [&](const std::string& s) { return not_among(s, supports); });
  a.friction =
      *parse_real(ask_until("Friction coefficient", fmt::format("{}", a.friction), [](const auto& s) {
        const auto number = parse_real(s);
        return number && *number >= 0 && std::isfinite(*number) ? "" : "must be a number, not negative";
      }));
  a.duration = *parse_real(ask_until("Duration [s]", fmt::format("{}", a.duration), not_positive));
}

/// As a text of JSON.
std::string quoted(const std::string& text) {
  std::string json = to_text(JsonValue(text));
  while (json.ends_with('\n')) json.pop_back();
  return json;
}

/// Height [m] of what a body falls on, at x = z = 0.
double height_of(std::string_view support) {
  return support == "sphere" ? 0.3 : 0;
}

std::string support_text(std::string_view support) {
  std::string text;
  if (support != "nothing")
    text +=
        "    // The ground: everything below y = 0 is solid.\n"
        "    {\"type\": \"half_space\", \"name\": \"ground\", \"normal\": [0, 1, 0]},\n";
  if (support == "sphere")
    text +=
        "    // An obstacle: nothing moves it unless it has a \"motion\".\n"
        "    {\"type\": \"obstacle\", \"name\": \"sphere\",\n"
        "     \"mesh\": {\"generator\": \"sphere\", \"radius\": 0.15, \"resolution\": 10},\n"
        "     \"transform\": {\"translate\": [0, 0.15, 0]}},\n";
  return text;
}

std::string scene_text(const NewArguments& a) {
  const StartingBody& body = find_body(a.body);
  std::string mesh(body.mesh), note;
  double below = body.below;
  if (!a.mesh.empty()) {
    const Mesh own = read_mesh(a.mesh);
    if (own.point_count() == 0) throw InputError("{}: has no points; give another mesh", a.mesh);
    const Vector3 low = own.points.rowwise().minCoeff(), high = own.points.rowwise().maxCoeff();
    below = -low.y();
    if (body.name == "brick") below = (own.points.colwise().norm()).maxCoeff();  // whatever way it is turned
    note = fmt::format(
        "    // The mesh is {:.3g} x {:.3g} x {:.3g} m large; \"scale\" in \"transform\" changes that.\n",
        high.x() - low.x(), high.y() - low.y(), high.z() - low.z());
    const fs::path folder = a.file.empty() ? fs::current_path() : fs::absolute(a.file).parent_path();
    const fs::path file = fs::absolute(a.mesh).lexically_normal();
    fs::path relative = file.lexically_proximate(folder);
    const bool solid = own.tetrahedra.cols() > 0;
    mesh = fmt::format(R"({{"file": {}{}}})", quoted(relative.generic_string()),
                       body.name == "ball" && !solid ? R"(, "tetrahedralize": true)" : "");
  }
  const double height = height_of(a.on) + below + 0.05;
  std::string entry = fmt::format(fmt::runtime(body.scene), mesh, quoted(a.material), height);
  return fmt::format(
      "// {0} Lengths in m, times in s, forces in N. Keys that are left out have defaults, which\n"
      "// scene.json of a run shows; every key: docs/scene-format.md, or apart schema --reference.\n"
      "//   apart check {1}       what is in it, and whether it can run\n"
      "//   apart run {1}         simulate; then apart view, apart render and apart verify RUN\n"
      "{{\n"
      "  \"version\": 1,\n"
      "  // dt: one time step. Shorter ones are more accurate, and need fewer iterations each.\n"
      "  \"time\": {{\"dt\": {2}, \"tend\": {3}}},\n"
      "  \"gravity\": [0, -9.81, 0],\n"
      "  \"bodies\": [\n{4}{5}{6}\n  ],\n"
      "  // dhat: the distance at which contact begins to push; if left out, it follows from the size of the "
      "scene.\n"
      "  \"contact\": {{\"friction_coefficient\": {7}}},\n"
      "  // Columns of probes.csv; draw them with: apart plot RUN -y centre.y\n"
      "  \"probes\": [{{\"type\": \"position\", \"name\": \"centre\", \"body\": \"{8}\"}}]\n"
      "}}\n",
      "A scene of Apart.", a.file.empty() ? "SCENE" : shell_word(a.file), a.dt, a.duration,
      support_text(a.on), note, entry, a.friction, a.body);
}

int list_materials() {
  for (const NamedMaterial& m : named_materials()) {
    fmt::print("{}: {}\n", m.name, m.summary);
    for (const auto& [values, kind] :
         {std::pair(m.solid, "solids"), std::pair(m.sheet, "sheets"), std::pair(m.rod, "rods")})
      if (!values.empty()) fmt::print("  {:<8}{}\n", kind, values_in_words(values));
    fmt::print("  source  {}\n", m.source);
  }
  return exit_done;
}

int write_new(NewArguments a) {
  if (a.asks) ask_all(a);
  if (a.dt > a.duration)
    throw InputError("--dt {}: is longer than --time {}; choose a hundredth of that, or less", a.dt,
                     a.duration);
  const StartingBody& body = find_body(a.body);
  if (a.material.empty()) a.material = body.material;
  if (a.on.empty()) a.on = body.on;
  if (const auto known = material_names(body.group); std::ranges::find(known, a.material) == known.end())
    throw InputError("--material {}: for a {} it must be one of {}", a.material, a.body, names_of(known));
  const std::string text = scene_text(a);
  // Nothing is written that does not run.
  set_thread_count(0);
  const fs::path folder = a.file.empty() ? fs::path(".") : fs::absolute(a.file).parent_path();
  const SceneFile file = parse_scene(text, a.file.empty() ? "SCENE" : a.file, folder, {});
  const Scene scene = build_scene(file);
  ensure_feasible_start(scene, file);
  if (a.file.empty()) {
    fmt::print("{}", text);
    return exit_done;
  }
  ensure_may_write(a.file, a.force);
  write_atomically(a.file, text);
  fmt::print("{}: {} bodies, ready to run: apart run {}\n", a.file, scene.model->bodies.size(),
             shell_word(a.file));
  return exit_done;
}

}  // namespace

void add_new_command(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<NewArguments>();
  const auto materials = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "new",
      "Write a commented scene to start from; asks what it should hold if run on a terminal without options");
  command->add_option("FILE", arguments->file, "Scene file to write; default: standard output");
  command->add_option("--body", arguments->body, fmt::format("What falls: {}", names_of(body_names())))
      ->type_name("NAME")
      ->check(CLI::IsMember([] {
                std::vector<std::string> names;
                for (const StartingBody& body : bodies) names.emplace_back(body.name);
                return names;
              }())
                  .description(""));
  command->add_option("--mesh", arguments->mesh, "Mesh file of the body; default: a generated shape")
      ->type_name("FILE");
  command
      ->add_option("--material", arguments->material, "Material of the library; default: as suits the body")
      ->type_name("NAME");
  command->add_option("--on", arguments->on, "What it falls on: ground, sphere, nothing")
      ->type_name("NAME")
      ->check(
          CLI::IsMember(std::vector<std::string>(std::begin(supports), std::end(supports))).description(""));
  command->add_option("--friction", arguments->friction, "Friction coefficient; default: 0.3")
      ->check(number_from_zero());
  command->add_option("--time", arguments->duration, "Simulated seconds; default: 2")
      ->check(positive_number());
  command->add_option("--dt", arguments->dt, "Time step [s]; default: 0.02")->check(positive_number());
  command->add_flag("--materials", *materials, "List the materials of the library, and write nothing");
  command->add_flag("--force", arguments->force, "Replace the file if it exists");
  command->callback([arguments, materials, command, &code] {
    if (*materials) {
      code = list_materials();
      return;
    }
    const auto given = command->get_options([](const CLI::Option* o) { return o->count() > 0; });
    const bool only_file = std::ranges::all_of(
        given, [](const CLI::Option* o) { return o->get_positional() || o->check_lname("force"); });
    arguments->asks = only_file && ::isatty(STDIN_FILENO) && ::isatty(STDERR_FILENO);
    code = write_new(*arguments);
  });
}

}  // namespace apart
