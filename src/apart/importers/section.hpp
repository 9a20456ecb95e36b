#pragma once
// Objects of JSON formats of other programs. For the importers only.
#include <apart/io/located_json.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace apart {

/// Lines for the user. A key is reported once, however often it occurs.
class Notes {
 public:
  explicit Notes(std::vector<std::string>& lines) : lines_(lines) {}
  void add(const LocatedJson& at, std::string_view what) { lines_.push_back(at.message(what)); }
  void once(const std::string& key, const LocatedJson& at, std::string_view what) {
    if (said_.insert(key).second) add(at, what);
  }

 private:
  std::vector<std::string>& lines_;
  std::set<std::string> said_;
};

/// An object: its values by key, and a note on each key that was not asked for.
class Section {
 public:
  Section(const LocatedJson& at, std::string name, Notes& notes)
      : at_(at), name_(std::move(name)), notes_(notes) {
    if (!at.value().get_if<JsonValue::Object>())
      at.fail("got {}, must be an object {{...}}", to_short_text(at.value()));
  }

  /// Empty if it is not given, or null.
  std::optional<LocatedJson> find(std::string_view key) {
    known_.insert(std::string(key));
    if (!at_.has(key) || at_[key].value().is_null()) return std::nullopt;
    return at_[key];
  }
  template <class T, class Read>
  void take(std::string_view key, T& value, Read read) {
    if (const auto given = find(key)) value = read(*given);
  }
  void take_number(std::string_view key, double& value) {
    take(key, value, [](const LocatedJson& v) { return v.number(); });
  }
  void take_positive(std::string_view key, double& value) {
    take(key, value, [](const LocatedJson& v) {
      if (!(v.number() > 0)) v.fail("got {}, must be positive", v.number());
      return v.number();
    });
  }
  void take_not_negative(std::string_view key, double& value) {
    take(key, value, [](const LocatedJson& v) {
      if (!(v.number() >= 0)) v.fail("got {}, must not be negative", v.number());
      return v.number();
    });
  }
  void take_integer(std::string_view key, Index& value) {
    take(key, value, [](const LocatedJson& v) { return v.integer(); });
  }
  void take_boolean(std::string_view key, bool& value) {
    take(key, value, [](const LocatedJson& v) { return v.boolean(); });
  }
  /// One of the `words`; the first if it is not given.
  std::string_view word(std::string_view key, std::initializer_list<std::string_view> words) {
    const auto given = find(key);
    if (!given) return *words.begin();
    const auto found = std::ranges::find(words, std::string_view(given->text()));
    if (found != words.end()) return *found;
    std::string list;
    for (const std::string_view w : words) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", w);
    given->fail("got {}, must be one of {}", to_short_text(given->value()), list);
  }
  /// Keys that mean something there and nothing here.
  void ignore(std::initializer_list<std::string_view> keys, std::string_view reason = {}) {
    for (const std::string_view key : keys)
      if (const auto given = find(key))
        notes_.once(member_path(name_, key), *given,
                    fmt::format("has no effect here{}{}", reason.empty() ? "" : ": ", reason));
  }
  /// Reports what is left.
  void finish() {
    for (const auto& [key, value] : *at_.value().get_if<JsonValue::Object>())
      if (!known_.contains(key) && !key.starts_with('#'))
        notes_.once(member_path(name_, key), at_[key], "unknown key, has no effect");
  }
  const LocatedJson& at() const { return at_; }

 private:
  LocatedJson at_;
  std::string name_;
  Notes& notes_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace apart
