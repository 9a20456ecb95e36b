#pragma once
// The parts that the catalog is put together from: what a value may be, kinds of rows, and the groups by
// theme. For the files catalog*.cpp only.
#include <apart/scene/describe.hpp>

#include <limits>

namespace apart::catalog_parts {

// ---- Types: what a value may be -----------------------------------------------------------------
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
inline ValueType path() {
  ValueType type = text();
  type.is_path = true;
  return type;
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

// ---- Rows: kinds of objects, each with the struct that describes it ------------------------------

/// A key and the member of T that it fills; without one, the key says which row an object is of.
template <class T>
struct Bound {
  Key key;
  Bound(Key unbound) : key(std::move(unbound)) {}
  template <class Base, class M>
  Bound(Key unbound, M Base::*m) : key(std::move(unbound)) {
    key.member = described::member(static_cast<M T::*>(m));
  }
};
template <class T>
using Keys = std::vector<Bound<T>>;

/// `tag` as in Row.
template <class T>
Row make_row(std::string_view summary, std::string_view tag, bool tag_is_name, Keys<T> keys) {
  Row row{T::kind,     summary, tag,
          tag_is_name, {},      [] { return std::shared_ptr<void>(std::make_shared<T>()); }};
  for (Bound<T>& bound : keys) row.keys.push_back(std::move(bound.key));
  return row;
}

/// A place where only one kind of object may stand.
template <class T>
Group record(std::string_view summary, Keys<T> keys) {
  return {T::group, summary, {make_row<T>("", "", false, std::move(keys))}};
}

/// Chosen by "type": name.
template <class T>
Row typed(std::string_view summary, Keys<T> keys) {
  return make_row<T>(summary, "type", true, std::move(keys));
}

/// Chosen by its first key being there.
template <class T>
Row with_key(std::string_view summary, Keys<T> keys) {
  const std::string_view tag = keys.front().key.name;
  return make_row<T>(summary, tag, false, std::move(keys));
}

/// Chosen if no other row is.
template <class T>
Row otherwise(std::string_view summary, Keys<T> keys) {
  return make_row<T>(summary, "", false, std::move(keys));
}

/// When something holds.
template <class T>
Keys<T> with_times(Keys<T> keys) {
  keys.push_back({{"from", number(not_negative), "s", "0", "when it begins"}, &T::from});
  keys.push_back(
      {{"until", number(positive), "s", Key::optional, "when it ends; not given: never"}, &T::until});
  return keys;
}

// catalog_choices.cpp
std::vector<ChoiceList> choices();

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
