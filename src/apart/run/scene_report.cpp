#include <apart/collision/broad_phase.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/squared_distance.hpp>
#include <apart/run/scene_report.hpp>
#include <apart/simulation/simulation.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

namespace apart {

namespace {

double shape_of_tetrahedron(const std::array<Vector3, 4>& x) {
  const Vector3 a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0];
  const double volume6 = std::abs(a.dot(b.cross(c)));
  const double area2 =
      a.cross(b).norm() + b.cross(c).norm() + c.cross(a).norm() + (b - a).cross(c - a).norm();
  const Vector3 centre =
      a.squaredNorm() * b.cross(c) + b.squaredNorm() * c.cross(a) + c.squaredNorm() * a.cross(b);
  const double inner = volume6 / area2, outer = centre.norm() / (2 * volume6);
  return volume6 > 0 ? 3 * inner / outer : 0;
}

double shape_of_triangle(const std::array<Vector3, 3>& x) {
  const double a = (x[1] - x[2]).norm(), b = (x[2] - x[0]).norm(), c = (x[0] - x[1]).norm();
  const double area = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).norm();
  const double inner = 2 * area / (a + b + c), outer = a * b * c / (4 * area);
  return area > 0 ? 2 * inner / outer : 0;
}

template <int corners, class Cells, class Shape>
void add_shapes(const Mesh& mesh, const Cells& cells, const Shape& shape, std::vector<double>& shapes) {
  for (Index c = 0; c < cells.cols(); ++c) {
    std::array<Vector3, corners> x;
    for (int k = 0; k < corners; ++k) x[std::size_t(k)] = mesh.points.col(cells(k, c));
    shapes.push_back(shape(x));
  }
}

void add_edges(const Mesh& mesh, const std::vector<std::pair<int, int>>& of_cell, const auto& cells,
               std::vector<double>& lengths) {
  for (Index c = 0; c < cells.cols(); ++c)
    for (const auto& [a, b] : of_cell)
      lengths.push_back((mesh.points.col(cells(a, c)) - mesh.points.col(cells(b, c))).norm());
}

BodyReport report_body(const Body& body) {
  const Mesh& mesh = body.mesh;
  BodyReport r;
  r.name = body.name;
  r.kind = name_of(body.kind);
  r.points = mesh.point_count();
  r.tetrahedra = Index(mesh.tetrahedra.cols()) + mesh.curved_count();
  r.triangles = Index(body.planar ? body.planar->nodes.cols() : body.surface_faces.cols());
  r.segments = Index(mesh.edges.cols());
  if (r.points > 0) r.extent = bounding_box(mesh.points).upper - bounding_box(mesh.points).lower;
  if (body.is_dynamic()) r.mass = total_mass(body);
  if (body.elastic) r.volume = body.elastic->volume.sum();
  if (body.planar) r.volume = body.planar->volume.sum();
  if (body.shell) r.volume = body.shell->volume.sum();
  if (body.rods) r.volume = std::numbers::pi * body.radius * body.radius * body.rods->rest_length.sum();
  if (body.kind == BodyKind::particles)
    r.volume = 4 * std::numbers::pi / 3 * std::pow(body.radius, 3) * double(r.points);
  std::vector<double> lengths, shapes;
  add_edges(mesh, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, mesh.tetrahedra, lengths);
  add_edges(mesh, {{0, 1}, {1, 2}, {2, 0}}, mesh.faces, lengths);
  add_edges(mesh, {{0, 1}}, mesh.edges, lengths);
  if (!lengths.empty()) {
    double sum = 0;
    for (const double l : lengths) sum += l;
    const auto [low, high] = std::minmax_element(lengths.begin(), lengths.end());
    r.edges = {*low, sum / double(lengths.size()), *high};
  }
  add_shapes<4>(mesh, mesh.tetrahedra, shape_of_tetrahedron, shapes);
  if (shapes.empty()) add_shapes<3>(mesh, mesh.faces, shape_of_triangle, shapes);
  if (!shapes.empty()) {
    double sum = 0;
    for (const double s : shapes) sum += s;
    r.quality = {*std::min_element(shapes.begin(), shapes.end()), sum / double(shapes.size())};
  }
  return r;
}

/// None if more than `most_pairs` are within reach.
std::optional<GapHistogram> gaps_within(const Model& model, double reach, std::int64_t most_pairs) {
  const CollisionSurface& surface = model.surface;
  GapHistogram result;
  result.reach = reach;
  if (!(reach > 0)) return result;
  constexpr int decades = 5;
  for (int k = decades; k > 0; --k)
    result.bins.push_back({k == decades ? 0 : reach * std::pow(10, -k), reach * std::pow(10, 1 - k)});
  double smallest = std::numeric_limits<double>::infinity();
  const auto count = [&](double gap) {
    smallest = std::min(smallest, gap);
    for (GapHistogram::Bin& bin : result.bins)
      if (gap < bin.upper) {
        ++bin.pairs;
        break;
      }
  };
  const Matrix3X& x = surface.rest;
  const auto search = make_broad_phase(model.options.solver.broad_phase, surface);
  std::int64_t left = most_pairs;
  const bool all = search->for_each_block(1 << 20, x, x, reach, [&](std::span<const Stencil> block) {
    if ((left -= std::int64_t(block.size())) < 0) return false;
    for (const Stencil& s : block) {
      const PairSettings& settings = surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
      // Neighbours on one body are near each other because its mesh is fine, not because it touches itself.
      if (surface.vertex_body[s.vertices[0]] == surface.vertex_body[s.vertices[first_count(s.kind)]])
        continue;
      count(std::sqrt(squared_distance(s.kind, s.gather(x))) - settings.thickness);
    }
    return true;
  });
  if (!all || left < 0) return std::nullopt;
  for (const HalfSpace& plane : surface.half_spaces)
    for (Index v = 0; v < x.cols(); ++v) {
      const PairSettings& settings = surface.pairs(surface.vertex_body[v], plane.body);
      if (settings.enabled && v != plane.carrier)
        if (const double gap = plane.distance(x, v) - settings.thickness; gap < reach) count(gap);
    }
  if (std::isfinite(smallest)) result.smallest = smallest;
  return result;
}

}  // namespace

std::vector<BodyReport> report_bodies(const Model& model) {
  std::vector<BodyReport> result;
  for (const Body& body : model.bodies) result.push_back(report_body(body));
  return result;
}

GapHistogram gap_histogram(const Model& model, std::int64_t most_pairs) {
  double reach = 10 * model.surface.pairs.max_reach();
  // Where everything is close to everything else, the closest pairs are enough.
  for (int tries = 0; tries < 6; ++tries, reach *= 0.1)
    if (const auto result = gaps_within(model, reach, most_pairs)) return *result;
  GapHistogram result;
  result.too_many = true;
  return result;
}

StepCost measure_step(const Scene& scene) {
  const auto begin = std::chrono::steady_clock::now();
  StepCost cost;
  cost.unknowns = Simulation(scene.model).prepare_first_iteration();
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  cost.bytes = process_peak_bytes();
  return cost;
}

}  // namespace apart
