#include <apart/geometry/path.hpp>

#include <apart/core/parallel.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// max of column(v)² over [0, count), several columns for each call of a loop's body.
template <class Column>
double longest_of(Index count, const Column& column) {
  constexpr Index chunk = 4096;
  std::vector<double> largest(std::size_t((count + chunk - 1) / chunk), 0.0);
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    double squared = 0;
    for (Index v = begin; v < end; ++v) {
      const double length = column(v);
      squared = length > squared ? length : squared;
    }
    largest[std::size_t(begin / chunk)] = squared;
  });
  double squared = 0;
  for (const double l : largest) squared = std::max(squared, l);
  return std::sqrt(squared);
}

}  // namespace

double longest_column(const Matrix3X& m) {
  return longest_of(Index(m.cols()), [&](Index v) { return m.col(v).squaredNorm(); });
}

double largest_distance(const Matrix3X& a, const Matrix3X& b) {
  return longest_of(Index(a.cols()), [&](Index v) { return (a.col(v) - b.col(v)).squaredNorm(); });
}

}  // namespace apart
