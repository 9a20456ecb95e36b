#include <apart/basis/jacobian_bound.hpp>
#include <apart/core/error.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

constexpr int most_bisections = JacobianBound::most_bisections;

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

/// How far coordinates are off by rounding at the start and at the end of a path: those of states on it,
/// q + α d, by three roundings, of which two are those of α d; those of points that follow up to 20 nodes by
/// one for each, relative to the magnitudes of their weights, which add up to less than 2.7 for points of a
/// lattice of a higher degree.
std::array<double, 2> largest_shifts(const JacobianBound::Nodes& from, const JacobianBound::Nodes& to) {
  const double start = from.cwiseAbs().maxCoeff(), end = to.cwiseAbs().maxCoeff();
  return {96 * unit_roundoff * start, 96 * unit_roundoff * std::max(start, end)};
}

}  // namespace

JacobianBound::JacobianBound(int degree)
    : degree_(degree), slope_(degree - 1), area_(2 * (degree - 1)), determinant_(3 * (degree - 1)) {
  // The derivative is a polynomial of degree n − 1: its values at the lattice of that degree decide it.
  const LagrangeTetrahedron shape(degree);
  const Eigen::MatrixXd fit = slope_.from_lattice_values();
  std::array<Eigen::MatrixXd, 3> values, fitted;
  for (auto& v : values) v.resize(slope_.size(), shape.node_count());
  for (Index i = 0; i < slope_.size(); ++i) {
    const LatticePoint& p = slope_.lattice()[std::size_t(i)];
    const Vector3 xi =
        degree == 1 ? Vector3::Zero().eval() : Vector3(Vector3(p[1], p[2], p[3]) / (degree - 1));
    const Matrix3X gradients = shape.gradients(xi);
    for (std::size_t k = 0; k < 3; ++k) values[k].row(i) = gradients.row(Index(k));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    fitted[k] = fit * values[k];
    derivative_weight_ = std::max(derivative_weight_, fitted[k].cwiseAbs().rowwise().sum().maxCoeff());
  }
  inverse_slope_multinomials_.resize(slope_.size());
  for (Index i = 0; i < slope_.size(); ++i) {
    Matrix3X& rows = derivative_.emplace_back(3, shape.node_count());
    const double c = BernsteinTetrahedron::multinomial(slope_.lattice()[std::size_t(i)]);
    inverse_slope_multinomials_[i] = 1 / c;
    for (std::size_t k = 0; k < 3; ++k) rows.row(Index(k)) = c * fitted[k].row(i);
  }
  area_sums_ = sums(slope_, slope_, area_);
  volume_sums_ = sums(slope_, area_, determinant_);
  inverse_multinomials_.resize(determinant_.size());
  for (Index i = 0; i < determinant_.size(); ++i)
    inverse_multinomials_[i] = 1 / BernsteinTetrahedron::multinomial(determinant_.lattice()[std::size_t(i)]);
}

std::vector<Index> JacobianBound::sums(const BernsteinTetrahedron& first, const BernsteinTetrahedron& second,
                                       const BernsteinTetrahedron& sum) {
  std::vector<Index> result;
  for (const LatticePoint& a : first.lattice())
    for (const LatticePoint& b : second.lattice())
      result.push_back(sum.index_of({a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]}));
  return result;
}

JacobianBound::Slopes JacobianBound::slopes(const Nodes& from, const Nodes& to) const {
  Eigen::Matrix<double, 8, Eigen::Dynamic, Eigen::ColMajor, 8, most_nodes> x(8, node_count());
  x.setZero();
  // Differences first: far from the origin digits are lost.
  for (Index a = 0; a < node_count(); ++a) {
    x.col(a).head<3>() = from.col(a) - from.col(0);
    x.col(a).segment<3>(4) = to.col(a) - to.col(0);
  }
  Slopes result(8, 3 * slope_.size());
  for (Index m = 0; m < slope_.size(); ++m) {
    const Matrix3X& derivative = derivative_[std::size_t(m)];
    using Rows = Eigen::Array<double, 8, 1>;
    Rows sum[3] = {Rows::Zero(), Rows::Zero(), Rows::Zero()};
    for (Index a = 0; a < node_count(); ++a)
      for (Index k = 0; k < 3; ++k) sum[k] += derivative(k, a) * x.col(a).array();
    for (Index k = 0; k < 3; ++k) result.col(3 * m + k) = sum[k];
  }
  return result;
}

JacobianBound::TimeCoefficients JacobianBound::coefficients_in_time(const Slopes& slopes) const {
  // All coefficients are multiplied by their multinomials until the end, so that products have no weights.
  // Lanes are powers of time: a vector that moves from v₀ to v₁ is (1 − t) v₀ + t v₁, a normal n₀, n₁, n₂ of
  // (1 − t)², (1 − t) t, t². Those of a product are sums of those of a factor, in place and moved up by one.
  using Lanes = Eigen::Array4d;
  struct Moving {
    std::array<Lanes, 3> still, moved;  ///< of each coordinate; moved up by one lane
  };
  std::array<Moving, most_slopes> second;
  for (Index m = 0; m < slope_.size(); ++m)
    for (int d = 0; d < 3; ++d) {
      const double b0 = slopes(d, 3 * m + 1), b1 = slopes(4 + d, 3 * m + 1);
      second[std::size_t(m)].still[std::size_t(d)] = Lanes(b0, b1, 0, 0);
      second[std::size_t(m)].moved[std::size_t(d)] = Lanes(0, b0, b1, 0);
    }
  std::array<Moving, most_areas> normal;
  for (Index m = 0; m < area_.size(); ++m) normal[std::size_t(m)].still.fill(Lanes::Zero());
  for (Index i = 0; i < slope_.size(); ++i) {
    const auto a = slopes.col(3 * i);
    const Index* sum = &area_sums_[std::size_t(i * slope_.size())];
    for (Index j = 0; j < slope_.size(); ++j) {
      const auto& [b, moved] = second[std::size_t(j)];
      auto& n = normal[std::size_t(sum[j])].still;
      n[0] += a[1] * b[2] - a[2] * b[1] + a[5] * moved[2] - a[6] * moved[1];
      n[1] += a[2] * b[0] - a[0] * b[2] + a[6] * moved[0] - a[4] * moved[2];
      n[2] += a[0] * b[1] - a[1] * b[0] + a[4] * moved[1] - a[5] * moved[0];
    }
  }
  for (Index m = 0; m < area_.size(); ++m)
    for (std::size_t d = 0; d < 3; ++d) {
      const Lanes& n = normal[std::size_t(m)].still[d];
      normal[std::size_t(m)].moved[d] = Lanes(0, n[0], n[1], n[2]);
    }
  TimeCoefficients result = TimeCoefficients::Zero(4, determinant_.size());
  for (Index i = 0; i < slope_.size(); ++i) {
    const auto c = slopes.col(3 * i + 2);
    const Index* sum = &volume_sums_[std::size_t(i * area_.size())];
    for (Index j = 0; j < area_.size(); ++j) {
      const auto& [n, moved] = normal[std::size_t(j)];
      result.col(sum[j]).array() +=
          (c[0] * n[0] + c[4] * moved[0]) + (c[1] * n[1] + c[5] * moved[1]) + (c[2] * n[2] + c[6] * moved[2]);
    }
  }
  for (Index m = 0; m < determinant_.size(); ++m)
    result.col(m).array() *= inverse_multinomials_[m] * Lanes(1, 1.0 / 3, 1.0 / 3, 1);
  return result;
}

Vector4 JacobianBound::rounding_errors(const Slopes& slopes, const Nodes& from, const Nodes& to,
                                       std::array<double, 2> shifts) const {
  // Every coefficient is an average of determinants of derivatives: number k in time of those with k factors
  // from the second state and 3 − k from the first. A factor is at most s, the largest component of a
  // coefficient of the derivative in its state, so that a determinant is at most 6 times the product of the
  // three s. Relative to that, products and averages are off by one rounding for each summand and four for
  // their weights; what is bisected adds one for each level and degree.
  //
  // A factor is a sum over the nodes, of terms that may be far larger than itself: it is off by one rounding
  // for each node and four for its weight relative to w D, with D the largest coordinate difference in its
  // state and w = derivative_weight_. Weights are themselves the results of an inversion, good to 1e-13 of
  // the largest. Coordinates that are off change differences by twice that.
  struct Factor {
    double size, error;
  };
  const auto factor = [&](const Nodes& x, Index first_row, double shift) {
    double distance = 0, size = 0;
    for (Index a = 1; a < node_count(); ++a)
      distance = std::max(distance, (x.col(a) - x.col(0)).cwiseAbs().maxCoeff());
    for (Index i = 0; i < slope_.size(); ++i)
      size = std::max(
          size, inverse_slope_multinomials_[i] * slopes.block<3, 3>(first_row, 3 * i).cwiseAbs().maxCoeff());
    const double relative = double(node_count() + 7) * unit_roundoff + (degree_ > 1 ? 1e-13 : 0);
    const double error = derivative_weight_ * (distance * relative + 2 * shift);
    return Factor{size + error, error};
  };
  const Factor factors[2] = {factor(from, 0, shifts[0]), factor(to, 4, shifts[1])};
  const double operations = 2 * double(slope_.size()) + double(most_bisections * determinant_.degree()) + 64;
  Vector4 result;
  for (int k = 0; k < 4; ++k) {
    const auto state = [&](int i) { return factors[i < k]; };  // of factor i
    const Factor a = state(0), b = state(1), c = state(2);
    result[k] = 6 * (a.size * b.size * c.size * operations * unit_roundoff + a.error * b.size * c.size +
                     a.size * b.error * c.size + a.size * b.size * c.error);
  }
  return result;
}

VectorX JacobianBound::coefficients(const Nodes& nodes) const {
  // As coefficients_in_time, but lanes are coordinates: x, y, z, and zero.
  using Lanes = Eigen::Array4d;
  const Slopes slopes = this->slopes(nodes, nodes);
  const auto turned = [](const auto& v) { return Lanes(v[1], v[2], v[0], 0); };
  std::array<std::array<Lanes, 2>, most_slopes> second;  // in cyclic orders, for vector products
  for (Index m = 0; m < slope_.size(); ++m) {
    const Lanes once = turned(slopes.col(3 * m + 1));
    second[std::size_t(m)] = {once, turned(once)};
  }
  std::array<Lanes, most_areas> normal;
  std::fill_n(normal.begin(), area_.size(), Lanes::Zero());
  for (Index i = 0; i < slope_.size(); ++i) {
    const Lanes once = turned(slopes.col(3 * i)), twice = turned(once);
    const Index* sum = &area_sums_[std::size_t(i * slope_.size())];
    for (Index j = 0; j < slope_.size(); ++j)
      normal[std::size_t(sum[j])] += once * second[std::size_t(j)][1] - twice * second[std::size_t(j)][0];
  }
  std::array<Lanes, most_determinants> products;
  std::fill_n(products.begin(), determinant_.size(), Lanes::Zero());
  for (Index i = 0; i < slope_.size(); ++i) {
    const Lanes c = slopes.col(3 * i + 2).head<4>();
    const Index* sum = &volume_sums_[std::size_t(i * area_.size())];
    for (Index j = 0; j < area_.size(); ++j) products[std::size_t(sum[j])] += c * normal[std::size_t(j)];
  }
  VectorX result(determinant_.size());
  for (Index m = 0; m < result.size(); ++m)
    result[m] = products[std::size_t(m)].sum() * inverse_multinomials_[m];
  return result;
}

JacobianBound::Smallest JacobianBound::smallest(const Nodes& nodes, double accuracy) const {
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
  result.bound -= rounding_errors(slopes(nodes, nodes), nodes, nodes)[0];
  return result;
}

bool JacobianBound::is_positive(const VectorX& coefficients) const {
  return everywhere_above(determinant_, coefficients.transpose(), 0);
}

bool JacobianBound::is_positive(const Nodes& from, const Nodes& to) const {
  if (!from.allFinite() || !to.allFinite()) return false;
  const Slopes slopes = this->slopes(from, to);
  const Vector4 errors = rounding_errors(slopes, from, to);
  // In halves of the time where the whole is not decided.
  const TimeCoefficients c = coefficients_in_time(slopes);
  std::vector<std::array<double, 2>> open = {{0.0, 1.0}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const TimeCoefficients part = restrict_in_time(c, begin, end);
    const Vector4 error = restrict_in_time(errors, begin, end);
    if (everywhere_above(determinant_, part, error.maxCoeff())) continue;
    // A state that is not positive by itself stays so, however short the time around it.
    for (const Index row : {0, 3})
      if (!everywhere_above(determinant_, part.row(row), error[row])) return false;
    if (end - begin < 1.0 / 4096) return false;
    const double middle = 0.5 * (begin + end);
    open.push_back({begin, middle});
    open.push_back({middle, end});
  }
  return true;
}

double JacobianBound::feasible_step(const Nodes& from, const Nodes& to, double shrink) const {
  if (!from.allFinite() || !to.allFinite()) return 0;
  const Slopes slopes = this->slopes(from, to);
  const TimeCoefficients c = coefficients_in_time(slopes);
  // On a path that leads far they are much larger towards its end than at its start.
  const Vector4 errors = rounding_errors(slopes, from, to, largest_shifts(from, to));
  // f(ξ, t) = det(ξ, t) − (1 − shrink) det(ξ, 0) must stay above the rounding. Advance by intervals of time,
  // doubled after a success and halved after a failure, until they are negligible.
  const auto floor = ((1 - shrink) * c.row(0)).eval();
  const auto free = [&](double begin, double end) {
    return everywhere_above(determinant_, (restrict_in_time(c, begin, end).rowwise() - floor).eval(),
                            restrict_in_time(errors, begin, end).maxCoeff());
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

JacobianBound::Extent JacobianBound::extent(const Nodes& nodes) const {
  Extent result;
  result.slopes = larger(nodes, nodes).slopes;
  result.distance = (nodes.colwise() - nodes.col(0)).cwiseAbs().maxCoeff();
  result.coordinate = nodes.cwiseAbs().maxCoeff();
  // Each of the three factors of an error is at most twice as large.
  result.rounding =
      8 * rounding_errors(slopes(nodes, nodes), nodes, nodes, largest_shifts(nodes, nodes)).maxCoeff();
  return result;
}

JacobianBound::Displacement JacobianBound::larger(const Nodes& one, const Nodes& other) const {
  if (!one.allFinite() || !other.allFinite()) return {infinity, Vector3::Constant(infinity)};
  const Slopes both = slopes(one, other);
  Vector3 squared = Vector3::Zero();
  for (Index i = 0; i < slope_.size(); ++i) {
    const double scale = inverse_slope_multinomials_[i] * inverse_slope_multinomials_[i];
    for (Index k = 0; k < 3; ++k) {
      const auto column = both.col(3 * i + k);
      squared[k] = std::max(
          {squared[k], scale * column.head<3>().squaredNorm(), scale * column.segment<3>(4).squaredNorm()});
    }
  }
  return {std::max(one.col(0).cwiseAbs().maxCoeff(), other.col(0).cwiseAbs().maxCoeff()),
          squared.cwiseSqrt()};
}

double JacobianBound::largest_change(const Extent& extent, const Displacement& displacement) {
  // Along straight lines in ξ from the first node a displacement changes by no more than its largest slope.
  // So these keep sizes of components, differences and coordinates within twice what they are there: the
  // largest component of a vector is at least its norm / √3.
  const double largest = displacement.slopes.maxCoeff();
  if (!(largest <= 0.5 * extent.slopes.maxCoeff() && largest <= extent.distance &&
        displacement.of_first + largest <= extent.coordinate))
    return infinity;
  // A coefficient is an average of determinants with one factor for each ξ_k; each differs by at most this
  // [Hadamard]. A few roundings of it are far less than a millionth.
  const double change = (extent.slopes + displacement.slopes).prod() - extent.slopes.prod();
  // Rounding: of the coefficients at the state, of those that are asked about, of what these are compared
  // with, and the bound that they must exceed.
  return (1 + 1e-6) * change + 4 * extent.rounding;
}

}  // namespace apart
