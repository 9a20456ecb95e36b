#include <apart/simulation/joint_conflict.hpp>
#include <apart/simulation/joint_control.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

constexpr double most_entries = 4e6;  // of the matrix; a second or so
constexpr double consistent = 1e-6;   // residual, as a share of the largest speed

/// What joints say about the rates of free unknowns: slopes · rates = speeds.
struct JointEquations {
  std::vector<Matrix3X> slopes;
  std::vector<double> speeds;
  std::vector<int> joints;  ///< whose they are
};

JointEquations equations_at_start(const Model& model) {
  JointEquations result;
  const double dt = model.options.dt;
  const auto is_present = [&](const JointSide& side) {
    return side.body < 0 || model.bodies[std::size_t(side.body)].presence.covers(dt);
  };
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.begins_late() || !joint.when.covers(dt) || !is_present(joint.sides[0]) ||
        !is_present(joint.sides[1]))
      continue;
    auto [nodes, others] = joint_nodes(model, joint);
    nodes.insert(nodes.end(), others.begin(), others.end());
    for (const JointRow& row : place_joint(model, joint, model.initial_nodes(Eigen::all, nodes)).rows) {
      const JointFreedom& freedom = row.part == JointPart::along ? joint.along : joint.about;
      const bool closes = row.part == JointPart::closure;
      if (!closes &&
          (row.part == JointPart::cone || !freedom.motor || std::isfinite(freedom.motor->largest_force)))
        continue;
      const double speed = closes ? 0 : freedom.motor->target(dt) / (freedom.motor->drives_speed ? 1 : dt);
      const VectorX g = row.coordinate.gradient(model.initial_nodes);
      Matrix3X slope = Matrix3X::Zero(3, model.node_count());
      for (std::size_t k = 0; k < nodes.size(); ++k) slope.col(nodes[k]) = g.segment<3>(Index(3 * k));
      result.slopes.push_back(model.chart.pull_back(model.initial_nodes, slope));
      result.speeds.push_back(speed);
      result.joints.push_back(int(j));
    }
  }
  return result;
}

/// What of `b` no combination of columns gives: Gram–Schmidt, the longest remaining column first. (Eigen's
/// orthogonal decompositions would take longer to compile than all other files of joints together.)
VectorX outside_of(Eigen::MatrixXd columns, VectorX b) {
  const double dependent = 1e-12 * columns.colwise().norm().maxCoeff();
  const Eigen::Index most = std::min(columns.rows(), columns.cols());
  for (Eigen::Index rank = 0; rank < most; ++rank) {
    Eigen::Index longest = 0;
    const double length = columns.colwise().norm().maxCoeff(&longest);
    if (!(length > dependent)) break;
    const VectorX unit = columns.col(longest) / length;
    columns.col(longest).setZero();
    for (Eigen::Index c = 0; c < columns.cols(); ++c) columns.col(c) -= unit.dot(columns.col(c)) * unit;
    b -= unit.dot(b) * unit;
  }
  return b;
}

}  // namespace

std::optional<int> contradicting_joint(const Model& model) {
  const JointEquations equations = equations_at_start(model);
  const Index rows = Index(equations.speeds.size());
  const VectorX speeds = Eigen::Map<const VectorX>(equations.speeds.data(), rows);
  if (rows == 0 || speeds.isZero(0)) return std::nullopt;
  const Chart::Mask free = model.chart.free_unknowns(!ScriptedNodes(model).mask(model.options.dt));
  std::vector<Eigen::Index> used;  // unknowns that some joint moves
  for (Eigen::Index k = 0; k < free.size(); ++k) {
    bool moves = false;
    for (const Matrix3X& slope : equations.slopes) moves |= slope(k) != 0;
    if (moves && free(k)) used.push_back(k);
  }
  if (double(rows) * double(used.size()) > most_entries) return std::nullopt;
  Eigen::MatrixXd matrix(rows, Eigen::Index(used.size()));
  for (Index i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < used.size(); ++k)
      matrix(i, Eigen::Index(k)) = equations.slopes[std::size_t(i)](used[k]);
  const VectorX residual = used.empty() ? speeds : outside_of(std::move(matrix), speeds);
  Index worst = -1;
  for (Index i = 0; i < rows; ++i)
    if (speeds[i] != 0 && (worst < 0 || std::abs(residual[i]) > std::abs(residual[worst]))) worst = i;
  if (!(residual.cwiseAbs().maxCoeff() > consistent * speeds.cwiseAbs().maxCoeff())) return std::nullopt;
  return equations.joints[std::size_t(worst)];
}

}  // namespace apart
