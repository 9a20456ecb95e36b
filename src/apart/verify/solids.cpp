#include <apart/geometry/exact_enclosure.hpp>
#include <apart/verify/solids.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace apart::verify {

namespace {

/// Sets of points that grow together.
class Joined {
 public:
  explicit Joined(Index n) : root_(n) { std::iota(root_.begin(), root_.end(), 0); }
  /// The smallest point of a set.
  Index root(Index i) {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }
  void join(Index i, Index j) {
    i = root(i);
    j = root(j);
    root_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<Index> root_;
};

/// By body: whether some edge is not passed once in either direction by its triangles, so that these enclose
/// nothing.
std::vector<char> open_bodies(const Frame& frame, const exact::Surface& surface) {
  std::map<std::pair<Index, Index>, std::pair<int, int>> passes;
  for (const exact::Primitive& face : surface.faces)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = face.vertices[k], b = face.vertices[(k + 1) % 3];
      auto& [forward, backward] = passes[std::minmax(a, b)];
      ++(a < b ? forward : backward);
    }
  std::vector<char> open(frame.bodies.size(), false);
  for (const auto& [edge, count] : passes)
    if (count != std::pair(1, 1)) open[std::size_t(frame.point_body[edge.first])] = true;
  return open;
}

}  // namespace

std::vector<Index> connected_pieces(Index point_count, const exact::Surface& surface) {
  Joined joined(point_count);
  for (const auto* list : {&surface.face_edges, &surface.segments})
    for (const auto& edge : *list) joined.join(edge.vertices[0], edge.vertices[1]);
  std::vector<Index> piece(std::size_t(point_count), 0);
  for (Index i = 0; i < point_count; ++i) piece[std::size_t(i)] = joined.root(i);
  return piece;
}

Solids::Solids(const Frame& first, const exact::Surface& surface, const std::vector<char>& is_obstacle)
    : point_body_(first.point_body) {
  const Index n = first.mesh.point_count();
  solid_.assign(std::size_t(n), -1);
  if (first.allow_nested) return;
  Joined joined(n);
  std::vector<char> has_tetrahedra(first.bodies.size(), false);
  for (Index t = 0; t < first.mesh.tetrahedra.cols(); ++t) {
    const auto cell = first.mesh.tetrahedra.col(t);
    has_tetrahedra[std::size_t(first.point_body[cell[0]])] = true;
    for (int k = 1; k < 4; ++k) joined.join(cell[0], cell[k]);
  }
  std::vector<char> is_curved(first.bodies.size(), false);
  for (const CurvedCells& cells : first.mesh.curved)
    for (Index t = 0; t < cells.points.cols(); ++t)
      is_curved[std::size_t(first.point_body[cells.points(0, t)])] = true;
  const std::vector<char> open = open_bodies(first, surface);
  std::map<Index, int> number;  // by the first point of a solid
  std::vector<Index> first_of_body(first.bodies.size(), -1);
  for (const exact::Primitive& face : surface.faces) {
    const auto body = std::size_t(first.point_body[face.vertices[0]]);
    const std::string& kind = first.bodies[body].kind;
    const bool encloses = kind == "affine" || is_curved[body] || (kind == "rigid" && !open[body]);
    if (is_obstacle[body] || (!encloses && !has_tetrahedra[body])) continue;
    Index& start = first_of_body[body];
    if (start < 0) start = face.vertices[0];
    const Index root = has_tetrahedra[body] ? joined.root(face.vertices[0]) : start;
    const int solid = number.try_emplace(root, int(number.size())).first->second;
    for (const Index v : face.vertices) solid_[v] = solid;
    faces_.push_back(face);
  }
  count_ = int(number.size());
}

std::vector<Solids::Inside> Solids::inside(const Matrix3X& points, const std::vector<Index>& queries,
                                           const std::vector<char>& absent, exact::PairFilter tested) const {
  std::vector<Inside> found;
  if (faces_.empty()) return found;
  // Who is there may have changed since the lists were made.
  const auto there = [&](Index i) { return !absent[std::size_t(point_body_[i])]; };
  std::vector<Index> present;
  std::copy_if(queries.begin(), queries.end(), std::back_inserter(present), there);
  std::vector<exact::Primitive> faces;
  std::vector<Index> some_point(std::size_t(count_), -1);
  for (const exact::Primitive& f : faces_) {
    if (!there(f.vertices[0])) continue;
    faces.push_back(f);
    some_point[std::size_t(solid_[f.vertices[0]])] = f.vertices[0];
  }
  const auto asked = [&](Index point, int solid) {
    return solid_[point] != solid && tested(point, some_point[std::size_t(solid)]);
  };
  for (const exact::Enclosed& e : exact::find_enclosed(points, faces, solid_, present, asked))
    found.push_back({e.point, point_body_[some_point[std::size_t(e.solid)]]});
  return found;
}

}  // namespace apart::verify
