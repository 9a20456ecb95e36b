#include <apart/simulation/body_motion.hpp>
#include <apart/simulation/chart_dynamics.hpp>
#include <apart/simulation/rigid_velocity.hpp>

#include <Eigen/SparseCholesky>

namespace apart {

/// visit(body, its first node, number of its nodes) for those that are there and can move.
template <class Visit>
void BodyMotion::for_each_with_chart(const Visit& visit) const {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const Index first = model.first_node[b], n = body.node_count();
    if (body.chart && present[b] && !held.middleCols(first, n).all()) visit(body, first, n);
  }
}

Matrix3X BodyMotion::flight(const State& state, double time) const {
  Matrix3X q = state.nodes;
  if (model.options.integrator.scheme == Integrator::quasi_static) return q;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!present[b] || !body.is_dynamic()) continue;
    const Index first = model.first_node[b], n = body.node_count();
    const Matrix3X at = state.nodes.middleCols(first, n), v = state.velocity.middleCols(first, n);
    if (body.chart)
      q.middleCols(first, n) = body.chart->retract(at, time * ChartDynamics(body, at).rates(v));
    else
      q.middleCols(first, n) += time * v;
    q.middleCols(first, n).colwise() += 0.5 * time * time * model.options.gravity;
  }
  return q;
}

Matrix3X BodyMotion::extrapolated_charts(const State& state, double time) const {
  Matrix3X y = Matrix3X::Zero(3, model.chart.unknown_count());
  const double ratio = state.step_length > 0 ? time / state.step_length : 0;
  const Matrix3X next = state.velocity + ratio * (state.velocity - state.previous_velocity);
  for_each_with_chart([&](const Body& body, Index first, Index n) {
    y.middleCols(model.chart.unknown_of(first), body.chart->unknown_count()) =
        time * ChartDynamics(body, state.nodes.middleCols(first, n)).rates(next.middleCols(first, n));
  });
  return y;
}

Matrix3X BodyMotion::continued_nodes(const State& state, double time) const {
  Matrix3X y = Matrix3X::Zero(3, model.chart.unknown_count());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!present[b] || !body.is_dynamic() || body.chart) continue;
    const Index first = model.first_node[b], n = body.node_count();
    const Matrix3X at = state.nodes.middleCols(first, n), v = state.velocity.middleCols(first, n);
    const RigidVelocity rigid(body.mass, at, v);
    auto moved = y.middleCols(model.chart.unknown_of(first), n);
    moved = rigid.displacements(at, time);
    if (body.kind != BodyKind::affine) moved += time * (v - rigid.velocities(at));
  }
  return y;
}

void BodyMotion::predict_spin(const State& state, double time, Matrix3X& predicted) const {
  for_each_with_chart([&](const Body& body, Index first, Index n) {
    const Matrix3X at = state.nodes.middleCols(first, n);
    const Matrix3X rates = ChartDynamics(body, at).rates(state.velocity.middleCols(first, n));
    predicted.middleCols(first, n) = body.chart->free_motion(at, rates, body.mass, time);
  });
}

void BodyMotion::keep_momentum(const State& before, const Matrix3X& predicted, double dt,
                               State& after) const {
  for_each_with_chart([&](const Body& body, Index first, Index n) {
    const Matrix3X q = after.nodes.middleCols(first, n);
    const ChartDynamics was(body, before.nodes.middleCols(first, n)), is(body, q);
    const Matrix3X pushed = (q - predicted.middleCols(first, n)) / dt;
    const VectorX momentum = was.momentum(before.velocity.middleCols(first, n)) + is.momentum(pushed);
    after.velocity.middleCols(first, n) = is.velocity(is.rates_of_momentum(momentum));
  });
}

Matrix3X BodyMotion::curved_accelerations(const State& state) const {
  Matrix3X result = Matrix3X::Zero(3, model.node_count());
  for_each_with_chart([&](const Body& body, Index first, Index n) {
    const ChartDynamics dynamics(body, state.nodes.middleCols(first, n));
    result.middleCols(first, n) =
        dynamics.curved_acceleration(dynamics.rates(state.velocity.middleCols(first, n)));
  });
  return result;
}

Matrix3X gravity_of_nodes(const Model& model, const std::vector<char>& present) {
  Matrix3X gravity = Matrix3X::Zero(3, model.node_count());
  const VectorX mass = model.mass.diagonal();
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (Index n = model.first_node[b]; present[b] && n < model.first_node[b + 1]; ++n)
      if (mass[n] > 0) gravity.col(n) = model.options.gravity;
  return gravity;
}

Matrix3X accelerations(const Model& model, const Matrix3X& q, const Matrix3X& forces,
                       const ScriptedNodes::Mask& held) {
  Matrix3X result = Matrix3X::Zero(3, model.node_count());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!body.is_dynamic()) continue;
    const Index first = model.first_node[b], n = body.node_count();
    if (forces.middleCols(first, n).isZero(0)) continue;
    if (body.chart) {
      if (!held.middleCols(first, n).all())
        result.middleCols(first, n) =
            ChartDynamics(body, q.middleCols(first, n)).acceleration(forces.middleCols(first, n));
      continue;
    }
    for (int axis = 0; axis < 3; ++axis) {
      VectorX f = forces.row(axis).segment(first, n).transpose();
      std::vector<Eigen::Triplet<double>> entries;
      const auto is_held = [&](Index i) { return held(axis, first + i); };
      for (int j = 0; j < body.mass.outerSize(); ++j)
        for (Eigen::SparseMatrix<double>::InnerIterator it(body.mass, j); it; ++it)
          if (!is_held(Index(it.row())) && !is_held(Index(it.col())))
            entries.emplace_back(it.row(), it.col(), it.value());
      for (Index i = 0; i < n; ++i)
        if (is_held(i)) {
          entries.emplace_back(i, i, 1);
          f[i] = 0;
        }
      Eigen::SparseMatrix<double> mass(n, n);
      mass.setFromTriplets(entries.begin(), entries.end());
      const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(mass);
      result.row(axis).segment(first, n) = solver.solve(f).transpose();
    }
  }
  return result;
}

}  // namespace apart
