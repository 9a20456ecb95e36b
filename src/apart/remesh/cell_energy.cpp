#include <apart/remesh/cell_energy.hpp>

#include <apart/materials/plane_stress.hpp>
#include <apart/math/svd.hpp>

#include <Eigen/LU>

namespace apart {

namespace {

/// Of an isotropic material the energy is a function of the stretches, of others of F.
double energy_density(const Material& material, const Matrix3& f, const Vector3& stretches) {
  return std::visit(
      [&]<class M>(const M& m) {
        if constexpr (Isotropic<M>)
          return m.energy(stretches);
        else
          return m.energy(f);
      },
      material);
}

/// Singular values of F₂, the second with the sign of its determinant.
Vector2 plane_stretches(const Matrix2& f) {
  Eigen::Matrix<double, 3, 2> raised = Eigen::Matrix<double, 3, 2>::Zero();
  raised.topRows<2>() = f;
  Vector2 sigma = thin_svd(raised).sigma;
  if (f.determinant() < 0) sigma[1] = -sigma[1];
  return sigma;
}

template <class List>
auto edges_of(const List& corners, int dimension, Vector3 CellEnergy::Place::*place) {
  Matrix3 edges = Matrix3::Identity();
  for (int k = 0; k < dimension; ++k)
    edges.col(k).head(dimension) = (corners[std::size_t(k + 1)].*place - corners[0].*place).head(dimension);
  return edges;
}

}  // namespace

CellEnergy::CellEnergy(const SolvedStep& step, int b, const MeshEditor& editor)
    : editor_(editor), body_(step.problem.model.bodies[std::size_t(b)]), step_(step.problem.time_step) {
  const Index first = step.problem.model.first_node[std::size_t(b)], n = body_.node_count();
  q_ = step.nodes.middleCols(first, n);
  deviation_ = Matrix3X::Zero(3, n);
  if (step_.has_inertia)
    deviation_ = q_ - step_.predicted.middleCols(first, n) -
                 step_.scale * step.problem.terms.gravity.middleCols(first, n);
  else
    gravity_ = step.problem.terms.gravity.col(first);
}

CellEnergy::Place CellEnergy::place(Index p) const {
  return {editor_.position(0, p), q_.col(p), deviation_.col(p)};
}

CellEnergy::Place CellEnergy::place(const Blend& blend) const {
  return {blend.between(editor_.position(0, blend.from), editor_.position(0, blend.to)), blend.in(q_),
          blend.in(deviation_)};
}

std::optional<double> CellEnergy::operator()(const EditedCell& cell) const {
  return (*this)(cell, -1, {});
}

std::optional<double> CellEnergy::operator()(const EditedCell& cell, Index moved, const Place& to) const {
  Places corners;
  for (int k = 0; k < cell.points.size(); ++k)
    corners[std::size_t(k)] = cell.points[k] == moved ? to : place(cell.points[k]);
  return of(corners, cell.substance);
}

std::optional<double> CellEnergy::sum(const std::vector<EditedCell>& cells) const {
  double sum = 0;
  for (const EditedCell& cell : cells)
    if (const std::optional<double> e = (*this)(cell))
      sum += *e;
    else
      return std::nullopt;
  return sum;
}

std::optional<double> CellEnergy::of(const Places& corners, Index substance) const {
  const int d = editor_.dimension();
  const Matrix3 rest = edges_of(corners, d, &Place::rest);
  double volume = rest.determinant() / (d == 3 ? 6 : 2);
  if (!(volume > 0)) return std::nullopt;
  if (d == 2) volume *= body_.planar->depth;
  const Matrix3 f = edges_of(corners, d, &Place::q) * rest.inverse();
  const auto& materials = d == 3 ? body_.elastic->materials : body_.planar->materials;
  const Material& material = materials[std::size_t(substance)];
  if (prevents_inversion(material) && !(f.determinant() > 0)) return std::nullopt;
  double value = 0;
  if (d == 3) {
    value = step_.scale * volume * energy_density(material, f, signed_svd(f).sigma);
  } else {
    const Matrix2 in_plane = f.topLeftCorner<2, 2>();
    const Vector2 sigma = plane_stretches(in_plane);
    Matrix3 whole = f;
    whole(2, 2) = stretch_across(material, body_.planar->state, in_plane, sigma);
    value = step_.scale * volume * energy_density(material, whole, {sigma[0], sigma[1], whole(2, 2)});
  }
  // ½ ∫ρ |w|² of a field that is linear in the cell.
  const auto& densities = d == 3 ? body_.elastic->density : body_.planar->density;
  const double mass = densities[std::size_t(substance)] * volume;
  Vector3 sum = Vector3::Zero();
  double squares = 0;
  for (int k = 0; k <= d; ++k) {
    value -= step_.scale * mass / (d + 1) * gravity_.dot(corners[std::size_t(k)].q);
    sum += corners[std::size_t(k)].deviation;
    squares += corners[std::size_t(k)].deviation.squaredNorm();
  }
  return value + mass / (2 * (d + 1) * (d + 2)) * (squares + sum.squaredNorm());
}

}  // namespace apart
