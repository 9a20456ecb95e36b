#pragma once
// Values of a description, read from checked JSON and written as JSON. Structs go through the catalog: each
// key fills its member. For the catalog and describe.cpp only.
#include <apart/core/error.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/scene_description.hpp>

#include <concepts>
#include <type_traits>

namespace apart::described {

template <class T>
concept Described = requires {
  { T::group } -> std::convertible_to<std::string_view>;
  { T::kind } -> std::convertible_to<std::string_view>;
};
template <class T>
concept EigenVector = requires {
  typename T::PlainObject;
  requires int(T::SizeAtCompileTime) > 0;
};

/// The list of names of an enumeration.
template <class E>
inline constexpr std::string_view choices_of = {};
template <>
inline constexpr std::string_view choices_of<Integrator> = "integrator";
template <>
inline constexpr std::string_view choices_of<MassKind> = "mass";
template <>
inline constexpr std::string_view choices_of<PlaneState> = "plane";
template <>
inline constexpr std::string_view choices_of<BendingModel> = "bending_model";
template <>
inline constexpr std::string_view choices_of<RestAngles> = "rest_angles";
template <>
inline constexpr std::string_view choices_of<RestCurvature> = "rest_curvature";
template <>
inline constexpr std::string_view choices_of<AttachTo> = "attach_to";
template <>
inline constexpr std::string_view choices_of<ContactFormulation> = "formulation";
template <>
inline constexpr std::string_view choices_of<RemeshCriterion> = "criterion";
template <>
inline constexpr std::string_view choices_of<StiffnessRule> = "barrier_stiffness";
template <>
inline constexpr std::string_view choices_of<Termination> = "termination";
template <>
inline constexpr std::string_view choices_of<CcdMethod> = "ccd";
template <>
inline constexpr std::string_view choices_of<CcdCulling> = "ccd_culling";

int choice_value(const LocatedJson& name, std::string_view list);
std::string choice_name(int value, std::string_view list);

template <Described T>
const Row& row_of() {
  static const Row& row = catalog().group(T::group).row(T::kind);
  return row;
}
void read_object(const CheckedJson& v, const Row& row, void* object);
JsonValue write_object(const Row& row, const void* object, const Place& place);

/// Conversion of values of type T.
template <class T>
struct Value;

template <class T>
void read(const CheckedJson& v, T& x) {
  Value<T>::read(v, x);
}
template <class T>
JsonValue write(const T& x) {
  return Value<T>::write(x);
}
template <class T>
bool accepts(const JsonValue& v) {
  return Value<T>::accepts(v);
}

template <>
struct Value<bool> {
  static bool accepts(const JsonValue& v) { return v.get_if<bool>(); }
  static void read(const CheckedJson& v, bool& x) { x = v.value.boolean(); }
  static JsonValue write(bool x) { return JsonValue(x); }
};
template <>
struct Value<double> {
  static bool accepts(const JsonValue& v) { return v.get_if<double>(); }
  static void read(const CheckedJson& v, double& x) { x = v.value.number(); }
  static JsonValue write(double x) { return JsonValue(x); }
};
template <>
struct Value<Index> {
  static bool accepts(const JsonValue& v) { return v.get_if<double>(); }
  static void read(const CheckedJson& v, Index& x) { x = v.value.integer(); }
  static JsonValue write(Index x) { return JsonValue(double(x)); }
};
template <>
struct Value<std::string> {
  static bool accepts(const JsonValue& v) { return v.get_if<std::string>(); }
  static void read(const CheckedJson& v, std::string& x) { x = v.value.text(); }
  static JsonValue write(const std::string& x) { return JsonValue(x); }
};
template <class E>
requires std::is_enum_v<E>
struct Value<E> {
  static bool accepts(const JsonValue& v) { return v.get_if<std::string>(); }
  static void read(const CheckedJson& v, E& x) { x = E(choice_value(v.value, choices_of<E>)); }
  static JsonValue write(E x) { return JsonValue(choice_name(int(x), choices_of<E>)); }
};
template <>
struct Value<Length> {
  static bool accepts(const JsonValue& v) { return read_length(v).has_value(); }
  static void read(const CheckedJson& v, Length& x) { x = *read_length(v.value.value()); }
  static JsonValue write(const Length& x) {
    return x.relative ? JsonValue(fmt::format("{} L", x.value)) : JsonValue(x.value);
  }
};
/// A word that stands for itself.
template <class T>
struct Word {
  static bool accepts(const JsonValue& v) {
    const auto* text = v.get_if<std::string>();
    return text && *text == T::word;
  }
  static void read(const CheckedJson&, T&) {}
  static JsonValue write(const T&) { return JsonValue(std::string(T::word)); }
};
template <>
struct Value<Automatic> : Word<Automatic> {};
template <>
struct Value<FromTexture> : Word<FromTexture> {};

template <EigenVector T>
struct Value<T> {
  using Scalar = typename T::Scalar;
  static bool accepts(const JsonValue& v) { return v.get_if<JsonValue::Array>(); }
  static void read(const CheckedJson& v, T& x) {
    for (int k = 0; k < T::SizeAtCompileTime; ++k) {
      if constexpr (std::is_integral_v<Scalar>)
        x[k] = v.value[std::size_t(k)].integer();
      else
        x[k] = v.value[std::size_t(k)].number();
    }
  }
  static JsonValue write(const T& x) {
    JsonValue::Array items;
    for (int k = 0; k < T::SizeAtCompileTime; ++k) items.emplace_back(double(x[k]));
    return JsonValue(std::move(items));
  }
};
template <class List>
struct ListValue {
  static bool accepts(const JsonValue& v) { return v.get_if<JsonValue::Array>(); }
  static JsonValue write(const List& x) {
    JsonValue::Array items;
    for (const auto& item : x) items.push_back(described::write(item));
    return JsonValue(std::move(items));
  }
};
template <class T>
struct Value<std::vector<T>> : ListValue<std::vector<T>> {
  static void read(const CheckedJson& v, std::vector<T>& x) {
    x.resize(v.value.size());
    for (std::size_t i = 0; i < x.size(); ++i) described::read(CheckedJson{v.value[i], v.root}, x[i]);
  }
};
template <class T, std::size_t n>
struct Value<std::array<T, n>> : ListValue<std::array<T, n>> {
  static void read(const CheckedJson& v, std::array<T, n>& x) {
    for (std::size_t i = 0; i < n; ++i) described::read(CheckedJson{v.value[i], v.root}, x[i]);
  }
};
template <Described T>
struct Value<T> {
  static bool accepts(const JsonValue& v) {
    if (!v.get_if<JsonValue::Object>()) return false;
    const Row& row = row_of<T>();
    if (!row.tag.empty()) return row.describes(v);
    for (const Row& other : catalog().group(T::group).rows)
      if (!other.tag.empty() && other.describes(v)) return false;
    return true;
  }
  static void read(const CheckedJson& v, T& x) {
    x.place = Place(v.value, v.root);
    read_object(v, row_of<T>(), &x);
  }
  static JsonValue write(const T& x) { return write_object(row_of<T>(), &x, x.place); }
};
template <class... Ts>
struct Value<std::variant<Ts...>> {
  static bool accepts(const JsonValue& v) { return (described::accepts<Ts>(v) || ...); }
  static void read(const CheckedJson& v, std::variant<Ts...>& x) {
    const bool known = (read_as<Ts>(v, x) || ...);
    ensure(known, "described::read: the value was not checked");
  }
  static JsonValue write(const std::variant<Ts...>& x) {
    return std::visit([](const auto& value) { return described::write(value); }, x);
  }

 private:
  template <class T>
  static bool read_as(const CheckedJson& v, std::variant<Ts...>& x) {
    if (!described::accepts<T>(v.value.value())) return false;
    described::read(v, x.template emplace<T>());
    return true;
  }
};
template <class List>
struct Value<OneOf<List>> : Value<typename List::Variant> {};
template <>
struct Value<NestedMesh> {
  static void read(const CheckedJson& v, NestedMesh& x) {
    MeshHolder holder;
    described::read(v, holder.mesh);
    x = NestedMesh(holder);
  }
  static JsonValue write(const NestedMesh& x) { return described::write(x->mesh); }
};

/// An optional member need not have a value.
template <class M>
inline constexpr bool is_optional = false;
template <class M>
inline constexpr bool is_optional<std::optional<M>> = true;

template <class M>
void read_member(void* member, const CheckedJson& v) {
  if constexpr (is_optional<M>)
    read(v, static_cast<M*>(member)->emplace());
  else
    read(v, *static_cast<M*>(member));
}
template <class M>
std::optional<JsonValue> write_member(const void* member) {
  const M& x = *static_cast<const M*>(member);
  if constexpr (is_optional<M>)
    return x ? std::optional(write(*x)) : std::nullopt;
  else
    return write(x);
}

/// A member for a key, of the struct T or one that T begins with: descriptions have at most one base class
/// and no virtual functions, so that offsets in both are the same.
template <class T>
const T& sample() {
  static const T object{};
  return object;
}
/// A member for a key, of the struct T or of one that begins with T: descriptions have at most one base class
/// and no virtual functions, so that the offsets in both are the same.
template <class T, class M>
Member member(M T::*m) {
  const T& object = sample<T>();
  const auto offset = reinterpret_cast<const char*>(&(object.*m)) - reinterpret_cast<const char*>(&object);
  return {std::size_t(offset), &read_member<M>, &write_member<M>};
}

}  // namespace apart::described

namespace apart {

/// Part of a description on one line, as a scene file would write it, cut to fit a message.
template <class T>
std::string short_text(const T& part) {
  return to_short_text(described::write(part));
}

}  // namespace apart
