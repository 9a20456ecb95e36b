// Meshes made, read or written out as described. Keys, units and defaults are in catalog_meshes.cpp.
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/curved_mesh.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/geometry/weld.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/io/tetgen.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/meshes.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/surface_tree.hpp>

#include <cmath>
#include <numbers>

namespace apart {

namespace {

/// A typing error must not exhaust the memory.
void check_cell_count(const Place& place, double count) {
  constexpr double most = 2e7;
  if (count > most)
    place.fail("asks for about {:.2g} cells, at most {:.0e} are made; use fewer", count, most);
}

/// Merges points of a mesh file that are closer to each other than a share of its diagonal; returns how many
/// were dropped.
Index weld(Mesh& mesh, double share) {
  return share > 0 && mesh.point_count() > 0 ? weld_points(mesh, share * bounding_box(mesh.points).diagonal())
                                             : 0;
}

/// Fills a surface if that is wanted.
Mesh filled(Mesh mesh, const Tetrahedralize& fill, const Place& place) {
  const bool* wanted = std::get_if<bool>(&fill);
  if (wanted && !*wanted) return mesh;
  if (mesh.is_volume())
    place.fail("got {}, but the mesh has tetrahedra already; remove the key", short_text(fill));
  TetrahedralizeOptions options;
  if (const auto* how = std::get_if<TetrahedralizationDescription>(&fill)) {
    options.radius_edge_ratio = how->radius_edge_ratio;
    if (how->max_volume) options.max_volume = *how->max_volume;
  }
  return tetrahedralize(mesh, place.message("mesh"), options);
}

/// The value of an angle, which has many, that is nearest to another.
double angle_near(double angle, double other) {
  return other + std::remainder(angle - other, 2 * std::numbers::pi);
}

/// Four corners of a cell in a plane.
template <class Project>
std::array<Vector2, 4> projected(const std::array<Vector3, 4>& corners, const Project& project) {
  return {project(corners[0]), project(corners[1]), project(corners[2]), project(corners[3])};
}

/// The point between corners whose distance from the origin and angle around it are means of theirs. Corners
/// at the origin have no angle. Cells with round sides whose points are placed so are valid up to angles of a
/// third of a turn; points that are projected crowd where angles are large, and polynomials turn back.
Vector2 polar_mean(const std::array<Vector2, 4>& corners, const Vector4& weights) {
  double largest = 0, distance = 0, angle = 0, first = 0, with_angle = 0;
  for (const Vector2& x : corners) largest = std::max(largest, x.norm());
  for (std::size_t k = 0; k < 4; ++k) {
    const double w = weights[Index(k)], r = corners[k].norm();
    distance += w * r;
    if (w == 0 || r < 1e-9 * largest) continue;
    const double turn = std::atan2(corners[k][1], corners[k][0]);
    if (with_angle == 0) first = turn;
    angle += w * angle_near(turn, first);
    with_angle += w;
  }
  if (with_angle > 0) angle /= with_angle;
  return distance * Vector2(std::cos(angle), std::sin(angle));
}

/// A generated solid, or its surface, whose cells are of degree `order`. `follow` makes straight ones follow
/// the shape.
template <class Generate, class Follow>
MeshResult curved(const Generate& make, int order, const MeshRequest& request, const Follow& follow) {
  if (order == 1) return {make(request.content)};
  Mesh mesh = lifted(make(generate::Content::tetrahedra), order);
  follow(mesh);
  if (request.content == generate::Content::tetrahedra) return {std::move(mesh)};
  mesh.faces = boundary_faces(mesh.curved.front());
  mesh.curved.clear();
  return {remove_unreferenced_points(mesh)};
}

template <class Cells, class List>
Cells cells_of(const List& list, const Place& place, Index point_count) {
  Cells cells(Cells::RowsAtCompileTime, Index(list.size()));
  for (Index c = 0; c < cells.cols(); ++c)
    for (int k = 0; k < cells.rows(); ++k) {
      cells(k, c) = list[std::size_t(c)][k];
      if (cells(k, c) >= point_count)
        place[std::size_t(c)][std::size_t(k)].fail(
            "got {}, must be a point, 0 to {}; points are counted from 0", cells(k, c), point_count - 1);
    }
  return cells;
}

/// Whether a surface can be filled with tetrahedra on request; files and written-out meshes name their own
/// places in messages.
bool is_fillable(const MeshDescription& mesh) {
  return std::holds_alternative<FileMesh>(mesh) || std::holds_alternative<InlineMesh>(mesh);
}

}  // namespace

NestedMesh::NestedMesh() : NestedMesh(MeshHolder{SphereMesh{}}) {}
NestedMesh::NestedMesh(const MeshHolder& mesh) : mesh_(std::make_shared<const MeshHolder>(mesh)) {}

MeshResult make_mesh(const MeshDescription& mesh, const MeshRequest& request) {
  const auto make = [&] { return std::visit([&](const auto& m) { return m.make(request); }, mesh); };
  return is_fillable(mesh) ? make() : place_of(mesh).locate(make);
}

Mesh transformed(const Mesh& mesh, const TransformDescription& transform) {
  const Matrix3 linear = make_rotation(transform.rotate) * per_axis(transform.scale).asDiagonal();
  return transformed(mesh, linear, transform.translate);
}

MeshPlace mesh_place(const MeshDescription& mesh, const std::string& whose) {
  const Place& place = place_of(mesh);
  return {place.message(""), place.message(whose), is_fillable(mesh)};
}

// ---- Generators -----------------------------------------------------------------------------------------

MeshResult BoxMesh::make(const MeshRequest& request) const {
  const Eigen::Vector3i n = per_axis(cells);
  check_cell_count(place, 6 * n.cast<double>().prod());
  return {generate::box(per_axis(size), n, request.content)};
}

MeshResult SphereMesh::make(const MeshRequest& request) const {
  const double n = resolution;
  check_cell_count(place, 50 * n * n * n);
  return curved([&](generate::Content content) { return generate::sphere(radius, resolution, content); },
                curve, request, curve_ball);
}

MeshResult TorusMesh::make(const MeshRequest& request) const {
  if (minor >= major)
    place["minor"].fail("got {}, must be smaller than major ({}); else the ring cuts itself", minor, major);
  check_cell_count(place, double(ring_cells) * double(tube_cells) * double(tube_cells));
  const auto follow = [&](Mesh& mesh) {
    place_points(mesh, [&](const std::array<Vector3, 4>& corners, const Vector4& weights) -> Vector3 {
      const auto around_ring = [](const Vector3& x) -> Vector2 { return Vector2(x[0], x[2]).normalized(); };
      const auto around_tube = [&](const Vector3& x) {
        return Vector2(std::hypot(x[0], x[2]) - major, x[1]);
      };
      const Vector2 ring = polar_mean(projected(corners, around_ring), weights),
                    tube = polar_mean(projected(corners, around_tube), weights);
      return {(major + tube[0]) * ring[0], tube[1], (major + tube[0]) * ring[1]};
    });
  };
  return curved(
      [&](generate::Content content) {
        return generate::torus(major, minor, ring_cells, tube_cells, content);
      },
      curve, request, follow);
}

MeshResult CylinderMesh::make(const MeshRequest& request) const {
  const double n = resolution;
  check_cell_count(place, 20 * n * n * length_cells);
  return curved(
      [&](generate::Content content) {
        return generate::cylinder(radius, length, resolution, length_cells, content);
      },
      curve, request,
      [&](Mesh& mesh) {
        place_points(mesh, [&](const std::array<Vector3, 4>& corners, const Vector4& weights) -> Vector3 {
          const auto across = [](const Vector3& x) { return Vector2(x[0], x[2]); };
          const Vector2 round = polar_mean(projected(corners, across), weights);
          double y = 0;
          for (std::size_t k = 0; k < 4; ++k) y += weights[Index(k)] * corners[k][1];
          return {round[0], y, round[1]};
        });
      });
}

MeshResult MatMesh::make(const MeshRequest& request) const {
  check_cell_count(place, 6.0 * cells * cells);
  return {generate::mat(width, thickness, cells, request.content)};
}

MeshResult BarMesh::make(const MeshRequest& request) const {
  check_cell_count(place, 6.0 * cells * cross_cells * cross_cells);
  const double angle = bend * std::numbers::pi / 180, half = 0.5 * thickness;
  if (std::abs(angle) * half >= length)
    place["bend"].fail(
        "got {} degrees, at which the inner side of the bar would have no length; its radius, length / "
        "angle, must be larger than half the thickness: at most {:.4g} degrees",
        bend, length / half * 180 / std::numbers::pi);
  const auto bent = [&](Mesh mesh) {
    if (angle == 0) return mesh;
    const double radius = length / angle;  // of the centre line
    for (Index p = 0; p < mesh.point_count(); ++p) {
      const Vector3 x = mesh.points.col(p);
      const double turn = x[0] / radius;
      mesh.points.col(p) << (radius - x[1]) * std::sin(turn), radius - (radius - x[1]) * std::cos(turn), x[2];
    }
    return mesh;
  };
  const auto straight = [&](generate::Content content) {
    return generate::rod(length, thickness, cells, cross_cells, content);
  };
  if (curve == 1) return {bent(straight(request.content))};
  return curved(straight, curve, request, [&](Mesh& mesh) { mesh = bent(std::move(mesh)); });
}

MeshResult SpikeMesh::make(const MeshRequest& request) const {
  return {generate::spike(width, height, request.content)};
}

MeshResult WedgeMesh::make(const MeshRequest& request) const {
  return {generate::wedge(width, height, length, request.content)};
}

MeshResult VoussoirMesh::make(const MeshRequest& request) const {
  if (outer <= inner) place["outer"].fail("got {}, must be greater than inner ({})", outer, inner);
  if (to <= from) place["to"].fail("got {}, must be greater than from ({})", to, from);
  const Eigen::Vector3i n = per_axis(cells);
  check_cell_count(place, 6 * n.cast<double>().prod());
  return {generate::voussoir({inner, outer, depth, from, to}, n, request.content)};
}

MeshResult PrismMesh::make(const MeshRequest& request) const {
  return {generate::prism(corners, holes, depth, edge.value_or(0), request.content)};
}

MeshResult GridMesh::make(const MeshRequest&) const {
  check_cell_count(place, double(cells[0]) * double(cells[1]));
  return {generate::grid(size[0], size[1], cells[0], cells[1])};
}

MeshResult RectangleMesh::make(const MeshRequest&) const {
  check_cell_count(place, 2.0 * double(cells[0]) * double(cells[1]));
  return {generate::rectangle(size, cells)};
}

MeshResult QuadrilateralMesh::make(const MeshRequest&) const {
  check_cell_count(place, 2.0 * double(cells[0]) * double(cells[1]));
  return {generate::quadrilateral({corners[0], corners[1], corners[2], corners[3]}, cells)};
}

MeshResult DiscMesh::make(const MeshRequest&) const {
  check_cell_count(place, 6.0 * double(resolution) * double(resolution));
  return {generate::disc(radius, resolution)};
}

MeshResult PolygonMesh::make(const MeshRequest&) const {
  return {generate::polygon(corners, holes, edge)};
}

MeshResult BowlMesh::make(const MeshRequest&) const {
  check_cell_count(place, 6.0 * resolution * resolution);
  return {generate::bowl(radius, angle, resolution)};
}

MeshResult RevolutionMesh::make(const MeshRequest&) const {
  check_cell_count(place, 2.0 * double(profile.size()) * resolution);
  for (std::size_t i = 0; i < profile.size(); ++i) {
    if (!(profile[i][0] > 0)) place["profile"][i][0].fail("got {}, a radius must be positive", profile[i][0]);
    if (i > 0 && profile[i] == profile[i - 1])
      place["profile"][i].fail("is the same as the point before it; leave it out");
  }
  return {generate::revolution(profile, resolution)};
}

MeshResult RibbonMesh::make(const MeshRequest&) const {
  check_cell_count(place, 2.0 * double(cells[0]) * double(cells[1]));
  for (std::size_t i = 1; i < path.size(); ++i)
    if (path[i - 1][0] == path[i][0] && path[i - 1][2] == path[i][2])
      place["path"][i].fail("is above or below the point before it; the strip stands upright there");
  return {generate::ribbon(path, width, cells[0], cells[1])};
}

MeshResult SegmentsMesh::make(const MeshRequest&) const {
  return {generate::segments(length, cells)};
}

MeshResult BundleMesh::make(const MeshRequest&) const {
  check_cell_count(place, counts.cast<double>().prod() * cells);
  return {generate::bundle(length, cells, counts, spacing, round)};
}

MeshResult HelixMesh::make(const MeshRequest&) const {
  check_cell_count(place, double(turns) * double(turn_cells));
  return {generate::helix(radius, pitch, turns, turn_cells)};
}

MeshResult RingMesh::make(const MeshRequest&) const {
  return {generate::ring(radius, cells)};
}

MeshResult NetMesh::make(const MeshRequest&) const {
  check_cell_count(place, 2.0 * double(count) * double(cells));
  return {generate::net(size, count, cells, distance)};
}

MeshResult HairMesh::make(const MeshRequest&) const {
  const MeshDescription& base = surface->mesh;
  if (std::holds_alternative<InlineMesh>(base))
    place["surface"].fail("is an inline mesh; hair grows on the mesh of a generator or a file");
  Mesh ground;
  if (const auto* source = std::get_if<FileMesh>(&base)) {
    ground = read_mesh(source->file);
    weld(ground, source->weld);
  } else {
    ground = make_mesh(base, {}).mesh;
  }
  return {generate::hair(ground, length, cells, root, every)};
}

MeshResult PointsMesh::make(const MeshRequest&) const {
  check_cell_count(place, counts.cast<double>().prod());
  return {generate::points(counts, spacing)};
}

MeshResult PackingMesh::make(const MeshRequest&) const {
  return {generate::packing(per_axis(size), radius, gap, count.value_or(0), unsigned(seed))};
}

// ---- Files, and meshes written out ----------------------------------------------------------------------

namespace {

/// Tetrahedra whose boundary follows the surface of a file.
Mesh curved_to(const FileMesh& d, const Mesh& mesh) {
  const Place from = d.place["curve"], to = d.place["to"];
  if (mesh.tetrahedra.cols() == 0 || !mesh.curved.empty())
    from.fail("got {}, but the mesh {}; it needs linear tetrahedra", *d.curve,
              mesh.curved.empty() ? "has no tetrahedra" : "is curved already");
  Mesh surface = to.locate([&] { return read_mesh(*d.to); });
  if (surface.is_volume()) {
    const Faces faces =
        surface.curved.empty() ? boundary_faces(surface.tetrahedra) : boundary_faces(surface.curved.front());
    surface.tetrahedra.resize(4, 0);
    surface.curved.clear();
    surface.faces = faces;
  }
  surface.edges.resize(2, 0);
  surface.vertices.resize(0);
  if (surface.faces.cols() == 0) to.fail("has no triangles; the boundary needs a surface to be curved to");
  const Body target = make_obstacle("surface", remove_unreferenced_points(surface));
  const SurfaceTree tree(target, false);
  Mesh result = lifted(mesh, *d.curve);
  const double most = 0.1 * bounding_box(mesh.points).diagonal();
  curve_to(result, [&](const Vector3& x) -> Vector3 {
    const Foot foot = tree.nearest(x);
    if (!(foot.distance <= most))
      to.fail(
          "is {:.3g} m away from the boundary at ({:g}, {:g}, {:g}), at most a tenth of the size of the mesh "
          "({:.3g} m) is accepted; both must be in the same place",
          foot.distance, x[0], x[1], x[2], most);
    Vector3 place = Vector3::Zero();
    for (int k = 0; k < 3; ++k)
      if (foot.points[std::size_t(k)] >= 0)
        place += foot.weights[k] * target.mesh.points.col(foot.points[std::size_t(k)]);
    return place;
  });
  return result;
}

}  // namespace

MeshResult FileMesh::make(const MeshRequest& request) const {
  const Place source = place["file"];
  MeshResult result{source.locate([&] { return read_mesh(file); })};
  if (!request.keep_points)
    if (const Index joined = apart::weld(result.mesh, weld); joined > 0)
      result.note =
          source.message(fmt::format("{} closer to others than {:g} of the mesh's diagonal and merged with "
                                     "them, {} left; \"weld\": 0 prevents this",
                                     joined == 1 ? "1 point is" : fmt::format("{} points are", joined), weld,
                                     result.mesh.point_count()));
  result.mesh = filled(std::move(result.mesh), tetrahedralize, place["tetrahedralize"]);
  if (curve) result.mesh = curved_to(*this, result.mesh);
  return result;
}

MeshResult InlineMesh::make(const MeshRequest&) const {
  Mesh mesh;
  mesh.points.resize(3, Index(points.size()));
  for (Index p = 0; p < mesh.points.cols(); ++p) mesh.points.col(p) = points[std::size_t(p)];
  mesh.tetrahedra = cells_of<Tetrahedra>(tetrahedra, place["tetrahedra"], mesh.point_count());
  mesh.faces = cells_of<Faces>(triangles, place["triangles"], mesh.point_count());
  mesh.edges = cells_of<Edges>(segments, place["segments"], mesh.point_count());
  if (mesh.tetrahedra.cols() + mesh.faces.cols() + mesh.edges.cols() == 0)
    mesh.vertices = Eigen::VectorXi::LinSpaced(mesh.point_count(), 0, mesh.point_count() - 1);
  return {filled(std::move(mesh), tetrahedralize, place["tetrahedralize"])};
}

}  // namespace apart
