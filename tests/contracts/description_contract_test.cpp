// Every key of the catalog fills a member of the description, is written from it, and has the same default in
// both: nothing that a scene file says is lost on the way to the model, and a program that makes a
// description starts from the same values as a file.
#include <apart/scene/catalog.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/scene_file.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace apart::test {
namespace {

using Kind = ValueType::Kind;

/// Calls f with every row of the catalog and its name for messages.
template <class F>
void for_each_row(F&& f) {
  for (const Group& group : catalog().groups)
    for (const Row& row : group.rows) f(row, fmt::format("{} {}", group.name, row.name));
}

/// The text of a value with relative lengths written in one way.
std::string normal_text(JsonValue value) {
  const auto normalise = [](const auto& self, JsonValue& v) -> void {
    if (v.get_if<std::string>()) {
      if (const auto length = read_length(v)) v.data = fmt::format("{} L", length->value);
    } else if (auto* items = v.get_if<JsonValue::Array>()) {
      for (JsonValue& item : *items) self(self, item);
    } else if (auto* members = v.get_if<JsonValue::Object>()) {
      for (auto& [key, member] : *members) self(self, member);
    }
  };
  normalise(normalise, value);
  return to_text(value);
}

JsonValue complete_object(const Row& row, std::size_t variant);

/// A value of the type that is not the default of any key; `variant` chooses among alternatives.
JsonValue sample(const ValueType& type, std::size_t variant) {
  const auto inside = [&](double step) {
    const Range& r = type.range;
    if (std::isfinite(r.lower) && std::isfinite(r.upper) && r.lower + step > r.upper)
      return r.lower + 0.37 * (r.upper - r.lower);
    return std::isfinite(r.lower) ? r.lower + step : std::isfinite(r.upper) ? r.upper - step : -step;
  };
  switch (type.kind) {
    case Kind::boolean:
      return JsonValue(variant % 2 == 0);
    case Kind::integer:
      return JsonValue(std::floor(inside(3)));
    case Kind::number:
      return JsonValue(inside(1.7));
    case Kind::length:
      return variant % 2 == 0 ? JsonValue(0.123) : JsonValue(std::string("0.123 L"));
    case Kind::text:
      return JsonValue(std::string("some text"));
    case Kind::formula:
      return JsonValue(std::string("2*t"));
    case Kind::choice: {
      const auto& choices = catalog().choice_list(type.name).choices;
      return JsonValue(std::string(choices[variant % choices.size()].name));
    }
    case Kind::list: {
      JsonValue::Array items;
      const std::size_t count = std::min(std::max<std::size_t>(type.min_size, 2), type.max_size);
      for (std::size_t i = 0; i < count; ++i) items.push_back(sample(type.of[0], variant + i));
      return JsonValue(std::move(items));
    }
    case Kind::object: {
      const Group& group = catalog().group(type.name);
      // A mesh may hold a mesh: the rows at the end of the list hold none.
      return complete_object(
          group.rows[group.rows.size() - 1 - variant % std::min<std::size_t>(group.rows.size(), 2)], variant);
    }
    case Kind::any_of:
      return sample(type.of[variant % type.of.size()], variant);
  }
  return {};
}

/// An object with every key of the row.
JsonValue complete_object(const Row& row, std::size_t variant) {
  JsonValue::Object members;
  for (const Key& key : row.keys)
    members.emplace_back(key.name, row.tag_is_name && key.name == row.tag ? JsonValue(std::string(row.name))
                                                                          : sample(key.type, variant));
  return JsonValue(std::move(members));
}

TEST(DescriptionContract, EveryKeyHasAMember) {
  std::size_t count = 0;
  for_each_row([&](const Row& row, const std::string& name) {
    for (const Key& key : row.keys) {
      const bool says_which = row.tag_is_name && key.name == row.tag;
      EXPECT_EQ(!key.member.exists(), says_which) << name << " " << key.name;
      ++count;
    }
  });
  EXPECT_GT(count, 300u);
}

TEST(DescriptionContract, DefaultsOfTheDescriptionAreThoseOfTheCatalog) {
  std::size_t count = 0;
  for_each_row([&](const Row& row, const std::string& name) {
    const auto made = row.make_description(), read = row.make_description();
    for (const Key& key : row.keys) {
      if (!key.member.exists() || key.fallback == Key::required) continue;
      const auto given = key.member.write(made.get());
      if (key.fallback == Key::optional) {
        EXPECT_TRUE(!given || to_short_text(*given) == "\"\"") << name << " " << key.name;
        continue;
      }
      const auto fallback = std::make_shared<const JsonValue>(parse_json(key.fallback, "default"));
      key.member.read(read.get(), {LocatedJson(*fallback), fallback});
      ASSERT_TRUE(given) << name << " " << key.name;
      EXPECT_EQ(to_text(*given), to_text(*key.member.write(read.get()))) << name << " " << key.name;
      ++count;
    }
  });
  EXPECT_GT(count, 150u);
}

TEST(DescriptionContract, AnObjectWithEveryKeyIsWrittenAsItWasRead) {
  for_each_row([&](const Row& row, const std::string& name) {
    for (std::size_t variant = 0; variant < 6; ++variant) {
      const auto object = std::make_shared<const JsonValue>(complete_object(row, variant));
      const auto description = row.make_description();
      described::read_object({LocatedJson(*object), object}, row, description.get());
      EXPECT_EQ(normal_text(described::write_object(row, description.get(), Place())), normal_text(*object))
          << name << ", variant " << variant;
    }
  });
}

TEST(DescriptionContract, EveryExampleIsWrittenAsItWasRead) {
  for (const Example& example : examples()) {
    const SceneFile file = parse_scene(example.text, std::string(example.name), ".");
    EXPECT_EQ(normal_text(to_json(file.description())), normal_text(*file.json)) << example.name;
  }
}

TEST(DescriptionContract, EveryChoiceHasAnEnumeratorOfItsOwn) {
  for (const std::string_view list :
       {"integrator", "mass", "bending_model", "rest_angles", "rest_curvature", "attach_to", "formulation",
        "barrier_stiffness", "termination", "ccd", "ccd_culling"}) {
    std::set<int> values;
    for (const Choice& choice : catalog().choice_list(list).choices)
      EXPECT_TRUE(values.insert(choice.value).second) << list << " " << choice.name;
  }
}

}  // namespace
}  // namespace apart::test
