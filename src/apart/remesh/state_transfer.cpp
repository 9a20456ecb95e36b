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
       {&State::velocity, &State::acceleration, &State::mean_acceleration, &State::previous_velocity})
    made.before.*field += transfer.correction(step.before.*field, held);
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
