#pragma once
#include <apart/remesh/patch.hpp>
#include <apart/remesh/remeshing.hpp>
#include <apart/remesh/screening.hpp>
#include <apart/remesh/sizing_field.hpp>

namespace apart {

/// One body in one pass: chooses operations and does them on a copy of its mesh.
class BodyPass {
 public:
  /// Keeps references.
  BodyPass(const SolvedStep& step, const PlacedSurface& placed, const RemeshOptions& options);

  /// Splits edges and then, away from these, collapses others if asked to: the youngest points first, so that
  /// collapses lead back to the mesh that splits began with. Then swaps cells and moves points, as the
  /// options say.
  void improve(bool collapses);

  bool changed() const { return editor_.operation_count() > 0; }
  const RemeshReport& report() const { return report_; }
  const std::vector<std::array<Index, 2>>& split() const { return split_; }  ///< edges
  /// Removed points, each with the one that it was moved onto.
  const std::vector<std::array<Index, 2>>& collapsed() const { return collapsed_; }
  /// Whether some fields have no equal on the new mesh.
  bool projects() const { return report_.collapses + report_.swaps + report_.moves > 0; }
  /// Whether the rest shape may have changed.
  bool reshapes() const { return editor_.has_tolerance() && report_.collapses > 0; }
  /// Where a point is in the mesh with what was split and nothing else.
  Blend place(Index point) const;
  /// That mesh, if there is anything split and anything else.
  const std::optional<BodyShape>& split_shape() const { return split_shape_; }
  /// How far trials have shifted points [m], by the editor's numbers.
  const std::map<Index, Vector3>& shifts() const { return shifts_; }
  MeshEditor::Result result() const { return editor_.result(); }

 private:
  enum class Kind { split, collapse, swap, move };
  /// A split of the edge of two points, a collapse of the first onto the second, a swap that removes what the
  /// points span, or a move of the first towards the second.
  struct Operation {
    Kind kind;
    Corners points;
    double order;      ///< the larger, the sooner it is tried
    double share = 0;  ///< of the way, of a move
    Blend target() const { return {points[0], points[1], share}; }
  };
  /// A trial that is ready to be evaluated.
  struct Trial {
    Operation operation;
    PatchMesh before, after;
    std::vector<Index> cells;  ///< own_cells
    PatchTrial::Outcome outcome;
  };
  MeshEditor::Source source() const;
  std::vector<PointSet> attached_sets() const;
  std::vector<char> pinned_points() const;

  double least_gain(Kind kind) const;
  std::vector<Operation> hopeful(Kind kind) const;
  std::vector<Operation> wanted_by_field(Kind kind) const;
  Refusal apply(const Operation& o);
  std::vector<Index> changed_cells(const Operation& o) const;
  std::vector<Index> own_cells(const Operation& o) const;
  std::optional<Trial> make_trial(const Operation& o, const std::vector<char>& taken);
  bool waits(const Operation& o, const std::vector<char>& taken) const;
  bool within_limits(const PatchMesh& patch) const;
  bool is_accepted(const Trial& trial) const;
  Aabb swept_box(const Operation& o) const;
  bool meets_swept(const Operation& o) const;
  void try_all(std::vector<Operation> open);
  void carry_out(const Trial& trial);

  const SolvedStep step_;
  const PlacedSurface& placed_;
  const RemeshOptions& options_;
  const Body& body_;
  MeshEditor editor_;
  std::vector<char> pinned_;
  std::optional<SizingField> field_;  ///< if it decides
  std::vector<SplitEstimate> split_estimates_;
  RemeshReport report_;
  std::vector<std::array<Index, 2>> split_, collapsed_;
  std::map<Index, Blend> moved_;
  std::optional<BodyShape> split_shape_;
  std::vector<char> blocked_;  ///< own cells of accepted operations
  std::vector<char> changed_;  ///< cells that operations of other kinds have changed
  std::map<Index, Vector3> shifts_;
  std::vector<Aabb> swept_;  ///< by collapses of a shell that were accepted
};

}  // namespace apart
