#pragma once
#include <apart/bodies/contact_defaults.hpp>
#include <apart/scene/pair_rules.hpp>
#include <apart/scene/script_builder.hpp>

namespace apart {

inline constexpr double most_cells = 40e6;  ///< of a scene; some gigabytes before the first step

/// How much there is to a mesh, in cells of any kind.
double cell_count(const Mesh& mesh);

/// A body of the model and what its description says besides.
struct BuiltBody {
  Body body;
  std::string base_name;                         ///< without the number of a copy
  std::optional<FrictionCoefficients> friction;  ///< of its own
  std::optional<Length> thickness;               ///< of its own
  ContactDefaults fitting;                       ///< known once the size of the scene is
  std::optional<RemeshDescription> remesh = {};  ///< of a volume, a planar body or a shell
  bool renumbered = false;                       ///< not all points of its mesh are there, see PlacedMesh
  std::optional<Mesh> as_placed = {};            ///< before its points moved, if they did

  PlacedMesh placed(const Body& at) const { return {as_placed ? *as_placed : at.mesh, renumbered}; }
};

FrictionCoefficients make_friction(const FrictionCoefficient& coefficient);

/// The body, or all its copies. `notes`: what was changed in its mesh, for the user. Throws InputError.
std::vector<BuiltBody> build_bodies(const BodyDescription& body, const Clock& clock,
                                    std::vector<std::string>& notes);

}  // namespace apart
