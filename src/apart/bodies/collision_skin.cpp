#include <apart/bodies/collision_skin.hpp>

#include <apart/bodies/body_maker.hpp>
#include <apart/bodies/cell_shapes.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/mesh_checks.hpp>

namespace apart {

namespace {

/// Σ|w| beyond which a point is refused: it would move this many times as far as the nodes it follows.
constexpr double most_growth = 20;

}  // namespace

CollisionSkin with_collision_skin(Body body, const Mesh& surface, const std::string& where) {
  ensure(body.kind == BodyKind::volume && body.elastic, "with_collision_skin: a volume");
  const ElasticCells& cells = *body.elastic;
  const CellShapes shapes(body.nodes, cells.lagrange ? cells.lagrange->nodes : Eigen::MatrixXi(cells.nodes),
                          cells.lagrange ? cells.lagrange->degree : 1);
  const Embedding embedding = embed(surface.points, shapes, where);
  CollisionSkin result;
  result.outside = embedding.outside;
  result.growth = embedding.growth.maxCoeff(&result.growth_point);
  if (!(result.growth <= most_growth))
    throw InputError(
        "{}: point {} at ({:g}, {:g}, {:g}) lies so far outside of the volume that it would move up to "
        "{:.3g} "
        "times as far as the cell that it follows, at most {:g} times is accepted; move the surface to the "
        "volume, or use a volume that encloses it",
        where, result.growth_point, surface.points(0, result.growth_point),
        surface.points(1, result.growth_point), surface.points(2, result.growth_point), result.growth,
        most_growth);

  const Index nodes = body.node_count();
  body.point_map = LinearMap::identity(nodes);
  for (Index i = 0; i < surface.point_count(); ++i) {
    const VectorX values = shapes.basis().values(embedding.xi.col(i));
    std::vector<Influence> influences;
    for (Index a = 0; a < values.size(); ++a)
      if (std::abs(values[a]) > 1e-15)
        influences.push_back({shapes.cells()(a, embedding.cell[std::size_t(i)]), values[a]});
    body.point_map.add_vertex(influences);
  }
  Mesh& mesh = body.mesh;
  mesh.points = body.point_map.positions(body.nodes);
  mesh.curved = {{shapes.degree(), shapes.cells()}};
  mesh.tetrahedra.resize(4, 0);
  mesh.faces = surface.faces.array() + nodes;
  for (auto& [name, group] : mesh.groups) {
    group.triangles.clear();
    std::erase_if(group.points, [&](int p) { return p >= nodes; });
  }
  set_surface(body);
  body.encloses_volume = is_closed_surface(surface);
  body.remake = nullptr;
  if (body.elastic->lagrange) body.elastic->lagrange->area_of_face.clear();
  std::vector<Index>& cell_of_face = body.elastic->cell_of_face;
  cell_of_face.clear();
  for (Index f = 0; f < surface.faces.cols(); ++f)
    cell_of_face.push_back(embedding.cell[std::size_t(surface.faces(0, f))]);
  result.body = std::move(body);
  return result;
}

}  // namespace apart
