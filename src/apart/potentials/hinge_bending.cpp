#include <apart/potentials/hinge_bending.hpp>

#include <cmath>

namespace apart {

namespace {

std::array<Vector3, 4> corners(const std::array<Index, 4>& nodes, const Matrix3X& q) {
  return {q.col(nodes[0]), q.col(nodes[1]), q.col(nodes[2]), q.col(nodes[3])};
}

/// 2K (∇θ∇θᵀ + d ∇²θ), made positive semi-definite: a sum of five squares. In ∇²θ stand products u wᵀ + w uᵀ
/// of displacements u out of a triangle's plane and w in it, and d (u wᵀ + w uᵀ) + |d| (r² uuᵀ + wwᵀ/r²) is a
/// square, for any r. With r² = |d| ‖w‖/‖u‖ that adds little (d²) to displacements out of the plane, which
/// bend, and more to those in it, where the membrane is far stiffer anyway.
void projected_hessian(const Dihedral& theta, double d, double weight, double* m) {
  alignas(32) double roots[5][12] = {};
  const auto put = [](double* to, const Vector3& v) { to[0] = v[0], to[1] = v[1], to[2] = v[2]; };
  const double unit = std::sqrt(weight), size = unit * std::sqrt(std::abs(d));
  const double share = std::min(std::abs(d), 1.0), turn = std::sqrt(share), q = theta.inverse_length;
  for (int k = 0; k < 4; ++k) put(roots[0] + 3 * k, unit * theta.gradient(k));
  for (int i = 0; i < 2; ++i) {
    const Dihedral::Wing& w = theta.wings[std::size_t(i)];
    if (!w.has_area || size == 0) continue;
    const auto& c = w.c;
    const double side = std::copysign(size, d) * Dihedral::sign[i];
    // Turning: ‖w‖ = ‖u‖.
    const Vector3 turned = size * turn * w.normal + side / turn * w.across;
    double* out = roots[1 + 2 * i];
    put(out, c[0] * turned);
    put(out + 3, c[1] * turned);
    put(out + 6 + 3 * i, c[2] * turned);
    // Twisting: ‖w‖² = ‖c‖² + ½/L², ‖u‖² = 2/L².
    const double sum = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    const double twist = std::sqrt(share * std::sqrt(0.5 * sum / (q * q) + 0.25));
    const Vector3 both = q * (size * twist * w.normal + 0.5 * side / twist * w.across),
                  single = -side / twist * theta.along;
    out = roots[2 + 2 * i];
    put(out, c[0] * single - both);
    put(out + 3, c[1] * single + both);
    put(out + 6 + 3 * i, c[2] * single);
  }
  using Four = Eigen::Array4d;
  for (int chunk = 0; chunk < 12; chunk += 4) {
    Four v[5];
    for (int k = 0; k < 5; ++k) v[k] = Eigen::Map<const Four>(roots[k] + chunk);
    for (int column = 0; column < 12; ++column) {
      Four entries = roots[0][column] * v[0];
      for (int k = 1; k < 5; ++k) entries += roots[k][column] * v[k];
      Eigen::Map<Four>(m + 12 * column + chunk) = entries;
    }
  }
}

}  // namespace

void HingeBending::add(const ShellCells& cells, Index first_node, const OwnNodes& own) {
  for (Index h = 0; h < cells.hinges.cols(); ++h) {
    if (!own.contains(cells.hinges(0, h) + first_node)) continue;
    Hinge hinge{{}, cells.rest_angle[h], cells.hinge_stiffness[h]};
    for (int k = 0; k < 4; ++k) hinge.nodes[std::size_t(k)] = first_node + cells.hinges(k, h);
    hinges_.push_back(hinge);
  }
}

void HingeBending::prepare_at(const Matrix3X& q) {
  dihedrals_.resize(hinges_.size());
  parallel_for(term_count(), [&](Index i) {
    dihedrals_[std::size_t(i)] = make_dihedral(corners(hinges_[std::size_t(i)].nodes, q));
  });
}

double HingeBending::value(const Matrix3X& q) const {
  expect_at(q);
  return scale() * ordered_sum(term_count(), [&](Index i) {
           const Hinge& h = hinges_[std::size_t(i)];
           const double d = dihedrals_[std::size_t(i)].angle - h.rest_angle;
           return h.stiffness * d * d;
         });
}

void HingeBending::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  expect_at(q);
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const Hinge& h = hinges_[std::size_t(i)];
    const Dihedral& theta = dihedrals_[std::size_t(i)];
    const double factor = 2 * scale() * h.stiffness * (theta.angle - h.rest_angle);
    for (int k = 0; k < 4; ++k) g.template segment<3>(3 * k) = factor * theta.gradient(k);
  });
}

void HingeBending::hessians(const Matrix3X&, Index begin, Index end, Projection projection,
                            LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    const Hinge& h = hinges_[std::size_t(i)];
    const Dihedral& theta = dihedrals_[std::size_t(i)];
    const double d = theta.angle - h.rest_angle, weight = 2 * scale() * h.stiffness;
    if (projection != Projection::none) {
      projected_hessian(theta, d, weight, out.of<4>(i).data());
      continue;
    }
    Dihedral::Form g;
    for (int k = 0; k < 4; ++k) g.segment<3>(3 * k) = theta.gradient(k);
    out.of<4>(i) = weight * (g * g.transpose() + d * theta.hessian());
  }
}

}  // namespace apart
