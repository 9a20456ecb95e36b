#include <apart/core/error.hpp>
#include <apart/simulation/scripted_nodes.hpp>

namespace apart {

ScriptedNodes::ScriptedNodes(const Model& model) : model_(model), mask_(3, model.node_count()) {
  mask_.setConstant(false);
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (const Prescription& p : model.bodies[b].prescriptions)
      for (const Index n : p.nodes)
        for (int axis = 0; axis < 3; ++axis) mask_(axis, model.first_node[b] + n) |= p.axes[axis];
}

Matrix3X ScriptedNodes::apply(Matrix3X q, double time) const {
  for (std::size_t b = 0; b < model_.bodies.size(); ++b)
    for (const Prescription& p : model_.bodies[b].prescriptions) {
      const Pose pose = p.motion ? p.motion(time) : Pose{};
      if (!pose.rotation.allFinite() || !pose.translation.allFinite() || !pose.centre.allFinite())
        throw SolverError(
            fmt::format("the scripted motion of '{}' is not a finite number at t = {:.6g} s; mend its "
                        "formula or end the run before",
                        model_.bodies[b].name, time));
      for (const Index n : p.nodes) {
        const Index node = model_.first_node[b] + n;
        const Vector3 start = model_.initial_nodes.col(node);
        const Vector3 target = p.motion ? pose.apply(start) : start;
        for (int axis = 0; axis < 3; ++axis)
          if (p.axes[axis]) q(axis, node) = target[axis];
      }
    }
  return q;
}

}  // namespace apart
