#include <apart/solver/row_exchange.hpp>

#include <apart/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

using Key = std::uint64_t;  // row and column, sorted by rows
Key key(Index row, Index column) {
  return Key(std::uint32_t(row)) << 32 | std::uint32_t(column);
}

/// visit(slot, row, column) for each block of the lower triangle.
template <class Visit>
void for_each_block(const BlockSparse& a, const Visit& visit) {
  for (Index j = 0; j < a.block_count(); ++j)
    for (Index k = a.column_start()[std::size_t(j)]; k < a.column_start()[std::size_t(j) + 1]; ++k)
      visit(k, a.block_rows()[std::size_t(k)], j);
}

}  // namespace

std::vector<int> RowExchange::owners(const Team& team, const BlockSparse& summand) {
  std::vector<double> most(std::size_t(summand.block_count()), 0);
  for_each_block(summand, [&](Index, Index row, Index column) {
    if (row == column) return;  // every summand has them
    ++most[std::size_t(row)];
    ++most[std::size_t(column)];
  });
  // The rank after the comma: one number tells which process has the most; of several the first.
  const double step = 1.0 / team.size();
  for (double& m : most) m += 1 - step * (team.rank() + 1);
  team.max(most);
  std::vector<int> owner;
  for (const double m : most)
    owner.push_back(std::clamp(int(std::lround((1 - (m - std::floor(m))) / step)) - 1, 0, team.size() - 1));
  return owner;
}

RowExchange::RowExchange(const Team& team, const BlockSparse& summand, const std::vector<int>& owner,
                         Triangles triangles)
    : team_(team), number_(owner.size()), sent_(std::size_t(team.size())) {
  ensure(Index(owner.size()) == summand.block_count(), "RowExchange: an owner for each row");
  std::vector<Index> next(std::size_t(team.size()) + 1, 0);
  for (const int r : owner) ++next[std::size_t(r) + 1];
  for (std::size_t r = 1; r < next.size(); ++r) next[r] += next[r - 1];
  first_ = next[std::size_t(team.rank())];
  const Index rows = next[std::size_t(team.rank()) + 1] - first_;
  for (std::size_t b = 0; b < owner.size(); ++b) number_[b] = next[std::size_t(owner[b])]++;

  std::vector<std::vector<Key>> keys(std::size_t(team.size()));
  const auto send = [&](const Place& place, Index row, Index column) {
    const std::size_t to = std::size_t(owner[std::size_t(row)]);
    keys[to].push_back(key(number_[std::size_t(row)], number_[std::size_t(column)]));
    sent_[to].push_back(place);
  };
  for_each_block(summand, [&](Index slot, Index i, Index j) {
    const bool below = number_[std::size_t(i)] > number_[std::size_t(j)];
    if (triangles == Triangles::both || !below) send({slot, false}, i, j);
    if (i != j && (triangles == Triangles::both || below)) send({slot, true}, j, i);
  });
  std::vector<Bytes> messages;
  for (const auto& k : keys) messages.push_back(to_bytes(std::span<const Key>(k)));
  std::vector<std::vector<Key>> arrived(keys.size());
  std::vector<Key> all;
  messages = team.exchange(std::move(messages));
  for (std::size_t r = 0; r < keys.size(); ++r) {
    append_from_bytes(messages[r], arrived[r]);
    all.insert(all.end(), arrived[r].begin(), arrived[r].end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  start_.assign(std::size_t(rows) + 1, 0);
  for (const Key k : all) {
    ++start_[std::size_t(Index(k >> 32) - first_) + 1];
    columns_.push_back(Index(std::uint32_t(k)));
  }
  for (std::size_t r = 1; r < start_.size(); ++r) start_[r] += start_[r - 1];
  for (const auto& from : arrived) {
    std::vector<Index>& places = received_.emplace_back();
    for (const Key k : from)
      places.push_back(Index(std::lower_bound(all.begin(), all.end(), k) - all.begin()));
  }
}

const std::vector<double>& RowExchange::collect(const BlockSparse& summand) {
  std::vector<Bytes> messages;
  for (const std::vector<Place>& places : sent_) {
    std::vector<double> numbers;
    numbers.reserve(9 * places.size());
    for (const Place& p : places) {
      Matrix3 block = summand.block(p.slot);
      if (p.transposed) block.transposeInPlace();
      numbers.insert(numbers.end(), block.data(), block.data() + 9);
    }
    messages.push_back(to_bytes(std::span<const double>(numbers)));
  }
  messages = team_.exchange(std::move(messages));
  values_.assign(9 * columns_.size(), 0);
  for (std::size_t r = 0; r < received_.size(); ++r) {
    const std::byte* next = messages[r].data();
    for (const Index place : received_[r]) {
      double block[9];
      std::memcpy(block, next, sizeof block);
      next += sizeof block;
      for (int k = 0; k < 9; ++k) values_[9 * std::size_t(place) + std::size_t(k)] += block[k];
    }
  }
  return values_;
}

}  // namespace apart
