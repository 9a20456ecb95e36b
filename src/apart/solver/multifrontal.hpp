#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/solver/elimination.hpp>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace apart {

/// Memory that is given back and taken again, by any thread.
class BufferPool {
 public:
  /// Of at least `size` numbers, with any values.
  VectorX take(std::size_t size);
  void give(VectorX buffer);
  void clear();
  std::size_t total() const { return total_; }  ///< numbers in all buffers, given and taken

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, VectorX> free_;  ///< by size
  std::size_t total_ = 0;
};

/// Cholesky factorisation A = L Lᵀ of a positive definite matrix of 3×3 blocks, front by front [Duff, Reid,
/// The multifrontal solution of indefinite sparse symmetric linear equations, 1983]: each adds up its entries
/// of the matrix and the updates of its children, eliminates its columns as a dense matrix, and leaves an
/// update for its parent.
///
/// Subtrees are factorised in parallel, and large fronts panel by panel. Each sum is formed in an order that
/// follows from the tree alone, so that the bits are the same for any number of threads.
class MultifrontalCholesky {
 public:
  /// For matrices with the pattern of `a`, whose graph is given.
  void set_fronts(const BlockSparse& a, const NodeGraph& graph, FrontTree tree);
  /// Bytes that factorise() needs and that are not allocated yet.
  double missing_bytes() const;
  /// False if the matrix is not positive definite to working precision. `check` is called between fronts, by
  /// any thread, and may throw.
  bool factorise(const BlockSparse& a, FunctionRef<void()> check);
  /// A⁻¹ b with the last factor.
  VectorX solve(const VectorX& b) const;

 private:
  /// A block of the matrix and its place in the panel of a front.
  struct Entry {
    std::size_t to;  ///< in the panel
    Index slot;      ///< in the matrix
    bool transposed;
  };
  /// Fronts [begin, end) that one thread works on one after the other: a few subtrees, or one front.
  struct Task {
    Index begin = 0, end = 0;
  };
  /// Updates that wait for a parent in the same task. Those of a front and of its children, which are needed
  /// at the same time, are in different stacks, so that what is no longer needed is always on top.
  struct Stacks {
    VectorX of_depth[2];  ///< even, odd
    std::size_t used[2] = {0, 0};
  };
  struct Work;  ///< of a factorisation

  void find_entries(const BlockSparse& a, const NodeGraph& graph);
  void make_tasks();
  void measure_memory();
  double updates_size() const;  ///< numbers in updates that wait, at most
  /// Whether the update of a front is added in another task.
  bool leaves_task(const Task& task, Index f) const {
    return tree_.fronts[std::size_t(f)].parent >= task.end;
  }
  std::span<const Index> children(Index f) const;
  std::size_t update_size(Index f) const {
    return 9 * std::size_t(tree_.fronts[std::size_t(f)].rows) *
           std::size_t(tree_.fronts[std::size_t(f)].rows);
  }
  void run(const Task& task, Work& work);
  bool factorise_front(Index f, const Work& work, double* update);
  void add_update(Index child, std::pair<Index, Index> columns_of_child, const double* from, double* panel,
                  double* update) const;
  bool eliminate_columns(const Front& front, double* panel) const;
  void make_update(const Front& front, const double* panel, double beta, double* update) const;
  void solve_forward(Index f, VectorX& x, VectorX& updates) const;
  void solve_backward(Index f, VectorX& x, VectorX& updates) const;

  FrontTree tree_;
  std::vector<std::size_t> panel_;  ///< where each front's columns are in factor_, and the end
  std::vector<std::size_t> first_entry_;
  std::vector<Entry> entries_;
  std::vector<Task> tasks_;
  std::vector<Index> task_parent_;      ///< the task that has to wait for a task; −1: none
  std::vector<char> depth_;             ///< of each front, even or odd
  std::size_t stack_size_[2] = {0, 0};  ///< that the largest task needs
  std::size_t passed_size_ = 0;         ///< the most numbers that wait between tasks, one thread
  VectorX factor_;                      ///< columns of fronts, each with the rows below
  BufferPool pool_;
};

}  // namespace apart
