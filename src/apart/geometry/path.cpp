#include <apart/geometry/path.hpp>

#include <apart/core/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace apart {

namespace {

/// Of `n` columns from v on.
template <int n>
Eigen::Map<const Eigen::Array<double, 3 * n, 1>> coordinates_of(const Matrix3X& m, Index v) {
  return Eigen::Map<const Eigen::Array<double, 3 * n, 1>>(m.data() + 3 * std::ptrdiff_t(v));
}

/// Length of the longest of `count` columns, of which coordinates(v, n) are those of n columns from v on.
template <class Coordinates>
double longest_of(Index count, const Coordinates& coordinates) {
  constexpr Index chunk = 4096, group = 4;
  std::vector<double> largest(std::size_t((count + chunk - 1) / chunk), 0.0);
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    Eigen::Array<double, group, 1> squared = Eigen::Array<double, group, 1>::Zero();
    Index v = begin;
    for (; v + group <= end; v += group) {  // whole packets
      const Eigen::Array<double, 3 * group, 1> squares =
          coordinates(v, std::integral_constant<int, group>()).square();
      for (int k = 0; k < group; ++k) {
        const double length = squares[3 * k] + squares[3 * k + 1] + squares[3 * k + 2];
        squared[k] = length > squared[k] ? length : squared[k];
      }
    }
    double longest = squared.maxCoeff();
    for (; v < end; ++v) {
      const double length = coordinates(v, std::integral_constant<int, 1>()).square().sum();
      longest = length > longest ? length : longest;
    }
    largest[std::size_t(begin / chunk)] = longest;
  });
  double squared = 0;
  for (const double l : largest) squared = std::max(squared, l);
  return std::sqrt(squared);
}

}  // namespace

double longest_column(const Matrix3X& m) {
  return longest_of(Index(m.cols()), [&](Index v, auto n) { return coordinates_of<n()>(m, v); });
}

double largest_distance(const Matrix3X& a, const Matrix3X& b) {
  return longest_of(Index(a.cols()),
                    [&](Index v, auto n) { return coordinates_of<n()>(a, v) - coordinates_of<n()>(b, v); });
}

}  // namespace apart
