#include <apart/scene/start_check.hpp>
#include <apart/scene/validation.hpp>
#include <apart/simulation/simulation.hpp>

namespace apart {

namespace {

/// The body of a scene file that a body of the model comes from; copies are named after it.
LocatedJson place_of(const SceneFile& file, const std::string& body) {
  for (const LocatedJson& candidate : file.top()["bodies"].items()) {
    const std::string& name = candidate["name"].text();
    if (body == name || (candidate.has("array") && body.starts_with(name + "."))) return candidate;
  }
  return file.top()["bodies"];
}

std::string_view remedy(const verify::Finding& finding) {
  switch (finding.kind) {
    case verify::FindingKind::gap:
      return "move them apart, or lower the thickness";
    case verify::FindingKind::inversion:
      return "repair the mesh";
    case verify::FindingKind::half_space:
      return "move the body to the free side of the plane";
    default:
      return "move them apart, or let them overlap by contact.pairs with \"enabled\": false";
  }
}

}  // namespace

std::vector<verify::Finding> StartCheck::all() const {
  std::vector<verify::Finding> result = found.intersections;
  result.insert(result.end(), found.inversions.begin(), found.inversions.end());
  result.insert(result.end(), found.gaps.begin(), found.gaps.end());
  return result;
}

StartCheck check_start(const Scene& scene) {
  StartCheck result;
  result.frame = Simulation(scene.model).frame();
  result.found = check_scene(result.frame, 0);
  return result;
}

std::vector<std::string> messages(const StartCheck& check, const SceneFile& file) {
  std::vector<std::string> result;
  for (const verify::Finding& finding : check.all()) {
    const LocatedJson place = finding.bodies.empty() ? file.top() : place_of(file, finding.bodies.front());
    result.push_back(place.message(fmt::format("{}; {}", finding.text, remedy(finding))));
  }
  return result;
}

void ensure_feasible_start(const Scene& scene, const SceneFile& file) {
  Problems problems;
  for (std::string& message : messages(check_start(scene), file)) problems.add(std::move(message));
  problems.throw_if_any();
}

}  // namespace apart
