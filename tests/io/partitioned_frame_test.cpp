// Frames in pieces: together they hold every cell of the frame, once, with all that is drawn of it.
#include <apart/geometry/generators.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/partitioned_frame.hpp>
#include <apart/io/run_frames.hpp>

#include <gtest/gtest.h>
#include <support/temporary_directory.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace apart::test {
namespace {

/// A block, a cloth that is absent, a rod and two free points.
Frame mixed_frame() {
  Frame frame;
  frame.time = 0.25;
  frame.bodies = {{"block", "volume"}, {"cloth", "shell"}, {"rod", "rod"}, {"dust", "particles"}};
  const Mesh block = generate::box({1, 2, 3}, {2, 3, 4}), cloth = generate::grid(1, 1, 2, 2);
  const Index n = block.point_count(), m = cloth.point_count();
  Mesh& mesh = frame.mesh;
  mesh.points = Matrix3X::Random(3, n + m + 5);
  mesh.points.leftCols(n) = block.points;
  mesh.tetrahedra = block.tetrahedra;
  mesh.faces = cloth.faces.array() + int(n);
  mesh.edges.resize(2, 2);
  mesh.edges << n + m, n + m + 1, n + m + 1, n + m + 2;
  mesh.vertices.resize(2);
  mesh.vertices << n + m + 3, n + m + 4;
  frame.point_body = Eigen::VectorXi::Zero(mesh.points.cols());
  frame.point_body.segment(n, m).setConstant(1);
  frame.point_body.tail(5) << 2, 2, 2, 3, 3;
  frame.absent = {1};
  frame.velocity = Matrix3X::Random(3, mesh.points.cols());
  frame.contact_force = Matrix3X::Random(3, mesh.points.cols());
  frame.von_mises = VectorX::Random(mesh.tetrahedra.cols() + mesh.faces.cols());
  frame.strain = VectorX::Random(frame.von_mises.size());
  return frame;
}

using Place = std::array<double, 3>;
Place place_of(const Mesh& mesh, Index point) {
  return {mesh.points(0, point), mesh.points(1, point), mesh.points(2, point)};
}

/// What is said of a cell, by the places of its points.
struct Said {
  int body = -1;
  double von_mises = 0, strain = 0;
  bool operator==(const Said&) const = default;
};
using Cells = std::map<std::vector<Place>, Said>;

void add_cells(const Frame& frame, Cells& cells) {
  const Mesh& mesh = frame.mesh;
  Index solid = 0;
  const auto add = [&](const auto& all, bool is_solid) {
    for (Eigen::Index c = 0; c < all.cols(); ++c) {
      std::vector<Place> places;
      for (Eigen::Index k = 0; k < all.rows(); ++k) places.push_back(place_of(mesh, all(k, c)));
      Said said{frame.point_body[all(0, c)]};
      if (is_solid) {
        said.von_mises = frame.von_mises[solid];
        said.strain = frame.strain[solid++];
      }
      if (std::ranges::count(frame.absent, said.body) > 0) continue;
      EXPECT_TRUE(cells.emplace(places, said).second) << "twice";
    }
  };
  add(mesh.tetrahedra, true);
  add(mesh.faces, true);
  add(mesh.edges, false);
  add(mesh.vertices.transpose(), false);
}

TEST(PartitionedFrame, HoldsEveryCellOnceWithItsPoints) {
  const TemporaryDirectory directory;
  const Frame frame = mixed_frame();
  Cells whole;
  add_cells(frame, whole);
  for (const int pieces : {1, 3}) {
    write_partitioned_frame(directory / "frame_000007.vtu", frame, pieces);
    const std::string index(FileReader(directory / "frame_000007.pvtu").content());
    Cells together;
    for (int p = 0; p < pieces; ++p) {
      const std::string name = "frame_000007/" + std::to_string(p) + ".vtu";
      EXPECT_NE(index.find("<Piece Source=\"" + name + "\"/>"), std::string::npos) << index;
      const Frame piece = read_frame(directory / name);
      EXPECT_EQ(piece.time, frame.time);
      add_cells(piece, together);
      for (Index i = 0; i < piece.mesh.point_count(); ++i)
        for (Index k = 0; k < frame.mesh.point_count(); ++k)
          if (place_of(piece.mesh, i) == place_of(frame.mesh, k)) {
            EXPECT_EQ(piece.velocity.col(i), frame.velocity.col(k));
            EXPECT_EQ(piece.contact_force.col(i), frame.contact_force.col(k));
          }
      EXPECT_LT(piece.mesh.point_count(), frame.mesh.point_count());
    }
    EXPECT_EQ(together, whole);
  }
}

TEST(PartitionedFrame, DeclaresTheArraysOfEveryPiece) {
  const TemporaryDirectory directory;
  Frame frame = mixed_frame();
  frame.mesh.tetrahedra.conservativeResize(4, 1);  // most pieces have no solid cell
  frame.von_mises = VectorX::Ones(1 + frame.mesh.faces.cols());
  frame.strain.resize(0);
  write_partitioned_frame(directory / "f.vtu", frame, 4);
  const std::string index(FileReader(directory / "f.pvtu").content());
  for (int p = 0; p < 4; ++p) {
    const std::string piece(FileReader(directory / "f" / (std::to_string(p) + ".vtu")).content());
    for (const std::string name : {"velocity", "contact_force", "von_mises", "strain", "body"})
      EXPECT_EQ(piece.find("Name=\"" + name + "\"") != std::string::npos,
                index.find("Name=\"" + name + "\"") != std::string::npos)
          << name << " in piece " << p;
  }
}

TEST(PartitionedFrame, StandsBesideEachFrameOfARunThatAsksForIt) {
  const TemporaryDirectory directory;
  FrameWriter writer(directory.path(), {"pvtu"}, 0, 2);
  writer.write(mixed_frame());
  EXPECT_TRUE(std::filesystem::exists(directory / "frames/frame_000000.pvtu"));
  EXPECT_TRUE(std::filesystem::exists(directory / "frames/frame_000000/1.vtu"));
  EXPECT_EQ(list_frames(directory.path()).size(), 1u);
}

}  // namespace
}  // namespace apart::test
