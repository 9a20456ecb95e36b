#include <apart/remesh/screening_parts.hpp>

#include <Eigen/LU>
#include <algorithm>

namespace apart {

ContactForces::ContactForces(const SolvedStep& step, int b, Index node_count) {
  at_points = Matrix3X::Zero(3, node_count);
  const Model& model = step.problem.model;
  const BarrierContact& contact = step.problem.terms.contact;
  const Index first_point = model.first_point[std::size_t(b)];
  for (Index i = 0; i < contact.term_count(); ++i) {
    const auto [one, two] = contact.bodies_of(i);
    if (one != b && two != b) continue;
    const BarrierContact::NormalForce force = contact.normal_force(i, step.problem.objective.vertices());
    for (const double side : {1.0, -1.0}) {
      if ((side > 0 ? one : two) != b) continue;
      Load load{{}, -side * force.magnitude * force.direction};
      for (int k = 0; k < force.points.size; ++k)
        if (side * force.weights[k] > 0)
          load.shares.emplace_back(
              model.surface_point[std::size_t(force.points.ids[std::size_t(k)])] - first_point,
              side * force.weights[k]);
      if (load.shares.size() == 1)
        at_points.col(load.shares[0].first) += load.derivative;
      else
        loads.push_back(std::move(load));
    }
  }
}

double quadratic_gain(const MidpointForces& m, Eigen::Array<bool, 3, 1> held, int dimension) {
  Matrix3 h = m.stiffness;
  // What contact presses on can move only along it: the barrier is far stiffer than the body.
  if (const double pressing = m.pressing.squaredNorm(); pressing > 0)
    h += 1e3 * h.trace() / pressing * m.pressing * m.pressing.transpose();
  Vector3 g = m.force + m.pressing;
  held[2] |= dimension == 2;
  for (int axis = 0; axis < 3; ++axis)
    if (held[axis]) {
      g[axis] = 0;
      h.row(axis).setZero();
      h.col(axis).setZero();
      h(axis, axis) = 1;
    }
  const double determinant = h.determinant();
  return determinant > 0 ? 0.5 * g.dot(h.inverse() * g) : 0;
}

std::optional<std::array<Index, 2>> ends_of_split(const MeshEditor& editor, Index point,
                                                  const std::vector<Index>& neighbours) {
  const Vector3& x = editor.position(0, point);
  for (const Index a : neighbours)
    for (const Index b : neighbours)
      if (a < b && Vector3(0.5 * (editor.position(0, a) + editor.position(0, b))) == x) return {{a, b}};
  return std::nullopt;
}

}  // namespace apart
