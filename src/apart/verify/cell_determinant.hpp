#pragma once
// The determinant of a curved cell on a path as a polynomial, and whether it is positive: the same code for
// numbers that are rounded and for fractions.
#include <apart/verify/cell_polynomials.hpp>

#include <algorithm>
#include <type_traits>

namespace apart::verify {

/// Coefficients of the slopes in the three directions.
template <class Number>
using CellSlopes = std::array<std::vector<std::array<Number, 3>>, 3>;

/// Coefficients in time, 0 to 3, of each coefficient in space.
template <class Number>
using CellDeterminant = std::vector<std::array<Number, 4>>;

template <class Number>
Number weight_of(const CellPolynomials::Product& p) {
  if constexpr (std::is_floating_point_v<Number>)
    return Number(p.weight);
  else
    return Number(p.numerator) / Number(p.denominator);
}

/// Of slopes at the start and at the end of a path; one of them if nothing moves.
template <class Number>
CellDeterminant<Number> cell_determinant(const CellPolynomials& cell,
                                         const std::vector<CellSlopes<Number>>& ends) {
  CellDeterminant<Number> result(cell.determinant_count);
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (std::size_t j = 0; j < ends.size(); ++j) {
      std::vector<std::array<Number, 3>> area(cell.area_count);
      for (const CellPolynomials::Product& p : cell.areas) {
        const std::array<Number, 3>&a = ends[i][0][p.first], &b = ends[j][1][p.second];
        const Number weight = weight_of<Number>(p);
        for (std::size_t k = 0; k < 3; ++k) {
          const std::size_t next = (k + 1) % 3, last = (k + 2) % 3;
          area[p.sum][k] += weight * (a[next] * b[last] - a[last] * b[next]);
        }
      }
      for (std::size_t k = 0; k < ends.size(); ++k) {
        const std::size_t time = i + j + k;
        const Number share = time == 1 || time == 2 ? Number(1) / Number(3) : Number(1);
        for (const CellPolynomials::Product& p : cell.volumes) {
          const std::array<Number, 3>&a = area[p.first], &b = ends[k][2][p.second];
          result[p.sum][time] += share * weight_of<Number>(p) * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        }
      }
    }
  if (ends.size() == 1)
    for (auto& c : result) c[1] = c[2] = c[3] = c[0];
  return result;
}

/// Whether it is larger than `bound` everywhere, as far as halving shows: `depth` is how often the cell was
/// halved, `boxes` how many parts may still be looked at.
template <class Number>
bool is_positive(const CellPolynomials& cell, const CellDeterminant<Number>& d, const Number& bound,
                 int depth, int& boxes) {
  // Twenty of each edge; fewer are not enough where a cell is nearly inverted.
  constexpr int most_halvings = 120;
  const auto above = [&](const Number& x) {
    if constexpr (std::is_floating_point_v<Number>)
      return x > bound;
    else
      return (x - bound).sign() > 0;
  };
  if (std::ranges::all_of(d, [&](const auto& c) { return std::ranges::all_of(c, above); })) return true;
  for (const std::size_t corner : cell.corners)
    if (!above(d[corner][0]) || !above(d[corner][3])) return false;
  if (depth == most_halvings || cell.determinant_degree == 0 || --boxes < 0) return false;
  // Halve an edge (de Casteljau): towards a the coefficients are averages begun at a.
  CellDeterminant<Number> near_a = d, near_b = d;
  std::vector<std::array<Number, 4>> line;
  const Number half(0.5);
  for (const std::vector<std::size_t>& places : cell.lines[std::size_t(depth % 6)]) {
    const std::size_t n = places.size() - 1;
    line.clear();
    for (const std::size_t place : places) line.push_back(d[place]);
    for (std::size_t level = 1; level <= n; ++level) {
      for (std::size_t k = 0; k + level <= n; ++k)
        for (std::size_t t = 0; t < 4; ++t) line[k][t] = half * (line[k][t] + line[k + 1][t]);
      near_a[places[level]] = line[0];
      near_b[places[n - level]] = line[n - level];
    }
  }
  return is_positive(cell, near_a, bound, depth + 1, boxes) &&
         is_positive(cell, near_b, bound, depth + 1, boxes);
}

}  // namespace apart::verify
