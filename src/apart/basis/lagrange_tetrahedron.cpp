#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/core/error.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace apart {

namespace {

using Edge = std::array<int, 2>;
using Face = std::array<int, 3>;
constexpr Edge triangle_edges[] = {{0, 1}, {1, 2}, {2, 0}};

/// The order in which a format lists the edges and faces of a tetrahedron.
struct TetrahedronOrder {
  std::array<Edge, 6> edges;
  std::array<Face, 4> faces;
};
constexpr TetrahedronOrder gmsh_order = {{{{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}}},
                                         {{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}}}};
constexpr TetrahedronOrder vtk_order = {{{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
                                        {{{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}}}};

template <std::size_t n>
void append_corners(int degree, std::vector<std::array<int, n>>& points) {
  for (std::size_t c = 0; c < n; ++c) {
    std::array<int, n> point{};
    point[c] = degree;
    points.push_back(point);
  }
}

template <std::size_t n>
void append_edge(int degree, const Edge& edge, std::vector<std::array<int, n>>& points) {
  for (int i = 1; i < degree; ++i) {
    std::array<int, n> point{};
    point[std::size_t(edge[0])] = degree - i;
    point[std::size_t(edge[1])] = i;
    points.push_back(point);
  }
}

/// Corners, edges, and the interior as a triangle of degree − 3.
std::vector<std::array<int, 3>> triangle_lattice(int degree) {
  if (degree < 0) return {};
  if (degree == 0) return {{0, 0, 0}};
  std::vector<std::array<int, 3>> points;
  append_corners(degree, points);
  for (const Edge& edge : triangle_edges) append_edge(degree, edge, points);
  for (const auto& inner : triangle_lattice(degree - 3))
    points.push_back({inner[0] + 1, inner[1] + 1, inner[2] + 1});
  return points;
}

std::vector<LatticePoint> lattice_in(const TetrahedronOrder& order, int degree) {
  if (degree < 0) return {};
  if (degree == 0) return {{0, 0, 0, 0}};
  std::vector<LatticePoint> points;
  append_corners(degree, points);
  for (const Edge& edge : order.edges) append_edge(degree, edge, points);
  for (const Face& face : order.faces)
    for (const auto& inner : triangle_lattice(degree - 3)) {
      LatticePoint point{};
      for (std::size_t k = 0; k < 3; ++k) point[std::size_t(face[k])] = inner[k] + 1;
      points.push_back(point);
    }
  for (const LatticePoint& inner : lattice_in(order, degree - 4))
    points.push_back({inner[0] + 1, inner[1] + 1, inner[2] + 1, inner[3] + 1});
  return points;
}

/// Π_{m < count} (s − m) / (m + 1) and its derivative in s.
struct Factor {
  double value = 1, slope = 0;
};
Factor factor(int count, double s) {
  Factor f;
  for (int m = 0; m < count; ++m) {
    f.slope = (f.slope * (s - m) + f.value) / (m + 1);
    f.value *= (s - m) / (m + 1);
  }
  return f;
}

std::array<Factor, 4> factors(const LatticePoint& point, int degree, const Vector3& xi) {
  const double lambda[4] = {1 - xi.sum(), xi[0], xi[1], xi[2]};
  std::array<Factor, 4> result;
  for (std::size_t j = 0; j < 4; ++j) result[j] = factor(point[j], degree * lambda[j]);
  return result;
}

}  // namespace

std::vector<LatticePoint> tetrahedron_lattice(int degree) {
  return lattice_in(gmsh_order, degree);
}

std::vector<Index> vtk_node_order(int degree) {
  const std::vector<LatticePoint> ours = tetrahedron_lattice(degree);
  std::vector<Index> order;
  for (const LatticePoint& point : lattice_in(vtk_order, degree))
    order.push_back(Index(std::find(ours.begin(), ours.end(), point) - ours.begin()));
  return order;
}

LagrangeTetrahedron::LagrangeTetrahedron(int degree)
    : degree_(degree), lattice_(tetrahedron_lattice(degree)) {
  if (degree < 1 || degree > largest_degree)
    throw InvariantError(
        fmt::format("LagrangeTetrahedron: degree {}, must lie in 1 … {}", degree, largest_degree));
}

Matrix3X LagrangeTetrahedron::nodes() const {
  Matrix3X xi(3, node_count());
  for (Index i = 0; i < node_count(); ++i)
    for (int k = 0; k < 3; ++k) xi(k, i) = double(lattice_[std::size_t(i)][std::size_t(k) + 1]) / degree_;
  return xi;
}

VectorX LagrangeTetrahedron::values(const Vector3& xi) const {
  VectorX phi(node_count());
  for (Index i = 0; i < node_count(); ++i) {
    const auto f = factors(lattice_[std::size_t(i)], degree_, xi);
    phi[i] = f[0].value * f[1].value * f[2].value * f[3].value;
  }
  return phi;
}

Matrix3X LagrangeTetrahedron::gradients(const Vector3& xi) const {
  Matrix3X result(3, node_count());
  for (Index i = 0; i < node_count(); ++i) {
    const auto f = factors(lattice_[std::size_t(i)], degree_, xi);
    const auto slope = [&](std::size_t j) {  // ∂φ/∂λ_j
      double product = degree_ * f[j].slope;
      for (std::size_t k = 0; k < 4; ++k)
        if (k != j) product *= f[k].value;
      return product;
    };
    for (int k = 0; k < 3; ++k) result(k, i) = slope(std::size_t(k) + 1) - slope(0);
  }
  return result;
}

}  // namespace apart
