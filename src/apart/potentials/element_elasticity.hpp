#pragma once
#include <apart/materials/material.hpp>
#include <apart/math/svd.hpp>
#include <apart/potentials/elastic_potential.hpp>
#include <apart/potentials/element.hpp>

namespace apart {

/// scale · Σ weight Ψ(F) over the quadrature points of elements of nodes; scale = dt². [thesis eq. 2.1] Where
/// a kind of element is used, element_elasticity_impl.hpp is included once, and the template instantiated.
template <Element E>
class ElementElasticity : public ElasticPotential {
 public:
  std::string_view name() const override { return "elasticity"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(elements_.size()); }
  TermPoints term(Index i) const override { return elements_[std::size_t(i)].nodes; }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  /// Quadrature points of an element.
  int point_count(Index element) const { return elements_[std::size_t(element)].quadrature_count(); }
  /// Stretches σ at a quadrature point of an element, at place().
  Vector3 stretches(Index element, int point = 0) const;
  /// Cauchy stress [Pa] there.
  Matrix3 cauchy_stress(Index element, int point = 0) const;

  Strains largest_strains(const Matrix3X& q) const override;
  double smallest_volume_ratio(const Matrix3X& q) const override;
  std::vector<WorstElement> worst_elements(const Matrix3X& q) const override;
  bool has_stress() const override { return true; }
  Deformed deformed(Index element) const override;

 protected:
  /// Decomposes every deformation gradient once, for value, gradient and Hessian alike; those of linear
  /// elasticity need no decomposition.
  void prepare_at(const Matrix3X& q) override;
  /// The materials of the elements are counted from 0.
  void add(std::span<const E> elements, std::span<const Material> materials);
  const std::vector<E>& elements() const { return elements_; }
  /// Replaces elements by others of the same nodes and material. Must be prepared again.
  void replace(std::span<const Index> which, std::span<const E> by);
  /// Of all quadrature points, for elements that decompose F in another way.
  std::vector<SignedSvd>& decompositions() { return svd_; }
  const SignedSvd& decomposition(Index element, int point = 0) const { return svd(element, point); }
  const Material& material_of(const E& e) const { return materials_[std::size_t(e.material)]; }

 private:
  const SignedSvd& svd(Index element, int point) const {
    return svd_[first_point(element) + std::size_t(point)];
  }
  /// Where the quadrature points of an element begin among all: one each, or added up.
  std::size_t first_point(Index element) const {
    return first_point_.empty() ? std::size_t(element) : first_point_[std::size_t(element)];
  }
  void count_points();
  std::vector<E> elements_;
  std::vector<std::size_t> first_point_;  ///< of each element, and the end; empty: all have one point
  std::vector<Material> materials_;
  /// F = u · diag(sigma) · vᵀ of every quadrature point at place(): singular values for isotropic
  /// materials; for others u = F, sigma = 1 and v = I.
  std::vector<SignedSvd> svd_;
};

}  // namespace apart
