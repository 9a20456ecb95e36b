#include <apart/solver/hessian_assembly.hpp>

#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/solver/compact_parts.hpp>

#include <algorithm>
#include <iterator>

namespace apart {

namespace {

constexpr std::string_view pairs_of_nodes = "the pairs of interacting nodes";
constexpr std::string_view fewer_contacts = "lower contact.dhat for fewer contacts, or use a coarser mesh";
// Shares of the columns: more than threads, because terms are not spread evenly.
constexpr Index shares_per_thread = 2;

std::vector<BlockKey> merged(const std::vector<BlockKey>& a, const std::vector<BlockKey>& b) {
  std::vector<BlockKey> all;
  all.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

}  // namespace

HessianAssembly::HessianAssembly(const LinearMap& map, const Chart& chart, const std::vector<Term>& terms,
                                 const Team& team)
    : map_(map),
      chart_(chart),
      terms_(terms),
      team_(team),
      parts_(map, chart),
      blocks_(terms.size()),
      slopes_(chart),
      curvature_(chart, team) {}

/// In time that is linear in the pairs: rows are dealt to their columns, and each column is sorted by itself.
std::vector<BlockKey> HessianAssembly::keys_of(bool varying, Index block_count) const {
  std::vector<std::size_t> end(std::size_t(block_count) + 1, 0);
  const auto for_each_pair = [&](const auto& visit) {
    for (std::size_t i = 0; i < terms_.size(); ++i)
      if (terms_[i].potential->terms_vary() == varying) blocks_[i].for_each_pair(visit);
    if (!varying) curvature_.for_each_pair(visit);
  };
  for_each_pair([&](Index column, Index) { ++end[std::size_t(column) + 1]; });
  for (std::size_t j = 1; j < end.size(); ++j) end[j] += end[j - 1];
  ensure_memory(double(end.back()) * sizeof(Index), pairs_of_nodes, fewer_contacts);
  std::vector<Index> rows(end.back());
  for_each_pair([&](Index column, Index row) { rows[end[std::size_t(column)]++] = row; });
  // Now `end` holds where each column ends.
  std::vector<std::size_t> kept(end.size(), 0);
  const auto begin_of = [&](Index j) { return j == 0 ? 0 : end[std::size_t(j) - 1]; };
  parallel_for(block_count, [&](Index j) {
    const auto first = rows.begin() + std::ptrdiff_t(begin_of(j)),
               last = rows.begin() + std::ptrdiff_t(end[std::size_t(j)]);
    std::sort(first, last);
    kept[std::size_t(j) + 1] = std::size_t(std::unique(first, last) - first);
  });
  for (std::size_t j = 1; j < kept.size(); ++j) kept[j] += kept[j - 1];
  std::vector<BlockKey> keys(kept.back());
  parallel_for(block_count, [&](Index j) {
    for (std::size_t k = kept[std::size_t(j)]; k < kept[std::size_t(j) + 1]; ++k)
      keys[k] = block_key(rows[begin_of(j) + k - kept[std::size_t(j)]], j);
  });
  return keys;
}

/// Looks up the blocks of all terms that may have changed. Whether those of terms that do not vary are where
/// they were in matrix_.
bool HessianAssembly::find_blocks(const PointMaps& maps) {
  bool same = pattern_valid_ || free_.has_blocks_of(maps.free);
  if (!same) curvature_.set_free(maps.free);
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].potential->terms_vary()) {
      blocks_[i].find(terms_[i], maps, team_);
    } else if (!pattern_valid_) {
      // As a rule the next step has the same.
      TermBlocks found;
      found.find(terms_[i], maps, team_);
      if (found.equals(blocks_[i])) continue;
      blocks_[i] = std::move(found);
      same = false;
    }
  }
  return same;
}

namespace {

/// For each block of a matrix its place in another, which has all of them that are asked for.
std::vector<Index> places_in(const BlockSparse& to, const BlockSparse& from) {
  std::vector<Index> places(from.block_rows().size(), -1);
  parallel_for(from.block_count(), [&](Index j) {
    const Index end = to.column_start()[std::size_t(j) + 1];
    Index at = to.column_start()[std::size_t(j)];
    for (Index k = from.column_start()[std::size_t(j)]; k < from.column_start()[std::size_t(j) + 1]; ++k) {
      const Index row = from.block_rows()[std::size_t(k)];
      while (at < end && to.block_rows()[std::size_t(at)] < row) ++at;
      if (at < end && to.block_rows()[std::size_t(at)] == row) places[std::size_t(k)] = at;
    }
  });
  return places;
}

}  // namespace

void HessianAssembly::update_pattern(const PointMaps& maps) {
  const bool same = find_blocks(maps);
  const auto locate_varying = [&] {
    bool all = true;
    for (std::size_t i = 0; i < terms_.size(); ++i)
      if (terms_[i].potential->terms_vary()) all = blocks_[i].locate(matrix_) && all;
    return all;
  };
  if (pattern_valid_ && locate_varying()) return;
  const Index n = maps.free.block_count();
  std::vector<BlockKey> contact_keys = keys_of(true, n);
  if (!same) {
    fixed_keys_ = keys_of(false, n);
    free_ = maps.free;
  }
  // Contacts appear and disappear between iterations: the pattern keeps earlier ones, so that it soon covers
  // all of them, but not so many that their fill would cost more than a new analysis.
  if (pattern_valid_) {
    std::vector<BlockKey> kept = merged(contact_keys_, contact_keys);
    contact_keys_ = kept.size() <= 2 * contact_keys.size() ? std::move(kept) : std::move(contact_keys);
  } else {
    contact_keys_ = std::move(contact_keys);
  }
  pattern_valid_ = true;
  set_matrix(maps, same);
  ensure(locate_varying(), "HessianAssembly: a block is not in the pattern");
}

/// `places_known`: of terms that do not vary, in matrix_ as it was.
void HessianAssembly::set_matrix(const PointMaps& maps, bool places_known) {
  std::vector<BlockKey> keys = merged(fixed_keys_, contact_keys_);
  const Index n = maps.free.block_count();
  std::vector<Index> places;
  if (keys != keys_ || matrix_.block_count() != n) {
    keys_ = std::move(keys);
    // Nine numbers and an index here, nine indices in the solver.
    ensure_memory(double(keys_.size()) * (9 * 8 + 4 + 9 * 4), pairs_of_nodes, fewer_contacts);
    BlockSparse matrix(n, keys_);
    if (places_known) places = places_in(matrix, matrix_);
    matrix_ = std::move(matrix);
    pattern_changed_ = true;
  } else if (places_known) {
    return;
  }
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].potential->terms_vary()) continue;
    if (places_known)
      blocks_[i].move(places);
    else
      ensure(blocks_[i].locate(matrix_), "HessianAssembly: a block is not in the pattern");
  }
  curvature_.locate(matrix_);
}

/// Columns whose nodes are close together belong to the same share, so that few terms add to several. How
/// many shares there are depends on the number of threads, and changes no result.
void HessianAssembly::share_columns(const FreeCoordinates& free, const Matrix3X& q) {
  const Index n = free.block_count(), wish = thread_count() > 1 ? shares_per_thread * thread_count() : 1;
  shares_ = 1;
  share_of_.clear();
  if (wish > 1 && n > 0) {
    Matrix3X of_unknowns(3, chart_.unknown_count());
    for (Index node = 0; node < q.cols(); ++node)
      if (!chart_.part_of(node)) of_unknowns.col(chart_.unknown_of(node)) = q.col(node);
    for (const Chart::Part& part : chart_.parts())
      of_unknowns.middleCols(part.first_unknown, part.chart->unknown_count()).colwise() =
          Vector3(q.col(part.first_node));
    Matrix3X positions(3, n);
    for (Index b = 0; b < n; ++b) positions.col(b) = of_unknowns.col(free.node(b));
    CompactParts parts(positions, (n + wish - 1) / wish);
    shares_ = parts.count;
    share_of_ = std::move(parts.of);
  }
  local_.resize(std::size_t(shares_));
}

/// The terms of one potential that add to some columns. Terms at the border of a share are computed for each
/// of those they add to; that takes less time than to pass them on.
void HessianAssembly::add_share(std::size_t term, const PointMaps& maps, const Matrix3X& points,
                                Projection projection, const BlockColumns& columns, LocalHessians& local) {
  // Hessians of elements stay in the fastest cache; what adding up contacts needs is allocated once for many.
  const Index batch = terms_[term].points == PointKind::nodes ? 32 : 512;
  const Potential& potential = *terms_[term].potential;
  const TermBlocks& blocks = blocks_[term];
  const Index count = potential.term_count();
  for (Index first = 0; first < count; ++first) {
    if (!blocks.touches(first, columns)) continue;
    Index last = first + 1;
    while (last < count && (last < first + batch || !blocks.begins_sum(last)) &&
           blocks.touches(last, columns))
      ++last;
    local.reset(potential, first, last);
    potential.hessians(points, first, last, projection, local);
    blocks.add(local, maps, slopes_, columns, matrix_);
    first = last - 1;
  }
}

/// All terms of one potential.
void HessianAssembly::add_terms(std::size_t term, const PointMaps& maps, const Matrix3X& points,
                                Projection projection) {
  constexpr Index batch = 2048, chunk = 64;
  constexpr std::size_t few_points = 4;
  const Potential& potential = *terms_[term].potential;
  const Index count = potential.term_count();
  if (count == 0) return;
  const bool small = potential.term(0).size() <= few_points;
  if (shares_ == 1 || (small && count < few_terms)) {
    add_share(term, maps, points, projection, {}, local_.front());
    return;
  }
  const auto for_each_share = [&](const auto& add) {
    parallel_chunks(shares_, 1, [&](Index share, Index) {
      add(BlockColumns{share_of_, share}, local_[std::size_t(share)]);
    });
  };
  if (small) {
    for_each_share([&](const BlockColumns& columns, LocalHessians& local) {
      add_share(term, maps, points, projection, columns, local);
    });
    return;
  }
  // Terms of many points are computed once, in parallel, and then added.
  const TermBlocks& blocks = blocks_[term];
  LocalHessians& local = local_.front();
  for (Index begin = 0; begin < count; begin += batch) {
    const Index end = std::min(begin + batch, count);
    local.reset(potential, begin, end);
    parallel_chunks(end - begin, chunk, [&](Index from, Index to) {
      for (Index first = begin + from, last = first; first < begin + to; first = last) {
        while (last < begin + to && blocks.touches(last, {})) ++last;
        if (last > first) potential.hessians(points, first, last, projection, local);
        while (last < begin + to && !blocks.touches(last, {})) ++last;
      }
    });
    for_each_share([&](const BlockColumns& columns, LocalHessians&) {
      blocks.add(local, maps, slopes_, columns, matrix_);
    });
  }
}

const BlockSparse& HessianAssembly::assemble(const FreeCoordinates& free, const Place& place,
                                             Projection projection) {
  const PointMaps maps{map_, chart_, parts_, free};
  if (!pattern_valid_) share_columns(free, place.q);
  update_pattern(maps);
  matrix_.set_zero();
  if (!chart_.is_identity()) slopes_.update(place.q);
  for (std::size_t i = 0; i < terms_.size(); ++i)
    add_terms(i, maps, terms_[i].points == PointKind::nodes ? place.q : place.x, projection);
  if (team_.leads())
    for (const auto& [block, axis] : free.held()) matrix_.at(3 * block + axis, 3 * block + axis) = 1;
  if (!chart_.is_identity()) curvature_.add(free, place.q, place.gradient, projection, matrix_);
  assembled_ = true;
  return matrix_;
}

}  // namespace apart
