#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/active_set.hpp>
#include <apart/collision/broad_phase.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/edge_edge_mollifier.hpp>

#include <algorithm>
#include <map>

namespace apart::test {
namespace {

const PairSettings& settings_of(const CollisionSurface& surface, const Stencil& s) {
  return surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
}
bool is_active(const CollisionSurface& surface, const Stencil& s, const Matrix3X& x) {
  const ContactRange range = range_of(surface, s);
  return distance(s, x) < range.thickness + range.dhat;
}

bool operator_equal(const Contact& a, const Contact& b) {
  return a.stencil == b.stencil && a.weight == b.weight && a.mollifier_threshold == b.mollifier_threshold &&
         a.dhat == b.dhat && a.thickness == b.thickness;
}
bool same(const ActiveSet& a, const ActiveSet& b) {
  return std::equal(a.contacts.begin(), a.contacts.end(), b.contacts.begin(), b.contacts.end(),
                    operator_equal) &&
         a.min_distance == b.min_distance && a.plane_contacts.size() == b.plane_contacts.size() &&
         std::equal(a.plane_contacts.begin(), a.plane_contacts.end(), b.plane_contacts.begin(),
                    [](auto& p, auto& q) { return p.vertex == q.vertex && p.plane == q.plane; });
}

void merge_contacts_of_random_surfaces(int count) {
  Random random(1);
  double all_active = 0, all_shortened = 0;
  for (int trial = 0; trial < count; ++trial) {
    const CollisionSurface surface = random_surface(60, random.uniform(0.05, 0.3), 0.1, random);
    // As made, and all of it shrunk so that neighbours in a piece are squeezed too.
    const bool squeezed = trial % 2 == 1;
    const Matrix3X x = (squeezed ? 0.3 : 1.0) * surface.rest;
    const Candidates all = all_pairs(surface);
    const ActiveSet active = find_active_set(surface, all, x);
    double pairs = 0, smallest = std::numeric_limits<double>::infinity(), smallest_gap = smallest;
    int shortened = 0, smaller = 0;
    // Any function of the distance, summed over pairs and over contacts with their weights: the energy
    // is the same.
    const auto f = [](double d) { return 1 / (0.01 + d); };
    double sum = 0, merged_pairs = 0, merged = 0;
    for (const Stencil& s : all)
      if (is_active(surface, s, x)) {
        ++pairs;
        const ContactRange range = range_of(surface, s);
        shortened += range.shortened;
        smallest_gap = std::min(smallest_gap, distance(s, x) - range.thickness);
        smallest = std::min(smallest, distance(s, x));
        const bool mollified =
            s.kind == PairKind::edge_edge &&
            edge_edge_cross_squared(s.gather(x)) < edge_edge_mollifier_threshold(s.gather(surface.rest));
        sum += mollified ? 0 : f(distance(s, x));
      }
    for (const Contact& c : active.contacts) {
      merged_pairs += c.weight;
      if (c.mollifier_threshold == 0) merged += c.weight * f(distance(c.stencil, x));
      const PairSettings& bodies = settings_of(surface, c.stencil);
      smaller += c.dhat < bodies.dhat;
      EXPECT_EQ(c.dhat < bodies.dhat, c.thickness < bodies.thickness);
      if (c.dhat < bodies.dhat) {
        EXPECT_NEAR(c.dhat / bodies.dhat, c.thickness / bodies.thickness, 1e-12);
        EXPECT_LT(distance(c.stencil, x), c.thickness + c.dhat);
      } else {
        EXPECT_EQ(c.dhat, bodies.dhat);
        EXPECT_EQ(c.thickness, bodies.thickness);
      }
    }
    all_active += pairs;
    EXPECT_EQ(merged_pairs, pairs);
    EXPECT_NEAR(merged, sum, 1e-12 * sum);
    EXPECT_NEAR(active.min_distance, smallest, 1e-15);
    EXPECT_NEAR(active.min_gap, smallest_gap, 1e-15);
    EXPECT_EQ(smaller, shortened) << "neighbours are not merged";
    all_shortened += shortened;
  }
  EXPECT_GT(all_active, 50 * count);
  EXPECT_GT(all_shortened, 5 * count);
}

TEST(ActiveSet, MergesWithoutLosingAnyPair) {
  merge_contacts_of_random_surfaces(4);
}
TEST(ActiveSet, SlowMergesOnManySurfacesWithoutLosingAnyPair) {
  merge_contacts_of_random_surfaces(20);
}

TEST(ActiveSet, ContactsAreReducedCanonicalSortedAndDistinct) {
  Random random(2);
  const CollisionSurface surface = random_surface(120, 0.15, 0.1, random);
  const ActiveSet active = find_active_set(surface, all_pairs(surface), surface.rest);
  int kinds[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < active.contacts.size(); ++i) {
    const Contact& c = active.contacts[i];
    ++kinds[int(c.stencil.kind)];
    const auto& v = c.stencil.vertices;
    if (c.stencil.kind == PairKind::point_point) {
      EXPECT_LT(v[0], v[1]);
    }
    if (c.stencil.kind == PairKind::point_edge) {
      EXPECT_LT(v[1], v[2]);
    }
    if (c.mollifier_threshold == 0) {
      EXPECT_EQ(closest_feature(c.stencil.kind, c.stencil.gather(surface.rest)).free,
                std::min(2, c.stencil.size() - 2));
    }
    if (i > 0) {
      const Contact& before = active.contacts[i - 1];
      EXPECT_LT(std::pair(before.mollifier_threshold > 0, before.stencil),
                std::pair(c.mollifier_threshold > 0, c.stencil));
    }
  }
  for (int count : kinds) EXPECT_GT(count, 0);
}

TEST(ActiveSet, DependsNeitherOnThreadsNorOnFartherCandidates) {
  Random random(3);
  CollisionSurface surface = two_sheets(30, 0.01, 0.002, 0.2, {.dhat = 0.02}, random);
  surface.half_spaces.push_back({.origin = Vector3(0, 0, -0.01), .normal = Vector3::UnitZ(), .body = 0});
  const auto bvh = make_bvh(surface);
  const Candidates few = bvh->find(surface.rest, 0.02), many = bvh->find(surface.rest, 0.06);
  ASSERT_LT(few.size(), many.size());
  set_thread_count(1);
  const ActiveSet one = find_active_set(surface, few, surface.rest);
  ASSERT_GT(one.contacts.size(), 1000u);
  ASSERT_GT(one.plane_contacts.size(), 100u);
  for (int threads : {1, 2, 4}) {
    set_thread_count(threads);
    EXPECT_TRUE(same(find_active_set(surface, few, surface.rest), one));
    EXPECT_TRUE(same(find_active_set(surface, many, surface.rest), one));
  }
  set_thread_count(1);
}

/// A fan of six triangles around a vertex in the plane z = 0, and a point.
CollisionSurface fan_and_point(const Vector3& point) {
  Matrix3X x(3, 8);
  x.col(0).setZero();
  Faces faces(3, 6);
  for (int k = 0; k < 6; ++k) {
    x.col(k + 1) << std::cos(k * M_PI / 3), std::sin(k * M_PI / 3), 0;
    faces.col(k) << 0, k + 1, (k + 1) % 6 + 1;
  }
  x.col(7) = point;
  PairTable pairs(2, {.enabled = false});
  pairs.set(0, 1, {.dhat = 0.3});
  return {x, faces, Edges(2, 0), {0, 0, 0, 0, 0, 0, 0, 1}, pairs, {}};
}

TEST(ActiveSet, APointAboveACornerEdgeOrTriangleIsOneContactEach) {
  const auto contacts = [](const Vector3& point) {
    const CollisionSurface surface = fan_and_point(point);
    return find_active_set(surface, all_pairs(surface), surface.rest).contacts;
  };
  auto c = contacts({0, 0, 0.1});
  ASSERT_EQ(c.size(), 1u);
  EXPECT_EQ(c[0].stencil, (Stencil{PairKind::point_point, {0, 7, -1, -1}}));
  EXPECT_EQ(c[0].weight, 6);

  c = contacts(
      {0.5, 0, 0.1});  // above the edge 0–1: the two triangles at it, and the four others by their edges
  ASSERT_GE(c.size(), 1u);
  EXPECT_EQ(c[0].stencil, (Stencil{PairKind::point_edge, {7, 0, 1, -1}}));
  EXPECT_EQ(c[0].weight, 2);

  c = contacts({0.5, 0.28, 0.1});  // above the middle of the first triangle
  const auto triangle = std::find_if(
      c.begin(), c.end(), [](const Contact& k) { return k.stencil.kind == PairKind::point_triangle; });
  ASSERT_NE(triangle, c.end());
  EXPECT_EQ(triangle->stencil, (Stencil{PairKind::point_triangle, {7, 0, 1, 2}}));
  EXPECT_EQ(triangle->weight, 1);

  EXPECT_TRUE(contacts({0, 0, 0.3}).empty()) << "as far as d̂ is not active";
  EXPECT_TRUE(contacts({0, 0, 2}).empty());
}

/// Two crossing or parallel segments of two bodies.
CollisionSurface two_segments(double angle, const PairSettings& settings, double rest_length = 1) {
  Matrix3X x(3, 4);
  x << -0.5, 0.5, -0.5 * std::cos(angle), 0.5 * std::cos(angle),  //
      0, 0, -0.5 * std::sin(angle), 0.5 * std::sin(angle),        //
      0, 0, 0.1, 0.1;
  Matrix3X rest = x;
  rest.leftCols(2) *= rest_length;
  return {rest, Faces(3, 0), Edges(Eigen::Matrix2i{{0, 2}, {1, 3}}), {0, 0, 1, 1}, PairTable(2, settings),
          {}};
}

/// Without the ends of segments against segments.
Candidates edge_pairs(const CollisionSurface& surface) {
  Candidates pairs = all_pairs(surface);
  std::erase_if(pairs, [](const Stencil& s) { return s.kind != PairKind::edge_edge; });
  return pairs;
}

TEST(ActiveSet, EdgesBelowTheThresholdOfTheirRestLengthsAreMollified) {
  const double limit = std::asin(std::sqrt(1e-3));
  for (double angle : {0.0, 0.5 * limit, 0.99 * limit}) {
    const CollisionSurface surface = two_segments(angle, {.dhat = 0.2});
    const ActiveSet active = find_active_set(surface, edge_pairs(surface), surface.rest);
    ASSERT_EQ(active.contacts.size(), 1u) << angle;
    EXPECT_EQ(active.contacts[0].stencil.kind, PairKind::edge_edge);
    EXPECT_NEAR(active.contacts[0].mollifier_threshold, 1e-3, 1e-12);
    EXPECT_EQ(active.contacts[0].weight, 1);
  }
  for (double angle : {1.01 * limit, 0.5, 1.5}) {
    const CollisionSurface surface = two_segments(angle, {.dhat = 0.2});
    const ActiveSet active = find_active_set(surface, edge_pairs(surface), surface.rest);
    ASSERT_EQ(active.contacts.size(), 1u) << angle;
    EXPECT_EQ(active.contacts[0].mollifier_threshold, 0);
  }
  // The rest lengths count, not the present ones: the same state with a rest edge twice as long.
  const CollisionSurface surface = two_segments(1.5 * limit, {.dhat = 0.2});
  CollisionSurface longer = surface;
  longer.rest.leftCols(2) *= 2;
  const Candidates pairs = edge_pairs(surface);
  EXPECT_EQ(find_active_set(surface, pairs, surface.rest).contacts[0].mollifier_threshold, 0);
  EXPECT_NEAR(find_active_set(longer, pairs, surface.rest).contacts[0].mollifier_threshold, 4e-3, 1e-12);
}

TEST(ActiveSet, ARestEdgeWithoutLengthIsNotMollified) {
  const CollisionSurface surface = two_segments(0, {.dhat = 0.2}, 0);  // the first segment is a point at rest
  const ActiveSet active = find_active_set(surface, edge_pairs(surface), surface.rest);
  ASSERT_EQ(active.contacts.size(), 1u);
  EXPECT_EQ(active.contacts[0].mollifier_threshold, 0);
  EXPECT_EQ(active.contacts[0].stencil.kind, PairKind::point_edge);
}

TEST(ActiveSet, ThicknessAddsToTheReach) {
  const CollisionSurface thin = two_segments(1, {.dhat = 0.05});
  EXPECT_TRUE(find_active_set(thin, all_pairs(thin), thin.rest).contacts.empty());
  const CollisionSurface thick = two_segments(1, {.dhat = 0.05, .thickness = 0.06});
  const ActiveSet active = find_active_set(thick, all_pairs(thick), thick.rest);
  ASSERT_EQ(active.contacts.size(), 1u);
  EXPECT_EQ(active.contacts[0].thickness, 0.06);
  EXPECT_NEAR(active.min_distance, 0.1, 1e-15);
}

TEST(ActiveSet, VerticesNearHalfSpacesAreListedByPlaneThenVertex) {
  Matrix3X x(3, 4);
  x << 0, 1, 2, 3, 0.05, 0.2, 0.05, 0.01, 0, 0, 0, 0;
  PairTable pairs(3, {.enabled = false, .dhat = 0.1});
  pairs.set(0, 2, {.dhat = 0.1});
  pairs.set(1, 2, {.dhat = 0.01, .thickness = 0.03});
  const CollisionSurface surface(
      x, Faces(3, 0), Edges(2, 0), {0, 0, 1, 1}, pairs,
      {{.normal = Vector3::UnitX(), .body = 2}, {.normal = Vector3::UnitY(), .body = 2}});
  const ActiveSet active = find_active_set(surface, {}, x);
  ASSERT_EQ(active.plane_contacts.size(), 3u);
  EXPECT_EQ(active.plane_contacts[0].vertex, 0);
  EXPECT_EQ(active.plane_contacts[0].plane, 0);
  EXPECT_EQ(active.plane_contacts[1].vertex, 0);
  EXPECT_EQ(active.plane_contacts[1].plane, 1);
  EXPECT_EQ(active.plane_contacts[2].vertex, 3);
  EXPECT_EQ(active.plane_contacts[2].plane, 1);
  EXPECT_EQ(active.min_distance, 0);
}

TEST(ActiveSet, NothingNearMeansInfiniteDistance) {
  const CollisionSurface surface = two_segments(1, {.dhat = 1e-3});
  const ActiveSet active = find_active_set(surface, all_pairs(surface), surface.rest);
  EXPECT_TRUE(active.contacts.empty() && active.plane_contacts.empty());
  EXPECT_EQ(active.min_distance, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace apart::test
