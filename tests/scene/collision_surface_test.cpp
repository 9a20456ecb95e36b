// What bodies of a scene collide with, and meshes that are curved to a surface.
#include <apart/bodies/cell_shapes.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <support/curved_mesh.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>
#include <support/weight_file.hpp>

namespace apart::test {
namespace {

class CollisionSurfaces : public testing::Test {
 protected:
  void SetUp() override {
    write_mesh(directory / "box.msh", generate::box({1, 1, 1}, {1, 1, 1}));
    write_mesh(directory / "curved.msh", curved(generate::box({1, 1, 1}, {1, 1, 1}), 2));
    write_mesh(directory / "skin.obj", skin);
  }
  Body built(const std::string& type, const std::string& rest) const {
    const SceneFile file = parse_scene(
        R"({"version": 1, "time": {"steps": 1}, "bodies": [{"type": ")" + type +
            R"(", "name": "b", "transform": {"scale": 2, "translate": [1, 2, 3]}, )" + rest + "}]}",
        "scene.json", directory.path());
    EXPECT_EQ(file.text(), parse_scene(file.text(), "again.json", ".").text());
    return build_scene(file).model->bodies[0];
  }
  std::string error(const std::string& type, const std::string& rest) const {
    return message_of([&] { built(type, rest); });
  }
  /// Weights of the skin in the cells of a mesh, columns as its points.
  WeightFile weights(const std::string& mesh_file) const {
    const Mesh mesh = read_mesh(directory / mesh_file);
    const CellShapes shapes(mesh);
    const Embedding embedding = embed(skin.points, shapes, "skin");
    WeightFile w;
    w.rows = skin.point_count();
    w.columns = mesh.point_count();
    for (Index i = 0; i < w.rows; ++i) {
      const VectorX values = shapes.basis().values(embedding.xi.col(i));
      for (Index a = 0; a < values.size(); ++a)
        w.entries.push_back({i, shapes.cells()(a, embedding.cell[std::size_t(i)]), values[a]});
    }
    return w;
  }
  void write_weights(const WeightFile& w) const {
    write_file(directory / "w.hdf5", WeightFileWriter(w).bytes());
  }

  const TemporaryDirectory directory;
  const Mesh skin = generate::sphere(0.4, 3, generate::Content::surface);
};

constexpr const char* with_weights = R"(, "collision": {"mesh": {"file": "skin.obj"}, "weights": "w.hdf5"})";

TEST_F(CollisionSurfaces, FollowTheWeightsOfAFile) {
  for (const std::string file : {"box.msh", "curved.msh"}) {
    write_weights(weights(file));
    const Body body = built("volume", R"("mesh": {"file": ")" + file + "\"}" + with_weights);
    const Matrix3X expected = (2 * skin.points).colwise() + Vector3(1, 2, 3);
    ASSERT_EQ(Index(body.surface_points.size()), skin.point_count());
    EXPECT_LT((body.mesh.points(Eigen::all, body.surface_points) - expected).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST_F(CollisionSurfaces, RefuseWeightsOfSomethingElse) {
  const std::string box = R"("mesh": {"file": "box.msh"})";
  WeightFile w = weights("box.msh");
  const auto expect = [&](const std::string& body, const std::string& words) {
    write_weights(w);
    const std::string message = error("volume", body + with_weights);
    EXPECT_NE(message.find("scene.json:1"), std::string::npos) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  for (WeightFile::Entry& e : w.entries) e.column = (e.column + 1) % w.columns;
  expect(box, "the weights put point");
  w = weights("curved.msh");
  expect(box, "belong to another mesh");
  w = weights("box.msh");
  expect(box + R"(, "basis_order": 2)", "\"ordered_edges\"");
  ++w.rows;
  expect(box, "but the collision mesh has");
  w = weights("box.msh");
  w.entries.push_back(w.entries.front());
  expect(box, "two weights for the same node in row 0");
  EXPECT_NE(error("affine", box + with_weights).find("is for volumes"), std::string::npos);
}

TEST_F(CollisionSurfaces, OfAffineAndRigidBodiesHaveNoMass) {
  for (const std::string type : {"affine", "rigid"}) {
    const std::string box = R"("mesh": {"file": "box.msh"})";
    const Body own = built(type, box);
    const Body body = built(type, box + R"(, "collision": {"mesh": {"file": "skin.obj"}})");
    EXPECT_EQ(total_mass(body), total_mass(own));
    EXPECT_EQ(centre_of_mass(body), centre_of_mass(own));
    EXPECT_EQ(body.surface_faces.cols(), skin.faces.cols());
    EXPECT_LT((body.mesh.points - ((2 * skin.points).colwise() + Vector3(1, 2, 3))).cwiseAbs().maxCoeff(),
              1e-6);
    EXPECT_NE(error(type, box + R"(, "collision": {"resolution": 3})").find("has no mesh"),
              std::string::npos);
  }
}

TEST_F(CollisionSurfaces, OfCurvedMeshesNeedNoHighOrder) {
  // Displacements of degree one on cells of degree two; the surface has the degree of the cells.
  const Body body = built("volume", R"("mesh": {"file": "curved.msh"}, "basis_order": 1)");
  ASSERT_TRUE(body.elastic->lagrange);
  EXPECT_EQ(body.elastic->lagrange->degree, 1);
  EXPECT_EQ(body.elastic->lagrange->shape_degree, 2);
  EXPECT_EQ(body.node_count(), 8);
  EXPECT_EQ(body.surface_faces.cols(), 4 * 12);
}

TEST_F(CollisionSurfaces, MeshesAreCurvedToASurface) {
  write_mesh(directory / "coarse.msh", generate::sphere(0.38, 2));
  const Body body = built(
      "volume",
      R"("mesh": {"file": "coarse.msh", "curve": 3, "to": "skin.obj"}, "collision": {"resolution": 6})");
  EXPECT_EQ(body.mesh.curved[0].degree, 3);
  // Points of the boundary of the cells are on the triangles of the surface, which has the radius 0.4 · 2.
  const Faces faces = boundary_faces(body.mesh.curved[0]);
  for (const int p : faces.reshaped()) {
    const double radius = (body.mesh.points.col(p) - Vector3(1, 2, 3)).norm();
    EXPECT_LT(radius, 0.8 + 1e-6);
    EXPECT_GT(radius, 0.76);
  }
  write_mesh(directory / "far.obj", transformed(skin, Matrix3::Identity(), {9, 0, 0}));
  EXPECT_NE(error("volume", R"("mesh": {"file": "coarse.msh", "curve": 3, "to": "far.obj"})")
                .find("away from the boundary"),
            std::string::npos);
  EXPECT_NE(error("volume", R"("mesh": {"file": "curved.msh", "curve": 3, "to": "skin.obj"})")
                .find("is curved already"),
            std::string::npos);
  EXPECT_NE(error("volume", R"("mesh": {"file": "coarse.msh", "curve": 3})").find("\"to\""),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
