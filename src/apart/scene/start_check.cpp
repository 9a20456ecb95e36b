#include <apart/scene/start_check.hpp>
#include <apart/scene/validation.hpp>
#include <apart/simulation/simulation.hpp>

#include <algorithm>
#include <map>

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

bool never_moves(const Body& body) {
  return !body.is_dynamic() && std::all_of(body.prescriptions.begin(), body.prescriptions.end(),
                                           [](const Prescription& p) { return !p.motion; });
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

bool StartCheck::ok() const {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.found.ok(); });
}

std::vector<verify::Finding> StartCheck::all() const {
  std::vector<verify::Finding> result;
  for (const Part& part : parts)
    for (const auto* list : {&part.found.intersections, &part.found.inversions, &part.found.gaps})
      for (verify::Finding finding : *list) {
        if (part.time > 0) finding.text += fmt::format(", when it appears at t = {:g} s", part.time);
        result.push_back(std::move(finding));
      }
  return result;
}

StartCheck check_start(const Scene& scene) {
  const Model& model = *scene.model;
  const double dt = model.options.dt;
  StartCheck result;
  result.parts.push_back({0, {}, Simulation(scene.model).frame(), {}});
  const Frame whole = result.parts[0].frame;
  std::map<Index, std::vector<int>> later;  // by the step that a body comes in with
  for (int b = 0; b < int(model.bodies.size()); ++b) {
    const TimeRange& presence = model.bodies[std::size_t(b)].presence;
    Index step = std::max(Index(std::min(presence.from / dt, double(scene.steps))) - 1, 1);
    while (step <= scene.steps && !presence.covers(double(step) * dt)) ++step;
    if (step == 1)
      result.parts[0].bodies.push_back(b);
    else if (step <= scene.steps)
      later[step].push_back(b);
  }
  for (auto& [step, bodies] : later) {
    StartCheck::Part part{model.bodies[std::size_t(bodies[0])].presence.from, bodies, whole, {}};
    part.frame.absent.clear();
    for (int b = 0; b < int(model.bodies.size()); ++b) {
      const bool comes = std::find(bodies.begin(), bodies.end(), b) != bodies.end();
      if (!comes && !(never_moves(model.bodies[std::size_t(b)]) &&
                      model.bodies[std::size_t(b)].presence.covers(double(step) * dt)))
        part.frame.absent.push_back(b);
    }
    result.parts.push_back(std::move(part));
  }
  for (StartCheck::Part& part : result.parts) part.found = check_scene(part.frame, 0);
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
