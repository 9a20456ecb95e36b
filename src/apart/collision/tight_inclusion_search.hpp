#pragma once
// Tight Inclusion [thesis §3.5, §3.6]: finds the earliest time at which F(t, u, v) = 0, where F joins a point
// of one primitive to a point of the other. Boxes of the domain (t, u, v) are bisected; a box whose image
// provably misses the origin is excluded, and the start of the earliest box that is too small to bisect is
// the answer.
//
// What differs from the thesis, none of it in what is proven:
// - F is affine in u and v at a fixed t, so its range over a box (eq. 3.4) needs no eight corners: two ends
// in
//   time, and at each a middle and a half-width.
// - Four axes instead of three: besides x, y and z a direction along which the primitives are apart. Four fit
// the
//   vector registers, and a slanted pair a hair apart is excluded at once. Before the search, and again when
//   it gets long, such a direction excludes all of the time that it can.
// - The boxes are visited in order of time instead of level by level. Then every box ahead of the answer is
//   visited once and none behind it, and neither the answer nor what a limit of iterations makes of it
//   depends on how far in time one looks.
#include <apart/collision/separation.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace apart {

/// Operations: what four numbers side by side, `Operations::Lanes`, can do besides +, −, *.
template <class Operations>
class TightInclusion : private Operations {
  using Lanes = typename Operations::Lanes;
  using Operations::abs, Operations::all_at_most, Operations::first_three_sum, Operations::max,
      Operations::min, Operations::of;

 public:
  /// Not inlined: the compiler would look up a thread-local object again for each of its members.
  [[gnu::noipa]] std::optional<double> run(const CcdQuery& query, const CcdOptions& options) {
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
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;
  static constexpr double more = 1 + 16 * unit_roundoff;  ///< makes up for the rounding of a few operations
  // u and v are quartered at most about 25 times each before a box is as small as rounding.
  static constexpr int deepest = 64;
  static constexpr std::size_t most_later =
      1'000'000;                           ///< boxes listed, 48 MB; more count as too many visits
  static constexpr int first_visits = 32;  ///< boxes visited before the direction is renewed

  /// [t, t + dt] × [u, u + du] × [v, v + dv], all numbers multiples of 2⁻⁵² and exact.
  struct Box {
    double t, u, v, dt, du, dv;
    bool operator<(const Box& other) const { return t > other.t; }  // of a heap: the earliest is on top
  };
  struct Range {
    Lanes low, high;
  };
  /// The parts of a box that are still to be visited: up to four along u by four along v. All begin at its
  /// time.
  struct Parts {
    Box first;
    unsigned open;  ///< bit 4 j + i is set if the part i along u and j along v is
    Box take() {
      const int i = std::countr_zero(open);
      open &= open - 1;
      return {first.t, first.u + (i & 3) * first.du, first.v + (i >> 2) * first.dv, first.dt, first.du,
              first.dv};
    }
  };
  [[gnu::always_inline]] static Range hull(const Range& a, const Range& b) {
    return {min(a.low, b.low), max(a.high, b.high)};
  }

  /// F(t, u, v) = a + u b + v c with a, b, c linear in t.
  template <PairKind kind>
  void set_motion(const CcdQuery& query) {
    const auto& x = query.x;
    const auto& p = query.displacement;
    constexpr int second = first_count(kind);
    const Vector3 zero = Vector3::Zero();
    Vector3 b0 = zero, b1 = zero, c0 = zero, c1 = zero;
    if constexpr (kind == PairKind::edge_edge) {
      b0 = x[1] - x[0], b1 = p[1] - p[0];
      c0 = x[2] - x[3], c1 = p[2] - p[3];
    } else {
      if constexpr (kind != PairKind::point_point) b0 = x[1] - x[2], b1 = p[1] - p[2];
      if constexpr (kind == PairKind::point_triangle) c0 = x[1] - x[3], c1 = p[1] - p[3];
    }
    const Vector3 a0 = x[0] - x[second], a1 = p[0] - p[second];
    coefficients_ = {a0, a1, b0, b1, c0, c1};
    // Largest speeds of F along t, u, v (eq. 3.7): a box is split where its image is longest.
    const auto size = [](const Vector3& d) { return d.template lpNorm<Eigen::Infinity>(); };
    kappa_u_ = std::max(size(b0), size(b0 + b1));
    kappa_v_ = std::max(size(c0), size(c0 + c1));
    kappa_t_ = std::max(size(a1), size(a1 + b1));
    if constexpr (kind == PairKind::point_triangle) kappa_t_ = std::max(kappa_t_, size(a1 + c1));
    if constexpr (kind == PairKind::edge_edge)
      kappa_t_ = std::max({kappa_t_, size(a1 + c1), size(a1 + b1 + c1)});

    // The bound on rounding along each axis, in place of eq. 3.5. With unit roundoff ω and S the largest
    // coordinate plus the largest displacement: a₀ … c₁ are off by 2ωS together with their products with t,
    // along the fourth axis by 8ωS for the products with the direction, so a, b, c at t by 12ωS; a middle by
    // 50ωS, a half-width by 16ωS, their sum by 74ωS; a shift along u and one along v add 11ωS each. Vertices
    // rounded to doubles, or a displacement rounded from x₁ − x, add 4ωS.
    Vector3 place = zero, way = zero;
    for (int i = 0; i < point_count(kind); ++i) {
      place = place.cwiseMax(x[i].cwiseAbs());
      way = way.cwiseMax(p[i].cwiseAbs());
    }
    blur_ = 128 * unit_roundoff * (place + way);
  }

  /// Lays the fourth axis along a direction; zero for none.
  void set_direction(const Vector3& direction) {
    const auto lanes = [&](const Vector3& d) { return of(d[0], d[1], d[2], direction.dot(d)); };
    a0_ = lanes(coefficients_[0]), a1_ = lanes(coefficients_[1]);
    b0_ = lanes(coefficients_[2]), b1_ = lanes(coefficients_[3]);
    c0_ = lanes(coefficients_[4]), c1_ = lanes(coefficients_[5]);
    reach_ =
        of((separation_ + blur_[0]) * more, (separation_ + blur_[1]) * more, (separation_ + blur_[2]) * more,
           (reach_along(direction) + direction.cwiseAbs().dot(blur_)) * more);
  }

  void set_separation(double separation, SeparationNorm norm) {
    separation_ = separation;
    norm_ = norm;
    ball_ = norm == SeparationNorm::euclidean && separation > 0 ? separation * separation * more * more : 0;
  }

  double norm_of(const Vector3& r) const {
    return norm_ == SeparationNorm::euclidean ? r.norm() : r.template lpNorm<Eigen::Infinity>();
  }
  /// |F| ≤ ξ implies |n·F| ≤ |n| ξ, or |n|₁ ξ in the maximum norm.
  double reach_along(const Vector3& n) const {
    return separation_ * (norm_ == SeparationNorm::euclidean ? n.norm() : n.template lpNorm<1>()) * more;
  }

  /// A lower bound of the squared distance of a range from the origin; the fourth axis is left out.
  double squared_distance(const Range& r) const {
    const Lanes away = max(max(r.low, -r.high) - of(blur_[0], blur_[1], blur_[2], 0), of(0, 0, 0, 0));
    return first_three_sum(away * away);
  }
  /// ball: whether the separation is Euclidean and not 0.
  template <bool ball>
  [[gnu::always_inline]] bool touches(const Range& r) const {
    bool yes = all_at_most(max(r.low, -r.high), reach_);
    if constexpr (ball) yes = yes && squared_distance(r) <= ball_;
    return yes;
  }
  bool touches(const Range& r) const { return ball_ > 0 ? touches<true>(r) : touches<false>(r); }

  /// a, b, c at one time, and the ranges there of points u ± du, v ± dv.
  struct Instant {
    Lanes a, b, c, size_b, size_c;
    [[gnu::always_inline]] Lanes middle(double u, double v) const { return a + u * b + v * c; }
    [[gnu::always_inline]] Lanes half(double du, double dv) const { return du * size_b + dv * size_c; }
    [[gnu::always_inline]] Range range(double u, double v, double du, double dv) const {
      const Lanes m = middle(u, v), h = half(du, dv);
      return {m - h, m + h};
    }
  };
  [[gnu::always_inline]] Instant at(double t) const {
    const Lanes b = b0_ + t * b1_, c = c0_ + t * c1_;
    return {a0_ + t * a1_, b, c, abs(b), abs(c)};
  }
  [[gnu::always_inline]] Range image(const Box& box) const {
    const double u = box.u + 0.5 * box.du, v = box.v + 0.5 * box.dv;
    return hull(at(box.t).range(u, v, 0.5 * box.du, 0.5 * box.dv),
                at(box.t + box.dt).range(u, v, 0.5 * box.du, 0.5 * box.dv));
  }

  /// Whether F misses the origin on all of its domain; of a triangle, from its three corners.
  template <PairKind kind>
  bool free_throughout() const {
    if constexpr (kind != PairKind::point_triangle) return !touches(image(whole<kind>(0, 1)));
    const auto range = [&](double t) {
      const Instant now = at(t);
      const Lanes second = now.a + now.b, third = now.a + now.c;
      return Range{min(now.a, min(second, third)), max(now.a, max(second, third))};
    };
    return !touches(hull(range(0), range(1)));
  }
  template <PairKind kind>
  static Box whole(double t, double dt) {
    return {t,
            0,
            0,
            dt,
            kind == PairKind::point_point ? 0.0 : 1.0,
            kind == PairKind::point_triangle || kind == PairKind::edge_edge ? 1.0 : 0.0};
  }

  template <PairKind kind>
  std::optional<double> run(const CcdQuery& query, const CcdOptions& options) {
    set_motion<kind>(query);
    // A first look along x, y and z, with the largest distance that could matter, excludes what is merely in
    // the neighbourhood.
    const double most = query.separation + (options.gap_fraction > 0 ? options.gap_fraction * query.dhat : 0);
    if (most < infinity) {
      set_separation(most, options.norm);
      set_direction(Vector3::Zero());
      if (free_throughout<kind>()) return std::nullopt;
    }
    set_separation(query.separation, options.norm);
    const MovingPair<kind> pair(query);
    double tolerance = options.tolerance, target = 0;
    double t = 0, free_time = 0;
    Separation apart = separation<kind>(pair, 0);
    if (options.gap_fraction > 0) {
      const double gap = apart.least - reach_along(apart.direction) - pair.blur(0);
      if (!(gap > 0)) return 0;
      target = options.gap_fraction * std::min(gap, query.dhat);
      tolerance = 0.25 * target;
      set_separation(query.separation + target, options.norm);
    }
    // A box with an image of this size is not split; one as small as rounding tells nothing new (eq. 3.6).
    const double small = std::max(4 * blur_.maxCoeff(), tolerance);  // a NaN loses

    double excluded = 0;          // times before are
    double front = 0;             // times before are excluded too, but for the boxes listed
    double window = 0;            // width in time of the next box
    int visits = 0, renewal = 0;  // boxes cut, and when the direction is renewed
    boxes_ = 0;
    depth_ = 0;
    if (later_.capacity() > 100'000) std::vector<Box>().swap(later_);  // of a rare long search
    later_.clear();
    Box box = whole<kind>(0, 1);
    bool listed = false;  // whether there is a box to visit
    while (true) {
      if (visits == renewal) {
        // Exclude as much time as directions can, in a few steps as long as they are worth it.
        t = std::max(box.t, excluded);
        for (int step = 0; step < 16; ++step) {
          if (step > 0 || visits > 0) apart = separation<kind>(pair, t);
          const double distance = reach_along(apart.direction) + pair.blur(t);
          const auto free = pair.free_time(apart, distance);
          // A direction along which they are not apart now tells nothing of later, even if they part.
          free_time = apart.least > distance ? std::max(free.time, 0.0) : 0;
          if (t + free_time >= options.upper_time) return std::nullopt;
          t += free_time;
          excluded = t;
          // Done if there is no more room, to a small share of the target, or of the tolerance.
          const double little = target > 0 ? 0.1 * target : options.tolerance;
          if (target > 0 && free.here - distance < little) return t;
          if (separation_ > 0 && norm_of(apart.least * apart.direction) <= separation_ + little) return t;
          if (!(free_time > t / 256)) break;
        }
        set_direction(apart.direction);
        if (visits == 0 || t > box.t + box.dt) {  // start again from here
          listed = false;
          depth_ = 0;
          later_.clear();
          front = std::floor(t * 0x1p52) * 0x1p-52;
          window = std::scalbn(1.0, free_time > 0 ? std::clamp(std::ilogb(free_time) + 1, -40, 0) : -40);
          renewal = visits + first_visits;
        } else {
          renewal = 2 * visits;
        }
      }
      if (!listed) {
        if (depth_ > 0) {
          box = now_[depth_ - 1].take();
          depth_ -= now_[depth_ - 1].open == 0;
        } else if (!later_.empty()) {
          std::pop_heap(later_.begin(), later_.end());
          box = later_.back();
          later_.pop_back();
        } else {
          if (front >= 1) return std::nullopt;
          box = whole<kind>(front, window);
          front += window;
          window *= 2;
          if (box.t < options.upper_time && !touches(image(box))) continue;
        }
      }
      if (box.t >= options.upper_time) return std::nullopt;
      const double image_size = kappa_t_ * box.dt + kappa_u_ * box.du + kappa_v_ * box.dv;
      ++visits;
      if (boxes_ >= options.max_iterations || later_.size() >= most_later || depth_ == deepest ||
          image_size <= small)
        return std::max(box.t, excluded);
      listed = ball_ > 0 ? split<kind, true>(box) : split<kind, false>(box);
    }
  }

  template <PairKind kind>
  Separation separation(const MovingPair<kind>& pair, double t) const {
    const Separation apart = pair.separation(t, separation_);
    if (!apart.direction.allFinite()) return {};  // primitives that touch have none
    return apart;
  }

  /// Cuts a box where its image is longest into four, and lists those that may touch: four at once cost
  /// little more than two. True if `box` now is one of them, to be visited next.
  template <PairKind kind, bool ball>
  [[gnu::noinline]] bool split(Box& box) {
    const double size_t = kappa_t_ * box.dt, size_u = kappa_u_ * box.du, size_v = kappa_v_ * box.dv;
    if (size_t >= size_u && size_t >= size_v) {
      const double dt = 0.25 * box.dt, du = 0.5 * box.du, dv = 0.5 * box.dv, um = box.u + du, vm = box.v + dv;
      Range ends[5];
      for (int i = 0; i < 5; ++i) ends[i] = at(box.t + i * dt).range(um, vm, du, dv);
      box.dt = dt;
      boxes_ += 4;
      for (int i = 3; i > 0; --i) {
        if (!touches<ball>(hull(ends[i], ends[i + 1]))) continue;
        later_.push_back(box);
        later_.back().t = box.t + i * dt;
        std::push_heap(later_.begin(), later_.end());
      }
      return touches<ball>(hull(ends[0], ends[1]));
    }
    // Along u, v or both: into four unless that makes its image much shorter there than along the other.
    const bool cut_u = 4 * size_u >= size_v, cut_v = 4 * size_v >= size_u;
    if (cut_u) box.du *= 0.25;
    if (cut_v) box.dv *= 0.25;
    const Instant begin = at(box.t), end = at(box.t + box.dt);
    const Lanes du_begin = box.du * begin.b, du_end = box.du * end.b;
    const Lanes dv_begin = box.dv * begin.c, dv_end = box.dv * end.c;
    const Range first_begin =
        begin.range(box.u + 0.5 * box.du, box.v + 0.5 * box.dv, 0.5 * box.du, 0.5 * box.dv);
    const Range first_end = end.range(box.u + 0.5 * box.du, box.v + 0.5 * box.dv, 0.5 * box.du, 0.5 * box.dv);
    const Lanes u_begin[3] = {du_begin, 2.0 * du_begin, 3.0 * du_begin},
                u_end[3] = {du_end, 2.0 * du_end, 3.0 * du_end};
    unsigned open = 0;
    const auto row = [&](const Range& b, const Range& e, int bits) __attribute__((always_inline)) {
      open |= unsigned(touches<ball>(hull(b, e))) << bits;
      if (!cut_u) return;
      for (int i = 0; i < 3; ++i) {
        const Range part = {min(b.low + u_begin[i], e.low + u_end[i]),
                            max(b.high + u_begin[i], e.high + u_end[i])};
        open |= unsigned(touches<ball>(part)) << (bits + i + 1);
      }
    };
    const auto shifted = [](const Range& r, const Lanes& by) __attribute__((always_inline)) {
      return Range{r.low + by, r.high + by};
    };
    row(first_begin, first_end, 0);
    if (cut_v)
      for (int j = 1; j < 4; ++j)
        row(shifted(first_begin, double(j) * dv_begin), shifted(first_end, double(j) * dv_end), 4 * j);
    if (kind == PairKind::point_triangle && box.u + box.v + 4 * (box.du + box.dv) > 1) {
      // Beyond u + v = 1 there is no triangle.
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i)
          if (box.u + i * box.du + box.v + j * box.dv > 1) open &= ~(1u << (4 * j + i));
    }
    boxes_ += (cut_u ? 4 : 1) * (cut_v ? 4 : 1);
    now_[depth_] = {box, open};
    depth_ += open != 0;
    return false;
  }

  std::array<Vector3, 6> coefficients_;  ///< a₀, a₁, b₀, b₁, c₀, c₁ [m]
  Vector3 blur_;                         ///< rounding along x, y, z [m]
  double separation_ = 0;                ///< ξ [m]
  SeparationNorm norm_ = SeparationNorm::euclidean;
  double ball_ = 0;                                 ///< ξ² if the separation is Euclidean and not 0
  double kappa_t_ = 0, kappa_u_ = 0, kappa_v_ = 0;  ///< [m]
  Lanes a0_, a1_, b0_, b1_, c0_, c1_;               ///< the coefficients along the four axes
  Lanes reach_;                         ///< a box farther than this from 0 along some axis is excluded
  std::array<Parts, deepest + 1> now_;  ///< a stack
  int depth_ = 0;
  std::int64_t boxes_ = 0;  ///< looked at
  std::vector<Box> later_;  ///< a heap
};

}  // namespace apart
