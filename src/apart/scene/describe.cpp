#include <apart/io/file_reader.hpp>
#include <apart/scene/describe.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace described {

namespace {
/// Whether one of some keys, with blanks between, is there.
bool has_any(const JsonValue::Object& members, std::string_view keys) {
  return std::ranges::any_of(members, [&](const auto& member) {
    return (" " + std::string(keys) + " ").find(" " + member.first + " ") != std::string::npos;
  });
}

bool is_default(const Key& key, const JsonValue& value) {
  return key.fallback != Key::required && key.fallback != Key::optional &&
         to_text(parse_json(key.fallback, "default")) == to_text(value);
}

/// Removes members that have their defaults, at all levels.
void leave_out_defaults(JsonValue& value, const ValueType& type) {
  if (type.kind == ValueType::Kind::any_of)
    for (const ValueType& alternative : type.of) leave_out_defaults(value, alternative);
  if (auto* items = value.get_if<JsonValue::Array>(); items && type.kind == ValueType::Kind::list)
    for (JsonValue& item : *items) leave_out_defaults(item, type.of[0]);
  auto* members = value.get_if<JsonValue::Object>();
  if (!members || type.kind != ValueType::Kind::object) return;
  const Row& row = catalog().group(type.name).row_of(value);
  for (const Key& key : row.keys) {
    const auto member = std::ranges::find(*members, key.name, &JsonValue::Object::value_type::first);
    if (member == members->end()) continue;
    leave_out_defaults(member->second, key.type);
    // What says which row it is has to stay.
    if (key.name != row.tag && is_default(key, member->second)) members->erase(member);
  }
}

/// Values without a place get that of what they are part of.
void inherit_places(JsonValue& value) {
  const auto hand_down = [&](JsonValue& part) {
    if (!part.source) {
      part.source = value.source;
      part.line = value.line;
      part.column = value.column;
    }
    inherit_places(part);
  };
  if (auto* items = value.get_if<JsonValue::Array>())
    for (JsonValue& item : *items) hand_down(item);
  if (auto* members = value.get_if<JsonValue::Object>())
    for (auto& [key, member] : *members) hand_down(member);
}

bool is_empty_text(const JsonValue& value) {
  const auto* text = value.get_if<std::string>();
  return text && text->empty();
}
}  // namespace

int choice_value(const LocatedJson& name, std::string_view list) {
  for (const Choice& choice : catalog().choice_list(list).choices)
    if (choice.name == name.text()) return choice.value;
  throw InvariantError("choice_value: the name was not checked");
}

std::string choice_name(int value, std::string_view list) {
  for (const Choice& choice : catalog().choice_list(list).choices)
    if (choice.value == value) return std::string(choice.name);
  throw InvariantError("choice_name: the enumerator is not in the catalog");
}

void read_object(const CheckedJson& v, const Row& row, void* object) {
  for (const Key& key : row.keys)
    if (key.member.exists() && v.value.has(key.name)) key.member.read(object, {v.value[key.name], v.root});
}

JsonValue write_object(const Row& row, const void* object, const Place& place) {
  JsonValue::Object members;
  for (const Key& key : row.keys) {
    std::optional<JsonValue> value =
        key.member.exists() ? key.member.write(object) : JsonValue(std::string(row.name));
    if (value && !(key.fallback == Key::optional && is_empty_text(*value)))
      members.emplace_back(key.name, std::move(*value));
  }
  // Omitted members have their default in the struct; scenes have no value where another key excludes it.
  for (const Key& key : row.keys)
    if (!key.excludes.empty() && has_any(members, key.excludes))
      std::erase_if(members, [&](const auto& member) {
        return member.first == key.name && is_default(key, member.second);
      });
  JsonValue result(std::move(members));
  place.mark(result);
  return result;
}

}  // namespace described

SceneDescription describe(std::shared_ptr<const JsonValue> scene) {
  SceneDescription result;
  described::read(CheckedJson{LocatedJson(*scene), scene}, result);
  return result;
}

JsonValue to_json(const SceneDescription& scene) {
  return described::write(scene);
}

JsonValue brief_json(const SceneDescription& scene) {
  JsonValue result = to_json(scene);
  std::erase_if(*result.get_if<JsonValue::Object>(), [](auto& member) {
    if (member.first == "time" || member.first == "gravity") return false;
    const Row& row = described::row_of<SceneDescription>();
    const auto key = std::ranges::find(row.keys, member.first, &Key::name);
    described::leave_out_defaults(member.second, key->type);
    return described::is_default(*key, member.second);
  });
  described::inherit_places(result);
  return result;
}

Vector3 per_axis(const PerAxis& value) {
  const double* one = std::get_if<double>(&value);
  return one ? Vector3::Constant(*one) : std::get<Vector3>(value);
}

Eigen::Vector3i per_axis(const CellsPerAxis& value) {
  const Index* one = std::get_if<Index>(&value);
  return one ? Eigen::Vector3i::Constant(*one) : std::get<Eigen::Vector3i>(value);
}

std::optional<Length> read_length(const JsonValue& value) {
  if (const double* number = value.get_if<double>()) return Length{*number, false};
  const std::string* written = value.get_if<std::string>();
  if (!written || !written->ends_with('L')) return std::nullopt;
  std::string_view number(*written);
  number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  while (number.starts_with(' ')) number.remove_prefix(1);
  const std::optional<double> parsed = parse_real(number);
  if (!parsed || !std::isfinite(*parsed)) return std::nullopt;
  return Length{*parsed, true};
}

const Place& place_of(const SelectionDescription& selection) {
  return std::visit([](const Selection& s) -> const Place& { return s.place; }, selection);
}
const Place& place_of(const MotionDescription& motion) {
  return std::visit([](const auto& m) -> const Place& { return m.place; }, motion);
}
const Place& place_of(const MeshDescription& mesh) {
  return std::visit([](const MeshSource& m) -> const Place& { return m.place; }, mesh);
}

const BodyBase& base_of(const BodyDescription& body) {
  return std::visit([](const BodyBase& b) -> const BodyBase& { return b; }, body);
}

const ArrayDescription* array_of(const BodyDescription& body) {
  return std::visit(
      [](const auto& b) -> const ArrayDescription* {
        if constexpr (requires { b.array; })
          return b.array ? &*b.array : nullptr;
        else
          return nullptr;
      },
      body);
}

}  // namespace apart
