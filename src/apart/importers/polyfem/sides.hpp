#pragma once
// Parts of the boundary of PolyFEM's bodies. For the files of this folder only.
#include <apart/geometry/aabb.hpp>
#include <apart/importers/section.hpp>

namespace apart::polyfem {

/// A part of a body's boundary with an id: a formula that is true there, or all of it.
struct Side {
  Index id;
  std::string where;  ///< empty: everywhere
};

/// `at`: a surface_selection. `box`: around the body where it is placed.
std::vector<Side> sides_of(const LocatedJson& at, const Aabb& box, Notes& notes);

/// The id of all tetrahedra. `at`: a volume_selection.
Index volume_id(const LocatedJson& at);

/// A list, or one value in its place.
std::vector<LocatedJson> entries(const LocatedJson& at);

}  // namespace apart::polyfem
