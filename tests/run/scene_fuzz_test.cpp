// Whatever a scene says, it is either built or refused with an InputError.
#include <apart/run/start_check.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

/// Every value of a scene, for choosing one at random.
void collect(JsonValue& value, std::vector<JsonValue*>& all) {
  all.push_back(&value);
  if (auto* items = value.get_if<JsonValue::Array>())
    for (JsonValue& item : *items) collect(item, all);
  if (auto* members = value.get_if<JsonValue::Object>())
    for (auto& [key, member] : *members) collect(member, all);
}

/// `count` of each of some scenes.
void build_mutated_scenes(int count) {
  const double numbers[] = {0,     -0.0,   1,     -1,     2,   3,       0.5, 1e-3,  1e-12,      1e-200,
                            1e200, -1e200, 1e300, 5e-324, 1e8, -1e-200, 90,  -1e15, 2147483647, 4294967296.0};
  const std::string_view texts[] = {"",       "x",      "t",   "1e-3 L", "-1 L", "x<0", "1/0*t",
                                    "volume", "affine", "all", "*",      "/",    "\x01"};
  std::mt19937 random(5);
  int built = 0, refused = 0;
  for (const std::string_view name :
       {"guided-press", "rollers", "degenerate-falls", "degenerate-slides", "pin-cushion"}) {
    const JsonValue good = parse_json(find_example(name).text, "scene.json");
    for (int i = 0; i < count; ++i) {
      JsonValue scene = good;
      for (unsigned n = 1 + random() % 2; n > 0; --n) {
        std::vector<JsonValue*> all;
        collect(scene, all);
        JsonValue& value = *all[random() % all.size()];
        if (value.get_if<double>())
          value.data = numbers[random() % std::size(numbers)];
        else if (value.get_if<std::string>())
          value.data = std::string(texts[random() % std::size(texts)]);
        else if (auto* items = value.get_if<JsonValue::Array>(); items && !items->empty())
          items->pop_back();
        else if (auto* members = value.get_if<JsonValue::Object>(); members && !members->empty())
          members->erase(members->begin() + std::ptrdiff_t(random() % members->size()));
      }
      const std::string text = to_text(scene);
      try {
        const SceneFile file = parse_scene(text, "scene.json", ".");
        const Scene made = build_scene(file);
        messages(check_start(made), file);
        ++built;
      } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find("scene.json"), std::string::npos) << e.what();
        ++refused;
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what() << "\n" << text;
      }
    }
  }
  EXPECT_GT(built, count / 4);
  EXPECT_GT(refused, count / 4);
}

TEST(SceneFuzz, MutatedScenesAreBuiltOrRefused) {
  build_mutated_scenes(100);
}
TEST(SceneFuzz, SlowManyMutatedScenesAreBuiltOrRefused) {
  build_mutated_scenes(400);
}

}  // namespace
}  // namespace apart::test
