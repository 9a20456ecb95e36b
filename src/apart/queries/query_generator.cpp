#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/queries/query_generator.hpp>
#include <apart/queries/query_grid.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <bit>
#include <cmath>

namespace apart {

namespace {

__extension__ typedef __int128 Wide;
using namespace query_grid;
using GridPoints = std::array<Grid3, 4>;

constexpr int mantissa_bits = 53;
constexpr int spare_bits = 6;    // for sums of points, weights and motions
constexpr int shift_bits = 11;   // 1000 < 2¹⁰ sizes, and one for the sum
constexpr int normal_bits = 30;  // of the planes that prove misses

/// How a miss comes about.
enum class Miss { none, far, border, short_of_end, off_start, graze };

/// One attempt at a query, in integers. The unit of the given points is 2^grid times that of the final ones,
/// so that the root's time k/2^time_bits and weights of 2^weight_bits leave no fractions.
class Draft {
 public:
  Draft(const GeneratorOptions& options, QueryFamily family, int scale, Random& random)
      : options_(options),
        family_(family),
        scale_(scale),
        random_(random),
        first_(first_count(options.kind)) {}

  /// False if the attempt does not fit into doubles or, for a miss, is not proven.
  bool make(Miss miss, GeneratedQuery& result) {
    miss_ = miss;
    choose_resolution();
    draw_points();
    choose_closing();
    close();
    if (!fits()) return false;
    if (miss != Miss::none && !proven_apart()) return false;
    return finish(result);
  }

 private:
  static constexpr Integer most_ = Integer(1) << mantissa_bits;
  bool edges() const { return options_.kind == PairKind::edge_edge; }
  Integer size() const { return Integer(1) << bits_; }
  Integer weight_sum() const { return Integer(1) << weight_bits_; }
  Integer ticks() const { return Integer(1) << time_bits_; }

  /// How many bits go to time, to weights and to coordinates; then time and weights themselves.
  void choose_resolution() {
    grazing_ = miss_ == Miss::graze || (family_ == QueryFamily::sliding && random_.one_in(2));
    shifted_ = options_.shifted || (scale_ == 0 && random_.one_in(8));
    const bool boundary = miss_ == Miss::short_of_end || miss_ == Miss::off_start;
    if (boundary || random_.one_in(12)) {
      time_bits_ = 0;
      tick_ = miss_ == Miss::off_start || (!boundary && random_.one_in(3)) ? 0 : 1;
    } else if (!grazing_ && random_.one_in(12)) {
      time_bits_ = int(random_.between(8, 16));
      tick_ = 1;
    } else {
      time_bits_ = int(random_.between(1, grazing_ ? 6 : 10));
      tick_ = random_.between(1, ticks() - 1);
    }
    weight_bits_ = int(miss_ == Miss::border ? random_.between(3, 9) : random_.between(0, grazing_ ? 6 : 8));
    draw_weights();
    grid_ = time_bits_ + weight_bits_ + (grazing_ ? time_bits_ : 0);
    const int left = mantissa_bits - spare_bits - grid_ - (shifted_ ? shift_bits : 0);
    bits_ = random_.one_in(4) ? int(random_.between(std::min(left, 10), left)) : left;
  }

  void draw_weights() {
    const Integer sum = weight_sum();
    const auto split_in_two = [&](bool outside) {
      Integer u = random_.between(0, sum);
      if (random_.one_in(4)) u = random_.one_in(2) ? 0 : sum;
      if (outside) u = random_.one_in(2) ? -1 : sum + 1;
      return u;
    };
    if (edges()) {
      const int who = miss_ == Miss::border ? int(random_.below(2)) : -1;
      const Integer u = split_in_two(who == 0), v = split_in_two(who == 1);
      weights_ = {sum - u, u, v - sum, -v};
      return;
    }
    const Integer out = miss_ == Miss::border ? -1 : 0;
    Integer u = random_.between(0, sum - out), v = random_.between(0, sum - out - u);
    if (random_.one_in(4) || miss_ == Miss::border) {  // on an edge, at a corner, or just outside an edge
      v = out;
      u = random_.one_in(2) && miss_ == Miss::none ? 0 : random_.between(0, sum - out);
    }
    const std::array<Integer, 3> shares = {sum - u - v, u, v};
    const auto turn = std::size_t(random_.below(3));
    weights_[0] = sum;
    for (std::size_t i = 0; i < 3; ++i) weights_[1 + i] = -shares[(i + turn) % 3];
  }

  void draw_points() {
    Integer motion = size();
    if (family_ == QueryFamily::near_contact)
      motion = std::max<Integer>(1, size() >> random_.between(6, 12));
    else
      motion = std::max<Integer>(1, size() >> (3 * random_.below(3)));
    const bool at_rest = random_.one_in(10), rigid = random_.one_in(8);
    const Grid3 common = random_.vector(motion);
    for (int i = 0; i < 4; ++i) {
      from_[i] = random_.vector(size());
      to_[i] = from_[i];
      if (!at_rest) to_[i] += rigid ? common : random_.vector(motion);
    }
    drift_ = random_.vector(motion);
    switch (family_) {
      case QueryFamily::coplanar:
        flatten();
        break;
      case QueryFamily::parallel_edges:
        make_parallel();
        break;
      case QueryFamily::degenerate_points:
        degenerate();
        break;
      default:
        break;
    }
  }

  /// z is the same for all points at both times; the plane is tilted at the end.
  void flatten() {
    for (int i = 1; i < 4; ++i) {
      from_[i].z() = from_[0].z();
      to_[i].z() = to_[0].z();
    }
    drift_.z() = 0;
  }

  void make_parallel() {
    constexpr Integer factors[] = {-2, -1, 1, 2};
    const Integer factor = factors[random_.below(4)];
    const bool at_root_only = random_.one_in(3);
    // (1 − t)·tick − t·(ticks − tick) = 0 at the root: there, and only there, the edges are parallel.
    const Grid3 turn =
        at_root_only ? random_.vector(std::max<Integer>(1, size() >> (time_bits_ + 1))) : Grid3::Zero();
    const Grid3 from_edge = factor * (from_[1] - from_[0]), to_edge = factor * (to_[1] - to_[0]);
    from_[3] = from_[2] + from_edge + tick_ * turn;
    to_[3] = to_[2] + to_edge - (ticks() - tick_) * turn;
    if (random_.one_in(3)) {  // not quite parallel
      const Integer off = Integer(1) << random_.between(0, std::max(1, bits_ / 2));
      from_[3] += random_.vector(off);
      to_[3] += random_.vector(off);
    }
  }

  void degenerate() {
    const bool at_start = !random_.one_in(6), at_end = !at_start || !random_.one_in(6);
    const auto collapse = [&](GridPoints& x, int which) {
      if (edges()) {
        if (which != 1) x[1] = x[0];
        if (which != 0) x[3] = x[2];
        return;
      }
      if (which == 0) x[3] = x[2] = x[1];                     // a point
      if (which == 1) x[3] = x[1 + random_.below(2)];         // a segment, one end twice
      if (which == 2) x[3] = x[1] + factor_ * (x[2] - x[1]);  // a segment, three points on it
      if (which == 3) x[2] = x[1];                            // the same end, otherwise ordered
    };
    factor_ = random_.between(-1, 2);
    const int which = int(random_.below(edges() ? 3 : 4));
    if (at_start) collapse(from_, which);
    if (at_end) collapse(to_, which);
  }

  /// The points that are moved as one so that the contact happens: one primitive, or a single corner, whose
  /// weight must then be a power of two.
  void choose_closing() {
    const bool first = edges() ? random_.one_in(2) : !random_.one_in(6);
    closing_begin_ = first ? 0 : first_;
    closing_end_ = first ? first_ : 4;
    const bool keeps_shape =
        family_ == QueryFamily::parallel_edges || family_ == QueryFamily::degenerate_points || grazing_;
    if (keeps_shape || !random_.one_in(4)) return;
    const int corner = int(random_.below(4));
    const Integer weight = std::abs(weights_[corner]);
    if (weight == 0 || !std::has_single_bit(std::uint64_t(weight)) || weight_sum() / weight > 16) return;
    closing_begin_ = corner;
    closing_end_ = corner + 1;
  }

  /// x(root)·2^time_bits
  Grid3 at_root(int i) const { return (ticks() - tick_) * from_[i] + tick_ * to_[i]; }

  /// Normal of the contact, of the length given in the final grid's units, either side.
  Grid3 normal(double length) {
    const auto edge = [&](int i, int j) { return Vector3((at_root(j) - at_root(i)).cast<double>()); };
    Vector3 n = edges() ? edge(0, 1).cross(edge(2, 3)) : edge(1, 2).cross(edge(1, 3));
    if (family_ == QueryFamily::coplanar) n = n.cross(edge(2, 3));  // within the plane
    if (n.isZero(0) || !n.allFinite()) n = random_.vector(1000).cast<double>();
    if (n.isZero(0)) n = Vector3::UnitX();
    n *= random_.sign() * length / n.norm();
    return Grid3(std::llrint(n[0]), std::llrint(n[1]), std::llrint(n[2]));
  }

  /// Moves the closing points so that Σ wᵢ xᵢ(root) = 0, or, for a miss, nearly.
  void close() {
    Integer closing_weight = 0;
    for (int i = closing_begin_; i < closing_end_; ++i) closing_weight += weights_[i];
    const int side = closing_weight > 0 ? 1 : -1;
    const Integer over_weight = side * (weight_sum() / std::abs(closing_weight));

    // d: the motion of the closing points on top of their own, in units of 2^−(grid − time_bits).
    Grid3 d = drift_ * (Integer(1) << (grid_ - time_bits_));
    if (grazing_) {
      // Relative velocity at the contact along it: Σ wᵢ ẋᵢ ± d = α e₁ + β e₂ at the root, so that the volume
      // of the four points has a double root there.
      Grid3 velocity = Grid3::Zero();
      for (int i = 0; i < 4; ++i) velocity += weights_[i] * (to_[i] - from_[i]);
      const Grid3 e1 = edges() ? Grid3(at_root(1) - at_root(0)) : Grid3(at_root(2) - at_root(1));
      const Grid3 e2 = edges() ? Grid3(at_root(3) - at_root(2)) : Grid3(at_root(3) - at_root(1));
      const Integer alpha = random_.between(-2, 2), beta = random_.between(-2, 2);
      d = side * (weight_sum() * (alpha * e1 + beta * e2) - ticks() * velocity);
    } else if (family_ == QueryFamily::sliding) {
      const Grid3 e1 = edges() ? Grid3(from_[1] - from_[0]) : Grid3(from_[2] - from_[1]);
      const Grid3 e2 = edges() ? Grid3(from_[3] - from_[2]) : Grid3(from_[3] - from_[1]);
      const Integer small = std::max<Integer>(1, size() >> random_.between(3, 14));
      const Integer alpha = random_.between(-1, 1), beta = random_.between(-1, 1);
      d = (alpha * e1 + beta * e2 + random_.vector(small)) * (Integer(1) << (grid_ - time_bits_));
    }

    Grid3 residual = Grid3::Zero();  // Σ wᵢ xᵢ(root) in units of 2^−(time_bits + weight_bits)
    for (int i = 0; i < 4; ++i) residual += weights_[i] * at_root(i);
    Grid3 centre = -over_weight * residual * (Integer(1) << (grid_ - time_bits_ - weight_bits_));
    const double unit = std::ldexp(1.0, bits_ + grid_);  // the size of the primitives on the final grid
    separation_ = Integer(std::ldexp(options_.separation, bits_ + grid_ - scale_));
    if (separation_ > 0) {
      const int axis = int(random_.below(3));
      centre[axis] += random_.sign() * over_weight * separation_;
    }

    Grid3 begin = centre - tick_ * d, end = centre + (ticks() - tick_) * d;
    const auto part = [&] {  // d, or so little of it that it is only just something
      const int q = int(random_.between(4, 16));
      return Grid3(d[0] / (Integer(1) << q), d[1] / (Integer(1) << q), d[2] / (Integer(1) << q));
    };
    const bool thick = separation_ > 0;
    if (miss_ == Miss::short_of_end) end -= part();
    if (miss_ == Miss::off_start) begin += part();
    if (miss_ == Miss::graze || (miss_ == Miss::border && thick) || (miss_ == Miss::short_of_end && thick) ||
        (miss_ == Miss::off_start && thick) || miss_ == Miss::far) {
      // No exp2: libraries differ in its last bit, and the queries would.
      const auto exponent = int(miss_ == Miss::far ? random_.between(-6, -1) : random_.between(-18, -7));
      const double away = std::ldexp(1 + double(random_.below(16)) / 16, exponent);
      const Grid3 n = normal(away * unit + 1.5 * double(separation_));
      begin += n;
      end += n;
    }
    for (int i = 0; i < 4; ++i) {
      const bool moved = i >= closing_begin_ && i < closing_end_;
      from_[i] *= Integer(1) << grid_;
      to_[i] *= Integer(1) << grid_;
      if (moved) {
        from_[i] += begin;
        to_[i] += end;
      }
    }
  }

  bool fits() const {
    const Integer limit = most_ >> (shifted_ ? 1 : 3);  // room for the shift, or for tilting a plane
    for (const GridPoints* x : {&from_, &to_})
      for (const Grid3& p : *x)
        if (p.cwiseAbs().maxCoeff() > limit) return false;
    return true;
  }

  // ---- the proof of a miss

  /// Whether normal·(a − b) > ξ |normal|₁ for all corners a, b of the two primitives at time tick / 2^depth.
  /// Then they are farther apart than ξ in the maximum norm.
  bool separates(const Grid3& normal, Integer tick, int depth) const {
    const Integer all = Integer(1) << depth;
    // Bits: 54 of a difference, 30 of the normal, 34 of the time and a few for sums are less than 127.
    const auto along = [&](int i) {
      Wide sum = 0;
      for (int axis = 0; axis < 3; ++axis)
        sum += Wide(normal[axis]) * (Wide(all - tick) * from_[i][axis] + Wide(tick) * to_[i][axis]);
      return sum;
    };
    Wide low = along(0), high = along(first_);
    for (int i = 1; i < first_; ++i) low = std::min(low, along(i));
    for (int i = first_ + 1; i < 4; ++i) high = std::max(high, along(i));
    // ξ may have been rounded down to the grid.
    const Integer clear = options_.separation > 0 ? separation_ + 1 : 0;
    return low - high > Wide(all) * clear * normal.lpNorm<1>();
  }

  bool separated_throughout(const Grid3& normal, Integer tick, int depth) const {
    return separates(normal, tick, depth) && separates(normal, tick + 1, depth);
  }

  static Grid3 rounded(const Vector3& direction) {
    const double largest = direction.lpNorm<Eigen::Infinity>();
    if (!(largest > 0) || !std::isfinite(largest)) return Grid3::Zero();
    const Vector3 n = direction * (std::ldexp(1.0, normal_bits) / largest);
    return Grid3(std::llrint(n[0]), std::llrint(n[1]), std::llrint(n[2]));
  }

  /// Guesses a plane for the middle of [tick, tick + 1] / 2^depth and tries it on the whole: what is linear
  /// in time and positive at both ends is positive between them.
  bool separated(Integer tick, int depth) const {
    const double t = std::ldexp(double(tick) + 0.5, -depth);
    StencilPoints x;
    for (int i = 0; i < 4; ++i) {
      const Grid3 start = from_[i] - from_[0], stop = to_[i] - to_[0];
      x[i] = (1 - t) * start.cast<double>() + t * stop.cast<double>();
    }
    const Vector3 shortest = closest_points(options_.kind, x).r;
    if (separated_throughout(rounded(shortest), tick, depth)) return true;
    Vector3 normal =
        edges() ? Vector3((x[1] - x[0]).cross(x[3] - x[2])) : Vector3((x[2] - x[1]).cross(x[3] - x[1]));
    if (normal.dot(shortest) < 0) normal = -normal;
    return separated_throughout(rounded(normal), tick, depth);
  }

  bool proven_apart() const {
    constexpr int deepest = 34, most_pieces = 3000;
    struct Piece {
      Integer tick;
      int depth;
    };
    std::vector<Piece> open = {{0, 0}};
    for (int pieces = 0; !open.empty(); ++pieces) {
      const Piece piece = open.back();
      open.pop_back();
      if (separated(piece.tick, piece.depth)) continue;
      if (piece.depth == deepest || pieces == most_pieces) return false;
      open.push_back({2 * piece.tick + 1, piece.depth + 1});
      open.push_back({2 * piece.tick, piece.depth + 1});
    }
    return true;
  }

  // ---- the result

  /// Maps that keep the truth, then doubles.
  bool finish(GeneratedQuery& result) {
    const bool plain = options_.separation > 0;  // a shear or a stretch would change distances
    if (family_ == QueryFamily::coplanar && !plain && !shifted_) {
      const Integer along_x = random_.between(-1, 1), along_y = random_.between(-1, 1);
      for (GridPoints* x : {&from_, &to_})
        for (Grid3& p : *x) p.z() += along_x * p.x() + along_y * p.y();
    }
    Grid3 shift = Grid3::Zero();
    if (shifted_)
      for (int axis = 0; axis < 3; ++axis)
        shift[axis] = random_.between(-1, 1) * (Integer(1000) << (bits_ + grid_));
    std::array<int, 3> order = {0, 1, 2}, exponents;
    for (int i = 2; i > 0; --i) std::swap(order[i], order[random_.below(i + 1)]);
    Grid3 flip;
    for (int axis = 0; axis < 3; ++axis) {
      flip[axis] = random_.sign();
      exponents[axis] = scale_ - bits_ - grid_;
    }
    if (!plain && random_.one_in(8)) exponents[random_.below(3)] -= int(random_.between(1, 16));
    for (int i = 0; i < 4; ++i)
      for (int axis = 0; axis < 3; ++axis)
        for (const auto& [in, out] :
             {std::pair(&from_, &result.pair.from), std::pair(&to_, &result.pair.to)}) {
          const Integer p = flip[axis] * (*in)[i][order[axis]] + shift[axis];
          if (std::abs(p) > most_) return false;
          (*out)[i][axis] = std::ldexp(double(p), exponents[axis]);
        }
    result.pair.truth = miss_ == Miss::none ? Truth::impact : Truth::free;
    result.root = 0;
    result.weights = {};
    if (miss_ == Miss::none) {
      result.root = std::ldexp(double(tick_), -time_bits_);
      for (int i = 0; i < 4; ++i) result.weights[i] = std::ldexp(double(weights_[i]), -weight_bits_);
    }
    return true;
  }

  const GeneratorOptions& options_;
  QueryFamily family_;
  int scale_;  ///< sizes are about 2^scale [m]
  Random& random_;
  int first_;  ///< points of the first primitive
  Miss miss_ = Miss::none;
  bool grazing_ = false, shifted_ = false;
  int time_bits_ = 0, weight_bits_ = 0, grid_ = 0, bits_ = 0;
  Integer tick_ = 0;                     ///< root time · 2^time_bits
  std::array<Integer, 4> weights_ = {};  ///< · 2^weight_bits, those of the second primitive negative
  GridPoints from_, to_;
  Grid3 drift_ = Grid3::Zero();
  Integer factor_ = 0;
  Integer separation_ = 0;  ///< ξ in units of the final grid
  int closing_begin_ = 0, closing_end_ = 0;
};

/// Sets of all sizes are made of the others.
QueryFamily shape_of(QueryFamily family, PairKind kind, Random& random) {
  if (family != QueryFamily::tiny && family != QueryFamily::huge) return family;
  constexpr QueryFamily shapes[] = {
      QueryFamily::random,   QueryFamily::near_contact,      QueryFamily::sliding,
      QueryFamily::coplanar, QueryFamily::degenerate_points, QueryFamily::parallel_edges};
  return shapes[random.below(kind == PairKind::edge_edge ? 6 : 5)];
}

Miss near_miss(QueryFamily family, Random& random) {
  if (family == QueryFamily::sliding && random.one_in(2)) return Miss::graze;
  constexpr Miss kinds[] = {Miss::border, Miss::short_of_end, Miss::off_start};
  return kinds[random.below(3)];
}

bool starts_apart(PairKind kind, const StencilPoints& x) {
  double extent = 0;
  for (int i = 1; i < 4; ++i) extent = std::max(extent, (x[i] - x[0]).squaredNorm());
  return squared_distance(kind, x) > 1e-24 * extent;
}

}  // namespace

std::string_view name_of(QueryFamily family) {
  for (const FamilyName& row : query_families)
    if (row.family == family) return row.name;
  throw InvariantError("name_of: unknown family of queries");
}

bool has_queries(QueryFamily family, PairKind kind) {
  return family != QueryFamily::parallel_edges || kind == PairKind::edge_edge;
}

double largest_separation(QueryFamily family) {
  if (family == QueryFamily::tiny) return 0x1p-30;
  return family == QueryFamily::huge ? 0x1p20 : 1;
}

GeneratedQuery generate_query(const GeneratorOptions& options, std::uint64_t index) {
  ensure(options.kind == PairKind::point_triangle || options.kind == PairKind::edge_edge,
         "generate_query: only vertex-face and edge-edge");
  ensure(has_queries(options.family, options.kind), "generate_query: no such pairs in this family");
  ensure(options.separation >= 0 && options.separation <= largest_separation(options.family),
         "generate_query: separation out of range");
  Random mixer(options.seed);
  for (const std::uint64_t part : {std::uint64_t(options.family), std::uint64_t(options.kind), index})
    mixer = Random(mixer.next() ^ (part * 0xd1342543de82ef95u));
  Random random(mixer.next());

  const QueryFamily shape = shape_of(options.family, options.kind, random);
  const int scale = options.family == QueryFamily::tiny   ? -int(random.between(20, 30))
                    : options.family == QueryFamily::huge ? int(random.between(20, 30))
                                                          : 0;
  GeneratedQuery query;
  for (int attempt = 0;; ++attempt) {
    ensure(attempt < 100'000, "generate_query: no query can be proven");
    Miss miss = Miss::none;
    if (index % 4 == 1) miss = Miss::far;
    if (index % 4 == 3) miss = near_miss(shape, random);
    Draft draft(options, shape, scale, random);
    if (!draft.make(miss, query)) continue;
    // A query that begins in contact asks little; keep a few.
    if (miss == Miss::none && query.root > 0 && attempt < 8 && !starts_apart(options.kind, query.pair.from))
      continue;
    return query;
  }
}

std::vector<GeneratedQuery> generate_queries(const GeneratorOptions& options, std::uint64_t first,
                                             Index count) {
  std::vector<GeneratedQuery> queries(static_cast<std::size_t>(count));
  parallel_for(
      count, [&](Index i) { queries[std::size_t(i)] = generate_query(options, first + std::uint64_t(i)); },
      64);
  return queries;
}

}  // namespace apart
