#include <apart/collision/broad_phase.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/squared_distance.hpp>
#include <apart/scene/scene_report.hpp>
#include <apart/scene/start_check.hpp>
#include <apart/simulation/simulation.hpp>
#include <apart/solver/barrier_stiffness.hpp>

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
  r.tetrahedra = Index(mesh.tetrahedra.cols());
  r.triangles = Index(body.surface_faces.cols());
  r.segments = Index(mesh.edges.cols());
  if (r.points > 0) r.extent = bounding_box(mesh.points).upper - bounding_box(mesh.points).lower;
  if (body.is_dynamic()) r.mass = total_mass(body);
  if (body.elastic) r.volume = body.elastic->volume.sum();
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

constexpr double stiffest = 1.3e12;  // [Pa] diamond has 1.2e12

double mean_node_mass(const Model& model) {
  const VectorX mass = model.mass.diagonal();
  const auto nodes = (mass.array() > 0).count();
  return nodes > 0 ? mass.sum() / double(nodes) : 1;
}

/// Young's modulus and Poisson's ratio of an isotropic solid.
std::pair<double, double> young_and_poisson(const Lame& lame) {
  const double sum = lame.lambda + lame.mu;
  return {lame.mu * (3 * lame.lambda + 2 * lame.mu) / sum, 0.5 * lame.lambda / sum};
}

/// Of a material that has them.
std::optional<std::pair<double, double>> young_and_poisson(const Material& material) {
  return std::visit(
      [](const auto& m) -> std::optional<std::pair<double, double>> {
        if constexpr (requires { m.lame; }) return young_and_poisson(m.lame);
        return std::nullopt;
      },
      material);
}

}  // namespace

std::vector<BodyReport> report_bodies(const Model& model) {
  std::vector<BodyReport> result;
  for (const Body& body : model.bodies) result.push_back(report_body(body));
  return result;
}

GapHistogram gap_histogram(const Model& model) {
  const CollisionSurface& surface = model.surface;
  const double reach = 10 * surface.pairs.max_reach();
  GapHistogram result;
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
  search->for_each_block(1 << 20, x, x, reach, [&](std::span<const Stencil> block) {
    for (const Stencil& s : block) {
      const PairSettings& settings = surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
      // Neighbours on one body are near each other because its mesh is fine, not because it touches itself.
      if (surface.vertex_body[s.vertices[0]] == surface.vertex_body[s.vertices[first_count(s.kind)]])
        continue;
      count(std::sqrt(squared_distance(s.kind, s.gather(x))) - settings.thickness);
    }
    return true;
  });
  for (const HalfSpace& plane : surface.half_spaces)
    for (Index v = 0; v < x.cols(); ++v) {
      const PairSettings& settings = surface.pairs(surface.vertex_body[v], plane.body);
      if (settings.enabled && v != plane.carrier)
        if (const double gap = plane.distance(x, v) - settings.thickness; gap < reach) count(gap);
    }
  if (std::isfinite(smallest)) result.smallest = smallest;
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

std::vector<std::string> warnings(const Scene& scene, const std::vector<BodyReport>& bodies) {
  const Model& model = *scene.model;
  const PairTable& pairs = model.surface.pairs;
  std::vector<std::string> result;
  const auto warn = [&]<class... Args>(fmt::format_string<Args...> text, Args&&... args) {
    result.push_back(fmt::format(text, std::forward<Args>(args)...));
  };
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const BodyReport& r = bodies[b];
    const Body& body = model.bodies[b];
    const double extent = r.extent.maxCoeff();
    if (r.points == 0) continue;
    if (extent > 100)
      warn(
          "'{}' is {:.4g} m across; lengths are in metres: if its mesh is in millimetres, use \"transform\": "
          "{{\"scale\": 0.001}}, in centimetres 0.01",
          r.name, extent);
    else if (r.points > 1 && extent < 1e-3)
      warn("'{}' is only {:.3g} m across; lengths are in metres: give its transform a scale if that is wrong",
           r.name, extent);
    if (r.mass && r.volume) {
      const double density = *r.mass / *r.volume;
      if (density > 23000 || density < 1)
        warn("'{}' has a mean density of {:.3g} kg/m3, {}; densities are in kg/m3", r.name, density,
             density > 1 ? "more than any stuff there is" : "less than air");
    }
    if (body.elastic && body.kind == BodyKind::volume)
      for (const Material& material : body.elastic->materials)
        if (const auto stiffness = young_and_poisson(material)) {
          const auto [young, poisson] = *stiffness;
          if (young > stiffest)
            warn("'{}' has E = {:.3g} Pa, stiffer than diamond; moduli are in Pa, so 1 GPa is 1e9", r.name,
                 young);
          else if (young > 1e10)
            warn(
                "'{}' has E = {:.3g} Pa and hardly deforms: as an affine body (\"type\": \"affine\") it "
                "costs far less",
                r.name, young);
          if (poisson > 0.495)
            warn(
                "'{}' has nu = {:.6g}: linear tetrahedra lock when nearly incompressible, and steps take "
                "more "
                "iterations; 0.49 is hardly different",
                r.name, poisson);
        }
    if (r.quality && (*r.quality)[0] < 0.01)
      warn(
          "'{}' has cells that are nearly flat (quality {:.2g}; regular ones have 1): they cost iterations "
          "and "
          "limit the step; mesh it better",
          r.name, (*r.quality)[0]);
    const PairSettings& self = pairs(int(b), int(b));
    if (self.enabled && r.edges[1] > 0 && body.is_dynamic() && self.dhat > 0.5 * r.edges[1])
      warn(
          "contact of '{}' begins at {:.3g} m, its edges are {:.3g} m long: with dhat larger than the mesh, "
          "more "
          "pairs touch than matter; lower contact.dhat or use a coarser mesh",
          r.name, self.dhat, r.edges[1]);
    if (body.velocity.cols() > 0 && self.dhat > 0) {
      const double way = body.velocity.colwise().norm().maxCoeff() * model.options.dt;
      if (way > std::max(extent, r.edges[2]))
        warn(
            "'{}' flies {:.3g} m in a step, more than its own size: collisions will need many iterations; "
            "use a "
            "smaller time.dt",
            r.name, way);
    }
  }
  const SimulationOptions& o = model.options;
  const double fall = 0.5 * o.gravity.norm() * o.dt * o.dt;
  if (fall > model.size)
    warn(
        "time.dt is {:.3g} s, in which a body falls {:.3g} m, farther than the scene is wide ({:.3g} m): "
        "what "
        "happens within a step is lost, and steps take many iterations; use a smaller one",
        o.dt, fall, model.size);
  if (o.contact.barrier_stiffness && std::isfinite(pairs.min_dhat())) {
    const double usual = stiffness_range(mean_node_mass(model), model.size, pairs.min_dhat()).high;
    if (*o.contact.barrier_stiffness > 1e3 * usual)
      warn(
          "contact.barrier_stiffness is {:.3g}, a thousand times what steps begin with at most ({:.3g}): "
          "contacts are hard, and steps take many iterations; leave it out to have it chosen",
          *o.contact.barrier_stiffness, usual);
  }
  if (std::isfinite(pairs.min_dhat()) && o.solver.tolerance * o.dt > 0.05 * pairs.min_dhat())
    warn(
        "solver.tolerance is {:.3g} m/s, {:.3g} m in a step, which is not small against dhat ({:.3g} m): "
        "positions will be good, contact forces (probes, contact_force) will not; lower it if you need them",
        o.solver.tolerance, o.solver.tolerance * o.dt, pairs.min_dhat());
  if (pairs.max_reach() > 0 && pairs.min_dhat() < 1e-7 * model.size)
    warn(
        "contact.dhat is {:.3g} m, a ten-millionth of the scene ({:.3g} m): forces change within less than "
        "rounding allows; raise it",
        pairs.min_dhat(), model.size);
  if (o.contact.friction_iterations == 0)
    warn(
        "contact.friction_iterations is 0: every step is solved again until friction has settled, which may "
        "take "
        "many solves; a number such as 1 is faster");
  if (o.solver.tolerance < 1e-8 * model.size / o.dt)
    warn(
        "solver.tolerance is {:.3g} m/s, near what rounding allows for a scene of {:.3g} m: steps may not "
        "reach "
        "it; raise it",
        o.solver.tolerance, model.size);
  if (o.solver.ccd == CcdMethod::tight_inclusion)
    warn("solver.ccd is tight_inclusion, which is several times slower than additive, and no safer");
  for (std::string& warning : nested_later(scene)) result.push_back(std::move(warning));
  return result;
}

}  // namespace apart
