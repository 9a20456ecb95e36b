#include <apart/core/counted.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/selection.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace apart {

namespace {

using Predicate = std::function<bool(const Vector3&)>;

Predicate in_box(const BoxDescription& box, const Aabb& bounds, double slack) {
  Vector3 low = box.min, high = box.max;
  for (int k = 0; k < 3; ++k)
    if (low[k] > high[k])
      box.place["max"].fail("got {}, must not be below min {}; exchange them", text_of(high), text_of(low));
  if (box.relative) {
    const Vector3 extent = bounds.upper - bounds.lower;
    low = bounds.lower + low.cwiseProduct(extent);
    high = bounds.lower + high.cwiseProduct(extent);
  }
  return [=](const Vector3& x) {
    return ((x - low).array() >= -slack).all() && ((high - x).array() >= -slack).all();
  };
}

Predicate in_ball(const BallDescription& ball, double slack) {
  return [center = ball.center, reach = ball.radius + slack](const Vector3& x) {
    return (x - center).norm() <= reach;
  };
}

Predicate beyond_plane(const PlaneDescription& plane, double slack) {
  return [origin = plane.origin, normal = make_direction(plane.normal, plane.place["normal"]),
          slack](const Vector3& x) { return normal.dot(x - origin) >= -slack; };
}

Predicate where_true(const ExpressionSelection& selection) {
  const Expression formula(selection.expression);
  if (formula.uses('t'))
    selection.place["expression"].fail("got \"{}\", must not use t; points are chosen once, at the start",
                                       selection.expression);
  return [=](const Vector3& x) {
    const double truth = formula(x[0], x[1], x[2], 0);
    return truth != 0 && truth == truth;
  };
}

void add_index(const Place& place, std::int64_t index, Index point_count, std::vector<Index>& chosen) {
  if (index < 0 || index >= point_count)
    place.fail("got {}, must be a point of the mesh, 0 to {}; points are counted from 0", index,
               point_count - 1);
  chosen.push_back(Index(index));
}

const MeshGroup& named_group(const GroupSelection& selection, const Mesh& mesh) {
  const auto found = mesh.groups.find(selection.name);
  if (found != mesh.groups.end()) return found->second;
  const Place place = selection.place["group"];
  if (mesh.groups.empty())
    place.fail(
        "got \"{}\", but the mesh has no groups; take a Gmsh file with physical groups, or choose by "
        "position",
        selection.name);
  std::vector<std::string> known;
  for (const auto& [known_name, group] : mesh.groups) known.push_back(fmt::format("\"{}\"", known_name));
  place.fail("got \"{}\", which is no group of the mesh; its groups are {}", selection.name,
             fmt::join(known, ", "));
}

/// Chooses the points of one mesh.
class PointChooser {
 public:
  explicit PointChooser(const PlacedMesh& placed)
      : placed_(placed), bounds_(bounding_box(placed.mesh.points)), slack_(1e-9 * bounds_.diagonal()) {}

  std::vector<Index> operator()(const GroupSelection& s) const {
    const MeshGroup& group = named_group(s, placed_.mesh);
    if (group.points.empty())
      s.place["group"].fail("got \"{}\", none of whose points belongs to the body; choose another", s.name);
    return {group.points.begin(), group.points.end()};
  }
  std::vector<Index> operator()(const IndexSelection& s) const {
    refuse_renumbered(s);
    if (s.of && *s.of != placed_.mesh.point_count())
      s.place["of"].fail("got {}, but the mesh has {}: choose among these, with one truth value for each",
                         *s.of, counted(placed_.mesh.point_count(), "point"));
    std::vector<Index> chosen;
    for (std::size_t i = 0; i < s.indices.size(); ++i)
      add_index(s.place["indices"][i], s.indices[i], placed_.mesh.point_count(), chosen);
    return sorted(std::move(chosen));
  }
  std::vector<Index> operator()(const IndexFileSelection& s) const {
    refuse_renumbered(s);
    std::vector<Index> chosen;
    const Place place = s.place["index_file"];
    place.locate([&] {
      FileReader reader(s.index_file);
      while (reader.skip_blank())
        add_index(place, reader.integer("index of a point"), placed_.mesh.point_count(), chosen);
    });
    return sorted(std::move(chosen));
  }
  std::vector<Index> operator()(const BoxSelection& s) const {
    return where(s, in_box(s.box, bounds_, slack_));
  }
  std::vector<Index> operator()(const SphereSelection& s) const {
    return where(s, in_ball(s.sphere, slack_));
  }
  std::vector<Index> operator()(const PlaneSelection& s) const {
    return where(s, beyond_plane(s.plane, slack_));
  }
  std::vector<Index> operator()(const ExpressionSelection& s) const { return where(s, where_true(s)); }
  std::vector<Index> operator()(const AllSelection& s) const {
    if (!s.all) s.place["all"].fail("got false, must be true; or choose by box, sphere, ...");
    return where(s, [](const Vector3&) { return true; });
  }

 private:
  void refuse_renumbered(const Selection& s) const {
    if (placed_.renumbered)
      s.place.fail(
          "counts points of a mesh in which some belong to no cell, or coincide with others, and are "
          "dropped; choose by position instead, or remove those points from the mesh");
  }
  static std::vector<Index> sorted(std::vector<Index> chosen) {
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
  }
  template <class S>
  std::vector<Index> where(const S& selection, const Predicate& chosen) const {
    const Matrix3X& points = placed_.mesh.points;
    std::vector<Index> result;
    for (Index i = 0; i < points.cols(); ++i)
      if (chosen(points.col(i))) result.push_back(i);
    if (result.empty())
      selection.place.fail("got {}, which chooses none of the body's points; they lie between {} and {}",
                           short_text(selection), text_of(bounds_.lower), text_of(bounds_.upper));
    return result;
  }

  const PlacedMesh& placed_;
  Aabb bounds_;
  double slack_;
};

}  // namespace

std::string text_of(const Vector3& v) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", v[0], v[1], v[2]);
}

std::string set_name(const SelectionDescription& selection) {
  if (const auto* by_name = std::get_if<GroupSelection>(&selection))
    return fmt::format("group {}", by_name->name);
  return place_of(selection).path();
}

std::vector<Index> select_points(const SelectionDescription& selection, const PlacedMesh& placed) {
  return std::visit(PointChooser(placed), selection);
}

std::vector<Index> select_tetrahedra(const SelectionDescription& selection, const PlacedMesh& placed) {
  const Mesh& mesh = placed.mesh;
  if (const auto* by_name = std::get_if<GroupSelection>(&selection)) {
    const MeshGroup& group = named_group(*by_name, mesh);
    if (!group.tetrahedra.empty()) return {group.tetrahedra.begin(), group.tetrahedra.end()};
  }
  std::vector<char> chosen(std::size_t(mesh.point_count()), false);
  for (const Index p : select_points(selection, placed)) chosen[std::size_t(p)] = true;
  std::vector<Index> result;
  const Tetrahedra cells = mesh.corners();
  for (Index t = 0; t < cells.cols(); ++t) {
    const auto cell = cells.col(t);
    if (std::all_of(cell.begin(), cell.end(), [&](int p) { return chosen[std::size_t(p)]; }))
      result.push_back(t);
  }
  if (result.empty())
    place_of(selection).fail("got {}, which chooses no tetrahedron with all its points; choose more",
                             short_text(selection));
  return result;
}

std::vector<Index> select_triangles(const SelectionDescription& selection, const PlacedMesh& placed,
                                    const Faces& faces) {
  const Mesh& mesh = placed.mesh;
  const auto* by_name = std::get_if<GroupSelection>(&selection);
  const MeshGroup* group = by_name ? &named_group(*by_name, mesh) : nullptr;
  const bool listed = group && !group->triangles.empty();
  std::vector<char> chosen(std::size_t(mesh.point_count()), false);
  if (!listed)
    for (const Index p : select_points(selection, placed)) chosen[std::size_t(p)] = true;
  std::vector<Index> result;
  for (Index f = 0; f < faces.cols(); ++f) {
    std::array<int, 3> corners = {faces(0, f), faces(1, f), faces(2, f)};
    std::sort(corners.begin(), corners.end());
    if (listed ? std::binary_search(group->triangles.begin(), group->triangles.end(), corners)
               : std::all_of(corners.begin(), corners.end(), [&](int p) { return chosen[std::size_t(p)]; }))
      result.push_back(f);
  }
  return result;
}

}  // namespace apart
