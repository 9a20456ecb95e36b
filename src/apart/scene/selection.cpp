#include <apart/geometry/aabb.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/selection.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace apart {

namespace {

using Predicate = std::function<bool(const Vector3&)>;

Predicate in_box(const LocatedJson& box, const Aabb& bounds, double slack) {
  Vector3 low = box["min"].vector(), high = box["max"].vector();
  for (int k = 0; k < 3; ++k)
    if (low[k] > high[k])
      box["max"].fail("got {}, must not be below min {}; exchange them", text_of(high), text_of(low));
  if (box["relative"].boolean()) {
    const Vector3 extent = bounds.upper - bounds.lower;
    low = bounds.lower + low.cwiseProduct(extent);
    high = bounds.lower + high.cwiseProduct(extent);
  }
  return [=](const Vector3& x) {
    return ((x - low).array() >= -slack).all() && ((high - x).array() >= -slack).all();
  };
}

Predicate in_ball(const LocatedJson& ball, double slack) {
  const Vector3 center = ball["center"].vector();
  const double radius = ball["radius"].number();
  return [=](const Vector3& x) { return (x - center).norm() <= radius + slack; };
}

Predicate beyond_plane(const LocatedJson& plane, double slack) {
  const Vector3 origin = plane["origin"].vector(), normal = read_direction(plane["normal"]);
  return [=](const Vector3& x) { return normal.dot(x - origin) >= -slack; };
}

Predicate where_true(const LocatedJson& value) {
  const Expression formula(value.text());
  if (formula.uses('t'))
    value.fail("got \"{}\", must not use t; points are chosen once, at the start", value.text());
  return [=](const Vector3& x) {
    const double truth = formula(x[0], x[1], x[2], 0);
    return truth != 0 && truth == truth;
  };
}

void add_index(const LocatedJson& value, std::int64_t index, Index point_count, std::vector<Index>& chosen) {
  if (index < 0 || index >= point_count)
    value.fail("got {}, must be a point of the mesh, 0 to {}; points are counted from 0", index,
               point_count - 1);
  chosen.push_back(Index(index));
}

std::vector<Index> listed(const LocatedJson& selection, Index point_count) {
  std::vector<Index> chosen;
  if (selection.has("indices")) {
    for (const LocatedJson& index : selection["indices"].items())
      add_index(index, index.integer(), point_count, chosen);
  } else {
    const LocatedJson file = selection["index_file"];
    file.locate([&] {
      FileReader reader(file.text());
      while (reader.skip_blank()) add_index(file, reader.integer("index of a point"), point_count, chosen);
    });
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

const MeshGroup& named_group(const LocatedJson& name, const Mesh& mesh) {
  const auto found = mesh.groups.find(name.text());
  if (found != mesh.groups.end()) return found->second;
  if (mesh.groups.empty())
    name.fail(
        "got \"{}\", but the mesh has no groups; take a Gmsh file with physical groups, or choose by "
        "position",
        name.text());
  std::vector<std::string> known;
  for (const auto& [known_name, group] : mesh.groups) known.push_back(fmt::format("\"{}\"", known_name));
  name.fail("got \"{}\", which is no group of the mesh; its groups are {}", name.text(),
            fmt::join(known, ", "));
}

}  // namespace

std::string text_of(const Vector3& v) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", v[0], v[1], v[2]);
}

std::vector<Index> select_points(const LocatedJson& selection, const PlacedMesh& placed) {
  const Mesh& mesh = placed.mesh;
  const Matrix3X& points = mesh.points;
  if (selection.has("group")) {
    const MeshGroup& group = named_group(selection["group"], mesh);
    if (group.points.empty())
      selection["group"].fail("got \"{}\", none of whose points belongs to the body; choose another",
                              selection["group"].text());
    return {group.points.begin(), group.points.end()};
  }
  if (selection.has("indices") || selection.has("index_file")) {
    if (placed.renumbered)
      selection.fail(
          "counts points of a mesh in which some belong to no cell, or coincide with others, and are left "
          "out; "
          "choose by position instead, or remove those points from the mesh");
    return listed(selection, Index(points.cols()));
  }
  const Aabb bounds = bounding_box(points);
  const double slack = 1e-9 * bounds.diagonal();
  Predicate chosen = [](const Vector3&) { return true; };
  if (selection.has("box"))
    chosen = in_box(selection["box"], bounds, slack);
  else if (selection.has("sphere"))
    chosen = in_ball(selection["sphere"], slack);
  else if (selection.has("plane"))
    chosen = beyond_plane(selection["plane"], slack);
  else if (selection.has("expression"))
    chosen = where_true(selection["expression"]);
  else if (!selection["all"].boolean())
    selection["all"].fail("got false, must be true; or choose by box, sphere, ...");
  std::vector<Index> result;
  for (Index i = 0; i < points.cols(); ++i)
    if (chosen(points.col(i))) result.push_back(i);
  if (result.empty())
    selection.fail("got {}, which chooses none of the body's points; they lie between {} and {}",
                   to_short_text(selection.value()), text_of(bounds.lower), text_of(bounds.upper));
  return result;
}

std::vector<Index> select_tetrahedra(const LocatedJson& selection, const PlacedMesh& placed) {
  const Mesh& mesh = placed.mesh;
  if (selection.has("group")) {
    const MeshGroup& group = named_group(selection["group"], mesh);
    if (!group.tetrahedra.empty()) return {group.tetrahedra.begin(), group.tetrahedra.end()};
  }
  std::vector<char> chosen(std::size_t(mesh.point_count()), false);
  for (const Index p : select_points(selection, placed)) chosen[std::size_t(p)] = true;
  std::vector<Index> result;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    const auto cell = mesh.tetrahedra.col(t);
    if (std::all_of(cell.begin(), cell.end(), [&](int p) { return chosen[std::size_t(p)]; }))
      result.push_back(t);
  }
  if (result.empty())
    selection.fail("got {}, which chooses no tetrahedron with all its points; choose more",
                   to_short_text(selection.value()));
  return result;
}

std::vector<Index> select_triangles(const LocatedJson& selection, const PlacedMesh& placed,
                                    const Faces& faces) {
  const Mesh& mesh = placed.mesh;
  const MeshGroup* group = selection.has("group") ? &named_group(selection["group"], mesh) : nullptr;
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
