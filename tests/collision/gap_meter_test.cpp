// The smallest gap of two groups of bodies is that of all pairs, whatever was measured before.
#include <apart/collision/gap_meter.hpp>
#include <apart/geometry/squared_distance.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace apart::test {
namespace {

/// Bodies 0 to 3: two clouds of triangles, one of segments, one of points; body 4 is a plane that vertex 0 of
/// body 5 carries.
struct Clouds {
  CollisionSurface surface;
  Matrix3X x;

  explicit Clouds(std::mt19937& engine) {
    constexpr int cells = 12;
    std::uniform_real_distribution<double> number(-1, 1);
    Faces faces(3, 2 * cells);
    Edges segments(2, cells);
    std::vector<int> body;
    const auto add = [&](int of, int count) {
      for (int k = 0; k < count; ++k) body.push_back(of);
      return int(body.size()) - count;
    };
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < cells; ++c) {
        const int v = add(b, 3);
        faces.col(b * cells + c) << v, v + 1, v + 2;
      }
    for (int c = 0; c < cells; ++c) {
      const int v = add(2, 2);
      segments.col(c) << v, v + 1;
    }
    add(3, cells);
    const int carrier = add(4, 1);
    x.resize(3, Index(body.size()));
    for (Index v = 0; v < x.cols(); ++v)
      x.col(v) =
          Vector3(2.5 * body[std::size_t(v)], 2, 0) + Vector3(number(engine), number(engine), number(engine));
    x.col(carrier) = Vector3(0, -1, 0);
    PairTable pairs(5, PairSettings{});
    for (int a = 0; a < 5; ++a)
      for (int b = a; b < 5; ++b) {
        PairSettings settings;
        settings.thickness = 0.01 * (a + b);
        settings.enabled = (a + b) % 2 == 0;  // does not matter
        pairs.set(a, b, settings);
      }
    HalfSpace plane;
    plane.body = 4;
    plane.carrier = carrier;
    surface = CollisionSurface(x, faces, segments, body, pairs, {plane});
  }

  double brute_force(const std::vector<int>& bodies, const std::vector<int>& others) const {
    double smallest = std::numeric_limits<double>::infinity();
    const auto side = [&](Index a, Index b) {
      const auto in = [&](const std::vector<int>& list, Index v) {
        return std::find(list.begin(), list.end(), surface.vertex_body[v]) != list.end();
      };
      return (in(bodies, a) && in(others, b)) || (in(bodies, b) && in(others, a));
    };
    const auto look = [&](PairKind kind, std::vector<Index> v) {
      if (!side(v[0], v[std::size_t(first_count(kind))])) return;
      StencilPoints p;
      for (std::size_t k = 0; k < v.size(); ++k) p[k] = x.col(v[k]);
      smallest = std::min(smallest, std::sqrt(squared_distance(kind, p)) -
                                        surface.settings(v[0], v[std::size_t(first_count(kind))]).thickness);
    };
    const Index n = surface.vertex_count() - 1;  // the last carries the plane and touches nothing
    for (Index a = 0; a < n; ++a) {
      for (Index f = 0; f < surface.faces.cols(); ++f)
        look(PairKind::point_triangle, {a, surface.faces(0, f), surface.faces(1, f), surface.faces(2, f)});
      for (Index e = 0; e < surface.edges.cols(); ++e)
        look(PairKind::point_edge, {a, surface.edges(0, e), surface.edges(1, e)});
      for (Index b = 0; b < n; ++b) look(PairKind::point_point, {a, b});
      const HalfSpace& plane = surface.half_spaces[0];
      if (side(a, plane.carrier))
        smallest = std::min(smallest, plane.distance(x, a) - surface.settings(a, plane.carrier).thickness);
    }
    for (Index e = 0; e < surface.edges.cols(); ++e)
      for (Index f = 0; f < surface.edges.cols(); ++f)
        look(PairKind::edge_edge,
             {surface.edges(0, e), surface.edges(1, e), surface.edges(0, f), surface.edges(1, f)});
    return smallest;
  }
};

TEST(GapMeter, FindsTheClosestPairOfAnyKindAsBodiesMove) {
  std::mt19937 engine(7);
  std::normal_distribution<double> normal;
  using Group = std::vector<int>;
  const std::vector<std::pair<Group, Group>> groups = {
      {{0}, {1}}, {{0}, {2}}, {{2}, {3}}, {{3}, {1}}, {{1}, {4}}, {{0, 2}, {1, 3}}, {{4, 3}, {0, 1, 2}}};
  for (const auto& [bodies, others] : groups) {
    Clouds clouds(engine);
    GapMeter meter(clouds.surface, bodies, others);
    for (int step = 0; step < 20; ++step) {
      const double expected = clouds.brute_force(bodies, others);
      EXPECT_NEAR(meter.measure(clouds.x), expected, 1e-12);
      EXPECT_EQ(meter.measure(clouds.x), GapMeter(clouds.surface, bodies, others).measure(clouds.x))
          << "what was measured before changes nothing";
      const double far = step % 5 == 4 ? 1 : 0.02;  // jumps, too
      for (Index v = 0; v + 1 < clouds.x.cols(); ++v)
        for (int axis = 0; axis < 3; ++axis) clouds.x(axis, v) += far * normal(engine);
    }
  }
}

TEST(GapMeter, OfNothingIsInfinite) {
  std::mt19937 engine(8);
  const Clouds clouds(engine);
  EXPECT_EQ(GapMeter(clouds.surface, {0}, {}).measure(clouds.x), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace apart::test
