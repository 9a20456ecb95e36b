#pragma once
#include <apart/core/types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apart::verify {

/// The kinds of findings; their names in certificate.json are `finding_names`, in this order.
enum class FindingKind {
  intersection,
  gap,
  half_space,
  inversion,
  strain,
  not_finite,
  path_contact,
  path_inversion,
  unreadable,
  topology,
  history,
  nested,    ///< something lies inside a solid
  collapse,  ///< a triangle without area, a segment without length
  affine,    ///< an affine body that is no affine image of what it was
  path_gap,  ///< closer than the thickness on the way from one state to the next
  presence,  ///< a body that is there, or is not, against what else is said of it
  scene,     ///< what frames claim is not what the scene says
  binding,   ///< a file that is not the one the run wrote
  rigid,     ///< a rigid body that has not kept its shape
  joint,     ///< a joint that is open
  plane      ///< a planar body that has left its plane
};
inline constexpr std::string_view finding_names[] = {
    "intersection",   "gap",        "half_space", "inversion", "strain", "not_finite", "path_contact",
    "path_inversion", "unreadable", "topology",   "history",   "nested", "collapse",   "affine",
    "path_gap",       "presence",   "scene",      "binding",   "rigid",  "joint",      "plane"};

/// One broken promise, or one reason why a promise cannot be checked.
struct Finding {
  FindingKind kind;
  std::string text = {};                          ///< a sentence with bodies, elements and coordinates
  std::vector<std::string> bodies = {};           ///< names of the bodies concerned
  std::vector<std::vector<Index>> cells = {};     ///< the elements: indices of points of the frame
  std::vector<std::vector<Index>> elements = {};  ///< the same, indices of points within their body
  std::optional<Vector3> position = {};           ///< [m] where
  std::optional<double> distance = {};            ///< [m] of gaps
  std::string file = {};                          ///< in the run directory; set by `certify`
};

}  // namespace apart::verify
