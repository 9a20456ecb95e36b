#include <apart/scene/body_names.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <charconv>
#include <set>

namespace apart {

namespace {

namespace fs = std::filesystem;

/// One "path=value" from the command line.
class Override {
 public:
  explicit Override(const std::string& text) : source_("--set " + text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
      fail("must have the form path=value, for example --set contact.dhat=0.002");
    path_ = std::string_view(text).substr(0, equals);
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
    std::string_view rest = path_;
    while (!rest.empty()) {
      if (rest[0] == '[') {
        const std::size_t end = rest.find(']');
        if (end == rest.npos) fail("'[' is not closed; write for example bodies[0].name");
        const std::string_view which = rest.substr(1, end - 1);
        at = item(*at, which, done);
        done += fmt::format("[{}]", which);
        rest.remove_prefix(end + 1);
        if (rest.starts_with('.'))
          rest.remove_prefix(1);
        else if (!rest.empty() && rest[0] != '[')
          fail("after ']' must come '.', '[' or '='");
      } else {
        const std::string_view key = rest.substr(0, rest.find_first_of(".["));
        if (key.empty()) fail("has an empty part in its path; write for example contact.dhat=0.002");
        at = member(*at, key, done);
        done = member_path(done, key);
        rest.remove_prefix(key.size());
        if (rest.starts_with('.')) {
          rest.remove_prefix(1);
          if (rest.empty()) fail("ends with '.'; write for example contact.dhat=0.002");
        }
      }
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
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), index);
    if (error == std::errc{} && end == which.data() + which.size()) {
      if (index >= items->size())
        fail(fmt::format("{} has {} entries, counted from 0; there is no [{}]", done, items->size(), index));
      return &(*items)[index];
    }
    std::vector<std::string_view> names;
    for (JsonValue& candidate : *items)
      if (const JsonValue* name = candidate.find("name"); name && name->get_if<std::string>()) {
        if (*name->get_if<std::string>() == which) return &candidate;
        names.push_back(*name->get_if<std::string>());
      }
    fail(fmt::format("{} has no entry named '{}'; its names are: {}", done, which,
                     names.empty() ? "(none)" : fmt::format("{}", fmt::join(names, ", "))));
  }

  std::string source_;
  std::string_view path_;
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

/// The entry of a list by its name or number; null if there is none.
const JsonValue* entry_of(const JsonValue& list, std::string_view which) {
  const auto* items = list.get_if<JsonValue::Array>();
  if (!items) return nullptr;
  for (const JsonValue& item : *items)
    if (const JsonValue* name = item.find("name"); name && name->get_if<std::string>())
      if (*name->get_if<std::string>() == which) return &item;
  std::size_t index = items->size();
  std::from_chars(which.data(), which.data() + which.size(), index);
  return index < items->size() ? &(*items)[index] : nullptr;
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
  std::string_view rest = std::string_view(change).substr(0, change.find('=')), unit;
  while (at && !rest.empty()) {
    const bool is_entry = rest[0] == '[';
    const ValueType* t = of_kind(type, is_entry ? ValueType::Kind::list : ValueType::Kind::object);
    if (!t) return {};
    const std::string_view part = rest.substr(is_entry, rest.find_first_of(is_entry ? "]" : ".[") - is_entry);
    if (is_entry) {
      at = entry_of(*at, part);
      type = ValueType(t->of[0]);
    } else {
      const std::vector<Key>& keys = catalog().group(t->name).row_of(*at).keys;
      const auto key = std::ranges::find(keys, part, &Key::name);
      if (key == keys.end()) return {};
      at = at->find(part);
      unit = key->unit;
      type = key->type;
    }
    rest.remove_prefix(part.size() + 2 * is_entry);
    if (rest.starts_with('.')) rest.remove_prefix(1);
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
