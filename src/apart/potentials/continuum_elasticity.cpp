#include <apart/potentials/continuum_elasticity.hpp>

#include <apart/collision/inversion.hpp>
#include <apart/core/error.hpp>
#include <apart/math/psd_projection.hpp>

#include <Eigen/LU>

namespace apart {

namespace {

bool is_isotropic(const Material& material) {
  return std::visit([]<class M>(const M&) { return Isotropic<M>; }, material);
}

/// Of an isotropic material.
PrincipalDerivatives derivatives(const Material& material, const Vector3& sigma) {
  return std::visit(
      [&]<class M>(const M& m) -> PrincipalDerivatives {
        if constexpr (Isotropic<M>)
          return m.derivatives(sigma);
        else
          throw InvariantError("derivatives: the material is no function of singular values");
      },
      material);
}

/// The same in every state, and positive semi-definite as it is.
void constant_hessian(const LinearElasticity& material, const Eigen::Matrix<double, 3, 4>& shape_gradients,
                      double weight, Eigen::Map<StencilMatrix> out) {
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      out.block<3, 3>(3 * a, 3 * b) =
          weight * material.tangent(shape_gradients.col(a), shape_gradients.col(b));
}

/// Ψ of a cell.
double energy(const Material& material, const SignedSvd& s) {
  return std::visit(
      [&]<class M>(const M& m) {
        if constexpr (Isotropic<M>)
          return m.energy(s.sigma);
        else
          return m.energy(s.u);
      },
      material);
}

/// weight · ∂Ψ/∂F: the first Piola–Kirchhoff stress.
Matrix3 stress(const Material& material, const SignedSvd& s, double weight) {
  return std::visit(
      [&]<class M>(const M& m) -> Matrix3 {
        if constexpr (Isotropic<M>)
          return s.u * (weight * m.derivatives(s.sigma).first).asDiagonal() * s.v.transpose();
        else
          return weight * m.stress(s.u);
      },
      material);
}

}  // namespace

void ContinuumElasticity::add(const ElasticCells& cells, Index first_node) {
  const Index first_material = Index(materials_.size());
  materials_.insert(materials_.end(), cells.materials.begin(), cells.materials.end());
  std::vector<Index> guarded;
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    Cell c;
    for (int a = 0; a < 4; ++a) c.nodes[a] = cells.nodes(a, t) + first_node;
    c.material = first_material + cells.material_of[t];
    c.volume = cells.volume[t];
    // F = D · inverse_rest with D = [q₁−q₀, q₂−q₀, q₃−q₀]: ∇N_{k+1} is row k of inverse_rest.
    c.shape_gradients.rightCols<3>() = cells.inverse_rest[t].transpose();
    c.shape_gradients.col(0) = -c.shape_gradients.rightCols<3>().rowwise().sum();
    cells_.push_back(c);
    if (prevents_inversion(materials_[c.material])) guarded.push_back(t);
  }
  Index n = Index(guarded_.cols());
  guarded_.conservativeResize(4, n + Index(guarded.size()));
  for (const Index t : guarded) guarded_.col(n++) = cells.nodes.col(t).array() + first_node;
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
  parallel_for(term_count(), [&](Index i) {
    const Cell& c = cells_[i];
    const Matrix3 f = gradient_of(c, q);
    svd_[i] = is_isotropic(materials_[c.material]) ? signed_svd(f)
                                                   : SignedSvd{f, Matrix3::Identity(), Vector3::Ones()};
  });
}

double ContinuumElasticity::feasible_step(const Path& path) const {
  for (Index k = 0; k < guarded_.size(); ++k)
    ensure(path.is_straight(guarded_(k)), "ContinuumElasticity: nodes of cells move straight");
  return inversion_free_step(guarded_, path.start, path.move);
}

Vector3 ContinuumElasticity::stretches(Index cell) const {
  const SignedSvd& s = svd_[cell];
  return is_isotropic(materials_[cells_[cell].material]) ? s.sigma : signed_svd(s.u).sigma;
}

Matrix3 ContinuumElasticity::cauchy_stress(Index cell) const {
  const SignedSvd& s = svd_[cell];
  return std::visit(
      [&]<class M>(const M& m) -> Matrix3 {
        // σ = J⁻¹ P Fᵀ = U diag(Ψᵢσᵢ/J) Uᵀ; with small strains all stresses are the same.
        if constexpr (Isotropic<M>)
          return s.u * (m.derivatives(s.sigma).first.cwiseProduct(s.sigma) / s.sigma.prod()).asDiagonal() *
                 s.u.transpose();
        else
          return m.stress(s.u);
      },
      materials_[cells_[cell].material]);
}

double ContinuumElasticity::value(const Matrix3X&) const {
  return scale_ * ordered_sum(term_count(), [&](Index i) {
           const Cell& c = cells_[i];
           return c.volume * energy(materials_[c.material], svd_[i]);
         });
}

void ContinuumElasticity::add_gradient(const Matrix3X&, Matrix3X& gradient) const {
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const Cell& c = cells_[i];
    const Matrix3 p = stress(materials_[c.material], svd_[i], scale_ * c.volume);
    for (int a = 0; a < 4; ++a) g.template segment<3>(3 * a) = p * c.shape_gradients.col(a);
  });
}

void ContinuumElasticity::hessians(const Matrix3X&, Index begin, Index end, Projection projection,
                                   LocalHessians& out) const {
  for (Index e = begin; e < end; ++e) {
    const Cell& c = cells_[e];
    auto h = out.of<4>(e);
    const SignedSvd& s = svd_[e];
    const double weight = scale_ * c.volume;
    const Material& material = materials_[c.material];
    if (const auto* linear = std::get_if<LinearElasticity>(&material)) {
      constant_hessian(*linear, c.shape_gradients, weight, h);
      continue;
    }
    PrincipalDerivatives d = derivatives(material, s.sigma);
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
        h.block<3, 3>(3 * a, 3 * a2) = block;
        if (a != a2) h.block<3, 3>(3 * a2, 3 * a) = block.transpose();
      }
  }
}

}  // namespace apart
