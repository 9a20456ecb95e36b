#include <support/small_scene.hpp>

#include <apart/bodies/body_rules.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <algorithm>

namespace apart::test {

std::unique_ptr<Simulation> SmallScene::simulation(std::vector<Attachment> attachments) const {
  PairTable pairs(int(bodies.size()), contact);
  PairSettings off = contact;
  off.enabled = false;
  for (std::size_t a = 0; a < bodies.size(); ++a)
    for (std::size_t b = a; b < bodies.size(); ++b)
      if (!can_touch(bodies[a], bodies[b])) pairs.set(int(a), int(b), off);
  return std::make_unique<Simulation>(
      std::make_shared<Model>(bodies, pairs, options, std::move(attachments)));
}

Mesh moved(Mesh mesh, const Vector3& by) {
  mesh.points.colwise() += by;
  return mesh;
}

Mesh turned(Mesh mesh, const Vector3& axis, double radians) {
  mesh.points = Eigen::AngleAxisd(radians, axis.normalized()).toRotationMatrix() * mesh.points;
  return mesh;
}

std::vector<Index> points_where(const Body& body, const std::function<bool(const Vector3&)>& chosen) {
  std::vector<Index> result;
  for (Index p = 0; p < body.mesh.point_count(); ++p)
    if (chosen(body.mesh.points.col(p))) result.push_back(p);
  return result;
}

FacetSet all_facets(Body& body) {
  return facets_where(body, [](const Vector3&) { return true; });
}

FacetSet facets_where(Body& body, const std::function<bool(const Vector3&)>& chosen) {
  std::vector<Index> facets;
  for (Index f = 0; f < body.surface_faces.cols(); ++f) {
    const auto corners = body.surface_faces.col(f);
    if (std::all_of(corners.begin(), corners.end(), [&](int p) { return chosen(body.mesh.points.col(p)); }))
      facets.push_back(f);
  }
  return body.sets.add_facets("facets", std::move(facets));
}

Material soft(double young, double poisson) {
  return NeoHookean{lame_parameters(young, poisson)};
}

ShellSubstance cotton(double membrane_scale) {
  ShellSubstance s;
  s.membrane = KoiterMembrane{plane_stress_parameters(membrane_scale * 8.21e5, 0.243)};
  s.density = 472.64;
  s.thickness = 3.18e-4;
  s.bending_young = 8.21e5;
  s.bending_poisson = 0.243;
  return s;
}

void expect_same_bits(const State& a, const State& b) {
  for_each_member([](const char* name, const auto& one, const auto& other) { EXPECT_EQ(one, other) << name; },
                  a, b);
}

Vector3 linear_momentum(const Simulation& s) {
  return (s.state().velocity * s.model().mass).rowwise().sum();
}

Vector3 angular_momentum(const Simulation& s) {
  const Matrix3X p = s.state().velocity * s.model().mass;
  Vector3 l = Vector3::Zero();
  for (Index i = 0; i < p.cols(); ++i) l += Vector3(s.state().nodes.col(i)).cross(Vector3(p.col(i)));
  return l;
}

Vector3 centre_of_mass(const Simulation& s, int body) {
  const Model& m = s.model();
  const VectorX weights = m.bodies[body].mass * VectorX::Ones(m.bodies[body].node_count());
  return s.state().nodes.middleCols(m.first_node[body], m.bodies[body].node_count()) * weights /
         weights.sum();
}

}  // namespace apart::test
