// Tetrahedra of degree 2 to 4 in files.
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/mesh_format.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <support/curved_mesh.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <set>

namespace apart::test {
namespace {

Mesh bent(int degree) {
  return curved(generate::box({1, 0.5, 0.5}, {2, 1, 1}), degree,
                [](const Vector3& x) { return Vector3(x[0], x[1] + 0.2 * x[0] * x[0], x[2]); });
}

TEST(CurvedMesh, SurvivesBeingWrittenAndRead) {
  const TemporaryDirectory directory;
  for (const std::string extension : {".msh", ".vtu", ".vtk"})
    for (int degree = 2; degree <= 4; ++degree) {
      SCOPED_TRACE(fmt::format("{} degree {}", extension, degree));
      const Mesh mesh = bent(degree);
      write_mesh(directory / ("a" + extension), mesh);
      const Mesh again = read_mesh(directory / ("a" + extension));
      EXPECT_EQ(again.points, mesh.points);
      EXPECT_EQ(again.curved, mesh.curved);
      EXPECT_EQ(again.tetrahedra.cols() + again.faces.cols() + again.edges.cols() + again.vertices.size(), 0);
    }
}

/// One tetrahedron of degree 2 with nodes in disorder, and its face 0 1 2 in a group.
std::string quadratic_file(const std::string& elements) {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"base\"\n$EndPhysicalNames\n"
         "$Nodes\n10\n30 0 0 0\n12 1 0 0\n5 0 1 0\n8 0 0 1\n"
         "21 0.5 0 0\n99 0.5 0.5 0\n40 0 0.5 0\n41 0 0 0.5\n42 0 0.5 0.5\n44 0.5 0 0.6\n$EndNodes\n" +
         elements;
}

TEST(CurvedMesh, OfGmshHasAnyTagsAndItsTrianglesSayWhatIsInAGroup) {
  const TemporaryDirectory directory;
  write_file(directory / "a.msh",
             quadratic_file("$Elements\n2\n4 9 2 7 1 30 5 12 40 99 21\n3 11 2 1 1 30 12 5 8 21 99 40 41 42 "
                            "44\n$EndElements\n"));
  const Mesh mesh = read_mesh(directory / "a.msh");
  ASSERT_EQ(mesh.curved.size(), 1u);
  EXPECT_EQ(mesh.curved[0].degree, 2);
  EXPECT_EQ(mesh.points.col(mesh.curved[0].points(9, 0)), Vector3(0.5, 0, 0.6));
  EXPECT_EQ(mesh.faces.cols(), 0);
  const MeshGroup& base = mesh.groups.at("base");
  EXPECT_EQ(base.points.size(), 6u);
  ASSERT_EQ(base.triangles.size(), 1u);
  for (const int p : base.triangles[0]) EXPECT_EQ(mesh.points(2, p), 0);
  EXPECT_NO_THROW(validate_volume(mesh, "a"));
}

TEST(CurvedMesh, OfUnsuitableElementsSaysWhatToDo) {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& elements) {
    write_file(directory / "a.msh", quadratic_file(elements));
    return message_of([&] { read_mesh(directory / "a.msh"); });
  };
  EXPECT_NE(message("$Elements\n2\n1 4 0 30 12 5 8\n2 11 0 30 12 5 8 21 99 40 41 42 44\n$EndElements\n")
                .find("must be of one degree"),
            std::string::npos);
  EXPECT_NE(message("$Elements\n1\n1 31 0 30\n$EndElements\n").find("degree 5, must be of degree 1 to 4"),
            std::string::npos);
  EXPECT_NE(message("$Elements\n1\n1 9 0 30 12 5 21 99 40\n$EndElements\n").find("no tetrahedra"),
            std::string::npos);
}

TEST(CurvedMesh, InvertedSomewhereIsRefusedWithThePlace) {
  // Positive at all corners, inverted near the middle of the edge whose node was pulled across.
  Mesh mesh = curved(generate::box({1, 1, 1}, {1, 1, 1}), 2);
  const int middle = mesh.curved[0].points(4, 0);
  const Vector3 towards = mesh.points(Eigen::all, mesh.curved[0].points.col(0)).rowwise().mean();
  mesh.points.col(middle) += 1.2 * (towards - mesh.points.col(middle));
  const std::string message = message_of([&] { validate_volume(mesh, "the mesh"); });
  EXPECT_NE(message.find("the curved tetrahedron"), std::string::npos) << message;
  EXPECT_NE(message.find("determinant"), std::string::npos) << message;
}

/// How many points cells of a degree have that share corners, edges and faces.
Index lattice_points(const Tetrahedra& corners, int degree) {
  std::array<std::set<std::vector<int>>, 3> parts;  // with one, two and three corners
  for (Index t = 0; t < corners.cols(); ++t)
    for (unsigned mask = 1; mask < 15; ++mask) {
      std::vector<int> part;
      for (int k = 0; k < 4; ++k)
        if (mask >> k & 1) part.push_back(corners(k, t));
      std::sort(part.begin(), part.end());
      parts[part.size() - 1].insert(part);
    }
  const int n = degree - 1;
  return Index(parts[0].size()) + n * Index(parts[1].size()) + n * (n - 1) / 2 * Index(parts[2].size()) +
         n * (n - 1) * (n - 2) / 6 * Index(corners.cols());
}

TEST(CurvedMesh, OfOtherPeopleIsReadAndProvenOrRefused) {
  const std::filesystem::path data =
      std::filesystem::path(APART_DATA) / "highorder/high-order-ipc-data/meshes";
  if (!std::filesystem::exists(data))
    GTEST_SKIP() << "no published meshes in " << APART_DATA
                 << ": put github.com/zfergus/high-order-ipc-data there as highorder/high-order-ipc-data, or "
                    "name the folder: cmake -D APART_DATA=folder build";
  struct Published {
    const char* file;
    int degree, cells;
    bool valid;
  };
  for (const Published& p :
       {Published{"sphere/P2-coarse.msh", 2, 30, true}, Published{"sphere/P3-coarse.msh", 3, 30, true},
        Published{"sphere/P4-coarse.msh", 4, 30, true},
        Published{"armadillo/armadillo_P4.msh", 4, 4680, true},
        Published{"microstructure/microstructure_P2.msh", 2, 0, false},
        Published{"microstructure/microstructure_P3.msh", 3, 0, false}}) {
    SCOPED_TRACE(p.file);
    Mesh mesh = read_mesh(data / p.file);
    ASSERT_EQ(mesh.curved.size(), 1u);
    EXPECT_EQ(mesh.curved[0].degree, p.degree);
    orient_tetrahedra(mesh);
    if (p.valid) {
      EXPECT_EQ(mesh.curved_count(), p.cells);
      EXPECT_EQ(mesh.point_count(), lattice_points(mesh.corners(), p.degree));
      EXPECT_NO_THROW(validate_volume(mesh, p.file));
    } else {
      EXPECT_NE(message_of([&] { validate_volume(mesh, p.file); }).find("is inverted"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace apart::test
