#pragma once
#include <apart/simulation/model.hpp>
#include <apart/simulation/scripted_nodes.hpp>

namespace apart {

/// What inertia and gravity do with each body by itself: in its nodes or, where it has a chart, in its
/// unknowns.
struct BodyMotion {
  const Model& model;
  const std::vector<char>& present;  ///< one entry per body
  const ScriptedNodes::Mask& held;

  /// Where nodes would be `time` [s] after `state` by their velocity and gravity alone [m].
  Matrix3X flight(const State& state, double time) const;
  /// A step of the unknowns of bodies with charts during `time` [s] if their accelerations stay as they were
  /// in the step before; zero for others.
  Matrix3X extrapolated_charts(const State& state, double time) const;
  /// The same of bodies without charts if their velocities stay: each rotates about its centre while it
  /// deforms, so that spin does not stretch it. Affine ones move rigidly, since they are stiff.
  Matrix3X continued_nodes(const State& state, double time) const;
  /// Replaces the prediction q̃ of bodies with charts by that of their free motion: of a rigid body with its
  /// angular momentum.
  void predict_spin(const State& state, double time, Matrix3X& predicted) const;
  /// Sets velocities of bodies with charts from their momentum before the step and what forces have added to
  /// it in its `dt` [s]: with the prediction q̃ of free motion they have moved the nodes by M (q − q̃)/h.
  void keep_momentum(const State& before, const Matrix3X& predicted, double dt, State& after) const;
  /// Of bodies with charts that go on at constant rates of their unknowns: on a circle, towards its centre
  /// [m/s²]. Zero for others.
  Matrix3X curved_accelerations(const State& state) const;

 private:
  template <class Visit>
  void for_each_with_chart(const Visit& visit) const;
};

/// Acceleration of every node of the bodies that are there by gravity [m/s²]; zero where there is no mass.
Matrix3X gravity_of_nodes(const Model& model, const std::vector<char>& present);

/// M a = f at nodes q, in the coordinates that are not held and, of bodies with a chart, in their unknowns; a
/// = 0 in the others and where there is no mass.
Matrix3X accelerations(const Model& model, const Matrix3X& q, const Matrix3X& forces,
                       const ScriptedNodes::Mask& held);

}  // namespace apart
