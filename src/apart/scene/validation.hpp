#pragma once
#include <apart/io/located_json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

/// Collects the problems of a file, so that all of them are reported at once.
class Problems {
 public:
  void add(std::string message) { messages_.push_back(std::move(message)); }
  /// Calls f; an InputError that it throws is one more problem.
  template <class F>
  void collect(F&& f) {
    try {
      f();
    } catch (const InputError& e) {
      add(e.what());
    }
  }
  bool empty() const { return messages_.empty(); }
  std::size_t count() const { return messages_.size(); }
  /// Throws InputError with one line per problem, the first ten, if there are any.
  void throw_if_any() const;

 private:
  std::vector<std::string> messages_;
};

/// Checks a scene against the catalog and fills in every default, recursively. Keys come out in the order of
/// the catalog. Throws InputError naming every problem: place, value, rule, remedy.
JsonValue validated(const JsonValue& scene);

/// Checks an object against a group of the catalog, as if it stood alone. Throws InputError likewise; paths
/// begin with the name of the group.
void validate_part(const JsonValue& part, std::string_view group);

/// The name most like `name`, if one is like it at all; empty otherwise. For "did you mean".
std::string nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace apart
