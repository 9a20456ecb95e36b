#include <apart/io/file_reader.hpp>
#include <apart/io/located_json.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

JsonValue::JsonValue(const JsonValue&) = default;
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue&) = default;
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;
JsonValue::~JsonValue() = default;

namespace {

void append_string(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", int(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_plain(const JsonValue& value) {
  return !value.get_if<JsonValue::Array>() && !value.get_if<JsonValue::Object>();
}

/// indent < 0: everything on one line. Stops early once `out` exceeds `limit`, for messages.
void append(std::string& out, const JsonValue& value, int indent, std::size_t limit = std::string::npos) {
  if (out.size() > limit) return;
  const auto new_line = [&](int by) {
    if (indent >= 0) out += '\n' + std::string(std::size_t(indent + by), ' ');
  };
  if (value.is_null()) {
    out += "null";
  } else if (const bool* b = value.get_if<bool>()) {
    out += *b ? "true" : "false";
  } else if (const double* d = value.get_if<double>()) {
    out += fmt::format("{}", *d);  // shortest text that reads back to the same double
  } else if (const std::string* s = value.get_if<std::string>()) {
    append_string(out, *s);
  } else if (const auto* items = value.get_if<JsonValue::Array>()) {
    const bool flat = indent < 0 || std::all_of(items->begin(), items->end(), [](const JsonValue& item) {
                        const auto* inner = item.get_if<JsonValue::Array>();
                        return is_plain(item) || (inner && inner->size() <= 4 &&
                                                  std::all_of(inner->begin(), inner->end(), is_plain));
                      });
    out += '[';
    for (std::size_t i = 0; i < items->size() && out.size() <= limit; ++i) {
      if (i > 0) out += flat ? ", " : ",";
      if (!flat) new_line(2);
      append(out, (*items)[i], flat ? -1 : indent + 2, limit);
    }
    if (!flat) new_line(0);
    out += ']';
  } else {
    const auto& members = *value.get_if<JsonValue::Object>();
    out += '{';
    for (std::size_t i = 0; i < members.size() && out.size() <= limit; ++i) {
      if (i > 0) out += indent < 0 ? ", " : ",";
      new_line(2);
      append_string(out, members[i].first);
      out += ": ";
      append(out, members[i].second, indent < 0 ? -1 : indent + 2, limit);
    }
    if (!members.empty()) new_line(0);
    out += '}';
  }
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  if (const Object* members = get_if<Object>())
    for (const auto& [name, value] : *members)
      if (name == key) return &value;
  return nullptr;
}

JsonValue* JsonValue::find(std::string_view key) {
  return const_cast<JsonValue*>(std::as_const(*this).find(key));
}

bool JsonValue::is_integer() const {
  const double* number = get_if<double>();
  return number && *number == std::floor(*number) && std::abs(*number) <= std::numeric_limits<Index>::max();
}

std::string JsonValue::place() const {
  if (!source) return {};
  return line > 0 ? fmt::format("{}:{}", *source, line) : *source;
}

std::string to_text(const JsonValue& value) {
  std::string out;
  append(out, value, 0);
  return out + '\n';
}

std::string to_short_text(const JsonValue& value) {
  constexpr std::size_t limit = 60;
  std::string out;
  append(out, value, -1, limit);
  if (out.size() <= limit) return out;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return out.substr(0, end) + "...";
}

nlohmann::json to_nlohmann(const JsonValue& value) {
  if (const bool* b = value.get_if<bool>()) return *b;
  if (const double* d = value.get_if<double>())
    return value.is_integer() ? nlohmann::json(std::int64_t(*d)) : nlohmann::json(*d);
  if (const std::string* s = value.get_if<std::string>()) return *s;
  if (const auto* items = value.get_if<JsonValue::Array>()) {
    nlohmann::json result = nlohmann::json::array();
    for (const JsonValue& item : *items) result.push_back(to_nlohmann(item));
    return result;
  }
  if (const auto* members = value.get_if<JsonValue::Object>()) {
    nlohmann::json result = nlohmann::json::object();
    for (const auto& [key, member] : *members) result[key] = to_nlohmann(member);
    return result;
  }
  return nullptr;
}

std::string member_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string item_path(std::string_view path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

LocatedJson LocatedJson::operator[](std::string_view key) const {
  const JsonValue* member = value_->find(key);
  if (!member) fail("the key '{}' is missing", key);
  return LocatedJson(*member, member_path(path_, key));
}

std::size_t LocatedJson::size() const {
  const auto* array = value_->get_if<JsonValue::Array>();
  if (!array) fail("got {}, must be a list", to_short_text(*value_));
  return array->size();
}

LocatedJson LocatedJson::operator[](std::size_t index) const {
  if (index >= size()) fail("has {} entries, entry {} is missing", size(), index);
  return LocatedJson((*value_->get_if<JsonValue::Array>())[index], item_path(path_, index));
}

std::vector<LocatedJson> LocatedJson::items() const {
  std::vector<LocatedJson> result;
  for (std::size_t i = 0; i < size(); ++i) result.push_back((*this)[i]);
  return result;
}

bool LocatedJson::boolean() const {
  if (const bool* b = value_->get_if<bool>()) return *b;
  fail("got {}, must be true or false", to_short_text(*value_));
}

double LocatedJson::number() const {
  if (const double* d = value_->get_if<double>()) return *d;
  fail("got {}, must be a number", to_short_text(*value_));
}

Index LocatedJson::integer() const {
  if (value_->is_integer()) return Index(*value_->get_if<double>());
  fail("got {}, must be a whole number", to_short_text(*value_));
}

const std::string& LocatedJson::text() const {
  if (const std::string* s = value_->get_if<std::string>()) return *s;
  fail("got {}, must be a text in quotes", to_short_text(*value_));
}

Vector3 LocatedJson::vector() const {
  if (size() != 3) fail("got {}, must be three numbers [x, y, z]", to_short_text(*value_));
  return {(*this)[0].number(), (*this)[1].number(), (*this)[2].number()};
}

Eigen::Vector3i LocatedJson::integer_vector() const {
  if (size() != 3) fail("got {}, must be three whole numbers [x, y, z]", to_short_text(*value_));
  return {(*this)[0].integer(), (*this)[1].integer(), (*this)[2].integer()};
}

std::string LocatedJson::message(std::string_view what) const {
  std::string result = value_->place();
  for (std::string_view part : {std::string_view(path_), what})
    if (!part.empty()) result += (result.empty() ? "" : ": ") + std::string(part);
  return result;
}

}  // namespace apart
