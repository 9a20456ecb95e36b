#include <apart/remesh/planar_screening.hpp>

#include <apart/potentials/planar_elasticity.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <map>

namespace apart {

namespace {

using Segment = std::array<Index, 2>;

Segment segment_of(Index a, Index b) {
  return a < b ? Segment{a, b} : Segment{b, a};
}

/// Derivatives of elastic energy and inertia of one body by its nodes, cell by cell, where a step ended.
struct PlaneForces {
  PlaneForces(const SolvedStep& step, int b)
      : body(step.problem.model.bodies[std::size_t(b)]),
        cells(*body.planar),
        first(step.problem.model.first_node[std::size_t(b)]) {
    const StepProblem& problem = step.problem;
    const Index n = body.node_count(), count = Index(cells.nodes.cols());
    q = step.nodes.middleCols(first, n);
    deviation = Matrix3X::Zero(3, n);
    mass = VectorX::Zero(count);
    if (problem.time_step.has_inertia) {
      deviation = q - problem.time_step.predicted.middleCols(first, n) -
                  problem.time_step.scale * problem.terms.gravity.middleCols(first, n);
      for (Index c = 0; c < count; ++c)
        mass[c] = cells.volume[c] * cells.density[std::size_t(cells.material_of[std::size_t(c)])];
    }
    PlanarElasticity elasticity;
    elasticity.add(cells, 0);
    elasticity.set_scale(problem.time_step.scale);
    elasticity.prepare(q);
    force.resize(std::size_t(count));
    stiffness.resize(std::size_t(count));
    LocalHessians hessians;
    for (Index c = 0; c < count; ++c) {
      hessians.reset(elasticity, c, c + 1);
      elasticity.hessians(q, c, c + 1, Projection::psd, hessians);
      for (int k = 0; k < 3; ++k)
        stiffness[std::size_t(c)][std::size_t(k)] = hessians[c].block<3, 3>(3 * k, 3 * k);
      // P = J σ F⁻ᵀ in the plane, J = det F₂ σ₃; the derivative by a corner is V P ∇λ.
      Matrix2 edges;
      for (int k = 0; k < 2; ++k) edges.col(k) = (q.col(corner(c, k + 1)) - q.col(corner(c, 0))).head<2>();
      const Matrix2& inverse_rest = cells.inverse_rest[std::size_t(c)];
      const Matrix2 f = edges * inverse_rest;
      const Matrix2 p = elasticity.stretches(c).prod() * elasticity.cauchy_stress(c).topLeftCorner<2, 2>() *
                        f.inverse().transpose();
      const Matrix2 by_corner = problem.time_step.scale * cells.volume[c] * p * inverse_rest.transpose();
      force[std::size_t(c)].setZero();
      force[std::size_t(c)].topRows<2>() << -by_corner.rowwise().sum(), by_corner;
    }
  }
  Index corner(Index cell, int k) const { return cells.nodes(k, cell); }

  const Body& body;
  const PlanarCells& cells;
  Index first;
  Matrix3X q;                                     ///< [m]
  Matrix3X deviation;                             ///< q − q̃ [m]
  VectorX mass;                                   ///< of each cell [kg]; zero without inertia
  std::vector<Matrix3> force;                     ///< elastic, by the corners of each cell [kg m]
  std::vector<std::array<Matrix3, 3>> stiffness;  ///< diagonal blocks [kg]
};

/// The derivative of all other energies by each node of the boundary, per length: what balances elasticity
/// and inertia.
Matrix3X outer_forces(const PlaneForces& forces, const ScriptedNodes::Mask& held) {
  const Body& body = forces.body;
  Matrix3X per_length = Matrix3X::Zero(3, body.node_count());
  VectorX length = VectorX::Zero(body.node_count());
  for (Index c = 0; c < forces.cells.nodes.cols(); ++c) {
    Vector3 sum = Vector3::Zero();
    for (int k = 0; k < 3; ++k) sum += forces.deviation.col(forces.corner(c, k));
    for (int k = 0; k < 3; ++k) {
      const Index p = forces.corner(c, k);
      per_length.col(p) -=
          forces.force[std::size_t(c)].col(k) + forces.mass[c] / 12 * (sum + forces.deviation.col(p));
    }
  }
  for (const auto& s : body.free_segments.colwise())
    for (const int p : s) length[p] += 0.5 * (body.nodes.col(s[1]) - body.nodes.col(s[0])).norm();
  for (Index p = 0; p < body.node_count(); ++p)
    for (int axis = 0; axis < 3; ++axis)
      per_length(axis, p) =
          length[p] > 0 && !held(axis, forces.first + p) ? per_length(axis, p) / length[p] : 0;
  return per_length;
}

/// ½ gᵀH⁻¹g in the axes that are free.
double gain_of(const Vector3& g, const Matrix3& h, const Eigen::Array<bool, 3, 1>& held) {
  Vector2 force = g.head<2>();
  Matrix2 stiffness = h.topLeftCorner<2, 2>();
  for (int axis = 0; axis < 2; ++axis)
    if (held[axis]) {
      force[axis] = 0;
      stiffness.row(axis).setZero();
      stiffness.col(axis).setZero();
      stiffness(axis, axis) = 1;
    }
  return stiffness.determinant() > 0 ? 0.5 * force.dot(stiffness.inverse() * force) : 0;
}

}  // namespace

std::vector<SplitEstimate> estimate_splits(const SolvedStep& step, int b, const PlanarEditor& editor) {
  const PlaneForces forces(step, b);
  const ScriptedNodes::Mask& held = step.problem.scripted.held();
  const Matrix3X outer = outer_forces(forces, held);
  struct Sum {
    Vector3 force = Vector3::Zero(), outer = Vector3::Zero();
    Matrix3 stiffness = Matrix3::Zero();
  };
  std::map<Segment, Sum> sums;
  // The midpoint's shape function is 2λ_a in one half of a cell of edge ab and 2λ_b in the other.
  for (Index c = 0; c < forces.cells.nodes.cols(); ++c)
    for (int k = 0; k < 3; ++k) {
      const int i = k, j = (k + 1) % 3;
      Sum& sum = sums[segment_of(forces.corner(c, i), forces.corner(c, j))];
      const auto& stiffness = forces.stiffness[std::size_t(c)];
      sum.force += forces.force[std::size_t(c)].col(i) + forces.force[std::size_t(c)].col(j);
      sum.stiffness += 2 * (stiffness[std::size_t(i)] + stiffness[std::size_t(j)]) +
                       forces.mass[c] / 6 * Matrix3::Identity();
      for (int l = 0; l < 3; ++l)
        sum.force +=
            forces.mass[c] / 24 * (l == i || l == j ? 3 : 2) * forces.deviation.col(forces.corner(c, l));
    }
  for (const auto& s : forces.body.free_segments.colwise())
    sums[segment_of(s[0], s[1])].outer += (forces.body.nodes.col(s[1]) - forces.body.nodes.col(s[0])).norm() /
                                          4 * (outer.col(s[0]) + outer.col(s[1]));
  std::vector<SplitEstimate> result;
  for (const Segment& edge : editor.edges()) {
    const Sum& s = sums.at(edge);
    const Eigen::Array<bool, 3, 1> both =
        held.col(forces.first + edge[0]) && held.col(forces.first + edge[1]);
    // What pushes the boundary may be spread evenly, or act at its corners alone, as a tip does.
    const double gain =
        std::max(gain_of(s.force + s.outer, s.stiffness, both), gain_of(s.force, s.stiffness, both));
    result.push_back({edge, gain / step.problem.time_step.scale});
  }
  return result;
}

std::vector<CollapseEstimate> estimate_collapses(const SolvedStep& step, int b, const PlanarEditor& editor,
                                                 Index first) {
  const PlaneForces forces(step, b);
  std::vector<CollapseEstimate> result;
  for (Index p = first; p < editor.point_count(); ++p) {
    Matrix3 stiffness = Matrix3::Zero();
    std::vector<Index> neighbours;
    for (const Index c : editor.cells_of(p))
      for (std::size_t k = 0; k < 3; ++k) {
        const Index other = editor.cell(c).points[k];
        if (other == p)
          stiffness += forces.stiffness[std::size_t(c)][k] + forces.mass[c] / 6 * Matrix3::Identity();
        else
          neighbours.push_back(other);
      }
    std::ranges::sort(neighbours);
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    // Back to the mesh before a split, if its ends are still there.
    const std::vector<Index> all = neighbours;
    for (const Index i : all)
      for (const Index j : all)
        if (i < j && Vector3(0.5 * (editor.position(0, i) + editor.position(0, j))) == editor.position(0, p))
          neighbours = {i, j};
    for (const Index kept : neighbours) {
      // The cell that would hold the point's place: the one in which its smallest coordinate is largest.
      double best = -infinity;
      Vector3 place = forces.q.col(p);
      for (const Index c : editor.cells_of(p)) {
        if (editor.cell(c).has(kept)) continue;
        std::array<Index, 3> corners = editor.cell(c).points;
        std::ranges::replace(corners, p, kept);
        const Vector3& origin = editor.position(0, corners[0]);
        Matrix2 rest;
        for (std::size_t k = 0; k < 2; ++k)
          rest.col(Index(k)) = (editor.position(0, corners[k + 1]) - origin).head<2>();
        if (!(rest.determinant() > 0)) continue;
        const Vector2 l = rest.inverse() * (editor.position(0, p) - origin).head<2>();
        const double least = std::min(l.minCoeff(), 1 - l.sum());
        if (least <= best) continue;
        best = least;
        place = (1 - l.sum()) * forces.q.col(corners[0]) + l[0] * forces.q.col(corners[1]) +
                l[1] * forces.q.col(corners[2]);
      }
      if (best < -1e-6) continue;  // outside of what would be there
      const Vector3 d = forces.q.col(p) - place;
      result.push_back({p, kept, 0.5 * d.dot(stiffness * d) / step.problem.time_step.scale});
    }
  }
  return result;
}

}  // namespace apart
