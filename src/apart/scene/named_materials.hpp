#pragma once
// Materials by name: "material": "steel", or {"like": "steel", "rho": 8000} to change some of its values.
#include <apart/io/located_json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

struct Row;

/// Values as objects of the scene format; empty where bodies of that kind are not made of the material.
struct NamedMaterial {
  std::string_view name;
  std::string_view summary;            ///< one line, with what the values stand for
  std::string_view source;             ///< of the values
  std::string_view solid, sheet, rod;  ///< of the groups material, shell_material and rod_material

  /// Those of a group of the catalog; empty: none.
  std::string_view values_for(std::string_view group) const;
};

std::span<const NamedMaterial> named_materials();
/// Keys and numbers of the values, such as "type neo_hookean, E 2.1e+11".
std::string values_in_words(std::string_view values);

/// Whether the objects of a group may be given by name.
bool has_named_materials(std::string_view group);
/// The names that such objects may have.
std::vector<std::string_view> material_names(std::string_view group);

/// The key that names the material whose values an object takes where it has none of its own.
inline constexpr std::string_view like_key = "like";

/// The values of the material for a group, at the place of `at`; null unless it has any.
JsonValue named_material(std::string_view name, std::string_view group, const JsonValue& at);

/// `object` without "like", completed by those of `values` that `row`, which it asks for, knows and that the
/// object does not give otherwise (lambda and mu instead of E and nu).
JsonValue completed(const JsonValue& object, const JsonValue& values, const Row& row);

}  // namespace apart
