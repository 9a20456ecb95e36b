#include <apart/verify/curved_cells.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace apart::verify {

namespace {

using Exponents = std::array<int, 4>;

constexpr int most_halvings = 30;             // of a cell
constexpr double shortest_time = 1.0 / 1024;  // share of a path

/// Multinomial coefficient n! / Π αᵢ!.
long double multinomial(const Exponents& alpha) {
  long double result = 1;
  int n = 0;
  for (const int a : alpha)
    for (int k = 1; k <= a; ++k) result = result * ++n / k;
  return result;
}

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

}  // namespace

CurvedProof::CurvedProof(int degree)
    : degree_(degree), lattice_(cell_points(degree)), determinant_degree_(3 * (degree - 1)) {
  const auto n = Eigen::Index(lattice_.size());
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> values(n, n);  // of polynomial j at point i
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) {
      const Exponents &at = lattice_[std::size_t(i)], &alpha = lattice_[std::size_t(j)];
      Real v = multinomial(alpha);
      for (std::size_t c = 0; c < 4; ++c)
        for (int k = 0; k < alpha[c]; ++k) v *= Real(at[c]) / Real(degree);
      values(i, j) = v;
    }
  from_points_ = values.fullPivLu().inverse();

  const std::vector<Exponents> slopes = all_exponents(degree - 1), areas = all_exponents(2 * (degree - 1)),
                               determinants = all_exponents(determinant_degree_);
  for (const Exponents& alpha : slopes)
    for (std::size_t k = 0; k < 3; ++k)
      differences_[k].push_back({Eigen::Index(place_of(plus(alpha, int(k) + 1), lattice_)),
                                 Eigen::Index(place_of(plus(alpha, 0), lattice_))});
  areas_ = products(slopes, slopes, areas);
  volumes_ = products(areas, slopes, determinants);
  for (std::size_t corner = 0; corner < 4; ++corner) {
    Exponents gamma{};
    gamma[corner] = determinant_degree_;
    corners_[corner] = place_of(gamma, determinants);
  }
  for (std::size_t turn = 0; turn < 6; ++turn)
    for (Exponents gamma : determinants) {
      const auto [a, b] = turns[turn];
      if (gamma[b] != 0) continue;
      std::vector<std::size_t>& line = lines_[turn].emplace_back();
      for (; gamma[a] >= 0; --gamma[a], ++gamma[b]) line.push_back(place_of(gamma, determinants));
    }
}

std::vector<CurvedProof::Product> CurvedProof::products(const std::vector<Exponents>& first,
                                                        const std::vector<Exponents>& second,
                                                        const std::vector<Exponents>& product) {
  std::vector<Product> result;
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < second.size(); ++j) {
      const Exponents sum = plus(first[i], second[j]);
      result.push_back(
          {i, j, place_of(sum, product), multinomial(first[i]) * multinomial(second[j]) / multinomial(sum)});
    }
  return result;
}

std::array<std::vector<CurvedProof::Vector>, 3> CurvedProof::slopes(const Matrix3X& points) const {
  const Eigen::Matrix<Real, 3, Eigen::Dynamic> relative =
      points.cast<Real>().colwise() - points.col(0).cast<Real>().eval();
  const Eigen::Matrix<Real, 3, Eigen::Dynamic> coefficients = relative.lazyProduct(from_points_.transpose());
  std::array<std::vector<Vector>, 3> result;
  for (std::size_t k = 0; k < 3; ++k)
    for (const auto& [end, start] : differences_[k])
      result[k].push_back(Real(degree_) * (coefficients.col(end) - coefficients.col(start)));
  return result;
}

CurvedProof::Determinant CurvedProof::determinant(const Matrix3X& from, const Matrix3X& to,
                                                  Real& error) const {
  const bool moves = from != to;
  const std::size_t ends = moves ? 2 : 1;
  std::array<std::array<std::vector<Vector>, 3>, 2> slope;  // at either end, in each direction
  slope[0] = slopes(from);
  if (moves) slope[1] = slopes(to);
  Real size = 6;
  for (std::size_t k = 0; k < 3; ++k) {
    Real largest = 0;
    for (std::size_t end = 0; end < ends; ++end)
      for (const Vector& v : slope[end][k]) largest = std::max(largest, v.cwiseAbs().maxCoeff());
    size *= largest;
  }
  // Averages of determinants of at most this size. Each of a few hundred operations is off by 2⁻⁶⁴, what the
  // inverse of the matrix is off by is some thousands of that.
  error = Real(1e-14) * size;
  // The last products are those of the last coefficients.
  Determinant result(volumes_.back().sum + 1, std::array<Real, 4>{});
  std::vector<Vector> area(areas_.back().sum + 1);
  for (std::size_t i = 0; i < ends; ++i)
    for (std::size_t j = 0; j < ends; ++j) {
      std::ranges::fill(area, Vector::Zero());
      for (const Product& p : areas_)
        area[p.sum] += p.weight * slope[i][0][p.first].cross(slope[j][1][p.second]);
      for (std::size_t k = 0; k < ends; ++k) {
        const std::size_t time = i + j + k;
        const Real share = time == 1 || time == 2 ? Real(1) / 3 : Real(1);
        for (const Product& p : volumes_)
          result[p.sum][time] += share * p.weight * area[p.first].dot(slope[k][2][p.second]);
      }
    }
  if (!moves)
    for (auto& c : result) c.fill(Real(c[0]));
  return result;
}

bool CurvedProof::is_positive(const Determinant& d, Real error, int depth) const {
  if (std::ranges::all_of(d, [&](const auto& c) { return *std::ranges::min_element(c) > error; }))
    return true;
  for (const std::size_t corner : corners_)
    if (!(d[corner][0] > error && d[corner][3] > error)) return false;
  if (depth == most_halvings || determinant_degree_ == 0) return false;
  // Halve an edge (de Casteljau): towards a the coefficients are averages begun at a.
  Determinant near_a = d, near_b = d;
  std::vector<std::array<Real, 4>> line;
  for (const std::vector<std::size_t>& places : lines_[std::size_t(depth % 6)]) {
    const std::size_t n = places.size() - 1;
    line.clear();
    for (const std::size_t place : places) line.push_back(d[place]);
    for (std::size_t level = 1; level <= n; ++level) {
      for (std::size_t k = 0; k + level <= n; ++k)
        for (std::size_t t = 0; t < 4; ++t) line[k][t] = (line[k][t] + line[k + 1][t]) / 2;
      near_a[places[level]] = line[0];
      near_b[places[n - level]] = line[n - level];
    }
  }
  return is_positive(near_a, error, depth + 1) && is_positive(near_b, error, depth + 1);
}

double CurvedProof::proven_until(const Matrix3X& from, const Matrix3X& to) const {
  Real error;
  const Determinant whole = determinant(from, to, error);
  if (is_positive(whole, error, 0)) return 1;
  // Piece by piece, from the start on.
  double begin = 0, length = 1;
  while (begin < 1) {
    const double end = std::min(1.0, begin + length);
    const Matrix3X x = from + begin * (to - from), y = end < 1 ? Matrix3X(from + end * (to - from)) : to;
    if (is_positive(determinant(x, y, error), error, 0)) {
      begin = end;
    } else {
      length /= 2;
      if (length < shortest_time) return begin;
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
