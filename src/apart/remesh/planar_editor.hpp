#pragma once
#include <apart/bodies/body_shape.hpp>

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace apart {

/// The triangles of a planar body, changed by splitting and collapsing edges, each of which can be undone:
/// what VolumeEditor is for tetrahedra.
///
/// Points have several positions: the first is the rest shape, the others are states of the same body. After
/// every operation each cell is positive in all of them, by exact arithmetic. The rest shape stays the same,
/// except for the rounding of midpoints: a point of the boundary, or of a border between materials, is
/// removed only where that is straight, and along it. Sets follow the rules of BodySets.
class PlanarEditor {
 public:
  struct Source {
    BodyShape shape;
    std::vector<Matrix3X> states;      ///< other positions of the points [m]
    std::vector<int> individual = {};  ///< point sets that keep exactly their members
    Index lasting_points = 0;          ///< the first points, which are never removed
  };
  struct Cell {
    std::array<Index, 3> points = {-1, -1, -1};  ///< counter-clockwise; all −1: removed
    Index substance = 0;
    bool is_removed() const { return points[0] < 0; }
    bool has(Index p) const { return points[0] == p || points[1] == p || points[2] == p; }
  };
  explicit PlanarEditor(Source source);

  /// Creates the midpoint of an edge. False, with nothing changed: a cell would be inverted, or worse than
  /// `least_quality` and than it was.
  bool split(Index a, Index b, double least_quality = 0);
  /// Moves a point onto another, `kept`, and removes it with the cells between the two. False: as above, or
  /// the topology, the rest shape, a border or a set would change.
  bool collapse(Index removed, Index kept, double least_quality = 0);
  /// Takes back the last operation that was done.
  void undo();
  std::size_t operation_count() const { return journal_.size(); }

  Index point_count() const { return Index(positions_[0].size()); }  ///< removed ones included
  Index cell_count() const { return Index(cells_.size()); }          ///< removed ones included
  const Cell& cell(Index i) const { return cells_[std::size_t(i)]; }
  const std::vector<Index>& cells_of(Index point) const { return star_[std::size_t(point)]; }  ///< ascending
  const Vector3& position(std::size_t which, Index point) const {
    return positions_[which][std::size_t(point)];
  }
  std::vector<Index> cells_of_edge(Index a, Index b) const;
  std::vector<std::array<Index, 2>> edges() const;  ///< smaller point first, in order
  double rest_quality(
      const std::array<Index, 3>& points) const;  ///< 1 for an equilateral triangle; 0 if flat

  /// The segment sets of a segment of the boundary, in any order of its points; none: it is inside.
  const std::vector<int>* segment_sets(Index a, Index b) const;
  /// The sets of the body with the places of their members in `points`, and without segments.
  BodySets sets_of(const std::vector<Index>& points) const;

  /// The mesh as it is now, without what was removed.
  struct Result {
    BodyShape shape;
    std::vector<Index> points;  ///< the editor's number of each point
  };
  Result result() const;

 private:
  using Segment = std::array<Index, 2>;  ///< smaller point first
  using Sets = std::vector<int>;         ///< ascending
  struct Entry {
    std::vector<std::pair<Index, Cell>> cells;                      ///< as they were before, in order
    std::vector<std::pair<Segment, std::optional<Sets>>> segments;  ///< likewise
    std::size_t cell_count = 0, point_count = 0;                    ///< before
  };
  static Segment segment(Index a, Index b) { return a < b ? Segment{a, b} : Segment{b, a}; }
  void set_cell(Index i, const Cell& cell);
  void set_segment(const Segment& segment, std::optional<Sets> sets);
  void enlist(Index i, const Cell& cell, bool enter);
  bool is_positive(const std::array<Index, 3>& points) const;
  bool keeps_shape(Index removed, Index kept) const;
  bool keeps_topology(Index removed, Index kept) const;

  BodyShape original_;
  std::vector<std::vector<Vector3>> positions_;  ///< [m]
  std::vector<Cell> cells_;
  std::vector<std::vector<Index>> star_;  ///< of each point: its cells
  std::vector<Sets> point_sets_;          ///< of each point
  std::vector<char> individual_set_, individual_;
  std::map<Segment, Sets> segments_;  ///< the boundary
  Index lasting_points_;
  std::vector<Entry> journal_;
};

}  // namespace apart
