#include <gtest/gtest.h>
#include <apart/core/parallel.hpp>
#include <apart/verify/gaps.hpp>
#include <support/any_pair.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace apart::test {
namespace {

using namespace verify;

class Sampler {
 public:
  explicit Sampler(int seed) : random_(seed) {}
  double number() { return uniform_(random_); }
  Vector3 vector() { return {number(), number(), number()}; }
  std::vector<Vector3> corners(int n) {
    std::vector<Vector3> x(n);
    for (auto& p : x) p = vector();
    return x;
  }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

/// Distance by trying points all over both primitives, then around the best ones: slow, and sure.
double sampled_distance(const std::vector<Vector3>& a, const std::vector<Vector3>& b) {
  // At most three free weights, searched on grids that shrink around the best place (the problem is convex).
  const int na = int(a.size()) - 1, nb = int(b.size()) - 1, n = na + nb;
  auto at = [](const std::vector<Vector3>& x, const double* w, int count) {
    Vector3 p = x[0];
    for (int k = 0; k < count; ++k) p += w[k] * (x[k + 1] - x[0]);
    return p;
  };
  auto feasible = [](const double* w, int count) {
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      if (w[k] < 0) return false;
      sum += w[k];
    }
    return sum <= 1;
  };
  std::array<double, 4> best{};
  double value = (a[0] - b[0]).norm();
  double step = 0.5;
  for (int round = 0; round < 60; ++round) {
    bool moved = true;
    for (int sweep = 0; moved && sweep < 50; ++sweep) {
      moved = false;
      std::array<int, 4> k{};
      const int choices = int(std::pow(3, n));
      const auto centre = best;
      for (int choice = 0; choice < choices; ++choice) {
        int c = choice;
        std::array<double, 4> w = centre;
        for (int i = 0; i < n; ++i, c /= 3) {
          k[i] = c % 3 - 1;
          w[i] = std::clamp(centre[i] + k[i] * step, 0.0, 1.0);
        }
        if (!feasible(w.data(), na) || !feasible(w.data() + na, nb)) {
          // Slide onto the hypotenuse.
          for (int side = 0; side < 2; ++side) {
            double* p = w.data() + (side ? na : 0);
            const int count = side ? nb : na;
            double sum = 0;
            for (int i = 0; i < count; ++i) sum += p[i];
            if (sum > 1)
              for (int i = 0; i < count; ++i) p[i] /= sum;
          }
        }
        const double d = (at(a, w.data(), na) - at(b, w.data() + na, nb)).norm();
        if (d < value - 1e-16) {
          value = d;
          best = w;
          moved = true;
        }
      }
    }
    step *= 0.6;
  }
  return value;
}

TEST(SeparatingDirections, IsTheShortestVectorForEveryKindOfPair) {
  Sampler sample(1);
  for (auto [m, n] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 2}})
    for (int trial = 0; trial < 200; ++trial) {
      const auto a = sample.corners(m), b = sample.corners(n);
      const SeparatingDirections s = separating_directions(a, b);
      EXPECT_NEAR(s.shortest.norm(), sampled_distance(a, b), 1e-6) << m << "-" << n << " trial " << trial;
      // Along the shortest vector no pair of corners is closer: it is the support distance of both hulls.
      if (s.shortest.norm() < 1e-12) continue;
      for (const auto& p : a)
        for (const auto& q : b) EXPECT_GE(s.shortest.normalized().dot(p - q), s.shortest.norm() - 1e-12);
    }
}

TEST(SeparatingDirections, DirectionStaysUsableAtTinyGaps) {
  // A point 1e-12 above the middle of an edge, of a triangle, and an edge across another.
  const Vector3 a(-1, 0.3, 0.1), b(1, -0.2, 0.4), c(0.3, 1, -0.7);
  const Vector3 n = (b - a).cross(c - a).normalized();
  const Vector3 u = (b - a).unitOrthogonal();
  for (double gap : {1e-6, 1e-9, 1e-12}) {
    const std::vector<Vector3> edge{a, b}, triangle{a, b, c};
    const std::vector<Vector3> over_edge{0.3 * a + 0.7 * b + gap * u};
    SeparatingDirections s = separating_directions(over_edge, edge);
    for (const auto& q : edge) EXPECT_GT(s.shortest.dot(over_edge[0] - q), 0) << gap;
    const std::vector<Vector3> over_triangle{0.2 * a + 0.5 * b + 0.3 * c + gap * n};
    s = separating_directions(over_triangle, triangle);
    for (const auto& q : triangle) EXPECT_GT(s.normal.dot(over_triangle[0] - q), 0) << gap;
    const Vector3 m = 0.4 * a + 0.6 * b + gap * n, v = (c - b);
    const std::vector<Vector3> crossing{m - 0.5 * v, m + 0.5 * v};
    s = separating_directions(crossing, edge);
    for (const auto& p : crossing)
      for (const auto& q : edge) EXPECT_GT(s.normal.dot(p - q), 0) << gap;
  }
}

TEST(FindGapsBelow, ListsExactlyThePairsBelowTheGap) {
  for (int seed = 0; seed < 4; ++seed) {
    Sampler sample(seed);
    constexpr Index n_faces = 30, n_segments = 20, n_points = 30;
    Matrix3X x(3, 3 * n_faces + 2 * n_segments + n_points);
    Faces faces(3, n_faces);
    Edges segments(2, n_segments);
    Eigen::VectorXi isolated(n_points);
    Index next = 0;
    for (Index f = 0; f < n_faces; ++f) {
      const Vector3 centre = sample.vector();
      for (int k = 0; k < 3; ++k) {
        x.col(next) = centre + 0.2 * sample.vector();
        faces(k, f) = next++;
      }
    }
    for (Index s = 0; s < n_segments; ++s) {
      const Vector3 centre = sample.vector();
      for (int k = 0; k < 2; ++k) {
        x.col(next) = centre + 0.2 * sample.vector();
        segments(k, s) = next++;
      }
    }
    for (Index p = 0; p < n_points; ++p) {
      x.col(next) = sample.vector();
      isolated[p] = next++;
    }
    const exact::Surface surface = exact::surface(Index(x.cols()), faces, segments, isolated);
    const double gap = 0.1;
    std::vector<exact::PrimitivePair> expected;
    auto corners = [&](const exact::Primitive& p) {
      std::vector<Vector3> result;
      for (int k = 0; k < p.size(); ++k) result.push_back(x.col(p.vertices[k]));
      return result;
    };
    double least = 1e9;
    auto compare = [&](const auto& list_a, const auto& list_b) {
      for (const auto& a : list_a)
        for (const auto& b : list_b) {
          const exact::PrimitivePair pair{a, b};
          if (pair.share_vertex() || (a.size() == b.size() && !(a < b))) continue;
          const double d = separating_directions(corners(a), corners(b)).shortest.norm();
          if (d < gap) expected.push_back(pair);
          least = std::min(least, d);
        }
    };
    std::vector<exact::Primitive> edges = surface.face_edges;
    edges.insert(edges.end(), surface.segments.begin(), surface.segments.end());
    compare(surface.vertices, surface.faces);
    compare(edges, edges);
    compare(surface.points, surface.segments);
    compare(surface.points, surface.points);
    std::sort(expected.begin(), expected.end());
    const auto found = find_gaps_below(x, surface, gap, any_pair);
    std::vector<exact::PrimitivePair> pairs;
    for (const Gap& g : found) {
      pairs.push_back(g.pair);
      EXPECT_LT(g.distance, gap);
    }
    EXPECT_EQ(pairs, expected);
    EXPECT_GT(expected.size(), 10u);
    const auto smallest = smallest_gap(x, surface, gap, any_pair);
    ASSERT_TRUE(smallest);
    EXPECT_EQ(smallest->distance, least);
    EXPECT_FALSE(smallest_gap(x, surface, least, any_pair)) << "the range is exclusive";
  }
}

TEST(FindGapsBelow, NeverMissesAGapThatRoundingHides) {
  // Far from the origin, a gap of exactly one unit in the last place.
  const double far = 1e6, ulp = std::nextafter(far, 2e6) - far;
  Matrix3X x(3, 4);
  x << 0, 1, 0, 0.25,  //
      0, 0, 1, 0.25,   //
      far, far, far, far + ulp;
  Faces faces(3, 1);
  faces << 0, 1, 2;
  Eigen::VectorXi isolated(1);
  isolated << 3;
  const auto surface = exact::surface(4, faces, {}, isolated);
  EXPECT_EQ(find_gaps_below(x, surface, std::nextafter(ulp, 1), any_pair).size(), 1u);
  EXPECT_EQ(find_gaps_below(x, surface, 0.5 * ulp, any_pair).size(), 0u);
}

}  // namespace
}  // namespace apart::test
