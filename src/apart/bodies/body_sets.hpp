#pragma once
// Named parts of a body. Whatever acts on a part of a body or measures it refers to a set, never to points or
// facets by index, so that the mesh may change: code that changes the mesh rewrites the members of the body's
// sets, and no other code is affected.
#include <apart/core/types.hpp>

#include <array>
#include <string>
#include <vector>

namespace apart {

/// What a set holds, all numbered as in its own body.
enum class SetKind {
  points,    ///< of Body::mesh
  segments,  ///< columns of Body::free_segments
  facets,    ///< columns of Body::surface_faces
};
inline constexpr std::size_t set_kind_count = 3;

/// Refers to one of the sets of a body. Stays valid when the members change.
template <SetKind kind_of_members>
struct SetHandle {
  static constexpr SetKind kind = kind_of_members;
  int number = -1;  ///< −1: none, an empty set
  bool operator==(const SetHandle&) const = default;
};
using PointSet = SetHandle<SetKind::points>;
using SegmentSet = SetHandle<SetKind::segments>;
using FacetSet = SetHandle<SetKind::facets>;

struct NamedSet {
  std::string name;
  std::vector<Index> members;  ///< ascending, each once
  bool operator==(const NamedSet&) const = default;
};

/// The sets of one body, and what its cells are made of.
///
/// How members follow a mesh that changes:
/// - A point that is created on an edge, a facet or in a cell belongs to the sets that contain all points of
///   that edge, facet or cell; the parts of a facet or segment belong to the sets that contained the whole.
/// - The points of point forces and attachments are individual points: they stay, in their order, and no
///   others are added.
/// - A cell has the material of the cell that it is a part of.
class BodySets {
 public:
  PointSet add_points(std::string name, std::vector<Index> members) {
    return {add(SetKind::points, std::move(name), std::move(members))};
  }
  SegmentSet add_segments(std::string name, std::vector<Index> members) {
    return {add(SetKind::segments, std::move(name), std::move(members))};
  }
  FacetSet add_facets(std::string name, std::vector<Index> members) {
    return {add(SetKind::facets, std::move(name), std::move(members))};
  }

  template <SetKind kind>
  const std::vector<Index>& operator[](SetHandle<kind> set) const {
    return members(kind, set.number);
  }
  const std::vector<NamedSet>& list(SetKind kind) const { return sets_[std::size_t(kind)]; }
  /// Replaces the members of a set after a change of the mesh.
  void replace(SetKind kind, std::size_t set, std::vector<Index> members);

  /// Per tetrahedron: which of the body's materials it has. Empty: the body has one.
  std::vector<Index> cell_substance;

  bool operator==(const BodySets&) const = default;

 private:
  /// Members may come in any order. Equal sets of one name are one; other sets of that name get a number.
  int add(SetKind kind, std::string name, std::vector<Index> members);
  const std::vector<Index>& members(SetKind kind, int number) const;
  std::array<std::vector<NamedSet>, set_kind_count> sets_;
};

}  // namespace apart
