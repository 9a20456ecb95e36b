#include <apart/scene/place.hpp>

namespace apart {

Place::Place(const Place&) = default;
Place::Place(Place&&) noexcept = default;
Place& Place::operator=(const Place&) = default;
Place& Place::operator=(Place&&) noexcept = default;
Place::~Place() = default;

Place::Place(std::shared_ptr<const std::string> file, int line) {
  JsonValue value;
  value.source = std::move(file);
  value.line = line;
  value.column = 1;
  value_ = std::make_shared<const JsonValue>(std::move(value));
}

void Place::mark(JsonValue& value) const {
  if (!value_) return;
  value.source = value_->source;
  value.line = value_->line;
  value.column = value_->column;
}

Place Place::operator[](std::string_view key) const {
  Place result = *this;
  result.path_ = member_path(path_, key);
  if (const JsonValue* member = value_ ? value_->find(key) : nullptr)
    result.value_ = std::shared_ptr<const JsonValue>(value_, member);
  return result;
}

Place Place::operator[](std::size_t index) const {
  Place result = *this;
  result.path_ = item_path(path_, index);
  const auto* items = value_ ? value_->get_if<JsonValue::Array>() : nullptr;
  if (items && index < items->size())
    result.value_ = std::shared_ptr<const JsonValue>(value_, &(*items)[index]);
  return result;
}

std::string Place::message(std::string_view what) const {
  static const JsonValue nowhere;
  return LocatedJson(value_ ? *value_ : nowhere, path_).message(what);
}

}  // namespace apart
