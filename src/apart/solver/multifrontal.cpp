#include <apart/solver/multifrontal.hpp>

#include <apart/core/error.hpp>
#include <apart/core/large_pages.hpp>
#include <apart/core/parallel.hpp>
#include <apart/core/parallel_tree.hpp>
#include <apart/solver/dense_blas.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace apart {

VectorX BufferPool::take(std::size_t size) {
  // Few different sizes, so that buffers fit the next factorisation too. What is not used is no memory.
  const std::size_t unit = std::bit_floor(size) / 8 + 1;
  size = (size + unit - 1) / unit * unit;
  const std::lock_guard lock(mutex_);
  // One that is much too large is left for those who need it.
  if (const auto found = free_.lower_bound(size); found != free_.end() && found->first <= 2 * size + 4096) {
    VectorX buffer = std::move(found->second);
    free_.erase(found);
    return buffer;
  }
  total_ += size;
  VectorX buffer(Eigen::Index(std::max<std::size_t>(size, 1)));
  prefer_large_pages(buffer.data(), size * sizeof(double));
  return buffer;
}

void BufferPool::give(VectorX buffer) {
  const std::lock_guard lock(mutex_);
  const auto size = std::size_t(buffer.size());
  free_.emplace(size, std::move(buffer));
}

void BufferPool::clear() {
  free_.clear();
  total_ = 0;
}

// ---- Analysis -----------------------------------------------------------------------------------

void MultifrontalCholesky::set_fronts(const BlockSparse& a, const NodeGraph& graph, FrontTree tree) {
  tree_ = std::move(tree);
  panel_.assign(1, 0);
  for (const Front& f : tree_.fronts)
    panel_.push_back(panel_.back() + next_aligned(9 * std::size_t(f.columns) * std::size_t(f.size())));
  find_entries(a, graph);
  make_tasks();
  measure_memory();
  if (double(pool_.total()) > 2 * updates_size()) pool_.clear();
  if (std::size_t(factor_.size()) < panel_.back() || std::size_t(factor_.size()) > 2 * panel_.back())
    factor_.resize(0);
}

std::span<const Index> MultifrontalCholesky::children(Index f) const {
  const std::size_t begin = tree_.first_child[std::size_t(f)];
  return std::span(tree_.children).subspan(begin, tree_.first_child[std::size_t(f) + 1] - begin);
}

void MultifrontalCholesky::find_entries(const BlockSparse& a, const NodeGraph& graph) {
  const auto start = a.column_start();
  const auto later = [&](Index node, Index place, const auto& visit) {
    for (Index k = graph.start[std::size_t(node)]; k < graph.start[std::size_t(node) + 1]; ++k) {
      const Index other = graph.neighbour[std::size_t(k)];
      if (tree_.place[std::size_t(other)] > place) visit(k, other, tree_.place[std::size_t(other)]);
    }
  };
  const auto count = Index(tree_.fronts.size());
  first_entry_.assign(tree_.fronts.size() + 1, 0);
  parallel_for(
      count,
      [&](Index f) {
        const Front& front = tree_.fronts[std::size_t(f)];
        std::size_t& entries = first_entry_[std::size_t(f) + 1];
        for (Index p = front.first; p < front.first + front.columns; ++p) {
          ++entries;
          later(tree_.node[std::size_t(p)], p, [&](Index, Index, Index) { ++entries; });
        }
      },
      64);
  for (std::size_t f = 1; f < first_entry_.size(); ++f) first_entry_[f] += first_entry_[f - 1];
  entries_.resize(first_entry_.back());
  parallel_for(
      count,
      [&](Index f) {
        const Front& front = tree_.fronts[std::size_t(f)];
        const auto rows = std::span(tree_.rows).subspan(front.first_row, std::size_t(front.rows));
        const Index end = front.first + front.columns;
        Entry* next = entries_.data() + first_entry_[std::size_t(f)];
        const auto add = [&](Index slot, Index row, Index column, bool transposed) {
          *next++ = {3 * (std::size_t(row) + 3 * std::size_t(column) * std::size_t(front.size())), slot,
                     transposed};
        };
        for (Index c = 0; c < front.columns; ++c) {
          const Index node = tree_.node[std::size_t(front.first + c)];
          add(start[std::size_t(node)], c, c, false);
          later(node, front.first + c, [&](Index k, Index other, Index place) {
            const Index row =
                place < end ? place - front.first
                            : front.columns + Index(std::ranges::lower_bound(rows, place) - rows.begin());
            add(graph.slot[std::size_t(k)], row, c, other < node);
          });
        }
      },
      64);
}

void MultifrontalCholesky::make_tasks() {
  constexpr double tasks_per_tree = 64;  // far more than threads, and not so many that they are tiny
  const auto count = Index(tree_.fronts.size());
  std::vector<double> below(tree_.fronts.size());  // operations of a front and its descendants
  double all = 0;
  for (Index f = 0; f < count; ++f) {
    const Front& front = tree_.fronts[std::size_t(f)];
    const double own = front_flops(front.columns, front.rows);
    all += own;
    below[std::size_t(f)] += own;
    if (front.parent >= 0) below[std::size_t(front.parent)] += below[std::size_t(f)];
  }
  const double share = all / tasks_per_tree;
  tasks_.clear();
  task_parent_.clear();
  std::vector<Index> task_of(tree_.fronts.size());
  double sum = 0;  // of the task that is being made
  bool open = false;
  for (Index f = 0; f < count; ++f) {
    const Front& front = tree_.fronts[std::size_t(f)];
    const bool alone = below[std::size_t(f)] > share;
    const bool is_root = front.parent < 0 || below[std::size_t(front.parent)] > share;  // of a small subtree
    if (alone || !open) {
      tasks_.push_back({f, f});
      sum = 0;
    }
    tasks_.back().end = f + 1;
    task_of[std::size_t(f)] = Index(tasks_.size()) - 1;
    sum += is_root && !alone ? below[std::size_t(f)] : 0;
    open = !alone && (!is_root || sum < share / 2);
  }
  // Small subtrees precede a front that stands alone: their parents are this front or its ancestors.
  task_parent_.assign(tasks_.size(), -1);
  Index next_alone = -1;
  for (Index t = Index(tasks_.size()) - 1; t >= 0; --t) {
    const Index last = tasks_[std::size_t(t)].end - 1;
    if (below[std::size_t(last)] > share) {
      const Index parent = tree_.fronts[std::size_t(last)].parent;
      if (parent >= 0) task_parent_[std::size_t(t)] = task_of[std::size_t(parent)];
      next_alone = t;
    } else {
      task_parent_[std::size_t(t)] = next_alone;
    }
  }
}

void MultifrontalCholesky::measure_memory() {
  depth_.assign(tree_.fronts.size(), 0);
  for (std::size_t f = tree_.fronts.size(); f-- > 0;)
    if (const Index p = tree_.fronts[f].parent; p >= 0) depth_[f] = char(1 - depth_[std::size_t(p)]);
  std::size_t passed = 0;
  passed_size_ = stack_size_[0] = stack_size_[1] = 0;
  for (const Task& task : tasks_) {
    std::size_t used[2] = {0, 0};
    for (Index f = task.begin; f < task.end; ++f) {
      const int d = depth_[std::size_t(f)];
      (leaves_task(task, f) ? passed : used[d]) += update_size(f);
      stack_size_[d] = std::max(stack_size_[d], used[d]);
      passed_size_ = std::max(passed_size_, passed);
      for (const Index c : children(f)) (c >= task.begin ? used[1 - d] : passed) -= update_size(c);
    }
  }
}

double MultifrontalCholesky::updates_size() const {
  return double(passed_size_) + double(thread_count()) * double(stack_size_[0] + stack_size_[1]);
}

double MultifrontalCholesky::missing_bytes() const {
  const double factor = std::size_t(factor_.size()) >= panel_.back() ? 0 : double(panel_.back());
  return 8 * (factor + std::max(0.0, updates_size() - double(pool_.total())));
}

// ---- Factorisation ------------------------------------------------------------------------------

namespace {

constexpr int panel_width = 96;      // of columns that are eliminated at a time
constexpr int chunk_rows = 120;      // of a large front; a multiple of the rows of BLAS's kernels
constexpr int chunk_columns = 48;    // that are zeroed, or added, at a time; of whole blocks
constexpr double large_front = 2e6;  // operations from which on several threads work on a front

bool is_large(const Front& front) {
  return front_flops(front.columns, front.rows) > large_front;
}

}  // namespace

struct MultifrontalCholesky::Work {
  const double* values;  ///< of the matrix
  FunctionRef<void()> check;
  std::vector<VectorX> passed;  ///< updates that have left their tasks, by front
  std::vector<double*> update;  ///< of each front that waits for its parent
  std::atomic<bool> positive = true;
};

bool MultifrontalCholesky::factorise(const BlockSparse& a, FunctionRef<void()> check) {
  if (std::size_t(factor_.size()) < panel_.back()) {
    factor_.resize(0);
    factor_.resize(Eigen::Index(panel_.back()));
    prefer_large_pages(factor_.data(), panel_.back() * sizeof(double));
  }
  Work work{a.values().data(), check, std::vector<VectorX>(tree_.fronts.size()),
            std::vector<double*>(tree_.fronts.size())};
  parallel_upward(task_parent_, [&](Index t) { run(tasks_[std::size_t(t)], work); });
  return work.positive;
}

void MultifrontalCholesky::run(const Task& task, Work& work) {
  Stacks stacks;
  for (int d = 0; d < 2; ++d)
    if (task.end - task.begin > 1) stacks.of_depth[d] = pool_.take(stack_size_[d]);
  for (Index f = task.begin; f < task.end && work.positive.load(std::memory_order_relaxed); ++f) {
    work.check();
    const int d = depth_[std::size_t(f)];
    double*& update = work.update[std::size_t(f)];
    if (leaves_task(task, f)) {
      work.passed[std::size_t(f)] = pool_.take(update_size(f));
      update = work.passed[std::size_t(f)].data();
    } else {
      update = stacks.of_depth[d].data() + stacks.used[d];
      stacks.used[d] += update_size(f);
    }
    if (!factorise_front(f, work, update)) work.positive = false;
    for (const Index c : children(f)) {
      if (c >= task.begin)
        stacks.used[1 - d] -= update_size(c);
      else
        pool_.give(std::move(work.passed[std::size_t(c)]));
    }
  }
  for (VectorX& stack : stacks.of_depth)
    if (stack.size() > 0) pool_.give(std::move(stack));
}

bool MultifrontalCholesky::factorise_front(Index f, const Work& work, double* update) {
  const Front& front = tree_.fronts[std::size_t(f)];
  const std::size_t size = 3 * std::size_t(front.size()), columns = 3 * std::size_t(front.columns),
                    rows = 3 * std::size_t(front.rows);
  const bool large = is_large(front);
  double* panel = factor_.data() + panel_[std::size_t(f)];
  parallel_chunks(Index(columns), large ? chunk_columns : Index(columns), [&](Index begin, Index end) {
    std::fill(panel + size * std::size_t(begin), panel + size * std::size_t(end), 0.0);
  });
  for (std::size_t k = first_entry_[std::size_t(f)]; k < first_entry_[std::size_t(f) + 1]; ++k) {
    const Entry& e = entries_[k];
    const double* from = work.values + 9 * std::size_t(e.slot);
    double* to = panel + e.to;
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t r = 0; r < 3; ++r) to[r + c * size] = e.transposed ? from[c + 3 * r] : from[r + 3 * c];
  }
  const auto added = children(f);
  if (!added.empty())
    parallel_chunks(Index(rows), large ? chunk_columns : Index(rows), [&](Index begin, Index end) {
      for (auto c = std::size_t(begin); c < std::size_t(end); ++c)
        std::fill_n(update + c * rows + c, rows - c, 0.0);
    });
  for (const Index c : added) {
    const Index blocks = tree_.fronts[std::size_t(c)].rows;
    parallel_chunks(blocks, large ? chunk_columns / 3 : blocks, [&](Index begin, Index end) {
      add_update(c, {begin, end}, work.update[std::size_t(c)], panel, update);
    });
  }
  if (!eliminate_columns(front, panel)) return false;
  make_update(front, panel, added.empty() ? 0 : 1, update);
  return true;
}

/// Adds columns of the lower triangle of a child's update to its parent's columns and update.
void MultifrontalCholesky::add_update(Index child, std::pair<Index, Index> columns_of_child,
                                      const double* from, double* panel, double* update) const {
  const Front& own = tree_.fronts[std::size_t(child)];
  const Front& front = tree_.fronts[std::size_t(own.parent)];
  const Index* to = tree_.in_parent.data() + own.first_row;
  const std::ptrdiff_t columns = front.columns, size = 3 * std::ptrdiff_t(front.size()),
                       rows = 3 * std::ptrdiff_t(front.rows), stride = 3 * std::ptrdiff_t(own.rows);
  const Index* run_end = tree_.run_end.data() + own.first_row;
  for (Index b = columns_of_child.first; b < columns_of_child.second; ++b) {
    const bool eliminated = to[b] < columns;
    double* column = eliminated ? panel : update;
    const std::ptrdiff_t step = eliminated ? size : rows;
    // From the place of a row in the front to that in the column.
    const std::ptrdiff_t offset = eliminated ? 3 * to[b] * size : 3 * (to[b] - columns) * rows - 3 * columns;
    const double* source = from + 3 * b * stride;
    for (Index a = b; a < own.rows; a = run_end[a])
      for (int c = 0; c < 3; ++c) {
        double* t = column + (offset + c * step + 3 * std::ptrdiff_t(to[a]));
        const double* s = source + c * stride + 3 * std::ptrdiff_t(a);
        for (Index k = 0; k < 3 * (run_end[a] - a); ++k) t[k] += s[k];
      }
  }
}

bool MultifrontalCholesky::eliminate_columns(const Front& front, double* panel) const {
  const int size = 3 * front.size(), columns = 3 * front.columns;
  const auto part = [&](int row, int column, int row_count, int column_count) {
    return DenseView{panel + row + std::ptrdiff_t(column) * size, row_count, column_count, size};
  };
  const bool large = is_large(front);
  for (int first = 0; first < columns; first += panel_width) {
    const int width = std::min(panel_width, columns - first), below = first + width;
    const auto subtract_earlier = [&](int row, int count) {
      if (first > 0)
        blas::subtract_product(part(row, 0, count, first), part(first, 0, width, first), 1,
                               part(row, first, count, width));
    };
    subtract_earlier(first, width);
    if (!blas::factorise(part(first, first, width, width))) return false;
    if (below == size) break;
    parallel_chunks(size - below, large ? chunk_rows : size, [&](Index begin, Index end) {
      subtract_earlier(below + begin, end - begin);
      blas::solve_from_right(part(first, first, width, width),
                             part(below + begin, first, end - begin, width));
    });
  }
  return true;
}

void MultifrontalCholesky::make_update(const Front& front, const double* panel, double beta,
                                       double* update) const {
  const int size = 3 * front.size(), columns = 3 * front.columns, rows = 3 * front.rows;
  if (rows == 0) return;
  const auto part = [&](int row, int count) {
    return ConstDenseView(panel + columns + row, count, columns, size);
  };
  const auto of_update = [&](int row, int column, int row_count, int column_count) {
    return DenseView{update + row + std::ptrdiff_t(column) * rows, row_count, column_count, rows};
  };
  constexpr int few_rows = 48;  // the whole square is faster than its half
  if (rows <= few_rows) {
    blas::subtract_product(part(0, rows), part(0, rows), beta, of_update(0, 0, rows, rows));
    return;
  }
  const bool large = is_large(front);
  parallel_chunks(rows, large ? chunk_rows : rows, [&](Index begin, Index end) {
    blas::subtract_square(part(begin, end - begin), beta, of_update(begin, begin, end - begin, end - begin));
    if (end < rows)
      blas::subtract_product(part(end, rows - end), part(begin, end - begin), beta,
                             of_update(end, begin, rows - end, end - begin));
  });
}

// ---- Solution -----------------------------------------------------------------------------------

void MultifrontalCholesky::solve_forward(Index f, VectorX& x, VectorX& updates) const {
  const Front& front = tree_.fronts[std::size_t(f)];
  double* own = x.data() + 3 * std::size_t(front.first);
  double* update = updates.data() + 3 * front.first_row;
  std::fill_n(update, 3 * front.rows, 0.0);
  for (const Index c : children(f)) {
    const Front& child = tree_.fronts[std::size_t(c)];
    const double* from = updates.data() + 3 * child.first_row;
    for (Index r = 0; r < child.rows; ++r) {
      const Index to = tree_.in_parent[child.first_row + std::size_t(r)];
      double* target = to < front.columns ? own + 3 * to : update + 3 * (to - front.columns);
      for (int axis = 0; axis < 3; ++axis) target[axis] += from[3 * r + axis];
    }
  }
  const double* panel = factor_.data() + panel_[std::size_t(f)];
  const int size = 3 * front.size(), columns = 3 * front.columns, rows = 3 * front.rows;
  blas::solve_lower({panel, columns, columns, size}, own);
  if (rows > 0) blas::subtract_multiplied({panel + columns, rows, columns, size}, own, update);
}

void MultifrontalCholesky::solve_backward(Index f, VectorX& x, VectorX& updates) const {
  const Front& front = tree_.fronts[std::size_t(f)];
  const double* panel = factor_.data() + panel_[std::size_t(f)];
  const int size = 3 * front.size(), columns = 3 * front.columns, rows = 3 * front.rows;
  double* own = x.data() + 3 * std::size_t(front.first);
  if (rows > 0) {
    double* below = updates.data() + 3 * front.first_row;
    for (Index r = 0; r < front.rows; ++r)
      std::copy_n(x.data() + 3 * tree_.rows[front.first_row + std::size_t(r)], 3, below + 3 * r);
    blas::subtract_transposed({panel + columns, rows, columns, size}, below, own);
  }
  blas::solve_transposed({panel, columns, columns, size}, own);
}

VectorX MultifrontalCholesky::solve(const VectorX& b) const {
  const auto n = Index(tree_.node.size());
  ensure(b.size() == 3 * n, "MultifrontalCholesky: the right-hand side does not fit the matrix");
  VectorX x(b.size()), updates(Eigen::Index(3 * tree_.rows.size())), result(b.size());
  for (Index p = 0; p < n; ++p) x.segment<3>(3 * p) = b.segment<3>(3 * tree_.node[std::size_t(p)]);
  parallel_upward(task_parent_, [&](Index t) {
    for (Index f = tasks_[std::size_t(t)].begin; f < tasks_[std::size_t(t)].end; ++f)
      solve_forward(f, x, updates);
  });
  parallel_downward(task_parent_, [&](Index t) {
    for (Index f = tasks_[std::size_t(t)].end; f-- > tasks_[std::size_t(t)].begin;)
      solve_backward(f, x, updates);
  });
  for (Index p = 0; p < n; ++p) result.segment<3>(3 * tree_.node[std::size_t(p)]) = x.segment<3>(3 * p);
  return result;
}

}  // namespace apart
