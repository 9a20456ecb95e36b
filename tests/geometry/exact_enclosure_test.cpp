#include <gtest/gtest.h>
#include <apart/geometry/exact_enclosure.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh.hpp>

#include <random>
#include <set>

namespace apart::exact {
namespace {

/// Solids of tetrahedra, and points asked about, on one list.
struct Solids {
  Matrix3X points;
  Tetrahedra tetrahedra = Tetrahedra(4, 0);
  std::vector<exact::Primitive> faces;
  std::vector<int> solid_of;
  std::vector<Index> queries;
  int count = 0;

  void add(const Mesh& mesh, const Vector3& offset) {
    const Index n = Index(points.cols()), cells = Index(tetrahedra.cols());
    points.conservativeResize(3, n + mesh.points.cols());
    points.rightCols(mesh.points.cols()) = mesh.points.colwise() + offset;
    tetrahedra.conservativeResize(4, cells + mesh.tetrahedra.cols());
    tetrahedra.rightCols(mesh.tetrahedra.cols()) = mesh.tetrahedra.array() + n;
    const Faces outer = boundary_faces(mesh.tetrahedra);
    for (Index f = 0; f < outer.cols(); ++f)
      faces.push_back({{outer(0, f) + n, outer(1, f) + n, outer(2, f) + n}});
    solid_of.resize(std::size_t(points.cols()), count++);
  }
  void ask(const Vector3& x) {
    queries.push_back(Index(points.cols()));
    points.conservativeResize(3, points.cols() + 1);
    points.rightCols<1>() = x;
    solid_of.push_back(-1);
  }
  std::set<Enclosed> found() const {
    const auto list = find_enclosed(points, faces, solid_of, queries, [](Index, int) { return true; });
    return {list.begin(), list.end()};
  }
  /// By looking into every tetrahedron; points on a face of one count as inside.
  std::set<Enclosed> expected() const {
    std::set<Enclosed> result;
    for (const Index q : queries)
      for (Index t = 0; t < tetrahedra.cols(); ++t) {
        bool inside = true;
        for (int k = 0; k < 4; ++k) {
          std::array<Vector3, 4> x;
          for (int j = 0; j < 4; ++j) x[std::size_t(j)] = points.col(tetrahedra(j, t));
          const int whole = exact::orientation(x[0], x[1], x[2], x[3]);
          x[std::size_t(k)] = points.col(q);
          inside = inside && exact::orientation(x[0], x[1], x[2], x[3]) * whole >= 0;
        }
        if (inside) result.insert({q, solid_of[std::size_t(tetrahedra(0, t))]});
      }
    return result;
  }
};

TEST(Enclosure, IsWhatTheTetrahedraSay) {
  Solids solids;
  solids.add(generate::box(Vector3(1, 1, 1), Eigen::Vector3i(3, 3, 3)), {0, 0, 0});
  solids.add(generate::sphere(1, 3), {2.5, 0, 0});
  solids.add(generate::box(Vector3(3, 3, 3), Eigen::Vector3i(2, 2, 2)), {0.7, 0.1, 0.2});  // around both
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(-2, 4);
  for (int i = 0; i < 500; ++i) solids.ask({place(random), place(random) - 1, place(random) - 1});
  const auto expected = solids.expected();
  EXPECT_GT(expected.size(), 50u);
  EXPECT_EQ(solids.found(), expected);
}

TEST(Enclosure, IsDecidedWhereRaysAlongTheAxesMeetEdgesAndCorners) {
  // Asked at the points of a grid that the mesh has too, all but those on the surface.
  Solids solids;
  solids.add(generate::box(Vector3(4, 4, 4), Eigen::Vector3i(4, 4, 4)), {0, 0, 0});
  for (int x = -3; x <= 3; ++x)
    for (int y = -3; y <= 3; ++y)
      for (int z = -3; z <= 3; ++z)
        if (std::max({std::abs(x), std::abs(y), std::abs(z)}) != 2) solids.ask(Vector3(x, y, z));
  const auto expected = solids.expected();
  EXPECT_EQ(expected.size(), 27u);
  EXPECT_EQ(solids.found(), expected);
}

TEST(Enclosure, CountsWhereASolidOverlapsItselfAndNotInItsCavities) {
  Solids solids;
  const auto add = [&](const Vector3& size, const Vector3& at, bool inside_out) {
    solids.add(generate::box(size, Eigen::Vector3i(2, 2, 2)), at);
    const int solid = solids.count - 1;
    for (exact::Primitive& f : solids.faces)
      if (inside_out && solids.solid_of[std::size_t(f.vertices[0])] == solid)
        std::swap(f.vertices[1], f.vertices[2]);
  };
  add({2, 2, 2}, {0, 0, 0}, false);
  add({2, 2, 2}, {1, 0.1, 0.1}, false);      // overlaps the first
  add({0.5, 0.5, 0.5}, {-0.6, 0, 0}, true);  // a cavity in the first alone
  for (int& solid : solids.solid_of) solid = 0;
  const std::vector<std::pair<Vector3, bool>> places = {{{-0.2, 0.3, 0.2}, true}, {{0.5, 0.2, 0.1}, true},
                                                        {{1.7, 0.2, 0.1}, true},  {{-0.6, 0.1, 0}, false},
                                                        {{-0.6, 0.1, 0.3}, true}, {{-1.1, 0.1, 0}, false}};
  for (const auto& [place, inside] : places) solids.ask(place);
  std::set<Enclosed> expected;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].second) expected.insert({solids.queries[i], 0});
  EXPECT_EQ(solids.found(), expected);
}

TEST(Enclosure, OnlyWhatIsAskedIsAnswered) {
  Solids solids;
  solids.add(generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1)), {0, 0, 0});
  solids.add(generate::box(Vector3(2, 2, 2), Eigen::Vector3i(1, 1, 1)), {0, 0, 0});
  solids.ask({0.1, 0.2, 0.3});
  EXPECT_EQ(solids.found().size(), 2u);
  const auto one = find_enclosed(solids.points, solids.faces, solids.solid_of, solids.queries,
                                 [](Index, int solid) { return solid == 1; });
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].solid, 1);
}

}  // namespace
}  // namespace apart::exact
