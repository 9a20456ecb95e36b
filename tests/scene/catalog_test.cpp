#include <apart/scene/catalog.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/meshes.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/scene/schema.hpp>
#include <apart/scene/validation.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/described_part.hpp>
#include <support/schema_violations.hpp>

#include <fstream>
#include <set>
#include <sstream>

namespace apart::test {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A row's keys with nothing but what must be given.
std::string smallest_object(const Row& row) {
  std::string text;
  for (const Key& key : row.keys)
    if (row.tag_is_name && key.name == row.tag) text += fmt::format("\"{}\": \"{}\"", key.name, row.name);
  return "{" + text + "}";
}

std::string scene_with(const std::string& body) {
  return R"({"version": 1, "time": {"steps": 1}, "bodies": [)" + body + "]}";
}

TEST(Catalog, NamesAreUniqueAndEverythingIsDocumented) {
  std::set<std::string_view> groups;
  for (const Group& group : catalog().groups) {
    EXPECT_TRUE(groups.insert(group.name).second) << group.name;
    for (const Row& row : group.rows) {
      std::set<std::string_view> keys;
      if (group.rows.size() > 1) {
        EXPECT_FALSE(row.summary.empty()) << group.name << " " << row.name;
      }
      for (const Key& key : row.keys) {
        EXPECT_TRUE(keys.insert(key.name).second) << row.name << "." << key.name;
        EXPECT_FALSE(key.summary.empty()) << row.name << "." << key.name;
      }
      EXPECT_TRUE(row.tag.empty() || keys.contains(row.tag)) << row.name;
    }
  }
}

TEST(Catalog, DefaultsMeetTheirOwnRules) {
  // Completing an object checks its defaults like any other values.
  for (const Row& row : catalog().group("material").rows)
    EXPECT_NO_THROW(
        parse_scene(scene_with(R"({"type": "volume", "mesh": {"generator": "box"}, "material": )" +
                               smallest_object(row) + "}"),
                    "scene.json", "."))
        << row.name;
  for (const Row& row : catalog().group("mesh").rows)
    if (row.tag_is_name) {
      EXPECT_NO_THROW(parse_scene(scene_with(R"({"type": "obstacle", "mesh": )" + smallest_object(row) + "}"),
                                  "scene.json", "."))
          << row.name;
    }
  for (const ChoiceList& list : catalog().choices) EXPECT_FALSE(list.choices.empty()) << list.name;
}

TEST(Catalog, EveryGeneratorAndMaterialIsMadeFromItsDefaults) {
  for (const Row& row : catalog().group("mesh").rows) {
    if (!row.tag_is_name) continue;
    const auto mesh = described_part<MeshDescription>(smallest_object(row));
    EXPECT_GT(make_mesh(mesh, {generate::Content::tetrahedra}).mesh.point_count(), 0) << row.name;
  }
  for (const Row& row : catalog().group("material").rows) {
    const Material made = make_substance(described_part<MaterialDescription>(smallest_object(row))).material;
    EXPECT_EQ(std::visit([](const auto& m) { return m.name; }, made), row.name);
  }
}

TEST(Schema, IsValidJsonSchemaDraft7) {
  // The parts of the meta-schema that the generator could get wrong.
  const nlohmann::json schema = scene_schema();
  EXPECT_EQ(schema.at("$schema"), "http://json-schema.org/draft-07/schema#");
  std::set<std::string> definitions;
  for (const auto& [name, definition] : schema.at("definitions").items()) definitions.insert(name);
  const std::set<std::string> types = {"object", "array", "string", "number", "integer", "boolean"};
  std::function<void(const nlohmann::json&)> check = [&](const nlohmann::json& s) {
    ASSERT_TRUE(s.is_object()) << s;
    if (s.contains("$ref")) {
      EXPECT_EQ(s.size(), 1u) << "draft 7 ignores what stands beside a reference: " << s;
      const std::string target = s.at("$ref");
      ASSERT_TRUE(target.starts_with("#/definitions/")) << target;
      EXPECT_TRUE(definitions.contains(target.substr(14))) << target;
    }
    if (s.contains("type")) {
      EXPECT_TRUE(types.contains(s.at("type"))) << s;
    }
    if (s.contains("required"))
      for (const std::string key : s.at("required")) {
        EXPECT_TRUE(s.at("properties").contains(key)) << key;
      }
    for (const char* word : {"anyOf", "allOf"})
      if (s.contains(word)) {
        EXPECT_FALSE(s.at(word).empty());
        for (const auto& part : s.at(word)) check(part);
      }
    if (s.contains("items")) check(s.at("items"));
    if (s.contains("properties"))
      for (const auto& [key, part] : s.at("properties").items()) check(part);
    if (s.contains("definitions"))
      for (const auto& [key, part] : s.at("definitions").items()) check(part);
    if (s.contains("enum")) {
      EXPECT_FALSE(s.at("enum").empty());
    }
  };
  check(schema);
}

TEST(Schema, AcceptsEveryExampleAndWhatIsUnderstoodOfIt) {
  for (const Example& example : examples()) {
    const JsonValue raw = parse_json(example.text, std::string(example.name));
    EXPECT_EQ(schema_violations(raw), std::vector<std::string>{}) << example.name;
    EXPECT_EQ(schema_violations(*parse_scene(example.text, "scene.json", ".").json),
              std::vector<std::string>{})
        << example.name;
  }
}

TEST(Schema, AgreesWithOurOwnChecks) {
  // Scenes are checked by our own messages alone, so they must refuse all that the published schema refuses.
  const JsonValue good = parse_json(find_example("bowl-of-shapes").text, "scene.json");
  int refused = 0;
  const std::function<void(JsonValue&, JsonValue&)> spoil = [&](JsonValue& root, JsonValue& value) {
    for (const JsonValue& other :
         {JsonValue(), JsonValue(true), JsonValue(-3.5), JsonValue(std::string("nonsense")),
          JsonValue(JsonValue::Array{}), JsonValue(JsonValue::Object{})}) {
      const JsonValue kept = value;
      value = other;
      bool ours = false;
      try {
        validated(root);
      } catch (const InputError&) {
        ours = true;
      }
      const bool theirs = !schema_violations(root).empty();
      EXPECT_LE(theirs, ours) << to_short_text(kept) << " -> " << to_short_text(other);
      refused += ours;
      value = kept;
    }
    if (auto* items = value.get_if<JsonValue::Array>()) {
      if (!items->empty()) spoil(root, items->back());
    } else if (auto* members = value.get_if<JsonValue::Object>()) {
      for (auto& [key, member] : *members) spoil(root, member);
    }
  };
  JsonValue spoilt = good;
  spoil(spoilt, spoilt);
  EXPECT_GT(refused, 100);
}

TEST(SceneReference, InTheDocumentationIsCurrent) {
  const std::string page = text_of(APART_SOURCE_DIR "/docs/scene-format.md");
  const std::string begin = "<!-- reference: begin -->\n", end = "<!-- reference: end -->\n";
  const std::size_t from = page.find(begin), to = page.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()), scene_reference())
      << "replace the part between the marks by the output of: apart schema --reference";
}

TEST(NearestName, FindsTypingErrorsAndNothingElse) {
  const std::string_view names[] = {"dhat", "thickness", "friction_coefficient", "E", "nu"};
  EXPECT_EQ(nearest_name("dhta", names), "dhat");
  EXPECT_EQ(nearest_name("Dhat", names), "dhat");
  EXPECT_EQ(nearest_name("friction_coeficient", names), "friction_coefficient");
  EXPECT_EQ(nearest_name("thicknes", names), "thickness");
  EXPECT_EQ(nearest_name("density", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'd'), names), "");
}

}  // namespace
}  // namespace apart::test
