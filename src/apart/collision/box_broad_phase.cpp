#include <apart/collision/body_trees.hpp>
#include <apart/collision/box_search.hpp>
#include <apart/collision/near_primitives.hpp>
#include <apart/collision/pair_sorter.hpp>
#include <apart/core/error.hpp>
#include <apart/core/large_pages.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace apart {

namespace {

constexpr std::size_t join_count = box_joins.size();

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
        plane_(surface.vertex_plane),
        can_collide_(surface.can_collide),
        edges_(surface.edges),
        isolated_(surface.isolated_vertices),
        free_edges_(surface.free_edges),
        body_count_(surface.pairs.body_count()),
        pairs_(surface.pairs),
        near_(surface) {
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
    // Triangles sorted by their vertices: then the order of numbers is the order of the output. A triangle
    // listed twice is kept once.
    std::vector<std::array<int, 3>> sorted(surface.faces.cols());
    for (Index f = 0; f < surface.faces.cols(); ++f)
      sorted[f] = {surface.faces(0, f), surface.faces(1, f), surface.faces(2, f)};
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    faces_.resize(3, Index(sorted.size()));
    for (Index f = 0; f < faces_.cols(); ++f) faces_.col(f) = Eigen::Vector3i(sorted[f].data());
    trees_.emplace(surface, faces_);
  }

  std::optional<Candidates> find_at_most(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                                         double radius) override {
    fit({x0, x1, radius, extent_}, has_trees());
    return find_all(limit);
  }

  bool for_each_block(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
                      BlockVisitor visit) override {
    ensure(limit >= 1, "broad phase: blocks hold at least one pair");
    const VertexBoxes boxes(x0, x1, range, extent_);
    fit(boxes, has_trees());
    if (const auto all = find_all(limit)) {
      if (!all->empty()) visit(*all);
      return true;
    }
    if (by_trees_) fit(boxes, false);
    return find_in_blocks(limit, visit);
  }

  void divide(int rank, int size) override {
    rank_ = std::size_t(rank);
    team_size_ = std::size_t(size);
    search_->divide(size);
  }

 private:
  struct Boxes {
    std::array<std::vector<FloatBox>, box_set_count> sets;
    std::vector<FloatBox>& operator[](BoxSet set) { return sets[std::size_t(set)]; }
  };
  /// A task of the search, and what it has found so far.
  struct Task {
    std::size_t join = 0;
    SearchTask search;
    bool done = false;
    BoxPairs found = {};
  };

  /// Not in a team: one process may have to find its part in blocks while another need not, and then the
  /// parts must be parts of the same work.
  bool has_trees() const { return trees_->is_worth_it() && team_size_ == 1; }

  /// Which process of a team does a task. They take turns, because tasks that follow each other find about as
  /// much; each round begins with any of them, because what regular meshes find repeats itself.
  std::size_t process_of(std::size_t task) const {
    const std::uint32_t round = std::uint32_t(task / team_size_);
    return (task + (round * 0x9e3779b1u >> 16)) % team_size_;
  }

  std::vector<Task> all_tasks() const {
    std::vector<Task> tasks;
    if (by_trees_ && trees_->has_all()) return tasks;
    std::size_t number = 0;
    for (std::size_t j = 0; j < join_count; ++j) {
      const Index count = search_->task_count(box_joins[j].first, box_joins[j].second);
      for (Index t = 0; t < count; ++t)
        if (process_of(number++) == rank_)
          tasks.push_back({.join = j, .search = {box_joins[j].first, box_joins[j].second, t}});
    }
    return tasks;
  }

  /// Continues a task until it has found at least `enough` wanted pairs, a whole batch, or all.
  void advance(Task& task, std::size_t enough, BoxPairs& touching) const {
    touching.clear();
    task.done = search_->find(task.search, std::min(enough, batch), touching);
    if (near_.is_worth_it()) {
      const std::vector<Index>&a = chosen_[std::size_t(task.search.first)],
            &b = chosen_[std::size_t(task.search.second)];
      for (auto& pair : touching) pair = {a[std::size_t(pair[0])], b[std::size_t(pair[1])]};
    }
    keep_of<false>(task.join, touching, task.found);
  }

  /// Adds the wanted ones among touching boxes; `of_trees`: that the trees of two bodies found.
  template <bool of_trees>
  void keep_of(std::size_t join, const BoxPairs& touching, BoxPairs& found) const {
    switch (box_joins[join].kind) {
      case PairKind::point_point:
        return keep<PairKind::point_point, of_trees>(touching, found);
      case PairKind::point_edge:
        return keep<PairKind::point_edge, of_trees>(touching, found);
      case PairKind::point_triangle:
        return keep<PairKind::point_triangle, of_trees>(touching, found);
      case PairKind::edge_edge:
        return keep<PairKind::edge_edge, of_trees>(touching, found);
    }
  }

  /// Everything at once, or nothing as soon as there are more than `limit`.
  std::optional<Candidates> find_all(std::size_t limit) {
    const std::vector<Task> tasks = all_tasks();
    const Index searched = Index(tasks.size()), of_trees = by_trees_ ? trees_->task_count() : 0;
    // Of each kind, first what the search finds, then what the trees of bodies do.
    std::array<std::size_t, join_count> first_task = {}, own = {};
    for (const Task& task : tasks) ++own[task.join];
    for (std::size_t j = 0; j < join_count; ++j) {
      if (j > 0) first_task[j] = first_task[j - 1] + own[j - 1];
      parts_[j].resize(std::max(parts_[j].size(), own[j] + std::size_t(of_trees)));
    }
    std::atomic<std::size_t> found = 0;
    parallel_chunks(searched + of_trees, 1, [&](Index t, Index) {
      if (found.load(std::memory_order_relaxed) > limit) return;
      if (t >= searched) {
        found += find_by_trees(t - searched, own);
        return;
      }
      Task task = tasks[std::size_t(t)];
      BoxPairs& part = parts_[task.join][std::size_t(t) - first_task[task.join]];
      task.found.swap(part);
      task.found.clear();
      BoxPairs touching;
      touching.reserve(batch + 64);
      while (!task.done && found.load(std::memory_order_relaxed) <= limit) {
        const std::size_t before = task.found.size();
        advance(task, batch, touching);
        found += task.found.size() - before;
      }
      task.found.swap(part);
    });
    if (found > limit) return std::nullopt;
    std::array<std::span<const BoxPairs>, join_count> parts;
    for (std::size_t j = 0; j < join_count; ++j)
      parts[j] = std::span(parts_[j]).first(own[j] + std::size_t(of_trees));
    return sorted(parts);
  }

  /// What a task of the trees finds, behind those parts of each kind that are the search's own. Returns how
  /// much.
  std::size_t find_by_trees(Index task, const std::array<std::size_t, join_count>& own) {
    std::array<BoxPairs, join_count> touching;
    trees_->find(task, touching);
    std::size_t found = 0;
    for (std::size_t j = 0; j < join_count; ++j) {
      BoxPairs& part = parts_[j][own[j] + std::size_t(task)];
      part.clear();
      keep_of<true>(j, touching[j], part);
      found += part.size();
    }
    return found;
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
  template <PairKind kind, bool of_trees>
  bool wanted(Index a, Index b) const {
    const Stencil s = stencil<kind>(a, b);
    if (!of_trees && by_trees_ && is_carried(s.vertices[0]) && is_carried(s.vertices[first_count(kind)]))
      return false;
    bool shared = false;
    for (int i = 0; i < first_count(kind); ++i)
      for (int j = first_count(kind); j < point_count(kind); ++j) shared |= s.vertices[i] == s.vertices[j];
    if (kind == PairKind::edge_edge && !plane_.empty()) {
      const int plane = plane_[std::size_t(s.vertices[0])];
      shared |= plane >= 0 && plane == plane_[std::size_t(s.vertices[2])];
    }
    if (all_enabled_ && !can_collide_) return !shared;
    return !shared && enabled(s.vertices[0], s.vertices[first_count(kind)]) &&
           (is_carrier_.empty() || !is_carrier_[s.vertices[0]]) &&
           (!can_collide_ || any_can_collide(can_collide_, s));
  }

  template <PairKind kind, bool of_trees>
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
      next += wanted<kind, of_trees>(a, b);
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
      const Index first_count = count(box_joins[j].first);
      sorter_.sort(parts[j], begin[j + 1] - begin[j], first_count,
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

  /// Boxes of all primitives, but of those that are only near bodies of which the trees do the search.
  void fit(const VertexBoxes& boxes, bool by_trees) {
    ensure(boxes.x0().cols() == Index(vertex_body_.size()) && boxes.x1().cols() == boxes.x0().cols(),
           "broad phase: as many positions as vertices");
    by_trees_ = by_trees;
    if (by_trees_) {
      trees_->update(boxes);
      if (trees_->has_all()) return;
    }
    const bool moving = boxes.is_moving();
    const auto fill = [&](std::vector<FloatBox>& of, const auto& box) {
      of.resize(vertex_body_.size());
      parallel_for(Index(of.size()), [&](Index v) { of[std::size_t(v)] = box(v); });
    };
    fill(start_[BoxSet::vertices], [&](Index v) { return boxes.start(v); });
    if (moving) fill(end_[BoxSet::vertices], [&](Index v) { return boxes.end(v); });
    if (near_.is_worth_it())
      near_.update(start_[BoxSet::vertices], ends(moving, end_[BoxSet::vertices]),
                   by_trees_ ? trees_->carried() : std::span<const char>());
    std::array<MovingBoxes, box_set_count> sets;
    for (const BoxSet set : {BoxSet::isolated_vertices, BoxSet::free_edges, BoxSet::edges, BoxSet::faces,
                             BoxSet::vertices})  // of which all others are made
      sets[std::size_t(set)] = near_.is_worth_it() ? near_boxes(set, moving) : all_boxes(set, moving);
    search_->update(sets);
  }

  static std::span<const FloatBox> ends(bool moving, const std::vector<FloatBox>& boxes) {
    return moving ? boxes : std::span<const FloatBox>();
  }

  Index count(BoxSet set) const {
    switch (set) {
      case BoxSet::isolated_vertices:
        return Index(isolated_.size());
      case BoxSet::free_edges:
        return Index(free_edges_.size());
      case BoxSet::vertices:
        return Index(vertex_body_.size());
      case BoxSet::edges:
        return Index(edges_.cols());
      case BoxSet::faces:
        break;
    }
    return Index(faces_.cols());
  }
  /// A vertex of a primitive.
  Index vertex_of(BoxSet set, Index i) const {
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
  }
  FloatBox box_of(BoxSet set, Index i, const std::vector<FloatBox>& of) const {
    const auto edge = [&](Index e) {
      return merge(of[std::size_t(edges_(0, e))], of[std::size_t(edges_(1, e))]);
    };
    switch (set) {
      case BoxSet::isolated_vertices:
        return of[std::size_t(isolated_[std::size_t(i)])];
      case BoxSet::free_edges:
        return edge(free_edges_[std::size_t(i)]);
      case BoxSet::vertices:
        return of[std::size_t(i)];
      case BoxSet::edges:
        return edge(i);
      case BoxSet::faces:
        break;
    }
    return merge(merge(of[std::size_t(faces_(0, i))], of[std::size_t(faces_(1, i))]),
                 of[std::size_t(faces_(2, i))]);
  }

  MovingBoxes all_boxes(BoxSet set, bool moving) {
    const auto fill = [&](Boxes& boxes) {
      if (set == BoxSet::vertices) return;
      boxes[set].resize(std::size_t(count(set)));
      parallel_for(count(set),
                   [&](Index i) { boxes[set][std::size_t(i)] = box_of(set, i, boxes[BoxSet::vertices]); });
    };
    fill(start_);
    if (moving) fill(end_);
    return {start_[set], ends(moving, end_[set])};
  }

  /// Leaves out what can be in no pair.
  MovingBoxes near_boxes(BoxSet set, bool moving) {
    constexpr Index chunk = 4096;
    const std::vector<FloatBox>&start = start_[BoxSet::vertices], &end = end_[BoxSet::vertices];
    struct Chosen {
      std::vector<Index> number;
      std::vector<FloatBox> start, end;
    };
    const Index n = count(set);
    std::vector<Chosen> parts(std::size_t((n + chunk - 1) / chunk));
    parallel_chunks(n, chunk, [&](Index first, Index last) {
      Chosen& part = parts[std::size_t(first / chunk)];
      for (Index i = first; i < last; ++i) {
        const FloatBox box = box_of(set, i, start), then = moving ? box_of(set, i, end) : box;
        if (!near_.contains(vertex_of(set, i), box, then)) continue;
        part.number.push_back(i);
        part.start.push_back(box);
        if (moving) part.end.push_back(then);
      }
    });
    std::vector<Index>& chosen = chosen_[std::size_t(set)];
    chosen.clear();
    near_start_[set].clear();
    near_end_[set].clear();
    for (const Chosen& part : parts) {
      chosen.insert(chosen.end(), part.number.begin(), part.number.end());
      near_start_[set].insert(near_start_[set].end(), part.start.begin(), part.start.end());
      near_end_[set].insert(near_end_[set].end(), part.end.begin(), part.end.end());
    }
    return {near_start_[set], ends(moving, near_end_[set])};
  }

  bool is_carried(Index v) const { return trees_->carried()[std::size_t(vertex_body_[std::size_t(v)])]; }
  bool enabled(Index a, Index b) const {
    if (enabled_.empty()) return pairs_(vertex_body_[a], vertex_body_[b]).enabled;
    return enabled_[std::size_t(vertex_body_[a]) * body_count_ + vertex_body_[b]];
  }

  std::unique_ptr<BoxSearch> search_;
  std::vector<int> vertex_body_;
  std::vector<double> extent_;  ///< of each vertex; empty: zero
  std::vector<int> plane_;      ///< CollisionSurface::vertex_plane
  CanCollide can_collide_;
  Edges edges_;
  Faces faces_;  ///< sorted
  std::vector<Index> isolated_, free_edges_;
  int body_count_;
  PairTable pairs_;
  std::vector<char> enabled_;     ///< for every pair of bodies; empty if there are many
  std::vector<char> is_carrier_;  ///< vertices that carry half-spaces and touch nothing; empty: none does
  bool all_enabled_;
  NearPrimitives near_;
  std::size_t rank_ = 0, team_size_ = 1;
  std::array<std::vector<Index>, box_set_count> chosen_;  ///< numbers of the primitives searched, if near_
  // Kept to reuse their memory, which is large, in every search.
  Boxes start_, end_, near_start_, near_end_;
  std::array<std::vector<BoxPairs>, join_count> parts_;  ///< of each task
  std::optional<BodyTrees> trees_;
  bool by_trees_ = false;  ///< two bodies that they carry are not searched otherwise
  PairSorter sorter_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_box_broad_phase(const CollisionSurface& surface,
                                                 std::unique_ptr<BoxSearch> search) {
  return std::make_unique<BoxBroadPhase>(surface, std::move(search));
}

}  // namespace apart
