#include <apart/core/error.hpp>
#include <apart/simulation/scripted_nodes.hpp>

namespace apart {

ScriptedNodes::ScriptedNodes(const Model& model) : model_(model) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (const Prescription& p : model.bodies[b].prescriptions) {
      const bool late = p.when.from > 0;
      places_.push_back({b, &p, late ? anchor_count_ : -1});
      if (late) anchor_count_ += Index(p.nodes.size());
    }
}

ScriptedNodes::Mask ScriptedNodes::mask(double time) const {
  Mask mask = Mask::Constant(3, model_.node_count(), false);
  for (const Place& place : places_) {
    if (!place.prescription->when.covers(time)) continue;
    for (const Index n : place.prescription->nodes)
      for (int axis = 0; axis < 3; ++axis)
        mask(axis, model_.first_node[place.body] + n) |= place.prescription->axes[axis];
  }
  return mask;
}

Matrix3X ScriptedNodes::apply(Matrix3X q, const Matrix3X& anchors, double time) const {
  for (const Place& place : places_) {
    const Prescription& p = *place.prescription;
    if (!p.when.covers(time) || !model_.bodies[place.body].presence.covers(time)) continue;
    const Index first = model_.first_node[place.body];
    Matrix3X target(3, Index(p.nodes.size()));
    for (Index i = 0; i < target.cols(); ++i)
      target.col(i) = place.first_anchor < 0 ? Vector3(model_.initial_nodes.col(first + p.nodes[i]))
                                             : Vector3(anchors.col(place.first_anchor + i));
    if (p.motion) target = p.motion(target, time - p.when.from);
    if (!target.allFinite())
      throw SolverError(fmt::format(
          "the scripted motion of '{}' is not a finite number at t = {:.6g} s; mend its formula or "
          "end the run before",
          model_.bodies[place.body].name, time));
    for (Index i = 0; i < target.cols(); ++i)
      for (int axis = 0; axis < 3; ++axis)
        if (p.axes[axis]) q(axis, first + p.nodes[i]) = target(axis, i);
  }
  return q;
}

Matrix3X ScriptedNodes::anchors(const State& state, double time) const {
  Matrix3X result = state.anchors;
  ensure(result.cols() == anchor_count_ || (result.cols() == 0 && state.step == 0),
         "ScriptedNodes: the state has other conditions than the model");
  if (result.cols() == 0) result = Matrix3X::Zero(3, anchor_count_);
  for (const Place& place : places_) {
    const Prescription& p = *place.prescription;
    if (place.first_anchor < 0 || !p.when.covers(time) || p.when.covers(state.time)) continue;
    for (Index i = 0; i < Index(p.nodes.size()); ++i)
      result.col(place.first_anchor + i) = state.nodes.col(model_.first_node[place.body] + p.nodes[i]);
  }
  return result;
}

}  // namespace apart
