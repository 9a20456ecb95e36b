#pragma once
#include <apart/scene/scene_description.hpp>
#include <apart/scene/script_builder.hpp>
#include <apart/simulation/model.hpp>

namespace apart {

/// Two bodies of a scene that are attached, and how many metres a multiple of L is.
struct AttachedPair {
  std::vector<Body>& bodies;
  int a = 0, b = 0;
  PlacedMesh placed;        ///< the mesh of a
  bool renumbered = false;  ///< one of the meshes had points of no cell
  double scene_size = 1;    ///< L [m]
};

/// The springs between two bodies, which get the sets of points that it refers to. Throws InputError if
/// nothing is attached.
Attachment make_attachment(const AttachmentDescription& attachment, const AttachedPair& pair,
                           const Clock& clock);

}  // namespace apart
