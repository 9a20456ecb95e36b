#include <apart/potentials/continuum_elasticity.hpp>

#include <apart/math/psd_projection.hpp>

#include <Eigen/LU>

namespace apart {

void ContinuumElasticity::add(const ElasticCells& cells, Index first_node) {
  const Index material = Index(materials_.size());
  materials_.push_back(cells.material);
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    Cell c;
    for (int a = 0; a < 4; ++a) c.nodes[a] = cells.nodes(a, t) + first_node;
    c.material = material;
    c.volume = cells.volume[t];
    // F = D · inverse_rest with D = [q₁−q₀, q₂−q₀, q₃−q₀]: ∇N_{k+1} is row k of inverse_rest.
    c.shape_gradients.rightCols<3>() = cells.inverse_rest[t].transpose();
    c.shape_gradients.col(0) = -c.shape_gradients.rightCols<3>().rowwise().sum();
    cells_.push_back(c);
  }
  if (prevents_inversion(cells.material)) {
    const Index n = Index(guarded_.cols());
    guarded_.conservativeResize(4, n + cells.nodes.cols());
    guarded_.rightCols(cells.nodes.cols()) = cells.nodes.array() + first_node;
  }
}

Matrix3 ContinuumElasticity::gradient_of(const Cell& c, const Matrix3X& q) const {
  // Differences first: far from the origin the sum over all four nodes would lose digits.
  const Vector3 q0 = q.col(c.nodes[0]);
  Matrix3 f = (q.col(c.nodes[1]) - q0) * c.shape_gradients.col(1).transpose();
  f.noalias() += (q.col(c.nodes[2]) - q0) * c.shape_gradients.col(2).transpose();
  f.noalias() += (q.col(c.nodes[3]) - q0) * c.shape_gradients.col(3).transpose();
  return f;
}

void ContinuumElasticity::prepare(const Matrix3X& q) {
  svd_.resize(cells_.size());
  parallel_for(term_count(), [&](Index i) { svd_[i] = signed_svd(gradient_of(cells_[i], q)); });
}

Matrix3 ContinuumElasticity::cauchy_stress(Index cell) const {
  const SignedSvd& s = svd_[cell];
  const Vector3 first = std::visit([&](const auto& m) { return m.derivatives(s.sigma).first; },
                                   materials_[cells_[cell].material]);
  // σ = J⁻¹ P Fᵀ = U diag(Ψᵢσᵢ/J) Uᵀ
  return s.u * (first.cwiseProduct(s.sigma) / s.sigma.prod()).asDiagonal() * s.u.transpose();
}

double ContinuumElasticity::value(const Matrix3X&) const {
  return scale_ * ordered_sum(term_count(), [&](Index i) {
           const Cell& c = cells_[i];
           return c.volume *
                  std::visit([&](const auto& m) { return m.energy(svd_[i].sigma); }, materials_[c.material]);
         });
}

void ContinuumElasticity::add_gradient(const Matrix3X&, Matrix3X& gradient) const {
  add_local_gradients(term_count(), gradient, [&](Index i) {
    const Cell& c = cells_[i];
    const SignedSvd& s = svd_[i];
    const Vector3 first =
        std::visit([&](const auto& m) { return m.derivatives(s.sigma).first; }, materials_[c.material]);
    const Matrix3 p =
        s.u * (scale_ * c.volume * first).asDiagonal() * s.v.transpose();  // first Piola–Kirchhoff
    StencilVector g;
    for (int a = 0; a < 4; ++a) g.segment<3>(3 * a) = p * c.shape_gradients.col(a);
    return std::pair{TermPoints{c.nodes, 4}, g};
  });
}

void ContinuumElasticity::hessians(const Matrix3X&, Index begin, Projection projection,
                                   std::span<LocalHessian> out) const {
  for (std::size_t e = 0; e < out.size(); ++e) {
    const Cell& c = cells_[begin + Index(e)];
    out[e].points = {c.nodes, 4};
    const SignedSvd& s = svd_[begin + Index(e)];
    PrincipalDerivatives d =
        std::visit([&](const auto& m) { return m.derivatives(s.sigma); }, materials_[c.material]);
    if (projection == Projection::psd) {
      d.stretch = psd_projection(d.stretch);
      d.shear = d.shear.cwiseMax(0);
      d.spin = d.spin.cwiseMax(0);
    }
    // In the frame of U and V the tangent couples E_ii with E_kk by `stretch`, and E_ik with E_ki by
    // [same, cross; cross, same] = ½[shear + spin, shear − spin; …] (see materials/isotropic.hpp).
    Matrix3 same = Matrix3::Zero(), cross = Matrix3::Zero();
    constexpr int pi[3] = {0, 1, 2}, pj[3] = {1, 2, 0};
    for (int k = 0; k < 3; ++k) {
      same(pi[k], pj[k]) = same(pj[k], pi[k]) = 0.5 * (d.shear[k] + d.spin[k]);
      cross(pi[k], pj[k]) = cross(pj[k], pi[k]) = 0.5 * (d.shear[k] - d.spin[k]);
    }
    const Eigen::Matrix<double, 3, 4> b = s.v.transpose() * c.shape_gradients;
    const double weight = scale_ * c.volume;
    for (int a = 0; a < 4; ++a)
      for (int a2 = 0; a2 <= a; ++a2) {
        Matrix3 k;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j)
            if (i != j) k(i, j) = d.stretch(i, j) * b(i, a) * b(j, a2) + cross(i, j) * b(j, a) * b(i, a2);
          k(i, i) = d.stretch(i, i) * b(i, a) * b(i, a2);
          for (int j = 0; j < 3; ++j)
            if (j != i) k(i, i) += same(i, j) * b(j, a) * b(j, a2);
        }
        const Matrix3 block = s.u * (weight * k) * s.u.transpose();
        out[e].matrix.block<3, 3>(3 * a, 3 * a2) = block;
        if (a != a2) out[e].matrix.block<3, 3>(3 * a2, 3 * a) = block.transpose();
      }
  }
}

}  // namespace apart
