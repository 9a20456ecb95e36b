#include <apart/core/error.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/validation.hpp>

namespace apart {

const Example& find_example(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Example& example : examples()) {
    if (example.name == name) return example;
    names.push_back(example.name);
  }
  const std::string near = nearest_name(name, names);
  throw InputError(
      "{}: no such file and no such example; {}", name,
      near.empty() ? "'apart examples' lists the examples" : fmt::format("did you mean '{}'?", near));
}

}  // namespace apart
