#include <apart/verify/cell_determinant.hpp>
#include <apart/verify/curved_cells.hpp>
#include <apart/verify/exact_cells.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace apart::verify {

namespace {

constexpr double shortest_time = 1.0 / 1024;  // share of a path
constexpr int most_boxes = 20000;             // parts of a cell

/// Whether it is larger than `bound`; with minus its error for a bound: whether rounding lets that be.
bool is_above(const CellPolynomials& cell, const CellDeterminant<long double>& d, long double bound) {
  int boxes = most_boxes;
  return is_positive(cell, d, bound, 0, boxes);
}

/// The same as below from a time on, in fractions: as few and as long pieces as possible.
double exactly_proven_until(const CellPolynomials& cell, const Matrix3X& from, const Matrix3X& to,
                            double begin) {
  for (double length = 1; begin < 1;) {
    const double end = std::min(1.0, begin + length);
    if (is_positive_exactly(cell, from, to, begin, end))
      begin = end;
    else if ((length /= 2) < shortest_time)
      break;
  }
  return begin;
}

}  // namespace

CurvedProof::CurvedProof(int degree) : cell_(degree) {
  const auto n = Eigen::Index(cell_.lattice.size());
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> values(n, n);  // of polynomial j at point i
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) {
      const Exponents &at = cell_.lattice[std::size_t(i)], &alpha = cell_.lattice[std::size_t(j)];
      Real v = multinomial(alpha);
      for (std::size_t c = 0; c < 4; ++c)
        for (int k = 0; k < alpha[c]; ++k) v *= Real(at[c]) / Real(degree);
      values(i, j) = v;
    }
  from_points_ = values.fullPivLu().inverse();
}

CellSlopes<long double> CurvedProof::slopes(const Matrix3X& points) const {
  const Eigen::Matrix<Real, 3, Eigen::Dynamic> relative =
      points.cast<Real>().colwise() - points.col(0).cast<Real>().eval();
  const Eigen::Matrix<Real, 3, Eigen::Dynamic> coefficients = relative.lazyProduct(from_points_.transpose());
  CellSlopes<Real> result;
  for (std::size_t direction = 0; direction < 3; ++direction)
    for (const auto& [last, first] : cell_.differences[direction]) {
      std::array<Real, 3>& slope = result[direction].emplace_back();
      for (std::size_t k = 0; k < 3; ++k)
        slope[k] =
            Real(cell_.degree) * (coefficients(Index(k), Index(last)) - coefficients(Index(k), Index(first)));
    }
  return result;
}

CellDeterminant<long double> CurvedProof::determinant(const Matrix3X& from, const Matrix3X& to,
                                                      Real& error) const {
  std::vector<CellSlopes<Real>> ends = {slopes(from)};
  if (from != to) ends.push_back(slopes(to));
  Real size = 6;
  for (std::size_t direction = 0; direction < 3; ++direction) {
    Real largest = 0;
    for (const CellSlopes<Real>& slope : ends)
      for (const std::array<Real, 3>& v : slope[direction])
        for (const Real x : v) largest = std::max(largest, std::abs(x));
    size *= largest;
  }
  // Averages of determinants of at most this size. Each of a few hundred operations is off by 2⁻⁶⁴, what the
  // inverse of the matrix is off by is some thousands of that.
  error = Real(1e-14) * size;
  return cell_determinant(cell_, ends);
}

double CurvedProof::proven_until(const Matrix3X& from, const Matrix3X& to) const {
  Real error;
  const CellDeterminant<Real> whole = determinant(from, to, error);
  if (is_above(cell_, whole, error)) return 1;
  if (from == to) return is_above(cell_, whole, -error) && is_positive_exactly(cell_, from, to, 0, 1) ? 1 : 0;
  // Piece by piece, from the start on.
  double begin = 0, length = 1;
  while (begin < 1) {
    const double end = std::min(1.0, begin + length);
    const Matrix3X x = from + begin * (to - from), y = end < 1 ? Matrix3X(from + end * (to - from)) : to;
    const CellDeterminant<Real> piece = determinant(x, y, error);
    if (is_above(cell_, piece, error)) {
      begin = end;
    } else if ((length /= 2) < shortest_time) {
      return is_above(cell_, piece, -error) ? exactly_proven_until(cell_, from, to, begin) : begin;
    }
  }
  return 1;
}

double CurvedProof::smallest_coefficient(const Matrix3X& points) const {
  Real error, smallest = infinity;
  for (const auto& c : determinant(points, points, error)) smallest = std::min(smallest, c[0]);
  return double(smallest);
}

}  // namespace apart::verify
