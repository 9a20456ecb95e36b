// Collision detection on curves against an oracle: nothing is missed, and the chords that a run records are
// free.
#include "curved_pair.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <apart/core/parallel.hpp>
#include <apart/verify/path_proof.hpp>
#include <support/random.hpp>

#include <mutex>
#include <numbers>

namespace apart::test {
namespace {

constexpr PairKind every_kind[] = {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle,
                                   PairKind::edge_edge};

enum class Plan {
  random,      ///< anything
  meeting,     ///< planted to touch at some time
  grazing,     ///< planted to touch, or to pass at a distance, without approaching then
  screw,       ///< turns move along their axes; touching is planted
  tangential,  ///< slides along the other, nearly touching all the time
  whole_turn,  ///< ends where it began; touching is planted
};
constexpr Plan every_plan[] = {Plan::random, Plan::meeting,    Plan::grazing,
                               Plan::screw,  Plan::tangential, Plan::whole_turn};
constexpr std::string_view plan_names[] = {"random", "meeting",    "grazing",
                                           "screw",  "tangential", "whole turn"};

struct Generated {
  CurvedPair pair;
  std::optional<double> touches = {};  ///< when its distance is no more than the separation
};

/// Weights of a point of each primitive in Σ w x = (point of the first) − (point of the second).
Vector4 contact_weights(PairKind kind, Random& random) {
  // Also at ends, corners and on borders.
  const auto share = [&] { return random.below(4) == 0 ? double(random.below(2)) : random.uniform(0, 1); };
  const double s = share(), t = share();
  switch (kind) {
    case PairKind::point_point:
      return {1, -1, 0, 0};
    case PairKind::point_edge:
      return {1, -s, s - 1, 0};
    case PairKind::point_triangle:
      return {1, -s, -(1 - s) * t, -(1 - s) * (1 - t)};
    case PairKind::edge_edge:
      break;
  }
  return {s, 1 - s, -t, t - 1};
}

Vector3 weighted(const CurvedPair& pair, const Vector4& weights, double t) {
  const StencilPoints x = pair.at(t);
  Vector3 sum = Vector3::Zero();
  for (int i = 0; i < pair.size(); ++i) sum += weights[i] * x[std::size_t(i)];
  return sum;
}

/// A direction that is normal to what touches, where there is one.
Vector3 contact_normal(const CurvedPair& pair, double t, Random& random) {
  const StencilPoints x = pair.at(t);
  Vector3 n = random.unit();
  if (pair.kind == PairKind::point_triangle) n = (x[2] - x[1]).cross(x[3] - x[1]);
  if (pair.kind == PairKind::edge_edge) n = (x[1] - x[0]).cross(x[3] - x[2]);
  if (pair.kind == PairKind::point_edge) n = n.cross(x[2] - x[1]);
  return n.normalized();
}

Turning random_motion(Plan plan, Random& random) {
  Turning body;
  if (random.below(2) == 0) body.rotation = random.uniform(0, 3) * random.unit();
  switch (random.below(4)) {  // of small turns, a radian, several turns; one in four rests
    case 1:
      body.turn = random.exponential(1e-4, 0.3) * random.unit();
      break;
    case 2:
      body.turn = random.uniform(0.3, 2) * random.unit();
      break;
    case 3:
      body.turn = random.uniform(2, 20) * random.unit();
      break;
  }
  body.move = random.exponential(1e-3, 2) * random.unit();
  if (plan == Plan::screw) body.move = random.uniform(-1, 1) * body.turn;
  if (plan == Plan::whole_turn) {
    body.rotation.setZero();
    body.turn = 2 * std::numbers::pi * (random.below(3)) * random.unit();
    body.move.setZero();
  }
  return body;
}

Generated generated(Plan plan, PairKind kind, Random& random) {
  Generated result;
  CurvedPair& pair = result.pair;
  pair.kind = kind;
  const double size = random.below(4) == 0 ? random.exponential(1e-3, 1e3) : 1;
  for (int i = 0; i < pair.size(); ++i)
    pair.local[std::size_t(i)] = size * random.exponential(0.1, 1) * random.unit();
  for (Turning& body : pair.body) {
    body = random_motion(plan, random);
    body.move *= size;
  }
  if (plan == Plan::whole_turn && pair.body[0].turn.isZero() && pair.body[1].turn.isZero())
    pair.body[0].turn = 2 * std::numbers::pi * Vector3::UnitZ();
  if (random.below(2) == 0) pair.separation = size * random.exponential(1e-4, 1e-1);
  if (random.below(2) == 0) pair.dhat = size * random.exponential(1e-4, 1);
  if (plan == Plan::random) {
    pair.body[1].position = size * random.uniform(0, 3) * random.unit();
  } else {
    const double at = random.below(8) == 0 ? double(random.below(2)) : random.uniform(0, 1);
    const Vector4 weights = contact_weights(kind, random);
    const Vector3 normal = contact_normal(pair, at, random);
    double apart = random.uniform(0, 1) * pair.separation;
    if (plan == Plan::grazing || plan == Plan::tangential) {
      apart = (random.below(2) == 0 ? 1 : -1) * size * random.exponential(1e-9, 1e-2) + pair.separation;
      // No approach along the normal at that time; of what slides, none by the motion of the bodies.
      const double e = 1e-6;
      const Vector3 speed = (weighted(pair, weights, at + e) - weighted(pair, weights, at - e)) / (2 * e);
      pair.body[1].move += speed.dot(normal) * normal;
      if (plan == Plan::tangential)
        for (Turning& body : pair.body) body.turn = body.turn.norm() * normal;
    }
    pair.body[1].position += weighted(pair, weights, at) - apart * normal;
    if (reference_distance(kind, pair.at(at)) <= pair.separation) result.touches = at;
  }
  if (random.below(8) == 0) {  // far from the origin
    const Vector3 far = 1e3 * size * random.unit();
    for (Turning& body : pair.body) body.position += far;
  }
  if (result.touches && reference_distance(kind, pair.at(*result.touches)) > pair.separation)
    result.touches.reset();  // rounding has parted them
  return result;
}

/// Of one kind of plan.
struct Tally {
  std::int64_t queries = 0, impacts = 0, cut = 0, pieces = 0, corners = 0;
  std::int64_t open = 0;      ///< of which the oracle looked at samples only
  std::int64_t needless = 0;  ///< answers where the gap never falls to twice what may be left
  std::int64_t loose = 0;     ///< answers where more than half of the gap, or of d̂, is left
  void add(const Tally& other) {
    queries += other.queries, impacts += other.impacts, cut += other.cut, pieces += other.pieces;
    corners += other.corners, open += other.open, needless += other.needless, loose += other.loose;
  }
};

/// The chords between corners, and a few more of the times between, keep the pair apart: proven exactly.
void expect_chords_free(const CurvedPair& pair, const CurvedAnswer& answer, Random& random) {
  const double until = answer.time.value_or(1);
  std::vector<double> times = answer.corners;
  for (int k = random.below(4); k > 0; --k) times.push_back(random.uniform(0, until));
  times.push_back(random.below(2) == 0 ? until : random.uniform(times.empty() ? 0 : times.back(), until));
  times.push_back(0);
  std::sort(times.begin(), times.end());
  for (std::size_t k = 1; k < times.size(); ++k) {
    const StencilPoints from = pair.at(times[k - 1]), to = pair.at(times[k]);
    std::array<exact::Path, 4> paths;
    for (std::size_t i = 0; i < std::size_t(pair.size()); ++i) paths[i] = {from[i], to[i]};
    const std::span<const exact::Path> all(paths.data(), std::size_t(pair.size()));
    const auto first = std::size_t(first_count(pair.kind));
    ASSERT_EQ(verify::proven_apart_until(all.first(first), all.subspan(first), 0, 1, pair.separation), 1)
        << "chord from " << times[k - 1] << " to " << times[k] << " of " << until;
  }
}

void examine(const Generated& g, const CcdOptions& options, Random& random, Tally& tally) {
  const CurvedPair& pair = g.pair;
  const double gap = reference_distance(pair.kind, pair.at(0)) - pair.separation;
  const CurvedAnswer answer = ask(pair, options);
  ++tally.queries;
  if (!(gap > 1e-12 * pair.extent())) {
    ASSERT_TRUE(gap > 0 || answer.time == 0.0) << "too close at the start";
    return;
  }
  tally.impacts += answer.time.has_value();
  tally.cut += !answer.corners.empty();
  tally.pieces += answer.pieces;
  tally.corners += std::int64_t(answer.corners.size());
  if (g.touches) {
    ASSERT_TRUE(answer.time) << "missed at " << *g.touches;
    ASSERT_LE(*answer.time, *g.touches);
  }
  const double until = answer.time.value_or(1);
  ASSERT_TRUE(std::is_sorted(answer.corners.begin(), answer.corners.end()));
  ASSERT_TRUE(answer.corners.empty() || (answer.corners.front() > 0 && answer.corners.back() < until));
  const double target = options.gap_fraction * std::min(gap, pair.dhat);
  const OracleFinding touch = oracle(pair, pair.separation, until);
  ASSERT_FALSE(touch.time) << "touches at " << *touch.time << " of " << until;
  tally.open += touch.open;
  if (until > 0) expect_chords_free(pair, answer, random);
  if (answer.time && target > 0) {  // how tight it is
    const OracleFinding near = oracle(pair, pair.separation + 2 * target, 1);
    tally.needless += !near.time && !near.open;
    tally.loose +=
        oracle_distance(pair.kind, pair.at(until)) - pair.separation > 0.5 * std::min(gap, pair.dhat);
  }
}

/// `count` queries of each plan and kind of pair.
std::array<Tally, std::size(every_plan)> examine_many(int count, const CcdOptions& options) {
  std::array<Tally, std::size(every_plan)> tallies;
  std::mutex mutex;
  constexpr Index batch = 250;
  for (const Plan plan : every_plan)
    for (const PairKind kind : every_kind)
      parallel_chunks(Index(count), batch, [&](Index begin, Index end) {
        Random random(unsigned(1000003 * int(plan) + 7919 * int(kind) + begin));
        Tally tally;
        for (Index i = begin; i < end && !testing::Test::HasFatalFailure(); ++i) {
          SCOPED_TRACE(fmt::format("{}, {}, query {} from {}", plan_names[int(plan)], name_of(kind),
                                   i - begin, begin));
          examine(generated(plan, kind, random), options, random, tally);
        }
        const std::lock_guard lock(mutex);
        tallies[std::size_t(plan)].add(tally);
      });
  return tallies;
}

void report(const std::array<Tally, std::size(every_plan)>& tallies) {
  fmt::print("{:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "queries", "impacts", "cut",
             "pieces", "corners", "open", "needless", "loose");
  for (std::size_t p = 0; p < tallies.size(); ++p) {
    const Tally& t = tallies[p];
    fmt::print("{:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", plan_names[p], t.queries,
               t.impacts, t.cut, t.pieces, t.corners, t.open, t.needless, t.loose);
  }
}

TEST(CurvedQueries, NothingIsMissedAndChordsBetweenCornersAreFree) {
  for (const CcdMethod method : {CcdMethod::additive, CcdMethod::tight_inclusion}) {
    const auto tallies = examine_many(method == CcdMethod::additive ? 2000 : 100, {.method = method});
    if (HasFatalFailure()) return;
    report(tallies);
    Tally all;
    for (const Tally& t : tallies) all.add(t);
    EXPECT_LT(double(all.needless), 0.01 * double(all.impacts)) << "answers are true";
    EXPECT_LT(double(all.loose), 0.05 * double(all.impacts)) << "and not much too early";
    EXPECT_GT(double(all.cut), 0.3 * double(all.queries)) << "paths that must be cut";
    EXPECT_LT(double(all.pieces), 10 * double(all.queries));
  }
}

TEST(CurvedQueries, NothingIsMissedUpToTheSeparationItself) {
  report(examine_many(500, {.gap_fraction = 0}));
}

/// Conservative advancement: from a distance nothing is reached before it has been gone at the largest speed.
/// How many distances it takes to the same gap.
int advancement_steps(const CurvedPair& pair, double gap_fraction) {
  constexpr int most = 100000;
  const double speed = pair.speed();
  double target = 0, t = 0;
  for (int steps = 1; steps < most; ++steps) {
    const double gap = oracle_distance(pair.kind, pair.at(t)) - pair.separation;
    if (t == 0) target = gap_fraction * std::min(gap, pair.dhat);
    if (gap <= 1.1 * target) return steps;
    t += (gap - target) / speed;
    if (t >= 1) return steps;
  }
  return most;
}

TEST(CurvedQueries, TakeFewerPiecesThanConservativeAdvancementTakesSteps) {
  std::vector<int> pieces[3], steps[3];  // by the larger turn: up to 0.3, 2, 20 rad
  Random random(5);
  for (int i = 0; i < 4000; ++i) {
    const CurvedPair pair = generated(every_plan[i % 5], every_kind[i % 4], random).pair;
    const double gap = oracle_distance(pair.kind, pair.at(0)) - pair.separation;
    if (!(gap > 1e-9 * pair.extent())) continue;
    const double turn = std::max(pair.body[0].turn.norm(), pair.body[1].turn.norm());
    const int bin = turn < 0.3 ? 0 : turn < 2 ? 1 : 2;
    pieces[bin].push_back(ask(pair).pieces);
    steps[bin].push_back(advancement_steps(pair, 0.2));
  }
  const auto mean_and_median = [](std::vector<int>& of) {
    std::nth_element(of.begin(), of.begin() + std::ptrdiff_t(of.size() / 2), of.end());
    double sum = 0;
    for (const int n : of) sum += n;
    return std::pair(sum / double(of.size()), of[of.size() / 2]);
  };
  for (int bin = 0; bin < 3; ++bin) {
    const auto [mean, median] = mean_and_median(pieces[bin]);
    const auto [steps_mean, steps_median] = mean_and_median(steps[bin]);
    fmt::print("{} queries: mean {:.2f}, median {} pieces; conservative advancement {:.2f}, {} steps\n",
               pieces[bin].size(), mean, median, steps_mean, steps_median);
    EXPECT_LT(mean, steps_mean);
    EXPECT_LT(median, steps_median);
  }
}

TEST(SlowCurvedQueries, NothingIsMissedInAMillion) {
  set_thread_count(0);
  const auto tallies = examine_many(42000, {});
  set_thread_count(1);
  std::int64_t queries = 0;
  for (const Tally& t : tallies) queries += t.queries;
  EXPECT_TRUE(HasFatalFailure() || queries >= 1000000);
  report(tallies);
}

}  // namespace
}  // namespace apart::test
