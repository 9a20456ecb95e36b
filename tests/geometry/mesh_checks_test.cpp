#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>

#include <Eigen/Geometry>
#include <functional>
#include <limits>

namespace apart::test {
namespace {

void expect_in(const std::string& message, std::initializer_list<const char*> parts) {
  EXPECT_EQ(message.find("here: "), 0u) << message;
  for (const char* part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

/// Two tetrahedra on a common face; cells of all kinds may be changed by the test.
Mesh two_tetrahedra() {
  Mesh mesh;
  mesh.points.resize(3, 5);
  mesh.points << 0, 1, 0, 0, 1,  //
      0, 0, 1, 0, 1,             //
      0, 0, 0, 1, 1;
  mesh.tetrahedra.resize(4, 2);
  mesh.tetrahedra.col(0) << 0, 1, 2, 3;
  mesh.tetrahedra.col(1) << 1, 2, 3, 4;
  EXPECT_EQ(orient_tetrahedra(mesh), 0);
  return mesh;
}

TEST(ValidateVolume, AcceptsGoodMeshes) {
  EXPECT_NO_THROW(validate_volume(two_tetrahedra(), "here"));
  Mesh tiny = two_tetrahedra();
  tiny.points *= 1e-9;
  EXPECT_NO_THROW(validate_volume(tiny, "here")) << "flatness is relative";
  tiny.points *= 1e25;
  EXPECT_NO_THROW(validate_volume(tiny, "here"));
}

TEST(ValidateVolume, NamesWhatIsWrong) {
  const auto message = [](const std::function<void(Mesh&)>& damage) {
    Mesh mesh = two_tetrahedra();
    damage(mesh);
    return message_of([&] { validate_volume(mesh, "here"); });
  };
  expect_in(message([](Mesh& m) { m.tetrahedra.resize(4, 0); }), {"no tetrahedra"});
  expect_in(message([](Mesh& m) { m.tetrahedra(2, 1) = 5; }), {"tetrahedron 1", "point 5", "[0, 5)"});
  expect_in(message([](Mesh& m) { m.tetrahedra(2, 1) = -1; }), {"tetrahedron 1", "point -1"});
  expect_in(message([](Mesh& m) { m.tetrahedra(2, 1) = 1; }), {"tetrahedron 1", "1 2 1 4", "twice"});
  expect_in(message([](Mesh& m) { m.points(1, 3) = std::nan(""); }), {"point 3", "nan", "finite"});
  expect_in(message([](Mesh& m) { m.points(2, 4) = std::numeric_limits<double>::infinity(); }),
            {"point 4", "inf"});
  expect_in(message([](Mesh& m) { m.points(2, 3) = 0; }), {"tetrahedron 0", "0 1 2 3", "volume 0"});
  expect_in(message([](Mesh& m) { m.points(2, 3) = 1e-15; }), {"tetrahedron 0", "volume 1.6", "e-16"});
  expect_in(message([](Mesh& m) { m.points *= 1e200; }), {"tetrahedron 0", "volume"});
  expect_in(message([](Mesh& m) { std::swap(m.tetrahedra(0, 1), m.tetrahedra(1, 1)); }),
            {"tetrahedron 1", "2 1 3 4", "inverted", "-0.33"});
  expect_in(message([](Mesh& m) { m.tetrahedra.col(1) << 3, 0, 2, 1; }),
            {"tetrahedra 0 and 1", "same points"});
  expect_in(message([](Mesh& m) {
              m.points.conservativeResize(3, 6);
              m.points.col(5) << 2, 2, 2;
              m.tetrahedra.conservativeResize(4, 3);
              m.tetrahedra.col(2) << 1, 2, 3, 5;
            }),
            {"face with points 1 2 3", "0, 1 and 2"});
}

TEST(ValidateSurface, NamesWhatIsWrong) {
  Mesh mesh;
  mesh.points = two_tetrahedra().points;
  expect_in(message_of([&] { validate_surface(mesh, "here"); }), {"no triangles"});
  mesh.faces.resize(3, 2);
  mesh.faces << 0, 1, 1, 2, 2, 3;
  EXPECT_NO_THROW(validate_surface(mesh, "here"));
  Mesh bad = mesh;
  bad.points.col(3) = 0.5 * (bad.points.col(1) + bad.points.col(2));
  expect_in(message_of([&] { validate_surface(bad, "here"); }), {"triangle 1", "1 2 3", "area 0"});
  bad = mesh;
  bad.faces(1, 1) = 1;
  expect_in(message_of([&] { validate_surface(bad, "here"); }), {"triangle 1", "1 1 3"});
  bad = mesh;
  bad.faces(1, 1) = 7;
  expect_in(message_of([&] { validate_surface(bad, "here"); }), {"triangle 1", "point 7"});
  bad = mesh;
  bad.faces.col(1) << 2, 1, 0;
  expect_in(message_of([&] { validate_surface(bad, "here"); }), {"triangles 0 and 1"});
}

TEST(ValidateSegments, NamesWhatIsWrong) {
  Mesh mesh = generate::segments(1, 3);
  EXPECT_NO_THROW(validate_segments(mesh, "here"));
  mesh.points.col(2) = mesh.points.col(1);
  expect_in(message_of([&] { validate_segments(mesh, "here"); }), {"segment 1", "1 2", "length 0"});
  mesh = generate::segments(1, 3);
  mesh.edges.col(2) << 1, 0;
  expect_in(message_of([&] { validate_segments(mesh, "here"); }), {"segments 0 and 2"});
  mesh.edges.resize(2, 0);
  expect_in(message_of([&] { validate_segments(mesh, "here"); }), {"no segments"});
}

TEST(ValidatePoints, NamesWhatIsWrong) {
  Mesh mesh = generate::points({2, 2, 1}, 1);
  EXPECT_NO_THROW(validate_points(mesh, "here"));
  mesh.points.col(3) = mesh.points.col(0);
  expect_in(message_of([&] { validate_points(mesh, "here"); }), {"0 and 3", "same place"});
  mesh = generate::points({2, 2, 1}, 1);
  mesh.vertices[1] = 2;
  expect_in(message_of([&] { validate_points(mesh, "here"); }), {"free points 1 and 2", "same points"});
  mesh.vertices[1] = 9;
  expect_in(message_of([&] { validate_points(mesh, "here"); }), {"free point 1", "point 9"});
}

TEST(OrientTetrahedra, TurnsExactlyTheInvertedOnes) {
  Mesh mesh = generate::sphere(1, 3);
  const double volume = volume_of(mesh);
  for (Index t : {3, 77, 200}) std::swap(mesh.tetrahedra(0, t), mesh.tetrahedra(3, t));
  EXPECT_LT(volume_of(mesh), volume);
  EXPECT_EQ(orient_tetrahedra(mesh), 3);
  EXPECT_NO_THROW(validate_volume(mesh, "here"));
  EXPECT_NEAR(volume_of(mesh), volume, 1e-14);
  EXPECT_EQ(orient_tetrahedra(mesh), 0);
}

TEST(RemoveUnreferencedPoints, KeepsTheShapeOfEveryCell) {
  Mesh mesh;
  mesh.points = Matrix3X::Random(3, 12);
  mesh.tetrahedra.resize(4, 1);
  mesh.tetrahedra << 9, 4, 2, 7;
  mesh.faces.resize(3, 1);
  mesh.faces << 4, 11, 2;
  mesh.edges.resize(2, 1);
  mesh.edges << 11, 6;
  mesh.vertices.resize(1);
  mesh.vertices << 1;
  const Mesh small = remove_unreferenced_points(mesh);
  EXPECT_EQ(small.point_count(), 7);
  const auto same = [&](const auto& before, const auto& after) {
    for (Eigen::Index i = 0; i < before.size(); ++i)
      EXPECT_EQ(small.points.col(after.data()[i]), mesh.points.col(before.data()[i]));
  };
  same(mesh.tetrahedra, small.tetrahedra);
  same(mesh.faces, small.faces);
  same(mesh.edges, small.edges);
  same(mesh.vertices, small.vertices);
}

TEST(IsClosedSurface, FindsHolesFlippedTrianglesAndFins) {
  const Mesh sphere = generate::sphere(1, 2, generate::Content::surface);
  EXPECT_TRUE(is_closed_surface(sphere));
  EXPECT_NEAR(enclosed_volume(sphere), volume_of(generate::sphere(1, 2)), 1e-14);
  Mesh bad = sphere;
  bad.faces.conservativeResize(3, bad.faces.cols() - 1);
  EXPECT_FALSE(is_closed_surface(bad)) << "hole";
  bad = sphere;
  std::swap(bad.faces(0, 5), bad.faces(1, 5));
  EXPECT_FALSE(is_closed_surface(bad)) << "flipped";
  bad = sphere;
  bad.points.conservativeResize(3, bad.points.cols() + 1);
  bad.points.rightCols(1) << 2, 2, 2;
  bad.faces.conservativeResize(3, bad.faces.cols() + 1);
  bad.faces.rightCols(1) << bad.faces(0, 0), bad.faces(1, 0), Index(bad.points.cols() - 1);
  EXPECT_FALSE(is_closed_surface(bad)) << "fin";
  EXPECT_FALSE(is_closed_surface(Mesh{})) << "empty";
}

TEST(Transformed, MovesPointsAndKeepsCellsPositive) {
  const Mesh mesh = generate::box({1, 2, 3}, {1, 2, 1});
  Mesh both = mesh;
  both.faces = boundary_faces(mesh.tetrahedra);
  const Matrix3 reflection = Vector3(-2, 1, 1).asDiagonal();
  for (const Matrix3& linear :
       {Matrix3(Eigen::AngleAxisd(1, Vector3(1, 2, 3).normalized()).matrix()), reflection}) {
    const Mesh moved = transformed(both, linear, Vector3(5, 6, 7));
    EXPECT_NO_THROW(validate_volume(moved, "here"));
    EXPECT_TRUE(is_closed_surface(moved));
    EXPECT_NEAR(volume_of(moved), 6 * std::abs(linear.determinant()), 1e-13);
    EXPECT_NEAR(enclosed_volume(moved), volume_of(moved), 1e-13);
    EXPECT_TRUE(moved.points.col(3).isApprox(linear * mesh.points.col(3) + Vector3(5, 6, 7), 1e-15));
  }
}

TEST(RemoveUnreferencedPoints, RenumbersGroupsAndKeepsWhatBelongsToCells) {
  Mesh mesh;
  mesh.points = Matrix3X::Random(3, 7);
  mesh.tetrahedra.resize(4, 1);
  mesh.tetrahedra << 1, 3, 4, 6;
  mesh.cell_data["E"] = VectorX::Constant(1, 5);
  mesh.groups["some"] = {{0, 3, 5, 6}, {0}, {{0, 3, 6}, {1, 4, 6}}};
  mesh.groups["gone"] = {{2}, {}, {}};
  const Mesh result = remove_unreferenced_points(mesh);
  EXPECT_EQ(result.groups.at("some").points, (std::vector<int>{1, 3}));
  EXPECT_EQ(result.groups.at("some").tetrahedra, (std::vector<int>{0}));
  EXPECT_EQ(result.groups.at("some").triangles, (std::vector<std::array<int, 3>>{{0, 2, 3}}));
  EXPECT_TRUE(result.groups.at("gone").points.empty());
  EXPECT_EQ(result.cell_data.at("E")[0], 5);
}

}  // namespace
}  // namespace apart::test
