#include <apart/scene/ipc_import.hpp>
#include <apart/scene/ipc_values.hpp>

#include <algorithm>

namespace apart {

namespace {

void append(std::string& out, const JsonValue& value, std::size_t indent, std::size_t used) {
  constexpr std::size_t width = 110;
  const std::string flat = ipc::flat_text(value);
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
      const std::string key = ipc::flat_text(JsonValue((*members)[i].first)) + ": ";
      out += key;
      column += key.size();
    }
    append(out, items ? (*items)[i] : (*members)[i].second, indent + 2, column + 1);
  }
  out += "\n" + std::string(indent, ' ') + (items ? "]" : "}");
}

}  // namespace

std::string readable_text(const JsonValue& scene) {
  std::string out;
  append(out, scene, 0, 0);
  return out + "\n";
}

}  // namespace apart
