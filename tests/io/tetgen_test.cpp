#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/tetgen.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <chrono>
#include <cstdlib>

namespace apart::test {
namespace {

using generate::Content;

bool tetgen_is_there() {
  return std::system("command -v tetgen > /dev/null") == 0;
}

Mesh joined(const Mesh& a, const Mesh& b) {
  Mesh mesh;
  mesh.points.resize(3, a.points.cols() + b.points.cols());
  mesh.points << a.points, b.points;
  mesh.faces.resize(3, a.faces.cols() + b.faces.cols());
  mesh.faces << a.faces, (b.faces.array() + int(a.points.cols())).matrix();
  return mesh;
}

Mesh turned_round(Mesh mesh) {
  mesh.faces.row(1).swap(mesh.faces.row(2));
  return mesh;
}

class Tetgen : public ::testing::Test {
  void SetUp() override {
    if (!tetgen_is_there()) GTEST_SKIP() << "the program tetgen is not installed: install the package tetgen";
  }
};

TEST_F(Tetgen, FillsSurfacesAndKeepsThem) {
  for (const Mesh& surface :
       {generate::box({1, 2, 3}, {2, 3, 4}, Content::surface), generate::sphere(0.01, 4, Content::surface),
        generate::torus(100, 30, 16, 9, Content::surface)}) {
    const Mesh mesh = tetrahedralize(surface, "here");
    EXPECT_NO_THROW(validate_volume(mesh, "here"));
    EXPECT_NEAR(volume_of(mesh), enclosed_volume(surface), 1e-10 * enclosed_volume(surface));
    EXPECT_EQ(mesh.points.leftCols(surface.points.cols()), surface.points);
    EXPECT_EQ(boundary_faces(mesh.tetrahedra).cols(), surface.faces.cols());
    EXPECT_EQ(mesh.faces.cols(), 0);
  }
}

TEST_F(Tetgen, AcceptsSurfacesThatAreInsideOut) {
  const Mesh surface = generate::sphere(1, 2, Content::surface);
  EXPECT_NEAR(volume_of(tetrahedralize(turned_round(surface), "here")), enclosed_volume(surface), 1e-12);
}

TEST_F(Tetgen, DropsUnusedPoints) {
  Mesh surface = generate::box({1, 1, 1}, {1, 1, 1}, Content::surface);
  surface.points.conservativeResize(3, 9);
  surface.points.col(8) << 0.01, 0.02, 0.03;
  EXPECT_NEAR(volume_of(tetrahedralize(surface, "here")), 1, 1e-12);
}

TEST_F(Tetgen, LeavesCavitiesEmpty) {
  const Mesh outer = generate::sphere(1, 3, Content::surface),
             inner = generate::sphere(0.5, 2, Content::surface);
  const Mesh mesh = tetrahedralize(joined(outer, turned_round(inner)), "here");
  EXPECT_NEAR(volume_of(mesh), enclosed_volume(outer) - enclosed_volume(inner), 1e-12);
  EXPECT_EQ(boundary_faces(mesh.tetrahedra).cols(), outer.faces.cols() + inner.faces.cols());
}

TEST_F(Tetgen, FillsSeveralPieces) {
  const Mesh a = generate::sphere(1, 2, Content::surface);
  const Mesh b = transformed(a, Matrix3::Identity(), Vector3(3, 0, 0));
  EXPECT_NEAR(volume_of(tetrahedralize(joined(a, b), "here")), 2 * enclosed_volume(a), 1e-12);
}

TEST_F(Tetgen, MaxVolumeRefinesTheInside) {
  const Mesh surface = generate::box({1, 1, 1}, {8, 8, 8}, Content::surface);
  TetrahedralizeOptions options;
  options.max_volume = 1e-4;
  const Mesh coarse = tetrahedralize(surface, "here"), fine = tetrahedralize(surface, "here", options);
  EXPECT_GT(fine.tetrahedra.cols(), 2 * coarse.tetrahedra.cols());
  EXPECT_EQ(fine.points.leftCols(surface.points.cols()), surface.points);
}

TEST(Tetrahedralize, RefusesOpenAndCrossingSurfaces) {
  Mesh open = generate::sphere(1, 2, Content::surface);
  open.faces.conservativeResize(3, open.faces.cols() - 1);
  std::string message = message_of([&] { tetrahedralize(open, "here"); });
  EXPECT_EQ(message.find("here: "), 0u) << message;
  EXPECT_NE(message.find("not closed"), std::string::npos) << message;
  EXPECT_NE(message.find("1 triangle,"), std::string::npos) << message;

  Mesh flipped = generate::sphere(1, 2, Content::surface);
  std::swap(flipped.faces(0, 3), flipped.faces(1, 3));
  EXPECT_NE(message_of([&] { tetrahedralize(flipped, "here"); }).find("opposite sides"), std::string::npos);

  const Mesh a = generate::sphere(1, 2, Content::surface);
  const Mesh crossing = joined(a, transformed(a, Matrix3::Identity(), Vector3(0.7, 0.1, 0.2)));
  message = message_of([&] { tetrahedralize(crossing, "here"); });
  EXPECT_NE(message.find("intersects itself"), std::string::npos) << message;

  EXPECT_NE(message_of([&] { tetrahedralize(generate::segments(1, 3), "here"); }).find("no triangles"),
            std::string::npos);
}

TEST(Tetrahedralize, RefusesInvalidOptions) {
  const Mesh surface = generate::box({1, 1, 1}, {1, 1, 1}, Content::surface);
  TetrahedralizeOptions options;
  options.radius_edge_ratio = 0.5;
  EXPECT_NE(message_of([&] { tetrahedralize(surface, "here", options); }).find("0.5"), std::string::npos);
  options = {};
  options.max_volume = -1;
  EXPECT_NE(message_of([&] { tetrahedralize(surface, "here", options); }).find("max_volume"),
            std::string::npos);
}

TEST(Tetrahedralize, MissingProgramIsNamedWithAdvice) {
  TetrahedralizeOptions options;
  options.program = "no-such-tetgen";
  const Mesh surface = generate::box({1, 1, 1}, {1, 1, 1}, Content::surface);
  const std::string message = message_of([&] { tetrahedralize(surface, "here", options); });
  EXPECT_NE(message.find("'no-such-tetgen'"), std::string::npos) << message;
  EXPECT_NE(message.find("apt install tetgen"), std::string::npos) << message;
}

TEST(Tetrahedralize, MisbehavingProgramsAreReportedAndLeaveNothingBehind) {
  const TemporaryDirectory directory;
  const Mesh surface = generate::box({1, 1, 1}, {1, 1, 1}, Content::surface);
  // A folder for temporary files of its own: other tests, at the same time, make and remove theirs in the
  // common one.
  const TemporaryDirectory scratch;
  ASSERT_EQ(::setenv("TMPDIR", scratch.path().c_str(), 1), 0);
  const auto with_script = [&](const std::string& body, int time_limit = 60) {
    const auto script = directory / "fake";
    write_file(script, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    TetrahedralizeOptions options;
    options.program = script.string();
    options.time_limit = time_limit;
    return message_of([&] { tetrahedralize(surface, "here", options); });
  };
  EXPECT_NE(with_script("exit 3").find("exit code 3"), std::string::npos);
  EXPECT_NE(with_script("kill -ABRT $$").find("signal 6"), std::string::npos);
  EXPECT_NE(with_script("exit 0").find("could not fill"), std::string::npos)
      << "no result although it says so";
  EXPECT_NE(with_script("echo '1 3 0 0' > surface.1.node; echo x > surface.1.ele").find("surface.1.node"),
            std::string::npos);
  EXPECT_NE(with_script("echo '1 3 0 0\n0 0 0 0' > surface.1.node; echo '1 4 0\n0 0 0 0 9' > surface.1.ele")
                .find("9"),
            std::string::npos);
  EXPECT_NE(with_script("exec sleep 300", 1).find("1 seconds"), std::string::npos);
  write_file(directory / "plain", "not a program");
  TetrahedralizeOptions options;
  options.program = (directory / "plain").string();
  EXPECT_NE(message_of([&] { tetrahedralize(surface, "here", options); }).find("could not be started"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace apart::test
