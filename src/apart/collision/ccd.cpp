#include <apart/collision/ccd_methods.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// Σ |coordinates|; NaN if one is.
double total_size(const StencilPoints& x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i].lpNorm<1>();
  return sum;
}

/// The same query in a unit of length in which its size is about 1. Exact, but for what is 1e-300 of it or
/// less.
CcdQuery rescaled(const CcdQuery& query, double size) {
  CcdQuery scaled = query;
  const int exponent = -std::ilogb(size);
  const auto scale = [&](double v) { return std::scalbn(v, exponent); };
  for (int i = 0; i < point_count(query.kind); ++i) {
    scaled.x[i] = query.x[i].unaryExpr(scale);
    scaled.displacement[i] = query.displacement[i].unaryExpr(scale);
  }
  scaled.separation = scale(query.separation);
  scaled.dhat = scale(query.dhat);
  return scaled;
}

}  // namespace

std::optional<double> time_of_impact(const CcdQuery& query, const CcdOptions& options) {
  const int n = point_count(query.kind);
  const double size = total_size(query.x, n) + total_size(query.displacement, n) + query.separation;
  if (!(size < std::numeric_limits<double>::infinity()) || !(query.separation >= 0)) return 0;
  if (!(query.dhat > 0) || !(options.gap_fraction >= 0 && options.gap_fraction < 1)) return 0;
  if (options.upper_time <= 0) return std::nullopt;
  if (std::isnan(options.upper_time)) return 0;
  if (size == 0) return 0;  // all points coincide
  if (!(size > 1e-60 && size < 1e60)) {
    CcdOptions scaled = options;
    scaled.tolerance = std::scalbn(options.tolerance, -std::ilogb(size));
    return time_of_impact(rescaled(query, size), scaled);
  }
  CcdOptions clipped = options;
  clipped.upper_time = std::min(options.upper_time, 1.0);
  return options.method == CcdMethod::additive ? additive_ccd(query, clipped)
                                               : tight_inclusion_ccd(query, clipped);
}

}  // namespace apart
