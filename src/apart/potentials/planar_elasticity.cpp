#include <apart/potentials/planar_elasticity.hpp>

#include <apart/collision/inversion.hpp>
#include <apart/potentials/element_elasticity_impl.hpp>

namespace apart {

template class ElementElasticity<PlaneTriangle>;

namespace {

/// F₂ = u · diag(sigma) · vᵀ with rotations u and v; sigma[0] ≥ |sigma[1]|.
struct PlaneSvd {
  Matrix2 u, v;
  Vector2 sigma;
};

PlaneSvd plane_svd(const Matrix2& f) {
  Eigen::Matrix<double, 3, 2> raised = Eigen::Matrix<double, 3, 2>::Zero();
  raised.topRows<2>() = f;
  const ThinSvd thin = thin_svd(raised);
  PlaneSvd result{thin.u.topLeftCorner<2, 2>(), thin.v, thin.sigma};
  if (thin.u(2, 2) < 0) {  // its first two columns are mirrored
    result.u.col(1) *= -1;
    result.sigma[1] *= -1;
  }
  return result;
}

}  // namespace

void PlanarElasticity::add(const PlanarCells& cells, Index first_node, const OwnNodes& own) {
  std::vector<PlaneTriangle> elements;
  std::vector<Index> guarded;
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    if (!own.contains(cells.nodes(0, t) + first_node)) continue;
    PlaneTriangle e;
    for (int a = 0; a < 3; ++a) e.nodes[std::size_t(a)] = cells.nodes(a, t) + first_node;
    e.material = cells.material_of[std::size_t(t)];
    e.volume = cells.volume[t];
    e.state = cells.state;
    // F₂ = D · inverse_rest with D = [q₁−q₀, q₂−q₀]: ∇N_{k+1} is row k of inverse_rest.
    e.gradients.setZero();
    e.gradients.topRightCorner<2, 2>() = cells.inverse_rest[std::size_t(t)].transpose();
    e.gradients.col(0) = -e.gradients.rightCols<2>().rowwise().sum();
    elements.push_back(e);
    if (prevents_inversion(cells.materials[std::size_t(e.material)])) guarded.push_back(t);
  }
  ElementElasticity::add(elements, cells.materials);
  Index n = Index(guarded_.cols());
  guarded_.conservativeResize(3, n + Index(guarded.size()));
  for (const Index t : guarded) guarded_.col(n++) = cells.nodes.col(t).array() + first_node;
}

void PlanarElasticity::prepare_at(const Matrix3X& q) {
  using namespace element_elasticity;
  std::vector<SignedSvd>& all = decompositions();
  all.resize(elements().size());
  parallel_for(term_count(), [&](Index i) {
    const PlaneTriangle& e = elements()[std::size_t(i)];
    const Matrix2 f = deformation_gradient<3>(relative_nodes(e, q), e.gradients).topLeftCorner<2, 2>();
    const PlaneSvd plane = plane_svd(f);
    const double across = stretch_across(material_of(e), e.state, f, plane.sigma);
    SignedSvd& s = all[std::size_t(i)];
    s = {Matrix3::Identity(), Matrix3::Identity(), Vector3::Ones()};
    if (is_isotropic(material_of(e))) {
      s.u.topLeftCorner<2, 2>() = plane.u;
      s.v.topLeftCorner<2, 2>() = plane.v;
      s.sigma << plane.sigma, across;
    } else {
      s.u.topLeftCorner<2, 2>() = f;
      s.u(2, 2) = across;
    }
  });
}

void PlanarElasticity::hessians(const Matrix3X&, Index begin, Index end, Projection projection,
                                LocalHessians& out) const {
  using namespace element_elasticity;
  for (Index i = begin; i < end; ++i) {
    const PlaneTriangle& e = elements()[std::size_t(i)];
    const Material& material = material_of(e);
    auto h = out.of<3>(i);
    h.setZero();
    if (const auto* linear = std::get_if<LinearElasticity>(&material)) {
      add_constant_hessian<3>(in_plane(*linear, e.state), e.gradients, scale() * e.volume, h);
      for (int k = 2; k < 9; k += 3) {
        h.row(k).setZero();
        h.col(k).setZero();
      }
      continue;
    }
    PrincipalDerivatives d = in_plane(derivatives(material, decomposition(i).sigma), e.state);
    if (projection != Projection::none) {
      d.stretch = psd_projection(d.stretch);
      d.shear = d.shear.cwiseMax(0);
      d.spin = d.spin.cwiseMax(0);
    }
    add_hessian<3>(PrincipalTangent(d), decomposition(i), e.gradients, scale() * e.volume, h);
  }
}

StepBound PlanarElasticity::feasible_step(const Path& path) const {
  // A triangle is inverted if the tetrahedron is whose fourth corner is one above its first: three points in
  // the plane z = 0 and one in z = 1, so that its volume is a third of the area at all times, exactly.
  const Index n = Index(guarded_.cols());
  Matrix3X start = Matrix3X::Zero(3, 4 * n), move = start;
  Tetrahedra above(4, n);
  for (Index t = 0; t < n; ++t)
    for (int k = 0; k < 4; ++k) {
      const Index node = guarded_(k % 3, t), column = 4 * t + k;
      ensure(path.is_straight(node), "PlanarElasticity: nodes of cells move straight");
      start.col(column).head<2>() = path.start.col(node).head<2>();
      move.col(column).head<2>() = path.move.col(node).head<2>();
      if (k == 3) start(2, column) = 1;
      above(k, t) = column;
    }
  return {inversion_free_step(above, start, move)};
}

}  // namespace apart
