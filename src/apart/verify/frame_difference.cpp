#include <apart/verify/frame_difference.hpp>

#include <algorithm>

namespace apart::verify {

std::optional<std::string> difference(const Frame& first, const Frame& frame) {
  const Mesh& a = first.mesh;
  const Mesh& b = frame.mesh;
  auto same = [](const auto& x, const auto& y) {
    return x.rows() == y.rows() && x.cols() == y.cols() && x == y;
  };
  if (a.points.cols() != b.points.cols())
    return fmt::format("{} points instead of {}", b.points.cols(), a.points.cols());
  if (!same(a.tetrahedra, b.tetrahedra)) return "other tetrahedra";
  if (a.curved != b.curved) return "other curved tetrahedra";
  if (first.invertible_cells != frame.invertible_cells) return "other tetrahedra that may invert";
  if (!same(a.faces, b.faces)) return "other triangles";
  if (!same(first.rest_shape, frame.rest_shape)) return "other strain limits";
  if (!same(a.edges, b.edges)) return "other segments";
  if (!same(a.vertices, b.vertices)) return "other free points";
  if (!same(first.point_body, frame.point_body)) return "points of other bodies";
  if (const auto bodies = difference_of_bodies(first, frame)) return bodies;
  if (!std::ranges::equal(first.half_spaces, frame.half_spaces, {}, &HalfSpace::carrier, &HalfSpace::carrier))
    return "other half-spaces";
  return std::nullopt;
}

std::optional<std::string> difference_of_bodies(const Frame& first, const Frame& frame) {
  if (!std::equal(first.strain_limits.begin(), first.strain_limits.end(), frame.strain_limits.begin(),
                  frame.strain_limits.end(), [](const FrameStrainLimit& x, const FrameStrainLimit& y) {
                    return x.body == y.body && x.woven == y.woven && x.limits == y.limits;
                  }))
    return "other strain limits";
  if (!std::equal(
          first.bodies.begin(), first.bodies.end(), frame.bodies.begin(), frame.bodies.end(),
          [](const FrameBody& x, const FrameBody& y) { return x.name == y.name && x.kind == y.kind; }))
    return "other bodies";
  if (!std::equal(first.half_spaces.begin(), first.half_spaces.end(), frame.half_spaces.begin(),
                  frame.half_spaces.end(), [](const HalfSpace& x, const HalfSpace& y) {
                    return x.origin == y.origin && x.normal == y.normal && x.body == y.body &&
                           (x.carrier >= 0) == (y.carrier >= 0);
                  }))
    return "other half-spaces";
  if (first.thickness != frame.thickness || first.self_reach != frame.self_reach ||
      first.pair_thickness != frame.pair_thickness)
    return "another thickness";
  if (first.ignored_pairs != frame.ignored_pairs) return "other pairs of bodies that may overlap";
  if (first.allow_nested != frame.allow_nested) return "another word on bodies inside solids";
  return std::nullopt;
}

}  // namespace apart::verify
