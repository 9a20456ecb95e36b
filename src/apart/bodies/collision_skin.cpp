#include <apart/bodies/collision_skin.hpp>

#include <apart/basis/lattice_numbering.hpp>
#include <apart/bodies/body_maker.hpp>
#include <apart/bodies/cell_shapes.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <numeric>
#include <optional>

namespace apart {

namespace {

/// Σ|w| beyond which a point is refused: it would move this many times as far as the nodes it follows.
constexpr double most_growth = 20;
/// The same of weights that are given. Those that are published go up to 64.
constexpr double most_given_growth = 100;
/// Of the size of the body: by how much given weights may miss the surface. Published surfaces are written
/// with six digits.
constexpr double reproduced = 1e-5;
/// The same where the nodes leave a part of the shape. Places in curved cells are published as a minimiser
/// found them: those of the armadillo are up to 3.5e-4 of its size away, inside of the cells and outside.
constexpr double roughly_reproduced = 5e-4;

using Rows = std::vector<std::vector<Influence>>;

void set_growth(const Rows& rows, CollisionSkin& skin) {
  skin.growth = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double sum = 0;
    for (const Influence& influence : rows[i]) sum += std::abs(influence.weight);
    if (sum <= skin.growth) continue;
    skin.growth = sum;
    skin.growth_point = Index(i);
  }
}

void check_growth(const CollisionSkin& skin, const Mesh& surface, double most, const std::string& where) {
  const Vector3 x = surface.points.col(skin.growth_point);
  if (!(skin.growth <= most))
    throw InputError(
        "{}: point {} at ({:g}, {:g}, {:g}) lies so far outside of the volume that it would move up to "
        "{:.3g} times as far as the cell that it follows, at most {:g} times is accepted; move the surface "
        "to the volume, or use a volume that encloses it",
        where, skin.growth_point, x[0], x[1], x[2], skin.growth, most);
}

const Eigen::MatrixXi cell_nodes(const ElasticCells& cells) {
  return cells.lagrange ? cells.lagrange->nodes : Eigen::MatrixXi(cells.nodes);
}

/// Replaces the surface of a volume. `offset`: x₀ of each point of the surface.
void replace_surface(Body& body, const Mesh& surface, const Rows& rows, const Matrix3X& offset) {
  Mesh& mesh = body.mesh;
  if (mesh.curved.empty()) mesh.curved = {{1, Eigen::MatrixXi(mesh.tetrahedra)}};
  mesh.tetrahedra.resize(4, 0);
  // The points of the cells begin with the nodes and come before all others.
  const Index kept = std::max(body.node_count(), Index(mesh.curved.front().points.maxCoeff()) + 1);
  std::vector<Index> first(static_cast<std::size_t>(kept));
  std::iota(first.begin(), first.end(), 0);
  LinearMap map(body.node_count());
  map.append(body.point_map, first, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) map.add_vertex(rows[i], offset.col(Index(i)));
  body.point_map = std::move(map);
  mesh.points = body.point_map.positions(body.nodes);
  mesh.faces = surface.faces.array() + kept;
  for (auto& [name, group] : mesh.groups) {
    group.triangles.clear();
    std::erase_if(group.points, [&](int p) { return p >= kept; });
  }
  set_surface(body);
  body.encloses_volume = is_closed_surface(surface);
  body.remake = nullptr;
  if (body.elastic->lagrange) body.elastic->lagrange->corners_of_face.clear();
}

/// The surface of a body that moves as a whole: every point is an affine combination of its four nodes.
CollisionSkin with_whole_skin(Body body, const Mesh& surface, const std::string& where) {
  Eigen::Matrix4d corners;
  corners << body.nodes, Eigen::RowVector4d::Ones();
  const Eigen::Matrix4d inverse = corners.inverse();
  Rows rows;
  body.point_map = LinearMap(4);
  for (Index i = 0; i < surface.point_count(); ++i) {
    const Vector4 w = inverse * surface.points.col(i).homogeneous();
    rows.push_back({{0, w[0]}, {1, w[1]}, {2, w[2]}, {3, w[3]}});
    body.point_map.add_vertex(rows.back());
  }
  CollisionSkin result;
  set_growth(rows, result);
  check_growth(result, surface, most_growth, where);
  const bool was_solid = body.encloses_volume;
  body.mesh = Mesh{};
  body.mesh.points = body.point_map.positions(body.nodes);
  body.mesh.faces = surface.faces;
  set_surface(body);
  body.encloses_volume = is_closed_surface(surface);
  if (was_solid && !body.encloses_volume)
    throw InputError(
        "{}: is open, but the body is a solid, which contact must be able to tell inside from outside; close "
        "the surface",
        where);
  result.body = std::move(body);
  return result;
}

}  // namespace

CollisionSkin with_collision_skin(Body body, const Mesh& surface, const std::string& where) {
  if (body.kind == BodyKind::affine || body.kind == BodyKind::rigid)
    return with_whole_skin(std::move(body), surface, where);
  ensure(body.kind == BodyKind::volume && body.elastic, "with_collision_skin: a volume");
  const Eigen::MatrixXi nodes = cell_nodes(*body.elastic);
  const LagrangeTetrahedron basis(body.elastic->lagrange ? body.elastic->lagrange->degree : 1);
  const CellShapes shapes(body.mesh);
  const Embedding embedding = embed(surface.points, shapes, where);
  Rows rows;
  Matrix3X offset = Matrix3X::Zero(3, surface.point_count());
  for (Index i = 0; i < surface.point_count(); ++i) {
    const VectorX values = basis.values(embedding.xi.col(i));
    const Index cell = embedding.cell[std::size_t(i)];
    std::vector<Influence>& row = rows.emplace_back();
    if (shapes.degree() > basis.degree()) offset.col(i) = shapes.place(cell, embedding.xi.col(i));
    for (Index a = 0; a < values.size(); ++a) {
      if (std::abs(values[a]) <= 1e-15) continue;
      row.push_back({nodes(a, cell), values[a]});
      if (shapes.degree() > basis.degree()) offset.col(i) -= values[a] * body.nodes.col(nodes(a, cell));
    }
  }
  CollisionSkin result;
  result.outside = embedding.outside;
  set_growth(rows, result);
  check_growth(result, surface, most_growth, where);
  replace_surface(body, surface, rows, offset);
  body.elastic->cell_of_face.clear();
  for (Index f = 0; f < surface.faces.cols(); ++f)
    body.elastic->cell_of_face.push_back(embedding.cell[std::size_t(surface.faces(0, f))]);
  result.body = std::move(body);
  return result;
}

namespace {

/// Of each node, a cell that has it.
std::vector<Index> cell_of_node(const Eigen::MatrixXi& cells, Index count) {
  std::vector<Index> result(static_cast<std::size_t>(count), 0);
  for (Index t = 0; t < cells.cols(); ++t)
    for (Index a = 0; a < cells.rows(); ++a) result[std::size_t(cells(a, t))] = t;
  return result;
}

/// Where weights put points of a surface.
class SkinPlaces {
 public:
  explicit SkinPlaces(const Body& body) : body_(body) {
    const auto& lagrange = body.elastic->lagrange;
    leaves_ = lagrange && lagrange->offset.cols() > 0;
    if (!leaves_) return;
    cells_of_.resize(std::size_t(body.node_count()));
    for (Index t = 0; t < lagrange->nodes.cols(); ++t)
      for (const int node : lagrange->nodes.col(t)) cells_of_[std::size_t(node)].push_back(t);
  }

  /// Whether the nodes leave a part of the shape, x₀.
  bool leaves_offset() const { return leaves_; }

  /// By the nodes alone.
  Vector3 by_nodes(const std::vector<Influence>& row) const {
    Vector3 x = Vector3::Zero();
    for (const Influence& w : row) x += w.weight * body_.nodes.col(w.node);
    return x;
  }

  /// By the shape of the cell whose nodes have weights. Weights are the values N_a(ξ) at a place ξ of one
  /// cell, and reproduce it: ξ = Σ w_a ξ_a. The nearest to `x` over all cells that have the nodes; none if
  /// weights are no such values anywhere.
  std::optional<Vector3> by_shape(const std::vector<Influence>& row, const Vector3& x) const {
    const LagrangeCells& cells = *body_.elastic->lagrange;
    const LagrangeTetrahedron basis(cells.degree), shape(cells.shape_degree);
    const Matrix3X places = basis.nodes();
    std::optional<Vector3> nearest;
    for (const Index t : cells_of_[std::size_t(row.front().node)]) {
      VectorX values = VectorX::Zero(basis.node_count());
      bool has_all = true;
      for (const Influence& w : row) {
        const auto nodes = cells.nodes.col(t);
        const auto at = std::ranges::find(nodes, int(w.node)) - nodes.begin();
        has_all = has_all && at < nodes.size();
        if (has_all) values[Index(at)] += w.weight;
      }
      if (!has_all) continue;
      const Vector3 xi = places * values;
      if ((basis.values(xi) - values).cwiseAbs().maxCoeff() > 1e-6 * values.cwiseAbs().sum()) continue;
      const Index n = shape.node_count();
      const Vector3 found = cells.rest.middleCols(t * n, n) * shape.values(xi);
      if (!nearest || (found - x).norm() < (*nearest - x).norm()) nearest = found;
    }
    return nearest;
  }

 private:
  const Body& body_;
  bool leaves_;
  std::vector<std::vector<Index>> cells_of_;  ///< each node; empty if nothing is left
};

}  // namespace

CollisionSkin with_collision_weights(Body body, const Mesh& surface, const Rows& weights,
                                     const std::string& where) {
  ensure(body.kind == BodyKind::volume && body.elastic, "with_collision_weights: a volume");
  ensure(Index(weights.size()) == surface.point_count(), "with_collision_weights: a row for each point");
  const double size = bounding_box(body.nodes).diagonal();
  const SkinPlaces followed(body);
  Matrix3X offset = Matrix3X::Zero(3, surface.point_count());
  for (Index i = 0; i < surface.point_count(); ++i) {
    const std::vector<Influence>& row = weights[std::size_t(i)];
    double sum = 0;
    for (const Influence& w : row) sum += w.weight;
    if (!(std::abs(sum - 1) < 1e-6))
      throw InputError(
          "{}: the weights of point {} add up to {:g}, must add up to 1; leave the weights out to have them "
          "computed",
          where, i, sum);
    const Vector3 x = surface.points.col(i), by_nodes = followed.by_nodes(row);
    std::optional<Vector3> found = by_nodes;
    if (followed.leaves_offset()) found = followed.by_shape(row, x);
    if (!found)
      throw InputError(
          "{}: the weights of point {} are those of no place of a cell of the mesh; they belong to another "
          "mesh or another basis_order: leave the weights out to have them computed",
          where, i);
    const double most = size * (followed.leaves_offset() ? roughly_reproduced : reproduced);
    if (!((*found - x).norm() <= most))
      throw InputError(
          "{}: the weights put point {} to ({:g}, {:g}, {:g}), but it is at ({:g}, {:g}, {:g}), {:.3g} m "
          "away "
          "(at most {:.2g} m is accepted); they belong to another mesh, another surface or another "
          "basis_order: leave the weights out to have them computed",
          where, i, (*found)[0], (*found)[1], (*found)[2], x[0], x[1], x[2], (*found - x).norm(), most);
    if (followed.leaves_offset()) offset.col(i) = x - by_nodes;
  }
  CollisionSkin result;
  set_growth(weights, result);
  check_growth(result, surface, most_given_growth, where);
  replace_surface(body, surface, weights, offset);
  const std::vector<Index> cell_of = cell_of_node(cell_nodes(*body.elastic), body.node_count());
  body.elastic->cell_of_face.clear();
  for (Index f = 0; f < surface.faces.cols(); ++f) {
    const auto& row = weights[std::size_t(surface.faces(0, f))];
    const auto largest = std::ranges::max_element(row, {}, &Influence::weight);
    body.elastic->cell_of_face.push_back(cell_of[std::size_t(largest->node)]);
  }
  result.body = std::move(body);
  return result;
}

std::vector<Index> nodes_in_order(const Body& body, const Mesh& mesh, const NodeOrder& order,
                                  const std::string& where) {
  const auto& lagrange = body.elastic->lagrange;
  const int p = lagrange ? lagrange->degree : 1;
  const Eigen::MatrixXi nodes = cell_nodes(*body.elastic);
  std::vector<Index> result;
  const Eigen::MatrixXi points =
      mesh.curved.empty() ? Eigen::MatrixXi(mesh.tetrahedra) : mesh.curved.front().points;
  if (points.rows() == nodes.rows()) {
    result.assign(std::size_t(mesh.point_count()), -1);
    for (Index t = 0; t < points.cols(); ++t)
      for (Index a = 0; a < points.rows(); ++a) result[std::size_t(points(a, t))] = nodes(a, t);
    return result;
  }
  if (p > 1 && order.edges.empty())
    throw InputError(
        "{}: does not say which nodes its columns are: the mesh has degree {}, basis_order is {}, and there "
        "is no \"ordered_edges\"; leave the weights out to have them computed",
        where, mesh.curved.empty() ? 1 : mesh.curved.front().degree, p);
  const Tetrahedra corners = mesh.corners();
  const LagrangeTetrahedron basis(p);
  LatticeNumbering numbering(p);
  std::vector<Index> node;  // by number
  for (Index t = 0; t < corners.cols(); ++t)
    for (Index a = 0; a < basis.node_count(); ++a) {
      const auto number =
          std::size_t(numbering.number(std::span(corners.col(t).data(), 4), basis.lattice()[std::size_t(a)]));
      if (number == node.size()) node.push_back(nodes(a, t));
    }
  const auto add = [&](std::span<const Index> between, std::span<const int> place) {
    const auto number = std::size_t(numbering.number(between, place));
    if (number >= node.size())
      throw InputError(
          "{}: names points {} as a corner, an edge or a face, which the mesh does not have; the weights "
          "belong to another mesh: leave them out to have them computed",
          where, fmt::join(between, ", "));
    result.push_back(node[number]);
  };
  if (order.corners.empty())
    for (Index i = 0; i < mesh.point_count(); ++i) add(std::array{i}, std::array{p});
  for (const Index corner : order.corners) add(std::array{corner}, std::array{p});
  for (const auto& edge : order.edges)
    for (int i = 1; i < p; ++i) add(edge, std::array{p - i, i});
  if (p == 3)
    for (const auto& face : order.faces) add(face, std::array{1, 1, 1});
  return result;
}

}  // namespace apart
