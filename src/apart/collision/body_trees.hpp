#pragma once
#include <apart/collision/box_search.hpp>
#include <apart/collision/box_tree.hpp>
#include <apart/collision/collision_surface.hpp>
#include <apart/collision/vertex_boxes.hpp>

namespace apart {

/// The kinds of pairs that are searched for, and the sets of boxes that make them.
struct BoxJoin {
  PairKind kind;
  BoxSet first, second;
};
inline constexpr std::array<BoxJoin, 4> box_joins = {
    {{PairKind::point_point, BoxSet::isolated_vertices, BoxSet::isolated_vertices},
     {PairKind::point_edge, BoxSet::vertices, BoxSet::free_edges},
     {PairKind::point_triangle, BoxSet::vertices, BoxSet::faces},
     {PairKind::edge_edge, BoxSet::edges, BoxSet::edges}}};

/// The search between bodies that keep their shape, as rigid ones, affine ones and obstacles do: each has a
/// tree in its own frame, made once for the whole run. At every search a body's motion is found from the
/// places of up to four of its vertices, and the others show how exactly it describes them; then boxes of the
/// tree's nodes follow from the motion alone. Bodies are compared first, then the trees of those that are
/// near each other, and boxes of primitives are made only in leaves that meet.
///
/// A body is `carried` if it has no contact with itself and an affine map takes all its vertices from rest to
/// both ends of their paths, to a millionth of its size; what is missing is added to the boxes. Which bodies
/// are carried depends on these places alone.
class BodyTrees {
 public:
  /// `faces`: as found pairs number them. Edges, segments and points are numbered as in the surface.
  BodyTrees(const CollisionSurface& surface, const Faces& faces);
  /// Whether there are two bodies that could be carried and may touch.
  bool is_worth_it() const { return !bodies_.empty(); }
  /// New places. The boxes are not kept.
  void update(const VertexBoxes& boxes);
  /// Of each body; two that are carried are searched for here and nowhere else.
  std::span<const char> carried() const { return carried_; }
  /// Whether every body with primitives is.
  bool has_all() const { return has_all_; }

  Index task_count() const;
  /// Adds the touching boxes that a task finds, of each kind. All tasks together find each pair once, in
  /// either order where a set is joined with itself.
  void find(Index task, std::array<BoxPairs, box_joins.size()>& pairs) const;

 private:
  /// x = turn X + shift, X in the body's frame, up to `off` in every coordinate.
  struct Pose {
    Matrix3 turn = Matrix3::Identity();
    Vector3 shift = Vector3::Zero();
    double off = 0;
  };
  /// A box in the body's frame [m]. Leaves have no children.
  struct Node {
    Vector3 centre, half;
    Index child[2] = {-1, -1}, leaf = -1;
  };
  struct Body {
    int number = 0;
    Index first_vertex = 0, vertex_end = 0;  ///< in vertex_
    Index root = 0, node_end = 0;
    double size = 0;                   ///< largest distance of a vertex from the first [m]
    std::array<Index, 4> corner = {};  ///< vertices that the motion follows from, the first `corners` of them
    int corners = 1;                   ///< as many as span the body
    Matrix3 slopes = Matrix3::Zero();  ///< turn = (displaced corners − first) · slopes
    std::array<Pose, 2> pose;          ///< at both ends
    double grown = 0;                  ///< [m]: largest growth of a vertex's box
  };
  /// A primitive, by its number in its set and its vertices among the corners of its leaf.
  struct Item {
    Index number = -1;
    std::array<unsigned char, 3> corner = {};
  };
  struct Leaf {
    Index node = 0;
    Index first_corner = 0;  ///< in corner_
    std::array<Index, box_set_count> packet =
        {};  ///< first of each set; they end where the next leaf's begin
  };
  class Builder;

  void fit_poses(const VertexBoxes& boxes);
  static Pose pose_of(const Body& body, const Matrix3X& x);
  MovingBox node_box(const Body& body, const Node& node, const VertexBoxes& boxes) const;
  void find_near_bodies(const VertexBoxes& boxes);
  void find_near_leaves();
  void fit_leaf(Index leaf, const VertexBoxes& boxes);
  void join(Index a, Index b, const BoxJoin& kind, bool swapped, BoxPairs& pairs) const;

  std::vector<int> vertex_body_;
  PairTable pairs_;
  std::vector<char> has_primitives_;  ///< bodies
  std::vector<Body> bodies_;          ///< those that may be carried
  std::vector<Index> vertex_;         ///< of all of them, body by body
  Matrix3X local_;                    ///< [m] in the body's frame, of each of these
  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;                            ///< and one more, where the last one ends
  std::vector<Index> corner_;                           ///< vertices of leaves
  std::array<std::vector<Item>, box_set_count> items_;  ///< eight for each packet

  std::vector<char> carried_;
  bool has_all_ = false, moving_ = false;
  std::vector<char> in_use_;  ///< of bodies_: near another
  BoxTree body_tree_;
  std::vector<std::array<Index, 2>> near_bodies_, near_leaves_;
  std::vector<MovingBox> node_box_;
  std::array<std::vector<BoxPacket>, box_set_count> start_, end_;
};

}  // namespace apart
