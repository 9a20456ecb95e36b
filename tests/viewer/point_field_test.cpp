#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/viewer/drawn_surface.hpp>
#include <apart/viewer/point_field.hpp>
#include <support/curved_mesh.hpp>
#include <support/frame_builder.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace apart::test {
namespace {

/// Two cubes of side 1, `gap` apart along x, on a floor as far below.
FrameBuilder cubes(double gap) {
  FrameBuilder b;
  b.add({"left", "volume"}, generate::box({1, 1, 1}, {2, 2, 2}), {-0.5 - gap / 2, 0.5 + gap, 0});
  b.add({"right", "volume"}, generate::box({1, 1, 1}, {2, 2, 2}), {0.5 + gap / 2, 0.5 + gap, 0});
  b.add_half_space("floor", Vector3::Zero(), Vector3::UnitY());
  return b;
}

TEST(DrawnSurface, HoldsTheBoundaryAndNothingInside) {
  FrameBuilder b = cubes(0.1);
  Mesh sheet;
  sheet.points = Matrix3X::Random(3, 4);
  sheet.faces.resize(3, 1);
  sheet.faces << 1, 2, 3;
  sheet.edges.resize(2, 1);
  sheet.edges << 0, 1;
  b.add({"sheet", "shell"}, sheet);
  const DrawnSurface s = drawn_surface(b.frame);
  const Mesh& mesh = b.frame.mesh;
  EXPECT_EQ(s.triangles.cols(), 2 * 6 * 8 + 1);
  EXPECT_EQ(s.points.size(), 2 * 26 + 4);  // 27 points in a cube, one of them inside
  ASSERT_EQ(s.triangle_cell.size(), s.triangles.cols());
  for (Index t = 0; t < s.triangles.cols(); ++t) {
    const NumberedCell cell = cell_of(b.frame, s.triangle_cell[t]);
    EXPECT_EQ(cell.kind, t < 96 ? "tetrahedron" : "triangle");
    for (const int corner : s.triangles.col(t))
      EXPECT_NE(std::find(cell.corners, cell.corners + cell.size, s.points[corner]),
                cell.corners + cell.size);
  }
  EXPECT_EQ(cell_of(b.frame, Index(mesh.tetrahedra.cols()) + 1).kind, "segment");
  EXPECT_THROW(cell_of(b.frame, Index(mesh.tetrahedra.cols()) + 2), InputError);
  EXPECT_THROW(cell_of(b.frame, -1), InputError);
}

TEST(DrawnSurface, KeyDistinguishesTopologiesAndNotPositions) {
  const FrameBuilder a = cubes(0.1);
  EXPECT_EQ(topology_key(a.frame), topology_key(cubes(0.2).frame));
  FrameBuilder b = a;
  std::swap(b.frame.mesh.tetrahedra(0, 3), b.frame.mesh.tetrahedra(1, 3));
  EXPECT_NE(topology_key(a.frame), topology_key(b.frame));
  FrameBuilder c = a;
  c.frame.bodies[0].name = "other";
  EXPECT_NE(topology_key(a.frame), topology_key(c.frame));
  FrameBuilder d = a;
  d.frame.point_body[0] = 1;
  EXPECT_NE(topology_key(a.frame), topology_key(d.frame));
}

TEST(Gaps, AreDistancesToTheNearestOther) {
  const FrameBuilder b = cubes(0.01);
  const Frame& f = b.frame;
  const VectorX g = gaps(f, 0.05);
  int near = 0;
  for (Index p = 0; p < f.mesh.point_count(); ++p) {
    const bool touching = std::abs(f.mesh.points(0, p)) < 0.0051, low = f.mesh.points(1, p) < 0.0101;
    if (touching || low) {
      EXPECT_NEAR(g[p], 0.01, 1e-12) << p;
      ++near;
    } else {
      EXPECT_TRUE(std::isnan(g[p])) << p;
    }
  }
  EXPECT_EQ(near, 2 * (9 + 9 - 3));
}

TEST(Gaps, AreWhatIsLeftOfTheThickness) {
  FrameBuilder b = cubes(0.01);
  b.frame.thickness = {0.004, 0.002, 0};
  b.frame.self_reach = {0.005, 0.003, 0.001};
  b.frame.pair_thickness = {{0, 2, 0.006}};
  const VectorX g = gaps(b.frame, 0.05);
  int found = 0;
  for (Index p = 0; p < b.frame.mesh.point_count(); ++p) {
    const bool left = b.frame.point_body[p] == 0;
    const bool touching = std::abs(b.frame.mesh.points(0, p)) < 0.0051,
               low = b.frame.mesh.points(1, p) < 0.0101;
    if (!touching && !low) continue;
    ++found;
    // From the floor: 0.006 for the left one by itself, the mean for the right one; between them the mean.
    const double expected = low ? (left ? 0.004 : touching ? 0.007 : 0.009) : 0.007;
    EXPECT_NEAR(g[p], expected, 1e-12) << p;
  }
  EXPECT_EQ(found, 30);
}

TEST(Gaps, LeaveOutWhatCannotTouch) {
  FrameBuilder b = cubes(0.01);
  b.frame.ignored_pairs = {{0, 1}};
  VectorX g = gaps(b.frame, 0.05);
  for (Index p = 0; p < b.frame.mesh.point_count(); ++p)
    EXPECT_EQ(std::isnan(g[p]), b.frame.mesh.points(1, p) > 0.0101);
  b.frame.absent = {1};
  g = gaps(b.frame, 0.05);
  for (Index p = b.first_point(1); p < b.frame.mesh.point_count(); ++p) EXPECT_TRUE(std::isnan(g[p]));
  EXPECT_FALSE(g.head(b.first_point(1)).array().isNaN().all());
}

TEST(PointField, ObstaclesHaveNoStressAndNoStrain) {
  FrameBuilder b;
  Mesh sheet = generate::grid(1, 1, 2, 2);
  b.add({"cloth", "shell"}, sheet);
  b.add({"table", "obstacle"}, sheet, {0, -1, 0});
  Frame& f = b.frame;
  f.von_mises = VectorX::Constant(f.mesh.faces.cols(), 5);
  f.von_mises.tail(sheet.faces.cols()).setZero();
  f.strain = f.von_mises;
  for (const char* field : {"stress", "strain"}) {
    const VectorX values = point_field(f, field, 1);
    EXPECT_NEAR((values.head(sheet.points.cols()).array() - 5).abs().maxCoeff(), 0, 1e-12);
    EXPECT_TRUE(values.tail(sheet.points.cols()).array().isNaN().all()) << field;
  }
}

TEST(ColourRange, LeavesOutTheLargestHalfPercent) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i < 996 ? 0.5 + i / 2000.0 : 1e9);
  EXPECT_EQ(colour_range("stress", values)->first, 0);
  EXPECT_NEAR(colour_range("stress", values)->second, 1, 0.01);
  EXPECT_EQ(colour_range("gap", values)->first, 0.5);
  EXPECT_FALSE(colour_range("gap", {}));
}

TEST(PointField, IsWhatTheFrameSays) {
  FrameBuilder b = cubes(0.01);
  Frame& f = b.frame;
  EXPECT_THROW(point_field(f, "speed", 1), InputError);
  EXPECT_THROW(point_field(f, "nothing", 1), InputError);
  f.velocity = Matrix3X::Random(3, f.mesh.point_count());
  f.contact_force = Matrix3X::Random(3, f.mesh.point_count());
  f.von_mises = VectorX::Constant(f.mesh.tetrahedra.cols(), 7);
  f.strain = VectorX::LinSpaced(f.mesh.tetrahedra.cols(), 0, 1);
  EXPECT_NEAR(point_field(f, "speed", 1)[5], f.velocity.col(5).norm(), 1e-15);
  EXPECT_NEAR(point_field(f, "contact_force", 1)[5], f.contact_force.col(5).norm(), 1e-15);
  EXPECT_NEAR((point_field(f, "stress", 1).array() - 7).abs().maxCoeff(), 0, 1e-12);
  const VectorX strain = point_field(f, "strain", 1);
  EXPECT_GE(strain.minCoeff(), 0);
  EXPECT_LE(strain.maxCoeff(), 1);
  EXPECT_LT(strain[0], strain[f.mesh.point_count() - 1]);
  for (const FieldKind& kind : field_kinds()) {
    EXPECT_EQ(kind.present(f), kind.name != "displacement") << kind.name;
    EXPECT_EQ(point_field(f, kind.name, 0.05, f.mesh.points).size(), f.mesh.point_count()) << kind.name;
  }
}

TEST(PointField, DisplacementIsTheWayFromTheStart) {
  FrameBuilder b = cubes(0.01);
  Frame& f = b.frame;
  const Matrix3X start = f.mesh.points;
  f.mesh.points.row(1).array() += 0.25;
  EXPECT_NEAR((point_field(f, "displacement", 1, start).array() - 0.25).abs().maxCoeff(), 0, 1e-15);
  EXPECT_THROW(point_field(f, "displacement", 1, start.leftCols(3)), InputError);
}

TEST(PointField, PressureOnASheetIsForcePerArea) {
  FrameBuilder b;
  b.add({"sheet", "shell"}, generate::grid(2, 3, 4, 4));
  b.add({"rope", "rod"}, generate::segments(2, 4));
  Frame& f = b.frame;
  const Index sheet = 25;
  // A pressure of 10 Pa upwards, and as much along the sheet, which is friction.
  f.contact_force = Matrix3X::Zero(3, f.mesh.point_count());
  for (const auto& face : f.mesh.faces.colwise())
    for (const int p : face) f.contact_force.col(p) += Vector3(10, 10, 0) * (2.0 * 3.0 / 32) / 3;
  const VectorX pressure = point_field(f, "contact_pressure", 1);
  for (Index i = 0; i < sheet; ++i) EXPECT_NEAR(pressure[i], 10, 1e-12);
  for (Index i = sheet; i < f.mesh.point_count(); ++i)
    EXPECT_TRUE(std::isnan(pressure[i])) << "has no surface";
}

/// A ball of curved cells whose surface is what contact sees of them.
Frame curved_ball(int degree) {
  Frame frame;
  frame.bodies = {{"ball", "volume"}};
  frame.mesh = curved(generate::sphere(1, 2), degree);
  const Faces faces = boundary_faces(frame.mesh.curved[0]);
  for (const int p : faces.reshaped()) frame.mesh.points.col(p).normalize();
  frame.mesh.faces = faces;
  const Index points = frame.mesh.point_count(), count = Index(faces.cols());
  frame.point_body = Eigen::VectorXi::Zero(points);
  frame.velocity = 3 * frame.mesh.points;
  frame.contact_force = Matrix3X::Ones(3, points);
  frame.von_mises = frame.strain = VectorX::Zero(count);
  for (Index f = 0; f < count; ++f) frame.von_mises[f] = double(f / (degree * degree));  // face of a cell
  return frame;
}

TEST(ShownFrame, CutsTheBoundaryOfCurvedCellsFinely) {
  for (int degree = 2; degree <= 4; ++degree) {
    const Frame frame = curved_ball(degree), shown = shown_frame(frame);
    const Index parts = Index(degree * degree), was = Index(frame.mesh.faces.cols()),
                count = Index(shown.mesh.faces.cols()), first = frame.mesh.point_count();
    ASSERT_EQ(count, was / parts * 64);
    EXPECT_EQ(shown.mesh.points.leftCols(first), frame.mesh.points);
    EXPECT_EQ(shown.point_body.size(), shown.mesh.point_count());
    EXPECT_EQ(shown.contact_force.cols(), shown.mesh.point_count());
    EXPECT_LT((shown.velocity - 3 * shown.mesh.points).cwiseAbs().maxCoeff(), 1e-12);
    // On the sphere, as far as polynomials of the degree are; closed; with the values of the faces.
    const double off[] = {0.03, 0.006, 0.003};
    std::set<std::pair<int, int>> edges;
    for (Index f = 0; f < count; ++f) {
      EXPECT_EQ(shown.von_mises[f], double(f / 64));
      for (int k = 0; k < 3; ++k) {
        const int a = shown.mesh.faces(k, f), b = shown.mesh.faces((k + 1) % 3, f);
        EXPECT_GE(a, first);
        EXPECT_NEAR(shown.mesh.points.col(a).norm(), 1, off[degree - 2]);
        EXPECT_TRUE(edges.emplace(a, b).second);
      }
    }
    for (const auto& [a, b] : edges) EXPECT_TRUE(edges.contains({b, a}));
    EXPECT_EQ(shown_frame(frame, ShownSurface::collision).mesh.faces, frame.mesh.faces);
  }
}

TEST(ShownFrame, KeepsCollisionMeshesAndStraightCells) {
  Frame frame = curved_ball(2);
  // The same triangles on points of their own: a mesh that follows the cells.
  const Index n = frame.mesh.point_count();
  frame.mesh.points = frame.mesh.points.replicate(1, 2).eval();
  frame.point_body = Eigen::VectorXi::Zero(2 * n);
  frame.velocity.resize(3, 0);
  frame.contact_force.resize(3, 0);
  frame.mesh.faces.array() += int(n);
  EXPECT_EQ(shown_frame(frame).mesh.faces, frame.mesh.faces);
  EXPECT_EQ(shown_frame(frame).mesh.point_count(), 2 * n);
}

TEST(ShownFrame, DrawsTheCellsOfABodyWithACollisionMeshIfAsked) {
  for (int degree = 1; degree <= 3; ++degree) {
    Frame frame = curved_ball(std::max(degree, 2));
    if (degree == 1) frame.mesh.curved[0] = {1, frame.mesh.curved[0].points.topRows<4>().eval()};
    const Faces boundary = boundary_faces(frame.mesh.curved[0].points.topRows<4>());
    // A larger mesh around the cells, with other triangles.
    const Index n = frame.mesh.point_count(), count = Index(boundary.cols());
    Matrix3X both(3, 2 * n);
    both << frame.mesh.points, 1.5 * frame.mesh.points;
    frame.mesh.points = both;
    frame.point_body = Eigen::VectorXi::Zero(2 * n);
    frame.velocity = frame.contact_force = Matrix3X();
    frame.velocity.resize(3, 0);
    frame.contact_force.resize(3, 0);
    frame.mesh.faces = boundary.array() + int(n);
    frame.von_mises = frame.strain = VectorX::LinSpaced(count, 0, double(count - 1));
    EXPECT_EQ(shown_frame(frame).mesh.faces, frame.mesh.faces) << "its collision mesh, unless asked";
    const Frame cells = shown_frame(frame, ShownSurface::cells);
    const Index parts = degree == 1 ? 1 : 64;
    ASSERT_EQ(cells.mesh.faces.cols(), count * parts);
    for (Index f = 0; f < cells.mesh.faces.cols(); ++f) {
      EXPECT_EQ(cells.von_mises[f], double(f / parts)) << "of the nearest triangle of the mesh";
      for (const int p : cells.mesh.faces.col(f)) EXPECT_LT(cells.mesh.points.col(p).norm(), 1.1);
    }
  }
}

}  // namespace
}  // namespace apart::test
