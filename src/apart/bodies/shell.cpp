#include <apart/bodies/body.hpp>
#include <apart/bodies/body_maker.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/dihedral_angle.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <map>

namespace apart {

namespace {

/// Two axes in the plane of the triangle, the first as close to `warp` as possible. None if the plane is
/// perpendicular to it.
std::optional<Eigen::Matrix<double, 3, 2>> axes_of(const Vector3& normal, const Vector3& warp) {
  const Vector3 along = warp - normal.dot(warp) * normal;
  if (!(along.norm() > 1e-6 * warp.norm())) return std::nullopt;
  Eigen::Matrix<double, 3, 2> axes;
  axes.col(0) = along.normalized();
  axes.col(1) = normal.cross(axes.col(0));
  return axes;
}

bool is_orthotropic(const Membrane& m) {
  return std::holds_alternative<OrthotropicMembrane>(m) || std::holds_alternative<BarrierMembrane>(m);
}

/// ∂x/∂u of a triangle with the given edges.
Vector3 texture_direction(const std::string& name, const Mesh& mesh, Index t,
                          const Eigen::Matrix<double, 3, 2>& edges) {
  if (mesh.face_texture.cols() != mesh.faces.cols())
    throw InputError("body '{}': the mesh has no texture coordinates; give the warp as a direction", name);
  Matrix2 texture;
  for (int k = 0; k < 2; ++k)
    texture.col(k) = mesh.face_texture.col(t).segment<2>(2 * k + 2) - mesh.face_texture.col(t).head<2>();
  if (!(std::abs(texture.determinant()) > 1e-12 * texture.squaredNorm()))
    throw InputError(
        "body '{}': triangle {} has no area in texture coordinates; give the warp as a direction", name, t);
  return (edges * texture.inverse()).col(0);
}

/// Hinges of all pairs of triangles that share an edge; at an edge of many, every pair.
std::vector<std::array<Index, 4>> hinges_of(const Faces& faces) {
  std::map<std::pair<int, int>, std::vector<int>> opposite;  // edge, smaller node first → third corners
  for (Index t = 0; t < faces.cols(); ++t)
    for (int k = 0; k < 3; ++k)
      opposite[std::minmax(faces((k + 1) % 3, t), faces((k + 2) % 3, t))].push_back(faces(k, t));
  std::vector<std::array<Index, 4>> hinges;
  for (const auto& [edge, corners] : opposite)
    for (std::size_t a = 0; a < corners.size(); ++a)
      for (std::size_t b = a + 1; b < corners.size(); ++b)
        hinges.push_back({edge.first, edge.second, corners[a], corners[b]});
  return hinges;
}

void set_triangles(Body& body, const Matrix3X& rest, const ShellSubstance& substance,
                   const ShellRest& options) {
  ShellCells& cells = *body.shell;
  const Index n = Index(cells.nodes.cols());
  cells.inverse_rest.resize(std::size_t(n));
  cells.volume.resize(n);
  for (Index t = 0; t < n; ++t) {
    const Vector3 x0 = rest.col(cells.nodes(0, t));
    Eigen::Matrix<double, 3, 2> edges;
    for (int k = 0; k < 2; ++k) edges.col(k) = rest.col(cells.nodes(k + 1, t)) - x0;
    const Vector3 area = edges.col(0).cross(edges.col(1));
    const double size = edges.squaredNorm();
    if (!(area.norm() > 1e-12 * size))
      throw InputError("body '{}': triangle {} has no area at rest; repair the mesh", body.name, t);
    const Vector3 normal = area.normalized();
    const bool woven = is_orthotropic(substance.membrane);
    Vector3 along = woven ? options.warp : edges.col(0);
    if (woven && options.warp_from_texture) along = texture_direction(body.name, body.mesh, t, edges);
    const auto axes = axes_of(normal, along);
    if (!axes)
      throw InputError(
          "body '{}': triangle {} is perpendicular to the warp direction ({}, {}, {}); choose another",
          body.name, t, along[0], along[1], along[2]);
    cells.inverse_rest[std::size_t(t)] = Matrix2(axes->transpose() * edges).inverse();
    cells.volume[t] = 0.5 * area.norm() * substance.thickness;
  }
}

void set_hinges(ShellCells& cells, const Matrix3X& rest, const ShellSubstance& substance, bool flat) {
  if (!(substance.bending_young > 0)) {
    cells.hinges.resize(4, 0);
    return;
  }
  const auto hinges = hinges_of(cells.nodes);
  cells.hinges.resize(4, Index(hinges.size()));
  cells.rest_angle.resize(Index(hinges.size()));
  cells.hinge_stiffness.resize(Index(hinges.size()));
  const double rigidity = substance.bending_young * std::pow(substance.thickness, 3) /
                          (12 * (1 - substance.bending_poisson * substance.bending_poisson));
  for (Index h = 0; h < cells.hinges.cols(); ++h) {
    std::array<Vector3, 4> x;
    for (int k = 0; k < 4; ++k) {
      cells.hinges(k, h) = hinges[std::size_t(h)][std::size_t(k)];
      x[std::size_t(k)] = rest.col(cells.hinges(k, h));
    }
    cells.rest_angle[h] = flat ? 0 : dihedral_angle(x);
    const Vector3 edge = x[1] - x[0];
    const double height =
        0.5 * (edge.cross(x[2] - x[0]).norm() + edge.cross(x[3] - x[0]).norm()) / edge.norm();
    // C-IPC supplement eq. 17: k ‖e‖/h̄ with k half the rigidity (eq. 18) and h̄ a third of the mean height of
    // the two triangles. But a sheet of curvature κ along one direction has on regular meshes hinges of angle
    // κ · height and no others that bend, so that its energy per area is 3 k κ² and not the ½ D κ² of plate
    // theory: h̄ must be the mean height itself.
    const double share = substance.bending_model == BendingModel::published ? 3 : 1;
    cells.hinge_stiffness[h] = share * 0.5 * rigidity * edge.norm() / height;
  }
}

/// F of a triangle whose nodes are at x.
ThinSvd deformation(const ShellCells& cells, Index t, const Matrix3X& x) {
  Eigen::Matrix<double, 3, 2> edges;
  for (int k = 0; k < 2; ++k) edges.col(k) = x.col(cells.nodes(k + 1, t)) - x.col(cells.nodes(0, t));
  return thin_svd(edges * cells.inverse_rest[std::size_t(t)]);
}

/// The start must be feasible: no barrier can bring back what is beyond it.
void check_start(const std::string& name, const ShellCells& cells, const Matrix3X& x) {
  const auto own = strain_limit_of(cells.membrane);
  if (!cells.limit && !own) return;
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    const ThinSvd f = deformation(cells, t, x);
    if (cells.limit && !cells.limit->allows(f.sigma))
      throw InputError(
          "body '{}': triangle {} is stretched by {:.6g} and {:.6g} at the start, the strain limit is "
          "{:.6g}{}; start closer to the rest shape or raise the limit",
          name, t, f.sigma[0], f.sigma[1], cells.limit->upper,
          cells.limit->lower > 0 ? fmt::format(" and {:.6g}", cells.limit->lower) : "");
    if (own && !(green_strain(f).cwiseAbs().array() < own->array()).all()) {
      const PlaneStrain e = green_strain(f);
      throw InputError(
          "body '{}': triangle {} has strains {:.6g}, {:.6g}, {:.6g} at the start, the limits are {:.6g}, "
          "{:.6g}, {:.6g}; start closer to the rest shape",
          name, t, e[0], e[1], e[2], (*own)[0], (*own)[1], (*own)[2]);
    }
  }
}

Eigen::SparseMatrix<double> mass_of(const ShellCells& cells, Index node_count, MassKind kind) {
  std::vector<Eigen::Triplet<double>> entries;
  if (kind == MassKind::lumped) {
    VectorX mass = VectorX::Zero(node_count);
    for (Index t = 0; t < cells.nodes.cols(); ++t)
      for (int k = 0; k < 3; ++k) mass[cells.nodes(k, t)] += cells.density * cells.volume[t] / 3;
    for (Index i = 0; i < node_count; ++i) entries.emplace_back(i, i, mass[i]);
  } else {
    for (Index t = 0; t < cells.nodes.cols(); ++t)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)  // ∫ρ NₐN_b = m/12 (1 + δₐ_b)
          entries.emplace_back(cells.nodes(a, t), cells.nodes(b, t),
                               cells.density * cells.volume[t] / 12 * (a == b ? 2 : 1));
  }
  Eigen::SparseMatrix<double> mass(node_count, node_count);
  mass.setFromTriplets(entries.begin(), entries.end());
  return mass;
}

ShellRest without_points(ShellRest rest) {
  rest.points.reset();
  return rest;
}

}  // namespace

bool within_limits(const ShellCells& cells, const Matrix3X& x) {
  const auto own = strain_limit_of(cells.membrane);
  if (!cells.limit && !own) return true;
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    const ThinSvd f = deformation(cells, t, x);
    if (cells.limit && !cells.limit->allows(f.sigma)) return false;
    if (own && !(green_strain(f).cwiseAbs().array() < own->array()).all()) return false;
  }
  return true;
}

Body make_shell(std::string name, Mesh mesh, const ShellSubstance& substance, const ShellRest& rest) {
  Body body = body_of_nodes(std::move(name), BodyKind::shell, std::move(mesh));
  set_surface(body);

  const Matrix3X& shape = rest.points ? *rest.points : body.nodes;
  ensure(shape.cols() == body.nodes.cols(), "make_shell: the rest shape has a place for every point");
  body.shell = ShellCells{
      body.mesh.faces, {}, {}, substance.thickness, substance.membrane, substance.limit, {}, {}, {}, 0};
  set_triangles(body, shape, substance, rest);
  set_hinges(*body.shell, shape, substance, rest.flat);
  check_start(body.name, *body.shell, body.nodes);

  body.shell->density = substance.density;
  body.mass = mass_of(*body.shell, body.node_count(), substance.mass);
  const VectorX diagonal = body.mass.diagonal();
  for (Index i = 0; i < body.node_count(); ++i)
    if (!(diagonal[i] > 0))
      throw InputError("body '{}': point {} has no mass; remove points that belong to no triangle", body.name,
                       i);
  if (rest.points) body.rest_points = *rest.points;
  body.remake = [name = body.name, substance, rest = without_points(rest)](const BodyShape& again) {
    check_only(CellKind::faces, name, again.mesh);
    validate_surface(again.mesh, fmt::format("body '{}'", name));
    ShellRest with_points = rest;
    if (again.rest_points.cols() > 0) with_points.points = again.rest_points;
    return make_shell(name, again.mesh, substance, with_points);
  };
  return body;
}

}  // namespace apart
