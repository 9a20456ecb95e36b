#include <apart/io/located_json.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <random>

namespace apart::test {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_json(text, "scene.json");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(LocatedJson, EveryValueKnowsItsLineColumnAndPath) {
  const JsonValue root =
      parse_json("{ // first\n  \"a\": [1,\n /* two\n lines */ {\"b\": \"x\"}]\n}", "scene.json");
  const LocatedJson b = LocatedJson(root)["a"][1]["b"];
  EXPECT_EQ(b.value().line, 4);
  EXPECT_EQ(b.value().column, 17);
  EXPECT_EQ(b.path(), "a[1].b");
  EXPECT_EQ(b.message("got it"), "scene.json:4: a[1].b: got it");
}

TEST(LocatedJson, ReadsWhatJsonAllows) {
  const JsonValue root = parse_json(
      "\xEF\xBB\xBF{\"text\": \"a\\n\\\"\\u00e9\\ud83d\\ude00\\/\", \"list\": [true, false, null, -0.5e-3, "
      "12, []], \"none\": {}}",
      "-");
  const LocatedJson top(root);
  EXPECT_EQ(top["text"].text(), "a\n\"\u00e9\U0001F600/");
  EXPECT_TRUE(top["list"][0].boolean());
  EXPECT_FALSE(top["list"][1].boolean());
  EXPECT_TRUE(top["list"][2].value().is_null());
  EXPECT_EQ(top["list"][3].number(), -0.5e-3);
  EXPECT_EQ(top["list"][4].integer(), 12);
  EXPECT_EQ(top["list"][5].size(), 0u);
  EXPECT_FALSE(top.has("nothing"));
}

TEST(LocatedJson, RefusesWithPlaceAndRemedy) {
  const struct {
    std::string_view text, place, part;
  } cases[] = {
      {"", "scene.json:1:1", "holds no value"},
      {"// only a comment", "scene.json:1:18", "holds no value"},
      {"{\"a\": 1,}", "scene.json:1:9", "remove the comma"},
      {"[1, 2,]", "scene.json:1:7", "remove the comma"},
      {"{\"a\": 1\n \"b\": 2}", "scene.json:2:2", "write ',' or '}'"},
      {"[1 2]", "scene.json:1:4", "write ',' or ']'"},
      {"{\"a\" 1}", "scene.json:1:6", "write ':'"},
      {"{a: 1}", "scene.json:1:2", "keys stand in double quotes"},
      {"{'a': 1}", "scene.json:1:2", "keys stand in double quotes"},
      {"{\"a\": 'x'}", "scene.json:1:7", "texts stand in double quotes"},
      {"{\"a\": 1, \"a\": 2}", "scene.json:1:10", "stands twice"},
      {"{\"a\": {\"b\": 1}", "scene.json:1:1", "never closed"},
      {"[[1, 2]", "scene.json:1:1", "never closed"},
      {"\"abc", "scene.json:1:1", "never closed"},
      {"\"a\nb\"", "scene.json:1:1", "never closed"},
      {"\"a\tb\"", "scene.json:1:3", "control characters"},
      {"\"\\x\"", "scene.json:1:2", "unknown escape"},
      {"\"\\u12\"", "scene.json:1:4", "four hexadecimal digits"},
      {"\"\\ud800\"", "scene.json:1:4", "surrogate"},
      {"/* open", "scene.json:1:1", "never closed"},
      {"[1] / 2", "scene.json:1:5", "comments begin with"},
      {"[1] 2", "scene.json:1:5", "after the end"},
      {"[NaN]", "scene.json:1:2", "must be finite"},
      {"[-Infinity]", "scene.json:1:2", "not a number"},
      {"[Infinity]", "scene.json:1:2", "must be finite"},
      {"[1e999]", "scene.json:1:2", "no double can hold"},
      {"[01]", "scene.json:1:2", "not a number"},
      {"[1.]", "scene.json:1:2", "not a number"},
      {"[.5]", "scene.json:1:2", "begin with a digit"},
      {"[+5]", "scene.json:1:2", "begin with a digit"},
      {"[1e]", "scene.json:1:2", "not a number"},
      {"[1mm]", "scene.json:1:2", "a text needs quotes"},
      {"[0x10]", "scene.json:1:2", "not a number"},
      {"[truee]", "scene.json:1:2", "got 'truee'"},
      {"\n\n \"\xff\"", "scene.json:3:3", "not valid UTF-8"},
      {"\"\xC0\xAF\"", "scene.json:1:2", "not valid UTF-8"},          // overlong
      {"\"\xED\xA0\x80\"", "scene.json:1:2", "not valid UTF-8"},      // surrogate
      {"\"\xF4\x90\x80\x80\"", "scene.json:1:2", "not valid UTF-8"},  // beyond U+10FFFF
      {"\"\xE2\x82", "scene.json:1:2", "not valid UTF-8"},            // cut off
  };
  for (const auto& c : cases) {
    const std::string error = error_of(c.text);
    EXPECT_TRUE(error.starts_with(c.place)) << c.text << "\n  " << error;
    EXPECT_NE(error.find(c.part), std::string::npos) << c.text << "\n  " << error;
  }
}

TEST(LocatedJson, DeepNestingIsRefusedNotCrashed) {
  EXPECT_NE(error_of(std::string(1000000, '[')).find("deeper than 100"), std::string::npos);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_NE(error_of(objects).find("deeper than 100"), std::string::npos);
  EXPECT_EQ(error_of(std::string(100, '[') + std::string(100, ']')), "accepted");
}

TEST(LocatedJson, WrongTypesNameTheValue) {
  const JsonValue root = parse_json("{\"a\": {\"b\": [1, 2.5, \"x\"]}}", "s.json");
  const LocatedJson b = LocatedJson(root)["a"]["b"];
  const auto message = [](const auto& access) -> std::string {
    try {
      access();
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([&] { b[1].integer(); }), "s.json:1: a.b[1]: got 2.5, must be a whole number");
  EXPECT_EQ(message([&] { b[2].number(); }), "s.json:1: a.b[2]: got \"x\", must be a number");
  EXPECT_EQ(message([&] { b.vector(); }), "s.json:1: a.b[2]: got \"x\", must be a number");
  EXPECT_EQ(message([&] { b.text(); }), "s.json:1: a.b: got [1, 2.5, \"x\"], must be a text in quotes");
  EXPECT_EQ(message([&] { b[5]; }), "s.json:1: a.b: has 3 entries, entry 5 is missing");
  EXPECT_EQ(message([&] { b["c"]; }), "s.json:1: a.b: the key 'c' is missing");
}

/// Random values of every type.
JsonValue random_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 6 : 4)) {
    case 0:
      return JsonValue();
    case 1:
      return JsonValue(random() % 2 == 0);
    case 2: {
      const double mantissa = std::ldexp(double(random()) + double(random()) * 0x1p-32, -32);
      return JsonValue(std::ldexp(random() % 2 ? mantissa : -mantissa, int(random() % 1800) - 900));
    }
    case 3: {
      std::string text;
      for (unsigned i = random() % 5; i > 0; --i) text += "a\"\\\n\t\x01/"[random() % 7];
      return JsonValue(text);
    }
    case 4: {
      JsonValue::Array items(random() % 5);
      for (auto& item : items) item = random_value(random, depth - 1);
      return JsonValue(std::move(items));
    }
    default: {
      JsonValue::Object members(random() % 5);
      for (std::size_t i = 0; i < members.size(); ++i)
        members[i] = {fmt::format("k{}", i), random_value(random, depth - 1)};
      return JsonValue(std::move(members));
    }
  }
}

TEST(LocatedJson, WritingThenReadingGivesTheSameBits) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    const JsonValue value = random_value(random, 4);
    const std::string text = to_text(value);
    const JsonValue again = parse_json(text, "-");
    EXPECT_EQ(to_text(again), text);
    EXPECT_EQ(to_nlohmann(again), to_nlohmann(value));
    EXPECT_EQ(to_nlohmann(value), nlohmann::json::parse(text));  // and others read it alike
  }
}

TEST(LocatedJson, MutatedTextNeverCrashes) {
  const std::string good =
      R"({"version": 1, "bodies": [{"name": "\u00e9a", "mesh": {"file": "a.msh"}}], "x": [1.5e3, -2]})";
  std::mt19937 random(11);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (unsigned n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();  // at most 9 of its 100 characters are erased
      if (random() % 3 == 0)
        text.erase(at, random() % 4);
      else
        text[at] = char(random());
    }
    accepted += error_of(text) == "accepted";
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 20000);
}

}  // namespace
}  // namespace apart::test
