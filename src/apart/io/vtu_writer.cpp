#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/vtu.hpp>

#include <zlib.h>

#include <bit>
#include <ostream>

namespace apart {

namespace {

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <class T>
VtuOutput output_of(std::string name, std::string_view type, std::span<const T> values,
                    std::int64_t components) {
  return {std::move(name), type, components, std::int64_t(values.size()) / components, bytes_of(values)};
}

}  // namespace

VtuOutput vtu_output(std::string name, std::span<const double> values, std::int64_t components) {
  return output_of(std::move(name), "Float64", values, components);
}

VtuOutput vtu_output(std::string name, std::span<const int> values, std::int64_t components) {
  return output_of(std::move(name), "Int32", values, components);
}

VtuOutput vtu_output_strings(std::string name, std::string_view zero_terminated, std::int64_t count) {
  return {std::move(name), "String", 1, count, zero_terminated};
}

void write_vtu(std::ostream& out, const Mesh& mesh, const VtuOutputs& arrays) {
  std::vector<int> connectivity;
  std::vector<std::int64_t> offsets;
  std::vector<std::uint8_t> types;
  const auto add_cells = [&](const auto& cells, int type) {
    for (Eigen::Index c = 0; c < cells.cols(); ++c) {
      for (Eigen::Index k = 0; k < cells.rows(); ++k) connectivity.push_back(cells(k, c));
      offsets.push_back(std::int64_t(connectivity.size()));
      types.push_back(std::uint8_t(type));
    }
  };
  add_cells(mesh.tetrahedra, vtk_tetrahedron);
  add_cells(mesh.faces, vtk_triangle);
  add_cells(mesh.edges, vtk_line);
  add_cells(mesh.vertices.transpose(), vtk_vertex);
  for (const CurvedCells& cells : mesh.curved)
    add_cells(cells.points(vtk_node_order(cells.degree), Eigen::all), vtk_lagrange_tetrahedron);

  const std::span<const double> coordinates(mesh.points.data(), std::size_t(mesh.points.size()));
  const std::vector<VtuOutput> points = {vtu_output("Points", coordinates, 3)};
  const std::vector<VtuOutput> cells = {vtu_output("connectivity", connectivity),
                                        output_of<std::int64_t>("offsets", "Int64", offsets, 1),
                                        output_of<std::uint8_t>("types", "UInt8", types, 1)};
  const std::vector<VtuOutput>* const sections[] = {&arrays.field, &arrays.point, &arrays.cell, &points,
                                                    &cells};

  // Each array: its size as UInt64, then its bytes.
  std::uint64_t total = 0;
  uLong crc = 0;
  for (const auto* section : sections)
    for (const VtuOutput& array : *section) {
      const std::uint64_t size = array.bytes.size();
      crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(&size), sizeof size);
      // zlib takes a null pointer as a request for the start value
      if (size > 0) crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(array.bytes.data()), size);
      total += sizeof size + size;
    }

  std::uint64_t offset = 0;
  const auto write_section = [&](std::string_view name, const std::vector<VtuOutput>& section,
                                 const std::string& inside) {
    out << fmt::format("    <{}>\n{}", name, inside);
    for (const VtuOutput& array : section) {
      const bool strings = array.type == "String";
      out << fmt::format(
          "      <{} type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" NumberOfTuples=\"{}\" "
          "format=\"appended\" "
          "offset=\"{}\"/>\n",
          strings ? "Array" : "DataArray", array.type, array.name, array.components, array.tuples, offset);
      offset += sizeof(std::uint64_t) + array.bytes.size();
    }
    out << fmt::format("    </{}>\n", name);
  };
  out << "<?xml version=\"1.0\"?>\n"
      << fmt::format(
             "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n",
             std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian")
      << "  <UnstructuredGrid>\n";
  write_section(
      "FieldData", arrays.field,
      fmt::format("      <DataArray type=\"Int64\" Name=\"{}\" NumberOfTuples=\"2\" format=\"ascii\">{} {}"
                  "</DataArray>\n",
                  vtu_checksum_name, total, crc));
  out << fmt::format("    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", mesh.points.cols(),
                     types.size());
  write_section("PointData", arrays.point, "");
  write_section("CellData", arrays.cell, "");
  write_section("Points", points, "");
  write_section("Cells", cells, "");
  out << "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_";
  for (const auto* section : sections)
    for (const VtuOutput& array : *section) {
      const std::uint64_t size = array.bytes.size();
      out.write(reinterpret_cast<const char*>(&size), sizeof size);
      out.write(array.bytes.data(), std::streamsize(size));
    }
  out << "\n  </AppendedData>\n</VTKFile>\n";
}

void write_vtu_file(const std::filesystem::path& file, const Mesh& mesh) {
  write_atomically(file, [&](std::ostream& out) { write_vtu(out, mesh, {}); });
}

}  // namespace apart
