#include <apart/verify/cell_polynomials.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace apart::verify {

namespace {

/// Points of a triangle of a degree: corners, edges, then the inside as a triangle of degree − 3.
std::vector<std::array<int, 3>> triangle_points(int degree) {
  if (degree == 0) return {{0, 0, 0}};
  std::vector<std::array<int, 3>> points = {{degree, 0, 0}, {0, degree, 0}, {0, 0, degree}};
  for (int edge = 0; edge < 3; ++edge)
    for (int i = 1; i < degree; ++i) {
      std::array<int, 3> p{};
      p[std::size_t(edge)] = degree - i;
      p[std::size_t((edge + 1) % 3)] = i;
      points.push_back(p);
    }
  if (degree >= 3)
    for (const auto& inner : triangle_points(degree - 3))
      points.push_back({inner[0] + 1, inner[1] + 1, inner[2] + 1});
  return points;
}

/// The order in which frames list the points of a curved cell, which is Gmsh's.
std::vector<Exponents> cell_points(int degree) {
  if (degree == 0) return {{0, 0, 0, 0}};
  std::vector<Exponents> points;
  const auto add = [&](std::initializer_list<std::pair<int, int>> shares) {
    Exponents p{};
    for (const auto& [corner, share] : shares) p[std::size_t(corner)] = share;
    points.push_back(p);
  };
  for (int c = 0; c < 4; ++c) add({{c, degree}});
  constexpr int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}};
  for (const auto& [a, b] : edges)
    for (int i = 1; i < degree; ++i) add({{a, degree - i}, {b, i}});
  constexpr int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}};
  if (degree >= 3)
    for (const auto& [a, b, c] : faces)
      for (const auto& inner : triangle_points(degree - 3))
        add({{a, inner[0] + 1}, {b, inner[1] + 1}, {c, inner[2] + 1}});
  if (degree >= 4)
    for (const Exponents& inner : cell_points(degree - 4))
      points.push_back({inner[0] + 1, inner[1] + 1, inner[2] + 1, inner[3] + 1});
  return points;
}

/// All exponents with this sum, in ascending order.
std::vector<Exponents> all_exponents(int degree) {
  std::vector<Exponents> result;
  for (int a = 0; a <= degree; ++a)
    for (int b = 0; a + b <= degree; ++b)
      for (int c = 0; a + b + c <= degree; ++c) result.push_back({a, b, c, degree - a - b - c});
  return result;
}

Exponents plus(Exponents alpha, int corner) {
  ++alpha[std::size_t(corner)];
  return alpha;
}

Exponents plus(const Exponents& a, const Exponents& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

std::size_t place_of(const Exponents& exponents, const std::vector<Exponents>& lattice) {
  return std::size_t(std::ranges::find(lattice, exponents) - lattice.begin());
}

// Edges that are halved, each in its turn.
constexpr std::size_t turns[6][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}};

std::vector<CellPolynomials::Product> products(const std::vector<Exponents>& first,
                                               const std::vector<Exponents>& second,
                                               const std::vector<Exponents>& product) {
  std::vector<CellPolynomials::Product> result;
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < second.size(); ++j) {
      const Exponents sum = plus(first[i], second[j]);
      const double numerator = multinomial(first[i]) * multinomial(second[j]), denominator = multinomial(sum);
      result.push_back({i, j, place_of(sum, product), numerator, denominator,
                        static_cast<long double>(numerator) / denominator});
    }
  return result;
}

}  // namespace

double multinomial(const Exponents& alpha) {
  double result = 1;
  int n = 0;
  for (const int a : alpha)
    for (int k = 1; k <= a; ++k) result = result * ++n / k;  // an integer after each factor
  return result;
}

CellPolynomials::CellPolynomials(int n)
    : degree(n), determinant_degree(3 * (n - 1)), lattice(cell_points(n)) {
  const std::vector<Exponents> slopes = all_exponents(n - 1), area_exponents = all_exponents(2 * (n - 1)),
                               determinants = all_exponents(determinant_degree);
  for (const Exponents& alpha : slopes)
    for (std::size_t k = 0; k < 3; ++k)
      differences[k].push_back(
          {place_of(plus(alpha, int(k) + 1), lattice), place_of(plus(alpha, 0), lattice)});
  areas = products(slopes, slopes, area_exponents);
  volumes = products(area_exponents, slopes, determinants);
  area_count = area_exponents.size();
  determinant_count = determinants.size();
  for (std::size_t corner = 0; corner < 4; ++corner) {
    Exponents gamma{};
    gamma[corner] = determinant_degree;
    corners[corner] = place_of(gamma, determinants);
  }
  for (std::size_t turn = 0; turn < 6; ++turn)
    for (Exponents gamma : determinants) {
      const auto [a, b] = turns[turn];
      if (gamma[b] != 0) continue;
      std::vector<std::size_t>& line = lines[turn].emplace_back();
      for (; gamma[a] >= 0; --gamma[a], ++gamma[b]) line.push_back(place_of(gamma, determinants));
    }
}

}  // namespace apart::verify
