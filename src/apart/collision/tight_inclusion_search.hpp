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
//   the vector registers, and a slanted pair a hair apart is excluded at once. Before the search, and again
//   when it gets long, such a direction excludes all of the time that it can.
// - The boxes are visited in order of time instead of level by level. Then every box ahead of the answer is
//   visited once and none behind it, and neither the answer nor what a limit of iterations makes of it
//   depends on how far in time one looks.
#include <apart/collision/moving_pair.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace apart {

/// Operations: what four numbers side by side, `Operations::Lanes`, can do besides +, −, *.
template <class Operations>
class TightInclusion : private Operations {
  using Lanes = typename Operations::Lanes;
  using Operations::abs, Operations::first_three_sum, Operations::max, Operations::min, Operations::negative,
      Operations::of;

 public:
  /// Not inlined: the compiler would look up a thread-local object again for each of its members.
  [[gnu::noinline]] std::optional<double> run(const CcdQuery& query, const CcdOptions& options) {
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
  static constexpr double more = 1 + 16 * unit_roundoff;  ///< makes up for the rounding of a few operations
  // u and v are quartered at most about 25 times each before a box is as small as rounding.
  static constexpr int deepest = 64;
  static constexpr int most_later = 1'000'000;  ///< boxes listed, 56 MB; more count as too many visits
  static constexpr int first_visits = 64;       ///< boxes visited before the direction is renewed

  /// [t, t + dt] × [u, u + du] × [v, v + dv], all numbers multiples of 2⁻⁵² and exact.
  struct Box {
    double t, dt, u, v, du, dv;
  };
  /// An entry of a list; `next` is 0 at its end.
  struct Listed {
    Box box;
    int next;
  };
  /// The parts of a box that are still to be visited: up to four along u by four along v. All begin at its
  /// time.
  struct Parts {
    Box first;
    std::uint64_t open;  ///< bit 4 (4 j + i) is set if the part i along u and j along v is
    Box take() {
      const int i = std::countr_zero(open);
      open &= open - 1;
      return {first.t,  first.dt, first.u + (i >> 2 & 3) * first.du, first.v + (i >> 4) * first.dv,
              first.du, first.dv};
    }
  };
  /// Of a set of points F: how far it is beyond the reach above 0 along each axis, and how far below;
  /// negative if it is not.
  struct Beyond {
    Lanes above, below;
  };
  /// The same of the hull of two sets; negative if it reaches 0.
  [[gnu::always_inline]] static Lanes beyond_hull(const Beyond& a, const Beyond& b) {
    return max(min(a.above, b.above), min(a.below, b.below));
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
    // The bound on rounding along each axis, in place of eq. 3.5. With unit roundoff ω and S the largest
    // coordinate plus twice the largest displacement, because the last box in time may end as late as 2:
    // a₀ … c₁ are off by 2ωS together with their products with t, along the fourth axis by 8ωS for the
    // products with the direction, so a, b, c at t by 12ωS; a middle by 50ωS, a half-width by 15ωS, their sum
    // by 73ωS; a shift along u and one along v add 19ωS each. Vertices rounded to doubles, or a displacement
    // rounded from x₁ − x, add 4ωS. The reach takes part in five of the sums; its own factor makes up for
    // that.
    Vector3 place = zero, way = zero;
    for (int i = 0; i < point_count(kind); ++i) {
      place = place.cwiseMax(x[i].cwiseAbs());
      way = way.cwiseMax(p[i].cwiseAbs());
    }
    blur_ = 128 * unit_roundoff * (place + 2 * way);
  }

  /// Largest speeds of F along t, u, v (eq. 3.7): a box is split where its image is longest.
  template <PairKind kind>
  void set_speeds() {
    const auto& [a0, a1, b0, b1, c0, c1] = coefficients_;
    const auto size = [](const Vector3& d) { return d.template lpNorm<Eigen::Infinity>(); };
    kappa_u_ = std::max(size(b0), size(b0 + b1));
    kappa_v_ = std::max(size(c0), size(c0 + c1));
    kappa_t_ = std::max(size(a1), size(a1 + b1));
    if constexpr (kind == PairKind::point_triangle) kappa_t_ = std::max(kappa_t_, size(a1 + c1));
    if constexpr (kind == PairKind::edge_edge)
      kappa_t_ = std::max({kappa_t_, size(a1 + c1), size(a1 + b1 + c1)});
  }

  /// Lays the fourth axis along a direction.
  void set_direction(const Vector3& direction) {
    set_axes([&](const Vector3& d) { return direction.dot(d); }, reach_along(direction),
             direction.cwiseAbs().dot(blur_));
  }
  /// x, y and z alone.
  void set_no_direction() {
    set_axes([](const Vector3&) { return 0.0; }, 0, 0);
  }
  template <class Along>
  void set_axes(const Along& along, double separation_along, double blur_along) {
    const auto lanes = [&](const Vector3& d) { return of(d[0], d[1], d[2], along(d)); };
    a0_ = lanes(coefficients_[0]), a1_ = lanes(coefficients_[1]);
    b0_ = lanes(coefficients_[2]), b1_ = lanes(coefficients_[3]);
    c0_ = lanes(coefficients_[4]), c1_ = lanes(coefficients_[5]);
    // Not 0, so that what is 0 is not beyond even where all coordinates are 0, and so that sums with it are
    // never −0, whose sign would be misleading.
    const auto reach = [](double separation, double blur) {
      return -(separation + blur + std::numeric_limits<double>::min()) * more;
    };
    minus_reach_ = of(reach(separation_, blur_[0]), reach(separation_, blur_[1]),
                      reach(separation_, blur_[2]), reach(separation_along, blur_along));
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

  /// A lower bound of the squared distance from 0 of what is beyond the reach by this; the fourth axis is
  /// left out. The reach is the separation and a bound on rounding, so the separation alone is put back.
  double squared_distance(const Lanes& beyond) const {
    const Lanes away = max(beyond + of(separation_, separation_, separation_, 0), of(0, 0, 0, 0));
    return first_three_sum(away * away);
  }
  /// Four bits, all set if what is beyond the reach by this may touch.
  /// ball: whether the separation is Euclidean and not 0.
  template <bool ball>
  [[gnu::always_inline]] unsigned touching(const Lanes& beyond) const {
    const unsigned bits = negative(beyond);
    if constexpr (ball) return bits == 15 && squared_distance(beyond) <= ball_ ? 15 : 0;
    return bits;
  }
  bool touches(const Lanes& beyond) const {
    return (ball_ > 0 ? touching<true>(beyond) : touching<false>(beyond)) == 15;
  }

  /// a, b, c at one time.
  struct Instant {
    Lanes a, b, c;
  };
  [[gnu::always_inline]] Instant at(double t) const { return {a0_ + t * a1_, b0_ + t * b1_, c0_ + t * c1_}; }
  /// The points u ± du, v ± dv at one time.
  [[gnu::always_inline]] Beyond beyond(const Instant& now, double u, double v, double du, double dv) const {
    const Lanes middle = now.a + u * now.b + v * now.c;
    const Lanes minus_half = minus_reach_ - du * abs(now.b) - dv * abs(now.c);
    return {minus_half + middle, minus_half - middle};
  }
  bool touches(const Box& box) const {
    const double du = 0.5 * box.du, dv = 0.5 * box.dv, u = box.u + du, v = box.v + dv;
    return touches(beyond_hull(beyond(at(box.t), u, v, du, dv), beyond(at(box.t + box.dt), u, v, du, dv)));
  }

  /// Whether F misses the origin on all of its domain; of a triangle, from its three corners.
  template <PairKind kind>
  bool free_throughout() const {
    if constexpr (kind != PairKind::point_triangle) return !touches(whole<kind>(0, 1));
    const Instant begin = at(0), end = at(1);
    const Lanes x[6] = {begin.a, begin.a + begin.b, begin.a + begin.c, end.a, end.a + end.b, end.a + end.c};
    const Lanes low = min(min(min(x[0], x[1]), min(x[2], x[3])), min(x[4], x[5]));
    const Lanes high = max(max(max(x[0], x[1]), max(x[2], x[3])), max(x[4], x[5]));
    return !touches(max(minus_reach_ + low, minus_reach_ - high));
  }
  template <PairKind kind>
  static Box whole(double t, double dt) {
    return {t,
            dt,
            0,
            0,
            kind == PairKind::point_point ? 0.0 : 1.0,
            kind == PairKind::point_triangle || kind == PairKind::edge_edge ? 1.0 : 0.0};
  }

  template <PairKind kind>
  std::optional<double> run(const CcdQuery& query, const CcdOptions& options) {
    set_motion<kind>(query);
    // A first test along x, y and z, with the largest distance that could matter, excludes pairs that are
    // merely nearby.
    const double most = query.separation + (options.gap_fraction > 0 ? options.gap_fraction * query.dhat : 0);
    if (most < infinity) {
      set_separation(most, options.norm);
      set_no_direction();
      if (free_throughout<kind>()) return std::nullopt;
    }
    set_separation(query.separation, options.norm);
    const MovingPair<kind> pair(query);
    Separation apart = separation<kind>(pair, 0);
    double tolerance = options.tolerance;
    target_ = 0;
    if (options.gap_fraction > 0) {
      const double gap = apart.least - reach_along(apart.direction) - pair.blur(0);
      if (!(gap > 0)) return 0;
      target_ = options.gap_fraction * std::min(gap, query.dhat);
      tolerance = 0.25 * target_;
      set_separation(query.separation + target_, options.norm);
    }
    set_speeds<kind>();
    small_ = std::max(4 * blur_.maxCoeff(), tolerance);  // a NaN loses

    box_ = whole<kind>(0, 1);
    excluded_ = 0;
    boxes_ = 0;
    visits_ = renewal_ = 0;
    std::optional<double> t;
    while (!t) {
      t = exclude<kind>(pair, apart, options);
      if (!t) t = ball_ > 0 ? visit<kind, true>(options) : visit<kind, false>(options);
    }
    return *t < infinity ? t : std::nullopt;
  }

  template <PairKind kind>
  Separation separation(const MovingPair<kind>& pair, double t) const {
    const Separation apart = pair.separation(t, separation_);
    if (!apart.direction.allFinite()) return {};  // primitives that touch have none
    return apart;
  }

  /// Excludes as much time as directions can, in a few steps as long as they are worth it, and lays the
  /// fourth axis along the last. The answer if that is all it takes; infinity for no impact.
  template <PairKind kind>
  std::optional<double> exclude(const MovingPair<kind>& pair, Separation& apart, const CcdOptions& options) {
    double t = std::max(box_.t, excluded_), free_time = 0;
    for (int step = 0; step < 16; ++step) {
      if (step > 0 || visits_ > 0) apart = separation<kind>(pair, t);
      const double distance = reach_along(apart.direction) + pair.blur(t);
      const auto free = pair.free_time(apart, distance);
      // A direction that does not separate them now proves nothing for later, even if they part.
      free_time = apart.least > distance ? std::max(free.time, 0.0) : 0;
      if (t + free_time >= options.upper_time) return infinity;
      t += free_time;
      excluded_ = t;
      // Done if no gap is left, to a small share of the target, or of the tolerance.
      const double little = target_ > 0 ? 0.1 * target_ : options.tolerance;
      if (target_ > 0 && free.here - distance < little) return t;
      if (separation_ > 0 && norm_of(apart.least * apart.direction) <= separation_ + little) return t;
      if (!(free_time > t / 256)) break;
    }
    set_direction(apart.direction);
    if (visits_ == 0 || t > box_.t + box_.dt) {  // start again from here
      listed_ = false;
      unlist_all();
      front_ = std::floor(t * 0x1p52) * 0x1p-52;
      window_ = std::scalbn(1.0, free_time > 0 ? std::clamp(std::ilogb(free_time) + 1, -40, 0) : -40);
      renewal_ = visits_ + first_visits;
    } else {
      renewal_ = 2 * visits_;
    }
    return std::nullopt;
  }

  /// Visits boxes until the direction is to be renewed. The answer if there is one; infinity for no impact.
  template <PairKind kind, bool ball>
  [[gnu::noinline]] std::optional<double> visit(const CcdOptions& options) {
    Box box = box_;
    bool listed = listed_;
    for (; visits_ != renewal_; ++visits_) {
      if (!listed) {
        if (depth_ > 0) {
          box = now_[depth_ - 1].take();
          depth_ -= now_[depth_ - 1].open == 0;
        } else if (same_time_ != 0 || widths_ != 0) {
          if (same_time_ == 0) advance();
          box = take_listed();
        } else {
          do {
            if (front_ >= options.upper_time) return infinity;
            box = whole<kind>(front_, window_);
            front_ += window_;
            window_ *= 2;
          } while (!touches(box));
        }
      }
      if (box.t >= options.upper_time) return infinity;
      const double size_t = kappa_t_ * box.dt, size_u = kappa_u_ * box.du, size_v = kappa_v_ * box.dv;
      if (boxes_ >= options.max_iterations || listed_count_ >= most_later || depth_ == deepest ||
          size_t + size_u + size_v <= small_)
        return std::max(box.t, excluded_);
      // Cut it into four where its image is longest, and list those that may touch: four at once cost little
      // more than two.
      if (size_t >= size_u && size_t >= size_v) {
        listed = cut_time<ball>(box);
      } else {
        cut_space<kind, ball>(box, size_u, size_v);
        listed = false;
      }
    }
    box_ = box;
    listed_ = listed;
    return std::nullopt;
  }

  // Boxes that begin later. Quartering a window of time makes a tree, of which one path leads to now. Beside
  // that path there are at most three intervals of each width dt ahead, so a box belongs to one of three
  // lists for its width; narrow intervals come before wide ones. So the earliest boxes are found without
  // sorting.

  void list_later(int quarter, const Box& box) {
    if (free_ == 0) {
      free_ = int(pool_.size());
      pool_.emplace_back();
    }
    const int entry = free_, width = width_exponent(box.dt);
    free_ = pool_[entry].next;
    pool_[entry] = {box, later_[width][quarter]};
    later_[width][quarter] = entry;
    widths_ |= std::uint64_t(1) << width;
    ++listed_count_;
  }
  /// Makes the earliest list that of now, when nothing else begins now.
  void advance() {
    const int width = 63 - std::countl_zero(widths_);
    auto& quarters = later_[width];
    const int first = quarters[1] != 0 ? 1 : quarters[2] != 0 ? 2 : 3;
    same_time_ = std::exchange(quarters[first], 0);
    if ((quarters[1] | quarters[2] | quarters[3]) == 0) widths_ &= ~(std::uint64_t(1) << width);
  }
  Box take_listed() {
    const int entry = same_time_;
    same_time_ = std::exchange(pool_[entry].next, free_);
    free_ = entry;
    --listed_count_;
    return pool_[entry].box;
  }
  void unlist_all() {
    for (; widths_ != 0; widths_ &= widths_ - 1) later_[std::countr_zero(widths_)] = {};
    depth_ = same_time_ = free_ = listed_count_ = 0;
    if (pool_.capacity() > 100'000) pool_ = std::vector<Listed>();  // of a rare long search
    pool_.resize(1);
  }
  /// e if dt = 2⁻ᵉ. Never above 48: what is shorter is as small as rounding, and not cut.
  static int width_exponent(double dt) { return 1023 - int(std::bit_cast<std::uint64_t>(dt) >> 52); }

  /// Of four bits for each of 16 parts: the lowest of those of which all are set.
  static std::uint64_t all_set(std::uint64_t bits) {
    bits &= bits >> 1;
    return bits & bits >> 2 & 0x1111'1111'1111'1111;
  }

  /// True if `box` now is the first of its parts in time, to be visited next.
  template <bool ball>
  [[gnu::always_inline]] bool cut_time(Box& box) {
    // Over the middle in u and v, F is linear in time, and so are the half-widths but for their signs.
    const double dt = 0.25 * box.dt, du = 0.5 * box.du, dv = 0.5 * box.dv;
    const double u = box.u + du, v = box.v + dv;
    const Lanes middle0 = a0_ + u * b0_ + v * c0_, middle1 = a1_ + u * b1_ + v * c1_;
    const Lanes half_u0 = du * b0_, half_u1 = du * b1_, half_v0 = dv * c0_, half_v1 = dv * c1_;
    Beyond ends[5];
    for (int i = 0; i < 5; ++i) {
      const double t = box.t + i * dt;
      const Lanes middle = middle0 + t * middle1;
      const Lanes minus_half = minus_reach_ - abs(half_u0 + t * half_u1) - abs(half_v0 + t * half_v1);
      ends[i] = {minus_half + middle, minus_half - middle};
    }
    std::uint64_t bits = 0;
    for (int i = 0; i < 4; ++i)
      bits |= std::uint64_t(touching<ball>(beyond_hull(ends[i], ends[i + 1]))) << 4 * i;
    boxes_ += 4;
    box.dt = dt;
    const std::uint64_t open = all_set(bits);
    for (std::uint64_t rest = open & ~1; rest != 0; rest &= rest - 1) {
      const int quarter = std::countr_zero(rest) >> 2;
      list_later(quarter, {box.t + quarter * dt, dt, box.u, box.v, box.du, box.dv});
    }
    return open & 1;
  }

  /// Along u, v or both: into four unless that makes its image much shorter there than along the other.
  template <PairKind kind, bool ball>
  [[gnu::always_inline]] void cut_space(const Box& box, double size_u, double size_v) {
    const bool cut_u = 4 * size_u >= size_v, cut_v = 4 * size_v >= size_u;
    const double du = cut_u ? 0.25 * box.du : box.du, dv = cut_v ? 0.25 * box.dv : box.dv;
    const Instant begin = at(box.t), end = at(box.t + box.dt);
    const double u = box.u + 0.5 * du, v = box.v + 0.5 * dv;
    const Beyond first_begin = beyond(begin, u, v, 0.5 * du, 0.5 * dv);
    const Beyond first_end = beyond(end, u, v, 0.5 * du, 0.5 * dv);
    const Lanes du_begin = du * begin.b, du_end = du * end.b, dv_begin = dv * begin.c, dv_end = dv * end.c;
    const Lanes u_begin[3] = {du_begin, 2.0 * du_begin, 3.0 * du_begin};
    const Lanes u_end[3] = {du_end, 2.0 * du_end, 3.0 * du_end};
    std::uint64_t bits = 0;
    const auto shifted = [](const Beyond& b, const Lanes& by) __attribute__((always_inline)) {
      return Beyond{b.above + by, b.below - by};
    };
    const auto row = [&](const Beyond& b, const Beyond& e, int bit) __attribute__((always_inline)) {
      bits |= std::uint64_t(touching<ball>(beyond_hull(b, e))) << bit;
      if (!cut_u) return;
      for (int i = 0; i < 3; ++i)
        bits |= std::uint64_t(touching<ball>(beyond_hull(shifted(b, u_begin[i]), shifted(e, u_end[i]))))
                << (bit + 4 * i + 4);
    };
    row(first_begin, first_end, 0);
    if (cut_v)
      for (int j = 1; j < 4; ++j)
        row(shifted(first_begin, double(j) * dv_begin), shifted(first_end, double(j) * dv_end), 16 * j);
    std::uint64_t open = all_set(bits);
    if (kind == PairKind::point_triangle && box.u + box.v + 4 * (du + dv) > 1) {
      // Beyond u + v = 1 there is no triangle.
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i)
          if (box.u + i * du + box.v + j * dv > 1) open &= ~(std::uint64_t(1) << (16 * j + 4 * i));
    }
    boxes_ += (cut_u ? 4 : 1) * (cut_v ? 4 : 1);
    now_[depth_] = {{box.t, box.dt, box.u, box.v, du, dv}, open};
    depth_ += open != 0;
  }

  std::array<Vector3, 6> coefficients_;  ///< a₀, a₁, b₀, b₁, c₀, c₁ [m]
  Vector3 blur_;                         ///< rounding along x, y, z [m]
  double separation_ = 0;                ///< ξ [m]
  SeparationNorm norm_ = SeparationNorm::euclidean;
  double ball_ = 0;                                 ///< ξ² if the separation is Euclidean and not 0
  double kappa_t_ = 0, kappa_u_ = 0, kappa_v_ = 0;  ///< [m]
  Lanes a0_, a1_, b0_, b1_, c0_, c1_;               ///< the coefficients along the four axes
  Lanes minus_reach_;  ///< a box farther than the reach from 0 along some axis is excluded
  double target_ = 0;  ///< [m], that the gap may shrink to
  double small_ = 0;   ///< [m]: a box with an image of this size is not split; one as small as rounding tells
                       ///< nothing new (eq. 3.6)

  double excluded_ = 0;                 ///< times before are
  double front_ = 0;                    ///< times before are excluded too, but for the boxes listed
  double window_ = 0;                   ///< width in time of the next box
  Box box_;                             ///< visited last, or next if `listed_`
  bool listed_ = false;                 ///< whether it is to be visited next
  std::array<Parts, deepest + 1> now_;  ///< a stack
  int depth_ = 0;
  std::vector<Listed> pool_;                    ///< of entries; the first is not used
  std::array<std::array<int, 4>, 64> later_{};  ///< lists by the exponent of dt and by the quarter in time
  std::uint64_t widths_ = 0;                    ///< bit e is set if one of `later_[e]` is not empty
  int same_time_ = 0;                           ///< a list of boxes that begin now
  int free_ = 0;                                ///< the list of entries not in use
  int listed_count_ = 0;
  std::int64_t boxes_ = 0;        ///< looked at
  int visits_ = 0, renewal_ = 0;  ///< boxes cut, and when the direction is renewed
};

}  // namespace apart
