#include <apart/geometry/edge_edge_mollifier.hpp>

#include <Eigen/Geometry>

namespace apart {

double edge_edge_cross_squared(const StencilPoints& x) {
  return (x[1] - x[0]).cross(x[3] - x[2]).squaredNorm();
}

double edge_edge_mollifier_threshold(const StencilPoints& rest) {
  return 1e-3 * (rest[1] - rest[0]).squaredNorm() * (rest[3] - rest[2]).squaredNorm();
}

double edge_edge_mollifier_value(const StencilPoints& x, double threshold) {
  const double s = edge_edge_cross_squared(x) / threshold;
  return s < 1 ? s * (2 - s) : 1;
}

EdgeEdgeMollifier::First edge_edge_mollifier_gradient(const StencilPoints& x, double threshold) {
  EdgeEdgeMollifier::First m;
  const Vector3 u = x[1] - x[0], v = x[3] - x[2];
  const double s = u.cross(v).squaredNorm() / threshold;
  if (s >= 1) return m;
  m.value = s * (2 - s);
  // As below.
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), e1 = 2 * (1 - s) / threshold;
  const Vector3 cu = 2 * e1 * (vv * u - uv * v), cv = 2 * e1 * (uu * v - uv * u);
  m.gradient << -cu, cu, -cv, cv;
  return m;
}

EdgeEdgeMollifier edge_edge_mollifier(const StencilPoints& x, double threshold) {
  EdgeEdgeMollifier m;
  const Vector3 u = x[1] - x[0], v = x[3] - x[2];
  const double c = u.cross(v).squaredNorm(), s = c / threshold;
  if (s >= 1) return m;
  m.value = s * (2 - s);
  const double e1 = 2 * (1 - s) / threshold, e2 = -2 / (threshold * threshold);

  // c = (u·u)(v·v) − (u·v)² in u and v; then u = x₁−x₀, v = x₃−x₂.
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v);
  const Vector3 cu = 2 * (vv * u - uv * v), cv = 2 * (uu * v - uv * u);
  const Matrix3 identity = Matrix3::Identity();
  const Matrix3 cuu = 2 * (vv * identity - v * v.transpose());
  const Matrix3 cvv = 2 * (uu * identity - u * u.transpose());
  const Matrix3 cuv = 4 * u * v.transpose() - 2 * v * u.transpose() - 2 * uv * identity;

  StencilVector g;
  g << -cu, cu, -cv, cv;
  StencilMatrix h;
  const double sign[4] = {-1, 1, -1, 1};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const double ss = sign[i] * sign[j];
      auto block = h.block<3, 3>(3 * i, 3 * j);
      if (i < 2 && j < 2)
        block = ss * cuu;
      else if (i >= 2 && j >= 2)
        block = ss * cvv;
      else if (i < 2)
        block = ss * cuv;
      else
        block = ss * cuv.transpose();
    }
  m.gradient = e1 * g;
  m.hessian = e1 * h + e2 * g * g.transpose();
  return m;
}

}  // namespace apart
