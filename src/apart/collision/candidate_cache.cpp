#include <apart/collision/candidate_cache.hpp>
#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace apart {

namespace {

// Distances compared below are rounded; a slightly larger radius makes up for it.
constexpr double slack = 1 + 1e-9;

}  // namespace

CandidateCache::CandidateCache(std::unique_ptr<BroadPhase> broad_phase, double reach,
                               const CandidateOptions& options, Timings* timings)
    : broad_phase_(std::move(broad_phase)),
      reach_(reach),
      most_thickness_(reach),
      most_reach_(reach),
      options_(options),
      timings_(timings),
      most_(infinity) {
  ensure(reach_ >= 0 && std::isfinite(reach_), "CandidateCache: reach is finite and not negative");
  ensure(options_.block_size >= 1, "CandidateCache: blocks hold at least one pair");
  broad_phase_->divide(team().rank(), team().size());
}

CandidateCache::CandidateCache(std::unique_ptr<BroadPhase> broad_phase, const CollisionSurface& surface,
                               const CandidateOptions& options, Timings* timings)
    : CandidateCache(std::move(broad_phase),
                     surface.vertex_extent.empty() ? surface.pairs.max_reach() : surface.pairs.max_dhat(),
                     options, timings) {
  extent_ = surface.vertex_extent;
  most_reach_ = surface.pairs.max_reach();
  most_thickness_ = 0;
  surface.pairs.for_each_used([&](const PairSettings& s, int, int) {
    if (s.enabled) most_thickness_ = std::max(most_thickness_, s.thickness);
  });
  surface_ = &surface;
}

/// Keeps the pairs that may be within their reach and `more`. Boxes let about twice as many pass, and each is
/// tested many times. Returns lower bounds of the distances of those kept.
std::vector<float> CandidateCache::drop_farther(Candidates& candidates, const Matrix3X& x,
                                                double more) const {
  constexpr Index chunk = 4096;
  const Index count = Index(candidates.size());
  std::vector<float> distance(candidates.size());
  std::vector<Index> kept((count + chunk - 1) / chunk);
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    Index next = begin;
    for (Index i = begin; i < end; ++i) {
      const StencilPoints points = candidates[i].gather(x);
      const PairKind kind = candidates[i].kind;
      const double apart = sure_distance(kind, points, closest_points(kind, points).r);
      if (apart > (reach(candidates[i]) + more) * slack) continue;
      candidates[next] = candidates[i];
      distance[std::size_t(next++)] = rounded_down(apart);
    }
    kept[begin / chunk] = next - begin;
  });
  auto out = candidates.begin();
  auto distance_out = distance.begin();
  for (std::size_t c = 0; c < kept.size(); ++c) {
    const auto begin = candidates.begin() + Index(c) * chunk;
    out = std::copy(begin, begin + kept[c], out);
    const auto first = distance.begin() + Index(c) * chunk;
    distance_out = std::copy(first, first + kept[c], distance_out);
  }
  candidates.erase(out, candidates.end());
  distance.erase(distance_out, distance.end());
  return distance;
}

std::optional<Candidates> CandidateCache::find(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                                               double radius) {
  std::optional<Timings::Scope> time;
  if (timings_) time.emplace(*timings_, Phase::broad_phase);
  ++searches_;
  auto found = broad_phase_->find_at_most(limit, x0, x1, radius);
  if (team().any(!found)) return std::nullopt;
  return found;
}

bool CandidateCache::for_each_block(const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
                                    BroadPhase::BlockVisitor visit) {
  std::optional<Timings::Scope> time;
  const auto start = [&] {
    if (timings_) time.emplace(*timings_, Phase::broad_phase);
  };
  start();
  ++searches_;
  return broad_phase_->for_each_block(options_.block_size, x0, x1, range,
                                      [&](std::span<const Stencil> block) {
                                        time.reset();  // the visitor's time counts for the caller
                                        const bool go_on = visit(block);
                                        start();
                                        return go_on;
                                      });
}

bool CandidateCache::covers(const Matrix3X& x) const {
  if (reach_ == 0) return true;  // no pair has contact
  return centre_.cols() == x.cols() && largest_distance(x, centre_) <= margin_;
}

bool CandidateCache::covers(const Matrix3X& x, std::span<const double> around) const {
  if (!covers(x)) return false;
  if (around.empty() || reach_ == 0) return true;
  return parallel_max(Index(x.cols()), 0.0, [&](Index v) {
           return (x.col(v) - centre_.col(v)).norm() + around[std::size_t(v)];
         }) <= margin_;
}

double CandidateCache::covered_share(const Path& path) const {
  if (reach_ == 0) return 1;
  if (!covers(path.start)) return 0;
  // Mostly the farthest of each would be covered.
  if (largest_distance(path.start, centre_) + path.largest_deviation() + longest_column(path.move) < margin_)
    return 1;
  return parallel_min(Index(path.start.cols()), 1.0, [&](Index v) {
    const double room = margin_ - (path.start.col(v) - centre_.col(v)).norm() - path.deviation(v);
    const double way = path.move.col(v).norm();
    return way > room ? std::max(0.0, room / way) : 1.0;
  });
}

void CandidateCache::search(const Matrix3X& x) {
  const double least = options_.reuse ? reach_ / 2 : 0;
  const std::size_t limit =
      std::min((50 * std::size_t(x.cols()) + 1000) / std::size_t(team().size()), options_.block_size);
  const auto are_few = [&](const Candidates& found) {
    return team().max(double(found.size())) < double(limit / 4);
  };
  here_.clear();
  margin_ = options_.reuse ? std::clamp(2 * motion_, least, std::max(least, most_)) : 0;
  centre_ = x;
  calls_ = 0;
  for (; margin_ > least; margin_ = std::max(least, margin_ / 2)) {
    auto found = find(limit, x, x, (reach_ + 2 * margin_) * slack);
    if (!found) {
      most_ = margin_ / 2;
      continue;
    }
    if (are_few(*found)) most_ *= 2;  // pairs have become fewer: a larger margin may be tried again
    around_ = std::move(*found);
    distance_ = drop_farther(around_, x, 2 * margin_);
    return;
  }
  // The smallest margin, whatever it costs.
  const double radius = (reach_ + 2 * margin_) * slack;
  if (auto found = find(options_.block_size, x, x, radius)) {
    around_ = std::move(*found);
    distance_ = drop_farther(around_, x, 2 * margin_);
    if (are_few(around_)) most_ *= 2;
    return;
  }
  // Pairs that only their boxes let pass are not kept for longer than a block.
  around_.clear();
  around_.shrink_to_fit();
  distance_.clear();
  ensure_room(estimated_pairs(x, radius) / 2);  // boxes overlap about twice as often as what is in them
  for_each_block(x, x, radius, [&](std::span<const Stencil> block) {
    Candidates near(block.begin(), block.end());
    drop_farther(near, x, 2 * margin_);
    ensure_room(double(around_.size() + near.size()));
    around_.insert(around_.end(), near.begin(), near.end());
    return true;
  });
  std::sort(around_.begin(), around_.end());
}

/// Throws MemoryError if this many pairs, each of which may become a contact, would exceed the limit.
void CandidateCache::ensure_room(double pairs) const {
  // Twice, because the list is moved when it grows; plus about the size of a contact and its terms.
  constexpr double bytes_of_pair = 2 * sizeof(Stencil) + 64;
  const double held = double(around_.capacity()) * sizeof(Stencil);
  ensure_memory(pairs * bytes_of_pair - held,
                fmt::format("about {:.2g} pairs of primitives within {:.3g} m of each other", pairs, reach_),
                "lower contact.dhat, the distance at which contact begins, or use a coarser mesh");
}

/// Estimates how many pairs have boxes closer than `radius`, from the surroundings of a sample of primitives.
double CandidateCache::estimated_pairs(const Matrix3X& x, double radius) const {
  if (!surface_) return 0;
  constexpr Index looks = 200;
  const auto around = [&](const auto& some, const auto& all) {
    const Index n = Index(some.cols()), m = Index(all.cols());
    if (n == 0 || m == 0) return 0.0;
    const Index stride = std::max<Index>(1, n / looks), count = (n + stride - 1) / stride;
    const auto box = [&](const auto& cell, double more) {
      Aabb b;
      for (Index k = 0; k < cell.size(); ++k) b.include(Vector3(x.col(cell[k])));
      b.lower.array() -= more;
      b.upper.array() += more;
      return b;
    };
    std::vector<double> found(std::size_t(count), 0);
    parallel_for(
        count,
        [&](Index i) {
          const Aabb wide = box(some.col(i * stride), radius);
          for (Index j = 0; j < m; ++j) found[std::size_t(i)] += wide.near(box(all.col(j), 0));
        },
        8);
    double sum = 0;
    for (const double f : found) sum += f;
    return sum / double(count) * double(n);
  };
  Eigen::RowVectorXi vertices(x.cols());
  std::iota(vertices.begin(), vertices.end(), 0);
  return around(surface_->edges, surface_->edges) / 2 + around(vertices, surface_->faces) +
         (surface_->isolated_vertices.empty()
              ? 0
              : around(vertices, vertices) / 2 *
                    std::pow(double(surface_->isolated_vertices.size()) / double(x.cols()), 2));
}

const Candidates& CandidateCache::at(const Matrix3X& x) {
  ++calls_;
  if (covers(x)) return around_;
  if (centre_.cols() == x.cols()) motion_ = largest_distance(x, centre_) / double(calls_);
  search(x);
  return around_;
}

NearPairs CandidateCache::near(const Matrix3X& x) {
  at(x);
  if (distance_.empty()) return around_;
  carry_distances(x);
  moved_ = x - centre_;
  NearPairs near(around_);
  near.distance = distance_;
  near.moved = &moved_;
  near.most_moved = longest_column(moved_);
  near.most_thickness = most_thickness_;
  near.most_reach = most_reach_;
  near.here = here_;
  return near;
}

/// Bounds of distances at the last place become bounds at x.
void CandidateCache::carry_distances(const Matrix3X& x) {
  if (here_.empty()) {
    here_.assign(distance_.size(), 0);
  } else if (x == place_) {
    return;
  } else {
    moved_ = x - place_;
    parallel_chunks(Index(here_.size()), 4096, [&](Index begin, Index end) {
      for (Index c = begin; c < end; ++c)
        if (float& bound = here_[std::size_t(c)]; bound > 0)
          bound = rounded_down(double(bound) - largest_change(around_[std::size_t(c)], moved_));
    });
  }
  place_ = x;
}

/// Whether the pairs around x cover the whole path. A path that a new margin would cover is worth a new
/// search here, since what follows starts from here.
bool CandidateCache::covers_path(const Matrix3X& x, const Matrix3X& end, std::span<const double> around) {
  if (covers(x, around) && covers(end, around)) return true;
  if (!options_.reuse || covers(x)) return false;
  double way = largest_distance(x, end);
  if (!around.empty()) way += *std::max_element(around.begin(), around.end());
  if (!(way <= std::max(reach_ / 2, most_) / 2)) return false;
  motion_ = way;
  search(x);
  return covers(x, around) && covers(end, around);
}

const Candidates& CandidateCache::along(const Matrix3X& x, const Matrix3X& p) {
  const Matrix3X end = x + p;
  if (covers_path(x, end)) return around_;
  swept_ = *find(std::size_t(-1), x, end, reach_ * slack);
  return swept_;
}

bool CandidateCache::for_each_block_along(const Path& path, double share, BroadPhase::BlockVisitor visit) {
  const Matrix3X end = path.start + share * path.move;
  std::vector<double> around;
  if (!path.is_straight()) {
    around.resize(std::size_t(end.cols()));
    for (Index v = 0; v < end.cols(); ++v) around[std::size_t(v)] = path.deviation(v) * slack;
  }
  if (!covers_path(path.start, end, around))
    return for_each_block(path.start, end, {reach_ * slack, around}, visit);
  if (!around_.empty()) visit(around_);
  return true;
}

}  // namespace apart
