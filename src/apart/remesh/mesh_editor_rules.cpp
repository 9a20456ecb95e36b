// What a collapse must not change: topology, the rest shape, borders and sets.
#include <apart/remesh/mesh_editor.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <set>

namespace apart {

namespace {

// Sides whose unit normals differ by less lie in one plane; midpoints are rounded.
constexpr double flatness = 1e-10;

/// The boundary of a point's star, closed by cells that join the surface to a point at infinity, −1.
using Link = std::set<Corners>;  // with all parts of each, ascending

void add_with_parts(const Corners& part, Link& link) {
  if (part.size() == 0 || !link.insert(part).second) return;
  for (int k = 0; k < part.size(); ++k) add_with_parts(part.without(k), link);
}

/// Whether two ways lead in opposite directions.
bool are_opposite(const Vector3& ahead, const Vector3& behind) {
  return ahead.cross(behind).norm() <= flatness * ahead.norm() * behind.norm() && ahead.dot(behind) < 0;
}

}  // namespace

/// The link condition: the closed stars of a and b share the star of their edge only [Dey, Edelsbrunner,
/// Guha, Nekhayev 1999]. The collapse then changes no topology, neither of the body nor of its surface.
bool MeshEditor::keeps_links(Index a, Index b) const {
  const auto link_of = [&](Index p) {
    Link link;
    for (const Index c : cells_of(p))
      for (int k = 0; k <= dimension_; ++k)
        if (cell(c).points[k] == p) add_with_parts(cell(c).points.without(k).sorted(), link);
    for (const Corners& side : sides_of(p)) add_with_parts(side.replaced(p, -1).sorted(), link);
    return link;
  };
  const auto others = [&](const Corners& points) {
    Corners result;
    for (const Index p : points)
      if (p != a && p != b) result.add(p);
    return result;
  };
  Link of_edge, both;
  for (const Index c : cells_of_edge(a, b)) add_with_parts(others(cell(c).points).sorted(), of_edge);
  for (const Corners& side : sides_of(a)) {
    if (!side.has(b)) continue;
    Corners closed = others(side);
    closed.add(-1);
    add_with_parts(closed.sorted(), of_edge);
  }
  const Link of_a = link_of(a), of_b = link_of(b);
  std::ranges::set_intersection(of_a, of_b, std::inserter(both, both.end()));
  return both == of_edge;
}

bool MeshEditor::keeps_sets(Index removed, Index kept) const {
  return std::ranges::includes(point_sets_[std::size_t(kept)], point_sets_[std::size_t(removed)]);
}

/// The sides of the surface and of borders between materials at a point, each with what it belongs to: sets,
/// or −1 and the two materials. Of a shell its cells.
std::vector<std::pair<Corners, MeshEditor::Sets>> MeshEditor::borders_of(Index point) const {
  std::vector<std::pair<Corners, Sets>> result;
  if (is_shell_) {
    for (const Index c : cells_of(point)) result.emplace_back(cell(c).points.sorted(), cell(c).sets);
    return result;
  }
  for (const Corners& side : sides_of(point)) result.emplace_back(side, sides_.at(side));
  std::map<Corners, Index> once;  // substance of the first cell met
  for (const Index c : cells_of(point))
    for (int k = 0; k <= dimension_; ++k) {
      if (cell(c).points[k] == point) continue;
      const auto [first, is_new] = once.emplace(cell(c).points.without(k).sorted(), cell(c).substance);
      if (!is_new && first->second != cell(c).substance) {
        const auto [low, high] = std::minmax(first->second, cell(c).substance);
        result.emplace_back(first->first, Sets{-1, low, high});
      }
    }
  return result;
}

/// Whether the boundary of a shell, if it runs through the removed point, is straight there and goes on at
/// the kept one.
bool MeshEditor::keeps_boundary(std::size_t which, Index removed, Index kept) const {
  std::vector<Vector3> ways;
  bool reaches = false;
  for (const Corners& side : sides_of(removed)) {
    const Index other = side[0] == removed ? side[1] : side[0];
    reaches |= other == kept;
    ways.push_back(position(which, other) - position(which, removed));
  }
  return ways.empty() || (reaches && ways.size() == 2 && are_opposite(ways[0], ways[1]));
}

bool MeshEditor::keeps_shape(Index removed, Index kept) const {
  for (std::size_t which = 0; which < rest_count_; ++which)
    if (!keeps_shape(which, removed, kept) || (is_shell_ && !keeps_boundary(which, removed, kept)))
      return false;
  return true;
}

bool MeshEditor::keeps_shape(std::size_t which, Index removed, Index kept) const {
  struct Plane {  ///< sides in one plane that belong to the same
    Vector3 normal;
    Sets owner;
    std::set<Index> rim;  ///< their other points
  };
  const int corner_count = is_shell_ ? 3 : dimension_;  // of the sides of the surface
  std::vector<Plane> planes;
  for (const auto& [side, owner] : borders_of(removed)) {
    const Vector3 along = position(which, side[1]) - position(which, side[0]),
                  across = corner_count == 3 ? Vector3(position(which, side[2]) - position(which, side[0]))
                                             : Vector3(Vector3::UnitZ());
    const Vector3 normal = along.cross(across).normalized();
    auto plane = std::ranges::find_if(planes, [&normal = normal, &owner = owner](const Plane& s) {
      return s.normal.cross(normal).norm() <= flatness && s.owner == owner;
    });
    if (plane == planes.end()) plane = planes.insert(planes.end(), {normal, owner, {}});
    for (const Index p : side)
      if (p != removed) plane->rim.insert(p);
  }
  if (planes.empty()) return true;
  if (int(planes.size()) > corner_count - 1) return false;
  const auto reaches = [&](Index p) {
    return std::ranges::all_of(planes, [&](const Plane& s) { return s.rim.contains(p); });
  };
  if (!reaches(kept)) return false;
  if (corner_count == 3 && planes.size() == 1) return true;
  // Along the crease, or the boundary of a planar body, which must be straight here: it goes on beyond the
  // removed point, and nowhere else.
  std::vector<Index> crease;
  std::ranges::copy_if(planes[0].rim, std::back_inserter(crease), reaches);
  if (crease.size() != 2) return false;
  const Vector3& x = position(which, removed);
  return are_opposite(position(which, crease[0]) - x, position(which, crease[1]) - x);
}

}  // namespace apart
