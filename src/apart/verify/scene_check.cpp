#include <apart/core/error.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/verify/scene_check.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace apart {

using verify::Finding;
using verify::FindingKind;

SceneCheck check_scene(const Frame& frame, double gap, std::size_t limit) {
  if (!(gap >= 0)) throw InputError("gap: got {}, must not be negative", gap);
  const verify::FrameCheck check(frame);
  const Matrix3X& x = frame.mesh.points;
  if (const auto bad = check.not_finite(x); !bad.empty()) throw InputError("{}", bad[0].text);

  SceneCheck result;
  result.inversions = check.inversions(x);
  result.intersections = check.intersections(x, limit);
  for (Finding& f : check.below_half_spaces(x, gap))
    (f.kind == FindingKind::half_space ? result.intersections : result.gaps).push_back(std::move(f));
  std::set<std::vector<std::string>> intersecting;
  for (const Finding& f : result.intersections) intersecting.insert(f.bodies);
  const auto listed = [&](const Finding& f) {
    auto swapped = f.bodies;
    std::reverse(swapped.begin(), swapped.end());
    return !intersecting.contains(f.bodies) && !intersecting.contains(swapped);
  };
  for (Finding& f : check.nested(x))
    if (listed(f)) result.nested.push_back(std::move(f));
  if (gap == 0 && !check.has_thickness()) return result;
  std::erase_if(result.gaps, [&](const Finding& f) { return !listed(f); });
  if (gap > 0)
    for (Finding& f : check.gaps(x, gap, limit))
      if (listed(f)) result.gaps.push_back(std::move(f));
  for (Finding& f : check.thin(x, limit))
    if (listed(f)) result.gaps.push_back(std::move(f));
  return result;
}

void write_findings(const std::filesystem::path& file, const Frame& frame,
                    const std::vector<Finding>& findings) {
  std::set<std::vector<Index>> cells[4];  // by number of corners, each once
  std::map<Index, Index> place;           // of a point of the frame in the new mesh
  for (const Finding& f : findings)
    for (const auto& cell : f.cells) {
      ensure(!cell.empty() && cell.size() <= 4, "write_findings: cells have one to four corners");
      cells[cell.size() - 1].insert(cell);
      for (Index i : cell) place.emplace(i, 0);
    }
  Mesh mesh;
  mesh.points.resize(3, Index(place.size()));
  Index next = 0;
  for (auto& [point, index] : place) {
    index = next++;
    mesh.points.col(index) = frame.mesh.points.col(point);
  }
  const auto fill = [&](auto& matrix, const std::set<std::vector<Index>>& list) {
    matrix.resize(matrix.rows(), Index(list.size()));
    Index column = 0;
    for (const auto& cell : list) {
      for (std::size_t k = 0; k < cell.size(); ++k) matrix(Index(k), column) = place.at(cell[k]);
      ++column;
    }
  };
  for (const auto& cell : cells[0]) {
    mesh.vertices.conservativeResize(mesh.vertices.size() + 1);
    mesh.vertices[mesh.vertices.size() - 1] = place.at(cell[0]);
  }
  fill(mesh.edges, cells[1]);
  fill(mesh.faces, cells[2]);
  fill(mesh.tetrahedra, cells[3]);
  write_mesh(file, mesh);
}

}  // namespace apart
