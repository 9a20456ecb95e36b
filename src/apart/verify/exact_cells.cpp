#include <apart/geometry/rational.hpp>
#include <apart/verify/cell_determinant.hpp>
#include <apart/verify/exact_cells.hpp>

#include <cmath>

namespace apart::verify {

namespace {

constexpr int most_exact_boxes = 500;  // parts of a cell, each of which takes milliseconds

using Row = std::vector<Rational>;

/// Solves a · x = b in place by Gaussian elimination; b may have several columns. Returns x.
std::vector<Row> solved(std::vector<Row> a, std::vector<Row> b) {
  const std::size_t n = a.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (a[pivot][k].sign() == 0) ++pivot;  // points of a lattice determine the polynomial
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k || a[i][k].sign() == 0) continue;
      const Rational factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j)
        if (a[k][j].sign() != 0) a[i][j] -= factor * a[k][j];
      for (std::size_t j = 0; j < b[i].size(); ++j) b[i][j] -= factor * b[k][j];
    }
  }
  for (std::size_t k = 0; k < n; ++k)
    for (Rational& x : b[k]) x /= a[k][k];
  return b;
}

/// n^n times the Bernstein polynomials of a cell at its points: integers.
std::vector<Row> values_at_points(const CellPolynomials& cell) {
  std::vector<Row> values;
  for (const Exponents& at : cell.lattice) {
    Row& row = values.emplace_back();
    for (const Exponents& alpha : cell.lattice) {
      double v = multinomial(alpha);
      for (std::size_t c = 0; c < 4; ++c) v *= std::pow(at[c], alpha[c]);
      row.emplace_back(v);
    }
  }
  return values;
}

}  // namespace

bool is_positive_exactly(const CellPolynomials& cell, const Matrix3X& from, const Matrix3X& to, double begin,
                         double end) {
  if (!from.allFinite() || !to.allFinite()) return false;
  const bool moves = from != to;
  const std::vector<double> times = moves ? std::vector{begin, end} : std::vector{0.0};
  const std::size_t n = cell.lattice.size();
  const Rational scale(std::pow(cell.degree, cell.degree));
  std::vector<Row> places(n);  // x, y, z at each time
  for (std::size_t i = 0; i < n; ++i)
    for (const double t : times)
      for (Index k = 0; k < 3; ++k) {
        const Rational start(from(k, Index(i))), way = Rational(to(k, Index(i))) - start;
        places[i].push_back(scale * (start + Rational(t) * way));
      }
  const std::vector<Row> coefficients = solved(values_at_points(cell), std::move(places));
  std::vector<CellSlopes<Rational>> ends(times.size());
  for (std::size_t end_of = 0; end_of < ends.size(); ++end_of)
    for (std::size_t direction = 0; direction < 3; ++direction)
      for (const auto& [last, first] : cell.differences[direction]) {
        auto& slope = ends[end_of][direction].emplace_back();
        for (std::size_t k = 0; k < 3; ++k)
          slope[k] = coefficients[last][3 * end_of + k] - coefficients[first][3 * end_of + k];
      }
  int boxes = most_exact_boxes;
  return is_positive(cell, cell_determinant(cell, ends), Rational(0), 0, boxes);
}

}  // namespace apart::verify
