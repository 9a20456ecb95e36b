#include <apart/bodies/acting_parts.hpp>

#include <apart/core/error.hpp>

#include <Eigen/Geometry>
#include <algorithm>

namespace apart {

namespace {

/// The members of a set, all of which must be less than `count`.
template <SetKind kind>
const std::vector<Index>& checked_members(const Body& body, SetHandle<kind> set, Eigen::Index count) {
  const std::vector<Index>& members = body.sets[set];
  ensure(members.empty() || (members.front() >= 0 && members.back() < count),
         "ActingParts: a set has members that its body does not have");
  return members;
}

template <class Cells>
Cells chosen_columns(const Cells& cells, const std::vector<Index>& columns) {
  Cells result(cells.rows(), Eigen::Index(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) result.col(Eigen::Index(i)) = cells.col(columns[i]);
  return result;
}

Faces facets_of(const Body& body, FacetSet set) {
  return chosen_columns(body.surface_faces, checked_members(body, set, body.surface_faces.cols()));
}

/// How much of the area of some facets each point of the mesh stands for [m²].
VectorX exposed_area(const Body& body, FacetSet set) {
  VectorX area = VectorX::Zero(body.mesh.point_count());
  if (body.elastic && body.elastic->lagrange && !body.elastic->lagrange->area_of_face.empty()) {
    for (const Index f : checked_members(body, set, body.surface_faces.cols()))
      for (const Influence& part : body.elastic->lagrange->area_of_face[std::size_t(f)])
        area[part.node] += part.weight;  // the points begin with the nodes
    return area;
  }
  const Faces facets = facets_of(body, set);
  const Matrix3X& x = body.mesh.points;
  for (Index f = 0; f < facets.cols(); ++f) {  // a third of each triangle to each corner
    const auto c = facets.col(f);
    const Vector3 normal = (x.col(c[1]) - x.col(c[0])).cross(x.col(c[2]) - x.col(c[0]));
    for (int k = 0; k < 3; ++k) area[c[k]] += normal.norm() / 6;
  }
  return area;
}

}  // namespace

std::vector<Index> nodes_of(const Body& body, PointSet set) {
  std::vector<Index> nodes;
  const bool has_own_surface = !body.mesh.curved.empty();
  for (const Index p : checked_members(body, set, body.mesh.point_count())) {
    const std::span<const Influence> influences = body.point_map.influences(p);
    // A point between nodes would take nodes along that are not in the set.
    if (has_own_surface && influences.size() > 1) continue;
    for (const Influence& influence : influences) nodes.push_back(influence.node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::vector<ScriptedPart> scripted_parts(const Body& body) {
  std::vector<ScriptedPart> parts;
  const auto is_shared = [&](int group) {
    return group >= 0 && std::ranges::count(body.scripts, group, &Script::group) > 1;
  };
  std::vector<std::pair<int, std::vector<unsigned>>> given;  // per group: the axes of each node
  for (std::size_t i = 0; i < body.scripts.size(); ++i) {
    const Script& script = body.scripts[i];
    std::vector<unsigned>* taken = nullptr;
    if (is_shared(script.group)) {
      auto found = std::ranges::find(given, script.group, [](const auto& entry) { return entry.first; });
      if (found == given.end())
        found = given.insert(
            given.end(), {script.group, std::vector<unsigned>(static_cast<std::size_t>(body.node_count()))});
      taken = &found->second;
    }
    const unsigned axes =
        unsigned(script.axes[0]) | unsigned(script.axes[1]) << 1 | unsigned(script.axes[2]) << 2;
    std::array<std::vector<Index>, 8> by_axes;
    for (const Index node : nodes_of(body, script.points)) {
      const unsigned remaining = taken ? axes & ~(*taken)[std::size_t(node)] : axes;
      if (taken) (*taken)[std::size_t(node)] |= axes;
      by_axes[remaining].push_back(node);
    }
    for (unsigned k = 1; k < 8; ++k)
      if (!by_axes[k].empty())
        parts.push_back({i, std::move(by_axes[k]), {(k & 1) != 0, (k & 2) != 0, (k & 4) != 0}});
  }
  return parts;
}

LoadedPart loaded_part(const Body& body, const Load& load) {
  LoadedPart part;
  switch (load.kind) {
    case Load::Kind::acceleration:
      part.points = nodes_of(body, load.points);
      break;
    case Load::Kind::force:
      part.points = checked_members(body, load.points, body.mesh.point_count());
      part.weights = VectorX::Ones(Index(part.points.size()));
      break;
    case Load::Kind::traction: {
      const VectorX area = exposed_area(body, load.facets);
      for (Index p = 0; p < area.size(); ++p)
        if (area[p] != 0) part.points.push_back(p);
      part.weights = area(part.points);
    }
  }
  return part;
}

ActingParts acting_parts(const Body& body) {
  ActingParts parts;
  parts.scripted = scripted_parts(body);
  for (const Load& load : body.loads) parts.loads.push_back(loaded_part(body, load));
  for (const Pressure& p : body.pressures) parts.pressures.push_back(facets_of(body, p.facets));
  for (const Wind& wind : body.winds)
    parts.windwards.push_back(
        {facets_of(body, wind.facets),
         chosen_columns(body.free_segments, checked_members(body, wind.segments, body.free_segments.cols())),
         checked_members(body, wind.points, body.mesh.point_count())});
  return parts;
}

}  // namespace apart
