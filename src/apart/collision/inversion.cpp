#include <apart/collision/inversion.hpp>
#include <apart/collision/shared_minimum.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/mesh.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Until when the volume of one tetrahedron stays above (1 − shrink) of its start; +infinity if that is later
/// than 1 or than `until`.
double time_of_inversion(const Matrix3X& x, const Matrix3X& p, const Eigen::Vector4i& tet, double shrink,
                         const SharedMinimum& until) {
  Matrix3 e, d;  // edges and their change
  for (int k = 0; k < 3; ++k) {
    e.col(k) = x.col(tet[k + 1]) - x.col(tet[0]);
    d.col(k) = p.col(tet[k + 1]) - p.col(tet[0]);
  }
  const auto det = [](const auto& a, const auto& b, const auto& c) { return a.cross(b).dot(c); };
  const Vector3 e0 = e.col(0), e1 = e.col(1), e2 = e.col(2), d0 = d.col(0), d1 = d.col(1), d2 = d.col(2);
  // V(t) = v0 + v1 t + v2 t² + v3 t³ = det(e + t d)
  const double v0 = det(e0, e1, e2), v1 = det(d0, e1, e2) + det(e0, d1, e2) + det(e0, e1, d2);
  const double v2 = det(e0, d1, d2) + det(d0, e1, d2) + det(d0, d1, e2), v3 = det(d0, d1, d2);
  if (!(v0 > 0) || !std::isfinite(v1 + v2 + v3)) return 0;
  // f(t) = V(t) − (1 − shrink) V(0). On [t, t + h] it is positive if its four Bernstein coefficients are.
  // Advance by such intervals, doubling h after a success and halving it after a failure, until h is
  // negligible.
  double t = 0, h = 1;
  for (int iteration = 0; iteration < 2000; ++iteration) {
    const double f0 = shrink * v0 + t * (v1 + t * (v2 + t * v3));
    const double f1 = h * (v1 + t * (2 * v2 + t * 3 * v3)), f2 = h * h * (v2 + 3 * t * v3),
                 f3 = h * h * h * v3;
    const bool positive = f0 > 0 && f0 + f1 / 3 > 0 && f0 + (2 * f1 + f2) / 3 > 0 && f0 + f1 + f2 + f3 > 0;
    if (!positive) {
      h /= 2;
      if (h <= 1e-6 * t || h < 1e-300) return t;
      continue;
    }
    t += h;
    if (t >= 1 || t >= until.get()) return infinity;
    h = std::min(2 * h, 1 - t);
  }
  return t;
}

}  // namespace

double inversion_free_step(const Tetrahedra& tetrahedra, const Matrix3X& x, const Matrix3X& p,
                           double shrink) {
  ensure(shrink > 0 && shrink < 1, "inversion_free_step: 0 < shrink < 1");
  SharedMinimum earliest(1);
  parallel_for(Index(tetrahedra.cols()), [&](Index t) {
    earliest.lower_to(time_of_inversion(x, p, tetrahedra.col(t), shrink, earliest));
  });
  // The cubics above are rounded, and so are the positions the caller will form: look at those.
  double step = earliest.get();
  const auto positive = [&](double alpha) {
    return parallel_min(Index(tetrahedra.cols()), 1.0, [&](Index t) {
             Vector3 v[4];
             for (int k = 0; k < 4; ++k) v[k] = x.col(tetrahedra(k, t)) + alpha * p.col(tetrahedra(k, t));
             return signed_volume6(v[0], v[1], v[2], v[3]) > 0 ? 1.0 : 0.0;
           }) > 0;
  };
  while (step > 0 && !positive(step)) step = step > 1e-300 ? 0.5 * step : 0;
  return step;
}

}  // namespace apart
