// Contact weighted by area keeps the contract of potentials, also where weights are negative.
#include <apart/collision/broad_phase.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/potentials/friction.hpp>

#include <gtest/gtest.h>
#include <support/potential_checks.hpp>
#include <support/random.hpp>

#include <algorithm>

namespace apart::test {
namespace {

/// A fan of six triangles around a vertex at `hub` above the plane of its corners, and a tetrahedron whose
/// lowest corner is at `tip`, as two bodies.
struct FanAndTip {
  FanAndTip(double hub, const Vector3& tip, const PairSettings& settings) {
    Matrix3X x(3, 11);
    Faces faces(3, 10);
    x.col(0) << 0, hub, 0;
    for (int k = 0; k < 6; ++k) {
      x.col(k + 1) << std::cos(k * M_PI / 3), 0, std::sin(k * M_PI / 3);
      faces.col(k) << 0, (k + 1) % 6 + 1, k + 1;
    }
    x.col(7) = tip;
    x.col(8) = tip + Vector3(0.6, 0.8, 0.1);
    x.col(9) = tip + Vector3(-0.3, 0.7, 0.5);
    x.col(10) = tip + Vector3(-0.2, 0.9, -0.5);
    faces.rightCols(4) << 7, 7, 7, 8, 8, 9, 10, 10, 9, 10, 8, 9;
    surface = CollisionSurface(x, faces, Edges(2, 0), {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1},
                               PairTable(2, settings), {});
    surface.pairs.normalise_stiffness();
    surface.weigh({{}, {}});
    cache = std::make_unique<CandidateCache>(make_broad_phase("brute_force", surface), settings.dhat);
    contact = std::make_unique<BarrierContact>(surface, *cache);
    contact->set_stiffness(3);
    contact->prepare(x);
  }
  bool has_negative() const {
    return std::ranges::any_of(contact->active_set(contact->place()).contacts,
                               [](const Contact& c) { return c.weight < 0; });
  }
  CollisionSurface surface;
  std::unique_ptr<CandidateCache> cache;
  std::unique_ptr<BarrierContact> contact;
};

TEST(WeightedContact, IsAPotentialOverFlatConvexAndConcaveFans) {
  Random random(1);
  int negative = 0;
  for (const double hub : {0.0, 0.4, -0.4})  // flat, a hill, a bowl
    for (int trial = 0; trial < 6; ++trial) {
      const Vector3 tip = Vector3(0, hub + 0.3, 0) + Vector3(0.2, 0.1, 0.2).cwiseProduct(random.vector());
      FanAndTip at(hub, tip, {.dhat = 0.6});
      ASSERT_GT(at.contact->term_count(), 0);
      negative += at.has_negative();
      expect_potential_contract(*at.contact, at.surface.rest, fmt::format("hub {}, trial {}", hub, trial),
                                {1e-6, 1e-5, 1e-4});
    }
  EXPECT_GE(negative, 3) << "in the bowl the edges that triangles have in common are taken off";
}

TEST(WeightedContact, IsAPotentialAboveCornersAndEdges) {
  // Exactly above a vertex and an edge of the fan, where the closest features change.
  for (const Vector3& tip :
       {Vector3(0, 0.1, 0), Vector3(0.5, 0.1, 0), Vector3(1, 0.1, 0), Vector3(0, 1e-4, 0)}) {
    FanAndTip at(0, tip, {.dhat = 0.6});
    Matrix3X g = Matrix3X::Zero(3, 11);
    at.contact->add_gradient(at.surface.rest, g);
    EXPECT_TRUE(g.allFinite());
    EXPECT_LT(g.rowwise().sum().norm(), 1e-12 * g.norm()) << "action equals reaction";
    EXPECT_LT(g(1, 7), 0) << "the tip is pushed up";
    EXPECT_TRUE(dense_hessian(*at.contact, at.surface.rest, Projection::psd).allFinite());
    // Steps of differences would cross the change: only first order holds.
    const double e = 1e-7 * tip[1];
    Matrix3X up = at.surface.rest;
    up(1, 7) += e;
    const double before = at.contact->value(at.surface.rest);
    at.contact->prepare(up);
    EXPECT_NEAR((at.contact->value(up) - before) / e, g(1, 7), 1e-4 * std::abs(g(1, 7)));
  }
}

TEST(WeightedContact, FrictionInheritsTheWeights) {
  Random random(2);
  int negative = 0;
  for (const double hub : {0.0, -0.4})
    for (int trial = 0; trial < 4; ++trial) {
      const Vector3 tip(0.2 * random.uniform(-1, 1), hub + 0.25, 0.2 * random.uniform(-1, 1));
      FanAndTip at(hub, tip, {.friction = 0.4, .dhat = 0.6});
      negative += at.has_negative();
      Friction friction(at.surface);
      friction.set_start(at.surface.rest);
      friction.set_lag(*at.contact, at.surface.rest, 10);  // 0.01 m
      Matrix3X direction(3, 11);
      for (Index v = 0; v < 11; ++v) direction.col(v) = random.vector();
      for (const double amount : {1e-3, 0.05})
        expect_potential_contract(friction, at.surface.rest + amount * direction,
                                  fmt::format("slid by {}", amount), {1e-6, 1e-5, 1e-4});
      // The whole tip slides: the force along is μ times the sum of the normal forces of its contacts.
      Matrix3X slid = at.surface.rest, dragged = Matrix3X::Zero(3, 11);
      slid.rightCols(4).colwise() += Vector3(0.5, 0, 0.2);
      friction.add_gradient(slid, dragged);
      Vector3 expected = Vector3::Zero();
      for (Index i = 0; i < at.contact->term_count(); ++i) {
        const auto force = at.contact->normal_force(i, at.surface.rest);
        const Vector3 u = Vector3(0.5, 0, 0.2) * (at.contact->bodies_of(i).first == 1 ? 1 : -1);
        const Vector3 along = u - force.direction.dot(u) * force.direction;
        expected +=
            0.4 * force.magnitude * along.normalized() * (at.contact->bodies_of(i).first == 1 ? 1 : -1);
      }
      EXPECT_LT((dragged.rightCols(4).rowwise().sum() - expected).norm(), 1e-9 * expected.norm());
    }
  EXPECT_GT(negative, 0);
}

TEST(WeightedContact, KappaIsThePressureAtTheSameShareOfReachWhateverDhatAndThickness) {
  double first = 0;
  for (const double dhat : {1e-3, 1e-2})
    for (const double thickness : {0.0, 2e-3}) {
      // One ball of diameter 0.1 m at half of the reach of a plane: its area is the weight.
      Matrix3X x(3, 1);
      const double reach = barrier_reach(thickness, dhat);
      x.col(0) << 0, std::sqrt(0.25 * reach + thickness * thickness), 0;
      CollisionSurface surface(x, Faces(3, 0), Edges(2, 0), {0},
                               PairTable(2, {.dhat = dhat, .thickness = thickness}),
                               {HalfSpace{Vector3::Zero(), Vector3::UnitY(), 1}});
      surface.pairs.normalise_stiffness();
      surface.weigh({{0.1}, {}});
      CandidateCache cache(make_broad_phase("brute_force", surface), dhat);
      BarrierContact contact(surface, cache);
      contact.set_stiffness(1);
      contact.prepare(x);
      ASSERT_EQ(contact.term_count(), 1);
      // For a thickness the same share of ŝ is at a slightly other share of ξ + d̂.
      const double pressure =
          contact.normal_force(0, x).magnitude / (M_PI / 4 * 0.01) * (thickness + dhat) / x(1, 0);
      if (first == 0) first = pressure;
      EXPECT_NEAR(pressure, first, 1e-9 * first) << dhat << " " << thickness;
    }
  EXPECT_NEAR(first, 8.6588, 1e-3) << "2 (1 − s)(2 ln s + (s − 1)/s) at s = ¼";
}

}  // namespace
}  // namespace apart::test
