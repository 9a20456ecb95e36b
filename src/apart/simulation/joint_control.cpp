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

  /// By inertia, weight and elements [N/m, N m/rad].
  double stiffness(const JointCoordinate& c) const {
    const VectorX g = c.gradient(step_.state.nodes);
    double mobility = 0;  // inverse of the mass that is moved
    bool deforms = false;
    Index at = 0;
    for (std::size_t s = 0; s < 2; ++s) {
      if (joint_.sides[s].body < 0) continue;
      const auto b = std::size_t(joint_.sides[s].body);
      const Body& body = model_.bodies[b];
      const Index first = model_.first_node[b], end = first + body.node_count();
      Matrix3X forces = Matrix3X::Zero(3, charts_[s] ? body.node_count() : 0);
      for (; at < Index(c.nodes.size()); ++at) {
        const Index node = c.nodes[std::size_t(at)];
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

void JointControl::add_rows(std::size_t number, const JointStep& step, Index slot) {
  const Joint& joint = model_.joints[number];
  const Matrix3X start = start_of(number);
  JointPlacement placed = place_joint(model_, joint, start);
  auto [nodes, others] = joint_nodes(model_, joint);
  nodes.insert(nodes.end(), others.begin(), others.end());
  for (JointRow& row : ball_turns(model_, joint, start, step.state.nodes(Eigen::all, nodes)))
    placed.rows.push_back(std::move(row));
  acting_.push_back({int(number), potential_.rows.size(), placed.rows.size(), placed.pivots});
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
      case JointPart::lean: {  // ½k (3 − Σ eₖ·e′ₖ) = k (1 − cos θ)
        const double pull = -joint.about.stiffness / 2;
        laws.push_back({.target = 1, .lower = pull, .upper = pull, .multiplier = pull, .elastic = true});
        break;
      }
      case JointPart::turn:
        if (joint.about.friction > 0)
          laws.push_back({.lower = -joint.about.friction, .upper = joint.about.friction});
        if (joint.about.damping > 0)
          laws.push_back({.stiffness = joint.about.damping / step.length, .elastic = true});
        break;
    }
    const double stiffness = stiffness_factor * resistance.stiffness(row.coordinate);
    for (std::size_t l = 0; l < laws.size(); ++l) {
      JointLaw& law = laws[l];
      if (law.elastic) continue;
      law.stiffness = stiffness;
      law.multiplier = std::clamp(forces_[slot], law.lower, law.upper);
      kept_.push_back(
          {potential_.rows.size(), l, slot++, int(number), tolerance, stiffest_growth * stiffness});
    }
    parts_.push_back(row.part);
    start_values_.push_back(now);
    potential_.rows.push_back({std::move(row.coordinate), std::move(laws)});
  }
}

/// Friction of a ball is a torque of any direction that is bounded in length: f = s min(1, F/‖s‖) with s = λ
/// + k c, the nearest one allowed. Between two updates each of its components has a bound of its own, the one
/// at which both rules agree; the three have one k, so that f ends up along the turn.
void JointControl::bound_ball_friction(const Matrix3X& q) {
  for (std::size_t i = 0; i + 2 < kept_.size(); ++i) {
    if (parts_[kept_[i].row] != JointPart::turn) continue;
    std::array<JointLaw*, 3> laws;
    Vector3 pulled;
    double stiffness = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      laws[a] = &potential_.rows[kept_[i + a].row].laws[kept_[i + a].law];
      stiffness = std::max(stiffness, laws[a]->stiffness);
    }
    for (std::size_t a = 0; a < 3; ++a) {
      laws[a]->stiffness = stiffness;
      pulled[Index(a)] = laws[a]->multiplier + stiffness * value(kept_[i + a].row, q);
    }
    const double most = model_.joints[std::size_t(kept_[i].joint)].about.friction, length = pulled.norm();
    for (std::size_t a = 0; a < 3; ++a) {
      laws[a]->upper = length > most ? most * std::abs(pulled[Index(a)]) / length : most;
      laws[a]->lower = -laws[a]->upper;
    }
    i += 2;
  }
}

void JointControl::begin(const JointStep& step) {
  potential_.scale = step.time_step.scale;
  potential_.rows.clear();
  acting_.clear();
  kept_.clear();
  parts_.clear();
  start_values_.clear();
  updates_ = 0;
  const Index joints = Index(model_.joints.size());
  if (joints == 0) return;
  note_anchors(step.state, step.end);
  angles_ = zeros_unless(step.state.joint_angles, joints);
  broken_ = zeros_unless(step.state.joint_broken, joints);
  forces_ = zeros_unless(step.state.joint_forces, first_slot_.back());
  for (std::size_t j = 0; j < model_.joints.size(); ++j)
    if (acts(model_.joints[j], j, step.state, step.end)) add_rows(j, step, first_slot_[j]);
  bound_ball_friction(step.state.nodes);
}

bool JointControl::update(const Matrix3X& q) {
  bound_ball_friction(q);
  const auto open = [&](const Kept& k) { return law(k).error(value(k.row, q)) > k.tolerance; };
  if (std::ranges::none_of(kept_, open)) return false;
  if (++updates_ > most_updates) throw SolverError(complaint(q));
  for (Kept& k : kept_) {
    JointLaw& l = potential_.rows[k.row].laws[k.law];
    const double c = value(k.row, q), error = l.error(c);
    l.multiplier = l.force(c);
    if (error > k.tolerance && error > slow_closing * k.last_error && l.stiffness < k.stiffest)
      l.stiffness *= stiffer;
    k.last_error = error;
  }
  return true;
}

std::vector<std::string> JointControl::finish(const Matrix3X& q, State& next) const {
  std::vector<std::string> breaking;
  if (model_.joints.empty()) return breaking;
  next.joint_anchors = anchors_;
  next.joint_forces = VectorX::Zero(first_slot_.back());
  next.joint_angles = angles_;
  next.joint_broken = broken_;
  for (const Kept& k : kept_) next.joint_forces[k.slot] = law(k).force(value(k.row, q));
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
    const Vector3 pivot = found->pivots[0].at(c.nodes, q);
    const VectorX g = c.gradient(q);
    for (Index k = 0; k < own; ++k) {
      const Vector3 on_node = -force * g.segment<3>(3 * k), x = q.col(c.nodes[std::size_t(k)]);
      result.force += on_node;
      result.torque += (x - pivot).cross(on_node);
    }
  }
  return result;
}

double JointControl::largest_error(const Matrix3X& q) const {
  double largest = 0;
  for (const Kept& k : kept_) largest = std::max(largest, law(k).error(value(k.row, q)) / k.tolerance);
  return largest;
}

std::string JointControl::complaint(const Matrix3X& q) const {
  const Kept* worst = nullptr;
  double largest = 1;
  for (const Kept& k : kept_)
    if (const double share = law(k).error(value(k.row, q)) / k.tolerance; !(share <= largest)) {
      largest = share;
      worst = &k;
    }
  if (!worst) return {};
  const Joint& joint = model_.joints[std::size_t(worst->joint)];
  const double error = largest * worst->tolerance;
  const JointPart part = parts_[worst->row];
  const bool turns = part == JointPart::about || part == JointPart::cone || part == JointPart::turn;
  return fmt::format(
      "joint '{}' is {:.3g} {} from where it should be (tolerance {:.3g}), with a force of {:.3g} N and a "
      "torque of {:.3g} N m: joints, motors or scripts contradict each other, or something is in the way; "
      "give motors a largest force, and remove joints until it works",
      joint.name, error, turns ? "rad" : "m", worst->tolerance, measure(worst->joint, q).force.norm(),
      measure(worst->joint, q).torque.norm());
}

double JointControl::work(const Matrix3X& q) const {
  double sum = 0;
  for (std::size_t r = 0; r < potential_.rows.size(); ++r) {
    if (parts_[r] == JointPart::closure) continue;
    const double now = value(r, q);
    for (const JointLaw& l : potential_.rows[r].laws) sum -= l.force(now) * (now - start_values_[r]);
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
