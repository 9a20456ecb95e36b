#pragma once
// The building blocks of the catalog: types of values, kinds of rows, and the groups by theme. For the files
// catalog*.cpp only.
#include <apart/scene/describe.hpp>

#include <limits>

// The files of the catalog are long lists, made once: to optimise them takes Clang longer than all the rest
// of the layer. They are a batch of their own (src/apart/CMakeLists.txt), so that this holds for them alone.
#ifdef __clang__
#pragma clang optimize off
#endif

namespace apart::catalog_parts {

// ---- Types: what a value may be -----------------------------------------------------------------
inline constexpr Range positive{0, infinity, true, true};
inline constexpr Range not_negative{0, infinity, false, true};

ValueType boolean();
ValueType number(Range range = {});
ValueType integer(double lower, double upper = std::numeric_limits<Index>::max());
ValueType length(Range range);
ValueType text();
ValueType path();
ValueType any_text();
ValueType formula();
ValueType choice(std::string_view list);
ValueType object(std::string_view group);
ValueType any_of(std::vector<ValueType> alternatives);
ValueType list(ValueType of, std::size_t min_size = 0, std::size_t max_size = ValueType::unlimited);
ValueType tuple(ValueType of, std::size_t size);
ValueType vector(Range range = {});
ValueType rotation();
ValueType friction_coefficient();
ValueType number_or_formula();

// ---- Rows: kinds of objects, each with the struct that describes it ------------------------------

/// A key and the member that it fills; without one, the key says which row an object is of.
struct Bound {
  Key key;
  Bound(Key unbound);
  Bound(Key unbound, const Member& member);
  template <class Base, class M>
  Bound(Key unbound, M Base::*m) : Bound(std::move(unbound), described::member(m)) {}
};
/// Of the struct T.
template <class T>
struct Keys : std::vector<Bound> {
  using std::vector<Bound>::vector;
};

/// `tag` as in Row.
Row make_row(Row row, std::vector<Bound> keys);
template <class T>
Row make_row(std::string_view summary, std::string_view tag, bool tag_is_name, Keys<T> keys) {
  static_assert(!std::is_polymorphic_v<T>);
  return make_row(
      {T::kind, summary, tag, tag_is_name, {}, [] { return std::shared_ptr<void>(std::make_shared<T>()); }},
      std::move(keys));
}

/// A place where only one kind of object is possible.
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
void add_times(std::vector<Bound>& keys);
template <class T>
Keys<T> with_times(Keys<T> keys) {
  static_assert(std::is_base_of_v<TimesDescription, T>);
  add_times(keys);
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
Group collisions();
Group loads();
Group attachments();
Group dampings();
Group remeshings();
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
// catalog_joints.cpp
Group joints();
Group ball_angles();
Group joint_angles();
Group joint_positions();
Group angle_motors();
Group position_motors();

}  // namespace apart::catalog_parts
