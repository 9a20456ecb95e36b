#pragma once
// Definitions of ElementElasticity, for the one file that instantiates it for a kind of element.
#include <apart/core/error.hpp>
#include <apart/math/psd_projection.hpp>
#include <apart/potentials/element_elasticity.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <limits>

namespace apart {

namespace element_elasticity {

inline bool is_isotropic(const Material& material) {
  return std::visit([]<class M>(const M&) { return Isotropic<M>; }, material);
}

/// Of an isotropic material.
inline PrincipalDerivatives derivatives(const Material& material, const Vector3& sigma) {
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
template <int n>
void add_constant_hessian(const LinearElasticity& material,
                          const Eigen::Matrix<double, 3, n>& shape_gradients, double weight,
                          Eigen::Map<Eigen::Matrix<double, 3 * n, 3 * n>> out) {
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      out.template block<3, 3>(3 * a, 3 * b) +=
          weight * material.tangent(shape_gradients.col(a), shape_gradients.col(b));
}

/// Ψ of a cell.
inline double energy(const Material& material, const SignedSvd& s) {
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
inline Matrix3 stress(const Material& material, const SignedSvd& s, double weight) {
  return std::visit(
      [&]<class M>(const M& m) -> Matrix3 {
        if constexpr (Isotropic<M>)
          return s.u * (weight * m.derivatives(s.sigma).first).asDiagonal() * s.v.transpose();
        else
          return weight * m.stress(s.u);
      },
      material);
}

/// Positions of the nodes of an element relative to the first: far from the origin a sum over all would lose
/// digits.
template <Element E>
Eigen::Matrix<double, 3, E::node_count> relative_nodes(const E& e, const Matrix3X& q) {
  Eigen::Matrix<double, 3, E::node_count> x;
  const Vector3 q0 = q.col(e.nodes[0]);
  for (int a = 0; a < E::node_count; ++a) x.col(a) = q.col(e.nodes[std::size_t(a)]) - q0;
  return x;
}

template <int n>
Matrix3 deformation_gradient(const Eigen::Matrix<double, 3, n>& relative_nodes,
                             const Eigen::Matrix<double, 3, n>& shape_gradients) {
  Matrix3 f = relative_nodes.col(1) * shape_gradients.col(1).transpose();
  for (int a = 2; a < n; ++a) f.noalias() += relative_nodes.col(a) * shape_gradients.col(a).transpose();
  return f;
}

/// Where E_ij is coupled with itself and with E_ji in the frame of U and V, i ≠ j: [same, cross; cross, same]
/// = ½[shear + spin, shear − spin; …] (see materials/isotropic.hpp). E_ii is coupled with E_kk by `stretch`.
struct PrincipalTangent {
  explicit PrincipalTangent(const PrincipalDerivatives& d) : stretch(d.stretch) {
    constexpr int pi[3] = {0, 1, 2}, pj[3] = {1, 2, 0};
    for (int k = 0; k < 3; ++k) {
      same(pi[k], pj[k]) = same(pj[k], pi[k]) = 0.5 * (d.shear[k] + d.spin[k]);
      cross(pi[k], pj[k]) = cross(pj[k], pi[k]) = 0.5 * (d.shear[k] - d.spin[k]);
    }
  }
  Matrix3 stretch, same = Matrix3::Zero(), cross = Matrix3::Zero();
};

/// Second derivatives of weight · Ψ(F) in the nodes of an element with one quadrature point.
template <int n>
void add_hessian(const PrincipalTangent& t, const SignedSvd& s,
                 const Eigen::Matrix<double, 3, n>& shape_gradients, double weight,
                 Eigen::Map<Eigen::Matrix<double, 3 * n, 3 * n>> out) {
  const Eigen::Matrix<double, 3, n> b = s.v.transpose() * shape_gradients;
  for (int a = 0; a < n; ++a)
    for (int a2 = 0; a2 <= a; ++a2) {
      Matrix3 k;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
          if (i != j) k(i, j) = t.stretch(i, j) * b(i, a) * b(j, a2) + t.cross(i, j) * b(j, a) * b(i, a2);
        k(i, i) = t.stretch(i, i) * b(i, a) * b(i, a2);
        for (int j = 0; j < 3; ++j)
          if (j != i) k(i, i) += t.same(i, j) * b(j, a) * b(j, a2);
      }
      const Matrix3 block = s.u * (weight * k) * s.u.transpose();
      out.template block<3, 3>(3 * a, 3 * a2) += block;
      if (a != a2) out.template block<3, 3>(3 * a2, 3 * a) += block.transpose();
    }
}

/// The same summed over the quadrature points of an element of many nodes. The entries of one pair of
/// directions i ≤ k are a matrix over pairs of nodes, Σ bᵀ (M b) with b = Vᵀ ∇N and a 3 × 3 matrix M of the
/// point, whose columns are summed in vector registers, four points at a time.
template <int n>
class HessianSum {
 public:
  HessianSum() {
    for (Plane& plane : planes_) plane.setZero();
    gradients_.setZero();
  }

  void add(const PrincipalTangent& t, const SignedSvd& s, const Eigen::Matrix<double, 3, n>& shape_gradients,
           double weight) {
    const Eigen::Matrix<double, 3, n> b = s.v.transpose() * shape_gradients;
    gradients_.template block<n, 3>(0, 3 * waiting_) = b.transpose();
    for (int p = 0; p < 6; ++p) {
      const auto u = s.u.row(first_direction[p]), w = s.u.row(second_direction[p]);
      Matrix3 m;
      for (int q = 0; q < 3; ++q) {
        for (int r = 0; r < 3; ++r)
          if (q != r) m(q, r) = t.stretch(q, r) * u[q] * w[r] + t.cross(q, r) * u[r] * w[q];
        m(q, q) = t.stretch(q, q) * u[q] * w[q];
        for (int r = 0; r < 3; ++r)
          if (r != q) m(q, q) += t.same(q, r) * u[r] * w[r];
      }
      products_[p].template middleRows<3>(3 * waiting_).noalias() = (weight * m) * b;
    }
    if (++waiting_ == points_at_once) sum();
  }

  void write(Eigen::Map<Eigen::Matrix<double, 3 * n, 3 * n>> out) {
    if (waiting_ > 0) sum();
    for (int p = 0; p < 6; ++p) {
      const int i = first_direction[p], k = second_direction[p];
      for (int b = 0; b < n; ++b)
        for (int a = 0; a < n; ++a) {
          // The planes of i = k are symmetric but for rounding: one of the halves is taken for both.
          const double value = i == k && a < b ? planes_[p](b, a) : planes_[p](a, b);
          out(3 * a + i, 3 * b + k) = value;
          out(3 * b + k, 3 * a + i) = value;
        }
    }
  }

 private:
  static constexpr int points_at_once = 4, inner = 3 * points_at_once, padded = (n + 3) / 4 * 4;
  static constexpr int first_direction[6] = {0, 0, 0, 1, 1, 2}, second_direction[6] = {0, 1, 2, 1, 2, 2};
  using Plane = Eigen::Matrix<double, padded, n>;

  void sum() {
    for (int p = 0; p < 6; ++p)
      for (int b = 0; b < n; ++b) {
        Eigen::Matrix<double, padded, 1> column = planes_[p].col(b);
        for (int k = 0; k < 3 * waiting_; ++k) column += gradients_.col(k) * products_[p](k, b);
        planes_[p].col(b) = column;
      }
    waiting_ = 0;
  }

  int waiting_ = 0;                                          ///< points that are not in the sums yet
  Eigen::Matrix<double, padded, inner> gradients_;           ///< b of those, transposed
  std::array<Eigen::Matrix<double, inner, n>, 6> products_;  ///< weight M b of those
  std::array<Plane, 6> planes_;
};

}  // namespace element_elasticity

template <Element E>
void ElementElasticity<E>::add(std::span<const E> elements, std::span<const Material> materials) {
  const Index first = Index(materials_.size());
  materials_.insert(materials_.end(), materials.begin(), materials.end());
  const std::size_t before = elements_.size();
  elements_.insert(elements_.end(), elements.begin(), elements.end());
  for (std::size_t i = before; i < elements_.size(); ++i) elements_[i].material += first;
  count_points();
  forget();
}

template <Element E>
void ElementElasticity<E>::replace(std::span<const Index> which, std::span<const E> by) {
  for (std::size_t i = 0; i < which.size(); ++i) elements_[std::size_t(which[i])] = by[i];
  count_points();
  forget();
}

template <Element E>
void ElementElasticity<E>::count_points() {
  first_point_.clear();
  if (std::ranges::all_of(elements_, [](const E& e) { return e.quadrature_count() == 1; })) return;
  first_point_.push_back(0);
  for (const E& e : elements_)
    first_point_.push_back(first_point_.back() + std::size_t(e.quadrature_count()));
}

template <Element E>
void ElementElasticity<E>::prepare_at(const Matrix3X& q) {
  using namespace element_elasticity;
  svd_.resize(first_point_.empty() ? elements_.size() : first_point_.back());
  constexpr Index chunk = 256;
  parallel_chunks(term_count(), chunk, [&](Index begin, Index end) {
    std::array<Matrix3, 64> waiting;  // for their singular values, which take less time together
    std::size_t count = 0, point = first_point(begin);
    const auto decompose = [&] {
      signed_svds(std::span(waiting).first(count), std::span(svd_).subspan(point, count));
      point += std::exchange(count, 0);
    };
    for (Index i = begin; i < end; ++i) {
      const E& e = elements_[std::size_t(i)];
      const auto x = relative_nodes(e, q);
      for (int k = 0; k < e.quadrature_count(); ++k) {
        Matrix3 f = deformation_gradient<E::node_count>(x, e.shape_gradients(k));
        if constexpr (requires { e.offset_gradients; })
          if (!e.offset_gradients.empty()) f += e.offset_gradients[std::size_t(k)];
        if (is_isotropic(material_of(e))) {
          waiting[count++] = f;
          if (count == waiting.size()) decompose();
        } else {
          decompose();
          svd_[point++] = {f, Matrix3::Identity(), Vector3::Ones()};
        }
      }
    }
    decompose();
  });
}

template <Element E>
Vector3 ElementElasticity<E>::stretches(Index element, int point) const {
  const SignedSvd& s = svd(element, point);
  return element_elasticity::is_isotropic(material_of(elements_[std::size_t(element)]))
             ? s.sigma
             : signed_svd(s.u).sigma;
}

template <Element E>
Matrix3 ElementElasticity<E>::cauchy_stress(Index element, int point) const {
  const SignedSvd& s = svd(element, point);
  return std::visit(
      [&]<class M>(const M& m) -> Matrix3 {
        // σ = J⁻¹ P Fᵀ = U diag(Ψᵢσᵢ/J) Uᵀ; with small strains all stresses are the same.
        if constexpr (Isotropic<M>)
          return s.u * (m.derivatives(s.sigma).first.cwiseProduct(s.sigma) / s.sigma.prod()).asDiagonal() *
                 s.u.transpose();
        else
          return m.stress(s.u);
      },
      material_of(elements_[std::size_t(element)]));
}

template <Element E>
Strains ElementElasticity<E>::largest_strains(const Matrix3X& q) const {
  expect_at(q);
  const auto stretch = [&](Index c) {
    double of_cell = 1;
    for (int k = 0; k < point_count(c); ++k) of_cell = std::max(of_cell, stretches(c, k).maxCoeff());
    return of_cell - 1;
  };
  const auto compression = [&](Index c) {
    double of_cell = 1;
    for (int k = 0; k < point_count(c); ++k) of_cell = std::min(of_cell, stretches(c, k).minCoeff());
    return 1 - of_cell;
  };
  return {parallel_max(term_count(), 0.0, stretch), parallel_max(term_count(), 0.0, compression)};
}

template <Element E>
double ElementElasticity<E>::smallest_volume_ratio(const Matrix3X& q) const {
  expect_at(q);
  return parallel_min(term_count(), 1.0, [&](Index c) {
    double of_cell = 1;
    for (int k = 0; k < point_count(c); ++k) of_cell = std::min(of_cell, stretches(c, k).prod());
    return of_cell;
  });
}

template <Element E>
std::vector<WorstElement> ElementElasticity<E>::worst_elements(const Matrix3X& q) const {
  expect_at(q);
  WorstElement worst{"Most compressed element", -1, -std::numeric_limits<double>::infinity(), {}};
  Vector3 s = Vector3::Ones();
  for (Index c = 0; c < term_count(); ++c)
    for (int k = 0; k < point_count(c); ++k)
      if (const Vector3 here = stretches(c, k); - here.prod() > worst.measure) {
        worst.element = c;
        worst.measure = -here.prod();
        s = here;
      }
  if (worst.element < 0) return {};
  worst.state =
      fmt::format("volume ratio {:.3g}, stretched by {:.3g}, {:.3g} and {:.3g}", s.prod(), s[0], s[1], s[2]);
  return {worst};
}

template <Element E>
ElasticPotential::Deformed ElementElasticity<E>::deformed(Index element) const {
  Deformed result;
  for (int k = 0; k < point_count(element); ++k) {
    result.von_mises = std::max(result.von_mises, von_mises(cauchy_stress(element, k)));
    result.strain = std::max(result.strain, (stretches(element, k).array() - 1).abs().maxCoeff());
  }
  return result;
}

template <Element E>
double ElementElasticity<E>::value(const Matrix3X& q) const {
  expect_at(q);
  return scale() * ordered_sum(term_count(), [&](Index i) {
           const E& e = elements_[std::size_t(i)];
           double sum = 0;
           for (int k = 0; k < e.quadrature_count(); ++k)
             sum += e.weight(k) * element_elasticity::energy(material_of(e), svd(i, k));
           return sum;
         });
}

template <Element E>
void ElementElasticity<E>::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  expect_at(q);
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const E& e = elements_[std::size_t(i)];
    for (int k = 0; k < e.quadrature_count(); ++k) {
      const Matrix3 p = element_elasticity::stress(material_of(e), svd(i, k), scale() * e.weight(k));
      const Eigen::Matrix<double, 3, E::node_count>& gradients = e.shape_gradients(k);
      for (int a = 0; a < E::node_count; ++a) g.template segment<3>(3 * a) += p * gradients.col(a);
    }
  });
}

template <Element E>
void ElementElasticity<E>::hessians(const Matrix3X&, Index begin, Index end, Projection projection,
                                    LocalHessians& out) const {
  using namespace element_elasticity;
  constexpr int n = E::node_count;
  for (Index i = begin; i < end; ++i) {
    const E& e = elements_[std::size_t(i)];
    const Material& material = material_of(e);
    auto h = out.of<n>(i);
    h.setZero();
    if (const auto* linear = std::get_if<LinearElasticity>(&material)) {
      for (int k = 0; k < e.quadrature_count(); ++k)
        add_constant_hessian<n>(*linear, e.shape_gradients(k), scale() * e.weight(k), h);
      continue;
    }
    const auto tangent = [&](int k) {
      PrincipalDerivatives d = derivatives(material, svd(i, k).sigma);
      if (projection != Projection::none) {
        d.stretch = psd_projection(d.stretch);
        d.shear = d.shear.cwiseMax(0);
        d.spin = d.spin.cwiseMax(0);
      }
      return PrincipalTangent(d);
    };
    if constexpr (std::same_as<E, LinearTetrahedron>) {
      add_hessian<n>(tangent(0), svd(i, 0), e.shape_gradients(0), scale() * e.weight(0), h);
    } else {
      HessianSum<n> sum;
      for (int k = 0; k < e.quadrature_count(); ++k)
        sum.add(tangent(k), svd(i, k), e.shape_gradients(k), scale() * e.weight(k));
      sum.write(h);
    }
  }
}

}  // namespace apart
