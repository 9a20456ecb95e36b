// Materials by name: what they hold, and what scenes may change of them.
#include <apart/scene/catalog.hpp>
#include <apart/scene/named_materials.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/scene/schema.hpp>
#include <apart/scene/validation.hpp>

#include <gtest/gtest.h>
#include <support/schema_violations.hpp>

namespace apart::test {
namespace {

/// A scene of one body whose material is given as JSON.
std::string scene_of(std::string_view group, const std::string& material) {
  const std::string body = group == "shell_material" ? R"("type": "shell", "mesh": {"generator": "grid"})"
                           : group == "rod_material" ? R"("type": "rod", "mesh": {"generator": "segments"})"
                                                     : R"("type": "volume", "mesh": {"generator": "box"})";
  return fmt::format(
      R"({{"version": 1, "name": "x", "time": {{"steps": 1}}, "bodies": [{{{}, "material": {}}}]}})", body,
      material);
}

std::string understood(std::string_view group, const std::string& material) {
  return parse_scene(scene_of(group, material), "x", ".").text();
}

std::string message_of(std::string_view group, const std::string& material) {
  try {
    understood(group, material);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::size_t violations(const std::string& scene) {
  return schema_violations(parse_json(scene, "scene.json")).size();
}

constexpr std::string_view groups[] = {"material", "shell_material", "rod_material"};

TEST(NamedMaterials, AreTheValuesThatAreWrittenInTheirPlace) {
  for (const NamedMaterial& m : named_materials()) {
    EXPECT_FALSE(m.summary.empty()) << m.name;
    EXPECT_FALSE(m.source.empty()) << m.name << " has no source";
    int kinds = 0;
    for (const std::string_view group : groups) {
      const std::string values(m.values_for(group)), name = fmt::format("\"{}\"", m.name);
      if (values.empty()) {
        EXPECT_NE(message_of(group, name).find("cannot be made of that"), std::string::npos) << m.name;
        continue;
      }
      ++kinds;
      EXPECT_EQ(understood(group, name), understood(group, values)) << m.name;
      EXPECT_EQ(understood(group, fmt::format(R"({{"like": {}}})", name)), understood(group, values));
      EXPECT_NO_THROW(build_scene(parse_scene(scene_of(group, name), "x", "."))) << m.name;
      EXPECT_EQ(violations(scene_of(group, name)), 0u) << m.name;
    }
    EXPECT_GT(kinds, 0) << m.name;
  }
}

TEST(NamedMaterials, NamesAreSortedAndUnique) {
  for (const std::string_view group : groups) {
    const auto names = material_names(group);
    EXPECT_TRUE(std::ranges::is_sorted(names)) << group;
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << group;
  }
  EXPECT_TRUE(material_names("load").empty());
}

TEST(NamedMaterials, ValuesOfTheSceneReplaceTheirs) {
  EXPECT_EQ(understood("material", R"({"like": "steel", "rho": 8000})"),
            understood("material", R"({"type": "neo_hookean", "E": 2.1e11, "nu": 0.3, "rho": 8000})"));
  EXPECT_EQ(understood("material", R"({"like": "steel", "lambda": 1e6, "mu": 2e6})"),
            understood("material", R"({"type": "neo_hookean", "lambda": 1e6, "mu": 2e6, "rho": 7850})"))
      << "Lamé parameters stand for E and nu";
  EXPECT_EQ(understood("material", R"({"like": "steel", "type": "orthogonality"})"),
            understood("material", R"({"type": "orthogonality", "rho": 7850})"))
      << "another material takes what it knows";
  EXPECT_EQ(understood("rod_material", R"({"like": "nylon", "radius": 0.01})"),
            understood("rod_material", R"({"E": 2.9e9, "rho": 1130, "radius": 0.01})"));
  for (const char* material :
       {R"({"like": "steel", "rho": 8000})", R"({"like": "steel", "type": "orthogonality"})"})
    EXPECT_EQ(violations(scene_of("material", material)), 0u) << material;
}

TEST(NamedMaterials, MistakesAreReportedWithTheirPlace) {
  const auto holds = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  holds(message_of("material", R"("stel")"), "did you mean \"steel\"?");
  holds(message_of("material", R"("stel")"), "bodies[0].material");
  holds(message_of("material", R"({"like": 3})"), "bodies[0].material.like: got 3");
  holds(message_of("material", R"({"like": "steel", "rh": 3})"), "did you mean 'rho'?");
  holds(message_of("material", R"({"like": "steel", "rho": -3})"), "bodies[0].material.rho: got -3");
  holds(message_of("material", R"({"like": "steel", "type": "stone"})"), "must be one of neo_hookean");
  holds(message_of("material", "5"), "or the name of a material");
  for (const char* wrong : {R"("stel")", R"({"like": 3})", R"({"like": "steel", "rh": 3})"})
    EXPECT_NE(violations(scene_of("material", wrong)), 0u) << wrong;
}

}  // namespace
}  // namespace apart::test
