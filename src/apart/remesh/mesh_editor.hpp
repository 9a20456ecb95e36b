#pragma once
#include <apart/bodies/body_shape.hpp>
#include <apart/remesh/corners.hpp>
#include <apart/remesh/original_shape.hpp>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace apart {

/// A tetrahedron, or a triangle of a planar body or a shell.
struct EditedCell {
  Corners points;  ///< positive orientation; none: removed
  Index substance = 0;
  std::vector<int> sets = {};  ///< of a shell: the sets of facets that it belongs to, ascending
  bool is_removed() const { return points.size() == 0; }
  bool operator==(const EditedCell&) const = default;
};

/// Why an operation was not done.
enum class Refusal {
  none,
  inverted,   ///< a cell would not be positive, or one of a shell turn round, at rest or in another position
  quality,    ///< a cell would have a worse shape at rest than it may
  topology,   ///< the mesh would not be a manifold, or of another topology
  shape,      ///< the rest shape, or the border of a material or a set, would change
  individual  ///< the point belongs to a point force, an attachment or a joint
};

/// A mesh of tetrahedra, or of the triangles of a planar body or a shell, that is changed by operations, each
/// of which can be undone.
///
/// Points have several positions: the first is the rest shape, the mesh in its initial placement unless a
/// shell has another one; the others are states of the same body. After every operation each cell is positive
/// in all of them, by exact arithmetic; cells of a shell have no orientation, but none turns by more than a
/// right angle. The rest shape stays the same, except for the rounding of midpoints: a point of the surface
/// is removed only if the sides around it are flat, or lie in two planes and the collapse runs along their
/// crease, and so is a point on a border between materials. With an OriginalShape more of them are: where the
/// surface is smooth, or along a crease, if the surface stays near the original one. Sets follow the rules of
/// BodySets.
///
/// Sides are the triangles of tetrahedra and the edges of triangles; those of one cell are the surface. Of a
/// shell they are its boundary, and its surface are the cells.
/// Points are numbered in the order of their creation; removed ones keep their number until result() leaves
/// them out.
class MeshEditor {
 public:
  struct Source {
    BodyShape shape;
    std::vector<Matrix3X> states;                             ///< other positions of the points [m]
    std::vector<int> individual = {};                         ///< point sets that keep exactly their members
    Index lasting_points = 0;                                 ///< the first points, which are never removed
    bool is_shell = false;                                    ///< triangles in space
    std::shared_ptr<const OriginalShape> original = nullptr;  ///< collapses may change the rest shape
  };
  explicit MeshEditor(Source source);

  /// Creates the midpoint of an edge, which must be one of a cell. `least_quality`: cells may become worse
  /// than this only if they were already.
  Refusal split(Index a, Index b, double least_quality = 0);
  /// Moves a point onto another, `kept`, and removes it with the cells between the two.
  Refusal collapse(Index removed, Index kept, double least_quality = 0);
  /// Replaces an edge inside, or a facet, by the one that crosses it: of the cells around it, which together
  /// have two points more than a side, those that contain all of `gone` by those that contain all of the
  /// other points. So two triangles get another diagonal, a facet of two tetrahedra becomes an edge of three,
  /// and such an edge a facet.
  Refusal swap(const Corners& gone, double least_quality = 0);
  /// Gives a point inside another place at rest, on an edge from it, and in the other positions where the
  /// material point of that place is.
  Refusal move(const Blend& to, double least_quality = 0);
  /// Takes back the last operation that was done.
  void undo();
  std::size_t operation_count() const { return journal_.size(); }

  int dimension() const { return dimension_; }  ///< of cells: 3, or 2 of triangles
  bool is_shell() const { return is_shell_; }
  Index point_count() const { return Index(positions_[0].size()); }  ///< removed ones included
  Index cell_count() const { return Index(cells_.size()); }          ///< removed ones included
  const EditedCell& cell(Index i) const { return cells_[std::size_t(i)]; }
  const std::vector<Index>& cells_of(Index point) const { return star_[std::size_t(point)]; }  ///< ascending
  const Vector3& position(std::size_t which, Index point) const {
    return positions_[which][std::size_t(point)];
  }
  std::size_t position_count() const { return positions_.size(); }
  /// In the initial placement.
  const Vector3& placement(Index point) const { return position(rest_count_ - 1, point); }
  /// Whether that is not the rest shape.
  bool has_other_rest() const { return rest_count_ > 1; }
  bool on_surface(Index point) const { return !sides_of(point).empty(); }
  std::vector<Index> cells_of_edge(Index a, Index b) const;    ///< ascending
  std::vector<Index> cells_with(const Corners& points) const;  ///< all of them; ascending
  std::vector<Index> neighbours_of(Index point) const;         ///< ascending
  /// Whether collapses may change the rest shape, within a tolerance.
  bool has_tolerance() const { return original_shape_ != nullptr; }
  /// The surface in one of its positions.
  struct Outline {
    SurfacePieces facets;
    SurfacePieces creases;  ///< where facets meet at an angle, belong to different sets, or end
  };
  Outline outline(std::size_t which) const;
  /// The cells that a swap would make, if there is one.
  std::vector<EditedCell> swapped(const Corners& gone) const;
  /// Whether a point is inside, and all around it of one material and in the same sets.
  bool can_move(Index point) const;
  std::vector<std::array<Index, 2>> edges() const;  ///< smaller point first, in order
  double rest_quality(const Corners& cell) const;   ///< 1 for a regular cell; 0 if flat

  /// The sets of sides to which a side of the surface belongs, its points in any order; none: it is inside.
  /// Of a shell they are empty: its facets are cells.
  const std::vector<int>* side_sets(const Corners& side) const;
  /// What sets of sides are: facets, or segments of a planar body.
  SetKind side_kind() const { return dimension_ == 3 || is_shell_ ? SetKind::facets : SetKind::segments; }
  /// The sets of the body with the places of their members in `points`, and without sides.
  BodySets sets_of(const std::vector<Index>& points) const;

  /// The mesh as it is now, without what was removed.
  struct Result {
    BodyShape shape;
    std::vector<Index> points;  ///< the editor's number of each point
  };
  Result result() const;

 private:
  using Sets = std::vector<int>;  ///< ascending
  struct Entry {
    std::vector<std::pair<Index, EditedCell>> cells;             ///< as they were before, in order
    std::vector<std::pair<Corners, std::optional<Sets>>> sides;  ///< likewise
    std::size_t cell_count = 0, point_count = 0;                 ///< before
    Index moved = -1;                                            ///< point with another place
    std::vector<Vector3> places;                                 ///< its positions before
  };
  void begin();
  void set_cell(Index i, const EditedCell& cell);
  void set_side(const Corners& side, std::optional<Sets> sets);
  void enlist(Index i, const EditedCell& cell, bool enter);
  std::vector<Corners> sides_of(Index point) const;  ///< of the surface
  /// `like`: a cell of a shell that it replaces.
  bool is_positive(const Corners& cell, const Corners& like) const;
  double worst_quality(const std::vector<Index>& cells) const;
  bool keeps_links(Index a, Index b) const;
  std::vector<std::pair<Corners, Sets>> borders_of(Index point) const;
  bool keeps_shape(Index removed, Index kept) const;
  bool keeps_shape(std::size_t which, Index removed, Index kept) const;
  bool keeps_boundary(std::size_t which, Index removed, Index kept) const;
  bool keeps_sets(Index removed, Index kept) const;
  struct Facet {
    Corners points;
    Sets sets;
  };
  std::vector<Facet> facets_at(Index point) const;
  std::vector<Facet> facets_with(const Corners& points) const;
  SurfacePiece piece_of(std::size_t which, const Facet& facet) const;
  SurfacePiece crease_of(std::size_t which, const Corners& points) const;
  bool is_creased(std::size_t which, const Corners& side) const;
  Outline outline_at(std::size_t which, const std::set<Index>& points) const;
  /// How a collapse changes the surface at rest.
  struct Redrawing {
    struct Stage {
      Outline gone;                     ///< at the removed point
      std::map<Corners, bool> creased;  ///< sides of facets afterwards, and whether they must be creased
    };
    std::vector<Stage> stages;  ///< of each position of the rest shape
    std::vector<Corners> made;  ///< facets
    std::set<Index> around;     ///< points of the facets
  };
  /// None if it may not, however small the change.
  std::optional<Redrawing> redrawing(Index removed, Index kept) const;
  /// After the collapse.
  bool stays_near(const Redrawing& redrawing) const;

  int dimension_;
  bool is_shell_;
  std::size_t rest_count_ = 1;  ///< of the positions: the rest shape and, if it is another, the placement
  BodyShape original_;
  BodySets no_members_;                          ///< the sets of the body, all empty
  std::vector<std::vector<Vector3>> positions_;  ///< [m]
  std::vector<EditedCell> cells_;
  std::vector<std::vector<Index>> star_;  ///< of each point: its cells
  std::vector<Sets> point_sets_;          ///< of each point
  std::vector<char> individual_set_, individual_;
  std::map<Corners, Sets> sides_;  ///< the surface, each ascending
  Index lasting_points_;
  std::shared_ptr<const OriginalShape> original_shape_;
  std::vector<Entry> journal_;
};

/// The tetrahedra of a mesh, or its triangles if it has none.
std::vector<Corners> cells_of(const Mesh& mesh);
/// The sides of one cell only, outward, in the order in which bodies number them.
std::vector<Corners> surface_of(const Mesh& mesh);
/// Gives a mesh these cells.
void set_cells(Mesh& mesh, const std::vector<Corners>& cells);

}  // namespace apart
