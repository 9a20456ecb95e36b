#pragma once
// A few lines make a simulation: bodies, one set of pair settings, options.
#include <apart/simulation/simulation.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace apart::test {

struct SmallScene {
  std::vector<Body> bodies;
  PairSettings contact{.enabled = true, .friction = 0, .dhat = 1e-3, .thickness = 0};
  SimulationOptions options;

  SmallScene() {
    options.dt = 0.01;
    options.solver.tolerance = 1e-6;
  }
  /// Obstacles and half-spaces do not collide with each other, affine bodies not with themselves, as in scene
  /// files.
  std::unique_ptr<Simulation> simulation(std::vector<Attachment> attachments = {}) const;
};

/// Moves a mesh.
Mesh moved(Mesh mesh, const Vector3& by);
Mesh turned(Mesh mesh, const Vector3& axis, double radians);

/// Mesh points of a body that satisfy a condition on their initial place.
std::vector<Index> points_where(const Body& body, const std::function<bool(const Vector3&)>& chosen);

/// The set of all triangles of a body's surface.
FacetSet all_facets(Body& body);
/// Those all corners of which satisfy a condition on their initial place.
FacetSet facets_where(Body& body, const std::function<bool(const Vector3&)>& chosen);

Material soft(double young = 1e5, double poisson = 0.4);
/// Cotton of the published scenes, which soften its membrane [C-IPC §6.1]; without a limit of
/// its stretch.
ShellSubstance cotton(double membrane_scale = 1);
constexpr double cotton_limit = 1.0608;  ///< largest stretch there

/// Fails the current test if the state is not intersection-free by exact predicates, or a guarded element is
/// inverted, or a gap smaller than its thickness.
void expect_intersection_free(const Simulation& simulation);

/// Every member.
void expect_same_bits(const State& a, const State& b);

Vector3 linear_momentum(const Simulation& simulation);   ///< [kg m/s]
Vector3 angular_momentum(const Simulation& simulation);  ///< about the origin [kg m²/s]
Vector3 centre_of_mass(const Simulation& simulation, int body);

}  // namespace apart::test
