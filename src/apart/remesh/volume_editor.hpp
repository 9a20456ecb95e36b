#pragma once
#include <apart/bodies/body_shape.hpp>

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace apart {

/// A tetrahedron of a VolumeEditor.
struct EditedCell {
  std::array<Index, 4> points = {-1, -1, -1, -1};  ///< positive orientation; all −1: removed
  Index substance = 0;
  bool is_removed() const { return points[0] < 0; }
  bool has(Index p) const { return points[0] == p || points[1] == p || points[2] == p || points[3] == p; }
  bool operator==(const EditedCell&) const = default;
};

/// Why an operation was not done.
enum class Refusal {
  none,
  inverted,   ///< a cell would not be positive, at rest or in another position
  quality,    ///< a cell would have a worse shape at rest than it may
  topology,   ///< the mesh would not be a manifold, or of another topology
  shape,      ///< the rest shape, or the border of a material or a set, would change
  individual  ///< the point belongs to a point force, an attachment or a joint
};

/// A tetrahedral mesh that is changed by splitting and collapsing edges, each of which can be undone.
///
/// Points have several positions: the first is the rest shape, the mesh in its initial placement; the others
/// are states of the same body. After every operation each cell is positive in all of them, by exact
/// arithmetic. The rest shape stays the same, except for the rounding of midpoints: a surface point is
/// removed only if the facets around it lie in one plane, or in two and the collapse runs along their crease,
/// and so is a point on a border between materials. Sets follow the rules of BodySets.
///
/// Points are numbered in the order of their creation; removed ones keep their number until shape() leaves
/// them out.
class VolumeEditor {
 public:
  struct Source {
    BodyShape shape;
    std::vector<Matrix3X> states;      ///< other positions of the points [m]
    std::vector<int> individual = {};  ///< point sets that keep exactly their members
    Index lasting_points = 0;          ///< the first points, which are never removed
  };
  explicit VolumeEditor(Source source);

  /// Creates the midpoint of an edge, which must be one of a cell. `least_quality`: cells may become worse
  /// than this only if they were already.
  Refusal split(Index a, Index b, double least_quality = 0);
  /// Moves a point onto another, `kept`, and removes it with the cells between the two.
  Refusal collapse(Index removed, Index kept, double least_quality = 0);
  /// Takes back the last operation that was done.
  void undo();
  std::size_t operation_count() const { return journal_.size(); }

  Index point_count() const { return Index(positions_[0].size()); }  ///< removed ones included
  Index cell_count() const { return Index(cells_.size()); }          ///< removed ones included
  const EditedCell& cell(Index i) const { return cells_[std::size_t(i)]; }
  const std::vector<Index>& cells_of(Index point) const { return star_[std::size_t(point)]; }  ///< ascending
  const Vector3& position(std::size_t which, Index point) const {
    return positions_[which][std::size_t(point)];
  }
  std::size_t position_count() const { return positions_.size(); }
  bool on_surface(Index point) const { return !facets_of(point).empty(); }
  bool is_surface_edge(Index a, Index b) const;
  std::vector<Index> cells_of_edge(Index a, Index b) const;       ///< ascending
  std::vector<std::array<Index, 2>> edges() const;                ///< smaller point first, in order
  double rest_quality(const std::array<Index, 4>& points) const;  ///< 1 for a regular tetrahedron; 0 if flat

  /// The facet sets of a facet of the surface, in any order of its points; none: it is not on the surface.
  const std::vector<int>* facet_sets(const std::array<Index, 3>& facet) const;
  /// The sets of the body with the places of their members in `points`, and without facets.
  BodySets sets_of(const std::vector<Index>& points) const;

  /// The mesh as it is now, without what was removed.
  struct Result {
    BodyShape shape;
    std::vector<Index> points;  ///< the editor's number of each point
    std::vector<Index> cells;   ///< and of each cell
  };
  Result result() const;

 private:
  using Facet = std::array<Index, 3>;  ///< of the surface, ascending
  using Sets = std::vector<int>;       ///< ascending
  struct Entry {
    std::vector<std::pair<Index, EditedCell>> cells;            ///< as they were before, in order
    std::vector<std::pair<Facet, std::optional<Sets>>> facets;  ///< likewise
    std::size_t cell_count = 0, point_count = 0;                ///< before
  };
  void begin();
  void set_cell(Index i, const EditedCell& cell);
  void set_facet(const Facet& facet, std::optional<Sets> sets);
  void enlist(Index i, const EditedCell& cell, bool enter);
  std::vector<Facet> facets_of(Index point) const;  ///< of the surface
  bool is_positive(const std::array<Index, 4>& points) const;
  bool keeps_links(Index a, Index b) const;
  std::vector<std::pair<Facet, Sets>> borders_of(Index point) const;
  bool keeps_shape(Index removed, Index kept) const;
  bool keeps_sets(Index removed, Index kept) const;

  BodyShape original_;
  BodySets no_members_;                          ///< the sets of the body, all empty
  std::vector<std::vector<Vector3>> positions_;  ///< [m]
  std::vector<EditedCell> cells_;
  std::vector<std::vector<Index>> star_;  ///< of each point: its cells
  std::vector<Sets> point_sets_;          ///< of each point
  std::vector<char> individual_set_, individual_;
  std::map<Facet, Sets> facets_;  ///< the surface
  Index lasting_points_;
  std::vector<Entry> journal_;
};

}  // namespace apart
