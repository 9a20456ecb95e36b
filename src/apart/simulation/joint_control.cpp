#include <apart/simulation/joint_control.hpp>

#include <apart/bodies/body_rules.hpp>
#include <apart/core/error.hpp>
#include <apart/simulation/chart_dynamics.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// k at first, against what resists it: what a solve leaves of an error falls by about this factor each time
// multipliers are moved on. Stiffer ones bend the valley that Newton's method goes along.
constexpr double stiffness_factor = 1e3;
constexpr double slow_closing = 0.1, stiffer = 10, stiffest_growth = 1e6;
constexpr int most_updates = 60;

VectorX zeros_unless(const VectorX& given, Index size) {
  return given.size() == size ? given : VectorX::Zero(size);
}

/// What resists forces along the coordinates of one joint in a step.
class JointResistance {
 public:
  JointResistance(const Model& model, const Joint& joint, const JointStep& step)
      : model_(model), joint_(joint), step_(step) {
    for (std::size_t s = 0; s < 2; ++s) {
      if (joint.sides[s].body < 0) continue;
      const Body& body = model.bodies[std::size_t(joint.sides[s].body)];
      const Index first = model.first_node[std::size_t(joint.sides[s].body)];
      if (body.chart) charts_[s].emplace(body, step.state.nodes.middleCols(first, body.node_count()));
    }
  }

  /// By inertia, weight and elements [N/m, N m/rad], of a coordinate of some nodes with the gradient g.
  double stiffness(const std::vector<Index>& nodes, const VectorX& g) const {
    double mobility = 0;  // inverse of the mass that is moved
    bool deforms = false;
    Index at = 0;
    for (std::size_t s = 0; s < 2; ++s) {
      if (joint_.sides[s].body < 0) continue;
      const auto b = std::size_t(joint_.sides[s].body);
      const Body& body = model_.bodies[b];
      const Index first = model_.first_node[b], end = first + body.node_count();
      Matrix3X forces = Matrix3X::Zero(3, charts_[s] ? body.node_count() : 0);
      for (; at < Index(nodes.size()); ++at) {
        const Index node = nodes[std::size_t(at)];
        if (node < first || node >= end) break;
        if (!body.is_dynamic() || step_.held.col(node).all()) continue;
        if (charts_[s])
          forces.col(node - first) = g.segment<3>(3 * at);
        else
          mobility += g.segment<3>(3 * at).squaredNorm() / body.mass.coeff(node - first, node - first);
        deforms |= !body.chart;
      }
      if (!forces.isZero(0)) mobility += charts_[s]->acceleration(forces).cwiseProduct(forces).sum();
    }
    const double mass = mobility > 0 ? 1 / mobility : 0, h = step_.length;
    double sum = mass * model_.options.gravity.norm() / joint_.arm;
    if (step_.time_step.has_inertia || sum == 0) sum += mass / (h * h);
    if (deforms && g.squaredNorm() > 0) sum += step_.node_stiffness / g.squaredNorm();
    return sum > 0 ? sum : 1;
  }

 private:
  const Model& model_;
  const Joint& joint_;
  const JointStep& step_;
  std::array<std::optional<ChartDynamics>, 2> charts_;  ///< of bodies that have one
};

}  // namespace

JointStateSizes::JointStateSizes(const Model& model) : joints(Index(model.joints.size())) {
  for (const Joint& joint : model.joints) {
    forces += multiplier_count(joint);
    if (joint.begins_late())
      for (const auto& nodes : joint_nodes(model, joint)) anchors += Index(nodes.size());
  }
}

JointControl::JointControl(const Model& model, const std::vector<char>& present, Joints& potential)
    : model_(model), present_(present), potential_(potential), first_slot_{0}, first_anchor_{0} {
  for (const Joint& joint : model.joints) {
    const auto nodes = joint_nodes(model, joint);
    first_slot_.push_back(first_slot_.back() + multiplier_count(joint));
    first_anchor_.push_back(first_anchor_.back() +
                            (joint.begins_late() ? Index(nodes[0].size() + nodes[1].size()) : 0));
  }
}

bool JointControl::acts(const Joint& joint, std::size_t number, const State& state, double end) const {
  const bool broken = state.joint_broken.size() > 0 && state.joint_broken[Index(number)] != 0;
  for (const JointSide& side : joint.sides)
    if (side.body >= 0 && !present_[std::size_t(side.body)]) return false;
  return !broken && joint.when.covers(end);
}

void JointControl::note_anchors(const State& state, double end) {
  anchors_ = state.joint_anchors;
  if (anchors_.cols() != first_anchor_.back()) anchors_ = Matrix3X::Zero(3, first_anchor_.back());
  for (std::size_t j = 0; j < model_.joints.size(); ++j) {
    const Joint& joint = model_.joints[j];
    if (!joint.begins_late() || !joint.when.covers(end) || joint.when.covers(state.time)) continue;
    Index at = first_anchor_[j];
    for (const auto& nodes : joint_nodes(model_, joint))
      for (const Index n : nodes) anchors_.col(at++) = state.nodes.col(n);
  }
}

/// Where the nodes of a joint are when it begins.
Matrix3X JointControl::start_of(std::size_t number) const {
  if (model_.joints[number].begins_late())
    return anchors_.middleCols(first_anchor_[number], first_anchor_[number + 1] - first_anchor_[number]);
  auto [nodes, others] = joint_nodes(model_, model_.joints[number]);
  nodes.insert(nodes.end(), others.begin(), others.end());
  return model_.initial_nodes(Eigen::all, nodes);
}

/// Limits, motor and friction, each with a multiplier, then springs and dampers. `now`: the coordinate.
void JointControl::add_freedom_laws(const JointFreedom& f, const JointStep& step, double now,
                                    std::vector<JointLaw>& laws) const {
  laws.assign(std::size_t(freedom_multipliers), JointLaw{.target = now, .lower = 0, .upper = 0});
  if (std::isfinite(f.lower)) laws[0] = {.target = f.lower, .upper = 0};
  if (std::isfinite(f.upper)) laws[1] = {.target = f.upper, .lower = 0};
  if (f.motor) {
    const double target = f.motor->target(step.end), most = f.motor->largest_force;
    laws[2] = {
        .target = f.motor->drives_speed ? now + target * step.length : target, .lower = -most, .upper = most};
  }
  if (f.friction > 0) laws[3] = {.target = now, .lower = -f.friction, .upper = f.friction};
  if (f.stiffness > 0) laws.push_back({.target = f.rest, .stiffness = f.stiffness, .elastic = true});
  if (f.damping > 0) laws.push_back({.target = now, .stiffness = f.damping / step.length, .elastic = true});
}

/// Spring, friction and damper of a ball, the last two with the turn of this step.
void JointControl::add_turns(std::size_t number, const JointStep& step, Index slot) {
  const Joint& joint = model_.joints[number];
  if (joint.kind != JointKind::ball) return;
  const auto add = [&](JointTurn turn, std::vector<TurnLaw> laws) {
    start_turns_.push_back(turn.value(step.state.nodes));
    potential_.turns.push_back({std::move(turn), std::move(laws)});
    ++acting_.back().turn_count;
  };
  const JointFreedom& f = joint.about;
  if (f.stiffness > 0)
    add(joint_turn(model_, joint, start_of(number)), {{.stiffness = f.stiffness, .elastic = true}});
  if (!(f.friction > 0 || f.damping > 0)) return;
  auto [nodes, others] = joint_nodes(model_, joint);
  nodes.insert(nodes.end(), others.begin(), others.end());
  JointTurn turn = joint_turn(model_, joint, step.state.nodes(Eigen::all, nodes));
  std::vector<TurnLaw> laws;
  if (f.friction > 0) {
    const JointResistance resistance(model_, joint, step);
    const auto g = turn.gradient(step.state.nodes);
    double stiffness = 0;
    for (int axis = 0; axis < 3; ++axis)
      stiffness = std::max(stiffness, stiffness_factor * resistance.stiffness(nodes, g.col(axis)));
    laws.push_back({.largest = f.friction, .stiffness = stiffness});
    laws.back().multiplier = laws.back().force(forces_.segment<3>(slot) / stiffness);
    kept_.push_back(
        {potential_.turns.size(), 0, true, slot, int(number), joint_accuracy, stiffest_growth * stiffness});
  }
  if (f.damping > 0) laws.push_back({.stiffness = f.damping / step.length, .elastic = true});
  add(std::move(turn), std::move(laws));
}

void JointControl::add_rows(std::size_t number, const JointStep& step, Index slot) {
  const Joint& joint = model_.joints[number];
  JointPlacement placed = place_joint(model_, joint, start_of(number));
  acting_.push_back(
      {int(number), potential_.rows.size(), placed.rows.size(), potential_.turns.size(), 0, placed.pivots});
  const JointResistance resistance(model_, joint, step);
  for (JointRow& row : placed.rows) {
    row.coordinate.near = angles_[Index(number)];
    const double now = row.coordinate.value(step.state.nodes);
    std::vector<JointLaw> laws;
    double tolerance = joint_accuracy;
    switch (row.part) {
      case JointPart::closure:
        laws.push_back({});
        tolerance *= 2 * joint.arm;
        break;
      case JointPart::cone:
        laws.push_back({.target = -1 / std::tan(*joint.cone), .lower = 0});
        break;
      case JointPart::along:
        add_freedom_laws(joint.along, step, now, laws);
        tolerance *= 2 * joint.arm;
        break;
      case JointPart::about:
        add_freedom_laws(joint.about, step, now, laws);
        break;
    }
    const double stiffness =
        stiffness_factor *
        resistance.stiffness(row.coordinate.nodes, row.coordinate.gradient(step.state.nodes));
    for (std::size_t l = 0; l < laws.size(); ++l) {
      JointLaw& law = laws[l];
      if (law.elastic) continue;
      law.stiffness = stiffness;
      law.multiplier = std::clamp(forces_[slot], law.lower, law.upper);
      kept_.push_back(
          {potential_.rows.size(), l, false, slot++, int(number), tolerance, stiffest_growth * stiffness});
    }
    parts_.push_back(row.part);
    start_values_.push_back(now);
    potential_.rows.push_back({std::move(row.coordinate), std::move(laws)});
  }
  add_turns(number, step, slot);
}

void JointControl::begin(const JointStep& step) {
  potential_.scale = step.time_step.scale;
  potential_.rows.clear();
  potential_.turns.clear();
  acting_.clear();
  kept_.clear();
  parts_.clear();
  start_values_.clear();
  start_turns_.clear();
  updates_ = 0;
  const Index joints = Index(model_.joints.size());
  if (joints == 0) return;
  note_anchors(step.state, step.end);
  angles_ = zeros_unless(step.state.joint_angles, joints);
  broken_ = zeros_unless(step.state.joint_broken, joints);
  forces_ = zeros_unless(step.state.joint_forces, first_slot_.back());
  for (std::size_t j = 0; j < model_.joints.size(); ++j)
    if (acts(model_.joints[j], j, step.state, step.end)) add_rows(j, step, first_slot_[j]);
}

bool JointControl::update(const Matrix3X& q) {
  const auto open = [&](const Kept& k) { return error(k, q) > k.tolerance; };
  if (std::ranges::none_of(kept_, open)) return false;
  if (++updates_ > most_updates) throw SolverError(complaint(q));
  const auto move_on = [&](Kept& k, auto& law, const auto& c) {
    const double error = law.error(c);
    law.multiplier = law.force(c);
    if (error > k.tolerance && error > slow_closing * k.last_error && law.stiffness < k.stiffest)
      law.stiffness *= stiffer;
    k.last_error = error;
  };
  for (Kept& k : kept_)
    if (k.turn)
      move_on(k, potential_.turns[k.row].laws[k.law], turn(k.row, q));
    else
      move_on(k, potential_.rows[k.row].laws[k.law], value(k.row, q));
  return true;
}

std::vector<std::string> JointControl::finish(const Matrix3X& q, State& next) const {
  std::vector<std::string> breaking;
  if (model_.joints.empty()) return breaking;
  next.joint_anchors = anchors_;
  next.joint_forces = VectorX::Zero(first_slot_.back());
  next.joint_angles = angles_;
  next.joint_broken = broken_;
  for (const Kept& k : kept_)
    if (k.turn)
      next.joint_forces.segment<3>(k.slot) = turn_law(k).force(turn(k.row, q));
    else
      next.joint_forces[k.slot] = law(k).force(value(k.row, q));
  for (const Acting& a : acting_) {
    const Joint& joint = model_.joints[std::size_t(a.joint)];
    const JointMeasure m = measure(a.joint, q);
    next.joint_angles[a.joint] = m.about;
    const double force = m.force.norm(), torque = m.torque.norm();
    if (!(force > joint.largest_force || torque > joint.largest_torque)) continue;
    next.joint_broken[a.joint] = 1;
    breaking.push_back(force > joint.largest_force
                           ? fmt::format("joint '{}' breaks: it carries {:.4g} N, at most {:.4g} N",
                                         joint.name, force, joint.largest_force)
                           : fmt::format("joint '{}' breaks: it carries {:.4g} N m, at most {:.4g} N m",
                                         joint.name, torque, joint.largest_torque));
  }
  return breaking;
}

JointMeasure JointControl::measure(int joint, const Matrix3X& q) const {
  JointMeasure result;
  if (angles_.size() > 0) result.about = angles_[joint];
  const auto found = std::ranges::find(acting_, joint, &Acting::joint);
  if (found == acting_.end()) return result;
  result.acts = true;
  const Index own = Index(joint_nodes(model_, model_.joints[std::size_t(joint)])[0].size());
  const auto add = [&](const std::vector<Index>& nodes, const VectorX& g) {  // g: force times gradient
    const Vector3 pivot = found->pivots[0].at(nodes, q);
    for (Index k = 0; k < own; ++k) {
      const Vector3 on_node = -g.segment<3>(3 * k), x = q.col(nodes[std::size_t(k)]);
      result.force += on_node;
      result.torque += (x - pivot).cross(on_node);
    }
  };
  for (std::size_t r = found->first_row; r < found->first_row + found->row_count; ++r) {
    const Joints::Row& row = potential_.rows[r];
    const JointCoordinate& c = row.coordinate;
    const double now = c.value(q);
    double force = 0;
    for (const JointLaw& l : row.laws) {
      force += l.force(now);
      result.error = std::max(result.error, l.error(now));
    }
    if (parts_[r] == JointPart::along) result.along = now;
    if (parts_[r] == JointPart::about) result.about = now;
    add(c.nodes, force * c.gradient(q));
  }
  for (std::size_t t = found->first_turn; t < found->first_turn + found->turn_count; ++t) {
    const JointTurn& c = potential_.turns[t].coordinate;
    const Vector3 now = c.value(q);
    Vector3 torque = Vector3::Zero();
    for (const TurnLaw& l : potential_.turns[t].laws) {
      torque += l.force(now);
      result.error = std::max(result.error, l.error(now));
    }
    add(c.nodes, c.gradient(q) * torque);
  }
  return result;
}

double JointControl::largest_error(const Matrix3X& q) const {
  double largest = 0;
  for (const Kept& k : kept_) largest = std::max(largest, error(k, q) / k.tolerance);
  return largest;
}

std::string JointControl::complaint(const Matrix3X& q) const {
  const Kept* worst = nullptr;
  double largest = 1;
  for (const Kept& k : kept_)
    if (const double share = error(k, q) / k.tolerance; !(share <= largest)) {
      largest = share;
      worst = &k;
    }
  if (!worst) return {};
  const Joint& joint = model_.joints[std::size_t(worst->joint)];
  const double error_of_it = largest * worst->tolerance;
  const bool turns =
      worst->turn || parts_[worst->row] == JointPart::about || parts_[worst->row] == JointPart::cone;
  return fmt::format(
      "joint '{}' is {:.3g} {} from where it should be (tolerance {:.3g}), with a force of {:.3g} N and a "
      "torque of {:.3g} N m: joints, motors or scripts contradict each other, or something is in the way; "
      "give motors a largest force, and remove joints until it works",
      joint.name, error_of_it, turns ? "rad" : "m", worst->tolerance, measure(worst->joint, q).force.norm(),
      measure(worst->joint, q).torque.norm());
}

double JointControl::work(const Matrix3X& q) const {
  double sum = 0;
  for (std::size_t r = 0; r < potential_.rows.size(); ++r) {
    if (parts_[r] == JointPart::closure) continue;
    const double now = value(r, q);
    for (const JointLaw& l : potential_.rows[r].laws) sum -= l.force(now) * (now - start_values_[r]);
  }
  for (std::size_t t = 0; t < potential_.turns.size(); ++t) {
    const Vector3 now = turn(t, q);
    for (const TurnLaw& l : potential_.turns[t].laws) sum -= l.force(now).dot(now - start_turns_[t]);
  }
  return sum;
}

Matrix3X JointControl::closing_forces(const Matrix3X& q, const Matrix3X& v, const Matrix3X& free,
                                      FunctionRef<Matrix3X(const Matrix3X&)> accelerated) const {
  std::vector<Matrix3X> slopes, pushed;  // ∇c of each closed coordinate, and M⁻¹ ∇c
  std::vector<double> wanted;
  for (std::size_t r = 0; r < potential_.rows.size(); ++r) {
    if (parts_[r] != JointPart::closure) continue;
    const JointCoordinate& c = potential_.rows[r].coordinate;
    const Index n = Index(c.nodes.size());
    const VectorX g = c.gradient(q);
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(3 * n, 3 * n);
    c.add_hessian(q, 1, Projection::none, hessian);
    Matrix3X slope = Matrix3X::Zero(3, q.cols());
    VectorX speed(3 * n);
    for (Index k = 0; k < n; ++k) {
      slope.col(c.nodes[std::size_t(k)]) = g.segment<3>(3 * k);
      speed.segment<3>(3 * k) = v.col(c.nodes[std::size_t(k)]);
    }
    wanted.push_back(slope.cwiseProduct(free).sum() + speed.dot(hessian * speed));  // c″ without the forces
    pushed.push_back(accelerated(slope));
    slopes.push_back(std::move(slope));
  }
  const Index m = Index(slopes.size());
  Matrix3X forces = Matrix3X::Zero(3, q.cols());
  if (m == 0) return forces;
  Eigen::MatrixXd mobility(m, m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j)
      mobility(i, j) = slopes[std::size_t(i)].cwiseProduct(pushed[std::size_t(j)]).sum();
  // Some coordinates say the same: a hinge holds its axis at two points, whose distance does not change.
  mobility.diagonal().array() += 1e-12 * std::max(mobility.diagonal().maxCoeff(), 1e-300);
  const VectorX multipliers = mobility.ldlt().solve(Eigen::Map<const VectorX>(wanted.data(), m));
  for (Index i = 0; i < m; ++i) forces -= multipliers[i] * slopes[std::size_t(i)];
  return forces;
}

}  // namespace apart
