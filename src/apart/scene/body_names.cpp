#include <apart/io/file_reader.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/scene/scene_builder.hpp>

#include <unordered_map>
#include <unordered_set>

namespace apart {

namespace {

/// How many copies an array makes; 1 if it does not say.
std::size_t copy_count(const JsonValue& body) {
  const JsonValue* array = body.find("array");
  const JsonValue* counts = array ? array->find("counts") : nullptr;
  const auto* list = counts ? counts->get_if<JsonValue::Array>() : nullptr;
  if (!list) return 1;
  double product = 1;
  for (const JsonValue& count : *list)
    if (const double* n = count.get_if<double>()) product *= std::max(1.0, *n);
  return std::size_t(std::min(product, 1e6));
}

/// Every name that stands for a body or for several.
class KnownBodies {
 public:
  explicit KnownBodies(const JsonValue::Array& bodies) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const JsonValue *name = bodies[i].find("name"), *type = bodies[i].find("type");
      const auto* given = name ? name->get_if<std::string>() : nullptr;
      const auto* kind = type ? type->get_if<std::string>() : nullptr;
      if (!given && !kind) continue;
      names_.push_back(given ? *given : fmt::format("{}{}", *kind, i));
      known_.insert(names_.back());
      if (bodies[i].find("array")) copies_[names_.back()] = copy_count(bodies[i]);
      // Copies of an array that were written one by one answer to the array's name.
      const std::size_t dot = names_.back().rfind('.');
      if (dot != std::string::npos)
        if (const std::string stem = names_.back().substr(0, dot); is_copy(names_.back(), stem))
          known_.insert(stem);
    }
  }
  bool has(const std::string& name) const {
    if (name == "*" || known_.contains(name)) return true;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || !is_copy(name, name.substr(0, dot))) return false;
    const auto array = copies_.find(name.substr(0, dot));
    const auto number = parse_integer(name.substr(dot + 1));
    return array != copies_.end() && number && std::size_t(*number) < array->second;
  }
  std::string nearest(const std::string& name) const {
    const std::vector<std::string_view> views(names_.begin(), names_.end());
    return nearest_name(name, views);
  }

 private:
  std::vector<std::string> names_;
  std::unordered_set<std::string> known_;
  std::unordered_map<std::string, std::size_t> copies_;  ///< of arrays
};

}  // namespace

void add_unknown_bodies(const JsonValue& scene, Problems& problems) {
  const JsonValue* list = scene.find("bodies");
  const auto* bodies = list ? list->get_if<JsonValue::Array>() : nullptr;
  if (!bodies) return;
  const KnownBodies known(*bodies);
  const auto check = [&](const LocatedJson& name) {
    const auto* text = name.value().get_if<std::string>();
    if (!text || known.has(*text)) return;
    const std::string near = known.nearest(*text);
    problems.add(name.message(fmt::format(
        "got \"{}\", which is no body; {}", *text,
        near.empty() ? "use the name of one, or \"*\"" : fmt::format("did you mean \"{}\"?", near))));
  };
  const auto check_all = [&](const LocatedJson& users) {
    if (!users.value().get_if<JsonValue::Array>()) return;
    for (const LocatedJson& user : users.items()) {
      if (user.has("body")) check(user["body"]);
      if (user.has("bodies") && user["bodies"].value().get_if<JsonValue::Array>())
        for (const LocatedJson& name : user["bodies"].items()) check(name);
    }
  };
  const LocatedJson top(scene);
  if (top.has("contact") && top["contact"].has("pairs")) check_all(top["contact"]["pairs"]);
  for (const char* key : {"attachments", "probes"})
    if (top.has(key)) check_all(top[key]);
}

}  // namespace apart
