// Files that claim more than they hold, or ask for a lot with little: an error that names the place, and no
// memory.
#include <apart/core/diagnostics.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/frame.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/mesh_format.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <zlib.h>

#include "mesh_variants.hpp"

namespace apart::test {
namespace {

/// Reading must throw, and take little memory and time.
std::string refusal(std::string_view extension, const std::string& content) {
  const TemporaryDirectory directory;
  const auto file = directory / fmt::format("mesh{}", extension);
  write_file(file, content);
  const std::size_t before = process_peak_bytes();
  const double start = process_cpu_seconds();
  const std::string message = message_of([&] { read_mesh(file); });
  EXPECT_LT(process_peak_bytes() - before, std::size_t(300) << 20) << message;
  EXPECT_LT(process_cpu_seconds() - start, 10) << message;
  EXPECT_EQ(message.find("does not fit into memory"), std::string::npos) << message;
  return message;
}

void expect_refused(std::string_view extension, const std::string& content) {
  EXPECT_NE(refusal(extension, content).find(fmt::format("mesh{}", extension)), std::string::npos);
}

const std::vector<std::string> claims = {
    "10000000000",          "2147483647",           "2147483648",
    "4294967296",           "9223372036854775807",  "9223372036854775808",
    "18446744073709551615", "-9223372036854775808", "1e300"};

TEST(HostileMesh, CountsInTextAreNotBelieved) {
  for (const std::string& n : claims) {
    const std::string cell = fmt::format("\n{} 0 1 2 3\n", n);
    expect_refused(".ply", "ply\nformat ascii 1.0\nelement vertex " + n +
                               "\nproperty float x\nproperty float y\n"
                               "property float z\nend_header\n0 0 0\n");
    expect_refused(".ply",
                   "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
                   "property float z\nelement face 1\nproperty list int int vertex_indices\nend_header\n"
                   "0 0 0\n" +
                       n + " 0 0 0\n");
    expect_refused(".ply", "ply\nformat ascii 1.0\nelement nothing " + n + "\nend_header\n");
    const std::string gmsh2 = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n",
                      gmsh4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
    const std::string nodes = "$Nodes\n1\n1 0 0 0\n$EndNodes\n";
    expect_refused(".msh", gmsh2 + "$Nodes\n" + n + "\n1 0 0 0\n$EndNodes\n");
    expect_refused(".msh", gmsh2 + nodes + "$Elements\n" + n + "\n1 15 0 1\n$EndElements\n");
    expect_refused(".msh", gmsh2 + nodes + "$Elements\n1\n1 15 " + n + " 1\n$EndElements\n");
    expect_refused(".msh", gmsh4 + "$Nodes\n" + n + " 1 1 1\n0 1 0 1\n1\n0 0 0\n$EndNodes\n");
    expect_refused(".msh", gmsh4 + "$Nodes\n1 " + n + " 1 1\n0 1 0 1\n1\n0 0 0\n$EndNodes\n");
    expect_refused(".msh", gmsh4 + "$Nodes\n1 1 1 1\n0 1 0 " + n + "\n1\n0 0 0\n$EndNodes\n");
    expect_refused(".msh", gmsh4 + "$Entities\n" + n + " 0 0 0\n1 0 0 0 0\n$EndEntities\n");
    expect_refused(".msh", gmsh4 + "$Entities\n1 0 0 0\n1 0 0 0 " + n + "\n$EndEntities\n");
    expect_refused(".msh", gmsh4 + "$PhysicalNames\n" + n + "\n0 1 \"a\"\n$EndPhysicalNames\n");
    const std::string vtk = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
    const std::string points = "POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n";
    expect_refused(".vtk", vtk + "POINTS " + n + " double\n0 0 0\n");
    expect_refused(".vtk", vtk + points + "CELLS " + n + " 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
    expect_refused(".vtk", vtk + points + "CELLS 1 " + n + "\n4 0 1 2 3\nCELL_TYPES 1\n10\n7");
    expect_refused(".vtk", vtk + points + "CELLS 1 5" + cell + "CELL_TYPES 1\n10\n");
    expect_refused(".vtk", vtk + points + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES " + n + "\n10\n");
    expect_refused(".vtk", vtk + "FIELD f 1\na " + n + " 1 double\n0\n" + points);
    const auto vtu = [](const std::string& p, const std::string& c, const std::string& offset) {
      return "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"" + p +
             "\" NumberOfCells=\"" + c +
             "\"><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 "
             "0</DataArray></Points>"
             "<Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0</DataArray>"
             "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">" +
             offset +
             "</DataArray><DataArray type=\"UInt8\" Name=\"types\" "
             "format=\"ascii\">1</DataArray></Cells></Piece>"
             "</UnstructuredGrid></VTKFile>";
    };
    expect_refused(".vtu", vtu(n, "1", "1"));
    expect_refused(".vtu", vtu("1", n, "1"));
    expect_refused(".vtu", vtu("1", "1", n));
    expect_refused(".obj", "v 0 0 0\nf " + n + " 1 1\n");
    expect_refused(".obj", "v 0 0 0\nf -" + n + " 1 1\n");
    expect_refused(".seg", "v 0 0 0\ns 1 " + n + "\n");
  }
}

TEST(HostileMesh, CountsInBinaryAreNotBelieved) {
  for (const std::uint64_t n : {std::uint64_t(10'000'000'000), std::uint64_t(1) << 31, std::uint64_t(1) << 63,
                                ~std::uint64_t(0), (std::uint64_t(1) << 61) + 1}) {
    Bytes stl(std::endian::little);
    stl.text(std::string(80, ' ')).put<std::uint32_t>(n | 0x80000000).put<double>(0, 0, 0, 0, 0, 0, 0);
    expect_refused(".stl", stl.str());

    Bytes ply(std::endian::little);
    ply.text(
           "ply\nformat binary_little_endian 1.0\nelement face 1\nproperty list uint double vertex_indices\n"
           "end_header\n")
        .put<std::uint32_t>(n | 0x80000000)
        .put<double>(0, 1, 2);
    expect_refused(".ply", ply.str());

    Bytes nodes(std::endian::little);
    nodes.text("$MeshFormat\n4.1 1 8\n").put<std::int32_t>(1).text("\n$EndMeshFormat\n$Nodes\n");
    nodes.put<std::uint64_t>(n, n, 1, 1)
        .put<std::int32_t>(0, 1, 0)
        .put<std::uint64_t>(n, 1)
        .put<double>(0, 0, 0);
    expect_refused(".msh", nodes.text("\n$EndNodes\n").str());

    Bytes vtu(std::endian::little);
    vtu.text(
           "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" "
           "header_type=\"UInt64\"><UnstructuredGrid>"
           "<Piece NumberOfPoints=\"400000000\" NumberOfCells=\"0\"><Points><DataArray type=\"Float64\" "
           "NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/></Points></Piece></UnstructuredGrid>"
           "<AppendedData encoding=\"raw\">_")
        .put<std::uint64_t>(n)
        .put<double>(0, 0, 0);
    expect_refused(".vtu", vtu.str());
  }
}

/// Zeros, as one block of VTK's zlib format.
std::string packed_zeros(std::size_t size) {
  std::string packed(::compressBound(uLong(1) << 20), '\0'), all;
  z_stream stream{};
  EXPECT_EQ(::deflateInit(&stream, 9), Z_OK);
  const std::string zeros(1 << 20, '\0');
  for (std::size_t done = 0; done < size; done += zeros.size()) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
    stream.avail_in = uInt(std::min(zeros.size(), size - done));
    const int flush = done + zeros.size() >= size ? Z_FINISH : Z_NO_FLUSH;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_out = uInt(packed.size());
      ::deflate(&stream, flush);
      all.append(packed, 0, packed.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  ::deflateEnd(&stream);
  return all;
}

/// A VTU file of points that all lie in one place, packed, and `rest` behind the points.
std::string packed_vtu(std::size_t points, const std::string& packed, const std::string& rest) {
  Bytes bytes(std::endian::little);
  bytes.text(
      "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
      "compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid>" +
      rest + "</UnstructuredGrid><AppendedData encoding=\"raw\">_");
  bytes.put<std::uint64_t>(1, 24 * points, 0, packed.size()).text(packed);
  return bytes.str();
}
std::string packed_piece(std::size_t points) {
  return fmt::format(
      "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" "
      "NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/></Points><Cells><DataArray "
      "type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0</DataArray><DataArray type=\"Int64\" "
      "Name=\"offsets\" format=\"ascii\">1</DataArray><DataArray type=\"UInt8\" Name=\"types\" "
      "format=\"ascii\">1</DataArray></Cells></Piece>",
      points);
}

TEST(HostileMesh, PackedFilesDoNotUnpackToGigabytes) {
  const std::string too_much = "all pieces together have more than";
  // 10 GB in 10 MB, and less than that, but a thousand pieces that all have it: nothing is unpacked.
  const std::size_t points = 400'000'000, some = 500'000;
  std::string message =
      refusal(".vtu", packed_vtu(points, std::string(10'000'000, 'x'), packed_piece(points)));
  EXPECT_NE(message.find(too_much), message.npos) << message;
  std::string pieces;
  for (int i = 0; i < 1000; ++i) pieces += packed_piece(some);
  message = refusal(".vtu", packed_vtu(some, packed_zeros(24 * some), pieces));
  EXPECT_NE(message.find(too_much), message.npos) << message;
  EXPECT_LT(process_peak_bytes(), std::size_t(1) << 30);
}

TEST(HostileMesh, LittleTextDoesNotAskForMuchCellData) {
  const std::size_t before = process_peak_bytes();
  std::string text =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
      "$Elements\n50000\n";
  for (int i = 1; i <= 50000; ++i) text += fmt::format("{} 4 0 1 2 3 4\n", i);
  text += "$EndElements\n";
  for (int i = 0; i < 5000; ++i)
    text += fmt::format("$ElementData\n1\n\"{}\"\n0\n3\n0\n1\n0\n$EndElementData\n", i);
  const TemporaryDirectory directory;
  write_file(directory / "mesh.msh", text);
  const std::string message = message_of([&] { read_mesh(directory / "mesh.msh"); });
  EXPECT_NE(message.find("more data for elements than are read"), std::string::npos) << message;
  EXPECT_LT(process_peak_bytes() - before, std::size_t(2) << 30);
}

TEST(HostileMesh, LittleTextDoesNotAskForManyGroups) {
  const std::size_t before = process_peak_bytes();
  std::string text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 0 0 0\n1 0 0 0 20000";
  for (int i = 1; i <= 20000; ++i) text += " 1";
  text +=
      "\n$EndEntities\n$Nodes\n1 1 1 1\n0 1 0 1\n1\n0 0 0\n$EndNodes\n$Elements\n1 20000 1 20000\n0 1 15 "
      "20000\n";
  for (int i = 1; i <= 20000; ++i) text += fmt::format("{} 1\n", i);
  const TemporaryDirectory directory;
  write_file(directory / "mesh.msh", text + "$EndElements\n");
  const std::string message = message_of([&] { read_mesh(directory / "mesh.msh"); });
  EXPECT_NE(message.find("physical groups, counted for each element"), std::string::npos) << message;
  EXPECT_LT(process_peak_bytes() - before, std::size_t(2) << 30);
}

TEST(HostileMesh, FramesAndIteratesDoNotBelieveTheirHeaders) {
  const std::size_t before = process_peak_bytes();
  const TemporaryDirectory directory;
  Frame frame;
  frame.bodies = {{"a", "particles"}};
  frame.mesh.points = Matrix3X::Zero(3, 1);
  frame.mesh.vertices = Eigen::VectorXi::Zero(1);
  frame.point_body = Eigen::VectorXi::Zero(1);
  frame.half_spaces = {{Vector3::Zero(), Vector3::UnitY(), 0}};
  write_frame(directory / "f.vtu", frame);
  const std::string good = read_file(directory / "f.vtu");
  read_frame(directory / "f.vtu");
  for (const char* attribute : {"NumberOfTuples=\"", "NumberOfPoints=\"", "NumberOfCells=\"", "offset=\""})
    for (const std::string& n : claims) {
      std::string bad = good;
      // In every place where it stands; the data themselves come later.
      for (std::size_t at = 0; (at = bad.find(attribute, at)) < bad.find("<AppendedData"); at += 1) {
        const std::size_t begin = at + std::string_view(attribute).size();
        bad.replace(begin, bad.find('"', begin) - begin, n);
      }
      write_file(directory / "f.vtu", bad);
      message_of([&] { read_frame(directory / "f.vtu"); });
    }
  for (const std::uint64_t n : {std::uint64_t(10'000'000'000), std::uint64_t(1) << 63, ~std::uint64_t(0),
                                (std::uint64_t(1) << 61) + 1, std::uint64_t(1) << 32})
    for (int which = 0; which < 4; ++which) {
      std::uint64_t numbers[5] = {2, 1, 1, 1, 0};
      numbers[1 + which] = n;
      Bytes bytes(std::endian::little);
      bytes.text("apartITR").put<std::uint64_t>(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
      write_file(directory / "i.bin", bytes.put<double>(0, 0, 0).put<std::uint32_t>(0).str());
      message_of([&] { read_iterates(directory / "i.bin"); });
    }
  EXPECT_LT(process_peak_bytes() - before, std::size_t(300) << 20);
}

}  // namespace
}  // namespace apart::test
