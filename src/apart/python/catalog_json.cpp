#include <apart/python/catalog_json.hpp>
#include <apart/scene/catalog.hpp>

#include <nlohmann/json.hpp>

namespace apart::python {

namespace {

using Json = nlohmann::ordered_json;

Json type_json(const ValueType& type) {
  static constexpr std::string_view kinds[] = {"boolean", "integer", "number", "length", "text",
                                               "formula", "choice",  "list",   "object", "any_of"};
  Json json = {{"kind", kinds[std::size_t(type.kind)]}};
  if (!type.name.empty()) json["name"] = type.name;
  if (const std::string rule = type.range.rule(); !rule.empty()) json["rule"] = rule;
  for (const ValueType& part : type.of) json["of"].push_back(type_json(part));
  if (type.kind == ValueType::Kind::list && type.min_size == type.max_size) json["size"] = type.min_size;
  return json;
}

Json row_json(const Row& row) {
  Json keys = Json::array();
  for (const Key& key : row.keys) {
    Json json = {
        {"name", key.name}, {"type", type_json(key.type)}, {"unit", key.unit}, {"summary", key.summary}};
    json["required"] = key.fallback == Key::required;
    if (key.fallback != Key::required && key.fallback != Key::optional)
      json["default"] = Json::parse(key.fallback);
    keys.push_back(std::move(json));
  }
  return {{"name", row.name},
          {"summary", row.summary},
          {"tag", row.tag},
          {"tag_is_name", row.tag_is_name},
          {"keys", std::move(keys)}};
}

}  // namespace

std::string catalog_json() {
  Json groups = Json::object(), choices = Json::object();
  for (const Group& group : catalog().groups) {
    Json rows = Json::array();
    for (const Row& row : group.rows) rows.push_back(row_json(row));
    groups[std::string(group.name)] = {{"summary", group.summary}, {"rows", std::move(rows)}};
  }
  for (const ChoiceList& list : catalog().choices)
    for (const Choice& choice : list.choices) choices[std::string(list.name)].push_back(choice.name);
  return Json{{"groups", std::move(groups)}, {"choices", std::move(choices)}}.dump();
}

}  // namespace apart::python
