#pragma once
// The same small mesh in every variant of every format, written here by hand and not by the library, so that
// the readers are tested against the formats and not against our writers.
#include <apart/geometry/mesh.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace apart::test {

struct MeshVariant {
  std::string name;
  std::string extension;
  std::string content;
  Mesh mesh;  ///< what reading it must give
};

/// Two tetrahedra, a triangle, a line and a free point. Every coordinate is also a float.
inline Mesh sample_mesh() {
  Mesh mesh;
  mesh.points.resize(3, 8);
  mesh.points << 0, 1, 0, 0, 1, 2.5, -3, 1e-20,  //
      0, 0, 1, 0, 1, 0.125, 7, -4,               //
      0, 0, 0, 1, 1, -0.75, 0.5, 1e10;
  mesh.points.row(0)[7] = float(1e-20);
  mesh.tetrahedra.resize(4, 2);
  mesh.tetrahedra.col(0) << 0, 1, 2, 3;
  mesh.tetrahedra.col(1) << 1, 2, 3, 4;
  mesh.faces.resize(3, 1);
  mesh.faces << 3, 4, 5;
  mesh.edges.resize(2, 1);
  mesh.edges << 5, 6;
  mesh.vertices.resize(1);
  mesh.vertices << 7;
  return mesh;
}

/// Only triangles, every point used.
inline Mesh sample_surface() {
  Mesh mesh;
  mesh.points = sample_mesh().points.leftCols(5);
  mesh.faces.resize(3, 3);
  mesh.faces << 0, 1, 2, 1, 2, 3, 2, 3, 4;
  return mesh;
}

/// A byte string with numbers of either byte order.
class Bytes {
 public:
  explicit Bytes(std::endian order = std::endian::native) : swap_(order != std::endian::native) {}
  Bytes& text(std::string_view t) {
    content_ += t;
    return *this;
  }
  template <class T, class... V>
  Bytes& put(V... values) {
    (put_one<T>(static_cast<T>(values)), ...);
    return *this;
  }
  template <class T, class Matrix>
  Bytes& put_all(const Matrix& m, int shift = 0) {
    for (Eigen::Index i = 0; i < m.size(); ++i) put_one<T>(static_cast<T>(m.data()[i] + shift));
    return *this;
  }
  const std::string& str() const { return content_; }

 private:
  template <class T>
  void put_one(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) content_ += bytes[swap_ ? sizeof(T) - 1 - i : i];
  }
  std::string content_;
  bool swap_;
};

inline std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      result += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return result;
}

/// "a b c" for each column, one to a line.
template <class Matrix>
std::string rows(const Matrix& m, const std::string& prefix = "", int shift = 0) {
  std::string result;
  for (Eigen::Index c = 0; c < m.cols(); ++c) {
    result += prefix;
    for (Eigen::Index r = 0; r < m.rows(); ++r) {
      if constexpr (std::is_integral_v<typename Matrix::Scalar>)
        result += fmt::format("{} ", m(r, c) + shift);
      else
        result += fmt::format("{} ", m(r, c));
    }
    result += '\n';
  }
  return result;
}

// ---- Gmsh
// ------------------------------------------------------------------------------------------------------------

inline void add_gmsh_variants(std::vector<MeshVariant>& list) {
  const Mesh mesh = sample_mesh();
  // Tags with gaps and out of order: point p has tag 100 − 3 p.
  const auto tag = [](int p) { return 100 - 3 * p; };
  const auto with_tags = [&](auto cells) {
    for (Eigen::Index i = 0; i < cells.size(); ++i) cells.data()[i] = tag(cells.data()[i]);
    return cells;
  };

  std::string text2 =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a b\"\n$EndPhysicalNames\n$Nodes\n8\n";
  for (int p = 0; p < 8; ++p) text2 += fmt::format("{} ", tag(p)) + rows(mesh.points.col(p));
  text2 += "$EndNodes\n$Elements\n5\n";
  text2 += rows(with_tags(mesh.tetrahedra), "7 4 2 1 1 ") + rows(with_tags(mesh.faces), "8 2 0 ");
  text2 +=
      rows(with_tags(mesh.edges), "9 1 3 1 1 1 ") + fmt::format("10 15 1 1 {}\n", tag(7)) + "$EndElements\n";
  list.push_back({"gmsh 2.2 text", ".msh", text2, mesh});

  std::string text4 =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n$Nodes\n2 8 1 100\n2 1 1 3\n";
  for (int p = 0; p < 3; ++p) text4 += fmt::format("{}\n", tag(p));
  for (int p = 0; p < 3; ++p)
    text4 += fmt::format("{} {} {} 0.5 0.25\n", mesh.points(0, p), mesh.points(1, p), mesh.points(2, p));
  text4 += "3 1 0 5\n";
  for (int p = 3; p < 8; ++p) text4 += fmt::format("{}\n", tag(p));
  text4 += rows(mesh.points.rightCols(5)) + "$EndNodes\n$Elements\n4 5 1 5\n3 1 4 2\n" +
           rows(with_tags(mesh.tetrahedra), "1 ");
  text4 += "2 1 2 1\n" + rows(with_tags(mesh.faces), "3 ") + "1 1 1 1\n" + rows(with_tags(mesh.edges), "4 ");
  text4 += fmt::format("0 1 15 1\n5 {}\n$EndElements\n$Surface\n1\n1 2 3\n$EndSurface\n", tag(7));
  list.push_back({"gmsh 4.1 text", ".msh", text4, mesh});

  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const std::string suffix = order == std::endian::little ? " little-endian" : " big-endian";
    Bytes b2(order);
    b2.text("$MeshFormat\n2.2 1 8\n").put<int>(1).text("\n$EndMeshFormat\n$Nodes\n8\n");
    for (int p = 0; p < 8; ++p) b2.put<int>(tag(p)).put_all<double>(mesh.points.col(p).eval());
    b2.text("\n$EndNodes\n$Elements\n5\n").put<int>(4, 2, 2);
    for (int t = 0; t < 2; ++t) b2.put<int>(t, 1, 1).put_all<int>(with_tags(mesh.tetrahedra).col(t).eval());
    b2.put<int>(2, 1, 0, 3).put_all<int>(with_tags(mesh.faces));
    b2.put<int>(1, 1, 1, 4, 1).put_all<int>(with_tags(mesh.edges));
    b2.put<int>(15, 1, 1, 5, 1, tag(7)).text("\n$EndElements\n");
    list.push_back({"gmsh 2.2 binary" + suffix, ".msh", b2.str(), mesh});

    Bytes b4(order);
    b4.text("$MeshFormat\n4.1 1 8\n")
        .put<int>(1)
        .text("\n$EndMeshFormat\n$Entities\n")
        .put<std::uint64_t>(0, 0, 0, 0);
    b4.text("\n$EndEntities\n$Nodes\n")
        .put<std::uint64_t>(2, 8, 1, 100)
        .put<int>(1, 1, 1)
        .put<std::uint64_t>(3);
    for (int p = 0; p < 3; ++p) b4.put<std::uint64_t>(tag(p));
    for (int p = 0; p < 3; ++p) b4.put_all<double>(mesh.points.col(p).eval()).put<double>(0.5);
    b4.put<int>(3, 1, 0).put<std::uint64_t>(5);
    for (int p = 3; p < 8; ++p) b4.put<std::uint64_t>(tag(p));
    b4.put_all<double>(mesh.points.rightCols(5).eval())
        .text("\n$EndNodes\n$Elements\n")
        .put<std::uint64_t>(4, 5, 1, 5);
    b4.put<int>(3, 1, 4).put<std::uint64_t>(2);
    for (int t = 0; t < 2; ++t)
      b4.put<std::uint64_t>(t).put_all<std::uint64_t>(with_tags(mesh.tetrahedra).col(t).eval());
    b4.put<int>(2, 1, 2).put<std::uint64_t>(1, 3).put_all<std::uint64_t>(with_tags(mesh.faces));
    b4.put<int>(1, 1, 1).put<std::uint64_t>(1, 4).put_all<std::uint64_t>(with_tags(mesh.edges));
    b4.put<int>(0, 1, 15).put<std::uint64_t>(1, 5, tag(7)).text("\n$EndElements\n");
    list.push_back({"gmsh 4.1 binary" + suffix, ".msh", b4.str(), mesh});
  }
}

// ---- legacy VTK
// ------------------------------------------------------------------------------------------------------

inline void add_legacy_vtk_variants(std::vector<MeshVariant>& list) {
  const Mesh mesh = sample_mesh();
  const std::string head = "# vtk DataFile Version 3.0\nA title\n";
  const std::string field_text = "FIELD FieldData 2\nTIME 1 1 double\n0.5\nname 1 1 string\nsome text\n";
  list.push_back({"vtk text", ".vtk",
                  head + "ASCII\nDATASET UNSTRUCTURED_GRID\n" + field_text + "POINTS 8 float\n" +
                      rows(mesh.points) + "METADATA\nINFORMATION 0\n\nCELLS 5 20\n" +
                      rows(mesh.tetrahedra, "4 ") + rows(mesh.faces, "3 ") +
                      "2 5 6\n1 7\nCELL_TYPES 5\n10\n10\n5\n3\n1\nPOINT_DATA 8\nSCALARS whatever float\n",
                  mesh});
  const std::string types = "\nCELL_TYPES 5\n";
  const auto old_cells = [&](Bytes& b) -> Bytes& {
    for (int t = 0; t < 2; ++t) b.put<int>(4).put_all<int>(mesh.tetrahedra.col(t).eval());
    return b.put<int>(3).put_all<int>(mesh.faces).put<int>(2).put_all<int>(mesh.edges).put<int>(1, 7);
  };
  Bytes b(std::endian::big);
  b.text(head + "BINARY\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n").put<double>(0.5);
  b.text("\nPOINTS 8 double\n").put_all<double>(mesh.points).text("\nCELLS 5 20\n");
  old_cells(b).text(types).put<int>(10, 10, 5, 3, 1).text("\nCELL_DATA 5\n");
  list.push_back({"vtk binary", ".vtk", b.str(), mesh});

  Bytes f(std::endian::big);
  f.text(head + "BINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n")
      .put_all<float>(mesh.points)
      .text("\nCELLS 5 20\n");
  old_cells(f).text(types).put<int>(10, 10, 5, 3, 1);
  list.push_back({"vtk binary float", ".vtk", f.str(), mesh});

  const std::string head5 = "# vtk DataFile Version 5.1\nvtk output\n";
  list.push_back({"vtk 5.1 text", ".vtk",
                  head5 + "ASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n" + rows(mesh.points) +
                      "\nCELLS 6 14\nOFFSETS vtktypeint64\n0 4 8 11 13 14 \nCONNECTIVITY vtktypeint64\n" +
                      rows(mesh.tetrahedra) + rows(mesh.faces) + "5 6 7\n" + types + "10 10 5 3 1\n",
                  mesh});
  Bytes b5(std::endian::big);
  b5.text(head5 + "BINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n").put_all<double>(mesh.points);
  b5.text("\nMETADATA\nINFORMATION 0\n\nCELLS 6 14\nOFFSETS vtktypeint64\n")
      .put<std::int64_t>(0, 4, 8, 11, 13, 14);
  b5.text("\nCONNECTIVITY vtktypeint64\n")
      .put_all<std::int64_t>(mesh.tetrahedra)
      .put_all<std::int64_t>(mesh.faces);
  b5.put<std::int64_t>(5, 6, 7).text(types).put<int>(10, 10, 5, 3, 1).text("\n");
  list.push_back({"vtk 5.1 binary", ".vtk", b5.str(), mesh});

  Mesh poly = mesh;
  poly.tetrahedra.resize(4, 0);
  poly.faces.resize(3, 5);  // a triangle, a square as a fan, a strip of two
  poly.faces.transpose() << 0, 1, 3, 0, 1, 4, 0, 4, 2, 0, 1, 2, 2, 1, 3;
  poly.edges.resize(2, 2);
  poly.edges << 4, 5, 5, 6;
  list.push_back(
      {"vtk polydata text", ".vtk",
       head + "ASCII\nDATASET POLYDATA\nPOINTS 8 double\n" + rows(mesh.points) +
           "VERTICES 1 2\n1 7\nLINES 1 4\n3 4 5 6\nPOLYGONS 2 9\n3 0 1 3\n4 0 1 4 2\nTRIANGLE_STRIPS 1 5\n"
           "4 0 1 2 3\n",
       poly});
  Bytes p5(std::endian::big);
  p5.text(head5 + "BINARY\nDATASET POLYDATA\nPOINTS 8 float\n").put_all<float>(mesh.points);
  p5.text("\nPOLYGONS 2 3\nOFFSETS vtktypeint64\n")
      .put<std::int64_t>(0, 3)
      .text("\nCONNECTIVITY vtktypeint64\n");
  p5.put<std::int64_t>(3, 4, 5).text("\n");
  Mesh one = mesh;
  one.tetrahedra.resize(4, 0);
  one.edges.resize(2, 0);
  one.vertices.resize(0);
  list.push_back({"vtk 5.1 polydata binary", ".vtk", p5.str(), one});
}

// ---- VTU
// -------------------------------------------------------------------------------------------------------------

struct VtuOptions {
  bool appended = false, base64 = true, compressed = false;
  std::endian order = std::endian::little;
  bool header64 = false;
  bool small_types = false;  ///< Float32, Int8 ... instead of Float64, Int64
};

inline std::string vtu_bytes(const std::string& raw, const VtuOptions& o) {
  const auto header = [&](const std::vector<std::size_t>& values) {
    Bytes b(o.order);
    for (const std::size_t v : values) o.header64 ? b.put<std::uint64_t>(v) : b.put<std::uint32_t>(v);
    return b.str();
  };
  const auto encode = [&](const std::string& s) { return o.base64 ? base64(s) : s; };
  if (!o.compressed) return encode(header({raw.size()}) + raw);
  // Blocks of 64 bytes: most arrays need several, and the last one is shorter.
  const std::size_t block = 64;
  std::vector<std::size_t> head = {(raw.size() + block - 1) / block, block, raw.size() % block};
  std::string data;
  for (std::size_t i = 0; i < raw.size(); i += block) {
    const std::string piece = raw.substr(i, block);
    uLongf size = ::compressBound(uLong(piece.size()));
    std::string packed(size, '\0');
    ::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(piece.data()),
               uLong(piece.size()));
    head.push_back(size);
    data += packed.substr(0, size);
  }
  return encode(header(head)) + encode(data);
}

inline std::string vtu_content(const Mesh& mesh, const VtuOptions& o) {
  std::string appended;
  const auto array = [&](const std::string& type, const std::string& name, const std::string& raw) {
    const std::string encoded = vtu_bytes(raw, o);
    const std::string attributes = fmt::format("type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"", type,
                                               name, name == "Points" ? 3 : 1);
    std::string result =
        fmt::format("<DataArray {} format=\"appended\" offset=\"{}\"/>\n", attributes, appended.size());
    if (!o.appended)
      result = fmt::format("<DataArray {} format=\"binary\">\n {}\n</DataArray>\n", attributes, encoded);
    appended += encoded;
    return result;
  };
  const auto integers = [&](const std::string& name, const Eigen::VectorXi& values) {
    return o.small_types ? array("Int8", name, Bytes(o.order).put_all<std::int8_t>(values).str())
                         : array("Int64", name, Bytes(o.order).put_all<std::int64_t>(values).str());
  };
  Eigen::VectorXi connectivity(14), offsets(5), types(5);
  connectivity << mesh.tetrahedra.reshaped(), mesh.faces.reshaped(), mesh.edges.reshaped(), mesh.vertices;
  offsets << 4, 8, 11, 13, 14;
  types << 10, 10, 5, 3, 1;
  std::string result = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{}\" "
      "header_type=\"{}\"{}>\n",
      o.order == std::endian::little ? "LittleEndian" : "BigEndian", o.header64 ? "UInt64" : "UInt32",
      o.compressed ? " compressor=\"vtkZLibDataCompressor\"" : "");
  result += "<UnstructuredGrid>\n<Piece NumberOfPoints=\"8\" NumberOfCells=\"5\">\n<PointData>\n";
  result += array("Float64", "ignored", Bytes(o.order).put<double>(1, 2, 3, 4, 5, 6, 7, 8).str()) +
            "</PointData>\n<Points>\n";
  result += o.small_types ? array("Float32", "Points", Bytes(o.order).put_all<float>(mesh.points).str())
                          : array("Float64", "Points", Bytes(o.order).put_all<double>(mesh.points).str());
  result += "</Points>\n<Cells>\n" + integers("connectivity", connectivity) + integers("offsets", offsets);
  result += array("UInt8", "types", Bytes(o.order).put_all<std::uint8_t>(types).str());
  result += "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
  if (o.appended) {
    result += fmt::format("<AppendedData encoding=\"{}\">\n  _", o.base64 ? "base64" : "raw");
    result += appended + "\n</AppendedData>\n";
  }
  return result + "</VTKFile>\n";
}

inline void add_vtu_variants(std::vector<MeshVariant>& list) {
  const Mesh mesh = sample_mesh();
  list.push_back(
      {"vtu ascii, two pieces", ".vtu",
       "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n"
       "<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\"><Points><DataArray type=\"Float64\" "
       "NumberOfComponents=\"3\" "
       "format=\"ascii\">\n" +
           rows(mesh.points.leftCols(5)) +
           "<InformationKey name=\"L2_NORM_RANGE\"><Value index=\"0\">0.5</Value></InformationKey>"
           "</DataArray></Points><Cells><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">" +
           rows(mesh.tetrahedra) +
           "</DataArray><DataArray type=\"Int32\" Name=\"offsets\">4 8</DataArray><DataArray type=\"UInt8\" "
           "Name=\"types\">10 10"
           "</DataArray></Cells></Piece>\n"
           "<Piece NumberOfPoints=\"5\" NumberOfCells=\"3\"><Points><DataArray type=\"Float32\" "
           "NumberOfComponents=\"3\" "
           "format=\"ascii\">\n" +
           rows(mesh.points.rightCols(5)) +
           "</DataArray></Points><Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 "
           "2 2 3 4"
           "</DataArray><DataArray type=\"Int32\" Name=\"offsets\">3 5 6</DataArray><DataArray "
           "type=\"UInt8\" "
           "Name=\"types\">5 3 1</DataArray></Cells></Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
       mesh});
  Mesh& two = list.back().mesh;
  two.points.resize(3, 10);
  two.points << mesh.points.leftCols(5), mesh.points.rightCols(5);
  two.faces << 5, 6, 7;
  two.edges << 7, 8;
  two.vertices << 9;

  for (const bool compressed : {false, true})
    for (const bool header64 : {false, true})
      for (const std::endian order : {std::endian::little, std::endian::big})
        for (int encoding = 0; encoding < 3; ++encoding) {
          VtuOptions o;
          o.appended = encoding > 0;
          o.base64 = encoding < 2;
          o.compressed = compressed;
          o.header64 = header64;
          o.order = order;
          o.small_types = header64 != compressed;
          list.push_back({fmt::format("vtu {}{}, header {}, {}, {} types",
                                      encoding == 0   ? "base64"
                                      : encoding == 1 ? "appended base64"
                                                      : "appended raw",
                                      compressed ? ", compressed" : "", header64 ? 64 : 32,
                                      order == std::endian::little ? "little-endian" : "big-endian",
                                      o.small_types ? "small" : "large"),
                          ".vtu", vtu_content(mesh, o), mesh});
        }
}

// ---- OBJ, PLY, STL, SEG
// ----------------------------------------------------------------------------------------------

inline void add_obj_variants(std::vector<MeshVariant>& list) {
  Mesh mesh = sample_mesh();
  mesh.tetrahedra.resize(4, 0);
  list.push_back(
      {"obj", ".obj", "# comment\no thing\n" + rows(mesh.points, "v ") + "f 4 5 6 # end\nl 6 7\np 8", mesh});
  mesh.faces.resize(3, 4);
  mesh.faces.transpose() << 0, 1, 2, 0, 2, 3, 3, 4, 5, 0, 1, 4;
  mesh.edges.resize(2, 2);
  mesh.edges << 1, 5, 5, 6;
  list.push_back({"obj with everything", ".obj",
                  "mtllib a.mtl\r\n" + rows(mesh.points, "v ") +
                      "vt 0 0\nvn 0 0 1\ng a b\ns off\nusemtl x\nf 1/1 2/1 3/1 4/1\n\tf 4//1 5//1 \\\n "
                      "6//1\nf -8/1/1 -7/1/1 -4/1/1\n"
                      "l 2/1 6/1 7\np 8\nstitch 1 2 3 0.5 0.5\nseam 1 2\n",
                  mesh});
  Mesh points;
  points.points = mesh.points;
  points.vertices = Eigen::VectorXi::LinSpaced(8, 0, 7);
  list.push_back({"obj point set", ".obj", rows(mesh.points, "v "), points});
}

inline void add_ply_variants(std::vector<MeshVariant>& list) {
  Mesh mesh = sample_mesh();
  mesh.tetrahedra.resize(4, 0);
  mesh.faces.resize(3, 3);
  mesh.faces << 0, 0, 3, 1, 2, 4, 2, 3, 5;
  mesh.vertices.resize(0);
  const std::string header =
      "comment made by hand\nobj_info nothing\nelement camera 1\nproperty list ushort float matrix\nproperty "
      "char kind\n"
      "element vertex 8\nproperty uchar red\nproperty {0} x\nproperty {0} y\nproperty {0} z\n"
      "element face 2\nproperty uint flags\nproperty list {1} {2} {3}\nproperty double area\n"
      "element edge 1\nproperty int vertex1\nproperty short weight\nproperty int vertex2\nend_header\n";
  list.push_back({"ply text", ".ply",
                  "ply\nformat ascii 1.0\n" +
                      fmt::format(fmt::runtime(header), "double", "uchar", "int", "vertex_indices") +
                      "2 1.5 2.5 7\n" + rows(mesh.points, "255 ") + "0 4 0 1 2 3 0.5\n0 3 3 4 5 0.5\n5 3 6\n",
                  mesh});
  for (const std::endian order : {std::endian::little, std::endian::big})
    for (const bool small : {false, true}) {
      Bytes b(order);
      b.text(
          fmt::format("ply\nformat binary_{}_endian 1.0\n", order == std::endian::little ? "little" : "big"));
      b.text(small ? fmt::format(fmt::runtime(header), "float32", "int8", "uint8", "vertex_index")
                   : fmt::format(fmt::runtime(header), "float64", "uint32", "int32", "vertex_indices"));
      b.put<std::uint16_t>(2).put<float>(1.5, 2.5).put<std::int8_t>(7);
      for (int p = 0; p < 8; ++p) {
        b.put<std::uint8_t>(255);
        small ? b.put_all<float>(mesh.points.col(p).eval()) : b.put_all<double>(mesh.points.col(p).eval());
      }
      const auto face = [&](const Eigen::VectorXi& corners) {
        b.put<std::uint32_t>(0);
        if (small)
          b.put<std::int8_t>(corners.size()).put_all<std::uint8_t>(corners);
        else
          b.put<std::uint32_t>(corners.size()).put_all<std::int32_t>(corners);
        b.put<double>(0.5);
      };
      face(Eigen::Vector4i(0, 1, 2, 3));
      face(Eigen::Vector3i(3, 4, 5));
      b.put<std::int32_t>(5).put<std::int16_t>(3).put<std::int32_t>(6);
      list.push_back(
          {fmt::format("ply binary {} {}", order == std::endian::little ? "little-endian" : "big-endian",
                       small ? "small" : "large"),
           ".ply", b.str(), mesh});
    }
  Mesh points;
  points.points = mesh.points;
  points.vertices = Eigen::VectorXi::LinSpaced(8, 0, 7);
  list.push_back({"ply point set", ".ply",
                  "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty "
                  "float z\nend_header\n" +
                      rows(mesh.points),
                  points});
}

inline void add_stl_and_seg_variants(std::vector<MeshVariant>& list) {
  const Mesh mesh = sample_surface();
  std::string text = "solid some name\n";
  Bytes binary(std::endian::little);
  binary.text("solid looks like text" + std::string(80 - 21, ' ')).put<std::uint32_t>(3);
  for (int f = 0; f < 3; ++f) {
    text += "  facet normal 0 nan 1\n    outer loop\n";
    binary.put<float>(0, 0, 1);
    for (int k = 0; k < 3; ++k) {
      text += rows(mesh.points.col(mesh.faces(k, f)), "      vertex ");
      binary.put_all<float>(mesh.points.col(mesh.faces(k, f)).eval());
    }
    text += "    endloop\n  endfacet\n";
    binary.put<std::uint16_t>(0);
  }
  list.push_back({"stl text", ".stl", text + "endsolid some name\n", mesh});
  list.push_back({"stl binary", ".stl", binary.str(), mesh});

  Mesh segments;
  segments.points = sample_mesh().points;
  segments.edges.resize(2, 2);
  segments.edges << 0, 6, 2, 7;
  list.push_back({"seg", ".seg", "# comment\n" + rows(segments.points, "v ") + "s 1 3\ns 7 8", segments});
}

// ---- Numbers and groups of cells
// ------------------------------------------------------------------------------------------------------------

/// The sample mesh with stiffness 1e5 and 3e6 of its tetrahedra, and what else a file may hold beside.
inline Mesh sample_with_data() {
  Mesh mesh = sample_mesh();
  mesh.cell_data["E"] = Eigen::Vector2d(1e5, 3e6);
  return mesh;
}

inline void add_gmsh_data_variants(std::vector<MeshVariant>& list) {
  // Tetrahedra 70 and 71 in the volume groups "hard part" and 9, the triangle of tetrahedron 71's face (2 3
  // 4) in the surface "skin", the free triangle in no group.
  Mesh mesh = sample_with_data();
  mesh.cell_data["partly"] = Eigen::Vector2d(std::nan(""), -2.5);
  mesh.groups["hard part"] = {{0, 1, 2, 3}, {0}, {}};
  mesh.groups["volume 9"] = {{1, 2, 3, 4}, {1}, {}};
  mesh.groups["skin"] = {{2, 3, 4}, {}, {{2, 3, 4}}};
  const std::string names = "$PhysicalNames\n2\n3 4 \"hard part\"\n2 7 \"skin\"\n$EndPhysicalNames\n";
  // The names of fields are texts of their own; a vector field is passed over.
  const std::string data =
      "$ElementData\n1\n\"E\"\n1\n0\n3\n0\n1\n3\n71 3e6\n72 7\n70 1e5\n$EndElementData\n"
      "$ElementData\n1\n\"v\"\n1\n0\n3\n0\n3\n1\n70 1 2 3\n$EndElementData\n"
      "$ElementData\n2\n\"partly\"\n\"scheme\"\n0\n4\n0\n1\n1\n0\n71 -2.5\n$EndElementData\n";
  std::string points2 = "$Nodes\n8\n";
  for (int p = 0; p < 8; ++p) points2 += fmt::format("{} ", p + 1) + rows(mesh.points.col(p));
  list.push_back({"gmsh 2.2 text with data", ".msh",
                  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + names + points2 +
                      "$EndNodes\n$Elements\n6\n70 4 2 4 1 1 2 3 4\n71 4 2 9 2 2 3 4 5\n72 2 2 7 1 5 3 4\n"
                      "73 2 2 0 1 4 5 6\n74 1 1 0 6 7\n75 15 0 8\n$EndElements\n" +
                      data,
                  mesh});
  list.push_back(
      {"gmsh 4.1 text with data", ".msh",
       "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + names +
           "$Entities\n1 0 2 2\n5 0 0 0 0\n1 0 0 0 1 1 1 1 -7 0\n2 0 0 0 1 1 1 0 2 3 4\n"
           "1 0 0 0 1 1 1 1 4 1 1\n2 0 0 0 1 1 1 1 9 2 1 -2\n$EndEntities\n"
           "$Nodes\n1 8 1 8\n3 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8\n" +
           rows(mesh.points) +
           "$EndNodes\n$Elements\n6 6 70 75\n3 1 4 1\n70 1 2 3 4\n3 2 4 1\n71 2 3 4 5\n"
           "2 1 2 1\n72 3 4 5\n2 2 2 1\n73 4 5 6\n1 8 1 1\n74 6 7\n0 5 15 1\n75 8\n$EndElements\n" +
           data,
       mesh});
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const std::string suffix = order == std::endian::little ? " little-endian" : " big-endian";
    Bytes b(order);
    b.text("$MeshFormat\n4.1 1 8\n").put<int>(1).text("\n$EndMeshFormat\n" + names + "$Entities\n");
    b.put<std::uint64_t>(1, 0, 1, 2).put<int>(5).put<double>(0, 0, 0).put<std::uint64_t>(0);
    b.put<int>(1).put<double>(0, 0, 0, 1, 1, 1).put<std::uint64_t>(1).put<int>(7).put<std::uint64_t>(0);
    b.put<int>(1).put<double>(0, 0, 0, 1, 1, 1).put<std::uint64_t>(1).put<int>(4).put<std::uint64_t>(1);
    b.put<int>(1, 2).put<double>(0, 0, 0, 1, 1, 1).put<std::uint64_t>(1).put<int>(9).put<std::uint64_t>(0);
    b.text("\n$EndEntities\n$Nodes\n").put<std::uint64_t>(1, 8, 1, 8).put<int>(3, 1, 0);
    b.put<std::uint64_t>(8, 1, 2, 3, 4, 5, 6, 7, 8).put_all<double>(mesh.points);
    b.text("\n$EndNodes\n$Elements\n").put<std::uint64_t>(6, 6, 70, 75);
    b.put<int>(3, 1, 4).put<std::uint64_t>(1, 70, 1, 2, 3, 4);
    b.put<int>(3, 2, 4).put<std::uint64_t>(1, 71, 2, 3, 4, 5);
    b.put<int>(2, 1, 2).put<std::uint64_t>(1, 72, 3, 4, 5);
    b.put<int>(2, 2, 2).put<std::uint64_t>(1, 73, 4, 5, 6);
    b.put<int>(1, 8, 1).put<std::uint64_t>(1, 74, 6, 7).put<int>(0, 5, 15).put<std::uint64_t>(1, 75, 8);
    b.text("\n$EndElements\n$ElementData\n1\n\"E\"\n1\n0\n3\n0\n1\n2\n");
    b.put<int>(70).put<double>(1e5).put<int>(71).put<double>(3e6).text("\n$EndElementData\n$ElementData\n");
    b.text("1\n\"partly\"\n0\n3\n0\n1\n1\n").put<int>(71).put<double>(-2.5).text("\n$EndElementData\n");
    list.push_back({"gmsh 4.1 binary with data" + suffix, ".msh", b.str(), mesh});
  }
}

inline void add_vtk_data_variants(std::vector<MeshVariant>& list) {
  Mesh mesh = sample_with_data();
  mesh.cell_data["a b"] = Eigen::Vector2d(1, 2);
  const std::string head = "# vtk DataFile Version 3.0\nA title\n";
  const std::string cells = "CELLS 5 20\n2 5 6\n" + rows(mesh.tetrahedra, "4 ") + rows(mesh.faces, "3 ") +
                            "1 7\nCELL_TYPES 5\n3\n10\n10\n5\n1\n";
  list.push_back(
      {"vtk text with data", ".vtk",
       head + "ASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n" + rows(mesh.points) + cells +
           "POINT_DATA 8\nSCALARS E float\nLOOKUP_TABLE default\n9 9 9 9 9 9 9 9\nCELL_DATA 5\n"
           "VECTORS v double\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\nSCALARS E double 1\nLOOKUP_TABLE default\n"
           "4 1e5 3e6 5 6\nLOOKUP_TABLE table 1\n0 0 0 1\nMETADATA\nINFORMATION 0\n\n"
           "SCALARS pair int 2\nLOOKUP_TABLE default\n1 2 3 4 5 6 7 8 9 10\n"
           "FIELD FieldData 2\na%20b 1 5 int\n0 1 2 3 4\nvec 2 5 float\n0 1 2 3 4 5 6 7 8 9\n",
       mesh});
  Bytes b(std::endian::big);
  b.text(head + "BINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n").put_all<double>(mesh.points);
  b.text("\nCELLS 5 20\n").put<int>(2, 5, 6);
  for (int t = 0; t < 2; ++t) b.put<int>(4).put_all<int>(mesh.tetrahedra.col(t).eval());
  b.put<int>(3).put_all<int>(mesh.faces).put<int>(1, 7).text("\nCELL_TYPES 5\n").put<int>(3, 10, 10, 5, 1);
  b.text("\nCELL_DATA 5\nFIELD FieldData 1\nE 1 5 double\n").put<double>(4, 1e5, 3e6, 5, 6);
  b.text("\nNORMALS n float\n").put_all<float>(Eigen::VectorXf::LinSpaced(15, 0, 14).eval());
  b.text("\nSCALARS a%20b short\nLOOKUP_TABLE default\n").put<short>(0, 1, 2, 3, 4);
  b.text("\nPOINT_DATA 8\n");
  list.push_back({"vtk binary with data", ".vtk", b.str(), mesh});

  const auto piece = [](const std::string& points, const std::string& connectivity,
                        const std::string& offsets, const std::string& types, const std::string& data) {
    const auto count = [](const std::string& text) { return std::count(text.begin(), text.end(), ' '); };
    return fmt::format(
        "<Piece NumberOfPoints='{}' NumberOfCells='{}'>\n<CellData>\n{}</CellData>\n<Points><DataArray "
        "type='Float64' NumberOfComponents='3'>{}</DataArray></Points>\n<Cells><DataArray type='Int32' "
        "Name='connectivity'>{}</DataArray><DataArray type='Int32' Name='offsets'>{}</DataArray><DataArray "
        "type='UInt8' Name='types'>{}</DataArray></Cells>\n</Piece>\n",
        count(points) / 3, count(offsets), data, points, connectivity, offsets, types);
  };
  const std::string begin = "<VTKFile type='UnstructuredGrid'><UnstructuredGrid>\n",
                    end = "</UnstructuredGrid></VTKFile>\n";
  const auto array = [](const std::string& name, const std::string& values, int components = 1) {
    return fmt::format("<DataArray type='Float64' Name='{}' NumberOfComponents='{}'>{}</DataArray>\n", name,
                       components, values);
  };
  list.push_back({"vtu text with data", ".vtu",
                  begin +
                      piece(rows(mesh.points), "5 6 " + rows(mesh.tetrahedra) + rows(mesh.faces) + "7 ",
                            "2 6 10 13 14 ", "3 10 10 5 1 ",
                            array("E", "4 1e5 3e6 5 6") + array("v", "0 1 2 3 4 5 6 7 8 9", 2) +
                                "<Array type='String' Name='s'>abc</Array>\n" + array("a b", "0 1 2 3 4")) +
                      end,
                  mesh});
  // Two pieces, of which only the second knows the numbers.
  Mesh two;
  two.points.resize(3, 8);
  two.points << mesh.points.leftCols(4), mesh.points.leftCols(4);
  two.tetrahedra.resize(4, 2);
  two.tetrahedra << 0, 4, 1, 5, 2, 6, 3, 7;
  two.cell_data["E"] = Eigen::Vector2d(std::nan(""), 3e6);
  two.cell_data["first"] = Eigen::Vector2d(1, std::nan(""));
  const std::string corners = rows(two.points.leftCols(4));
  list.push_back({"vtu pieces with data", ".vtu",
                  begin + piece(corners, "0 1 2 3 ", "4 ", "10 ", array("first", "1")) +
                      piece(corners, "0 1 2 3 ", "4 ", "10 ", array("E", "3e6")) + end,
                  two});
}

inline std::vector<MeshVariant> mesh_variants() {
  std::vector<MeshVariant> list;
  add_gmsh_variants(list);
  add_legacy_vtk_variants(list);
  add_vtu_variants(list);
  add_obj_variants(list);
  add_ply_variants(list);
  add_stl_and_seg_variants(list);
  add_gmsh_data_variants(list);
  add_vtk_data_variants(list);
  return list;
}

}  // namespace apart::test
