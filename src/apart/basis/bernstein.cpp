#include <apart/basis/bernstein.hpp>
#include <apart/core/error.hpp>

#include <Eigen/LU>

namespace apart {

BernsteinTetrahedron::BernsteinTetrahedron(int degree)
    : degree_(degree), lattice_(tetrahedron_lattice(degree)) {
  const int n = degree + 1;
  place_.assign(std::size_t(n * n * n), -1);
  for (Index i = 0; i < size(); ++i) {
    const LatticePoint& g = lattice_[std::size_t(i)];
    place_[std::size_t((g[1] * n + g[2]) * n + g[3])] = i;
  }
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      if (a != b) halvings_[std::size_t(a)][std::size_t(b)] = halvings(a, b);
}

Index BernsteinTetrahedron::index_of(const LatticePoint& gamma) const {
  const int n = degree_ + 1;
  return place_[std::size_t((gamma[1] * n + gamma[2]) * n + gamma[3])];
}

double BernsteinTetrahedron::multinomial(const LatticePoint& gamma) {
  double result = 1;
  int factor = 0;
  for (const int count : gamma)
    for (int k = 1; k <= count; ++k) result = result * ++factor / k;  // each quotient is a whole number
  return result;
}

std::vector<BernsteinTetrahedron::Halving> BernsteinTetrahedron::halvings(int a, int b) const {
  std::vector<Halving> result;
  const auto at = [&](LatticePoint gamma, int on_b, int on_edge) {
    gamma[std::size_t(a)] = on_edge - on_b;
    gamma[std::size_t(b)] = on_b;
    return index_of(gamma);
  };
  // Along the edge the coefficients with the same share of the other two corners are those of a polynomial in
  // one variable.
  for (const LatticePoint& gamma : lattice_) {
    if (gamma[std::size_t(b)] != 0) continue;
    const int n = gamma[std::size_t(a)];
    // After a level, the entries k ≥ level hold averages over `level` halvings; the entry `level` is final
    // for the half at a, and the last of them for the half at b.
    for (int level = 1; level <= n; ++level)
      for (int k = n; k >= level; --k)
        result.push_back({at(gamma, k, n), at(gamma, k - 1, n), k == n ? at(gamma, n - level, n) : -1});
  }
  return result;
}

template <int rows>
void BernsteinTetrahedron::bisect_rows(const std::vector<Halving>& halvings, Rows& coefficients,
                                       Rows& other) const {
  using Column = Eigen::Map<Eigen::Array<double, rows, 1>>;
  const auto column = [](Rows& m, Index i) { return Column(&m(0, i), m.rows()); };
  for (const Halving& h : halvings) {
    auto here = column(coefficients, h.here);
    here = 0.5 * (column(coefficients, h.before) + here);
    if (h.other >= 0) column(other, h.other) = here;
  }
}

Eigen::MatrixXd BernsteinTetrahedron::bisect(Eigen::MatrixXd& coefficients, int a, int b) const {
  Eigen::MatrixXd other(coefficients.rows(), coefficients.cols());
  bisect(coefficients, a, b, other);
  return other;
}

void BernsteinTetrahedron::bisect(Rows coefficients, int a, int b, Rows other) const {
  other = coefficients;
  const std::vector<Halving>& halvings = halvings_[std::size_t(a)][std::size_t(b)];
  if (coefficients.rows() == 1)
    bisect_rows<1>(halvings, coefficients, other);
  else if (coefficients.rows() == 2)
    bisect_rows<2>(halvings, coefficients, other);
  else if (coefficients.rows() == 4)
    bisect_rows<4>(halvings, coefficients, other);
  else
    bisect_rows<Eigen::Dynamic>(halvings, coefficients, other);
}

template <int rows>
void BernsteinTetrahedron::unite_rows(const std::vector<Halving>& halvings, Rows& at_a, Rows& other) const {
  using Column = Eigen::Map<Eigen::Array<double, rows, 1>>;
  const auto column = [](Rows& m, Index i) { return Column(&m(0, i), m.rows()); };
  for (auto h = halvings.rbegin(); h != halvings.rend(); ++h) {
    auto here = column(at_a, h->here);
    if (h->other >= 0) {
      here += column(other, h->other);
      column(other, h->other).setZero();  // what was there before has been replaced
    }
    here *= 0.5;
    column(at_a, h->before) += here;
  }
}

void BernsteinTetrahedron::unite(Rows at_a, Rows other, int a, int b) const {
  const std::vector<Halving>& halvings = halvings_[std::size_t(a)][std::size_t(b)];
  if (at_a.rows() == 1)
    unite_rows<1>(halvings, at_a, other);
  else
    unite_rows<Eigen::Dynamic>(halvings, at_a, other);
  at_a += other;
}

Eigen::MatrixXd BernsteinTetrahedron::from_lattice_values() const {
  if (degree_ == 0) return Eigen::MatrixXd::Ones(1, 1);
  Eigen::MatrixXd values(size(), size());
  for (Index i = 0; i < size(); ++i)
    for (Index j = 0; j < size(); ++j) {
      const LatticePoint& gamma = lattice_[std::size_t(j)];
      double v = multinomial(gamma);
      for (std::size_t c = 0; c < 4; ++c)
        for (int k = 0; k < gamma[c]; ++k) v *= double(lattice_[std::size_t(i)][c]) / degree_;
      values(i, j) = v;
    }
  return values.inverse();
}

BernsteinCorners reference_corners() {
  BernsteinCorners result;
  result << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
  return result;
}

std::array<int, 2> longest_edge(const BernsteinCorners& corners) {
  std::array<int, 2> result = {0, 1};
  double longest = -1;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) {
      const double length = (corners.col(i) - corners.col(j)).squaredNorm();
      if (length > longest) longest = length, result = {i, j};
    }
  return result;
}

BernsteinPart whole_tetrahedron(const Eigen::MatrixXd& coefficients) {
  return {reference_corners(), coefficients};
}

BernsteinPart bisect_longest(const BernsteinTetrahedron& basis, BernsteinPart& part) {
  const auto [a, b] = longest_edge(part.corners);
  BernsteinPart other;
  other.coefficients = basis.bisect(part.coefficients, a, b);
  other.corners = part.corners;
  other.depth = ++part.depth;
  const Vector3 middle = 0.5 * (part.corners.col(a) + part.corners.col(b));
  part.corners.col(b) = middle;
  other.corners.col(a) = middle;
  return other;
}

}  // namespace apart
