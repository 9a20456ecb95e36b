#include <apart/core/error.hpp>
#include <apart/verify/strain_limits.hpp>

#include <algorithm>
#include <cmath>

namespace apart::verify {

StrainLimits::StrainLimits(const Frame& first) {
  const std::size_t bodies = first.bodies.size();
  std::vector<std::optional<FrameStrainLimit>> stretch(bodies), woven(bodies);
  for (const FrameStrainLimit& l : first.strain_limits) {
    const bool good = l.body >= 0 && std::size_t(l.body) < bodies && l.limits.allFinite() &&
                      (l.woven ? (l.limits.array() > 0).all() : l.limits[0] > 0 && l.limits[1] >= 0);
    auto& list = l.woven ? woven : stretch;
    if (!good || list[std::size_t(l.body)])
      throw InputError(
          "a strain limit has no body, no positive number or is there twice; the frame is damaged");
    list[std::size_t(l.body)] = l;
  }
  Index next = 0;
  for (Index f = 0; f < first.mesh.faces.cols(); ++f) {
    const auto corners = first.mesh.faces.col(f);
    const int body = first.point_body[corners[0]];
    if (!stretch[std::size_t(body)] && !woven[std::size_t(body)]) continue;
    const Index at = next++;
    if (at >= first.rest_shape.cols()) continue;
    const Vector4 rest = first.rest_shape.col(at);
    if (!rest.allFinite() || rest[0] * rest[3] == rest[1] * rest[2])
      throw InputError("triangle {} has no shape at rest; the frame is damaged", f);
    triangles_.push_back({f,
                          body,
                          {corners[0], corners[1], corners[2]},
                          {rest[0], rest[1], rest[2], rest[3]},
                          stretch[std::size_t(body)],
                          woven[std::size_t(body)]});
  }
  if (next != first.rest_shape.cols())
    throw InputError("{} triangles have strain limits, but {} a shape at rest; the frame is damaged", next,
                     first.rest_shape.cols());
}

StrainLimits::Share StrainLimits::share(const Triangle& t, const Matrix3X& points) {
  // C = FᵀF with F = [x₁ − x₀, x₂ − x₀] · rest, in more digits than the positions have.
  using Real = long double;
  Real f[3][2];
  for (int i = 0; i < 3; ++i) {
    const Real origin = points(i, t.corners[0]);
    const Real e0 = points(i, t.corners[1]) - origin, e1 = points(i, t.corners[2]) - origin;
    f[i][0] = e0 * t.rest[0] + e1 * t.rest[1];
    f[i][1] = e0 * t.rest[2] + e1 * t.rest[3];
  }
  Real c[2][2] = {{0, 0}, {0, 0}};
  for (int i = 0; i < 3; ++i)
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) c[a][b] += f[i][a] * f[i][b];
  Share worst{.face = t.face, .what = {}};
  const auto note = [&](Real share, std::string_view what, Real value, double limit) {
    if (!(share <= worst.share)) worst = {t.face, share, what, double(value), limit};
  };
  if (t.stretch) {
    const Real mean = (c[0][0] + c[1][1]) / 2, half = (c[0][0] - c[1][1]) / 2;
    const Real radius = std::sqrt(half * half + c[0][1] * c[0][1]);
    const Real larger = std::sqrt(mean + radius), smaller = std::sqrt(std::max(mean - radius, Real(0)));
    const double upper = t.stretch->limits[0], lower = t.stretch->limits[1];
    note(larger / upper, "stretch", larger, upper);
    if (lower > 0) note(smaller > 0 ? lower / smaller : Real(2), "stretch", smaller, lower);
  }
  if (t.woven) {
    const Real e[3] = {(c[0][0] - 1) / 2, (c[1][1] - 1) / 2, c[0][1] / 2};
    constexpr std::string_view names[3] = {"strain along the warp", "strain along the weft", "shear strain"};
    for (int k = 0; k < 3; ++k)
      note(std::abs(e[k]) / Real(t.woven->limits[k]), names[k], e[k], t.woven->limits[k]);
  }
  return worst;
}

std::vector<StrainLimits::Share> StrainLimits::shares(const Matrix3X& points,
                                                      const std::vector<char>& absent) const {
  std::vector<Share> result;
  for (const Triangle& t : triangles_)
    if (!absent[std::size_t(t.body)]) result.push_back(share(t, points));
  return result;
}

}  // namespace apart::verify
