#pragma once
// The published method for curved paths, to compare with: pieces of which intervals bound how far curves are
// from their chords, and linear queries for the chords [thesis algorithm 4.1].
#include "curved_pair.hpp"

#include <numbers>

namespace apart::test {

/// Not rounded outward: this is for comparison, where 1e-16 does not matter.
struct Interval {
  double low = 0, high = 0;
  friend Interval operator+(Interval a, Interval b) { return {a.low + b.low, a.high + b.high}; }
  friend Interval operator-(Interval a, Interval b) { return {a.low - b.high, a.high - b.low}; }
  friend Interval operator*(Interval a, Interval b) {
    const auto [least, most] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return {least, most};
  }
  friend Interval operator*(double a, Interval b) { return Interval{a, a} * b; }
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

inline Interval square(Interval a) {
  const double least = a.low > 0 ? a.low : a.high < 0 ? a.high : 0;
  return {least * least, a.magnitude() * a.magnitude()};
}

/// sin x / x over x ≥ 0: falls up to its first minimum; beyond, what can be said simply.
inline Interval sinc(Interval x) {
  const auto value = [](double v) { return v == 0 ? 1 : std::sin(v) / v; };
  constexpr double minimum = 4.493409457909064, least = -0.21723362821122166;
  if (x.high <= minimum) return {value(x.high), value(x.low)};
  const double most = x.low < minimum ? value(x.low) : 1 / x.low;
  return {least, std::max(most, 0.13)};  // 0.128…: the second maximum
}

using IntervalVector = std::array<Interval, 3>;

/// R(θ) a + p over an interval of time, R = I + sinc‖θ‖ [θ] + ½ sinc²(‖θ‖/2) [θ]² [thesis eq. 4.14, with its
/// 2 corrected to ½].
inline IntervalVector positions(const Turning& body, const Vector3& local, Interval t) {
  IntervalVector angle, result;
  Interval squared{0, 0};
  for (std::size_t k = 0; k < 3; ++k) {
    angle[k] = Interval{body.rotation[Index(k)], body.rotation[Index(k)]} + body.turn[Index(k)] * t;
    squared = squared + square(angle[k]);
  }
  const Interval norm{std::sqrt(squared.low), std::sqrt(squared.high)};
  const Interval first = sinc(norm), half = sinc(0.5 * norm), second = 0.5 * square(half);
  const auto cross = [&](const IntervalVector& v) {
    return IntervalVector{angle[1] * v[2] - angle[2] * v[1], angle[2] * v[0] - angle[0] * v[2],
                          angle[0] * v[1] - angle[1] * v[0]};
  };
  IntervalVector a;
  for (std::size_t k = 0; k < 3; ++k) a[k] = {local[Index(k)], local[Index(k)]};
  const IntervalVector once = cross(a), twice = cross(once);
  for (std::size_t k = 0; k < 3; ++k)
    result[k] = a[k] + first * once[k] + second * twice[k] +
                Interval{body.position[Index(k)], body.position[Index(k)]} + body.move[Index(k)] * t;
  return result;
}

struct IntervalAnswer {
  std::optional<double> time = {};
  int pieces = 0, linear_queries = 0;
};

/// How far the vertices of a side are from their chords on [t0, t1] at most: of curve and chord over the
/// whole interval [thesis eq. 4.20].
inline double interval_deviation(const CurvedPair& pair, int begin, int end, double t0, double t1) {
  double largest = 0;
  for (int i = begin; i < end; ++i) {
    const Turning& body = pair.body_of(i);
    const Vector3 local = pair.local[std::size_t(i)], from = body.at(t0, local), to = body.at(t1, local);
    const IntervalVector x = positions(body, local, {t0, t1});
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Interval chord{std::min(from[Index(k)], to[Index(k)]), std::max(from[Index(k)], to[Index(k)])};
      sum += square(x[k] - chord).high;
    }
    largest = std::max(largest, std::sqrt(sum));
  }
  return largest;
}

inline IntervalAnswer interval_method(const CurvedPair& pair) {
  constexpr double share = 0.5;
  constexpr int most_pieces = 1000;
  IntervalAnswer answer;
  std::vector<double> ends = {1};
  double t0 = 0;
  int pieces = 1;
  while (!ends.empty()) {
    const double t1 = ends.back();
    const StencilPoints from = pair.at(t0), to = pair.at(t1);
    const double distance = oracle_distance(pair.kind, from) - pair.separation;
    const int first = first_count(pair.kind);
    const double bound =
        interval_deviation(pair, 0, first, t0, t1) + interval_deviation(pair, first, pair.size(), t0, t1);
    const bool may_cut = pieces < most_pieces || t0 == 0;
    const auto halve = [&] {
      ends.push_back(0.5 * (t0 + t1));
      ++pieces;
    };
    if (t1 - t0 < 1e-12) {
      answer.time = t0;
      return answer;
    }
    if (bound >= share * distance && may_cut) {
      halve();
      continue;
    }
    CcdQuery query{pair.kind, from, {}, bound + pair.separation};
    for (std::size_t i = 0; i < std::size_t(pair.size()); ++i) query.displacement[i] = to[i] - from[i];
    ++answer.linear_queries;
    const auto hit = time_of_impact(query, {.method = CcdMethod::tight_inclusion,
                                            .gap_fraction = 0,
                                            .tolerance = 1e-6,
                                            .norm = SeparationNorm::maximum});
    if (hit && *hit == 0 && t0 == 0) {
      halve();
      continue;
    }
    if (hit) {
      answer.time = t0 + *hit * (t1 - t0);
      return answer;
    }
    ++answer.pieces;
    ends.pop_back();
    t0 = t1;
  }
  return answer;
}

}  // namespace apart::test
