#include <apart/remesh/volume_editor.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <set>

namespace apart {

namespace {

// Facets whose unit normals differ by less lie in one plane; midpoints are rounded.
constexpr double flatness = 1e-10;

template <std::size_t n>
std::array<Index, n> sorted(std::array<Index, n> list) {
  std::ranges::sort(list);
  return list;
}

/// The facet of a cell opposite to one of its corners, ascending.
std::array<Index, 3> opposite(const EditedCell& cell, int corner) {
  std::array<Index, 3> facet;
  for (int k = 0, n = 0; k < 4; ++k)
    if (k != corner) facet[std::size_t(n++)] = cell.points[std::size_t(k)];
  return sorted(facet);
}

std::array<Index, 4> replaced(std::array<Index, 4> points, Index from, Index to) {
  std::ranges::replace(points, from, to);
  return points;
}

/// The boundary of a point's star, closed by cells that join the surface to a point at infinity, −1.
struct Link {
  std::set<Index> points;
  std::set<std::array<Index, 2>> edges;
  std::set<std::array<Index, 3>> facets;
  void add(const std::array<Index, 3>& facet) {  // ascending
    facets.insert(facet);
    for (int k = 0; k < 3; ++k) {
      points.insert(facet[std::size_t(k)]);
      std::array<Index, 2> edge = {facet[std::size_t((k + 1) % 3)], facet[std::size_t((k + 2) % 3)]};
      edges.insert(sorted(edge));
    }
  }
};

}  // namespace

VolumeEditor::VolumeEditor(Source source)
    : original_(std::move(source.shape)), lasting_points_(source.lasting_points) {
  const Mesh& mesh = original_.mesh;
  const auto points_of = [&](const Matrix3X& x) {
    ensure(x.cols() == mesh.points.cols(), "VolumeEditor: a position for each point");
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
  for (Index c = 0; c < mesh.tetrahedra.cols(); ++c) {
    EditedCell cell;
    for (int k = 0; k < 4; ++k) cell.points[std::size_t(k)] = mesh.tetrahedra(k, c);
    if (!substance.empty()) cell.substance = substance[std::size_t(c)];
    cells_.push_back(cell);
    enlist(c, cell, true);
  }
  no_members_ = original_.sets;
  no_members_.cell_substance.clear();
  for (const SetKind kind : {SetKind::points, SetKind::facets})
    for (std::size_t s = 0; s < no_members_.list(kind).size(); ++s) no_members_.replace(kind, s, {});
  const std::vector<NamedSet>& sets = original_.sets.list(SetKind::points);
  individual_set_.assign(sets.size(), false);
  for (const int s : source.individual) individual_set_[std::size_t(s)] = true;
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (const Index p : sets[s].members) {
      point_sets_[std::size_t(p)].push_back(int(s));
      individual_[std::size_t(p)] |= individual_set_[s];
    }
  const Faces faces = boundary_faces(mesh.tetrahedra);
  std::vector<Sets> facet_sets(std::size_t(faces.cols()));
  const std::vector<NamedSet>& facet_lists = original_.sets.list(SetKind::facets);
  for (std::size_t s = 0; s < facet_lists.size(); ++s)
    for (const Index f : facet_lists[s].members) facet_sets[std::size_t(f)].push_back(int(s));
  for (Index f = 0; f < faces.cols(); ++f)
    facets_.emplace(sorted(Facet{faces(0, f), faces(1, f), faces(2, f)}), facet_sets[std::size_t(f)]);
}

void VolumeEditor::enlist(Index i, const EditedCell& cell, bool enter) {
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

void VolumeEditor::begin() {
  journal_.push_back({{}, {}, cells_.size(), star_.size()});
}

void VolumeEditor::set_cell(Index i, const EditedCell& cell) {
  if (i == cell_count()) cells_.emplace_back();
  journal_.back().cells.emplace_back(i, cells_[std::size_t(i)]);
  enlist(i, cells_[std::size_t(i)], false);
  cells_[std::size_t(i)] = cell;
  enlist(i, cell, true);
}

void VolumeEditor::set_facet(const Facet& facet, std::optional<Sets> sets) {
  const auto found = facets_.find(facet);
  journal_.back().facets.emplace_back(
      facet, found == facets_.end() ? std::nullopt : std::optional<Sets>(found->second));
  if (sets)
    facets_.insert_or_assign(facet, std::move(*sets));
  else
    facets_.erase(facet);
}

void VolumeEditor::undo() {
  ensure(!journal_.empty(), "VolumeEditor::undo: nothing was done");
  Entry entry = std::move(journal_.back());
  journal_.pop_back();
  for (auto it = entry.cells.rbegin(); it != entry.cells.rend(); ++it) {
    EditedCell& cell = cells_[std::size_t(it->first)];
    enlist(it->first, cell, false);
    cell = it->second;
    enlist(it->first, cell, true);
  }
  for (auto it = entry.facets.rbegin(); it != entry.facets.rend(); ++it)
    if (it->second)
      facets_.insert_or_assign(it->first, std::move(*it->second));
    else
      facets_.erase(it->first);
  cells_.resize(entry.cell_count);
  star_.resize(entry.point_count);
  point_sets_.resize(entry.point_count);
  individual_.resize(entry.point_count);
  for (auto& list : positions_) list.resize(entry.point_count);
}

std::vector<VolumeEditor::Facet> VolumeEditor::facets_of(Index point) const {
  std::vector<Facet> result;
  for (const Index c : cells_of(point))
    for (int k = 0; k < 4; ++k)
      if (cell(c).points[std::size_t(k)] != point)
        if (const Facet facet = opposite(cell(c), k); facets_.contains(facet)) result.push_back(facet);
  return result;
}

bool VolumeEditor::is_surface_edge(Index a, Index b) const {
  return std::ranges::any_of(facets_of(a),
                             [&](const Facet& f) { return std::ranges::find(f, b) != f.end(); });
}

std::vector<Index> VolumeEditor::cells_of_edge(Index a, Index b) const {
  std::vector<Index> result;
  std::ranges::copy_if(cells_of(a), std::back_inserter(result), [&](Index c) { return cell(c).has(b); });
  return result;
}

std::vector<std::array<Index, 2>> VolumeEditor::edges() const {
  std::vector<std::array<Index, 2>> result;
  for (const EditedCell& c : cells_)
    for (int i = 0; i < 4 && !c.is_removed(); ++i)
      for (int j = i + 1; j < 4; ++j)
        result.push_back(sorted(std::array{c.points[std::size_t(i)], c.points[std::size_t(j)]}));
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool VolumeEditor::is_positive(const std::array<Index, 4>& p) const {
  return std::ranges::all_of(positions_, [&](const std::vector<Vector3>& x) {
    return exact::orientation(x[std::size_t(p[0])], x[std::size_t(p[1])], x[std::size_t(p[2])],
                              x[std::size_t(p[3])]) > 0;
  });
}

double VolumeEditor::rest_quality(const std::array<Index, 4>& p) const {
  double squares = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j)
      squares += (position(0, p[std::size_t(i)]) - position(0, p[std::size_t(j)])).squaredNorm();
  // 6 V = l³/√2 of a regular tetrahedron of edge l.
  const double volume6 =
      signed_volume6(position(0, p[0]), position(0, p[1]), position(0, p[2]), position(0, p[3]));
  return std::sqrt(2.0) * volume6 / std::pow(squares / 6, 1.5);
}

Refusal VolumeEditor::split(Index a, Index b, double least_quality) {
  const std::vector<Index> around = cells_of_edge(a, b);
  ensure(!around.empty(), "VolumeEditor::split: not an edge");
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
      const EditedCell half{replaced(whole.points, end, m), whole.substance};
      if (!is_positive(half.points)) return refuse(Refusal::inverted);
      if (rest_quality(half.points) < allowed) return refuse(Refusal::quality);
      set_cell(end == b ? c : cell_count(), half);
    }
    for (int k = 0; k < 4; ++k) {
      const Facet facet = opposite(whole, k);
      const auto found = facets_.find(facet);
      if (whole.points[std::size_t(k)] == a || whole.points[std::size_t(k)] == b || found == facets_.end())
        continue;
      const Sets inherited = found->second;
      set_facet(facet, std::nullopt);
      for (const Index end : {a, b}) {
        Facet half = facet;
        std::ranges::replace(half, end, m);
        set_facet(sorted(half), inherited);
      }
    }
  }
  return Refusal::none;
}

/// The link condition: the closed stars of a and b share the star of their edge only [Dey, Edelsbrunner,
/// Guha, Nekhayev 1999]. The collapse then changes no topology, neither of the body nor of its surface.
bool VolumeEditor::keeps_links(Index a, Index b) const {
  const auto link_of = [&](Index p) {
    Link link;
    for (const Index c : cells_of(p))
      for (int k = 0; k < 4; ++k)
        if (cell(c).points[std::size_t(k)] == p) link.add(opposite(cell(c), k));
    for (const Facet& f : facets_of(p)) {
      Facet closed = f;
      std::ranges::replace(closed, p, -1);
      link.add(sorted(closed));
    }
    return link;
  };
  const Link of_a = link_of(a), of_b = link_of(b);
  std::set<Index> edge_points;  // link of the edge
  std::set<std::array<Index, 2>> edge_edges;
  const auto add = [&](Index c, Index d) {
    edge_points.insert({c, d});
    edge_edges.insert(sorted(std::array{c, d}));
  };
  for (const Index c : cells_of_edge(a, b)) {
    std::vector<Index> others;
    std::ranges::copy_if(cell(c).points, std::back_inserter(others),
                         [&](Index p) { return p != a && p != b; });
    add(others[0], others[1]);
  }
  for (const Facet& f : facets_of(a))
    if (std::ranges::find(f, b) != f.end())
      for (const Index p : f)
        if (p != a && p != b) add(p, -1);
  const auto common = [](const auto& first, const auto& second, const auto& expected) {
    std::remove_cvref_t<decltype(first)> both;
    std::ranges::set_intersection(first, second, std::inserter(both, both.end()));
    return both == expected;
  };
  return common(of_a.points, of_b.points, edge_points) && common(of_a.edges, of_b.edges, edge_edges) &&
         common(of_a.facets, of_b.facets, std::set<std::array<Index, 3>>());
}

bool VolumeEditor::keeps_sets(Index removed, Index kept) const {
  return std::ranges::includes(point_sets_[std::size_t(kept)], point_sets_[std::size_t(removed)]);
}

/// The facets of the surface and of borders between materials at a point, each with what it belongs to: sets,
/// or −1 and the two materials.
std::vector<std::pair<VolumeEditor::Facet, VolumeEditor::Sets>> VolumeEditor::borders_of(Index point) const {
  std::vector<std::pair<Facet, Sets>> result;
  for (const Facet& f : facets_of(point)) result.emplace_back(f, facets_.at(f));
  std::map<Facet, Index> once;  // substance of the first cell met
  for (const Index c : cells_of(point))
    for (int k = 0; k < 4; ++k) {
      if (cell(c).points[std::size_t(k)] == point) continue;
      const auto [first, is_new] = once.emplace(opposite(cell(c), k), cell(c).substance);
      if (!is_new && first->second != cell(c).substance) {
        const auto [low, high] = std::minmax(first->second, cell(c).substance);
        result.emplace_back(first->first, Sets{-1, low, high});
      }
    }
  return result;
}

bool VolumeEditor::keeps_shape(Index removed, Index kept) const {
  struct Side {  ///< facets in one plane that belong to the same
    Vector3 normal;
    Sets owner;
    std::set<Index> rim;  ///< their other points
  };
  std::vector<Side> sides;
  for (const auto& [f, owner] : borders_of(removed)) {
    const Vector3 &x = position(0, f[0]), &y = position(0, f[1]), &z = position(0, f[2]);
    const Vector3 normal = (y - x).cross(z - x).normalized();
    auto side = std::ranges::find_if(sides, [&normal = normal, &owner = owner](const Side& s) {
      return s.normal.cross(normal).norm() <= flatness && s.owner == owner;
    });
    if (side == sides.end()) side = sides.insert(sides.end(), {normal, owner, {}});
    for (const Index p : f)
      if (p != removed) side->rim.insert(p);
  }
  if (sides.empty()) return true;
  if (sides.size() > 2) return false;
  const auto reaches = [&](Index p) {
    return std::ranges::all_of(sides, [&](const Side& s) { return s.rim.contains(p); });
  };
  if (!reaches(kept)) return false;
  if (sides.size() == 1) return true;
  // Along the crease, which must be straight here: it goes on beyond the removed point, and nowhere else.
  std::vector<Index> crease;
  std::ranges::copy_if(sides[0].rim, std::back_inserter(crease), reaches);
  if (crease.size() != 2) return false;
  const Vector3& x = position(0, removed);
  const Vector3 ahead = position(0, crease[0]) - x, behind = position(0, crease[1]) - x;
  return ahead.cross(behind).norm() <= flatness * ahead.norm() * behind.norm() && ahead.dot(behind) < 0;
}

Refusal VolumeEditor::collapse(Index removed, Index kept, double least_quality) {
  if (removed < lasting_points_ || individual_[std::size_t(removed)]) return Refusal::individual;
  const std::vector<Index> between = cells_of_edge(removed, kept), around = cells_of(removed);
  ensure(!between.empty(), "VolumeEditor::collapse: not an edge");
  if (!keeps_sets(removed, kept) || !keeps_shape(removed, kept)) return Refusal::shape;
  if (!keeps_links(removed, kept)) return Refusal::topology;
  double worst = 1;
  for (const Index c : around) worst = std::min(worst, rest_quality(cell(c).points));
  for (const Index c : around) {
    if (cell(c).has(kept)) continue;
    const std::array<Index, 4> moved = replaced(cell(c).points, removed, kept);
    if (!is_positive(moved)) return Refusal::inverted;
    if (rest_quality(moved) < std::min(least_quality, worst)) return Refusal::quality;
  }
  begin();
  std::vector<std::pair<Facet, Sets>> surface;
  for (const Facet& f : facets_of(removed)) {
    surface.emplace_back(f, facets_.at(f));
    set_facet(f, std::nullopt);
  }
  for (const auto& [facet, sets] : surface) {
    if (std::ranges::find(facet, kept) != facet.end()) continue;
    Facet moved = facet;
    std::ranges::replace(moved, removed, kept);
    set_facet(sorted(moved), sets);
  }
  for (const Index c : around) {
    EditedCell moved;
    if (!cell(c).has(kept)) moved = {replaced(cell(c).points, removed, kept), cell(c).substance};
    set_cell(c, moved);
  }
  return Refusal::none;
}

const std::vector<int>* VolumeEditor::facet_sets(const std::array<Index, 3>& facet) const {
  const auto found = facets_.find(sorted(facet));
  return found == facets_.end() ? nullptr : &found->second;
}

BodySets VolumeEditor::sets_of(const std::vector<Index>& points) const {
  BodySets sets = no_members_;
  std::vector<std::vector<Index>> members(sets.list(SetKind::points).size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const int s : point_sets_[std::size_t(points[i])]) members[std::size_t(s)].push_back(Index(i));
  for (std::size_t s = 0; s < members.size(); ++s) sets.replace(SetKind::points, s, std::move(members[s]));
  return sets;
}

VolumeEditor::Result VolumeEditor::result() const {
  Result r;
  std::vector<Index> number(star_.size(), -1);
  for (Index p = 0; p < point_count(); ++p)
    if (!cells_of(p).empty()) {
      number[std::size_t(p)] = Index(r.points.size());
      r.points.push_back(p);
    }
  for (Index c = 0; c < cell_count(); ++c)
    if (!cell(c).is_removed()) r.cells.push_back(c);
  BodyShape& shape = r.shape;
  shape.sets = sets_of(r.points);
  shape.mesh.points.resize(3, Index(r.points.size()));
  for (std::size_t i = 0; i < r.points.size(); ++i)
    shape.mesh.points.col(Index(i)) = position(0, r.points[i]);
  shape.mesh.tetrahedra.resize(4, Index(r.cells.size()));
  const bool labelled = !original_.sets.cell_substance.empty();
  for (std::size_t i = 0; i < r.cells.size(); ++i) {
    const EditedCell& c = cell(r.cells[i]);
    for (int k = 0; k < 4; ++k)
      shape.mesh.tetrahedra(k, Index(i)) = number[std::size_t(c.points[std::size_t(k)])];
    if (labelled) shape.sets.cell_substance.push_back(c.substance);
  }
  const Faces faces = boundary_faces(shape.mesh.tetrahedra);
  std::vector<std::vector<Index>> members(original_.sets.list(SetKind::facets).size());
  for (Index f = 0; f < faces.cols(); ++f)
    for (const int s :
         facets_.at(sorted(Facet{r.points[std::size_t(faces(0, f))], r.points[std::size_t(faces(1, f))],
                                 r.points[std::size_t(faces(2, f))]})))
      members[std::size_t(s)].push_back(f);
  for (std::size_t s = 0; s < members.size(); ++s)
    shape.sets.replace(SetKind::facets, s, std::move(members[s]));
  return r;
}

}  // namespace apart
