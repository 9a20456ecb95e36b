#include <apart/solver/elimination.hpp>

#include <algorithm>
#include <numeric>

namespace apart {

namespace {

/// visit(i) for the neighbours of the node at place j, as places.
template <class Visit>
void for_each_neighbour(const NodeGraph& graph, Index node, const std::vector<Index>& place,
                        const Visit& visit) {
  for (Index k = graph.start[std::size_t(node)]; k < graph.start[std::size_t(node) + 1]; ++k)
    visit(place[std::size_t(graph.neighbour[std::size_t(k)])]);
}

std::vector<Index> inverse_of(const std::vector<Index>& order) {
  std::vector<Index> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[std::size_t(order[k])] = Index(k);
  return place;
}

/// Parents in the elimination tree [J. W. H. Liu, The role of elimination trees in sparse factorization,
/// 1990, algorithm 4.2]: the root of each subtree that a node touches becomes its child.
std::vector<Index> elimination_tree(const NodeGraph& graph, const std::vector<Index>& order) {
  const std::vector<Index> place = inverse_of(order);
  std::vector<Index> parent(order.size(), -1), ancestor(order.size(), -1);
  for (Index j = 0; j < Index(order.size()); ++j)
    for_each_neighbour(graph, order[std::size_t(j)], place, [&](Index i) {
      while (i >= 0 && i < j) {
        const Index next = std::exchange(ancestor[std::size_t(i)], j);
        if (next < 0) parent[std::size_t(i)] = j;
        i = next;
      }
    });
  return parent;
}

/// The nodes of a forest so that the descendants of each are directly before it. `parent` of a node is a
/// greater one, or −1.
std::vector<Index> depth_first(const std::vector<Index>& parent) {
  const Index n = Index(parent.size());
  // A node comes last among its descendants: counted from the end, parents are placed first.
  std::vector<Index> size(parent.size(), 1), end(parent.size()), order(parent.size());
  for (Index j = 0; j < n; ++j)
    if (parent[std::size_t(j)] >= 0) size[std::size_t(parent[std::size_t(j)])] += size[std::size_t(j)];
  Index roots_end = n;
  for (Index j = n - 1; j >= 0; --j) {
    const Index p = parent[std::size_t(j)];
    // `end` of a parent that has been placed: where its next child may end.
    Index& limit = p < 0 ? roots_end : end[std::size_t(p)];
    order[std::size_t(limit) - 1] = j;
    end[std::size_t(j)] = limit - 1;
    limit -= size[std::size_t(j)];
  }
  return order;
}

/// Sizes of the columns of the factor, in time nearly linear in the graph [Gilbert, Ng, Peyton, An efficient
/// algorithm to compute row and column counts for sparse Cholesky factorization, 1994]. Row i of the factor
/// is a subtree of the elimination tree with root i, whose leaves are neighbours of i. A column has one more
/// entry than its children together for each leaf there, and one fewer where two leaves' ways to i join.
std::vector<Index> column_counts(const NodeGraph& graph, const Elimination& e) {
  const Index n = Index(e.node.size());
  const auto size = std::size_t(n);
  std::vector<Index> count(size, 0), first(size);  // first descendant
  std::iota(first.begin(), first.end(), 0);
  std::vector<char> has_child(size, 0);
  for (Index j = 0; j < n; ++j)
    if (const Index p = e.parent[std::size_t(j)]; p >= 0) {
      first[std::size_t(p)] = std::min(first[std::size_t(p)], first[std::size_t(j)]);
      has_child[std::size_t(p)] = 1;
    }
  std::vector<Index> last_leaf(size, -1), last_first(size, -1), ancestor(size);
  std::iota(ancestor.begin(), ancestor.end(), 0);
  const auto root_of = [&](Index j) {
    Index root = j;
    while (ancestor[std::size_t(root)] != root) root = ancestor[std::size_t(root)];
    while (j != root) j = std::exchange(ancestor[std::size_t(j)], root);
    return root;
  };
  for (Index j = 0; j < n; ++j) {
    const Index p = e.parent[std::size_t(j)];
    count[std::size_t(j)] += !has_child[std::size_t(j)];  // the diagonal; parents inherit one of their child
    if (p >= 0) --count[std::size_t(p)];                  // but not the child's own
    for_each_neighbour(graph, e.node[std::size_t(j)], e.place, [&](Index i) {
      if (i <= j || first[std::size_t(j)] <= last_first[std::size_t(i)]) return;  // not a leaf of row i
      last_first[std::size_t(i)] = first[std::size_t(j)];
      const Index before = std::exchange(last_leaf[std::size_t(i)], j);
      ++count[std::size_t(j)];
      if (before >= 0) --count[std::size_t(root_of(before))];
    });
    if (p >= 0) ancestor[std::size_t(j)] = p;
  }
  for (Index j = 0; j < n; ++j)
    if (const Index p = e.parent[std::size_t(j)]; p >= 0) count[std::size_t(p)] += count[std::size_t(j)];
  return count;
}

}  // namespace

double Elimination::flops() const {
  double sum = 0;
  for (const Index c : count)
    for (int axis = 0; axis < 3; ++axis) sum += (3.0 * c - axis) * (3.0 * c - axis);
  return sum;
}

double Elimination::nonzeros() const {
  double sum = 0;
  for (const Index c : count) sum += 9.0 * c - 3;
  return sum;
}

Elimination eliminate(const NodeGraph& graph, const std::vector<Index>& order) {
  const std::vector<Index> parent = elimination_tree(graph, order), sorted = depth_first(parent),
                           sorted_place = inverse_of(sorted);
  Elimination e;
  e.node.resize(order.size());
  e.parent.resize(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto old = std::size_t(sorted[k]);
    e.node[k] = order[old];
    e.parent[k] = parent[old] < 0 ? -1 : sorted_place[std::size_t(parent[old])];
  }
  e.place = inverse_of(e.node);
  e.count = column_counts(graph, e);
  return e;
}

// ---- Fronts -------------------------------------------------------------------------------------

double front_flops(Index columns, Index rows) {
  const double k = 3.0 * columns, n = 3.0 * rows;
  return k * k * k / 3 + k * k * n + k * n * n;
}

namespace {

/// Time of a front, as a number of operations: elimination, the calls for it, and reading and writing of the
/// panel and of the update that its parent adds (docs/performance.md has the measurement).
double front_cost(Index columns, Index rows) {
  constexpr double calls = 1e4, per_update = 16, per_entry = 8;
  const double k = 3.0 * columns, n = 3.0 * rows;
  return calls + front_flops(columns, rows) + per_entry * k * (k + n) + per_update * n * n;
}

/// Columns that belong together.
struct Groups {
  std::vector<Index> of;             ///< each place
  std::vector<Index> columns, rows;  ///< of each group
  std::vector<Index> parent;         ///< a later group, or −1
};

/// Neighbouring columns with the same rows.
Groups equal_columns(const Elimination& e) {
  Groups groups;
  for (std::size_t j = 0; j < e.node.size(); ++j) {
    const bool joins = j > 0 && e.parent[j - 1] == Index(j) && e.count[j - 1] == e.count[j] + 1;
    if (!joins) {
      groups.columns.push_back(0);
      groups.rows.push_back(0);
    }
    groups.of.push_back(Index(groups.columns.size()) - 1);
    ++groups.columns.back();
    groups.rows.back() = e.count[j] - 1;
  }
  groups.parent.resize(groups.columns.size());
  for (std::size_t j = 0; j < e.node.size(); ++j)  // the last column of a group decides
    groups.parent[std::size_t(groups.of[j])] = e.parent[j] < 0 ? -1 : groups.of[std::size_t(e.parent[j])];
  return groups;
}

/// Joins groups with their parents where that is cheaper. Returns the group that each has become part of.
std::vector<Index> join(Groups& g) {
  const Index n = Index(g.columns.size());
  std::vector<std::vector<Index>> children(g.columns.size());
  std::vector<Index> into(g.columns.size());
  std::iota(into.begin(), into.end(), 0);
  for (Index p = 0; p < n; ++p) {
    std::vector<Index>& own = children[std::size_t(p)];
    // Those that share most rows with the parent first.
    std::stable_sort(own.begin(), own.end(),
                     [&](Index a, Index b) { return g.rows[std::size_t(a)] > g.rows[std::size_t(b)]; });
    for (const Index c : own) {
      const Index columns = g.columns[std::size_t(c)] + g.columns[std::size_t(p)];
      if (front_cost(columns, g.rows[std::size_t(p)]) >
          front_cost(g.columns[std::size_t(c)], g.rows[std::size_t(c)]) +
              front_cost(g.columns[std::size_t(p)], g.rows[std::size_t(p)]))
        continue;
      g.columns[std::size_t(p)] = columns;
      into[std::size_t(c)] = p;
    }
    if (g.parent[std::size_t(p)] >= 0) children[std::size_t(g.parent[std::size_t(p)])].push_back(p);
  }
  for (Index c = n - 1; c >= 0; --c) into[std::size_t(c)] = into[std::size_t(into[std::size_t(c)])];
  return into;
}

/// Rows of every front: those that its columns touch in the graph, and those of its children.
void find_rows(const NodeGraph& graph, FrontTree& tree) {
  std::vector<Index> seen(tree.node.size(), -1), at(tree.node.size());
  for (Index f = 0; f < Index(tree.fronts.size()); ++f) {
    Front& front = tree.fronts[std::size_t(f)];
    const Index end = front.first + front.columns;
    front.first_row = tree.rows.size();
    const auto add = [&](Index place) {
      if (place < end || seen[std::size_t(place)] == f) return;
      seen[std::size_t(place)] = f;
      tree.rows.push_back(place);
    };
    for (Index j = front.first; j < end; ++j)
      for_each_neighbour(graph, tree.node[std::size_t(j)], tree.place, add);
    const auto children =
        std::span(tree.children)
            .subspan(tree.first_child[std::size_t(f)],
                     tree.first_child[std::size_t(f) + 1] - tree.first_child[std::size_t(f)]);
    for (const Index c : children) {
      const Front& child = tree.fronts[std::size_t(c)];
      for (Index r = 0; r < child.rows; ++r) add(tree.rows[child.first_row + std::size_t(r)]);
    }
    front.rows = Index(tree.rows.size() - front.first_row);
    std::sort(tree.rows.begin() + std::ptrdiff_t(front.first_row), tree.rows.end());
    tree.in_parent.resize(tree.rows.size(), -1);
    tree.run_end.resize(tree.rows.size(), 0);
    for (Index r = 0; r < front.rows; ++r)
      at[std::size_t(tree.rows[front.first_row + std::size_t(r)])] = front.columns + r;
    for (const Index c : children) {
      const Front& child = tree.fronts[std::size_t(c)];
      for (Index r = child.rows - 1; r >= 0; --r) {
        const std::size_t k = child.first_row + std::size_t(r);
        const Index place = tree.rows[k];
        tree.in_parent[k] = place < end ? place - front.first : at[std::size_t(place)];
        const bool goes_on = r + 1 < child.rows && tree.in_parent[k + 1] == tree.in_parent[k] + 1;
        tree.run_end[k] = goes_on ? tree.run_end[k + 1] : r + 1;
      }
    }
  }
}

}  // namespace

FrontTree make_fronts(const NodeGraph& graph, const Elimination& e) {
  Groups groups = equal_columns(e);
  const std::vector<Index> into = join(groups);
  const Index n = Index(into.size());
  // What is left of the groups, numbered without gaps, and then so that descendants are directly before.
  std::vector<Index> number(into.size(), -1), kept, parent;
  for (Index g = 0; g < n; ++g)
    if (into[std::size_t(g)] == g) {
      number[std::size_t(g)] = Index(kept.size());
      kept.push_back(g);
    }
  for (const Index g : kept) {
    const Index p = groups.parent[std::size_t(g)];
    parent.push_back(p < 0 ? -1 : number[std::size_t(into[std::size_t(p)])]);
  }
  const std::vector<Index> sorted = depth_first(parent), front_of = inverse_of(sorted);
  FrontTree tree;
  tree.fronts.resize(kept.size());
  Index first = 0;
  for (std::size_t f = 0; f < sorted.size(); ++f) {
    const auto k = std::size_t(sorted[f]);
    tree.fronts[f].first = first;
    tree.fronts[f].columns = groups.columns[std::size_t(kept[k])];
    tree.fronts[f].parent = parent[k] < 0 ? -1 : front_of[std::size_t(parent[k])];
    first += tree.fronts[f].columns;
  }
  std::vector<Index> next;
  for (const Front& f : tree.fronts) next.push_back(f.first);
  tree.node.resize(e.node.size());
  for (std::size_t j = 0; j < e.node.size(); ++j) {
    const Index kept_number = number[std::size_t(into[std::size_t(groups.of[j])])];
    tree.node[std::size_t(next[std::size_t(front_of[std::size_t(kept_number)])]++)] = e.node[j];
  }
  tree.place = inverse_of(tree.node);
  tree.first_child.assign(tree.fronts.size() + 1, 0);
  for (const Front& f : tree.fronts)
    if (f.parent >= 0) ++tree.first_child[std::size_t(f.parent) + 1];
  for (std::size_t f = 1; f < tree.first_child.size(); ++f) tree.first_child[f] += tree.first_child[f - 1];
  tree.children.resize(tree.first_child.back());
  std::vector<std::size_t> child_end(tree.first_child.begin(), tree.first_child.end() - 1);
  for (std::size_t f = 0; f < tree.fronts.size(); ++f)
    if (tree.fronts[f].parent >= 0) tree.children[child_end[std::size_t(tree.fronts[f].parent)]++] = Index(f);
  find_rows(graph, tree);
  return tree;
}

}  // namespace apart
