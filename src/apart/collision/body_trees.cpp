#include <apart/collision/body_trees.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/aabb.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace apart {

namespace {

constexpr int width = BoxPacket::width;
constexpr Index cells_in_leaf = 8;
// Pairs of bodies, and pairs of leaves, that are looked at together.
constexpr Index bodies_at_once = 16, leaves_in_task = 64;
// Of a body's size: more than this from where its motion should take it, and it has changed its shape.
constexpr double kept_shape = 1e-6;
// Of the largest of its parts: more than a sum of a few products is rounded by.
constexpr double sum_slack = 1e-14;
// Of its size: less than `kept_shape` from the plane of the other corners, a vertex adds nothing to the
// motion.
constexpr double flat = 5e-7;

}  // namespace

/// Makes the trees.
class BodyTrees::Builder {
 public:
  Builder(BodyTrees& trees, const CollisionSurface& surface, const Faces& faces)
      : t_(trees),
        surface_(surface),
        faces_(faces),
        taken_edge_(std::size_t(surface.edges.cols())),
        taken_vertex_(std::size_t(surface.vertex_count())) {}

  void add_all(const std::vector<char>& chosen) {
    const auto body_of = [&](Index v) { return std::size_t(surface_.vertex_body[std::size_t(v)]); };
    std::vector<std::vector<Cell>> cells(chosen.size());
    const auto add_cell = [&](BoxSet set, Index number, std::initializer_list<Index> corners) {
      const std::size_t body = body_of(*corners.begin());
      if (!chosen[body]) return;
      Vector3 sum = Vector3::Zero();
      for (const Index v : corners) sum += surface_.rest.col(v);
      cells[body].push_back({set, number, sum / double(corners.size())});
    };
    for (Index f = 0; f < faces_.cols(); ++f)
      add_cell(BoxSet::faces, f, {faces_(0, f), faces_(1, f), faces_(2, f)});
    for (std::size_t s = 0; s < surface_.free_edges.size(); ++s) {
      const Index e = surface_.free_edges[s];
      add_cell(BoxSet::free_edges, Index(s), {surface_.edges(0, e), surface_.edges(1, e)});
    }
    for (std::size_t p = 0; p < surface_.isolated_vertices.size(); ++p)
      add_cell(BoxSet::isolated_vertices, Index(p), {surface_.isolated_vertices[p]});
    std::vector<std::vector<Index>> vertices(chosen.size());
    std::vector<char> on_cell(taken_vertex_.size());
    for (const auto e : surface_.edges.colwise()) on_cell[std::size_t(e[0])] = on_cell[std::size_t(e[1])] = 1;
    for (const Index v : surface_.isolated_vertices) on_cell[std::size_t(v)] = 1;
    for (Index v = 0; v < surface_.vertex_count(); ++v)
      if (on_cell[std::size_t(v)] && chosen[body_of(v)]) vertices[body_of(v)].push_back(v);
    t_.local_.resize(3, Index(std::accumulate(vertices.begin(), vertices.end(), std::size_t(0),
                                              [](std::size_t n, const auto& of) { return n + of.size(); })));
    for (std::size_t b = 0; b < chosen.size(); ++b)
      if (!cells[b].empty()) add(int(b), vertices[b], cells[b]);
    Leaf end;
    end.first_corner = Index(t_.corner_.size());
    for (std::size_t s = 0; s < box_set_count; ++s) end.packet[s] = Index(t_.items_[s].size()) / width;
    t_.leaves_.push_back(end);
  }

 private:
  struct Cell {
    BoxSet set;
    Index number;
    Vector3 middle;
  };

  void add(int number, const std::vector<Index>& vertices, std::vector<Cell>& cells) {
    Body body;
    body.number = number;
    body.first_vertex = Index(t_.vertex_.size());
    t_.vertex_.insert(t_.vertex_.end(), vertices.begin(), vertices.end());
    body.vertex_end = Index(t_.vertex_.size());
    const Vector3 origin = surface_.rest.col(vertices.front());
    for (Index i = body.first_vertex; i < body.vertex_end; ++i)
      t_.local_.col(i) = surface_.rest.col(t_.vertex_[std::size_t(i)]) - origin;
    find_corners(body);
    body.root = Index(t_.nodes_.size());
    split(body, cells.data(), cells.data() + cells.size(), origin);
    body.node_end = Index(t_.nodes_.size());
    t_.bodies_.push_back(body);
  }

  /// Up to four vertices that are far from each other, and how the body's motion follows from theirs.
  void find_corners(Body& body) {
    const auto local = t_.local_.middleCols(body.first_vertex, body.vertex_end - body.first_vertex);
    body.corner[0] = t_.vertex_[std::size_t(body.first_vertex)];
    Matrix3X left = local;  // without the directions that the corners span
    Matrix3 sides = Matrix3::Zero(), across = Matrix3::Identity();
    for (body.corners = 1; body.corners < 4; ++body.corners) {
      Index farthest = 0;
      const double away = std::sqrt(left.colwise().squaredNorm().maxCoeff(&farthest));
      if (body.corners == 1) body.size = away;
      if (!(away > flat * body.size)) break;
      const int side = body.corners - 1;
      body.corner[std::size_t(body.corners)] = t_.vertex_[std::size_t(body.first_vertex + farthest)];
      sides.col(side) = local.col(farthest);
      across.col(side) = left.col(farthest) / away;
      const Vector3 n = across.col(side);
      left -= n * (n.transpose() * left);
    }
    // Directions without extent are completed by others across them: nothing lies along these.
    const int rank = body.corners - 1;
    body.slopes.setZero();
    if (rank == 0) return;
    if (rank == 1) across.col(1) = Vector3(across.col(0)).unitOrthogonal();
    if (rank < 3) across.col(2) = Vector3(across.col(0)).cross(Vector3(across.col(1))).normalized();
    for (int k = rank; k < 3; ++k) sides.col(k) = body.size * across.col(k);
    body.slopes.topRows(rank) = sides.inverse().topRows(rank);
  }

  Index split(Body& body, Cell* begin, Cell* end, const Vector3& origin) {
    const Index number = Index(t_.nodes_.size());
    t_.nodes_.emplace_back();
    if (end - begin <= cells_in_leaf) {
      add_leaf(number, begin, end, origin);
      return number;
    }
    Aabb all;
    for (const Cell* c = begin; c != end; ++c) all.include(c->middle);
    int axis = 0;
    (all.upper - all.lower).maxCoeff(&axis);
    const std::ptrdiff_t leaves = (end - begin + cells_in_leaf - 1) / cells_in_leaf;
    Cell* middle = begin + leaves / 2 * cells_in_leaf;
    std::nth_element(begin, middle, end, [axis](const Cell& a, const Cell& b) {
      return std::tuple(a.middle[axis], a.set, a.number) < std::tuple(b.middle[axis], b.set, b.number);
    });
    const Index first = split(body, begin, middle, origin), second = split(body, middle, end, origin);
    Node& node = t_.nodes_[std::size_t(number)];
    node.child[0] = first;
    node.child[1] = second;
    Aabb box;
    for (const Index child : node.child) {
      const Node& of = t_.nodes_[std::size_t(child)];
      box.include(Vector3(of.centre - of.half));
      box.include(Vector3(of.centre + of.half));
    }
    set_box(node, box);
    return number;
  }

  static void set_box(Node& node, const Aabb& box) {
    node.centre = box.centre();
    node.half = (box.upper - node.centre).cwiseMax(node.centre - box.lower) * (1 + 1e-14);
  }

  void add_leaf(Index node, const Cell* begin, const Cell* end, const Vector3& origin) {
    Leaf leaf;
    leaf.node = node;
    leaf.first_corner = Index(t_.corner_.size());
    for (std::size_t s = 0; s < box_set_count; ++s) leaf.packet[s] = Index(t_.items_[s].size()) / width;
    leaf_ = leaf.first_corner;
    Aabb box;
    for (const Cell* c = begin; c != end; ++c) {
      if (c->set == BoxSet::faces) {
        const auto v = faces_.col(c->number);
        add_item(BoxSet::faces, c->number, {v[0], v[1], v[2]});
        for (int k = 0; k < 3; ++k) take_edge(v[k], v[(k + 1) % 3]);
      } else if (c->set == BoxSet::free_edges) {
        const auto v = surface_.edges.col(surface_.free_edges[std::size_t(c->number)]);
        add_item(BoxSet::free_edges, c->number, {v[0], v[1], v[1]});
        take_edge(v[0], v[1]);
      } else {
        const Index v = surface_.isolated_vertices[std::size_t(c->number)];
        add_item(BoxSet::isolated_vertices, c->number, {v, v, v});
        take_vertex(v);
      }
    }
    for (Index i = leaf.first_corner; i < Index(t_.corner_.size()); ++i)
      box.include(Vector3(surface_.rest.col(t_.corner_[std::size_t(i)]) - origin));
    for (auto& items : t_.items_) items.resize((items.size() + width - 1) / width * width);
    set_box(t_.nodes_[std::size_t(node)], box);
    t_.nodes_[std::size_t(node)].leaf = Index(t_.leaves_.size());
    t_.leaves_.push_back(leaf);
  }

  /// An edge or vertex belongs to the first leaf that has a triangle or segment with it.
  void take_edge(Index a, Index b) {
    if (a > b) std::swap(a, b);
    // Edges are sorted by their vertices.
    Index low = 0, high = Index(surface_.edges.cols());
    const auto key = [&](Index e) {
      return std::pair<Index, Index>(surface_.edges(0, e), surface_.edges(1, e));
    };
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (key(middle) < std::pair(a, b))
        low = middle + 1;
      else
        high = middle;
    }
    if (!std::exchange(taken_edge_[std::size_t(low)], 1)) add_item(BoxSet::edges, low, {a, b, b});
    take_vertex(a);
    take_vertex(b);
  }
  void take_vertex(Index v) {
    if (!std::exchange(taken_vertex_[std::size_t(v)], 1)) add_item(BoxSet::vertices, v, {v, v, v});
  }
  void add_item(BoxSet set, Index number, const std::array<Index, 3>& vertices) {
    Item item{number, {}};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto begin = t_.corner_.begin() + leaf_;
      const auto found = std::find(begin, t_.corner_.end(), vertices[k]);
      item.corner[k] = static_cast<unsigned char>(found - begin);
      if (found == t_.corner_.end()) t_.corner_.push_back(vertices[k]);
    }
    t_.items_[std::size_t(set)].push_back(item);
  }

  BodyTrees& t_;
  const CollisionSurface& surface_;
  const Faces& faces_;
  std::vector<char> taken_edge_, taken_vertex_;
  Index leaf_ = 0;  ///< first corner of the leaf that is made
};

BodyTrees::BodyTrees(const CollisionSurface& surface, const Faces& faces)
    : vertex_body_(surface.vertex_body), pairs_(surface.pairs) {
  const auto count = std::size_t(pairs_.body_count());
  has_primitives_.resize(count);
  for (const auto e : surface.edges.colwise())
    has_primitives_[std::size_t(vertex_body_[std::size_t(e[0])])] = 1;
  for (const Index v : surface.isolated_vertices)
    has_primitives_[std::size_t(vertex_body_[std::size_t(v)])] = 1;
  std::vector<char> chosen(count);
  for (std::size_t b = 0; b < count; ++b) chosen[b] = has_primitives_[b] && !pairs_(int(b), int(b)).enabled;
  const auto any_meet = [&] {
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = a + 1; b < count && chosen[a]; ++b)
        if (chosen[b] && pairs_(int(a), int(b)).enabled) return true;
    return false;
  };
  if (!any_meet()) return;
  Builder(*this, surface, faces).add_all(chosen);
  node_box_.resize(nodes_.size());
  for (std::size_t s = 0; s < box_set_count; ++s) {
    start_[s].resize(items_[s].size() / width);
    end_[s].resize(start_[s].size());
  }
}

BodyTrees::Pose BodyTrees::pose_of(const Body& body, const Matrix3X& x) {
  Pose pose;
  pose.shift = x.col(body.corner[0]);
  Matrix3 sides = Matrix3::Zero();
  for (int k = 1; k < body.corners; ++k) sides.col(k - 1) = x.col(body.corner[std::size_t(k)]) - pose.shift;
  pose.turn = sides * body.slopes;
  return pose;
}

void BodyTrees::fit_poses(const VertexBoxes& boxes) {
  carried_.assign(has_primitives_.size(), 0);
  parallel_for(
      Index(bodies_.size()),
      [&](Index b) {
        Body& body = bodies_[std::size_t(b)];
        for (const bool at_end : {false, true}) {
          if (at_end && !moving_) break;
          const Matrix3X& x = at_end ? boxes.x1() : boxes.x0();
          Pose& pose = body.pose[at_end];
          pose = pose_of(body, x);
          Vector3 off = Vector3::Zero();
          for (Index i = body.first_vertex; i < body.vertex_end; ++i) {
            const Vector3 placed = pose.turn * local_.col(i) + pose.shift;
            off = off.cwiseMax((x.col(vertex_[std::size_t(i)]) - placed).cwiseAbs());
          }
          pose.off = off.maxCoeff();
        }
        body.grown = 0;
        for (Index i = body.first_vertex; i < body.vertex_end; ++i)
          body.grown = std::max(body.grown, boxes.growth(vertex_[std::size_t(i)]));
        const double most = kept_shape * body.size;
        carried_[std::size_t(body.number)] =
            body.pose[0].off <= most && (!moving_ || body.pose[1].off <= most);
      },
      16);
  has_all_ = true;
  for (std::size_t b = 0; b < carried_.size(); ++b) has_all_ &= carried_[b] || !has_primitives_[b];
}

MovingBox BodyTrees::node_box(const Body& body, const Node& node, const VertexBoxes& boxes) const {
  const auto at = [&](bool end) {
    const Pose& pose = body.pose[end];
    const Vector3 centre = pose.turn * node.centre + pose.shift;
    const Vector3 half = pose.turn.cwiseAbs() * node.half;
    const double largest = pose.shift.lpNorm<Eigen::Infinity>() + body.size * pose.turn.cwiseAbs().sum();
    const double slack = sum_slack * largest;
    return boxes.around(centre, half, pose.off + slack + body.grown, end);
  };
  const FloatBox start = at(false);
  return {start, moving_ ? at(true) : start};
}

void BodyTrees::find_near_bodies(const VertexBoxes& boxes) {
  std::vector<Index> number;
  for (std::size_t b = 0; b < bodies_.size(); ++b)
    if (carried_[std::size_t(bodies_[b].number)]) number.push_back(Index(b));
  std::vector<FloatBox> start(number.size()), end(moving_ ? number.size() : 0);
  parallel_for(Index(number.size()), [&](Index i) {
    const Body& body = bodies_[std::size_t(number[std::size_t(i)])];
    const MovingBox box = node_box(body, nodes_[std::size_t(body.root)], boxes);
    start[std::size_t(i)] = box.start;
    if (moving_) end[std::size_t(i)] = box.end;
  });
  body_tree_.update({start, end});
  near_bodies_.clear();
  in_use_.assign(bodies_.size(), 0);
  BoxPairs touching;
  for (Index task = 0; task < body_tree_.task_count(body_tree_); ++task) {
    touching.clear();
    SearchCursor cursor;
    body_tree_.find(body_tree_, task, cursor, std::size_t(1) << 40, touching);
    for (const auto& pair : touching) {
      const Index a = number[std::size_t(pair[0])], b = number[std::size_t(pair[1])];
      if (!pairs_(bodies_[std::size_t(a)].number, bodies_[std::size_t(b)].number).enabled) continue;
      near_bodies_.push_back({std::min(a, b), std::max(a, b)});
      in_use_[std::size_t(a)] = in_use_[std::size_t(b)] = 1;
    }
  }
}

void BodyTrees::find_near_leaves() {
  const std::size_t count = (near_bodies_.size() + bodies_at_once - 1) / bodies_at_once;
  std::vector<std::vector<std::array<Index, 2>>> parts(count);
  parallel_chunks(Index(near_bodies_.size()), bodies_at_once, [&](Index begin, Index end) {
    auto& part = parts[std::size_t(begin / bodies_at_once)];
    std::vector<std::array<Index, 2>> stack;
    for (Index i = begin; i < end; ++i) {
      const auto& pair = near_bodies_[std::size_t(i)];
      stack.push_back({bodies_[std::size_t(pair[0])].root, bodies_[std::size_t(pair[1])].root});
      while (!stack.empty()) {
        const auto [a, b] = stack.back();
        stack.pop_back();
        if (are_apart(node_box_[std::size_t(a)], node_box_[std::size_t(b)])) continue;
        const Node &first = nodes_[std::size_t(a)], &second = nodes_[std::size_t(b)];
        if (first.leaf >= 0 && second.leaf >= 0) {
          part.push_back({first.leaf, second.leaf});
          continue;
        }
        const bool cut_first = second.leaf >= 0 || (first.leaf < 0 && first.half.sum() >= second.half.sum());
        for (const Index child : (cut_first ? first : second).child)
          stack.push_back(cut_first ? std::array{child, b} : std::array{a, child});
      }
    }
  });
  near_leaves_.clear();
  for (const auto& part : parts) near_leaves_.insert(near_leaves_.end(), part.begin(), part.end());
}

void BodyTrees::fit_leaf(Index number, const VertexBoxes& boxes) {
  const Leaf &leaf = leaves_[std::size_t(number)], &next = leaves_[std::size_t(number) + 1];
  std::array<MovingBox, 3 * cells_in_leaf> corner;
  for (Index i = leaf.first_corner; i < next.first_corner; ++i) {
    MovingBox& box = corner[std::size_t(i - leaf.first_corner)];
    const Index v = corner_[std::size_t(i)];
    box.start = boxes.start(v);
    if (moving_) box.end = boxes.end(v);
  }
  for (std::size_t s = 0; s < box_set_count; ++s)
    for (Index p = leaf.packet[s]; p < next.packet[s]; ++p) {
      BoxPacket &start = start_[s][std::size_t(p)], &end = end_[s][std::size_t(p)];
      for (int lane = 0; lane < width; ++lane) {
        const Item& item = items_[s][std::size_t(p) * width + std::size_t(lane)];
        if (item.number < 0) {
          start.clear(lane);
          end.clear(lane);
          continue;
        }
        const auto &a = corner[item.corner[0]], &b = corner[item.corner[1]], &c = corner[item.corner[2]];
        start.set(lane, merge(merge(a.start, b.start), c.start));
        if (moving_) end.set(lane, merge(merge(a.end, b.end), c.end));
      }
    }
}

void BodyTrees::update(const VertexBoxes& boxes) {
  moving_ = boxes.is_moving();
  fit_poses(boxes);
  find_near_bodies(boxes);
  parallel_for(
      Index(bodies_.size()),
      [&](Index b) {
        const Body& body = bodies_[std::size_t(b)];
        for (Index n = body.root; n < body.node_end && in_use_[std::size_t(b)]; ++n)
          node_box_[std::size_t(n)] = node_box(body, nodes_[std::size_t(n)], boxes);
      },
      16);
  find_near_leaves();
  std::vector<char> needed(leaves_.size());
  for (const auto& [a, b] : near_leaves_) needed[std::size_t(a)] = needed[std::size_t(b)] = 1;
  std::vector<Index> fitted;
  for (std::size_t l = 0; l < needed.size(); ++l)
    if (needed[l]) fitted.push_back(Index(l));
  parallel_for(
      Index(fitted.size()), [&](Index i) { fit_leaf(fitted[std::size_t(i)], boxes); }, 64);
}

Index BodyTrees::task_count() const {
  return (Index(near_leaves_.size()) + leaves_in_task - 1) / leaves_in_task;
}

/// Of leaf a the first set of a kind of pair, of leaf b the second.
void BodyTrees::join(Index a, Index b, const BoxJoin& kind, bool swapped, BoxPairs& pairs) const {
  const auto first = std::size_t(swapped ? kind.second : kind.first);
  const auto second = std::size_t(swapped ? kind.first : kind.second);
  const auto range = [&](Index leaf, std::size_t set) {
    return std::array{leaves_[std::size_t(leaf)].packet[set], leaves_[std::size_t(leaf) + 1].packet[set]};
  };
  const auto [theirs, theirs_end] = range(b, second);
  if (theirs == theirs_end) return;
  const MovingBox& around = node_box_[std::size_t(leaves_[std::size_t(b)].node)];
  const auto touch = [&](std::size_t set, Index packet, const MovingBox& box) {
    const BoxPacket& start = start_[set][std::size_t(packet)];
    return moving_ ? touching(start, end_[set][std::size_t(packet)], box.start, box.end)
                   : touching(start, box.start);
  };
  const auto [mine, mine_end] = range(a, first);
  for (Index p = mine; p < mine_end; ++p)
    for (unsigned near = touch(first, p, around); near != 0; near &= near - 1) {
      const int lane = std::countr_zero(near);
      const FloatBox start = start_[first][std::size_t(p)].box(lane);
      const MovingBox box{start, moving_ ? end_[first][std::size_t(p)].box(lane) : start};
      const Index number = items_[first][std::size_t(p * width + lane)].number;
      for (Index q = theirs; q < theirs_end; ++q)
        for (unsigned met = touch(second, q, box); met != 0; met &= met - 1) {
          const Index other = items_[second][std::size_t(q * width + std::countr_zero(met))].number;
          pairs.push_back(swapped ? std::array{other, number} : std::array{number, other});
        }
    }
}

void BodyTrees::find(Index task, std::array<BoxPairs, box_joins.size()>& pairs) const {
  const Index end = std::min(Index(near_leaves_.size()), (task + 1) * leaves_in_task);
  for (Index i = task * leaves_in_task; i < end; ++i) {
    const auto& [a, b] = near_leaves_[std::size_t(i)];
    for (std::size_t j = 0; j < box_joins.size(); ++j) {
      join(a, b, box_joins[j], false, pairs[j]);
      if (box_joins[j].first != box_joins[j].second) join(a, b, box_joins[j], true, pairs[j]);
    }
  }
}

}  // namespace apart
