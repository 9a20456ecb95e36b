#include <apart/scene/start_check.hpp>
#include <apart/scene/validation.hpp>
#include <apart/simulation/simulation.hpp>

#include <map>
#include <set>

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
      return "move them apart, or lower contact.thickness";
    case verify::FindingKind::inversion:
      return "repair the mesh";
    case verify::FindingKind::half_space:
      return "move the body to the free side of the plane";
    default:
      return "move them apart, or let them overlap by contact.pairs with \"enabled\": false";
  }
}

/// Adds the pairs that are not farther apart than their thickness. Each thickness of the scene is looked for
/// among the bodies that have it; those that intersect are left out.
void find_thin_gaps(const Model& model, StartCheck& check) {
  using Names = std::pair<std::string, std::string>;
  const auto names = [](const std::string& a, const std::string& b) {
    return a < b ? Names(a, b) : Names(b, a);
  };
  std::set<Names> intersecting;
  for (const verify::Finding& f : check.found.intersections)
    intersecting.insert(names(f.bodies.front(), f.bodies.back()));

  const PairTable& pairs = model.surface.pairs;
  std::map<double, std::vector<std::pair<int, int>>> by_thickness;  // enabled pairs of bodies
  for (int a = 0; a < pairs.body_count(); ++a)
    for (int b = a; b < pairs.body_count(); ++b)
      if (pairs(a, b).enabled) by_thickness[pairs(a, b).thickness].emplace_back(a, b);
  for (const auto& [thickness, members] : by_thickness) {
    if (thickness == 0) continue;
    Frame frame = check.frame;
    for (const auto& [other, others] : by_thickness)
      for (const auto& [a, b] : others)
        if (other != thickness || intersecting.contains(names(model.bodies[std::size_t(a)].name,
                                                              model.bodies[std::size_t(b)].name)))
          frame.ignored_pairs.emplace_back(a, b);
    for (verify::Finding& gap : check_scene(frame, thickness).gaps)
      check.found.gaps.push_back(std::move(gap));
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
  const Model& model = *scene.model;
  StartCheck result;
  result.frame = Simulation(scene.model).frame();
  result.found = check_scene(result.frame, 0);
  find_thin_gaps(model, result);
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
