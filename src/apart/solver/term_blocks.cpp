#include <apart/core/parallel.hpp>
#include <apart/solver/hessian_assembly.hpp>

#include <algorithm>
#include <atomic>

namespace apart {

/// visit(block, share) for each block that a point of a term moves with; not those that are held.
template <class Visit>
void TermBlocks::for_each_share(const Term& term, const PointMaps& maps, Index point, const Visit& visit) {
  const auto of_node = [&](Index node, double weight) {
    if (const Index block = maps.free.block(maps.chart.unknown_of(node)); block >= 0)
      visit(block, Share{0, weight});
  };
  const bool is_node = term.points == PointKind::nodes;
  if (const Index number = maps.parts.of(term.points, point); number >= 0) {
    const Chart::Part& part = maps.chart.parts()[std::size_t(number)];
    for (Index u = 0; u < part.chart->unknown_count(); ++u)
      if (const Index block = maps.free.block(part.first_unknown + u); block >= 0)
        visit(block, Share{0, 0, number, u, point});
  } else if (is_node) {
    of_node(point, 1);
  } else {
    for (const Influence& i : maps.map.influences(point)) of_node(i.node, i.weight);
  }
}

bool TermBlocks::is_direct(const Term& term, const PointMaps& maps) const {
  const Potential& potential = *term.potential;
  const bool charted = !maps.chart.is_identity();
  if (term.points == PointKind::nodes && !charted) return true;
  std::atomic<bool> direct = true;
  parallel_for(potential.term_count(), [&](Index t) {
    if (!direct.load(std::memory_order_relaxed)) return;
    const TermPoints points = potential.term(t);
    for (std::size_t k = 0; k < points.size(); ++k) {
      bool own = true;  // one block, that no other point of the term has
      if (term.points == PointKind::vertices) {
        const auto i = maps.map.influences(points[k]);
        own = i.size() == 1 && i[0].weight == 1 && maps.parts.of(term.points, points[k]) < 0 &&
              std::find(points.begin(), points.begin() + std::ptrdiff_t(k), points[k]) ==
                  points.begin() + std::ptrdiff_t(k);
      } else {
        own = maps.parts.of(term.points, points[k]) < 0;
      }
      if (!own) direct.store(false, std::memory_order_relaxed);
    }
  });
  return direct;
}

namespace {

/// The terms of a potential [first, last) whose Hessians this process computes: consecutive ones that cost as
/// much as those of any other process.
std::pair<Index, Index> share_by_cost(const Potential& potential, const Team& team) {
  const Index count = potential.term_count();
  if (team.is_alone()) return {0, count};
  std::vector<std::int64_t> before(std::size_t(count) + 1, 0);
  for (Index t = 0; t < count; ++t) before[std::size_t(t) + 1] = before[std::size_t(t)] + potential.cost(t);
  const auto begin_of = [&](int rank) {
    const std::int64_t wanted = before.back() * rank / team.size();
    return Index(std::lower_bound(before.begin(), before.end(), wanted) - before.begin());
  };
  return {begin_of(team.rank()), begin_of(team.rank() + 1)};
}

}  // namespace

void TermBlocks::find(const Term& term, const PointMaps& maps, const Team& team) {
  points_ = term.points;
  const Index count = term.potential->term_count();
  own_ = term.is_divided ? std::pair<Index, Index>{0, count} : share_by_cost(*term.potential, team);
  paired_ = pair_terms_.find(term, maps, own_);
  if (paired_) return;
  direct_ = is_direct(term, maps);
  if (direct_)
    find_direct(term, maps);
  else
    find_mixed(term, maps);
  first_slot_.resize(start_.size());
  for (std::size_t t = 0; t + 1 < start_.size(); ++t) {
    const std::size_t n = start_[t + 1] - start_[t];
    first_slot_[t + 1] = first_slot_[t] + n * (n + 1) / 2;
  }
}

void TermBlocks::find_direct(const Term& term, const PointMaps& maps) {
  const Potential& potential = *term.potential;
  start_.resize(std::size_t(potential.term_count()) + 1);
  for (Index t = 0; t < count(); ++t)
    start_[std::size_t(t) + 1] = start_[std::size_t(t)] + (is_own(t) ? potential.term(t).size() : 0);
  blocks_.resize(start_.back());
  first_share_.clear();
  shares_.clear();
  parallel_for(count(), [&](Index t) {
    if (!is_own(t)) return;
    std::size_t k = start_[std::size_t(t)];
    for (const Index p : potential.term(t)) {
      const Index node = term.points == PointKind::nodes ? p : maps.map.influences(p)[0].node;
      blocks_[k++] = maps.free.block(maps.chart.unknown_of(node));
    }
  });
}

void TermBlocks::find_mixed(const Term& term, const PointMaps& maps) {
  constexpr Index chunk = 512;
  const Index terms = term.potential->term_count();
  pieces_.resize(std::size_t((terms + chunk - 1) / chunk));
  parallel_chunks(terms, chunk, [&](Index begin, Index end) {
    auto& [sizes, blocks, share_counts, shares, entries, next] = pieces_[std::size_t(begin / chunk)];
    sizes.clear();
    blocks.clear();
    share_counts.clear();
    shares.clear();
    for (Index t = begin; t < end; ++t) {
      entries.clear();
      const std::size_t first = blocks.size();
      const TermPoints points = is_own(t) ? term.potential->term(t) : TermPoints();
      for (std::size_t p = 0; p < points.size(); ++p)
        for_each_share(term, maps, points[p],
                       [&, &blocks = blocks, &share_counts = share_counts, &entries = entries](Index block,
                                                                                               Share share) {
                         const auto same =
                             std::find(blocks.begin() + std::ptrdiff_t(first), blocks.end(), block);
                         const std::size_t rank = std::size_t(same - blocks.begin()) - first;
                         if (same == blocks.end()) {
                           blocks.push_back(block);
                           share_counts.push_back(0);
                         }
                         ++share_counts[first + rank];
                         share.point = Index(p);
                         entries.push_back({rank, share});
                       });
      const std::size_t size = blocks.size() - first;
      next.assign(1, shares.size());
      for (std::size_t b = 0; b < size; ++b) next.push_back(next[b] + share_counts[first + b]);
      shares.resize(next.back());
      for (const Entry& e : entries) shares[next[e.rank]++] = e.share;
      sizes.push_back(size);
    }
  });
  start_.assign(1, 0);
  blocks_.clear();
  first_share_.assign(1, 0);
  shares_.clear();
  for (const Piece& part : pieces_) {
    for (const std::size_t n : part.sizes) start_.push_back(start_.back() + n);
    for (const std::size_t n : part.share_counts) first_share_.push_back(first_share_.back() + n);
    blocks_.insert(blocks_.end(), part.blocks.begin(), part.blocks.end());
    shares_.insert(shares_.end(), part.shares.begin(), part.shares.end());
  }
}

bool TermBlocks::is_like_last(Index term) const {
  const auto begin = blocks_.begin() + std::ptrdiff_t(start_[std::size_t(term)]);
  return std::equal(blocks_.begin() + std::ptrdiff_t(start_[std::size_t(term) - 1]), begin, begin,
                    blocks_.begin() + std::ptrdiff_t(start_[std::size_t(term) + 1]));
}

bool TermBlocks::equals(const TermBlocks& other) const {
  if (paired_ || other.paired_) return paired_ == other.paired_ && pair_terms_.equals(other.pair_terms_);
  return direct_ == other.direct_ && start_ == other.start_ && blocks_ == other.blocks_;
}

bool TermBlocks::locate(const BlockSparse& matrix) {
  if (paired_) return pair_terms_.locate(matrix);
  slots_.resize(first_slot_.back());
  std::atomic<bool> covered = true;
  parallel_chunks(count(), 256, [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      std::size_t k = first_slot_[std::size_t(t)];
      if (t > begin && is_like_last(t)) {
        const std::size_t last = first_slot_[std::size_t(t) - 1];
        std::copy(slots_.begin() + std::ptrdiff_t(last), slots_.begin() + std::ptrdiff_t(k),
                  slots_.begin() + std::ptrdiff_t(k));
        continue;
      }
      for (std::size_t a = start_[std::size_t(t)]; a < start_[std::size_t(t) + 1]; ++a)
        for (std::size_t b = start_[std::size_t(t)]; b <= a; ++b, ++k) {
          slots_[k] = -1;
          if (blocks_[a] < 0 || blocks_[b] < 0) continue;
          slots_[k] = matrix.find(std::max(blocks_[a], blocks_[b]), std::min(blocks_[a], blocks_[b]));
          if (slots_[k] < 0) covered.store(false, std::memory_order_relaxed);
        }
    }
  });
  return covered;
}

void TermBlocks::move(std::span<const Index> moved) {
  if (paired_) return pair_terms_.move(moved);
  parallel_for(
      Index(slots_.size()),
      [&](Index k) {
        Index& slot = slots_[std::size_t(k)];
        if (slot >= 0) slot = moved[std::size_t(slot)];
      },
      8192);
}

bool TermBlocks::touches(Index term, const BlockColumns& columns) const {
  if (paired_) return pair_terms_.touches(term, columns);
  return std::any_of(blocks_.begin() + std::ptrdiff_t(start_[std::size_t(term)]),
                     blocks_.begin() + std::ptrdiff_t(start_[std::size_t(term) + 1]),
                     [&](Index block) { return block >= 0 && columns.contain(block); });
}

namespace {

/// Rows of a panel, of all points of a term, times ∂(point)/∂(block): the columns of `h` that belong to the
/// point. `rows`: known to the compiler for terms of up to four points.
template <int rows>
void add_columns(const double* h, Index row_count, const Slope& slope, double* panel) {
  using Columns = Eigen::Matrix<double, rows, 3>;
  const Eigen::Map<const Columns> from(h, row_count, 3);
  Eigen::Map<Columns> to(panel, row_count, 3);
  if (slope.is_scalar) {
    to += slope.weight * from;
    return;
  }
  for (int c = 0; c < 3; ++c)
    to.col(c) += from.col(0) * slope.matrix(0, c) + from.col(1) * slope.matrix(1, c) +
                 from.col(2) * slope.matrix(2, c);
}

}  // namespace

/// H ∂(points)/∂(block) of a term, with the entry `b` of blocks_. `slopes`: of the term's shares.
void TermBlocks::fill_panel(const LocalHessians& local, Index term, std::size_t b,
                            std::span<const Slope> slopes, AlignedBuffer& panel) const {
  const auto h = local[term];
  const Index rows = Index(h.rows());
  const std::size_t first_share = first_share_[start_[std::size_t(term)]];
  panel.assign(std::size_t(3 * rows), 0.0);
  for (std::size_t s = first_share_[b]; s < first_share_[b + 1]; ++s) {
    const double* columns = h.data() + std::ptrdiff_t(3) * shares_[s].point * rows;
    const Slope& slope = slopes[s - first_share];
    if (rows == 12)
      add_columns<12>(columns, rows, slope, panel.data());
    else if (rows == 9)
      add_columns<9>(columns, rows, slope, panel.data());
    else if (rows == 6)
      add_columns<6>(columns, rows, slope, panel.data());
    else
      add_columns<Eigen::Dynamic>(columns, rows, slope, panel.data());
  }
}

/// (∂(points)/∂(block))ᵀ times a panel, with the entry `a` of blocks_.
Matrix3 TermBlocks::from_panel(Index term, std::size_t a, std::span<const Slope> slopes,
                               const AlignedBuffer& panel) const {
  const std::size_t first_share = first_share_[start_[std::size_t(term)]];
  const Eigen::Map<const Eigen::MatrixXd> columns(panel.data(), Index(panel.size() / 3), 3);
  Matrix3 sum = Matrix3::Zero();
  for (std::size_t r = first_share_[a]; r < first_share_[a + 1]; ++r)
    sum += slopes[r - first_share].from_left(columns.block<3, 3>(3 * shares_[r].point, 0));
  return sum;
}

void TermBlocks::find_slopes(Index term, const PointMaps& maps, const ChartSlopes& slopes,
                             std::vector<Slope>& of_term) const {
  of_term.clear();
  const std::size_t begin = first_share_[start_[std::size_t(term)]],
                    end = first_share_[start_[std::size_t(term) + 1]];
  for (std::size_t k = begin; k < end; ++k) {
    const Share& share = shares_[k];
    const Influence self{share.id, 1};
    if (share.part < 0)
      of_term.push_back({share.weight});
    else
      of_term.push_back(
          slopes.of(share.part, share.unknown,
                    points_ == PointKind::nodes ? std::span(&self, 1) : maps.map.influences(share.id)));
  }
}

void TermBlocks::add(const LocalHessians& local, const PointMaps& maps, const ChartSlopes& slopes,
                     const BlockColumns& columns, BlockSparse& matrix) const {
  if (paired_) return pair_terms_.add(local, maps, slopes, columns, matrix);
  const FreeCoordinates& free = maps.free;
  const bool masked = !free.held().empty();
  std::vector<Slope> of_term;
  AlignedBuffer panel;
  for (Index t = local.begin(); t < local.end(); ++t) {
    const std::size_t begin = start_[std::size_t(t)], size = start_[std::size_t(t) + 1] - begin;
    if (size == 0) continue;
    if (!direct_) find_slopes(t, maps, slopes, of_term);
    const auto h = local[t];
    for (std::size_t b = 0; b < size; ++b) {
      const Index column = blocks_[begin + b];
      if (column < 0 || !columns.contain(column)) continue;
      if (!direct_) fill_panel(local, t, begin + b, of_term, panel);
      for (std::size_t a = 0; a < size; ++a) {
        const Index row = blocks_[begin + a];
        if (row < column) continue;
        const auto [low, high] = std::minmax(a, b);
        const Index slot = slots_[first_slot_[std::size_t(t)] + high * (high + 1) / 2 + low];
        Matrix3 block = direct_ ? Matrix3(h.block<3, 3>(3 * Index(a), 3 * Index(b)))
                                : from_panel(t, begin + a, of_term, panel);
        if (masked) mask_held(free, row, column, block);
        matrix.add(slot, block);
      }
    }
  }
}

}  // namespace apart
