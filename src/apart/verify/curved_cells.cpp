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

Exponents plus(Exponents alpha, int corner) {
  ++alpha[std::size_t(corner)];
  return alpha;
}

Exponents plus(const Exponents& a, const Exponents& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

}  // namespace

CurvedProof::CurvedProof(int degree) : degree_(degree), lattice_(cell_points(degree)) {
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
}

CurvedProof::Polynomial<CurvedProof::Vector> CurvedProof::slope(const Matrix3X& points, int direction) const {
  Polynomial<Vector> coefficient;
  const Vector origin = points.col(0).cast<Real>();
  for (std::size_t j = 0; j < lattice_.size(); ++j) {
    Vector c = Vector::Zero();
    for (std::size_t i = 0; i < lattice_.size(); ++i)
      c += from_points_(Eigen::Index(j), Eigen::Index(i)) *
           (points.col(Eigen::Index(i)).cast<Real>() - origin);
    coefficient[lattice_[j]] = c;
  }
  Polynomial<Vector> result;
  for (const Exponents& alpha : cell_points(degree_ - 1))
    result[alpha] = Real(degree_) * (coefficient.at(plus(alpha, direction)) - coefficient.at(plus(alpha, 0)));
  return result;
}

CurvedProof::Determinant CurvedProof::determinant(const Matrix3X& from, const Matrix3X& to,
                                                  Real& error) const {
  std::array<std::array<Polynomial<Vector>, 2>, 3> slopes;
  Real size = 6;
  for (int k = 0; k < 3; ++k) {
    Real largest = 0;
    for (int end = 0; end < 2; ++end) {
      slopes[std::size_t(k)][std::size_t(end)] = slope(end == 0 ? from : to, k + 1);
      for (const auto& [alpha, v] : slopes[std::size_t(k)][std::size_t(end)])
        largest = std::max(largest, v.cwiseAbs().maxCoeff());
    }
    size *= largest;
  }
  // Averages of determinants of at most this size. Each of a few hundred operations is off by 2⁻⁶⁴, what the
  // inverse of the matrix is off by is some thousands of that.
  error = Real(1e-14) * size;
  Determinant result;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      Polynomial<Vector> area;
      for (const auto& [alpha, a] : slopes[0][i])
        for (const auto& [beta, b] : slopes[1][j]) {
          const Exponents sum = plus(alpha, beta);
          const Real weight = multinomial(alpha) * multinomial(beta) / multinomial(sum);
          area.try_emplace(sum, Vector::Zero()).first->second += weight * a.cross(b);
        }
      for (std::size_t k = 0; k < 2; ++k) {
        const std::size_t time = i + j + k;
        const Real share = time == 1 || time == 2 ? Real(1) / 3 : Real(1);
        for (const auto& [alpha, a] : area)
          for (const auto& [beta, b] : slopes[2][k]) {
            const Exponents sum = plus(alpha, beta);
            const Real weight = multinomial(alpha) * multinomial(beta) / multinomial(sum);
            result.try_emplace(sum, std::array<Real, 4>{}).first->second[time] += share * weight * a.dot(b);
          }
      }
    }
  return result;
}

bool CurvedProof::is_positive(Determinant d, Real error, int depth) {
  bool all = true;
  for (const auto& [gamma, c] : d) all = all && *std::min_element(c.begin(), c.end()) > error;
  if (all) return true;
  const int degree = d.begin()->first[0] + d.begin()->first[1] + d.begin()->first[2] + d.begin()->first[3];
  for (std::size_t corner = 0; corner < 4; ++corner) {
    Exponents gamma{};
    gamma[corner] = degree;
    const auto& c = d.at(gamma);
    if (!(c[0] > error && c[3] > error)) return false;
  }
  if (depth == most_halvings || degree == 0) return false;
  // Halve an edge, each in its turn (de Casteljau): towards a the coefficients are averages begun at a.
  constexpr std::size_t turns[6][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}};
  const auto [a, b] = turns[depth % 6];
  Determinant near_a = d, near_b = d;
  for (const auto& [gamma, unused] : d) {
    if (gamma[b] != 0) continue;
    const int n = gamma[a];
    const auto at = [&](int on_b) {
      Exponents e = gamma;
      e[a] = n - on_b;
      e[b] = on_b;
      return e;
    };
    std::vector<std::array<Real, 4>> line;
    for (int k = 0; k <= n; ++k) line.push_back(d.at(at(k)));
    for (int level = 1; level <= n; ++level) {
      for (int k = 0; k + level <= n; ++k)
        for (std::size_t t = 0; t < 4; ++t)
          line[std::size_t(k)][t] = (line[std::size_t(k)][t] + line[std::size_t(k) + 1][t]) / 2;
      near_a[at(level)] = line[0];
      near_b[at(n - level)] = line[std::size_t(n - level)];
    }
  }
  return is_positive(std::move(near_a), error, depth + 1) && is_positive(std::move(near_b), error, depth + 1);
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
  for (const auto& [gamma, c] : determinant(points, points, error)) smallest = std::min(smallest, c[0]);
  return double(smallest);
}

}  // namespace apart::verify
