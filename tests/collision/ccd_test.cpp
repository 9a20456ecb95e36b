#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/ccd_methods.hpp>
#include <apart/core/diagnostics.hpp>
#include <support/reference_distance.hpp>

#include <limits>

namespace apart::test {
namespace {

constexpr PairKind all_kinds[] = {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle,
                                  PairKind::edge_edge};

/// Distance at time t, in quadruple precision.
double distance_at(const CcdQuery& q, double t) {
  return reference_distance(q.kind, moved(q.x, q.displacement, t, point_count(q.kind)));
}

CcdQuery random_query(PairKind kind, double speed, Random& random) {
  CcdQuery q;
  q.kind = kind;
  for (int i = 0; i < 4; ++i) {
    q.x[i] = random.vector();
    q.displacement[i] = speed * random.vector();
  }
  return q;
}

/// A query whose primitives meet at time τ: they are put in contact there, and moved back.
CcdQuery meeting_query(PairKind kind, double tau, double speed, Random& random) {
  CcdQuery q = random_query(kind, speed, random);
  Vector4 w;  // weights of the contact point on both primitives
  const double s = random.uniform(0, 1), t = random.uniform(0, 1);
  switch (kind) {
    case PairKind::point_point:
      w << 1, -1, 0, 0;
      break;
    case PairKind::point_edge:
      w << 1, -s, s - 1, 0;
      break;
    case PairKind::point_triangle:
      w << 1, -s, -(1 - s) * t, -(1 - s) * (1 - t);
      break;
    case PairKind::edge_edge:
      w << s, 1 - s, -t, t - 1;
      break;
  }
  Vector3 offset = Vector3::Zero();
  for (int i = 0; i < point_count(kind); ++i) offset += w[i] * q.x[i];
  for (int i = 0; i < first_count(kind); ++i) q.x[i] -= offset;
  for (int i = 0; i < point_count(kind); ++i) q.x[i] -= tau * q.displacement[i];
  return q;
}

/// The answer is safe: on the whole path until then the gap stays above its target, up to the rounding of
/// coordinates.
void expect_safe(const CcdQuery& q, const CcdOptions& options, const std::optional<double>& t, double size) {
  const double until = t ? *t : options.upper_time;
  ASSERT_GE(until, 0);
  ASSERT_LE(until, options.upper_time);
  const double gap = distance_at(q, 0) - q.separation;
  if (until == 0) return;
  ASSERT_GT(gap, 0);
  const double target = options.gap_fraction * std::min(gap, q.dhat);
  for (int k = 0; k <= 32; ++k) {
    const double now = until * (k / 32.0);
    const double gap_now = distance_at(q, now) - q.separation;
    ASSERT_GT(gap_now, 0) << "touches at " << now << " of " << until;
    ASSERT_GE(gap_now, 0.998 * target - 1e-13 * size) << "at " << now << " of " << until;
  }
}

/// The same demands on both methods.
class EveryCcd : public ::testing::TestWithParam<CcdMethod> {
 protected:
  std::optional<double> time_of_impact(const CcdQuery& query, CcdOptions options = {}) const {
    options.method = GetParam();
    return apart::time_of_impact(query, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, EveryCcd,
                         ::testing::Values(CcdMethod::additive, CcdMethod::tight_inclusion),
                         [](const auto& method) {
                           return method.param == CcdMethod::additive ? "additive" : "tight_inclusion";
                         });

TEST_P(EveryCcd, StopsBeforeAKnownImpact) {
  Random random(1);
  for (PairKind kind : all_kinds)
    for (double speed : {1e-6, 1e-3, 1.0, 1e3})
      for (int trial = 0; trial < 300; ++trial) {
        const double tau = random.uniform(0.01, 1);
        const CcdQuery q = meeting_query(kind, tau, speed, random);
        const auto t = time_of_impact(q);
        ASSERT_TRUE(t) << "missed an impact at " << tau;
        EXPECT_LT(*t, tau);
        expect_safe(q, {}, t, 1 + speed);
      }
}

TEST_P(EveryCcd, IsSafeOnRandomPathsAndStopsOnlyNearAnObstacle) {
  Random random(2);
  int stopped = 0, free = 0;
  for (PairKind kind : all_kinds)
    for (int trial = 0; trial < 800; ++trial) {
      const double speed = random.exponential(1e-2, 10);
      CcdQuery q = random.below(2) ? random_query(kind, speed, random)
                                   : meeting_query(kind, random.uniform(0.1, 1), speed, random);
      if (random.below(2)) q.separation = random.uniform(0, 0.9) * distance_at(q, 0);
      if (random.below(2)) q.dhat = random.exponential(1e-4, 1);
      CcdOptions options;
      options.gap_fraction = random.below(2) ? 0.2 : 0.01;
      const auto t = time_of_impact(q, options);
      expect_safe(q, options, t, 10);
      (t ? stopped : free)++;
      if (!t) continue;
      // Soon after the time given the target is reached: nothing is held back without reason.
      const double target = options.gap_fraction * std::min(distance_at(q, 0) - q.separation, q.dhat);
      double closest = infinity;
      for (int k = 0; k <= 50; ++k) closest = std::min(closest, distance_at(q, *t + 4e-4 * k) - q.separation);
      EXPECT_LE(closest, 1.2 * target + 1e-3 * speed * *t) << "kind " << int(kind) << " t " << *t;
    }
  EXPECT_GT(stopped, 500);
  EXPECT_GT(free, 500);
}

TEST_P(EveryCcd, IsSafeNearContact) {
  Random random(3);
  int stopped = 0;
  for (PairKind kind : all_kinds)
    for (double gap : {1e-3, 1e-5, 1e-8, 1e-10, 1e-12})
      for (int trial = 0; trial < 200; ++trial) {
        // In contact at time 0, then pushed apart by the gap, then moving by about as much or by much more.
        CcdQuery q = meeting_query(kind, 0, random.exponential(gap, 1), random);
        const Vector3 apart = gap * random.unit();
        for (int i = 0; i < first_count(kind); ++i) q.x[i] += apart;
        if (random.below(2)) q.separation = 0.9 * distance_at(q, 0);
        const auto t = time_of_impact(q);
        expect_safe(q, {}, t, 2);
        stopped += t && *t > 0;
      }
  EXPECT_GT(stopped, 1000);
}

TEST_P(EveryCcd, IsSafeForParallelEdgesAndThinTriangles) {
  Random random(4);
  for (double sine : {0.0, 1e-14, 1e-10, 1e-8, 1e-5, 1e-2})
    for (double gap : {1e-1, 1e-4, 1e-8})
      for (int trial = 0; trial < 100; ++trial) {
        const Vector3 u = random.unit(), side = u.cross(random.unit()).normalized(), up = u.cross(side);
        CcdQuery q;
        q.kind = trial % 2 ? PairKind::edge_edge : PairKind::point_triangle;
        const Vector3 away = gap * up + random.uniform(-0.5, 0.5) * u;
        if (q.kind == PairKind::edge_edge) {
          q.x = {Vector3::Zero(), u, away, away + u + sine * side};
        } else {
          q.x = {Vector3(away + 0.3 * u), Vector3::Zero(), u, Vector3(0.5 * u + sine * side)};
        }
        const double speed = random.exponential(gap, 1);
        for (auto& p : q.displacement) p = speed * (0.1 * random.vector() + side);
        for (int i = first_count(q.kind); i < 4; ++i) q.displacement[i] -= speed * up;
        expect_safe(q, {}, time_of_impact(q), 2);
      }
}

TEST_P(EveryCcd, WorksAtAnyScaleAndFarAway) {
  Random random(5);
  for (PairKind kind : all_kinds)
    for (int trial = 0; trial < 100; ++trial) {
      const CcdQuery q = meeting_query(kind, random.uniform(0.2, 1), 1, random);
      const auto t = time_of_impact(q);
      ASSERT_TRUE(t);
      for (double scale : {0x1p-900, 0x1p-300, 0x1p-40, 0x1p40, 0x1p300, 0x1p900}) {
        CcdQuery scaled = q;
        for (int i = 0; i < 4; ++i) {
          scaled.x[i] *= scale;
          scaled.displacement[i] *= scale;
        }
        const auto again = time_of_impact(scaled);
        ASSERT_TRUE(again);
        EXPECT_NEAR(*again, *t, 1e-12) << scale;
      }
      CcdQuery far = q;
      for (auto& x : far.x) x += Vector3(1e6, -2e6, 3e6);
      const auto there = time_of_impact(far);
      ASSERT_TRUE(there);
      EXPECT_NEAR(*there, *t, 1e-3);
      expect_safe(far, {}, there, 4e6);
    }
}

TEST_P(EveryCcd, SlidingPartingAndRestingPairsAreFree) {
  CcdQuery q;
  q.kind = PairKind::point_triangle;
  q.x = {Vector3(0.2, 0.2, 1e-8), Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0, 1, 0)};
  q.displacement.fill(Vector3::Zero());
  EXPECT_FALSE(time_of_impact(q)) << "at rest";
  q.displacement.fill(Vector3(3, -2, 7));
  EXPECT_FALSE(time_of_impact(q)) << "moving together";
  q.displacement.fill(Vector3::Zero());
  q.displacement[0] = Vector3(100, 50, 0);
  EXPECT_FALSE(time_of_impact(q)) << "sliding";
  q.displacement[0] = Vector3(100, 50, 1);
  EXPECT_FALSE(time_of_impact(q)) << "parting";
  q.displacement[0] = Vector3(0, 0, -1);
  ASSERT_TRUE(time_of_impact(q)) << "approaching";
  EXPECT_NEAR(*time_of_impact(q), 0.8e-8, 0.01e-8);
  // Sliding along an edge, edges crossing.
  q.kind = PairKind::edge_edge;
  q.x = {Vector3(-1, 0, 0), Vector3(1, 0, 0), Vector3(0, -1, 1e-8), Vector3(0, 1, 1e-8)};
  q.displacement = {Vector3(1, 2, 0), Vector3(1, 2, 0), Vector3(0, 0, 0), Vector3(0, 0, 0)};
  EXPECT_FALSE(time_of_impact(q)) << "edges sliding";
}

TEST_P(EveryCcd, StopsExactlyAtTheShareOfTheGap) {
  CcdQuery q;
  q.kind = PairKind::point_point;
  q.x = {Vector3(0, 0, 0), Vector3(1, 0, 0)};
  q.displacement = {Vector3(2, 0, 0), Vector3(0, 0, 0)};
  EXPECT_NEAR(time_of_impact(q).value(), 0.4, 1e-9);  // a gap of 1 down to 0.2
  EXPECT_NEAR(time_of_impact(q, {.gap_fraction = 0.5}).value(), 0.25, 1e-9);
  q.separation = 0.5;
  EXPECT_NEAR(time_of_impact(q).value(), 0.2, 1e-9);  // a gap of 0.5 down to 0.1
  q.dhat = 0.1;
  EXPECT_NEAR(time_of_impact(q).value(), 0.24, 1e-9);  // down to 0.02
  q.displacement[0] = Vector3(0.47, 0, 0);
  EXPECT_FALSE(time_of_impact(q)) << "stays above the target";
}

// The direction of closest points blurs as the gap shrinks: by all of a right angle at 1e-16 of the
// primitives' size. The bound must not suffer, least of all where a direction has no room: above the border
// of a triangle, for edges on top of each other, and for edges that cross under an angle of next to nothing.
TEST_P(EveryCcd, GoesAsFarAtTinyGapsAsAtLargeOnes) {
  Random random(16);
  const auto expect_progress = [&](CcdQuery q, double gap, const std::string& what) {
    const Eigen::Quaterniond turn = Eigen::Quaterniond::UnitRandom();
    const Vector3 offset = random.vector();
    for (int i = 0; i < point_count(q.kind); ++i) {
      q.x[i] = turn * q.x[i] + offset;
      q.displacement[i] = turn * q.displacement[i];
    }
    const double start = distance_at(q, 0);  // not quite `gap`: coordinates are rounded
    ASSERT_NEAR(start, gap, 1e-15 + 1e-3 * gap) << what;
    const auto t = time_of_impact(q);
    ASSERT_TRUE(t) << what;
    EXPECT_NEAR(*t, 0.8 * start, 0.1 * start) << what << " gap " << gap;  // approaching at speed 1
    EXPECT_GT(distance_at(q, *t), 0);
  };
  for (double gap : {1e-2, 1e-6, 1e-9, 1e-11, 1e-12, 2e-13})
    for (int trial = 0; trial < 20; ++trial) {
      CcdQuery q;
      q.displacement.fill(Vector3::Zero());
      q.displacement[0] = Vector3(0, 0, -1);
      q.kind = PairKind::point_triangle;
      const double along = random.uniform(0.1, 0.9);
      q.x = {Vector3(along, 0, gap), Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0.3, 1, 0)};
      expect_progress(q, gap, "above an edge of the triangle");
      q.x[0] = Vector3(along, along * 1e-9, gap);
      expect_progress(q, gap, "next to an edge of the triangle");
      q.x[0] = Vector3(0, 0, gap);
      expect_progress(q, gap, "above a corner of the triangle");
      q.x[0] = Vector3(0.4, 0.3, gap);
      expect_progress(q, gap, "above the triangle");

      q.kind = PairKind::edge_edge;
      q.displacement[1] = q.displacement[0];
      const double shift = random.uniform(-0.5, 0.5);
      for (double sine : {0.0, 1e-15, 1e-13, 1e-11, 1e-10, 1e-9, 1e-7, 1e-3, 1.0}) {
        q.x = {Vector3(-0.5, -0.5 * sine, gap), Vector3(0.5, 0.5 * sine, gap), Vector3(shift - 1, 0, 0),
               Vector3(shift + 1, 0, 0)};
        expect_progress(q, gap, fmt::format("edges crossing at {}", sine));
      }
    }
}

TEST_P(EveryCcd, LooksNoFartherThanAskedAndThatChangesNoAnswer) {
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const PairKind kind = all_kinds[trial % 4];
    const CcdQuery q = meeting_query(kind, random.uniform(0.1, 1), random.exponential(0.1, 10), random);
    const double t = time_of_impact(q).value();
    for (double upper : {0.1 * t, 0.99 * t, t * (1 - 1e-15)}) {
      EXPECT_FALSE(time_of_impact(q, {.upper_time = upper}));
    }
    for (double upper : {std::nextafter(t, 2), 1.01 * t, 5.0}) {
      EXPECT_EQ(time_of_impact(q, {.upper_time = upper}), t);
    }
  }
}

TEST_P(EveryCcd, TouchingOrInvalidInputGivesZero) {
  Random random(7);
  for (PairKind kind : all_kinds) {
    CcdQuery q = meeting_query(kind, 0, 1, random);
    EXPECT_EQ(time_of_impact(q), 0) << "touching";
    q = random_query(kind, 1, random);
    q.separation = 1.001 * distance_at(q, 0);
    EXPECT_EQ(time_of_impact(q), 0) << "closer than the separation";
    q.separation = std::nan("");
    EXPECT_EQ(time_of_impact(q), 0);
    for (double bad : {std::nan(""), infinity, -infinity})
      for (int i = 0; i < point_count(kind); ++i) {
        q = random_query(kind, 1, random);
        q.x[i].y() = bad;
        EXPECT_EQ(time_of_impact(q), 0);
        q = random_query(kind, 1, random);
        q.displacement[i].z() = bad;
        EXPECT_EQ(time_of_impact(q), 0);
      }
    q.x.fill(Vector3::Zero());
    q.displacement.fill(Vector3::Zero());
    EXPECT_EQ(time_of_impact(q), 0) << "all in one point";
    for (double bad : {-1.0, 0.0, std::nan("")}) {
      q = random_query(kind, 1, random);
      q.dhat = bad;
      EXPECT_EQ(time_of_impact(q), 0);
    }
    q.dhat = 1;
    for (double bad : {-0.2, 1.0, std::nan("")}) EXPECT_EQ(time_of_impact(q, {.gap_fraction = bad}), 0);
    EXPECT_EQ(time_of_impact(q, {.upper_time = std::nan("")}), 0);
    for (double none : {0.0, -1.0}) EXPECT_FALSE(time_of_impact(q, {.upper_time = none}));
    EXPECT_LE(time_of_impact(meeting_query(kind, 0.5, 1, random),
                             {.gap_fraction = 0, .tolerance = std::nan(""), .max_iterations = 0})
                  .value(),
              0.5);
    // Nearly the largest numbers there are.
    for (double tau : {0.1, 0.9}) {
      q = meeting_query(kind, tau, 1, random);
      for (auto& x : q.x) x *= 0x1p1018;
      for (auto& p : q.displacement) p *= 0x1p1018;
      EXPECT_LE(time_of_impact(q).value(), tau);
    }
  }
}

TEST_P(EveryCcd, AdversarialInputTakesLittleTime) {
  Random random(8);
  const double begin = process_cpu_seconds();
  int queries = 0;
  for (int trial = 0; trial < 2000; ++trial)
    for (PairKind kind : all_kinds) {
      // Near contact, spinning and shearing far faster than the gap, with a minimum separation next to the
      // distance.
      CcdQuery q = meeting_query(kind, 0, random.exponential(1, 1e6), random);
      const Vector3 apart = random.exponential(1e-13, 1e-9) * random.unit();
      for (int i = 0; i < first_count(kind); ++i) q.x[i] += apart;
      q.separation = (1 - 1e-6) * distance_at(q, 0);
      expect_safe(q, {.gap_fraction = 1e-6}, time_of_impact(q, {.gap_fraction = 1e-6}), 1e7);
      ++queries;
    }
  const double seconds = process_cpu_seconds() - begin;
  EXPECT_LT(seconds / queries, 5e-3);
}

TEST_P(EveryCcd, AnIterationLimitStaysSafe) {
  Random random(9);
  for (int trial = 0; trial < 300; ++trial) {
    const CcdQuery q = meeting_query(all_kinds[trial % 4], random.uniform(0.3, 1), 1, random);
    const auto t = time_of_impact(q, {.max_iterations = 2});
    ASSERT_TRUE(t);
    expect_safe(q, {}, t, 2);
  }
}

TEST_P(EveryCcd, MissesNoImpactAtAnyToleranceAndLimit) {
  Random random(21);
  for (double tolerance : {1e-8, 1e-6, 1e-4, 1e-2})
    for (int limit : {1, 100, 1'000'000})
      for (double separation : {0.0, 1e-3})
        for (SeparationNorm norm : {SeparationNorm::euclidean, SeparationNorm::maximum})
          for (int trial = 0; trial < 200; ++trial) {
            const double tau = random.uniform(0, 1);
            CcdQuery q = meeting_query(all_kinds[trial % 4], tau, random.exponential(1e-3, 10), random);
            q.separation = separation;
            const auto t = time_of_impact(
                q, {.gap_fraction = 0, .tolerance = tolerance, .max_iterations = limit, .norm = norm});
            ASSERT_TRUE(t) << "missed an impact at " << tau;
            EXPECT_LE(*t, tau + 1e-14);
          }
}

TEST_P(EveryCcd, SeparationIsMeasuredInTheNormAskedFor) {
  // A point passes another at a distance of (d, d, 0), which is d in the maximum norm and √2 d as a length.
  const double d = 1e-2;
  CcdQuery q;
  q.kind = PairKind::point_point;
  q.x = {Vector3(d, d, 1), Vector3(0, 0, 0)};
  q.displacement = {Vector3(0, 0, -2), Vector3(0, 0, 0)};
  CcdOptions options{.gap_fraction = 0, .tolerance = 1e-8};
  q.separation = 1.01 * d;
  options.norm = SeparationNorm::euclidean;
  EXPECT_FALSE(time_of_impact(q, options));
  options.norm = SeparationNorm::maximum;
  const auto t = time_of_impact(q, options);
  ASSERT_TRUE(t);
  EXPECT_LE(*t, 0.5 * (1 - q.separation));
  EXPECT_GT(*t, 0.48);  // additive CCD keeps √3 d instead
  q.separation = 1.42 * d;
  options.norm = SeparationNorm::euclidean;
  EXPECT_TRUE(time_of_impact(q, options));
  if (GetParam() == CcdMethod::tight_inclusion) {
    q.separation = 0.99 * d;
    options.norm = SeparationNorm::maximum;
    EXPECT_FALSE(time_of_impact(q, options));
  }
}

TEST_P(EveryCcd, DegenerateMotionsEndSoonAndAreFoundOut) {
  const Vector3 o(0, 0, 0), ex(1, 0, 0), ey(0, 1, 0), ez(0, 0, 1);
  struct Case {
    const char* what;
    CcdQuery query;
    double tau;  ///< infinity: no impact
  };
  const auto query = [](PairKind kind, StencilPoints x, StencilPoints p) {
    return CcdQuery{.kind = kind, .x = x, .displacement = p};
  };
  constexpr PairKind pt = PairKind::point_triangle, ee = PairKind::edge_edge;
  const Case cases[] = {
      {"parallel edges meet along their length", query(ee, {o, ex, ez, ex + ez}, {o, o, -2 * ez, -2 * ez}),
       0.5},
      {"collinear edges meet end to end", query(ee, {o, ex, 3 * ex, 4 * ex}, {ex, ex, -3 * ex, -3 * ex}),
       0.5},
      {"edges slide past each other in one plane",
       query(ee, {o, ex, 2 * ey, ex + 2 * ey}, {ex, ex, -ex, -ex}), infinity},
      {"a point runs into a triangle in its plane", query(pt, {-ex, o, ex + ey, ex - ey}, {2 * ex, o, o, o}),
       0.5},
      {"a point passes a triangle in its plane",
       query(pt, {-ex + 1.5 * ey, o, ex + ey, ex - ey}, {4 * ex, o, o, o}), infinity},
      {"a triangle collapses onto a point", query(pt, {ez, o, ex, ey}, {o, ez, ez - ex, ez - ey}), 1},
      {"a triangle that is a segment", query(pt, {0.5 * ex + ez, o, ex, ex}, {-2 * ez, o, o, o}), 0.5},
      {"a triangle that is a point", query(pt, {ez, o, o, o}, {-2 * ez, o, o, o}), 0.5},
      {"edges of no length", query(ee, {o, o, ez, ez}, {o, o, -2 * ez, -2 * ez}), 0.5},
      {"edges of no length that miss",
       query(ee, {o, o, ez + 1e-3 * ex, ez + 1e-3 * ex}, {o, o, -2 * ez, -2 * ez}), infinity},
      {"a face-on impact at the very end", query(pt, {0.2 * ex + 0.2 * ey + ez, o, ex, ey}, {-ez, o, o, o}),
       1},
      {"everything moves far together",
       query(ee, {o, ex, ez, ex + ez + ey}, {1e3 * ey, 1e3 * ey, 1e3 * ey, 1e3 * ey}), infinity},
  };
  for (const Case& c : cases) {
    const double begin = process_cpu_seconds();
    const auto t = time_of_impact(c.query, {.gap_fraction = 0});
    const double seconds = process_cpu_seconds() - begin;
    EXPECT_LT(seconds, 0.05) << c.what;
    EXPECT_EQ(t.has_value(), c.tau < infinity) << c.what;
    if (!t) continue;
    EXPECT_LE(*t, c.tau) << c.what;
    EXPECT_GE(*t, c.tau - 1e-3) << c.what;
  }
}

TEST(TightInclusion, VectorAndScalarPathGiveTheSameAnswers) {
  Random random(22);
  int hits = 0, free = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const PairKind kind = all_kinds[trial % 4];
    CcdQuery q = random.below(2)
                     ? random_query(kind, random.exponential(1e-2, 10), random)
                     : meeting_query(kind, random.uniform(0, 1), random.exponential(1e-6, 10), random);
    if (random.below(3) == 0)  // in a plane
      for (int i = 0; i < 4; ++i) q.x[i].z() = q.displacement[i].z() = 0;
    if (random.below(3) == 0) q.separation = random.exponential(1e-6, 0.1);
    if (random.below(2)) q.dhat = random.exponential(1e-4, 1);
    CcdOptions options{.upper_time = random.below(2) ? 1 : random.uniform(0, 1),
                       .gap_fraction = random.below(2) ? 0.2 : 0.0,
                       .tolerance = random.exponential(1e-8, 1e-2),
                       .max_iterations = random.below(2) ? 50 : 2000};
    options.norm = random.below(2) ? SeparationNorm::euclidean : SeparationNorm::maximum;
    const auto t = tight_inclusion_ccd(q, options);
    ASSERT_EQ(t, tight_inclusion_ccd_scalar(q, options));
    (t ? hits : free)++;
  }
  EXPECT_GT(hits, 800);
  EXPECT_GT(free, 800);
}

TEST(TightInclusion, VisitsBoxesInOrderOfTime) {
  // Seen from a limit on their number: more boxes exclude more time, never less, and never the impact.
  Random random(23);
  int long_searches = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const PairKind kind = trial % 2 == 0 ? PairKind::point_triangle : PairKind::edge_edge;
    const double impact = random.uniform(0.1, 1);
    CcdQuery q = meeting_query(kind, impact, random.exponential(0.1, 10), random);
    for (int i = 0; i < 4; ++i)
      q.x[i].z() = q.displacement[i].z() = 0;  // in a plane, where searches are long
    double before = 0, first = 0;
    for (int limit = 16; limit <= 65536; limit *= 2) {
      const CcdOptions options{.gap_fraction = 0, .tolerance = 1e-12, .max_iterations = limit};
      const auto t = tight_inclusion_ccd(q, options);
      ASSERT_TRUE(t);
      ASSERT_EQ(t, tight_inclusion_ccd_scalar(q, options));
      EXPECT_GE(*t, before) << trial << ", " << limit;
      EXPECT_LE(*t, impact) << trial << ", " << limit;
      before = *t;
      if (limit == 1024) first = *t;
    }
    long_searches += before > first;
  }
  EXPECT_GT(long_searches, 10);
}

}  // namespace
}  // namespace apart::test
