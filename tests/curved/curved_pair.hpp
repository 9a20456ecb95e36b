#pragma once
// Pairs of primitives of two bodies that move and turn, and an oracle for them: slow, simple, and sharing
// nothing with the library but the numbering of points.
#include <apart/collision/curved_ccd.hpp>
#include <support/reference_distance.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <deque>

namespace apart::test {

/// Position and rotation vector change linearly in t ∈ [0, 1], as in Rigid IPC [thesis eq. 4.16].
struct Turning {
  Vector3 position = Vector3::Zero(), move = Vector3::Zero();  ///< [m]
  Vector3 rotation = Vector3::Zero(), turn = Vector3::Zero();  ///< [rad]

  Vector3 at(double t, const Vector3& local) const {
    const Vector3 vector = rotation + t * turn;
    const double angle = vector.norm();
    const Vector3 turned = angle == 0 ? local : Vector3(Eigen::AngleAxisd(angle, vector / angle) * local);
    return turned + position + t * move;
  }
  double speed(const Vector3& local) const { return move.norm() + turn.norm() * local.norm(); }
  /// ‖d²x/dt²‖ ≤ ‖Δθ‖² ‖a‖ for rotation vectors θ₀ + t Δθ with any θ₀.
  double bend(const Vector3& local) const { return turn.squaredNorm() * local.norm(); }
};

struct CurvedPair {
  PairKind kind = PairKind::point_point;
  std::array<Turning, 2> body;  ///< of the first and the second primitive
  StencilPoints local;          ///< in the frames of their bodies [m]
  double separation = 0, dhat = infinity;

  int size() const { return point_count(kind); }
  const Turning& body_of(int i) const { return body[i < first_count(kind) ? 0 : 1]; }
  StencilPoints at(double t) const {
    StencilPoints x;
    for (int i = 0; i < size(); ++i) x[std::size_t(i)] = body_of(i).at(t, local[std::size_t(i)]);
    return x;
  }
  /// How fast the distance can change.
  double speed() const {
    double largest[2] = {0, 0};
    for (int i = 0; i < size(); ++i) {
      double& of = largest[i < first_count(kind) ? 0 : 1];
      of = std::max(of, body_of(i).speed(local[std::size_t(i)]));
    }
    return largest[0] + largest[1];
  }
  /// Of its coordinates [m].
  double extent() const {
    double largest = 0;
    for (int i = 0; i < size(); ++i)
      largest = std::max(
          {largest, local[std::size_t(i)].norm() + body_of(i).position.norm() + body_of(i).move.norm()});
    return largest;
  }
};

inline CurvedAnswer ask(const CurvedPair& pair, const CcdOptions& options = {}) {
  const auto at = [&](double t) { return pair.at(t); };
  const StencilPoints end = pair.at(1);
  const CcdQuery chord{pair.kind, pair.at(0), {}, pair.separation, pair.dhat};
  CurvedQuery query{chord, {}, 32 * std::numeric_limits<double>::epsilon() * pair.extent(), at};
  for (std::size_t i = 0; i < std::size_t(pair.size()); ++i) {
    query.chord.displacement[i] = end[i] - chord.x[i];
    query.bend[i] = pair.body_of(int(i)).bend(pair.local[i]);
  }
  return curved_time_of_impact(query, options);
}

/// By trying every pair of features. Where rounding could decide, in quadruple precision.
inline double oracle_distance(PairKind kind, const StencilPoints& x) {
  const auto point_edge = [](const Vector3& p, const Vector3& a, const Vector3& b) {
    const Vector3 d = b - a;
    const double t = std::clamp((p - a).dot(d) / d.squaredNorm(), 0.0, 1.0);
    return (p - a - t * d).norm();
  };
  const auto inside = [](const Vector3& p, const Vector3& a, const Vector3& u, const Vector3& v) {
    // Distance of a point from the plane of a + s u + t v, if its foot is within the triangle.
    const Vector3 n = u.cross(v), w = p - a;
    const double n2 = n.squaredNorm(), s = w.cross(v).dot(n), t = u.cross(w).dot(n);
    return s >= 0 && t >= 0 && s + t <= n2 ? std::abs(w.dot(n)) / std::sqrt(n2) : infinity;
  };
  switch (kind) {
    case PairKind::point_point:
      return (x[0] - x[1]).norm();
    case PairKind::point_edge:
      return point_edge(x[0], x[1], x[2]);
    case PairKind::point_triangle:
      return std::min({point_edge(x[0], x[1], x[2]), point_edge(x[0], x[2], x[3]),
                       point_edge(x[0], x[3], x[1]), inside(x[0], x[1], x[2] - x[1], x[3] - x[1])});
    case PairKind::edge_edge:
      break;
  }
  double best = std::min({point_edge(x[0], x[2], x[3]), point_edge(x[1], x[2], x[3]),
                          point_edge(x[2], x[0], x[1]), point_edge(x[3], x[0], x[1])});
  const Vector3 u = x[1] - x[0], v = x[3] - x[2], n = u.cross(v), w = x[2] - x[0];
  const double n2 = n.squaredNorm(), s = w.cross(v).dot(n), t = w.cross(u).dot(n);
  if (s >= 0 && s <= n2 && t >= 0 && t <= n2) best = std::min(best, std::abs(w.dot(n)) / std::sqrt(n2));
  return best;
}

/// What the oracle finds on [0, until].
struct OracleFinding {
  std::optional<double> time = {};  ///< the distance is `level` or less then
  bool open = false;                ///< whether there were intervals of which it cannot say
};

/// Distances change no faster than speed(): one that is larger than `level` by s at t is so for a time of s /
/// speed before and after. Intervals are cut until each is free; of those that are longest, or with `first`
/// those that are earliest, until there have been too many.
inline OracleFinding oracle(const CurvedPair& pair, double level, double until, bool first = false) {
  constexpr int most = 20000;
  struct Interval {
    double begin, end;
  };
  OracleFinding finding;
  const double speed = pair.speed() * (1 + 1e-9), blur = 1e-14 * pair.extent();
  std::deque<Interval> open = {{0, until}};
  for (int work = 0; !open.empty(); ++work) {
    if (work == most) {
      finding.open = true;
      return finding;
    }
    const Interval now = open.front();
    open.pop_front();
    const double middle = 0.5 * (now.begin + now.end), half = 0.5 * (now.end - now.begin);
    const double distance = oracle_distance(pair.kind, pair.at(middle));
    if (distance - speed * half - blur > level) continue;
    if (distance <= level && reference_distance(pair.kind, pair.at(middle)) <= level) {
      finding.time = middle;
      return finding;
    }
    if (first) {
      open.push_front({middle, now.end});
      open.push_front({now.begin, middle});
    } else {
      open.push_back({now.begin, middle});
      open.push_back({middle, now.end});
    }
  }
  return finding;
}

}  // namespace apart::test
