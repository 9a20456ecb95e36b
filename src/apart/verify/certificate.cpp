// A certificate as a file and as text.
#include <apart/core/diagnostics.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/verify/certificate.hpp>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace apart {

using verify::Finding;

namespace {

using Path = std::filesystem::path;

nlohmann::ordered_json json_of(const Finding& finding) {
  nlohmann::ordered_json json = {{"kind", verify::finding_names[std::size_t(finding.kind)]},
                                 {"file", finding.file},
                                 {"text", finding.text}};
  if (!finding.bodies.empty()) json["bodies"] = finding.bodies;
  if (!finding.elements.empty()) json["elements"] = finding.elements;
  if (finding.position)
    json["position"] = {finding.position->x(), finding.position->y(), finding.position->z()};
  if (finding.distance) json["distance"] = *finding.distance;
  return json;
}

template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// 1234567 as 1 234 567.
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t i = std::ptrdiff_t(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(std::size_t(i), " ");
  return digits;
}

std::string coverage_text(const Certificate& c) {
  const auto of = [](Index n, std::string_view what) {
    return fmt::format("{} {}{}", grouped(n), what, n == 1 ? "" : "s");
  };
  if (c.coverage() == Certificate::Coverage::frames)
    return fmt::format("frames only, {} of them; paths between them are not proven", grouped(c.frames));
  if (c.coverage() == Certificate::Coverage::some_paths)
    return fmt::format("all {} and the paths of {} of {}; others are not proven", of(c.frames, "frame"),
                       grouped(c.steps), of(c.run_steps, "step"));
  return fmt::format("all {} and the paths of all {}", of(c.frames, "frame"), of(c.run_steps, "step"));
}

/// What a certificate says was proven, of which states, and how.
struct Proof {
  std::string_view promise, states, method;
};

std::vector<Proof> proofs(const Certificate& c) {
  constexpr std::string_view exact = "exact predicates on the stored coordinates";
  const bool paths = c.coverage() != Certificate::Coverage::frames;
  const std::string_view here = "frames", iterates = paths ? "frames and iterates" : "frames";
  std::vector<Proof> list = {
      {"no edge intersects a triangle, no point or segment touches another", here, exact},
      {"neighbours in a mesh touch only in what they share; no triangle or segment is collapsed", here,
       exact}};
  if (c.solids > 0)
    list.push_back(
        {"nothing lies inside a solid", here, "winding number by the triangles that a ray hits, exactly"});
  if (c.tetrahedra > 0) list.push_back({"no tetrahedron is inverted or flat", here, exact});
  if (c.planar > 0)
    list.push_back(
        {"no triangle of a planar body is inverted or flat, nothing lies in one or has left its plane", here,
         exact});
  if (c.affine > 0)
    list.push_back({"affine bodies are affine images of the first frame, neither mirrored nor flat", iterates,
                    "volume of four of their points beyond rounding, all others within 1e-9 of their size"});
  if (c.rigid > 0)
    list.push_back({"rigid bodies have the shape of the first frame and are not mirrored", iterates,
                    "distances to four of their points, within 1e-12 of their size"});
  if (c.joints > 0)
    list.push_back(
        {"joints that cannot break are closed", here,
         "distances of the points that their bodies carry, within 4e-6 of the smaller body's size"});
  if (c.half_spaces > 0) list.push_back({"everything is above the half-spaces", iterates, exact});
  if (c.thickness)
    list.push_back({"gaps are at least the thickness", here,
                    "distance along a separating direction, rounded against the run"});
  if (c.limited > 0)
    list.push_back(
        {"strains are below their limits", iterates, "extended precision, with room for rounding"});
  if (paths) {
    list.push_back({c.thickness ? "nothing touches and gaps are at least the thickness" : "nothing touches",
                    "paths",
                    "separating directions and Bernstein coefficients on intervals of time; exact arithmetic "
                    "where rounding could matter"});
    if (c.tetrahedra + c.affine > 0)
      list.push_back({"no tetrahedron and no affine body inverts", "paths",
                      "Bernstein coefficients of the volume, exactly where rounding could matter"});
    if (c.planar > 0)
      list.push_back({"no triangle of a planar body inverts, none leaves its plane", "paths",
                      "Bernstein coefficients of the area, exactly where rounding could matter"});
    list.push_back({"every step begins where the last one ended, and every frame is such a state", "iterates",
                    "comparison of bits"});
  }
  if (c.with_scene) {
    list.push_back({"bodies, meshes, thickness, strain limits and pairs are those of the scene", here,
                    "the scene built again from scene.json"});
    list.push_back({"scene, frames and iterates are the files of one run", "files", "SHA-256"});
  }
  return list;
}

}  // namespace

void write_certificate(const Path& run_directory, const Certificate& c) {
  nlohmann::ordered_json json = {{"certified", c.ok()},
                                 {"coverage", coverage_names[std::size_t(c.coverage())]},
                                 {"version", version()},
                                 {"written_by", c.written_by},
                                 {"scene_digest", c.scene_digest},
                                 {"run_digest", c.run_digest},
                                 {"bound_files", c.files},
                                 {"scene_compared", c.with_scene},
                                 {"frames", c.frames},
                                 {"edges", c.edges},
                                 {"faces", c.faces},
                                 {"neighbours", c.neighbours},
                                 {"solids", c.solids},
                                 {"affine_bodies", c.affine},
                                 {"rigid_bodies", c.rigid},
                                 {"joints", c.joints},
                                 {"tetrahedra", c.tetrahedra},
                                 {"planar_triangles", c.planar},
                                 {"unchecked_tetrahedra", c.invertible},
                                 {"strain_limited_triangles", c.limited},
                                 {"half_spaces", c.half_spaces},
                                 {"thickness_checked", c.thickness},
                                 {"steps", c.run_steps},
                                 {"steps_with_iterates", c.steps},
                                 {"paths", c.paths},
                                 {"path_pairs", c.path_pairs},
                                 {"min_volume_ratio", json_of(c.min_volume_ratio)},
                                 {"max_strain_share", json_of(c.max_strain_share)},
                                 {"min_distance", json_of(c.min_distance)},
                                 {"proofs", nlohmann::ordered_json::array()},
                                 {"violation_count", c.violation_count},
                                 {"violations", nlohmann::ordered_json::array()}};
  for (const Proof& p : proofs(c))
    json["proofs"].push_back({{"promise", p.promise}, {"states", p.states}, {"method", p.method}});
  for (const Finding& finding : c.violations) json["violations"].push_back(json_of(finding));
  // A body's name need not be valid UTF-8.
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_atomically(run_directory / "certificate.json", json.dump(2, ' ', false, replace) + "\n");
}

std::string summary(const Certificate& c) {
  std::string text = fmt::format("Certificate of {}\n", c.run);
  const auto line = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("  {:<18}{}\n", what, value);
  };
  line("program", fmt::format("apart {}{}", version(),
                              c.written_by.empty() ? "" : "; the run was written by apart " + c.written_by));
  if (c.with_scene) {
    line("scene", c.scene_digest.empty() ? "missing" : "SHA-256 " + c.scene_digest);
    line("files", c.run_digest.empty()
                      ? "not bound"
                      : fmt::format("{}, bound by SHA-256 {}", grouped(c.files), c.run_digest));
  }
  line("frames", fmt::format("{}, in each {} edges against {}, exactly", grouped(c.frames), grouped(c.edges),
                             c.faces == 0 && c.planar > 0 ? std::string("each other")
                                                          : grouped(c.faces) + " triangles"));
  if (c.tetrahedra > 0)
    line("tetrahedra",
         fmt::format("{} in each frame{}", grouped(c.tetrahedra),
                     c.min_volume_ratio ? fmt::format(", smallest volume ratio {:.4g}", *c.min_volume_ratio)
                                        : std::string()));
  if (c.planar > 0)
    line("planar triangles",
         fmt::format("{} in each frame{}", grouped(c.planar),
                     c.min_volume_ratio ? fmt::format(", smallest area ratio {:.4g}", *c.min_volume_ratio)
                                        : std::string()));
  if (c.invertible > 0)
    line("not checked", fmt::format("{} cells of materials that may invert", grouped(c.invertible)));
  if (c.limited > 0)
    line("strain limits",
         fmt::format("{} triangles in each frame and iterate{}", grouped(c.limited),
                     c.max_strain_share
                         ? fmt::format(", at most {:.6g} of a limit in a frame", *c.max_strain_share)
                         : std::string()));
  if (c.half_spaces > 0) line("half-spaces", grouped(c.half_spaces));
  if (c.thickness) line("thickness", "kept by every pair, shortened among neighbours of one piece");
  if (c.min_distance) line("smallest distance", fmt::format("{:.4g} m", *c.min_distance));
  line("paths",
       c.steps == 0
           ? "not recorded (run with --record-iterates to prove them too)"
           : fmt::format("{} between Newton iterates of {} of {} steps, {} pairs proven apart exactly",
                         grouped(c.paths), grouped(c.steps), grouped(c.run_steps), grouped(c.path_pairs)));
  if (c.ok()) {
    std::vector<std::string_view> holds = {"no intersection"};
    if (c.solids + c.planar > 0) holds.push_back("nothing inside a solid");
    if (c.tetrahedra + c.planar + c.affine > 0)
      holds.push_back(c.invertible > 0 ? "no inversion of the cells checked" : "no inversion");
    if (c.rigid > 0) holds.push_back("no rigid body deformed");
    if (c.joints > 0) holds.push_back("no joint open");
    if (c.thickness) holds.push_back("no gap below its thickness");
    if (c.limited > 0) holds.push_back("no strain at its limit");
    text += fmt::format("CERTIFIED ({}): {}{}\n", coverage_text(c), fmt::join(holds, ", "),
                        c.with_scene ? "" : "; as the frames claim, no scene was compared");
    return text;
  }
  text += fmt::format("NOT CERTIFIED: {} violation{}\n", grouped(c.violation_count),
                      c.violation_count == 1 ? "" : "s");
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(shown, c.violations.size()); ++i)
    text += fmt::format("  {}: {}\n", c.violations[i].file, c.violations[i].text);
  if (c.violation_count > std::int64_t(shown))
    text += fmt::format("  and {} more; certificate.json lists {}\n",
                        grouped(c.violation_count - std::int64_t(shown)),
                        c.violation_count > std::int64_t(c.violations.size())
                            ? fmt::format("the first {}", c.violations.size())
                            : std::string("all"));
  return text;
}

}  // namespace apart
