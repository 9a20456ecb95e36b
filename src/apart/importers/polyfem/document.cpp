#include <apart/importers/polyfem/document.hpp>

#include <apart/io/file_reader.hpp>

#include <algorithm>
#include <charconv>

namespace apart::polyfem {

namespace fs = std::filesystem;

namespace {

using Object = JsonValue::Object;
using Array = JsonValue::Array;

constexpr int deepest = 20;  ///< of files that are based on others

/// Blanks in the place of commas that no value follows, so that lines and columns stay.
std::string without_trailing_commas(std::string_view text) {
  std::string result(text);
  std::size_t comma = std::string::npos;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const char c = result[i];
    if (c == '"') {
      for (++i; i < result.size() && result[i] != '"'; ++i)
        if (result[i] == '\\') ++i;
      comma = std::string::npos;
    } else if (c == ',') {
      comma = i;
    } else if ((c == '}' || c == ']') && comma != std::string::npos) {
      result[comma] = ' ';
      comma = std::string::npos;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      comma = std::string::npos;
    }
  }
  return result;
}

void drop(Object& object, std::string_view key) {
  std::erase_if(object, [&](const auto& member) { return member.first == key; });
}

void set(Object& object, const std::string& key, JsonValue value) {
  for (auto& [name, old] : object)
    if (name == key) {
      old = std::move(value);
      return;
    }
  object.emplace_back(key, std::move(value));
}

/// Merges `patch` over `target`: objects member by member, null removes, everything else replaces.
void merge(JsonValue& target, const JsonValue& patch) {
  const Object* members = patch.get_if<Object>();
  if (!members) {
    target = patch;
    return;
  }
  if (!target.get_if<Object>()) target = JsonValue(Object{});
  target.source = patch.source;
  target.line = patch.line;
  target.column = patch.column;
  for (const auto& [key, value] : *members) {
    Object& object = *target.get_if<Object>();
    if (value.is_null()) {
      drop(object, key);
    } else if (JsonValue* old = target.find(key)) {
      merge(*old, value);
    } else {
      JsonValue fresh;
      merge(fresh, value);
      object.emplace_back(key, std::move(fresh));
    }
  }
}

std::vector<std::string> pointer_parts(const LocatedJson& at) {
  const std::string& text = at.text();
  if (!text.empty() && text[0] != '/') at.fail("got {}, must begin with '/'", to_short_text(at.value()));
  std::vector<std::string> parts;
  for (std::size_t begin = 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    for (const auto& [code, character] : {std::pair("~1", "/"), std::pair("~0", "~")})
      for (std::size_t i = part.find(code); i != std::string::npos; i = part.find(code, i + 1))
        part.replace(i, 2, character);
    parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

std::size_t index_of(const std::string& text, std::size_t size, const LocatedJson& at) {
  if (text == "-") return size;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index > size)
    at.fail("names entry '{}' of a list of {}", text, size);
  return index;
}

void apply(JsonValue& root, const LocatedJson& change) {
  const std::string operation = change["op"].text();
  if (operation != "add" && operation != "replace" && operation != "remove")
    change["op"].fail("got {}, must be \"add\", \"replace\" or \"remove\"",
                      to_short_text(change["op"].value()));
  const LocatedJson path = change["path"];
  const std::vector<std::string> parts = pointer_parts(path);
  if (parts.empty()) path.fail("changes the whole scene; write the scene itself");
  JsonValue* at = &root;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (Array* list = at->get_if<Array>()) {
      const std::size_t index = index_of(parts[i], list->size(), path);
      if (index == list->size()) path.fail("names entry {} of a list of {}", index, list->size());
      at = &(*list)[index];
    } else if (!(at = at->find(parts[i]))) {
      path.fail("has no '{}'", parts[i]);
    }
  }
  const std::string& last = parts.back();
  if (Array* list = at->get_if<Array>()) {
    const std::size_t index = index_of(last, list->size(), path);
    if (operation != "add" && index == list->size())
      path.fail("names entry {} of a list of {}", index, list->size());
    if (operation == "remove")
      list->erase(list->begin() + std::ptrdiff_t(index));
    else if (operation == "add")
      list->insert(list->begin() + std::ptrdiff_t(index), change["value"].value());
    else
      (*list)[index] = change["value"].value();
  } else if (Object* object = at->get_if<Object>()) {
    if (operation != "add" && !at->find(last)) path.fail("has no '{}'", last);
    if (operation == "remove")
      drop(*object, last);
    else
      set(*object, last, change["value"].value());
  } else {
    path.fail("leads to a value that has no members");
  }
}

constexpr auto name_of_member = [](const auto& member) -> const std::string& { return member.first; };

/// Moves a member of one object to another, under another name.
void move_member(Object& from, std::string_view key, Object& to, const std::string& name) {
  const auto found = std::ranges::find(from, key, name_of_member);
  if (found == from.end()) return;
  JsonValue value = std::move(found->second);
  from.erase(found);
  if (!value.is_null()) set(to, name, std::move(value));
}

/// Takes a member object out, empty if there is none, lets it be changed, and puts it back.
template <class Change>
void change_member(Object& object, const std::string& key, const Change& change) {
  Object member;
  for (std::pair<std::string, JsonValue>& old : object)
    if (old.first == key && old.second.get_if<Object>()) member = std::move(*old.second.get_if<Object>());
  drop(object, key);
  change(member);
  if (!member.empty()) object.emplace_back(key, JsonValue(std::move(member)));
}

/// A mesh or obstacle of the old form. Displacements of obstacles go to `displacements`, under a fresh id.
JsonValue present_geometry(JsonValue item, bool is_obstacle, int number, Array& displacements) {
  Object* old = item.get_if<Object>();
  if (!old) return item;
  Object fresh, transformation;
  for (const char* key : {"mesh", "n_refs", "enabled"}) move_member(*old, key, fresh, key);
  move_member(*old, "position", transformation, "translation");
  for (const char* key : {"rotation", "rotation_mode", "scale", "dimensions"})
    move_member(*old, key, transformation, key);
  fresh.emplace_back("transformation", JsonValue(std::move(transformation)));
  if (is_obstacle) {
    fresh.emplace_back("is_obstacle", JsonValue(true));
    Object moved;
    move_member(*old, "displacement", moved, "value");
    if (!moved.empty()) {
      moved.emplace_back("id", JsonValue(double(number)));
      displacements.emplace_back(std::move(moved));
      fresh.emplace_back("surface_selection", JsonValue(double(number)));
    }
  } else {
    move_member(*old, "body_id", fresh, "volume_selection");
    move_member(*old, "boundary_sidesets", fresh, "surface_selection");
  }
  for (auto& [key, value] : *old) fresh.emplace_back(key, std::move(value));  // unknown, or a comment
  JsonValue result(std::move(fresh));
  result.source = item.source;
  result.line = item.line;
  result.column = item.column;
  return result;
}

/// Rewrites a scene of the old form. `scene`: without what it is based on.
void make_present(JsonValue& scene) {
  Object& old = *scene.get_if<Object>();
  Array geometry, displacements;
  constexpr int first_id = 100000;  // of obstacles, beyond what scenes use
  Object sides;                     // of every mesh that selects none of its own
  move_member(old, "boundary_sidesets", sides, "surface_selection");
  for (const auto& [key, is_obstacle] : {std::pair("meshes", false), std::pair("obstacles", true)}) {
    if (JsonValue* list = scene.find(key); list && list->get_if<Array>())
      for (JsonValue& item : *list->get_if<Array>()) {
        JsonValue& added = geometry.emplace_back(
            present_geometry(std::move(item), is_obstacle, first_id + int(geometry.size()), displacements));
        if (Object* body = added.get_if<Object>(); body && !is_obstacle && !added.find("surface_selection"))
          body->insert(body->end(), sides.begin(), sides.end());
      }
    drop(old, key);
  }
  old.emplace_back("geometry", JsonValue(std::move(geometry)));
  move_member(old, "body_params", old, "materials");
  change_member(old, "time", [&](Object& time) {
    for (const char* key : {"tend", "dt", "time_steps"}) move_member(old, key, time, key);
  });
  change_member(old, "space", [&](Object& space) { move_member(old, "discr_order", space, "discr_order"); });
  change_member(old, "contact", [&](Object& contact) {
    move_member(old, "mu", contact, "friction_coefficient");
    move_member(old, "has_collision", contact, "enabled");
    for (const char* key : {"dhat", "epsv", "collision_mesh"}) move_member(old, key, contact, key);
  });
  change_member(old, "solver", [&](Object& solver) {
    change_member(solver, "contact", [&](Object& contact) {
      for (const char* key : {"friction_iterations", "friction_convergence_tol", "barrier_stiffness"})
        move_member(old, key, contact, key);
    });
    change_member(old, "solver_params", [&](Object& from) {
      const auto by_gradient = std::ranges::find(from, "useGradNorm", name_of_member);
      const bool* used = by_gradient == from.end() ? nullptr : by_gradient->second.get_if<bool>();
      const bool ends_by_motion = used && !*used;
      change_member(solver, "nonlinear", [&](Object& nonlinear) {
        move_member(from, "gradNorm", nonlinear, ends_by_motion ? "x_delta" : "grad_norm");
      });
      from.clear();
    });
  });
  change_member(old, "problem_params", [&](Object& problem) {
    change_member(old, "boundary_conditions", [&](Object& conditions) {
      for (const char* key : {"rhs", "dirichlet_boundary", "neumann_boundary"})
        move_member(problem, key, conditions, key);
      if (!displacements.empty())
        set(conditions, "obstacle_displacements", JsonValue(std::move(displacements)));
    });
    change_member(old, "initial_conditions",
                  [&](Object& start) { move_member(problem, "initial_velocity", start, "velocity"); });
  });
}

bool has_old_form(const JsonValue& scene) {
  return !scene.find("geometry") && (scene.find("meshes") || scene.find("default_params"));
}

JsonValue load(const fs::path& file, int depth) {
  JsonValue own = read_lenient(file);
  const LocatedJson at(own);
  if (!own.get_if<Object>()) at.fail("got {}, must be an object {{...}}", to_short_text(own));
  if (has_old_form(own)) make_present(own);
  JsonValue result(Object{});
  for (const char* key : {"common", "default_params"})
    if (const JsonValue* base = own.find(key); base && base->get_if<std::string>()) {
      if (depth == deepest) at[key].fail("is based on more than {} files, one on the other", deepest);
      result = load(file.parent_path() / *base->get_if<std::string>(), depth + 1);
    }
  Object& members = *own.get_if<Object>();
  JsonValue patch;
  if (const JsonValue* given = own.find("patch")) patch = *given;
  for (const char* key : {"common", "default_params", "patch"}) drop(members, key);
  merge(result, own);
  if (!patch.is_null())
    for (const LocatedJson& change : LocatedJson(patch, "patch").items()) apply(result, change);
  return result;
}

}  // namespace

bool is_scene(const JsonValue& value) {
  if (value.find("version") || value.find("bodies") || value.find("rigid_body_problem")) return false;
  return value.find("geometry") || has_old_form(value) || value.find("common");
}

JsonValue read_lenient(const fs::path& file) {
  return parse_json(without_trailing_commas(FileReader(file).content()), file.string());
}

JsonValue read_document(const fs::path& file) {
  return load(file, 0);
}

}  // namespace apart::polyfem
