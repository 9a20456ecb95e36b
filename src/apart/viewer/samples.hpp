#pragma once
// Where the rays of a pixel go.
#include <cstdint>

namespace apart {

/// Numbers in [0, 1) that fill the unit cube of their dimensions evenly: multiples of powers of the root of
/// xᵈ⁺¹ = x + 1 (the golden ratio for d = 1), shifted differently in every pixel.
class Samples {
 public:
  static constexpr int dimensions = 6;
  Samples(int x, int y);
  float operator()(int sample, int dimension) const;

 private:
  float shift_[dimensions];
};

}  // namespace apart
