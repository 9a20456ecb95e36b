#include <apart/simulation/step_division.hpp>

#include <apart/collision/ccd.hpp>
#include <apart/geometry/aabb.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// Share of max_motion that two pieces may cover in the part of a step in which they collide, before the
// direction in which they push each other is computed again.
constexpr double impact_share = 0.2;
// The same where more than `crowd` pairs come near each other as fast as that in a step: in a heap there is
// an impact at nearly every time, and each would make parts for all. Nothing slips around anything in parts
// of all of max_motion either; directions are less accurate.
constexpr double impact_share_in_crowds = 1;
constexpr int crowd = 8;
// A part is at most so many times as long as the one before: what an impact has left behind, such as bodies
// that are squeezed, is over in a time like that of the impact.
constexpr double growth = 2;
// Rules that average forces keep accelerations, of vibrations that longer parts no longer resolve, too: these
// move a body by dt² times as much, and in a part only some of that is damped.
constexpr double growth_of_averages = 1.2;
// Of the scene's step: no part is shorter because of how far something moves, and none at all.
constexpr double shortest_motion = 1e-4, shortest_part = 1e-7;
// Number of parts in the time that a wave takes through a solid that is hit. Two solids of a size touch for
// about twice that time and more, and implicit Euler keeps all but one part in a hundred of a vibration's
// momentum with so many steps in half a period.
constexpr double parts_of_wave = 32;
// Multiples of max_motion from which impacts are resolved like that: with the default, solids that move by
// their own size in a step. Slower bodies lose their bounce, as always in steps longer than their impacts.
constexpr double waves_from = 4;
// In one step: beyond that only motion divides it further.
constexpr int most_parts_by_waves = 256;
// Multiples of max_motion in a step from which impacts divide it also if they happen near its end, or among
// many.
constexpr double clearly = 1.5;
// A part is not left over that would be shorter than this share of the one before it.
constexpr double shortest_rest = 0.25;
// Pieces of a scripted motion, each so short that it is straight, in a part of a step in which it may be held
// up: about 20 degrees of a turn.
constexpr int curve_pieces = 4;

}  // namespace

StepDivision::StepDivision(const Model& model) : model_(model), pieces_(surface_pieces(model)) {}

/// Vertices on straight paths, over one interval of time.
struct StepDivision::Moving {
  /// [s], since the start of the part of the step that is looked for.
  struct Interval {
    double begin, length;
    double left;  ///< until the end of the step
  };
  /// A whole step, in lengths of the interval.
  double whole_step() const { return whole / time.length; }
  const CollisionSurface& surface;  ///< without contact of absent bodies
  const ScriptedNodes::Curves& curves;
  const std::vector<Vector3>& acceleration;  ///< StepDivision::mean_accelerations; empty: waves do not count
  Interval time;
  double whole;                            ///< [s], the scene's step
  const Matrix3X &x, &move;                ///< [m] at the beginning of the interval, and during it
  std::vector<Aabb> place = {}, way = {};  ///< of each piece: where it is [m], how its vertices move [m]
  std::vector<Vector3> mean_way = {};      ///< [m]

  void bound(const std::vector<SurfacePiece>& pieces) {
    for (const SurfacePiece& p : pieces) {
      place.emplace_back();
      way.emplace_back();
      mean_way.push_back(Vector3::Zero());
      for (const Index v : p.vertices) {
        place.back().include(Vector3(x.col(v)));
        way.back().include(Vector3(move.col(v)));
        mean_way.back() += move.col(v) / double(p.vertices.size());
      }
    }
  }
};

/// Two pieces that move far relative to each other, or are near something that rotates far.
struct StepDivision::Pair {
  std::size_t a, b;
  Aabb way{};                      ///< [m] motion of the first relative to the second
  bool is_fast = false;            ///< by more than max_motion in a whole step
  bool is_far = false;             ///< and still far enough in the rest of the step
  bool hits = false;               ///< so fast that they bounce
  Vector3 push = Vector3::Zero();  ///< [m/s²] of the first against the second, by what acts on them
  int curve = 0;                   ///< pieces of their scripted motion
};

/// Of the pieces in the part before [m/s²]; zero where there are no waves.
std::vector<Vector3> StepDivision::mean_accelerations(const State& state) const {
  std::vector<Vector3> result(pieces_.size(), Vector3::Zero());
  if (!(state.step_length > 0)) return result;
  const Matrix3X change =
      model_.surface_map.push_forward((state.velocity - state.previous_velocity) / state.step_length);
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    if (pieces_[i].wave_speed > 0)
      for (const Index v : pieces_[i].vertices)
        result[i] += change.col(v) / double(pieces_[i].vertices.size());
  return result;
}

double StepDivision::next(const StepProblem& problem, const State& state, double left, int parts) const {
  const double fraction = model_.options.max_motion;
  if (!(fraction > 0)) return left;
  double end = left;
  if (state.step_length > 0)
    end = std::min(
        end, state.step_length * (model_.options.integrator.averages_forces() ? growth_of_averages : growth));
  const ScriptedNodes::Curves curves = problem.scripted.nodes().curves(state, left);
  if (curves.most_attached > curve_pieces) end = std::min(end, left * curve_pieces / curves.most_attached);
  if (pieces_.size() > 1) {
    // Of a pair with something slender, no less than half of the other.
    const bool any_slender = std::ranges::any_of(pieces_, [](const SurfacePiece& p) { return p.is_slender; });
    const double least_share = any_slender ? 0.5 : 1;
    double smallest = std::numeric_limits<double>::infinity();
    for (const SurfacePiece& p : pieces_)
      if (problem.present[std::size_t(p.body)] && p.smallest > 0)
        smallest = std::min(smallest, least_share * p.smallest);
    const bool any_waves =
        parts < most_parts_by_waves &&
        std::ranges::any_of(pieces_, [](const SurfacePiece& p) { return p.wave_speed > 0; });
    const std::vector<Vector3> acceleration = any_waves ? mean_accelerations(state) : std::vector<Vector3>();
    double strongest = 0;  // [m/s]: what pushes a solid changes its speed by so much while a wave crosses it
    for (std::size_t i = 0; i < acceleration.size(); ++i)
      strongest = std::max(strongest, acceleration[i].norm() * pieces_[i].wave_time);
    Matrix3X x = model_.surface_map.positions(state.nodes);
    for (int k = 1; k <= curves.most; ++k) {
      const double begin = left * (k - 1) / curves.most, until = left * k / curves.most;
      if (begin >= end) break;
      const Matrix3X next = model_.surface_map.positions(problem.predicted(state, until));
      const Matrix3X move = next - x;
      // In a pair that counts one of the two moves at least half as far as they do against each other.
      const double fastest = std::sqrt(move.colwise().squaredNorm().maxCoeff()) / (until - begin);
      const bool far = 2 * fastest * model_.options.dt > fraction * smallest &&
                       2 * fastest * (left - begin) > impact_share * fraction * smallest;
      const bool hits = any_waves && 2 * std::max(fastest, strongest) * model_.options.dt >
                                         waves_from * fraction * smallest;
      if (far || hits || curves.most > curve_pieces) {
        Moving motion{.surface = problem.terms.surface,
                      .curves = curves,
                      .acceleration = acceleration,
                      .time = {begin, until - begin, left},
                      .whole = model_.options.dt,
                      .x = x,
                      .move = move};
        motion.bound(pieces_);
        shorten(motion, end);
      }
      x = next;
    }
  }
  if (end >= left) return left;
  end = std::max(end, shortest_part * model_.options.dt);
  return left - end < shortest_rest * end ? left : end;
}

/// Lowers `end` to what all pairs of pieces allow.
void StepDivision::shorten(const Moving& m, double& end) const {
  std::vector<std::pair<Aabb, std::size_t>> swept;
  const double reach = 0.5 * m.surface.pairs.max_dhat();
  const double whole = m.whole_step();
  Aabb all;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const double margin =
        reach +
        (m.surface.vertex_extent.empty() ? 0 : m.surface.vertex_extent[std::size_t(pieces_[i].vertices[0])]);
    Aabb box = m.place[i];
    box.include(Aabb{m.place[i].lower + whole * m.way[i].lower, m.place[i].upper + whole * m.way[i].upper});
    box.lower.array() -= margin;
    box.upper.array() += margin;
    swept.emplace_back(box, i);
    all.include(m.place[i]);
  }
  int axis = 0;
  (all.upper - all.lower).maxCoeff(&axis);
  std::ranges::sort(swept, {}, [&](const auto& s) { return std::pair(s.first.lower[axis], s.second); });
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < swept.size(); ++i)
    for (std::size_t j = i + 1; j < swept.size() && swept[j].first.lower[axis] <= swept[i].first.upper[axis];
         ++j)
      if (swept[i].first.near(swept[j].first))
        if (const auto pair = pair_of(m, swept[i].second, swept[j].second)) pairs.push_back(*pair);
  // Counted for a whole step, however much of it is left: so the parts of a step are cut by one rule.
  const auto fast = std::ranges::count_if(pairs, &Pair::is_fast);
  const bool crowded = fast > crowd;
  for (const Pair& pair : pairs)
    if (pair.is_far || pair.hits || pair.curve > curve_pieces) shorten(m, pair, crowded, end);
}

/// Nothing if the two do not come near each other in a whole step, or slowly.
std::optional<StepDivision::Pair> StepDivision::pair_of(const Moving& m, std::size_t a, std::size_t b) const {
  const SurfacePiece &first = pieces_[a], &second = pieces_[b];
  const PairSettings& settings = m.surface.pairs(first.body, second.body);
  if (!settings.enabled) return std::nullopt;
  const double fraction = model_.options.max_motion, dt = model_.options.dt;
  Pair pair{.a = a, .b = b};
  pair.curve =
      std::max(m.curves.of_body[std::size_t(first.body)], m.curves.of_body[std::size_t(second.body)]);
  pair.way = {m.way[a].lower - m.way[b].upper, m.way[a].upper - m.way[b].lower};
  const double fastest = pair.way.lower.cwiseAbs().cwiseMax(pair.way.upper.cwiseAbs()).norm() / m.time.length;
  const bool both_slender = first.is_slender && second.is_slender;
  const double smallest = both_slender        ? 0.5 * (first.smallest + second.smallest)
                          : first.is_slender  ? 0.5 * second.smallest
                          : second.is_slender ? 0.5 * first.smallest
                                              : std::min(first.smallest, second.smallest);
  const bool waves = !m.acceleration.empty() && std::max(first.wave_speed, second.wave_speed) > 0 &&
                     !model_.bodies[std::size_t(first.body)].is_thin() &&
                     !model_.bodies[std::size_t(second.body)].is_thin();
  if (waves) pair.push = m.acceleration[a] - m.acceleration[b];
  const double fastest_change = pair.push.norm() * std::max(first.wave_time, second.wave_time);
  pair.hits = waves && std::max(fastest, fastest_change) * dt > waves_from * fraction * smallest;
  pair.is_fast = fastest * dt > fraction * smallest;
  pair.is_far = pair.is_fast && fastest * (m.time.left - m.time.begin) > impact_share * fraction * smallest;
  if (!pair.is_fast && !pair.hits && pair.curve <= curve_pieces) return std::nullopt;
  const double whole = m.whole_step();
  Aabb swept = m.place[a];
  swept.include(Aabb{m.place[a].lower + whole * pair.way.lower, m.place[a].upper + whole * pair.way.upper});
  if (!swept.near(m.place[b], settings.thickness + settings.dhat)) return std::nullopt;
  return pair;
}

/// Where and how two pieces meet.
struct StepDivision::Meeting {
  const Moving& m;
  const Pair& pair;
  bool crowded;  ///< they are two of many
  PieceExtent first, second;
  Vector3 bulk;  ///< [m/s] mean velocity of the first against the second
  double reach;  ///< [m] at which contact begins
};

/// Lowers `end` to what one pair of pieces allows, of many or of few.
void StepDivision::shorten(const Moving& m, const Pair& pair, bool crowded, double& end) const {
  const SurfacePiece &first = pieces_[pair.a], &second = pieces_[pair.b];
  const PairSettings& settings = m.surface.pairs(first.body, second.body);
  const double reach = settings.thickness + settings.dhat;
  Aabb swept = m.place[pair.a];
  swept.include(Aabb{m.place[pair.a].lower + pair.way.lower, m.place[pair.a].upper + pair.way.upper});
  if (!swept.near(m.place[pair.b], reach)) return;
  const Meeting meeting{m,
                        pair,
                        crowded,
                        extent_of(first, model_, m.x),
                        extent_of(second, model_, m.x),
                        (m.mean_way[pair.a] - m.mean_way[pair.b]) / m.time.length,
                        reach};
  const PiecesInMotion both{m.surface, first, second, m.x, m.move, pair.way, m.way[pair.b].centre()};
  for_each_in_the_way(
      both, reach, [&](const Stencil& stencil) { end = std::min(end, allowed_end(meeting, stencil, end)); });
}

/// Until when two primitives of the pieces allow the part to last; `end` or later: they change nothing.
double StepDivision::allowed_end(const Meeting& at, const Stencil& stencil, double end) const {
  const Moving& m = at.m;
  const Pair& pair = at.pair;
  const SurfacePiece &a = pieces_[pair.a], &b = pieces_[pair.b];
  const bool slender = a.is_slender || b.is_slender, both_slender = a.is_slender && b.is_slender;
  const double share = at.crowded ? impact_share_in_crowds : impact_share;
  const double fraction = model_.options.max_motion, dt = model_.options.dt;
  CcdQuery query;
  query.kind = stencil.kind;
  query.x = stencil.gather(m.x);
  query.displacement = stencil.gather(m.move);
  query.separation = at.reach;  // where contact begins; 0 if they touch
  const auto toi =
      time_of_impact(query, {.upper_time = (end - m.time.begin) / m.time.length, .gap_fraction = 0});
  if (!toi) return end;
  StencilPoints then;
  for (int i = 0; i < stencil.size(); ++i)
    then[std::size_t(i)] = query.x[std::size_t(i)] + *toi * query.displacement[std::size_t(i)];
  const ClosestPoints closest = closest_points(stencil.kind, then);
  Vector3 speed = Vector3::Zero();  // of the first against the second [m/s]
  for (int i = 0; i < stencil.size(); ++i)
    speed += closest.weights[i] * query.displacement[std::size_t(i)] / m.time.length;
  const Vector3 n = closest.r.normalized();
  // Where two bodies touch they may be at rest against each other while all behind it still moves on.
  const double closing = std::max(-speed.dot(n), -at.bulk.dot(n));
  const double sliding = (speed - speed.dot(n) * n).norm();
  // One size [m/s, m]: how long the motion may go on after the impact [s].
  double longest = std::numeric_limits<double>::infinity(), width = longest;
  if (closing > 0 || pair.hits)
    // Of other bodies than slender ones no more is known than how large they are, and
    // a large one may be made of small parts, as a sieve is.
    width = both_slender ? 0.5 * (at.first.width[0] + at.second.width[0])
            : slender
                ? 0.5 * width_across(std::array{&at.first, &at.second}, n)
                : std::min(width_across(std::array{&at.first}, n), width_across(std::array{&at.second}, n));
  if (closing > 0) {
    longest = fraction * width / closing;
    if (sliding > 0) {
      const Vector3 t = (speed - speed.dot(n) * n) / sliding;
      longest = std::min(longest, fraction * std::max(at.first.along(t), at.second.along(t)) / sliding);
    }
  }
  const double impact = m.time.begin + *toi * m.time.length;
  double allowed = m.time.left;
  // Whether bodies are fast does not depend on how much of the step is left; those that just pass the bound
  // are stopped in time as long as the rest of the step is short.
  const bool fast = dt > clearly * longest;
  if ((fast || !at.crowded) && m.time.left - impact > (fast ? share : 1) * longest) {
    const double short_part = std::max(share * longest, shortest_motion * dt);
    allowed = impact > short_part ? impact : impact + short_part;
  }
  if (pair.hits) {
    // Solids that hit each other are squeezed and bounce, while waves go through them to and fro. For that
    // time what moves slowly is pushed the more.
    double size = std::numeric_limits<double>::infinity(), slowest = size;
    for (const auto& [piece, extent] : {std::pair(&a, &at.first), std::pair(&b, &at.second)})
      if (piece->wave_speed > 0) {
        size = std::min(size, extent->along(n));
        slowest = std::min(slowest, piece->wave_speed);
      }
    const double speed_of_hit =
        std::max({closing, std::abs(at.bulk.dot(n)), std::abs(pair.push.dot(n)) * size / slowest});
    if (speed_of_hit * dt > waves_from * fraction * width) {
      const double short_part = size / std::max(slowest, speed_of_hit) / parts_of_wave;
      allowed = std::min(allowed, impact > short_part ? impact : impact + short_part);
    }
  }
  if (pair.curve > curve_pieces && closing > 0)
    allowed = std::min(allowed, impact + m.time.left * curve_pieces / pair.curve);
  return allowed;
}

}  // namespace apart
