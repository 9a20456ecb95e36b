#include <apart/remesh/screening.hpp>

#include <apart/potentials/planar_elasticity.hpp>
#include <apart/remesh/cell_energy.hpp>
#include <apart/remesh/screening_parts.hpp>
#include <apart/remesh/shell_screening.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>

namespace apart {

namespace {

using ByCorner = Eigen::Matrix<double, 3, 4>;  // of triangles the first three columns

/// V P ∇λ by the corners of a cell, P = J σ F⁻ᵀ, where a potential is prepared.
ByCorner corner_forces(const ContinuumElasticity& elasticity, const ElasticCells& cells, const Matrix3X& q,
                       Index c) {
  Matrix3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = q.col(cells.nodes(k + 1, c)) - q.col(cells.nodes(0, c));
  const Matrix3& inverse_rest = cells.inverse_rest[std::size_t(c)];
  const Matrix3 f = edges * inverse_rest;
  const Matrix3 p = f.determinant() * elasticity.cauchy_stress(c) * f.inverse().transpose();
  const Matrix3 others = elasticity.scale() * cells.volume[c] * p * inverse_rest.transpose();
  ByCorner result;
  result << -others.rowwise().sum(), others;
  return result;
}

/// In the plane; J = det F₂ σ₃.
ByCorner corner_forces(const PlanarElasticity& elasticity, const PlanarCells& cells, const Matrix3X& q,
                       Index c) {
  Matrix2 edges;
  for (int k = 0; k < 2; ++k)
    edges.col(k) = (q.col(cells.nodes(k + 1, c)) - q.col(cells.nodes(0, c))).head<2>();
  const Matrix2& inverse_rest = cells.inverse_rest[std::size_t(c)];
  const Matrix2 f = edges * inverse_rest;
  const Matrix2 p = elasticity.stretches(c).prod() * elasticity.cauchy_stress(c).topLeftCorner<2, 2>() *
                    f.inverse().transpose();
  const Matrix2 others = elasticity.scale() * cells.volume[c] * p * inverse_rest.transpose();
  ByCorner result = ByCorner::Zero();
  result.topLeftCorner<2, 3>() << -others.rowwise().sum(), others;
  return result;
}

/// Derivatives of elastic energy and inertia of one body by its nodes, cell by cell, where a step ended.
struct CellForces {
  CellForces(const SolvedStep& step, int b)
      : body(step.problem.model.bodies[std::size_t(b)]),
        first(step.problem.model.first_node[std::size_t(b)]) {
    const StepProblem& problem = step.problem;
    const Index n = body.node_count();
    q = step.nodes.middleCols(first, n);
    deviation = Matrix3X::Zero(3, n);
    if (problem.time_step.has_inertia)
      deviation = q - problem.time_step.predicted.middleCols(first, n) -
                  problem.time_step.scale * problem.terms.gravity.middleCols(first, n);
    if (body.planar)
      fill<PlanarElasticity>(*body.planar, problem.time_step);
    else
      fill<ContinuumElasticity>(*body.elastic, problem.time_step);
  }
  int dimension() const { return body.planar ? 2 : 3; }
  /// The surface, as the body numbers it.
  std::vector<Corners> sides() const {
    std::vector<Corners> result;
    if (body.planar)
      for (const auto& s : body.free_segments.colwise()) result.push_back(Corners::of(s));
    else
      for (const auto& s : body.surface_faces.colwise()) result.push_back(Corners::of(s));
    return result;
  }

  const Body& body;
  Index first;
  Matrix3X q;          ///< [m]
  Matrix3X deviation;  ///< q − q̃ [m]
  std::vector<Corners> cells;
  std::vector<double> mass;                       ///< [kg]; zero without inertia
  std::vector<ByCorner> force;                    ///< elastic, by the corners of each cell [kg m]
  std::vector<std::array<Matrix3, 4>> stiffness;  ///< diagonal blocks [kg]

 private:
  template <class Elasticity, class Cells>
  void fill(const Cells& of, const TimeStep& step) {
    Elasticity elasticity;
    elasticity.add(of, 0);
    elasticity.set_scale(step.scale);
    elasticity.prepare(q);
    const Index count = elasticity.term_count();
    stiffness.resize(std::size_t(count));
    constexpr Index batch = 1024;
    for (Index begin = 0; begin < count; begin += batch) {
      const Index end = std::min(begin + batch, count);
      LocalHessians hessians;
      hessians.reset(elasticity, begin, end);
      elasticity.hessians(q, begin, end, Projection::psd, hessians);
      for (Index c = begin; c < end; ++c) {
        cells.push_back(Corners::of(of.nodes.col(c)));
        mass.push_back(
            step.has_inertia ? of.volume[c] * of.density[std::size_t(of.material_of[std::size_t(c)])] : 0);
        force.push_back(corner_forces(elasticity, of, q, c));
        for (int k = 0; k < cells.back().size(); ++k)
          stiffness[std::size_t(c)][std::size_t(k)] = hessians[c].template block<3, 3>(3 * k, 3 * k);
      }
    }
  }
};

/// Of a side at rest [m², or m of a planar body].
double extent(const Body& body, const Corners& side) {
  const Vector3 along = body.nodes.col(side[1]) - body.nodes.col(side[0]);
  if (side.size() == 2) return along.norm();
  return along.cross(Vector3(body.nodes.col(side[2]) - body.nodes.col(side[0]))).norm() / 2;
}

/// The derivative of all energies but elasticity and inertia by each surface node, per area, or per length of
/// a planar body: what balances these. Apart from that of contact between points.
struct OuterForces {
  OuterForces(const CellForces& cells, const ContactForces& contact, const ScriptedNodes::Mask& held) {
    const Body& body = cells.body;
    const int d = cells.dimension();
    spread = Matrix3X::Zero(3, body.node_count());
    pressing = contact.at_points;
    VectorX area = VectorX::Zero(body.node_count());
    for (std::size_t c = 0; c < cells.cells.size(); ++c) {
      const Corners& corners = cells.cells[c];
      Vector3 sum = Vector3::Zero();
      for (const Index p : corners) sum += cells.deviation.col(p);
      for (int k = 0; k <= d; ++k)
        spread.col(corners[k]) -= cells.force[c].col(k) + cells.mass[c] / ((d + 1) * (d + 2)) *
                                                              (sum + cells.deviation.col(corners[k]));
    }
    spread -= contact.at_points;
    for (const ContactForces::Load& load : contact.loads)
      for (const auto& [p, share] : load.shares) spread.col(p) -= share * load.derivative;
    for (const Corners& side : cells.sides()) {
      areas.push_back(extent(body, side));
      for (const Index p : side) area[p] += areas.back() / d;
    }
    for (Index p = 0; p < body.node_count(); ++p) {
      for (int axis = 0; axis < 3; ++axis)
        spread(axis, p) = area[p] > 0 && !held(axis, cells.first + p) ? spread(axis, p) / area[p] : 0;
      if (area[p] > 0) pressing.col(p) /= area[p];
    }
  }
  Matrix3X spread;            ///< of loads [kg/m]
  Matrix3X pressing;          ///< of contact at points [kg/m]
  std::vector<double> areas;  ///< of the sides at rest [m², or m]
};

}  // namespace

std::vector<SplitEstimate> estimate_splits(const SolvedStep& step, int b, const MeshEditor& editor) {
  if (editor.is_shell()) return ShellScreening(step, b, editor).splits();
  const CellForces cells(step, b);
  const ScriptedNodes::Mask& held = step.problem.scripted.held();
  const ContactForces contact(step, b, cells.body.node_count());
  const OuterForces outer(cells, contact, held);
  const std::vector<std::array<Index, 2>> edges = editor.edges();
  std::vector<MidpointForces> sums(edges.size());
  const auto sum_of = [&](Index p, Index q) -> MidpointForces& {
    const auto [low, high] = std::minmax(p, q);
    return sums[std::size_t(std::ranges::lower_bound(edges, std::array{low, high}) - edges.begin())];
  };
  // The midpoint's shape function is 2λ_a in one half of a cell of edge ab and 2λ_b in the other.
  const int d = cells.dimension(), all = (d + 1) * (d + 2);
  for (std::size_t c = 0; c < cells.cells.size(); ++c) {
    const Corners& corners = cells.cells[c];
    for (int i = 0; i <= d; ++i)
      for (int j = i + 1; j <= d; ++j) {
        MidpointForces& sum = sum_of(corners[i], corners[j]);
        sum.force += cells.force[c].col(i) + cells.force[c].col(j);
        sum.stiffness += 2 * (cells.stiffness[c][std::size_t(i)] + cells.stiffness[c][std::size_t(j)]) +
                         2 * cells.mass[c] / all * Matrix3::Identity();
        for (int k = 0; k <= d; ++k)
          sum.force +=
              cells.mass[c] / (2 * all) * (k == i || k == j ? 3 : 2) * cells.deviation.col(corners[k]);
      }
  }
  const std::vector<Corners> sides = cells.sides();
  for (std::size_t f = 0; f < sides.size(); ++f)
    for (int k = 0; k < (d == 3 ? 3 : 1); ++k) {
      const Index i = sides[f][k], j = sides[f][(k + 1) % d];
      const auto share = [&](const Matrix3X& field) {
        Vector3 sum = 3 * (field.col(i) + field.col(j));
        if (d == 3) sum += 2 * field.col(sides[f][(k + 2) % 3]);
        return Vector3(outer.areas[f] / (2 * d * (d + 1)) * sum);
      };
      MidpointForces& sum = sum_of(i, j);
      sum.force += share(outer.spread);
      if (!outer.pressing.col(i).isZero(0) && !outer.pressing.col(j).isZero(0))
        sum.pressing += share(outer.pressing);
    }
  // At a place with coordinates λ the midpoint's shape function is 2 min(λ_i, λ_j).
  for (const ContactForces::Load& load : contact.loads)
    for (std::size_t m = 0; m < load.shares.size(); ++m)
      for (std::size_t n = m + 1; n < load.shares.size(); ++n)
        sum_of(load.shares[m].first, load.shares[n].first).force +=
            2 * std::min(load.shares[m].second, load.shares[n].second) * load.derivative;
  std::vector<SplitEstimate> result;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [i, j] = edges[e];
    const Eigen::Array<bool, 3, 1> both = held.col(cells.first + i) && held.col(cells.first + j);
    const double gain = quadratic_gain(sums[e], both, d);
    result.push_back({edges[e], gain / step.problem.time_step.scale});
  }
  return result;
}

namespace {

/// What collapses cost in elastic energy and inertia, at least.
class CollapseLoss {
 public:
  CollapseLoss(const SolvedStep& step, int b, const MeshEditor& editor)
      : editor_(editor), energy_(step, b, editor) {}

  /// `undoes_split`: p is the middle of an edge that the collapse makes again.
  std::optional<double> operator()(Index p, Index kept, bool undoes_split) const {
    std::vector<EditedCell> left;
    for (const Index c : editor_.cells_of(p))
      if (const EditedCell& cell = editor_.cell(c); !cell.points.has(kept))
        left.push_back({cell.points.replaced(p, kept), cell.substance, {}});
    const std::optional<Vector3> way = way_of(p, left);
    if (!way) return std::nullopt;
    const std::optional<double> there = with(p, *way), back = with(p, -*way);
    if (!there || !back) return std::nullopt;
    // Contact and loads balance these energies: they take away what is linear in the way of p. So much is
    // lost if it is kept in its place between the others, in the same cells and against the same q̃: if it is
    // the middle of an edge, this is all that the collapse does.
    const double now = *with(p, Vector3::Zero()), held = 0.5 * (*there + *back) - now;
    if (undoes_split) return held;
    const std::optional<double> after = energy_.sum(left);
    if (!after) return std::nullopt;
    return std::max(held, *after - now - 0.5 * (*there - *back));
  }

 private:
  /// Of the cells of p, if that is moved; none if one would be inverted.
  std::optional<double> with(Index p, const Vector3& shift) const {
    const CellEnergy::Place now = energy_.place(p);
    double sum = 0;
    for (const Index c : editor_.cells_of(p)) {
      const auto e = energy_(editor_.cell(c), p, {now.rest, now.q + shift, now.deviation + shift});
      if (!e) return std::nullopt;
      sum += *e;
    }
    return sum;
  }

  /// How far the material point p moves if it goes with these cells; none if it is in none of them.
  std::optional<Vector3> way_of(Index p, const std::vector<EditedCell>& cells) const {
    const CellEnergy::Place now = energy_.place(p);
    const int d = editor_.dimension();
    // On a smooth surface that changes it may be outside: it goes with the nearest cell.
    double deepest = editor_.has_tolerance() ? -infinity : -1e-6;
    std::optional<Vector3> way;
    for (const EditedCell& cell : cells) {
      const CellEnergy::Place origin = energy_.place(cell.points[0]);
      Matrix3 rest = Matrix3::Identity(), q = Matrix3::Zero();
      for (int k = 0; k < d; ++k) {
        const CellEnergy::Place corner = energy_.place(cell.points[k + 1]);
        rest.col(k) = corner.rest - origin.rest;
        q.col(k) = corner.q - origin.q;
      }
      if (!(rest.determinant() > 0)) return std::nullopt;
      const Vector3 share = rest.inverse() * (now.rest - origin.rest);
      const double depth = std::min(1 - share.head(d).sum(), share.head(d).minCoeff());
      if (depth < deepest) continue;
      deepest = depth;
      way = origin.q + q * share - now.q;
    }
    return way;
  }

  const MeshEditor& editor_;
  const CellEnergy energy_;
};

}  // namespace

std::vector<CollapseEstimate> estimate_collapses(const SolvedStep& step, int b, const MeshEditor& editor,
                                                 Index first, bool onto_all) {
  if (editor.is_shell()) return ShellScreening(step, b, editor).collapses(first, onto_all);
  const CollapseLoss loss(step, b, editor);
  std::vector<CollapseEstimate> result;
  for (Index p = first; p < editor.point_count(); ++p) {
    std::vector<Index> neighbours = editor.neighbours_of(p);
    const auto ends = ends_of_split(editor, p, neighbours);
    if (ends) neighbours.assign(ends->begin(), ends->end());
    for (const Index kept : neighbours)
      if (const std::optional<double> lost = loss(p, kept, ends.has_value()))
        result.push_back({p, kept, *lost / step.problem.time_step.scale});
  }
  return result;
}

namespace {

/// Of all cells of a mesh, where they are.
class EnergyOfCells {
 public:
  EnergyOfCells(const CellEnergy& energy, const MeshEditor& editor) {
    for (Index c = 0; c < editor.cell_count(); ++c) of_cell_.push_back(energy(editor.cell(c)).value_or(0));
  }
  double sum(const std::vector<Index>& cells) const {
    double sum = 0;
    for (const Index c : cells) sum += of_cell_[std::size_t(c)];
    return sum;
  }

 private:
  std::vector<double> of_cell_;
};

}  // namespace

std::vector<SwapEstimate> estimate_swaps(const SolvedStep& step, int b, const MeshEditor& editor) {
  const CellEnergy energy(step, b, editor);
  const EnergyOfCells now(energy, editor);
  std::vector<SwapEstimate> result;
  const auto look_at = [&](const Corners& gone) {
    const std::vector<EditedCell> made = editor.swapped(gone);
    if (made.empty()) return;
    if (const std::optional<double> after = energy.sum(made))
      result.push_back({gone, (now.sum(editor.cells_with(gone)) - *after) / step.problem.time_step.scale});
  };
  for (const auto& [p, q] : editor.edges()) look_at({p, q});
  if (editor.dimension() == 2) return result;
  for (Index c = 0; c < editor.cell_count(); ++c)
    for (int k = 0; k < editor.cell(c).points.size(); ++k) {
      const Corners facet = editor.cell(c).points.without(k).sorted();
      if (editor.cells_with(facet)[0] == c) look_at(facet);  // each once
    }
  return result;
}

std::vector<MoveEstimate> estimate_moves(const SolvedStep& step, int b, const MeshEditor& editor,
                                         const std::set<Index>& points) {
  constexpr double little = 0.1, more = 0.25;  // of an edge
  const CellEnergy energy(step, b, editor);
  const EnergyOfCells now(energy, editor);
  const Index first = step.problem.model.first_node[std::size_t(b)];
  const ScriptedNodes::Mask& held = step.problem.scripted.held();
  std::vector<MoveEstimate> result;
  for (const Index p : points) {
    if (held.col(first + p).head(editor.dimension()).any() || !editor.can_move(p)) continue;
    const std::vector<Index>& around = editor.cells_of(p);
    const double before = now.sum(around);
    MoveEstimate best;
    const auto look_at = [&](const Blend& to) {
      const CellEnergy::Place place = energy.place(to);
      double gain = before;
      for (const Index c : around) gain -= energy(editor.cell(c), p, place).value_or(infinity);
      if (gain > best.gain) best = {to, gain};
    };
    for (const Index q : editor.neighbours_of(p)) look_at({p, q, little});
    if (best.gain <= 0) continue;
    look_at({p, best.to.to, more});
    result.push_back({best.to, best.gain / step.problem.time_step.scale});
  }
  return result;
}

}  // namespace apart
