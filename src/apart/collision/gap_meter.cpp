#include <apart/collision/gap_meter.hpp>
#include <apart/geometry/squared_distance.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

constexpr Index leaf_size = 4;

Vector3 centre_of(const std::array<Index, 3>& vertices, int size, const Matrix3X& x) {
  Vector3 sum = Vector3::Zero();
  for (int k = 0; k < size; ++k) sum += x.col(vertices[k]);
  return sum / size;
}

double distance(const Aabb& a, const Aabb& b) {
  return (a.lower - b.upper).cwiseMax(b.lower - a.upper).cwiseMax(0).norm();
}

}  // namespace

GapMeter::GapMeter(const CollisionSurface& surface, const std::vector<int>& bodies,
                   const std::vector<int>& others)
    : surface_(surface),
      first_(std::size_t(surface.pairs.body_count()), 0),
      second_(std::size_t(surface.pairs.body_count()), 0) {
  for (const int b : bodies) first_[std::size_t(b)] = 1;
  for (const int b : others) second_[std::size_t(b)] = 1;
  for (const int a : bodies)
    for (const int b : others)
      largest_thickness_ = std::max(largest_thickness_, surface.pairs(a, b).thickness);
  trees_[0] = collect(first_);
  trees_[1] = collect(second_);
}

GapMeter::Tree GapMeter::collect(const std::vector<char>& chosen) const {
  Tree tree;
  const auto add = [&](std::array<Index, 3> vertices, int size) {
    if (chosen[std::size_t(surface_.vertex_body[vertices[0]])]) tree.elements.push_back({vertices, size});
  };
  for (Index f = 0; f < surface_.faces.cols(); ++f)
    add({surface_.faces(0, f), surface_.faces(1, f), surface_.faces(2, f)}, 3);
  for (const Index e : surface_.free_edges) add({surface_.edges(0, e), surface_.edges(1, e), -1}, 2);
  for (const Index v : surface_.isolated_vertices) add({v, -1, -1}, 1);
  return tree;
}

void GapMeter::Tree::build(const Matrix3X& x, Index begin, Index end) {
  const Index here = Index(nodes.size());
  nodes.push_back({{}, begin, end, -1});
  if (end - begin <= leaf_size) return;
  Aabb centres;
  for (Index e = begin; e < end; ++e) centres.include(centre_of(elements[e].vertices, elements[e].size, x));
  int axis;
  (centres.upper - centres.lower).maxCoeff(&axis);
  const Index middle = begin + (end - begin) / 2;
  std::nth_element(elements.begin() + begin, elements.begin() + middle, elements.begin() + end,
                   [&](const Element& a, const Element& b) {
                     const double ca = centre_of(a.vertices, a.size, x)[axis],
                                  cb = centre_of(b.vertices, b.size, x)[axis];
                     return ca != cb ? ca < cb : a.vertices < b.vertices;
                   });
  build(x, begin, middle);
  nodes[here].right = Index(nodes.size());
  build(x, middle, end);
}

void GapMeter::Tree::refit(const Matrix3X& x) {
  for (Index n = Index(nodes.size()) - 1; n >= 0; --n) {
    Node& node = nodes[n];
    node.box = {};
    if (node.right < 0) {
      for (Index e = node.begin; e < node.end; ++e)
        for (int k = 0; k < elements[e].size; ++k) node.box.include(Vector3(x.col(elements[e].vertices[k])));
    } else {
      node.box.include(nodes[n + 1].box);
      node.box.include(nodes[node.right].box);
    }
  }
}

double GapMeter::gap(const Element& a, const Element& b, const Matrix3X& x) const {
  double smallest = infinity;
  // Vertices of the one against the other, and edges against edges: that is where two elements that do not
  // intersect are closest.
  const auto points = [&](const Element& from, const Element& to) {
    constexpr PairKind kinds[] = {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle};
    StencilPoints p;
    for (int k = 0; k < to.size; ++k) p[k + 1] = x.col(to.vertices[k]);
    for (int k = 0; k < from.size; ++k) {
      p[0] = x.col(from.vertices[k]);
      smallest = std::min(smallest, squared_distance(kinds[to.size - 1], p));
    }
  };
  points(a, b);
  points(b, a);
  const int edges_a = a.size == 3 ? 3 : a.size - 1, edges_b = b.size == 3 ? 3 : b.size - 1;
  for (int i = 0; i < edges_a; ++i)
    for (int j = 0; j < edges_b; ++j)
      smallest = std::min(
          smallest,
          squared_distance(PairKind::edge_edge, {x.col(a.vertices[i]), x.col(a.vertices[(i + 1) % a.size]),
                                                 x.col(b.vertices[j]), x.col(b.vertices[(j + 1) % b.size])}));
  return std::sqrt(smallest) - surface_.settings(a.vertices[0], b.vertices[0]).thickness;
}

void GapMeter::search(Index a, Index b, const Matrix3X& x) {
  const Node &first = trees_[0].nodes[a], &second = trees_[1].nodes[b];
  // Slightly farther than the best: of two nearly equal ones, the order of the search must not decide.
  if (distance(first.box, second.box) - largest_thickness_ >
      best_ + 1e-9 * (std::abs(best_) + largest_thickness_))
    return;
  if (first.right < 0 && second.right < 0) {
    for (Index i = first.begin; i < first.end; ++i)
      for (Index j = second.begin; j < second.end; ++j)
        if (const double g = gap(trees_[0].elements[i], trees_[1].elements[j], x); g < best_) {
          best_ = g;
          closest_[0] = trees_[0].elements[i];
          closest_[1] = trees_[1].elements[j];
        }
    return;
  }
  const bool split_first =
      second.right < 0 || (first.right >= 0 && first.box.diagonal() >= second.box.diagonal());
  std::array<std::pair<Index, Index>, 2> next =
      split_first ? std::array{std::pair(a + 1, b), std::pair(first.right, b)}
                  : std::array{std::pair(a, b + 1), std::pair(a, second.right)};
  const auto apart = [&](const std::pair<Index, Index>& p) {
    return distance(trees_[0].nodes[p.first].box, trees_[1].nodes[p.second].box);
  };
  if (apart(next[1]) < apart(next[0])) std::swap(next[0], next[1]);  // the nearer first
  for (const auto& [i, j] : next) search(i, j, x);
}

double GapMeter::measure(const Matrix3X& x) {
  best_ = infinity;
  for (const HalfSpace& plane : surface_.half_spaces)
    for (Index v = 0; v < x.cols(); ++v) {
      const auto body = std::size_t(surface_.vertex_body[v]), wall = std::size_t(plane.body);
      if (v != plane.carrier && ((first_[body] && second_[wall]) || (second_[body] && first_[wall])))
        best_ = std::min(best_, plane.distance(x, v) - surface_.pairs(int(body), int(wall)).thickness);
    }
  if (trees_[0].elements.empty() || trees_[1].elements.empty()) return best_;
  for (Tree& tree : trees_) {
    if (!built_) tree.build(x, 0, Index(tree.elements.size()));
    tree.refit(x);
  }
  built_ = true;
  if (closest_[0].size > 0) best_ = std::min(best_, gap(closest_[0], closest_[1], x));
  search(0, 0, x);
  return best_;
}

}  // namespace apart
