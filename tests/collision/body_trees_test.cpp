#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/body_trees.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>

#include <algorithm>

namespace apart::test {
namespace {

/// Bodies of every kind of primitive that an affine map takes from their rest shape to the start, and another
/// to the end: solids, a plate thinner than what a motion can be found from, an open sheet, rods that are
/// straight or bent, clouds of points and single ones.
struct Bodies {
  Bodies(int count, double travel, double stretch, Random& random) : pairs(count, {.dhat = 1e-3}) {
    std::vector<Matrix3X> rest, start, end;
    std::vector<std::array<int, 3>> triangles;
    std::vector<std::array<int, 2>> segments;
    std::vector<int> body;
    int vertices = 0;
    for (int b = 0; b < count; ++b) {
      const Mesh mesh = shape(b % 8, random);
      const auto motion = [&] {
        const Matrix3 turn = Eigen::AngleAxisd(random.uniform(0, 3), random.unit()).toRotationMatrix();
        return Matrix3(turn + stretch * Matrix3::NullaryExpr([&] { return random.uniform(-1, 1); }));
      };
      const Vector3 centre = 0.2 * random.vector();
      const Matrix3 first = motion(), change = motion();
      const Matrix3 second = travel == 0 ? first : Matrix3((1 - travel) * first + travel * change);
      rest.push_back(mesh.points);
      start.push_back((first * mesh.points).colwise() + centre);
      end.push_back((second * mesh.points).colwise() + Vector3(centre + travel * random.vector()));
      for (const auto f : mesh.faces.colwise())
        triangles.push_back({vertices + f[0], vertices + f[1], vertices + f[2]});
      for (const auto e : mesh.edges.colwise()) segments.push_back({vertices + e[0], vertices + e[1]});
      body.insert(body.end(), std::size_t(mesh.point_count()), b);
      vertices += int(mesh.point_count());
    }
    const auto together = [&](const std::vector<Matrix3X>& parts) {
      Matrix3X all(3, vertices);
      Index next = 0;
      for (const Matrix3X& part : parts) {
        all.middleCols(next, part.cols()) = part;
        next += Index(part.cols());
      }
      return all;
    };
    x0 = together(start);
    x1 = together(end);
    Faces faces(3, Index(triangles.size()));
    for (std::size_t f = 0; f < triangles.size(); ++f)
      faces.col(Index(f)) = Eigen::Vector3i(triangles[f].data());
    Edges edges(2, Index(segments.size()));
    for (std::size_t e = 0; e < segments.size(); ++e)
      edges.col(Index(e)) = Eigen::Vector2i(segments[e].data());
    for (int b = 0; b < count; ++b) pairs.set(b, b, {.enabled = false});
    for (int k = 0; k < count; ++k)
      if (const int a = random.below(count), c = random.below(count); a != c)
        pairs.set(a, c, {.enabled = false});
    surface = CollisionSurface(together(rest), faces, edges, body, pairs, {});
    // The same bodies, but all in contact with themselves, so that none has a tree.
    plain = CollisionSurface(together(rest), faces, edges, body, PairTable(count, {.dhat = 1e-3}), {});
  }

  static Mesh shape(int kind, Random& random) {
    Mesh mesh;
    switch (kind) {
      case 0:
        return generate::sphere(0.1, 3, generate::Content::surface);
      case 1:
        return generate::box({0.5, 0.05, 0.1}, {9, 1, 2}, generate::Content::surface);
      case 2:
        return generate::box({0.4, 1e-9, 0.4}, {5, 1, 4}, generate::Content::surface);
      case 3: {
        mesh = generate::box({0.3, 0.3, 0.3}, {2, 2, 2}, generate::Content::surface);
        mesh.faces = Faces(mesh.faces.leftCols(mesh.faces.cols() - 5));
        return mesh;
      }
      case 4:
      case 5: {
        mesh.points.resize(3, 12);
        for (int k = 0; k < 12; ++k) mesh.points.col(k) << 0.05 * k, kind == 4 ? 0 : 0.01 * k * k, 0;
        mesh.edges.resize(2, 11);
        for (int k = 0; k < 11; ++k) mesh.edges.col(k) << k, k + 1;
        return mesh;
      }
      default:
        mesh.points = Matrix3X::NullaryExpr(3, kind == 6 ? 40 : 1, [&] { return random.uniform(-0.1, 0.1); });
        return mesh;
    }
  }

  PairTable pairs;
  CollisionSurface surface, plain;
  Matrix3X x0, x1;
};

TEST(BodyTrees, FindWhatTheSearchOfAllPrimitivesFinds) {
  Random random(1);
  std::size_t found_in_all = 0, left_out = 0;
  std::array<std::size_t, 4> kinds = {};
  for (int trial = 0; trial < 24; ++trial) {
    const double travel = std::array{0.0, 0.02, 0.5}[std::size_t(trial % 3)];
    Bodies bodies(32, travel, trial % 2 == 0 ? 0 : 0.3, random);
    const double scale = std::array{1.0, 1e-4, 1e6}[std::size_t(trial / 3 % 3)];
    const Vector3 away = trial % 5 == 4 ? Vector3(10 * scale * random.vector()) : Vector3::Zero();
    for (Matrix3X* x : {&bodies.x0, &bodies.x1}) *x = (scale * *x).colwise() + away;
    const double radius = scale * random.exponential(1e-3, 0.03);
    Candidates expected = make_bvh(bodies.plain)->find(bodies.x0, bodies.x1, radius);
    std::erase_if(expected, [&](const Stencil& s) {
      return !bodies.surface.settings(s.vertices[0], s.vertices[std::size_t(first_count(s.kind))]).enabled;
    });
    const auto search = make_bvh(bodies.surface);
    const Candidates found = search->find(bodies.x0, bodies.x1, radius);
    // The same boxes of primitives, of which only those may be told apart differently that touch by rounding.
    Candidates differing;
    std::set_symmetric_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                                  std::back_inserter(differing));
    EXPECT_LE(differing.size(), 1u) << trial;
    for (const Stencil& s : differing)
      for (int k = 0; k <= 100; ++k)
        EXPECT_GT(distance(s, (1 - k / 100.0) * bodies.x0 + k / 100.0 * bodies.x1), radius) << trial;
    for (const Stencil& s : found) ++kinds[std::size_t(s.kind)];
    found_in_all += found.size();
    // Again with the same trees, elsewhere and in smaller blocks.
    Candidates in_blocks;
    search->for_each_block(200, bodies.x0, bodies.x1, radius, [&](std::span<const Stencil> block) {
      in_blocks.insert(in_blocks.end(), block.begin(), block.end());
      return true;
    });
    std::sort(in_blocks.begin(), in_blocks.end());
    left_out += found.size() - in_blocks.size();  // pairs that a ball around another body leaves out
    EXPECT_TRUE(std::includes(found.begin(), found.end(), in_blocks.begin(), in_blocks.end()));
    EXPECT_EQ(search->find(bodies.x1, bodies.x1, radius), make_bvh(bodies.surface)->find(bodies.x1, radius));
  }
  EXPECT_GT(found_in_all, 20000u);
  EXPECT_LT(left_out, found_in_all / 50);
  for (const std::size_t kind : kinds) EXPECT_GT(kind, 20u);
}

TEST(BodyTrees, MissNothingOfPathsThatDeviate) {
  Random random(2);
  int met = 0;
  for (int trial = 0; trial < 6; ++trial) {
    const Bodies bodies(8, trial % 2 == 0 ? 0.03 : 0.3, 0, random);
    std::vector<double> around(std::size_t(bodies.x0.cols()));
    for (double& a : around) a = random.uniform(0, 0.01);
    constexpr double radius = 0.004;
    Candidates found;
    make_bvh(bodies.surface)
        ->for_each_block(std::size_t(-1), bodies.x0, bodies.x1, {radius, around},
                         [&](std::span<const Stencil> block) {
                           found.insert(found.end(), block.begin(), block.end());
                           return true;
                         });
    const Candidates all = all_pairs(bodies.surface);
    EXPECT_TRUE(std::includes(all.begin(), all.end(), found.begin(), found.end()));
    for (int k = 0; k <= 6; ++k) {
      const Matrix3X x = (1 - k / 6.0) * bodies.x0 + k / 6.0 * bodies.x1;
      for (const Stencil& s : all) {
        // A place of a primitive deviates by no more than its vertices do; this one by the least of them.
        double least = 0.01;
        for (int i = 0; i < s.size(); ++i)
          least = std::min(least, around[std::size_t(s.vertices[std::size_t(i)])]);
        if (distance(s, x) > radius + 2 * least) continue;
        ++met;
        ASSERT_TRUE(std::binary_search(found.begin(), found.end(), s)) << trial;
      }
    }
  }
  EXPECT_GT(met, 1000);
}

TEST(BodyTrees, BodiesThatChangeTheirShapeAreNotCarried) {
  Random random(3);
  const Bodies bodies(8, 0.1, 0, random);
  BodyTrees trees(bodies.surface, bodies.surface.faces);
  ASSERT_TRUE(trees.is_worth_it());
  const SearchRange range(1e-3);
  const std::vector<double> extent;
  trees.update({bodies.x0, bodies.x1, range, extent});
  EXPECT_TRUE(trees.has_all());
  // One vertex of a ball aside, at the end only: its body is not carried, all others are.
  Matrix3X bent = bodies.x1;
  bent(0, 20) += 1e-4;
  trees.update({bodies.x0, bent, range, extent});
  EXPECT_FALSE(trees.has_all());
  for (std::size_t b = 0; b < 8; ++b)
    EXPECT_EQ(bool(trees.carried()[b]), int(b) != bodies.surface.vertex_body[20]) << b;
  // Then its pairs come from the search of all primitives, and none is lost.
  const Candidates all = all_pairs(bodies.surface), found = make_bvh(bodies.surface)->find(bent, bent, 0.02);
  std::size_t near = 0;
  for (const Stencil& s : all) {
    if (distance(s, bent) > 0.02) continue;
    ++near;
    EXPECT_TRUE(std::binary_search(found.begin(), found.end(), s));
  }
  EXPECT_GT(near, 100u);
}

TEST(BodyTrees, FindTheSameWithAnyNumberOfThreads) {
  Random random(4);
  const Bodies bodies(64, 0.1, 0, random);
  const Candidates one = make_bvh(bodies.surface)->find(bodies.x0, bodies.x1, 0.02);
  set_thread_count(3);
  const Candidates three = make_bvh(bodies.surface)->find(bodies.x0, bodies.x1, 0.02);
  set_thread_count(1);
  EXPECT_EQ(one, three);
  EXPECT_GT(one.size(), 1000u);
}

}  // namespace
}  // namespace apart::test
