#include <apart/viewer/samples.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

Samples::Samples(int x, int y) {
  std::uint32_t state = std::uint32_t(x) * 0x9e3779b9u ^ (std::uint32_t(y) * 0x85ebca6bu + 0xc2b2ae35u);
  for (float& s : shift_) {
    state ^= state >> 16;
    state *= 0x7feb352du;
    state ^= state >> 15;
    state *= 0x846ca68bu;
    state ^= state >> 16;
    s = float(state >> 8) * 0x1p-24f;
    state += 0x9e3779b9u;
  }
}

float Samples::operator()(int sample, int dimension) const {
  // Powers of 1/x for x⁷ = x + 1.
  static constexpr double step[dimensions] = {0.8986537126286992, 0.8075784952213447, 0.7257334129697598,
                                              0.6521830259439717, 0.5860866975779695, 0.5266889867007359};
  const double value = double(shift_[dimension]) + step[dimension] * (sample + 1);
  // Rounding may lead to 1, where roots of 1 - u or 2 - 2 u have a slope without bound, or a sign that is
  // wrong.
  return std::min(float(value - std::floor(value)), 0x1.fffffep-1f);
}

}  // namespace apart
