#pragma once
#include <variant>

namespace apart {

/// A list of types with a name: `struct ColourKinds : Kinds<Red, Green> {};`.
template <class... Ts>
struct Kinds {
  using Variant = std::variant<Ts...>;
};

/// A std::variant of the types of a list, whose copying, moving and destruction are compiled once, in
/// one_of.cpp, instead of in every file that handles a description (where they took up to a quarter of the
/// time).
template <class List>
class OneOf : public List::Variant {
 public:
  using List::Variant::Variant;
  using List::Variant::operator=;
  OneOf();
  OneOf(const OneOf&);
  OneOf(OneOf&&) noexcept;
  OneOf& operator=(const OneOf&);
  OneOf& operator=(OneOf&&) noexcept;
  ~OneOf() noexcept;
};

}  // namespace apart
