#include <apart/io/file_reader.hpp>
#include <apart/scene/body_names.hpp>

#include <unordered_map>
#include <unordered_set>

namespace apart {

namespace {

/// How many copies an array makes; 1 if it does not say.
std::size_t copies_of(const JsonValue& body) {
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
  /// `copies`: of an array, how many it makes.
  void add(std::string name, std::optional<std::size_t> copies) {
    names_.push_back(std::move(name));
    const std::string& added = names_.back();
    known_.insert(added);
    if (copies) copies_[added] = *copies;
    // Copies of an array that were written one by one answer to the array's name.
    const std::size_t dot = added.rfind('.');
    if (dot != std::string::npos)
      if (const std::string stem = added.substr(0, dot); is_copy(added, stem)) known_.insert(stem);
  }
  /// What is wrong with a name; empty if it is known. `in_joint`: of one body, not of several.
  std::string problem_with(const std::string& name, bool in_joint) const {
    if (has(name)) return {};
    const std::string near = nearest(name);
    return fmt::format("got \"{}\", which is not a body; {}", name,
                       !near.empty() ? fmt::format("did you mean \"{}\"?", near)
                       : in_joint    ? "use the name of one; to hold a body to the world, name it alone"
                                     : "use the name of one, or \"*\"");
  }

 private:
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

  std::vector<std::string> names_;
  std::unordered_set<std::string> known_;
  std::unordered_map<std::string, std::size_t> copies_;  ///< of arrays
};

}  // namespace

std::string copy_name(const std::string& array, std::size_t number) {
  return fmt::format("{}.{}", array, number);
}

bool is_copy(const std::string& name, const std::string& array) {
  const std::size_t start = array.size() + 1;
  return name.starts_with(array + ".") && name.size() > start &&
         name.find_first_not_of("0123456789", start) == name.npos;
}

void add_unknown_bodies(const SceneDescription& scene, Problems& problems) {
  KnownBodies known;
  for (const BodyDescription& body : scene.bodies)
    known.add(base_of(body).name,
              array_of(body) ? std::optional(std::size_t(array_of(body)->copies())) : std::nullopt);
  const auto check = [&](const std::string& name, const Place& place, bool in_joint = false) {
    if (const std::string problem = known.problem_with(name, in_joint); !problem.empty())
      problems.add(place.message(problem));
  };
  const auto check_two = [&](const auto& user) {
    for (std::size_t k = 0; k < 2; ++k) check(user.bodies[k], user.place["bodies"][k]);
  };
  for (const PairDescription& pair : scene.contact.pairs) check_two(pair);
  for (const AttachmentDescription& attachment : scene.attachments) std::visit(check_two, attachment);
  for (const JointDescription& joint : scene.joints) {
    const JointBase& d = base_of(joint);
    for (std::size_t k = 0; k < d.bodies.size(); ++k) check(d.bodies[k], d.place["bodies"][k], true);
  }
  for (const ProbeDescription& probe : scene.probes)
    std::visit(
        [&](const auto& d) {
          if constexpr (requires { d.body; })
            check(d.body, d.place["body"]);
          else if constexpr (requires { d.bodies; })
            check_two(d);
        },
        probe);
}

void add_unknown_bodies(const JsonValue& scene, Problems& problems) {
  const JsonValue* list = scene.find("bodies");
  const auto* bodies = list ? list->get_if<JsonValue::Array>() : nullptr;
  if (!bodies) return;
  KnownBodies known;
  for (std::size_t i = 0; i < bodies->size(); ++i) {
    const JsonValue& body = (*bodies)[i];
    const JsonValue *name = body.find("name"), *type = body.find("type");
    const auto* given = name ? name->get_if<std::string>() : nullptr;
    const auto* kind = type ? type->get_if<std::string>() : nullptr;
    if (given || kind)
      known.add(given ? *given : fmt::format("{}{}", *kind, i),
                body.find("array") ? std::optional(copies_of(body)) : std::nullopt);
  }
  const auto check = [&](const LocatedJson& name, bool in_joint) {
    const auto* text = name.value().get_if<std::string>();
    const std::string problem = text ? known.problem_with(*text, in_joint) : std::string();
    if (!problem.empty()) problems.add(name.message(problem));
  };
  const auto check_all = [&](const LocatedJson& users, bool are_joints = false) {
    if (!users.value().get_if<JsonValue::Array>()) return;
    for (const LocatedJson& user : users.items()) {
      if (user.has("body")) check(user["body"], false);
      if (user.has("bodies") && user["bodies"].value().get_if<JsonValue::Array>())
        for (const LocatedJson& name : user["bodies"].items()) check(name, are_joints);
    }
  };
  const LocatedJson top(scene);
  if (top.has("contact") && top["contact"].has("pairs")) check_all(top["contact"]["pairs"]);
  for (const std::string_view key : {"attachments", "joints", "probes"})
    if (top.has(key)) check_all(top[key], key == "joints");
}

}  // namespace apart
