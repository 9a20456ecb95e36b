// What other programs get must be the run: every exported file is read back and compared with the frames.
#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/viewer/run_export.hpp>
#include <support/frame_builder.hpp>
#include <support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <regex>

namespace apart {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::FrameBuilder;
using testing::read_file;
using testing::TemporaryDirectory;

constexpr int frame_count = 4;

/// A ball that falls, far from the origin; a rope; an obstacle that stays; a box that is there in the middle
/// only.
FrameBuilder scene(int number) {
  FrameBuilder b;
  const Vector3 far(500, 0, 0);
  b.add({"soft \"ball\"", "volume"}, generate::sphere(0.5, 3), far + Vector3(0, 2 - 0.3 * number, 0));
  Mesh rope;
  rope.points = Matrix3X::Zero(3, 3);
  rope.points.row(0) << 0, 1, 2 + 0.1 * number;
  rope.edges.resize(2, 2);
  rope.edges << 0, 1, 1, 2;
  b.add({"1 rope", "rod"}, rope, far);
  b.add({"wall", "obstacle"}, generate::box({0.1, 2, 2}, {1, 1, 1}), far + Vector3(-1, 0, 0));
  b.add({"guest", "volume"}, generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), far + Vector3(1, 1, 0));
  Mesh dust;
  dust.points = Matrix3X::Random(3, 5) + Matrix3X::Constant(3, 5, 0.01 * number);
  dust.vertices = Eigen::VectorXi::LinSpaced(5, 0, 4);
  std::srand(1);
  b.add({"wall", "particles"}, dust, far);
  b.add_half_space("floor", Vector3(0, -1, 0), Vector3::UnitY());
  b.frame.time = 0.5 + 0.02 * number;
  if (number == 0 || number == 3) b.frame.absent = {3};
  return b;
}

class Export : public ::testing::Test {
 protected:
  Export() {
    std::srand(1);
    FrameWriter writer(directory / "run");
    for (int i = 0; i < frame_count; ++i) {
      std::srand(1);
      frames.push_back(scene(i).frame);
      writer.write(frames.back());
    }
    files = list_frames(directory / "run");
  }
  TemporaryDirectory directory;
  std::vector<Frame> frames;
  std::vector<fs::path> files;
};

/// The surface points of a body in a frame, in the order of the frame.
Matrix3X surface_points(const Frame& frame, int body) {
  std::vector<int> list;
  for (const int p : drawn_surface(frame).points)
    if (frame.point_body[p] == body) list.push_back(p);
  Matrix3X points(3, Index(list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) points.col(Index(i)) = frame.mesh.points.col(list[i]);
  return points;
}

/// A glTF file taken apart.
struct Gltf {
  json text;
  std::string buffer;

  explicit Gltf(const fs::path& file) {
    const std::string bytes = read_file(file);
    const auto number = [&](std::size_t at) {
      std::uint32_t x;
      std::memcpy(&x, bytes.data() + at, 4);
      return x;
    };
    EXPECT_EQ(bytes.substr(0, 4), "glTF");
    EXPECT_EQ(number(8), bytes.size());
    const std::size_t length = number(12);
    text = json::parse(bytes.substr(20, length));
    buffer = bytes.substr(20 + length + 8);
    EXPECT_EQ(text["buffers"][0]["byteLength"], buffer.size());
  }
  std::vector<float> floats(int accessor) const {
    const json& a = text["accessors"][std::size_t(accessor)];
    const json& view = text["bufferViews"][a["bufferView"].get<std::size_t>()];
    EXPECT_EQ(a["componentType"], 5126);
    const std::size_t n = a["count"].get<std::size_t>() * (a["type"] == "VEC3" ? 3 : 1);
    EXPECT_EQ(view["byteLength"], 4 * n);
    std::vector<float> values(n);
    std::memcpy(values.data(), buffer.data() + view["byteOffset"].get<std::size_t>(), 4 * n);
    return values;
  }
  const json& node(const std::string& name, std::size_t number = 0) const {
    for (const json& n : text["nodes"])
      if (n["name"] == name && number-- == 0) return n;
    throw std::runtime_error("no node " + name);
  }
};

TEST_F(Export, GltfMovesEveryBodyAsTheFramesSay) {
  export_frames(files, "gltf", directory / "run.glb");
  const Gltf gltf(directory / "run.glb");
  const json& root = gltf.node("run");
  const Vector3 place(root["translation"][0], root["translation"][1], root["translation"][2]);
  EXPECT_NEAR(root["rotation"][3].get<double>(), 1, 1e-12);  // y is up already
  EXPECT_EQ(root["children"].size(), 6u);

  const std::pair<const char*, int> bodies[] = {
      {"soft \"ball\"", 0}, {"1 rope", 1}, {"wall", 2}, {"guest", 3}};
  for (const auto& [name, body] : bodies) {
    const json& mesh = gltf.text["meshes"][gltf.node(name)["mesh"].get<std::size_t>()];
    const json& primitive = mesh["primitives"][0];
    const std::vector<float> base = gltf.floats(primitive["attributes"]["POSITION"]);
    const bool moves = body < 2;
    EXPECT_EQ(primitive.contains("targets"), moves) << name;
    for (int f = 0; f < frame_count; ++f) {
      const Matrix3X expected = surface_points(frames[std::size_t(f)], body);
      ASSERT_EQ(base.size(), std::size_t(expected.size())) << name;
      std::vector<float> delta(base.size(), 0);
      if (moves && f > 0) delta = gltf.floats(primitive["targets"][std::size_t(f) - 1]["POSITION"]);
      for (std::size_t i = 0; i < base.size(); ++i)
        EXPECT_NEAR(double(base[i]) + delta[i] + place[Index(i % 3)], expected.data()[i], 1e-6) << name << f;
    }
  }
  // The weights choose frame after frame, at the right times.
  const json& animation = gltf.text["animations"][0];
  int weight_channels = 0, scale_channels = 0;
  for (const json& channel : animation["channels"]) {
    const json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
    const auto times = gltf.floats(sampler["input"]), values = gltf.floats(sampler["output"]);
    ASSERT_EQ(times.size(), std::size_t(frame_count));
    for (std::size_t f = 0; f < times.size(); ++f) EXPECT_NEAR(times[f], 0.02 * double(f), 1e-6);
    if (channel["target"]["path"] == "weights") {
      ++weight_channels;
      ASSERT_EQ(values.size(), std::size_t(frame_count * (frame_count - 1)));
      for (std::size_t f = 0; f < frame_count; ++f)
        for (std::size_t t = 0; t + 1 < frame_count; ++t)
          EXPECT_EQ(values[f * (frame_count - 1) + t], f == t + 1 ? 1 : 0);
    } else {
      ++scale_channels;
      EXPECT_EQ(sampler["interpolation"], "STEP");
      for (std::size_t f = 0; f < frame_count; ++f) EXPECT_EQ(values[3 * f + 1], f == 1 || f == 2 ? 1 : 0);
    }
  }
  EXPECT_EQ(weight_channels, 3);
  EXPECT_EQ(scale_channels, 1);
}

TEST_F(Export, GltfTurnsUpToY) {
  for (Frame& frame : frames) frame.half_spaces[0] = {Vector3(0, 0, -1), Vector3::UnitZ(), 5};
  write_frame(files[0], frames[0]);
  export_frames({files[0]}, "gltf", directory / "z.glb");
  const Gltf gltf(directory / "z.glb");
  const json& r = gltf.node("run")["rotation"];
  const Eigen::Quaterniond turn(r[3].get<double>(), r[0].get<double>(), r[1].get<double>(),
                                r[2].get<double>());
  EXPECT_NEAR((turn * Vector3::UnitZ() - Vector3::UnitY()).norm(), 0, 1e-12);
  EXPECT_FALSE(gltf.text.contains("animations"));
}

TEST_F(Export, GltfAsTextHoldsTheSame) {
  export_frames(files, "gltf", directory / "run.gltf");
  export_frames(files, "gltf", directory / "run.glb");
  json text = json::parse(read_file(directory / "run.gltf"));
  json binary = Gltf(directory / "run.glb").text;
  EXPECT_TRUE(
      text["buffers"][0]["uri"].get<std::string>().starts_with("data:application/octet-stream;base64,"));
  const std::size_t size = text["buffers"][0]["byteLength"];
  EXPECT_EQ(text["buffers"][0]["uri"].get<std::string>().size(), 37 + (size + 2) / 3 * 4);
  text.erase("buffers");
  binary.erase("buffers");
  EXPECT_EQ(text, binary);
}

TEST_F(Export, UsdHasTheFramesAsSamples) {
  export_frames(files, "usda", directory / "run.usda");
  const std::string text = read_file(directory / "run.usda");
  EXPECT_TRUE(text.starts_with("#usda 1.0\n"));
  EXPECT_NE(text.find("endTimeCode = 3\n"), std::string::npos);
  EXPECT_NE(text.find("upAxis = \"Y\""), std::string::npos);
  for (const char* name :
       {"def Mesh \"soft__ball_\"", "def BasisCurves \"_1_rope\"", "def Mesh \"wall\"",
        "def Points \"wall_2\"", "displayName = \"soft \\\"ball\\\"\"",
        "visibility.timeSamples = {\n            0: \"invisible\",\n            1: \"inherited\",\n"
        "            3: \"invisible\",\n        }"})
    EXPECT_NE(text.find(name), std::string::npos) << name << "\n" << text;
  int depth = 0, lowest = 0;
  for (const char c : text) {
    depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
    lowest = std::min(lowest, depth);
  }
  EXPECT_EQ(depth, 0);
  EXPECT_EQ(lowest, 0);

  // The ball's samples, read back.
  std::smatch m;
  ASSERT_TRUE(std::regex_search(text, m, std::regex(R"(translate = \(([^,]+), ([^,]+), ([^)]+)\))")));
  const Vector3 place(std::stod(m[1]), std::stod(m[2]), std::stod(m[3]));
  const std::size_t begin = text.find("points.timeSamples", text.find("def Mesh \"soft__ball_\""));
  for (int f = 0; f < frame_count; ++f) {
    std::size_t at = text.find(fmt::format("\n            {}: [", f), begin);
    ASSERT_NE(at, std::string::npos);
    const std::string line = text.substr(at, text.find(']', at) - at);
    const Matrix3X expected = surface_points(frames[std::size_t(f)], 0);
    Index i = 0;
    static const std::regex triple(R"(\(([^,]+), ([^,]+), ([^)]+)\))");
    for (std::sregex_iterator it(line.begin(), line.end(), triple), end; it != end; ++it, ++i) {
      ASSERT_LT(i, expected.cols());
      const Vector3 x(std::stod((*it)[1]), std::stod((*it)[2]), std::stod((*it)[3]));
      EXPECT_NEAR((x + place - expected.col(i)).norm(), 0, 1e-6);
    }
    EXPECT_EQ(i, expected.cols());
  }
}

TEST_F(Export, SequencesHoldTheSurfacesOfWhatIsThere) {
  for (const std::string format : {"obj", "ply"}) {
    export_frames(files, format, directory / format);
    for (int f = 0; f < frame_count; ++f) {
      const Frame& frame = frames[std::size_t(f)];
      const Mesh mesh = read_mesh(directory / format / fmt::format("frame_{:06}.{}", f, format));
      const DrawnSurface drawn = drawn_surface(frame);
      const Index guest = frame.absent.empty() ? 0 : 12;  // triangles of a box
      EXPECT_EQ(mesh.faces.cols(), drawn.triangles.cols() - guest) << format << f;
      EXPECT_EQ(mesh.edges.cols(), 2) << format << f;
      EXPECT_EQ(mesh.points.cols(), drawn.points.size() - (guest ? 8 : 0));
      EXPECT_EQ(mesh.points.col(0), frame.mesh.points.col(drawn.points[0])) << "exact";
    }
    EXPECT_FALSE(fs::exists(directory / format / fmt::format("frame_{:06}.{}", frame_count, format)));
  }
}

TEST_F(Export, VtuIsARunOfTheChosenFrames) {
  export_frames({files[1], files[3]}, "vtu", directory / "some");
  const auto copied = list_frames(directory / "some");
  ASSERT_EQ(copied.size(), 2u);
  EXPECT_EQ(read_file(copied[1]), read_file(files[3]));
}

TEST_F(Export, RefusesWhatCannotBeExported) {
  EXPECT_THROW(export_frames(files, "fbx", directory / "x"), InputError);
  EXPECT_THROW(export_frames(files, "gltf", directory / "nowhere" / "x.glb"), InputError);
  Frame other = frames[2];
  other.mesh.edges.resize(2, 0);
  write_frame(files[2], other);
  EXPECT_THROW(export_frames(files, "gltf", directory / "x.glb"), InputError);
  EXPECT_THROW(export_frames(files, "usda", directory / "x.usda"), InputError);
  EXPECT_FALSE(fs::exists(directory / "x.glb"));
  export_frames(files, "obj", directory / "changing");
  EXPECT_THROW(export_frames(files, "ply", directory / "stopped", [](Index done, Index) { return done < 2; }),
               ExportStopped);
}

}  // namespace
}  // namespace apart
