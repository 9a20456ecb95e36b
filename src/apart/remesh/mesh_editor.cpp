#include <apart/remesh/mesh_editor.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <set>

namespace apart {

namespace {

template <class List>
std::vector<Corners> columns_of(const List& list) {
  std::vector<Corners> result;
  for (const auto& column : list.colwise()) result.push_back(Corners::of(column));
  return result;
}

}  // namespace

std::vector<Corners> cells_of(const Mesh& mesh) {
  return mesh.tetrahedra.cols() > 0 ? columns_of(mesh.tetrahedra) : columns_of(mesh.faces);
}

std::vector<Corners> surface_of(const Mesh& mesh) {
  return mesh.tetrahedra.cols() > 0 ? columns_of(boundary_faces(mesh.tetrahedra))
                                    : columns_of(boundary_edges(mesh.faces));
}

void set_cells(Mesh& mesh, const std::vector<Corners>& cells) {
  const auto fill = [&](auto& list) {
    list.resize(Eigen::NoChange, Index(cells.size()));
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (int k = 0; k < cells[c].size(); ++k) list(k, Index(c)) = int(cells[c][k]);
  };
  if (!cells.empty() && cells[0].size() == 4)
    fill(mesh.tetrahedra);
  else
    fill(mesh.faces);
}

MeshEditor::MeshEditor(Source source)
    : dimension_(source.shape.mesh.tetrahedra.cols() > 0 ? 3 : 2),
      is_shell_(source.is_shell),
      original_(std::move(source.shape)),
      lasting_points_(source.lasting_points),
      original_shape_(std::move(source.original)) {
  const Mesh& mesh = original_.mesh;
  const auto points_of = [&](const Matrix3X& x) {
    ensure(x.cols() == mesh.points.cols(), "MeshEditor: a position for each point");
    std::vector<Vector3> list(std::size_t(x.cols()));
    for (Index i = 0; i < x.cols(); ++i) list[std::size_t(i)] = x.col(i);
    return list;
  };
  if (original_.rest_points.cols() > 0) {
    positions_.push_back(points_of(original_.rest_points));
    rest_count_ = 2;
  }
  positions_.push_back(points_of(mesh.points));
  for (const Matrix3X& state : source.states) positions_.push_back(points_of(state));
  star_.resize(std::size_t(mesh.point_count()));
  point_sets_.resize(star_.size());
  individual_.assign(star_.size(), false);
  const std::vector<Index>& substance = original_.sets.cell_substance;
  for (const Corners& points : apart::cells_of(mesh)) {
    cells_.push_back({points, substance.empty() ? 0 : substance[cells_.size()], {}});
    enlist(cell_count() - 1, cells_.back(), true);
  }
  no_members_ = original_.sets;
  no_members_.cell_substance.clear();
  for (const SetKind kind : {SetKind::points, side_kind()})
    for (std::size_t s = 0; s < no_members_.list(kind).size(); ++s) no_members_.replace(kind, s, {});
  const std::vector<NamedSet>& sets = original_.sets.list(SetKind::points);
  individual_set_.assign(sets.size(), false);
  for (const int s : source.individual) individual_set_[std::size_t(s)] = true;
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (const Index p : sets[s].members) {
      point_sets_[std::size_t(p)].push_back(int(s));
      individual_[std::size_t(p)] |= individual_set_[s];
    }
  const std::vector<Corners> surface = surface_of(mesh);
  std::vector<Sets> side_sets(surface.size());
  const std::vector<NamedSet>& lists = original_.sets.list(side_kind());
  for (std::size_t s = 0; s < lists.size(); ++s)
    for (const Index f : lists[s].members)
      (is_shell_ ? cells_[std::size_t(f)].sets : side_sets[std::size_t(f)]).push_back(int(s));
  for (std::size_t f = 0; f < surface.size(); ++f) sides_.emplace(surface[f].sorted(), side_sets[f]);
}

void MeshEditor::enlist(Index i, const EditedCell& cell, bool enter) {
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

void MeshEditor::begin() {
  journal_.push_back({{}, {}, cells_.size(), star_.size(), -1, {}});
}

void MeshEditor::set_cell(Index i, const EditedCell& cell) {
  if (i == cell_count()) cells_.emplace_back();
  journal_.back().cells.emplace_back(i, cells_[std::size_t(i)]);
  enlist(i, cells_[std::size_t(i)], false);
  cells_[std::size_t(i)] = cell;
  enlist(i, cell, true);
}

void MeshEditor::set_side(const Corners& side, std::optional<Sets> sets) {
  const auto found = sides_.find(side);
  journal_.back().sides.emplace_back(
      side, found == sides_.end() ? std::nullopt : std::optional<Sets>(found->second));
  if (sets)
    sides_.insert_or_assign(side, std::move(*sets));
  else
    sides_.erase(side);
}

void MeshEditor::undo() {
  ensure(!journal_.empty(), "MeshEditor::undo: nothing was done");
  Entry entry = std::move(journal_.back());
  journal_.pop_back();
  for (auto it = entry.cells.rbegin(); it != entry.cells.rend(); ++it) {
    EditedCell& cell = cells_[std::size_t(it->first)];
    enlist(it->first, cell, false);
    cell = it->second;
    enlist(it->first, cell, true);
  }
  for (auto it = entry.sides.rbegin(); it != entry.sides.rend(); ++it)
    if (it->second)
      sides_.insert_or_assign(it->first, std::move(*it->second));
    else
      sides_.erase(it->first);
  for (std::size_t k = 0; k < entry.places.size(); ++k)
    positions_[k][std::size_t(entry.moved)] = entry.places[k];
  cells_.resize(entry.cell_count);
  star_.resize(entry.point_count);
  point_sets_.resize(entry.point_count);
  individual_.resize(entry.point_count);
  for (auto& list : positions_) list.resize(entry.point_count);
}

std::vector<Corners> MeshEditor::sides_of(Index point) const {
  std::vector<Corners> result;
  for (const Index c : cells_of(point))
    for (int k = 0; k <= dimension_; ++k)
      if (cell(c).points[k] != point)
        if (const Corners side = cell(c).points.without(k).sorted(); sides_.contains(side))
          result.push_back(side);
  return result;
}

std::vector<Index> MeshEditor::cells_of_edge(Index a, Index b) const {
  std::vector<Index> result;
  std::ranges::copy_if(cells_of(a), std::back_inserter(result),
                       [&](Index c) { return cell(c).points.has(b); });
  return result;
}

std::vector<Index> MeshEditor::cells_with(const Corners& points) const {
  std::vector<Index> result;
  std::ranges::copy_if(cells_of(points[0]), std::back_inserter(result),
                       [&](Index c) { return cell(c).points.has_all(points); });
  return result;
}

std::vector<Index> MeshEditor::neighbours_of(Index point) const {
  std::set<Index> result;
  for (const Index c : cells_of(point)) result.insert(cell(c).points.begin(), cell(c).points.end());
  result.erase(point);
  return {result.begin(), result.end()};
}

std::vector<std::array<Index, 2>> MeshEditor::edges() const {
  std::vector<std::array<Index, 2>> result;
  for (const EditedCell& c : cells_)
    for (int i = 0; i < c.points.size(); ++i)
      for (int j = i + 1; j < c.points.size(); ++j) {
        const auto [low, high] = std::minmax(c.points[i], c.points[j]);
        result.push_back({low, high});
      }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool MeshEditor::is_positive(const Corners& cell, const Corners& like) const {
  return std::ranges::all_of(positions_, [&](const std::vector<Vector3>& x) {
    if (is_shell_) {
      const auto normal = [&](const Corners& c) {
        const Vector3& origin = x[std::size_t(c[0])];
        return Vector3((x[std::size_t(c[1])] - origin).cross(x[std::size_t(c[2])] - origin));
      };
      return normal(cell).dot(normal(like)) > 0;
    }
    std::array<Vector3, 4> corners;
    for (int k = 0; k < 4; ++k) {
      corners[std::size_t(k)] = x[std::size_t(cell[k % cell.size()])];
      // A triangle in the plane z = 0 is one side of a tetrahedron whose fourth corner is above the first.
      if (dimension_ == 2) corners[std::size_t(k)][2] = k == 3 ? 1 : 0;
    }
    return exact::orientation(corners[0], corners[1], corners[2], corners[3]) > 0;
  });
}

double MeshEditor::rest_quality(const Corners& cell) const {
  double squares = 0;
  for (int i = 0; i < cell.size(); ++i)
    for (int j = i + 1; j < cell.size(); ++j)
      squares += (position(0, cell[i]) - position(0, cell[j])).squaredNorm();
  if (dimension_ == 2) {
    const Vector3 a = position(0, cell[1]) - position(0, cell[0]),
                  b = position(0, cell[2]) - position(0, cell[0]);
    // 2 A = √3/2 l² of an equilateral triangle of edge l.
    return 2 * std::sqrt(3.0) * (is_shell_ ? a.cross(b).norm() : a[0] * b[1] - a[1] * b[0]) / squares;
  }
  // 6 V = l³/√2 of a regular tetrahedron of edge l.
  const double volume6 =
      signed_volume6(position(0, cell[0]), position(0, cell[1]), position(0, cell[2]), position(0, cell[3]));
  return std::sqrt(2.0) * volume6 / std::pow(squares / 6, 1.5);
}

double MeshEditor::worst_quality(const std::vector<Index>& cells) const {
  double worst = 1;
  for (const Index c : cells) worst = std::min(worst, rest_quality(cell(c).points));
  return worst;
}

Refusal MeshEditor::split(Index a, Index b, double least_quality) {
  const std::vector<Index> around = cells_of_edge(a, b);
  ensure(!around.empty(), "MeshEditor::split: not an edge");
  begin();
  const Index m = point_count();
  for (auto& list : positions_) list.push_back(0.5 * (list[std::size_t(a)] + list[std::size_t(b)]));
  star_.emplace_back();
  Sets sets;
  std::ranges::set_intersection(point_sets_[std::size_t(a)], point_sets_[std::size_t(b)],
                                std::back_inserter(sets));
  std::erase_if(sets, [&](int s) { return individual_set_[std::size_t(s)]; });
  point_sets_.push_back(std::move(sets));
  individual_.push_back(false);

  const auto refuse = [&](Refusal why) {
    undo();
    return why;
  };
  for (const Index c : around) {
    const EditedCell whole = cell(c);
    const double allowed = std::min(least_quality, rest_quality(whole.points));
    for (const Index end : {b, a}) {
      EditedCell half = whole;
      half.points = whole.points.replaced(end, m);
      if (!is_positive(half.points, whole.points)) return refuse(Refusal::inverted);
      if (rest_quality(half.points) < allowed) return refuse(Refusal::quality);
      set_cell(end == b ? c : cell_count(), half);
    }
    for (int k = 0; k <= dimension_; ++k) {
      const Corners side = whole.points.without(k).sorted();
      const auto found = sides_.find(side);
      if (!side.has_all({a, b}) || found == sides_.end()) continue;
      const Sets inherited = found->second;
      set_side(side, std::nullopt);
      for (const Index end : {a, b}) set_side(side.replaced(end, m).sorted(), inherited);
    }
  }
  return Refusal::none;
}

Refusal MeshEditor::collapse(Index removed, Index kept, double least_quality) {
  if (removed < lasting_points_ || individual_[std::size_t(removed)]) return Refusal::individual;
  const std::vector<Index> around = cells_of(removed);
  ensure(!cells_of_edge(removed, kept).empty(), "MeshEditor::collapse: not an edge");
  if (!keeps_sets(removed, kept)) return Refusal::shape;
  std::optional<Redrawing> redrawn;
  if (!keeps_shape(removed, kept)) {
    redrawn = redrawing(removed, kept);
    if (!redrawn) return Refusal::shape;
  }
  if (!keeps_links(removed, kept)) return Refusal::topology;
  const double allowed = std::min(least_quality, worst_quality(around));
  for (const Index c : around) {
    if (cell(c).points.has(kept)) continue;
    const Corners moved = cell(c).points.replaced(removed, kept);
    if (!is_positive(moved, cell(c).points)) return Refusal::inverted;
    if (rest_quality(moved) < allowed) return Refusal::quality;
  }
  begin();
  std::vector<std::pair<Corners, Sets>> surface;
  for (const Corners& side : sides_of(removed)) {
    surface.emplace_back(side, sides_.at(side));
    set_side(side, std::nullopt);
  }
  for (const auto& [side, sets] : surface)
    if (!side.has(kept)) set_side(side.replaced(removed, kept).sorted(), sets);
  for (const Index c : around) {
    EditedCell moved;
    if (!cell(c).points.has(kept)) {
      moved = cell(c);
      moved.points = moved.points.replaced(removed, kept);
    }
    set_cell(c, moved);
  }
  if (!redrawn || stays_near(*redrawn)) return Refusal::none;
  undo();
  return Refusal::shape;
}

/// A bistellar flip: of d + 2 points S = A ∪ B the cells S \ {b}, all around A, become the cells S \ {a}, all
/// around B. Both have the sides S \ {a, b} in common, and lie on the same side of each of them.
std::vector<EditedCell> MeshEditor::swapped(const Corners& gone) const {
  const std::vector<Index> around = cells_with(gone);
  std::set<Index> others;
  for (const Index c : around)
    for (const Index p : cell(c).points)
      if (!gone.has(p)) others.insert(p);
  if (int(others.size()) != dimension_ + 2 - gone.size() || around.size() != others.size()) return {};
  const EditedCell& one = cell(around[0]);
  Corners made;
  Index missing = -1;  // in the first cell
  for (const Index p : others) {
    made.add(p);
    if (!one.points.has(p)) missing = p;
  }
  if (!cells_with(made).empty()) return {};
  for (const Index c : around)
    if (cell(c).substance != one.substance || cell(c).sets != one.sets) return {};
  std::vector<EditedCell> result;
  for (const Index p : gone) result.push_back({one.points.replaced(p, missing), one.substance, one.sets});
  return result;
}

Refusal MeshEditor::swap(const Corners& gone, double least_quality) {
  const std::vector<EditedCell> made = swapped(gone);
  if (made.empty()) return Refusal::topology;
  const std::vector<Index> around = cells_with(gone);
  const double allowed = std::min(least_quality, worst_quality(around));
  for (const EditedCell& cell : made) {
    for (const Index c : around)
      if (!is_positive(cell.points, this->cell(c).points)) return Refusal::inverted;
    if (rest_quality(cell.points) < allowed) return Refusal::quality;
  }
  begin();
  for (std::size_t i = 0; i < std::max(around.size(), made.size()); ++i)
    set_cell(i < around.size() ? around[i] : cell_count(), i < made.size() ? made[i] : EditedCell());
  return Refusal::none;
}

bool MeshEditor::can_move(Index point) const {
  if (is_shell_ || individual_[std::size_t(point)] || on_surface(point)) return false;
  const std::vector<Index>& around = cells_of(point);
  return std::ranges::all_of(around,
                             [&](Index c) { return cell(c).substance == cell(around[0]).substance; }) &&
         std::ranges::all_of(neighbours_of(point), [&](Index p) { return keeps_sets(point, p); });
}

Refusal MeshEditor::move(const Blend& to, double least_quality) {
  const Index point = to.from;
  if (!can_move(point)) return Refusal::shape;
  const double allowed = std::min(least_quality, worst_quality(cells_of(point)));
  begin();
  journal_.back().moved = point;
  for (std::vector<Vector3>& x : positions_) {
    Vector3& place = x[std::size_t(point)];
    journal_.back().places.push_back(place);
    place = to.between(place, x[std::size_t(to.to)]);
  }
  const auto refuse = [&](Refusal why) {
    undo();
    return why;
  };
  for (const Index c : cells_of(point)) {
    if (!is_positive(cell(c).points, cell(c).points)) return refuse(Refusal::inverted);
    if (rest_quality(cell(c).points) < allowed) return refuse(Refusal::quality);
  }
  return Refusal::none;
}

const std::vector<int>* MeshEditor::side_sets(const Corners& side) const {
  const auto found = sides_.find(side.sorted());
  return found == sides_.end() ? nullptr : &found->second;
}

BodySets MeshEditor::sets_of(const std::vector<Index>& points) const {
  BodySets sets = no_members_;
  std::vector<std::vector<Index>> members(sets.list(SetKind::points).size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const int s : point_sets_[std::size_t(points[i])]) members[std::size_t(s)].push_back(Index(i));
  for (std::size_t s = 0; s < members.size(); ++s) sets.replace(SetKind::points, s, std::move(members[s]));
  return sets;
}

MeshEditor::Result MeshEditor::result() const {
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
  for (std::size_t i = 0; i < r.points.size(); ++i) shape.mesh.points.col(Index(i)) = placement(r.points[i]);
  if (has_other_rest()) {
    shape.rest_points.resize(3, Index(r.points.size()));
    for (std::size_t i = 0; i < r.points.size(); ++i)
      shape.rest_points.col(Index(i)) = position(0, r.points[i]);
  }
  std::vector<Corners> cells;
  std::vector<std::vector<Index>> members(original_.sets.list(side_kind()).size());
  const bool labelled = !original_.sets.cell_substance.empty();
  for (const EditedCell& c : cells_) {
    if (c.is_removed()) continue;
    Corners& corners = cells.emplace_back();
    for (const Index p : c.points) corners.add(number[std::size_t(p)]);
    for (const int s : c.sets) members[std::size_t(s)].push_back(Index(cells.size()) - 1);
    if (labelled) shape.sets.cell_substance.push_back(c.substance);
  }
  set_cells(shape.mesh, cells);
  const std::vector<Corners> surface = surface_of(shape.mesh);
  for (std::size_t f = 0; f < surface.size() && !is_shell_; ++f) {
    Corners side;
    for (const Index p : surface[f]) side.add(r.points[std::size_t(p)]);
    for (const int s : sides_.at(side.sorted())) members[std::size_t(s)].push_back(Index(f));
  }
  for (std::size_t s = 0; s < members.size(); ++s) shape.sets.replace(side_kind(), s, std::move(members[s]));
  return r;
}

}  // namespace apart
