#include <apart/viewer/drawn_surface.hpp>
#include <apart/viewer/point_colours.hpp>
#include <apart/viewer/point_field.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// The linear colour of a number from 0 to 1.
Vector3f mapped(double f) {
  const auto stops = colour_stops();
  const double x = std::clamp(f, 0.0, 1.0) * double(stops.size() - 1);
  const std::size_t k = std::min(std::size_t(x), stops.size() - 2);
  Vector3f result;
  for (int c = 0; c < 3; ++c) {
    const auto channel = [&](std::size_t i) { return double(stops[i] >> (16 - 8 * c) & 255) / 255; };
    const double s = (1 - (x - double(k))) * channel(k) + (x - double(k)) * channel(k + 1);
    result[c] = float(s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4));
  }
  return result;
}

}  // namespace

Matrix3Xf point_colours(const Frame& frame, const std::optional<Colouring>& colouring) {
  if (!colouring) return Matrix3Xf();
  const VectorX values = point_field(frame, colouring->field, colouring->reach, colouring->start);
  const double low = colouring->low, high = colouring->high;
  const bool logarithmic = find_field(colouring->field).logarithmic && low > 0;
  Matrix3Xf result(3, values.size());
  for (Index i = 0; i < values.size(); ++i) {
    const double x = values[i];
    if (std::isnan(x))
      result.col(i) = obstacle_colour();
    else if (!(high > low))
      result.col(i) = mapped(0);
    else
      result.col(i) = mapped(logarithmic ? std::log(std::max(x, low) / low) / std::log(high / low)
                                         : (x - low) / (high - low));
  }
  return result;
}

Colouring spanning(std::string_view field, double reach, std::span<const Frame> frames, Matrix3X start) {
  Colouring colouring{std::string(field), 0, 1, reach, std::move(start)};
  bool any = false;
  for (const Frame& frame : frames) {
    const VectorX whole = point_field(frame, field, reach, colouring.start);
    std::vector<double> values;
    for (const int p : drawn_surface(frame).points)
      if (std::isfinite(whole[p])) values.push_back(whole[p]);
    const auto range = colour_range(field, std::move(values));
    if (!range) continue;
    colouring.low = any ? std::min(colouring.low, range->first) : range->first;
    colouring.high = any ? std::max(colouring.high, range->second) : range->second;
    any = true;
  }
  return colouring;
}

}  // namespace apart
