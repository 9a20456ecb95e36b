#include <apart/remesh/state_transfer.hpp>

#include <apart/collision/collision_detection.hpp>

namespace apart {

namespace {

/// Of each vertex; what acted on one that is gone acts on the one that it was moved onto.
Matrix3X carried_forces(const Matrix3X& forces, const VertexRenumbering& to, Index vertex_count) {
  Matrix3X result = Matrix3X::Zero(3, vertex_count);
  for (Index v = 0; v < forces.cols(); ++v)
    if (const Index now = to.now(v); now >= 0) result.col(now) += forces.col(v);
  return result;
}

/// What is missing in ∫ρ u of a body whose rest shape has changed, as a constant field; along axes in which
/// no point is held.
Matrix3X missing_mean(const Body& before, const Body& after, const Matrix3X& field_before,
                      const Matrix3X& field, const CollapseTransfer::Mask& held) {
  const auto sum_of = [](const Body& body, const Matrix3X& u) {
    return Vector3((u * body.mass).rowwise().sum());
  };
  const Vector3 missing = (sum_of(before, field_before) - sum_of(after, field)) / total_mass(after);
  Matrix3X result = Matrix3X::Zero(3, field.cols());
  for (int axis = 0; axis < 3; ++axis)
    if (!held.row(axis).any()) result.row(axis).setConstant(missing[axis]);
  return result;
}

}  // namespace

bool carry_state(const SolvedStep& step, const NodeFieldTransfer& transfer, RemeshedStep& made) {
  const Model& model = *made.model;
  const Index nodes = step.problem.model.node_count();
  made.before = step.before;
  for_each_member(
      [&]<class Member>(std::string_view, Member& member) {
        if constexpr (std::is_same_v<Member, Matrix3X>)
          if (member.cols() == nodes) member = transfer.restricted(member);
      },
      made.before);
  const VertexRenumbering vertices = transfer.vertices();
  if (step.before.friction.cols() > 0)
    made.before.friction = carried_forces(step.before.friction, vertices, model.surface.vertex_count());
  made.before.grips = Grips::carried(step.before.grips, vertices);
  const auto is_free = [&](const Matrix3X& q) {
    return !self_intersects(model.surface, model.surface_map.positions(q));
  };
  if (!is_free(made.nodes) || !is_free(made.before.nodes) || !is_free(made.before.previous_nodes))
    return false;
  if (!transfer.projects()) return true;

  const CollapseTransfer::Mask held = ScriptedNodes(model).mask(step.problem.end_time);
  for (Matrix3X State::*field :
       {&State::velocity, &State::acceleration, &State::mean_acceleration, &State::previous_velocity}) {
    const Matrix3X& old = step.before.*field;
    Matrix3X& carried = made.before.*field;
    carried += transfer.correction(old, held);
    for (const int b : transfer.reshaped()) {
      const Model& from = step.problem.model;
      const Body &before = from.bodies[std::size_t(b)], &after = model.bodies[std::size_t(b)];
      auto part = carried.middleCols(model.first_node[std::size_t(b)], after.node_count());
      part +=
          missing_mean(before, after, old.middleCols(from.first_node[std::size_t(b)], before.node_count()),
                       part, held.middleCols(model.first_node[std::size_t(b)], after.node_count()));
    }
  }
  // Positions go towards their projection as far as nothing touches or inverts, and half of that way if
  // they cannot go all of it.
  Timings timings;
  StepTerms terms(model, step.problem.present, timings);
  const Objective objective(model.surface_map, model.chart, terms.list());
  for (Matrix3X State::*field : {&State::nodes, &State::previous_nodes}) {
    Matrix3X& q = made.before.*field;
    const Matrix3X way = transfer.correction(step.before.*field, held);
    const double share = objective.feasible_step(Path{q, way});
    q += (share < 1 ? 0.5 * share : 1.0) * way;
  }
  return true;
}

}  // namespace apart
