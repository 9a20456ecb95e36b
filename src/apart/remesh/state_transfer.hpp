#pragma once
#include <apart/potentials/grip.hpp>
#include <apart/remesh/field_transfer.hpp>
#include <apart/simulation/remesher.hpp>

namespace apart {

/// Carries fields of all nodes, and what vertices remember of contact, from one model to the next.
class NodeFieldTransfer {
 public:
  virtual ~NodeFieldTransfer() = default;
  /// Where the vertices of contact are.
  virtual VertexRenumbering vertices() const = 0;
  /// Without corrections: means at new points, and the values of those that remain.
  virtual Matrix3X restricted(const Matrix3X& field) const = 0;
  /// What is to be added to keep momentum, zero where `held`.
  virtual Matrix3X correction(const Matrix3X& field, const CollapseTransfer::Mask& held) const = 0;
  /// Whether some fields have no equal on the new meshes.
  virtual bool projects() const = 0;
  /// Bodies whose rest shape may be another on the new meshes.
  virtual std::vector<int> reshaped() const = 0;
};

/// Carries the state at the beginning of a step over to made.before, for made.model. False if it would
/// intersect itself there.
bool carry_state(const SolvedStep& step, const NodeFieldTransfer& transfer, RemeshedStep& made);

}  // namespace apart
