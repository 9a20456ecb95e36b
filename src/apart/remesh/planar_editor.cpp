#include <apart/remesh/planar_editor.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace apart {

namespace {

constexpr double straightness = 1e-10;  // sine of the largest angle that counts as none

std::array<Index, 3> replaced(std::array<Index, 3> points, Index from, Index to) {
  std::ranges::replace(points, from, to);
  return points;
}

}  // namespace

PlanarEditor::PlanarEditor(Source source)
    : original_(std::move(source.shape)), lasting_points_(source.lasting_points) {
  const Mesh& mesh = original_.mesh;
  const auto points_of = [&](const Matrix3X& x) {
    ensure(x.cols() == mesh.points.cols(), "PlanarEditor: a position for each point");
    std::vector<Vector3> list(std::size_t(x.cols()));
    for (Index i = 0; i < x.cols(); ++i) list[std::size_t(i)] = x.col(i);
    return list;
  };
  positions_.push_back(points_of(mesh.points));
  for (const Matrix3X& state : source.states) positions_.push_back(points_of(state));
  star_.resize(std::size_t(mesh.point_count()));
  point_sets_.resize(star_.size());
  individual_.assign(star_.size(), false);
  const std::vector<Index>& substance = original_.sets.cell_substance;
  for (Index c = 0; c < mesh.faces.cols(); ++c) {
    Cell cell{{mesh.faces(0, c), mesh.faces(1, c), mesh.faces(2, c)},
              substance.empty() ? 0 : substance[std::size_t(c)]};
    cells_.push_back(cell);
    enlist(c, cell, true);
  }
  const std::vector<NamedSet>& sets = original_.sets.list(SetKind::points);
  individual_set_.assign(sets.size(), false);
  for (const int s : source.individual) individual_set_[std::size_t(s)] = true;
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (const Index p : sets[s].members) {
      point_sets_[std::size_t(p)].push_back(int(s));
      individual_[std::size_t(p)] |= individual_set_[s];
    }
  const Edges boundary = boundary_edges(mesh.faces);
  std::vector<Sets> segment_sets(std::size_t(boundary.cols()));
  const std::vector<NamedSet>& lists = original_.sets.list(SetKind::segments);
  for (std::size_t s = 0; s < lists.size(); ++s)
    for (const Index e : lists[s].members) segment_sets[std::size_t(e)].push_back(int(s));
  for (Index e = 0; e < boundary.cols(); ++e)
    segments_.emplace(segment(boundary(0, e), boundary(1, e)), segment_sets[std::size_t(e)]);
}

void PlanarEditor::enlist(Index i, const Cell& cell, bool enter) {
  if (cell.is_removed()) return;
  for (const Index p : cell.points) {
    std::vector<Index>& list = star_[std::size_t(p)];
    const auto place = std::ranges::lower_bound(list, i);
    if (enter)
      list.insert(place, i);
    else
      list.erase(place);
  }
}

void PlanarEditor::set_cell(Index i, const Cell& cell) {
  if (i == cell_count()) cells_.emplace_back();
  journal_.back().cells.emplace_back(i, cells_[std::size_t(i)]);
  enlist(i, cells_[std::size_t(i)], false);
  cells_[std::size_t(i)] = cell;
  enlist(i, cell, true);
}

void PlanarEditor::set_segment(const Segment& segment, std::optional<Sets> sets) {
  const auto found = segments_.find(segment);
  journal_.back().segments.emplace_back(
      segment, found == segments_.end() ? std::nullopt : std::optional<Sets>(found->second));
  if (sets)
    segments_.insert_or_assign(segment, std::move(*sets));
  else
    segments_.erase(segment);
}

void PlanarEditor::undo() {
  ensure(!journal_.empty(), "PlanarEditor::undo: nothing was done");
  Entry entry = std::move(journal_.back());
  journal_.pop_back();
  for (auto it = entry.cells.rbegin(); it != entry.cells.rend(); ++it) {
    Cell& cell = cells_[std::size_t(it->first)];
    enlist(it->first, cell, false);
    cell = it->second;
    enlist(it->first, cell, true);
  }
  for (auto it = entry.segments.rbegin(); it != entry.segments.rend(); ++it)
    if (it->second)
      segments_.insert_or_assign(it->first, std::move(*it->second));
    else
      segments_.erase(it->first);
  cells_.resize(entry.cell_count);
  star_.resize(entry.point_count);
  point_sets_.resize(entry.point_count);
  individual_.resize(entry.point_count);
  for (auto& list : positions_) list.resize(entry.point_count);
}

std::vector<Index> PlanarEditor::cells_of_edge(Index a, Index b) const {
  std::vector<Index> result;
  std::ranges::copy_if(cells_of(a), std::back_inserter(result), [&](Index c) { return cell(c).has(b); });
  return result;
}

std::vector<std::array<Index, 2>> PlanarEditor::edges() const {
  std::vector<std::array<Index, 2>> result;
  for (const Cell& c : cells_)
    for (std::size_t k = 0; k < 3 && !c.is_removed(); ++k)
      result.push_back(segment(c.points[k], c.points[(k + 1) % 3]));
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool PlanarEditor::is_positive(const std::array<Index, 3>& p) const {
  return std::ranges::all_of(positions_, [&](const std::vector<Vector3>& x) {
    std::array<Vector3, 4> corners;  // in z = 0, and one above the first
    for (std::size_t k = 0; k < 4; ++k) {
      const Vector3& at = x[std::size_t(p[k % 3])];
      corners[k] = Vector3(at[0], at[1], k == 3 ? 1 : 0);
    }
    return exact::orientation(corners[0], corners[1], corners[2], corners[3]) > 0;
  });
}

double PlanarEditor::rest_quality(const std::array<Index, 3>& p) const {
  double squares = 0;
  for (std::size_t k = 0; k < 3; ++k)
    squares += (position(0, p[(k + 1) % 3]) - position(0, p[k])).squaredNorm();
  const Vector3 a = position(0, p[1]) - position(0, p[0]), b = position(0, p[2]) - position(0, p[0]);
  // 2 A = √3/2 l² of an equilateral triangle of edge l.
  return 2 * std::sqrt(3.0) * (a[0] * b[1] - a[1] * b[0]) / squares;
}

bool PlanarEditor::split(Index a, Index b, double least_quality) {
  const std::vector<Index> around = cells_of_edge(a, b);
  ensure(!around.empty(), "PlanarEditor::split: not an edge");
  journal_.push_back({{}, {}, cells_.size(), star_.size()});
  const Index m = point_count();
  for (auto& list : positions_) list.push_back(0.5 * (list[std::size_t(a)] + list[std::size_t(b)]));
  star_.emplace_back();
  Sets sets;
  std::ranges::set_intersection(point_sets_[std::size_t(a)], point_sets_[std::size_t(b)],
                                std::back_inserter(sets));
  std::erase_if(sets, [&](int s) { return individual_set_[std::size_t(s)]; });
  point_sets_.push_back(std::move(sets));
  individual_.push_back(false);
  for (const Index c : around) {
    const Cell whole = cell(c);
    const double allowed = std::min(least_quality, rest_quality(whole.points));
    for (const Index end : {b, a}) {
      const Cell half{replaced(whole.points, end, m), whole.substance};
      if (!is_positive(half.points) || rest_quality(half.points) < allowed) {
        undo();
        return false;
      }
      set_cell(end == b ? c : cell_count(), half);
    }
  }
  if (const auto found = segments_.find(segment(a, b)); found != segments_.end()) {
    const Sets inherited = found->second;
    set_segment(segment(a, b), std::nullopt);
    for (const Index end : {a, b}) set_segment(segment(end, m), inherited);
  }
  return true;
}

/// The boundary, and borders between materials, stay what they are.
bool PlanarEditor::keeps_shape(Index removed, Index kept) const {
  std::map<Index, Sets> borders;  // by the other end: the sets of a segment, or −1 and two materials
  std::map<Index, Index> once;    // substance of the first cell met
  for (const Index c : cells_of(removed))
    for (const Index p : cell(c).points) {
      if (p == removed) continue;
      if (const auto found = segments_.find(segment(removed, p)); found != segments_.end()) {
        borders.emplace(p, found->second);
        continue;
      }
      const auto [first, is_new] = once.emplace(p, cell(c).substance);
      if (is_new || first->second == cell(c).substance) continue;
      const auto [low, high] = std::minmax(first->second, cell(c).substance);
      borders.emplace(p, Sets{-1, low, high});
    }
  if (borders.empty()) return true;
  if (borders.size() != 2 || !borders.contains(kept)) return false;
  const auto& [one, owner] = *borders.begin();
  const auto& [other, other_owner] = *borders.rbegin();
  if (owner != other_owner) return false;
  const Vector3 ahead = position(0, one) - position(0, removed),
                behind = position(0, other) - position(0, removed);
  return std::abs(ahead[0] * behind[1] - ahead[1] * behind[0]) <=
             straightness * ahead.norm() * behind.norm() &&
         ahead.dot(behind) < 0;
}

/// The link condition [Dey, Edelsbrunner, Guha, Nekhayev 1999], with a point at infinity beyond the boundary:
/// neighbours of both points are those opposite of their edge.
bool PlanarEditor::keeps_topology(Index removed, Index kept) const {
  const auto neighbours = [&](Index p) {
    std::set<Index> result;
    for (const Index c : cells_of(p))
      for (const Index q : cell(c).points) {
        if (q == p) continue;
        result.insert(q);
        if (segments_.contains(segment(p, q))) result.insert(-1);
      }
    return result;
  };
  const std::set<Index> a = neighbours(removed), b = neighbours(kept);
  std::set<Index> both, expected;
  std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
  for (const Index c : cells_of_edge(removed, kept))
    for (const Index p : cell(c).points)
      if (p != removed && p != kept) expected.insert(p);
  if (segments_.contains(segment(removed, kept))) expected.insert(-1);
  return both == expected;
}

bool PlanarEditor::collapse(Index removed, Index kept, double least_quality) {
  if (removed < lasting_points_ || individual_[std::size_t(removed)]) return false;
  const std::vector<Index> around = cells_of(removed);
  ensure(!cells_of_edge(removed, kept).empty(), "PlanarEditor::collapse: not an edge");
  if (!std::ranges::includes(point_sets_[std::size_t(kept)], point_sets_[std::size_t(removed)]) ||
      !keeps_shape(removed, kept) || !keeps_topology(removed, kept))
    return false;
  double worst = 1;
  for (const Index c : around) worst = std::min(worst, rest_quality(cell(c).points));
  for (const Index c : around) {
    if (cell(c).has(kept)) continue;
    const std::array<Index, 3> moved = replaced(cell(c).points, removed, kept);
    if (!is_positive(moved) || rest_quality(moved) < std::min(least_quality, worst)) return false;
  }
  journal_.push_back({{}, {}, cells_.size(), star_.size()});
  std::vector<std::pair<Index, Sets>> boundary;
  for (const Index c : around)
    for (const Index p : cell(c).points)
      if (const auto found = segments_.find(segment(removed, p)); p != removed && found != segments_.end()) {
        boundary.emplace_back(p, found->second);
        set_segment(segment(removed, p), std::nullopt);
      }
  for (const auto& [p, sets] : boundary)
    if (p != kept) set_segment(segment(kept, p), sets);
  for (const Index c : around) {
    Cell moved;
    if (!cell(c).has(kept)) moved = {replaced(cell(c).points, removed, kept), cell(c).substance};
    set_cell(c, moved);
  }
  return true;
}

const std::vector<int>* PlanarEditor::segment_sets(Index a, Index b) const {
  const auto found = segments_.find(segment(a, b));
  return found == segments_.end() ? nullptr : &found->second;
}

BodySets PlanarEditor::sets_of(const std::vector<Index>& points) const {
  BodySets sets = original_.sets;
  sets.cell_substance.clear();
  std::vector<std::vector<Index>> members(sets.list(SetKind::points).size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const int s : point_sets_[std::size_t(points[i])]) members[std::size_t(s)].push_back(Index(i));
  for (std::size_t s = 0; s < members.size(); ++s) sets.replace(SetKind::points, s, std::move(members[s]));
  for (std::size_t s = 0; s < sets.list(SetKind::segments).size(); ++s)
    sets.replace(SetKind::segments, s, {});
  return sets;
}

PlanarEditor::Result PlanarEditor::result() const {
  Result r;
  std::vector<Index> number(star_.size(), -1);
  for (Index p = 0; p < point_count(); ++p)
    if (!cells_of(p).empty()) {
      number[std::size_t(p)] = Index(r.points.size());
      r.points.push_back(p);
    }
  BodyShape& shape = r.shape;
  shape.sets = sets_of(r.points);
  shape.mesh.points.resize(3, Index(r.points.size()));
  for (std::size_t i = 0; i < r.points.size(); ++i)
    shape.mesh.points.col(Index(i)) = position(0, r.points[i]);
  std::vector<std::array<int, 3>> faces;
  const bool labelled = !original_.sets.cell_substance.empty();
  for (const Cell& c : cells_) {
    if (c.is_removed()) continue;
    faces.push_back({number[std::size_t(c.points[0])], number[std::size_t(c.points[1])],
                     number[std::size_t(c.points[2])]});
    if (labelled) shape.sets.cell_substance.push_back(c.substance);
  }
  shape.mesh.faces = Faces::Map(faces.data()->data(), 3, Index(faces.size()));
  const Edges boundary = boundary_edges(shape.mesh.faces);
  std::vector<std::vector<Index>> members(original_.sets.list(SetKind::segments).size());
  for (Index e = 0; e < boundary.cols(); ++e)
    for (const int s :
         segments_.at(segment(r.points[std::size_t(boundary(0, e))], r.points[std::size_t(boundary(1, e))])))
      members[std::size_t(s)].push_back(e);
  for (std::size_t s = 0; s < members.size(); ++s)
    shape.sets.replace(SetKind::segments, s, std::move(members[s]));
  return r;
}

}  // namespace apart
