#include <apart/potentials/friction.hpp>

#include <Eigen/Geometry>
#include <cmath>

namespace apart {

void Friction::set_lag(const BarrierContact& contact, const Matrix3X& x, double epsilon) {
  epsilon_ = epsilon;
  terms_.clear();
  const Index pairs = Index(contact.active_set().contacts.size());
  for (Index i = 0; i < contact.term_count(); ++i) {
    const TermPoints points = contact.term(i);
    double mu;
    if (i < pairs) {
      const Stencil& s = contact.active_set().contacts[i].stencil;
      mu = surface_.settings(s.vertices[0], s.vertices[first_count(s.kind)]).friction;
    } else {
      const PlaneContact& c = contact.active_set().plane_contacts[i - pairs];
      mu = surface_.pairs(surface_.vertex_body[c.vertex], surface_.half_spaces[c.plane].body).friction;
    }
    if (mu <= 0) continue;
    const BarrierContact::Press press = contact.press(i, x);
    int axis;
    press.direction.cwiseAbs().minCoeff(&axis);
    const Vector3 t = press.direction.cross(Vector3::Unit(axis)).normalized();
    Term term{points, press.weights, {}, mu * press.magnitude};
    term.basis << t, press.direction.cross(t);
    terms_.push_back(term);
  }
}

Eigen::Vector2d Friction::sliding(const Term& term, const Matrix3X& x) const {
  Vector3 u = Vector3::Zero();
  for (int k = 0; k < term.points.size; ++k) {
    const Index v = term.points.ids[k];
    u += term.weights[k] * (x.col(v) - start_.col(v));
  }
  return term.basis.transpose() * u;
}

double Friction::value(const Matrix3X& x) const {
  return ordered_sum(term_count(), [&](Index i) {
    const double y = sliding(terms_[i], x).norm(), e = epsilon_;
    // f₀: y beyond ε, −y³/3ε² + y²/ε + ε/3 below [thesis A.9]
    const double f0 = y >= e ? y : y * y / e * (1 - y / (3 * e)) + e / 3;
    return terms_[i].strength * f0;
  });
}

void Friction::add_gradient(const Matrix3X& x, Matrix3X& gradient) const {
  add_local_gradients(term_count(), gradient, [&](Index i) {
    const Term& term = terms_[i];
    const Eigen::Vector2d u = sliding(term, x);
    const double y = u.norm(), e = epsilon_;
    const double f1_over_y = y >= e ? 1 / y : (2 - y / e) / e;  // never divides by zero
    const Vector3 force = term.strength * f1_over_y * (term.basis * u);
    StencilVector g = StencilVector::Zero();
    for (int k = 0; k < term.points.size; ++k) g.segment<3>(3 * k) = term.weights[k] * force;
    return std::pair{term.points, g};
  });
}

void Friction::hessians(const Matrix3X& x, Index begin, Projection, std::span<LocalHessian> out) const {
  for (std::size_t j = 0; j < out.size(); ++j) {
    const Term& term = terms_[begin + Index(j)];
    out[j].points = term.points;
    const Eigen::Vector2d u = sliding(term, x);
    const double y = u.norm(), e = epsilon_;
    // f₁′ ûûᵀ + f₁/y ūūᵀ with ū ⟂ û [C-IPC supplement eq. 12]: a sum of squares, positive semi-definite as it
    // stands.
    Eigen::Matrix2d m;
    if (y == 0) {
      m = Eigen::Matrix2d::Identity() * (2 / e);
    } else {
      const Eigen::Vector2d along = u / y, across(-along[1], along[0]);
      const double f1_prime = y >= e ? 0 : 2 * (1 - y / e) / e, f1_over_y = y >= e ? 1 / y : (2 - y / e) / e;
      m = f1_prime * along * along.transpose() + f1_over_y * across * across.transpose();
    }
    const Matrix3 block = term.strength * term.basis * m * term.basis.transpose();
    for (int a = 0; a < term.points.size; ++a)
      for (int b = 0; b < term.points.size; ++b)
        out[j].matrix.block<3, 3>(3 * a, 3 * b) = term.weights[a] * term.weights[b] * block;
  }
}

}  // namespace apart
