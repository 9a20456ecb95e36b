#include <apart/bodies/body_maker.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <numbers>
#include <numeric>

namespace apart {

namespace {

/// A body of nodes, all of them seen by contact, with a mass each [kg].
Body body_of_points(std::string name, BodyKind kind, Mesh mesh, const VectorX& mass) {
  Body body = body_of_nodes(std::move(name), kind, std::move(mesh));
  body.surface_points.resize(body.node_count());
  std::iota(body.surface_points.begin(), body.surface_points.end(), 0);
  body.surface_faces.resize(3, 0);
  body.free_segments = body.mesh.edges;
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < body.node_count(); ++i) {
    if (!(mass[i] > 0))
      throw InputError("body '{}': point {} has no mass; remove points that belong to no segment", body.name,
                       i);
    entries.emplace_back(i, i, mass[i]);
  }
  body.mass.resize(body.node_count(), body.node_count());
  body.mass.setFromTriplets(entries.begin(), entries.end());
  return body;
}

/// |κb| = 2 tan(θ/2) of two edges that meet. [Bergou et al. 2008; C-IPC supplement §8]
double curvature(const Vector3& before, const Vector3& after) {
  return 2 * before.cross(after).norm() / (before.norm() * after.norm() + before.dot(after));
}

RodCells make_cells(const Matrix3X& x, const Edges& segments, const RodMaterial& material,
                    RestCurvature rest) {
  RodCells cells;
  cells.segments = segments;
  cells.rest_length.resize(segments.cols());
  std::vector<std::vector<int>> at(x.cols());  // the other ends of the segments at each node
  for (Index e = 0; e < segments.cols(); ++e) {
    const int a = segments(0, e), b = segments(1, e);
    cells.rest_length[e] = (x.col(b) - x.col(a)).norm();
    at[a].push_back(b);
    at[b].push_back(a);
  }
  std::vector<int> bent;
  for (Index i = 0; i < x.cols(); ++i)
    if (at[i].size() == 2) bent.push_back(i);
  const Index n = Index(bent.size());
  cells.bends.resize(3, n);
  cells.bend_length.resize(n);
  cells.rest_curvature.resize(n);
  for (Index k = 0; k < n; ++k) {
    const int i = bent[k];
    cells.bends.col(k) << at[i][0], i, at[i][1];
    const Vector3 before = x.col(i) - x.col(at[i][0]), after = x.col(at[i][1]) - x.col(i);
    cells.bend_length[k] = before.norm() + after.norm();
    cells.rest_curvature[k] = rest == RestCurvature::mesh ? curvature(before, after) : 0;
    if (!std::isfinite(cells.rest_curvature[k]))
      throw InputError("a rod is folded back on itself at its point {}; move the point", i);
  }
  const double r2 = material.radius * material.radius;
  cells.stretch_stiffness = material.stretch_scale * material.young * std::numbers::pi * r2;
  cells.bending_stiffness = material.bending_scale * material.young * std::numbers::pi * r2 * r2 / 4;
  return cells;
}

}  // namespace

Body make_rod(std::string name, Mesh mesh, const RodMaterial& material, RestCurvature rest) {
  RodCells cells = make_cells(mesh.points, mesh.edges, material, rest);
  const double per_length = material.density * std::numbers::pi * material.radius * material.radius;
  VectorX mass = VectorX::Zero(mesh.point_count());
  for (Index e = 0; e < mesh.edges.cols(); ++e)
    for (int k = 0; k < 2; ++k) mass[mesh.edges(k, e)] += per_length * cells.rest_length[e] / 2;
  Body body = body_of_points(std::move(name), BodyKind::rod, std::move(mesh), mass);
  body.rods = std::move(cells);
  body.radius = material.radius;
  body.remake = [name = body.name, material, rest](const BodyShape& shape) {
    check_only(CellKind::edges, name, shape.mesh);
    validate_segments(shape.mesh, fmt::format("body '{}'", name));
    return make_rod(name, shape.mesh, material, rest);
  };
  return body;
}

Body make_particles(std::string name, Mesh mesh, double radius, double density) {
  const double mass = density * 4 / 3 * std::numbers::pi * radius * radius * radius;
  const VectorX masses = VectorX::Constant(mesh.point_count(), mass);
  Body body = body_of_points(std::move(name), BodyKind::particles, std::move(mesh), masses);
  body.radius = radius;
  return body;
}

}  // namespace apart
