#include <apart/core/error.hpp>
#include <apart/io/frame.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <limits>
#include <random>

namespace apart::test {
namespace {

/// Three bodies with every kind of cell and values that only survive an exact format.
Frame sample_frame() {
  Frame frame;
  frame.time = 0.1 + 0.2;
  frame.bodies = {{"block", "volume"}, {"net <&\"'> ä", "obstacle"}, {"floor", "half_space"}};
  frame.mesh.points.resize(3, 9);
  frame.mesh.points << 0, 1, 0, 0, 1.0 / 3, 5, 6, 5, -0.0,    //
      0, 0, 1, 0, std::nextafter(1.0, 2.0), 5, 5, 6, 1e-308,  //
      0, 0, 0, 1, 1, 5, 5, 5, std::numeric_limits<double>::max();
  frame.mesh.tetrahedra.resize(4, 2);
  frame.mesh.tetrahedra << 0, 1, 1, 2, 2, 4, 3, 3;
  frame.mesh.faces.resize(3, 1);
  frame.mesh.faces << 5, 6, 7;
  frame.mesh.edges.resize(2, 1);
  frame.mesh.edges << 7, 8;
  frame.mesh.vertices.resize(1);
  frame.mesh.vertices << 8;
  frame.point_body.resize(9);
  frame.point_body << 0, 0, 0, 0, 0, 1, 1, 1, 1;
  frame.half_spaces = {{Vector3(0, -1, 0), Vector3(0, 1, 0), 2},
                       {Vector3(1, 2, 3), Vector3(0.6, 0, 0.8), 1, 4}};
  frame.ignored_pairs = {{0, 1}, {1, 1}};
  frame.allow_nested = true;
  frame.drawn_thickness = {0, 1.0 / 3, 0};
  frame.invertible_cells = {1};
  frame.strain_limits = {{1, false, Vector3(1.1, 0.9, 0)}, {1, true, Vector3(0.1, 0.2, 0.3)}};
  frame.rest_shape = Eigen::Matrix4Xd::Random(4, 1);
  frame.velocity = Matrix3X::Random(3, 9);
  frame.contact_force = Matrix3X::Random(3, 9) * 1e10;
  frame.von_mises.resize(3);
  frame.von_mises << 1e5, 0.1, 7;
  frame.strain.resize(3);
  frame.strain << 0.25, 1e-3, 0.5;
  return frame;
}

template <class A, class B>
bool same_bits(const A& a, const B& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), std::size_t(a.size()) * sizeof(*a.data())) == 0);
}

void expect_same(const Frame& a, const Frame& b) {
  EXPECT_EQ(a.time, b.time);
  EXPECT_TRUE(same_bits(a.mesh.points, b.mesh.points));
  EXPECT_TRUE(same_bits(a.mesh.tetrahedra, b.mesh.tetrahedra));
  EXPECT_TRUE(same_bits(a.mesh.faces, b.mesh.faces));
  EXPECT_TRUE(same_bits(a.mesh.edges, b.mesh.edges));
  EXPECT_TRUE(same_bits(a.mesh.vertices, b.mesh.vertices));
  EXPECT_TRUE(same_bits(a.point_body, b.point_body));
  EXPECT_TRUE(same_bits(a.velocity, b.velocity));
  EXPECT_TRUE(same_bits(a.contact_force, b.contact_force));
  EXPECT_TRUE(same_bits(a.von_mises, b.von_mises));
  EXPECT_TRUE(same_bits(a.strain, b.strain));
  EXPECT_EQ(a.ignored_pairs, b.ignored_pairs);
  EXPECT_EQ(a.allow_nested, b.allow_nested);
  EXPECT_EQ(a.drawn_thickness, b.drawn_thickness);
  EXPECT_EQ(a.invertible_cells, b.invertible_cells);
  EXPECT_TRUE(same_bits(a.rest_shape, b.rest_shape));
  ASSERT_EQ(a.strain_limits.size(), b.strain_limits.size());
  for (std::size_t i = 0; i < a.strain_limits.size(); ++i) {
    EXPECT_EQ(a.strain_limits[i].body, b.strain_limits[i].body);
    EXPECT_EQ(a.strain_limits[i].woven, b.strain_limits[i].woven);
    EXPECT_EQ(a.strain_limits[i].limits, b.strain_limits[i].limits);
  }
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    EXPECT_EQ(a.bodies[i].name, b.bodies[i].name);
    EXPECT_EQ(a.bodies[i].kind, b.bodies[i].kind);
  }
  ASSERT_EQ(a.half_spaces.size(), b.half_spaces.size());
  for (std::size_t i = 0; i < a.half_spaces.size(); ++i) {
    EXPECT_EQ(a.half_spaces[i].origin, b.half_spaces[i].origin);
    EXPECT_EQ(a.half_spaces[i].normal, b.half_spaces[i].normal);
    EXPECT_EQ(a.half_spaces[i].body, b.half_spaces[i].body);
    EXPECT_EQ(a.half_spaces[i].carrier, b.half_spaces[i].carrier);
  }
}

TEST(Frame, SurvivesTheFileExactly) {
  const TemporaryDirectory directory;
  const Frame frame = sample_frame();
  write_frame(directory / "f.vtu", frame);
  expect_same(read_frame(directory / "f.vtu"), frame);
}

TEST(Frame, OptionalPartsMayBeEmpty) {
  const TemporaryDirectory directory;
  Frame frame = sample_frame();
  frame.velocity.resize(3, 0);
  frame.contact_force.resize(3, 0);
  frame.von_mises.resize(0);
  frame.strain.resize(0);
  frame.half_spaces.clear();
  frame.ignored_pairs.clear();
  frame.drawn_thickness.clear();
  frame.invertible_cells.clear();
  frame.strain_limits.clear();
  frame.rest_shape.resize(4, 0);
  write_frame(directory / "f.vtu", frame);
  expect_same(read_frame(directory / "f.vtu"), frame);
}

TEST(Frame, CellsThatMayInvertMustBeThere) {
  const TemporaryDirectory directory;
  for (const std::vector<int>& wrong : {std::vector{2}, std::vector{1, 0}, std::vector{-1}}) {
    Frame frame = sample_frame();
    frame.invertible_cells = wrong;
    write_frame(directory / "f.vtu", frame);
    const std::string message = message_of([&] { read_frame(directory / "f.vtu"); });
    EXPECT_NE(message.find("must be tetrahedra of the frame"), std::string::npos) << message;
  }
}

TEST(Frame, DrawnThicknessIsOneLengthPerBody) {
  const TemporaryDirectory directory;
  Frame frame = sample_frame();
  for (const double wrong : {-0.1, std::numeric_limits<double>::infinity(), std::nan("")}) {
    frame.drawn_thickness = {0, wrong, 0};
    write_frame(directory / "f.vtu", frame);
    const std::string message = message_of([&] { read_frame(directory / "f.vtu"); });
    EXPECT_NE(message.find("must be lengths"), std::string::npos) << message;
  }
  frame.drawn_thickness = {1};
  EXPECT_THROW(write_frame(directory / "f.vtu", frame), InvariantError);
}

TEST(Frame, KeepsItsTopologyAndHasNumberZeroIfAFileSaysNothing) {
  const TemporaryDirectory directory;
  Frame frame = sample_frame();
  write_frame(directory / "zero.vtu", frame);
  EXPECT_EQ(read_file(directory / "zero.vtu").find("topology"), std::string::npos);
  EXPECT_EQ(read_frame(directory / "zero.vtu").topology, 0);
  frame.topology = 17;
  write_frame(directory / "more.vtu", frame);
  EXPECT_EQ(read_frame(directory / "more.vtu").topology, 17);
  frame.topology = -1;
  write_frame(directory / "bad.vtu", frame);
  EXPECT_THROW(read_frame(directory / "bad.vtu"), InputError);
}

TEST(Frame, OnlyHalfSpacesIsAFrameToo) {
  const TemporaryDirectory directory;
  Frame frame;
  frame.bodies = {{"floor", "half_space"}};
  frame.half_spaces = {HalfSpace{}};
  write_frame(directory / "f.vtu", frame);
  expect_same(read_frame(directory / "f.vtu"), frame);
}

TEST(Frame, WrongSizesBreakAnInvariant) {
  const TemporaryDirectory directory;
  Frame frame = sample_frame();
  frame.velocity.resize(3, 4);
  EXPECT_THROW(write_frame(directory / "f.vtu", frame), InvariantError);
  frame = sample_frame();
  frame.point_body.resize(2);
  EXPECT_THROW(write_frame(directory / "f.vtu", frame), InvariantError);
}

TEST(Frame, EveryChangedByteOfTheDataIsNoticed) {
  const TemporaryDirectory directory;
  write_frame(directory / "f.vtu", sample_frame());
  const std::string good = read_file(directory / "f.vtu");
  const std::size_t begin = good.find("<AppendedData") + 31;
  const std::size_t end = good.find("\n  </AppendedData>");
  ASSERT_LT(begin, end);
  for (std::size_t i = begin; i < end; ++i) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 0x10);
    write_file(directory / "bad.vtu", bad);
    EXPECT_THROW(read_frame(directory / "bad.vtu"), InputError) << "byte " << i;
  }
}

TEST(Frame, DamageAnywhereIsReadOrRefusedButNeverCrashes) {
  const TemporaryDirectory directory;
  write_frame(directory / "f.vtu", sample_frame());
  const std::string good = read_file(directory / "f.vtu");
  const auto try_reading = [&](const std::string& content) {
    write_file(directory / "bad.vtu", content);
    try {
      read_frame(directory / "bad.vtu");
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("bad.vtu"), std::string::npos) << error.what();
    }
  };
  for (std::size_t size = 0; size < good.size(); size += 7) try_reading(good.substr(0, size));
  std::mt19937 random(1);
  for (int i = 0; i < 1500; ++i) {
    std::string bad = good;
    for (int k = 0; k < 1 + i % 3; ++k) bad[random() % bad.size()] = char(random());
    try_reading(bad);
  }
}

TEST(Frame, MeshFilesThatAreNoFramesAreRefused) {
  const TemporaryDirectory directory;
  write_file(directory / "m.vtu", R"(<VTKFile type="UnstructuredGrid"><UnstructuredGrid>
    <Piece NumberOfPoints="1" NumberOfCells="0"><Points><DataArray type="Float64" NumberOfComponents="3">0 0 0
    </DataArray></Points><Cells><DataArray type="Int32" Name="connectivity"/><DataArray type="Int32" Name="offsets"/>
    <DataArray type="UInt8" Name="types"/></Cells></Piece></UnstructuredGrid></VTKFile>)");
  EXPECT_NE(message_of([&] { read_frame(directory / "m.vtu"); }).find("TimeValue"), std::string::npos);
}

TEST(FrameWriter, DirectoryIsCompleteAfterEveryFrame) {
  const TemporaryDirectory directory;
  const auto run = directory / "run";
  FrameWriter writer(run);
  for (int i = 0; i < 3; ++i) {
    Frame frame = sample_frame();
    frame.time = 0.1 * i;
    writer.write(frame);
    EXPECT_EQ(writer.count(), i + 1);
    const auto files = list_frames(run);
    ASSERT_EQ(files.size(), std::size_t(i) + 1);
    EXPECT_EQ(files.back(), run / "frames" / fmt::format("frame_{:06}.vtu", i));
    EXPECT_EQ(read_frame(files.back()).time, frame.time);
  }
}

TEST(FrameWriter, ContinuesARun) {
  const TemporaryDirectory directory;
  const auto write = [&](FrameWriter& writer, double time) {
    Frame frame = sample_frame();
    frame.time = time;
    writer.write(frame);
  };
  FrameWriter first(directory.path());
  for (const double time : {0.0, 0.1, 0.2}) write(first, time);
  FrameWriter second(directory.path(), {}, 2);
  EXPECT_EQ(second.count(), 2);
  EXPECT_EQ(list_frames(directory.path()).size(), 3u) << "nothing is lost before something new is written";
  write(second, 0.15);
  const auto files = list_frames(directory.path());
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(read_frame(files[1]).time, 0.1);
  EXPECT_EQ(read_frame(files[2]).time, 0.15);
  EXPECT_NE(message_of([&] { FrameWriter(directory.path(), {}, 4); }).find("lists 3 frames"),
            std::string::npos);
}

TEST(FrameWriter, IndexNamesExactTimes) {
  const TemporaryDirectory directory;
  FrameWriter writer(directory.path());
  Frame frame = sample_frame();
  frame.time = 0.1 + 0.2;
  writer.write(frame);
  EXPECT_NE(read_file(directory / "frames.pvd").find("timestep=\"0.30000000000000004\""), std::string::npos);
}

TEST(FrameWriter, WritesSurfacesOnRequest) {
  const TemporaryDirectory directory;
  FrameWriter writer(directory.path(), {"obj", "ply"});
  const Frame frame = sample_frame();
  writer.write(frame);
  const std::string obj = read_file(directory / "frames/frame_000000.obj");
  const auto count = [&](std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = obj.find(what); at != obj.npos; at = obj.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("\nf "), 7u) << "two tetrahedra that share a face have six, and there is one more triangle";
  EXPECT_EQ(count("\nl "), 1u);
  EXPECT_EQ(count("\np "), 1u);
  EXPECT_NE(read_file(directory / "frames/frame_000000.ply").find("element face 7\n"), std::string::npos);

  Frame without_net = frame;
  without_net.absent = {1};
  writer.write(without_net);
  const std::string fewer = read_file(directory / "frames/frame_000001.obj");
  EXPECT_EQ(fewer.find("\nl "), fewer.npos) << "a body that is not there is not drawn";
  EXPECT_EQ(fewer.find("\np "), fewer.npos);
  EXPECT_NE(read_file(directory / "frames/frame_000001.ply").find("element face 6\n"), std::string::npos);
}

TEST(FrameWriter, RefusesUnknownFormatsAndImpossibleFolders) {
  const TemporaryDirectory directory;
  EXPECT_NE(message_of([&] { FrameWriter(directory.path(), {"abc"}); }).find("'abc'"), std::string::npos);
  write_file(directory / "file", "x");
  EXPECT_NE(message_of([&] { FrameWriter(directory / "file"); }).find("frames"), std::string::npos);
}

TEST(ListFrames, RefusesDamagedRuns) {
  const TemporaryDirectory directory;
  EXPECT_NE(message_of([&] { list_frames(directory.path()); }).find("frames.pvd"), std::string::npos);
  const auto with_index = [&](const std::string& body) {
    write_file(directory / "frames.pvd", "<VTKFile><Collection>\n" + body + "\n</Collection></VTKFile>");
    return message_of([&] { list_frames(directory.path()); });
  };
  write_file(directory / "a.vtu", "");
  EXPECT_NE(with_index("").find("lists no frame"), std::string::npos);
  EXPECT_NE(with_index("<DataSet timestep='0' file='b.vtu'/>").find("b.vtu is missing"), std::string::npos);
  EXPECT_NE(with_index("<DataSet timestep='x' file='a.vtu'/>").find("frames.pvd"), std::string::npos);
  EXPECT_NE(with_index("<DataSet timestep='0'").find("frames.pvd:"), std::string::npos);
  EXPECT_NE(
      with_index("<DataSet timestep='1' file='a.vtu'/><DataSet timestep='0' file='a.vtu'/>").find("decrease"),
      std::string::npos);
}

Iterates sample_iterates(Index step) {
  Iterates iterates;
  iterates.step = step;
  for (int i = 0; i < 3; ++i) iterates.points.push_back(Matrix3X::Random(3, 5));
  return iterates;
}

TEST(Iterates, SurviveTheFileExactly) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(list_iterates(directory.path()).empty());
  for (Index step : {10, 2, 1}) write_iterates(directory.path(), sample_iterates(step));
  const Iterates written = sample_iterates(1234567);
  write_iterates(directory.path(), written);
  const auto files = list_iterates(directory.path());
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].filename(), "step_000001.bin");
  EXPECT_EQ(files[2].filename(), "step_000010.bin");
  EXPECT_EQ(read_iterates(files[1]).step, 2);
  const Iterates read = read_iterates(files[3]);
  EXPECT_EQ(read.step, written.step);
  ASSERT_EQ(read.points.size(), written.points.size());
  for (std::size_t i = 0; i < read.points.size(); ++i)
    EXPECT_TRUE(same_bits(read.points[i], written.points[i]));
}

/// The mesh has changed twice.
Iterates changed_iterates(Index step) {
  Iterates iterates = sample_iterates(step);
  iterates.points.push_back(Matrix3X::Random(3, 7));
  iterates.points.push_back(Matrix3X::Random(3, 7));
  iterates.topology = {0, 0, 2, 3, 3};
  iterates.absent = {4};
  return iterates;
}

TEST(Iterates, KeepTheTopologyOfEachAndHaveZeroIfAFileSaysNothing) {
  const TemporaryDirectory directory;
  const Iterates written = changed_iterates(3);
  write_iterates(directory.path(), written);
  const Iterates read = read_iterates(directory / iterates_name(3));
  EXPECT_EQ(read.topology, written.topology);
  EXPECT_EQ(read.absent, written.absent);
  ASSERT_EQ(read.points.size(), written.points.size());
  for (std::size_t i = 0; i < read.points.size(); ++i)
    EXPECT_TRUE(same_bits(read.points[i], written.points[i]));

  Iterates plain = sample_iterates(1);
  write_iterates(directory.path(), plain);
  const std::string bytes = read_file(directory / iterates_name(1));
  EXPECT_EQ(bytes[8], 2) << "a run without changes writes what older programs read";
  EXPECT_EQ(read_iterates(directory / iterates_name(1)).topology_of(2), 0);
  plain.topology = {0, 0, 0};
  write_iterates(directory.path(), plain);
  EXPECT_EQ(read_file(directory / iterates_name(1)), bytes);

  plain.topology = {1, 1};
  EXPECT_THROW(write_iterates(directory.path(), plain), InvariantError) << "one is missing";
  plain.topology = {1, 1, 1};
  plain.points[1] = Matrix3X::Random(3, 6);
  EXPECT_THROW(write_iterates(directory.path(), plain), InvariantError)
      << "of one topology, but not of one size";
}

class DamagedIterates : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutTopologies, DamagedIterates, testing::Bool());

TEST_P(DamagedIterates, AreNoticedWhateverTheDamage) {
  const TemporaryDirectory directory;
  write_iterates(directory.path(), GetParam() ? changed_iterates(1) : sample_iterates(1));
  const auto file = list_iterates(directory.path()).front();
  const std::string good = read_file(file);
  const auto bad_file = directory / "bad.bin";
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 1);
    write_file(bad_file, bad);
    EXPECT_THROW(read_iterates(bad_file), InputError) << "byte " << i;
    bad[i] = char(~good[i]);
    write_file(bad_file, bad);
    EXPECT_THROW(read_iterates(bad_file), InputError) << "byte " << i;
    write_file(bad_file, good.substr(0, i));
    EXPECT_THROW(read_iterates(bad_file), InputError) << "cut at " << i;
  }
  write_file(bad_file, good + "x");
  EXPECT_THROW(read_iterates(bad_file), InputError);
}

}  // namespace
}  // namespace apart::test
