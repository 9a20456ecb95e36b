#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/geometry/mesh.hpp>
#include <apart/scene/script_builder.hpp>

namespace apart {

/// How an obstacle moves: by its "motion" or along its "sequence" of mesh files; empty if neither is given.
/// `mesh` is the obstacle as placed; `load` reads a file and places it in the same way. Throws InputError,
/// for a sequence also if a file is missing or does not have the cells of the first.
Motion obstacle_motion(const ObstacleDescription& body, const Mesh& mesh, const Clock& clock,
                       FunctionRef<Mesh(const std::string& file)> load);

/// The motion of a half-space, empty if it has none. Throws InputError for one that turns.
Motion half_space_motion(const HalfSpaceDescription& body, const Clock& clock);

}  // namespace apart
