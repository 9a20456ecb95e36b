#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/broad_phase.hpp>
#include <apart/geometry/generators.hpp>

#include <Eigen/Geometry>
#include <algorithm>

namespace apart::test {
namespace {

/// Bodies that lie close together, turned anyhow; on some of them others do not act, and some meet
/// themselves.
struct Heap {
  Heap(int count, double travel, Random& random) {
    const Mesh shapes[] = {generate::sphere(0.1, 3, generate::Content::surface),
                           generate::box({0.6, 0.05, 0.1}, {12, 1, 2}, generate::Content::surface),
                           generate::box({2, 0.02, 2}, {6, 1, 6}, generate::Content::surface)};
    std::vector<Matrix3X> at, later;
    std::vector<std::array<int, 3>> triangles;
    Index vertices = 0;
    for (int b = 0; b < count; ++b) {
      const Mesh& mesh = shapes[b == 0 ? 2 : random.below(4) == 0 ? 1 : 0];
      const Matrix3 turn = Eigen::AngleAxisd(random.uniform(0, 3), random.unit()).toRotationMatrix();
      const Matrix3 more = Eigen::AngleAxisd(travel * random.uniform(0, 3), random.unit()).toRotationMatrix();
      const Vector3 centre = 0.6 * random.vector();
      at.push_back((turn * mesh.points).colwise() + centre);
      later.push_back((more * turn * mesh.points).colwise() + Vector3(centre + travel * random.vector()));
      for (Index f = 0; f < mesh.faces.cols(); ++f)
        triangles.push_back({int(vertices) + mesh.faces(0, f), int(vertices) + mesh.faces(1, f),
                             int(vertices) + mesh.faces(2, f)});
      body.insert(body.end(), std::size_t(mesh.point_count()), b);
      vertices += mesh.point_count();
    }
    x0.resize(3, vertices);
    x1.resize(3, vertices);
    Index next = 0;
    for (std::size_t b = 0; b < at.size(); next += Index(at[b].cols()), ++b) {
      x0.middleCols(next, at[b].cols()) = at[b];
      x1.middleCols(next, at[b].cols()) = later[b];
    }
    faces.resize(3, Index(triangles.size()));
    for (std::size_t f = 0; f < triangles.size(); ++f)
      faces.col(Index(f)) = Eigen::Vector3i(triangles[f].data());
  }
  CollisionSurface surface(const PairTable& pairs) const {
    return CollisionSurface(x0, faces, Edges(2, 0), body, pairs, {});
  }
  Matrix3X x0, x1;
  Faces faces;
  std::vector<int> body;
};

TEST(NearPrimitives, OnlyPairsThatDoNotComeNearAreLeftOut) {
  Random random(1);
  constexpr double radius = 0.01;
  constexpr int count = 24;
  std::size_t listed = 0, kept = 0;
  for (const double travel : {0.0, 0.02, 0.5}) {
    Heap heap(count, travel, random);
    ASSERT_GT(heap.x0.cols(), 1000);
    // Bodies that keep their shape are searched in their own frames, if not by brute force: body_trees_test.
    for (Index v = 0; v < heap.x1.cols(); ++v) heap.x1.col(v) += 1e-3 * random.vector();
    if (travel == 0) heap.x0 = heap.x1;
    PairTable pairs(count);
    for (int b = 0; b < count; ++b) pairs.set(b, b, {.enabled = b % 7 == 3});
    for (int k = 0; k < 30; ++k) {
      const int a = random.below(count), b = random.below(count);
      if (a != b) pairs.set(a, b, {.enabled = false});
    }
    std::vector<Matrix3X> on_the_way;
    for (int k = 0; k <= 20; ++k) on_the_way.push_back((1 - k / 20.0) * heap.x0 + k / 20.0 * heap.x1);
    // Of bodies that all meet themselves everything is searched.
    for (const BroadPhaseMethod& method : broad_phase_methods()) {
      if (method.name == "brute_force") continue;
      const CollisionSurface at_rest = heap.surface(PairTable(count));
      Candidates all = method.make(at_rest)->find(heap.x0, heap.x1, radius);
      std::erase_if(all, [&](const Stencil& s) {
        return !pairs(heap.body[std::size_t(s.vertices[0])],
                      heap.body[std::size_t(s.vertices[std::size_t(first_count(s.kind))])])
                    .enabled;
      });
      const Candidates found = method.make(heap.surface(pairs))->find(heap.x0, heap.x1, radius);
      listed += all.size();
      kept += found.size();
      Candidates left_out;
      std::set_difference(all.begin(), all.end(), found.begin(), found.end(), std::back_inserter(left_out));
      EXPECT_EQ(found.size() + left_out.size(), all.size()) << "and nothing is added";
      for (const Stencil& s : left_out)
        for (const Matrix3X& x : on_the_way) ASSERT_GT(distance(s, x), radius) << method.name;
    }
  }
  EXPECT_LT(kept, listed - 20) << "some are";
}

}  // namespace
}  // namespace apart::test
