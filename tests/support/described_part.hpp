#pragma once
#include <apart/scene/describe.hpp>

#include <memory>
#include <string_view>

namespace apart::test {

/// Part of a scene; what is not given has its default.
template <class T>
T described_part(const LocatedJson& json) {
  const auto root = std::make_shared<const JsonValue>(json.value());
  T part;
  described::read(CheckedJson{LocatedJson(*root, json.path()), root}, part);
  return part;
}
template <class T>
T described_part(std::string_view text, const std::string& path = {}) {
  return described_part<T>(LocatedJson(parse_json(text, "scene.json"), path));
}

}  // namespace apart::test
