#include <apart/bodies/body_maker.hpp>

#include <apart/bodies/body_mesh.hpp>
#include <apart/core/error.hpp>

#include <Eigen/LU>
#include <memory>

namespace apart {

namespace {

PlanarCells make_cells(const Mesh& mesh, const CellSubstances& substances, const PlanarOptions& options) {
  PlanarCells cells{mesh.faces, {}, {}, options.depth, options.state, {}, substances.of_cell, {}};
  for (const Substance& s : substances.substances) {
    cells.materials.push_back(s.material);
    cells.density.push_back(s.density);
  }
  const Index n = Index(mesh.faces.cols());
  cells.inverse_rest.resize(std::size_t(n));
  cells.volume.resize(n);
  for (Index t = 0; t < n; ++t) {
    Matrix2 edges;
    for (int k = 0; k < 2; ++k)
      edges.col(k) = (mesh.points.col(mesh.faces(k + 1, t)) - mesh.points.col(mesh.faces(0, t))).head<2>();
    cells.volume[t] = 0.5 * edges.determinant() * options.depth;
    cells.inverse_rest[std::size_t(t)] = edges.inverse();
  }
  return cells;
}

Eigen::SparseMatrix<double> make_mass(const PlanarCells& cells, Index node_count, MassKind kind) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    const double m = cells.density[std::size_t(cells.material_of[std::size_t(t)])] * cells.volume[t];
    for (int a = 0; a < 3; ++a)
      if (kind == MassKind::lumped) {
        entries.emplace_back(cells.nodes(a, t), cells.nodes(a, t), m / 3);
      } else {
        for (int b = 0; b < 3; ++b)  // ∫ρ NₐN_b = m/12 (1 + δₐ_b)
          entries.emplace_back(cells.nodes(a, t), cells.nodes(b, t), m / 12 * (a == b ? 2 : 1));
      }
  }
  Eigen::SparseMatrix<double> mass(node_count, node_count);
  mass.setFromTriplets(entries.begin(), entries.end());
  return mass;
}

}  // namespace

Body make_planar(std::string name, Mesh mesh, const CellSubstances& substances,
                 const PlanarOptions& options) {
  ensure(Index(substances.of_cell.size()) == mesh.faces.cols(), "make_planar: a substance per cell");
  Body body = body_of_nodes(std::move(name), BodyKind::planar, std::move(mesh));
  body.encloses_volume = true;
  body.surface_faces.resize(3, 0);
  body.free_segments = boundary_edges(body.mesh.faces);
  std::vector<char> on_boundary(std::size_t(body.node_count()), false);
  for (const int p : body.free_segments.reshaped()) on_boundary[std::size_t(p)] = true;
  for (Index p = 0; p < body.node_count(); ++p)
    if (on_boundary[std::size_t(p)]) body.surface_points.push_back(p);
  if (options.state == PlaneState::stress)
    for (const Substance& s : substances.substances)
      if (const std::string reason = no_plane_stress(s.material); !reason.empty())
        throw InputError("body '{}': has no plane stress: {}, or plane strain", body.name, reason);
  body.planar = make_cells(body.mesh, substances, options);
  body.mass = make_mass(*body.planar, body.node_count(), options.mass);
  const VectorX diagonal = body.mass.diagonal();
  for (Index i = 0; i < body.node_count(); ++i)
    if (!(diagonal[i] > 0))
      throw InputError("body '{}': point {} has no mass; remove points that belong to no triangle", body.name,
                       i);
  if (substances.substances.size() > 1) body.sets.cell_substance = substances.of_cell;
  const auto all = std::make_shared<const std::vector<Substance>>(substances.substances);
  body.remake = [name = body.name, all, options](const BodyShape& shape) {
    check_only(CellKind::faces, name, shape.mesh);
    const std::string where = fmt::format("body '{}'", name);
    check_planar(shape.mesh, where);
    CellSubstances again{*all, shape.sets.cell_substance};
    if (all->size() == 1) again.of_cell.assign(std::size_t(shape.mesh.faces.cols()), 0);
    return make_planar(name, shape.mesh, again, options);
  };
  return body;
}

}  // namespace apart
