#include <apart/basis/jacobian_bound.hpp>
#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace apart {

namespace {

/// Below this fraction of the cube (square) of the longest edge a volume (area) is rounding noise.
constexpr double flatness = 1e-14;

template <class Column>
std::string list_points(const Column& cell) {
  std::string result;
  for (Eigen::Index k = 0; k < cell.size(); ++k) result += fmt::format("{}{}", k == 0 ? "" : " ", cell[k]);
  return result;
}

std::string at(const Vector3& x) {
  return fmt::format("({:g}, {:g}, {:g})", x[0], x[1], x[2]);
}

void check_coordinates(const Mesh& mesh, const std::string& where) {
  for (Eigen::Index p = 0; p < mesh.points.cols(); ++p)
    if (!mesh.points.col(p).allFinite())
      throw InputError("{}: point {} is {}, must be finite; repair or export the mesh again", where, p,
                       at(mesh.points.col(p)));
}

/// Index ranges, repeated points in a cell, and cells with the same points.
template <class Cells>
void check_cells(const Mesh& mesh, const Cells& cells, const char* kind, const char* kinds,
                 const std::string& where) {
  constexpr int size = Cells::RowsAtCompileTime;
  if (cells.cols() == 0) throw InputError("{}: has no {}; use a mesh that has some", where, kinds);
  std::vector<std::pair<std::array<int, size>, Index>> sorted;
  sorted.reserve(std::size_t(cells.cols()));
  for (Index c = 0; c < cells.cols(); ++c) {
    std::array<int, size> points;
    for (int k = 0; k < size; ++k) {
      points[std::size_t(k)] = cells(k, c);
      if (cells(k, c) < 0 || cells(k, c) >= mesh.point_count())
        throw InputError("{}: {} {} uses point {}, must lie in [0, {}); repair the mesh", where, kind, c,
                         cells(k, c), mesh.point_count());
    }
    std::sort(points.begin(), points.end());
    if (std::adjacent_find(points.begin(), points.end()) != points.end())
      throw InputError("{}: {} {} uses a point twice (points {}); remove the {}", where, kind, c,
                       list_points(cells.col(c)), kind);
    sorted.emplace_back(points, c);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != sorted.end())
    throw InputError("{}: {} {} and {} have the same points ({}); remove one", where, kinds, twice->second,
                     std::next(twice)->second, list_points(cells.col(twice->second)));
}

double longest_edge(const Matrix3X& points, const int* cell, int size) {
  double longest = 0;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < i; ++j)
      longest = std::max(longest, (points.col(cell[i]) - points.col(cell[j])).norm());
  return longest;
}

double signed_volume(const Mesh& mesh, Index t) {
  const auto c = mesh.tetrahedra.col(t);
  return signed_volume6(mesh.points.col(c[0]), mesh.points.col(c[1]), mesh.points.col(c[2]),
                        mesh.points.col(c[3])) /
         6;
}

void check_faces_of_tetrahedra(const Tetrahedra& tetrahedra, const std::string& where) {
  static constexpr int local[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  std::vector<std::pair<std::array<int, 3>, Index>> faces;
  faces.reserve(4 * std::size_t(tetrahedra.cols()));
  for (Index t = 0; t < tetrahedra.cols(); ++t)
    for (const auto& f : local) {
      std::array<int, 3> face = {tetrahedra(f[0], t), tetrahedra(f[1], t), tetrahedra(f[2], t)};
      std::sort(face.begin(), face.end());
      faces.emplace_back(face, t);
    }
  std::sort(faces.begin(), faces.end());
  for (std::size_t i = 2; i < faces.size(); ++i)
    if (faces[i].first == faces[i - 2].first)
      throw InputError(
          "{}: the face with points {} {} {} belongs to more than two tetrahedra ({}, {} and {}), so the "
          "mesh overlaps "
          "itself; remove the superfluous ones",
          where, faces[i].first[0], faces[i].first[1], faces[i].first[2], faces[i - 2].second,
          faces[i - 1].second, faces[i].second);
}

/// Points of the cells of higher degree, and that each is positive everywhere.
void validate_curved(const Mesh& mesh, const std::string& where) {
  if (mesh.tetrahedra.cols() > 0 || mesh.curved.size() > 1)
    throw InputError("{}: has tetrahedra of degree {} and of degree {}, must be of one degree; save it so",
                     where, mesh.tetrahedra.cols() > 0 ? 1 : mesh.curved[0].degree,
                     mesh.curved.back().degree);
  const CurvedCells& cells = mesh.curved[0];
  for (Index t = 0; t < cells.points.cols(); ++t)
    for (const int point : cells.points.col(t))
      if (point < 0 || point >= mesh.point_count())
        throw InputError("{}: tetrahedron {} uses point {}, must lie in [0, {}); repair the mesh", where, t,
                         point, mesh.point_count());
  const Tetrahedra corners = mesh.corners();
  check_cells(mesh, corners, "tetrahedron", "tetrahedra", where);
  check_faces_of_tetrahedra(corners, where);
  const JacobianBound bound(cells.degree);
  for (Index t = 0; t < cells.points.cols(); ++t) {
    const Matrix3X x = mesh.points(Eigen::all, cells.points.col(t));
    if (bound.is_positive(x, x)) continue;
    const JacobianBound::Smallest smallest = bound.smallest(x);
    const Vector3 place = x * LagrangeTetrahedron(cells.degree).values(smallest.xi);
    throw InputError(
        "{}: the curved tetrahedron {} (corners {}) is inverted, or nearly, at {}: the determinant of its "
        "shape is {:.3g} there, where the largest is {:.3g}; it must be positive everywhere. Repair the "
        "mesh, make it finer, "
        "save it with straight edges, or check that its nodes are in the order of the format",
        where, t, list_points(corners.col(t)), at(place), smallest.value, bound.coefficients(x).maxCoeff());
  }
}

}  // namespace

void validate_volume(const Mesh& mesh, const std::string& where) {
  check_coordinates(mesh, where);
  if (!mesh.curved.empty()) return validate_curved(mesh, where);
  check_cells(mesh, mesh.tetrahedra, "tetrahedron", "tetrahedra", where);
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    const double volume = signed_volume(mesh, t);
    const double size = longest_edge(mesh.points, mesh.tetrahedra.col(t).data(), 4);
    if (!(std::abs(volume) > flatness * size * size * size))  // also if it overflows
      throw InputError(
          "{}: tetrahedron {} (points {}) at {} has volume {:g}, must be positive; remove it or mesh the "
          "shape again",
          where, t, list_points(mesh.tetrahedra.col(t)), at(mesh.points.col(mesh.tetrahedra(0, t))), volume);
    if (volume < 0)
      throw InputError(
          "{}: tetrahedron {} (points {}) is inverted, its volume is {:g}, must be positive; swap two of its "
          "points",
          where, t, list_points(mesh.tetrahedra.col(t)), volume);
  }
  check_faces_of_tetrahedra(mesh.tetrahedra, where);
}

void validate_surface(const Mesh& mesh, const std::string& where) {
  check_coordinates(mesh, where);
  check_cells(mesh, mesh.faces, "triangle", "triangles", where);
  for (Index f = 0; f < mesh.faces.cols(); ++f) {
    const Vector3 a = mesh.points.col(mesh.faces(0, f));
    const Vector3 u = mesh.points.col(mesh.faces(1, f)) - a;
    const Vector3 v = mesh.points.col(mesh.faces(2, f)) - a;
    const double area = u.cross(v).norm() / 2;
    const double size = longest_edge(mesh.points, mesh.faces.col(f).data(), 3);
    if (!(area > flatness * size * size))  // also if it overflows
      throw InputError(
          "{}: triangle {} (points {}) at {} has area {:g}, must be positive; remove it or merge its points",
          where, f, list_points(mesh.faces.col(f)), at(a), area);
  }
}

void validate_segments(const Mesh& mesh, const std::string& where) {
  check_coordinates(mesh, where);
  check_cells(mesh, mesh.edges, "segment", "segments", where);
  for (Index e = 0; e < mesh.edges.cols(); ++e) {
    const Vector3 a = mesh.points.col(mesh.edges(0, e));
    if (a == mesh.points.col(mesh.edges(1, e)))
      throw InputError(
          "{}: segment {} (points {}) at {} has length 0, must be positive; remove it or merge its points",
          where, e, list_points(mesh.edges.col(e)), at(a));
  }
}

void validate_points(const Mesh& mesh, const std::string& where) {
  check_coordinates(mesh, where);
  const Eigen::Matrix<int, 1, Eigen::Dynamic> cells = mesh.vertices.transpose();
  check_cells(mesh, cells, "free point", "free points", where);
  std::vector<int> order(mesh.vertices.data(), mesh.vertices.data() + mesh.vertices.size());
  const auto key = [&](int p) { return std::array{mesh.points(0, p), mesh.points(1, p), mesh.points(2, p)}; };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (key(order[i]) == key(order[i - 1]))
      throw InputError("{}: free points {} and {} lie at the same place {}; remove one", where, order[i - 1],
                       order[i], at(mesh.points.col(order[i])));
}

Index orient_tetrahedra(Mesh& mesh) {
  Index turned = 0;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t)
    if (signed_volume(mesh, t) < 0) {
      std::swap(mesh.tetrahedra(2, t), mesh.tetrahedra(3, t));
      ++turned;
    }
  for (CurvedCells& cells : mesh.curved) {
    const JacobianBound bound(cells.degree);
    const CurvedCells other = mirrored(cells);
    for (Index t = 0; t < cells.points.cols(); ++t)
      if ((bound.coefficients(mesh.points(Eigen::all, cells.points.col(t))).array() < 0).all()) {
        cells.points.col(t) = other.points.col(t);
        ++turned;
      }
  }
  return turned;
}

Mesh remove_unreferenced_points(const Mesh& mesh) {
  std::vector<int> renumbered(std::size_t(mesh.point_count()), -1);
  const auto mark = [&](const auto& cells) {
    for (Eigen::Index i = 0; i < cells.size(); ++i) renumbered[std::size_t(cells.data()[i])] = 0;
  };
  mark(mesh.tetrahedra);
  mark(mesh.faces);
  mark(mesh.edges);
  mark(mesh.vertices);
  for (const CurvedCells& cells : mesh.curved) mark(cells.points);
  int count = 0;
  for (int& r : renumbered)
    if (r == 0) r = count++;

  Mesh result = mesh;
  result.points.resize(3, count);
  for (std::size_t p = 0; p < renumbered.size(); ++p)
    if (renumbered[p] >= 0) result.points.col(renumbered[p]) = mesh.points.col(Eigen::Index(p));
  const auto renumber = [&](auto& cells) {
    for (Eigen::Index i = 0; i < cells.size(); ++i)
      cells.data()[i] = renumbered[std::size_t(cells.data()[i])];
  };
  renumber(result.tetrahedra);
  renumber(result.faces);
  renumber(result.edges);
  renumber(result.vertices);
  for (CurvedCells& cells : result.curved) renumber(cells.points);
  for (auto& [name, group] : result.groups) {
    for (int& p : group.points) p = renumbered[std::size_t(p)];
    std::erase(group.points, -1);
    // In their old order, numbers that grew still grow.
    for (auto& corners : group.triangles)
      for (int& p : corners) p = renumbered[std::size_t(p)];
    std::erase_if(group.triangles, [](const auto& c) { return c[0] < 0 || c[1] < 0 || c[2] < 0; });
  }
  return result;
}

std::optional<OpenEdge> find_open_edge(const Mesh& mesh) {
  std::vector<std::pair<int, int>> directed;
  directed.reserve(3 * std::size_t(mesh.faces.cols()));
  for (Index f = 0; f < mesh.faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) directed.emplace_back(mesh.faces(k, f), mesh.faces((k + 1) % 3, f));
  std::sort(directed.begin(), directed.end());
  const auto count = [&](int a, int b) {
    const auto [begin, end] = std::equal_range(directed.begin(), directed.end(), std::pair(a, b));
    return int(end - begin);
  };
  for (const auto& [a, b] : directed) {
    const int forward = count(a, b), backward = count(b, a);
    if (forward != 1 || backward != 1) return OpenEdge{a, b, forward, backward};
  }
  return std::nullopt;
}

bool is_closed_surface(const Mesh& mesh) {
  return mesh.faces.cols() > 0 && !find_open_edge(mesh);
}

namespace {

/// `piece`: of each point, connected_pieces of the faces.
std::vector<char> faces_of_closed(const Mesh& mesh, const std::vector<Index>& piece) {
  const Index n = Index(mesh.faces.cols());
  std::vector<std::array<int, 3>> passes;  // ends of an edge, the smaller first; 1 forward, −1 backward
  passes.reserve(3 * std::size_t(n));
  for (Index f = 0; f < n; ++f)
    for (int k = 0; k < 3; ++k) {
      const int a = mesh.faces(k, f), b = mesh.faces((k + 1) % 3, f);
      passes.push_back({std::min(a, b), std::max(a, b), a < b ? 1 : -1});
    }
  std::sort(passes.begin(), passes.end());
  const auto same_edge = [](const std::array<int, 3>& a, const std::array<int, 3>& b) {
    return a[0] == b[0] && a[1] == b[1];
  };
  std::vector<char> open(std::size_t(mesh.point_count()), false);
  for (auto pass = passes.begin(); pass != passes.end();) {
    const auto next =
        std::find_if_not(pass, passes.end(), [&](const auto& other) { return same_edge(*pass, other); });
    // An edge of a closed surface is passed twice, once in each direction.
    if (next - pass != 2 || pass[0][2] + pass[1][2] != 0)
      open[std::size_t(piece[std::size_t((*pass)[0])])] = true;
    pass = next;
  }
  std::vector<char> closed(std::size_t(n), false);
  for (Index f = 0; f < n; ++f)
    closed[std::size_t(f)] = !open[std::size_t(piece[std::size_t(mesh.faces(0, f))])];
  return closed;
}

}  // namespace

std::vector<char> faces_of_closed_pieces(const Mesh& mesh) {
  return faces_of_closed(mesh, connected_pieces(mesh.point_count(), {mesh.faces}));
}

void orient_closed_pieces(Mesh& mesh) {
  const std::vector<Index> piece = connected_pieces(mesh.point_count(), {mesh.faces});
  const std::vector<char> closed = faces_of_closed(mesh, piece);
  struct Piece {
    double volume6 = 0;
    Aabb box;
  };
  std::map<Index, Piece> pieces;
  for (Index f = 0; f < mesh.faces.cols(); ++f) {
    if (!closed[std::size_t(f)]) continue;
    const Index number = piece[std::size_t(mesh.faces(0, f))];
    Piece& p = pieces[number];
    const Vector3 a = mesh.points.col(mesh.faces(0, f)), b = mesh.points.col(mesh.faces(1, f)),
                  c = mesh.points.col(mesh.faces(2, f));
    p.volume6 += signed_volume6(mesh.points.col(number), a, b, c);
    for (const Vector3& x : {a, b, c}) p.box.include(x);
  }
  const auto is_inside_another = [&](const Piece& p) {
    return std::any_of(pieces.begin(), pieces.end(), [&](const auto& other) {
      const Aabb& box = other.second.box;
      return &other.second != &p && (box.lower.array() < p.box.lower.array()).all() &&
             (box.upper.array() > p.box.upper.array()).all();
    });
  };
  for (Index f = 0; f < mesh.faces.cols(); ++f) {
    if (!closed[std::size_t(f)]) continue;
    const Piece& p = pieces[piece[std::size_t(mesh.faces(0, f))]];
    if (p.volume6 < 0 && !is_inside_another(p)) std::swap(mesh.faces(1, f), mesh.faces(2, f));
  }
}

Mesh transformed(const Mesh& mesh, const Matrix3& linear, const Vector3& translation) {
  Mesh result = mesh;
  result.points = (linear * mesh.points).colwise() + translation;
  if (linear.determinant() < 0) {
    result.tetrahedra.row(2) = mesh.tetrahedra.row(3);
    result.tetrahedra.row(3) = mesh.tetrahedra.row(2);
    for (CurvedCells& cells : result.curved) cells = mirrored(cells);
    result.faces.row(1) = mesh.faces.row(2);
    result.faces.row(2) = mesh.faces.row(1);
    if (mesh.face_texture.cols() > 0) {
      result.face_texture.middleRows<2>(2) = mesh.face_texture.middleRows<2>(4);
      result.face_texture.middleRows<2>(4) = mesh.face_texture.middleRows<2>(2);
    }
  }
  return result;
}

double volume_of(const Mesh& mesh) {
  double sum = 0;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) sum += signed_volume(mesh, t);
  return sum;
}

double enclosed_volume(const Mesh& mesh) {
  if (mesh.faces.cols() == 0) return 0;
  const Vector3 origin =
      mesh.points.col(mesh.faces(0, 0));  // near the surface: less cancellation than with zero
  double sum = 0;
  for (Index f = 0; f < mesh.faces.cols(); ++f)
    sum += signed_volume6(origin, mesh.points.col(mesh.faces(0, f)), mesh.points.col(mesh.faces(1, f)),
                          mesh.points.col(mesh.faces(2, f))) /
           6;
  return sum;
}

}  // namespace apart
