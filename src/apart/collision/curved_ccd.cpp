#include <apart/collision/curved_ccd.hpp>
#include <apart/collision/moving_pair.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// Deviations from a chord that are smaller than this share of the gap, and of d̂, change an answer little:
// cutting would cost more than it gains.
constexpr double small_deviation = 0.25;
constexpr double shortest_piece = 0x1p-40;  // of the path: as good as none
constexpr int most_pieces = 1 << 16;        // of one pair; then what has been reached is the answer

/// How far chord and curves of a piece can be from each other, of both primitives together [m].
double deviation_room(const CurvedQuery& query, double length) {
  const int n = point_count(query.chord.kind), first = first_count(query.chord.kind);
  const auto bend = query.bend.begin();
  const double largest = *std::max_element(bend, bend + first) + *std::max_element(bend + first, bend + n);
  return largest * (length * length / 8) + 2 * query.rounding;
}

/// The largest power of ½ that t is a multiple of.
double alignment(double t) {
  double length = 1;
  while (std::fmod(t, length) != 0) length /= 2;
  return length;
}

/// Goes along the curves piece by piece.
template <PairKind kind>
class PieceWalk {
  static constexpr int n = point_count(kind), first = first_count(kind);

 public:
  PieceWalk(const CurvedQuery& query, const CcdOptions& options) : query_(query), options_(options) {
    for (int i = 0; i < n; ++i)
      size_ += query.chord.x[i].template lpNorm<1>() + query.chord.displacement[i].template lpNorm<1>();
  }

  /// `start`: a multiple of a power of ½, up to which the chord of the whole path is free.
  CurvedAnswer from(double start) {
    const CcdQuery& chord = query_.chord;
    const double gap = gap_of(separation(chord.x));
    if (!(gap > 0)) return {0};
    target_ = options_.gap_fraction * std::min(gap, chord.dhat);
    CurvedAnswer answer;
    answer.pieces = 0;
    double t = start, length = 1;
    StencilPoints now = t == 0 ? chord.x : query_.at(t);
    while (t < 1 && t < options_.upper_time) {
      if (t > 0) answer.corners.push_back(t);
      length = std::min(2 * length, alignment(t));
      const Piece piece = free_piece(now, t, length, answer.pieces);
      length = piece.length;
      if (piece.impact || answer.pieces > most_pieces) {
        const double time = t + piece.impact.value_or(0) * length;
        if (time < options_.upper_time) answer.time = time;
        if (time == t && t > 0) answer.corners.pop_back();
        return answer;
      }
      t += length;
      now = piece.end;
    }
    return answer;
  }

 private:
  struct Piece {
    double length = 0;
    std::optional<double> impact = {};  ///< as a share of it
    StencilPoints end = {};
  };

  Separation separation(const StencilPoints& x) const {
    StencilPoints local;  // relative to the first point: exact for primitives that are close together
    for (int i = 0; i < n; ++i) local[i] = x[i] - x[0];
    return separate<kind>(local, query_.chord.separation);
  }
  double blur() const { return 2 * query_.rounding + sum_rounding * size_; }
  double gap_of(const Separation& s) const { return s.least - query_.chord.separation - blur(); }

  /// A piece from t on, of the given length or a shorter one, that is free or ends with an impact.
  Piece free_piece(const StencilPoints& now, double t, double length, int& pieces) const {
    const Separation apart = separation(now);
    const double gap = gap_of(apart);
    if (!(gap > 1.1 * target_)) return {length, 0.0, now};
    for (;; length /= 2) {
      ++pieces;
      const double until = t + length;
      StencilPoints end = now;
      if (until < 1)
        end = query_.at(until);
      else
        for (int i = 0; i < n; ++i) end[i] = query_.chord.x[i] + query_.chord.displacement[i];
      if (stays_apart(apart, end, length)) return {length, {}, end};
      const double room = deviation_room(query_, length);
      if (room <= small_deviation * (std::min(gap, query_.chord.dhat) - target_))
        return {length, impact(now, end, room, gap), end};
      if (length <= shortest_piece) return {length, 0.0, end};
    }
  }

  /// Whether all vertices stay apart along one direction, and so do the chords of all parts of the piece:
  /// what is beyond a plane at two times is so on the way between.
  bool stays_apart(const Separation& s, const StencilPoints& end, double length) const {
    const double level = query_.chord.separation + blur() + target_;
    int pair = 0;
    for (int a = 0; a < first; ++a)
      for (int b = first; b < n; ++b) {
        const double bend = (query_.bend[std::size_t(a)] + query_.bend[std::size_t(b)]) * length * length;
        if (falls_to(level, s.apart[std::size_t(pair++)], s.direction.dot(end[a] - end[b]), bend) <= 1)
          return false;
      }
    return true;
  }

  /// Of the chord of a piece.
  std::optional<double> impact(const StencilPoints& now, const StencilPoints& end, double room,
                               double gap) const {
    CcdQuery piece = query_.chord;
    piece.x = now;
    for (int i = 0; i < n; ++i) piece.displacement[i] = end[i] - now[i];
    piece.separation += room;
    CcdOptions options = options_;
    options.upper_time = 1;
    options.gap_fraction = std::min(target_ / std::min(gap - room, piece.dhat), 0.99);
    return time_of_impact(piece, options);
  }

  const CurvedQuery& query_;
  const CcdOptions& options_;
  double size_ = 0;    ///< Σ |coordinates|, Σ |displacements|
  double target_ = 0;  ///< the gap that is left at an impact [m]
};

CurvedAnswer walk(const CurvedQuery& query, const CcdOptions& options, double start) {
  switch (query.chord.kind) {
    case PairKind::point_point:
      return PieceWalk<PairKind::point_point>(query, options).from(start);
    case PairKind::point_edge:
      return PieceWalk<PairKind::point_edge>(query, options).from(start);
    case PairKind::point_triangle:
      return PieceWalk<PairKind::point_triangle>(query, options).from(start);
    case PairKind::edge_edge:
      break;
  }
  return PieceWalk<PairKind::edge_edge>(query, options).from(start);
}

}  // namespace

double falls_to(double level, double start, double end, double bend) {
  // Of all functions with these ends and |f″| ≤ b the lowest is f₀ + (f₁ − f₀ − b/2) t + b t²/2.
  const double above = start - level, fall = start - end + bend / 2;
  if (!(above > 0)) return 0;
  const double discriminant = fall * fall - 2 * bend * above;
  if (std::isnan(discriminant)) return 0;
  if (!(fall > 0) || discriminant < 0) return infinity;
  const double time = 2 * above / (fall + std::sqrt(discriminant)) * (1 - 1e-12);
  return time <= 1 ? time : infinity;
}

CurvedAnswer curved_time_of_impact(const CurvedQuery& query, const CcdOptions& options) {
  const double room = deviation_room(query, 1);
  CcdQuery whole = query.chord;
  whole.separation += room;
  const std::optional<double> time = time_of_impact(whole, options);
  if (!time) return {};
  const double gap = std::sqrt(squared_distance(query.chord.kind, query.chord.x)) - query.chord.separation;
  if (!std::isfinite(room) || !std::isfinite(gap)) return {0};
  if (room <= small_deviation * std::min(gap, query.chord.dhat)) return {time};
  // Where to begin, at most a quarter before that time.
  double start = 0;
  if (*time > 0x1p-20) {
    const double grid = std::scalbn(1.0, std::ilogb(*time) - 2);
    start = std::floor(*time / grid) * grid;
  }
  CurvedAnswer answer = walk(query, options, start);
  if (answer.time && *answer.time <= *time) answer = {time, {}, answer.pieces};
  return answer;
}

}  // namespace apart
