// Exports keep what the OBJ file of a body has beside triangles: polygons, texture coordinates, which corners
// share a normal, and names.
#include <gtest/gtest.h>
#include <apart/io/mesh_format.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/run_export.hpp>
#include <support/frame_builder.hpp>
#include <support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

namespace apart::test {
namespace {

/// A roof: two quads with a hard ridge (two normals there), a seam in the texture along it, and a triangle.
constexpr const char* roof =
    "v 0 0 0\nv 1 1 0\nv 2 0 0\nv 0 0 2\nv 1 1 2\nv 2 0 2\nv 3 0 1\n"
    "vt 0 0\nvt 0.4 0\nvt 0.4 1\nvt 0 1\nvt 0.6 0\nvt 1 0\nvt 1 1\nvt 0.6 1\n"
    "vn -1 1 0\nvn 1 1 0\nvn 0 1 0\n"
    "f 1/1/1 4/4/1 5/3/1 2/2/1\nf 2/5/2 5/8/2 6/7/2 3/6/2\nf 3/6/-1 6/7/-1 7/7/-1\n";

class PolygonExport : public ::testing::Test {
 protected:
  PolygonExport() {
    write_file(directory / "roof.obj", roof);
    source = read_obj_polygons(directory / "roof.obj");
    FrameWriter writer(directory / "run");
    for (int i = 0; i < 2; ++i) {
      FrameBuilder b;
      Mesh ball;
      ball.points = Matrix3X::Zero(3, 1);
      ball.vertices = Eigen::VectorXi::Zero(1);
      b.add({"dust", "particles"}, ball, {9, 9, 9});
      b.add({"the roof", "shell"}, read_mesh(directory / "roof.obj"), {0, 5, 0});
      if (i == 1) b.frame.mesh.points.row(1).tail(7) *= 2;
      b.frame.time = 0.1 * i;
      writer.write(b.frame);
      frames.push_back(b.frame);
    }
    files = list_frames(directory / "run");
  }

  std::optional<BodyPolygons> matched(const Vector3& place) {
    ObjPolygons placed = source;
    placed.points.colwise() += place;
    return matched_polygons(frames[0], 1, placed, 1e-6);
  }
  ExportOptions options() { return {.polygons = {{1, *matched({0, 5, 0})}}}; }

  TemporaryDirectory directory;
  ObjPolygons source;
  std::vector<Frame> frames;
  std::vector<std::filesystem::path> files;
};

TEST_F(PolygonExport, FacesOfTheFileAreFoundByPlaceOrByNumber) {
  for (const Vector3& place : {Vector3(0, 5, 0), Vector3(0, 99, 0)}) {
    const auto found = matched(place);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->sizes, (std::vector<int>{4, 4, 3}));
    EXPECT_EQ(found->corners, (std::vector<int>{1, 4, 5, 2, 2, 5, 6, 3, 3, 6, 7}));
    EXPECT_EQ(found->normal_count, 11) << "no corner shares its normal with one of another face";
    EXPECT_EQ(found->texture.col(1), Eigen::Vector2d(0, 1));
  }
}

TEST_F(PolygonExport, OtherTrianglesThanThoseOfTheFileStayTriangles) {
  source.sizes.pop_back();
  source.corners.resize(8);
  source.texture.resize(8);
  source.normals.resize(8);
  EXPECT_FALSE(matched({0, 5, 0})) << "a triangle is left over";
  source = read_obj_polygons(directory / "roof.obj");
  std::swap(source.corners[0], source.corners[1]);
  EXPECT_FALSE(matched({0, 5, 0})) << "another diagonal";
}

TEST_F(PolygonExport, TurnedFacesTurnTheirCornersAndWhatBelongsToThem) {
  frames[0].mesh.faces.row(1).swap(frames[0].mesh.faces.row(2));
  const auto found = matched({0, 5, 0});
  ASSERT_TRUE(found);
  EXPECT_EQ(std::vector<int>(found->corners.begin(), found->corners.begin() + 4),
            (std::vector<int>{2, 5, 4, 1}));
  EXPECT_EQ(found->texture.col(0), Eigen::Vector2d(0.4, 0));
}

TEST_F(PolygonExport, ObjHoldsQuadsTextureNormalsAndNames) {
  export_frames(files, "obj", directory / "out", options());
  const std::string text = read_file(directory / "out" / "frame_000001.obj");
  EXPECT_NE(text.find("o the roof\n"), std::string::npos);
  EXPECT_NE(text.find("o dust\n"), std::string::npos);
  EXPECT_NE(text.find("f 2/1/1 5/2/2 6/3/3 3/4/4\n"), std::string::npos) << text;
  // What is read back is the deformed surface with the texture of the file.
  const ObjPolygons again = read_obj_polygons(directory / "out" / "frame_000001.obj");
  EXPECT_EQ(again.sizes, source.sizes);
  EXPECT_EQ(Matrix3X(again.points.rightCols(7)), Matrix3X(frames[1].mesh.points.rightCols(7)));
  for (std::size_t c = 0; c < again.texture.size(); ++c)
    EXPECT_EQ(again.texture_points.col(again.texture[c]), source.texture_points.col(source.texture[c]));
  // The slope of the left side: it rises by 2 over 1, so its normal is (-2, 1, 0)/sqrt 5.
  EXPECT_NE(text.find("vn -0.894427191 0.447213595 0\n"), std::string::npos) << text;
}

TEST_F(PolygonExport, PlyAndUsdHoldPolygonsAndTexture) {
  export_frames(files, "ply", directory / "ply", options());
  const std::string ply = read_file(directory / "ply" / "frame_000001.ply");
  EXPECT_NE(ply.find("comment body 1 the roof\n"), std::string::npos);
  EXPECT_NE(ply.find("element face 3\n"), std::string::npos);
  const Mesh read = read_mesh(directory / "ply" / "frame_000001.ply");
  EXPECT_EQ(read.faces, Faces(frames[1].mesh.faces));
  export_frames(files, "usda", directory / "out.usda", options());
  const std::string usd = read_file(directory / "out.usda");
  EXPECT_NE(usd.find("int[] faceVertexCounts = [4, 4, 3]"), std::string::npos);
  EXPECT_NE(usd.find("primvars:st = [(0, 0), (0, 1), (0.4, 1)"), std::string::npos);
  EXPECT_NE(usd.find("1: [(-0.8944272, 0.4472136, 0)"), std::string::npos);
}

TEST_F(PolygonExport, GltfSplitsPointsWhereTextureOrNormalsDiffer) {
  export_frames(files, "gltf", directory / "out.gltf", options());
  const auto gltf = nlohmann::json::parse(read_file(directory / "out.gltf"));
  const auto& mesh = gltf["meshes"][1];
  EXPECT_EQ(mesh["name"], "the roof");
  const auto& primitive = mesh["primitives"][0];
  const auto count = [&](const nlohmann::json& accessor) {
    return gltf["accessors"][accessor.get<int>()]["count"];
  };
  for (const char* name : {"POSITION", "NORMAL", "TEXCOORD_0"})
    EXPECT_EQ(count(primitive["attributes"][name]), 11) << name;
  EXPECT_EQ(count(primitive["indices"]), 3 * 5);
  EXPECT_EQ(count(primitive["targets"][0]["NORMAL"]), 11);
}

}  // namespace
}  // namespace apart::test
