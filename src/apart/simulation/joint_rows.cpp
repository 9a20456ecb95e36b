#include <apart/simulation/joint_rows.hpp>

#include <apart/bodies/body_rules.hpp>
#include <apart/bodies/control_tetrahedron.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

namespace apart {

namespace {

/// One side of a joint as its nodes are at some time: material points and directions by where they are then.
class JointedBody {
 public:
  /// `nodes`: 3 × n [m]. The vectors made here have `total` weights, those of this side from `first` on.
  JointedBody(const Model& model, const JointSide& side, const Matrix3X& nodes, Index first, Index total)
      : side_(side), first_(first), total_(total) {
    whole_ = side.body >= 0 && moves_as_whole(model.bodies[std::size_t(side.body)]);
    if (!whole_) return;
    Eigen::Matrix4d corners;
    corners << nodes, Eigen::RowVector4d::Ones();
    to_weights_ = corners.inverse();
  }
  NodeVector point(const Vector3& x) const {
    if (side_.body >= 0 && !whole_) return spread(side_.weights);
    return whole_ ? spread(to_weights_ * Vector4(x[0], x[1], x[2], 1)) : fixed(x);
  }
  NodeVector direction(const Vector3& d) const {
    return whole_ ? spread(to_weights_ * Vector4(d[0], d[1], d[2], 0)) : fixed(d);
  }

 private:
  NodeVector fixed(const Vector3& x) const { return {VectorX::Zero(total_), x}; }
  NodeVector spread(const VectorX& weights) const {
    NodeVector v = fixed(Vector3::Zero());
    v.weights.segment(first_, weights.size()) = weights;
    return v;
  }
  const JointSide& side_;
  Index first_, total_;
  bool whole_ = false;
  Eigen::Matrix4d to_weights_ = Eigen::Matrix4d::Zero();
};

NodeVector operator-(const NodeVector& a, const NodeVector& b) {
  return {a.weights - b.weights, a.constant - b.constant};
}
NodeVector operator*(double s, const NodeVector& v) {
  return {s * v.weights, s * v.constant};
}

class RowMaker {
 public:
  explicit RowMaker(std::vector<Index> nodes) : nodes_(std::move(nodes)) {}
  void product(JointPart part, const NodeVector& a, const NodeVector& b) {
    rows_.push_back({part, {JointCoordinate::Kind::product, nodes_, a, b, {}}});
  }
  /// All components of a difference of points.
  void difference(const NodeVector& d) {
    for (int axis = 0; axis < 3; ++axis)
      product(JointPart::closure, d, {VectorX::Zero(d.weights.size()), Vector3::Unit(axis)});
  }
  void angle(const NodeVector& a, const NodeVector& b, const NodeVector& c) {
    rows_.push_back({JointPart::about, {JointCoordinate::Kind::angle, nodes_, a, b, c}});
  }
  std::vector<JointRow> take() { return std::move(rows_); }

 private:
  std::vector<Index> nodes_;
  std::vector<JointRow> rows_;
};

}  // namespace

std::array<std::vector<Index>, 2> joint_nodes(const Model& model, const Joint& joint) {
  std::array<std::vector<Index>, 2> result;
  for (std::size_t s = 0; s < 2; ++s) {
    const JointSide& side = joint.sides[s];
    if (side.body < 0) continue;
    const auto b = std::size_t(side.body);
    const Body& body = model.bodies[b];
    if (moves_as_whole(body))
      for (Index n = 0; n < body.node_count(); ++n) result[s].push_back(model.first_node[b] + n);
    else
      for (const Index p : body.sets[side.points])
        for (const Influence& i : body.point_map.influences(p))
          result[s].push_back(model.first_node[b] + i.node);
  }
  return result;
}

JointPlacement place_joint(const Model& model, const Joint& joint, const Matrix3X& start) {
  const auto nodes = joint_nodes(model, joint);
  const Index n = Index(nodes[0].size()), total = n + Index(nodes[1].size());
  std::vector<Index> all = nodes[0];
  all.insert(all.end(), nodes[1].begin(), nodes[1].end());
  const JointedBody first(model, joint.sides[0], start.leftCols(n), 0, total),
      second(model, joint.sides[1], start.rightCols(total - n), n, total);
  Vector3 place = joint.sides[0].pivot, other_place = joint.sides[1].pivot, axis = joint.axis;
  if (joint.begins_late()) {  // where the first body has carried them
    const Matrix3X initial = model.initial_nodes(Eigen::all, nodes[0]);
    const JointedBody placed(model, joint.sides[0], initial, 0, n);
    const NodeVector pivot = placed.point(place), along = placed.direction(axis);
    place = other_place = start.leftCols(n) * pivot.weights;
    if (along.moves()) axis = (start.leftCols(n) * along.weights).normalized();
  }
  const Vector3 across = axis.unitOrthogonal(), third = axis.cross(across);
  JointPlacement result{{first.point(place), second.point(other_place)}, {}};
  const NodeVector apart = result.pivots[0] - result.pivots[1];
  RowMaker rows(all);
  switch (joint.kind) {
    case JointKind::ball:
      rows.difference(apart);
      if (joint.cone)  // −cos θ ≤ −cos(cone), divided by sin(cone) so that near there it is an angle
        rows.product(JointPart::cone, first.direction(axis),
                     (-1 / std::sin(*joint.cone)) * second.direction(axis));
      break;
    case JointKind::hinge:
      for (const double end : {-joint.arm, joint.arm})
        rows.difference(first.point(place + end * axis) - second.point(other_place + end * axis));
      break;
    case JointKind::fixed:
      for (int k = 0; k < 4; ++k) {
        const Vector3 corner = joint.arm * ControlTetrahedron::directions().col(k) / std::sqrt(3.0);
        rows.difference(first.point(place + corner) - second.point(other_place + corner));
      }
      break;
    case JointKind::slider:
      rows.product(JointPart::closure, joint.arm * first.direction(across), second.direction(third));
      [[fallthrough]];
    case JointKind::cylinder:
      for (const double end : {-joint.arm, joint.arm})
        for (const Vector3& side : {across, third})
          rows.product(JointPart::closure, first.point(place + end * axis) - result.pivots[1],
                       second.direction(side));
      rows.product(JointPart::along, apart, second.direction(axis));
      break;
  }
  if (joint.turns()) rows.angle(first.direction(across), second.direction(across), second.direction(third));
  result.rows = rows.take();
  return result;
}

JointTurn joint_turn(const Model& model, const Joint& joint, const Matrix3X& start) {
  auto [nodes, others] = joint_nodes(model, joint);
  const Index n = Index(nodes.size()), total = n + Index(others.size());
  nodes.insert(nodes.end(), others.begin(), others.end());
  const JointedBody first(model, joint.sides[0], start.leftCols(n), 0, total),
      second(model, joint.sides[1], start.rightCols(total - n), n, total);
  JointTurn turn{std::move(nodes), {}, {}};
  for (std::size_t k = 0; k < 3; ++k) {
    turn.first[k] = first.direction(Vector3::Unit(Index(k)));
    turn.second[k] = second.direction(Vector3::Unit(Index(k)));
  }
  return turn;
}

Index multiplier_count(const Joint& joint) {
  const Index freedoms = Index(joint.slides()) + Index(joint.turns());
  const auto closures = [&] {
    switch (joint.kind) {
      case JointKind::ball:
        return 3;
      case JointKind::hinge:
        return 6;
      case JointKind::slider:
        return 5;
      case JointKind::cylinder:
        return 4;
      case JointKind::fixed:
        break;
    }
    return 12;
  };
  const Index rubbing = joint.kind == JointKind::ball && joint.about.friction > 0 ? 3 : 0;
  return closures() + Index(joint.cone.has_value()) + rubbing + freedom_multipliers * freedoms;
}

}  // namespace apart
