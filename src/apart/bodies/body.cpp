#include <apart/bodies/body.hpp>
#include <apart/bodies/body_maker.hpp>

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
  ElasticCells cells{std::move(tets), {}, {}, std::move(materials), std::move(material_of)};
  cells.volume.resize(cells.nodes.cols());
  cells.inverse_rest.resize(cells.nodes.cols());
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    const Matrix3 d = edge_matrix(nodes, cells.nodes.col(t));
    cells.volume[t] = d.determinant() / 6;
    cells.inverse_rest[t] = d.inverse();
  }
  return cells;
}

/// The body's volume as signed tetrahedra: its own, or cones from `apex` over a closed surface.
struct SignedTetrahedron {
  std::array<Vector3, 4> corners;
  double volume;
};
std::vector<SignedTetrahedron> volume_cells(const Mesh& mesh, const Vector3& apex) {
  std::vector<SignedTetrahedron> cells;
  const bool solid = mesh.is_volume();
  for (Index c = 0; c < (solid ? mesh.tetrahedra.cols() : mesh.faces.cols()); ++c) {
    SignedTetrahedron cell;
    for (int k = 0; k < 3; ++k)
      cell.corners[k] = mesh.points.col(solid ? mesh.tetrahedra(k, c) : mesh.faces(k, c));
    cell.corners[3] = solid ? Vector3(mesh.points.col(mesh.tetrahedra(3, c))) : apex;
    const auto& x = cell.corners;
    // A face seen from outside, with the apex behind it, is the mirror image of a positive tetrahedron.
    cell.volume = (solid ? 1 : -1) * signed_volume6(x[0], x[1], x[2], x[3]) / 6;
    cells.push_back(cell);
  }
  return cells;
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
  body.surface_faces = mesh.is_volume() ? boundary_faces(mesh.tetrahedra) : mesh.faces;
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
    case BodyKind::shell:
      return "shell";
    case BodyKind::affine:
      return "affine";
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
  std::vector<Material> materials;
  for (const Substance& s : substances.substances) materials.push_back(s.material);
  body.elastic = make_cells(body.nodes, body.mesh.tetrahedra, std::move(materials), substances.of_cell);
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
  const auto stuff = std::make_shared<const std::vector<Substance>>(substances.substances);
  body.remake = [name = body.name, stuff, mass](const BodyShape& shape) {
    check_only(CellKind::tetrahedra, name, shape.mesh);
    validate_volume(shape.mesh, fmt::format("body '{}'", name));
    CellSubstances again{*stuff, shape.sets.cell_substance};
    if (stuff->size() == 1) again.of_cell.assign(std::size_t(shape.mesh.tetrahedra.cols()), 0);
    return make_volume(name, shape.mesh, again, mass);
  };
  return body;
}

Body make_affine(std::string name, Mesh mesh, const Material& material, double density) {
  Body body;
  body.name = std::move(name);
  body.kind = BodyKind::affine;
  body.mesh = std::move(mesh);
  set_surface(body);

  const Matrix3X& x = body.mesh.points;
  const Vector3 low = x.rowwise().minCoeff(), high = x.rowwise().maxCoeff();
  double volume = 0;
  Vector3 centre = Vector3::Zero();
  const auto cells = volume_cells(body.mesh, 0.5 * (low + high));
  for (const auto& c : cells) {
    volume += c.volume;
    centre += c.volume / 4 * (c.corners[0] + c.corners[1] + c.corners[2] + c.corners[3]);
  }
  if (!(volume > 0))
    throw InputError("body '{}': its volume is {}, must be positive; orient its closed surface outward",
                     body.name, volume);
  centre /= volume;

  // Control tetrahedron: corners c_k = centre + s e_k with Σ e_k = 0 and Σ e_k e_kᵀ = 4 I, as far out as the
  // body's own corners. Barycentric weights are then w_k(X) = 1/4 + e_k·(X − centre)/(4 s).
  const double s = 0.5 * (high - low).norm() / std::sqrt(3.0);
  Eigen::Matrix<double, 3, 4> e;
  e << 1, 1, -1, -1, 1, -1, -1, 1, 1, -1, 1, -1;
  body.nodes = (s * e).colwise() + centre;
  body.velocity = Matrix3X::Zero(3, 4);
  const auto weights = [&](const Vector3& point) -> Vector4 {
    return Vector4::Constant(0.25) + e.transpose() * (point - centre) / (4 * s);
  };
  body.point_map = LinearMap(4);
  for (Index p = 0; p < x.cols(); ++p) {
    const Vector4 w = weights(x.col(p));
    const Influence row[4] = {{0, w[0]}, {1, w[1]}, {2, w[2]}, {3, w[3]}};
    body.point_map.add_vertex(row);
  }
  Tetrahedra control(4, 1);
  control << 0, 1, 2, 3;
  body.elastic = make_cells(body.nodes, control, {material}, {0});
  ensure(body.elastic->volume[0] > 0, "make_affine: control tetrahedron is turned inside out");
  body.elastic->volume[0] = volume;

  // M_kl = ∫ρ w_k w_l: exact for linear weights, ∫ f g = V/20 (Σfᵢ Σgᵢ + Σfᵢgᵢ) on a tetrahedron.
  Eigen::Matrix4d m = Eigen::Matrix4d::Zero();
  for (const auto& c : cells) {
    Eigen::Matrix4d w;
    for (int k = 0; k < 4; ++k) w.col(k) = weights(c.corners[k]);
    const Vector4 sum = w.rowwise().sum();
    m += density * c.volume / 20 * (sum * sum.transpose() + w * w.transpose());
  }
  body.mass = m.sparseView();
  return body;
}

Body make_obstacle(std::string name, Mesh mesh, Motion motion) {
  Body body = body_of_nodes(std::move(name), BodyKind::obstacle, std::move(mesh));
  set_surface(body);
  prescribe(body, nullptr, {true, true, true}, std::move(motion));
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
  if (motion) prescribe(body, nullptr, {true, true, true}, std::move(motion));
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

void prescribe(Body& body, const std::vector<Index>* points, std::array<bool, 3> axes, Motion motion,
               TimeRange when) {
  if (points && body.kind == BodyKind::affine)
    throw InputError(
        "body '{}': an affine body can only be prescribed as a whole; use a motion, or type volume",
        body.name);
  const PointSet set = points ? body.sets.add_points("scripted", *points) : all_points(body);
  body.prescriptions.push_back({set, axes, std::move(motion), when});
}

double total_mass(const Body& body) {
  return body.mass.sum();
}

Vector3 centre_of_mass(const Body& body) {
  if (!body.is_dynamic()) return body.nodes.cols() ? Vector3(body.nodes.rowwise().mean()) : Vector3::Zero();
  const VectorX row_sums = body.mass * VectorX::Ones(body.node_count());
  return body.nodes * row_sums / row_sums.sum();
}

}  // namespace apart
