#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <apart/core/diagnostics.hpp>
#include <apart/geometry/squared_distance.hpp>

#include <limits>

namespace apart::test {
namespace {

Scene attached(int cells) {
  return build_scene(
      parse_scene(fmt::format(R"({{"version": 1, "time": {{"dt": 0.01, "steps": 1}}, "bodies": [
        {{"type": "shell", "name": "a", "mesh": {{"generator": "grid", "size": [1, 1], "cells": [{0}, {0}]}},
          "material": {{"type": "neo_hookean"}}}},
        {{"type": "shell", "name": "b", "mesh": {{"generator": "grid", "size": [1.3, 0.9], "cells": [{0}, {0}]}},
          "material": {{"type": "neo_hookean"}},
          "transform": {{"translate": [0.05, 0.1, 0.02], "rotate": {{"axis": [1, 2, 3], "angle": 20}}}}}}],
        "attachments": [{{"bodies": ["a", "b"], "where": {{"all": true}}, "max_distance": 10}}]}})",
                              cells),
                  "scene.json", "."));
}

TEST(Attachments, EndAtTheNearestPlaceOfTheOtherSurface) {
  const Scene scene = attached(9);
  const Body &a = scene.model->bodies[0], &b = scene.model->bodies[1];
  ASSERT_EQ(scene.model->attachments.size(), 1u);
  const auto springs = attached_springs(scene.model->attachments[0], scene.model->bodies);
  ASSERT_EQ(Index(springs.size()), a.mesh.point_count());
  for (const AttachedSpring& spring : springs) {
    const Vector3 x = a.mesh.points.col(spring.point);
    double nearest = std::numeric_limits<double>::infinity();
    for (Index f = 0; f < b.surface_faces.cols(); ++f) {
      StencilPoints stencil;
      stencil[0] = x;
      for (int k = 0; k < 3; ++k) stencil[std::size_t(k) + 1] = b.mesh.points.col(b.surface_faces(k, f));
      nearest = std::min(nearest, closest_points(PairKind::point_triangle, stencil).r.norm());
    }
    EXPECT_EQ(spring.length, nearest);
    Vector3 foot = Vector3::Zero();
    for (int k = 0; k < 3; ++k)
      if (spring.others[std::size_t(k)] >= 0)
        foot += spring.weights[k] * b.mesh.points.col(spring.others[std::size_t(k)]);
    EXPECT_NEAR((x - foot).norm(), nearest, 1e-12);
  }
}

TEST(Attachments, OfFineMeshesAreFoundQuickly) {
  const double begin = process_cpu_seconds();
  EXPECT_EQ(attached(150).model->attachments[0].springs.size(), 151u * 151u);  // one by one: a minute
  EXPECT_LT(process_cpu_seconds() - begin, 5.0);
}

}  // namespace
}  // namespace apart::test
