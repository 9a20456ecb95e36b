#include <apart/scene/body_names.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/named_materials.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <numeric>

namespace apart {

namespace {

using Kind = ValueType::Kind;

std::string joined(std::span<const std::string_view> names, std::string_view between = ", ") {
  return fmt::format("{}", fmt::join(names.begin(), names.end(), between));
}

std::vector<std::string_view> names_of(const ChoiceList& list) {
  std::vector<std::string_view> names;
  for (const Choice& choice : list.choices) names.push_back(choice.name);
  return names;
}

/// The rule a value must meet, after "must be".
std::string words(const ValueType& type) {
  switch (type.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::integer:
      return "a whole number";
    case Kind::number:
      return "a number";
    case Kind::length:
      return "a number, or a text like \"1e-3 L\" (L: the size of the scene)";
    case Kind::text:
      return "a text in quotes";
    case Kind::formula:
      return "a formula in quotes";
    case Kind::choice: {
      const auto names = names_of(catalog().choice_list(type.name));
      return names.size() == 1 ? fmt::format("\"{}\"", names[0]) : "one of " + joined(names);
    }
    case Kind::list: {
      const bool numbers = type.of[0].kind == Kind::number || type.of[0].kind == Kind::integer;
      const std::string_view what = type.of[0].kind == Kind::integer ? "whole numbers"
                                    : numbers                        ? "numbers"
                                                                     : "values";
      if (type.min_size == type.max_size) return fmt::format("a list of {} {}", type.min_size, what);
      if (type.max_size < std::numeric_limits<std::size_t>::max())
        return fmt::format("a list [...] with {} to {} entries", type.min_size, type.max_size);
      return fmt::format("a list [...]{}", type.min_size > 0 ? " with at least one entry" : "");
    }
    case Kind::object:
      return has_named_materials(type.name) ? "an object {...}, or the name of a material in quotes"
                                            : "an object {...}";
    case Kind::any_of:
      break;
  }
  std::string result;
  for (const ValueType& alternative : type.of) result += (result.empty() ? "" : " or ") + words(alternative);
  return result;
}

/// Whether the value has the JSON type that `type` asks for.
bool fits(const JsonValue& value, const ValueType& type) {
  switch (type.kind) {
    case Kind::boolean:
      return value.get_if<bool>();
    case Kind::integer:
    case Kind::number:
      return value.get_if<double>();
    case Kind::length:
      return read_length(value).has_value();
    case Kind::text:
    case Kind::formula:
    case Kind::choice:
      return value.get_if<std::string>();
    case Kind::list:
      return value.get_if<JsonValue::Array>();
    case Kind::object:
      return value.get_if<JsonValue::Object>() ||
             (value.get_if<std::string>() && has_named_materials(type.name));
    case Kind::any_of:
      break;
  }
  // Beside lengths, which may be texts too, only the names of the list are meant as one of them.
  const bool with_length =
      std::any_of(type.of.begin(), type.of.end(), [](const ValueType& t) { return t.kind == Kind::length; });
  return std::any_of(type.of.begin(), type.of.end(), [&](const ValueType& t) {
    if (t.kind != Kind::choice || !with_length) return fits(value, t);
    const auto names = names_of(catalog().choice_list(t.name));
    const std::string* text = value.get_if<std::string>();
    return text && std::find(names.begin(), names.end(), *text) != names.end();
  });
}

void set_place(JsonValue& value, const JsonValue& at) {
  value.source = at.source;
  value.line = at.line;
  value.column = at.column;
  if (auto* items = value.get_if<JsonValue::Array>())
    for (JsonValue& item : *items) set_place(item, at);
  if (auto* members = value.get_if<JsonValue::Object>())
    for (auto& [key, member] : *members) set_place(member, at);
}

class Validator {
 public:
  Problems problems;

  JsonValue object(const LocatedJson& v, const Group& group) {
    if (has_named_materials(group.name))
      if (const bool by_name = v.value().get_if<std::string>(); by_name || v.has(like_key))
        return material(by_name ? v : v[like_key], v, group);
    if (!v.value().get_if<JsonValue::Object>()) {
      problem(v, "must be an object {...}");
      return {};
    }
    const Row* row = choose(v, group);
    if (!row) return {};
    refuse_unknown_keys(v, *row, group);
    JsonValue result = v.value();
    JsonValue::Object members;
    for (const Key& key : row->keys) {
      const std::string_view other = given_of(v, key.excludes);
      if (v.has(key.name)) {
        members.emplace_back(key.name, value(v[key.name], key.type, key));
        if (!other.empty())
          problems.add(v[key.name].message(
              fmt::format("is given together with '{}', which sets the same; remove one", other)));
        if (const std::string_view missing = missing_of(v, key.needs); !missing.empty())
          problems.add(
              v[key.name].message(fmt::format("has no effect without '{}'; add \"{}\"", missing, missing)));
      } else if (!other.empty()) {
        continue;
      } else if (key.fallback == Key::required) {
        problems.add(v.message(fmt::format("the key '{}' is missing; add \"{}\": {} ({})", key.name, key.name,
                                           words(key.type), key.summary)));
      } else if (key.fallback != Key::optional) {
        JsonValue fallback = parse_json(key.fallback, "default");
        set_place(fallback, v.value());
        members.emplace_back(key.name,
                             value(LocatedJson(fallback, member_path(v.path(), key.name)), key.type, key));
      }
    }
    result.data = std::move(members);
    return result;
  }

 private:
  /// An object that takes its values from the material named `name`: the object `v` itself, if it is a text,
  /// or a member of it.
  JsonValue material(const LocatedJson& name, const LocatedJson& v, const Group& group) {
    const std::string* text = name.value().get_if<std::string>();
    const JsonValue values = text ? named_material(*text, group.name, v.value()) : JsonValue();
    if (values.is_null()) {
      const auto known = material_names(group.name);
      const auto all = named_materials();
      const bool of_others = text && std::any_of(all.begin(), all.end(),
                                                 [&](const NamedMaterial& m) { return m.name == *text; });
      if (of_others)
        problem(name,
                fmt::format("bodies of this kind cannot be made of that; choose one of {}", joined(known)));
      else
        wrong_name(name, known);
      return {};
    }
    JsonValue whole = v.value();
    if (!whole.get_if<JsonValue::Object>()) whole.data = JsonValue::Object{};
    if (const JsonValue* type = values.find("type"); type && !whole.find("type"))
      whole.get_if<JsonValue::Object>()->emplace_back("type", *type);
    const Row* row = choose(LocatedJson(whole, v.path()), group);
    if (!row) return {};
    whole = completed(whole, values, *row);
    return object(LocatedJson(whole, v.path()), group);
  }

  /// The first of some keys, with blanks between, that is there, or not there; empty if there is none.
  static std::string_view first_of(const LocatedJson& v, std::string_view keys, bool there) {
    while (!keys.empty()) {
      const std::string_view key = keys.substr(0, keys.find(' '));
      if (v.has(key) == there) return key;
      keys.remove_prefix(std::min(keys.size(), key.size() + 1));
    }
    return {};
  }
  static std::string_view given_of(const LocatedJson& v, std::string_view keys) {
    return first_of(v, keys, true);
  }
  static std::string_view missing_of(const LocatedJson& v, std::string_view keys) {
    return first_of(v, keys, false);
  }

  void problem(const LocatedJson& v, std::string_view rule) {
    problems.add(v.message(fmt::format("got {}, {}", to_short_text(v.value()), rule)));
  }

  /// The row the object asks for; null, with a problem noted, if there is none.
  const Row* choose(const LocatedJson& v, const Group& group) {
    std::vector<std::string_view> tags;
    for (const Row& row : group.rows) {
      const JsonValue* tag = row.tag.empty() ? nullptr : v.value().find(row.tag);
      if (row.tag.empty() || (tag && !row.tag_is_name)) return &row;
      if (tag && tag->get_if<std::string>() && *tag->get_if<std::string>() == row.name) return &row;
      if (std::find(tags.begin(), tags.end(), row.tag) == tags.end()) tags.push_back(row.tag);
    }
    for (std::string_view tag : tags) {
      if (!v.has(tag)) continue;
      std::vector<std::string_view> names;
      for (const Row& row : group.rows)
        if (row.tag == tag) names.push_back(row.name);
      wrong_name(v[tag], names);
      return nullptr;
    }
    std::string known;
    for (const Row& row : group.rows)
      if (row.tag_is_name && row.tag == tags[0]) known += (known.empty() ? "" : ", ") + std::string(row.name);
    problems.add(v.message(
        tags.size() == 1
            ? fmt::format("the key '{}' is missing; it says which {}: {}", tags[0], group.name, known)
            : fmt::format("has no {}; give one of the keys {}", group.name, joined(tags))));
    return nullptr;
  }

  void wrong_name(const LocatedJson& v, std::span<const std::string_view> names) {
    const std::string* given = v.value().get_if<std::string>();
    const std::string near = given ? nearest_name(*given, names) : "";
    problem(v, fmt::format("must be one of {}{}", joined(names),
                           near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
  }

  /// Rows of a group other than this one that have a key.
  static std::vector<std::string_view> others_with(std::string_view key, const Row& row, const Group& group) {
    std::vector<std::string_view> names;
    for (const Row& other : group.rows)
      if (&other != &row && std::ranges::find(other.keys, key, &Key::name) != other.keys.end())
        names.push_back(other.name);
    return names;
  }

  void refuse_unknown_keys(const LocatedJson& v, const Row& row, const Group& group) {
    std::vector<std::string_view> known;
    for (const Key& key : row.keys) known.push_back(key.name);
    for (const auto& [name, member] : *v.value().get_if<JsonValue::Object>()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string near = nearest_name(name, known);
      const std::vector<std::string_view> others = others_with(name, row, group);
      const std::string shown = name.size() <= 60 ? name : to_short_text(JsonValue(name));
      problems.add(LocatedJson(member, member_path(v.path(), shown))
                       .message(!others.empty() ? fmt::format("unknown key of {}, only of {}: use one of "
                                                              "these, or remove it; known here are {}",
                                                              row.name, joined(others), joined(known))
                                : near.empty()  ? "unknown key; known here are " + joined(known)
                                                : fmt::format("unknown key; did you mean '{}'?", near)));
    }
  }

  JsonValue value(const LocatedJson& v, const ValueType& type, const Key& key) {
    if (!fits(v.value(), type)) {
      problem(v, fmt::format("must be {}{}", words(type), advice(v, key)));
      return v.value();
    }
    switch (type.kind) {
      case Kind::integer:
        if (!v.value().is_integer())
          problem(v, fmt::format("must be a whole number{}", advice(v, key)));
        else
          check_range(v, v.number(), type.range, key);
        break;
      case Kind::number:
        check_range(v, v.number(), type.range, key);
        break;
      case Kind::length:
        check_range(v, read_length(v.value())->value, type.range, key);
        break;
      case Kind::text:
        if (v.text().size() < type.min_size)
          problem(v, "must not be empty; write a name, or leave the key out");
        break;
      case Kind::formula:
        check_formula(v);
        break;
      case Kind::choice: {
        const auto names = names_of(catalog().choice_list(type.name));
        if (std::find(names.begin(), names.end(), v.text()) == names.end()) wrong_name(v, names);
        break;
      }
      case Kind::list: {
        if (v.size() < type.min_size || v.size() > type.max_size) {
          problem(v, fmt::format("must be {}{}", words(type), advice(v, key)));
          break;
        }
        JsonValue result = v.value();
        for (std::size_t i = 0; i < v.size(); ++i)
          (*result.get_if<JsonValue::Array>())[i] = value(v[i], type.of[0], key);
        return result;
      }
      case Kind::object:
        return object(v, catalog().group(type.name));
      case Kind::any_of:
        for (const ValueType& alternative : type.of)
          if (fits(v.value(), alternative)) return value(v, alternative, key);
        break;
      case Kind::boolean:
        break;
    }
    return v.value();
  }

  void check_range(const LocatedJson& v, double number, const Range& range, const Key& key) {
    if (!range.contains(number)) problem(v, range.rule() + advice(v, key));
  }

  void check_formula(const LocatedJson& v) {
    try {
      const Expression expression(v.text());
    } catch (const InputError& e) {
      problems.add(v.message(e.what()));
    }
  }

  /// What to do instead, after the rule.
  static std::string advice(const LocatedJson& v, const Key& key) {
    if (!key.advice.empty()) return fmt::format("; {}", key.advice);
    if (v.value().is_null()) return "; leave the key out to get the default";
    if (key.fallback == Key::required || key.fallback == Key::optional) return {};
    return fmt::format("; the default is {}", key.fallback);
  }
};

}  // namespace

void Problems::throw_if_any() const {
  constexpr std::size_t most = 10;
  if (messages_.empty()) return;
  std::string all;
  for (std::size_t i = 0; i < std::min(most, messages_.size()); ++i)
    all += (i > 0 ? "\n" : "") + messages_[i];
  if (messages_.size() > most) all += fmt::format("\n... and {} more", messages_.size() - most);
  throw InputError("{}", all);
}

std::string nearest_name(std::string_view name, std::span<const std::string_view> known) {
  // Edit distance by rows, with a swap of neighbours counted once; capitals do not matter.
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  const auto distance = [&](std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 1; i <= a.size(); ++i) {
      next[0] = i;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const bool same = lower(a[i - 1]) == lower(b[j - 1]);
        next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
          next[j] = std::min(next[j], before[j - 2] + 1);
      }
      before.swap(row);
      row.swap(next);
    }
    return row[b.size()];
  };
  if (name.size() > 60) return {};
  std::string best;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : known)
    if (const std::size_t d = distance(name, candidate); d < least && d < candidate.size()) {
      least = d;
      best = candidate;
    }
  return best;
}

void validate_part(const JsonValue& part, std::string_view group) {
  Validator validator;
  validator.object(LocatedJson(part, std::string(group)), catalog().group(group));
  validator.problems.throw_if_any();
}

JsonValue validated(const JsonValue& scene) {
  Validator validator;
  JsonValue result = validator.object(LocatedJson(scene), catalog().group("scene"));
  if (!validator.problems.empty()) add_unknown_bodies(scene, validator.problems);
  validator.problems.throw_if_any();
  return result;
}

}  // namespace apart
