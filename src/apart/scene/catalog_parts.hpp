#pragma once
// The parts that the catalog is put together from: what a value may be, kinds of rows, and the groups by
// theme. For the files catalog*.cpp only.
#include <apart/scene/catalog.hpp>

#include <limits>

namespace apart::catalog_parts {

// ---- Types: what a value may be -----------------------------------------------------------------
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr Range positive{0, infinity, true, true};
inline constexpr Range not_negative{0, infinity, false, true};

inline ValueType boolean() {
  return {ValueType::Kind::boolean, {}, {}, {}};
}
inline ValueType number(Range range = {}) {
  return {ValueType::Kind::number, range, {}, {}};
}
inline ValueType integer(double lower, double upper = std::numeric_limits<Index>::max()) {
  return {ValueType::Kind::integer, {lower, upper}, {}, {}};
}
inline ValueType length(Range range) {
  return {ValueType::Kind::length, range, {}, {}};
}
inline ValueType text() {
  return {ValueType::Kind::text, {}, {}, {}, 1};
}
inline ValueType any_text() {
  return {ValueType::Kind::text, {}, {}, {}, 0};
}
inline ValueType formula() {
  return {ValueType::Kind::formula, {}, {}, {}};
}
inline ValueType choice(std::string_view list) {
  return {ValueType::Kind::choice, {}, list, {}};
}
inline ValueType object(std::string_view group) {
  return {ValueType::Kind::object, {}, group, {}};
}
inline ValueType any_of(std::vector<ValueType> alternatives) {
  return {ValueType::Kind::any_of, {}, {}, std::move(alternatives)};
}
inline ValueType list(ValueType of, std::size_t min_size = 0,
                      std::size_t max_size = std::numeric_limits<std::size_t>::max()) {
  return {ValueType::Kind::list, {}, {}, {std::move(of)}, min_size, max_size};
}
inline ValueType tuple(ValueType of, std::size_t size) {
  return {ValueType::Kind::list, {}, {}, {std::move(of)}, size, size};
}
inline ValueType vector(Range range = {}) {
  return tuple(number(range), 3);
}
inline ValueType rotation() {
  return any_of({vector(), object("axis_angle")});
}
inline ValueType friction_coefficient() {
  return any_of({number(not_negative), object("friction")});
}
inline ValueType number_or_formula() {
  return any_of({number(), formula()});
}

/// A place where only one kind of object may stand.
inline Group record(std::string_view name, std::string_view summary, std::vector<Key> keys) {
  return {name, summary, {{name, "", "", false, std::move(keys)}}};
}

/// Chosen by "type": name.
inline Row typed(std::string_view name, std::string_view summary, std::vector<Key> keys) {
  return {name, summary, "type", true, std::move(keys)};
}

/// Chosen by its first key being there.
inline Row with_key(std::string_view name, std::string_view summary, std::vector<Key> keys) {
  const std::string_view tag = keys.front().name;
  return {name, summary, tag, false, std::move(keys)};
}

/// When something holds.
inline std::vector<Key> with_times(std::vector<Key> keys) {
  keys.push_back({"from", number(not_negative), "s", "0", "when it begins"});
  keys.push_back({"until", number(positive), "s", Key::optional, "when it ends; not given: never"});
  return keys;
}

// ---- Groups -------------------------------------------------------------------------------------
// catalog_meshes.cpp
Group meshes();
Group tetrahedralizations();
// catalog_materials.cpp
Group materials();
Group shell_materials();
Group strain_limits();
Group fields();
Group regions();
Group rod_materials();
// catalog_bodies.cpp
Group bodies();
Group loads();
Group attachments();
Group dampings();
Group sequences();
Group transforms();
Group axis_angles();
Group arrays();
Group fixed_parts();
Group selections();
Group boxes();
Group balls();
Group planes();
Group motions();
Group keyframes();
Group turnings();

}  // namespace apart::catalog_parts
