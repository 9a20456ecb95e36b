#include <apart/scene/catalog_parts.hpp>

namespace apart::catalog_parts {

ValueType boolean() {
  return {ValueType::Kind::boolean, {}, {}, {}};
}
ValueType number(Range range) {
  return {ValueType::Kind::number, range, {}, {}};
}
ValueType integer(double lower, double upper) {
  return {ValueType::Kind::integer, {lower, upper}, {}, {}};
}
ValueType length(Range range) {
  return {ValueType::Kind::length, range, {}, {}};
}
ValueType text() {
  return {ValueType::Kind::text, {}, {}, {}, 1};
}
ValueType path() {
  ValueType type = text();
  type.is_path = true;
  return type;
}
ValueType any_text() {
  return {ValueType::Kind::text, {}, {}, {}, 0};
}
ValueType formula() {
  return {ValueType::Kind::formula, {}, {}, {}};
}
ValueType choice(std::string_view list) {
  return {ValueType::Kind::choice, {}, list, {}};
}
ValueType object(std::string_view group) {
  return {ValueType::Kind::object, {}, group, {}};
}
ValueType any_of(std::vector<ValueType> alternatives) {
  return {ValueType::Kind::any_of, {}, {}, std::move(alternatives)};
}
ValueType list(ValueType of, std::size_t min_size, std::size_t max_size) {
  return {ValueType::Kind::list, {}, {}, {std::move(of)}, min_size, max_size};
}
ValueType tuple(ValueType of, std::size_t size) {
  return {ValueType::Kind::list, {}, {}, {std::move(of)}, size, size};
}
ValueType vector(Range range) {
  return tuple(number(range), 3);
}
ValueType rotation() {
  return any_of({vector(), object("axis_angle")});
}
ValueType friction_coefficient() {
  return any_of({number(not_negative), object("friction")});
}
ValueType number_or_formula() {
  return any_of({number(), formula(), list(tuple(number(), 2), 1)});
}

Bound::Bound(Key unbound) : key(std::move(unbound)) {}
Bound::Bound(Key unbound, const Member& member) : key(std::move(unbound)) {
  key.member = member;
}

Row make_row(Row row, std::vector<Bound> keys) {
  for (Bound& bound : keys) row.keys.push_back(std::move(bound.key));
  return row;
}

void add_times(std::vector<Bound>& keys) {
  using T = TimesDescription;
  keys.push_back({{"from", number(not_negative), "s", "0", "when it begins"}, &T::from});
  keys.push_back(
      {{"until", number(positive), "s", Key::optional, "when it ends; not given: never"}, &T::until});
}

}  // namespace apart::catalog_parts
