#include <support/schema_violations.hpp>

#include <apart/scene/schema.hpp>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <memory>

namespace apart::test {

namespace {

/// As the validator reads it. Constant, and made once: that takes milliseconds.
const valijson::Schema& parsed_schema() {
  static const auto parsed = [] {
    const nlohmann::json text = scene_schema();
    auto schema = std::make_unique<valijson::Schema>();
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), *schema);
    return schema;
  }();
  return *parsed;
}

}  // namespace

std::vector<std::string> schema_violations(const JsonValue& scene) {
  const nlohmann::json document = to_nlohmann(scene);
  valijson::ValidationResults results;
  std::vector<std::string> messages;
  valijson::Validator().validate(parsed_schema(), valijson::adapters::NlohmannJsonAdapter(document),
                                 &results);
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    std::string place;
    for (const std::string& step : error.context) place += step;
    messages.push_back(place + ": " + error.description);
  }
  return messages;
}

}  // namespace apart::test
