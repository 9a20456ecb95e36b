#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/core/error.hpp>
#include <apart/io/mesh_builder.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace apart {

void MeshBuilder::add_polygon(std::span<const int> corners) {
  for (std::size_t i = 2; i < corners.size(); ++i)
    faces.insert(faces.end(), {corners[0], corners[i - 1], corners[i]});
}

void MeshBuilder::add_polyline(std::span<const int> points) {
  for (std::size_t i = 1; i < points.size(); ++i) edges.insert(edges.end(), {points[i - 1], points[i]});
}

void MeshBuilder::add_all_vertices() {
  vertices.resize(point_count());
  std::iota(vertices.begin(), vertices.end(), 0);
}

Index MeshBuilder::tetrahedron_count() const {
  std::size_t count = tetrahedra.size() / 4;
  for (const auto& [degree, points] : curved)
    count += points.size() / std::size_t(tetrahedron_lattice_size(degree));
  return Index(count);
}

Mesh MeshBuilder::build() const {
  Mesh mesh;
  mesh.points = Matrix3X::Map(coordinates.data(), 3, Eigen::Index(point_count()));
  mesh.tetrahedra = Tetrahedra::Map(tetrahedra.data(), 4, Eigen::Index(tetrahedra.size() / 4));
  mesh.faces = Faces::Map(faces.data(), 3, Eigen::Index(faces.size() / 3));
  mesh.edges = Edges::Map(edges.data(), 2, Eigen::Index(edges.size() / 2));
  mesh.vertices = Eigen::VectorXi::Map(vertices.data(), Eigen::Index(vertices.size()));
  for (const auto& [degree, points] : curved) {
    const Index n = tetrahedron_lattice_size(degree);
    mesh.curved.push_back({degree, Eigen::MatrixXi::Map(points.data(), n, Eigen::Index(points.size()) / n)});
  }
  for (const auto& [name, values] : cell_data) {
    VectorX& all = mesh.cell_data[name];
    all = VectorX::Constant(mesh.cell_count(), std::numeric_limits<double>::quiet_NaN());
    all.head(values.size()) = values;
  }
  mesh.groups = groups;
  const auto order = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  for (auto& [name, group] : mesh.groups) {
    order(group.points);
    order(group.tetrahedra);
    for (auto& corners : group.triangles) std::sort(corners.begin(), corners.end());
    order(group.triangles);
  }
  return mesh;
}

void CellNumbers::added(const MeshBuilder& builder) {
  const Index before = tetrahedra_, now = builder.tetrahedron_count();
  tetrahedron_.push_back(now > before ? before : -1);
  tetrahedra_ = now;
}

void CellNumbers::keep(MeshBuilder& builder, const std::string& name, std::span<const double> values) const {
  if (tetrahedra_ == 0) return;
  VectorX& kept = builder.cell_data[name];
  const Index known = Index(kept.size());
  kept.conservativeResize(builder.tetrahedron_count());
  kept.tail(kept.size() - known).setConstant(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t c = 0; c < values.size(); ++c)
    if (tetrahedron_[c] >= 0) kept[tetrahedron_[c]] = values[c];
}

namespace {

std::string add_lagrange_cell(MeshBuilder& builder, std::span<const int> points) {
  for (int degree = 1; degree <= largest_degree; ++degree) {
    if (Index(points.size()) != tetrahedron_lattice_size(degree)) continue;
    std::vector<int>& all = builder.curved[degree];
    const std::size_t first = all.size();
    all.resize(first + points.size());
    const std::vector<Index> order = vtk_node_order(degree);
    for (std::size_t i = 0; i < points.size(); ++i) all[first + std::size_t(order[i])] = points[i];
    return {};
  }
  return fmt::format(
      "cell of type {} has {} points, must have 4, 10, 20 or 35: tetrahedra of degree 1 to {} are supported",
      vtk_lagrange_tetrahedron, points.size(), largest_degree);
}

}  // namespace

std::string add_vtk_cell(MeshBuilder& builder, int type, std::span<const int> points) {
  const std::size_t n = points.size();
  const auto wants = [&](bool condition, const char* rule) {
    return condition ? std::string()
                     : fmt::format("cell of type {} has {} points, must have {}", type, n, rule);
  };
  switch (type) {
    case 0:  // empty cell
      return {};
    case vtk_vertex:
    case 2:  // poly-vertex
      builder.vertices.insert(builder.vertices.end(), points.begin(), points.end());
      return wants(type == 2 || n == 1, "1");
    case vtk_line:
    case 4:  // poly-line
      builder.add_polyline(points);
      return wants(type == 4 ? n >= 2 : n == 2, type == 4 ? "at least 2" : "2");
    case vtk_triangle:
    case 7:  // polygon
    case 9:  // quadrilateral
      builder.add_polygon(points);
      return type == 7 ? wants(n >= 3, "at least 3")
                       : wants(n == (type == 9 ? 4u : 3u), type == 9 ? "4" : "3");
    case 6:  // triangle strip: every other triangle is turned around
      for (std::size_t i = 2; i < n; ++i)
        builder.add_polygon(
            std::initializer_list<int>{points[i - 2 + i % 2], points[i - 1 - i % 2], points[i]});
      return wants(n >= 3, "at least 3");
    case 8:  // pixel: a quadrilateral numbered row by row
      if (n == 4) builder.add_polygon(std::initializer_list<int>{points[0], points[1], points[3], points[2]});
      return wants(n == 4, "4");
    case vtk_tetrahedron:
      builder.tetrahedra.insert(builder.tetrahedra.end(), points.begin(), points.end());
      return wants(n == 4, "4");
    case vtk_lagrange_tetrahedron:
      return add_lagrange_cell(builder, points);
    default:
      return fmt::format(
          "cells of type {} are not supported; export the mesh with linear tetrahedra (type 10), triangles "
          "(5), lines "
          "(3) or vertices (1)",
          type);
  }
}

}  // namespace apart
