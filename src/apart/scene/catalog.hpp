#pragma once
// The one list of everything that has a name in a scene: every key of the scene format with type, unit,
// default, range and one line of documentation, and the member of the description that it fills; every choice
// of method. The checks of scene files, the reading and writing of descriptions, the JSON Schema, the
// reference in docs/scene-format.md and the contract tests all iterate it.
#include <apart/io/located_json.hpp>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

inline constexpr int most_bodies = 100'000;  ///< of a scene

/// An interval of numbers, its ends included unless `open`.
struct Range {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool lower_open = false, upper_open = false;

  bool contains(double value) const;
  std::string rule() const;  ///< "must be positive", "must lie in (-1, 0.5)"; empty if everything is allowed
};

/// The type of a value.
struct ValueType {
  enum class Kind {
    boolean,
    integer,
    number,
    length,  ///< number, or text "1e-3 L": times the scene's size L (Model::size)
    text,
    formula,  ///< text read by Expression
    choice,   ///< text: a name of the list `name` of Catalog::choices
    list,
    object,  ///< of the group `name` of Catalog::groups
    any_of,
  };
  Kind kind = Kind::number;
  Range range;            ///< integer, number, length
  std::string_view name;  ///< choice, object
  std::vector<ValueType>
      of;  ///< list: the type of its items; any_of: alternatives, each of another JSON type
  std::size_t min_size = 0, max_size = unlimited;  ///< of a list, or a text
  bool is_path = false;  ///< text: of a file, absolute or relative to the scene file
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  // Defined in a source file, as those of Key are: the catalog copies some hundreds of them, and inline it
  // would take minutes to compile.
  ValueType();
  ValueType(Kind kind, Range range, std::string_view name, std::vector<ValueType> of,
            std::size_t min_size = 0, std::size_t max_size = unlimited);
  ValueType(const ValueType&);
  ValueType(ValueType&&) noexcept;
  ValueType& operator=(const ValueType&);
  ValueType& operator=(ValueType&&) noexcept;
  ~ValueType();
};

/// A checked value, and what keeps it alive.
struct CheckedJson {
  LocatedJson value;
  const std::shared_ptr<const JsonValue>& root;
};

/// The member of a struct that a key fills and is written from: where it is, and how values of its type are
/// read and written.
struct Member {
  std::size_t offset = 0;  ///< [bytes] from the beginning of the struct
  void (*read_value)(void* member, const CheckedJson& value) = nullptr;
  std::optional<JsonValue> (*write_value)(const void* member) = nullptr;

  bool exists() const { return read_value != nullptr; }
  void read(void* object, const CheckedJson& value) const {
    read_value(static_cast<char*>(object) + offset, value);
  }
  /// Nothing if the member has no value.
  std::optional<JsonValue> write(const void* object) const {
    return write_value(static_cast<const char*>(object) + offset);
  }
};

/// One key of an object.
struct Key {
  static constexpr std::string_view required = "(required)", optional = "(optional)";
  std::string_view name;
  ValueType type;
  std::string_view unit;  ///< empty: none
  /// JSON text of the default, or `required`, or `optional`: left out if not given
  std::string_view fallback;
  std::string_view summary;      ///< one line of documentation
  std::string_view advice = {};  ///< what to do if the value is out of range; empty: the default is suggested
  /// Keys, with blanks between: those that exclude this one, which has no default if one of them is given;
  /// and those that must be given with it.
  std::string_view excludes = {}, needs = {};
  Member member = {};  ///< none: the key that says which row it is

  Key(std::string_view name, ValueType type, std::string_view unit, std::string_view fallback,
      std::string_view summary, std::string_view advice = {}, std::string_view excludes = {},
      std::string_view needs = {});
  Key(const Key&);
  Key(Key&&) noexcept;
  Key& operator=(const Key&);
  Key& operator=(Key&&) noexcept;
  ~Key();
};

/// One kind of object in a group: chosen by the value of a key ("type": "volume"), by a key being there
/// ("file"), or, with an empty `tag`, always.
struct Row {
  std::string_view name;
  std::string_view summary;
  std::string_view tag;
  bool tag_is_name = false;                               ///< the tag's value must be `name`
  std::vector<Key> keys;                                  ///< with the tag itself
  std::shared_ptr<void> (*make_description)() = nullptr;  ///< the struct that the keys fill, at its defaults

  /// Whether an object that was checked against the row's group is of this kind.
  bool describes(const JsonValue& object) const;
};

/// The kinds of objects that are possible in one place.
struct Group {
  std::string_view name;
  std::string_view summary;
  std::vector<Row> rows;

  const Row& row(std::string_view name) const;
  /// The row that a checked object is of.
  const Row& row_of(const JsonValue& object) const;
};

struct Choice {
  std::string_view name, summary;
  int value = 0;  ///< of the enumerator, where the description has an enumeration
};
/// Names for one purpose; the first is the default.
struct ChoiceList {
  std::string_view name;
  std::string_view summary;
  std::vector<Choice> choices;
};

struct Catalog {
  std::vector<Group> groups;  ///< the first is the scene
  std::vector<ChoiceList> choices;

  const Group& group(std::string_view name) const;
  const ChoiceList& choice_list(std::string_view name) const;
};

const Catalog& catalog();

}  // namespace apart
