// What other programs get must be the run: every exported file is read back and compared with the frames.
#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/run_export.hpp>
#include <support/frame_builder.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <regex>
#include <set>

namespace apart::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int frame_count = 4;

/// A ball that falls, far from the origin; a rope; an obstacle that stays; a box that is there in the middle
/// only.
FrameBuilder scene(int number, int resolution = 3) {
  FrameBuilder b;
  const Vector3 far(500, 0, 0);
  b.add({"soft \"ball\"", "volume"}, generate::sphere(0.5, resolution),
        far + Vector3(0, 2 - 0.3 * number, 0));
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

/// The ball is remeshed after the second frame.
TEST_F(Export, ARunWhoseMeshesChangeComesAsASequence) {
  fs::remove_all(directory / "run");
  FrameWriter writer(directory / "run");
  for (int i = 0; i < frame_count; ++i) {
    std::srand(1);
    frames[std::size_t(i)] = scene(i, i < 2 ? 3 : 4).frame;
    frames[std::size_t(i)].topology = i < 2 ? 0 : 1;
    writer.write(frames[std::size_t(i)]);
  }
  for (const std::string format : {"obj", "ply"}) {
    export_frames(files, format, directory / format);
    Index triangles = 0;
    for (int f = 1; f < 3; ++f) {
      const Frame& frame = frames[std::size_t(f)];
      const Mesh mesh = read_mesh(directory / format / fmt::format("frame_{:06}.{}", f, format));
      const DrawnSurface drawn = drawn_surface(frame);
      EXPECT_EQ(mesh.faces.cols(), drawn.triangles.cols()) << format << f;
      EXPECT_EQ(mesh.points.col(0), frame.mesh.points.col(drawn.points[0]));
      EXPECT_GT(mesh.faces.cols(), triangles) << "finer";
      triangles = Index(mesh.faces.cols());
    }
  }
  export_frames(files, "vtu", directory / "vtu");
  const auto copied = list_frames(directory / "vtu");
  ASSERT_EQ(copied.size(), files.size());
  for (std::size_t f = 0; f < files.size(); ++f) {
    const Frame copy = read_frame(copied[f]);
    EXPECT_EQ(copy.topology, frames[f].topology);
    EXPECT_EQ(copy.mesh.tetrahedra, frames[f].mesh.tetrahedra);
    EXPECT_EQ(copy.mesh.points, frames[f].mesh.points);
  }
  for (const std::string format : {"gltf", "usda"}) {
    try {
      export_frames(files, format, directory / ("x." + format));
      FAIL() << format;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("frame_000002.vtu: has other bodies or cells"),
                std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("export as obj, ply or vtu"), std::string::npos);
    }
    EXPECT_FALSE(fs::exists(directory / ("x." + format)));
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
  EXPECT_THROW(export_frames(files, "ply", directory / "stopped",
                             {.progress = [](Index done, Index) { return done < 2; }}),
               ExportStopped);
  EXPECT_FALSE(fs::exists(directory / "stopped"));
}

TEST_F(Export, AFolderAppearsWhenItIsWhole) {
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory.path())) found.insert(entry.path().filename());
    return found;
  };
  const std::string whole = read_file(files[2]);
  for (const std::string format : {"obj", "ply", "vtu"}) {
    const fs::path output = directory / (format + "-out"), empty = directory / (format + "-empty");
    fs::create_directory(empty);
    write_file(files[2], whole.substr(0, whole.size() / 2));
    const auto before = names();
    EXPECT_THROW(export_frames(files, format, output), InputError);
    EXPECT_THROW(export_frames(files, format, empty), InputError);
    EXPECT_EQ(names(), before) << "nothing stays of half a folder";
    EXPECT_TRUE(fs::is_empty(empty));
    write_file(files[2], whole);
    export_frames(files, format, output / "");
    export_frames(files, format, empty);
    const std::string last = format == "vtu" ? "frames/frame_000003.vtu" : "frame_000003." + format;
    EXPECT_EQ(read_file(output / last), read_file(empty / last));
    EXPECT_EQ(std::distance(fs::directory_iterator(output), {}), format == "vtu" ? 2 : 4);
    EXPECT_EQ(std::distance(fs::directory_iterator(empty), {}), format == "vtu" ? 2 : 4);
    EXPECT_EQ(fs::status(output).permissions(), fs::status(empty).permissions());
    EXPECT_THROW(export_frames(files, format, output), InputError) << "not over what is there";
    EXPECT_THROW(export_frames(files, format, files[0]), InputError) << "no folder";
  }
}

TEST_F(Export, RefusesWhatSinglePrecisionCannotHold) {
  for (const double far : {1e39, -1e300, std::numeric_limits<double>::max()}) {
    Frame frame = frames[2];
    frame.mesh.points(1, 0) = far;
    write_frame(files[2], frame);
    for (const std::string format : {"gltf", "usda"}) {
      const fs::path output = directory / ("far." + format);
      const std::string message = message_of([&] { export_frames(files, format, output); });
      EXPECT_NE(message.find("frame_000002.vtu"), std::string::npos) << message;
      EXPECT_NE(message.find("soft \"ball\""), std::string::npos) << message;
      EXPECT_NE(message.find("single precision"), std::string::npos) << message;
      EXPECT_FALSE(fs::exists(output));
    }
  }
  Frame frame = frames[2];
  frame.half_spaces[0].origin.y() = 1e39;
  write_frame(files[2], frame);
  EXPECT_THROW(export_frames(files, "gltf", directory / "far.glb"), InputError);
}

/// A floor that stays, a press that a point carries, a lid that comes late.
class ExportedHalfSpaces : public ::testing::Test {
 protected:
  ExportedHalfSpaces() {
    FrameWriter writer(directory / "run");
    for (int f = 0; f < frame_count; ++f) {
      FrameBuilder b;
      b.add({"box", "volume"}, generate::box({1, 1, 1}, {1, 1, 1}), Vector3(100, 0.5, 0));
      b.add_half_space("floor", Vector3::Zero(), Vector3::UnitY());
      const int press = b.add_half_space("press", place(f), -Vector3::UnitY());
      b.add_half_space("lid", Vector3(103, 0, 0), -Vector3::UnitX());
      b.carry(press);
      b.frame.half_spaces[1].origin = place(0);
      b.frame.time = 0.1 * f;
      if (f < 2) b.frame.absent = {3};
      writer.write(b.frame);
    }
    files = list_frames(directory / "run");
  }
  static Vector3 place(int frame) { return Vector3(100 + 0.2 * frame, 3 - 0.25 * frame, 0); }

  TemporaryDirectory directory;
  std::vector<fs::path> files;
};

TEST_F(ExportedHalfSpaces, AreNamedMoveAndComeInGltf) {
  export_frames(files, "gltf", directory / "run.glb");
  const Gltf gltf(directory / "run.glb");
  const json& root = gltf.node("run");
  const Vector3 middle(root["translation"][0], root["translation"][1], root["translation"][2]);
  EXPECT_EQ(root["children"].size(), 4u);
  const auto mesh_of = [&](const char* name) -> const json& {
    return gltf.text["meshes"][gltf.node(name)["mesh"].get<std::size_t>()];
  };
  for (const char* name : {"floor", "press", "lid"}) {
    EXPECT_EQ(mesh_of(name)["name"], name);
    const auto x = gltf.floats(mesh_of(name)["primitives"][0]["attributes"]["POSITION"]);
    ASSERT_EQ(x.size(), 12u);
    const Vector3 normal = name == std::string("floor")   ? Vector3::UnitY()
                           : name == std::string("press") ? Vector3(-Vector3::UnitY())
                                                          : Vector3(-Vector3::UnitX());
    const Vector3 origin = name == std::string("lid")     ? Vector3(103, 0, 0)
                           : name == std::string("press") ? place(0)
                                                          : Vector3(Vector3::Zero());
    for (std::size_t k = 0; k < 4; ++k) {
      const Vector3 corner = middle + Vector3(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
      EXPECT_NEAR(normal.dot(corner - origin), 0, 1e-4) << name;
      EXPECT_GT((corner - Vector3(100, 0.5, 0)).norm(), 2) << "wide enough to stand under the box";
    }
    const auto edge = [&](std::size_t k) {
      return Vector3(x[3 * k] - x[0], x[3 * k + 1] - x[1], x[3 * k + 2] - x[2]);
    };
    EXPECT_NEAR(edge(1).cross(edge(2)).normalized().dot(normal), 1, 1e-6) << "its front is outside";
  }
  EXPECT_FALSE(mesh_of("floor")["primitives"][0].contains("targets"));
  const json& targets = mesh_of("press")["primitives"][0]["targets"];
  ASSERT_EQ(targets.size(), std::size_t(frame_count - 1));
  for (int f = 1; f < frame_count; ++f) {
    const auto moved = gltf.floats(targets[std::size_t(f - 1)]["POSITION"]);
    for (std::size_t i = 0; i < moved.size(); ++i)
      EXPECT_NEAR(moved[i], (place(f) - place(0))[Index(i % 3)], 1e-5);
  }
  int scaled = 0;
  for (const json& channel : gltf.text["animations"][0]["channels"]) {
    if (channel["target"]["path"] != "scale") continue;
    ++scaled;
    EXPECT_EQ(gltf.text["nodes"][channel["target"]["node"].get<std::size_t>()]["name"], "lid");
    const json& sampler = gltf.text["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()];
    const auto values = gltf.floats(sampler["output"]);
    for (std::size_t f = 0; f < frame_count; ++f) EXPECT_EQ(values[3 * f], f < 2 ? 0 : 1);
  }
  EXPECT_EQ(scaled, 1);
}

TEST_F(ExportedHalfSpaces, AreNamedMoveAndComeInUsd) {
  export_frames(files, "usda", directory / "run.usda");
  const std::string text = read_file(directory / "run.usda");
  const auto section = [&](const std::string& name) {
    const std::size_t begin = text.find("def Mesh \"" + name + "\"");
    EXPECT_NE(begin, std::string::npos) << name;
    return begin == text.npos ? "" : text.substr(begin, text.find("\n    def ", begin) - begin);
  };
  EXPECT_NE(section("floor").find("point3f[] points = [("), std::string::npos) << text;
  EXPECT_NE(section("press").find("points.timeSamples"), std::string::npos);
  EXPECT_NE(section("lid").find("0: \"invisible\",\n            2: \"inherited\""), std::string::npos);
  // The height of the press in each frame, relative to the middle.
  const std::string press = section("press");
  std::vector<double> heights;
  static const std::regex sample(R"(\d: \[\(([^,]+), ([^,]+), [^)]+\), \([^)]+\), \([^)]+\), \([^)]+\)\])");
  for (std::sregex_iterator it(press.begin(), press.end(), sample), end; it != end; ++it)
    heights.push_back(std::stod((*it)[2]));
  ASSERT_EQ(heights.size(), std::size_t(frame_count)) << press;
  for (std::size_t f = 1; f < heights.size(); ++f)
    EXPECT_NEAR(heights[f] - heights[0], -0.25 * double(f), 1e-5);
}

TEST_F(ExportedHalfSpaces, MayNotTurnIntoOthers) {
  Frame frame = read_frame(files[2]);
  frame.half_spaces[0].normal = Vector3::UnitZ();
  write_frame(files[2], frame);
  EXPECT_THROW(export_frames(files, "gltf", directory / "run.glb"), InputError);
}

}  // namespace
}  // namespace apart::test
