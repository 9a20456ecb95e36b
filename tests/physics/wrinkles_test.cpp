// Folds of a cloth over a ball: stiff membranes cannot fold without stretching where a mesh has no vertices,
// so they bend too little and crease instead ("membrane locking"); a soft one with a limit of strain folds
// freely. [C-IPC fig. 11]
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <cmath>
#include <map>
#include <numeric>

namespace apart::test {
namespace {

/// Where a horizontal plane cuts a mesh: the longest closed curve, as distances from the y axis [m].
std::vector<double> section(const Matrix3X& x, const Faces& faces, double height) {
  using Edge = std::pair<int, int>;
  const auto above = [&](int v) { return x(1, v) > height; };
  std::map<Edge, Edge> next;
  for (Index f = 0; f < faces.cols(); ++f) {
    Edge enter, leave;
    bool cut = false;
    for (int k = 0; k < 3; ++k) {
      const int a = faces(k, f), b = faces((k + 1) % 3, f);
      if (above(a) == above(b)) continue;
      (above(a) ? enter : leave) = std::minmax(a, b);
      cut = true;
    }
    if (cut) next[enter] = leave;
  }
  std::vector<double> longest;
  while (!next.empty()) {
    std::vector<double> curve;
    for (auto at = next.begin(); at != next.end();) {
      const auto [a, b] = at->first;
      const double t = (height - x(1, a)) / (x(1, b) - x(1, a));
      const Vector3 p = x.col(a) + t * (x.col(b) - x.col(a));
      curve.push_back(std::hypot(p.x(), p.z()));
      const Edge following = at->second;
      next.erase(at);
      at = next.find(following);
    }
    if (curve.size() > longest.size()) longest = curve;
  }
  return longest;
}

/// Number of crests of a closed curve that stand out by more than `depth` on both sides.
int crests(std::vector<double> r, double depth) {
  std::rotate(r.begin(), std::min_element(r.begin(), r.end()), r.end());
  r.push_back(r.front());
  int count = 0;
  bool rising = true;
  double extreme = r.front();
  for (const double v : r) {
    extreme = rising ? std::max(extreme, v) : std::min(extreme, v);
    if (std::abs(v - extreme) <= depth) continue;
    count += rising;
    rising = !rising;
    extreme = v;
  }
  return count;
}

struct Drape {
  double folds = 0;    ///< crests deeper than 1 cm, mean over heights beside the ball
  double radius = 0;   ///< mean distance of the cloth from the vertical through the ball's centre there [m]
  double creases = 0;  ///< share of the hinges there that are bent by more than 45°
};

Drape drape(double membrane_scale, bool limited) {
  ShellSubstance substance = cotton(membrane_scale);
  substance.bending_model = BendingModel::published;
  if (limited) substance.limit = StretchLimit{.upper = cotton_limit};
  SmallScene scene;
  scene.options.dt = 0.04;
  scene.options.solver.tolerance = 1e-3;
  scene.options.solver.termination = Termination::l2_norm;
  scene.contact.friction = 0.4;
  const Body cloth = make_shell("cloth", moved(generate::grid(1, 1, 90, 90), {0, 0.16, 0}), substance);
  scene.bodies = {cloth, make_obstacle("ball", generate::sphere(0.15, 8, generate::Content::surface)),
                  make_half_space("floor", {0, -0.16, 0}, Vector3::UnitY())};
  const auto simulation = scene.simulation();
  for (int step = 0; step < 25; ++step) simulation->step();
  expect_intersection_free(*simulation);

  const Matrix3X x = simulation->state().nodes.leftCols(cloth.node_count());
  const Faces& faces = cloth.mesh.faces;
  Drape result;
  const std::vector<double> heights = {-0.05, -0.025, 0, 0.025, 0.05};
  for (const double height : heights) {
    const std::vector<double> r = section(x, faces, height);
    result.folds += double(crests(r, 0.01)) / double(heights.size());
    result.radius += std::accumulate(r.begin(), r.end(), 0.0) / double(r.size() * heights.size());
  }
  std::map<std::pair<int, int>, Vector3> normal;
  int hinges = 0, sharp = 0;
  for (Index f = 0; f < faces.cols(); ++f) {
    const Vector3 a = x.col(faces(0, f)), b = x.col(faces(1, f)), c = x.col(faces(2, f));
    const Vector3 n = (b - a).cross(c - a).normalized();
    for (int k = 0; k < 3; ++k) {
      const auto [it, first] = normal.emplace(std::minmax(faces(k, f), faces((k + 1) % 3, f)), n);
      if (first || x(1, it->first.first) < -0.1) continue;
      ++hinges;
      sharp += it->second.dot(n) < std::sqrt(0.5);
    }
  }
  result.creases = double(sharp) / hinges;
  std::printf("membrane %g%s: %.1f folds, mean radius %.4f m, %.2f %% of the hinges creased\n",
              membrane_scale, limited ? " with limit" : "", result.folds, result.radius,
              100 * result.creases);
  return result;
}

TEST(Wrinkles, OfAStiffMembraneAreCreasesThoseOfASoftOneWithLimitAreFoldsSlow) {
  // How many crests there are depends on the mesh: along the rows of this one, a stiff membrane makes many,
  // all creases.
  const Drape stiff = drape(1, false), soft = drape(0.01, true);
  EXPECT_LT(soft.creases, 0.5 * stiff.creases);
  EXPECT_LT(soft.radius, 0.97 * stiff.radius) << "it hangs closer to the ball";
  EXPECT_GE(soft.folds, 6);
}

}  // namespace
}  // namespace apart::test
