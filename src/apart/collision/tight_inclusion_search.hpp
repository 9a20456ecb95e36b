#pragma once
// Tight Inclusion [thesis §3.5, §3.6]: finds the earliest time at which F(t, u, v) = 0, where F joins a point
// of one primitive to a point of the other. Boxes of the domain (t, u, v) are bisected; a box whose image
// provably misses the origin is excluded, and the start of the earliest box that is too small to bisect is
// the answer.
//
// Three things differ from the thesis, none of them in what is proven:
// - F is affine in u and v at a fixed t, so its range over a box (eq. 3.4) needs no eight corners: two ends
// in
//   time, and at each a middle and a half-width.
// - Four axes instead of three: besides x, y and z the direction of the closest points at time 0. Four fit
// the
//   vector registers, and a slanted pair a hair apart is excluded at once.
// - The boxes are visited in order of time instead of level by level. Then every box ahead of the answer is
//   visited once and none behind it, and neither the answer nor what a limit of iterations makes of it
//   depends on how far in time one looks.
#include <apart/collision/ccd.hpp>
#include <apart/collision/separation.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace apart {

/// Lanes: four doubles with +, −, *, elementwise min, max and abs, and `all_at_most(a, b)`.
template <class Lanes>
class TightInclusion {
 public:
  std::optional<double> run(const CcdQuery& query, const CcdOptions& options) {
    switch (query.kind) {
      case PairKind::point_point:
        return run<PairKind::point_point>(query, options);
      case PairKind::point_edge:
        return run<PairKind::point_edge>(query, options);
      case PairKind::point_triangle:
        return run<PairKind::point_triangle>(query, options);
      case PairKind::edge_edge:
        break;
    }
    return run<PairKind::edge_edge>(query, options);
  }

 private:
  static constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;
  // An interval is halved at most about 50 times before its image is as small as rounding.
  static constexpr int deepest = 160;

  /// [t, t + dt] × [u, u + du] × [v, v + dv], all numbers dyadic and exact.
  struct Box {
    double t, u, v, dt, du, dv;
    bool operator<(const Box& other) const { return t > other.t; }  // of a heap: the earliest is on top
  };
  struct Range {
    Lanes low, high;
    void include(const Range& r) {
      low = min(low, r.low);
      high = max(high, r.high);
    }
  };

  /// F(t, u, v) = a + u b + v c with a, b, c linear in t, along each axis.
  template <PairKind kind>
  void set_motion(const CcdQuery& query, const Vector3& direction) {
    const auto lanes = [&](const Vector3& d) { return Lanes::of(d[0], d[1], d[2], direction.dot(d)); };
    const auto& x = query.x;
    const auto& p = query.displacement;
    constexpr int second = first_count(kind);
    a0_ = lanes(x[0] - x[second]);
    a1_ = lanes(p[0] - p[second]);
    Vector3 b0 = Vector3::Zero(), b1 = b0, c0 = b0, c1 = b0;
    if constexpr (kind == PairKind::edge_edge) {
      b0 = x[1] - x[0], b1 = p[1] - p[0];
      c0 = x[2] - x[3], c1 = p[2] - p[3];
    } else {
      if constexpr (kind != PairKind::point_point) b0 = x[1] - x[2], b1 = p[1] - p[2];
      if constexpr (kind == PairKind::point_triangle) c0 = x[1] - x[3], c1 = p[1] - p[3];
    }
    b0_ = lanes(b0), b1_ = lanes(b1), c0_ = lanes(c0), c1_ = lanes(c1);
    // Largest speeds of F along t, u, v (eq. 3.7): a box is split where its image is longest.
    const auto size = [](const Vector3& d) { return d.template lpNorm<Eigen::Infinity>(); };
    kappa_u_ = std::max(size(b0), size(b0 + b1));
    kappa_v_ = std::max(size(c0), size(c0 + c1));
    const Vector3 a1 = p[0] - p[second];
    kappa_t_ = std::max({size(a1), size(a1 + b1), size(a1 + c1)});
    if constexpr (kind == PairKind::edge_edge) kappa_t_ = std::max(kappa_t_, size(a1 + b1 + c1));
  }

  /// The bound on rounding along each axis, in place of eq. 3.5. With unit roundoff u and coordinates up to M
  /// at time 0 and displacements up to P: a₀, b₀, c₀ are off by 2uM, a₁, b₁, c₁ by 2uP (on the fourth axis by
  /// four times that each, for the products with the direction); a, b, c at t by 10uM + 12uP; middle ±
  /// half-width adds up to 66uM + 74uP. Vertices rounded to doubles, or a displacement rounded from x₁ − x,
  /// add 2uM + 4uP.
  template <PairKind kind>
  void set_reach(const CcdQuery& query, const Vector3& direction, double separation, SeparationNorm norm,
                 double tolerance) {
    Vector3 size = Vector3::Zero(), way = size;
    for (int i = 0; i < point_count(kind); ++i) {
      size = size.cwiseMax(query.x[i].cwiseAbs());
      way = way.cwiseMax(query.displacement[i].cwiseAbs());
    }
    const Vector3 blur = 96 * unit_roundoff * (size + way);
    const double fourth = direction.cwiseAbs().dot(blur) * (1 + 8 * unit_roundoff);
    // |F| ≤ ξ implies |n·F| ≤ |n| ξ, or |n|₁ ξ in the maximum norm.
    const double length =
        norm == SeparationNorm::euclidean ? direction.norm() : direction.template lpNorm<1>();
    const double more = 1 + 16 * unit_roundoff;
    reach_ = Lanes::of((separation + blur[0]) * more, (separation + blur[1]) * more,
                       (separation + blur[2]) * more, (length * separation + fourth) * more);
    blur_ = Lanes::of(blur[0], blur[1], blur[2], 0);
    // Smaller boxes than rounding tell nothing new.
    small_ = Lanes::of(std::max(tolerance, 4 * blur[0]), std::max(tolerance, 4 * blur[1]),
                       std::max(tolerance, 4 * blur[2]), std::numeric_limits<double>::infinity());
    ball_ = norm == SeparationNorm::euclidean && separation > 0 ? separation * separation * more * more : 0;
  }

  /// The range at one time of the points u ± du, v ± dv.
  Range at(double t, double u, double du, double v, double dv) const {
    const Lanes b = b0_ + t * b1_, c = c0_ + t * c1_;
    const Lanes middle = (a0_ + t * a1_) + u * b + v * c;
    const Lanes half = du * abs(b) + dv * abs(c);
    return {middle - half, middle + half};
  }

  bool touches(const Range& r) const {
    if (!all_at_most(r.low, reach_) || !all_at_most(-reach_, r.high)) return false;
    return ball_ == 0 || squared_distance(r) <= ball_;
  }
  bool small(const Range& r) const { return all_at_most(r.high - r.low, small_); }
  /// A lower bound of the squared distance of the range from the origin; the fourth axis is left out.
  double squared_distance(const Range& r) const {
    const Lanes away = max(max(r.low, -r.high) - blur_, Lanes::of(0, 0, 0, 0));
    return (away * away).first_three_sum();
  }

  /// Whether F misses the origin on the whole of [0, t]. For triangles from the corners that matter.
  template <PairKind kind>
  bool free_until(double t) const {
    const auto range = [&](double s) {
      if constexpr (kind == PairKind::point_triangle) {
        const Lanes a = a0_ + s * a1_, ab = a + (b0_ + s * b1_), ac = a + (c0_ + s * c1_);
        return Range{min(a, min(ab, ac)), max(a, max(ab, ac))};
      } else {
        constexpr double u = kind == PairKind::point_point ? 0 : 0.5,
                         v = kind == PairKind::edge_edge ? 0.5 : 0;
        return at(s, u, u, v, v);
      }
    };
    Range whole = range(0);
    whole.include(range(t));
    return !touches(whole);
  }

  template <PairKind kind>
  std::optional<double> run(const CcdQuery& query, const CcdOptions& options) {
    const double until = options.upper_time;
    // A first look along x, y and z, with the largest distance that could matter, excludes what is merely in
    // the neighbourhood.
    const double most = query.separation + (options.gap_fraction > 0 ? options.gap_fraction * query.dhat : 0);
    if (most < std::numeric_limits<double>::infinity()) {
      set_motion<kind>(query, Vector3::Zero());
      set_reach<kind>(query, Vector3::Zero(), most, options.norm, options.tolerance);
      if (free_until<kind>(until)) return std::nullopt;
    }
    Separation apart = separate<kind>(query.x, query.separation);
    if (!apart.direction.allFinite()) apart.direction.setZero();  // primitives that touch have none
    double separation = query.separation, tolerance = options.tolerance;
    set_motion<kind>(query, apart.direction);
    if (options.gap_fraction > 0) {
      // Along the direction the primitives are apart by `least`, less its rounding.
      set_reach<kind>(query, apart.direction, 0, options.norm, 0);
      const double gap = apart.least - reach_.last() - query.separation * (1 + 4 * unit_roundoff);
      if (!(gap > 0)) return 0;
      const double target = options.gap_fraction * std::min(gap, query.dhat);
      separation += target;
      tolerance = std::min(tolerance, 0.25 * target);
    }
    set_reach<kind>(query, apart.direction, separation, options.norm, tolerance);
    if (free_until<kind>(until)) return std::nullopt;
    return search<kind>(until, options.max_iterations);
  }

  /// Visits the boxes in order of time. Those of one time are a stack, later ones a heap.
  template <PairKind kind>
  std::optional<double> search(double until, int max_iterations) {
    constexpr double u_range = kind == PairKind::point_point ? 0 : 1;
    constexpr double v_range = kind == PairKind::point_triangle || kind == PairKind::edge_edge ? 1 : 0;
    later_.clear();
    int now = 0;
    const auto visit = [&](const Box& box, const Range& range) {
      // True if the box ends the search.
      if (!touches(range)) return false;
      if (small(range) || now == deepest) return true;
      now_[now++] = box;
      return false;
    };
    if (visit({0, 0, 0, 1, u_range, v_range}, [&] {
          Range r = at(0, u_range / 2, u_range / 2, v_range / 2, v_range / 2);
          r.include(at(1, u_range / 2, u_range / 2, v_range / 2, v_range / 2));
          return r;
        }()))
      return 0;
    for (int iteration = 0; now > 0; ++iteration) {
      const Box box = now_[--now];
      if (iteration >= max_iterations) return box.t;
      const double size_t = kappa_t_ * box.dt, size_u = kappa_u_ * box.du, size_v = kappa_v_ * box.dv;
      if (size_t >= size_u && size_t >= size_v) {
        const double half = 0.5 * box.dt, um = box.u + 0.5 * box.du, vm = box.v + 0.5 * box.dv;
        const Range middle = at(box.t + half, um, 0.5 * box.du, vm, 0.5 * box.dv);
        Range late = at(box.t + box.dt, um, 0.5 * box.du, vm, 0.5 * box.dv);
        late.include(middle);
        if (box.t + half < until && touches(late)) {
          later_.push_back({box.t + half, box.u, box.v, half, box.du, box.dv});
          std::push_heap(later_.begin(), later_.end());
        }
        Range early = at(box.t, um, 0.5 * box.du, vm, 0.5 * box.dv);
        early.include(middle);
        if (visit({box.t, box.u, box.v, half, box.du, box.dv}, early)) return box.t;
      } else if (size_u >= size_v) {
        const double half = 0.5 * box.du, vm = box.v + 0.5 * box.dv;
        Range lower = at(box.t, box.u + 0.5 * half, 0.5 * half, vm, 0.5 * box.dv);
        lower.include(at(box.t + box.dt, box.u + 0.5 * half, 0.5 * half, vm, 0.5 * box.dv));
        if (visit({box.t, box.u, box.v, box.dt, half, box.dv}, lower)) return box.t;
        Range upper = at(box.t, box.u + 1.5 * half, 0.5 * half, vm, 0.5 * box.dv);
        upper.include(at(box.t + box.dt, box.u + 1.5 * half, 0.5 * half, vm, 0.5 * box.dv));
        if (kind == PairKind::point_triangle && box.u + half + box.v > 1) {
          // outside the triangle
        } else if (visit({box.t, box.u + half, box.v, box.dt, half, box.dv}, upper)) {
          return box.t;
        }
      } else {
        const double half = 0.5 * box.dv, um = box.u + 0.5 * box.du;
        Range lower = at(box.t, um, 0.5 * box.du, box.v + 0.5 * half, 0.5 * half);
        lower.include(at(box.t + box.dt, um, 0.5 * box.du, box.v + 0.5 * half, 0.5 * half));
        if (visit({box.t, box.u, box.v, box.dt, box.du, half}, lower)) return box.t;
        Range upper = at(box.t, um, 0.5 * box.du, box.v + 1.5 * half, 0.5 * half);
        upper.include(at(box.t + box.dt, um, 0.5 * box.du, box.v + 1.5 * half, 0.5 * half));
        if (kind == PairKind::point_triangle && box.v + half + box.u > 1) {
          // outside the triangle
        } else if (visit({box.t, box.u, box.v + half, box.dt, box.du, half}, upper)) {
          return box.t;
        }
      }
      if (now == 0 && !later_.empty()) {
        std::pop_heap(later_.begin(), later_.end());
        now_[now++] = later_.back();
        later_.pop_back();
      }
    }
    return std::nullopt;
  }

  Lanes a0_, a1_, b0_, b1_, c0_, c1_;
  Lanes reach_;      ///< a box farther than this from 0 along some axis is excluded
  Lanes blur_;       ///< rounding along x, y, z
  Lanes small_;      ///< a box not longer than this along x, y and z is not split
  double ball_ = 0;  ///< ξ² if the separation is Euclidean and not 0
  double kappa_t_ = 0, kappa_u_ = 0, kappa_v_ = 0;
  std::array<Box, deepest + 1> now_;
  std::vector<Box> later_;
};

}  // namespace apart
