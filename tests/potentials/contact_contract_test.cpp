// Contact and friction keep the contract of potentials/potential.hpp, on random and on degenerate states.
#include <apart/collision/broad_phase.hpp>
#include <apart/potentials/barrier_contact.hpp>
#include <apart/potentials/friction.hpp>

#include <gtest/gtest.h>
#include <support/nearest_psd.hpp>
#include <support/potential_checks.hpp>
#include <support/random.hpp>

#include <Eigen/Geometry>
#include <cmath>
#include <optional>
#include <random>

namespace apart::test {
namespace {

/// Two bodies' primitives as a collision surface.
struct ContactFixture {
  ContactFixture(const Matrix3X& x, const Faces& faces, const Edges& segments, std::vector<int> bodies,
                 PairSettings settings, std::vector<HalfSpace> planes = {}, const Matrix3X* rest = nullptr) {
    surface = CollisionSurface(rest ? *rest : x, faces, segments, std::move(bodies), PairTable(2, settings),
                               std::move(planes));
    cache =
        std::make_unique<CandidateCache>(make_broad_phase("brute_force", surface), surface.pairs.max_reach());
    contact = std::make_unique<BarrierContact>(surface, *cache);
    contact->set_stiffness(3);
  }
  CollisionSurface surface;
  std::unique_ptr<CandidateCache> cache;
  std::unique_ptr<BarrierContact> contact;
};

Faces one_face() {
  Faces f(3, 1);
  f << 1, 2, 3;
  return f;
}
Edges two_edges() {
  Edges e(2, 2);
  e << 0, 2, 1, 3;
  return e;
}

/// Point at `foot` + height above the triangle (0,0) (1,0) (0,1) in the plane y = 0.
Matrix3X point_over_triangle(double fx, double fz, double height) {
  Matrix3X x(3, 4);
  x.col(0) << fx, height, fz;
  x.col(1) << 0, 0, 0;
  x.col(2) << 1, 0, 0;
  x.col(3) << 0, 0, 1;
  return x;
}

TEST(PotentialContract, ContactOfPointAndTriangleOverInteriorEdgeAndCorner) {
  const std::vector<std::array<double, 2>> feet = {{0.3, 0.3},     {0.1, 0.8},    {0.5, -0.05}, {0.55, 0.52},
                                                   {-0.05, -0.04}, {1.06, -0.01}, {0.05, 1.07}};
  for (const double height : {0.15, 0.05, 1e-3})
    for (const auto& foot : feet)
      for (const double thickness : {0.0, 0.0005}) {
        const Matrix3X x = point_over_triangle(foot[0], foot[1], height);
        PairSettings s;
        s.dhat = 0.2;
        s.thickness = thickness;
        ContactFixture f(x, one_face(), Edges(2, 0), {0, 1, 1, 1}, s);
        f.contact->prepare(x);
        ASSERT_EQ(f.contact->term_count(), 1);
        const double e = 1e-5 * height;
        expect_potential_contract(
            *f.contact, x, fmt::format("foot {} {} height {}", foot[0], foot[1], height), {e, 1e-5, 1e-4});
      }
}

TEST(PotentialContract, ContactOfTwoEdgesCrossingSkewAndEndToEnd) {
  const std::vector<std::array<double, 4>> cases = {// angle, shift along, height, thickness
                                                    {1.2, 0.0, 0.05, 0},
                                                    {0.4, 0.1, 0.1, 0},
                                                    {1.5, 0.52, 0.03, 0},
                                                    {0.9, 0.0, 1e-4, 0},
                                                    {1.0, 0.0, 0.05, 0.01}};
  for (const auto& c : cases) {
    Matrix3X x(3, 4);
    x.col(0) << -0.5, 0, 0;
    x.col(1) << 0.5, 0, 0;
    const Vector3 direction(std::cos(c[0]), 0, std::sin(c[0])), centre(c[1], c[2], 0);
    x.col(2) = centre - 0.5 * direction;
    x.col(3) = centre + 0.5 * direction;
    PairSettings s;
    s.dhat = 0.2;
    s.thickness = c[3];
    ContactFixture f(x, Faces(3, 0), two_edges(), {0, 0, 1, 1}, s);
    f.contact->prepare(x);
    // Segments also have contact at their ends, where these are in reach.
    ASSERT_GE(f.contact->term_count(), 1);
    for (const Contact& contact : f.contact->active_set(x).contacts)
      EXPECT_EQ(contact.mollifier_threshold, 0);
    expect_potential_contract(*f.contact, x, fmt::format("angle {} shift {} height {}", c[0], c[1], c[2]),
                              {1e-5 * c[2], 1e-5, 1e-4});
  }
}

TEST(PotentialContract, ContactOfNearlyParallelEdgesIsMollified) {
  for (const double angle : {2e-2, 1e-2, 1e-3})
    for (const double shift : {0.0, 0.3, 0.95}) {
      Matrix3X x(3, 4);
      x.col(0) << -0.5, 0, 0;
      x.col(1) << 0.5, 0, 0;
      const Vector3 direction(std::cos(angle), 0, std::sin(angle)), centre(shift, 0.05, 0.011);
      x.col(2) = centre - 0.5 * direction;
      x.col(3) = centre + 0.5 * direction;
      PairSettings s;
      s.dhat = 0.2;
      ContactFixture f(x, Faces(3, 0), two_edges(), {0, 0, 1, 1}, s);
      f.contact->prepare(x);
      ASSERT_GE(f.contact->term_count(), 1);
      EXPECT_EQ(f.contact->active_set(x).contacts.back().stencil.kind, PairKind::edge_edge);
      EXPECT_GT(f.contact->active_set(x).contacts.back().mollifier_threshold, 0);
      expect_potential_contract(*f.contact, x, fmt::format("angle {} shift {}", angle, shift),
                                {1e-7, 1e-5, 1e-4});
    }
}

TEST(PotentialContract, ExactlyParallelSegmentsAreHeldApartByTheirEnds) {
  Matrix3X x(3, 4);
  x << 0, 1, 0.2, 0.9, 0, 0, 0.05, 0.05, 0, 0, 0, 0;
  PairSettings s;
  s.dhat = 0.2;
  ContactFixture f(x, Faces(3, 0), two_edges(), {0, 0, 1, 1}, s);
  f.contact->prepare(x);
  const Index last = f.contact->term_count() - 1;
  EXPECT_EQ(f.contact->term(last).size(), 4u);
  EXPECT_EQ(f.contact->normal_force(last, x).magnitude, 0) << "the mollifier vanishes";
  Matrix3X g = Matrix3X::Zero(3, 4);
  f.contact->add_gradient(x, g);
  EXPECT_TRUE(g.allFinite());
  EXPECT_LT(g.row(1).rightCols(2).maxCoeff(), 0) << "both ends of the upper one are pushed up";
  EXPECT_TRUE(dense_hessian(*f.contact, x, Projection::psd).allFinite());
}

TEST(PotentialContract, ContactWithHalfSpaces) {
  const Matrix3X x = point_over_triangle(0.3, 0.3, 0.05).array() + 0.02;
  PairSettings s;
  s.dhat = 0.2;
  s.thickness = 0.001;
  const HalfSpace plane{Vector3::Zero(), Vector3(0.1, 1, 0.2).normalized(), 1};
  const HalfSpace floor{Vector3(0, -0.01, 0), Vector3::UnitY(), 1};
  ContactFixture f(x, Faces(3, 0), Edges(2, 0), {0, 0, 0, 0}, s, {plane, floor});
  f.contact->prepare(x);
  ASSERT_GE(f.contact->term_count(), 4);
  expect_potential_contract(*f.contact, x, "half-spaces", {1e-7, 1e-5, 1e-4});
}

TEST(PotentialContract, ContactWithAndFrictionOnAHalfSpaceThatIsCarried) {
  Matrix3X x = point_over_triangle(0.3, 0.3, 0.05).array() + 0.02;
  const Vector3 normal = Vector3(0.1, 1, 0.2).normalized();
  PairSettings s;
  s.dhat = 0.2;
  s.friction = 0.4;
  // The last point carries the plane; where the half-space started does not count.
  x.col(3) = Vector3(7, 0, 9) - normal.dot(Vector3(7, 0, 9)) * normal;
  const HalfSpace plane{Vector3(0, 50, 0), normal, 1, 3};
  ContactFixture f(x, Faces(3, 0), Edges(2, 0), {0, 0, 0, 1}, s, {plane});
  f.contact->prepare(x);
  ASSERT_EQ(f.contact->term_count(), 3);
  expect_potential_contract(*f.contact, x, "carried", {1e-7, 1e-5, 1e-4});
  Matrix3X g = Matrix3X::Zero(3, 4);
  f.contact->add_gradient(x, g);
  EXPECT_GT(g.norm(), 0);
  EXPECT_LT(g.rowwise().sum().norm(), 1e-12 * g.norm()) << "action equals reaction";

  Friction friction(f.surface);
  friction.set_start(x);
  friction.set_lag(*f.contact, x, 10);  // 0.01 m
  const Matrix3X direction = random_points(4, 7);
  for (const double amount : {1e-3, 0.05})
    expect_potential_contract(friction, x + amount * direction, "carried", {1e-6, 1e-5, 1e-4});
  g.setZero();
  friction.add_gradient(x.colwise() + Vector3(0.3, -2, 1), g);
  EXPECT_LT(g.norm(), 1e-12) << "carried along, nothing slides";
}

/// A point over a triangle, and all of them over a floor, with friction.
ContactFixture rubbed_contacts(const Matrix3X& x, std::optional<double> kinetic_friction = {}) {
  PairSettings s;
  s.dhat = 0.2;
  s.friction = 0.4;
  s.kinetic_friction = kinetic_friction;
  return ContactFixture(x, one_face(), Edges(2, 0), {0, 1, 1, 1}, s,
                        {HalfSpace{Vector3(0, -0.01, 0), Vector3::UnitY(), 1}});
}

TEST(PotentialContract, FrictionStickingSlidingAndAtRest) {
  const Matrix3X x = point_over_triangle(0.3, 0.3, 0.05);
  ContactFixture f = rubbed_contacts(x);
  f.contact->prepare(x);
  Friction friction(f.surface);
  friction.set_start(x);
  friction.set_lag(*f.contact, x, 10);  // 0.01 m
  ASSERT_EQ(friction.term_count(), f.contact->term_count());
  const Matrix3X direction = random_points(4, 7);
  for (const double amount : {1e-3, 3e-3, 0.05, 1.0})
    expect_potential_contract(friction, x + amount * direction, fmt::format("slid by {}", amount),
                              {1e-6, 1e-5, 1e-4});
  // At rest the force vanishes and the Hessian is finite: no division by ‖u‖.
  Matrix3X g = Matrix3X::Zero(3, 4);
  friction.add_gradient(x, g);
  EXPECT_EQ(g.norm(), 0);
  EXPECT_TRUE(dense_hessian(friction, x, Projection::psd).allFinite());
}

TEST(PotentialContract, FrictionDuringASolveIsExactOnceForcesAreAsExpected) {
  const Matrix3X x = point_over_triangle(0.3, 0.3, 0.05);
  ContactFixture f = rubbed_contacts(x, 0.3);
  f.contact->prepare(x);
  Friction friction(f.surface);
  friction.set_start(x);
  friction.set_lag(*f.contact, x, 10);  // 0.01 m
  const Matrix3X direction = random_points(4, 7);
  for (const double amount : {1e-3, 3e-3, 0.012, 0.05, 1.0}) {
    SCOPED_TRACE(fmt::format("slid by {}", amount));
    const Matrix3X slid = x + amount * direction;
    EXPECT_EQ(friction.mismatch(slid), 0) << "before the solve";
    friction.begin_solve();
    EXPECT_GT(friction.mismatch(slid), 0);
    EXPECT_GT(eigenvalues(dense_hessian(friction, slid, Projection::psd)).maxCoeff(), 0);
    for (int step = 0; step < 10; ++step) {
      const Eigen::MatrixXd h = dense_hessian(friction, slid, Projection::psd);
      EXPECT_GE(eigenvalues(h).minCoeff(), -1e-9 * h.norm()) << "whatever forces are expected";
      friction.follow(slid, 3 * amount * random_points(4, 20 + step));
    }
    friction.follow(slid, Matrix3X::Zero(3, 4));
    EXPECT_LT(friction.mismatch(slid), 1e-12);
    expect_potential_contract(friction, slid, "as expected", {1e-6, 1e-5, 1e-4});
    friction.set_lag(*f.contact, x, 10);
  }
}

TEST(PotentialContract, WhatSlidesWithoutAnyFrictionIsFiniteDuringASolve) {
  const Matrix3X x = point_over_triangle(0.3, 0.3, 0.05);
  ContactFixture f = rubbed_contacts(x, 0);
  f.contact->prepare(x);
  Friction friction(f.surface);
  friction.set_start(x);
  friction.set_lag(*f.contact, x, 10);  // 0.01 m
  friction.begin_solve();
  for (const double amount : {0.0, 3e-3, 0.05, 1.0, 10.0}) {
    const Matrix3X slid = x + amount * random_points(4, 7);
    friction.follow(slid, random_points(4, 8));
    EXPECT_TRUE(std::isfinite(friction.mismatch(slid))) << amount;
    for (const Projection projection : {Projection::none, Projection::psd})
      EXPECT_TRUE(dense_hessian(friction, slid, projection).allFinite()) << amount;
  }
}

TEST(PotentialContract, FrictionOfContactsThatAreStrained) {
  const Matrix3X x = point_over_triangle(0.3, 0.3, 0.05);
  ContactFixture f = rubbed_contacts(x);
  f.contact->prepare(x);
  Friction friction(f.surface);
  friction.set_start(x);
  friction.set_lag(*f.contact, x, 10);  // 0.01 m
  const Matrix3X slid = x + 3e-3 * random_points(4, 7);
  Matrix3X before = Matrix3X::Zero(3, 4);
  friction.add_gradient(slid, before);
  // The next step begins there, with what contacts remember: the same forces at once.
  const VectorX packed = Grips::pack(friction.grips(slid));
  EXPECT_TRUE(Grips::are_valid(packed, 4, 2));
  EXPECT_FALSE(Grips::are_valid(packed, 3, 2)) << "of vertices that do not exist";
  Friction next(f.surface);
  next.set_grips(Grips(packed));
  next.set_start(slid);
  next.set_lag(*f.contact, x, 10);
  Matrix3X after = Matrix3X::Zero(3, 4);
  next.add_gradient(slid, after);
  EXPECT_GT(before.norm(), 0);
  EXPECT_LT((after - before).norm(), 1e-12 * before.norm());
  // A solve expects of contacts what they hold where they are lagged, but for a little of what slides.
  next.begin_solve();
  EXPECT_LE(next.mismatch(x), 0.011);
  EXPECT_GT(next.mismatch(slid), 0.1);
  next.set_lag(*f.contact, x, 10);
  const Matrix3X direction = random_points(4, 8);
  for (const double amount : {0.0, 1e-3, 3e-3, 0.05, 1.0})
    expect_potential_contract(next, slid + amount * direction, fmt::format("slid by {}", amount),
                              {1e-6, 1e-5, 1e-4});
  // What slides is strained to its limit and no further.
  for (const Grip& grip : next.grips(x + direction)) EXPECT_NEAR(grip.strain.norm(), 1, 1e-12);
}

TEST(Grips, OfANewContactContinueThoseOfItsVertices) {
  // An edge 0–1 of body 0 over an edge 2–3 of body 1; then the vertex 1 over the same edge; then the reverse.
  const ContactKey edges{{0, 1, 2, 3}, true}, vertex{{1, 2, 3, -1}, false}, reverse{{2, 1, -1, -1}, false};
  const Vector3 strain(0.3, 0, -0.2);
  const Grips grips(Grips::pack({{edges, {0, 1}, strain, 5}}));
  EXPECT_EQ(grips.strain(edges, {0, 1}), strain);
  EXPECT_LT((grips.strain(vertex, {0, 1}) - strain).norm(), 1e-15);
  EXPECT_LT((grips.strain(reverse, {1, 0}) + strain).norm(), 1e-15) << "seen from the other body";
  EXPECT_EQ(grips.strain({{4, 5, -1, -1}, false}, {0, 1}), Vector3::Zero()) << "elsewhere";
  EXPECT_EQ(grips.strain({{1, 6, 7, -1}, false}, {0, 2}), Vector3::Zero()) << "with another body";
}

TEST(PotentialContract, FrictionOfPointsAndSegmentsLiesAcrossWhatJoinsThem) {
  // Two balls; a ball beside a rod, over its middle and over its end; two rods, crossing and parallel. The
  // tangent plane is normal to the shortest way between the two. [thesis A.8]
  struct Case {
    const char* name;
    Matrix3X x;
    Edges segments;
    std::vector<int> bodies;
  };
  const auto points = [](std::initializer_list<Vector3> list) {
    Matrix3X x(3, Index(list.size()));
    Index i = 0;
    for (const Vector3& p : list) x.col(i++) = p;
    return x;
  };
  const Edges none(2, 0), one = Eigen::Vector2i(1, 2), two = Eigen::Matrix2i{{0, 2}, {1, 3}};
  const std::vector<Case> cases = {
      {"point and point", points({{0, 0, 0}, {0.03, 0.1, 0.02}}), none, {0, 1}},
      {"point and edge", points({{0.1, 0.1, 0.05}, {-1, 0, 0}, {1, 0, 0}}), one, {0, 1, 1}},
      {"point and end", points({{1.03, 0.1, 0.02}, {-1, 0, 0}, {1, 0, 0}}), one, {0, 1, 1}},
      {"crossing", points({{-1, 0.1, 0}, {1, 0.1, 0.1}, {0.1, 0, -1}, {0, 0, 1}}), two, {0, 0, 1, 1}},
      {"parallel", points({{-1, 0.1, 0}, {1, 0.1, 0}, {-0.5, 0, 0}, {0.5, 0, 0}}), two, {0, 0, 1, 1}}};
  for (const Case& c : cases) {
    PairSettings s;
    s.dhat = 0.1;
    s.thickness = 0.05;
    s.friction = 0.4;
    ContactFixture f(c.x, Faces(3, 0), c.segments, c.bodies, s);
    f.contact->prepare(c.x);
    ASSERT_GT(f.contact->term_count(), 0) << c.name;
    Friction friction(f.surface);
    friction.set_start(c.x);
    friction.set_lag(*f.contact, c.x, 10);  // 0.01 m
    const Matrix3X direction = random_points(Index(c.x.cols()), 7);
    for (const double amount : {1e-3, 0.05})
      expect_potential_contract(friction, c.x + amount * direction, c.name, {1e-6, 1e-5, 1e-4});
    // All of the first body slides past the second: no force along the normal, and mu times the force across
    // it.
    Matrix3X pressed = Matrix3X::Zero(3, c.x.cols()), dragged = pressed, slid = c.x;
    f.contact->add_gradient(c.x, pressed);
    Vector3 push = Vector3::Zero(), drag = Vector3::Zero();
    for (Index i = 0; i < c.x.cols(); ++i)
      if (c.bodies[std::size_t(i)] == 0) push += pressed.col(i);
    const Vector3 along = push.cross(Vector3(0.3, 0.5, 0.8)).normalized();
    for (Index i = 0; i < c.x.cols(); ++i)
      if (c.bodies[std::size_t(i)] == 0) slid.col(i) += along;
    friction.add_gradient(slid, dragged);
    for (Index i = 0; i < c.x.cols(); ++i)
      if (c.bodies[std::size_t(i)] == 0) drag += dragged.col(i);
    EXPECT_LT((drag - 0.4 * push.norm() * along).norm(), 1e-9 * push.norm()) << c.name;
  }
}

TEST(Friction, MixesForcesOfTwoLags) {
  Matrix3X x = point_over_triangle(0.3, 0.3, 0.05);
  PairSettings s;
  s.dhat = 0.2;
  s.friction = 0.4;
  const HalfSpace floor{Vector3(0, -0.01, 0), Vector3::UnitY(), 1};
  ContactFixture f(x, one_face(), Edges(2, 0), {0, 1, 1, 1}, s, {floor});
  const auto lagged = [&](const Matrix3X& at, double stiffness) {
    Friction friction(f.surface);
    friction.set_start(x);
    f.contact->set_stiffness(stiffness);
    f.contact->prepare(at);
    friction.set_lag(*f.contact, at, 10);  // 0.01 m
    return friction;
  };
  const auto force = [&](const Friction& friction, const Matrix3X& at) {
    Matrix3X g = Matrix3X::Zero(3, 4);
    friction.add_gradient(at, g);
    return g;
  };
  const Matrix3X slid = x + 0.004 * random_points(4, 7);
  const Friction weak = lagged(x, 1), strong = lagged(x, 5);
  Friction mixed = strong;
  mixed.mix(weak, 0.25);  // the same contacts: forces are means
  EXPECT_EQ(mixed.term_count(), strong.term_count());
  EXPECT_LT((force(mixed, slid) - force(lagged(x, 2), slid)).norm(), 1e-12 * force(mixed, slid).norm());

  x.col(0).y() = 0.3;  // the point has left the triangle: that contact fades, the floor's stay
  Friction fading = lagged(x, 5);
  EXPECT_LT(fading.term_count(), strong.term_count());
  const Matrix3X stayed = force(fading, slid), had = force(strong, slid);
  fading.mix(strong, 0.25);
  EXPECT_EQ(fading.term_count(), strong.term_count());
  EXPECT_LT((force(fading, slid) - (0.25 * stayed + 0.75 * had)).norm(), 1e-12 * had.norm());
}

TEST(PotentialContract, FrictionThatFallsFromStickingToSliding) {
  const Matrix3X x = point_over_triangle(0.3, 0.3, 0.05);
  PairSettings s;
  s.dhat = 0.2;
  s.friction = 0.6;
  s.kinetic_friction = 0.2;
  ContactFixture f(x, one_face(), Edges(2, 0), {0, 1, 1, 1}, s);
  f.contact->prepare(x);
  Friction friction(f.surface);
  friction.set_start(x);
  const double epsilon = 0.001;
  friction.set_lag(*f.contact, x, epsilon / 1e-3);
  Matrix3X pressed = Matrix3X::Zero(3, 4);
  f.contact->add_gradient(x, pressed);
  for (const auto& [slid, mu] :
       {std::pair(0.5, 0.45), {1.0, 0.6}, {2.0, 0.6}, {6.5, 0.4}, {11.0, 0.2}, {30.0, 0.2}}) {
    Matrix3X moved = x, dragged = Matrix3X::Zero(3, 4);
    const Vector3 normal = pressed.col(0).normalized();
    moved.col(0) += slid * epsilon * normal.cross(Vector3(0.3, 0.5, 0.8)).normalized();
    friction.add_gradient(moved, dragged);
    EXPECT_NEAR(dragged.col(0).norm(), mu * pressed.col(0).norm(), 1e-9 * pressed.norm()) << slid;
    if (slid != 1 && slid != 2 && slid != 11)  // where the curve has a kink in its second derivative
      expect_potential_contract(friction, moved, fmt::format("slid by {}", slid), {1e-7, 1e-5, 1e-4});
  }
}

TEST(PotentialContract, FrictionForceIsCoulombsWhenSliding) {
  const Matrix3X x = point_over_triangle(0.3, 0.3, 0.05);
  PairSettings s;
  s.dhat = 0.2;
  s.friction = 0.4;
  ContactFixture f(x, one_face(), Edges(2, 0), {0, 1, 1, 1}, s);
  f.contact->prepare(x);
  Friction friction(f.surface);
  friction.set_start(x);
  friction.set_lag(*f.contact, x, 1);  // 1 mm
  Matrix3X moved = x, pressed = Matrix3X::Zero(3, 4), dragged = Matrix3X::Zero(3, 4);
  moved.col(0) += Vector3(0.02, 0.003, 0);
  f.contact->add_gradient(x, pressed);
  friction.add_gradient(moved, dragged);
  // λ of the barrier's gradient, thesis A.10: the magnitudes are in the ratio μ, and drag is along the
  // sliding.
  EXPECT_NEAR(dragged.col(0).norm(), 0.4 * pressed.col(0).norm(), 1e-12 * pressed.norm());
  EXPECT_NEAR(dragged(0, 0), dragged.col(0).norm(), 1e-12);
  EXPECT_LT(dragged.rowwise().sum().norm(), 1e-12 * dragged.norm());  // action and reaction
}

TEST(BarrierContact, RestingStiffnessLetsContactsPressAsMuchAtTheWantedPlace) {
  // A point above a triangle, at a third of the reach.
  PairSettings settings;
  settings.dhat = 0.02;
  settings.thickness = 0.01;
  Matrix3X x(3, 4);
  x << 0, -1, 1, 0,    //
      0.015, 0, 0, 0,  //
      0, -1, -1, 1;
  ContactFixture at(x, one_face(), Edges(2, 0), {0, 1, 1, 1}, settings);
  at.contact->prepare(x);
  ASSERT_EQ(at.contact->term_count(), 1);
  EXPECT_FALSE(at.contact->range(0).shortened);
  const double force = at.contact->normal_force(0, x).magnitude;
  const double kappa_now = at.contact->stiffness();
  const auto force_at = [&](double share, double kappa) {
    Matrix3X there = x;
    there(1, 0) = std::sqrt(share * barrier_reach(settings.thickness, settings.dhat) + 1e-4);
    at.contact->set_stiffness(kappa);
    at.contact->prepare(there);
    const double result = at.contact->normal_force(0, there).magnitude;
    at.contact->set_stiffness(kappa_now);
    at.contact->prepare(x);
    return result;
  };
  const auto wanted = [&](double light) {
    return at.contact->resting_stiffness(x, {.usual = 0.25, .light = 0.85}, [&](Index) { return light; });
  };
  EXPECT_NEAR(force_at(0.25, wanted(0)), force, 1e-12 * force) << "never light";
  EXPECT_NEAR(force_at(0.85, wanted(2 * force)), force, 1e-12 * force) << "light";
  EXPECT_NEAR(force_at(0.85, wanted(force / 4)), force / 4, 1e-12 * force) << "the light part of it";
  EXPECT_NEAR(force_at(0.25, wanted(force / 1e6)), force, 1e-12 * force) << "far beyond light";
}

}  // namespace
}  // namespace apart::test
