// Contact weighted by area: pressures and forces of contact mechanics, whatever the meshes.
#include <apart/bodies/collision_skin.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/io/frame.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <cmath>
#include <numbers>

namespace apart::test {
namespace {

SmallScene pressing_scene(ContactFormulation formulation, double dhat) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.gravity.setZero();
  scene.options.contact.formulation = formulation;
  scene.contact.dhat = dhat;
  return scene;
}

/// Moves points straight along y, by `amount` [m] in the first second.
Motion along_y(double amount) {
  return rigid_motion([amount](double time) {
    Pose pose;
    pose.translation.y() = amount * std::min(time, 1.0);
    return pose;
  });
}

/// Two blocks of unit height and width, meshed with different numbers of cells, one pressed on the other
/// between frictionless plates. Both have ν = 0, so stress is the same everywhere.
struct PressedBlocks {
  double mean = 0;    ///< of the von Mises stress [Pa]
  double spread = 0;  ///< largest deviation of a cell's stress from the mean, as a share of it
  double force = 0;   ///< through the contact [N]
  double strain = 0;  ///< that the plates leave, with the gap that contact keeps
};
PressedBlocks press_blocks(ContactFormulation formulation, int below, int above) {
  const double dhat = 2e-3;
  SmallScene scene = pressing_scene(formulation, dhat);
  const auto block = [&](const char* name, int n, double y) {
    return make_volume(name, moved(generate::box({1, 1, 1}, {n, n, n}), {0, y, 0}), soft(1e6, 0), 1000,
                       MassKind::lumped);
  };
  scene.bodies.push_back(block("below", below, 0.5));
  scene.bodies.push_back(block("above", above, 1.5 + 0.9 * dhat));
  const auto bottom = points_where(scene.bodies[0], [](const Vector3&x) { return x[1] < 1e-9; }),
             top = points_where(scene.bodies[1], [](const Vector3&x) { return x[1] > 1.9; });
  add_script(scene.bodies[0], &bottom, {true, true, true}, {});
  add_script(scene.bodies[1], &top, {true, true, true}, along_y(-0.02));
  scene.options.dt = 0.5;
  auto s = scene.simulation();
  s->step();
  const double gap = s->step().gap_share * dhat;
  const VectorX stress = s->frame().von_mises;
  PressedBlocks result;
  result.mean = stress.mean();
  result.spread = (stress.array() - result.mean).abs().maxCoeff() / result.mean;
  result.force = s->measure({"", Probe::Kind::contact, {1}, {0}, {}})[1];
  result.strain = (0.02 - 0.9 * dhat + gap) / 2;
  return result;
}

TEST(ConvergentContact, PassesThePatchTestThroughBlocksWithDifferentMeshes) {
  const PressedBlocks equal = press_blocks(ContactFormulation::convergent, 3, 3),
                      finer = press_blocks(ContactFormulation::convergent, 3, 4);
  for (const PressedBlocks& p : {equal, finer}) {
    EXPECT_NEAR(p.mean, 1e6 * p.strain, 0.03e6 * p.strain);
    EXPECT_NEAR(p.force, p.mean, 0.02 * p.mean) << "on one square metre";
    EXPECT_LT(p.spread, 0.1);
  }
  EXPECT_NEAR(finer.force, equal.force, 0.02 * equal.force);
}

/// A ball of radius 0.1 m pressed between two plates, each of which approaches its centre by `approach` [m].
struct Hertz {
  double force = 0;     ///< [N]
  double approach = 0;  ///< of the plates' surface, which contact keeps away, to the centre [m]
  double radius = 0;    ///< of the contact, from the mean squared distance of forces from the axis [m]
};
std::vector<Hertz> press_ball(ContactFormulation formulation, int layers,
                              const std::vector<double>& approaches) {
  const double R = 0.1, dhat = 2e-4;
  SmallScene scene = pressing_scene(formulation, dhat);
  scene.bodies.push_back(
      make_volume("ball", generate::sphere(R, layers), soft(1e6, 0.3), 1000, MassKind::lumped));
  const auto towards = [&](double sign) {
    return rigid_motion([=](double time) {
      const double step = std::min(time * double(approaches.size()), double(approaches.size()));
      const int whole = std::min(int(step), int(approaches.size()) - 1);
      const double from = whole > 0 ? approaches[std::size_t(whole) - 1] : 0.0;
      Pose pose;
      pose.translation.y() = sign * (from + (step - whole) * (approaches[std::size_t(whole)] - from));
      return pose;
    });
  };
  scene.bodies.push_back(make_half_space("floor", {0, -R - dhat, 0}, Vector3::UnitY(), towards(1)));
  scene.bodies.push_back(make_half_space("lid", {0, R + dhat, 0}, -Vector3::UnitY(), towards(-1)));
  scene.options.dt = 1.0 / double(approaches.size());
  auto s = scene.simulation();
  std::vector<Hertz> result;
  for (const double approach : approaches) {
    const StepReport report = s->step();
    const Frame frame = s->frame();
    Hertz h;
    double moment = 0;
    for (Index p = 0; p < s->model().first_point[1]; ++p) {
      const double f = frame.contact_force(1, p);
      if (f <= 0) continue;
      h.force += f;
      moment += f * (frame.mesh.points(0, p) * frame.mesh.points(0, p) +
                     frame.mesh.points(2, p) * frame.mesh.points(2, p));
    }
    // Of the pressure (1 − r²/a²)^½ the mean of r² is 2a²/5.
    h.radius = std::sqrt(2.5 * moment / h.force);
    h.approach = approach - dhat + report.gap_share * dhat;
    result.push_back(h);
  }
  return result;
}

double hertz_force(double approach) {  // F = 4/3 E* √R δ^1.5
  return 4.0 / 3 * 1e6 / (1 - 0.09) * std::sqrt(0.1) * std::pow(approach, 1.5);
}

TEST(ConvergentContact, ABallIsPressedFlatAsHertzSays) {
  const std::vector<Hertz> h = press_ball(ContactFormulation::convergent, 6, {4e-3, 8e-3});
  const double exponent = std::log(h[1].force / h[0].force) / std::log(h[1].approach / h[0].approach);
  EXPECT_NEAR(exponent, 1.5, 0.15);
  EXPECT_NEAR(h[1].force / hertz_force(h[1].approach), 1, 0.2);
  EXPECT_NEAR(h[1].radius / std::sqrt(0.1 * h[1].approach), 1, 0.15);
}

// A ball between plates is no half-space: what presses on the other side moves the centre and both contacts.
// F of the approach of one plate to the centre, with the part of that for a linear material [Tatara 1991].
double force_between_plates(double approach) {
  const double R = 0.1, E = 1e6, nu = 0.3;
  const auto approach_of = [&](double force) {
    const double a = std::cbrt(0.75 * (1 - nu * nu) * force * R / E), far = 4 * R * R + a * a;
    return 0.75 * (1 - nu * nu) * force / (E * a) -
           force / (std::numbers::pi * E) *
               (2 * (1 + nu) * R * R / std::pow(far, 1.5) + (1 - nu * nu) / std::sqrt(far));
  };
  double low = 0, high = 4 * hertz_force(approach);
  for (int i = 0; i < 60; ++i) (approach_of(0.5 * (low + high)) < approach ? low : high) = 0.5 * (low + high);
  return low;
}

TEST(ConvergentContact, ABallBetweenPlatesConvergesToTheForceOfItsSize) {
  struct {
    int layers;
    double force, radius;  ///< largest errors
  } const bounds[] = {{4, 0.1, 0.25}, {6, 0.04, 0.06}, {9, 0.02, 0.04}};
  for (const auto& [layers, force, radius] : bounds) {
    const Hertz h = press_ball(ContactFormulation::convergent, layers, {4e-3, 8e-3})[1];
    EXPECT_NEAR(h.force / force_between_plates(h.approach), 1, force) << layers;
    EXPECT_NEAR(h.radius / std::sqrt(0.1 * h.approach), 1, radius) << layers;
  }
}

/// What lies on a floor of triangles, or on a half-space, after 0.6 s.
struct AtRest {
  double force = 0, weight = 0;  ///< [N]
  double gap_share = 0;          ///< of d̂
};
AtRest lay_down(const Body& body, double thickness, bool on_mesh) {
  SmallScene scene;
  scene.options.contact.formulation = ContactFormulation::convergent;
  scene.contact.thickness = thickness;
  scene.bodies = {on_mesh ? make_obstacle("floor", generate::grid(1, 1, 3, 3))
                          : make_half_space("floor", Vector3::Zero(), Vector3::UnitY()),
                  body};
  auto s = scene.simulation();
  StepReport report;
  for (int step = 0; step < 60; ++step) report = s->step();
  expect_intersection_free(*s);
  return {s->measure({"", Probe::Kind::contact, {1}, {0}, {}})[1], 9.81 * total_mass(s->model().bodies[1]),
          report.gap_share};
}

TEST(ConvergentContact, CarriesTheWeightOfBodiesOfEveryKind) {
  const double gap = 6e-4, thick = 5e-3;
  const Mesh box = moved(generate::box({0.2, 0.1, 0.2}, {2, 1, 2}), {0.03, 0.05 + gap, 0.02}),
             cage = moved(generate::box({0.22, 0.22, 0.22}, {1, 1, 1}), {0, 0.1 + gap, 0}),
             ball = moved(generate::sphere(0.1, 4, generate::Content::surface), {0, 0.1 + gap, 0}),
             row = moved(generate::points({3, 1, 3}, 0.03), {0, thick + gap, 0});
  const auto skinned = [&](Body body) { return with_collision_skin(std::move(body), ball, "skin").body; };
  const std::vector<Body> solids = {make_volume("volume", box, soft(1e6), 1000, MassKind::lumped),
                                    make_affine("affine", box, Orthogonality{1e8}, 1000),
                                    make_rigid("rigid", box, mass_distribution(box, 1000)),
                                    skinned(make_volume("proxy", cage, soft(1e6), 1000, MassKind::lumped)),
                                    skinned(make_affine("affine proxy", cage, Orthogonality{1e8}, 1000)),
                                    skinned(make_rigid("rigid proxy", cage, mass_distribution(cage, 1000)))};
  const std::vector<Body> thin = {
      make_shell("shell", moved(generate::grid(0.3, 0.2, 5, 4), {0.01, thick + gap, 0.02}), cotton()),
      make_rod("rod", moved(generate::segments(0.3, 6), {0.01, thick + gap, 0.02}),
               {.density = 1000, .young = 1e6, .radius = thick}, RestCurvature::mesh),
      make_particles("particles", row, thick, 1000)};
  for (const bool on_mesh : {true, false}) {
    for (const std::vector<Body>* bodies : {&solids, &thin})
      for (const Body& body : *bodies) {
        const AtRest r = lay_down(body, bodies == &thin ? thick : 0, on_mesh);
        EXPECT_NEAR(r.force, r.weight, 0.01 * r.weight) << body.name << (on_mesh ? " on a mesh" : "");
        EXPECT_GT(r.gap_share, 0.2) << body.name;
        EXPECT_LT(r.gap_share, 1) << body.name;
      }
  }
}

// A rigid punch on a layer of ν = 0 that is glued to the ground: pressure is the same everywhere.
TEST(ConvergentContact, AFlatPunchPressesEvenlyWhateverTheMeshesOnEitherSide) {
  const double dhat = 1e-3, side = 0.2, deep = 0.02, young = 1e6, indentation = 1e-3;
  for (const auto& [below, above] : {std::pair{6, 2}, std::pair{6, 5}, std::pair{6, 12}, std::pair{12, 4}}) {
    SmallScene scene = pressing_scene(ContactFormulation::convergent, dhat);
    scene.options.dt = 1;
    Body layer =
        make_volume("layer", moved(generate::box({side, deep, side}, {below, 2, below}), {0, -deep / 2, 0}),
                    soft(young, 0), 1000, MassKind::lumped);
    const auto bottom = points_where(layer, [&](const Vector3& x) { return x[1] < -0.99 * deep; });
    add_script(layer, &bottom, {true, true, true}, {});
    scene.bodies = {layer, make_obstacle("punch",
                                         moved(generate::box({1.5 * side, 0.05, 1.5 * side},
                                                             {above, 1, above}, generate::Content::surface),
                                               {0.013, 0.025 + 0.99 * dhat, 0.007}),
                                         along_y(-indentation - 0.5 * dhat))};
    auto s = scene.simulation();
    const StepReport report = s->step();
    const double stretch = 1 - (indentation - 0.49 * dhat + report.gap_share * dhat) / deep,
                 pressure = young / 2 * (1 / stretch - stretch);
    const Frame frame = s->frame();
    const Body& body = s->model().bodies[0];
    VectorX area = VectorX::Zero(body.mesh.point_count());
    for (const auto& face : body.surface_faces.colwise()) {
      if (body.mesh.points(1, face[0]) + body.mesh.points(1, face[1]) + body.mesh.points(1, face[2]) < -1e-9)
        continue;
      for (const int p : face) area[p] += side * side / (2 * below * below) / 3;
    }
    double force = 0;
    for (Index p = 0; p < body.mesh.point_count(); ++p) {
      force -= frame.contact_force(1, p);
      if (area[p] > 0) {
        EXPECT_NEAR(-frame.contact_force(1, p) / area[p], pressure, 0.02 * pressure) << below << " " << above;
      }
    }
    EXPECT_NEAR(force, pressure * side * side, 0.002 * force) << below << " " << above;
  }
}

}  // namespace
}  // namespace apart::test
