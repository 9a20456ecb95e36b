#include <apart/remesh/field_transfer.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/remesh/planar_transfer.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <map>
#include <set>

namespace apart {

namespace {

using CornerPlaces = std::array<Vector3, 4>;

double volume6(const CornerPlaces& c) {
  return signed_volume6(c[0], c[1], c[2], c[3]);
}

/// Barycentric coordinates as an affine function of the place: λ(x) = (1, 0, 0, 0) + G (x − c₀).
struct Barycentric {
  explicit Barycentric(const CornerPlaces& c) : origin(c[0]) {
    Matrix3 d;
    for (int k = 0; k < 3; ++k) d.col(k) = c[std::size_t(k + 1)] - c[0];
    gradient.bottomRows<3>() = d.inverse();
    gradient.row(0) = -gradient.bottomRows<3>().colwise().sum();
  }
  Vector4 operator()(const Vector3& x) const { return Vector4(1, 0, 0, 0) + gradient * (x - origin); }
  Vector3 origin;
  Eigen::Matrix<double, 4, 3> gradient;
};

/// The part of a tetrahedron where an affine function, given at its corners, is positive, as tetrahedra.
void cut(const CornerPlaces& c, const std::array<double, 4>& f, std::vector<CornerPlaces>& parts) {
  std::array<int, 4> in{}, out{};
  int n = 0, m = 0;
  for (int k = 0; k < 4; ++k) (f[std::size_t(k)] > 0 ? in[std::size_t(n++)] : out[std::size_t(m++)]) = k;
  const auto corner = [&](int k) { return c[std::size_t(k)]; };
  const auto crossing = [&](int i, int o) {
    const double a = f[std::size_t(i)], b = f[std::size_t(o)];
    return Vector3(corner(i) + a / (a - b) * (corner(o) - corner(i)));
  };
  // A prism of triangles (a, b, c) and (d, e, f), the latter opposite, is three tetrahedra.
  const auto add_prism = [&](const Vector3& p, const Vector3& q, const Vector3& r, const Vector3& s,
                             const Vector3& t, const Vector3& u) {
    parts.push_back({p, q, r, s});
    parts.push_back({q, r, s, t});
    parts.push_back({r, s, t, u});
  };
  if (n == 4) parts.push_back(c);
  if (n == 3)
    add_prism(corner(in[0]), corner(in[1]), corner(in[2]), crossing(in[0], out[0]), crossing(in[1], out[0]),
              crossing(in[2], out[0]));
  if (n == 2)
    add_prism(corner(in[0]), crossing(in[0], out[0]), crossing(in[0], out[1]), corner(in[1]),
              crossing(in[1], out[0]), crossing(in[1], out[1]));
  if (n == 1)
    parts.push_back(
        {corner(in[0]), crossing(in[0], out[0]), crossing(in[0], out[1]), crossing(in[0], out[2])});
}

/// The intersection of two tetrahedra, as tetrahedra of either orientation.
std::vector<CornerPlaces> intersection(const CornerPlaces& a, const Barycentric& b) {
  std::vector<CornerPlaces> parts = {a}, next;
  for (int k = 0; k < 4 && !parts.empty(); ++k) {
    next.clear();
    for (const CornerPlaces& part : parts) {
      std::array<double, 4> f;
      for (std::size_t i = 0; i < 4; ++i) f[i] = b(part[i])[k];
      cut(part, f, next);
    }
    parts.swap(next);
  }
  return parts;
}

bool overlap(const Aabb& a, const Aabb& b) {
  return (a.lower.array() <= b.upper.array()).all() && (b.lower.array() <= a.upper.array()).all();
}

struct RestCell {
  std::array<Index, 4> points;  ///< of its own mesh
  CornerPlaces corners;
  Aabb box;
  double density;
};

/// Cells of a body whose points, in the numbers of the mesh before, are not those of a cell in `others`.
using PointLists = std::set<std::array<Index, 4>>;
template <class Number>
PointLists cell_points(const Body& body, const Number& number) {
  PointLists lists;
  for (Index c = 0; c < body.elastic->nodes.cols(); ++c) {
    std::array<Index, 4> list;
    for (int k = 0; k < 4; ++k) list[std::size_t(k)] = number(body.elastic->nodes(k, c));
    std::ranges::sort(list);
    lists.insert(list);
  }
  return lists;
}
template <class Number>
std::vector<RestCell> cells_not_in(const PointLists& others, const Body& body, const Number& number) {
  std::vector<RestCell> result;
  const ElasticCells& cells = *body.elastic;
  for (Index c = 0; c < cells.nodes.cols(); ++c) {
    RestCell cell;
    std::array<Index, 4> list;
    for (std::size_t k = 0; k < 4; ++k) {
      cell.points[k] = cells.nodes(Index(k), c);
      cell.corners[k] = body.nodes.col(cell.points[k]);
      cell.box.include(cell.corners[k]);
      list[k] = number(cell.points[k]);
    }
    std::ranges::sort(list);
    if (others.contains(list)) continue;
    cell.density = cells.density[std::size_t(cells.material_of[std::size_t(c)])];
    result.push_back(cell);
  }
  return result;
}

/// Solves M x = r with a mass matrix, where `free` is 1, by conjugate gradients: scaled by its diagonal the
/// mass matrix of linear tetrahedra has eigenvalues between ½ and 5/2 [Wathen 1987], whatever the mesh.
VectorX solve_mass(const Eigen::SparseMatrix<double>& mass, const VectorX& right, const VectorX& free) {
  const VectorX inverse = (mass.diagonal().array() > 0).select(free.cwiseQuotient(mass.diagonal()), 0);
  VectorX x = VectorX::Zero(right.size()), r = right.cwiseProduct(free), z = inverse.cwiseProduct(r), p = z;
  double rho = r.dot(z);
  const double enough = 1e-34 * rho;
  for (int i = 0; i < 200 && rho > enough; ++i) {
    const VectorX h = (mass * p).cwiseProduct(free);
    const double alpha = rho / p.dot(h);
    x += alpha * p;
    r -= alpha * h;
    z = inverse.cwiseProduct(r);
    const double next = r.dot(z);
    p = z + next / rho * p;
    rho = next;
  }
  return x;
}

}  // namespace

Matrix3X with_midpoints(const Matrix3X& field, std::span<const std::array<Index, 2>> edges) {
  if (field.cols() == 0) return field;
  Matrix3X result(3, field.cols() + Index(edges.size()));
  result.leftCols(field.cols()) = field;
  Index next = Index(field.cols());
  for (const auto& [a, b] : edges) {
    ensure(a < next && b < next, "with_midpoints: ends exist");
    result.col(next++) = 0.5 * (result.col(a) + result.col(b));
  }
  return result;
}

Index number_of(const Blend& point) {
  return point.is_point() ? point.from : -1;
}

void subtract(const Blend& source, Index point, double weight,
              std::vector<CollapseTransfer::Entry>& entries) {
  if (source.is_point()) {
    entries.push_back({point, source.from, -weight});
  } else {
    entries.push_back({point, source.from, -(1 - source.share) * weight});
    entries.push_back({point, source.to, -source.share * weight});
  }
}

void add_squares(std::span<const Index> old_points, const Eigen::MatrixXd& old_values,
                 std::span<const Blend> new_points, const Eigen::MatrixXd& new_values, double weight,
                 std::vector<CollapseTransfer::Entry>& squares) {
  std::map<Index, Eigen::RowVectorXd> shares;  // of values in u₁ − I u₁ at the corners
  const auto add = [&](Index point, const Eigen::RowVectorXd& values) {
    const auto [at, is_new] = shares.emplace(point, values);
    if (!is_new) at->second += values;
  };
  for (std::size_t i = 0; i < old_points.size(); ++i) add(old_points[i], old_values.row(Index(i)));
  for (std::size_t i = 0; i < new_points.size(); ++i) {
    const Blend& at = new_points[i];
    add(at.from, -(at.is_point() ? 1 : 1 - at.share) * new_values.row(Index(i)));
    if (!at.is_point()) add(at.to, -at.share * new_values.row(Index(i)));
  }
  for (const auto& [p, a] : shares)
    for (const auto& [q, b] : shares) squares.push_back({p, q, weight * (a.dot(b) + a.sum() * b.sum())});
}

CollapseTransfer::CollapseTransfer(const Body& before, const Body& after, std::vector<Blend> points,
                                   bool reshapes)
    : before_(before), after_(after), points_(std::move(points)), reshapes_(reshapes) {
  std::vector<Entry>* const squares = reshapes ? &squares_ : nullptr;
  if (before.planar || before.shell) {
    entries_ = plane_entries(before, after, points_, squares);
    return;
  }
  const auto old_number = [](Index p) { return p; };
  const auto number = [&](Index p) { return number_of(points_[std::size_t(p)]); };
  const std::vector<RestCell> gone = cells_not_in(cell_points(after, number), before, old_number),
                              made = cells_not_in(cell_points(before, old_number), after, number);
  std::vector<Barycentric> of_gone;
  for (const RestCell& cell : gone) of_gone.emplace_back(cell.corners);
  for (const RestCell& cell : made) {
    const Barycentric here(cell.corners);
    std::array<Blend, 4> places;
    for (std::size_t k = 0; k < 4; ++k) places[k] = points_[std::size_t(cell.points[k])];
    for (std::size_t g = 0; g < gone.size(); ++g) {
      if (!overlap(cell.box, gone[g].box)) continue;
      // ∫ φ²_i φ¹_j and ∫ φ²_i φ²_k: of two affine functions over a tetrahedron of volume V that is
      // V/20 (Σ_c f_c g_c + Σ_c f_c Σ_c g_c), c its corners.
      Eigen::Matrix4d with_old = Eigen::Matrix4d::Zero(), with_new = with_old;
      for (const CornerPlaces& part : intersection(cell.corners, of_gone[g])) {
        const double weight = cell.density * std::abs(volume6(part)) / 120;
        Eigen::Matrix4d f, h;  // functions × corners
        for (int c = 0; c < 4; ++c) {
          f.col(c) = here(part[std::size_t(c)]);
          h.col(c) = of_gone[g](part[std::size_t(c)]);
        }
        const Vector4 sum = f.rowwise().sum(), old_sum = h.rowwise().sum();
        with_old += weight * (f * h.transpose() + sum * old_sum.transpose());
        with_new += weight * (f * f.transpose() + sum * sum.transpose());
        if (squares) add_squares(gone[g].points, h, places, f, weight, *squares);
      }
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          const Index p = cell.points[std::size_t(i)];
          if (with_old(i, j) != 0) entries_.push_back({p, gone[g].points[std::size_t(j)], with_old(i, j)});
          if (with_new(i, j) != 0)
            subtract(points_[std::size_t(cell.points[std::size_t(j)])], p, with_new(i, j), entries_);
        }
    }
  }
}

Matrix3X CollapseTransfer::restricted(const Matrix3X& before) const {
  if (before.cols() == 0) return before;
  Matrix3X result(3, Index(points_.size()));
  for (std::size_t i = 0; i < points_.size(); ++i) result.col(Index(i)) = points_[i].in(before);
  return result;
}

/// A u₁ − M₂ I u₁.
Matrix3X CollapseTransfer::residual(const Matrix3X& before) const {
  Matrix3X result = Matrix3X::Zero(3, after_.node_count());
  for (const Entry& e : entries_) result.col(e.point) += e.weight * before.col(e.source);
  return result;
}

Matrix3X CollapseTransfer::correction(const Matrix3X& before, const Mask& held) const {
  const Matrix3X right = residual(before);
  Matrix3X result(3, after_.node_count());
  for (int axis = 0; axis < 3; ++axis)
    result.row(axis) =
        solve_mass(after_.mass, right.row(axis).transpose(), (!held.row(axis)).cast<double>().transpose());
  return result;
}

double CollapseTransfer::lost_distance(const Matrix3X& before, const Matrix3X& after,
                                       const Matrix3X& q) const {
  if (reshapes_) {
    // With w = u₁ − I u₁ and δ = u₂ − I u₁: ½∫ρ |w|² − ½∫ρ |δ|² − (q − I u₁) · (∫ρ φ² w − M₂ δ).
    Matrix3X base = after;  // points without a place have no mass
    base.leftCols(Index(points_.size())) = restricted(before);
    const Matrix3X delta = after - base, moved = delta * after_.mass;
    double squares = 0;
    for (const Entry& e : squares_) squares += e.weight * before.col(e.point).dot(before.col(e.source));
    return 0.5 * squares - 0.5 * moved.cwiseProduct(delta).sum() -
           (q - base).cwiseProduct(residual(before) - moved).sum();
  }
  // ½∫ρ |u₁|² − ½∫ρ |u₂|² − q · (A u₁ − M₂ u₂), everything relative to one place, so that what is far away
  // loses no digits.
  const Vector3 origin = before.col(0);
  const Matrix3X u = before.colwise() - origin, v = after.colwise() - origin;
  Matrix3X open = -v;  // points without a place have no mass
  open.leftCols(Index(points_.size())) += restricted(u);
  open = residual(u) + open * after_.mass;
  return 0.5 * (u * before_.mass).cwiseProduct(u).sum() - 0.5 * (v * after_.mass).cwiseProduct(v).sum() -
         (q.colwise() - origin).cwiseProduct(open).sum();
}

}  // namespace apart
