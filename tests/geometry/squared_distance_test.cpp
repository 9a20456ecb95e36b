#include <gtest/gtest.h>
#include <apart/geometry/squared_distance.hpp>
#include <support/finite_difference.hpp>
#include <support/random.hpp>
#include <support/reference_distance.hpp>
#include <support/stencil_matrix.hpp>

#include <Eigen/Geometry>
#include <bit>

namespace apart::test {
namespace {

constexpr PairKind all_kinds[] = {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle,
                                  PairKind::edge_edge};

/// At an angle of at least 0.3 rad to `axis`.
Vector3 unit_apart_from(const Vector3& axis, Random& random) {
  Vector3 v = random.unit();
  while (v.cross(axis.normalized()).norm() < 0.3) v = random.unit();
  return v;
}
Vector3 unit_orthogonal_to(const Vector3& axis, Random& random) {
  const Vector3 v = unit_apart_from(axis, random);
  return (v - axis * axis.dot(v) / axis.squaredNorm()).normalized();
}

/// A stencil of size about 1 whose closest points and feature are known by construction, from the optimality
/// conditions of the (convex) distance problem: r = gap · direction, orthogonal to the free directions,
/// leaning away from others.
struct KnownStencil {
  PairKind kind;
  int free;
  double gap;
  StencilPoints x;
};

KnownStencil known_stencil(PairKind kind, int free, double gap, Random& random) {
  KnownStencil k{kind, free, gap, {}};
  StencilPoints& x = k.x;
  const auto inside = [&] { return random.uniform(0.2, 0.8); };
  switch (kind) {
    case PairKind::point_point:
      x[1] = random.vector();
      x[0] = x[1] + gap * random.unit();
      break;
    case PairKind::point_edge: {
      const Vector3 u = random.unit();
      x[1] = random.vector();
      x[2] = x[1] + u;
      const Vector3 side = unit_orthogonal_to(u, random);
      x[0] = free == 1 ? Vector3(x[1] + inside() * u + gap * side)
                       : Vector3(x[1] + gap * (side - 0.7 * u).normalized());
      break;
    }
    case PairKind::point_triangle: {
      const Vector3 u = random.unit(), v = unit_apart_from(u, random);
      x[1] = random.vector();
      x[2] = x[1] + u;
      x[3] = x[1] + v;
      const Vector3 n = u.cross(v).normalized();
      if (free == 2) {
        const double a = random.uniform(0.2, 0.4), b = random.uniform(0.2, 0.4);
        x[0] = x[1] + a * u + b * v + (random.uniform(-1, 1) < 0 ? -gap : gap) * n;
      } else if (free == 1) {  // above the edge x1 x2, leaning away from x3
        Vector3 away = u.cross(n).normalized();
        if (away.dot(v) > 0) away = -away;
        x[0] = x[1] + inside() * u + gap * (random.uniform(-1, 1) * n + away).normalized();
      } else {  // beyond the corner x1
        const Vector3 away = -(u.normalized() + v.normalized()).normalized();
        x[0] = x[1] + gap * (random.uniform(-1, 1) * n + away).normalized();
      }
      break;
    }
    case PairKind::edge_edge: {
      const Vector3 u = random.unit(), v = unit_apart_from(u, random);
      if (free == 2) {
        const Vector3 r = gap * u.cross(v).normalized();
        x[0] = random.vector();
        x[1] = x[0] + u;
        x[2] = x[0] + inside() * u - inside() * v - r;
        x[3] = x[2] + v;
      } else if (free ==
                 1) {  // the end x0 against the interior of x2 x3, the rest of the first edge leaning away
        const Vector3 r = (u - v * v.dot(u) + random.uniform(-0.5, 0.5) * u.cross(v)).normalized();
        x[2] = random.vector();
        x[3] = x[2] + v;
        x[0] = x[2] + inside() * v + gap * r;
        x[1] = x[0] + u;
      } else {  // the ends x0 and x2
        const Vector3 r = (u - v + random.uniform(-1, 1) * u.cross(v)).normalized();
        x[2] = random.vector();
        x[3] = x[2] + v;
        x[0] = x[2] + gap * r;
        x[1] = x[0] + u;
      }
      break;
    }
  }
  return k;
}

struct Case {
  PairKind kind;
  int free;
};
std::vector<Case> all_cases() {
  return {{PairKind::point_point, 0},    {PairKind::point_edge, 0},     {PairKind::point_edge, 1},
          {PairKind::point_triangle, 0}, {PairKind::point_triangle, 1}, {PairKind::point_triangle, 2},
          {PairKind::edge_edge, 0},      {PairKind::edge_edge, 1},      {PairKind::edge_edge, 2}};
}

StencilPoints transformed(StencilPoints x, int n, double scale, const Vector3& offset) {
  for (int i = 0; i < n; ++i) x[i] = scale * x[i] + offset;
  return x;
}

// Sizes and places of stencils: unit size, a millimetre, and a kilometre away from the origin.
struct Frame {
  double scale;
  Vector3 offset;
};
const Frame frames[] = {{1, {0, 0, 0}}, {1e-3, {0, 0, 0}}, {1, {1e3, -2e3, 5e2}}};

TEST(SquaredDistance, FindsTheClosestFeatureAndItsDistance) {
  Random random(7);
  for (const auto& [kind, free] : all_cases())
    for (double gap : {1.0, 1e-2, 1e-5, 1e-8})
      for (const Frame& frame : frames)
        for (int trial = 0; trial < 20; ++trial) {
          const KnownStencil k = known_stencil(kind, free, gap, random);
          const int n = point_count(kind);
          const StencilPoints x = transformed(k.x, n, frame.scale, frame.offset);
          const double place_rounding = 1e-15 * (frame.scale + frame.offset.norm());
          if (place_rounding > 1e-6 * gap * frame.scale)
            continue;  // the construction itself is lost in rounding
          SCOPED_TRACE(::testing::Message() << "kind " << int(kind) << " free " << free << " gap " << gap);
          EXPECT_EQ(closest_feature(kind, x).free, free);
          EXPECT_NEAR(std::sqrt(squared_distance(kind, x)), gap * frame.scale, 10 * place_rounding);
        }
}

TEST(SquaredDistance, GradientAndHessianAreTheDerivatives) {
  Random random(7);
  for (const auto& [kind, free] : all_cases())
    for (double gap : {1.0, 1e-2, 1e-5, 1e-8})
      for (const Frame& frame : frames)
        for (int trial = 0; trial < 10; ++trial) {
          const KnownStencil k = known_stencil(kind, free, gap, random);
          const int n = point_count(kind);
          const StencilPoints x = transformed(k.x, n, frame.scale, frame.offset);
          // Small against the gap: within it r turns, and a feature at the bounds of its parameters is left.
          const double step = frame.scale * std::min(1e-4, 1e-2 * gap);
          if (frame.offset.norm() * 1e-15 > 0.05 * step) continue;
          SCOPED_TRACE(::testing::Message() << "kind " << int(kind) << " free " << free << " gap " << gap
                                            << " scale " << frame.scale << " offset " << frame.offset.norm());
          const auto value = [&kind = kind](const Matrix3X& y) {
            return squared_distance(kind, stencil_points(y));
          };
          const auto gradient = [&kind = kind, n](const Matrix3X& y) -> Matrix3X {
            const StencilPoints p = stencil_points(y);
            const StencilVector all = squared_distance_gradient(closest_feature(kind, p), n, p);
            return Eigen::Map<const Matrix3X>(all.data(), 3, n);
          };
          const ClosestFeature feature = closest_feature(kind, x);
          const StencilVector g = squared_distance_gradient(feature, n, x);
          const StencilMatrix h = squared_distance_hessian(feature, n, x);
          // The rounding of r, relative to the size of the stencil, bounds what differences can resolve.
          const double blur = 20e-15 * frame.scale;
          const Matrix3X numerical_g = difference_gradient(value, as_matrix(x, n), step);
          EXPECT_LT((numerical_g.reshaped() - g.head(3 * n)).norm(),
                    1e-5 * g.norm() + blur * (frame.scale * gap + step) / step);
          EXPECT_LT(
              (difference_hessian(gradient, as_matrix(x, n), step) - h.topLeftCorner(3 * n, 3 * n)).norm(),
              1e-5 * h.norm() + blur / step);
          EXPECT_TRUE(g.tail(12 - 3 * n).isZero(0));
          EXPECT_TRUE(h.rightCols(12 - 3 * n).isZero(0) && h.bottomRows(12 - 3 * n).isZero(0));
        }
}

TEST(SquaredDistance, DerivativesIgnoreTranslation) {
  Random random(7);
  for (const auto& [kind, free] : all_cases())
    for (int trial = 0; trial < 50; ++trial) {
      const KnownStencil k = known_stencil(kind, free, random.uniform(1e-3, 1), random);
      const int n = point_count(kind);
      const ClosestFeature feature = closest_feature(kind, k.x);
      EXPECT_NEAR(feature.weights.sum(), 0, 1e-15);
      const StencilVector g = squared_distance_gradient(feature, n, k.x);
      const StencilMatrix h = squared_distance_hessian(feature, n, k.x);
      Vector3 total = Vector3::Zero();
      Eigen::Matrix<double, 12, 3> row = Eigen::Matrix<double, 12, 3>::Zero();
      for (int i = 0; i < n; ++i) {
        total += g.segment<3>(3 * i);
        row += h.middleCols<3>(3 * i);
      }
      EXPECT_LT(total.norm(), 1e-14 * (1 + g.norm()));
      EXPECT_LT(row.norm(), 1e-13 * h.norm());
      EXPECT_LT((h - h.transpose()).norm(), 1e-13 * h.norm());
    }
}

// The distance of two sets changes by no more than their points move: holds across every change of feature.
TEST(SquaredDistance, IsContinuousAcrossFeatures) {
  Random random(7);
  for (PairKind kind : all_kinds) {
    const int n = point_count(kind), first = first_count(kind);
    int changes = 0;
    for (int walk = 0; walk < 300; ++walk) {
      StencilPoints x;
      for (int i = 0; i < n; ++i) x[i] = random.vector();
      const double length = std::pow(10.0, random.uniform(-9, -1));
      for (int step = 0; step < 30; ++step) {
        StencilPoints y = x;
        double way[2] = {0, 0};
        for (int i = 0; i < n; ++i) {
          y[i] += length * random.vector();
          way[i >= first] = std::max(way[i >= first], (y[i] - x[i]).norm());
        }
        const double change = std::sqrt(squared_distance(kind, y)) - std::sqrt(squared_distance(kind, x));
        EXPECT_LE(std::abs(change), way[0] + way[1] + 1e-14);
        changes += closest_feature(kind, x).free != closest_feature(kind, y).free;
        x = y;
      }
    }
    if (kind != PairKind::point_point) {
      EXPECT_GT(changes, 20) << "the walk should cross features";
    }
  }
}

// For a point against a convex set the gradient, twice the separation, is continuous as well.
TEST(SquaredDistance, PointTriangleGradientIsContinuousAcrossFeatures) {
  Random random(7);
  int changes = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    StencilPoints x;
    for (int i = 0; i < 4; ++i) x[i] = random.vector();
    StencilPoints y = x;
    y[0] += 1e-7 * random.unit();
    const ClosestFeature fx = closest_feature(PairKind::point_triangle, x);
    const ClosestFeature fy = closest_feature(PairKind::point_triangle, y);
    if (fx.free == fy.free) continue;
    ++changes;
    const Vector3 gx = squared_distance_gradient(fx, 4, x).head<3>(),
                  gy = squared_distance_gradient(fy, 4, y).head<3>();
    EXPECT_LE((gx - gy).norm(),
              2.001e-7);  // projection onto a convex set is 1-Lipschitz, so is what it leaves
  }
  // The change of feature needs to be hit by chance; put the point on the boundary between two regions
  // instead.
  for (int trial = 0; trial < 200; ++trial) {
    KnownStencil k = known_stencil(PairKind::point_triangle, 1, 0.3, random);
    const Vector3 u = k.x[2] - k.x[1], n = u.cross(k.x[3] - k.x[1]).normalized();
    k.x[0] = k.x[1] + 0.5 * u +
             0.3 * n;  // straight above the edge: border of the edge's and the interior's region
    for (double side : {-1e-9, 1e-9}) {
      StencilPoints y = k.x;
      y[0] += side * n.cross(u).normalized();
      const ClosestFeature f = closest_feature(PairKind::point_triangle, y);
      const Vector3 g = squared_distance_gradient(f, 4, y).head<3>();
      EXPECT_LT((g - 0.6 * n).norm(), 1e-8);
      ++changes;
    }
  }
  EXPECT_GE(changes, 400);
}

TEST(SquaredDistance, AgreesWithQuadruplePrecisionOnRandomStencils) {
  Random random(7);
  for (PairKind kind : all_kinds)
    for (int trial = 0; trial < 20000; ++trial) {
      StencilPoints x;
      for (auto& p : x) p = random.vector();
      EXPECT_NEAR(std::sqrt(squared_distance(kind, x)), reference_distance(kind, x), 1e-14);
    }
}

// Errors of the parameters grow without bound as edges become parallel; the error of the distance must not.
// Only below the sine of 1e-10, where the ends are compared instead, may it reach that share of the length.
// [thesis A.7.2]
TEST(SquaredDistance, IsAccurateForNearlyParallelEdges) {
  Random random(7);
  for (double sine : {1e-1, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 3e-10, 1e-11, 1e-13, 1e-16, 0.0})
    for (double gap : {1.0, 1e-3, 1e-6, 1e-8, 1e-10})
      for (int trial = 0; trial < 200; ++trial) {
        const Vector3 u = random.unit(), side = unit_orthogonal_to(u, random), up = u.cross(side);
        const Vector3 v = random.uniform(0.3, 2) * (u + sine * side);
        StencilPoints x;
        x[0] = random.vector();
        x[1] = x[0] + u;
        x[2] = x[0] + random.uniform(-1, 2) * u - random.uniform(-0.2, 1.2) * v + gap * up;
        x[3] = x[2] + v;
        const double exact = reference_distance(PairKind::edge_edge, x);
        const double tolerance = sine > 2e-10 ? 5e-15 : 2e-10;
        EXPECT_NEAR(std::sqrt(squared_distance(PairKind::edge_edge, x)), exact, tolerance)
            << "sine " << sine << " gap " << gap;
      }
}

TEST(SquaredDistance, IsAccurateForThinTriangles) {
  Random random(7);
  for (double height : {1e-2, 1e-5, 1e-8, 1e-10, 1e-13, 0.0})
    for (double gap : {1.0, 1e-3, 1e-8})
      for (int trial = 0; trial < 300; ++trial) {
        const Vector3 u = random.unit(), side = unit_orthogonal_to(u, random), up = u.cross(side);
        StencilPoints x;
        const Vector3 corner = random.vector();
        x[1] = corner;
        x[2] = corner + u;
        x[3] = corner + random.uniform(-0.5, 1.5) * u + height * side;
        std::shuffle(x.begin() + 1, x.end(), random.engine);
        x[0] = corner + random.uniform(-0.5, 1.5) * u + random.uniform(-2, 2) * height * side + gap * up;
        EXPECT_NEAR(std::sqrt(squared_distance(PairKind::point_triangle, x)),
                    reference_distance(PairKind::point_triangle, x), 5e-15)
            << "height " << height << " gap " << gap;
      }
}

TEST(SquaredDistance, ClosestPointsAreConsistentWithFeatures) {
  Random random(7);
  for (const auto& [kind, free] : all_cases())
    for (int trial = 0; trial < 100; ++trial) {
      KnownStencil k = known_stencil(kind, free, random.uniform(1e-3, 1), random);
      const int n = point_count(kind), first = first_count(kind);
      std::shuffle(k.x.begin() + first, k.x.begin() + n, random.engine);
      std::shuffle(k.x.begin(), k.x.begin() + first, random.engine);
      const ClosestPoints closest = closest_points(kind, k.x);
      const ClosestFeature feature = closest_feature(kind, k.x);
      EXPECT_EQ(std::popcount(closest.vertices), free + 2);
      EXPECT_EQ(closest.weights, feature.weights);
      EXPECT_NEAR((closest.r - separation(feature, n, k.x)).norm(), 0, 1e-15);
      double sum[2] = {0, 0};
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(closest.weights[i] != 0, bool(closest.vertices >> i & 1));
        EXPECT_GE((i < first ? 1 : -1) * closest.weights[i], 0) << "r points from the second to the first";
        sum[i >= first] += closest.weights[i];
        // A parameter moves weight only between points of one primitive that take part.
        for (int j = 0; j < feature.free; ++j)
          if (feature.slope(i, j) != 0) {
            EXPECT_NE(closest.weights[i], 0);
          }
      }
      EXPECT_NEAR(sum[0], 1, 1e-15);
      EXPECT_NEAR(sum[1], -1, 1e-15);
    }
}

TEST(SquaredDistance, DegeneratePrimitivesReduceToWhatIsLeftOfThem) {
  const Vector3 a(1, 2, 3), b(4, 2, 3), p(2, 2, 5);
  // A triangle that is a segment, a triangle and an edge that are points, two edges that are points.
  EXPECT_EQ(squared_distance(PairKind::point_triangle, {p, a, b, a}), 4);
  EXPECT_EQ(squared_distance(PairKind::point_triangle, {p, a, 0.5 * (a + b), b}), 4);
  EXPECT_EQ(squared_distance(PairKind::point_triangle, {p, a, a, a}), 5);
  EXPECT_EQ(squared_distance(PairKind::point_edge, {p, a, a, a}), 5);
  EXPECT_EQ(squared_distance(PairKind::edge_edge, {a, b, p, p}), 4);
  EXPECT_EQ(squared_distance(PairKind::edge_edge, {p, p, a, b}), 4);
  EXPECT_EQ(squared_distance(PairKind::edge_edge, {a, a, p, p}), 5);
  EXPECT_EQ(squared_distance(PairKind::edge_edge, {a, a, a, a}), 0);
  EXPECT_EQ(closest_feature(PairKind::edge_edge, {a, b, p, p}).free, 1);
  EXPECT_EQ(closest_feature(PairKind::point_triangle, {p, a, b, a}).free, 1);
}

TEST(SquaredDistance, TouchingPrimitivesAreAtZeroDistance) {
  Random random(7);
  for (const auto& [kind, free] : all_cases())
    for (int trial = 0; trial < 50; ++trial) {
      const KnownStencil k = known_stencil(kind, free, 0, random);
      EXPECT_LT(squared_distance(kind, k.x), 1e-29);
    }
  // Edges in one plane that cross.
  EXPECT_EQ(squared_distance(PairKind::edge_edge,
                             {Vector3(-1, 0, 0), Vector3(1, 0, 0), Vector3(0, -1, 0), Vector3(0, 1, 0)}),
            0);
}

TEST(SquaredDistance, ParallelEdgesGiveTheDistanceOfTheirLinesWhereTheyOverlap) {
  const auto edges = [](double shift) {
    return StencilPoints{Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(shift, 0.5, 0),
                         Vector3(shift + 1, 0.5, 0)};
  };
  for (double shift : {-1.0, -0.3, 0.0, 0.5, 1.0})
    EXPECT_DOUBLE_EQ(squared_distance(PairKind::edge_edge, edges(shift)), 0.25);
  EXPECT_DOUBLE_EQ(squared_distance(PairKind::edge_edge, edges(2)), 1.25);
  EXPECT_EQ(closest_feature(PairKind::edge_edge, edges(0.5)).free, 1);
}

}  // namespace
}  // namespace apart::test
