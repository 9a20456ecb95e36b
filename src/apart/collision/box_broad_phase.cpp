#include <apart/collision/box_search.hpp>
#include <apart/core/error.hpp>
#include <apart/core/large_pages.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace apart {

namespace {

/// Single-precision numbers certainly below and above v, which is far from overflow.
float rounded_down(double v) {
  const float f = float(v);
  return f - (std::abs(f) * 1.2e-7f + 1e-37f);
}
float rounded_up(double v) {
  return -rounded_down(-v);
}

/// Which sets make the pairs of a kind.
struct Join {
  PairKind kind;
  BoxSet first, second;
};
constexpr Join joins[] = {{PairKind::point_point, BoxSet::isolated_vertices, BoxSet::isolated_vertices},
                          {PairKind::point_edge, BoxSet::vertices, BoxSet::free_edges},
                          {PairKind::point_triangle, BoxSet::vertices, BoxSet::faces},
                          {PairKind::edge_edge, BoxSet::edges, BoxSet::edges}};
constexpr std::size_t join_count = std::size(joins);

/// The pairs of each kind that are wanted, in parts of any order.
using FoundPairs = std::array<std::vector<BoxPairs>, join_count>;

// Number of touching boxes requested from the search at a time.
constexpr std::size_t batch = 4096;

class BoxBroadPhase final : public BroadPhase {
 public:
  BoxBroadPhase(const CollisionSurface& surface, std::unique_ptr<BoxSearch> search)
      : search_(std::move(search)),
        vertex_body_(surface.vertex_body),
        extent_(surface.vertex_extent),
        can_collide_(surface.can_collide),
        edges_(surface.edges),
        isolated_(surface.isolated_vertices),
        free_edges_(surface.free_edges),
        body_count_(surface.pairs.body_count()),
        pairs_(surface.pairs) {
    // One lookup instead of several, where a table of all pairs is small.
    if (body_count_ <= 1024)
      for (int a = 0; a < body_count_; ++a)
        for (int b = 0; b < body_count_; ++b) enabled_.push_back(surface.pairs(a, b).enabled);
    for (const HalfSpace& plane : surface.half_spaces)
      if (plane.carrier >= 0) {
        is_carrier_.resize(vertex_body_.size());
        is_carrier_[plane.carrier] = 1;
      }
    all_enabled_ = pairs_.all_enabled() && is_carrier_.empty();
    if (!all_enabled_) find_idle();
    // Triangles sorted by their vertices: then the order of numbers is the order of the output. A triangle
    // listed twice is kept once.
    std::vector<std::array<int, 3>> sorted(surface.faces.cols());
    for (Index f = 0; f < surface.faces.cols(); ++f)
      sorted[f] = {surface.faces(0, f), surface.faces(1, f), surface.faces(2, f)};
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    faces_.resize(3, Index(sorted.size()));
    for (Index f = 0; f < faces_.cols(); ++f) faces_.col(f) = Eigen::Vector3i(sorted[f].data());
  }

  std::optional<Candidates> find_at_most(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                                         double radius) override {
    fit(x0, x1, radius);
    return find_all(limit);
  }

  bool for_each_block(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
                      BlockVisitor visit) override {
    ensure(limit >= 1, "broad phase: blocks hold at least one pair");
    fit(x0, x1, range);
    if (const auto all = find_all(limit)) {
      if (!all->empty()) visit(*all);
      return true;
    }
    return find_in_blocks(limit, visit);
  }

 private:
  struct Boxes {
    std::array<std::vector<FloatBox>, box_set_count> sets;
    std::vector<FloatBox>& operator[](BoxSet set) { return sets[std::size_t(set)]; }
  };
  /// A task of the search, and what it has found so far.
  struct Task {
    std::size_t join = 0;
    Index number = 0;
    SearchCursor cursor = {};
    bool done = false;
    BoxPairs found = {};
  };

  std::vector<Task> all_tasks() const {
    std::vector<Task> tasks;
    for (std::size_t j = 0; j < join_count; ++j) {
      const Index count = search_->task_count(joins[j].first, joins[j].second);
      for (Index t = 0; t < count; ++t) tasks.push_back({.join = j, .number = t});
    }
    return tasks;
  }

  /// Continues a task until it has found at least `enough` wanted pairs, a whole batch, or all.
  void advance(Task& task, std::size_t enough, BoxPairs& touching) const {
    const auto [kind, first, second] = joins[task.join];
    touching.clear();
    task.done = search_->find(first, second, task.number, task.cursor, std::min(enough, batch), touching);
    if (!idle_.empty()) {
      const std::vector<Index>&a = chosen_[std::size_t(first)], &b = chosen_[std::size_t(second)];
      for (auto& pair : touching) pair = {a[std::size_t(pair[0])], b[std::size_t(pair[1])]};
    }
    switch (kind) {
      case PairKind::point_point:
        keep<PairKind::point_point>(touching, task.found);
        break;
      case PairKind::point_edge:
        keep<PairKind::point_edge>(touching, task.found);
        break;
      case PairKind::point_triangle:
        keep<PairKind::point_triangle>(touching, task.found);
        break;
      case PairKind::edge_edge:
        keep<PairKind::edge_edge>(touching, task.found);
        break;
    }
  }

  /// Everything at once, or nothing as soon as there are more than `limit`.
  std::optional<Candidates> find_all(std::size_t limit) {
    const std::vector<Task> tasks = all_tasks();
    parts_.resize(std::max(parts_.size(), tasks.size()));
    std::atomic<std::size_t> found = 0;
    parallel_chunks(Index(tasks.size()), 1, [&](Index t, Index) {
      if (found.load(std::memory_order_relaxed) > limit) return;
      Task task = tasks[t];
      task.found.swap(parts_[t]);
      task.found.clear();
      BoxPairs touching;
      touching.reserve(batch + 64);
      while (!task.done && found.load(std::memory_order_relaxed) <= limit) {
        const std::size_t before = task.found.size();
        advance(task, batch, touching);
        found += task.found.size() - before;
      }
      task.found.swap(parts_[t]);
    });
    if (found > limit) return std::nullopt;
    std::array<std::span<const BoxPairs>, join_count> parts;
    for (std::size_t t = 0, j = 0; j < join_count; ++j) {
      const std::size_t begin = t;
      while (t < tasks.size() && tasks[t].join == j) ++t;
      parts[j] = {parts_.data() + begin, t - begin};
    }
    return sorted(parts);
  }

  /// A few tasks at a time, each with its share of the room that is left in the block. What a block contains
  /// follows from `limit` alone.
  bool find_in_blocks(std::size_t limit, BlockVisitor visit) {
    const std::vector<Task> tasks = all_tasks();
    const std::size_t at_once = std::clamp<std::size_t>(limit / 1024, 1, 64);
    std::vector<Task> running;
    FoundPairs block;
    std::size_t next = 0, held = 0;
    for (;;) {
      while (running.size() < at_once && next < tasks.size()) running.push_back(tasks[next++]);
      if (running.empty() || held > limit / 2) {
        if (held > 0) {
          std::array<std::span<const BoxPairs>, join_count> parts;
          for (std::size_t j = 0; j < join_count; ++j) parts[j] = block[j];
          if (!visit(sorted(parts))) return running.empty();
        }
        for (auto& part : block) part.clear();
        held = 0;
        if (running.empty()) return true;
      }
      const std::size_t share = std::max<std::size_t>(1, (limit - held) / running.size());
      parallel_chunks(Index(running.size()), 1, [&](Index t, Index) {
        BoxPairs touching;
        Task& task = running[t];
        while (!task.done && task.found.size() < share) advance(task, share - task.found.size(), touching);
      });
      for (Task& task : running) {
        const std::size_t taken = std::min(task.found.size(), share);
        if (taken == 0) continue;
        held += taken;
        BoxPairs rest(task.found.begin() + std::ptrdiff_t(taken), task.found.end());
        task.found.resize(taken);
        block[task.join].push_back(std::move(task.found));
        task.found = std::move(rest);
      }
      std::erase_if(running, [](const Task& task) { return task.done && task.found.empty(); });
    }
  }

  /// Whether contact is defined and wanted for a pair; numbers of primitives as in their sets.
  template <PairKind kind>
  bool wanted(Index a, Index b) const {
    const Stencil s = stencil<kind>(a, b);
    bool shared = false;
    for (int i = 0; i < first_count(kind); ++i)
      for (int j = first_count(kind); j < point_count(kind); ++j) shared |= s.vertices[i] == s.vertices[j];
    if (all_enabled_ && !can_collide_) return !shared;
    return !shared && enabled(s.vertices[0], s.vertices[first_count(kind)]) &&
           (is_carrier_.empty() || !is_carrier_[s.vertices[0]]) &&
           (!can_collide_ || any_can_collide(can_collide_, s));
  }

  template <PairKind kind>
  void keep(const BoxPairs& touching, BoxPairs& found) const {
    // One set with itself: the smaller number first.
    constexpr bool same = kind == PairKind::point_point || kind == PairKind::edge_edge;
    // Every pair is written, and its place reused if it is not wanted: no branch that could be mispredicted.
    const std::size_t before = found.size();
    found.resize(before + touching.size());
    auto* next = found.data() + before;
    for (const auto& pair : touching) {
      const Index a = same ? std::min(pair[0], pair[1]) : pair[0];
      const Index b = same ? std::max(pair[0], pair[1]) : pair[1];
      *next = {a, b};
      next += wanted<kind>(a, b);
    }
    found.resize(std::size_t(next - found.data()));
  }

  template <PairKind kind>
  Stencil stencil(Index a, Index b) const {
    if constexpr (kind == PairKind::point_point) return {kind, {isolated_[a], isolated_[b], -1, -1}};
    if constexpr (kind == PairKind::point_edge) {
      const Index e = free_edges_[b];
      return {kind, {a, edges_(0, e), edges_(1, e), -1}};
    }
    if constexpr (kind == PairKind::point_triangle)
      return {kind, {a, faces_(0, b), faces_(1, b), faces_(2, b)}};
    if constexpr (kind == PairKind::edge_edge)
      return {kind, {edges_(0, a), edges_(1, a), edges_(0, b), edges_(1, b)}};
  }

  /// The pairs as stencils in order. Numbers of primitives have the order of their vertices.
  Candidates sorted(const std::array<std::span<const BoxPairs>, join_count>& parts) {
    std::array<std::size_t, join_count + 1> begin = {};
    for (std::size_t j = 0; j < join_count; ++j) {
      begin[j + 1] = begin[j];
      for (const BoxPairs& part : parts[j]) begin[j + 1] += part.size();
    }
    Candidates candidates;
    candidates.reserve(begin.back());
    prefer_large_pages(candidates.data(), begin.back() * sizeof(Stencil));
    candidates.resize(begin.back());
    const auto write = [&]<PairKind kind>(std::size_t j) {
      const Index first_count = Index(start_[joins[j].first].size());
      sort_pairs(parts[j], begin[j + 1] - begin[j], first_count,
                 [&, to = candidates.data() + begin[j]](std::size_t place, Index a, Index b) {
                   to[place] = stencil<kind>(a, b);
                 });
    };
    write.operator()<PairKind::point_point>(0);
    write.operator()<PairKind::point_edge>(1);
    write.operator()<PairKind::point_triangle>(2);
    write.operator()<PairKind::edge_edge>(3);
    return candidates;
  }

  /// Calls write(place, a, b) for all pairs, with their places in the sorted list. Pairs are distributed to
  /// buckets by their first number; a bucket is then sorted by counting, and the few partners of each number
  /// by comparison.
  template <class Write>
  void sort_pairs(std::span<const BoxPairs> parts, std::size_t total, Index first_count, Write&& write) {
    if (total == 0) return;
    const Index wish = Index(std::clamp<std::size_t>(total / 4096, 1, 1024));
    const int shift = std::bit_width(unsigned(first_count / wish));
    const Index buckets = (first_count >> shift) + 1;
    // Groups of parts, counted and distributed in parallel.
    constexpr Index group = 16;
    const Index groups = (Index(parts.size()) + group - 1) / group;
    std::vector<std::size_t> place(std::size_t(groups) * buckets, 0);
    parallel_chunks(Index(parts.size()), group, [&](Index begin, Index end) {
      std::size_t* counts = place.data() + std::size_t(begin / group) * buckets;
      for (Index p = begin; p < end; ++p)
        for (const auto& pair : parts[p]) ++counts[pair[0] >> shift];
    });
    std::vector<std::size_t> bucket_begin(buckets + 1, 0);
    std::size_t next = 0;
    for (Index b = 0; b < buckets; ++b) {
      bucket_begin[b] = next;
      for (Index g = 0; g < groups; ++g) next += std::exchange(place[std::size_t(g) * buckets + b], next);
    }
    bucket_begin[buckets] = next;
    dealt_.resize(std::max(dealt_.size(), total));
    parallel_chunks(Index(parts.size()), group, [&](Index begin, Index end) {
      std::size_t* to = place.data() + std::size_t(begin / group) * buckets;
      for (Index p = begin; p < end; ++p)
        for (const auto& pair : parts[p]) dealt_[to[pair[0] >> shift]++] = pair;
    });
    parallel_chunks(buckets, 1, [&](Index bucket, Index) {
      const std::span<const std::array<Index, 2>> pairs(dealt_.data() + bucket_begin[bucket],
                                                        dealt_.data() + bucket_begin[bucket + 1]);
      if (pairs.empty()) return;
      const Index low = bucket << shift;
      std::vector<Index> begin((std::size_t(1) << shift) + 1, 0), second(pairs.size());
      for (const auto& pair : pairs) ++begin[pair[0] - low + 1];
      for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
      for (const auto& pair : pairs) second[begin[pair[0] - low]++] = pair[1];
      // Now `begin` holds where each number's partners end.
      for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
        const Index from = i == 0 ? 0 : begin[i - 1], size = begin[i] - from;
        Index* partners = second.data() + from;
        const std::size_t place_of_first = bucket_begin[bucket] + from;
        if (size <= 32) {
          // The place of each is the number of smaller ones: no branches, and several comparisons at once.
          for (Index p = 0; p < size; ++p) {
            Index smaller = 0;
            for (Index q = 0; q < size; ++q) smaller += partners[q] < partners[p];
            write(place_of_first + smaller, low + Index(i), partners[p]);
          }
        } else {
          std::sort(partners, partners + size);
          for (Index p = 0; p < size; ++p) write(place_of_first + p, low + Index(i), partners[p]);
        }
      }
    });
  }

  /// Boxes of all primitives at both ends of the path, each grown by half the radius.
  void fit(const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range) {
    const Index vertices = Index(vertex_body_.size());
    double radius = range.radius;
    ensure(range.around.empty() || Index(range.around.size()) == vertices,
           "broad phase: as many ranges as vertices");
    ensure(x0.cols() == vertices && x1.cols() == vertices, "broad phase: as many positions as vertices");
    ensure(x0.allFinite() && x1.allFinite() && std::isfinite(radius) && radius >= 0,
           "broad phase: positions and radius are finite, the radius not negative");
    const bool moving = x0.data() != x1.data() && x0 != x1;
    Aabb all0 = bounding_box(x0), all1 = moving ? bounding_box(x1) : all0;
    // A unit of length, a power of two, in which nothing overflows single precision. Nearly always the metre.
    double widest = 0;
    for (const double e : extent_) widest = std::max(widest, e);
    double farthest = 0;
    for (const double a : range.around) farthest = std::max(farthest, a);
    widest += farthest;
    double largest = radius + 2 * widest;
    for (const Aabb* box : {&all0, &all1})
      if (!box->empty())
        largest = std::max({largest, box->lower.cwiseAbs().maxCoeff(), box->upper.cwiseAbs().maxCoeff()});
    const double unit = largest > 0x1p100 ? std::scalbn(1.0, 99 - std::ilogb(largest)) : 1;
    for (Aabb* box : {&all0, &all1}) *box = {unit * box->lower, unit * box->upper};
    radius *= unit;
    // Twice the rounding of the differences below, which outward rounding of a result near 0 would not cover.
    const double half = radius / 2 + 4 * std::numeric_limits<double>::epsilon() *
                                         (radius + std::max(all0.diagonal(), all1.diagonal()));
    // Coordinates relative to the middle of the scene, which moves with it: single precision then resolves
    // 1e-7 of its size, and a common motion of everything costs nothing.
    const auto fit_to = [&](const Matrix3X& x, const Aabb& all, Boxes& boxes) {
      const Vector3 origin = all.empty() ? Vector3::Zero() : all.centre();
      auto& of = boxes[BoxSet::vertices];
      of.resize(x.cols());
      parallel_for(Index(x.cols()), [&](Index v) {
        FloatBox& box = of[v];
        double around = extent_.empty() ? half : half + unit * extent_[v] * (1 + 1e-15);
        if (!range.around.empty()) around += unit * range.around[std::size_t(v)] * (1 + 1e-15);
        for (int k = 0; k < 3; ++k) {
          box.lower[k] = rounded_down(unit * x(k, v) - origin[k] - around);
          box.upper[k] = rounded_up(unit * x(k, v) - origin[k] + around);
        }
        box.lower[3] = box.upper[3] = 0;
      });
      auto& edges = boxes[BoxSet::edges];
      edges.resize(edges_.cols());
      parallel_for(Index(edges_.cols()),
                   [&](Index e) { edges[e] = merge(of[edges_(0, e)], of[edges_(1, e)]); });
      auto& faces = boxes[BoxSet::faces];
      faces.resize(faces_.cols());
      parallel_for(Index(faces_.cols()), [&](Index f) {
        faces[f] = merge(merge(of[faces_(0, f)], of[faces_(1, f)]), of[faces_(2, f)]);
      });
      auto& isolated = boxes[BoxSet::isolated_vertices];
      isolated.resize(isolated_.size());
      for (std::size_t i = 0; i < isolated_.size(); ++i) isolated[i] = of[isolated_[i]];
      auto& free = boxes[BoxSet::free_edges];
      free.resize(free_edges_.size());
      for (std::size_t i = 0; i < free_edges_.size(); ++i) free[i] = edges[free_edges_[i]];
    };
    fit_to(x0, all0, start_);
    if (moving) fit_to(x1, all1, end_);
    std::array<MovingBoxes, box_set_count> sets;
    if (!idle_.empty()) choose(moving);
    for (std::size_t s = 0; s < box_set_count; ++s) {
      sets[s].start = idle_.empty() ? start_.sets[s] : near_start_.sets[s];
      if (moving) sets[s].end = idle_.empty() ? end_.sets[s] : near_end_.sets[s];
    }
    search_->update(sets);
  }

  /// Bodies that do not collide with each other or themselves, mostly obstacles. Marks their vertices, if
  /// that is worth the effort.
  void find_idle() {
    if (!pairs_.own_pairs().empty()) return;
    const auto classes = std::size_t(pairs_.class_count());
    std::vector<char> rests(classes, 1), idle_class(classes, 0);
    std::vector<Index> bodies(classes, 0), vertices(classes, 0);
    for (int b = 0; b < body_count_; ++b) {
      ++bodies[std::size_t(pairs_.class_of(b))];
      rests[std::size_t(pairs_.class_of(b))] &= !pairs_(b, b).enabled;
    }
    for (const int b : vertex_body_) ++vertices[std::size_t(pairs_.class_of(b))];
    std::vector<int> order(classes), chosen;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int c, int d) { return vertices[std::size_t(c)] > vertices[std::size_t(d)]; });
    Index count = 0;
    for (const int c : order) {
      const bool alone = bodies[std::size_t(c)] < 2 || !pairs_.of_classes(c, c).enabled;
      if (!rests[std::size_t(c)] || !alone || chosen.size() > 100 ||
          std::any_of(chosen.begin(), chosen.end(), [&](int d) { return pairs_.of_classes(c, d).enabled; }))
        continue;
      chosen.push_back(c);
      idle_class[std::size_t(c)] = 1;
      count += vertices[std::size_t(c)];
    }
    constexpr Index worth = 1000;  // vertices
    if (count < worth) return;
    idle_.resize(vertex_body_.size());
    for (std::size_t v = 0; v < idle_.size(); ++v)
      idle_[v] = idle_class[std::size_t(pairs_.class_of(vertex_body_[v]))];
  }

  /// Skips idle primitives that are far from all others: they can be in no pair.
  void choose(bool moving) {
    const auto vertex_of = [&](BoxSet set, Index i) {
      switch (set) {
        case BoxSet::isolated_vertices:
          return isolated_[std::size_t(i)];
        case BoxSet::free_edges:
          return Index(edges_(0, free_edges_[std::size_t(i)]));
        case BoxSet::vertices:
          return i;
        case BoxSet::edges:
          return Index(edges_(0, i));
        case BoxSet::faces:
          break;
      }
      return Index(faces_(0, i));
    };
    const auto around_awake = [&](Boxes& boxes) {
      FloatBox hull{};
      bool any = false;
      const std::vector<FloatBox>& of = boxes[BoxSet::vertices];
      for (std::size_t v = 0; v < of.size(); ++v)
        if (!idle_[v]) hull = std::exchange(any, true) ? merge(hull, of[v]) : of[v];
      return std::pair(hull, any);
    };
    const auto [hull0, any] = around_awake(start_);
    const FloatBox hull1 = moving ? around_awake(end_).first : hull0;
    const auto apart = [](const FloatBox& a, const FloatBox& b, int k) {
      return a.upper[k] < b.lower[k] ? 1 : b.upper[k] < a.lower[k] ? -1 : 0;
    };
    for (std::size_t s = 0; s < box_set_count; ++s) {
      const auto set = BoxSet(s);
      chosen_[s].clear();
      near_start_.sets[s].clear();
      near_end_.sets[s].clear();
      for (Index i = 0; i < Index(start_.sets[s].size()); ++i) {
        const FloatBox& box = start_.sets[s][std::size_t(i)];
        if (idle_[std::size_t(vertex_of(set, i))]) {
          // Separated along an axis at both ends, on the same side: then on the whole path.
          bool far = !any;
          for (int k = 0; k < 3 && !far; ++k) {
            const int side = apart(box, hull0, k);
            far = side != 0 && (!moving || apart(end_.sets[s][std::size_t(i)], hull1, k) == side);
          }
          if (far) continue;
        }
        chosen_[s].push_back(i);
        near_start_.sets[s].push_back(box);
        if (moving) near_end_.sets[s].push_back(end_.sets[s][std::size_t(i)]);
      }
    }
  }

  bool enabled(Index a, Index b) const {
    if (enabled_.empty()) return pairs_(vertex_body_[a], vertex_body_[b]).enabled;
    return enabled_[std::size_t(vertex_body_[a]) * body_count_ + vertex_body_[b]];
  }

  std::unique_ptr<BoxSearch> search_;
  std::vector<int> vertex_body_;
  std::vector<double> extent_;  ///< of each vertex; empty: zero
  CanCollide can_collide_;
  Edges edges_;
  Faces faces_;  ///< sorted
  std::vector<Index> isolated_, free_edges_;
  int body_count_;
  PairTable pairs_;
  std::vector<char> enabled_;     ///< for every pair of bodies; empty if there are many
  std::vector<char> is_carrier_;  ///< vertices that carry half-spaces and touch nothing; empty: none does
  bool all_enabled_;
  std::vector<char> idle_;  ///< vertices of bodies that collide only with others; empty: not worth using
  std::array<std::vector<Index>, box_set_count> chosen_;  ///< numbers of the primitives searched, if idle_
  // Kept to reuse their memory, which is large, in every search.
  Boxes start_, end_, near_start_, near_end_;
  std::vector<BoxPairs> parts_;  ///< of each task
  BoxPairs dealt_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_box_broad_phase(const CollisionSurface& surface,
                                                 std::unique_ptr<BoxSearch> search) {
  return std::make_unique<BoxBroadPhase>(surface, std::move(search));
}

}  // namespace apart
