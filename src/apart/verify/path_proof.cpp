#include <apart/core/parallel.hpp>
#include <apart/verify/gaps.hpp>
#include <apart/verify/path_proof.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace apart::verify {

using exact::Box;
using exact::Path;
using exact::PrimitivePair;

namespace {

// An interval of time of 2⁻⁴⁰ is as good as a point; even in one of 64 slices of time such times, and one
// minus them, are exact doubles.
constexpr int max_depth = 40;
// Intervals tried for one pair. A pair at distance g whose relative rotation moves its corners by m needs
// about m/g.
constexpr int max_work = 1 << 16;

/// What floating point can say.
enum class Verdict { yes, no, unsure };

/// Up to four moving points, those of primitive a first. Coordinates relative to the first one's start, where
/// rounding errors are relative to the size of the pair and not to its distance from the world's origin.
class MovingPoints {
 public:
  MovingPoints(std::span<const Path> a, std::span<const Path> b)
      : count_a_(int(a.size())), count_(count_a_ + int(b.size())) {
    std::copy(a.begin(), a.end(), exact_.begin());
    std::copy(b.begin(), b.end(), exact_.begin() + count_a_);
    const Vector3 origin = exact_[0].from;
    for (int i = 0; i < count_; ++i) {
      local_[i] = {exact_[i].from - origin, exact_[i].to - origin};
      size_ =
          std::max({size_, local_[i].from.lpNorm<Eigen::Infinity>(), local_[i].to.lpNorm<Eigen::Infinity>()});
    }
  }

  bool has_volume() const { return count_ == 4; }
  std::span<const Path> a() const { return {exact_.data(), std::size_t(count_a_)}; }
  std::span<const Path> b() const { return {exact_.data() + count_a_, std::size_t(count_ - count_a_)}; }
  std::span<const Path, 4> all() const { return exact_; }

  /// Rounded positions at t. Each coordinate is off by at most position_error().
  struct Snapshot {
    std::array<Vector3, 4> x;
    int count_a, count;
    std::span<const Vector3> a() const { return {x.data(), std::size_t(count_a)}; }
    std::span<const Vector3> b() const { return {x.data() + count_a, std::size_t(count - count_a)}; }
  };
  Snapshot at(double t) const {
    Snapshot s{{}, count_a_, count_};
    for (int i = 0; i < count_; ++i) s.x[i] = (1 - t) * local_[i].from + t * local_[i].to;
    return s;
  }
  double size() const { return size_; }  ///< no coordinate is larger at any time
  // One rounding to make coordinates local, two products and a sum: below 4 roundings of numbers up to size.
  double position_error() const { return 5 * unit_roundoff * size_; }

 private:
  std::array<Path, 4> exact_, local_;
  int count_a_, count_;
  double size_ = 0;
};

using Snapshot = MovingPoints::Snapshot;

/// Whether direction·(p − q) > 0 for all corners p of a, q of b at one instant.
Verdict separates(const Vector3& direction, const Snapshot& now, const MovingPoints& points) {
  if (!direction.allFinite() || direction.isZero(0)) return Verdict::no;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Vector3& p : now.a()) low = std::min(low, direction.dot(p));
  for (const Vector3& q : now.b()) high = std::max(high, direction.dot(q));
  // |direction|₁ times the positions' error and the three roundings of the product, for both sides.
  const double error =
      2 * direction.lpNorm<1>() * (points.position_error() + 4 * unit_roundoff * points.size()) + 1e-300;
  if (low - high > error) return Verdict::yes;
  return low - high < -error ? Verdict::no : Verdict::unsure;
}

bool separates_exactly(const Vector3& direction, const MovingPoints& points, double t) {
  for (const Path& p : points.a())
    for (const Path& q : points.b())
      if (exact::separation_sign(direction, p, q, t) <= 0) return false;
  return true;
}

/// Signs of the Bernstein coefficients of the cubic volume between two instants; 0 where rounding leaves it
/// open.
std::array<int, 4> rounded_volume_signs(const Snapshot& begin, const Snapshot& end, double position_error) {
  Matrix3 edge[2];  // columns: edges from corner 0
  double largest = 0;
  for (int s = 0; s < 2; ++s) {
    const auto& x = s == 0 ? begin.x : end.x;
    for (int k = 0; k < 3; ++k) edge[s].col(k) = x[k + 1] - x[0];
    largest = std::max(largest, edge[s].lpNorm<Eigen::Infinity>());
  }
  const double edge_error = 2 * position_error + unit_roundoff * largest;
  largest += edge_error;
  // A determinant has six products of three entries; each entry's error counts 18 times, and every product
  // takes part in at most six roundings. Middle coefficients add three determinants.
  const double error =
      4 * (18 * largest * largest * edge_error + 36 * unit_roundoff * largest * largest * largest) + 1e-300;
  std::array<double, 4> coefficient{};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const Vector3 normal = edge[i].col(0).cross(edge[j].col(1));
      for (int k = 0; k < 2; ++k) coefficient[i + j + k] += normal.dot(edge[k].col(2));
    }
  std::array<int, 4> signs;
  for (int i = 0; i < 4; ++i) signs[i] = coefficient[i] > error ? 1 : coefficient[i] < -error ? -1 : 0;
  return signs;
}

/// Whether all four signs are equal and not zero, if 0 means unknown.
Verdict one_sign(const std::array<int, 4>& signs) {
  const bool positive = std::count(signs.begin(), signs.end(), 1) > 0;
  const bool negative = std::count(signs.begin(), signs.end(), -1) > 0;
  if (positive && negative) return Verdict::no;
  return std::count(signs.begin(), signs.end(), 0) > 0 ? Verdict::unsure : Verdict::yes;
}

/// Tries to show that the pair stays apart from t0 to t1 without cutting that interval.
bool apart_throughout(const MovingPoints& points, double t0, double t1) {
  const Snapshot begin = points.at(t0), end = points.at(t1), middle = points.at(0.5 * (t0 + t1));
  const SeparatingDirections guess = separating_directions(middle.a(), middle.b());
  // 1. A fixed direction that separates at both ends separates throughout: projections are linear in time.
  const Vector3 directions[2] = {guess.shortest, guess.normal};
  Verdict verdicts[2];
  for (int k = 0; k < 2; ++k) {
    verdicts[k] = separates(directions[k], begin, points);
    if (verdicts[k] == Verdict::no) continue;
    const Verdict at_end = separates(directions[k], end, points);
    if (at_end != Verdict::yes) verdicts[k] = at_end;
    if (verdicts[k] == Verdict::yes) return true;
  }
  // 2. Four points that never lie in one plane: neither can a point be in its triangle, nor can two edges
  // meet.
  Verdict volume = Verdict::no;
  if (points.has_volume()) volume = one_sign(rounded_volume_signs(begin, end, points.position_error()));
  if (volume == Verdict::yes) return true;
  // 3. Exact arithmetic where rounding left it open.
  for (int k = 0; k < 2; ++k)
    if (verdicts[k] == Verdict::unsure && separates_exactly(directions[k], points, t0) &&
        separates_exactly(directions[k], points, t1))
      return true;
  return volume == Verdict::unsure && one_sign(exact::volume_signs(points.all(), t0, t1)) == Verdict::yes;
}

/// Whether direction·(p − q) ≥ gap·|direction| for all corners p of a, q of b at one instant.
Verdict separates_by(const Vector3& direction, const Snapshot& now, const MovingPoints& points, double gap) {
  const double length = direction.norm();
  if (!std::isfinite(length) || !(length > 0)) return Verdict::no;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Vector3& p : now.a()) low = std::min(low, direction.dot(p));
  for (const Vector3& q : now.b()) high = std::max(high, direction.dot(q));
  const double wanted = gap * length;
  // As in `separates`, and the roundings of the length and of its product.
  const double error =
      2 * direction.lpNorm<1>() * (points.position_error() + 4 * unit_roundoff * points.size()) +
      8 * unit_roundoff * wanted + 1e-300;
  if (low - high - wanted > error) return Verdict::yes;
  return low - high - wanted < -error ? Verdict::no : Verdict::unsure;
}

bool separates_exactly_by(const Vector3& direction, const MovingPoints& points, double t, double gap) {
  for (const Path& p : points.a())
    for (const Path& q : points.b())
      if (!exact::separated_by(direction, p, q, t, gap)) return false;
  return true;
}

/// Tries to show that the pair keeps its gap from t0 to t1 without cutting that interval: seen along a fixed
/// direction distances are linear in time, so what holds at both ends holds throughout.
bool keeps_gap_throughout(const MovingPoints& points, double t0, double t1, double gap) {
  const Snapshot begin = points.at(t0), end = points.at(t1), middle = points.at(0.5 * (t0 + t1));
  const SeparatingDirections guess = separating_directions(middle.a(), middle.b());
  const Vector3 directions[2] = {guess.shortest, guess.normal};
  for (const Vector3& direction : directions) {
    const Verdict at_begin = separates_by(direction, begin, points, gap);
    if (at_begin == Verdict::no) continue;
    const Verdict at_end = separates_by(direction, end, points, gap);
    if (at_end == Verdict::no) continue;
    if ((at_begin == Verdict::yes || separates_exactly_by(direction, points, t0, gap)) &&
        (at_end == Verdict::yes || separates_exactly_by(direction, points, t1, gap)))
      return true;
  }
  return false;
}

/// Bisects [begin, end] until every piece is proven; returns the time up to which that succeeded.
double bisect(double begin, double end, FunctionRef<bool(double, double)> proven) {
  struct Piece {
    double begin, end;
    int depth;
  };
  std::vector<Piece> open = {{begin, end, 0}};
  for (int work = 0; !open.empty(); ++work) {
    const Piece piece = open.back();
    open.pop_back();
    if (proven(piece.begin, piece.end)) continue;
    if (piece.depth == max_depth || work == max_work) return piece.begin;
    const double middle = 0.5 * (piece.begin + piece.end);
    open.push_back({middle, piece.end, piece.depth + 1});
    open.push_back({piece.begin, middle, piece.depth + 1});
  }
  return end;
}

/// In how many equal parts of time to look for candidate pairs: so that no point moves much farther than the
/// length of an edge in one part, else boxes around whole paths would overlap everywhere. A power of two.
int time_slices(const Matrix3X& from, const Matrix3X& to, const exact::Surface& surface) {
  double motion = 0;
  for (const auto& v : surface.vertices)
    motion = std::max(motion, (to.col(v.vertices[0]) - from.col(v.vertices[0])).norm());
  const double length = typical_length(from, surface);
  int slices = 1;
  while (slices < 64 && motion > 2 * slices * length) slices *= 2;
  return slices;
}

}  // namespace

double proven_apart_until(std::span<const Path> a, std::span<const Path> b, double begin, double end,
                          double gap) {
  const MovingPoints points(a, b);
  return bisect(begin, end, [&](double t0, double t1) {
    return gap > 0 ? keeps_gap_throughout(points, t0, t1, gap) : apart_throughout(points, t0, t1);
  });
}

PathProof prove_apart(const Matrix3X& from, const Matrix3X& to, const exact::Surface& surface,
                      exact::PairFilter tested) {
  return prove_apart(from, to, surface, tested, {{}, [](const PrimitivePair&) { return 0.0; }});
}

PathProof prove_apart(const Matrix3X& from, const Matrix3X& to, const exact::Surface& surface,
                      exact::PairFilter tested, const Spacing& spacing) {
  constexpr std::size_t limit = 1000;  // of unproven pairs, to be reported
  PathProof proof;
  const bool spaced = !spacing.margins.empty();
  const int slices = time_slices(from, to, surface);
  std::vector<Box> boxes(from.cols());
  for (int slice = 0; slice < slices && proof.unproven.size() < limit; ++slice) {
    const double begin = double(slice) / slices, end = double(slice + 1) / slices;
    for (Index i = 0; i < from.cols(); ++i) {
      const Vector3 x0 = from.col(i), x1 = to.col(i);
      const Vector3 p = (1 - begin) * x0 + begin * x1, q = (1 - end) * x0 + end * x1;
      Vector3 margin = 8 * unit_roundoff * x0.cwiseAbs().cwiseMax(x1.cwiseAbs());
      if (spaced) margin.array() += spacing.margins[i] * (1 + 8 * unit_roundoff);
      boxes[i] = {p.cwiseMin(q) - margin, p.cwiseMax(q) + margin};
    }
    const auto examine = [&](std::span<const PrimitivePair> batch) {
      // Piece by piece, so that a path full of collisions does not take forever to be rejected.
      constexpr std::size_t piece_size = 4096;
      for (std::size_t start = 0; start < batch.size() && proof.unproven.size() < limit;
           start += piece_size) {
        const auto piece = batch.subspan(start, std::min(piece_size, batch.size() - start));
        std::vector<double> until(piece.size()), gap(piece.size(), 0.0);
        parallel_for(
            Index(piece.size()),
            [&](Index i) {
              std::array<Path, 4> paths;
              int count = 0;
              for (const auto& primitive : {piece[i].a, piece[i].b})
                for (int k = 0; k < primitive.size(); ++k)
                  paths[count++] = {from.col(primitive.vertices[k]), to.col(primitive.vertices[k])};
              const std::span<const Path> all(paths.data(), count);
              if (spaced) gap[i] = spacing.gap_of(piece[i]);
              until[i] = proven_apart_until(all.first(piece[i].a.size()), all.subspan(piece[i].a.size()),
                                            begin, end, gap[i]);
            },
            64);
        proof.pairs += std::int64_t(piece.size());
        for (std::size_t i = 0; i < piece.size(); ++i)
          if (until[i] < end) proof.unproven.push_back({piece[i], until[i], gap[i]});
      }
    };
    // Ends of segments too: no other pair sees the last point of a rod come onto its neighbour segment.
    for_each_contact_candidate(surface, boxes, tested, examine, true);
  }
  std::sort(proof.unproven.begin(), proof.unproven.end(), [](const UnprovenPair& a, const UnprovenPair& b) {
    return a.pair != b.pair ? a.pair < b.pair : a.time < b.time;
  });
  // A pair met in several slices of time counts once, at its first time.
  proof.unproven.erase(
      std::unique(proof.unproven.begin(), proof.unproven.end(),
                  [](const UnprovenPair& a, const UnprovenPair& b) { return a.pair == b.pair; }),
      proof.unproven.end());
  return proof;
}

std::vector<UnprovenVolume> find_unproven_volumes(const Matrix3X& from, const Matrix3X& to,
                                                  const Tetrahedra& tetrahedra,
                                                  std::span<const Index> which) {
  std::vector<double> until(which.size());
  parallel_for(Index(which.size()), [&](Index i) {
    std::array<Path, 4> paths;
    for (int k = 0; k < 4; ++k) {
      const Index v = tetrahedra(k, which[i]);
      paths[k] = {from.col(v), to.col(v)};
    }
    const std::span<const Path> all(paths);
    const MovingPoints points(all.first(1), all.subspan(1));
    until[i] = bisect(0, 1, [&](double t0, double t1) {
      std::array<int, 4> signs = rounded_volume_signs(points.at(t0), points.at(t1), points.position_error());
      if (std::count(signs.begin(), signs.end(), -1) > 0) return false;
      if (std::count(signs.begin(), signs.end(), 0) > 0) signs = exact::volume_signs(points.all(), t0, t1);
      return std::count(signs.begin(), signs.end(), 1) == 4;
    });
  });
  std::vector<UnprovenVolume> unproven;
  for (std::size_t i = 0; i < which.size(); ++i)
    if (until[i] < 1) unproven.push_back({which[i], until[i]});
  return unproven;
}

}  // namespace apart::verify
