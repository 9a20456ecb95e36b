#include <apart/core/error.hpp>
#include <apart/potentials/barrier_contact.hpp>

#include <apart/collision/step_bound.hpp>
#include <apart/geometry/edge_edge_mollifier.hpp>
#include <apart/math/psd_projection.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// Barrier of a contact's squared distance f, with its weight.
Barrier barrier_of(const Contact& c, double f) {
  Barrier b = barrier(f - c.thickness * c.thickness, barrier_reach(c.thickness, c.dhat));
  return b *= c.weight * c.stiffness_scale;
}

/// Two unit vectors that complete n, the first along `hint` where that is not along n.
std::pair<Vector3, Vector3> tangents(const Vector3& n, const Vector3& hint) {
  Vector3 t = hint - n.dot(hint) * n;
  if (t.squaredNorm() <= 1e-24 * hint.squaredNorm()) {
    int axis;
    n.cwiseAbs().minCoeff(&axis);
    t = n.cross(Vector3::Unit(axis));
  }
  t.normalize();
  return {t, n.cross(t)};
}

/// The positive semi-definite part of barrier_hessian's matrix in its basis of five directions, for m free
/// parameters of the closest points.
void project(Eigen::Matrix<double, 5, 5>& k, int m) {
  if (m == 0) {
    for (const int i : {0, 3, 4}) k(i, i) = std::max(k(i, i), 0.0);
  } else if (m == 1) {
    // t₁ lies along D: u₀⊗t₂ decouples (with a negative value unless the weight is negative), u₂ does not
    // exist.
    const double across = std::max(k(4, 4), 0.0);
    Matrix3 small;
    constexpr int at[3] = {0, 1, 3};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) small(i, j) = k(at[i], at[j]);
    small = psd_projection(small);
    k.setZero();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) k(at[i], at[j]) = small(i, j);
    k(4, 4) = across;
  } else {
    k = psd_projection(k);
  }
}

/// b″ ∇f ∇fᵀ + b′ ∇²f of n points, column by column.
template <int n>
Eigen::Matrix<double, 3 * n, 3 * n> exact_hessian(const ClosestFeature& feature, const StencilPoints& x,
                                                  const Barrier& b) {
  using Column = Eigen::Matrix<double, 3 * n, 1>;
  const Vector3 r = separation(feature, n, x);
  const Vector4& w = feature.weights;
  Column g;  // ∇f
  for (int i = 0; i < n; ++i) g.template segment<3>(3 * i) = 2 * w[i] * r;
  // The change of the closest points takes Q (2 DᵀD)⁻¹ Qᵀ off, Q = 2(w′⊗r + w⊗D).
  const int m = feature.free;
  Column q[2] = {Column::Zero(), Column::Zero()};
  Vector3 d[2] = {Vector3::Zero(), Vector3::Zero()};
  for (int k = 0; k < m; ++k) {
    for (int i = 1; i < n; ++i) d[k] += feature.slope(i, k) * (x[std::size_t(i)] - x[0]);
    for (int i = 0; i < n; ++i) q[k].template segment<3>(3 * i) = 2 * (feature.slope(i, k) * r + w[i] * d[k]);
  }
  Column left[2] = {Column::Zero(), Column::Zero()};  // b′ Q (2 DᵀD)⁻¹
  if (m == 1) {
    left[0] = b.first / (2 * d[0].squaredNorm()) * q[0];
  } else if (m == 2) {
    const double scale = b.first / (2 * d[0].cross(d[1]).squaredNorm()), mixed = d[0].dot(d[1]);
    left[0] = scale * (d[1].squaredNorm() * q[0] - mixed * q[1]);
    left[1] = scale * (d[0].squaredNorm() * q[1] - mixed * q[0]);
  }
  Eigen::Matrix<double, 3 * n, 3 * n> h;
  for (int j = 0; j < n; ++j)
    for (int axis = 0; axis < 3; ++axis) {
      const int c = 3 * j + axis;
      Column column = b.second * g[c] * g - q[0][c] * left[0] - q[1][c] * left[1];
      for (int i = 0; i < n; ++i) column[3 * i + axis] += 2 * b.first * w[i] * w[j];
      h.col(c) = column;
    }
  return h;
}

}  // namespace

StencilMatrix barrier_hessian(const ClosestFeature& feature, int n, const StencilPoints& x, const Barrier& b,
                              Projection projection) {
  if (projection == Projection::none) {
    StencilMatrix h = StencilMatrix::Zero();
    if (n == 2)
      h.topLeftCorner<6, 6>() = exact_hessian<2>(feature, x, b);
    else if (n == 3)
      h.topLeftCorner<9, 9>() = exact_hessian<3>(feature, x, b);
    else
      h = exact_hessian<4>(feature, x, b);
    return h;
  }
  const double b1 = b.first, b2 = b.second;
  // With n̂ = r/d, tangents t₁,t₂ and D = ∂r/∂λ ⟂ n̂ the matrix is
  //   (4b″f + 2b′)(w⊗n̂)(w⊗n̂)ᵀ + 2b′ Σ(w⊗t)(w⊗t)ᵀ − b′ Q (2DᵀD)⁻¹ Qᵀ,      Q = 2(w′⊗r + w⊗D),
  // so it lives on u₀⊗{n̂,t₁,t₂} and {u₁,u₂}⊗n̂, u an orthonormal basis of {w, w′₁, w′₂}: five dimensions.
  const Vector3 r = separation(feature, n, x);
  const double f = r.squaredNorm(), d = std::sqrt(f);
  const Vector3 normal = r / d;
  const Vector4& w = feature.weights;
  const double w_norm = w.norm();
  const int m = feature.free;

  Eigen::Matrix<double, 4, 3> u = Eigen::Matrix<double, 4, 3>::Zero();
  u.col(0) = w / w_norm;
  Matrix3 coordinates = Matrix3::Zero();  // w′_k = Σ_b u_b coordinates(b, k)
  Eigen::Matrix<double, 3, 2> slope_r = Eigen::Matrix<double, 3, 2>::Zero();  // D
  for (int k = 0; k < m; ++k) {
    Vector4 rest = feature.slope.col(k);
    for (int j = 0; j <= k; ++j) {
      coordinates(j, k) = u.col(j).dot(rest);
      rest -= coordinates(j, k) * u.col(j);
    }
    coordinates(k + 1, k) = rest.norm();
    u.col(k + 1) = rest / coordinates(k + 1, k);
    for (int i = 1; i < n; ++i) slope_r.col(k) += feature.slope(i, k) * (x[i] - x[0]);
  }
  const auto [t1, t2] = tangents(normal, m > 0 ? Vector3(slope_r.col(0)) : Vector3::UnitX());

  // Basis order: u₀⊗n̂, u₁⊗n̂, u₂⊗n̂, u₀⊗t₁, u₀⊗t₂.
  Eigen::Matrix<double, 5, 5> k = Eigen::Matrix<double, 5, 5>::Zero();
  k(0, 0) = (4 * b2 * f + 2 * b1) * w_norm * w_norm;
  k(3, 3) = k(4, 4) = 2 * b1 * w_norm * w_norm;
  if (m > 0) {
    Eigen::Matrix<double, 5, 2> q = Eigen::Matrix<double, 5, 2>::Zero();
    for (int j = 0; j < m; ++j) {
      q.block<3, 1>(0, j) = 2 * d * coordinates.col(j);
      q(3, j) = 2 * w_norm * slope_r.col(j).dot(t1);
      q(4, j) = 2 * w_norm * slope_r.col(j).dot(t2);
    }
    if (m == 1) {
      k -= b1 / (2 * slope_r.col(0).squaredNorm()) * q.col(0) * q.col(0).transpose();
    } else {
      const Vector3 d0 = slope_r.col(0), d1 = slope_r.col(1);
      Eigen::Matrix2d inverse;
      inverse << d1.squaredNorm(), -d0.dot(d1), -d0.dot(d1), d0.squaredNorm();
      k -= b1 / (2 * d0.cross(d1).squaredNorm()) * q * inverse * q.transpose();
    }
  }
  project(k, m);

  Matrix3 frame;
  frame << normal, t1, t2;
  StencilMatrix h = StencilMatrix::Zero();
  const Eigen::Matrix<double, 4, 3> along = u * k.topLeftCorner<3, 3>();
  const Eigen::Matrix<double, 4, 2> mixed = u * k.topRightCorner<3, 2>();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      Matrix3 local;
      local(0, 0) = along.row(i).dot(u.row(j));
      local.block<1, 2>(0, 1) = mixed.row(i) * u(j, 0);
      local.block<2, 1>(1, 0) = (mixed.row(j) * u(i, 0)).transpose();
      local.block<2, 2>(1, 1) = u(i, 0) * u(j, 0) * k.bottomRightCorner<2, 2>();
      const Matrix3 block = frame * local * frame.transpose();
      h.block<3, 3>(3 * i, 3 * j) = block;
      if (i != j) h.block<3, 3>(3 * j, 3 * i) = block.transpose();
    }
  return h;
}

BarrierContact::BarrierContact(const CollisionSurface& surface, CandidateCache& candidates, CcdMethod ccd)
    : surface_(surface), candidates_(&candidates), ccd_(ccd) {}

StepBound BarrierContact::feasible_step(const Path& path) const {
  if (on_step_bound) on_step_bound(candidates_->at(path.start), path);
  return collision_free_step(surface_, *candidates_, path, {.method = ccd_});
}

void BarrierContact::prepare_at(const Matrix3X& x) {
  active_ = find_active_set(surface_, candidates_->near(x), x, candidates_->team());
  plane_points_.clear();
  for (const PlaneContact& c : active_.plane_contacts)
    plane_points_.push_back({c.vertex, surface_.half_spaces[c.plane].carrier});
  const Index pairs = Index(active_.contacts.size());
  auto [first, end] = candidates_->team().share(term_count());
  end = std::min(end, pairs);
  first_evaluated_ = std::min(first, end);
  evaluated_.resize(std::size_t(end - first_evaluated_));
  parallel_for(Index(evaluated_.size()),
               [&](Index i) { evaluated_[std::size_t(i)] = evaluate(first_evaluated_ + i, x); });
}

BarrierContact::Evaluated BarrierContact::evaluate(Index i, const Matrix3X& x) const {
  const Contact& c = active_.contacts[i];
  const StencilPoints p = c.stencil.gather(x);
  Evaluated e;
  e.feature = closest_feature(c.stencil.kind, p);
  e.r = separation(e.feature, c.stencil.size(), p);
  e.b = barrier_of(c, e.r.squaredNorm());
  return e;
}

const BarrierContact::Evaluated& BarrierContact::evaluated(Index i, Evaluated& other) const {
  const Index k = i - first_evaluated_;
  if (k >= 0 && k < Index(evaluated_.size())) return evaluated_[std::size_t(k)];
  return other = evaluate(i, place());
}

TermPoints BarrierContact::term(Index i) const {
  if (is_plane(i)) {
    const auto& points = plane_points_[std::size_t(i) - active_.contacts.size()];
    return TermPoints(points).first(points[1] < 0 ? 1 : 2);
  }
  const Stencil& s = active_.contacts[i].stencil;
  return {s.vertices.data(), std::size_t(s.size())};
}

Index BarrierContact::cost(Index i) const {
  // In some 300 instructions.
  constexpr Index of_plane = 1, of_pair = 20, of_mollified = 60;
  if (is_plane(i)) return of_plane;
  return active_.contacts[i].mollifier_threshold > 0 ? of_mollified : of_pair;
}

BarrierContact::PlaneGap BarrierContact::plane_gap(Index i, const Matrix3X& x) const {
  const PlaneContact& c = plane_contact(i);
  const HalfSpace& plane = surface_.half_spaces[c.plane];
  const PairSettings& s = surface_.pairs(surface_.vertex_body[c.vertex], plane.body);
  const double distance = plane.distance(x, c.vertex);
  // A vertex behind the plane is as forbidden as one on it.
  const double squared = distance > 0 ? distance * distance - s.thickness * s.thickness : 0;
  Barrier b = barrier(squared, barrier_reach(s.thickness, s.dhat));
  return {plane, distance, b *= c.weight * s.stiffness_scale};
}

double BarrierContact::value_of(const Matrix3X& x, Index begin, Index end) const {
  expect_at(x);
  return kappa_ * ordered_sum(end - begin, [&](Index k) {
           const Index i = begin + k;
           if (is_plane(i)) return plane_gap(i, x).b.value;
           const Contact& c = active_.contacts[i];
           Evaluated other;
           double b = evaluated(i, other).b.value;
           if (c.mollifier_threshold > 0)
             b *= edge_edge_mollifier_value(c.stencil.gather(x), c.mollifier_threshold);
           return b;
         });
}

void BarrierContact::add_gradient_of(const Matrix3X& x, Index begin, Index end, Matrix3X& gradient) const {
  expect_at(x);
  add_local_gradients(*this, {begin, end}, gradient, [&](Index i, auto out) {
    if (is_plane(i)) {
      const PlaneGap gap = plane_gap(i, x);
      const Vector3 on_vertex = kappa_ * gap.b.first * 2 * gap.distance * gap.plane.normal;
      out.template head<3>() = on_vertex;
      if (out.size() == 6) out.template tail<3>() = -on_vertex;  // on the carrier
      return;
    }
    const Contact& c = active_.contacts[i];
    Evaluated other;
    const auto& [feature, r, b] = evaluated(i, other);
    double mollified = 1;
    if (c.mollifier_threshold > 0) {
      const EdgeEdgeMollifier::First e =
          edge_edge_mollifier_gradient(c.stencil.gather(x), c.mollifier_threshold);
      out = kappa_ * b.value * e.gradient;
      mollified = e.value;
    }
    for (int k = 0; k < c.stencil.size(); ++k)  // b′ ∇f = 2 b′ w ⊗ r
      out.template segment<3>(3 * k) += 2 * kappa_ * mollified * b.first * feature.weights[k] * r;
  });
}

void BarrierContact::hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                              LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    auto local = out[i];
    if (is_plane(i)) {
      const PlaneGap gap = plane_gap(i, x);
      double k = 4 * gap.distance * gap.distance * gap.b.second + 2 * gap.b.first;
      if (projection != Projection::none) k = std::max(k, 0.0);
      const Matrix3 block = kappa_ * k * gap.plane.normal * gap.plane.normal.transpose();
      if (local.rows() == 3)
        local = block;
      else
        local << block, -block, -block, block;  // vertex, carrier
      continue;
    }
    const Contact& c = active_.contacts[i];
    const int n = c.stencil.size();
    const StencilPoints p = c.stencil.gather(x);
    Evaluated other;
    const auto& [feature, r, b] = evaluated(i, other);
    if (c.mollifier_threshold > 0) {
      const EdgeEdgeMollifier m = edge_edge_mollifier(p, c.mollifier_threshold);
      const StencilVector gb = b.first * squared_distance_gradient(feature, n, p);
      StencilMatrix h = exact_hessian<4>(feature, p, b);
      for (int k = 0; k < 12; ++k)
        h.col(k) = m.value * h.col(k) + gb[k] * m.gradient + m.gradient[k] * gb + b.value * m.hessian.col(k);
      out.of<4>(i) = kappa_ * (projection != Projection::none ? psd_projection_of_four_points(h) : h);
    } else if (projection == Projection::none) {
      if (n == 2)
        out.of<2>(i) = kappa_ * exact_hessian<2>(feature, p, b);
      else if (n == 3)
        out.of<3>(i) = kappa_ * exact_hessian<3>(feature, p, b);
      else
        out.of<4>(i) = kappa_ * exact_hessian<4>(feature, p, b);
    } else {
      const StencilMatrix h = barrier_hessian(feature, n, p, b, projection);
      local = kappa_ * h.topLeftCorner(3 * n, 3 * n);
    }
  }
}

std::pair<int, int> BarrierContact::bodies_of(Index i) const {
  if (is_plane(i))
    return {surface_.vertex_body[plane_contact(i).vertex], surface_.half_spaces[plane_contact(i).plane].body};
  const Stencil& s = active_.contacts[i].stencil;
  return {surface_.vertex_body[s.vertices[0]], surface_.vertex_body[s.vertices[first_count(s.kind)]]};
}

ContactRange BarrierContact::range(Index i) const {
  const auto [first, second] = bodies_of(i);
  const PairSettings& pair = surface_.pairs(first, second);
  if (is_plane(i)) return {pair.thickness, pair.dhat};
  const Contact& c = active_.contacts[i];
  return {c.thickness, c.dhat, c.dhat < pair.dhat};
}

BarrierContact::NormalForce BarrierContact::normal_force(Index i, const Matrix3X& x) const {
  NormalForce force;
  const TermPoints points = term(i);
  for (const Index p : points)
    ensure(x.col(p) == place().col(p), "BarrierContact: a force where the contact is not prepared");
  force.points.size = int(points.size());
  std::copy(points.begin(), points.end(), force.points.ids.begin());
  if (is_plane(i)) {
    const PlaneGap gap = plane_gap(i, x);
    force.weights.head<2>() << 1, -1;
    force.direction = gap.plane.normal;
    force.distance = gap.distance;
    force.magnitude = -kappa_ * gap.b.first * 2 * gap.distance;
    return force;
  }
  const Contact& c = active_.contacts[i];
  Evaluated other;
  const auto& [feature, r, b] = evaluated(i, other);
  force.distance = r.norm();
  force.weights = feature.weights;
  force.direction = r / force.distance;
  force.magnitude = -kappa_ * b.first * 2 * force.distance;
  if (c.mollifier_threshold > 0)
    force.magnitude *= edge_edge_mollifier_value(c.stencil.gather(x), c.mollifier_threshold);
  return force;
}

std::vector<BarrierContact::NormalForce> BarrierContact::normal_forces(const Matrix3X& x) const {
  expect_at(x);
  std::vector<NormalForce> result(static_cast<std::size_t>(term_count()));
  parallel_for(term_count(), [&](Index i) { result[std::size_t(i)] = normal_force(i, x); });
  return result;
}

double BarrierContact::mean_gap_share(const Matrix3X& x) const {
  const std::vector<NormalForce> all = normal_forces(x);
  const auto force = [&](Index i) { return std::max(0.0, all[std::size_t(i)].magnitude); };
  const double pressing = ordered_sum(term_count(), force);
  if (!(pressing > 0)) return 1;
  return ordered_sum(term_count(), [&](Index i) {
    const NormalForce& p = all[std::size_t(i)];
    const ContactRange r = range(i);
    return force(i) / pressing * (p.distance - r.thickness) / r.dhat;
  });
}

double BarrierContact::resting_stiffness(const Matrix3X& x, const RestingShares& shares,
                                         FunctionRef<double(Index)> light) const {
  const std::vector<NormalForce> all = normal_forces(x);
  const double sum = ordered_sum(term_count(), [&](Index i) {
    return range(i).shortened ? 0.0 : std::max(0.0, all[std::size_t(i)].magnitude);
  });
  if (!(sum > 0)) return 0;
  return ordered_sum(term_count(), [&](Index i) {
    const NormalForce& now = all[std::size_t(i)];
    const auto [thickness, dhat, shortened] = range(i);
    if (shortened || !(now.magnitude > 0)) return 0.0;
    const double xi2 = thickness * thickness, reach = barrier_reach(thickness, dhat);
    const auto force = [&](double s) { return std::abs(barrier(s, reach).first) * std::sqrt(s + xi2); };
    const double pressing = force(now.distance * now.distance - xi2);  // for the same κ as below
    const double lying = std::min(1.0, light(i) / now.magnitude);
    const double wanted = kappa_ * std::max(lying * pressing / force(shares.light * reach),
                                            pressing / force(shares.usual * reach));
    return now.magnitude / sum * wanted;
  });
}

}  // namespace apart
