// What a collapse may change where the scene allows the rest shape a tolerance: surfaces without creases, and
// creases along themselves, as long as the original is near everywhere.
#include <apart/remesh/mesh_editor.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <set>

namespace apart {

namespace {

// Cosine of the angle between the normals of two facets from which on there is a crease, 35°: regular
// polygons do not have this angle, so that rounding decides nothing.
constexpr double cosine_of_crease = 0.81915204428899;

}  // namespace

/// The cells of a shell, sides of others.
std::vector<MeshEditor::Facet> MeshEditor::facets_at(Index point) const {
  std::vector<Facet> result;
  if (is_shell_)
    for (const Index c : cells_of(point)) result.push_back({cell(c).points, cell(c).sets});
  else
    for (const Corners& side : sides_of(point)) result.push_back({side, sides_.at(side)});
  return result;
}

std::vector<MeshEditor::Facet> MeshEditor::facets_with(const Corners& points) const {
  std::vector<Facet> result = facets_at(points[0]);
  std::erase_if(result, [&](const Facet& facet) { return !facet.points.has_all(points); });
  return result;
}

SurfacePiece MeshEditor::piece_of(std::size_t which, const Facet& facet) const {
  SurfacePiece piece;
  piece.size = facet.points.size();
  for (int k = 0; k < piece.size; ++k) piece.corners[std::size_t(k)] = position(which, facet.points[k]);
  piece.sets = facet.sets;
  const Vector3 along = piece.corners[1] - piece.corners[0],
                across = piece.size == 3 ? Vector3(piece.corners[2] - piece.corners[0])
                                         : Vector3(Vector3::UnitZ());
  piece.normal = along.cross(across).normalized();
  if (is_shell_) return piece;
  for (const Index p : cell(cells_with(facet.points)[0]).points)
    if (!facet.points.has(p) && piece.normal.dot(position(which, p) - piece.corners[0]) > 0)
      piece.normal = -piece.normal;
  return piece;
}

SurfacePiece MeshEditor::crease_of(std::size_t which, const Corners& points) const {
  SurfacePiece piece;
  piece.size = points.size();
  for (int k = 0; k < piece.size; ++k) piece.corners[std::size_t(k)] = position(which, points[k]);
  return piece;
}

/// Whether the surface is creased at a side of its facets, ends there, or belongs to other sets beyond it.
bool MeshEditor::is_creased(std::size_t which, const Corners& side) const {
  const std::vector<Facet> both = facets_with(side);
  return both.size() != 2 || both[0].sets != both[1].sets ||
         piece_of(which, both[0]).normal.dot(piece_of(which, both[1]).normal) < cosine_of_crease;
}

MeshEditor::Outline MeshEditor::outline_at(std::size_t which, const std::set<Index>& points) const {
  Outline outline;
  std::set<Corners> facets, sides;
  for (const Index p : points)
    for (const Facet& facet : facets_at(p)) {
      if (!facets.insert(facet.points.sorted()).second) continue;
      outline.facets.push_back(piece_of(which, facet));
      for (int k = 0; k < facet.points.size(); ++k) {
        const Corners side = facet.points.without(k).sorted();
        if (side.size() == 2 && sides.insert(side).second && is_creased(which, side))
          outline.creases.push_back(crease_of(which, side));
      }
    }
  return outline;
}

MeshEditor::Outline MeshEditor::outline(std::size_t which) const {
  std::set<Index> all;
  for (Index p = 0; p < point_count(); ++p) all.insert(p);
  return outline_at(which, all);
}

std::optional<MeshEditor::Redrawing> MeshEditor::redrawing(Index removed, Index kept) const {
  if (!original_shape_) return std::nullopt;
  for (const Index p : neighbours_of(removed))
    if (point_sets_[std::size_t(p)] != point_sets_[std::size_t(removed)]) return std::nullopt;
  for (const auto& border : borders_of(removed))
    if (!border.second.empty() && border.second[0] < 0) return std::nullopt;  // between materials
  Redrawing result;
  const std::vector<Facet> facets = facets_at(removed);
  bool reaches = false;
  for (const Facet& facet : facets) {
    result.around.insert(facet.points.begin(), facet.points.end());
    reaches |= facet.points.has(kept);
    if (!facet.points.has(kept)) result.made.push_back(facet.points.replaced(removed, kept).sorted());
  }
  if (!reaches) return std::nullopt;
  result.around.erase(removed);
  for (std::size_t which = 0; which < rest_count_; ++which) {
    Redrawing::Stage& stage = result.stages.emplace_back();
    std::set<Corners> seen;
    int ends = 0;
    bool along = false;
    for (const Facet& facet : facets) {
      stage.gone.facets.push_back(piece_of(which, facet));
      for (int k = 0; k < facet.points.size(); ++k) {
        const Corners side = facet.points.without(k).sorted();
        if (!seen.insert(side).second) continue;
        const bool creased = is_creased(which, side);
        if (!side.has_all({removed, kept})) stage.creased[side.replaced(removed, kept).sorted()] |= creased;
        if (!creased || !side.has(removed)) continue;
        stage.gone.creases.push_back(crease_of(which, side));
        ++ends;
        along |= side.has(kept);
      }
    }
    if (ends > 0 && !(ends == 2 && along)) return std::nullopt;
  }
  return result;
}

bool MeshEditor::stays_near(const Redrawing& redrawing) const {
  std::set<Index> region = redrawing.around;
  for (const Index p : redrawing.around)
    for (const Facet& facet : facets_at(p)) region.insert(facet.points.begin(), facet.points.end());
  const double tolerance = original_shape_->tolerance();
  for (std::size_t which = 0; which < rest_count_; ++which) {
    const auto& [gone, creased] = redrawing.stages[which];
    Outline made;
    for (const Corners& points : redrawing.made) {
      made.facets.push_back(piece_of(which, facets_with(points)[0]));
      if (!(made.facets.back().normal.norm() > 0.5)) return false;  // without area
    }
    for (const auto& [side, was] : creased) {
      if (is_creased(which, side) != was) return false;
      if (was && side.size() == 2) made.creases.push_back(crease_of(which, side));
    }
    const OriginalShape::Surface& original = original_shape_->surface(which);
    const Outline now = outline_at(which, region);
    const auto agree = [&](const PlacedPieces& before, const SurfacePieces& drawn, const SurfacePieces& taken,
                           const SurfacePieces& present) {
      for (const SurfacePiece& piece : drawn)
        if (!is_covered(piece, before.near(piece.box(tolerance), piece), tolerance)) return false;
      for (const SurfacePiece& piece : taken)
        for (const SurfacePiece& old : before.near(piece.box(tolerance), piece))
          if (!is_covered(old, present, tolerance, &taken)) return false;
      return true;
    };
    if (!agree(original.facets, made.facets, gone.facets, now.facets) ||
        !agree(original.creases, made.creases, gone.creases, now.creases))
      return false;
  }
  return true;
}

}  // namespace apart
