#include <apart/remesh/shell_screening.hpp>

#include <apart/bodies/body_shape.hpp>
#include <apart/core/parallel.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace apart {

namespace {

/// The derivative of all energies of a shell but its own elasticity and inertia by each node, per area: what
/// balances these.
struct SheetLoads {
  SheetLoads(const SolvedStep& step, const Body& body, Index first, const Matrix3X& own,
             const ContactForces& contact)
      : spread(-own), pressing(contact.at_points) {
    const ScriptedNodes::Mask& held = step.problem.scripted.held();
    spread -= contact.at_points;
    for (const ContactForces::Load& load : contact.loads)
      for (const auto& [p, share] : load.shares) spread.col(p) -= share * load.derivative;
    const ShellCells& cells = *body.shell;
    VectorX around = VectorX::Zero(body.node_count());
    for (Index t = 0; t < cells.nodes.cols(); ++t) {
      area.push_back(cells.volume[t] / cells.thickness);
      for (int k = 0; k < 3; ++k) around[cells.nodes(k, t)] += area.back() / 3;
    }
    for (Index p = 0; p < body.node_count(); ++p) {
      for (int axis = 0; axis < 3; ++axis)
        spread(axis, p) = held(axis, first + p) ? 0 : spread(axis, p) / around[p];
      pressing.col(p) /= around[p];
    }
  }
  Matrix3X spread;           ///< of loads [kg/m]
  Matrix3X pressing;         ///< of contact at points [kg/m]
  std::vector<double> area;  ///< of the triangles at rest [m²]
};

/// The part of a field per area that acts on the midpoint of points i and j of a triangle whose third is k.
Vector3 midpoint_share(const Matrix3X& field, double area, Index i, Index j, Index k) {
  return area / 24 * (3 * (field.col(i) + field.col(j)) + 2 * field.col(k));
}

}  // namespace

/// Some cells of a shell, where a step ended.
struct ShellScreening::Part {
  Body body;
  std::vector<Index> points;  ///< the editor's numbers, ascending
  Matrix3X q, deviation;      ///< [m]
  ElasticParts elastic;
  double value = 0;  ///< of elasticity, inertia and weight, times the step's scale
};

ShellScreening::ShellScreening(const SolvedStep& step, int b, const MeshEditor& editor)
    : step_(step),
      editor_(editor),
      body_(step.problem.model.bodies[std::size_t(b)]),
      first_(step.problem.model.first_node[std::size_t(b)]) {
  const StepProblem& problem = step.problem;
  const Index n = body_.node_count();
  q_ = step.nodes.middleCols(first_, n);
  deviation_ = Matrix3X::Zero(3, n);
  if (problem.time_step.has_inertia)
    deviation_ = q_ - problem.time_step.predicted.middleCols(first_, n) -
                 problem.time_step.scale * problem.terms.gravity.middleCols(first_, n);
  else
    gravity_ = problem.terms.gravity.col(first_);
  if (const Index part = problem.terms.membrane_part(b); part >= 0)
    limit_stiffness_ = problem.terms.elastic.membranes.limit_stiffness()[part];
}

/// `created`: the place of a point that the mesh does not have, whose number is the next.
ShellScreening::Part ShellScreening::part(const std::vector<EditedCell>& cells, const Blend& created) const {
  Part part;
  std::set<Index> points;
  for (const EditedCell& cell : cells) points.insert(cell.points.begin(), cell.points.end());
  part.points.assign(points.begin(), points.end());
  const Index n = Index(points.size());
  const auto place_of = [&](Index point) {
    return Index(std::ranges::lower_bound(part.points, point) - part.points.begin());
  };
  BodyShape shape;
  shape.mesh.points.resize(3, n);
  if (editor_.has_other_rest()) shape.rest_points.resize(3, n);
  part.q.resize(3, n);
  part.deviation.resize(3, n);
  for (Index i = 0; i < n; ++i) {
    const Index p = part.points[std::size_t(i)];
    const Blend at = p < editor_.point_count() ? Blend::of(p) : created;
    shape.mesh.points.col(i) = at.between(editor_.placement(at.from), editor_.placement(at.to));
    if (editor_.has_other_rest())
      shape.rest_points.col(i) = at.between(editor_.position(0, at.from), editor_.position(0, at.to));
    part.q.col(i) = at.in(q_);
    part.deviation.col(i) = at.in(deviation_);
  }
  std::vector<Corners> corners;
  for (const EditedCell& cell : cells) {
    Corners& list = corners.emplace_back();
    for (const Index p : cell.points) list.add(place_of(p));
  }
  set_cells(shape.mesh, corners);
  part.body = part_of(body_, shape);
  part.elastic.add(part.body, 0);
  const double scale = step_.problem.time_step.scale;
  part.elastic.set_scale(scale);
  if (limit_stiffness_) part.elastic.membranes.set_limit_stiffness(VectorX::Constant(1, *limit_stiffness_));
  part.elastic.prepare(part.q);
  part.value = part.elastic.value(part.q);
  if (step_.problem.time_step.has_inertia)
    part.value += 0.5 * (part.deviation * part.body.mass).cwiseProduct(part.deviation).sum();
  else
    part.value -= scale * gravity_.dot((part.q * part.body.mass).rowwise().sum());
  return part;
}

namespace {

/// Derivatives of elasticity by one node of a part.
MidpointForces forces_on(const ElasticParts& elastic, const Matrix3X& q, Index node) {
  MidpointForces result;
  Matrix3X gradient = Matrix3X::Zero(3, q.cols());
  elastic.add_gradient(q, gradient);
  result.force = gradient.col(node);
  for (const Potential* potential : elastic.potentials()) {
    const Index count = potential->term_count();
    if (count == 0) continue;
    LocalHessians hessians;
    hessians.reset(*potential, 0, count);
    potential->hessians(q, 0, count, Projection::psd, hessians);
    for (Index i = 0; i < count; ++i) {
      const TermPoints points = potential->term(i);
      const auto found = std::ranges::find(points, node);
      if (found == points.end()) continue;
      const Index at = 3 * Index(found - points.begin());
      result.stiffness += hessians[i].block<3, 3>(at, at);
    }
  }
  return result;
}

}  // namespace

/// The midpoint moves alone, and with it the angles at the edges around it, where bending becomes stiffer at
/// once, as the triangles there become narrower. A flat membrane resists only what has moved already, so a
/// few iterations are made. `outer`: what else acts on the midpoint.
double ShellScreening::midpoint_gain(const std::array<Index, 2>& edge, const MidpointForces& outer,
                                     const Eigen::Array<bool, 3, 1>& held) const {
  constexpr int iterations = 4, halvings = 4;
  const Index m = editor_.point_count();
  std::set<Index> around;
  std::vector<EditedCell> cells, now;
  const std::vector<Index> own = editor_.cells_of_edge(edge[0], edge[1]);
  for (const Index c : own) {
    const Corners& points = editor_.cell(c).points;
    for (int k = 0; k < 3; ++k)
      for (const Index other : editor_.cells_of_edge(points[k], points[(k + 1) % 3])) around.insert(other);
    for (const Index end : edge) cells.push_back({points.replaced(end, m), 0, {}});
  }
  for (const Index c : around) {
    if (std::ranges::find(own, c) == own.end()) cells.push_back(editor_.cell(c));
    now.push_back(editor_.cell(c));
  }
  Part after = part(cells, Blend::middle(edge[0], edge[1]));
  const double before = part(now, {}).value;
  const Index place = Index(after.points.size()) - 1;
  const bool inertia = step_.problem.time_step.has_inertia;
  const double mass = inertia ? after.body.mass.coeff(place, place) : 0;
  MidpointForces fixed = outer;
  if (inertia) fixed.force += after.deviation * after.body.mass.col(place);
  // What contact presses on can move only along it: the barrier is far stiffer than the body.
  MidpointForces forces = forces_on(after.elastic, after.q, place);
  fixed.stiffness += mass * Matrix3::Identity();
  if (const double pressing = outer.pressing.squaredNorm(); pressing > 0)
    fixed.stiffness +=
        1e3 * (forces.stiffness.trace() + 3 * mass) / pressing * outer.pressing * outer.pressing.transpose();
  fixed.force += outer.pressing;
  const Vector3 start = after.q.col(place);
  const double elastic = after.elastic.value(after.q);
  double best = after.value;
  for (int i = 0; i < iterations; ++i) {
    const Vector3 moved = after.q.col(place) - start;
    Vector3 g = forces.force + fixed.force + fixed.stiffness * moved;
    const Matrix3 h = forces.stiffness + fixed.stiffness;
    g = held.select(0.0, g.array()).matrix();
    const Eigen::LDLT<Matrix3> factor(h);
    if (factor.info() != Eigen::Success || !factor.isPositive()) break;
    Vector3 step = -factor.solve(g);
    step = held.select(0.0, step.array()).matrix();
    const Vector3 from = after.q.col(place);
    double value = best;
    for (int k = 0; k <= halvings && !(value < best); ++k, step *= 0.5) {
      after.q.col(place) = from + step;
      after.elastic.prepare(after.q);
      const Vector3 d = after.q.col(place) - start;
      value = after.value - elastic + after.elastic.value(after.q) + fixed.force.dot(d) +
              0.5 * d.dot(fixed.stiffness * d);
    }
    if (!(value < best)) break;
    const bool settled = best - value < 0.05 * (after.value - value);
    best = value;
    if (settled) break;
    forces = forces_on(after.elastic, after.q, place);
  }
  return before - best;
}

std::vector<SplitEstimate> ShellScreening::splits() const {
  const StepProblem& problem = step_.problem;
  const double scale = problem.time_step.scale;
  const Index n = body_.node_count();
  ElasticParts elastic;
  elastic.add(body_, 0);
  elastic.set_scale(scale);
  if (limit_stiffness_) elastic.membranes.set_limit_stiffness(VectorX::Constant(1, *limit_stiffness_));
  elastic.prepare(q_);
  Matrix3X own = Matrix3X::Zero(3, n);
  elastic.add_gradient(q_, own);
  if (problem.time_step.has_inertia) own += deviation_ * body_.mass;
  const int b = int(&body_ - problem.model.bodies.data());
  const ContactForces contact(step_, b, n);
  const SheetLoads loads(step_, body_, first_, own, contact);

  const std::vector<std::array<Index, 2>> edges = editor_.edges();
  std::vector<MidpointForces> outer(edges.size());
  const auto of_edge = [&](Index p, Index q) -> MidpointForces& {
    const auto [low, high] = std::minmax(p, q);
    const auto place = std::ranges::lower_bound(edges, std::array{low, high}) - edges.begin();
    return outer[std::size_t(place)];
  };
  const Faces& triangles = body_.shell->nodes;
  for (Index t = 0; t < triangles.cols(); ++t)
    for (int k = 0; k < 3; ++k) {
      const Index i = triangles(k, t), j = triangles((k + 1) % 3, t), other = triangles((k + 2) % 3, t);
      const double area = loads.area[std::size_t(t)];
      MidpointForces& sum = of_edge(i, j);
      sum.force += midpoint_share(loads.spread, area, i, j, other);
      if (!loads.pressing.col(i).isZero(0) && !loads.pressing.col(j).isZero(0))
        sum.pressing += midpoint_share(loads.pressing, area, i, j, other);
    }
  // At a place with coordinates λ the midpoint's shape function is 2 min(λ_i, λ_j). What yields to contact is
  // soon out of its reach: at half of d̂ the barrier is as stiff as its force over this length.
  const double fading = 0.2 * smallest_dhat(problem.model.surface.pairs);
  for (const ContactForces::Load& load : contact.loads)
    for (std::size_t i = 0; i < load.shares.size(); ++i)
      for (std::size_t j = i + 1; j < load.shares.size(); ++j) {
        MidpointForces& sum = of_edge(load.shares[i].first, load.shares[j].first);
        const double there = 2 * std::min(load.shares[i].second, load.shares[j].second);
        sum.force += there * load.derivative;
        if (const double force = load.derivative.norm(); force > 0)
          sum.stiffness += there * there / (fading * force) * load.derivative * load.derivative.transpose();
      }
  const ScriptedNodes::Mask& held = problem.scripted.held();
  std::vector<SplitEstimate> result(edges.size());
  parallel_for(
      Index(edges.size()),
      [&](Index i) {
        const std::size_t e = std::size_t(i);
        const Eigen::Array<bool, 3, 1> both =
            held.col(first_ + edges[e][0]) && held.col(first_ + edges[e][1]);
        result[e] = {edges[e], midpoint_gain(edges[e], outer[e], both) / scale};
      },
      8);
  return result;
}

std::vector<CollapseEstimate> ShellScreening::collapses(Index first, bool onto_all) const {
  const double scale = step_.problem.time_step.scale;
  const int b = int(&body_ - step_.problem.model.bodies.data());
  const ContactForces contact(step_, b, body_.node_count());
  Matrix3X pressing = contact.at_points;
  for (const ContactForces::Load& load : contact.loads)
    for (const auto& [p, share] : load.shares) pressing.col(p) += share * load.derivative;
  // How far a collapse may push the surface against what touches it.
  const double yielding = 0.25 * smallest_dhat(step_.problem.model.surface.pairs);
  const auto presses = [&](Index removed, const Vector3& shift) {
    const Vector3 derivative = pressing.col(removed);
    return derivative.dot(shift) > yielding * derivative.norm();
  };
  const Index count = std::max<Index>(0, editor_.point_count() - first);
  std::vector<std::vector<CollapseEstimate>> of_point{std::size_t(count)};
  parallel_for(
      count,
      [&](Index i) {
        const Index removed = first + i;
        std::vector<Index> neighbours = editor_.neighbours_of(removed);
        std::set<Index> around;
        for (const Index p : neighbours)
          around.insert(editor_.cells_of(p).begin(), editor_.cells_of(p).end());
        std::vector<EditedCell> now;
        for (const Index c : around) now.push_back(editor_.cell(c));
        const double before = part(now, {}).value;
        if (const auto ends = ends_of_split(editor_, removed, neighbours)) {
          if (presses(removed, 0.5 * (q_.col((*ends)[0]) + q_.col((*ends)[1])) - q_.col(removed))) return;
          if (!onto_all) neighbours.assign(ends->begin(), ends->end());
        }
        for (const Index kept : neighbours) {
          std::vector<EditedCell> then;
          std::set<Corners> made;
          bool is_sheet = true;  // no triangle twice or without area
          for (const EditedCell& cell : now) {
            if (cell.points.has(removed) && cell.points.has(kept)) continue;
            then.push_back(cell);
            then.back().points = cell.points.replaced(removed, kept);
            is_sheet &= made.insert(then.back().points.sorted()).second &&
                        editor_.rest_quality(then.back().points) > 0.01;
          }
          if (!is_sheet) continue;
          const double loss = (part(then, {}).value - before) / scale;
          of_point[std::size_t(i)].push_back({removed, kept, loss});
        }
        if (onto_all) std::ranges::stable_sort(of_point[std::size_t(i)], {}, &CollapseEstimate::loss);
        if (onto_all && of_point[std::size_t(i)].size() > 1) of_point[std::size_t(i)].resize(1);
      },
      4);
  std::vector<CollapseEstimate> result;
  for (const auto& list : of_point) result.insert(result.end(), list.begin(), list.end());
  return result;
}

}  // namespace apart
