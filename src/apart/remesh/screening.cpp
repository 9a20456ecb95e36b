#include <apart/remesh/screening.hpp>

#include <apart/geometry/mesh.hpp>

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

/// The derivative of all other energies by each surface node, per area: what balances elasticity and inertia.
struct OuterForces {
  OuterForces(const CellForces& cells, const ScriptedNodes::Mask& held) {
    const Body& body = cells.body;
    per_area = Matrix3X::Zero(3, body.node_count());
    VectorX area = VectorX::Zero(body.node_count());
    for (Index c = 0; c < body.elastic->nodes.cols(); ++c) {
      Vector3 sum = Vector3::Zero();
      for (int k = 0; k < 4; ++k) sum += cells.deviation.col(cells.corner(c, k));
      for (int k = 0; k < 4; ++k) {
        const Index p = cells.corner(c, k);
        per_area.col(p) -=
            cells.force[std::size_t(c)].col(k) + cells.mass(c) / 20 * (sum + cells.deviation.col(p));
      }
    }
    for (const auto& f : body.surface_faces.colwise()) {
      const Vector3 a = body.nodes.col(f[0]), b = body.nodes.col(f[1]), c = body.nodes.col(f[2]);
      areas.push_back((b - a).cross(c - a).norm() / 2);
      for (const int p : f) area[p] += areas.back() / 3;
    }
    for (Index p = 0; p < body.node_count(); ++p)
      for (int axis = 0; axis < 3; ++axis)
        per_area(axis, p) = area[p] > 0 && !held(axis, cells.first + p) ? per_area(axis, p) / area[p] : 0;
  }
  Matrix3X per_area;          ///< [kg/m]
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
  const OuterForces outer(cells, held);
  const std::vector<std::array<Index, 2>> edges = editor.edges();
  struct Sum {
    Vector3 force = Vector3::Zero(), outer = Vector3::Zero();
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
      sum_of(i, j).outer += outer.areas[std::size_t(f)] / 24 *
                            (3 * (outer.per_area.col(i) + outer.per_area.col(j)) + 2 * outer.per_area.col(l));
    }
  std::vector<SplitEstimate> result;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [i, j] = edges[e];
    const Eigen::Array<bool, 3, 1> both = held.col(cells.first + i) && held.col(cells.first + j);
    const Sum& s = sums[e];
    // What pushes the surface may be spread evenly, or act at its corners alone, as a tip does.
    const double gain = std::max(quadratic_gain(s.force + s.outer, s.stiffness, both),
                                 quadratic_gain(s.force, s.stiffness, both));
    result.push_back({edges[e], gain / step.problem.time_step.scale});
  }
  return result;
}

std::vector<CollapseEstimate> estimate_collapses(const SolvedStep& step, int b, const VolumeEditor& editor,
                                                 Index first) {
  const CellForces cells(step, b);
  std::vector<CollapseEstimate> result;
  for (Index p = first; p < editor.point_count(); ++p) {
    Matrix3 stiffness = Matrix3::Zero();
    std::vector<Index> neighbours;
    for (const Index c : editor.cells_of(p))
      for (int k = 0; k < 4; ++k) {
        const Index other = editor.cell(c).points[std::size_t(k)];
        if (other == p)
          stiffness +=
              cells.stiffness[std::size_t(c)][std::size_t(k)] + cells.mass(c) / 10 * Matrix3::Identity();
        else
          neighbours.push_back(other);
      }
    std::ranges::sort(neighbours);
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    if (const auto ends = ends_of_split(editor, p, neighbours)) neighbours.assign(ends->begin(), ends->end());
    for (const Index kept : neighbours) {
      // The cell that would hold the point's place: the one in which its smallest coordinate is largest.
      double best = -infinity;
      Vector3 place = cells.q.col(p);
      for (const Index c : editor.cells_of(p)) {
        if (editor.cell(c).has(kept)) continue;
        std::array<Index, 4> corners = editor.cell(c).points;
        std::ranges::replace(corners, p, kept);
        Matrix3 rest;
        for (int k = 0; k < 3; ++k)
          rest.col(k) = editor.position(0, corners[std::size_t(k + 1)]) - editor.position(0, corners[0]);
        if (!(rest.determinant() > 0)) continue;
        const Vector3 l = rest.inverse() * (editor.position(0, p) - editor.position(0, corners[0]));
        const double least = std::min(l.minCoeff(), 1 - l.sum());
        if (least <= best) continue;
        best = least;
        place = (1 - l.sum()) * cells.q.col(corners[0]);
        for (int k = 0; k < 3; ++k) place += l[k] * cells.q.col(corners[std::size_t(k + 1)]);
      }
      if (best < -1e-6) continue;  // outside of what would be there
      const Vector3 d = cells.q.col(p) - place;
      result.push_back({p, kept, 0.5 * d.dot(stiffness * d) / step.problem.time_step.scale});
    }
  }
  return result;
}

}  // namespace apart
