#include <apart/remesh/screening.hpp>

#include <apart/geometry/mesh.hpp>
#include <apart/math/svd.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>

namespace apart {

namespace {

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
    ContinuumElasticity cells;
    cells.add(*body.elastic, 0);
    cells.set_scale(problem.time_step.scale);
    cells.prepare(q);
    const Index count = cells.term_count();
    force.resize(std::size_t(count));
    stiffness.resize(std::size_t(count));
    inertia_weight = problem.time_step.has_inertia ? 1 : 0;
    constexpr Index batch = 1024;
    for (Index begin = 0; begin < count; begin += batch) {
      const Index end = std::min(begin + batch, count);
      LocalHessians hessians;
      hessians.reset(cells, begin, end);
      cells.hessians(q, begin, end, Projection::psd, hessians);
      for (Index c = begin; c < end; ++c) {
        const auto h = hessians[c];
        for (int k = 0; k < 4; ++k) stiffness[std::size_t(c)][std::size_t(k)] = h.block<3, 3>(3 * k, 3 * k);
        // P = J σ F⁻ᵀ; the derivative by a corner is V P ∇λ.
        Matrix3 edges;
        for (int k = 0; k < 3; ++k) edges.col(k) = q.col(corner(c, k + 1)) - q.col(corner(c, 0));
        const Matrix3 f = edges * body.elastic->inverse_rest[std::size_t(c)];
        const Matrix3 p = f.determinant() * cells.cauchy_stress(c) * f.inverse().transpose();
        const Matrix3 by_corner = problem.time_step.scale * body.elastic->volume[c] * p *
                                  body.elastic->inverse_rest[std::size_t(c)].transpose();
        force[std::size_t(c)] << -by_corner.rowwise().sum(), by_corner;
      }
    }
  }
  Index corner(Index cell, int k) const { return body.elastic->nodes(k, cell); }
  double mass(Index cell) const {  ///< [kg]; zero without inertia
    const ElasticCells& e = *body.elastic;
    return inertia_weight * e.volume[cell] * e.density[std::size_t(e.material_of[std::size_t(cell)])];
  }

  const Body& body;
  Index first;
  double inertia_weight = 1;
  Matrix3X q;                                      ///< [m]
  Matrix3X deviation;                              ///< q − q̃ [m]
  std::vector<Eigen::Matrix<double, 3, 4>> force;  ///< elastic, by the corners of each cell [kg m]
  std::vector<std::array<Matrix3, 4>> stiffness;   ///< diagonal blocks [kg]
};

/// Derivatives of the energy of contact by the nodes of a body, by how it would act on the midpoint of an
/// edge.
struct ContactForces {
  /// The problem of the step is prepared where it ended.
  ContactForces(const SolvedStep& step, int b, Index node_count) {
    at_points = Matrix3X::Zero(3, node_count);
    const Model& model = step.problem.model;
    const BarrierContact& contact = step.problem.terms.contact;
    const Index first_point = model.first_point[std::size_t(b)];
    for (Index i = 0; i < contact.term_count(); ++i) {
      const auto [one, two] = contact.bodies_of(i);
      if (one != b && two != b) continue;
      const BarrierContact::NormalForce force = contact.normal_force(i, step.problem.objective.vertices());
      for (const double side : {1.0, -1.0}) {
        if ((side > 0 ? one : two) != b) continue;
        Load load{{}, -side * force.magnitude * force.direction};
        for (int k = 0; k < force.points.size; ++k)
          if (side * force.weights[k] > 0)
            load.shares.emplace_back(
                model.surface_point[std::size_t(force.points.ids[std::size_t(k)])] - first_point,
                side * force.weights[k]);
        if (load.shares.size() == 1)
          at_points.col(load.shares[0].first) += load.derivative;
        else
          loads.push_back(std::move(load));
      }
    }
  }
  /// What acts at a place between points.
  struct Load {
    std::vector<std::pair<Index, double>> shares;  ///< nodes, each with its barycentric coordinate
    Vector3 derivative;                            ///< [kg m]
  };
  std::vector<Load> loads;
  /// What presses on points themselves [kg m]: it would press on the midpoint of two of them as well.
  Matrix3X at_points;
};

/// The derivative of all energies but elasticity and inertia by each surface node, per area: what balances
/// these. Apart from that of contact between points.
struct OuterForces {
  OuterForces(const CellForces& cells, const ContactForces& contact, const ScriptedNodes::Mask& held) {
    const Body& body = cells.body;
    spread = Matrix3X::Zero(3, body.node_count());
    pressing = contact.at_points;
    VectorX area = VectorX::Zero(body.node_count());
    for (Index c = 0; c < body.elastic->nodes.cols(); ++c) {
      Vector3 sum = Vector3::Zero();
      for (int k = 0; k < 4; ++k) sum += cells.deviation.col(cells.corner(c, k));
      for (int k = 0; k < 4; ++k) {
        const Index p = cells.corner(c, k);
        spread.col(p) -=
            cells.force[std::size_t(c)].col(k) + cells.mass(c) / 20 * (sum + cells.deviation.col(p));
      }
    }
    spread -= contact.at_points;
    for (const ContactForces::Load& load : contact.loads)
      for (const auto& [p, share] : load.shares) spread.col(p) -= share * load.derivative;
    for (const auto& f : body.surface_faces.colwise()) {
      const Vector3 a = body.nodes.col(f[0]), b = body.nodes.col(f[1]), c = body.nodes.col(f[2]);
      areas.push_back((b - a).cross(c - a).norm() / 2);
      for (const int p : f) area[p] += areas.back() / 3;
    }
    for (Index p = 0; p < body.node_count(); ++p) {
      for (int axis = 0; axis < 3; ++axis)
        spread(axis, p) = area[p] > 0 && !held(axis, cells.first + p) ? spread(axis, p) / area[p] : 0;
      if (area[p] > 0) pressing.col(p) /= area[p];
    }
  }
  Matrix3X spread;            ///< of loads [kg/m]
  Matrix3X pressing;          ///< of contact at points [kg/m]
  std::vector<double> areas;  ///< of the faces at rest [m²]
};

/// ½ gᵀH⁻¹g in the axes that are free.
double quadratic_gain(Vector3 g, Matrix3 h, const Eigen::Array<bool, 3, 1>& held) {
  for (int axis = 0; axis < 3; ++axis)
    if (held[axis]) {
      g[axis] = 0;
      h.row(axis).setZero();
      h.col(axis).setZero();
      h(axis, axis) = 1;
    }
  const double determinant = h.determinant();
  return determinant > 0 ? 0.5 * g.dot(h.inverse() * g) : 0;
}

/// Elastic energy and inertia of cells where a step ended, also of such that the mesh does not have.
class CellEnergy {
 public:
  CellEnergy(const SolvedStep& step, int b, const VolumeEditor& editor)
      : editor_(editor),
        cells_(*step.problem.model.bodies[std::size_t(b)].elastic),
        step_(step.problem.time_step) {
    const Index first = step.problem.model.first_node[std::size_t(b)], n = editor.point_count();
    q_ = step.nodes.middleCols(first, n);
    deviation_ = Matrix3X::Zero(3, n);
    if (step_.has_inertia)
      deviation_ = q_ - step_.predicted.middleCols(first, n) -
                   step_.scale * step.problem.terms.gravity.middleCols(first, n);
  }
  /// Times the step's scale; none: a cell that is not positive at rest or, of some materials, where it is.
  std::optional<double> operator()(const EditedCell& cell) const {
    const auto edges = [&](const auto& place) {
      Matrix3 d;
      for (int k = 0; k < 3; ++k) d.col(k) = place(cell.points[std::size_t(k + 1)]) - place(cell.points[0]);
      return d;
    };
    const Matrix3 rest = edges([&](Index p) { return editor_.position(0, p); });
    const double volume = rest.determinant() / 6;
    if (!(volume > 0)) return std::nullopt;
    const Matrix3 f = edges([&](Index p) { return Vector3(q_.col(p)); }) * rest.inverse();
    const std::size_t substance = std::size_t(cell.substance);
    const Material& material = cells_.materials[substance];
    if (prevents_inversion(material) && !(f.determinant() > 0)) return std::nullopt;
    double value = step_.scale * volume * energy_density(material, f);
    // ½ ∫ρ |w|² of a field that is linear in the cell.
    Vector3 sum = Vector3::Zero();
    double squares = 0;
    for (const Index p : cell.points) {
      sum += deviation_.col(p);
      squares += deviation_.col(p).squaredNorm();
    }
    return value + cells_.density[substance] * volume / 40 * (squares + sum.squaredNorm());
  }

 private:
  static double energy_density(const Material& material, const Matrix3& f) {
    return std::visit(
        [&]<class M>(const M& m) {
          if constexpr (Isotropic<M>)
            return m.energy(signed_svd(f).sigma);
          else
            return m.energy(f);
        },
        material);
  }
  const VolumeEditor& editor_;
  const ElasticCells& cells_;
  const TimeStep& step_;
  Matrix3X q_, deviation_;  ///< q − q̃ [m]
};

/// The neighbours of a point that it is the midpoint of, to the last bit: the ends of the edge whose split
/// created it. Collapses onto these lead back to the mesh before the split.
std::optional<std::array<Index, 2>> ends_of_split(const VolumeEditor& editor, Index point,
                                                  const std::vector<Index>& neighbours) {
  const Vector3& x = editor.position(0, point);
  for (const Index a : neighbours)
    for (const Index b : neighbours)
      if (a < b && Vector3(0.5 * (editor.position(0, a) + editor.position(0, b))) == x) return {{a, b}};
  return std::nullopt;
}

}  // namespace

std::vector<SplitEstimate> estimate_splits(const SolvedStep& step, int b, const VolumeEditor& editor) {
  const CellForces cells(step, b);
  const ScriptedNodes::Mask& held = step.problem.scripted.held();
  const ContactForces contact(step, b, cells.body.node_count());
  const OuterForces outer(cells, contact, held);
  const std::vector<std::array<Index, 2>> edges = editor.edges();
  struct Sum {
    Vector3 force = Vector3::Zero(), pressing = Vector3::Zero();
    Matrix3 stiffness = Matrix3::Zero();
  };
  std::vector<Sum> sums(edges.size());
  const auto sum_of = [&](Index p, Index q) -> Sum& {
    const auto [low, high] = std::minmax(p, q);
    return sums[std::size_t(std::ranges::lower_bound(edges, std::array{low, high}) - edges.begin())];
  };
  // The midpoint's shape function is 2λ_a in one half of a cell of edge ab and 2λ_b in the other.
  for (Index c = 0; c < cells.body.elastic->nodes.cols(); ++c) {
    const double mass = cells.mass(c);
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) {
        Sum& sum = sum_of(cells.corner(c, i), cells.corner(c, j));
        sum.force += cells.force[std::size_t(c)].col(i) + cells.force[std::size_t(c)].col(j);
        sum.stiffness += 2 * (cells.stiffness[std::size_t(c)][std::size_t(i)] +
                              cells.stiffness[std::size_t(c)][std::size_t(j)]) +
                         mass / 10 * Matrix3::Identity();
        for (int k = 0; k < 4; ++k)
          sum.force += mass / 40 * (k == i || k == j ? 3 : 2) * cells.deviation.col(cells.corner(c, k));
      }
  }
  for (Index f = 0; f < cells.body.surface_faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) {
      const Index i = cells.body.surface_faces(k, f), j = cells.body.surface_faces((k + 1) % 3, f),
                  l = cells.body.surface_faces((k + 2) % 3, f);
      const auto share = [&](const Matrix3X& field) {
        return Vector3(outer.areas[std::size_t(f)] / 24 *
                       (3 * (field.col(i) + field.col(j)) + 2 * field.col(l)));
      };
      Sum& sum = sum_of(i, j);
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
    const Sum& s = sums[e];
    Matrix3 stiffness = s.stiffness;
    // What contact presses on can move only along it: the barrier is far stiffer than the body.
    if (const double pressing = s.pressing.squaredNorm(); pressing > 0)
      stiffness += 1e3 * stiffness.trace() / pressing * s.pressing * s.pressing.transpose();
    const double gain = quadratic_gain(s.force + s.pressing, stiffness, both);
    result.push_back({edges[e], gain / step.problem.time_step.scale});
  }
  return result;
}

std::vector<CollapseEstimate> estimate_collapses(const SolvedStep& step, int b, const VolumeEditor& editor,
                                                 Index first) {
  const CellEnergy energy(step, b, editor);
  std::vector<CollapseEstimate> result;
  for (Index p = first; p < editor.point_count(); ++p) {
    double before = 0;
    std::vector<Index> neighbours;
    for (const Index c : editor.cells_of(p)) {
      before += energy(editor.cell(c)).value_or(0);
      for (const Index other : editor.cell(c).points)
        if (other != p) neighbours.push_back(other);
    }
    std::ranges::sort(neighbours);
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    if (const auto ends = ends_of_split(editor, p, neighbours)) neighbours.assign(ends->begin(), ends->end());
    for (const Index kept : neighbours) {
      std::optional<double> after = 0;
      for (const Index c : editor.cells_of(p)) {
        EditedCell cell = editor.cell(c);
        if (cell.has(kept)) continue;
        std::ranges::replace(cell.points, p, kept);
        const std::optional<double> e = energy(cell);
        after = after && e ? std::optional(*after + *e) : std::nullopt;
      }
      if (after) result.push_back({p, kept, (*after - before) / step.problem.time_step.scale});
    }
  }
  return result;
}

}  // namespace apart
