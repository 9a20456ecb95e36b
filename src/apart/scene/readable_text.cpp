#include <apart/scene/readable_text.hpp>

#include <algorithm>

namespace apart {

namespace {

void append(std::string& out, const JsonValue& value, std::size_t indent, std::size_t used) {
  constexpr std::size_t width = 110;
  const std::string flat = flat_text(value);
  const auto* items = value.get_if<JsonValue::Array>();
  const auto* members = value.get_if<JsonValue::Object>();
  const bool plain = items && std::none_of(items->begin(), items->end(), [](const JsonValue& v) {
                       return v.get_if<JsonValue::Array>() || v.get_if<JsonValue::Object>();
                     });
  if ((!items && !members) || plain || (indent > 0 && used + flat.size() <= width)) {
    out += flat;
    return;
  }
  const std::string margin(indent + 2, ' ');
  out += items ? "[" : "{";
  const std::size_t count = items ? items->size() : members->size();
  for (std::size_t i = 0; i < count; ++i) {
    out += (i > 0 ? ",\n" : "\n") + margin;
    std::size_t column = margin.size();
    if (members) {
      const std::string key = flat_text(JsonValue((*members)[i].first)) + ": ";
      out += key;
      column += key.size();
    }
    append(out, items ? (*items)[i] : (*members)[i].second, indent + 2, column + 1);
  }
  out += "\n" + std::string(indent, ' ') + (items ? "]" : "}");
}

}  // namespace

std::string flat_text(const JsonValue& value) {
  if (const auto* items = value.get_if<JsonValue::Array>()) {
    std::string out = "[";
    for (const JsonValue& item : *items) out += (out.size() > 1 ? ", " : "") + flat_text(item);
    return out + "]";
  }
  if (const auto* members = value.get_if<JsonValue::Object>()) {
    std::string out = "{";
    for (const auto& [key, member] : *members)
      out += (out.size() > 1 ? ", " : "") + flat_text(JsonValue(key)) + ": " + flat_text(member);
    return out + "}";
  }
  std::string out = to_text(value);
  out.pop_back();  // the end of the line
  return out;
}

std::string readable_text(const JsonValue& scene) {
  std::string out;
  append(out, scene, 0, 0);
  return out + "\n";
}

}  // namespace apart
