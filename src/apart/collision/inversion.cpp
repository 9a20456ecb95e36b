#include <apart/collision/inversion.hpp>
#include <apart/collision/shared_minimum.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

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

/// Whether the volume is positive all the way from one state to another, straight and exactly as given. On an
/// interval it is if its four Bernstein coefficients are: decided in floating point with a bound on the
/// rounding, exactly where that leaves it open, and in halves where they have different signs.
bool surely_positive(std::span<const exact::Path, 4> paths, double begin = 0, double end = 1, int depth = 0) {
  if (depth == 0) {
    Matrix3 edge[2];
    for (int k = 0; k < 3; ++k) {
      edge[0].col(k) = paths[k + 1].from - paths[0].from;
      edge[1].col(k) = paths[k + 1].to - paths[0].to;
    }
    // Each of the six products of a determinant is off by four roundings of its factors and products and
    // takes part in up to five sums; a coefficient adds up to three determinants.
    double size = 1;
    for (int k = 0; k < 3; ++k) size *= edge[0].col(k).lpNorm<1>() + edge[1].col(k).lpNorm<1>();
    const double error = 32 * std::numeric_limits<double>::epsilon() * size;
    double coefficient[4] = {0, 0, 0, 0};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        const Vector3 normal = edge[i].col(0).cross(edge[j].col(1));
        for (int k = 0; k < 2; ++k) coefficient[i + j + k] += normal.dot(edge[k].col(2));
      }
    if (*std::min_element(coefficient, coefficient + 4) > error) return true;
  }
  const auto signs = exact::volume_signs(paths, begin, end);
  if (signs[0] <= 0 || signs[3] <= 0) return false;
  if (signs[1] > 0 && signs[2] > 0) return true;
  const double middle = 0.5 * (begin + end);
  return depth < 12 && surely_positive(paths, begin, middle, depth + 1) &&
         surely_positive(paths, middle, end, depth + 1);
}

}  // namespace

double inversion_free_step(const Tetrahedra& tetrahedra, const Matrix3X& x, const Matrix3X& p,
                           double shrink) {
  ensure(shrink > 0 && shrink < 1, "inversion_free_step: 0 < shrink < 1");
  SharedMinimum earliest(1);
  parallel_for(Index(tetrahedra.cols()), [&](Index t) {
    earliest.lower_to(time_of_inversion(x, p, tetrahedra.col(t), shrink, earliest));
  });
  // The cubics above are rounded, and so are the positions the caller will form: make sure of those.
  double step = earliest.get();
  const auto positive = [&](double alpha) {
    return parallel_min(Index(tetrahedra.cols()), 1.0, [&](Index t) {
             std::array<exact::Path, 4> paths;
             for (int k = 0; k < 4; ++k) {
               const Index v = tetrahedra(k, t);
               paths[k] = {x.col(v), x.col(v) + alpha * p.col(v)};
             }
             return surely_positive(paths) ? 1.0 : 0.0;
           }) > 0;
  };
  while (step > 0 && !positive(step)) step = step > 1e-300 ? 0.5 * step : 0;
  return step;
}

}  // namespace apart
