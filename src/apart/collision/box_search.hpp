#pragma once
// The part of a broad phase that differs between methods: a search for the touching boxes of two sets. Which
// boxes there are, which pairs count, and how they are sorted is shared (see box_broad_phase.cpp).
#include <apart/collision/box_packet.hpp>
#include <apart/collision/broad_phase.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace apart {

/// The sets of boxes that are searched.
enum class BoxSet { isolated_vertices, free_edges, vertices, edges, faces };
constexpr int box_set_count = 5;

/// Numbers of boxes, the first of the first set.
using BoxPairs = std::vector<std::array<Index, 2>>;

/// Where a task was left, so that it can continue there. The method defines what the numbers mean.
struct SearchCursor {
  Index first = 0, second = 0;
};

/// A part of the search for touching boxes of two sets.
struct SearchTask {
  BoxSet first, second;
  Index number = 0;  ///< of those that BoxSearch::task_count counts
  SearchCursor cursor = {};
};

/// Finds touching boxes of two sets. The work is divided into tasks, each of which can be left and resumed,
/// so that memory stays bounded whatever is found. All tasks together report every touching pair exactly
/// once, and nothing else; with one set twice, every pair i ≠ j in either order. Tasks may run in parallel.
class BoxSearch {
 public:
  virtual ~BoxSearch() = default;
  /// So many processes divide the tasks from now on.
  virtual void divide(int team_size) = 0;
  /// New boxes, in the order of BoxSet. All sets are at rest or all move.
  virtual void update(const std::array<MovingBoxes, box_set_count>& sets) = 0;
  virtual Index task_count(BoxSet a, BoxSet b) const = 0;
  /// Appends pairs from where the cursor stands until the task is done (true), or until at least `enough` ≥ 1
  /// have been appended (false); then at most 64 more have.
  virtual bool find(SearchTask& task, std::size_t enough, BoxPairs& pairs) const = 0;
};

/// How many of `count` boxes, or packets of boxes, make a task: `usual`, or fewer in a team, so that each
/// process has a hundred tasks. They differ in what they find: where few bodies touch, most find nothing.
inline Index task_size(Index count, Index usual, int team_size) {
  constexpr Index tasks_of_each = 128;
  return team_size == 1 ? usual : std::clamp<Index>(count / tasks_of_each / team_size, 1, usual);
}

/// The search made of a class that holds one set:
///   Set::divide(int team_size)
///   Set::update(const MovingBoxes&)
///   Index set.task_count(const Set& other)
///   bool set.find(const Set& other, task, cursor, enough, pairs)
template <class Set>
class BoxSearchOf : public BoxSearch {
 public:
  void divide(int team_size) override {
    for (Set& set : sets_) set.divide(team_size);
  }
  void update(const std::array<MovingBoxes, box_set_count>& sets) override {
    for (int s = 0; s < box_set_count; ++s) sets_[s].update(sets[s]);
  }
  Index task_count(BoxSet a, BoxSet b) const override { return of(a).task_count(of(b)); }
  bool find(SearchTask& task, std::size_t enough, BoxPairs& pairs) const override {
    return of(task.first).find(of(task.second), task.number, task.cursor, enough, pairs);
  }

 protected:
  std::array<Set, box_set_count> sets_;

 private:
  const Set& of(BoxSet set) const { return sets_[std::size_t(set)]; }
};

/// The broad phase made of a search for boxes. Keeps a copy of what it needs of the surface.
std::unique_ptr<BroadPhase> make_box_broad_phase(const CollisionSurface& surface,
                                                 std::unique_ptr<BoxSearch> search);

}  // namespace apart
