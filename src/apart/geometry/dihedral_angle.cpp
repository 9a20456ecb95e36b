#include <apart/geometry/dihedral_angle.hpp>

#include <Eigen/Geometry>
#include <cmath>

namespace apart {

namespace {

// A triangle flatter than this has no usable normal.
constexpr double flattest = 1e-10;

struct Normals {
  Vector3 edge, third[2], normal[2];  ///< not of unit length
  double length;
};

Normals normals_of(const std::array<Vector3, 4>& x) {
  Normals n;
  n.edge = x[1] - x[0];
  n.third[0] = x[2] - x[0];
  n.third[1] = x[3] - x[0];
  n.normal[0] = n.edge.cross(n.third[0]);
  n.normal[1] = n.third[1].cross(n.edge);
  n.length = n.edge.norm();
  return n;
}

double angle_of(const Normals& n) {
  if (!(n.length > 0)) return 0;
  return std::atan2(n.edge.dot(n.normal[0].cross(n.normal[1])) / n.length, n.normal[0].dot(n.normal[1]));
}

}  // namespace

double dihedral_angle(const std::array<Vector3, 4>& x) {
  return angle_of(normals_of(x));
}

Dihedral make_dihedral(const std::array<Vector3, 4>& x) {
  Dihedral d;
  const Normals n = normals_of(x);
  if (!(n.length > 0)) return d;
  d.angle = angle_of(n);
  d.inverse_length = 1 / n.length;
  d.along = n.edge * d.inverse_length;
  for (std::size_t i = 0; i < 2; ++i) {
    Dihedral::Wing& w = d.wings[i];
    const double area = n.normal[i].norm();
    if (!(area > flattest * n.length * n.third[i].norm())) continue;
    w.has_area = true;
    const double inverse_area = 1 / area;
    w.normal = n.normal[i] * inverse_area;
    w.across = d.along.cross(w.normal);
    // With x₀ as origin and axes ê, t̂ the corners are (0, 0), (L, 0) and (third·ê, ∓height): cⱼ = −∇λⱼ·t̂ of
    // the barycentric coordinates, since a normal turns by −Σ ∇λⱼ n̂·δxⱼ.
    w.c[2] = -Dihedral::sign[i] * n.length * inverse_area;
    w.c[1] = -w.c[2] * n.third[i].dot(d.along) * d.inverse_length;
    w.c[0] = -(w.c[1] + w.c[2]);
  }
  return d;
}

Vector3 Dihedral::gradient(int k) const {
  if (k >= 2) return sign[k - 2] * wings[std::size_t(k - 2)].c[2] * wings[std::size_t(k - 2)].normal;
  return wings[1].c[std::size_t(k)] * wings[1].normal - wings[0].c[std::size_t(k)] * wings[0].normal;
}

// Differentiating dφ = Σ cⱼ n̂·δxⱼ once more, with dn̂ = −v, v = Σ ∇λⱼ n̂·δxⱼ, and ∇λ changing with the
// displacements in the plane: d²φ = −2 v·y + (v·ê)(dê·t̂), y = Σ cⱼ δxⱼ. In components along t̂ and ê, where
// v·t̂ = −dφ, v·ê = n̂·(δx₁ − δx₀)/L and dê·t̂ = t̂·(δx₁ − δx₀)/L, that is the formula of the header.
Eigen::Matrix<double, 12, 12> Dihedral::hessian() const {
  Eigen::Matrix<double, 12, 12> h = Eigen::Matrix<double, 12, 12>::Zero();
  const double p[3] = {-inverse_length, inverse_length, 0};
  for (int i = 0; i < 2; ++i) {
    const Wing& w = wings[std::size_t(i)];
    if (!w.has_area) continue;
    Form turn_out = Form::Zero(), turn_in = turn_out, twist_out = turn_out, twist_in = turn_out;
    for (int j = 0; j < 3; ++j) {
      const int at = 3 * (j < 2 ? j : 2 + i);
      const double c = w.c[std::size_t(j)];
      turn_out.segment<3>(at) = c * w.normal;
      turn_in.segment<3>(at) = c * w.across;
      twist_out.segment<3>(at) = p[j] * w.normal;
      twist_in.segment<3>(at) = 0.5 * p[j] * w.across - c * along;
    }
    const Eigen::Matrix<double, 12, 12> half =
        turn_out * turn_in.transpose() + twist_out * twist_in.transpose();
    h += sign[i] * (half + half.transpose());
  }
  return h;
}

}  // namespace apart
