#include <apart/scene/catalog.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/named_materials.hpp>
#include <apart/scene/schema.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace apart {

namespace {

using Json = nlohmann::ordered_json;
using Kind = ValueType::Kind;

/// JSON number; without fraction where it has none, so that the schema reads as people write it.
Json json_number(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? Json(std::int64_t(value)) : Json(value);
}

void add_range(Json& schema, const Range& range) {
  if (std::isfinite(range.lower))
    schema[range.lower_open ? "exclusiveMinimum" : "minimum"] = json_number(range.lower);
  if (std::isfinite(range.upper))
    schema[range.upper_open ? "exclusiveMaximum" : "maximum"] = json_number(range.upper);
}

Json schema_of(const ValueType& type) {
  Json schema = Json::object();
  switch (type.kind) {
    case Kind::boolean:
      schema["type"] = "boolean";
      break;
    case Kind::integer:
      schema["type"] = "integer";
      add_range(schema, type.range);
      break;
    case Kind::number:
      schema["type"] = "number";
      add_range(schema, type.range);
      break;
    case Kind::length: {
      Json metres{{"type", "number"}};
      add_range(metres, type.range);
      schema["anyOf"] = {metres, {{"type", "string"}, {"pattern", "^ *[-+]?[0-9.]+([eE][-+]?[0-9]+)? *L$"}}};
      break;
    }
    case Kind::text:
    case Kind::formula:
      schema["type"] = "string";
      if (type.min_size > 0) schema["minLength"] = type.min_size;
      break;
    case Kind::choice:
      schema["enum"] = Json::array();
      for (const Choice& choice : catalog().choice_list(type.name).choices)
        schema["enum"].push_back(choice.name);
      break;
    case Kind::list:
      schema["type"] = "array";
      schema["items"] = schema_of(type.of[0]);
      if (type.min_size > 0) schema["minItems"] = type.min_size;
      if (type.max_size < std::numeric_limits<std::size_t>::max()) schema["maxItems"] = type.max_size;
      break;
    case Kind::object:
      schema["$ref"] = fmt::format("#/definitions/{}", type.name);
      break;
    case Kind::any_of:
      schema["anyOf"] = Json::array();
      for (const ValueType& alternative : type.of) schema["anyOf"].push_back(schema_of(alternative));
      break;
  }
  return schema;
}

std::string described(const Key& key) {
  return key.unit.empty() ? std::string(key.summary) : fmt::format("[{}] {}", key.unit, key.summary);
}

Json schema_of(const Row& row) {
  Json schema = Json::object();
  if (!row.summary.empty()) schema["description"] = row.summary;
  schema["type"] = "object";
  schema["properties"] = Json::object();
  Json required = Json::array();
  for (const Key& key : row.keys) {
    Json property = schema_of(key.type);
    if (row.tag_is_name && key.name == row.tag) property = Json{{"const", row.name}};
    // A reference stands alone in draft 7: what is beside it is ignored.
    if (property.contains("$ref")) property = Json{{"allOf", Json::array({property})}};
    property["description"] = described(key);
    if (key.fallback == Key::required)
      required.push_back(key.name);
    else if (key.fallback != Key::optional)
      property["default"] = Json::parse(key.fallback);
    schema["properties"][std::string(key.name)] = std::move(property);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

/// A material by its name alone, and with other values for some keys.
std::array<Json, 2> schemas_by_name(const Group& group) {
  Json names = Json::array(), types = Json::array(), properties = Json::object();
  for (const std::string_view name : material_names(group.name)) names.push_back(name);
  properties[std::string(like_key)] = {{"enum", names}, {"description", "takes the values of this material"}};
  for (const Row& row : group.rows) {
    types.push_back(row.name);
    const Json known = schema_of(row);  // not a temporary in the loop: its items must outlive it
    for (const auto& [key, value] : known["properties"].items()) properties[key] = value;
    if (row.tag_is_name) properties[std::string(row.tag)] = {{"enum", types}};
  }
  return {Json{{"enum", names}, {"description", "name of a material"}},
          Json{{"description", "a named material with some values changed"},
               {"type", "object"},
               {"properties", properties},
               {"required", Json::array({like_key})},
               {"additionalProperties", false}}};
}

Json schema_of(const Group& group) {
  Json schema = Json::object();
  if (has_named_materials(group.name)) {
    schema["anyOf"] = Json::array();
    for (const Row& row : group.rows) schema["anyOf"].push_back(schema_of(row));
    for (Json& by_name : schemas_by_name(group)) schema["anyOf"].push_back(std::move(by_name));
  } else if (group.rows.size() == 1) {
    schema = schema_of(group.rows[0]);
  } else {
    schema["anyOf"] = Json::array();
    for (const Row& row : group.rows) schema["anyOf"].push_back(schema_of(row));
  }
  if (!group.summary.empty()) schema["description"] = group.summary;
  return schema;
}

// ---- Reference ----------------------------------------------------------------------------------

std::string type_words(const ValueType& type) {
  switch (type.kind) {
    case Kind::boolean:
      return "true, false";
    case Kind::integer:
      return "integer";
    case Kind::number:
      return "number";
    case Kind::length:
      return "length";
    case Kind::text:
      return "text";
    case Kind::formula:
      return "[formula](#formula)";
    case Kind::choice: {
      std::string names;
      for (const Choice& choice : catalog().choice_list(type.name).choices)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", choice.name);
      return names;
    }
    case Kind::list:
      return type.min_size == type.max_size ? fmt::format("{} × {}", type.min_size, type_words(type.of[0]))
                                            : fmt::format("list of {}", type_words(type.of[0]));
    case Kind::object:
      return fmt::format("[{}](#{})", type.name, type.name);
    case Kind::any_of:
      break;
  }
  std::string result;
  for (const ValueType& alternative : type.of)
    result += (result.empty() ? "" : " or ") + type_words(alternative);
  return result;
}

std::string range_words(const ValueType& type) {
  if (type.kind == Kind::any_of || type.kind == Kind::list) {
    const std::string rule = range_words(type.of[0]);
    return rule;
  }
  const bool numeric = type.kind == Kind::integer || type.kind == Kind::number || type.kind == Kind::length;
  const std::string rule = numeric ? type.range.rule() : "";
  return rule.empty() ? rule : "; " + rule;
}

std::string table(const Row& row) {
  std::string text = "| key | value | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const Key& key : row.keys) {
    const bool tag = row.tag_is_name && key.name == row.tag;
    const std::string fallback = key.fallback == Key::required   ? "required"
                                 : key.fallback == Key::optional ? "–"
                                                                 : fmt::format("`{}`", key.fallback);
    text += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", key.name,
                        tag ? fmt::format("\"{}\"", row.name) : type_words(key.type), key.unit, fallback,
                        key.summary, range_words(key.type));
  }
  return text;
}

std::string reference_of(const Group& group) {
  std::string text = fmt::format("### {}\n", group.name);
  if (!group.summary.empty()) text += fmt::format("{}\n", group.summary);
  for (const Row& row : group.rows) {
    if (group.rows.size() > 1) text += fmt::format("\n**{}**: {}\n", row.name, row.summary);
    text += "\n" + table(row);
  }
  if (has_named_materials(group.name)) {
    const auto names = material_names(group.name);
    text += fmt::format(
        "\n**by name**: a text instead of the object, or the key `like` in it, which takes the values of a "
        "[named "
        "material](#named-materials) where the object gives none: {}.\n",
        fmt::join(names, ", "));
  }
  return text + "\n";
}

std::string values_or_dash(std::string_view values) {
  return values.empty() ? "–" : values_in_words(values);
}

std::string named_materials_reference() {
  std::string text =
      "### named materials\nValues to start from: materials of one name differ, often by a factor of two. "
      "Write "
      "`\"material\": \"steel\"`, or\n`{\"like\": \"steel\", \"rho\": 8000}` to change some values. "
      "`scene.json` of a run shows the values that were used; `apart new --materials` prints this table.\n"
      "The values of cloth and hair are those of the table that is named. The values of solids are typical "
      "ones. The "
      "column 'source' says where\neach was read: standards and books not in the original, but in the data "
      "sheets, "
      "abstracts, calculators and programs that are named with them or\nquote them. Look values up before "
      "you rely on "
      "them. Gere: Gere, Mechanics of Materials, and Ashby: Ashby, Materials Selection in\nMechanical "
      "Design, "
      "appendices with properties of materials, whose ranges show how far materials of one name differ.\n\n"
      "| name | what it is | solid | sheet | rod | source |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const NamedMaterial& m : named_materials())
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", m.name, m.summary, values_or_dash(m.solid),
                        values_or_dash(m.sheet), values_or_dash(m.rod), m.source);
  return text + "\n";
}

}  // namespace

Json scene_schema() {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Apart scene, version 1"}};
  const Catalog& all = catalog();
  const Json scene = schema_of(all.groups[0]);
  for (const auto& [key, value] : scene.items()) schema[key] = value;
  schema["definitions"] = Json::object();
  for (std::size_t i = 1; i < all.groups.size(); ++i)
    schema["definitions"][std::string(all.groups[i].name)] = schema_of(all.groups[i]);
  return schema;
}

std::string scene_reference() {
  const Catalog& all = catalog();
  std::string text;
  for (const Group& group : all.groups) text += reference_of(group);
  text += fmt::format(
      "### formula\nNumbers, x, y, z [m] and t [s] as the place allows, `pi`, `e`, parentheses, the "
      "operators\n"
      "`+ - * / ^ < <= > >= == != && || !`, and the functions {}.\n\n",
      Expression::function_names());
  text += named_materials_reference();
  for (const ChoiceList& list : all.choices) {
    text += fmt::format("### {}\n{}.\n\n| name | meaning |\n| --- | --- |\n", list.name, list.summary);
    for (const Choice& choice : list.choices)
      text += fmt::format("| `{}` | {} |\n", choice.name, choice.summary);
    text += "\n";
  }
  return text;
}

}  // namespace apart
