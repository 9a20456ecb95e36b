#include <apart/bodies/body.hpp>
#include <apart/bodies/body_maker.hpp>
#include <apart/bodies/control_tetrahedron.hpp>
#include <apart/bodies/lagrange_volume.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <numeric>
#include <set>

namespace apart {

namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

Matrix3 edge_matrix(const Matrix3X& x, const Eigen::Vector4i& tet) {
  Matrix3 d;
  for (int k = 0; k < 3; ++k) d.col(k) = x.col(tet[k + 1]) - x.col(tet[0]);
  return d;
}

ElasticCells make_cells(const Matrix3X& nodes, Tetrahedra tets, std::vector<Material> materials,
                        std::vector<Index> material_of) {
  ElasticCells cells{std::move(tets), {}, {}, std::move(materials), std::move(material_of), {}, {}, {}};
  cells.volume.resize(cells.nodes.cols());
  cells.inverse_rest.resize(cells.nodes.cols());
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    const Matrix3 d = edge_matrix(nodes, cells.nodes.col(t));
    cells.volume[t] = d.determinant() / 6;
    cells.inverse_rest[t] = d.inverse();
  }
  return cells;
}

std::vector<double> densities(const CellSubstances& substances) {
  std::vector<double> result;
  for (const Substance& s : substances.substances) result.push_back(s.density);
  return result;
}

}  // namespace

Body body_of_nodes(std::string name, BodyKind kind, Mesh mesh) {
  Body body;
  body.name = std::move(name);
  body.kind = kind;
  body.mesh = std::move(mesh);
  body.nodes = body.mesh.points;
  body.velocity = Matrix3X::Zero(3, body.nodes.cols());
  body.point_map = LinearMap::identity(body.node_count());
  return body;
}

void check_only(CellKind kind, const std::string& name, const Mesh& mesh) {
  if ((kind != CellKind::tetrahedra && mesh.tetrahedra.cols() > 0) ||
      (kind != CellKind::faces && mesh.faces.cols() > 0) ||
      (kind != CellKind::edges && mesh.edges.cols() > 0) || mesh.vertices.size() > 0)
    throw InputError("body '{}': its mesh has cells of another kind", name);
}

void set_surface(Body& body) {
  const Mesh& mesh = body.mesh;
  body.surface_faces = mesh.tetrahedra.cols() > 0 ? boundary_faces(mesh.tetrahedra) : mesh.faces;
  // Edges of triangles are found from the triangles; only the others count as free segments.
  const Edges of_faces = edges_of(body.surface_faces);
  std::set<std::pair<int, int>> known;
  for (Index e = 0; e < of_faces.cols(); ++e) known.emplace(of_faces(0, e), of_faces(1, e));
  std::vector<Eigen::Vector2i> segments;
  for (Index e = 0; e < mesh.edges.cols(); ++e) {
    const int a = std::min(mesh.edges(0, e), mesh.edges(1, e)),
              b = std::max(mesh.edges(0, e), mesh.edges(1, e));
    if (known.emplace(a, b).second) segments.emplace_back(a, b);
  }
  body.free_segments.resize(2, Index(segments.size()));
  for (std::size_t e = 0; e < segments.size(); ++e) body.free_segments.col(Index(e)) = segments[e];

  std::set<Index> points;
  for (Index k = 0; k < body.surface_faces.size(); ++k) points.insert(body.surface_faces(k));
  for (Index k = 0; k < body.free_segments.size(); ++k) points.insert(body.free_segments(k));
  for (Index k = 0; k < mesh.vertices.size(); ++k) points.insert(mesh.vertices(k));
  body.surface_points.assign(points.begin(), points.end());
}

Motion rigid_motion(std::function<Pose(double time)> pose) {
  return [pose = std::move(pose)](const Matrix3X& start, double time) -> Matrix3X {
    const Pose p = pose(time);
    return (p.rotation * (start.colwise() - p.centre)).colwise() + Vector3(p.centre + p.translation);
  };
}

bool TimeRange::covers(double time) const {
  const double slack = 1e-9 * time;  // times of steps are sums and products of decimal fractions
  return time > from + slack && time <= until + slack;
}

std::string_view name_of(BodyKind kind) {
  switch (kind) {
    case BodyKind::volume:
      return "volume";
    case BodyKind::planar:
      return "planar";
    case BodyKind::shell:
      return "shell";
    case BodyKind::affine:
      return "affine";
    case BodyKind::rigid:
      return "rigid";
    case BodyKind::rod:
      return "rod";
    case BodyKind::particles:
      return "particles";
    case BodyKind::obstacle:
      return "obstacle";
    case BodyKind::half_space:
      break;
  }
  return "half_space";
}

std::vector<Index> ElasticCells::invertible_cells() const {
  std::vector<Index> result;
  for (Index t = 0; t < nodes.cols(); ++t)
    if (!prevents_inversion(materials[material_of[t]])) result.push_back(t);
  return result;
}

Body make_volume(std::string name, Mesh mesh, const Material& material, double density, MassKind mass) {
  const Index cells = Index(mesh.tetrahedra.cols());
  return make_volume(std::move(name), std::move(mesh), {{{material, density}}, std::vector<Index>(cells, 0)},
                     mass);
}

Body make_volume(std::string name, Mesh mesh, const CellSubstances& substances, MassKind mass) {
  ensure(Index(substances.of_cell.size()) == mesh.tetrahedra.cols(), "make_volume: a substance per cell");
  Body body = body_of_nodes(std::move(name), BodyKind::volume, std::move(mesh));
  set_surface(body);
  body.encloses_volume = true;
  std::vector<Material> materials;
  for (const Substance& s : substances.substances) materials.push_back(s.material);
  body.elastic = make_cells(body.nodes, body.mesh.tetrahedra, std::move(materials), substances.of_cell);
  body.elastic->density = densities(substances);
  if (substances.substances.size() > 1) body.sets.cell_substance = substances.of_cell;

  Triplets entries;
  const ElasticCells& cells = *body.elastic;
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    const double m = substances.substances[substances.of_cell[t]].density * cells.volume[t];
    for (int a = 0; a < 4; ++a)
      if (mass == MassKind::lumped) {
        entries.emplace_back(cells.nodes(a, t), cells.nodes(a, t), m / 4);
      } else {
        for (int b = 0; b < 4; ++b)  // ∫ρ NₐN_b = m/20 (1 + δₐ_b)
          entries.emplace_back(cells.nodes(a, t), cells.nodes(b, t), m / 20 * (a == b ? 2 : 1));
      }
  }
  body.mass.resize(body.node_count(), body.node_count());
  body.mass.setFromTriplets(entries.begin(), entries.end());
  const VectorX diagonal = body.mass.diagonal();
  for (Index i = 0; i < body.node_count(); ++i)
    if (!(diagonal[i] > 0))
      throw InputError("body '{}': point {} has no mass; remove points that belong to no tetrahedron",
                       body.name, i);
  const auto all = std::make_shared<const std::vector<Substance>>(substances.substances);
  body.remake = [name = body.name, all, mass](const BodyShape& shape) {
    check_only(CellKind::tetrahedra, name, shape.mesh);
    validate_volume(shape.mesh, fmt::format("body '{}'", name));
    CellSubstances again{*all, shape.sets.cell_substance};
    if (all->size() == 1) again.of_cell.assign(std::size_t(shape.mesh.tetrahedra.cols()), 0);
    return make_volume(name, shape.mesh, again, mass);
  };
  return body;
}

Body make_volume(std::string name, const Mesh& mesh, const CellSubstances& substances,
                 const LagrangeOptions& options) {
  const Index count = Index(mesh.tetrahedra.cols()) + mesh.curved_count();
  ensure(Index(substances.of_cell.size()) == count, "make_volume: a substance per cell");
  VectorX density(count);
  std::vector<Material> materials;
  for (const Substance& s : substances.substances) materials.push_back(s.material);
  for (Index t = 0; t < count; ++t)
    density[t] = substances.substances[std::size_t(substances.of_cell[std::size_t(t)])].density;
  LagrangeVolume made = lagrange_volume(mesh, density, options);

  Body body;
  body.name = std::move(name);
  body.kind = BodyKind::volume;
  body.mesh = std::move(made.mesh);
  body.nodes = std::move(made.nodes);
  body.velocity = Matrix3X::Zero(3, body.nodes.cols());
  body.point_map = std::move(made.point_map);
  body.mass = std::move(made.mass);
  body.offset_moments = std::move(made.offset_moments);
  body.encloses_volume = true;
  set_surface(body);
  ElasticCells cells{made.cells.nodes.topRows<4>(),
                     {},
                     std::move(made.volume),
                     std::move(materials),
                     substances.of_cell,
                     {},
                     {},
                     {}};
  cells.lagrange = std::move(made.cells);
  cells.cell_of_face = std::move(made.cell_of_face);
  cells.density = densities(substances);
  body.elastic = std::move(cells);
  if (substances.substances.size() > 1) body.sets.cell_substance = substances.of_cell;
  return body;
}

Body make_affine(std::string name, Mesh mesh, const Material& material, double density) {
  Body body;
  body.name = std::move(name);
  body.kind = BodyKind::affine;
  body.mesh = std::move(mesh);
  set_surface(body);

  const MassDistribution mass = mass_distribution(body.mesh, density);
  if (!(mass.mass > 0))
    throw InputError("body '{}': its volume is {}, must be positive; orient its closed surface outward",
                     body.name, mass.mass / density);
  const ControlTetrahedron control = ControlTetrahedron::around(body.mesh.points, mass.centre);
  body.nodes = control.nodes();
  body.velocity = Matrix3X::Zero(3, 4);
  body.point_map = control.map(body.mesh.points);
  Tetrahedra corners(4, 1);
  corners << 0, 1, 2, 3;
  body.elastic = make_cells(body.nodes, corners, {material}, {0});
  ensure(body.elastic->volume[0] > 0, "make_affine: control tetrahedron is turned inside out");
  body.elastic->volume[0] = mass.mass / density;
  body.mass = control.mass(mass).sparseView();
  body.encloses_volume = true;
  return body;
}

Body make_obstacle(std::string name, Mesh mesh, Motion motion) {
  Body body = body_of_nodes(std::move(name), BodyKind::obstacle, std::move(mesh));
  set_surface(body);
  add_script(body, nullptr, {true, true, true}, std::move(motion));
  return body;
}

Body make_half_space(std::string name, const Vector3& origin, const Vector3& normal, Motion motion) {
  Body body;
  body.name = std::move(name);
  body.kind = BodyKind::half_space;
  body.half_space = HalfSpace{origin, normal.normalized()};
  body.nodes.resize(3, motion ? 1 : 0);
  if (motion) {
    body.nodes.col(0) = origin;
    body.surface_points = {0};
  }
  body.mesh.points = body.nodes;
  body.velocity = Matrix3X::Zero(3, body.node_count());
  body.point_map = LinearMap::identity(body.node_count());
  if (motion) add_script(body, nullptr, {true, true, true}, std::move(motion));
  return body;
}

void set_rigid_velocity(Body& body, const Vector3& linear, const Vector3& angular) {
  const Vector3 centre = centre_of_mass(body);
  for (Index i = 0; i < body.node_count(); ++i)
    body.velocity.col(i) = linear + angular.cross(body.nodes.col(i) - centre);
}

PointSet all_points(Body& body) {
  std::vector<Index> points(static_cast<std::size_t>(body.mesh.point_count()));
  std::iota(points.begin(), points.end(), 0);
  return body.sets.add_points("all", std::move(points));
}

void add_script(Body& body, const std::vector<Index>* points, std::array<bool, 3> axes, Motion motion,
                TimeRange when) {
  if (points && (body.kind == BodyKind::affine || body.kind == BodyKind::rigid))
    throw InputError("body '{}': {} body can only be scripted as a whole; use a motion, or type volume",
                     body.name, body.kind == BodyKind::affine ? "an affine" : "a rigid");
  const PointSet set = points ? body.sets.add_points("scripted", *points) : all_points(body);
  body.scripts.push_back({set, axes, std::move(motion), when});
}

double total_mass(const Body& body) {
  // Not mass.sum(): that adds in an order that depends on where its numbers are in memory.
  return (body.mass * VectorX::Ones(body.node_count())).sum();
}

Vector3 centre_of_mass(const Body& body) {
  if (!body.is_dynamic()) return body.nodes.cols() ? Vector3(body.nodes.rowwise().mean()) : Vector3::Zero();
  const VectorX row_sums = body.mass * VectorX::Ones(body.node_count());
  Vector3 moment = body.nodes * row_sums;
  if (body.offset_moments.cols() > 0) moment += body.offset_moments.rowwise().sum();
  return moment / row_sums.sum();
}

}  // namespace apart
