#include <apart/run/start_check.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/scene/validation.hpp>
#include <apart/simulation/simulation.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace apart {

namespace {

/// The body of a scene file that a body of the model comes from; copies are named after it.
LocatedJson place_of(const SceneFile& file, const std::string& body) {
  for (const LocatedJson& candidate : file.top()["bodies"].items()) {
    const std::string& name = candidate["name"].text();
    if (body == name || (candidate.has("array") && is_copy(body, name))) return candidate;
  }
  return file.top()["bodies"];
}

bool never_moves(const Body& body) {
  return !body.is_dynamic() && std::all_of(body.scripts.begin(), body.scripts.end(),
                                           [](const Script& script) { return !script.motion; });
}

/// The name of a joint of two bodies; empty if there is none.
std::string joint_between(const SceneFile& file, const std::vector<std::string>& bodies) {
  if (bodies.size() == 2 && file.top().has("joints"))
    for (const LocatedJson& joint : file.top()["joints"].items()) {
      std::vector<std::string> held;
      for (const LocatedJson& body : joint["bodies"].items()) held.push_back(body.text());
      if (held.size() == 2 && std::is_permutation(held.begin(), held.end(), bodies.begin()))
        return joint["name"].text();
    }
  return {};
}

std::string remedy(const verify::Finding& finding, const SceneFile& file) {
  if (const std::string joint = joint_between(file, finding.bodies); !joint.empty())
    return fmt::format("move them apart, or let them overlap by \"contact\": false in their joint '{}'",
                       joint);
  switch (finding.kind) {
    case verify::FindingKind::gap:
      return "move them apart, or lower the thickness";
    case verify::FindingKind::inversion:
    case verify::FindingKind::collapse:
      return "repair the mesh";
    case verify::FindingKind::nested:
      return "move it out, make what encloses it an obstacle or a shell if it is hollow, let the two overlap "
             "by "
             "contact.pairs with \"enabled\": false, or set contact.allow_nested";
    case verify::FindingKind::half_space:
      return "move the body to the free side of the plane";
    default:
      if (finding.bodies.size() == 1 ||
          (finding.bodies.size() == 2 && finding.bodies[0] == finding.bodies[1]))
        return "repair its mesh, or its collision mesh if it has one; or let it pass through itself by "
               "contact.pairs with \"enabled\": false";
      return "move them apart, or let them overlap by contact.pairs with \"enabled\": false";
  }
}

}  // namespace

bool StartCheck::ok() const {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.found.ok(); });
}

std::vector<verify::Finding> StartCheck::all() const {
  std::vector<verify::Finding> result;
  for (const Part& part : parts)
    for (const auto* list : part.found.lists()) result.insert(result.end(), list->begin(), list->end());
  return result;
}

StartCheck check_start(const Scene& scene) {
  const Model& model = *scene.model;
  const int n = int(model.bodies.size());
  const double dt = model.options.dt;
  // The first step in which each body is present; beyond the last: never.
  std::vector<Index> first_step;
  for (const Body& body : model.bodies) {
    Index step = std::max(Index(std::min(body.presence.from / dt, double(scene.steps))) - 1, 1);
    while (step <= scene.steps && !body.presence.covers(double(step) * dt)) ++step;
    first_step.push_back(step);
  }
  StartCheck result;
  StartCheck::Part start, later;
  start.frame = Simulation(scene.model).frame();
  for (int b = 0; b < n; ++b) {
    const Index step = first_step[std::size_t(b)];
    if (step == 1) start.bodies.push_back(b);
    if (step > 1 && step <= scene.steps) later.bodies.push_back(b);
  }
  start.found = check_scene(start.frame, 0);
  result.parts.push_back(std::move(start));
  if (later.bodies.empty()) return result;
  later.frame = result.parts[0].frame;
  later.frame.absent.clear();
  const auto comes = [&](int b) {
    return first_step[std::size_t(b)] > 1 && first_step[std::size_t(b)] <= scene.steps;
  };
  const auto waits_for = [&](int a, int b) {  // a, which never moves, is present when b appears
    return never_moves(model.bodies[std::size_t(a)]) &&
           model.bodies[std::size_t(a)].presence.covers(double(first_step[std::size_t(b)]) * dt);
  };
  for (int a = 0; a < n; ++a) {
    if (!comes(a) && !never_moves(model.bodies[std::size_t(a)])) later.frame.absent.push_back(a);
    for (int b = a; b < n; ++b)
      if (!(comes(a) && comes(b) && first_step[std::size_t(a)] == first_step[std::size_t(b)]) &&
          !(comes(a) && waits_for(b, a)) && !(comes(b) && waits_for(a, b)))
        later.frame.ignored_pairs.emplace_back(a, b);
  }
  auto& ignored = later.frame.ignored_pairs;
  std::sort(ignored.begin(), ignored.end());
  ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
  later.found = check_scene(later.frame, 0);
  for (auto* list : later.found.lists())
    for (verify::Finding& finding : *list) {
      double time = 0;
      for (const int b : later.bodies)
        if (std::find(finding.bodies.begin(), finding.bodies.end(), model.bodies[std::size_t(b)].name) !=
            finding.bodies.end())
          time = std::max(time, model.bodies[std::size_t(b)].presence.from);
      finding.text += fmt::format(", when it appears at t = {:g} s", time);
    }
  result.parts.push_back(std::move(later));
  return result;
}

std::vector<std::string> nested_later(const Scene& scene) {
  const Model& model = *scene.model;
  const double dt = model.options.dt, last = double(scene.steps) * dt;
  std::set<std::string> later;
  for (const Body& body : model.bodies)
    if (!body.presence.covers(dt) && body.presence.from < last) later.insert(body.name);
  std::vector<std::string> result;
  if (later.empty()) return result;
  Frame frame = Simulation(scene.model).frame();
  frame.absent.clear();
  verify::FrameCheck check(frame);
  for (const verify::Finding& f : check.nested(frame.mesh.points)) {
    if (f.bodies.size() < 2 || later.contains(f.bodies[0]) == later.contains(f.bodies[1])) continue;
    const std::string& late = f.bodies[later.contains(f.bodies[0]) ? 0 : 1];
    const std::string& other = f.bodies[later.contains(f.bodies[0]) ? 1 : 0];
    std::string text = fmt::format(
        "'{}' appears where '{}' is at the start, one inside the other; if it is still there then, the run "
        "ends",
        late, other);
    if (std::find(result.begin(), result.end(), text) == result.end()) result.push_back(std::move(text));
  }
  return result;
}

std::vector<std::string> messages(const StartCheck& check, const SceneFile& file) {
  // Two bodies that overlap do so in hundreds of places, of which one is enough to read.
  struct Group {
    verify::Finding first;
    std::size_t count = 0;
  };
  std::vector<Group> groups;
  std::map<std::pair<verify::FindingKind, std::vector<std::string>>, std::size_t> group_of;
  for (verify::Finding& finding : check.all()) {
    std::vector<std::string> bodies = finding.bodies;
    std::sort(bodies.begin(), bodies.end());
    const auto [at, fresh] = group_of.try_emplace({finding.kind, std::move(bodies)}, groups.size());
    if (fresh) groups.push_back({std::move(finding)});
    ++groups[at->second].count;
  }
  std::vector<std::string> result;
  for (const auto& [first, count] : groups) {
    const LocatedJson place = first.bodies.empty() ? file.top() : place_of(file, first.bodies.front());
    result.push_back(place.message(
        fmt::format("{}{}; {}", first.text, count > 1 ? fmt::format(" ({} more like this)", count - 1) : "",
                    remedy(first, file))));
  }
  return result;
}

void ensure_feasible_start(const Scene& scene, const SceneFile& file) {
  Problems problems;
  for (std::string& message : messages(check_start(scene), file)) problems.add(std::move(message));
  problems.throw_if_any();
}

}  // namespace apart
