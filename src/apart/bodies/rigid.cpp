#include <apart/bodies/body.hpp>
#include <apart/bodies/body_maker.hpp>
#include <apart/bodies/control_tetrahedron.hpp>
#include <apart/bodies/rigid_chart.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/math/principal_axes.hpp>

#include <algorithm>

namespace apart {

namespace {

// A straight rod has no moment of inertia about itself, a point none at all. Second moments are raised to
// those of a body whose thickness is this share of its length.
constexpr double least_thickness = 1e-3;

/// S with at least two second moments that are not too small: with those a body resists turning about every
/// axis.
Matrix3 regularised(const MassDistribution& mass, double arm) {
  auto [moments, axes] = principal_axes(mass.second_moment);
  const double least = mass.mass * (least_thickness * arm) * (least_thickness * arm);
  if (moments[1] >= least) return mass.second_moment;
  moments = moments.cwiseMax(least);
  return axes * moments.asDiagonal() * axes.transpose();
}

}  // namespace

Body make_rigid(std::string name, Mesh mesh, MassDistribution mass, const RigidFreedom& freedom) {
  Body body;
  body.name = std::move(name);
  body.kind = BodyKind::rigid;
  body.mesh = std::move(mesh);
  set_surface(body);
  if (!(mass.mass > 0))
    throw InputError("body '{}': its mass is {} kg, must be positive; orient its closed surface outward",
                     body.name, mass.mass);
  const ControlTetrahedron control = ControlTetrahedron::around(body.mesh.points, mass.centre);
  mass.second_moment = regularised(mass, control.arm);
  body.nodes = control.nodes();
  body.velocity = Matrix3X::Zero(3, 4);
  body.point_map = control.map(body.mesh.points);
  body.mass = control.mass(mass).sparseView();
  body.chart = std::make_shared<RigidChart>(control.arm, freedom.translation, freedom.rotation);
  body.encloses_volume = body.mesh.is_volume() || is_closed_surface(body.mesh);
  return body;
}

}  // namespace apart
