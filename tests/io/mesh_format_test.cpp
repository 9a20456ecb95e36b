#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/mesh_format.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <random>
#include <set>

#include "mesh_variants.hpp"

namespace apart::test {
namespace {

void expect_same(const Mesh& actual, const Mesh& expected) {
  const auto same = [](const auto& a, const auto& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
  };
  EXPECT_TRUE(same(actual.points, expected.points)) << actual.points << "\nexpected\n" << expected.points;
  EXPECT_TRUE(same(actual.tetrahedra, expected.tetrahedra)) << actual.tetrahedra << "\nexpected\n"
                                                            << expected.tetrahedra;
  EXPECT_TRUE(same(actual.faces, expected.faces)) << actual.faces << "\nexpected\n" << expected.faces;
  EXPECT_TRUE(same(actual.edges, expected.edges)) << actual.edges << "\nexpected\n" << expected.edges;
  EXPECT_TRUE(same(actual.vertices, expected.vertices)) << actual.vertices << "\nexpected\n"
                                                        << expected.vertices;
}

TEST(MeshFormat, EveryVariantIsReadExactly) {
  const TemporaryDirectory directory;
  std::set<std::string> extensions;
  for (const MeshVariant& variant : mesh_variants()) {
    SCOPED_TRACE(variant.name);
    extensions.insert(variant.extension);
    const auto file = directory / ("mesh" + variant.extension);
    write_file(file, variant.content);
    try {
      expect_same(read_mesh(file), variant.mesh);
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_EQ(extensions.size(), mesh_formats().size()) << "a format has no variant to test it";
}

TEST(MeshFormat, NumbersAndGroupsOfCellsAreRead) {
  const TemporaryDirectory directory;
  std::set<std::string> extensions;
  for (const MeshVariant& variant : mesh_variants()) {
    if (variant.name.find("with data") == std::string::npos) continue;
    SCOPED_TRACE(variant.name);
    extensions.insert(variant.extension);
    const auto file = directory / ("mesh" + variant.extension);
    write_file(file, variant.content);
    const Mesh mesh = read_mesh(file);
    ASSERT_EQ(mesh.cell_data.size(), variant.mesh.cell_data.size());
    for (const auto& [name, expected] : variant.mesh.cell_data) {
      ASSERT_TRUE(mesh.cell_data.contains(name)) << name;
      const VectorX& values = mesh.cell_data.at(name);
      ASSERT_EQ(values.size(), mesh.tetrahedra.cols());
      for (Index t = 0; t < values.size(); ++t)
        EXPECT_TRUE(values[t] == expected[t] || (std::isnan(values[t]) && std::isnan(expected[t])))
            << name << " of " << t << ": " << values[t];
    }
    ASSERT_EQ(mesh.groups.size(), variant.mesh.groups.size());
    for (const auto& [name, expected] : variant.mesh.groups) {
      ASSERT_TRUE(mesh.groups.contains(name)) << name;
      EXPECT_EQ(mesh.groups.at(name).points, expected.points) << name;
      EXPECT_EQ(mesh.groups.at(name).tetrahedra, expected.tetrahedra) << name;
      EXPECT_EQ(mesh.groups.at(name).triangles, expected.triangles) << name;
    }
  }
  EXPECT_EQ(extensions.size(), 3u);
}

/// Reads damaged content: fine, or refused with the file's name. Anything else fails the test.
void expect_read_or_refused(const TemporaryDirectory& directory, const std::string& extension,
                            const std::string& content) {
  const auto file = directory / ("bad" + extension);
  write_file(file, content);
  try {
    const Mesh mesh = read_mesh(file);
    const auto in_range = [&](const auto& cells) {
      return cells.size() == 0 || (cells.minCoeff() >= 0 && cells.maxCoeff() < mesh.point_count());
    };
    EXPECT_TRUE(mesh.points.allFinite() && in_range(mesh.tetrahedra) && in_range(mesh.faces) &&
                in_range(mesh.edges) && in_range(mesh.vertices));
    for (const auto& [name, values] : mesh.cell_data) EXPECT_EQ(values.size(), mesh.tetrahedra.cols());
    for (const auto& [name, group] : mesh.groups) {
      for (const int p : group.points) EXPECT_TRUE(p >= 0 && p < mesh.point_count());
      for (const int t : group.tetrahedra) EXPECT_TRUE(t >= 0 && t < mesh.tetrahedra.cols());
    }
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find(file.string() + ":"), 0u) << error.what();
  }
}

TEST(MeshFormat, CutFilesAreReadOrRefused) {
  const TemporaryDirectory directory;
  for (const MeshVariant& variant : mesh_variants()) {
    SCOPED_TRACE(variant.name);
    const std::size_t step = std::max<std::size_t>(1, variant.content.size() / 250);
    for (std::size_t size = 0; size < variant.content.size(); size += step)
      expect_read_or_refused(directory, variant.extension, variant.content.substr(0, size));
  }
}

TEST(MeshFormat, ChangedBytesAreReadOrRefused) {
  const TemporaryDirectory directory;
  std::mt19937 random(7);
  for (const MeshVariant& variant : mesh_variants()) {
    SCOPED_TRACE(variant.name);
    for (int i = 0; i < 300; ++i) {
      std::string bad = variant.content;
      for (int k = 0; k < 1 + i % 4; ++k) {
        char& c = bad[random() % bad.size()];
        // Any byte, one bit, or a digit: text formats break in other ways than binary ones.
        c = i % 3 == 0   ? char(random())
            : i % 3 == 1 ? char(c ^ (1 << random() % 8))
                         : char('0' + random() % 10);
      }
      expect_read_or_refused(directory, variant.extension, bad);
    }
    for (int i = 0; i < 60; ++i) {  // insertions and deletions shift everything after them
      std::string bad = variant.content;
      const std::size_t at = random() % bad.size();
      if (i % 2 == 0)
        bad.insert(at, std::string(1 + random() % 8, char(i % 4 == 0 ? '9' : random())));
      else
        bad.erase(at, 1 + random() % 8);
      expect_read_or_refused(directory, variant.extension, bad);
    }
  }
}

TEST(MeshFormat, CountsAreNotTrusted) {
  // A count that would need terabytes must be refused by comparison with the file, without allocation.
  const TemporaryDirectory directory;
  const std::string huge = "9000000000000";
  const std::vector<std::pair<std::string, std::string>> files = {
      {".msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + huge + "\n1 0 0 0\n"},
      {".msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 " + huge + " 1 1\n3 1 0 " + huge + "\n1\n"},
      {".msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n3 1 0 " + huge + "\n1\n"},
      {".vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS " + huge +
                   " double\n0 0 0\n"},
      {".vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 double\n0 0 0\nLINES 1 " +
                   huge + "\n"},
      {".vtu",
       "<VTKFile type='UnstructuredGrid'><UnstructuredGrid><Piece NumberOfPoints='2000000000' "
       "NumberOfCells='0'><Points>"
       "<DataArray type='Float64' NumberOfComponents='3' format='binary'>AAAA</DataArray></Points></Piece>"
       "</UnstructuredGrid></VTKFile>"},
      {".ply", "ply\nformat ascii 1.0\nelement vertex " + huge + "\nproperty float x\nend_header\n1\n"},
      {".ply",
       "ply\nformat ascii 1.0\nelement vertex 1\nproperty list uint float x\nend_header\n4000000000 1\n"},
      {".stl", std::string(80, ' ') + std::string(4, '\x7f')},
  };
  for (const auto& [extension, content] : files) {
    const auto file = directory / ("huge" + extension);
    write_file(file, content);
    const std::string message = message_of([&] { read_mesh(file); });
    EXPECT_EQ(message.find("memory"), std::string::npos) << message;
  }
}

struct BadFile {
  std::string extension, content;
  std::vector<std::string> expected;  ///< parts of the message; the first is the place
};

TEST(MeshFormat, MessagesNamePlaceValueAndRemedy) {
  const std::string msh4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n3 1 0 1\n1\n";
  const std::string vtk =
      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 double\n0 0 0\n";
  const auto vtu = [](const std::string& file_attributes, const std::string& points,
                      const std::string& types) {
    return "<VTKFile " + file_attributes +
           ">\n<UnstructuredGrid>\n<Piece NumberOfPoints='1' NumberOfCells='1'>\n<Points>\n" + points +
           "\n</Points>\n<Cells>\n<DataArray type='Int32' Name='connectivity'>0</DataArray>\n"
           "<DataArray type='Int32' Name='offsets'>1</DataArray>\n<DataArray type='UInt8' Name='types'>" +
           types + "</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>";
  };
  const std::string grid = "type='UnstructuredGrid'";
  const auto points = [](const std::string& attributes, const std::string& values) {
    return "<DataArray type='Float64' " + attributes + ">" + values + "</DataArray>";
  };
  const std::vector<BadFile> files = {
      {".msh", "hello", {":1:", "'hello'", "$MeshFormat"}},
      {".msh", "$MeshFormat\n3.0 0 8\n$EndMeshFormat\n", {":2:", "'3.0'", "4.1 or 2.2"}},
      {".msh", "$MeshFormat\n4.1 7 8\n$EndMeshFormat\n", {":2:", "7", "0 (text) or 1 (binary)"}},
      {".msh", "$MeshFormat\n4.1 1 4\n$EndMeshFormat\n", {":2:", "4", "64-bit"}},
      {".msh", "$MeshFormat\n4.1 1 8\nabcd\n$EndMeshFormat\n", {": byte 20:", "byte order"}},
      {".msh", msh4 + "0 0 nan\n", {":8:", "nan", "finite"}},
      {".msh", msh4 + "0 0 x\n", {":8:", "'x'", "number"}},
      {".msh", msh4 + "0 0 0\n$EndNodes\n", {"$Elements"}},
      {".msh",
       msh4 + "0 0 0\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 1 1 2\n$EndElements\n",
       {":13:", "2", "not exist"}},
      {".msh", msh4 + "0 0 0\n$EndNodes\n$Elements\n1 1 1 1\n3 1 12 1\n", {":12:", "12", "first order"}},
      {".msh",
       msh4 + "0 0 0\n$EndNodes\n$Elements\n1 1 1 1\n3 1 5 1\n",
       {":12:", "hexahedron", "tetrahedra"}},
      {".msh", msh4 + "0 0 0\n$EndNodes\n$Elements\n1 1 1 1\n0 1 15 1\n1 1\n", {"$EndElements", "cut off"}},
      {".msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 0 0 1\n$EndNodes\n",
       {"node 1", "twice"}},
      {".msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Other\n1\n", {"'$Other'", "no end"}},
      {".msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 steel\n$EndPhysicalNames\n",
       {":6:", "name of a physical group", "' steel'", "in quotes"}},
      {".msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n4 1 \"a\"\n$EndPhysicalNames\n",
       {":6:", "dimension: got 4"}},
      {".msh",
       msh4 + "0 0 0\n$EndNodes\n$Elements\n1 2 1 1\n3 1 4 2\n1 1 1 1 1\n1 1 1 1 1\n$EndElements\n"
              "$ElementData\n1\n\"E\"\n0\n3\n0\n1\n1\n1 5\n",
       {"element 1 is given twice"}},
      {".vtk", "hello\n", {":1:", "# vtk DataFile"}},
      {".vtk", vtk + "CELLS 1 2\n1 0\nCELL_TYPES 1\n1\nCELL_DATA 2\n", {":11:", "of 2 cells", "has 1"}},
      {".vtk",
       vtk + "CELLS 1 2\n1 0\nCELL_TYPES 1\n1\nCELL_DATA 1\nFIELD f 1\nE 1 2 double\n1 2\n",
       {"cell data 'E' has 2 values", "1 cells"}},
      {".vtk",
       "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n",
       {":4:", "'structured_grid'", "UNSTRUCTURED_GRID"}},
      {".vtk", vtk + "CELLS 1 5\n4 0 0 0 1\nCELL_TYPES 1\n10\n", {":8:", "got 1", "[0, 1)"}},
      {".vtk", vtk + "CELLS 1 2\n1 0\nCELL_TYPES 1\n12\n", {":10:", "type 12", "tetrahedra"}},
      {".vtk", vtk + "CELLS 1 2\n1 0\nCELL_TYPES 1\n10\n", {":10:", "1 points, must have 4"}},
      {".vtk", vtk + "CELLS 1 2\n4 0 0 0 0\n", {":8:", "announced size"}},
      {".vtk", vtk + "CELLS 1 2\n1 0\n", {"1 cells and 0 cell types"}},
      {".vtk", vtk, {"no CELLS"}},
      {".vtu", "<a/>", {":1:", "<VTKFile>"}},
      {".vtu", vtu("type='PolyData'", "", ""), {":1:", "'PolyData'", "unstructured grid"}},
      {".vtu",
       vtu(grid + " compressor='vtkLZ4DataCompressor'", "", ""),
       {":1:", "'vtkLZ4DataCompressor'", "uncompressed"}},
      {".vtu", vtu(grid, "", "1"), {"<Points>"}},
      {".vtu",
       vtu(grid, points("NumberOfComponents='2'", "0 0"), "1"),
       {":5:", "2 components", "must have 3"}},
      {".vtu", vtu(grid, points("NumberOfComponents='3'", "0 0"), "1"), {":5:", "has 2 values, must have 3"}},
      {".vtu", vtu(grid, points("NumberOfComponents='3'", "0 0 inf"), "1"), {":5:", "inf", "finite"}},
      {".vtu", vtu(grid, points("NumberOfComponents='3'", "0 0 z"), "1"), {":5:", "'z'", "number"}},
      {".vtu", vtu(grid, points("NumberOfComponents='3'", "0 0 0"), "25"), {":10:", "type 25", "tetrahedra"}},
      {".vtu",
       vtu(grid, points("NumberOfComponents='3' format='appended'", ""), "1"),
       {":5:", "<AppendedData>"}},
      {".obj", "v 0\n", {":1:", "three coordinates"}},
      {".obj", "v 0 0 nan\n", {":1:", "nan", "finite"}},
      {".obj", "v 0 0 1e999\n", {":1:", "inf", "finite"}},
      {".obj", "v 0 0 0\nf 1 1 2\n", {":2:", "vertex 2 does not exist", "has 1"}},
      {".obj", "v 0 0 0\nf 1 1 0\n", {":2:", "'0'", "from 1"}},
      {".obj", "v 0 0 0\nf 1 1 -2\n", {":2:", "'-2'", "-1"}},
      {".obj", "v 0 0 0\nf 1 1\n", {":2:", "at least 3", "got 2"}},
      {".obj", "v 0 0 0\nsurf 0 1\n", {":2:", "'surf'", "polygons"}},
      {".obj", "# nothing\n", {"no vertex"}},
      {".ply", "hello\n", {":1:", "'ply'"}},
      {".ply", "ply\nformat binary 1.0\n", {":2:", "'binary'", "binary_little_endian"}},
      {".ply", "ply\nformat ascii 1.0\nelement vertex -1\n", {":3:", "'-1'"}},
      {".ply",
       "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty quad y\n",
       {":5:", "'quad'"}},
      {".ply",
       "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n0 0\n",
       {":3:", "'z'"}},
      {".ply",
       "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float "
       "z\nelement face 1\n"
       "property list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 1\n",
       {":11:", "vertex 1 does not exist"}},
      {".ply", "ply\nformat ascii 1.0\n", {":2:", "header"}},
      {".stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", {":4:", "inf", "finite"}},
      {".stl", "solid\nfacet normal 0 0 1\nouter circle\n", {":3:", "'circle'", "loop"}},
      {".stl", "solid\nendsolid\n", {"no triangles"}},
      {".stl", "short", {": byte 0:", "80 bytes"}},
      {".seg", "v 0 0 0\ns 1 2\n", {":2:", "point 2 does not exist", "has 1"}},
      {".seg", "v 0 0 0\ns 0 1\n", {":2:", "got 0", "at least 1"}},
      {".seg", "v 0 0 0\nf 1 1 1\n", {":2:", "'f'"}},
      {".seg", "v 0 0 0\n", {"no segments"}},
  };
  const TemporaryDirectory directory;
  for (const BadFile& bad : files) {
    const auto file = directory / ("bad" + bad.extension);
    write_file(file, bad.content);
    const std::string message = message_of([&] { read_mesh(file); });
    SCOPED_TRACE(bad.content);
    EXPECT_EQ(message.find(file.string()), 0u) << message;
    for (const std::string& part : bad.expected)
      EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(MeshFormat, MissingEmptyAndUnknownFilesAreRefused) {
  const TemporaryDirectory directory;
  for (const MeshFormat& format : mesh_formats()) {
    const auto file = directory / ("none" + std::string(format.extension));
    EXPECT_NE(message_of([&] { read_mesh(file); }).find("no such file"), std::string::npos);
    write_file(file, "");
    EXPECT_NE(message_of([&] { read_mesh(file); }).find("empty"), std::string::npos);
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    EXPECT_NE(message_of([&] { read_mesh(file); }).find("not a regular file"), std::string::npos);
  }
  EXPECT_NE(message_of([&] { read_mesh("a.xyz"); }).find(".msh, .vtk, .vtu"), std::string::npos);
  EXPECT_NE(message_of([&] { read_mesh("none"); }).find("''"), std::string::npos);
  EXPECT_NE(message_of([&] { write_mesh("a.xyz", sample_mesh()); }).find("'.xyz'"), std::string::npos);
}

TEST(MeshFormat, ExtensionsMayBeUpperCase) {
  const TemporaryDirectory directory;
  write_mesh(directory / "a.OBJ", sample_surface());
  expect_same(read_mesh(directory / "a.OBJ"), sample_surface());
}

/// Meshes of one kind of cell each, and a mixture.
std::vector<Mesh> meshes_to_write() {
  std::vector<Mesh> list = {sample_mesh(), sample_surface(), generate::segments(1.0 / 3, 5),
                            generate::points({2, 3, 1}, 0.1)};
  list.push_back(generate::sphere(0.1, 3));
  list.push_back(generate::torus(1, 1.0 / 3, 7, 5, generate::Content::surface));
  Mesh extreme = sample_surface();
  extreme.points.col(0) << 0.1, -1e-310, 1.7976931348623157e308;
  extreme.points.col(1) << 5e-324, -0.30000000000000004, 123456789.123456789;
  list.push_back(extreme);
  return list;
}

TEST(MeshFormat, WritingAndReadingGivesTheSameMesh) {
  const TemporaryDirectory directory;
  int written = 0;
  for (const MeshFormat& format : mesh_formats()) {
    SCOPED_TRACE(std::string(format.name));
    ASSERT_NE(format.write, nullptr);
    int of_format = 0;
    for (const Mesh& mesh : meshes_to_write()) {
      const auto file = directory / ("mesh" + std::string(format.extension));
      try {
        write_mesh(file, mesh);
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("cannot hold"), std::string::npos) << error.what();
        continue;
      }
      const Mesh read = read_mesh(file);
      if (format.name == "stl") {  // numbers the points in the order of their triangles
        ASSERT_EQ(read.faces.cols(), mesh.faces.cols());
        for (Index f = 0; f < mesh.faces.cols(); ++f)
          for (int k = 0; k < 3; ++k)
            EXPECT_EQ(read.points.col(read.faces(k, f)), mesh.points.col(mesh.faces(k, f)));
      } else {
        expect_same(read, mesh);
      }
      ++of_format;
    }
    EXPECT_GT(of_format, 0);
    written += of_format;
  }
  EXPECT_EQ(written, 7 + 7 + 7 + 5 + 5 + 3 + 1)
      << "formats hold fewer or more kinds of meshes than they should";
}

TEST(MeshFormat, WhatAFormatCannotHoldIsRefusedBeforeAnythingIsWritten) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.obj", "a.ply", "a.stl", "a.seg"}) {
    const std::string message = message_of([&] { write_mesh(directory / name, sample_mesh()); });
    EXPECT_NE(message.find("2 tetrahedra"), std::string::npos) << message;
    EXPECT_FALSE(std::filesystem::exists(directory / name));
  }
}

TEST(MeshFormat, PartsOfLargerCellsAreLeftOut) {
  const TemporaryDirectory directory;
  Mesh mesh = sample_mesh();
  mesh.faces.resize(3, 3);
  mesh.faces << 0, 3, 1, 2, 4, 0, 1, 5, 3;  // two faces of tetrahedra around the free one
  mesh.edges.resize(2, 4);
  mesh.edges << 0, 5, 3, 6, 1, 6, 5, 7;  // of a tetrahedron, free, of the free triangle, free
  mesh.vertices.resize(3);
  mesh.vertices << 0, 6, 7;
  write_mesh(directory / "a.msh", mesh);
  Mesh expected = sample_mesh();
  expected.edges.resize(2, 2);
  expected.edges << 5, 6, 6, 7;
  expected.vertices.resize(0);
  expect_same(read_mesh(directory / "a.msh"), expected);
}

TEST(MeshFormat, MeshesOfOtherPeopleAreRead) {
  const std::filesystem::path data = APART_DATA;
  if (!std::filesystem::exists(data / "ipc") || !std::filesystem::exists(data / "codim"))
    GTEST_SKIP() << "no published meshes in " << APART_DATA
                 << ": put the input of github.com/ipc-sim/IPC there as ipc and of "
                    "github.com/ipc-sim/Codim-IPC as codim, or name the folder: cmake -D APART_DATA=folder "
                    "build";
  int meshes = 0, volumes = 0;
  for (const char* folder : {"ipc", "codim"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data / folder)) {
      const auto extension = entry.path().extension().string();
      if (std::none_of(mesh_formats().begin(), mesh_formats().end(),
                       [&](const auto& f) { return f.extension == extension; }))
        continue;
      SCOPED_TRACE(entry.path());
      Mesh mesh;
      ASSERT_NO_THROW(mesh = read_mesh(entry.path()));
      ++meshes;
      if (!mesh.is_volume()) continue;
      ++volumes;
      orient_tetrahedra(mesh);
      EXPECT_NO_THROW(validate_volume(mesh, entry.path().string()));
      EXPECT_EQ(mesh.faces.cols() + mesh.edges.cols() + mesh.vertices.size(), 0);
    }
  EXPECT_GT(volumes, 50);
  EXPECT_GT(meshes, 300);
}

}  // namespace
}  // namespace apart::test
