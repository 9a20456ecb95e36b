#include <apart/basis/jacobian_bound.hpp>
#include <apart/core/error.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

constexpr int most_bisections = 24;  // about four rounds of all edges: to cells of a sixteenth of the size

/// Whether a polynomial in space and time is above `error` everywhere. The first and the last row belong to
/// the ends of the time: there a corner that is not refutes it.
template <class Coefficients>
bool everywhere_above(const BernsteinTetrahedron& basis, const Coefficients& coefficients, double error) {
  if (coefficients.minCoeff() > error) return true;
  std::vector<BernsteinPart> open = {whole_tetrahedron(coefficients)};
  const Index last = Index(open[0].coefficients.rows()) - 1;
  while (!open.empty()) {
    BernsteinPart cell = std::move(open.back());
    open.pop_back();
    if (cell.coefficients.minCoeff() > error) continue;
    for (Index c = 0; c < 4; ++c)  // the corners come first in every lattice
      if (basis.degree() > 0 && !(cell.coefficients(0, c) > error && cell.coefficients(last, c) > error))
        return false;
    if (cell.depth >= most_bisections || basis.degree() == 0) return false;
    open.push_back(bisect_longest(basis, cell));
    open.push_back(std::move(cell));
  }
  return true;
}

/// Cubic polynomials in Bernstein form on [0, 1], one column each: their form on [begin, end].
template <class Coefficients>
Coefficients restrict_in_time(const Coefficients& coefficients, double begin, double end) {
  if (begin == 0 && end == 1) return coefficients;
  // Blossoms: coefficient k of the new form has k arguments `end` and 3 − k arguments `begin`.
  Eigen::Matrix4d blossom;
  for (int k = 0; k < 4; ++k) {
    Vector4 polynomial(1, 0, 0, 0);  // weights of the coefficients, built up argument by argument
    for (int argument = 0; argument < 3; ++argument) {
      const double t = argument < k ? end : begin;
      for (int i = argument + 1; i > 0; --i) polynomial[i] = (1 - t) * polynomial[i] + t * polynomial[i - 1];
      polynomial[0] *= 1 - t;
    }
    blossom.row(k) = polynomial.transpose();
  }
  return blossom.lazyProduct(coefficients);
}

}  // namespace

JacobianBound::JacobianBound(int degree)
    : degree_(degree), slope_(degree - 1), area_(2 * (degree - 1)), determinant_(3 * (degree - 1)) {
  // The derivative is a polynomial of degree n − 1: its values at the lattice of that degree decide it.
  const LagrangeTetrahedron shape(degree);
  const Eigen::MatrixXd fit = slope_.from_lattice_values();
  std::array<Eigen::MatrixXd, 3> values;
  for (auto& v : values) v.resize(slope_.size(), shape.node_count());
  for (Index i = 0; i < slope_.size(); ++i) {
    const LatticePoint& p = slope_.lattice()[std::size_t(i)];
    const Vector3 xi =
        degree == 1 ? Vector3::Zero().eval() : Vector3(Vector3(p[1], p[2], p[3]) / (degree - 1));
    const Matrix3X gradients = shape.gradients(xi);
    for (std::size_t k = 0; k < 3; ++k) values[k].row(i) = gradients.row(Index(k));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    derivative_[k] = fit * values[k];
    derivative_weight_ = std::max(derivative_weight_, derivative_[k].cwiseAbs().rowwise().sum().maxCoeff());
  }
  areas_ = products(slope_, slope_, area_);
  volumes_ = products(slope_, area_, determinant_);
}

std::vector<JacobianBound::Product> JacobianBound::products(const BernsteinTetrahedron& first,
                                                            const BernsteinTetrahedron& second,
                                                            const BernsteinTetrahedron& product) {
  std::vector<Product> result;
  for (Index i = 0; i < first.size(); ++i)
    for (Index j = 0; j < second.size(); ++j) {
      const LatticePoint &a = first.lattice()[std::size_t(i)], &b = second.lattice()[std::size_t(j)];
      const LatticePoint sum = {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
      const auto c = BernsteinTetrahedron::multinomial;
      result.push_back({i, j, product.index_of(sum), c(a) * c(b) / c(sum)});
    }
  return result;
}

JacobianBound::TimeCoefficients JacobianBound::coefficients_in_time(const Matrix3X& from,
                                                                    const Matrix3X& to) const {
  // A product of three factors, each linear in time: its coefficient of order r is the mean of the products
  // in which r of the factors are taken at the end. The four ways to choose the ends (i, j) of the first two
  // factors are summed side by side.
  using Ends = Eigen::Array4d;  // of (i, j) = (0, 0), (0, 1), (1, 0), (1, 1)
  using Columns = std::array<std::array<Matrix3X, 2>, 3>;
  Columns column;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t end = 0; end < 2; ++end) {
      const Matrix3X& x = end == 0 ? from : to;
      // Differences first: far from the origin digits are lost.
      column[k][end] = (x.colwise() - x.col(0).eval()) * derivative_[k].transpose();
    }
  std::array<std::array<Ends, 3>, most_slopes> first, second;
  for (Index m = 0; m < slope_.size(); ++m)
    for (int d = 0; d < 3; ++d) {
      const double a0 = column[0][0](d, m), a1 = column[0][1](d, m);
      const double b0 = column[1][0](d, m), b1 = column[1][1](d, m);
      first[std::size_t(m)][std::size_t(d)] = Ends(a0, a0, a1, a1);
      second[std::size_t(m)][std::size_t(d)] = Ends(b0, b1, b0, b1);
    }
  std::array<std::array<Ends, 3>, most_areas> normal;
  for (Index m = 0; m < area_.size(); ++m) normal[std::size_t(m)].fill(Ends::Zero());
  for (const Product& p : areas_) {
    const auto &a = first[std::size_t(p.first)], &b = second[std::size_t(p.second)];
    auto& n = normal[std::size_t(p.sum)];
    n[0] += p.weight * (a[1] * b[2] - a[2] * b[1]);
    n[1] += p.weight * (a[2] * b[0] - a[0] * b[2]);
    n[2] += p.weight * (a[0] * b[1] - a[1] * b[0]);
  }
  std::array<std::array<Ends, 2>, most_determinants> sums;  // with the third factor at either end
  for (Index m = 0; m < determinant_.size(); ++m) sums[std::size_t(m)].fill(Ends::Zero());
  for (const Product& p : volumes_) {
    const auto& n = normal[std::size_t(p.second)];
    for (std::size_t end = 0; end < 2; ++end) {
      const auto c = column[2][end].col(p.first);
      sums[std::size_t(p.sum)][end] += p.weight * (c[0] * n[0] + c[1] * n[1] + c[2] * n[2]);
    }
  }
  TimeCoefficients result(4, determinant_.size());
  for (Index m = 0; m < determinant_.size(); ++m) {
    const auto& [start, end] = sums[std::size_t(m)];
    result.col(m) << start[0], (start[1] + start[2] + end[0]) / 3, (start[3] + end[1] + end[2]) / 3, end[3];
  }
  return result;
}

double JacobianBound::rounding_error(const Matrix3X& from, const Matrix3X& to) const {
  // Every coefficient is an average of determinants, whose factors are sums over the nodes. A factor is at
  // most w D, with D the largest coordinate difference and w = derivative_weight_, in each component, so that
  // a determinant is at most 6 (w D)³. Relative to that each of its operations is off by one rounding: a
  // factor by one for each node and three for its weight, products and averages by one for each summand; what
  // is bisected adds one for each level and degree. Weights are themselves the results of an inversion, good
  // to 1e-13 of the largest; the last summand allows for that.
  double size = 0;
  for (const Matrix3X* x : {&from, &to})
    size = std::max(size, (x->colwise() - x->col(0).eval()).cwiseAbs().maxCoeff());
  const double factor = derivative_weight_ * size;
  const double operations = 3.0 * double(node_count() + 6) + double(areas_.size()) / double(area_.size()) +
                            double(slope_.size()) + double(most_bisections * determinant_.degree()) + 64;
  return 6 * factor * factor * factor * (operations * unit_roundoff + (degree_ > 1 ? 1e-13 : 0));
}

VectorX JacobianBound::coefficients(const Matrix3X& nodes) const {
  return coefficients_in_time(nodes, nodes).row(0).transpose();
}

JacobianBound::Smallest JacobianBound::smallest(const Matrix3X& nodes, double accuracy) const {
  const VectorX c = coefficients(nodes);
  std::vector<BernsteinPart> open = {whole_tetrahedron(c.transpose())};
  Smallest result{infinity, infinity, Vector3::Zero()};
  const double close = accuracy * c.cwiseAbs().maxCoeff();
  const auto higher = [](const BernsteinPart& a, const BernsteinPart& b) {
    return a.coefficients.minCoeff() > b.coefficients.minCoeff();
  };
  const auto look = [&](const BernsteinPart& cell) {
    for (Index k = 0; k < std::min<Index>(4, determinant_.size()); ++k)
      if (cell.coefficients(0, k) < result.value)
        result.value = cell.coefficients(0, k), result.xi = cell.corners.col(k);
  };
  look(open[0]);
  // The cell with the lowest bound is bisected first.
  for (;;) {
    result.bound = open.front().coefficients.minCoeff();
    const bool decided =
        result.bound >= result.value - close || (result.bound > 0 && 2 * result.bound >= result.value);
    if (decided || open.front().depth >= most_bisections || determinant_.degree() == 0) break;
    std::pop_heap(open.begin(), open.end(), higher);
    BernsteinPart cell = std::move(open.back());
    open.pop_back();
    BernsteinPart other = bisect_longest(determinant_, cell);
    for (BernsteinPart* half : {&cell, &other}) {
      look(*half);
      open.push_back(std::move(*half));
      std::push_heap(open.begin(), open.end(), higher);
    }
  }
  result.bound -= rounding_error(nodes, nodes);
  return result;
}

bool JacobianBound::is_positive(const Matrix3X& from, const Matrix3X& to) const {
  if (!from.allFinite() || !to.allFinite()) return false;
  const double error = rounding_error(from, to);
  // In halves of the time where the whole is not decided.
  const TimeCoefficients c = coefficients_in_time(from, to);
  std::vector<std::array<double, 2>> open = {{0.0, 1.0}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const TimeCoefficients part = restrict_in_time(c, begin, end);
    if (everywhere_above(determinant_, part, error)) continue;
    // A state that is not positive by itself stays so, however short the time around it.
    for (const Index row : {0, 3})
      if (!everywhere_above(determinant_, part.row(row), error)) return false;
    if (end - begin < 1.0 / 4096) return false;
    const double middle = 0.5 * (begin + end);
    open.push_back({begin, middle});
    open.push_back({middle, end});
  }
  return true;
}

double JacobianBound::feasible_step(const Matrix3X& from, const Matrix3X& to, double shrink) const {
  if (!from.allFinite() || !to.allFinite()) return 0;
  const TimeCoefficients c = coefficients_in_time(from, to);
  const double error = rounding_error(from, to);
  // f(ξ, t) = det(ξ, t) − (1 − shrink) det(ξ, 0) must stay above the rounding. Advance by intervals of time,
  // doubled after a success and halved after a failure, until they are negligible.
  const auto floor = ((1 - shrink) * c.row(0)).eval();
  const auto free = [&](double begin, double end) {
    return everywhere_above(determinant_, (restrict_in_time(c, begin, end).rowwise() - floor).eval(), error);
  };
  double t = 0, h = 1;
  while (t < 1) {
    if (free(t, std::min(1.0, t + h))) {
      t = std::min(1.0, t + h);
      h *= 2;
    } else {
      h /= 2;
      if (h <= 1e-3 * t || h < 1e-9) break;
    }
  }
  return t;
}

}  // namespace apart
