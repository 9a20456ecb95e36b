#pragma once
// JSON in which every value knows where it stands, so that each message about it can name file, line and
// path.
#include <apart/core/error.hpp>
#include <apart/core/types.hpp>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace apart {

/// One JSON value. Objects keep their members in the order of the file; no key occurs twice. Numbers are
/// finite.
struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;

  std::variant<std::monostate, bool, double, std::string, Array, Object> data;
  /// What was read: a file's path, or a command-line option; null: made here.
  std::shared_ptr<const std::string> source;
  int line = 0, column = 0;  ///< both from 1; line 0: the source has no lines

  JsonValue() = default;
  // Compiled once, not in every file that handles JSON.
  JsonValue(const JsonValue&);
  JsonValue(JsonValue&&) noexcept;
  JsonValue& operator=(const JsonValue&);
  JsonValue& operator=(JsonValue&&) noexcept;
  ~JsonValue();
  explicit JsonValue(bool value) : data(value) {}
  explicit JsonValue(double value) : data(value) {}
  explicit JsonValue(std::string value) : data(std::move(value)) {}
  explicit JsonValue(Array value) : data(std::move(value)) {}
  explicit JsonValue(Object value) : data(std::move(value)) {}

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&data);
  }
  bool is_null() const { return data.index() == 0; }
  /// The member of that name; null if this is no object or has none.
  const JsonValue* find(std::string_view key) const;
  JsonValue* find(std::string_view key);
  /// A number without fraction that fits an Index.
  bool is_integer() const;

  /// "scene.json:14", or the source alone if it has no lines.
  std::string place() const;
};

/// Reads JSON; // and /* */ comments are allowed. Throws InputError (source:line:column, what is wrong, what
/// to do) for anything else that RFC 8259 does not allow, for duplicate keys, numbers that no double holds,
/// invalid UTF-8, nesting deeper than 100 levels and text over 64 MB.
JsonValue parse_json(std::string_view text, const std::string& source);
JsonValue read_json(const std::filesystem::path& file);

/// JSON text that parses to the same values, bit for bit. Lists of plain values stay on one line.
std::string to_text(const JsonValue& value);
/// The value on one line, cut to fit a message.
std::string to_short_text(const JsonValue& value);
nlohmann::json to_nlohmann(const JsonValue& value);

/// An InputError whose message already names its place.
class LocatedError : public InputError {
 public:
  using InputError::InputError;
};

/// Base of everything that has a place in a file, with which messages about it begin. `Self` provides
/// message(what).
template <class Self>
class Located {
 public:
  /// Throws LocatedError "scene.json:14: bodies[2].material.nu: message".
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw LocatedError(self().message(fmt::format(format, std::forward<Args>(args)...)));
  }
  /// Calls f; an InputError it throws without a place gets this one.
  template <class F>
  auto locate(F&& f) const {
    try {
      return f();
    } catch (const LocatedError&) {
      throw;
    } catch (const InputError& e) {
      throw LocatedError(self().message(e.what()));
    }
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

/// A value with its path from the top ("bodies[2].material.nu"), for reading and for messages. Refers to the
/// value. The accessors throw InputError if the value is of another type.
class LocatedJson : public Located<LocatedJson> {
 public:
  explicit LocatedJson(const JsonValue& value, std::string path = {})
      : value_(&value), path_(std::move(path)) {}

  const JsonValue& value() const { return *value_; }
  const std::string& path() const { return path_; }

  bool has(std::string_view key) const { return value_->find(key) != nullptr; }
  LocatedJson operator[](std::string_view key) const;
  LocatedJson operator[](std::size_t index) const;
  std::size_t size() const;  ///< of an array
  std::vector<LocatedJson> items() const;

  bool boolean() const;
  double number() const;
  Index integer() const;
  const std::string& text() const;
  Vector3 vector() const;                  ///< three numbers
  Eigen::Vector3i integer_vector() const;  ///< three integers

  std::string message(std::string_view what) const;

 private:
  const JsonValue* value_;
  std::string path_;
};

/// path.key and path[index].
std::string member_path(std::string_view path, std::string_view key);
std::string item_path(std::string_view path, std::size_t index);

}  // namespace apart
