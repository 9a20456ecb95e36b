#include <apart/core/disjoint_sets.hpp>
#include <apart/potentials/inertia.hpp>

#include <algorithm>

namespace apart {

Inertia::Inertia(const Eigen::SparseMatrix<double>& mass) {
  std::vector<Entry> all;
  DisjointSets sets(Index(mass.cols()));
  for (int j = 0; j < mass.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator it(mass, j); it; ++it)
      if (it.row() >= it.col()) {
        all.push_back({{Index(it.row()), Index(it.col())}, it.value()});
        sets.join(Index(it.row()), Index(it.col()));
      }
  const std::vector<Index> set_of = std::move(sets).names();
  struct Set {
    FewPoints nodes;
    bool is_small = true;
    std::vector<Entry> entries = {};
  };
  std::vector<Set> found(set_of.size());
  for (std::size_t n = 0; n < set_of.size(); ++n) {
    Set& set = found[std::size_t(set_of[n])];
    if (set.nodes.size == 4)
      set.is_small = false;
    else
      set.nodes.ids[std::size_t(set.nodes.size++)] = Index(n);
  }
  for (const Entry& e : all) found[std::size_t(set_of[std::size_t(e.nodes[0])])].entries.push_back(e);
  for (const Set& set : found) {
    const Index first = Index(entries_.size());
    entries_.insert(entries_.end(), set.entries.begin(), set.entries.end());
    const Index last = Index(entries_.size());
    if (set.is_small && last > first) terms_.push_back({first, last, set.nodes});
    if (set.is_small) continue;
    for (Index k = first; k < last; ++k) {
      const Entry& e = entries_[std::size_t(k)];
      terms_.push_back({k, k + 1, {{e.nodes[0], e.nodes[1]}, e.is_diagonal() ? 1 : 2}});
    }
  }
}

double Inertia::value(const Matrix3X& q) const {
  const Matrix3X off = q - predicted_;
  // Chunks of a fixed size, so that the sum does not depend on the number of threads.
  constexpr Index chunk = 1024;
  const Index count = Index(entries_.size());
  std::vector<double> partial(std::size_t((count + chunk - 1) / chunk));
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    double sum = 0;
    for (Index i = begin; i < end; ++i) {
      const Entry& e = entries_[std::size_t(i)];
      sum += (e.is_diagonal() ? 0.5 : 1.0) * e.mass * off.col(e.nodes[0]).dot(off.col(e.nodes[1]));
    }
    partial[std::size_t(begin / chunk)] = sum;
  });
  double sum = 0;
  for (const double p : partial) sum += p;
  return weight_ * sum;
}

void Inertia::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  for (const Entry& e : entries_) {
    const auto [row, column] = e.nodes;
    gradient.col(row) += weight_ * e.mass * (q.col(column) - predicted_.col(column));
    if (!e.is_diagonal()) gradient.col(column) += weight_ * e.mass * (q.col(row) - predicted_.col(row));
  }
}

void Inertia::hessians(const Matrix3X&, Index begin, Index end, Projection, LocalHessians& out) const {
  // M as a whole is positive definite; its off-diagonal entries are no terms of their own to project.
  for (Index i = begin; i < end; ++i) {
    const MassTerm& term = terms_[std::size_t(i)];
    const auto& nodes = term.nodes.ids;
    auto h = out[i];
    h.setZero();
    for (Index k = term.first; k < term.last; ++k) {
      const Entry& e = entries_[std::size_t(k)];
      const auto row = 3 * (std::find(nodes.begin(), nodes.end(), e.nodes[0]) - nodes.begin()),
                 column = 3 * (std::find(nodes.begin(), nodes.end(), e.nodes[1]) - nodes.begin());
      for (int a = 0; a < 3; ++a) h(row + a, column + a) = h(column + a, row + a) = weight_ * e.mass;
    }
  }
}

}  // namespace apart
