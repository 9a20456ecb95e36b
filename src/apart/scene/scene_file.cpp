#include <apart/scene/body_names.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace apart {

namespace {

namespace fs = std::filesystem;

/// A key, or, in brackets, the number or name of an entry of a list.
struct PathPart {
  std::string_view text;
  bool is_entry;
};

/// The parts of a path such as bodies[ball].material.E.
std::vector<PathPart> parts_of_path(std::string_view path, const std::string& source) {
  const auto fail = [&](std::string_view what) { throw InputError("{}: {}", source, what); };
  std::vector<PathPart> parts;
  std::string_view rest = path;
  while (!rest.empty()) {
    if (rest[0] == '[') {
      const std::size_t end = rest.find(']');
      if (end == rest.npos) fail("'[' is not closed; write for example bodies[0].name");
      parts.push_back({rest.substr(1, end - 1), true});
      rest.remove_prefix(end + 1);
      if (rest.starts_with('.'))
        rest.remove_prefix(1);
      else if (!rest.empty() && rest[0] != '[')
        fail("after ']' must come '.', '[' or '='");
    } else {
      const std::string_view key = rest.substr(0, rest.find_first_of(".["));
      if (key.empty()) fail("has an empty part in its path; write for example contact.dhat=0.002");
      parts.push_back({key, false});
      rest.remove_prefix(key.size());
      if (rest == ".") fail("ends with '.'; write for example contact.dhat=0.002");
      if (rest.starts_with('.')) rest.remove_prefix(1);
    }
  }
  return parts;
}

/// The number of an entry: what can be read as a number is one, counted from 0; else it is a name. Nothing if
/// no entry has the name; a number may be too large.
std::optional<std::size_t> number_of_entry(const JsonValue::Array& items, std::string_view which) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), index);
  if (error == std::errc{} && end == which.data() + which.size()) return index;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (const JsonValue* name = items[i].find("name"); name && name->get_if<std::string>())
      if (*name->get_if<std::string>() == which) return i;
  return std::nullopt;
}

/// One "path=value" from the command line.
class Override {
 public:
  explicit Override(const std::string& text) : source_("--set " + text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
      fail("must have the form path=value, for example --set contact.dhat=0.002");
    path_ = parts_of_path(std::string_view(text).substr(0, equals), source_);
    const std::string_view value = std::string_view(text).substr(equals + 1);
    try {
      value_ = parse_json(value, source_);
    } catch (const InputError&) {
      // Not JSON. Shells remove quotes, so a text without them is accepted; half an object is a mistake.
      if (value.find_first_of("{}[]\"") != value.npos) throw;
      value_ = JsonValue(std::string(value));
      value_.source = std::make_shared<const std::string>(source_);
    }
    clear_lines(value_);
  }

  void apply(JsonValue& root) const {
    JsonValue* at = &root;
    std::string done;  // the path so far, for messages
    for (const auto& [part, is_entry] : path_) {
      at = is_entry ? item(*at, part, done) : member(*at, part, done);
      done = is_entry ? fmt::format("{}[{}]", done, part) : member_path(done, part);
    }
    *at = value_;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { throw InputError("{}: {}", source_, what); }

  static void clear_lines(JsonValue& value) {
    value.line = value.column = 0;
    if (auto* items = value.get_if<JsonValue::Array>())
      for (JsonValue& item : *items) clear_lines(item);
    if (auto* members = value.get_if<JsonValue::Object>())
      for (auto& [key, member] : *members) clear_lines(member);
  }

  /// A member, made if it is not there: whether the key makes sense is decided when the whole scene is
  /// checked.
  JsonValue* member(JsonValue& at, std::string_view key, const std::string& done) const {
    if (!at.get_if<JsonValue::Object>())
      fail(fmt::format("{} is {}, which has no keys; shorten the path", done.empty() ? "the scene" : done,
                       to_short_text(at)));
    if (JsonValue* found = at.find(key)) return found;
    JsonValue fresh{JsonValue::Object{}};
    fresh.source = value_.source;
    auto& members = *at.get_if<JsonValue::Object>();
    members.emplace_back(std::string(key), std::move(fresh));
    return &members.back().second;
  }

  JsonValue* item(JsonValue& at, std::string_view which, const std::string& done) const {
    auto* items = at.get_if<JsonValue::Array>();
    if (!items) fail(fmt::format("{} is {}, not a list; leave out [{}]", done, to_short_text(at), which));
    if (const auto index = number_of_entry(*items, which)) {
      if (*index >= items->size())
        fail(fmt::format("{} has {} entries, counted from 0; there is no [{}]", done, items->size(), *index));
      return &(*items)[*index];
    }
    std::vector<std::string_view> names;
    for (const JsonValue& candidate : *items)
      if (const JsonValue* name = candidate.find("name"); name && name->get_if<std::string>())
        names.push_back(*name->get_if<std::string>());
    fail(fmt::format("{} has no entry named '{}'; its names are: {}", done, which,
                     names.empty() ? "(none)" : fmt::format("{}", fmt::join(names, ", "))));
  }

  std::string source_;
  std::vector<PathPart> path_;  ///< views of the text
  JsonValue value_;
};

/// Relative paths start at the scene file; written out they must be found from anywhere.
void make_paths_absolute(JsonValue& value, const ValueType& type, const fs::path& directory) {
  if (auto* text = value.get_if<std::string>(); text && type.is_path)
    *text = (directory / *text).lexically_normal().string();
  if (auto* items = value.get_if<JsonValue::Array>(); items && type.kind == ValueType::Kind::list)
    for (JsonValue& item : *items) make_paths_absolute(item, type.of[0], directory);
  if (value.get_if<JsonValue::Object>() && type.kind == ValueType::Kind::object)
    for (const Key& key : catalog().group(type.name).row_of(value).keys)
      if (JsonValue* member = value.find(key.name)) make_paths_absolute(*member, key.type, directory);
  if (type.kind == ValueType::Kind::any_of)
    for (const ValueType& alternative : type.of) make_paths_absolute(value, alternative, directory);
}

/// The type itself, or that of its alternatives which is of a kind; null if there is none.
const ValueType* of_kind(const ValueType& type, ValueType::Kind kind) {
  if (type.kind == kind) return &type;
  const auto found = std::ranges::find(type.of, kind, &ValueType::kind);
  return type.kind == ValueType::Kind::any_of && found != type.of.end() ? &*found : nullptr;
}

/// Adds a key where the catalog has it, at the place of the object in the file.
void insert_after(JsonValue& object, std::string_view before, std::string_view key, std::string text) {
  auto& members = std::get<JsonValue::Object>(object.data);
  const auto at =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == before; });
  JsonValue value(std::move(text));
  value.source = object.source;
  value.line = object.line;
  value.column = object.column;
  members.insert(at + 1, {std::string(key), std::move(value)});
}

/// Names that were not given: the type and the position in the list.
void name_all(JsonValue& scene, std::string_view key) {
  auto& list = std::get<JsonValue::Array>(scene.find(key)->data);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!list[i].find("name"))
      insert_after(list[i], "type", "name",
                   fmt::format("{}{}", std::get<std::string>(list[i].find("type")->data), i));
}

/// Rules that concern several values at once.
void check_together(const JsonValue& scene) {
  Problems problems;
  const LocatedJson top(scene);
  const LocatedJson time = top["time"];
  if (time.has("tend") == time.has("steps"))
    problems.add(time.message(time.has("tend")
                                  ? "has both 'tend' and 'steps'; remove one"
                                  : "does not say how long; add \"tend\": seconds, or \"steps\": number"));
  const auto bodies = top["bodies"].items();
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const LocatedJson name = bodies[i]["name"];
    if (name.text().find_first_of("*[]") != std::string::npos || name.text().size() > 100)
      problems.add(
          name.message(fmt::format("got {}, must have at most 100 characters and none of * [ ]; rename it",
                                   to_short_text(name.value()))));
    if (!names.insert(name.text()).second)
      problems.add(
          name.message(fmt::format("got \"{}\", the name of another body; names must differ", name.text())));
  }
  if (!problems.empty()) add_unknown_bodies(scene, problems);  // else build_scene says it, with the rest
  problems.throw_if_any();
}

}  // namespace

SceneFile understand_scene(JsonValue root, const std::string& source, const fs::path& directory,
                           std::span<const std::string> overrides) {
  for (const std::string& change : overrides) Override(change).apply(root);
  JsonValue scene = validated(root);
  if (!scene.find("name")) insert_after(scene, "version", "name", fs::path(source).stem().string());
  name_all(scene, "bodies");
  name_all(scene, "joints");
  check_together(scene);
  make_paths_absolute(scene, {ValueType::Kind::object, {}, "scene", {}}, fs::absolute(directory / "."));
  std::string name = std::get<std::string>(scene.find("name")->data);
  return {std::make_shared<const JsonValue>(std::move(scene)), std::move(name)};
}

std::string SceneFile::file_name() const {
  std::string result = name;
  for (char& c : result)
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '-';
  return result;
}

std::string_view unit_of_override(const SceneFile& scene, const std::string& change) {
  const JsonValue* at = scene.json.get();
  ValueType type(ValueType::Kind::object, {}, "scene", {});
  std::string_view unit;
  for (const auto& [part, is_entry] :
       parts_of_path(std::string_view(change).substr(0, change.find('=')), change)) {
    const ValueType* t = of_kind(type, is_entry ? ValueType::Kind::list : ValueType::Kind::object);
    if (!at || !t) return {};
    if (is_entry) {
      const auto* items = at->get_if<JsonValue::Array>();
      const auto index = items ? number_of_entry(*items, part) : std::nullopt;
      if (!index || *index >= items->size()) return {};
      at = &(*items)[*index];
      type = ValueType(t->of[0]);
    } else {
      const std::vector<Key>& keys = catalog().group(t->name).row_of(*at).keys;
      const auto key = std::ranges::find(keys, part, &Key::name);
      if (key == keys.end()) return {};
      at = at->find(part);
      unit = key->unit;
      type = key->type;
    }
  }
  return unit;
}

SceneFile parse_scene(std::string_view text, const std::string& source, const fs::path& directory,
                      std::span<const std::string> overrides) {
  return understand_scene(parse_json(text, source), source, directory, overrides);
}

SceneFile read_scene(const fs::path& file, std::span<const std::string> overrides) {
  return understand_scene(read_json(file), file.string(), file.parent_path(), overrides);
}

}  // namespace apart
