#pragma once
// Points and random numbers of generated queries. For query_generator.cpp only.
#include <apart/core/types.hpp>

#include <cstdint>

namespace apart::query_grid {

using Integer = std::int64_t;
using Grid3 = Eigen::Matrix<Integer, 3, 1>;  ///< a point or vector on the grid

/// splitmix64: the same numbers on every machine. Nothing below draws twice in one expression: the order of
/// evaluation would be the compiler's.
class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  Integer below(Integer n) { return Integer(next() % std::uint64_t(n)); }  ///< 0 … n − 1
  Integer between(Integer low, Integer high) { return low + below(high - low + 1); }
  bool one_in(Integer n) { return below(n) == 0; }
  int sign() { return one_in(2) ? 1 : -1; }
  Grid3 vector(Integer most) {
    Grid3 v;
    for (int axis = 0; axis < 3; ++axis) v[axis] = between(-most, most);
    return v;
  }

 private:
  std::uint64_t state_;
};

}  // namespace apart::query_grid
